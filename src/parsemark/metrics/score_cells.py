"""Cells with row and column as SCORE reads them: as Python's own HTML parser does, spans only shift."""

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
    rows = _first_table(html)
    return _placed([[cell.read() for cell in sorted(row, key=lambda c: c.tag.name == "td")] for row in rows])


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


def _first_table(html: str) -> list[list[_OpenCell]]:
    """The cells of the first table by row; elements are closed by their own end tag or by an outer one."""
    rows: list[list[_OpenCell]] = []
    opened: list[tuple[str, _OpenCell | None]] = []
    open_cells: list[_OpenCell] = []
    table_depth: int | None = None
    position = 0
    for tag in read_tags(html):
        last = opened[-1][0] if opened else ""
        if last in _RAW and not (tag.closes and tag.name == last):
            continue
        for cell in open_cells:
            cell.pieces.append(html[position : tag.start])
        position = tag.end
        if tag.closes:
            depth = next((k for k in range(len(opened) - 1, -1, -1) if opened[k][0] == tag.name), None)
            if depth is not None:
                del opened[depth:]
                open_cells = [cell for _, cell in opened if cell is not None]
                if depth == table_depth:
                    return rows
        elif tag.name != "!":
            started = None
            if table_depth is None and tag.name == "table":
                table_depth = len(opened)
            elif table_depth is not None and tag.name == "tr":
                rows.append([])
            elif rows and tag.name in ("td", "th"):
                started = _OpenCell(tag, [])
                rows[-1].append(started)
            if tag.name not in _VOID and not tag.inside.endswith("/"):
                if len(opened) == _MAX_DEPTH:
                    raise FormatError(f"The HTML has more than {_MAX_DEPTH} elements inside each other")
                opened.append((tag.name, started))
                open_cells += [] if started is None else [started]
    for cell in open_cells:
        cell.pieces.append(html[position:])
    return rows
