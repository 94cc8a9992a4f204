"""Edit distances of texts over their lengths, and the cheapest assignment by them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from parsemark.kernels import kernel
from parsemark.kernels.assignment import linear_sum_assignment

Distances = NDArray[np.float64]


def ned(a: str, b: str) -> float:
    """Return Levenshtein distance over the longer length; 0 for two empty texts."""
    longer = max(len(a), len(b))
    return kernel.levenshtein(a, b) / longer if longer else 0.0


def ned_matrix(truths: Sequence[str], preds: Sequence[str]) -> Distances:
    """Return normalised distance of each truth (rows) to each prediction (columns)."""
    lengths = np.maximum.outer([len(t) for t in truths] or [0], [len(p) for p in preds] or [0])
    plain = distance_matrix(truths, preds)
    return plain / np.maximum(lengths, 1) if plain.size else plain


def distance_matrix(truths: Sequence[str], preds: Sequence[str]) -> Distances:
    """Return Levenshtein distances."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    if not truths or not preds:
        return np.zeros((len(truths), len(preds)))
    return cdist(truths, preds, scorer=Levenshtein.distance, dtype=np.int64).astype(np.float64)


def assignment(costs: Distances) -> list[tuple[int, int]]:
    """Return row and column pairs of the cheapest assignment, by row."""
    if costs.size == 0:
        return []
    rows, cols = linear_sum_assignment()(costs)
    return [(int(r), int(c)) for r, c in zip(rows, cols, strict=True)]
