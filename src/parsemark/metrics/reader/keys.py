"""Names as programs write them: `density_g_cm3` for `Density (g cm⁻³)`, `sigma_y_MPa` for `σ_y (MPa)`."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_KEY = re.compile(r"[A-Za-z]\w*", re.ASCII)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_SHORT = {"eps": "epsilon", "pct": "percent", "perc": "percent"}
_LONGEST = 120
_CACHE = 50_000


def is_key_of(key: str, name: str) -> bool:
    """Whether a text has the letters and digits of a name, and nothing else that a key of data cannot have.

    >>> is_key_of("sigma_y_MPa", "σ_y(MPa)"), is_key_of("eps_f_pct", "ε_f(%)"), is_key_of("topAcc", "Top Acc")
    (True, True, True)
    >>> is_key_of("sigma_x_MPa", "σ_y(MPa)"), is_key_of("top acc", "Top Acc.")
    (False, False)
    """
    return len(key) <= _LONGEST and _KEY.fullmatch(key) is not None and _read(key) == _spelled(name) != ""


@lru_cache(_CACHE)
def _read(key: str) -> str:
    return "".join(_SHORT.get(word, word) for word in map(str.lower, _WORD.findall(key)))


@lru_cache(_CACHE)
def _spelled(name: str) -> str:
    """The letters and digits of a name, Greek ones and per cent as words."""
    spelled = "".join(_in_words(character) for character in name)
    return "".join(filter(str.isalnum, spelled)).lower()


def _in_words(character: str) -> str:
    if character.isascii():
        return " percent " if character == "%" else character
    called = unicodedata.name(character, "").split()
    if called[:1] != ["GREEK"] or not character.isalpha():
        return character
    return {"LAMDA": "lambda"}.get(called[-1], called[-1])
