"""Whether a table that was read from LaTeX is the one that TeX sets.

Reading takes out what no reader of the page sees: columns that every row spans over, and the seam of columns
with text between them (`r@{.}l`). Such a table has another grid than TeX's, but its cells know theirs.
"""

from __future__ import annotations

from parsemark.corpora.latex.slots import MarkedTable
from parsemark.errors import FormatError
from parsemark.formats.latex.grid import read_grid
from parsemark.formats.latex.table import PlacedTable, place_table

Span = tuple[int, int, int, int]
"""Row, column, rowspan, colspan."""


def tex_spans(marked: MarkedTable) -> set[Span]:
    """The cells of TeX's own grid."""
    return {(c.row, c.col, c.rowspan, c.colspan) for c in marked.cells}


def covers(placed: PlacedTable, tex: set[Span], shown: set[Span] | None = None) -> bool:
    """Whether each of TeX's cells lies in exactly one cell of the table.

    Cells that show nothing (not in `shown`) may have no place in the table: it leaves out what is only space.
    """
    taken = {
        (r, c): slot
        for slot in placed.tex_slots
        for r in range(slot[0], slot[0] + slot[2])
        for c in range(slot[1], slot[1] + slot[3])
    }
    for row, col, rowspan, colspan in tex:
        places = {taken.get((r, c)) for r in range(row, row + rowspan) for c in range(col, col + colspan)}
        if len(places) != 1 or (
            places == {None} and (shown is None or (row, col, rowspan, colspan) in shown)
        ):
            return False
    return len(tex) >= len(placed.tex_slots)


def is_normalised(source: str, spans: set[Span], marked: MarkedTable) -> bool:
    """Whether `spans` is the grid that reading the source gives, and TeX's cells lie in it."""
    try:
        placed = place_table(read_grid(source))
    except (FormatError, ValueError):
        return False
    read = {(c.row, c.col, c.rowspan, c.colspan) for c in placed.table.cells}
    shown = {(c.row, c.col, c.rowspan, c.colspan) for c in marked.cells if c.text}
    return read == spans and covers(placed, tex_spans(marked), shown)
