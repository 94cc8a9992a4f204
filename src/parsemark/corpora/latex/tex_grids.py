"""TeX's own grid of LaTeX tables, and whether a table that was read from LaTeX is the one that TeX sets.

Reading takes out what no reader of the page sees: columns that every row spans over, the seam of columns
with text between them (`r@{.}l`), columns and rows that are only space. Such a table has another grid than
TeX's, but its cells know theirs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace

from parsemark.corpora.latex.marks import MARKS_FILE, MarkedCell, MarkedTable, read_marks
from parsemark.corpora.latex.pool import table_preamble
from parsemark.corpora.latex.visible_grid import without_unseen
from parsemark.errors import FormatError
from parsemark.formats.latex.grid import read_grid
from parsemark.formats.latex.table import PlacedTable, place_table
from parsemark.model import Box, Table
from parsemark.system.pdflatex import CompileLimits, compile_latex, precompiled
from parsemark.system.scratch import ScratchFolder

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
    """Whether `spans` is the grid that reading the source gives, and TeX's cells lie in it.

    It may be without columns and rows that are only space.
    """
    try:
        placed = place_table(read_grid(source))
    except (FormatError, ValueError):
        return False
    shown = {(c.row, c.col, c.rowspan, c.colspan) for c in marked.cells if c.text}
    if not covers(placed, tex_spans(marked), shown):
        return False
    own = [cells_in(marked.cells, slot) for slot in placed.tex_slots]
    cells = (
        replace(cell, box=Box.hull(c.box for c in marks) if marks else None)
        for cell, marks in zip(placed.table.cells, own, strict=True)
    )
    table = Table(placed.table.n_rows, placed.table.n_cols, tuple(cells))
    return spans in (_spans(table), _spans(without_unseen(table, marked)))


def _spans(table: Table) -> set[Span]:
    return {(c.row, c.col, c.rowspan, c.colspan) for c in table.cells}


def cells_in(cells: Iterable[MarkedCell], slot: Span) -> list[MarkedCell]:
    """The cells of TeX's that lie in a place of its grid."""
    return [c for c in cells if slot[0] <= c.row < slot[0] + slot[2] and slot[1] <= c.col < slot[1] + slot[3]]


BATCH = 100
_SHIP = r"""\long\def\pmship#1#2{\setbox0\hbox{\pmblock{#1}{#2}}%
  \pdfpagewidth\dimexpr\wd0+8pt\relax \pdfpageheight\dimexpr\ht0+\dp0+8pt\relax
  \pdfhorigin4pt \pdfvorigin4pt \hoffset0pt \voffset0pt \shipout\box0 }
"""


def tex_grids(sources: Sequence[str]) -> list[MarkedTable | None]:
    """The grid of each tabular; None for a source that does not compile by itself."""
    found: list[MarkedTable | None] = []
    for start in range(0, len(sources), BATCH):
        batch = sources[start : start + BATCH]
        tables = _compile(batch)
        missing = [i for i in range(len(batch)) if i not in tables]
        for index in missing if len(batch) > 1 else []:
            alone = _compile([batch[index]])
            if alone:
                tables[index] = alone[0]
        found += [tables.get(i) for i in range(len(batch))]
    return found


def _compile(sources: Sequence[str]) -> dict[int, MarkedTable]:
    format = precompiled(table_preamble("article", harvested=True))
    pages = "\n".join(rf"\pmship{{{i}}}{{{source}}}" for i, source in enumerate(sources))
    body = f"\\begin{{document}}\\input{{{MARKS_FILE.name}}}{_SHIP}{pages}\n\\end{{document}}\n"
    with ScratchFolder("parsemark-") as folder:
        shutil.copy(MARKS_FILE, folder / MARKS_FILE.name)
        result = compile_latex(body, folder, format=format, limits=CompileLimits(cpu_s=120))
        if not result.ok or result.pdf is None:
            return {}
        marked = read_marks(result.pdf)
    return {
        block: page.tables[0]
        for page in marked
        for block in page.blocks
        if page.tables and block < len(sources)
    }
