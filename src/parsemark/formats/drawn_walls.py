"""Which places of a drawn table belong to one cell: those without a wall or a rule between them."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

_WALLS = frozenset("|+")
_RULES = frozenset("-=:+")


class Area(NamedTuple):
    """The grid positions of one cell."""

    row: int
    col: int
    rowspan: int
    colspan: int


def merged_cells(canvas: list[str], rules: list[int], edges: list[int]) -> list[Area]:
    """The cells between `rules` (line numbers) and `edges` (column numbers).

    Where the missing walls would give a cell that is no rectangle, the drawing is broken, and every place is
    a cell of its own.
    """
    n_rows, n_cols = len(rules) - 1, len(edges) - 1
    joined = _Joined(n_rows * n_cols)
    for row in range(n_rows):
        for col in range(n_cols):
            here = row * n_cols + col
            if col + 1 < n_cols and not _has_wall(canvas, rules[row], rules[row + 1], edges[col + 1]):
                joined.join(here, here + 1)
            if row + 1 < n_rows and not _has_rule(canvas[rules[row + 1]], edges[col], edges[col + 1]):
                joined.join(here, here + n_cols)
    groups: dict[int, list[int]] = defaultdict(list)
    for place in range(n_rows * n_cols):
        groups[joined.root(place)].append(place)
    areas = [_area(places, n_cols) for places in groups.values()]
    if any(a.rowspan * a.colspan != len(p) for a, p in zip(areas, groups.values(), strict=True)):
        return [Area(row, col, 1, 1) for row in range(n_rows) for col in range(n_cols)]
    return areas


def _has_wall(canvas: list[str], top: int, bottom: int, edge: int) -> bool:
    between = canvas[top + 1 : bottom]
    return not between or all(line[edge : edge + 1] in _WALLS for line in between)


def _has_rule(line: str, left: int, right: int) -> bool:
    part = line[left + 1 : right]
    return not line or (bool(part) and all(c in _RULES for c in part))


def _area(places: list[int], n_cols: int) -> Area:
    rows = [place // n_cols for place in places]
    cols = [place % n_cols for place in places]
    return Area(min(rows), min(cols), max(rows) - min(rows) + 1, max(cols) - min(cols) + 1)


class _Joined:
    """Disjoint sets of numbers (union by link to the smaller, with path halving)."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, item: int) -> int:
        parent = self._parent
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.root(one), self.root(other)))
        self._parent[high] = low
