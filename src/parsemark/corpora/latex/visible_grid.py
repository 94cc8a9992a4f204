"""The grid that a reader sees in one of TeX's: without columns and rows that are only space."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from statistics import median

from parsemark.corpora.latex.cell_boxes import MarkedCell, MarkedTable
from parsemark.model import Box, Table

NEAR_EDGE = 3.0
"""A rule this close to the edge of a row or column is its line, in points."""
THIN, LOW = 0.5, 0.9
"""An empty row that is lower than this share of the others is space between lines; so is one that is a little
lower, if TeX ended it before the last column."""

SEAM, WIDEST_SEAM = 0.25, 0.4
"""Half of the numbers' two parts are no further apart than the first share of their height, and none than the
second: a `1` has more room beside it than other figures."""


def with_whole_numbers(marked: MarkedTable) -> MarkedTable:
    """The table with columns joined that only align the two parts of a number, as `r@{.}l` does."""
    for col in range(marked.n_cols - 1, 0, -1):
        if _is_seam(marked, col):
            marked = _joined_at(marked, col)
    return marked


def cuts_numbers(cols: Iterable[int], marked: MarkedTable) -> bool:
    """Whether any of these columns begins inside of numbers."""
    return any(0 < col < marked.n_cols and _is_seam(marked, col) for col in cols)


def _is_seam(marked: MarkedTable, col: int) -> bool:
    """Whether each number before a column goes on in it: at least two do, and nothing else stands there."""
    seams: list[float] = []
    for row in _rows(marked).values():
        before = next((c for c in row if c.col + c.colspan == col and c.text), None)
        after = next((c for c in row if c.col == col and c.text), None)
        if before is None or after is None:
            continue
        if before.colspan > 1 or after.colspan > 1 or before.rowspan > 1 or after.rowspan > 1:
            return False
        if before.ink is None or after.ink is None or not _is_number(before.text, after.text):
            return False
        left, right = before.ink.turned(marked.angle), after.ink.turned(marked.angle)
        seams.append(abs(right.x0 - left.x1) / (left.height or 1.0))
    return len(seams) > 1 and median(seams) <= SEAM and max(seams) <= WIDEST_SEAM


def _rows(marked: MarkedTable) -> Mapping[int, list[MarkedCell]]:
    rows: dict[int, list[MarkedCell]] = defaultdict(list)
    for cell in marked.cells:
        rows[cell.row].append(cell)
    return rows


def _is_number(before: str, after: str) -> bool:
    """Whether figures, or a figure and the mark of a number, stand at the seam."""
    ends, begins = before[-1], after[0]
    return (ends.isdecimal() or begins.isdecimal()) and all(
        c.isdecimal() or c in ".,±" for c in ends + begins
    )


def _joined_at(marked: MarkedTable, col: int) -> MarkedTable:
    cells: list[MarkedCell] = []
    for row in _rows(marked).values():
        own = sorted(row, key=lambda cell: cell.col)
        for before, cell in pairwise([None, *own]):
            assert cell is not None
            if cell.col < col < cell.col + cell.colspan:
                cells.append(replace(cell, colspan=cell.colspan - 1))
            elif cell.col < col:
                cells.append(cell)
            elif cell.col > col or before is None or before.col + before.colspan != col:
                cells.append(replace(cell, col=cell.col - 1))
            elif before.colspan > 1 or cell.colspan > 1 or before.rowspan != cell.rowspan:
                cells.append(replace(cell, col=cell.col - 1, colspan=cell.colspan))
            else:
                inks = [ink for ink in (before.ink, cell.ink) if ink is not None]
                cells[-1] = replace(
                    before,
                    text=before.text + cell.text,
                    box=Box.hull((before.box, cell.box)),
                    ink=Box.hull(inks) if inks else None,
                    is_bold=before.is_bold and cell.is_bold,
                )
    return replace(marked, n_cols=marked.n_cols - 1, cells=tuple(cells))


def without_unseen(table: Table, marked: MarkedTable) -> Table:
    """The table without columns and rows that are always empty, unless lines show them."""
    cols = {c for c in range(table.n_cols) if _is_unseen(table, marked, c, is_col=True)}
    table = table.without(cols=cols) if 0 < len(cols) < table.n_cols else table
    rows = {r for r in range(table.n_rows) if _is_unseen(table, marked, r, is_col=False)}
    return table.without(rows) if 0 < len(rows) < table.n_rows else table


def _is_unseen(table: Table, marked: MarkedTable, place: int, *, is_col: bool) -> bool:
    own = [
        cell
        for cell in table.cells
        if (cell.col if is_col else cell.row) == place and (cell.colspan if is_col else cell.rowspan) == 1
    ]
    if any(cell.text for cell in own):
        return False
    boxes = [cell.box.turned(marked.angle) for cell in own if cell.box is not None]
    if not boxes:
        return True
    share = Box.hull(boxes).height / (_usual_height(table, marked) or 1.0)
    if not is_col and (share < THIN or (share < LOW and len(own) < table.n_cols)):
        return True
    return not _is_framed(Box.hull(boxes), marked, is_col=is_col)


def _usual_height(table: Table, marked: MarkedTable) -> float:
    """Of rows with text."""
    heights = [
        cell.box.turned(marked.angle).height
        for cell in table.cells
        if cell.text and cell.rowspan == 1 and cell.box is not None
    ]
    return median(heights) if heights else 0.0


def _is_framed(box: Box, marked: MarkedTable, *, is_col: bool) -> bool:
    """Whether lines stand on both sides of a column, or above and below a row."""
    if is_col:
        flat = [((r.x0 + r.x1) / 2, r.y0, r.y1) for r in marked.rules if r.height > r.width]
        edges, (low, high) = (box.x0, box.x1), (box.y0, box.y1)
    else:
        flat = [((r.y0 + r.y1) / 2, r.x0, r.x1) for r in marked.rules if r.width > r.height]
        edges, (low, high) = (box.y0, box.y1), (box.x0, box.x1)
    lines = [(middle, max(0.0, min(stop, high) - max(start, low))) for middle, start, stop in flat]
    sides = [sum(length for at, length in lines if abs(at - edge) <= NEAR_EDGE) for edge in edges]
    return all(length > 0.5 * (high - low) for length in sides)
