"""Cells with row and column as SCORE reads them: as Python's own HTML parser does, spans only shift."""

from __future__ import annotations

from typing import NamedTuple

from parsemark.errors import FormatError
from parsemark.formats.html.markup import Tag, read_tags, unescape
from parsemark.formats.limits import MAX_CHARS, MAX_GRID, check_size
from parsemark.metrics.html_rows import RowCell, read_span
from parsemark.metrics.prepared import TableInput

_VOID_NAMES = """area base br col embed hr img input link meta param source track wbr basefont bgsound command
frame image isindex keygen menuitem nextid spacer"""
_VOID = frozenset(_VOID_NAMES.split())
_RAW = frozenset({"script", "style"})
_MAX_DEPTH = 500


class ScoreCell(NamedTuple):
    """A cell at its top left position."""

    row: int
    col: int
    text: str


def cells_of(table: TableInput) -> list[ScoreCell]:
    """The cells of a table that a metric was given."""
    if table.html is not None:
        return read_placed_cells(table.html)
    return [ScoreCell(cell.row, cell.col, cell.text) for cell in table.table.cells]


def read_placed_cells(html: str) -> list[ScoreCell]:
    """The cells of the first table. In each row th come before td, as in the reference."""
    check_size(html, MAX_CHARS)
    reader = _TableReader()
    reader.read(html)
    rows = [[cell.read() for cell in sorted(row, key=lambda c: c.tag.name == "td")] for row in reader.rows]
    return _placed(rows)


def _placed(rows: list[list[RowCell]]) -> list[ScoreCell]:
    """Cells move right, past positions that an earlier cell spans; each such position moves one cell."""
    spanned: set[tuple[int, int]] = set()
    placed: list[ScoreCell] = []
    for row, cells in enumerate(rows):
        shift = 0
        for index, cell in enumerate(cells):
            col = index + shift
            if cell.rowspan > 1 or cell.colspan > 1:
                rows_down, cols = range(row, row + cell.rowspan), range(col, col + cell.colspan)
                spanned |= {(r, c) for r in rows_down for c in cols if (r, c) != (row, col)}
                if len(spanned) > MAX_GRID:
                    raise FormatError(f"The cells of the table span more than {MAX_GRID:,} positions")
            while (row, col) in spanned:
                spanned.remove((row, col))
                col, shift = col + 1, shift + 1
            placed.append(ScoreCell(row, col, cell.text))
    return placed


class _OpenCell(NamedTuple):
    """A cell while it is read."""

    tag: Tag
    pieces: list[str]

    def read(self) -> RowCell:
        attributes = self.tag.attributes()
        rowspan, colspan = (read_span(attributes.get(name)) for name in ("rowspan", "colspan"))
        return RowCell(unescape("".join(self.pieces)), rowspan, colspan)


class _TableReader:
    """Collects the cells of the first table; elements are closed by their own end tag or by an outer one."""

    def __init__(self) -> None:
        self.rows: list[list[_OpenCell]] = []
        self._open: list[tuple[str, _OpenCell | None]] = []
        self._open_cells: list[_OpenCell] = []
        self._table_depth: int | None = None
        self._done = False

    def read(self, html: str) -> None:
        """Read the tags and the text between them."""
        position = 0
        for tag in read_tags(html):
            if self._done:
                break
            last = self._open[-1][0] if self._open else ""
            if last in _RAW and not (tag.closes and tag.name == last):
                continue
            self._add_text(html[position : tag.start])
            position = tag.end
            if tag.closes:
                self._end(tag.name)
            elif tag.name != "!":
                self._start(tag)
        self._add_text(html[position:])

    def _start(self, tag: Tag) -> None:
        cell: _OpenCell | None = None
        if self._table_depth is None and tag.name == "table":
            self._table_depth = len(self._open)
        elif self._table_depth is not None and tag.name == "tr":
            self.rows.append([])
        elif self.rows and tag.name in ("td", "th"):
            cell = _OpenCell(tag, [])
            self.rows[-1].append(cell)
        if tag.name not in _VOID and not tag.inside.endswith("/"):
            if len(self._open) == _MAX_DEPTH:
                raise FormatError(f"The HTML has more than {_MAX_DEPTH} elements inside each other")
            self._open.append((tag.name, cell))
            if cell is not None:
                self._open_cells.append(cell)

    def _end(self, name: str) -> None:
        for depth in range(len(self._open) - 1, -1, -1):
            if self._open[depth][0] == name:
                del self._open[depth:]
                self._open_cells = [cell for _, cell in self._open if cell is not None]
                self._done = self._done or depth == self._table_depth
                return

    def _add_text(self, text: str) -> None:
        if text and not self._done:
            for cell in self._open_cells:
                cell.pieces.append(text)
