"""Header rows, where the rules of a table make them certain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from parsemark.formats.latex.rows import RowLine

_MAX_LEVELS = 3
"""More header rows than this above a plain line are rather a first group of data."""


def header_rows(
    lines: Sequence[RowLine], blank_rows: AbstractSet[int], head_rows: int | None, spanning: Iterable[int]
) -> int | None:
    r"""How many rows at the top are headers; None where the source does not say.

    Certain are longtable's `\endhead`, booktabs' `\midrule`, a double line, and a single line below the first
    row (or below rows with spans) if the table has rows that no line separates: where every row has its line,
    lines say nothing.

    Args:
        lines: The rule above each row, and at the end the rule below the last one.
        blank_rows: Rows that are only vertical space.
        head_rows: Rows before longtable's `\endhead`, where the source has one.
        spanning: The rows of the cells that span rows or columns.
    """
    if head_rows is not None:
        return head_rows or None
    inner = _inner_lines(lines, blank_rows)
    drawn = [row for row, line in inner.items() if line is not RowLine.NONE]
    if not drawn:
        return None
    first = drawn[0]
    if inner[first] is RowLine.MIDRULE:
        return first
    doubles = sum(line is RowLine.DOUBLE for line in inner.values())
    if inner[first] is RowLine.DOUBLE and doubles == 1:
        return first
    if len(drawn) == len(inner):
        return None
    n_rows = sum(row not in blank_rows for row in range(first))
    is_block = n_rows <= _MAX_LEVELS and any(row < first for row in spanning)
    return first if n_rows == 1 or is_block else None


def _inner_lines(lines: Sequence[RowLine], blank_rows: AbstractSet[int]) -> dict[int, RowLine]:
    """The line above each row but the first; what is drawn above a blank row belongs to the row below it."""
    inner: dict[int, RowLine] = {}
    pending = RowLine.NONE
    for row in range(len(lines) - 1):
        if lines[row] is not RowLine.NONE:
            pending = max(pending, lines[row], key=lambda line: line.value)
        if row not in blank_rows:
            inner[row] = pending
            pending = RowLine.NONE
    inner.pop(min(inner, default=0), None)
    return inner
