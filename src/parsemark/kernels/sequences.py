"""Two sequences compared or aligned, in Python.

The twins of edit_similarity.cpp, sequence_matcher.cpp and alignment.hpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq, Levenshtein

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pairs = list[tuple[int, int]]


def align(rewards: Sequence[Sequence[float]]) -> tuple[float, Pairs]:
    """The best monotone alignment of rows with columns, and its value. Skips are free.

    Among equal values a match is preferred, then skipping a row, then skipping a column; equality is that of
    floats. This is the tie order of the GriTS reference, and it changes GriTS' values.
    """
    n_a, n_b = len(rewards), len(rewards[0]) if rewards else 0
    if any(len(row) != n_b for row in rewards):
        raise ValueError("rewards must be a rectangle")
    values = [[0.0] * (n_b + 1) for _ in range(n_a + 1)]
    for i, row in enumerate(rewards):
        above, here = values[i], values[i + 1]
        for j, reward in enumerate(row):
            here[j + 1] = max(above[j] + reward, above[j + 1], here[j])
    pairs: Pairs = []
    i, j = n_a, n_b
    while i and j:
        best = values[i][j]
        if values[i - 1][j - 1] + rewards[i - 1][j - 1] == best:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif values[i - 1][j] == best:
            i -= 1
        else:
            j -= 1
    return values[n_a][n_b], pairs[::-1]


def monotone_pairs(scores: NDArray[np.float64]) -> Pairs:
    """The monotone pairing of rows with columns whose scores have the greatest sum.

    Among equal sums the pairs stand as early as they can: from the end, a row is skipped before a column, and
    both before a match.
    """
    import numpy as np

    n, m = scores.shape
    totals = np.zeros((n + 1, m + 1))
    for i in range(n):
        best = np.maximum(totals[i, :-1] + scores[i], totals[i, 1:])
        totals[i + 1, 1:] = np.maximum.accumulate(best)
    pairs: Pairs = []
    i, j = n, m
    while i and j:
        if totals[i, j] == totals[i - 1, j]:
            i -= 1
        elif totals[i, j] == totals[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def levenshtein(a: str, b: str) -> int:
    """Least number of insertions, deletions and replacements that turn `a` into `b`."""
    return Levenshtein.distance(a, b)


def window_distance(pattern: str, text: str, cutoff: int) -> int:
    """Least Levenshtein distance between `pattern` and a window of its length in `text`.

    -1 where it is above the cutoff, or there is no such window.
    """
    size = len(pattern)
    if not 0 < size <= len(text):
        return -1
    best = cutoff + 1
    for start in range(len(text) - size + 1):
        distance = Levenshtein.distance(pattern, text[start : start + size], score_cutoff=best - 1)
        best = min(best, distance)
        if best == 0:
            break
    return best if best <= cutoff else -1


def lcs_length(a: str, b: str) -> int:
    """Length of a longest common subsequence."""
    return LCSseq.similarity(a, b)


def difflib_matched(a: str, b: str) -> int:
    """Number of characters in the blocks that `difflib.SequenceMatcher(None, a, b)` matches."""
    return sum(block.size for block in SequenceMatcher(None, a, b).get_matching_blocks())


def close_matches(queries: Sequence[str], candidates: Sequence[str], cutoff: float) -> list[int]:
    """For each query the first index of what `difflib.get_close_matches(…, n=1)` gives; -1 for nothing."""
    first = {text: index for index, text in reversed(list(enumerate(candidates)))}
    known: dict[str, int] = {}
    for query in queries:
        if query not in known:
            found = get_close_matches(query, first, n=1, cutoff=cutoff)
            known[query] = first[found[0]] if found else -1
    return [known[query] for query in queries]
