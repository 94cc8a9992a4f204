"""Exact tree edit distance of table > tr > td, in Python: the twin of row_tree.cpp, without its band.

The recurrence and its proof stand in row_tree.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsemark.kernels.trees import rename_cost


@dataclass(frozen=True, slots=True)
class RowTree:
    """A table as rows of (label, text): cells with different labels are not comparable."""

    rows: tuple[tuple[tuple[int, str], ...], ...]


def row_tree(row_lengths: Sequence[int], labels: Sequence[int], texts: Sequence[str]) -> RowTree:
    """A tree from the number of cells of each row, and label and text of each cell."""
    if any(length < 0 for length in row_lengths):
        raise ValueError("a row cannot have a negative length")
    if not sum(row_lengths) == len(labels) == len(texts):
        raise ValueError("row_lengths, labels and texts must describe the same cells")
    cells = iter(zip(labels, texts, strict=True))
    return RowTree(tuple(tuple(next(cells) for _ in range(length)) for length in row_lengths))


def row_tree_distance(a: RowTree, b: RowTree, structure_only: bool = False) -> float:
    """Edit distance: insert and delete cost 1, renaming a cell costs what `rename_cost` says."""
    costs: dict[tuple[str, str], float] = {}

    def rename(x: tuple[int, str], y: tuple[int, str]) -> float:
        if x[0] != y[0]:
            return 1.0
        return 0.0 if structure_only else rename_cost(x[1], y[1], costs)

    positions = [(s, c) for s, row in enumerate(b.rows) for c in [*range(len(row)), None]]
    starts: list[int] = []
    for j in range(len(positions)):
        if j == 0 or positions[j - 1][1] is None:
            starts.append(j)

    here = [float(j) for j in range(len(positions) + 1)]
    for row in a.rows:
        before_row = here
        for cell in row:
            above, here = here, [here[0] + 1]
            for j, (s, c) in enumerate(positions, 1):
                best = min(above[j], here[j - 1]) + 1
                if c is None:
                    best = min(best, above[starts[s]] + 1 + len(b.rows[s]))
                elif above[j - 1] < best:
                    best = min(best, above[j - 1] + rename(cell, b.rows[s][c]))
                here.append(best)
        above, here = here, [here[0] + 1]
        for j, (s, c) in enumerate(positions, 1):
            best = min(above[j], here[j - 1]) + 1
            if c is not None:
                best = min(best, before_row[j - 1] + 1 + len(row))
            elif before_row[starts[s]] + abs(len(row) - len(b.rows[s])) < best:
                distances = [[rename(x, y) for y in b.rows[s]] for x in row]
                best = min(best, before_row[starts[s]] + _sequence_distance(distances, len(b.rows[s])))
            here.append(best)
    return here[-1]


def _sequence_distance(renames: Sequence[Sequence[float]], n_b: int) -> float:
    above = [float(y) for y in range(n_b + 1)]
    for x, row in enumerate(renames, 1):
        here = [float(x)]
        for y, rename in enumerate(row, 1):
            here.append(min(above[y] + 1, here[y - 1] + 1, above[y - 1] + rename))
        above = here
    return above[n_b]
