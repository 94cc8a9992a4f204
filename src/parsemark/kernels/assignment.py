"""The best one-to-one assignment of rows to columns: scipy's solver, or the same algorithm without scipy."""

import contextlib
import importlib.machinery
import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]
Solver = Callable[..., tuple[Indices, Indices]]


@lru_cache(maxsize=1)
def linear_sum_assignment() -> Solver:
    """Return Scipy's solver where scipy is installed, else `shortest_paths`, which gives the same pairs.

    Its compiled module is loaded by itself, where it is found: all of `scipy.optimize` costs half a second,
    and each process of a pool would pay it.
    """
    package = importlib.util.find_spec("scipy")
    places = list(package.submodule_search_locations or ()) if package is not None else []
    for place in places:
        for path in sorted((Path(place) / "optimize").glob("_lsap.*")):
            loader = importlib.machinery.ExtensionFileLoader("scipy.optimize._lsap", str(path))
            spec = importlib.machinery.ModuleSpec(loader.name, loader, origin=str(path))
            with contextlib.suppress(ImportError, AttributeError):
                module = importlib.util.module_from_spec(spec)
                loader.exec_module(module)
                compiled: Solver = module.linear_sum_assignment
                return compiled
    if package is None:
        return shortest_paths
    from scipy.optimize import linear_sum_assignment as solver

    return solver


def shortest_paths(cost: NDArray[Any], maximize: bool = False) -> tuple[Indices, Indices]:
    """Return the assignment of least cost by shortest augmenting paths (Crouse 2016).

    Takes the steps of `scipy.optimize.linear_sum_assignment` in its order, so that of equally good
    assignments it gives the same one: a figure must not depend on what is installed.

    >>> [index.tolist() for index in shortest_paths(np.array([[4, 1, 3], [2, 0, 5], [3, 2, 2]]))]
    [[0, 1, 2], [1, 0, 2]]
    """
    matrix = np.asarray(cost, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"a matrix has two dimensions, not {matrix.ndim}")
    matrix = -matrix if maximize else matrix
    if np.isnan(matrix).any() or np.isneginf(matrix).any():
        raise ValueError("the matrix has entries that are not numbers")
    if transposed := matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    column_of, row_of = _solve(matrix)
    if not transposed:
        return np.arange(len(column_of), dtype=np.intp), column_of
    rows = np.sort(column_of)
    return rows, row_of[rows]


def _solve(matrix: NDArray[np.float64]) -> tuple[Indices, Indices]:
    """Return the column of each row, and the row of each column (-1 for none)."""
    n_rows, n_cols = matrix.shape
    row_dual, col_dual = np.zeros(n_rows), np.zeros(n_cols)
    column_of, row_of = np.full(n_rows, -1, dtype=np.intp), np.full(n_cols, -1, dtype=np.intp)
    for first in range(n_rows):
        came_from, shortest = np.full(n_cols, -1, dtype=np.intp), np.full(n_cols, np.inf)
        # Backwards, so that equal costs give the diagonal.
        remaining = np.arange(n_cols - 1, -1, -1, dtype=np.intp)
        seen_rows, seen_cols, row, least = [first], [], first, 0.0
        while True:
            lengths = least + matrix[row, remaining] - row_dual[row] - col_dual[remaining]
            closer = lengths < shortest[remaining]
            shortest[remaining[closer]], came_from[remaining[closer]] = lengths[closer], row
            at = shortest[remaining]
            least = float(at.min())
            if np.isinf(least):
                raise ValueError("cost matrix is infeasible")
            tied = np.flatnonzero(at == least)
            free = tied[row_of[remaining[tied]] == -1]
            position = int(free[-1] if free.size else tied[0])
            column = int(remaining[position])
            seen_cols.append(column)
            remaining[position] = remaining[-1]
            remaining = remaining[:-1]
            if row_of[column] == -1:
                break
            row = int(row_of[column])
            seen_rows.append(row)
        row_dual[first] += least
        others = np.array(seen_rows[1:], dtype=np.intp)
        row_dual[others] += least - shortest[column_of[others]]
        seen = np.array(seen_cols, dtype=np.intp)
        col_dual[seen] -= least - shortest[seen]
        while True:
            row = int(came_from[column])
            row_of[column] = row
            column_of[row], column = column, int(column_of[row])
            if row == first:
                break
    return column_of, row_of
