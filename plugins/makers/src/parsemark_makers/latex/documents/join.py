"""Joins the tables that TeX set with those of the source.

Boxes, cells and what a reader sees in them come from TeX. The source adds what the page does not say: the
notation of formulas, header rows, and columns that belong together (`r@{.}l`). Where the two disagree, the
page is right: citations and references have the numbers of the page, a cell whose source does not give its
glyphs (a macro that only TeX can expand) has the text of the page, and a table whose source has other cells
is taken from TeX alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from rapidfuzz.distance import Levenshtein

from parsemark.errors import FormatError
from parsemark.formats import write_table
from parsemark.formats.glyphs import glyph_text, without_written_signs
from parsemark.formats.latex import place_table, select_rows
from parsemark.model import AttributeValue, Box, Category, Cell, Element, Table, complexity
from parsemark_makers.latex.cell_boxes import RULE_HEIGHT, MarkedCell, MarkedTable
from parsemark_makers.latex.cell_text import DIVISION, UNKNOWN
from parsemark_makers.latex.documents.page_attributes import line_style
from parsemark_makers.latex.documents.source_tables import PLACE, TabularCandidate, filled
from parsemark_makers.latex.header_rows import header_rows, repeated_heads
from parsemark_makers.latex.marks import MarkedPage
from parsemark_makers.latex.tex_grids import (
    cells_in,
    covers,
    cuts_numbers,
    with_whole_numbers,
    without_unseen,
)

similarity = Levenshtein.normalized_similarity
MIN_SIMILARITY = 0.6  # glyphs that a table and its source have in common, at least
MIN_AGREEMENT = 0.5  # the share of cells that must show what the source says, for its grid to be believed
MAX_PICTURES = 0.25  # an alignment of which pictures cover more than this share is a figure
OVER_EDGE = "a table runs over the edge of the page"
_NUMBER = re.compile(r"[-+−±]?\d[\d.,\s]*%?")
_HEAD = ("endhead", "endfirsthead")
_CAPTION = re.compile(r"(?:table|tabelle|tableau|tabla|tabela|tabella|tab\.)\s*[\divxla-c.]+", re.IGNORECASE)
MIN_LINE = 20.0  # a line of a cell that one can sign on is at least this long, in points
NEAR_TABLE = 15.0  # how far below its table a block of notes begins at most, in points

_LEADERS = re.compile(r"(?:[._\u2026·]\s*){4,}")
_ADDRESS = re.compile(r"\S+@\S+\.\w+")
_SIGNS = "*∗⋆†‡§¶‖#"
_NOTE_MARK = re.compile(rf"\^?\{{?\(?([a-z]|\d{{1,2}}|[{re.escape(_SIGNS)}]{{1,3}})[).:]?\}}?")
_RAISED = re.compile(r"\^(?:\{([^{}]*)\}|(\S))")


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """What became of a table, or of a part of one."""

    page: int
    element: Element | None  # None if it is no table (`is_layout`), or if it had to be given up
    note: str = ""  # what the report says; empty if there is nothing to say
    is_layout: bool = False  # a title block, a grid of figures, a frame around something


def alignments(pages: Sequence[MarkedPage]) -> list[list[MarkedTable]]:
    """Return the parts of each alignment that is a table or layout, in the order in which TeX began them.

    Tables in the cells of a table belong to it; those in the cells of an alignment that is only layout (two
    tables beside each other) count for themselves.
    """
    parts: dict[int, list[MarkedTable]] = {}
    for page in pages:
        for marked in (*page.tables, *page.nested):
            parts.setdefault(marked.id, []).append(marked)
    children: dict[int | None, list[int]] = {}
    for identifier in sorted(parts):
        parent = parts[identifier][0].parent
        children.setdefault(parent if parent in parts else None, []).append(identifier)
    tables: list[list[MarkedTable]] = []
    waiting = children.get(None, [])[::-1]
    while waiting:
        identifier = waiting.pop()
        inner = children.get(identifier, [])
        own = parts[identifier]
        n_tables = sum(is_table(parts[inside]) for inside in inner)
        is_frame = is_table(own) and n_tables > 0 and 2 * n_tables >= _n_filled(own)
        if not is_frame:
            tables.append(own)
        if is_frame or not is_table(own):
            waiting += inner[::-1]
    return tables


def _n_filled(parts: Sequence[MarkedTable]) -> int:
    return sum(bool(cell.text) for marked in parts for cell in marked.cells)


def is_table(parts: Sequence[MarkedTable]) -> bool:
    """Return whether it has at least two rows and columns, text in at least four cells, and no figures; else
    it is layout.
    """
    n_rows = sum(marked.n_rows for marked in parts)
    n_cols = max(marked.n_cols for marked in parts)
    pictures = max(marked.picture_share for marked in parts)
    is_grid = n_rows > 1 and n_cols > 1 and _n_filled(parts) >= 4 and pictures <= MAX_PICTURES
    return is_grid and not (is_to_sign(parts[0]) or names_authors(parts[0]))


def is_to_sign(marked: MarkedTable) -> bool:
    """Return whether names stand under lines: at least every second row has nothing but leaders and lone
    lines.
    """
    shown = ([cell for cell in row if cell.text or cell.ink is not None] for row in marked.rows)
    is_line = [all(_is_line(cell, marked.angle) for cell in row) for row in shown if row]
    return any(is_line) and 2 * sum(is_line) >= len(is_line)


def _is_line(cell: MarkedCell, angle: int) -> bool:
    if cell.text:
        return _LEADERS.fullmatch(cell.text) is not None
    ink = None if cell.ink is None else cell.ink.turned(angle)
    return ink is not None and ink.height < RULE_HEIGHT and ink.width >= MIN_LINE


def names_authors(marked: MarkedTable) -> bool:
    """Return whether people stand beside each other, with a row of their addresses below, and no lines."""
    rows = ([cell.text for cell in row if cell.text] for row in marked.rows[1:])
    has_addresses = any(len(texts) > 1 and all(map(_ADDRESS.search, texts)) for texts in rows)
    return has_addresses and not marked.rules


def has_notes_of(marked: MarkedTable, others: Iterable[MarkedTable]) -> bool:
    """Return whether it explains the raised marks of a table that stands right above it."""
    if marked.n_cols != 2:
        return False
    texts = [cell.text for cell in sorted(marked.cells, key=lambda c: c.row) if cell.col == 0]
    found = [_NOTE_MARK.fullmatch(text) for text in texts]
    marks = {match[1] for match in found if match is not None}
    if len(texts) < marked.n_rows or not all(found):
        return False
    return any(_is_above(other, marked) and marks <= _raised_marks(other) for other in others)


def _is_above(other: MarkedTable, marked: MarkedTable) -> bool:
    upper, lower = other.box.turned(other.angle), marked.box.turned(marked.angle)
    beside = min(upper.x1, lower.x1) - max(upper.x0, lower.x0)
    is_near = beside > 0.5 * min(upper.width, lower.width) and abs(lower.y0 - upper.y1) <= NEAR_TABLE
    return is_near and other.angle == marked.angle


def _raised_marks(marked: MarkedTable) -> set[str]:
    """Return the raised marks in its cells, and signs at their ends."""
    raised: set[str] = set()
    for cell in marked.cells:
        for match in _RAISED.finditer(cell.text):
            raised.update(re.split(r"[\s,;]+", match[1] or match[2]))
        end = len(cell.text.rstrip(_SIGNS))
        raised.add(cell.text[end:])
    return raised


def join_tables(
    tables: Sequence[Sequence[MarkedTable]],
    candidates: Sequence[TabularCandidate],
    missing_signs: frozenset[str] = frozenset(),
) -> Iterator[JoinedTable]:
    """Yield the truth of each part of each table; none of one that shows a box for a sign that its font
    lacks.
    """
    whole = [[_without_caption(marked, is_long=len(parts) > 1) for marked in parts] for parts in tables]
    sources = _sources(whole, candidates)
    for number, (parts, plain) in enumerate(zip(tables, whole, strict=True)):
        page = parts[0].page
        others = [marked for own in tables for marked in own if marked.page == page and own is not parts]
        if not is_table(parts) or (len(parts) == 1 and has_notes_of(parts[0], others)):
            if number in sources:  # else its words on the page would be those of a table that was not marked
                sources[number].is_used = True
            yield from (JoinedTable(marked.page, None, is_layout=True) for marked in parts)
            continue
        for marked, joined in zip(parts, _join_parts(plain, sources.get(number)), strict=True):
            why = _why_not(marked, joined, missing_signs)
            yield JoinedTable(marked.page, None, why) if why else joined


def _why_not(marked: MarkedTable, joined: JoinedTable, missing_signs: frozenset[str]) -> str:
    """Return why a table is unusable: its place, or signs in the source where the page shows a box."""
    if marked.leaves_page:
        return OVER_EDGE
    table = joined.element.table if joined.element is not None else None
    if table is None or not any(UNKNOWN in cell.text for cell in marked.cells):
        return ""
    signs = sorted(missing_signs.intersection(c for cell in table.cells for c in cell.text))
    return f"a table has signs that its font lacks: {' '.join(signs)}" if signs else ""


def _join_parts(parts: Sequence[MarkedTable], candidate: TabularCandidate | None) -> list[JoinedTable]:
    numbers = range(len(parts)) if len(parts) > 1 else (None,)
    heads = repeated_heads(parts)
    if candidate is None:
        return [_from_page(*own) for own in zip(parts, numbers, heads, strict=True)]
    candidate.is_used = True
    joined: list[JoinedTable] = []
    next_row = 0
    for marked, number, head in zip(parts, numbers, heads, strict=True):
        shown, rows = _rows_of(marked, candidate, next_row)
        if _filled_rows(marked) > _filled_rows(shown):  # rows that the source does not have
            joined.append(_from_page(marked, number, head))
            continue
        body = [row for row in rows if candidate.grid.sections[row] == ""]
        next_row = max(body, default=next_row - 1) + 1
        from_source = _join_table(shown, candidate, rows, number)
        joined.append(from_source or _from_page(marked, number, head))
    return joined


def _sources(
    tables: Sequence[Sequence[MarkedTable]], candidates: Sequence[TabularCandidate]
) -> dict[int, TabularCandidate]:
    """Return the source of each table: the most alike find each other first, so that a table whose own source
    cannot be read does not take that of another one.
    """
    pairs: list[tuple[float, int, int]] = []
    for number, parts in enumerate(tables):
        shown = "".join(row for marked in parts for row in _marked_rows(marked))
        for index, candidate in enumerate(candidates):
            # an upper bound of the similarity, in linear time
            common = (Counter(shown) & Counter(candidate.glyphs)).total()
            if shown and common / max(len(shown), len(candidate.glyphs)) > MIN_SIMILARITY:
                score = similarity(shown, candidate.glyphs, score_cutoff=MIN_SIMILARITY)
                pairs.append((-score, number, index))
    sources: dict[int, TabularCandidate] = {}
    taken: set[int] = set()
    for score, number, index in sorted(pairs):
        if -score > MIN_SIMILARITY and number not in sources and index not in taken:
            sources[number] = candidates[index]
            taken.add(index)
    return sources


def _marked_rows(marked: MarkedTable) -> list[str]:
    return ["".join(glyph_text(cell.text) for cell in row) for row in marked.rows]


def _without_caption(marked: MarkedTable, *, is_long: bool) -> MarkedTable:
    """Drop rows of captions, and of notes below each part that a long table goes
    on.
    """
    ends = (0, marked.n_rows - 1 if is_long else 0)
    across = (cell for cell in marked.cells if cell.row in ends and cell.colspan == marked.n_cols)
    captions = {cell.row for cell in across if _CAPTION.match(cell.text)}
    is_left = marked.n_rows - len(captions) > (0 if is_long else 1)
    return _without_rows(marked, captions) if is_left else marked


def _rows_of(
    marked: MarkedTable, candidate: TabularCandidate, next_row: int
) -> tuple[MarkedTable, list[int]]:
    """Return the rows of the source in a part, and the part without its caption.

    A tabular has them all. A part of a longtable has a head, the next rows of the body, and a foot; its
    caption is set as a row, too.
    """
    sections = candidate.grid.sections
    if candidate.grid.environment not in ("longtable", "xltabular"):
        return marked, list(range(candidate.grid.n_rows))
    rows: list[int] = []
    captions: set[int] = set()
    fixed = [row for row, section in enumerate(sections) if section]
    for number, shown in enumerate(_marked_rows(marked)):
        following = [row for row, section in enumerate(sections) if not section and row >= next_row]
        alike = [(similarity(shown, candidate.row_glyphs[row]), row) for row in (*following[:1], *fixed)]
        score, found = max(alike, key=lambda pair: pair[0], default=(0.0, 0))
        if score < MIN_SIMILARITY:
            captions.add(number)
            continue
        rows.append(found)
        if not sections[found]:
            next_row = found + 1
    return _without_rows(marked, captions), rows


def _filled_rows(marked: MarkedTable) -> int:
    """Return rows with text in several cells, unlike captions and notes."""
    return sum(count > 1 for count in Counter(c.row for c in marked.cells if c.text).values())


def _without_rows(marked: MarkedTable, removed: set[int]) -> MarkedTable:
    if not removed:
        return marked
    kept = [row for row in range(marked.n_rows) if row not in removed]
    cells = [replace(c, row=kept.index(c.row)) for c in marked.cells if c.row in kept]
    box = _box_of_rows(marked, kept) if cells else marked.box
    clipped = tuple(replace(c, box=c.box.clipped(box)) for c in cells)
    return replace(marked, n_rows=len(kept), cells=clipped, box=box)


def _box_of_rows(marked: MarkedTable, kept: Sequence[int]) -> Box:
    """Return the ink of a table without that of the rows above and below those that are kept."""
    inks = [(cell.row, cell.ink.turned(marked.angle)) for cell in marked.cells if cell.ink is not None]
    top = max((ink.y1 for row, ink in inks if row < kept[0]), default=-inf)
    bottom = min((ink.y0 for row, ink in inks if row > kept[-1]), default=inf)
    own = [ink for ink in marked.painted if top <= (ink.y0 + ink.y1) / 2 <= bottom]
    own = own or [cell.box.turned(marked.angle) for cell in marked.cells if cell.row in kept]
    return Box.hull(own).turned(360 - marked.angle)


def _join_table(
    marked: MarkedTable, candidate: TabularCandidate, rows: Sequence[int], number: int | None
) -> JoinedTable | None:
    """Return the table with the grid of its source; None if TeX has another, or if a cell cannot be read at
    all.
    """
    grid = candidate.grid
    n_head = sum(grid.sections[row] in _HEAD for row in rows)
    if list(rows) != list(range(grid.n_rows)) or n_head:
        grid = select_rows(grid, rows, n_head or None)
    try:
        placed = place_table(grid)
    except (FormatError, ValueError):
        return None
    if not covers(placed, marked) or cuts_numbers({slot[1] for slot in placed.tex_slots}, marked):
        return None
    shown = [cells_in(marked.cells, slot) for slot in placed.tex_slots]
    pairs = list(zip(placed.table.cells, shown, strict=True))
    if _has_other_numbers(pairs):
        return None
    cells, n_agreeing = [], 0
    for cell, own in pairs:
        text = _cell_text(cell.text, own)
        n_agreeing += text is not None
        box = Box.hull(c.box for c in own).rounded() if own else None
        cells.append(replace(cell, text=_seen(own) if text is None else text, box=box))
    share = n_agreeing / len(cells) if cells else 1.0
    if share < MIN_AGREEMENT or any(UNKNOWN in cell.text for cell in cells):
        return None
    table = Table(placed.table.n_rows, placed.table.n_cols, tuple(cells))
    attributes: dict[str, AttributeValue] = {"text_from": "source", "glyph_agreement": round(share, 4)}
    return _finished(marked, table, number, candidate.latex, attributes, has_head=n_head > 0)


def _has_other_numbers(cells: Iterable[tuple[Cell, Sequence[MarkedCell]]]) -> bool:
    """Return whether a cell shows another number than the source says: then it is the source of another
    table.

    It may show fewer figures: some are rounded away, or white to align the others.
    """
    pairs = ((cell.text, "".join(m.text for m in own)) for cell, own in cells)
    numbers = (pair for pair in pairs if all(map(_NUMBER.fullmatch, pair)))
    figures = (["".join(filter(str.isdecimal, text)) for text in pair] for pair in numbers)
    return any(seen not in said for said, seen in figures)


def _cell_text(source: str, shown: Sequence[MarkedCell]) -> str | None:
    """Return the text of a cell in the source, with the numbers of the page; None if the page shows
    another.
    """
    whole = filled(source, _seen(shown)) if PLACE in source else source
    return whole if whole is not None and _agrees(whole, "".join(c.text for c in shown)) else None


def _agrees(source: str, shown: str) -> bool:
    """Return whether a cell shows the glyphs that the source says, in any order; unknown glyphs can be
    anything.

    A hyphen may be the division of a word at the end of a line; a stacked formula has signs in a line of text
    that the page draws or does not need.
    """
    wanted, seen = Counter(glyph_text(source)), Counter(glyph_text(shown.replace(DIVISION, "")))
    unknown = seen.pop(UNKNOWN, 0)
    missing, extra = wanted - seen, seen - wanted
    missing["-"] -= min(missing["-"], shown.count(DIVISION))
    missing["~"] -= min(missing["~"], shown.count("˜"))
    return not extra and without_written_signs(missing).total() <= unknown


def _seen(cells: Sequence[MarkedCell]) -> str:
    return " ".join(cell.text.replace(DIVISION, "") for cell in cells if cell.text)


def _from_page(marked: MarkedTable, number: int | None, head: int | None) -> JoinedTable:
    """Return the table as TeX set it, without its source; with the header rows that it repeats, if it is
    long.
    """
    marked = with_whole_numbers(marked)
    cells = []
    for c in marked.cells:
        header = None if head is None else c.row < head
        cells.append(Cell(c.row, c.col, _seen([c]), c.rowspan, c.colspan, header, c.box.rounded()))
    try:
        table = Table(marked.n_rows, marked.n_cols, tuple(cells))
    except ValueError as error:
        return JoinedTable(marked.page, None, f"a table's cells do not form a grid: {error}")
    if any(UNKNOWN in c.text for c in cells):
        return JoinedTable(marked.page, None, "a table has glyphs that the PDF gives no meaning")
    return _finished(marked, table, number, None, {"text_from": "glyphs"}, has_head=head is not None)


def _finished(
    marked: MarkedTable,
    table: Table,
    number: int | None,
    latex: str | None,
    attributes: dict[str, AttributeValue],
    *,
    has_head: bool = False,
) -> JoinedTable:
    """Return the element; `has_head` if the source says for certain which rows are headers."""
    table = without_unseen(table, marked)
    if not has_head:
        stated = 0 if marked.rules else table.header_rows
        head = stated or header_rows(table, marked)
        cells = (replace(cell, header=None if head is None else cell.row < head) for cell in table.cells)
        table = replace(table, cells=tuple(cells))
    n_head = table.header_rows
    found: dict[str, AttributeValue] = {
        "rotated": marked.angle != 0,
        "complexity": complexity(table),
        "with_span": table.has_spans,
        "line": line_style(marked),
        **({"header_rows": n_head} if n_head else {}),
        **({"long": True, "part": number + 1} if number is not None else {}),
        **attributes,
    }
    element = Element(
        id=f"t{marked.id}" if number is None else f"t{marked.id}-{number + 1}",
        category=Category.TABLE,
        box=marked.box.rounded(),
        latex=latex,
        html=write_table(table, "html"),
        table=table,
        attributes=found,
    )
    return JoinedTable(marked.page, element)
