"""Tables of a structure tree: their cells on a grid, and whether the page agrees with what the tags say.

Tags are often wrong. A table is accepted only if what is painted agrees: its rows lie below each other, its
columns beside each other, spans where they say, and no word of the page stands between its cells that is in
none of them. Else it is refused with the reason.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby, pairwise
from operator import attrgetter
from statistics import median

from parsemark.corpora.tagged.table_lines import missing_column, missing_span
from parsemark.corpora.tagged.text import DocumentContent, TaggedText, hull, is_ink
from parsemark.errors import FormatError
from parsemark.formats.limits import check_grid
from parsemark.model import Box, Cell, Table
from parsemark.model.geometry import extents
from parsemark.pdf.marked import ARTEFACT, UNMARKED, OwnedPage
from parsemark.pdf.tags import StructureTag
from parsemark.pdf.text import is_right_to_left

TOLERANCE = 1.5  # points by which the ink of a cell may leave its row or column: accents, italics
_PAGE = 1e6  # added to places on the next page, so that they are below all of this one
_MIN_EMPTY_ROW = 1.5  # heights of a line that are free where an empty row is; less is a gap between rows
_NEXT_WORD = 6.0  # points from a word to the next one of its line
HOLDS_TABLE = "it contains another table, so it only lays out the page"
Ends = Callable[[Box], tuple[float, float]]  # where a box begins and ends along a row


class RefusedError(Exception):
    """A table whose tags are no truth, and why."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A cell on its grid with what it says."""

    row: int
    col: int
    rowspan: int
    colspan: int
    header: bool | None
    pieces: tuple[TaggedText, ...]

    def on(self, page: int) -> "_Slot":
        """Return the part of it that is on a page."""
        return replace(self, pieces=tuple(piece for piece in self.pieces if piece.page == page))

    @property
    def boxes(self) -> list[tuple[int, Box]]:
        """Return the places of its ink, each with its page."""
        return [(piece.page, piece.box) for piece in self.pieces if piece.box is not None]


@dataclass(frozen=True, slots=True)
class TablePart:
    """What of a table is on one page."""

    page: int
    table: Table
    box: Box  # around its words, and the lines that are drawn around these


@dataclass(frozen=True, slots=True)
class TaggedTable:
    """A table of the tree."""

    index: int  # of its element
    pages: tuple[int, ...]
    parts: tuple[TablePart, ...] = ()  # by page; none where it is refused
    refused: str = ""  # why it is no truth; empty where it is one
    captions: tuple[int, ...] = ()


def read_table(content: DocumentContent, index: int) -> TaggedTable:
    """Return the table of an element `Table`, checked against its pages."""
    captions = tuple(k for k, tag in content.walk(index, ("TR", "Caption")) if tag.role == "Caption")
    inside = {(c.page, k) for c in content.contents(index) for k in content.glyphs_of(c)}
    pages = tuple(sorted({page for page, _ in inside}))
    try:
        return TaggedTable(index, pages, _checked_parts(content, index, inside), captions=captions)
    except RefusedError as error:
        return TaggedTable(index, pages, refused=str(error), captions=captions)


def _checked_parts(
    content: DocumentContent, index: int, inside: set[tuple[int, int]]
) -> tuple[TablePart, ...]:
    rows = _rows(content, index)
    slots, n_cols = _laid(content, rows)
    from_right = _reads_from_right([slot for slot in slots if slot.boxes])
    ends: Ends = (lambda box: (-box.x1, -box.x0)) if from_right else (lambda box: (box.x0, box.x1))
    slots = _moved_to_columns(slots, n_cols, ends)
    if not any(piece.text.strip() for slot in slots for piece in slot.pieces):
        raise RefusedError("none of its cells has text")
    if any(tag.role == "Table" for k, tag in content.walk(index) if k != index):
        raise RefusedError(HOLDS_TABLE)
    slots = _without_gaps(content, slots, len(rows))
    slots, repeated = _without_repeats(content, slots)
    filled = [slot for slot in slots if slot.boxes]
    used = {"row": {s.row for s in filled}, "column": {s.col for s in filled}}
    for what, places in used.items():
        if len(places) < 2:
            raise RefusedError(f"it has text in only one {what}, so it is a frame, not a table")
    _raise_unless_apart(filled, ends)
    _raise_unless_below(filled)
    parts = []
    for page in sorted({page for slot in filled for page, _ in slot.boxes}):
        part = _part(content, slots, repeated.get(page, ()), n_cols, page)
        _raise_if_foreign(content.page(page), part, {k for at, k in inside if at == page})
        if (why := missing_span(content.page(page), part.table, part.box)) is not None:
            raise RefusedError(f"a span is missing: {why}")
        if (where := missing_column(content.page(page), part.table, part.box)) is not None:
            raise RefusedError(f"a column is missing: lines are drawn around one {where} that has no cells")
        parts.append(part)
    headed = _with_repeated_heads(content, parts)
    for part, head in headed:
        _raise_if_continued(content, part, head)
    frame = OwnedPage.inner_frame if _is_inner(content, index) else OwnedPage.ruled_frame
    return tuple(replace(part, box=frame(content.page(part.page), part.box)) for part, _ in headed)


def _is_inner(content: DocumentContent, index: int) -> bool:
    """Return whether a table is in a cell of another one."""
    while (index := content.parents.get(index, 0)) and content.tree.tags[index].role != "Table":
        pass
    return index > 0


def _rows(content: DocumentContent, index: int) -> list[list[int]]:
    """Return the cells of each row, by their elements."""
    rows: list[list[int]] = []
    for k, tag in content.walk(index, ("TR", "Table", "Caption")):
        if tag.role == "TR":
            below = content.walk(k, ("TD", "TH", "Table"))
            rows.append([c for c, cell in below if cell.role in ("TD", "TH")])
    if not rows:
        raise RefusedError("it has no rows")
    captions = (k for k, tag in content.walk(index) if tag.role == "Caption")
    own = {c for k in chain(*rows, captions) for c in content.contents(k)}
    loose = (c for c in content.contents(index) if c not in own)
    if any(is_ink(content.page(c.page), k) for c in loose for k in content.glyphs_of(c)):
        raise RefusedError("it has text outside of its cells")
    return rows


def _span(tag: StructureTag, key: str) -> int:
    value = tag.attributes.get(key, 1)
    return max(1, int(value)) if isinstance(value, float) and value < 1e6 else 1


def _laid(content: DocumentContent, rows: Sequence[Sequence[int]]) -> tuple[list[_Slot], int]:
    """Return the cells on a grid, as HTML lays them: each at the first place of its row that is free."""
    tags = content.tree.tags
    cells = {c: tags[c].attributes for c in chain(*rows)}
    headers = (said.get("Headers", ()) for said in cells.values())
    named = {v for value in headers for v in (value if isinstance(value, tuple) else (value,))}
    heads = {
        c for c, said in cells.items() if tags[c].role == "TH" or "Scope" in said or said.get("ID") in named
    }
    taken: set[tuple[int, int]] = set()
    slots: list[_Slot] = []
    for r, row in enumerate(rows):
        col = 0
        for cell in row:
            while (r, col) in taken:
                col += 1
            tag = tags[cell]
            down, across = min(_span(tag, "RowSpan"), len(rows) - r), _span(tag, "ColSpan")
            try:
                check_grid(len(rows), col + across)
            except FormatError as error:
                raise RefusedError(f"it is too large: {error}") from error
            places = {(r + i, col + j) for i in range(down) for j in range(across)}
            if places & taken:
                raise RefusedError(f"its spans overlap in row {r + 1}")
            taken |= places
            in_head = tags[content.parents[content.parents[cell]]].role == "THead"
            header = (cell in heads or in_head) if heads or in_head else None
            slots.append(_Slot(r, col, down, across, header, tuple(content.pieces(cell))))
            col += across
    return slots, max((col for _, col in taken), default=-1) + 1


def _moved_to_columns(slots: Sequence[_Slot], n_cols: int, ends: Ends) -> list[_Slot]:
    """Return the cells of rows that are short, under the columns where they stand: browsers tag no empty
    cells.

    Where columns are is known from the rows that are whole. A row of which a cell fits no column, or several,
    stays as it is, and is refused then.
    """
    width: dict[int, int] = {}
    for slot in slots:
        for row in range(slot.row, slot.row + slot.rowspan):
            width[row] = width.get(row, 0) + slot.colspan
    known = [s for s in slots if s.boxes and s.colspan == 1 and width[s.row] == n_cols]
    own_ends = [[ends(b) for s in known if s.col == c for _, b in s.boxes] for c in range(n_cols)]
    if not own_ends or not all(own_ends):
        return list(slots)
    lefts, rights = zip(*map(_extent, own_ends), strict=True)
    before, after = list(accumulate(rights, max)), list(accumulate(lefts[::-1], min))[::-1]

    def place(slot: _Slot) -> int | None:
        low, high = _extent(ends(box) for _, box in slot.boxes)
        fits = [
            c
            for c in range(n_cols - slot.colspan + 1)
            if (c == 0 or low >= before[c - 1] - TOLERANCE)
            and (c + slot.colspan == n_cols or high <= after[c + slot.colspan] + TOLERANCE)
        ]
        touched = [c for c in fits if low < rights[c + slot.colspan - 1] and high > lefts[c]]
        chosen = touched if len(fits) > 1 else fits
        return chosen[0] if len(chosen) == 1 else None

    found: list[_Slot] = []
    for row, group in groupby(sorted(slots, key=attrgetter("row")), attrgetter("row")):
        cells = list(group)
        taken = {c for s in slots if s.row < row < s.row + s.rowspan for c in range(s.col, s.col + s.colspan)}
        spoken = [cell for cell in cells if cell.boxes]
        places = [place(cell) for cell in spoken] if width[row] < n_cols else []
        columns = [
            c + k for c, s in zip(places, spoken, strict=False) if c is not None for k in range(s.colspan)
        ]
        is_sure = places and None not in places and columns == sorted({*columns} - taken)
        if not is_sure or any(cell.rowspan > 1 for cell in cells):
            found += cells
            continue
        found += [replace(s, col=c) for s, c in zip(spoken, places, strict=True) if c is not None]
    return found


def _without_gaps(content: DocumentContent, slots: Sequence[_Slot], n_rows: int) -> list[_Slot]:
    """Return the cells without rows that are only a gap between others: nothing stands there, and nothing
    could.

    Behind the last row with text, that is as far as lines are drawn.
    """
    last = max(page for slot in slots for page, _ in slot.boxes)
    inked = Box.hull(box for slot in slots for page, box in slot.boxes if page == last)
    bottom = last * _PAGE + content.page(last).ruled_frame(inked).y1
    single = [(s.row, page * _PAGE, box) for s in slots for page, box in s.boxes if s.rowspan == 1]
    bands = extents((row, top + box.y0, top + box.y1) for row, top, box in single)
    bands[n_rows] = (bottom, bottom)
    height = median([max(piece.height for piece in slot.pieces) for slot in slots if slot.boxes] or [0.0])
    starts = {slot.row for slot in slots if slot.boxes}
    gone: set[int] = set()
    for is_full, group in groupby(range(n_rows), key=lambda row: row in bands or row in starts):
        own = list(group)
        above, below = bands.get(own[0] - 1), bands.get(own[-1] + 1)
        free = below[0] - above[1] if above and below else 0.0
        if not is_full and free < _MIN_EMPTY_ROW * height * len(own):
            gone.update(own)
    rank = {r: k for k, r in enumerate(r for r in range(n_rows) if r not in gone)}
    ranks = [[rank[r] for r in range(s.row, s.row + s.rowspan) if r in rank] for s in slots]
    return [replace(s, row=own[0], rowspan=len(own)) for s, own in zip(slots, ranks, strict=True) if own]


def _without_repeats(
    content: DocumentContent, slots: Sequence[_Slot]
) -> tuple[list[_Slot], dict[int, list[_Slot]]]:
    """Return the cells of a head that says the same on each of its pages once, and those of later pages by
    page.

    Browsers give what they repeat on a page to the one cell that the tree has.
    """
    said: dict[int, list[dict[int, str]]] = {}
    for slot in slots:
        by_page: dict[int, list[TaggedText]] = {}
        for piece in slot.pieces:
            by_page.setdefault(piece.page, []).append(piece)
        texts = {page: text for page, own in by_page.items() if (text := content.text(own))}
        for row in range(slot.row, slot.row + slot.rowspan):
            said.setdefault(row, []).append(texts)
    n_heads = 0
    while any(texts for texts in said.get(n_heads, ())) and all(
        not texts or (len(texts) > 1 and len(set(texts.values())) == 1) for texts in said[n_heads]
    ):
        n_heads += 1
    first = min((page for texts in said.get(0, ()) for page in texts), default=0)
    kept: list[_Slot] = []
    repeated: dict[int, list[_Slot]] = {}
    for slot in slots:
        if slot.row >= n_heads or not slot.pieces:
            kept.append(slot)
            continue
        for page in sorted({piece.page for piece in slot.pieces}):
            (kept if page == first else repeated.setdefault(page, [])).append(slot.on(page))
    return kept, repeated


def _reads_from_right(slots: Sequence[_Slot]) -> bool:
    """Return whether the first column is the rightmost one, in a script that is written so."""
    if not any(is_right_to_left(piece.text) for slot in slots for piece in slot.pieces):
        return False
    rows: dict[int, list[tuple[int, float]]] = {}
    for slot in slots:
        rows.setdefault(slot.row, []).append((slot.col, slot.boxes[0][1].x0))
    turned = [sorted(row)[0][1] > sorted(row)[-1][1] for row in rows.values() if len(row) > 1]
    return 2 * sum(turned) > len(turned)


def _raise_unless_apart(slots: Sequence[_Slot], ends: Ends) -> None:
    """Refuse a table of which a word stands under another column than its tags say.

    Pages may have columns at other places (facing ones); then each is looked at for itself, if it shows them.
    """
    try:
        _raise_unless_beside(slots, ends)
    except RefusedError:
        columns = {slot.col for slot in slots}
        pages = sorted({page for slot in slots for page, _ in slot.boxes})
        parts = [[s.on(page) for s in slots if s.on(page).boxes] for page in pages]
        full = [Counter(Counter(s.row for s in part).values())[len(columns)] for part in parts]
        if len(parts) == 1 or min(full) < 2:
            raise
        for part in parts:
            _raise_unless_beside(part, ends)


def _raise_unless_beside(slots: Sequence[_Slot], ends: Ends) -> None:
    places = [(s, *_extent(ends(box) for _, box in s.boxes)) for s in slots]
    ordered = sorted((s.row, s.col, low) for s, low, _ in places)
    for (row, _, first), (other, _, second) in pairwise(ordered):
        if row == other and second < first:
            raise RefusedError(f"the cells of row {row + 1} are in another order than their tags")
    bad = _crossing([(s.col, s.col + s.colspan, low, high) for s, low, high in places])
    if bad is not None:
        raise RefusedError(
            f"its columns overlap: text of column {bad} or before it is under a later column, "
            "so a span or a cell is missing"
        )


def _raise_unless_below(slots: Sequence[_Slot]) -> None:
    inks = [_extent((p * _PAGE + box.y0, p * _PAGE + box.y1) for p, box in s.boxes) for s in slots]
    bad = _crossing([(s.row, s.row + s.rowspan, *own) for s, own in zip(slots, inks, strict=True)])
    if bad is not None:
        raise RefusedError(f"its rows overlap: text of row {bad} or before it is beside a later row")


def _extent(ends: Iterable[tuple[float, float]]) -> tuple[float, float]:
    listed = list(ends)
    return min(low for low, _ in listed), max(high for _, high in listed)


def _crossing(places: Sequence[tuple[int, int, float, float]]) -> int | None:
    """Return the first border between lines of a grid that what lies on both sides of it crosses.

    A place is its first line and the one after the last, and where the ink begins and ends.
    """
    n = max(stop for _, stop, _, _ in places)
    ends = [float("-inf")] * (n + 1)
    begins = [float("inf")] * (n + 1)
    for start, stop, low, high in places:
        ends[stop] = max(ends[stop], high)
        begins[start] = min(begins[start], low)
    before = list(accumulate(ends, max))
    after = list(accumulate(reversed(begins), min))[::-1]
    return next((k for k in range(1, n) if before[k] > after[k] + TOLERANCE), None)


def _part(
    content: DocumentContent, slots: Sequence[_Slot], heads: Sequence[_Slot], n_cols: int, page: int
) -> TablePart:
    """Return the rows of a table that have ink on a page, below the head that is repeated there."""
    n_rows = max(slot.row + slot.rowspan for slot in slots)
    here = {slot.row for slot in slots if any(p == page for p, _ in slot.boxes)}
    later = [s.row for s in slots if s.boxes and s.row > max(here) and all(p > page for p, _ in s.boxes)]
    first, stop = min(here), min([n_rows, *later])
    n_heads = max((head.row + head.rowspan for head in heads), default=0)
    moved = [replace(slot, row=slot.row - first + n_heads) for slot in slots if slot.row < stop]
    cells = []
    for slot in (*heads, *moved):
        top = slot.row if slot.row < n_heads and slot in heads else max(slot.row, n_heads)
        bottom = min(slot.row + slot.rowspan, stop - first + n_heads)
        if bottom > top:
            shown = [piece for piece in slot.pieces if piece.page == page]
            box = hull(piece.box for piece in shown if piece.box is not None)
            place = top, slot.col, content.text(shown), bottom - top, slot.colspan, slot.header
            cells.append(Cell(*place, None if box is None else box.rounded()))
    table = Table(stop - first + n_heads, n_cols, tuple(cells))
    says = any(cell.header is not None for cell in cells)
    empty = (Cell(r, c, header=False if says else None) for r, c in table.holes)
    frame = Box.hull(cell.box for cell in cells if cell.box is not None)
    return TablePart(page, replace(table, cells=(*cells, *empty)), frame)


def _raise_if_foreign(page: OwnedPage, part: TablePart, own: set[int]) -> None:
    """Refuse a table in which words stand that are in none of its cells."""
    others = [k for k, owner in enumerate(page.owners) if k not in own and owner != ARTEFACT]
    foreign = [k for k in others if is_ink(page, k) and part.box.holds_centre(page.glyphs[k].box)]
    if foreign:
        words = "".join(page.glyphs[k].text for k in foreign[:30])
        raise RefusedError(f"text between its cells is in none of them: {words!r}")


def _raise_if_continued(content: DocumentContent, part: TablePart, head: Box | None) -> None:
    """Refuse a table beside which words of no element stand, as near as its rows are: some are missing.

    Those of the `head` that its page repeats are its own.
    """
    page = content.page(part.page)
    nobodys = (UNMARKED, ARTEFACT) if content.owners is not None else (UNMARKED,)
    single = ((cell.row, cell.box) for cell in part.table.cells if cell.rowspan == 1)
    bands = extents((row, box.y0, box.y1) for row, box in single if box is not None)
    gaps = [low[0] - high[1] for (r, high), (s, low) in pairwise(sorted(bands.items())) if s == r + 1]
    reach = 1.5 * max(gaps, default=0.0) + TOLERANCE
    (x0, y0, x1, y1), beside = part.box.as_tuple(), _NEXT_WORD
    places = {
        "above or below": Box(x0, y0 - reach, x1, y1 + reach),
        "beside": Box(x0 - beside, y0, x1 + beside, y1),
    }
    loose = [page.glyphs[k] for k, owner in enumerate(page.owners) if owner in nobodys and is_ink(page, k)]
    others = [glyph for glyph in loose if head is None or not head.holds_centre(glyph.box)]
    for where, around in places.items():
        if near := [glyph.text for glyph in others if around.intersection_area(glyph.box) > 0]:
            words = "".join(near[:30])
            raise RefusedError(f"text right {where} it is in no element: {words!r}")


def _with_repeated_heads(
    content: DocumentContent, parts: Sequence[TablePart]
) -> list[tuple[TablePart, Box | None]]:
    """Return parts on later pages with the head that is repeated there where tags have it once, and its
    place.
    """
    first = parts[0].table
    n_heads = next((cell.row for cell in first.cells if cell.header is False), 0)
    head = [cell for cell in first.cells if cell.row < n_heads]
    if not n_heads or any(cell.row + cell.rowspan > n_heads for cell in head):
        return [(part, None) for part in parts]
    wanted = sorted("".join("".join(cell.text.split()) for cell in head))
    found: list[tuple[TablePart, Box | None]] = [(parts[0], None)]
    for part in parts[1:]:
        shown = _shown_above(content.page(part.page), part.box, wanted)
        found.append((part if shown is None else _headed(part, head, n_heads, shown), shown))
    return found


def _shown_above(page: OwnedPage, box: Box, wanted: Sequence[str]) -> Box | None:
    """Return where artefacts above a place say just what is wanted, and nothing between; None if they do
    not.
    """
    nobodys = [k for k, o in enumerate(page.owners) if o in (ARTEFACT, UNMARKED) and is_ink(page, k)]
    above = [page.glyphs[k] for k in nobodys if page.glyphs[k].box.y1 <= box.y0 + TOLERANCE]
    nearest = sorted(above, key=lambda glyph: -glyph.box.centre[1])[: len(wanted)]
    return Box.hull(g.box for g in nearest) if sorted(g.text for g in nearest) == wanted else None


def _headed(part: TablePart, head: Sequence[Cell], n_heads: int, box: Box) -> TablePart:
    """Return the part below the cells of a head, which stand in the box as they do on the first page."""
    places = [cell.box for cell in head if cell.box is not None]
    first = Box.hull(places) if places else box
    sizes = zip((first.width, first.height), (box.width, box.height), strict=True)
    is_same = all(abs(one - other) <= 2 * TOLERANCE for one, other in sizes)
    right, down = box.x0 - first.x0, box.y1 - first.y1
    boxes = [cell.box.moved(right, down).rounded() if cell.box and is_same else None for cell in head]
    cells = [replace(cell, box=own) for cell, own in zip(head, boxes, strict=True)]
    moved = [replace(cell, row=cell.row + n_heads) for cell in part.table.cells]
    table = Table(part.table.n_rows + n_heads, part.table.n_cols, (*cells, *moved))
    return TablePart(part.page, table, Box.hull((part.box, box)))
