"""What a folded text is: its numbers, and its letters without their looks."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NUMBER = re.compile(r"(?:(?<![\w.)])-)?\d[\d.]*(?:e[+-]?\d+(?![\w.]))?")
SIGNED_AMOUNT = re.compile(r"(?<![\w.)])- ?[$€£¥₹](?=\d)")
"""A sign before a currency is that of the amount."""
_DECIMAL = re.compile(r"[0-9]++(?:\.[0-9]++)?")
_WORDS = re.compile(r"[A-Za-z]++(?: [A-Za-z]++)*+")
SCRIPT_MARKS = str.maketrans("", "", "^_{}")
BESIDE = str.maketrans("ˆˇ˜¯˙¨", "\u0302\u030c\u0303\u0304\u0307\u0308")
"""Accents that stand beside their letter, as the text layer of a formula has them."""
_LOOKS_ALIKE = str.maketrans({"‖": "|", "ı": "i", "×": "x"})
_DROPPED = re.compile(r"\s+|(?<=[^\W\d_])-(?=[^\W\d_])")
KEPT_TEXTS = 50_000


@lru_cache(KEPT_TEXTS)
def tight(text: str) -> str:
    """The text without white space and hyphens inside words, and with one character for look-alikes."""
    if text.isascii() and text.replace(".", "").isalnum():
        return text
    dropped = _DROPPED.sub("", text) if "-" in text else "".join(text.split())
    if len(dropped) > 1 and not dropped.isascii():
        dropped = dropped.translate(BESIDE)
    return dropped.translate(_LOOKS_ALIKE) if len(dropped) > 1 else dropped


@lru_cache(KEPT_TEXTS)
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
        text = SIGNED_AMOUNT.sub("-", text)
    return tuple([found.rstrip(".") for found in _NUMBER.findall(text)])


@lru_cache(KEPT_TEXTS)
def is_numeric(text: str) -> bool:
    """Whether a text is a value made of digits rather than a name with digits in it."""
    if text.isalpha():
        return False
    if text.isascii() and text.replace(".", "").isdigit():
        return True
    digits = sum(map(str.isdigit, text))
    return digits > 0 and digits >= sum(map(str.isalpha, text))


@lru_cache(KEPT_TEXTS)
def bare(text: str) -> str:
    """A tight text without case, accents and the height of scripts."""
    if text.isascii():
        marked = "_" in text or "^" in text or "{" in text or "}" in text
        return ((text.translate(SCRIPT_MARKS) or text) if marked else text).lower()
    plain = (text.translate(SCRIPT_MARKS) or text).casefold()
    decomposed = unicodedata.normalize("NFD", plain)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


@lru_cache(KEPT_TEXTS)
def features(text: str) -> tuple[str, bool, tuple[str, ...]]:
    """What tells quickly how alike two texts may be: one `tight` and `bare`, is it numeric, its numbers."""
    if _DECIMAL.fullmatch(text):
        return (text, True, (text,))
    if _WORDS.fullmatch(text):
        return (text.replace(" ", "").lower(), False, ())
    return (bare(tight(text)), is_numeric(text), numbers(text))
