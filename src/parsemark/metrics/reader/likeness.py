"""How two folded texts differ to a reader: not at all, in notation alone, by misread letters, or altogether.

Closeness of characters is not closeness of meaning: 1.12 is as wrong as 9.99 where 112 was printed, while a
misspelt word is still read. So numbers count only if they are the same numbers, and words by their letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from parsemark.metrics.reader.numerals import (
    both_ways,
    flat,
    is_flat_power,
    on_the_line,
    shortened,
    ungrouped,
)
from parsemark.metrics.reader.units import are_other_units, are_same_units

_NUMBER = re.compile(r"(?:(?<![\w.)])-)?\d[\d.]*(?:e[+-]?\d+(?![\w.]))?")
_SIGNED = re.compile(r"(?<![\w.)])- ?[$€£¥₹](?=\d)")
"""A sign before a currency is that of the amount."""
SIGN = re.compile(r"(?<![^\s(\[{/|:;,=<>~≈^_±×$€£¥-])-(?=\.?\d)")
"""The sign of a number in a name, where hyphens and dashes join or list things as well."""
SIGN_CHANGED = "the sign of a number"
ANOTHER_UNIT = "another unit"
MARKS = "case or accents"
SYMBOLS_LOST = "symbols that the reader of the page does not know"
_MEASURED = re.compile(r"([+-]?[\d.]++)(.+)")
"""The number of a tight value, and what may be its unit."""
_OFF = re.compile(r"\s*[±+-]\s*")
"""What may stand before a deviation."""
_TIME = re.compile(r"\d?\d:\d\d(?::\d\d)?")
_DECIMAL = re.compile(r"[0-9]++(?:\.[0-9]++)?")
_WORDS = re.compile(r"[A-Za-z]++(?: [A-Za-z]++)*+")
_NEGATION = re.compile(r"not?|never|none|without|cannot|\w+n['’]t|nicht|kein(?:e[mnrs]?)?|ohne|sans")
_OPPOSITE = 0.75
"""Share of a text that says the opposite which people take for misread, at most."""
_FEW_WORDS = 2
"""So many other words are a negation and what goes with it."""
_SCRIPT_MARKS = str.maketrans("", "", "^_{}")
_DECORATION = str.maketrans("", "", "↑↓*†‡§")
"""Marks at a name that say how to read its values, not which one it is."""
_BESIDE = str.maketrans("ˆˇ˜¯˙¨", "\u0302\u030c\u0303\u0304\u0307\u0308")
"""Accents that stand beside their letter, as the text layer of a formula has them."""
_LOOKS_ALIKE = str.maketrans({"‖": "|", "ı": "i", "×": "x"})
_DROPPED = re.compile(r"\s+|(?<=[^\W\d_])-(?=[^\W\d_])")
_SEPARATORS = re.compile(r"[\s,;]+")
_APART = re.compile(r"(?<=[\d.]) (?=[\d.])")
_LETTERED = re.compile(r"(?<=[\d.)%])\^(?:\{([a-h](?:,?[a-h]){0,4})\}|([a-h]))")
"""Letters raised behind a value, which say which values differ."""
_EXPONENT = re.compile(
    r"(?<=[^\W\d_)])\^\{?-?\d+\}?(?![\d+-])|(?<![^\W\d_][^\W\d_])(?<=[^\W\d_)])\^\{?-?[^\W\d_]+\}?"
)
"""A number raised behind a letter, or anything raised behind a variable."""
_DEGREES = re.compile(r"°|(?<![^\W\d_])(?:deg\.?|o(?=[CF](?![^\W\d_])))")
_GIVEN_AS = re.compile(r"(?<=[(\[])o(?=[)\]])|(?<=\d)o(?!\w)")
_WORD = re.compile(r"[^\W\d_]+")
_SHORTENED = re.compile(r"([^\W\d_]+)(\.?)")
_LEAST_SHORT = 3
"""Letters that a word has to have if it is cut short without a full stop."""
_LONGEST_AMOUNT = 24
_AMOUNT = re.compile(r"[+-]?\d[\d.]*|[^\W\d_]+")
_LEGIBLE = 0.25
"""Severity of a power of ten whose exponent is on the line: its sign is left to tell where it begins."""
_ZEROS = 0.25
"""Severity of zeros at the end that are lost or added: the number is the same, how exact it is is not."""
_LETTERS_ALIKE = str.maketrans("αβγεζηικμνορτυχωаеорсухкмтвнідѕј℘ˆ˜", "abyeznikuvoptuxwaeopcyxkmtbhidsjp^~")
"""Letters of other alphabets as the Latin ones that they are taken for."""
_GREEK = {
    unicodedata.name(letter).split()[-1].lower(): letter for letter in map(chr, range(ord("α"), ord("ω") + 1))
} | {"lambda": "λ", "sigma": "σ"}
_GREEK_NAME = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(_GREEK)})(?![^\W\d_])", re.IGNORECASE)
_MISTAKEN = str.maketrans("olisbz", "011582", "-")
"""Letters, case folded, as the digits that they are taken for, however words and digits are joined."""
_ALIKE = 0.9
_SIGN_LOST = 0.97
"""Likeness of a text to that with a sign which nobody misses."""
_UNSIGNED = 0.75
"""Likeness of a name to that of the opposite number: no other one is meant, though it says something else."""
_CACHE = 50_000
_COMPARED = 400
"""Characters of a text that are compared one by one; longer texts are compared by their beginnings."""
NEAR = 0.5
"""Texts at least this alike are the same one misread; less, another one."""


class Change(Enum):
    """In which way two texts differ."""

    __hash__ = object.__hash__  # members are single; that of Enum is written in Python

    NONE = "none"
    NOTATION = "notation"
    """The characters are all there, but grouped, spaced or raised in another way."""
    MISREAD = "misread"
    """Some letters are wrong; the text is still recognised."""
    OTHER = "other"
    """It says something else."""


class Difference(NamedTuple):
    """How a text differs from what it should be."""

    change: Change
    likeness: float
    """1 for the same content, 0 for another one."""
    cause: str = ""
    """What was done to its notation."""
    severity: float = 1.0
    """How much of what other changes of notation cost this one does."""


SAME = Difference(Change.NONE, 1.0)
ANOTHER = Difference(Change.OTHER, 0.0)


@lru_cache(_CACHE)
def tight(text: str) -> str:
    """The text without white space and hyphens inside words, and with one character for look-alikes."""
    if text.isascii() and text.replace(".", "").isalnum():
        return text
    dropped = _DROPPED.sub("", text) if "-" in text else "".join(text.split())
    if len(dropped) > 1 and not dropped.isascii():
        dropped = dropped.translate(_BESIDE)
    return dropped.translate(_LOOKS_ALIKE) if len(dropped) > 1 else dropped


@lru_cache(_CACHE)
def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a text with their signs, in order.

    >>> numbers("-2.8 (10^-3)"), numbers("F-1")
    (('-2.8', '10', '-3'), ('1',))
    >>> numbers("5e-4"), numbers("5e4")
    (('5e-4',), ('5e4',))
    >>> numbers("-$9.09") == numbers("$-9.09") == numbers("-9.09")
    True
    """
    if text.isalpha():
        return ()
    if "-" in text and ("$" in text or not text.isascii()):
        text = _SIGNED.sub("-", text)
    return tuple([found.rstrip(".") for found in _NUMBER.findall(text)])


@lru_cache(_CACHE)
def is_numeric(text: str) -> bool:
    """Whether a text is a value made of digits rather than a name with digits in it."""
    if text.isalpha():
        return False
    if text.isascii() and text.replace(".", "").isdigit():
        return True
    digits = sum(map(str.isdigit, text))
    return digits > 0 and digits >= sum(map(str.isalpha, text))


@lru_cache(_CACHE)
def bare(text: str) -> str:
    """A tight text without case, accents and the height of scripts."""
    if text.isascii():
        marked = "_" in text or "^" in text or "{" in text or "}" in text
        return ((text.translate(_SCRIPT_MARKS) or text) if marked else text).lower()
    plain = (text.translate(_SCRIPT_MARKS) or text).casefold()
    decomposed = unicodedata.normalize("NFD", plain)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


class Features(NamedTuple):
    """What tells quickly how alike two texts may be."""

    bare: str
    """The text `tight` and `bare`."""
    numeric: bool
    numbers: tuple[str, ...]


@lru_cache(_CACHE)
def features(text: str) -> Features:
    """The features of a folded text."""
    if _DECIMAL.fullmatch(text):
        return Features(text, True, (text,))
    if _WORDS.fullmatch(text):
        return Features(text.replace(" ", "").lower(), False, ())
    return Features(bare(tight(text)), is_numeric(text), numbers(text))


def likeness(truth: str, pred: str) -> float:
    """Likeness of two folded values, between 0 and 1.

    >>> likeness("1.12", "112")
    0.0
    >>> 0.5 < likeness("Riffusion", "Diffusion") < 1.0
    True
    """
    return 1.0 if truth == pred else difference(truth, pred).likeness


def difference(truth: str, pred: str, *, name: bool = False) -> Difference:
    """How a folded text differs from the true one.

    Args:
        truth: The true text.
        pred: The given one.
        name: Whether it is a header or a name, which has to tell which one, rather than a value: its letters
            count even where most of it are digits.

    >>> difference("92.0", "9 2 . 0").change.value, difference("λ_c", "λc").change.value
    ('notation', 'none')
    >>> difference("5+2-2", "5±2").change.value, difference("5+2-1", "5±2").change.value
    ('none', 'other')
    """
    return SAME if truth == pred else _difference(truth, pred, name)


@lru_cache(4 * _CACHE)
def _difference(truth: str, pred: str, name: bool) -> Difference:
    if not truth or not pred or (not name and is_numeric(truth) and _digits(truth) != _digits(pred)):
        # A deviation that is said for each way has its digits twice.
        one_sign = ("±" in truth) != ("±" in pred)
        return SAME if one_sign and both_ways(tight(truth)) == both_ways(tight(pred)) else ANOTHER
    one, other = tight(truth), tight(pred)
    if one == other:
        spaced = len(_APART.findall(ungrouped(pred))) > len(_APART.findall(truth)) + 1
        return Difference(Change.NOTATION, 0.9, "digits spaced apart") if spaced else SAME
    noted = _first(_OF_NAMES if name else _OF_VALUES, truth, pred)
    if noted is not None:
        return noted
    lettered = name and any(map(str.isalpha, one))
    if not lettered and (is_numeric(truth) or is_numeric(pred)) and numbers(truth) != numbers(pred):
        signed = _SIGNED.sub("-", truth), _SIGNED.sub("-", pred)
        return (_first(_OF_NUMBERS, *signed) if _digits(truth) == _digits(pred) else None) or ANOTHER
    if not name and " " in truth and _is_negated(truth, pred):
        return Difference(Change.MISREAD, 1 - _OPPOSITE, "a negation")
    return _other_letters(one, other, name)


def _first(rules: _Rules, truth: str, pred: str) -> Difference | None:
    """The difference by the first of some rules that holds for two texts."""
    return next((found for holds, found in rules if holds(truth, pred)), None)


def _by(fold: Callable[[str], str]) -> Callable[[str, str], bool]:
    """Whether two texts are the same when they are folded, and say something then."""
    return lambda truth, pred: fold(truth) == fold(pred) != ""


@lru_cache(_CACHE)
def _unlettered(text: str) -> str:
    return _LETTERED.sub(r"\1\2", tight(text)) if "^" in text else tight(text)


def _is_other_case(truth: str, pred: str) -> bool:
    """Whether two names differ in which of their words begin with, or are in, capitals.

    Those of a symbol or a made-up name say something.

    >>> _is_other_case("Strongly Agree", "Strongly agree"), _is_other_case("BraTs", "BraTS")
    (True, False)
    """
    if len(truth) != len(pred) or truth.lower() != pred.lower():
        return False
    words = zip(_WORD.findall(truth), _WORD.findall(pred), strict=False)
    plain = (w for pair in words if pair[0] != pair[1] for w in pair)
    return all(len(w) > 2 and (w.islower() or w.isupper() or w.istitle()) for w in plain)


def _is_spelled_out(truth: str, pred: str) -> bool:
    """Whether one of two texts has names for the other's Greek letters.

    >>> _is_spelled_out("β_1", "beta1"), _is_spelled_out("alphabet", "αbet")
    (True, False)
    """
    if (truth.isascii() and pred.isascii()) or bare(tight(truth)) == bare(tight(pred)):
        return False
    return _in_greek(truth) == _in_greek(pred)


@lru_cache(_CACHE)
def _in_greek(text: str) -> str:
    return bare(tight(_GREEK_NAME.sub(lambda found: _GREEK[found[0].lower()], text)))


def _is_degreeless(truth: str, pred: str) -> bool:
    """Whether two texts are the same without signs of degrees, however they are given."""
    if "°" not in truth:
        return False
    one, other = (_GIVEN_AS.sub("", _DEGREES.sub("", tight(text))) for text in (truth, pred))
    return one == other != ""


def _is_abbreviated(one: str, other: str) -> bool:
    """Whether each word of a name is one of the other, or short for it.

    >>> _is_abbreviated("Precipitation (mm)", "Precip. (mm)"), _is_abbreviated("Dept.", "Department")
    (True, True)
    >>> _is_abbreviated("Mean Temp.", "Mean Pressure"), _is_abbreviated("Top", "To")
    (False, False)
    """
    if one[:1].lower() != other[:1].lower() or len(one) == len(other):
        return False
    ours, theirs = _SHORTENED.findall(one), _SHORTENED.findall(other)
    if len(ours) != len(theirs) or _between_words(one) != _between_words(other):
        return False
    return all(map(_is_one_short_for_the_other, ours, theirs))


@lru_cache(_CACHE)
def _between_words(text: str) -> str:
    return "".join(_SHORTENED.sub("w", text).split())


def _is_one_short_for_the_other(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two words, each with its full stop, are the same, or one stops short or leaves letters out."""
    (short, stop), (word, _) = sorted((one, other), key=lambda found: len(found[0]))
    short, word = short.lower(), word.lower()
    if short == word or not stop:
        return short == word or (len(short) >= _LEAST_SHORT and word.startswith(short))
    rest = iter(word)
    return short[0] == word[0] and all(letter in rest for letter in short)


def _are_initials(one: str, other: str) -> bool:
    """Whether a text is made of the first letters of another one: `DNP` of `Did not play`."""
    short, text = (one, other) if len(one) < len(other) else (other, one)
    if not short.isupper() or len(short) < 2:
        return False
    return "".join(word[0] for word in text.split()).upper() == short


def _is_opposite(truth: str, pred: str) -> bool:
    """Whether two names differ in the signs of their numbers alone.

    >>> _is_opposite("-0.25", "0.25"), _is_opposite("- 2 layers", "2 layers"), _is_opposite("F-1", "F1")
    (True, False, False)
    """
    if "-" not in truth and "-" not in pred:
        return False
    one, other = SIGN.sub("", truth), SIGN.sub("", pred)
    return len(truth) - len(one) != len(pred) - len(other) and bare(tight(one)) == bare(tight(other))


def _is_negated(truth: str, pred: str) -> bool:
    """Whether one of two texts that are about the same says not, and the other does not.

    >>> _is_negated("did not help", "did help"), _is_negated("made with care", "made without care")
    (True, True)
    >>> _is_negated("did not help", "did nof help"), _is_negated("it is not so", "It is not So")
    (False, False)
    """
    ours, theirs = Counter(truth.lower().split()), Counter(pred.lower().split())
    lost, added = ours - theirs, theirs - ours
    if max(lost.total(), added.total()) > _FEW_WORDS:
        return False
    # A negation with a wrong letter is misread, not left out.
    return any(
        _NEGATION.fullmatch(word) and not any(Levenshtein.distance(word, other) < 2 for other in others)
        for words, others in ((lost, added), (added, lost))
        for word in words
    )


def _are_flat(truth: str, pred: str) -> bool:
    return is_numeric(truth) and flat(tight(truth)) == flat(tight(pred))


def _has_lost_colons(truth: str, pred: str) -> bool:
    return _TIME.fullmatch(truth) is not None and tight(truth).replace(":", "") == tight(pred).lstrip("0")


def _deviates_unsigned(truth: str, pred: str) -> bool:
    """Whether two values with deviations differ in the sign before them."""
    same_numbers = "±" in truth and numbers(truth) == numbers(pred)
    return same_numbers and _OFF.sub(" ", truth).split() == _OFF.sub(" ", pred).split()


def _other_letters(one: str, other: str, name: bool) -> Difference:
    """The difference of two tight texts by their letters."""
    plain, given = bare(one), bare(other)
    if plain == given:
        return _marks(one, other, name)
    found = _first(_OF_LETTERS[0 if name else 2 :], plain, given)
    if found is not None:
        return found
    if "^" in one and "_" in one and plain[:1] == given[:1] and sorted(plain) == sorted(given):
        return Difference(Change.MISREAD, 0.95, "scripts in another order")
    similarity = Levenshtein.normalized_similarity(plain[:_COMPARED], given[:_COMPARED])
    cause = ""
    if not name and (lost := _without_unit(one, other)):
        similarity, cause = min(similarity, lost), ANOTHER_UNIT
    return Difference(Change.MISREAD if similarity >= NEAR else Change.OTHER, similarity, cause)


def _without_unit(truth: str, pred: str) -> float:
    """The likeness of a tight value without its unit, if it is given with another one; else 0.

    >>> _without_unit("25km", "25m"), _without_unit("25km", "25"), _without_unit("25people", "25poeple")
    (0.5, 0.0, 0.0)
    """
    if not truth[-1:].isalpha() or len(truth) > _LONGEST_AMOUNT:
        return 0.0
    one, other = _MEASURED.fullmatch(truth), _MEASURED.fullmatch(pred)
    same = one and other and one[1] == other[1] and are_other_units(one[2], other[2])
    return len(one[1]) / len(truth) if one and same else 0.0


@lru_cache(_CACHE)
def _digits(text: str) -> str:
    """The digits of a text by size, which are the same for a number that is written in another way.

    Without 0 and 1: zeros at the end may be left out, and `e` may stand for `×10`.
    """
    return "".join(sorted(filter("23456789".__contains__, text)))


def _marks(one: str, other: str, name: bool) -> Difference:
    """The difference of two texts that have the same letters."""
    if sum(c in "^_" for c in other) > sum(c in "^_" for c in one):
        return Difference(Change.NOTATION, 0.6, "scripts where there are none")
    if _apart(one.translate(_SCRIPT_MARKS)) != _apart(other.translate(_SCRIPT_MARKS)):
        return Difference(Change.MISREAD, 0.97, MARKS)
    if not name and len(_EXPONENT.findall(other)) < len(_EXPONENT.findall(one)):
        return Difference(Change.NOTATION, 0.75, "scripts set flat")
    return SAME  # a script set flat: the text still tells which one


def _apart(text: str) -> tuple[str, list[str]]:
    """The letters, and the accents wherever they stand: before their letter, on it, or behind it.

    >>> _apart("x̄_1") == _apart("¯x_1".translate(_BESIDE))
    True
    """
    decomposed = text if text.isascii() else unicodedata.normalize("NFD", text)
    accents = [c for c in decomposed if unicodedata.combining(c)]
    return "".join(c for c in decomposed if c not in accents), sorted(accents)


_Rules = Sequence[tuple[Callable[[str, str], bool], Difference]]
_ABBREVIATED = Difference(Change.MISREAD, _SIGN_LOST, "abbreviated")
_NOTATIONS: _Rules = (
    (_by(_unlettered), SAME),
    (are_same_units, SAME),
    (_is_spelled_out, Difference(Change.MISREAD, _SIGN_LOST, "Greek letters spelled out")),
    (_is_degreeless, Difference(Change.MISREAD, _SIGN_LOST, SYMBOLS_LOST)),
    (_are_initials, _ABBREVIATED),
)
"""Two ways to write the same, be it a value or a name."""
_OF_NAMES: _Rules = (
    *_NOTATIONS,
    (_is_other_case, SAME),
    (_is_opposite, Difference(Change.MISREAD, _UNSIGNED, SIGN_CHANGED)),
    (_is_abbreviated, _ABBREVIATED),
)
_OF_VALUES: _Rules = (
    *_NOTATIONS,
    (lambda t, p: _are_flat(t, p) and on_the_line(tight(t)) == on_the_line(tight(p)), SAME),
    (_are_flat, Difference(Change.NOTATION, 0.75, "scripts set flat")),
    (_has_lost_colons, Difference(Change.NOTATION, 0.75, "colons lost")),
    (_deviates_unsigned, Difference(Change.NOTATION, 0.75, "the sign of a deviation")),
)
_OF_NUMBERS: _Rules = (
    (_by(ungrouped), SAME),
    (lambda t, p: is_flat_power(p, tight(t)), SAME),
    (
        _by(lambda text: tight(shortened(ungrouped(text)))),
        Difference(Change.NOTATION, 0.9, "zeros at the end", _ZEROS),
    ),
    (
        _by(lambda text: _SEPARATORS.sub("", text)),
        Difference(Change.NOTATION, 0.75, "numbers run together"),
    ),
    (
        lambda t, p: "e-" in t and is_flat_power(t, tight(p)),
        Difference(Change.NOTATION, 0.75, "scripts set flat", _LEGIBLE),
    ),
    (lambda t, p: is_flat_power(t, tight(p)), Difference(Change.NOTATION, 0.75, "scripts set flat")),
    (
        lambda t, p: sorted(_AMOUNT.findall(t)) == sorted(_AMOUNT.findall(p)),
        Difference(Change.NOTATION, 0.6, "parts in another order"),
    ),
)
"""Two ways to write the same digits, as one number or as several."""
_OF_LETTERS: _Rules = (
    (_by(lambda text: text.translate(_DECORATION)), Difference(Change.MISREAD, 0.95, "marks")),
    (
        _by(lambda text: text.translate(_MISTAKEN)),
        Difference(Change.MISREAD, _ALIKE, "letters taken for digits"),
    ),
    (_by(lambda text: text.translate(_LETTERS_ALIKE)), Difference(Change.MISREAD, _ALIKE, SYMBOLS_LOST)),
)
"""What the letters of names, and the last one of all texts, are taken for."""


def slip(truth: str, pred: str) -> str:
    """What was replaced by what, each kind of replacement once: the cause of a difference.

    >>> slip("θ1", "01") == slip("θ2", "02")
    True
    """
    one, other = tight(truth)[:_COMPARED], tight(pred)[:_COMPARED]
    edits = [o for o in Levenshtein.opcodes(one, other) if o.tag != "equal"]
    changes = {(one[o.src_start : o.src_end], other[o.dest_start : o.dest_end]) for o in edits}
    if all(not old.isascii() and new.isascii() and len(new) <= len(old) for old, new in changes):
        return SYMBOLS_LOST
    return " ".join(sorted(f"{old}>{new}" for old, new in changes))
