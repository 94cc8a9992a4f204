"""Comparing two texts, in Python: the twins of edit_similarity.cpp and sequence_matcher.cpp."""

from __future__ import annotations

from difflib import SequenceMatcher

from rapidfuzz.distance import LCSseq, Levenshtein


def levenshtein(a: str, b: str) -> int:
    """Least number of insertions, deletions and replacements that turn `a` into `b`."""
    return Levenshtein.distance(a, b)


def lcs_length(a: str, b: str) -> int:
    """Length of a longest common subsequence."""
    return LCSseq.similarity(a, b)


def difflib_matched(a: str, b: str) -> int:
    """Number of characters in the blocks that `difflib.SequenceMatcher(None, a, b)` matches."""
    return sum(block.size for block in SequenceMatcher(None, a, b).get_matching_blocks())
