"""A table: disjoint cells on an n × m grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from operator import attrgetter, itemgetter, lt
from typing import TYPE_CHECKING, Any, NamedTuple

from parsemark.model.geometry import Box

HOLE = -1
"""Entry of `Table.grid` where no cell is."""


@dataclass(frozen=True, slots=True, init=False)
class Cell:
    """One cell, placed by its top-left grid position."""

    row: int
    col: int
    text: str = ""
    rowspan: int = 1
    colspan: int = 1
    header: bool | None = None
    """Whether the source says that this is a header; None where it does not say."""
    box: Box | None = None

    def __init__(
        self,
        row: int,
        col: int,
        text: str = "",
        rowspan: int = 1,
        colspan: int = 1,
        header: bool | None = None,
        box: Box | None = None,
    ) -> None:
        if row < 0 or col < 0:
            raise ValueError(f"a cell needs row >= 0 and col >= 0, not ({row}, {col})")
        if rowspan < 1 or colspan < 1:
            raise ValueError(f"a cell needs spans >= 1, not {rowspan} x {colspan}")
        # Millions are made: through the slots it takes half the time of what a frozen dataclass does.
        _set_row(self, row)
        _set_col(self, col)
        _set_text(self, text)
        _set_rowspan(self, rowspan)
        _set_colspan(self, colspan)
        _set_header(self, header)
        _set_box(self, box)

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """Return the grid positions that it covers, row by row."""
        return product(range(self.row, self.row + self.rowspan), range(self.col, self.col + self.colspan))


_set_row, _set_col, _set_text, _set_rowspan, _set_colspan, _set_header, _set_box = (
    getattr(Cell, entry.name).__set__ for entry in fields(Cell)
)
slot = attrgetter("row", "col", "rowspan", "colspan")
"""Where a cell lies on its grid."""
_place, _spans = attrgetter("row", "col"), attrgetter("rowspan", "colspan")
_ONE_PLACE = frozenset({(1, 1)})


class PlainRows(NamedTuple):
    """All that a table says which has one cell at each place."""

    texts: tuple[tuple[str, ...], ...]
    header_rows: int | None
    """Number of leading header rows; None if unknown."""


@dataclass(frozen=True)
class Table:
    """Cells on a grid of `n_rows` × `n_cols`.

    Cells are disjoint, lie inside the grid, and are kept in reading order. Grid positions that no cell
    covers are *holes*: they are part of the table (a ragged row, a missing cell) and not an error.
    """

    n_rows: int
    n_cols: int
    cells: tuple[Cell, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if self.n_rows < 0 or self.n_cols < 0:
            raise ValueError(f"a table needs n_rows >= 0 and n_cols >= 0, not {self.n_rows} x {self.n_cols}")
        cells = tuple(self.cells)
        # Each of these passes runs without a step in Python, since millions of tables are made.
        places = list(map(_place, cells))
        is_plain = _ONE_PLACE.issuperset(map(_spans, cells))
        n_rows, n_cols = (max(map(itemgetter(k), places), default=-1) + 1 for k in (0, 1))
        for cell in cells if not is_plain or n_rows > self.n_rows or n_cols > self.n_cols else ():
            if cell.row + cell.rowspan > self.n_rows or cell.col + cell.colspan > self.n_cols:
                raise ValueError(f"{_describe(cell)} leaves the {self.n_rows} x {self.n_cols} grid")
        if not all(map(lt, places, places[1:])):
            cells = tuple(sorted(cells, key=_place))
            is_plain = is_plain and len(set(places)) == len(places)
        if not is_plain:
            _check_disjoint(cells)
        object.__setattr__(self, "cells", cells)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], header_rows: int | None = None) -> Table:
        """Return a table without spans from rows of texts; short rows leave holes at their end.

        So many leading rows are headers; None if that is not known.
        """
        texts = tuple([tuple(row) for row in rows])
        widths = set(map(len, texts))
        known = PlainRows(texts, None if header_rows is None else min(max(header_rows, 0), len(texts)))
        table = object.__new__(cls)
        made: dict[str, Any] = {"n_rows": len(texts), "n_cols": max(widths, default=0), "_rows": known}
        made["plain_rows"] = known if len(widths) == 1 and widths != {0} else None
        table.__dict__.update(made)
        return table

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # The cells of rows of texts are made where they are asked for: some need the texts alone.
            if name != "cells" or "_rows" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            cells = self.__dict__["cells"] = _cells_of(*self.__dict__["_rows"])
            return cells

    @cached_property
    def plain_rows(self) -> PlainRows | None:
        """Return the table as rows of texts, if that is all it is: no span, no hole, headers by whole
        rows.
        """
        if len(self.cells) != self.n_rows * self.n_cols or not self.cells:
            return None
        headers = [cell.header for cell in self.cells]
        known = None if headers[0] is None else headers.index(False) if False in headers else len(headers)
        said = [known] * len(headers) if known is None else [k < known for k in range(len(headers))]
        if headers != said or (known or 0) % self.n_cols:
            return None
        texts = [cell.text for cell in self.cells]
        begins = range(0, len(texts), self.n_cols)
        rows = tuple([tuple(texts[begin : begin + self.n_cols]) for begin in begins])
        return PlainRows(rows, None if known is None else known // self.n_cols)

    @cached_property
    def grid(self) -> tuple[tuple[int, ...], ...]:
        """Return for each grid position the index of its cell in `cells`, or `HOLE`."""
        grid = [[HOLE] * self.n_cols for _ in range(self.n_rows)]
        for index, cell in enumerate(self.cells):
            if cell.rowspan == cell.colspan == 1:
                grid[cell.row][cell.col] = index
                continue
            for row, col in cell.places:
                grid[row][col] = index
        return tuple(tuple(row) for row in grid)

    @cached_property
    def holes(self) -> tuple[tuple[int, int], ...]:
        """Return the grid positions without a cell."""
        return tuple((r, c) for r, row in enumerate(self.grid) for c, i in enumerate(row) if i == HOLE)

    def cell_at(self, row: int, col: int) -> Cell | None:
        """Return the cell that covers a grid position, or None for a hole."""
        index = self.grid[row][col]
        return None if index == HOLE else self.cells[index]

    def text_rows(self) -> list[list[str]]:
        """Return the grid as texts: a spanning cell repeats its text, a hole is empty."""
        return [["" if i == HOLE else self.cells[i].text for i in row] for row in self.grid]

    def without(self, rows: AbstractSet[int] = frozenset(), cols: AbstractSet[int] = frozenset()) -> Table:
        """Return the table when some rows and columns are taken out; a cell that is only there goes."""
        down = {row: rank for rank, row in enumerate(r for r in range(self.n_rows) if r not in rows)}
        across = {col: rank for rank, col in enumerate(c for c in range(self.n_cols) if c not in cols)}
        cells = []
        for cell in self.cells:
            own = [down[r] for r in range(cell.row, cell.row + cell.rowspan) if r in down]
            beside = [across[c] for c in range(cell.col, cell.col + cell.colspan) if c in across]
            if own and beside:
                row, col = own[0], beside[0]
                cells.append(replace(cell, row=row, col=col, rowspan=len(own), colspan=len(beside)))
        return Table(len(down), len(across), tuple(cells))

    @property
    def slots(self) -> set[tuple[int, int, int, int]]:
        """Return row, column, rowspan and colspan of each cell."""
        return set(map(slot, self.cells))

    @property
    def header_rows(self) -> int:
        """Return the number of rows in which a header cell begins."""
        return len({cell.row for cell in self.cells if cell.header})

    @property
    def n_cells(self) -> int:
        """Return the number of cells."""
        return len(self.cells)

    @property
    def has_spans(self) -> bool:
        """Return whether any cell covers more than one grid position."""
        return any(cell.rowspan > 1 or cell.colspan > 1 for cell in self.cells)


def _cells_of(rows: Sequence[Sequence[str]], header_rows: int | None) -> tuple[Cell, ...]:
    headers = [None if header_rows is None else r < header_rows for r in range(len(rows))]
    cells = [Cell(r, c, text, 1, 1, headers[r]) for r, row in enumerate(rows) for c, text in enumerate(row)]
    return tuple(cells)


def _check_disjoint(cells: Iterable[Cell]) -> None:
    taken: set[tuple[int, int]] = set()
    for cell in cells:
        for place in cell.places:
            if place in taken:
                raise ValueError(f"{_describe(cell)} overlaps another cell at {place}")
            taken.add(place)


def _describe(cell: Cell) -> str:
    return f"cell at ({cell.row}, {cell.col}) with spans {cell.rowspan} x {cell.colspan}"


SIMPLE, MODERATE, COMPLEX = "simple", "moderate", "complex"


def complexity(table: Table) -> str:
    """Return `simple`, `moderate` or `complex`.

    * simple: a regular grid, no cell is merged;
    * complex: cells are merged in both directions, or merged cells occur in more than two rows;
    * moderate: what lies between.
    """
    wide = [c for c in table.cells if c.colspan > 1]
    tall = [c for c in table.cells if c.rowspan > 1]
    if not wide and not tall:
        return SIMPLE
    rows = {c.row for c in (*wide, *tall)}
    return COMPLEX if (wide and tall) or len(rows) > 2 else MODERATE
