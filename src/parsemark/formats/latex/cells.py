"""The text of each cell of a grid, with what the column specification adds to it."""

import re
from itertools import groupby, pairwise

from parsemark.errors import FormatError
from parsemark.formats.cell_text import clean_limited
from parsemark.formats.latex.atoms import join
from parsemark.formats.latex.columns import ColumnSpec, read_columns
from parsemark.formats.latex.grid import PlacedCell, TexGrid
from parsemark.formats.latex.printer import Printer
from parsemark.formats.latex.scanner import Range, TokenKind
from parsemark.formats.latex.scientific import number_cell
from parsemark.formats.latex.special import SPECIAL
from parsemark.formats.latex.visible_cells import PrintedCell
from parsemark.formats.limits import MAX_LATEX_RUN

_PLAIN = ColumnSpec()
_WORD = re.compile(r"[^\W\d_]{3,}")
_NO_NUMBERS = frozenset({"nan", "inf", "na", "n/a"})
"""What stands in the place of a number that cannot be had."""


def print_cells(grid: TexGrid) -> list[PrintedCell]:
    """The cells of a grid with their texts; columns that only align the parts of a number are one cell."""
    printer = _CellPrinter(grid)
    rows = [list(row) for _, row in groupby(grid.cells, key=lambda placed: placed.row)]
    seams = printer.seams(rows)
    return [cell for row in rows for cell in printer.row(row, seams)]


def _is_number(left: str, right: str) -> bool:
    """Whether two texts can be the parts of one number, or one of them is empty: `12` and `5(3)`."""
    left, right = left.strip(), right.strip()
    if not left or not right:
        return True
    last = next((c for c in reversed(left) if c.isalnum()), "0")
    first = next((c for c in right if c.isalnum()), "0")
    begins = left.casefold() in _NO_NUMBERS or (last.isdecimal() and not _WORD.search(left))
    return begins and (right.casefold() in _NO_NUMBERS or first.isdecimal())


class _CellPrinter:
    def __init__(self, grid: TexGrid) -> None:
        self.grid = grid
        self.printer = Printer(grid.source, SPECIAL)
        self.is_math = grid.environment in ("array", "NiceArray")
        self.decorations: dict[tuple[Range, ...], str] = {(): ""}
        self.between = [self._decoration(column.after) for column in grid.columns]

    def seams(self, rows: list[list[PlacedCell]]) -> set[int]:
        """The columns that go on in the next one, over the text between them: in all rows as numbers do."""
        found = {col for col, text in enumerate(self.between) if text}
        for row in rows if found else ():
            for left, right in pairwise(row):
                seam = left.col + left.cell.colspan - 1
                if seam in found and not _is_number(
                    *(self._cell_text(c, self._column(c)) for c in (left, right))
                ):
                    found.discard(seam)
        return found

    def row(self, row: list[PlacedCell], seams: set[int]) -> list[PrintedCell]:
        """One row, with cells joined over seams; other text between columns belongs to the cell before."""
        cells: list[PrintedCell] = []
        glue: str | None = None
        for number, placed in enumerate(row):
            column = self._column(placed)
            cell = placed.cell
            text = self._cell_text(placed, column)
            own = self._decoration(column.before) + text
            last_col = placed.col + cell.colspan - 1
            between = self.between[last_col] if last_col < len(self.between) else ""
            after = self._decoration(column.after) if cell.is_multicolumn else between
            is_last = number == len(row) - 1
            if not cell.is_multicolumn and (is_last or last_col not in seams):
                own += after
            if glue is not None and cells:
                left = cells[-1]
                joined = clean_limited(left.text + glue + own)
                cells[-1] = PrintedCell(left.row, left.col, joined, left.rowspan, left.colspan + cell.colspan)
            else:
                spans = (cell.rowspan, cell.colspan)
                cells.append(PrintedCell(placed.row, placed.col, clean_limited(own), *spans))
            is_glued = last_col in seams and not is_last
            glue = (" " if cell.is_multicolumn else after) if is_glued else None
        return cells

    def _column(self, placed: PlacedCell) -> ColumnSpec:
        if placed.cell.is_multicolumn:
            specification = placed.cell.specification
            columns = read_columns(self.grid.source, specification) if specification else []
            return columns[0] if columns else _PLAIN
        return self.grid.columns[placed.col] if placed.col < len(self.grid.columns) else _PLAIN

    def _cell_text(self, placed: PlacedCell, column: ColumnSpec) -> str:
        if sum(end - start for start, end in placed.cell.content) > MAX_LATEX_RUN:
            raise FormatError(f"A cell has more than {MAX_LATEX_RUN:,} LaTeX tokens")
        content = placed.cell.content
        if self.is_math or column.is_math or self._has_dollar(column.prefix):
            return join([atom for part in content for atom in self.printer.atoms(part)])
        if column.is_number and len(content) == 1:
            text = number_cell(self.printer, content[0])
        else:
            plain = [(self.grid.source.plain_text(part), part) for part in content]
            text = "".join(self.printer.text(part) if said is None else said for said, part in plain)
        return self._decoration(column.prefix) + text + self._decoration(column.suffix)

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
