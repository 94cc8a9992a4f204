"""Header rows, where the rules of a table make them certain."""

from __future__ import annotations

from parsemark.formats.latex.grid import TexGrid
from parsemark.formats.latex.rows import Line

_MAX_LEVELS = 3
"""More header rows than this above a plain line are rather a first group of data."""


def header_rows(grid: TexGrid) -> int | None:
    r"""How many rows at the top are headers; None where the source does not say.

    Certain are longtable's `\endhead`, booktabs' `\midrule`, a double line, and a single line below the first
    row (or below rows with spans) if the table has rows that no line separates: where every row has its line,
    lines say nothing.
    """
    if grid.head_rows is not None:
        return grid.head_rows or None
    inner = _inner_lines(grid)
    drawn = [row for row, line in inner.items() if line is not Line.NONE]
    if not drawn:
        return None
    first = drawn[0]
    if inner[first] is Line.MIDRULE:
        return first
    doubles = sum(line is Line.DOUBLE for line in inner.values())
    if inner[first] is Line.DOUBLE and doubles == 1:
        return first
    if len(drawn) == len(inner):
        return None
    return first if _is_header_block(grid, first) else None


def _inner_lines(grid: TexGrid) -> dict[int, Line]:
    """The line above each row but the first; what is drawn above a blank row belongs to the row below it."""
    lines: dict[int, Line] = {}
    pending = Line.NONE
    for row in range(grid.n_rows):
        pending = max(pending, grid.lines[row], key=lambda line: line.value)
        if row not in grid.blank_rows:
            lines[row] = pending
            pending = Line.NONE
    lines.pop(min(lines, default=0), None)
    return lines


def _is_header_block(grid: TexGrid, first: int) -> bool:
    n_rows = sum(row not in grid.blank_rows for row in range(first))
    if n_rows == 1:
        return True
    spanned = (p for p in grid.cells if p.row < first and (p.cell.colspan > 1 or abs(p.cell.rowspan) > 1))
    return n_rows <= _MAX_LEVELS and next(spanned, None) is not None
