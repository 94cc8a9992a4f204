"""From the cells that TeX sets to the disjoint cells that a reader sees."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import accumulate, groupby
from typing import NamedTuple

Slot = tuple[int, int, int, int]  # row, column, rowspan and colspan


class PrintedCell(NamedTuple):
    """A cell with its text, at the row in which the source has it; `rowspan` may be negative."""

    row: int
    col: int
    text: str
    rowspan: int = 1
    colspan: int = 1
    tex_slot: Slot | None = None
    """Where it is on TeX's grid, once rows are joined; rows and columns that are taken out change only the
    rest.
    """

    def places(self) -> Iterable[tuple[int, int]]:
        """The grid positions that it covers, for a positive span."""
        cols = range(self.col, self.col + self.colspan)
        return ((row, col) for row in range(self.row, self.row + self.rowspan) for col in cols)


def join_rows(cells: list[PrintedCell], n_rows: int) -> list[PrintedCell]:
    """Let cells with a rowspan take the empty places below (or above) them.

    A cell with text always keeps its place; a span ends before it. An empty cell loses the places that a span
    takes and keeps the others.
    """
    taken = {(c.row, col) for c in cells if c.text for col in range(c.col, c.col + c.colspan)}
    joined = [_grown(c, taken, n_rows) for c in cells if c.text]
    for cell in cells:
        if not cell.text:
            for run in _free_runs(cell, taken):
                joined.append(_grown(run, taken, n_rows))
                taken.update(joined[-1].places())
    return [c._replace(tex_slot=(c.row, c.col, c.rowspan, c.colspan)) for c in joined]


def _grown(cell: PrintedCell, taken: set[tuple[int, int]], n_rows: int) -> PrintedCell:
    """The cell with as many of its rows as are free; they are taken now."""
    if cell.rowspan == 1:
        return cell
    step = 1 if cell.rowspan > 0 else -1
    cols = range(cell.col, cell.col + cell.colspan)
    last = cell.row
    for _ in range(abs(cell.rowspan) - 1):
        following = last + step
        if not 0 <= following < n_rows or any((following, col) in taken for col in cols):
            break
        taken.update((following, col) for col in cols)
        last = following
    return cell._replace(row=min(cell.row, last), rowspan=abs(last - cell.row) + 1)


def _free_runs(cell: PrintedCell, taken: set[tuple[int, int]]) -> list[PrintedCell]:
    """The parts of an empty cell that nothing has taken."""
    cols = range(cell.col, cell.col + cell.colspan)
    runs = [list(run) for is_free, run in groupby(cols, lambda col: (cell.row, col) not in taken) if is_free]
    return [cell._replace(col=run[0], colspan=len(run)) for run in runs]


def without(
    cells: list[PrintedCell], rows: AbstractSet[int] = frozenset(), cols: AbstractSet[int] = frozenset()
) -> list[PrintedCell]:
    """The cells when some rows and columns are taken out; a cell that is only there goes."""
    if not rows and not cols:
        return cells
    kept: list[PrintedCell] = []
    down = _shifts(rows, max((c.row + c.rowspan for c in cells), default=0))
    across = _shifts(cols, max((c.col + c.colspan for c in cells), default=0))
    for cell in cells:
        top, bottom = down[cell.row], down[cell.row + cell.rowspan]
        left, right = across[cell.col], across[cell.col + cell.colspan]
        if bottom > top and right > left:
            kept.append(cell._replace(row=top, rowspan=bottom - top, col=left, colspan=right - left))
    return kept


def _shifts(removed: AbstractSet[int], size: int) -> list[int]:
    """Old index to new index, one more than `size` of them."""
    return list(accumulate((int(index not in removed) for index in range(size)), initial=0))


def rows_spanned_over(cells: list[PrintedCell], n_rows: int, n_cols: int) -> set[int]:
    """Rows in which no cell begins and no place is free."""
    candidates = set(range(n_rows)) - {c.row for c in cells}
    covered = dict.fromkeys(candidates, 0)
    for cell in cells:
        if cell.rowspan > 1:
            for row in candidates.intersection(range(cell.row, cell.row + cell.rowspan)):
                covered[row] += cell.colspan
    return {row for row, count in covered.items() if count == n_cols}
