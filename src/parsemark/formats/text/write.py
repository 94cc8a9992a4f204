"""A table as comma-separated values.

CSV cannot say: spans (the text stands in the first position, the others are empty), headers, and holes other
than at the end of a row, or a whole row of them (they become empty fields).
"""

from __future__ import annotations

import re

from parsemark.model import HOLE, Table

_NEEDS_QUOTES = re.compile(r"[,;\t\"\r\n]|^\s|\s$")


def write_csv(table: Table) -> str:
    r"""The table as RFC 4180 asks, with `\n` as line end; whatever any reader may divide at is quoted."""
    return "".join(f"{_line(table, row)}\n" for row in range(table.n_rows))


def _line(table: Table, row: int) -> str:
    last = max((c for c, index in enumerate(table.grid[row]) if index != HOLE), default=-1)
    fields = [_field(table, row, col) for col in range(last + 1)]
    # Readers skip a line with nothing in it, so a row has to show that it is there.
    return ",".join(fields) or '""'


def _field(table: Table, row: int, col: int) -> str:
    cell = table.cell_at(row, col)
    if cell is None or (cell.row, cell.col) != (row, col):
        return ""
    if _NEEDS_QUOTES.search(cell.text):
        return '"' + cell.text.replace('"', '""') + '"'
    return cell.text
