"""The ways in which the same number is written: thousands, zeros at the end, powers of ten, deviations.

All texts are folded ones, those of deviations and scripts without white space.
"""

from __future__ import annotations

import re
from functools import lru_cache

_CACHE = 50_000
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ '’]\d{3}){1,6}(?![\d ])")
_FRACTION = re.compile(r"\.\d+")
_RAISED = re.compile(r"(?:(?<!\d)[\^_]|[\^_](?=\{?\D))(?:\{([^{}]*)\})?")
"""A script that is told from what it stands at without its height: no digit meets a digit."""
_SCRIPT = r"(?:\{[^{}]*\}|[+±-]?[\d.]+)"
_BELOW_FIRST = re.compile(rf"(_{_SCRIPT})(\^{_SCRIPT})")
_DEVIATION = re.compile(r"[\^_](?:\{±([^{}]*)\}|±)")
_OFF_BY = re.compile(r"±([\d.]++)")


@lru_cache(_CACHE)
def ungrouped(text: str) -> str:
    """The text without spaces or apostrophes between thousands.

    >>> ungrouped("1 234 567"), ungrouped("12 34")
    ('1234567', '12 34')
    """
    return _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), text)


@lru_cache(_CACHE)
def shortened(text: str) -> str:
    """The text without zeros at the end of decimal fractions."""
    return _FRACTION.sub(lambda found: found[0].rstrip("0").rstrip("."), text)


@lru_cache(_CACHE)
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
