"""The ways to write the same: case, abbreviations, Greek letters, degrees, scripts, signs, numbers.

All texts are folded ones, those of deviations and scripts without white space.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from parsemark.metrics.reader.texts import KEPT_TEXTS, bare, is_numeric, numbers, tight

SIGN = re.compile(r"(?<![^\s(\[{/|:;,=<>~≈^_±×$€£¥-])-(?=\.?\d)")
"""The sign of a number in a name, where hyphens and dashes join or list things as well."""
_OFF = re.compile(r"\s*[±+-]\s*")
"""What may stand before a deviation."""
_TIME = re.compile(r"\d?\d:\d\d(?::\d\d)?")
_NEGATION = re.compile(r"not?|never|none|without|cannot|\w+n['’]t|nicht|kein(?:e[mnrs]?)?|ohne|sans")
_FEW_WORDS = 2
"""So many other words are a negation and what goes with it."""
_LETTERED = re.compile(r"(?<=[\d.)%])\^(?:\{([a-h](?:,?[a-h]){0,4})\}|([a-h]))")
"""Letters raised behind a value, which say which values differ."""
_DEGREES = re.compile(r"°|(?<![^\W\d_])(?:deg\.?|o(?=[CF](?![^\W\d_])))")
_GIVEN_AS = re.compile(r"(?<=[(\[])o(?=[)\]])|(?<=\d)o(?!\w)")
_WORD = re.compile(r"[^\W\d_]+")
_SHORTENED = re.compile(r"([^\W\d_]+)(\.?)")
_LEAST_SHORT = 3
"""Letters that a word has to have if it is cut short without a full stop."""
_GREEK = {
    unicodedata.name(letter).split()[-1].lower(): letter for letter in map(chr, range(ord("α"), ord("ω") + 1))
} | {"lambda": "λ", "sigma": "σ"}
_GREEK_NAME = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(_GREEK)})(?![^\W\d_])", re.IGNORECASE)
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ '’]\d{3}){1,6}(?![\d ])")
_FRACTION = re.compile(r"\.\d+")
_RAISED = re.compile(r"(?:(?<!\d)[\^_]|[\^_](?=\{?\D))(?:\{([^{}]*)\})?")
"""A script that is told from what it stands at without its height: no digit meets a digit."""
_ONE_SCRIPT = r"(?:\{[^{}]*\}|[+±-]?[\d.]+)"
_BELOW_FIRST = re.compile(rf"(_{_ONE_SCRIPT})(\^{_ONE_SCRIPT})")
_DEVIATION = re.compile(r"[\^_](?:\{±([^{}]*)\}|±)")
_OFF_BY = re.compile(r"±([\d.]++)")


@lru_cache(KEPT_TEXTS)
def unlettered(text: str) -> str:
    """The tight text with letters behind its values on the line."""
    return _LETTERED.sub(r"\1\2", tight(text)) if "^" in text else tight(text)


def is_other_case(truth: str, pred: str) -> bool:
    """Whether two names differ in which of their words begin with, or are in, capitals.

    Those of a symbol or a made-up name say something.

    >>> is_other_case("Strongly Agree", "Strongly agree"), is_other_case("BraTs", "BraTS")
    (True, False)
    """
    if len(truth) != len(pred) or truth.lower() != pred.lower():
        return False
    words = zip(_WORD.findall(truth), _WORD.findall(pred), strict=False)
    plain = (w for pair in words if pair[0] != pair[1] for w in pair)
    return all(len(w) > 2 and (w.islower() or w.isupper() or w.istitle()) for w in plain)


def is_spelled_out(truth: str, pred: str) -> bool:
    """Whether one of two texts has names for the other's Greek letters.

    >>> is_spelled_out("β_1", "beta1"), is_spelled_out("alphabet", "αbet")
    (True, False)
    """
    if (truth.isascii() and pred.isascii()) or bare(tight(truth)) == bare(tight(pred)):
        return False
    return _in_greek(truth) == _in_greek(pred)


@lru_cache(KEPT_TEXTS)
def _in_greek(text: str) -> str:
    return bare(tight(_GREEK_NAME.sub(lambda found: _GREEK[found[0].lower()], text)))


def is_degreeless(truth: str, pred: str) -> bool:
    """Whether two texts are the same without signs of degrees, however they are given."""
    if "°" not in truth:
        return False
    one, other = (_GIVEN_AS.sub("", _DEGREES.sub("", tight(text))) for text in (truth, pred))
    return one == other != ""


def is_abbreviated(one: str, other: str) -> bool:
    """Whether each word of a name is one of the other, or short for it.

    >>> is_abbreviated("Precipitation (mm)", "Precip. (mm)"), is_abbreviated("Dept.", "Department")
    (True, True)
    >>> is_abbreviated("Mean Temp.", "Mean Pressure"), is_abbreviated("Top", "To")
    (False, False)
    """
    if one[:1].lower() != other[:1].lower() or len(one) == len(other):
        return False
    ours, theirs = _SHORTENED.findall(one), _SHORTENED.findall(other)
    if len(ours) != len(theirs) or _between_words(one) != _between_words(other):
        return False
    return all(map(_is_one_short_for_the_other, ours, theirs))


@lru_cache(KEPT_TEXTS)
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


def are_initials(one: str, other: str) -> bool:
    """Whether a text is made of the first letters of another one: `DNP` of `Did not play`."""
    short, text = (one, other) if len(one) < len(other) else (other, one)
    if not short.isupper() or len(short) < 2:
        return False
    return "".join(word[0] for word in text.split()).upper() == short


def is_opposite(truth: str, pred: str) -> bool:
    """Whether two names differ in the signs of their numbers alone.

    >>> is_opposite("-0.25", "0.25"), is_opposite("- 2 layers", "2 layers"), is_opposite("F-1", "F1")
    (True, False, False)
    """
    if "-" not in truth and "-" not in pred:
        return False
    one, other = SIGN.sub("", truth), SIGN.sub("", pred)
    return len(truth) - len(one) != len(pred) - len(other) and bare(tight(one)) == bare(tight(other))


def is_negated(truth: str, pred: str) -> bool:
    """Whether one of two texts that are about the same says not, and the other does not.

    >>> is_negated("did not help", "did help"), is_negated("made with care", "made without care")
    (True, True)
    >>> is_negated("did not help", "did nof help"), is_negated("it is not so", "It is not So")
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


def are_flat(truth: str, pred: str) -> bool:
    """Whether two values are the same but for the height of scripts."""
    return is_numeric(truth) and flat(tight(truth)) == flat(tight(pred))


def has_lost_colons(truth: str, pred: str) -> bool:
    """Whether a time is given without its colons."""
    return _TIME.fullmatch(truth) is not None and tight(truth).replace(":", "") == tight(pred).lstrip("0")


def deviates_unsigned(truth: str, pred: str) -> bool:
    """Whether two values with deviations differ in the sign before them."""
    same_numbers = "±" in truth and numbers(truth) == numbers(pred)
    return same_numbers and _OFF.sub(" ", truth).split() == _OFF.sub(" ", pred).split()


@lru_cache(KEPT_TEXTS)
def ungrouped(text: str) -> str:
    """The text without spaces or apostrophes between thousands.

    >>> ungrouped("1 234 567"), ungrouped("12 34")
    ('1234567', '12 34')
    """
    return _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), text)


@lru_cache(KEPT_TEXTS)
def shortened(text: str) -> str:
    """The text without zeros at the end of decimal fractions."""
    return _FRACTION.sub(lambda found: found[0].rstrip("0").rstrip("."), text)


@lru_cache(KEPT_TEXTS)
def flat(text: str) -> str:
    """The text with its scripts on the line, those below last; not where digits would meet digits.

    >>> flat("10^3"), flat("5_{-1}^{+2}"), flat("5_-1^+2")
    ('10^3', '5+2-1', '5+2-1')
    """
    return _RAISED.sub(lambda found: found[1] or "", _BELOW_FIRST.sub(r"\2\1", text))


def is_flat_power(power: str, given: str) -> bool:
    """Whether a power of ten is given with its exponent on the line.

    >>> is_flat_power("3e-4", "3x10-4"), is_flat_power("3e4", "3x104"), is_flat_power("1e-6", "10-6")
    (True, True, True)
    """
    if "e" not in power:
        return False
    written = flat(power.replace("e", "x10"))
    return flat(given) == written or (power.startswith("1e-") and flat(given) == written.removeprefix("1x"))


def on_the_line(text: str) -> str:
    """A value whose deviation may stand raised or lowered."""
    return _DEVIATION.sub(r"±\1", text)


def both_ways(text: str) -> str:
    """A value with a deviation said for each way, `5+2-2` for `5±2`."""
    return _OFF_BY.sub(r"+\1-\1", text)
