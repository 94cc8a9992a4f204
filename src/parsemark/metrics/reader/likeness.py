"""How two folded texts differ to a reader: not at all, in notation alone, by misread letters, or altogether.

Closeness of characters is not closeness of meaning: 1.12 is as wrong as 9.99 where 112 was printed, while a
misspelt word is still read. So numbers count only if they are the same numbers, and words by their letters.
The tables of rules say which ways there are to write the same; those of scripts take tight texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from parsemark.metrics.reader import texts
from parsemark.metrics.reader.texts import KEPT_TEXTS, SCRIPT_MARKS, bare, is_numeric, numbers, tight

SIGN = re.compile(r"(?<![^\s(\[{/|:;,=<>~≈^_±×$€£¥-])-(?=\.?\d)")
"""The sign of a number in a name, where hyphens and dashes join or list things as well."""
_DATE = re.compile(r"(\d{4}[-/.])?(\d\d?)([-/.])(\d\d?)(\3\d{4})?")
_TIME = re.compile(r"\d?\d:\d\d(?::\d\d)?")
_WORD = re.compile(r"[^\W\d_]+")
_SHORTENED = re.compile(r"([^\W\d_]+)(\.?)")
_LEAST_SHORT = 3  # letters that a word has to have if it is cut short without a full stop
_SHORT_FOR = {"no": "number", "nr": "number"}  # Words whose abbreviation has other letters
_GREEK = {
    unicodedata.name(letter).split()[-1].lower(): letter for letter in map(chr, range(ord("α"), ord("ω") + 1))
} | {"lambda": "λ", "sigma": "σ"}
_ONE_SCRIPT = r"(?:\{[^{}]*\}|[+±-]?[\d.]+)"
_AMOUNT = re.compile(r"[+-]?\d[\d.]*|[^\W\d_]+")
SIGN_CHANGED = "the sign of a number"
SYMBOLS_LOST = "symbols that the reader of the page does not know"
SLIGHTLY = 0.25
"""Severity of what leaves a value legible: zeros at its end lost or added, a power of ten whose exponent is
on the line with its sign, a sign that is given by another one throughout."""
HARDLY = 0.1  # severity of a value in another size of its unit, or a yes or no said in another way
_SIGN_LOST = 0.97  # likeness of a text to the same with an irrelevant sign
OPPOSITE = 0.75
"""Severity of a sentence that says the opposite, of which people see a part as misread; and likeness of a
name to that of the opposite number: no other one is meant."""


class Change(Enum):
    """In which way two texts differ."""

    __hash__ = object.__hash__  # members are single; that of Enum is written in Python

    NONE = "none"
    NOTATION = "notation"  # the characters are all there, but grouped, spaced or raised in another way
    MISREAD = "misread"  # some letters are wrong; the text is still recognised
    OTHER = "other"  # it says something else
    REVERSED = "reversed"  # the opposite, or another sign, unit or order of magnitude


class Difference(NamedTuple):
    """How a text differs from what it should be."""

    change: Change
    likeness: float  # 1 for the same content, 0 for another one
    cause: str = ""  # what was done to its notation
    severity: float = 1.0  # how much of what other changes of notation cost this one does


SAME = Difference(Change.NONE, 1.0)
ANOTHER = Difference(Change.OTHER, 0.0)
REVERSED = Difference(Change.REVERSED, 0.0)


def noted(cause: str, likeness: float = 0.75, severity: float = 1.0) -> Difference:
    """Return a difference of notation alone."""
    return Difference(Change.NOTATION, likeness, cause, severity)


def misread(likeness: float, cause: str) -> Difference:
    """Return a difference of letters that leaves the text recognised."""
    return Difference(Change.MISREAD, likeness, cause)


_Fold = Callable[[str], str]


def _folding(*steps: tuple[str, str | Callable[[re.Match[str]], str]], needs: str = "") -> _Fold:
    """Return a way to fold texts: patterns, and what is put for each; kept for texts that come again.

    A text without any of the characters that the patterns need stays as it is.
    """
    patterns = [(re.compile(pattern), by) for pattern, by in steps]

    @lru_cache(KEPT_TEXTS)
    def fold(text: str) -> str:
        if needs and not any(map(text.__contains__, needs)):
            return text
        for pattern, by in patterns:
            text = pattern.sub(by, text)
        return text

    return fold


_unlettered = _folding((r"(?<=[\d.)%])\^(?:\{([a-h](?:,?[a-h]){0,4})\}|([a-h]))", r"\1\2"), needs="^")
"""With letters behind values on the line, which say which values differ."""
_in_greek = _folding(
    (
        rf"(?i)(?<![^\W\d_])(?:{'|'.join(_GREEK)})(?![^\W\d_])",
        lambda found: _GREEK.get(found[0].lower(), found[0]),
    )
)
_without_degrees = _folding(
    (r"°|(?<![^\W\d_])(?:deg\.?|o(?=[CF](?![^\W\d_])))", ""), (r"(?<=[(\[])o(?=[)\]])|(?<=\d)o(?!\w)", "")
)
_between_words = _folding((_SHORTENED.pattern, "w"), (r"\s+", ""))
_unsigned = _folding((r"\s*[±+-]\s*", " "), (r"\s+", " "))  # without what may stand before a deviation
ungrouped = _folding(
    (r"(?<![\d.,])\d{1,3}(?:[ '’]\d{3}){1,6}(?![\d ])", lambda found: re.sub(r"\D", "", found[0])),
    needs=" '’",
)
"""Without spaces or apostrophes between thousands: `1 234 567`, but not `12 34`."""
_shortened = _folding((r"\.\d+", lambda found: found[0].rstrip("0").rstrip(".")), needs=".")
"""Without zeros at the end of decimal fractions."""
_flat = _folding(
    (rf"(_{_ONE_SCRIPT})(\^{_ONE_SCRIPT})", r"\2\1"),
    (r"(?:(?<!\d)[\^_]|[\^_](?=\{?\D))(?:\{([^{}]*)\})?", lambda found: found[1] or ""),
    needs="^_",
)
"""With scripts on the line, those below last: `5_{-1}^{+2}` is `5+2-1`; not where digits meet."""
_on_the_line = _folding((r"[\^_](?:\{±([^{}]*)\}|±)", r"±\1"), needs="±")
"""With the deviation on the line, be it raised or lowered."""
both_ways = _folding((r"±([\d.]++)", r"+\1-\1"), needs="±")
"""With the deviation said for each way: `5+2-2` for `5±2`."""


def _is_other_case(truth: str, pred: str) -> bool:
    """Return whether two names differ in which of their words have capitals; those of a symbol say
    something.
    """
    if len(truth) != len(pred) or truth.lower() != pred.lower():
        return False
    words = zip(_WORD.findall(truth), _WORD.findall(pred), strict=False)
    plain = (w for pair in words if pair[0] != pair[1] for w in pair)
    return all(len(w) > 2 and (w.islower() or w.isupper() or w.istitle()) for w in plain)


def _is_spelled_out(truth: str, pred: str) -> bool:
    """Return whether one of two texts has names for the other's Greek letters: `beta1` for `β_1`."""
    if (truth.isascii() and pred.isascii()) or bare(tight(truth)) == bare(tight(pred)):
        return False
    return bare(tight(_in_greek(truth))) == bare(tight(_in_greek(pred)))


def _is_abbreviated(one: str, other: str) -> bool:
    """Return whether each word of a name is one of the other, or short for it: `Precip. (mm)`, but not
    `To`.
    """
    if one[:1].lower() != other[:1].lower() or len(one) == len(other):
        return False
    ours, theirs = _SHORTENED.findall(one), _SHORTENED.findall(other)
    if len(ours) != len(theirs) or _between_words(one) != _between_words(other):
        return False
    return all(map(_is_one_short_for_the_other, ours, theirs))


def _is_one_short_for_the_other(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether two words, each with its full stop, are the same, or one stops short or leaves letters
    out.
    """
    (short, stop), (word, _) = sorted((one, other), key=lambda found: len(found[0]))
    short, word = short.lower(), word.lower()
    if short == word or (len(short) >= _LEAST_SHORT and word.startswith(short)):
        return True
    rest = iter(word)
    left_out = short[0] == word[0] and all(letter in rest for letter in short)
    known = _SHORT_FOR.get(short) == word
    return known or (left_out and (stop != "" or _LEAST_SHORT <= len(short) <= len(word) / 2))


def _are_initials(one: str, other: str) -> bool:
    """Return whether a text is made of the first letters of another one: `DNP` of `Did not play`."""
    short, text = (one, other) if len(one) < len(other) else (other, one)
    if not short.isupper() or len(short) < 2:
        return False
    return "".join(word[0] for word in text.replace(" and ", " & ").split()).upper() == short


def _is_opposite(truth: str, pred: str) -> bool:
    """Return whether two names differ in the signs of their numbers alone; a hyphen or a dash is none."""
    if "-" not in truth and "-" not in pred:
        return False
    one, other = SIGN.sub("", truth), SIGN.sub("", pred)
    return len(truth) - len(one) != len(pred) - len(other) and bare(tight(one)) == bare(tight(other))


def _are_flat(truth: str, pred: str) -> bool:
    """Return whether two values are the same but for the height of scripts."""
    return is_numeric(truth) and _flat(tight(truth)) == _flat(tight(pred))


def _is_flat_power(power: str, given: str) -> bool:
    """Return whether a power of ten is given with its exponent on the line: `3x10-4` or, of `1e-6`,
    `10-6`.
    """
    if "e" not in power:
        return False
    written = _flat(power.replace("e", "x10"))
    return _flat(given) == written or (power.startswith("1e-") and _flat(given) == written.removeprefix("1x"))


def _day_and_month(text: str) -> str:
    """Return a date of digits with the smaller of its day and month first; empty if it is none."""
    found = _DATE.fullmatch(text)
    return f"{found[1]} {sorted((found[2], found[4]))} {found[5]}" if found else ""


def by(fold: _Fold, having: str = "") -> Callable[[str, str], bool]:
    """Return whether two texts are the same when they are folded, and say something then."""
    return lambda truth, pred: having in truth and fold(truth) == fold(pred) != ""


def first_of(rules: Rules, truth: str, pred: str) -> Difference | None:
    """Return the difference by the first of some rules that holds for two texts."""
    return next((found for holds, found in rules if holds(truth, pred)), None)


Rules = Sequence[tuple[Callable[[str, str], bool], Difference]]
_ABBREVIATED = misread(0.995, "abbreviated")
_NOTATIONS: Rules = (
    (by(lambda text: _unlettered(tight(text))), SAME),
    (texts.are_same_units, SAME),
    (_is_spelled_out, misread(_SIGN_LOST, "Greek letters spelled out")),
    (by(lambda text: _without_degrees(tight(text)), having="°"), misread(_SIGN_LOST, SYMBOLS_LOST)),
    (_are_initials, _ABBREVIATED),
)
"""Two ways to write the same, be it a value or a name."""
OF_NAMES: Rules = (
    *_NOTATIONS,
    (_is_other_case, SAME),
    (_is_opposite, misread(OPPOSITE, SIGN_CHANGED)),
    (lambda t, p: abs(len(t) - len(p)) > 2 and _is_abbreviated(t, p), _ABBREVIATED),
    (_is_abbreviated, misread(_SIGN_LOST, "a letter or two cut off")),
)
OF_VALUES: Rules = (
    *_NOTATIONS,
    (lambda t, p: _are_flat(t, p) and _on_the_line(tight(t)) == _on_the_line(tight(p)), SAME),
    (_are_flat, noted("scripts set flat")),
    (
        lambda t, p: _TIME.fullmatch(t) is not None and tight(t).replace(":", "") == tight(p).lstrip("0"),
        noted("colons lost"),
    ),
    (texts.are_same_quantities, noted("units converted", 0.9, HARDLY)),
    (
        lambda t, p: "±" in t and numbers(t) == numbers(p) and by(_unsigned)(t, p),
        noted("the sign of a deviation"),
    ),
)
OF_NUMBERS: Rules = (
    (by(ungrouped), SAME),
    (lambda t, p: _is_flat_power(p, tight(t)), SAME),
    (by(lambda text: tight(_shortened(ungrouped(text)))), noted("zeros at the end", 0.9, SLIGHTLY)),
    (by(_folding((r"[\s,;]+", ""))), noted("numbers run together")),
    (lambda t, p: "e-" in t and _is_flat_power(t, tight(p)), noted("scripts set flat", 0.75, SLIGHTLY)),
    (lambda t, p: _is_flat_power(t, tight(p)), noted("scripts set flat")),
    (by(_day_and_month), misread(0.0, "day and month exchanged")),
    (by(lambda text: " ".join(sorted(_AMOUNT.findall(text)))), noted("parts in another order", 0.6)),
)
"""Two ways to write the same digits, as one number or as several."""


def of_amounts(truth: str, pred: str) -> Difference | None:
    """Return the difference of two values that have the same digits, if they are written in two ways."""
    return first_of(OF_NUMBERS, texts.SIGNED_AMOUNT.sub("-", truth), texts.SIGNED_AMOUNT.sub("-", pred))


ANOTHER_UNIT = "another unit"
MARKS = "case or accents"
_MEASURED = re.compile(
    r"([+-]?[\d.]++|(?=..))(\D.*)"
)  # the number of a tight value, and what may be its unit
_FEW_WORDS = 2  # so many other words are a negation and what goes with it
_LIMITS = str.maketrans("", "", "<>≤≥")
_APART = re.compile(r"(?<=[\d.]) (?=[\d.])")
_EXPONENT = re.compile(
    r"(?<=[^\W\d_)])\^\{?-?\d+\}?(?![\d+-])|(?<![^\W\d_][^\W\d_])(?<=[^\W\d_)])\^\{?-?[^\W\d_]+\}?"
)
"""A number raised behind a letter, or anything raised behind a variable."""
_LONGEST_AMOUNT = 24
_DECORATION = str.maketrans("", "", "↑↓*†‡§")
"""Marks at a name that say how to read its values, not which one it is."""
_LETTERS_ALIKE = str.maketrans("αβγεζηικμνορτυχωаеорсухкмтвнідѕј℘ˆ˜", "abyeznikuvoptuxwaeopcyxkmtbhidsjp^~")
"""Letters of other alphabets as the Latin ones that they are taken for."""
_MISTAKEN = str.maketrans("olisbz", "011582", "-")
"""Letters, case folded, as the digits that they are taken for, however words and digits are joined."""
ALIKE = 0.9  # texts that are at least so much alike hardly differ
_OF_LETTERS: Rules = (
    (by(lambda text: text.translate(_DECORATION)), misread(0.95, "marks")),
    (by(lambda text: text.translate(_MISTAKEN)), misread(ALIKE, "letters taken for digits")),
    (by(lambda text: text.translate(_LETTERS_ALIKE)), misread(ALIKE, SYMBOLS_LOST)),
)
"""What the letters of names, and the last one of all texts, are taken for."""
_COMPARED = 400
"""Characters of a text that are compared one by one; longer texts are compared by their beginnings."""
NEAR = 0.5  # texts at least this alike are the same one misread; less, another one


def likeness(truth: str, pred: str) -> float:
    """Return likeness of two folded values, between 0 and 1.

    >>> likeness("1.12", "112")
    0.0
    >>> 0.5 < likeness("Riffusion", "Diffusion") < 1.0
    True
    """
    return 1.0 if truth == pred else difference(truth, pred).likeness


def difference(truth: str, pred: str, *, name: bool = False) -> Difference:
    """Return how a folded text differs from the true one.

    A header or a `name` has to tell which one it is, unlike a value: its letters count even where most of it
    are digits.

    >>> difference("92.0", "9 2 . 0").change.value, difference("λ_c", "λc").change.value
    ('notation', 'none')
    >>> difference("5+2-2", "5±2").change.value, difference("5+2-1", "5±2").change.value
    ('none', 'other')
    """
    return SAME if truth == pred else _difference(truth, pred, name)


@lru_cache(4 * KEPT_TEXTS)
def _difference(truth: str, pred: str, name: bool) -> Difference:
    if not truth or not pred or (not name and is_numeric(truth) and _digits(truth) != _digits(pred)):
        # A deviation given for each direction has its digits twice.
        one_sign = ("±" in truth) != ("±" in pred)
        return SAME if one_sign and by(both_ways)(tight(truth), tight(pred)) else ANOTHER
    one, other = tight(truth), tight(pred)
    if one == other:
        spaced = len(_APART.findall(ungrouped(pred))) > len(_APART.findall(truth)) + 1
        return noted("digits spaced apart", 0.9) if spaced else SAME
    found = first_of(OF_NAMES if name else OF_VALUES, truth, pred)
    if found is not None:
        return found
    lettered = name and any(map(str.isalpha, one))
    if not lettered and (is_numeric(truth) or is_numeric(pred)) and numbers(truth) != numbers(pred):
        found = of_amounts(truth, pred) if _digits(truth) == _digits(pred) else None
        return found or (REVERSED if _is_other_size(one, other) else ANOTHER)
    return (None if name else _other_meaning(truth, pred)) or _other_letters(one, other, name)


def _is_other_size(truth: str, pred: str) -> bool:
    """Return whether two amounts differ by their sign or a power of ten alone: `9.8` and `98`."""
    ours, theirs = numbers(truth), numbers(pred)
    if not len(ours) == len(theirs) == 1:
        return False
    one, other = ours[0].lstrip("-"), theirs[0].lstrip("-")
    if ours[0][0] != theirs[0][0] and "-" in ours[0][0] + theirs[0][0]:
        return one == other
    digits, others = (size.replace(".", "").strip("0") for size in (one, other))
    return digits == others != "" and one.lstrip("0") != other.lstrip("0")


def _other_meaning(truth: str, pred: str) -> Difference | None:
    """Return the difference of two values if one says what the other does not, however alike their letters
    are.
    """
    one, other = tight(truth), tight(pred)
    if _is_in_another_unit(one, other):
        return REVERSED._replace(cause=ANOTHER_UNIT)
    if one.translate(_LIMITS) == other.translate(_LIMITS):
        return ANOTHER  # a limit is no value
    ours, theirs = texts.state(truth), texts.state(pred)
    if ours and theirs and texts.are_comparable(ours, theirs):
        return noted("said in other words", ALIKE, HARDLY) if ours[1] is theirs[1] else REVERSED
    if not _is_negated(truth, pred):
        return None
    is_short = len(truth.split()) <= _FEW_WORDS * 2  # what a sentence says besides is still read
    return REVERSED._replace(cause="a negation") if is_short else misread(1 - OPPOSITE, "a negation")


def _is_negated(truth: str, pred: str) -> bool:
    """Return whether two texts about the same differ by a negation (`without care`), or by opposite words."""
    ours, theirs = Counter(truth.casefold().split()), Counter(pred.casefold().split())
    lost, added = ours - theirs, theirs - ours
    if max(lost.total(), added.total()) > _FEW_WORDS:
        return False
    # A negation with a wrong letter is misread, not left out.
    return any(texts.are_opposite(a, b) for a, b in product(lost, added)) or any(
        texts.NEGATION.fullmatch(word) and not any(Levenshtein.distance(word, other) < 2 for other in others)
        for words, others in ((lost, added), (added, lost))
        for word in words
    )


def _other_letters(one: str, other: str, name: bool) -> Difference:
    """Return the difference of two tight texts by their letters."""
    plain, given = bare(one), bare(other)
    if plain == given:
        return _marks(one, other, name)
    found = first_of(_OF_LETTERS[0 if name else 2 :], plain, given)
    if found is not None:
        return found
    similarity = Levenshtein.normalized_similarity(plain[:_COMPARED], given[:_COMPARED])
    return Difference(Change.MISREAD if similarity >= NEAR else Change.OTHER, similarity)


def _is_in_another_unit(truth: str, pred: str) -> bool:
    """Return whether two tight values have the same number or none, and different units: `25km` and `25m`."""
    if not truth[-1:].isalpha() or len(truth) > _LONGEST_AMOUNT:
        return False
    one, other = _MEASURED.fullmatch(truth), _MEASURED.fullmatch(pred)
    return bool(one and other and one[1] == other[1] and texts.are_other_units(one[2], other[2]))


@lru_cache(KEPT_TEXTS)
def _digits(text: str) -> str:
    """Return the digits of a text by size, without those that notation adds or drops: zeros at the end,
    `×10`.
    """
    return "".join(sorted(filter("23456789".__contains__, text)))


def _marks(one: str, other: str, name: bool) -> Difference:
    """Return the difference of two texts that have the same letters."""
    if sum(c in "^_" for c in other) > sum(c in "^_" for c in one):
        return noted("scripts where there are none", 0.6)
    if _apart(one.translate(SCRIPT_MARKS)) != _apart(other.translate(SCRIPT_MARKS)):
        return misread(0.97, MARKS)
    if not name and len(_EXPONENT.findall(other)) < len(_EXPONENT.findall(one)):
        return noted("scripts set flat")
    return SAME  # a script set flat: the text still tells which one


def _apart(text: str) -> tuple[str, list[str]]:
    """Return the letters, and the accents wherever they stand: before their letter, on it, or behind it."""
    decomposed = text if text.isascii() else unicodedata.normalize("NFD", text)
    accents = [c for c in decomposed if unicodedata.combining(c)]
    return "".join(c for c in decomposed if c not in accents), sorted(accents)


def slip(truth: str, pred: str) -> str:
    """Return the replacements, each kind once: the cause of a difference.

    >>> slip("θ1", "01") == slip("θ2", "02")
    True
    """
    one, other = tight(truth)[:_COMPARED], tight(pred)[:_COMPARED]
    edits = [o for o in Levenshtein.opcodes(one, other) if o.tag != "equal"]
    changes = {(one[o.src_start : o.src_end], other[o.dest_start : o.dest_end]) for o in edits}
    if all(not old.isascii() and new.isascii() and len(new) <= len(old) for old, new in changes):
        return SYMBOLS_LOST
    return " ".join(sorted(f"{old}>{new}" for old, new in changes))
