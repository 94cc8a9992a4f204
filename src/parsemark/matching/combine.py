"""Tables put together from fragments, and cut out of merged ones."""

from collections.abc import Sequence
from dataclasses import replace

from parsemark.model import Cell, Table


def stack_tables(tables: Sequence[Table]) -> Table:
    """Return one table below the other; a fragment that repeats the first one's leading rows loses them.

    A table that was cut in two usually repeats its header on the second part. Leading rows that are equal
    in all their texts are taken for such a repetition.
    """
    first, *others = tables
    cells, n_rows, n_cols = list(first.cells), first.n_rows, first.n_cols
    for table in others:
        rest = slice_rows(table, repeated_rows(first, table), table.n_rows)
        cells += [replace(cell, row=cell.row + n_rows) for cell in rest.cells]
        n_rows += rest.n_rows
        n_cols = max(n_cols, rest.n_cols)
    return Table(n_rows, n_cols, tuple(cells))


def join_tables(tables: Sequence[Table]) -> Table:
    """Return one table beside the other, the first on the left; shorter ones end in holes."""
    cells: list[Cell] = []
    n_cols = 0
    for table in tables:
        cells += [replace(cell, col=cell.col + n_cols) for cell in table.cells]
        n_cols += table.n_cols
    return Table(max(table.n_rows for table in tables), n_cols, tuple(cells))


def slice_rows(table: Table, start: int, stop: int) -> Table:
    """Return the rows from `start` up to `stop`; cells that span the cut are shortened."""
    return table.without(rows={*range(start), *range(stop, table.n_rows)})


def repeated_rows(first: Table, other: Table) -> int:
    """Return how many leading rows of `other` repeat those of `first`; never all of them."""
    if first.n_cols != other.n_cols:
        return 0
    count = 0
    for a, b in zip(first.text_rows(), other.text_rows()[:-1], strict=False):
        if a != b or not any(text.strip() for text in a):
            break
        count += 1
    return count
