"""TeX's own grid of LaTeX tables, and whether a table that was read from LaTeX is the one that TeX sets.

Reading takes out what no reader of the page sees: columns that every row spans over, the seam of columns
with text between them (`r@{.}l`), columns and rows that are only space. Such a table has another grid than
TeX's, but its cells know theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from parsemark.corpora.latex.cell_boxes import MarkedCell, MarkedTable
from parsemark.corpora.latex.measure import TableSource, measure
from parsemark.corpora.latex.visible_grid import without_unseen
from parsemark.errors import FormatError, LatexError
from parsemark.formats.latex.grid import read_grid
from parsemark.formats.latex.joining import Slot
from parsemark.formats.latex.table import PlacedTable, place_table
from parsemark.model import Box


def covers(placed: PlacedTable, marked: MarkedTable) -> bool:
    """Whether each of TeX's cells lies in exactly one cell of the table.

    Cells that show nothing may have no place in the table: it leaves out what is only space.
    """
    taken = {
        (r, c): slot
        for slot in placed.tex_slots
        for r in range(slot[0], slot[0] + slot[2])
        for c in range(slot[1], slot[1] + slot[3])
    }
    for cell in marked.cells:
        cols = range(cell.col, cell.col + cell.colspan)
        places = {taken.get((r, c)) for r in range(cell.row, cell.row + cell.rowspan) for c in cols}
        if len(places) != 1 or (places == {None} and cell.text):
            return False
    return len(marked.slots) >= len(placed.tex_slots)


def is_normalised(source: str, spans: set[Slot], marked: MarkedTable) -> bool:
    """Whether `spans` is the grid that reading the source gives, and TeX's cells lie in it.

    It may be without columns and rows that are only space.
    """
    try:
        placed = place_table(read_grid(source))
    except (FormatError, ValueError):
        return False
    if not covers(placed, marked):
        return False
    own = [cells_in(marked.cells, slot) for slot in placed.tex_slots]
    cells = (
        replace(cell, box=Box.hull(c.box for c in marks) if marks else None)
        for cell, marks in zip(placed.table.cells, own, strict=True)
    )
    table = replace(placed.table, cells=tuple(cells))
    return spans in (table.slots, without_unseen(table, marked).slots)


def cells_in(cells: Iterable[MarkedCell], slot: Slot) -> list[MarkedCell]:
    """The cells of TeX's that lie in a place of its grid."""
    return [c for c in cells if slot[0] <= c.row < slot[0] + slot[2] and slot[1] <= c.col < slot[1] + slot[3]]


def tex_grids(sources: Sequence[str]) -> list[MarkedTable | None]:
    """The grid of each tabular; None for a source that does not compile by itself."""
    measured = measure([TableSource(source) for source in sources])
    return [None if isinstance(found, LatexError) else found.marked for found in measured]
