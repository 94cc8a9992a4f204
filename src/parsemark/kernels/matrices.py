"""All of one list against all of another, in Python. The twins of similarity_matrix.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_COMPARED = 64
"""Characters of the longest text that `similarity_matrix` takes."""
_AT_ONCE = 1_000_000
"""Entries that are gathered at once."""


def similarity_matrix(a: list[str], b: list[str]) -> NDArray[np.float32]:
    """For each text of `a` and each of `b` one less their Levenshtein distance over the longer length.

    It is 1 for two empty texts. Raises `ValueError` for a text longer than `LONGEST_COMPARED`.
    """
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    if max(map(len, (*a, *b)), default=0) > LONGEST_COMPARED:
        raise ValueError(f"texts must not have more than {LONGEST_COMPARED} characters")
    return cdist(a, b, scorer=Levenshtein.normalized_similarity, dtype=np.float32)


def column_maxima(matrix: NDArray[np.float32], ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """For each column of `ids`, which name rows of `matrix`, the elementwise maximum of these rows."""
    import numpy as np

    n_rows, n_cols = ids.shape
    if not n_rows:
        raise ValueError("there is no row to take the maximum of")
    if ids.size and not 0 <= ids.min() <= ids.max() < len(matrix):
        raise IndexError("an id names no row")
    # All of them at once would be large.
    step = max(1, _AT_ONCE // max(1, n_rows * matrix.shape[1]))
    parts = [matrix[ids[:, begin : begin + step]].max(axis=0) for begin in range(0, n_cols, step)]
    return np.concatenate(parts) if parts else np.zeros((0, matrix.shape[1]), dtype=np.float32)
