r"""LaTeX tables as `Table`s.

What the grid of the result is, where TeX leaves it open:

- `\multirow` joins the places below it (or above it, with a negative count) as far as they are empty. Text in
  such a place is kept: the span ends before it.
- A column in which no cell begins, because each row spans over it, is taken out; so is such a row. TeX needs
  them, the reader of the page does not see them.
- Columns that only align the parts of a number (`r@{.}l`) are one column: `12 & 5` shows 12.5. Other text
  between columns (`l@{ : }l`) belongs to the cell before it.
- Short rows leave holes at their end. A row without `&` and without content is only vertical space and goes.
- Header cells are those above the first `\midrule`, above longtable's `\endhead`, or above the first inner
  `\hline` where not every row has one. Where that is not certain, `Cell.header` is None.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from parsemark.errors import FormatError
from parsemark.formats.found_table import FoundTable
from parsemark.formats.latex.cells import print_cells
from parsemark.formats.latex.definitions import Definitions
from parsemark.formats.latex.environments import find_environments
from parsemark.formats.latex.grid import TexGrid, read_grid
from parsemark.formats.latex.rows import RowLine
from parsemark.formats.latex.visible_cells import Slot, join_rows, rows_spanned_over, without
from parsemark.model import Cell, Table


def read_latex_table(source: str, *, definitions: Definitions | None = None) -> Table:
    r"""The first table environment of a LaTeX source.

    Args:
        source: A `tabular`, `tabularx`, `longtable`, `array`, …, with anything around it. Macros that are
            defined in it are expanded.
        definitions: Macros of the document that the table is from (`read_definitions`).

    Raises:
        FormatError: There is none, or it is over a limit of `parsemark.formats.limits`.

    >>> read_latex_table(r"\begin{tabular}{lc} a & $x^2$ \\ b & 50\% \end{tabular}").text_rows()
    [['a', 'x^2'], ['b', '50%']]
    """
    return place_table(read_grid(source, definitions)).table


def find_latex_tables(text: str, *, leave_out: bool = False) -> list[FoundTable]:
    """Every LaTeX table of a text, with its place.

    One that cannot be read raises `FormatError` with its position, unless such ones are to be left out.
    """
    found: list[FoundTable] = []
    for environment in find_environments(text):
        source = text[environment.start : environment.end]
        try:
            table = read_latex_table(source)
        except FormatError as error:
            if leave_out:
                continue
            position = environment.start + (error.position or 0)
            raise FormatError(error.message, position=position, where=error.where) from error
        found.append(FoundTable(table, "latex", environment.start, environment.end, source))
    return found


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table with the place of each of its cells on TeX's grid, which may have more rows and columns."""

    table: Table
    tex_slots: tuple[Slot, ...]  # for each cell of the table, in the same order


def place_table(grid: TexGrid) -> PlacedTable:
    """The table that a reader sees in a grid of TeX's."""
    spanning = (p.row for p in grid.cells if p.cell.colspan > 1 or abs(p.cell.rowspan) > 1)
    n_header = header_rows(grid.lines, grid.blank_rows, grid.head_rows, spanning)
    cells = join_rows(print_cells(grid), grid.n_rows)
    if n_header is not None and any(c.row < n_header < c.row + c.rowspan for c in cells):
        n_header = None
    n_cols = max((c.col + c.colspan for c in cells), default=0)
    removed = grid.blank_rows | rows_spanned_over(cells, grid.n_rows, n_cols)
    if n_header is not None:
        n_header -= sum(row < n_header for row in removed)
    cells = without(cells, removed)
    cells = without(cells, cols=set(range(n_cols)) - {c.col for c in cells})  # no cell begins there
    cells.sort(key=lambda c: (c.row, c.col))
    n_cols = max((c.col + c.colspan for c in cells), default=0)
    headers = (None if n_header is None else c.row < n_header for c in cells)
    shown = tuple(Cell(*c[:5], header) for c, header in zip(cells, headers, strict=True))
    table = Table(grid.n_rows - len(removed), n_cols, shown)
    return PlacedTable(table, tuple(c.tex_slot for c in cells if c.tex_slot is not None))


_MAX_LEVELS = 3  # more header rows than this above a plain line are rather a first group of data


def header_rows(
    lines: Sequence[RowLine], blank_rows: AbstractSet[int], head_rows: int | None, spanning: Iterable[int]
) -> int | None:
    r"""How many rows at the top are headers; None where the source does not say.

    Certain are longtable's `\endhead`, booktabs' `\midrule`, a double line, and a single line below the first
    row (or below rows with spans) if the table has rows that no line separates: where every row has its line,
    lines say nothing. `spanning` has the rows of cells that span rows or columns; the rest is of `TexGrid`.
    """
    if head_rows is not None:
        return head_rows or None
    inner = _inner_lines(lines, blank_rows)
    drawn = [row for row, line in inner.items() if line is not RowLine.NONE]
    if not drawn:
        return None
    first = drawn[0]
    if inner[first] is RowLine.MIDRULE:
        return first
    doubles = sum(line is RowLine.DOUBLE for line in inner.values())
    if inner[first] is RowLine.DOUBLE and doubles == 1:
        return first
    if len(drawn) == len(inner):
        return None
    n_rows = sum(row not in blank_rows for row in range(first))
    is_block = n_rows <= _MAX_LEVELS and any(row < first for row in spanning)
    return first if n_rows == 1 or is_block else None


def _inner_lines(lines: Sequence[RowLine], blank_rows: AbstractSet[int]) -> dict[int, RowLine]:
    """The line above each row but the first; what is drawn above a blank row belongs to the row below it."""
    inner: dict[int, RowLine] = {}
    pending = RowLine.NONE
    for row in range(len(lines) - 1):
        pending = max(pending, lines[row], key=lambda line: line.value)
        if row not in blank_rows:
            inner[row], pending = pending, RowLine.NONE
    inner.pop(min(inner, default=0), None)
    return inner
