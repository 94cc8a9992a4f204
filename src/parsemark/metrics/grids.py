"""A table as the grids that GriTS compares: what stands at each position, and how its cell spans."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from parsemark.formats.limits import check_grid
from parsemark.kernels import kernel
from parsemark.metrics.html_rows import RowCell, Rows
from parsemark.metrics.prepared import TableInput
from parsemark.model import Table

_NO_SPAN = (0, 0, 1, 1)


@dataclass(frozen=True)
class TableGrids:
    """Positions row by row; `cells[owners[k]]` is the cell at position k, and owner -1 is a hole."""

    n_rows: int
    n_cols: int
    owners: tuple[int, ...]
    cells: tuple[tuple[int, int, RowCell], ...]
    """Row, column, cell."""

    @property
    def size(self) -> int:
        """Number of grid positions."""
        return self.n_rows * self.n_cols

    @cached_property
    def n_characters(self) -> int:
        """Characters of all cells."""
        return sum(len(cell.text) for _, _, cell in self.cells)

    @cached_property
    def text_grid(self) -> Any:
        """The kernel's grid of stripped texts; a hole is empty."""
        numbers: dict[str, int] = {"": 0}
        of_cell = [numbers.setdefault(cell.text.strip(), len(numbers)) for _, _, cell in self.cells]
        of_cell.append(0)  # holes: owner -1
        ids = [of_cell[owner] for owner in self.owners]
        return kernel.text_grid(self.n_rows, self.n_cols, ids, list(numbers))

    @cached_property
    def span_grid(self) -> Any:
        """The kernel's grid of spans, each relative to its position; a hole spans only itself."""
        numbers: dict[tuple[int, int, int, int], int] = {_NO_SPAN: 0}
        spanning = {i for i, (_, _, c) in enumerate(self.cells) if c.rowspan > 1 or c.colspan > 1}
        ids = [0] * len(self.owners)
        for position, owner in enumerate(self.owners):
            if owner in spanning:
                row, col, cell = self.cells[owner]
                down, right = row - position // self.n_cols, col - position % self.n_cols
                span = (right, down, right + cell.colspan, down + cell.rowspan)
                ids[position] = numbers.setdefault(span, len(numbers))
        return kernel.span_grid(self.n_rows, self.n_cols, ids, list(numbers))


def grids_of_rows(rows: Rows) -> TableGrids:
    """Place cells as GriTS does: each takes the first free column of its row; spans fill, unclipped.

    Rows after the last one that a cell covers do not count. Where cells overlap the later one shows.
    """
    taken: dict[int, set[int]] = {}
    cells: list[tuple[int, int, RowCell]] = []
    n_rows = n_cols = 0
    for row, row_cells in enumerate(rows):
        here = taken.pop(row, set())
        col = 0
        for cell in row_cells:
            while col in here:
                col += 1
            cells.append((row, col, cell))
            columns = range(col, col + cell.colspan)
            here.update(columns)
            for below in range(row + 1, row + cell.rowspan):
                taken.setdefault(below, set()).update(columns)
            n_rows, n_cols = max(n_rows, row + cell.rowspan), max(n_cols, col + cell.colspan)
            check_grid(n_rows, n_cols)
    owners = [-1] * (n_rows * n_cols)
    for index, (row, col, cell) in enumerate(cells):
        for r in range(row, row + cell.rowspan):
            start = r * n_cols + col
            owners[start : start + cell.colspan] = [index] * cell.colspan
    return TableGrids(n_rows, n_cols, tuple(owners), tuple(cells))


def grids_of_table(table: Table) -> TableGrids:
    """The grids of a table of the model."""
    cells = tuple((c.row, c.col, RowCell(c.text, c.rowspan, c.colspan)) for c in table.cells)
    owners = tuple(owner for row in table.grid for owner in row)
    return TableGrids(table.n_rows, table.n_cols, owners, cells)


def grids_of(table: TableInput) -> TableGrids:
    """The grids of a table that a metric was given."""
    return grids_of_table(table.table) if table.html is None else grids_of_rows(table.rows)
