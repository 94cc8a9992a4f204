"""What a folded text is: its numbers, its letters without their looks, and the unit in which it measures."""

import re
import unicodedata
from collections import Counter
from decimal import Decimal
from functools import lru_cache

_NUMBER = re.compile(r"(?:(?<![\w.)])-)?\d[\d.]*(?:e[+-]?\d+(?![\w.]))?")
SIGNED_AMOUNT = re.compile(r"(?<![\w.)])- ?[$€£¥₹](?=\d)")  # a sign before a currency is that of the amount
_DECIMAL = re.compile(r"[0-9]++(?:\.[0-9]++)?")
_WORDS = re.compile(r"[A-Za-z]++(?: [A-Za-z]++)*+")
SCRIPT_MARKS = str.maketrans("", "", "^_{}")
BESIDE = str.maketrans("ˆˇ˜¯˙¨", "\u0302\u030c\u0303\u0304\u0307\u0308")
"""Accents that stand beside their letter, as the text layer of a formula has them."""
_LOOKS_ALIKE = str.maketrans({"‖": "|", "ı": "i", "×": "x"})
_DROPPED = re.compile(r"\s+|(?<=[^\W\d_])-(?=[^\W\d_])")
KEPT_TEXTS = 50_000
_BASE = r"(?:mol|min|rad|bits?|bytes?|bps|FLOPS|FLOPs|Hz|Pa|Wh|eV|Bq|Gy|Sv|cd|lm|lx|[mgsAKNJWCVFΩSTHLlhdaBb])"
_SYMBOL = (
    rf"(?:(?:da|[KMGT]i|[PTGMkKhdcmµμnpf])?{_BASE}"
    r"|[kKMBTG%‰°$€£¥]|°[CF]|USD|EUR|GBP|JPY|CNY|ppm|ppb|dBm?|in|ft|yd|mi|mph|lb|oz|yrs?|years?|days?|hours?|secs?)"
)
_FACTOR = re.compile(rf"({_SYMBOL}|u{_BASE}|µ|μ)(?:\^?\{{?([+-]?[1-9])\}}?)?")
_FACTORS = re.compile(r"(/?)\s*([^\s/·.*]+)|/")
_BELOW = re.compile(r"/\s*\(([^()]*)\)")
_MEASURED = re.compile(r"([+-]?[\d.]++)\s*(.+)")
_BRACKETED = re.compile(r"([^(\[]++)[(\[](.*)[)\]]")
_MICRO = re.compile(rf"(?<![^\W\d_])[µμ](?={_BASE}(?![^\W\d_]))")
"""The prefix of a unit, for which a u is written where there is no µ."""
_PREFIXES = dict(zip("TGMkdcmµunp", (12, 9, 6, 3, -1, -2, -3, -6, -6, -9, -12), strict=True)) | {"": 0}
_QUANTITY = re.compile(rf"([+-]?\d{{1,12}}(?:\.\d{{1,12}})?)\s*([{''.join(_PREFIXES)}]?)({_BASE})")
_ONE_SIGN = str.maketrans("µμl", "uuL")
_WRITTEN = frozenset("/^·µμ")  # what one of two ways to write a unit has
_LONGEST_UNIT = 60
_PREFIX_ALONE = frozenset("kMGTµun")  # `10k` for `10 kΩ`
NEGATION = re.compile(r"not?|never|none|without|cannot|\w+n['’]t|nicht|kein(?:e[mnrs]?)?|ohne|sans")
_OPPOSITES = """
    ✓ ✔ √ ✅ yes true ja oui sí да 是 はい نعم | ✗ ✘ ✕ ✖ × ❌ ☒ ☐ no false nein non нет 否 لا
    permitted allowed | prohibited forbidden banned
    detected found present positive | absent negative
    available included | unavailable excluded
    enabled active on | disabled inactive off
    always | never
    with | without
    above over after | below under before
    more higher maximum max | less fewer lower minimum min
    only | except
"""
"""Words that say the opposite of each other; all yes and no are those of the first line."""
_SIDES = [[side.split() for side in line.split("|")] for line in _OPPOSITES.split("\n") if "|" in line]
_STATES = {w: (k, not side) for k, sides in enumerate(_SIDES) for side in (0, 1) for w in sides[side]}
SAYING_YES, SAYING_NO = _SIDES[0]


@lru_cache(KEPT_TEXTS)
def tight(text: str) -> str:
    """Return the text without white space and hyphens inside words, and with one character for
    look-alikes.
    """
    if text.isascii() and text.replace(".", "").isalnum():
        return text
    dropped = _DROPPED.sub("", text) if "-" in text else "".join(text.split())
    if len(dropped) > 1 and not dropped.isascii():
        dropped = dropped.translate(BESIDE)
    return dropped.translate(_LOOKS_ALIKE) if len(dropped) > 1 else dropped


@lru_cache(KEPT_TEXTS)
def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers of a text with their signs, in order.

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
        text = SIGNED_AMOUNT.sub("-", text)
    return tuple([found.rstrip(".") for found in _NUMBER.findall(text)])


@lru_cache(KEPT_TEXTS)
def is_numeric(text: str) -> bool:
    """Return whether a text is a value made of digits rather than a name with digits in it."""
    if text.isalpha():
        return False
    if text.isascii() and text.replace(".", "").isdigit():
        return True
    digits = sum(map(str.isdigit, text))
    return digits > 0 and digits >= sum(map(str.isalpha, text))


@lru_cache(KEPT_TEXTS)
def bare(text: str) -> str:
    """Return a tight text without case, accents and the height of scripts."""
    if text.isascii():
        marked = "_" in text or "^" in text or "{" in text or "}" in text
        return ((text.translate(SCRIPT_MARKS) or text) if marked else text).lower()
    plain = (text.translate(SCRIPT_MARKS) or text).casefold()
    decomposed = unicodedata.normalize("NFD", plain)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


@lru_cache(KEPT_TEXTS)
def features(text: str) -> tuple[str, bool, tuple[str, ...]]:
    """Return features for a quick estimate of similarity: `tight`, `bare`, whether it is numeric, its
    numbers.
    """
    if _DECIMAL.fullmatch(text):
        return (text, True, (text,))
    if _WORDS.fullmatch(text):
        return (text.replace(" ", "").lower(), False, ())
    return (bare(tight(text)), is_numeric(text), numbers(text))


def are_same_units(one: str, other: str) -> bool:
    """Return whether two folded texts say the same but for how their unit is written.

    The unit is all they say, stands in brackets at their end, or behind a number; a u for µ is the same
    wherever it stands.

    >>> are_same_units("Conc.(mmol L^-1)", "Conc.(mmol/L)"), are_same_units("g cm^-3", "g/cm^3")
    (True, True)
    >>> are_same_units("Conc.(mol L^-1)", "Conc.(mol L)"), are_same_units("5 mol/L", "6 mol/L")
    (False, False)
    >>> are_same_units("Time in µs, mean", "Time in us, mean"), are_same_units("Gap(µm)", "Gap(nm)")
    (True, False)
    """
    if max(len(one), len(other)) > _LONGEST_UNIT or (_WRITTEN.isdisjoint(one) and _WRITTEN.isdisjoint(other)):
        return False
    if len(one) == len(other) and _MICRO.sub("u", one) == _MICRO.sub("u", other):
        return True
    ours, theirs = _measured(one), _measured(other)
    return ours == theirs and ours is not None


def are_same_quantities(one: str, other: str) -> bool:
    """Return whether two folded texts are one quantity in two sizes of its unit.

    >>> are_same_quantities("1.2 kW", "1200 W"), are_same_quantities("1.2 kW", "120 W")
    (True, False)
    """
    ours, theirs = _QUANTITY.fullmatch(one), _QUANTITY.fullmatch(other)
    if ours is None or theirs is None or ours[3] != theirs[3]:
        return False
    sizes = [Decimal(found[1]).scaleb(_PREFIXES[found[2]]) for found in (ours, theirs)]
    return sizes[0] == sizes[1]


def are_other_units(one: str, other: str) -> bool:
    """Return whether two different texts are two units, and not one in singular and plural.

    >>> are_other_units("m", "km"), are_other_units("m", "ms"), are_other_units("year", "years")
    (True, True, False)
    """
    short, long = sorted((one, other), key=len)
    if short in _PREFIX_ALONE and long[:-1] == short:
        return False
    is_plural = len(short) > 1 and long == f"{short}s"  # no symbol of two letters is another one with an s
    return not is_plural and powers(one) is not None and powers(other) is not None


@lru_cache(KEPT_TEXTS)
def state(text: str) -> tuple[int, bool] | None:
    """Return which of two opposites a text consists of: the pair, and whether it is the first one.

    >>> state("prohibited") == state("Not permitted"), state("permitted with care")
    (True, None)
    """
    *negations, word = text.casefold().split() or [""]
    if len(negations) > 1 or not all(map(NEGATION.fullmatch, negations)) or word not in _STATES:
        return None
    which, first = _STATES[word]
    return which, first is not bool(negations)


def are_comparable(one: tuple[int, bool], other: tuple[int, bool]) -> bool:
    """Return whether two states are of one pair of opposites, or one of them is yes or no."""
    return one[0] == other[0] or 0 in (one[0], other[0])


def are_opposite(one: str, other: str) -> bool:
    """Return whether two words say the opposite of each other."""
    ours, theirs = _STATES.get(one), _STATES.get(other)
    return bool(ours and theirs and ours[0] == theirs[0] and ours[1] is not theirs[1])


def powers(unit: str) -> frozenset[tuple[str, int]] | None:
    """Return the power of each factor of a unit, or None if it is none.

    >>> sorted(powers("kg/(m^2 s)")) == sorted(powers("kg m^-2 s^-1"))
    True
    """
    if not 0 < len(unit) <= _LONGEST_UNIT:
        return None
    below = _BELOW.sub(lambda found: "/" + "/".join(re.split(r"[\s·.*]+", found[1].strip())), unit)
    count: Counter[str] = Counter()
    for divided, factor in _FACTORS.findall(below):
        found = _FACTOR.fullmatch(factor)
        if found is None:
            return None
        count[found[1].translate(_ONE_SIGN)] += int(found[2] or 1) * (-1 if divided else 1)
    return frozenset(count.items())


@lru_cache(KEPT_TEXTS)
def _measured(text: str) -> tuple[str, frozenset[tuple[str, int]]] | None:
    """Return the quantity and its unit; None where there is none."""
    found = _BRACKETED.fullmatch(text) or _MEASURED.fullmatch(text)
    said, unit = (found[1], found[2]) if found else ("", text)
    known = powers(unit)
    return None if known is None else ("".join(said.split()), known)
