"""Formulas on one line: whether two folded texts say the same with other brackets.

A fraction or an exponent is set by its place, `e^{-λx}`, or on the line with brackets, `e^(-λx)`. Brackets
matter where they hold a sum together, or all that is raised, lowered or under a root; others come and go.
"""

from __future__ import annotations

import re
from functools import lru_cache

_RAISED_BRACKET = re.compile(r"\^\{\(\}")
_EXPONENTIAL = re.compile(r"(?<![^\W\d_])exp(?=[({\[])")
_PRODUCT = re.compile(r"(?<=[^\W\d_)}])[·*](?=[\w({])|(?<=[\w)}])[·*](?=[^\W\d_({])")
_BARS = re.compile(r"\|[^|]*\|")
_OPENING, _CLOSING = "({[", ")}]"
_BRACKETS = str.maketrans("", "", _OPENING + _CLOSING)
_OVER = frozenset("^_√")
_ONE_FACTOR = re.compile(r"[+-]?\w+")
_OPERATORS = frozenset("^/√")
_LONGEST = 200
_CACHE = 20_000


def are_same_formulas(one: str, other: str) -> bool:
    """Whether two folded texts are one formula.

    >>> are_same_formulas("((b-a)^2)/12", "(b-a)^2/12"), are_same_formulas("1/(b-a)", "1/b-a")
    (True, False)
    >>> are_same_formulas("e^{-λx}", "exp(-λx)"), are_same_formulas("e^{-λx}", "e^{λx}")
    (True, False)
    """
    if max(len(one), len(other)) > _LONGEST or _OPERATORS.isdisjoint(one) or not any(map(str.isalpha, one)):
        return False
    return _linear(one) == _linear(other)


@lru_cache(_CACHE)
def _linear(text: str) -> tuple[str, tuple[str, ...]]:
    """A formula without its brackets, and what they hold together."""
    text = "".join(_EXPONENTIAL.sub("e^", _RAISED_BRACKET.sub("^(", text)).split())
    text = _PRODUCT.sub("", text)
    held: list[str] = []
    open_at: list[int] = []
    for at, sign in enumerate(text):
        if sign in _OPENING:
            open_at.append(at)
        elif sign in _CLOSING and open_at:
            begin = open_at.pop()
            inside = text[begin + 1 : at]
            under = text[begin - 1 : begin] in _OVER and not _ONE_FACTOR.fullmatch(inside)
            if under or _is_sum(inside):
                held.append(inside.translate(_BRACKETS))
    return text.translate(_BRACKETS), tuple(sorted(held))


def _is_sum(text: str) -> bool:
    """Whether signs stand between the terms of a text, outside of what it holds in brackets."""
    depth = 0
    for at, sign in enumerate(_BARS.sub("", text)):
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if at and not depth and sign in "+-=<>,;±":
            return True
    return False
