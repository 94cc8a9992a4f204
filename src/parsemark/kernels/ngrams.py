"""Multisets of character n-grams and how alike they are."""

import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Any

Bag = Counter[Any]  # a multiset; the functions below keep those that they hand out: do not change them

_KEPT_BAGS = 128  # a truth is compared with what every parser made of it; its bag is made once


def squeeze(text: str) -> str:
    """Return the text without white space."""
    return "".join(text.split())


@lru_cache(maxsize=_KEPT_BAGS)
def character_ngrams(text: str, n: int = 3) -> Bag:
    """Return overlapping n-grams of the text without white space; a shorter text is its own only n-gram."""
    dense = squeeze(text)
    if not dense:
        return Counter()
    return Counter([dense[i : i + n] for i in range(max(1, len(dense) - n + 1))])


def text_bag(text: str) -> Bag:
    """Return 3-grams of letters, digits and pictures such as ✓, case and compatibility forms folded.

    A text that has none of them, such as a table of dashes, is taken as it is.
    """
    folded = unicodedata.normalize("NFKC", text).lower()
    dropped = [c for c in set(folded) if not c.isalnum() and unicodedata.category(c) != "So"]
    kept = folded.translate(dict.fromkeys(map(ord, dropped)))
    return character_ngrams(kept or folded)


@lru_cache(maxsize=_KEPT_BAGS)
def chunk_bigrams(text: str, *, overlapping: bool = False) -> Bag:
    """Return bigrams of consecutive 2-character chunks of the text without white space (Soric et al., C.1).

    >>> sorted(chunk_bigrams("Location"))
    [('Lo', 'ca'), ('ca', 'ti'), ('ti', 'on')]

    A text of one chunk is represented by that chunk alone, so that short tables are not all alike.
    """
    dense = squeeze(text)
    step = 1 if overlapping else 2
    chunks = [dense[i : i + 2] for i in range(0, len(dense), step)]
    pairs = zip(chunks, chunks[2:], strict=False) if overlapping else pairwise(chunks)
    bag: Bag = Counter(pairs)
    return bag or Counter(chunks)


def multiset_jaccard(a: Bag, b: Bag) -> float:
    """Return Σ min / Σ max of the multiplicities; 1 if both are empty."""
    total_a, total_b = a.total(), b.total()
    if total_a + total_b == 0:
        return 1.0
    shared = shared_count(a, b)
    return shared / (total_a + total_b - shared)


def multiset_f1(a: Bag, b: Bag) -> float:
    """Return 2 Σ min / (|a| + |b|); 1 if both are empty."""
    total = a.total() + b.total()
    return 2 * shared_count(a, b) / total if total else 1.0


def shared_count(a: Bag, b: Bag) -> int:
    """Return Σ min of the multiplicities."""
    both = list(a.keys() & b.keys())
    return sum(map(min, map(a.__getitem__, both), map(b.__getitem__, both)))
