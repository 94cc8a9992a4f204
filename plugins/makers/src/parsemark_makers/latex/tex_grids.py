"""TeX's own grid of LaTeX tables, and whether a table that was read from LaTeX is the one that TeX sets.

Reading takes out what no reader of the page sees: columns that every row spans over, the seam of columns
with text between them (`r@{.}l`), columns and rows that are only space. Such a table has another grid than
TeX's, but its cells know theirs. Where there is no source, the same is taken out by what the page shows.
"""

import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from statistics import median

from parsemark.errors import FormatError, LatexError
from parsemark.formats.latex import PlacedTable, Slot, place_table, read_grid
from parsemark.model import Box, Table
from parsemark.model import slot as slot_of
from parsemark.system import ScratchFolder
from parsemark.system.pdflatex import CompileLimits, compile_latex, precompiled
from parsemark_makers.latex.cell_boxes import MarkedCell, MarkedTable
from parsemark_makers.latex.marks import LOAD_MARKS, MARKS_FILE, read_marks

BATCH = 50  # tables per run of TeX
CPU_S, CPU_S_PER_TABLE = 3.0, 0.2
PREAMBLE = (
    r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{lmodern}"
    r"\usepackage[table]{xcolor}\usepackage{amsmath,amssymb,textcomp,array,booktabs,multirow,makecell,graphicx,"
    r"tabularx,hhline,pifont,siunitx,bm,adjustbox,diagbox,arydshln,rotating,threeparttable,xspace,etoolbox}"
)
_PAGES = Path(__file__).with_name("table-pages.tex").read_text(encoding="utf-8")

NEAR_EDGE = 3.0  # a rule this close to the edge of a row or column is its line, in points
THIN, LOW = 0.5, 0.9
"""An empty row that is lower than this share of the others is space between lines; so is one that is a little
lower, if TeX ended it before the last column."""

SEAM, WIDEST_SEAM = 0.25, 0.4
"""Half of the numbers' two parts are no further apart than the first share of their height, and none than the
second: a `1` has more room beside it than other figures."""


def covers(placed: PlacedTable, marked: MarkedTable) -> bool:
    """Return whether each of TeX's cells lies in exactly one cell of the table.

    Cells that show nothing may have no place in the table: it leaves out what is only space.
    """
    taken = {place: slot for slot in placed.tex_slots for place in places(slot)}
    for cell in marked.cells:
        found = {taken.get(place) for place in places((cell.row, cell.col, cell.rowspan, cell.colspan))}
        if len(found) != 1 or (found == {None} and cell.text):
            return False
    return len(marked.slots) >= len(placed.tex_slots)


def places(slot: Slot) -> Iterator[tuple[int, int]]:
    """Return the grid positions that a slot covers."""
    return product(range(slot[0], slot[0] + slot[2]), range(slot[1], slot[1] + slot[3]))


def is_normalised(source: str, spans: set[Slot], marked: MarkedTable) -> bool:
    """Return whether `spans` is the grid that reading the source gives, and TeX's cells lie in it.

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
    """Return the cells of TeX's that lie in a place of its grid."""
    return [c for c in cells if slot[0] <= c.row < slot[0] + slot[2] and slot[1] <= c.col < slot[1] + slot[3]]


def tex_grids(sources: Sequence[str]) -> list[MarkedTable | None]:
    """Return the grid of each tabular; None for a source that does not compile by itself.

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
    """Return the grids of those without an error, and those with one or at which TeX gave up."""
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


def with_whole_numbers(marked: MarkedTable) -> MarkedTable:
    """Return the table with columns joined that only align the two parts of a number, as `r@{.}l` does."""
    for col in range(marked.n_cols - 1, 0, -1):
        if _is_seam(marked, col):
            marked = _joined_at(marked, col)
    return marked


def cuts_numbers(cols: Iterable[int], marked: MarkedTable) -> bool:
    """Return whether any of these columns begins inside of numbers."""
    return any(0 < col < marked.n_cols and _is_seam(marked, col) for col in cols)


def _is_seam(marked: MarkedTable, col: int) -> bool:
    """Return whether each number before a column goes on in it: at least two do, and nothing else stands
    there.
    """
    seams: list[float] = []
    for row in marked.rows:
        before = next((c for c in row if c.col + c.colspan == col and c.text), None)
        after = next((c for c in row if c.col == col and c.text), None)
        if before is None or after is None:
            continue
        if max(before.colspan, after.colspan, before.rowspan, after.rowspan) > 1:
            return False
        signs = before.text[-1] + after.text[0]  # figures, or a figure and the mark of a number
        is_number = any(map(str.isdecimal, signs)) and all(c.isdecimal() or c in ".,±" for c in signs)
        if before.ink is None or after.ink is None or not is_number:
            return False
        left, right = before.ink.turned(marked.angle), after.ink.turned(marked.angle)
        seams.append(abs(right.x0 - left.x1) / (left.height or 1.0))
    return len(seams) > 1 and median(seams) <= SEAM and max(seams) <= WIDEST_SEAM


def _joined_at(marked: MarkedTable, col: int) -> MarkedTable:
    cells: list[MarkedCell] = []
    for row in marked.rows:
        own = sorted(row, key=lambda cell: cell.col)
        for before, cell in pairwise([None, *own]):
            assert cell is not None
            pair = [(cell.row, place, cell.rowspan, 1) for place in (col - 1, col)]
            if cell.col < col < cell.col + cell.colspan:
                cells.append(replace(cell, colspan=cell.colspan - 1))
            elif cell.col < col:
                cells.append(cell)
            elif before is None or [slot_of(before), slot_of(cell)] != pair:
                cells.append(replace(cell, col=cell.col - 1))
            else:
                inks = [ink for ink in (before.ink, cell.ink) if ink is not None]
                cells[-1] = replace(
                    before,
                    text=before.text + cell.text,
                    box=Box.hull((before.box, cell.box)),
                    ink=Box.hull(inks) if inks else None,
                    is_bold=before.is_bold and cell.is_bold,
                )
    return replace(marked, n_cols=marked.n_cols - 1, cells=tuple(cells))


def without_unseen(table: Table, marked: MarkedTable) -> Table:
    """Return the table without columns and rows that are always empty, unless lines show them."""
    cols = {c for c in range(table.n_cols) if _is_unseen(table, marked, c, is_col=True)}
    table = table.without(cols=cols) if 0 < len(cols) < table.n_cols else table
    rows = {r for r in range(table.n_rows) if _is_unseen(table, marked, r, is_col=False)}
    return table.without(rows) if 0 < len(rows) < table.n_rows else table


def _is_unseen(table: Table, marked: MarkedTable, place: int, *, is_col: bool) -> bool:
    places = (((c.col, c.colspan) if is_col else (c.row, c.rowspan), c) for c in table.cells)
    own = [cell for at, cell in places if at == (place, 1)]
    if any(cell.text for cell in own):
        return False
    boxes = [cell.box.turned(marked.angle) for cell in own if cell.box is not None]
    if not boxes:
        return True
    with_text = (c.box for c in table.cells if c.text and c.rowspan == 1 and c.box is not None)
    usual = median([box.turned(marked.angle).height for box in with_text] or [0.0])
    share = Box.hull(boxes).height / (usual or 1.0)
    if not is_col and (share < THIN or (share < LOW and len(own) < table.n_cols)):
        return True
    return not _is_framed(Box.hull(boxes), marked, is_col=is_col)


def _is_framed(box: Box, marked: MarkedTable, *, is_col: bool) -> bool:
    """Return whether lines stand on both sides of a column, or above and below a row."""
    turn = 90 if is_col else 0  # a column is a row of the table that lies on its side
    frame, rules = box.turned(turn), [rule.turned(turn) for rule in marked.rules]
    flat = [rule for rule in rules if rule.width > rule.height]
    lines = [(r.centre[1], max(0.0, min(r.x1, frame.x1) - max(r.x0, frame.x0))) for r in flat]
    edges = (frame.y0, frame.y1)
    sides = [sum(length for at, length in lines if abs(at - edge) <= NEAR_EDGE) for edge in edges]
    return all(length > 0.5 * frame.width for length in sides)
