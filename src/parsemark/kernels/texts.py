"""Comparing two texts, in Python: the twins of edit_similarity.cpp and sequence_matcher.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches

from rapidfuzz.distance import LCSseq, Levenshtein


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
