"""TeX's own grid of LaTeX tables, and whether a table that was read from LaTeX is the one that TeX sets.

Reading takes out what no reader of the page sees: columns that every row spans over, the seam of columns
with text between them (`r@{.}l`), columns and rows that are only space. Such a table has another grid than
TeX's, but its cells know theirs.
"""

import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from parsemark.corpora.latex.cell_boxes import MarkedCell, MarkedTable
from parsemark.corpora.latex.marks import LOAD_MARKS, MARKS_FILE, read_marks
from parsemark.corpora.latex.visible_grid import without_unseen
from parsemark.errors import FormatError, LatexError
from parsemark.formats.latex.grid import read_grid
from parsemark.formats.latex.table import PlacedTable, Slot, place_table
from parsemark.model import Box
from parsemark.system.pdflatex import CompileLimits, compile_latex, precompiled
from parsemark.system.scratch import ScratchFolder

BATCH = 50  # tables per run of TeX
CPU_S, CPU_S_PER_TABLE = 3.0, 0.2
PREAMBLE = (
    r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{lmodern}"
    r"\usepackage[table]{xcolor}\usepackage{amsmath,amssymb,textcomp,array,booktabs,multirow,makecell,graphicx,"
    r"tabularx,hhline,pifont,siunitx,bm,adjustbox,diagbox,arydshln,rotating,threeparttable,xspace,etoolbox}"
)
_PAGES = r"""\makeatletter\newbox\pmtablebox
\def\pmopen#1{\typeout{NONCE begin #1}\begingroup\def\pmnumber{#1}\setbox\pmtablebox\hbox\bgroup\ignorespaces}
\def\pmclose{\unskip\egroup \typeout{NONCE end \pmnumber.}%
  \pdfpagewidth\dimexpr\wd\pmtablebox+40pt\relax
  \pdfpageheight\dimexpr\ht\pmtablebox+\dp\pmtablebox+40pt\relax \pdfhorigin20pt \pdfvorigin20pt \hoffset0pt
  \voffset0pt \shipout\box\pmtablebox\endgroup} \makeatother
"""


def covers(placed: PlacedTable, marked: MarkedTable) -> bool:
    """Whether each of TeX's cells lies in exactly one cell of the table.

    Cells that show nothing may have no place in the table: it leaves out what is only space.
    """
    taken = {place: slot for slot in placed.tex_slots for place in places(slot)}
    for cell in marked.cells:
        found = {taken.get(place) for place in places((cell.row, cell.col, cell.rowspan, cell.colspan))}
        if len(found) != 1 or (found == {None} and cell.text):
            return False
    return len(marked.slots) >= len(placed.tex_slots)


def places(slot: Slot) -> Iterator[tuple[int, int]]:
    """The grid positions that a slot covers."""
    return product(range(slot[0], slot[0] + slot[2]), range(slot[1], slot[1] + slot[3]))


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
    """The grid of each tabular; None for a source that does not compile by itself.

    Many are set in one run, each on a page of its own. Marks in the log say where each begins and ends; they
    carry a number that the sources cannot know. What fails is set once more alone: only then is it known to
    be its own fault.
    """
    grids: dict[int, MarkedTable | None] = {}
    for start in range(0, len(sources), BATCH):
        waiting = list(range(start, min(start + BATCH, len(sources))))
        while waiting:
            found, suspects = _set_tables(sources, waiting)
            grids.update(found)
            for number in suspects or waiting[:1]:
                if number not in grids:
                    grids[number] = _set_tables(sources, [number])[0].get(number)
            waiting = [number for number in waiting if number not in grids]
    return [grids[number] for number in range(len(sources))]


def _set_tables(
    sources: Sequence[str], numbers: Sequence[int]
) -> tuple[dict[int, MarkedTable | None], list[int]]:
    """The grids of those without an error, and those with one or at which TeX gave up."""
    nonce = f"parsemark-{secrets.token_hex(8)}"
    is_alone = len(numbers) == 1
    body = "".join(f"\\pmopen{{{n}}}%\n{sources[n]}%\n\\pmclose\n" for n in numbers)
    begin = LOAD_MARKS + _PAGES.replace("NONCE", nonce)
    with ScratchFolder("parsemark-") as folder:
        shutil.copy(MARKS_FILE, folder)
        result = compile_latex(
            f"{begin}\\begin{{document}}\n{body}\\end{{document}}\n",
            folder,
            format=precompiled(PREAMBLE),
            halt_on_error=is_alone,
            limits=CompileLimits(cpu_s=round(CPU_S + CPU_S_PER_TABLE * len(numbers)), wall_s=300),
        )
        try:
            pages = [] if result.pdf is None else read_marks(result.pdf)
        except LatexError:  # TeX was ended while it wrote them
            pages = []
    runs = re.split(rf"{nonce} begin (\d+)", result.log)[1:]
    begun = dict(zip(map(int, runs[::2]), runs[1::2], strict=True))
    shipped = [number for number, log in begun.items() if f"{nonce} end {number}." in log]
    clean = {number for number in shipped if not re.search(r"^! ", begun[number], re.MULTILINE)}
    found: dict[int, MarkedTable | None] = {}
    if len(pages) == len(shipped) and not (is_alone and result.reason):
        for number, page in zip(shipped, pages, strict=True):
            if number in clean:
                found[number] = page.tables[0] if len(page.tables) == 1 else None
    return found, [number for number in begun if number not in clean]
