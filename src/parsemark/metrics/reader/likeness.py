"""How two folded texts differ to a reader: not at all, in notation alone, by misread letters, or altogether.

Closeness of characters is not closeness of meaning: 1.12 is as wrong as 9.99 where 112 was printed, while a
misspelt word is still read. So numbers count only if they are the same numbers, and words by their letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from parsemark.metrics.reader.notations import (
    are_flat,
    are_initials,
    both_ways,
    deviates_unsigned,
    has_lost_colons,
    is_abbreviated,
    is_degreeless,
    is_flat_power,
    is_negated,
    is_opposite,
    is_other_case,
    is_spelled_out,
    on_the_line,
    shortened,
    ungrouped,
    unlettered,
)
from parsemark.metrics.reader.texts import (
    KEPT_TEXTS,
    SCRIPT_MARKS,
    SIGNED_AMOUNT,
    bare,
    is_numeric,
    numbers,
    tight,
)
from parsemark.metrics.reader.units import are_other_units, are_same_units

SIGN_CHANGED = "the sign of a number"
ANOTHER_UNIT = "another unit"
MARKS = "case or accents"
SYMBOLS_LOST = "symbols that the reader of the page does not know"
_MEASURED = re.compile(r"([+-]?[\d.]++)(.+)")
"""The number of a tight value, and what may be its unit."""
_OPPOSITE = 0.75
"""Share of a text that says the opposite which people take for misread, at most."""
_DECORATION = str.maketrans("", "", "↑↓*†‡§")
"""Marks at a name that say how to read its values, not which one it is."""
_SEPARATORS = re.compile(r"[\s,;]+")
_APART = re.compile(r"(?<=[\d.]) (?=[\d.])")
_EXPONENT = re.compile(
    r"(?<=[^\W\d_)])\^\{?-?\d+\}?(?![\d+-])|(?<![^\W\d_][^\W\d_])(?<=[^\W\d_)])\^\{?-?[^\W\d_]+\}?"
)
"""A number raised behind a letter, or anything raised behind a variable."""
_LONGEST_AMOUNT = 24
_AMOUNT = re.compile(r"[+-]?\d[\d.]*|[^\W\d_]+")
_LEGIBLE = 0.25
"""Severity of a power of ten whose exponent is on the line: its sign is left to tell where it begins."""
_ZEROS = 0.25
"""Severity of zeros at the end that are lost or added: the number is the same, how exact it is is not."""
_LETTERS_ALIKE = str.maketrans("αβγεζηικμνορτυχωаеорсухкмтвнідѕј℘ˆ˜", "abyeznikuvoptuxwaeopcyxkmtbhidsjp^~")
"""Letters of other alphabets as the Latin ones that they are taken for."""
_MISTAKEN = str.maketrans("olisbz", "011582", "-")
"""Letters, case folded, as the digits that they are taken for, however words and digits are joined."""
_ALIKE = 0.9
_SIGN_LOST = 0.97
"""Likeness of a text to that with a sign which nobody misses."""
_UNSIGNED = 0.75
"""Likeness of a name to that of the opposite number: no other one is meant, though it says something else."""
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


@lru_cache(4 * KEPT_TEXTS)
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
        signed = SIGNED_AMOUNT.sub("-", truth), SIGNED_AMOUNT.sub("-", pred)
        return (_first(_OF_NUMBERS, *signed) if _digits(truth) == _digits(pred) else None) or ANOTHER
    if not name and " " in truth and is_negated(truth, pred):
        return Difference(Change.MISREAD, 1 - _OPPOSITE, "a negation")
    return _other_letters(one, other, name)


def _first(rules: _Rules, truth: str, pred: str) -> Difference | None:
    """The difference by the first of some rules that holds for two texts."""
    return next((found for holds, found in rules if holds(truth, pred)), None)


def _by(fold: Callable[[str], str]) -> Callable[[str, str], bool]:
    """Whether two texts are the same when they are folded, and say something then."""
    return lambda truth, pred: fold(truth) == fold(pred) != ""


def _other_letters(one: str, other: str, name: bool) -> Difference:
    """The difference of two tight texts by their letters."""
    plain, given = bare(one), bare(other)
    if plain == given:
        return _marks(one, other, name)
    found = _first(_OF_LETTERS[0 if name else 2 :], plain, given)
    if found is not None:
        return found
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


@lru_cache(KEPT_TEXTS)
def _digits(text: str) -> str:
    """The digits of a text by size, which are the same for a number that is written in another way.

    Without 0 and 1: zeros at the end may be left out, and `e` may stand for `×10`.
    """
    return "".join(sorted(filter("23456789".__contains__, text)))


def _marks(one: str, other: str, name: bool) -> Difference:
    """The difference of two texts that have the same letters."""
    if sum(c in "^_" for c in other) > sum(c in "^_" for c in one):
        return Difference(Change.NOTATION, 0.6, "scripts where there are none")
    if _apart(one.translate(SCRIPT_MARKS)) != _apart(other.translate(SCRIPT_MARKS)):
        return Difference(Change.MISREAD, 0.97, MARKS)
    if not name and len(_EXPONENT.findall(other)) < len(_EXPONENT.findall(one)):
        return Difference(Change.NOTATION, 0.75, "scripts set flat")
    return SAME  # a script set flat: the text still tells which one


def _apart(text: str) -> tuple[str, list[str]]:
    """The letters, and the accents wherever they stand: before their letter, on it, or behind it.

    >>> from parsemark.metrics.reader.texts import BESIDE
    >>> _apart("x̄_1") == _apart("¯x_1".translate(BESIDE))
    True
    """
    decomposed = text if text.isascii() else unicodedata.normalize("NFD", text)
    accents = [c for c in decomposed if unicodedata.combining(c)]
    return "".join(c for c in decomposed if c not in accents), sorted(accents)


_Rules = Sequence[tuple[Callable[[str, str], bool], Difference]]
_ABBREVIATED = Difference(Change.MISREAD, _SIGN_LOST, "abbreviated")
_NOTATIONS: _Rules = (
    (_by(unlettered), SAME),
    (are_same_units, SAME),
    (is_spelled_out, Difference(Change.MISREAD, _SIGN_LOST, "Greek letters spelled out")),
    (is_degreeless, Difference(Change.MISREAD, _SIGN_LOST, SYMBOLS_LOST)),
    (are_initials, _ABBREVIATED),
)
"""Two ways to write the same, be it a value or a name."""
_OF_NAMES: _Rules = (
    *_NOTATIONS,
    (is_other_case, SAME),
    (is_opposite, Difference(Change.MISREAD, _UNSIGNED, SIGN_CHANGED)),
    (is_abbreviated, _ABBREVIATED),
)
_OF_VALUES: _Rules = (
    *_NOTATIONS,
    (lambda t, p: are_flat(t, p) and on_the_line(tight(t)) == on_the_line(tight(p)), SAME),
    (are_flat, Difference(Change.NOTATION, 0.75, "scripts set flat")),
    (has_lost_colons, Difference(Change.NOTATION, 0.75, "colons lost")),
    (deviates_unsigned, Difference(Change.NOTATION, 0.75, "the sign of a deviation")),
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
