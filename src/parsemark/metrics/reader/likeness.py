"""How two folded texts differ to a reader: not at all, in notation alone, by misread letters, or altogether.

Closeness of characters is not closeness of meaning: 1.12 is as wrong as 9.99 where 112 was printed, while a
misspelt word is still read. So numbers count only if they are the same numbers, and words by their letters.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from parsemark.metrics.reader import notations, texts
from parsemark.metrics.reader.notations import ANOTHER, SAME, Change, Difference, by, first_of, misread, noted
from parsemark.metrics.reader.texts import KEPT_TEXTS, SCRIPT_MARKS, bare, is_numeric, numbers, tight

ANOTHER_UNIT = "another unit"
MARKS = "case or accents"
_MEASURED = re.compile(r"([+-]?[\d.]++)(.+)")  # the number of a tight value, and what may be its unit
_NEGATION = re.compile(r"not?|never|none|without|cannot|\w+n['’]t|nicht|kein(?:e[mnrs]?)?|ohne|sans")
_FEW_WORDS = 2  # so many other words are a negation and what goes with it
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
_OF_LETTERS: notations.Rules = (
    (by(lambda text: text.translate(_DECORATION)), misread(0.95, "marks")),
    (by(lambda text: text.translate(_MISTAKEN)), misread(ALIKE, "letters taken for digits")),
    (by(lambda text: text.translate(_LETTERS_ALIKE)), misread(ALIKE, notations.SYMBOLS_LOST)),
)
"""What the letters of names, and the last one of all texts, are taken for."""
_COMPARED = 400
"""Characters of a text that are compared one by one; longer texts are compared by their beginnings."""
NEAR = 0.5  # texts at least this alike are the same one misread; less, another one


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
        # A deviation that is said for each way has its digits twice.
        one_sign = ("±" in truth) != ("±" in pred)
        return SAME if one_sign and by(notations.both_ways)(tight(truth), tight(pred)) else ANOTHER
    one, other = tight(truth), tight(pred)
    if one == other:
        spaced = len(_APART.findall(notations.ungrouped(pred))) > len(_APART.findall(truth)) + 1
        return noted("digits spaced apart", 0.9) if spaced else SAME
    found = first_of(notations.OF_NAMES if name else notations.OF_VALUES, truth, pred)
    if found is not None:
        return found
    lettered = name and any(map(str.isalpha, one))
    if not lettered and (is_numeric(truth) or is_numeric(pred)) and numbers(truth) != numbers(pred):
        return (notations.of_amounts(truth, pred) if _digits(truth) == _digits(pred) else None) or ANOTHER
    if not name and " " in truth and _is_negated(truth, pred):
        return misread(1 - notations.OPPOSITE, "a negation")
    return _other_letters(one, other, name)


def _is_negated(truth: str, pred: str) -> bool:
    """Whether one of two texts that are about the same says not (`without care`), and the other does not."""
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


def _other_letters(one: str, other: str, name: bool) -> Difference:
    """The difference of two tight texts by their letters."""
    plain, given = bare(one), bare(other)
    if plain == given:
        return _marks(one, other, name)
    found = first_of(_OF_LETTERS[0 if name else 2 :], plain, given)
    if found is not None:
        return found
    similarity = Levenshtein.normalized_similarity(plain[:_COMPARED], given[:_COMPARED])
    cause = ""
    if not name and (lost := _without_unit(one, other)):
        similarity, cause = min(similarity, lost), ANOTHER_UNIT
    return Difference(Change.MISREAD if similarity >= NEAR else Change.OTHER, similarity, cause)


def _without_unit(truth: str, pred: str) -> float:
    """The likeness of a tight value without its unit if it has another one (`25m` for `25km`), else 0."""
    if not truth[-1:].isalpha() or len(truth) > _LONGEST_AMOUNT:
        return 0.0
    one, other = _MEASURED.fullmatch(truth), _MEASURED.fullmatch(pred)
    same = one and other and one[1] == other[1] and texts.are_other_units(one[2], other[2])
    return len(one[1]) / len(truth) if one and same else 0.0


@lru_cache(KEPT_TEXTS)
def _digits(text: str) -> str:
    """The digits of a text by size, without those that notation adds or drops: zeros at the end, `×10`."""
    return "".join(sorted(filter("23456789".__contains__, text)))


def _marks(one: str, other: str, name: bool) -> Difference:
    """The difference of two texts that have the same letters."""
    if sum(c in "^_" for c in other) > sum(c in "^_" for c in one):
        return noted("scripts where there are none", 0.6)
    if _apart(one.translate(SCRIPT_MARKS)) != _apart(other.translate(SCRIPT_MARKS)):
        return misread(0.97, MARKS)
    if not name and len(_EXPONENT.findall(other)) < len(_EXPONENT.findall(one)):
        return noted("scripts set flat")
    return SAME  # a script set flat: the text still tells which one


def _apart(text: str) -> tuple[str, list[str]]:
    """The letters, and the accents wherever they stand: before their letter, on it, or behind it."""
    decomposed = text if text.isascii() else unicodedata.normalize("NFD", text)
    accents = [c for c in decomposed if unicodedata.combining(c)]
    return "".join(c for c in decomposed if c not in accents), sorted(accents)


def slip(truth: str, pred: str) -> str:
    """What was replaced by what, each kind of replacement once: the cause of a difference.

    >>> slip("θ1", "01") == slip("θ2", "02")
    True
    """
    one, other = tight(truth)[:_COMPARED], tight(pred)[:_COMPARED]
    edits = [o for o in Levenshtein.opcodes(one, other) if o.tag != "equal"]
    changes = {(one[o.src_start : o.src_end], other[o.dest_start : o.dest_end]) for o in edits}
    if all(not old.isascii() and new.isascii() and len(new) <= len(old) for old, new in changes):
        return notations.SYMBOLS_LOST
    return " ".join(sorted(f"{old}>{new}" for old, new in changes))
