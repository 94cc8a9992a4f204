"""The text of each cell of a grid, with what the column specification adds to it."""

from __future__ import annotations

from itertools import groupby

from parsemark.errors import FormatError
from parsemark.formats.cell_text import clean_limited
from parsemark.formats.latex.atoms import join
from parsemark.formats.latex.columns import ColumnSpec, read_columns
from parsemark.formats.latex.grid import PlacedCell, TexGrid
from parsemark.formats.latex.joining import PrintedCell
from parsemark.formats.latex.printer import Printer
from parsemark.formats.latex.scanner import Range, TokenKind
from parsemark.formats.latex.scientific import number_cell
from parsemark.formats.latex.special import SPECIAL
from parsemark.formats.limits import MAX_LATEX_RUN

_PLAIN = ColumnSpec()


def print_cells(grid: TexGrid) -> list[PrintedCell]:
    """The cells of a grid with their texts; columns with text between them are one cell."""
    printer = _CellPrinter(grid)
    cells: list[PrintedCell] = []
    for _, row in groupby(grid.cells, key=lambda placed: placed.row):
        cells += printer.row(list(row))
    return cells


class _CellPrinter:
    def __init__(self, grid: TexGrid) -> None:
        self.grid = grid
        self.printer = Printer(grid.source, SPECIAL)
        self.is_math = grid.environment in ("array", "NiceArray")
        self.decorations: dict[tuple[Range, ...], str] = {(): ""}
        self.between = [self._decoration(column.after) for column in grid.columns]

    def row(self, row: list[PlacedCell]) -> list[PrintedCell]:
        """One row, with cells joined over text that stands between their columns."""
        cells: list[PrintedCell] = []
        glue: str | None = None
        for number, placed in enumerate(row):
            column = self._column(placed)
            cell = placed.cell
            text = self._text(placed, column)
            own = self._decoration(column.before) + text
            last_col = placed.col + cell.colspan - 1
            after = self._decoration(column.after) if cell.is_multicolumn else self._between(last_col)
            is_last = number == len(row) - 1
            if is_last and not cell.is_multicolumn:
                own += after
            if glue is not None and cells:
                left = cells[-1]
                joined = clean_limited(left.text + glue + own)
                cells[-1] = PrintedCell(left.row, left.col, joined, left.rowspan, left.colspan + cell.colspan)
            else:
                cells.append(
                    PrintedCell(placed.row, placed.col, clean_limited(own), cell.rowspan, cell.colspan)
                )
            is_glued = bool(self._between(last_col)) and not is_last
            glue = (" " if cell.is_multicolumn else after) if is_glued else None
        return cells

    def _between(self, col: int) -> str:
        return self.between[col] if col < len(self.between) else ""

    def _column(self, placed: PlacedCell) -> ColumnSpec:
        if placed.cell.is_multicolumn:
            specification = placed.cell.specification
            columns = read_columns(self.grid.source, specification) if specification else []
            return columns[0] if columns else _PLAIN
        return self.grid.columns[placed.col] if placed.col < len(self.grid.columns) else _PLAIN

    def _text(self, placed: PlacedCell, column: ColumnSpec) -> str:
        if sum(end - start for start, end in placed.cell.content) > MAX_LATEX_RUN:
            raise FormatError(f"A cell has more than {MAX_LATEX_RUN:,} LaTeX tokens")
        is_math = self.is_math or column.is_math or self._has_dollar(column.prefix)
        prefix = "" if is_math else self._decoration(column.prefix)
        suffix = "" if is_math else self._decoration(column.suffix)
        if is_math:
            text = join([atom for part in placed.cell.content for atom in self.printer.atoms(part)])
        elif column.is_number and len(placed.cell.content) == 1:
            text = number_cell(self.printer, placed.cell.content[0])
        else:
            text = "".join(self._printed(part) for part in placed.cell.content)
        return prefix + text + suffix

    def _printed(self, part: Range) -> str:
        plain = self.grid.source.plain_text(part)
        return self.printer.text(part) if plain is None else plain

    def _has_dollar(self, parts: tuple[Range, ...]) -> bool:
        tokens = self.grid.source.tokens
        return any(
            tokens[i].kind is TokenKind.MATH or tokens[i].text == "(" for a, b in parts for i in range(a, b)
        )

    def _decoration(self, parts: tuple[Range, ...]) -> str:
        """What `@{…}` or `>{…}` prints; nothing if it is empty or does things that only TeX can know."""
        known = self.decorations.get(parts)
        if known is None:
            text = "".join(self.printer.text(part) for part in parts if self.printer.knows_all(part))
            known = self.decorations[parts] = text if text.strip() else ""
        return known
