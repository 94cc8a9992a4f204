"""Lines that are drawn in a table: where others have one and an empty cell has none, a span is missing.

Where they stand around a column that the grid does not have, its cells are missing: browsers tag no
empty ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from parsemark.model import Box, Cell, Table
from parsemark.pdf.marked import OwnedPage

_SHORT = 3.0  # points of a line that is none
_MOST = 0.8  # share of the full cells at a border that have a line there, so that all should
_SAME = 2.0  # points between two edges of one line
_NARROWEST = 4.0  # points between two lines around a column; closer ones are a double line

Line = tuple[float, float, float]  # where it is, and from where to where it runs


@dataclass(frozen=True)
class _Axis:
    """A table seen along its columns, or turned along its rows."""

    owners: Sequence[Sequence[int]]  # the cell of each place: first along this axis, then across
    ends: list[float | None]  # where the ink of each line of cells ends, of cells that end there
    begins: list[float | None]
    middles: list[float | None]  # of the ink across
    lines: list[Line]


def missing_span(page: OwnedPage, table: Table, box: Box) -> str | None:
    """Return how the lines of a page contradict a grid; None where they agree, or there are none."""
    near = page.drawn_near(box)
    columns = _axis(table.cells, table.n_cols, table.n_rows, near)
    full = {k for k, cell in enumerate(table.cells) if cell.text.strip()}
    if (empty := _unseen_line(columns, full)) is not None:
        return f"column {empty + 1} has no text and no lines around it"
    found, is_ruled = _unruled(columns, full)
    if found is None and is_ruled:
        cells = (replace(c, row=c.col, col=c.row, rowspan=c.colspan, colspan=c.rowspan) for c in table.cells)
        turned = [replace(cell, box=cell.box and _turned(cell.box)) for cell in cells]
        rows = _axis(turned, table.n_rows, table.n_cols, list(map(_turned, near)))
        found, _ = _unruled(rows, full)
        return None if found is None else f"no line is below row {found[0] + 1} in column {found[1] + 1}"
    return None if found is None else f"no line is right of column {found[0] + 1} in row {found[1] + 1}"


def missing_column(page: OwnedPage, table: Table, box: Box) -> str | None:
    """Return where lines are drawn around a column that a grid does not have; None where there is none."""
    near = page.drawn_near(page.ruled_frame(box))
    thin = [shape for shape in near if shape.width <= _SHORT]
    axis = _axis(table.cells, table.n_cols, table.n_rows, thin)
    rows = [(j, at) for j, at in enumerate(axis.middles) if at is not None]
    across = [s for s in near if s.height <= _SHORT and rows and rows[0][1] <= s.centre[1] <= rows[-1][1]]
    inked = [k for k, owners in enumerate(axis.owners) if any(table.cells[o].box for o in owners)]
    for k, other in pairwise((-1, *inked, table.n_cols)):
        low = max((end for end in axis.ends[: k + 1] if end is not None), default=float("-inf"))
        high = min((begin for begin in axis.begins[other:] if begin is not None), default=float("inf"))
        is_edge = k < 0 or other == table.n_cols
        is_border = [is_edge or axis.owners[k][j] != axis.owners[other][j] for j, _ in rows]
        bordering = [row for row, borders in zip(rows, is_border, strict=True) if borders]
        between = [(at + below) / 2 for (i, at), (j, below) in pairwise(bordering) if j == i + 1]
        places = _whole_lines(axis.lines, low - 1, high + 1, [*(at for _, at in bordering), *between])
        n_columns = sum(
            right - left >= _NARROWEST and any(s.x0 <= left + _SAME and s.x1 >= right - _SAME for s in across)
            for left, right in pairwise(places)
        )
        if len(bordering) > 1 and n_columns > other - k - 1:
            return f"right of column {k + 1}" if k >= 0 else "left of column 1"
    return None


def _whole_lines(lines: Sequence[Line], low: float, high: float, heights: Sequence[float]) -> list[float]:
    """Return where lines between two places stand that run past all heights, be it in pieces."""
    here = sorted(line for line in lines if low <= line[0] <= high)
    groups: list[list[Line]] = []
    for line in here:
        if not groups or line[0] - groups[-1][-1][0] > _SAME:
            groups.append([])
        groups[-1].append(line)
    return [
        sum(at for at, _, _ in own) / len(own)
        for own in groups
        if all(any(start - _SAME <= at <= stop + _SAME for _, start, stop in own) for at in heights)
    ]


def _turned(box: Box) -> Box:
    return Box(box.y0, box.x0, box.y1, box.x1)


def _axis(cells: Sequence[Cell], n_cols: int, n_rows: int, shapes: Sequence[Box]) -> _Axis:
    """Return a table seen along its columns."""
    ends: list[list[float]] = [[] for _ in range(n_cols)]
    begins: list[list[float]] = [[] for _ in range(n_cols)]
    middles: list[list[float]] = [[] for _ in range(n_rows)]
    owners = [[-1] * n_rows for _ in range(n_cols)]
    for k, cell in enumerate(cells):
        for column in owners[cell.col : cell.col + cell.colspan]:
            column[cell.row : cell.row + cell.rowspan] = [k] * cell.rowspan
        if cell.box is not None:
            begins[cell.col].append(cell.box.x0)
            ends[cell.col + cell.colspan - 1].append(cell.box.x1)
            if cell.rowspan == 1:
                middles[cell.row].append(cell.box.centre[1])
    return _Axis(
        owners,
        [max(own, default=None) for own in ends],
        [min(own, default=None) for own in begins],
        [sum(own) / len(own) if own else None for own in middles],
        [(at, s.y0, s.y1) for s in shapes if s.height > _SHORT for at in (s.x0, s.x1)],
    )


def _unseen_line(axis: _Axis, full: set[int]) -> int | None:
    """Return the first of the columns without any text that have fewer lines around them than they should."""
    is_empty = [not any(owner in full for owner in own) for own in axis.owners]
    for empty, group in groupby(range(len(is_empty)), key=lambda k: is_empty[k]):
        own = list(group)
        if not empty:
            continue
        low = max((end for end in axis.ends[: own[0]] if end is not None), default=float("-inf"))
        high = min((begin for begin in axis.begins[own[-1] + 1 :] if begin is not None), default=float("inf"))
        places = sorted(at for at, _, _ in axis.lines if low - 1 <= at <= high + 1)
        apart = sum(k == 0 or at - places[k - 1] > _SAME for k, at in enumerate(places))
        if apart < len(own) + 1:
            return own[0]
    return None


def _unruled(axis: _Axis, full: set[int]) -> tuple[tuple[int, int] | None, bool]:
    """Return the first place where an empty cell lacks the line that others have; and whether any have
    lines.
    """
    is_ruled = False
    for k in range(len(axis.owners) - 1):
        low, high = axis.ends[k], axis.begins[k + 1]
        if low is None or high is None:
            continue
        here = [line for line in axis.lines if low - 1 <= line[0] <= high + 1]
        known: list[tuple[int, bool, bool]] = []
        for j, at in enumerate(axis.middles):
            one, other = axis.owners[k][j], axis.owners[k + 1][j]
            if one != other and at is not None:
                drawn = any(start <= at <= stop for _, start, stop in here)
                known.append((j, drawn, one in full and other in full))
        both = [drawn for _, drawn, is_full in known if is_full]
        if len(both) < 2 or sum(both) < _MOST * len(both):
            continue
        is_ruled = True
        for j, drawn, is_full in known:
            if not drawn and not is_full:
                return (k, j), True
    return None, is_ruled
