"""How alike two folded texts are to a reader: 1 for the same content, 0 for another one.

Closeness of characters is not closeness of meaning: 1.12 is as wrong as 9.99 where 112 was printed, while a
misspelt word is still read. So numbers count only if they are the same numbers, and words by their letters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from parsemark.metrics.reader.parameters import Parameters

_NUMBER = re.compile(r"(?<![\w.)])-?\d[\d.]*|\d[\d.]*")
_SCRIPT_MARKS = str.maketrans("", "", "^_{}")
_LOOKS_ALIKE = str.maketrans({"‖": "|", "△": "Δ", "▵": "Δ", "ı": "i"})
_DROPPED = re.compile(r"\s+|(?<=[^\W\d_])-(?=[^\W\d_])")
_SEPARATORS = re.compile(r"[\s,;]+")
_CACHE = 50_000


@lru_cache(_CACHE)
def tight(text: str) -> str:
    """The text without white space and hyphens inside words, and with one character for look-alikes."""
    return _DROPPED.sub("", text).translate(_LOOKS_ALIKE)


@lru_cache(_CACHE)
def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a text with their signs, in order.

    >>> numbers("-2.8 (10^-3)"), numbers("F-1")
    (('-2.8', '10', '-3'), ('1',))
    """
    return tuple(found.rstrip(".") for found in _NUMBER.findall(text))


@lru_cache(_CACHE)
def is_numeric(text: str) -> bool:
    """Whether a text is a value made of digits rather than a name with digits in it."""
    digits = sum(c.isdigit() for c in text)
    return digits > 0 and digits >= sum(c.isalpha() for c in text)


def likeness(truth: str, pred: str, parameters: Parameters) -> float:
    """Likeness of two folded texts, between 0 and 1.

    >>> from parsemark.metrics.reader.parameters import PARAMETERS
    >>> likeness("1.12", "112", PARAMETERS)
    0.0
    >>> 0.5 < likeness("Riffusion", "Diffusion", PARAMETERS) < 1.0
    True
    """
    if truth == pred:
        return 1.0
    return _likeness(truth, pred, parameters)


@lru_cache(4 * _CACHE)
def _likeness(truth: str, pred: str, parameters: Parameters) -> float:
    one, other = tight(truth), tight(pred)
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    if (is_numeric(truth) or is_numeric(pred)) and numbers(truth) != numbers(pred):
        regrouped = _SEPARATORS.sub("", truth) == _SEPARATORS.sub("", pred)
        return parameters.regrouped if regrouped else 0.0
    if bare(one) == bare(other):
        invented = sum(c in "^_" for c in other) > sum(c in "^_" for c in one)
        return parameters.mark_invented if invented else parameters.mark_lost
    similarity = Levenshtein.normalized_similarity(one.casefold(), other.casefold())
    return float(similarity**parameters.misspelling)


@lru_cache(_CACHE)
def bare(text: str) -> str:
    """A tight text without case, accents and the height of scripts."""
    plain = (text.translate(_SCRIPT_MARKS) or text).casefold()
    if plain.isascii():
        return plain
    decomposed = unicodedata.normalize("NFD", plain)
    return "".join(c for c in decomposed if not unicodedata.combining(c))
