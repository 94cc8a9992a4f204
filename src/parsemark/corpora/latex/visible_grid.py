"""The grid that a reader sees in one of TeX's: without columns and rows that are only space."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from statistics import median

from parsemark.corpora.latex.cell_boxes import MarkedCell, MarkedTable
from parsemark.model import Box, Table
from parsemark.model.table import slot

NEAR_EDGE = 3.0  # a rule this close to the edge of a row or column is its line, in points
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
    for row in marked.rows:
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


def _is_number(before: str, after: str) -> bool:
    """Whether figures, or a figure and the mark of a number, stand at the seam."""
    ends, begins = before[-1], after[0]
    return (ends.isdecimal() or begins.isdecimal()) and all(
        c.isdecimal() or c in ".,±" for c in ends + begins
    )


def _joined_at(marked: MarkedTable, col: int) -> MarkedTable:
    cells: list[MarkedCell] = []
    for row in marked.rows:
        own = sorted(row, key=lambda cell: cell.col)
        for before, cell in pairwise([None, *own]):
            assert cell is not None
            pair = [(cell.row, place, cell.rowspan, 1) for place in (col - 1, col)]
            if cell.col < col < cell.col + cell.colspan:
                cells.append(replace(cell, colspan=cell.colspan - 1))
            elif cell.col < col:
                cells.append(cell)
            elif before is None or [slot(before), slot(cell)] != pair:
                cells.append(replace(cell, col=cell.col - 1))
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
    with_text = (c.box for c in table.cells if c.text and c.rowspan == 1 and c.box is not None)
    usual = median([box.turned(marked.angle).height for box in with_text] or [0.0])
    share = Box.hull(boxes).height / (usual or 1.0)
    if not is_col and (share < THIN or (share < LOW and len(own) < table.n_cols)):
        return True
    return not _is_framed(Box.hull(boxes), marked, is_col=is_col)


def _is_framed(box: Box, marked: MarkedTable, *, is_col: bool) -> bool:
    """Whether lines stand on both sides of a column, or above and below a row."""
    turn = 90 if is_col else 0  # a column is a row of the table that lies on its side
    frame, rules = box.turned(turn), [rule.turned(turn) for rule in marked.rules]
    flat = [rule for rule in rules if rule.width > rule.height]
    lines = [(r.centre[1], max(0.0, min(r.x1, frame.x1) - max(r.x0, frame.x0))) for r in flat]
    edges = (frame.y0, frame.y1)
    sides = [sum(length for at, length in lines if abs(at - edge) <= NEAR_EDGE) for edge in edges]
    return all(length > 0.5 * frame.width for length in sides)
