"""A table as HTML.

HTML cannot say: where a hole is (one before another cell is written as an empty cell, one at the end of a row
is left out), whether a table without any header cell has none or nobody looked, and white space.
"""

from __future__ import annotations

from html import escape

from parsemark.model import HOLE, Cell, Table


def write_html(table: Table) -> str:
    r"""The table as `<table>` with one line per row; header cells are `th`, all others `td`.

    >>> write_html(Table(1, 2, (Cell(0, 0, "a<b\nc", colspan=2, header=True),)))
    '<table>\n<tr><th colspan="2">a&lt;b<br>c</th></tr>\n</table>'
    """
    lines = ["<table>"]
    for row in range(table.n_rows):
        cells = [_cell(cell) for cell in row_cells(table, row)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>"])


def row_cells(table: Table, row: int) -> list[Cell]:
    """The cells that begin in a row, with an empty one for each hole before them.

    In the first row the holes at the end are filled too where else no cell reaches the last column.
    """
    grid = table.grid[row]
    beginning = [i for i in dict.fromkeys(grid) if i != HOLE and table.cells[i].row == row]
    last = max((table.cells[i].col for i in beginning), default=-1)
    if row == 0 and all(line[-1] == HOLE for line in table.grid if line):
        last = table.n_cols - 1
    holes = [Cell(row, col) for col in range(last + 1) if grid[col] == HOLE]
    return sorted([*(table.cells[i] for i in beginning), *holes], key=lambda cell: cell.col)


def _cell(cell: Cell) -> str:
    tag = "th" if cell.header else "td"
    spans = "".join(
        f' {name}="{span}"'
        for name, span in (("rowspan", cell.rowspan), ("colspan", cell.colspan))
        if span > 1
    )
    text = escape(cell.text, quote=False).replace("\n", "<br>")
    return f"<{tag}{spans}>{text}</{tag}>"
