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

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from parsemark.errors import FormatError
from parsemark.formats.cell_text import clean_limited
from parsemark.formats.found_table import FoundTable
from parsemark.formats.latex.definitions import Definitions
from parsemark.formats.latex.environments import find_environments
from parsemark.formats.latex.grid import ColumnSpec, RowLine, TexCell, TexGrid, read_columns, read_grid
from parsemark.formats.latex.printer import Printer, join
from parsemark.formats.latex.scanner import Range, TokenKind
from parsemark.formats.latex.scientific import number_cell
from parsemark.formats.latex.special import SPECIAL
from parsemark.formats.limits import MAX_LATEX_RUN
from parsemark.model import Cell, Table

_PLAIN = ColumnSpec()
_WORD = re.compile(r"[^\W\d_]{3,}")
_NO_NUMBERS = frozenset({"nan", "inf", "na", "n/a"})
"""What stands in the place of a number that cannot be had."""
_MAX_LEVELS = 3  # more header rows than this above a plain line are rather a first group of data

Slot = tuple[int, int, int, int]  # row, column, rowspan and colspan


class PrintedCell(NamedTuple):
    """A cell with its text, at the row in which the source has it; `rowspan` may be negative."""

    row: int
    col: int
    text: str
    rowspan: int = 1
    colspan: int = 1
    tex_slot: Slot | None = None  # where it is on TeX's grid, whatever is taken out: once rows are joined

    @property
    def cols(self) -> range:
        """Return the columns that it covers."""
        return range(self.col, self.col + self.colspan)


def read_latex_table(source: str, *, definitions: Definitions | None = None) -> Table:
    r"""Return the first table environment of a LaTeX source.

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
    """Return every LaTeX table of a text, with its place.

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
    """Return the table that a reader sees in a grid of TeX's."""
    n_header = _header_rows(grid)
    cells = join_rows(print_cells(grid), grid.n_rows)
    if n_header is not None and any(c.row < n_header < c.row + c.rowspan for c in cells):
        n_header = None
    n_cols = max((c.col + c.colspan for c in cells), default=0)
    removed = grid.blank_rows | _rows_spanned_over(cells, grid.n_rows, n_cols)
    if n_header is not None:
        n_header -= sum(row < n_header for row in removed)
    cells = _without(cells, removed)
    cells = _without(cells, cols=set(range(n_cols)) - {c.col for c in cells})  # no cell begins there
    cells.sort(key=lambda c: (c.row, c.col))
    n_cols = max((c.col + c.colspan for c in cells), default=0)
    headers = (None if n_header is None else c.row < n_header for c in cells)
    shown = tuple(Cell(*c[:5], header) for c, header in zip(cells, headers, strict=True))
    table = Table(grid.n_rows - len(removed), n_cols, shown)
    return PlacedTable(table, tuple(c.tex_slot for c in cells if c.tex_slot is not None))


def _header_rows(grid: TexGrid) -> int | None:
    r"""Return how many rows at the top are headers; None where the source does not say.

    Certain are longtable's `\endhead`, booktabs' `\midrule`, a double line, and a single line below the first
    row (or below rows with spans) if the table has rows that no line separates: where every row has its line,
    lines say nothing.
    """
    if grid.head_rows is not None:
        return grid.head_rows or None
    inner = _inner_lines(grid)
    drawn = [row for row, line in inner.items() if line is not RowLine.NONE]
    if not drawn:
        return None
    first = drawn[0]
    doubles = sum(line is RowLine.DOUBLE for line in inner.values())
    if inner[first] is RowLine.MIDRULE or (inner[first] is RowLine.DOUBLE and doubles == 1):
        return first
    if len(drawn) == len(inner):
        return None
    n_rows = sum(row not in grid.blank_rows for row in range(first))
    has_spans = any(c.row < first and (c.colspan > 1 or abs(c.rowspan) > 1) for c in grid.cells)
    return first if n_rows == 1 or (n_rows <= _MAX_LEVELS and has_spans) else None


def _inner_lines(grid: TexGrid) -> dict[int, RowLine]:
    """Return the line above each row but the first; what is drawn above a blank row belongs to the row below
    it.
    """
    inner: dict[int, RowLine] = {}
    pending = RowLine.NONE
    for row, line in enumerate(grid.lines[:-1]):
        pending = max(pending, line, key=lambda line: line.value)
        if row not in grid.blank_rows:
            inner[row], pending = pending, RowLine.NONE
    inner.pop(min(inner, default=0), None)
    return inner


def print_cells(grid: TexGrid) -> list[PrintedCell]:
    """Return the cells of a grid with their texts; columns that only align the parts of a number are one
    cell.
    """
    printer = _CellPrinter(grid)
    rows = [list(row) for _, row in groupby(grid.cells, key=lambda cell: cell.row)]
    seams = printer.seams(rows)
    return [cell for row in rows for cell in printer.row(row, seams)]


def _is_number(left: str, right: str) -> bool:
    """Return whether two texts can be the parts of one number, or one of them is empty: `12` and `5(3)`."""
    left, right = left.strip(), right.strip()
    if not left or not right:
        return True
    last = next((c for c in reversed(left) if c.isalnum()), "0")
    first = next((c for c in right if c.isalnum()), "0")
    begins = left.casefold() in _NO_NUMBERS or (last.isdecimal() and not _WORD.search(left))
    return begins and (right.casefold() in _NO_NUMBERS or first.isdecimal())


class _CellPrinter:
    """Prints cells with what the column specification adds to them."""

    def __init__(self, grid: TexGrid) -> None:
        self.grid = grid
        self.printer = Printer(grid.source, SPECIAL)
        self.is_math = grid.environment in ("array", "NiceArray")
        self.decorations: dict[tuple[Range, ...], str] = {(): ""}
        self.between = [self._decoration(column.after) for column in grid.columns]

    def seams(self, rows: list[list[TexCell]]) -> set[int]:
        """Return the columns that go on in the next one, over the text between them: in all rows as numbers
        do.
        """
        found = {col for col, text in enumerate(self.between) if text}
        for row in rows if found else ():
            for left, right in pairwise(row):
                seam = left.col + left.colspan - 1
                if seam in found and not _is_number(*(self._text(c, self._column(c)) for c in (left, right))):
                    found.discard(seam)
        return found

    def row(self, row: list[TexCell], seams: set[int]) -> list[PrintedCell]:
        """Return one row, with cells joined over seams; other text between columns belongs to the cell
        before.
        """
        cells: list[PrintedCell] = []
        glue: str | None = None
        for cell in row:
            column = self._column(cell)
            own = self._decoration(column.before) + self._text(cell, column)
            last_col = cell.col + cell.colspan - 1
            goes_on = last_col in seams and cell is not row[-1]
            between = self.between[last_col] if last_col < len(self.between) else ""
            if cell.specification is None and not goes_on:
                own += between
            if glue is not None and cells:
                left = cells[-1]
                joined = clean_limited(left.text + glue + own)
                cells[-1] = left._replace(text=joined, colspan=left.colspan + cell.colspan)
            else:
                spans = cell.rowspan, cell.colspan
                cells.append(PrintedCell(cell.row, cell.col, clean_limited(own), *spans))
            glue = (between if cell.specification is None else " ") if goes_on else None
        return cells

    def _column(self, cell: TexCell) -> ColumnSpec:
        columns, place = self.grid.columns, cell.col
        if cell.specification is not None:
            columns, place = read_columns(self.grid.source, cell.specification), 0
        return columns[place] if place < len(columns) else _PLAIN

    def _text(self, cell: TexCell, column: ColumnSpec) -> str:
        source, content = self.grid.source, cell.content
        if sum(end - start for start, end in content) > MAX_LATEX_RUN:
            raise FormatError(f"A cell has more than {MAX_LATEX_RUN:,} LaTeX tokens")
        added = (source.tokens[i] for start, end in column.prefix for i in range(start, end))
        has_dollar = any(token.kind is TokenKind.MATH or token.text == "(" for token in added)
        if self.is_math or column.is_math or has_dollar:
            return join([atom for part in content for atom in self.printer.atoms(part)])
        if column.is_number and len(content) == 1:
            text = number_cell(self.printer, content[0])
        else:
            plain = [(source.plain_text(part), part) for part in content]
            text = "".join(self.printer.text(part) if said is None else said for said, part in plain)
        return self._decoration(column.prefix) + text + self._decoration(column.suffix)

    def _decoration(self, parts: tuple[Range, ...]) -> str:
        """Return the text that `@{…}` or `>{…}` prints; nothing if it is empty or uses features that only TeX
        has.
        """
        if parts not in self.decorations:
            text = "".join(self.printer.text(part) for part in parts if self.printer.knows_all(part))
            self.decorations[parts] = text if text.strip() else ""
        return self.decorations[parts]


def join_rows(cells: list[PrintedCell], n_rows: int) -> list[PrintedCell]:
    """Let cells with a rowspan take the empty places below (or above) them.

    A cell with text always keeps its place; a span ends before it. An empty cell loses the places that a span
    takes and keeps the others.
    """
    taken = {(c.row, col) for c in cells if c.text for col in c.cols}
    joined = [_grown(c, taken, n_rows) for c in cells if c.text]
    for cell in (c for c in cells if not c.text):
        places = [((cell.row, col) in taken, col) for col in cell.cols]
        for is_taken, group in groupby(places, key=itemgetter(0)):
            run = [col for _, col in group]
            if not is_taken:
                joined.append(_grown(cell._replace(col=run[0], colspan=len(run)), taken, n_rows))
    return [c._replace(tex_slot=(c.row, c.col, c.rowspan, c.colspan)) for c in joined]


def _grown(cell: PrintedCell, taken: set[tuple[int, int]], n_rows: int) -> PrintedCell:
    """Return the cell with as many of its rows as are free; they are taken now."""
    step = 1 if cell.rowspan > 0 else -1
    last = cell.row
    taken.update((last, col) for col in cell.cols)
    for _ in range(abs(cell.rowspan) - 1):
        following = last + step
        if not 0 <= following < n_rows or any((following, col) in taken for col in cell.cols):
            break
        taken.update((following, col) for col in cell.cols)
        last = following
    return cell._replace(row=min(cell.row, last), rowspan=abs(last - cell.row) + 1)


def _without(
    cells: list[PrintedCell], rows: AbstractSet[int] = frozenset(), cols: AbstractSet[int] = frozenset()
) -> list[PrintedCell]:
    """Return the cells when some rows and columns are taken out; a cell that is only there goes."""
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
    """Return the new index for each old one, one more than `size` of them."""
    return list(accumulate((int(index not in removed) for index in range(size)), initial=0))


def _rows_spanned_over(cells: list[PrintedCell], n_rows: int, n_cols: int) -> set[int]:
    """Return rows in which no cell begins and no place is free."""
    covered = dict.fromkeys(set(range(n_rows)) - {c.row for c in cells}, 0)
    for cell in cells:
        if cell.rowspan > 1:
            for row in covered.keys() & range(cell.row, cell.row + cell.rowspan):
                covered[row] += cell.colspan
    return {row for row, count in covered.items() if count == n_cols}
