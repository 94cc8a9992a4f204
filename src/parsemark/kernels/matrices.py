"""All of one list against all of another, in Python. The twins of similarity_matrix.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_COMPARED = 64  # characters of the longest text that `similarity_matrix` takes
_AT_ONCE = 1_000_000  # entries that are gathered at once


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


def square_by_kinds(
    matrix: NDArray[np.float32], a: list[int], b: list[int], factor: float, both_empty: float
) -> None:
    """Square each entry in place, given the kinds of the texts that its row and its column stand for.

    The kind of a text is -1 if it is empty, else twice the number of its class, plus one if only texts of its
    own class are like it: those of other classes have `factor` of their square. An empty text is like no
    other; two of them have `both_empty`. Raises `ValueError` if there is not a kind for each row and column.
    """
    import numpy as np

    if matrix.shape != (len(a), len(b)):
        raise ValueError("there must be a kind for each row and each column")
    one, other = np.array(a, dtype=np.int32)[:, None], np.array(b, dtype=np.int32)[None, :]
    apart = ((one | other) & 1 != 0) & (one >> 1 != other >> 1)
    np.square(matrix, out=matrix)
    np.multiply(matrix, np.where(apart, np.float32(factor), np.float32(1.0)), out=matrix)
    matrix[(one < 0) | (other < 0)] = 0.0
    matrix[(one < 0) & (other < 0)] = both_empty


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
