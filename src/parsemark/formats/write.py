"""Writes a table as HTML, Markdown or CSV, or as any format that has a writer (LaTeX's is in its package)."""

import re
from html import escape

from parsemark.errors import FormatError, UnknownNameError
from parsemark.formats.latex import write_latex
from parsemark.formats.markdown.inline import escape_inline
from parsemark.formats.markdown.tables import delimiter_columns
from parsemark.model import HOLE, Cell, Table

_NEEDS_QUOTES = re.compile(r"[,;\t\"\r\n]|^\s|\s$")


def write_table(table: Table, format: str) -> str:
    """Return the table as `html`, `markdown`, `latex` or `csv`. Each writer says what its format cannot
    hold.
    """
    if format not in WRITERS:
        raise UnknownNameError("output format", format, list(WRITERS))
    if not isinstance(table, Table):
        raise FormatError(f"Expected a Table, not {type(table).__name__}: make one with read_table(…).")
    return WRITERS[format](table)


def write_html(table: Table) -> str:
    r"""Return the table as `<table>` with one line per row; header cells are `th`, all others `td`.

    HTML cannot say: where a hole is (one before another cell is written as an empty cell, one at the end of a
    row is left out), whether a table without any header cell has none or was not examined, and white space.

    >>> write_html(Table(1, 2, (Cell(0, 0, "a<b\nc", colspan=2, header=True),)))
    '<table>\n<tr><th colspan="2">a&lt;b<br>c</th></tr>\n</table>'
    """
    lines = ["<table>"]
    for row in range(table.n_rows):
        cells = [_html_cell(cell) for cell in _row_cells(table, row)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>"])


def _row_cells(table: Table, row: int) -> list[Cell]:
    """Return the cells that begin in a row, with an empty one for each hole before them.

    In the first row the holes at the end are filled too where else no cell reaches the last column.
    """
    grid = table.grid[row]
    beginning = [i for i in dict.fromkeys(grid) if i != HOLE and table.cells[i].row == row]
    last = max((table.cells[i].col for i in beginning), default=-1)
    if row == 0 and all(line[-1] == HOLE for line in table.grid if line):
        last = table.n_cols - 1
    holes = [Cell(row, col) for col in range(last + 1) if grid[col] == HOLE]
    return sorted([*(table.cells[i] for i in beginning), *holes], key=lambda cell: cell.col)


def _html_cell(cell: Cell) -> str:
    tag = "th" if cell.header else "td"
    sizes = {"rowspan": cell.rowspan, "colspan": cell.colspan}
    spans = "".join(f' {name}="{size}"' for name, size in sizes.items() if size > 1)
    text = escape(cell.text, quote=False).replace("\n", "<br>")
    return f"<{tag}{spans}>{text}</{tag}>"


def write_markdown(table: Table) -> str:
    """Return the table with outer pipes. A table without a header in its first row gets an empty header row.

    Markdown cannot say: spans (the text stands in the first position, the others are empty), more than one
    header row or headers in the body, and holes other than at the end of a row (they become empty cells).
    """

    def pipe_text(text: str) -> str:
        escaped = escape_inline(text)
        return f"\\{escaped}" if delimiter_columns(f"|{escaped}|") is not None else escaped

    rows = [[pipe_text(text) for text in _texts(table, row) or [""]] for row in range(table.n_rows)]
    has_header = any(cell.header for cell in table.cells if cell.row == 0)
    width = max(table.n_cols, 1)
    if not has_header or not any(rows[0]):
        rows.insert(0, [""] * width)
    rows.insert(1, ["---"] * width)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _texts(table: Table, row: int) -> list[str]:
    """Return the texts of a row up to its last cell; a span stands in its first position."""
    grid = table.grid[row]
    last = max((c for c, index in enumerate(grid) if index != HOLE), default=-1)
    cells = [None if index == HOLE else table.cells[index] for index in grid[: last + 1]]
    return [c.text if c and (c.row, c.col) == (row, col) else "" for col, c in enumerate(cells)]


def write_csv(table: Table) -> str:
    r"""Return the table as RFC 4180 asks, with `\n` as line end; whatever any reader may divide at is quoted.

    CSV cannot say: spans (the text stands in the first position, the others are empty), headers, and holes
    other than at the end of a row, or a whole row of them (they become empty fields).
    """

    def field(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text

    lines = (",".join(map(field, _texts(table, row))) for row in range(table.n_rows))
    # Readers skip a line with nothing in it, so a row has to show that it is there.
    return "".join((line or '""') + "\n" for line in lines)


WRITERS = {"html": write_html, "markdown": write_markdown, "latex": write_latex, "csv": write_csv}
"""Format to writer."""
