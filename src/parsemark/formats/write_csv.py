"""A table as comma-separated values.

CSV cannot say: spans (the text stands in the first position, the others are empty), headers, and holes other
than at the end of a row (they become empty fields).
"""

from __future__ import annotations

import csv
import io

from parsemark.model import HOLE, Table


def write_csv(table: Table) -> str:
    r"""The table as RFC 4180 asks, with `\n` as line end."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    for row in range(table.n_rows):
        grid = table.grid[row]
        last = max((c for c, index in enumerate(grid) if index != HOLE), default=-1)
        writer.writerow([_text(table, row, col) for col in range(last + 1)])
    return buffer.getvalue()


def _text(table: Table, row: int, col: int) -> str:
    cell = table.cell_at(row, col)
    return "" if cell is None or (cell.row, cell.col) != (row, col) else cell.text
