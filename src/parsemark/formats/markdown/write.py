"""A table as a Markdown pipe table.

Markdown cannot say: spans (the text stands in the first position, the others are empty), more than one header
row or headers in the body, and holes other than at the end of a row (they become empty cells).
"""

from __future__ import annotations

from parsemark.formats.markdown.inline import escape_inline
from parsemark.formats.markdown.rows import delimiter_columns
from parsemark.model import HOLE, Table


def write_markdown(table: Table) -> str:
    """The table with outer pipes. A table without a header in its first row gets an empty header row."""
    rows = [_row(table, row) for row in range(table.n_rows)]
    has_header = any(cell.header for cell in table.cells if cell.row == 0)
    width = max(table.n_cols, 1)
    if not has_header or not any(rows[0]):
        rows.insert(0, [""] * width)
    lines = [_line(cells) for cells in rows]
    lines.insert(1, _line(["---"] * width))
    return "\n".join(lines)


def _row(table: Table, row: int) -> list[str]:
    grid = table.grid[row]
    last = max((c for c, index in enumerate(grid) if index != HOLE), default=0)
    return [_text(table, row, col) for col in range(last + 1)] if grid else [""]


def _text(table: Table, row: int, col: int) -> str:
    cell = table.cell_at(row, col)
    if cell is None or (cell.row, cell.col) != (row, col):
        return ""
    text = escape_inline(cell.text)
    return f"\\{text}" if delimiter_columns(f"|{text}|") is not None else text


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
