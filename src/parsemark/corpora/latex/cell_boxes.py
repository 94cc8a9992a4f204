"""From the marks of a table to the box of each cell.

A cell's box is its slot: from column edge to column edge and from row edge to row edge, so that the slots of
a table tile its box. Column edges are the middles of TeX's separators; row edges lie between the struts
(and the ink) of neighbouring rows. All of it is computed in the table's own frame, so that rotation is
undone first and redone last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import inf
from statistics import median

from parsemark.corpora.latex.cell_text import Character, composed_text
from parsemark.model import Box
from parsemark.model.geometry import extents
from parsemark.model.table import slot

SLACK = 1.0
"""By how much ink may leave TeX's box: the width of its own outer rules, also if they are scaled up."""
RULE_SLACK = 3.0
"""The same for thick rules: at most their own width, in points."""
NEAR = 1.5
"""Ink this close to a long table belongs to it, in points."""
RULE_HEIGHT, RULE_DISTANCE = 2.0, 8.0
"""What is a rule, and how far from the cells of a long table it may lie, in points."""


OVERHANG = 0.25
"""By how much text may leave its cell without moving its edge, in points."""
MIN_LETTERS = 3
"""Letters and figures of a line between two rows that make it one of its own."""

InkPiece = tuple[Box, str, int]
"""Something painted: its box, its glyphs, and the angle of these."""
LooseCharacter = tuple[Box, int, Character]
"""A character in no cell: its box on the page, its angle, and itself."""


@dataclass
class RawCell:
    """A cell as marked: its place in TeX's alignment, and its ink."""

    row: int
    col: int
    colspan: int
    start: Box
    ink: list[InkPiece]
    characters: list[Character]
    end: Box | None = None
    rowspan: int = 1

    @cached_property
    def text(self) -> str:
        """What a reader of the page sees in it."""
        drawn = (box.turned(_angle([self])) for box, text, _ in self.ink if not text)
        return composed_text(
            self.characters, [b for b in drawn if b.height < RULE_HEIGHT and b.width > b.height]
        )

    @property
    def marks(self) -> list[Box]:
        """Where it begins, and where it ends if that is known."""
        return [self.start] if self.end is None else [self.start, self.end]

    @property
    def is_bold(self) -> bool:
        """Whether all letters and figures in it are."""
        kinds = {c.is_bold for c in self.characters if c.text.isalnum()}
        return kinds == {True}


@dataclass
class RawTable:
    """A table as marked, on one page."""

    id: int
    parent: int | None = None
    """The table in one of whose cells this one stands."""
    cells: list[RawCell] = field(default_factory=list)
    edges: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))
    box: Box | None = None
    """TeX's box; None for a long table."""


@dataclass(frozen=True, slots=True)
class MarkedCell:
    """A cell of TeX's own grid."""

    row: int
    col: int
    rowspan: int
    colspan: int
    text: str
    """What a reader of the page sees in it."""
    box: Box
    ink: Box | None
    is_bold: bool = False
    """Whether all letters and figures in it are."""


@dataclass(frozen=True, slots=True)
class MarkedTable:
    """A table of TeX's own: its grid, and exact boxes."""

    id: int
    angle: int
    """By how many degrees the table is turned counter-clockwise: 0, 90, 180 or 270."""
    box: Box
    """The hull of the table's ink."""
    n_rows: int
    n_cols: int
    cells: tuple[MarkedCell, ...]
    parent: int | None = None
    """The table in one of whose cells this one stands."""
    rules: tuple[Box, ...] = ()
    """The lines of the table, in its own frame (see `Box.turned`)."""
    picture_share: float = 0.0
    """The share of the table's area that pictures cover."""
    painted: tuple[Box, ...] = ()
    """All ink of the table, in its own frame."""
    leaves_page: bool = False
    """Whether it runs over the edge of its page."""

    @property
    def slots(self) -> set[tuple[int, int, int, int]]:
        """Row, column, rowspan and colspan of each cell."""
        return set(map(slot, self.cells))


def place_cells(table: RawTable, page_ink: Sequence[Box], pictures: Iterable[Box] = ()) -> MarkedTable:
    """Number the rows, join what is spanned, and give each cell its slot."""
    angle = _angle(table.cells)
    rows = _row_ranks(table, angle)
    cells = _without_covered(table.cells, rows)
    n_cols = max(c.col + c.colspan for c in table.cells)
    box = _ink_box(table, page_ink, angle)
    turned = box.turned(angle)
    columns = _column_edges(table, n_cols, angle, turned)
    bands = _row_edges(table.cells, rows, angle, turned)
    spans = [min(abs(cell.rowspan), len(rows) - rows[cell.row]) for cell in cells]
    slots = [
        Box(
            columns[cell.col],
            bands[rows[cell.row]],
            max(columns[cell.col], columns[min(cell.col + cell.colspan, n_cols)]),
            max(bands[rows[cell.row]], bands[rows[cell.row] + span]),
        )
        for cell, span in zip(cells, spans, strict=True)
    ]
    _follow_text(cells, slots, angle)
    placed = []
    for cell, span, own in zip(cells, spans, slots, strict=True):
        ink = Box.hull(b for b, _, _ in cell.ink) if cell.ink else None
        grid = (rows[cell.row], cell.col, span, cell.colspan)
        placed.append(MarkedCell(*grid, cell.text, own.turned(360 - angle), ink, cell.is_bold))
    inside = tuple(ink.turned(angle) for ink in page_ink if box.expanded(SLACK).contains(ink))
    rules = tuple(ink for ink in inside if min(ink.width, ink.height) < RULE_HEIGHT)
    covered = sum(picture.intersection_area(box) for picture in pictures)
    share = min(1.0, covered / box.area) if box.area else 0.0
    return MarkedTable(
        table.id, angle, box, len(rows), n_cols, tuple(placed), table.parent, rules, share, inside
    )


def columns_of(table: RawTable) -> list[RawTable]:
    """The parts of a long table that stand beside each other, in the columns of a page.

    Its head is one box that TeX sets several times, so a part has its own copy of each cell.
    """
    if table.box is not None:
        return [table]
    angle = _angle(table.cells)
    rows: list[list[float]] = []
    before: RawCell | None = None
    for cell in table.cells:
        start, end = cell.start.turned(angle), (cell.end or cell.start).turned(angle)
        if before is not None and before.row == cell.row and before.col < cell.col:
            rows[-1] = [min(rows[-1][0], start.x0), max(rows[-1][1], end.x1)]
        else:
            rows.append([start.x0, max(start.x0, end.x1)])
        before = cell
    spans: list[list[float]] = []
    for x0, x1 in sorted(rows):
        if spans and x0 <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], x1)
        elif x1 > x0:
            spans.append([x0, x1])
    if len(spans) < 2:
        return [table]
    parts = []
    for x0, x1 in spans:
        frame = (x0 - SLACK, x1 + SLACK)
        cells = [_kept(cell, frame, angle) for cell in table.cells if _within(cell.start, frame, angle)]
        edges = {
            col: [box for box in boxes if _within(box, frame, angle)] for col, boxes in table.edges.items()
        }
        parts.append(replace(table, cells=cells, edges=defaultdict(list, edges)))
    return [part for part in parts if part.cells]


def _within(box: Box, frame: tuple[float, float], angle: int) -> bool:
    turned = box.turned(angle)
    return frame[0] <= turned.centre[0] <= frame[1]


def _kept(cell: RawCell, frame: tuple[float, float], angle: int) -> RawCell:
    ink = [piece for piece in cell.ink if _within(piece[0], frame, angle)]
    characters = [c for c in cell.characters if frame[0] <= c.box.centre[0] <= frame[1]]
    return replace(cell, ink=ink, characters=characters)


def take_loose(table: RawTable, loose: Iterable[LooseCharacter]) -> None:
    r"""Give what stands between the columns of a table (`r@{.}l`) to the cell before it, or else behind it.

    What stands between its rows (`\noalign`) becomes a row of its own.
    """
    angle = _angle(table.cells)
    if table.box is not None:
        frame = table.box.expanded(SLACK)
    else:
        frame = Box.hull(box for cell in table.cells for box in cell.marks)
    between: list[LooseCharacter] = []
    bands = _row_bands(table, angle)
    for box, own_angle, character in loose:
        if own_angle != angle or not frame.contains(box, SLACK):
            continue
        place = box.turned(angle)
        x, y = place.centre
        row = [c for c in table.cells if c.start.turned(angle).y0 <= y <= c.start.turned(angle).y1]
        if not any(top <= y <= bottom for top, bottom in bands.values()):
            between.append((box, angle, character))
            continue
        ends = [(c.end.turned(angle).x1, c) for c in row if c.end is not None]
        before = [(end, c) for end, c in ends if end <= x + SLACK]
        after = [(c.start.turned(angle).x0, c) for c in row if c.start.turned(angle).x0 >= x - SLACK]
        if before:
            cell = max(before, key=lambda pair: pair[0])[1]
            cell.characters.append(character)
        elif after:
            cell = min(after, key=lambda pair: pair[0])[1]
            cell.characters.insert(0, character)
        else:
            continue
        cell.ink.append((box, character.text, angle))

    if between:
        _add_rows(table, between, bands, angle)


def _row_bands(table: RawTable, angle: int) -> dict[int, tuple[float, float]]:
    """From where to where the struts and the ink of each row reach."""
    boxes = (
        (cell.row, box.turned(angle))
        for cell in table.cells
        for box in (*cell.marks, *(ink for ink, _, _ in cell.ink))
    )
    return extents((row, box.y0, box.y1) for row, box in boxes)


def _add_rows(
    table: RawTable,
    between: Sequence[LooseCharacter],
    bands: dict[int, tuple[float, float]],
    angle: int,
) -> None:
    """Rows for lines of text that stand between those of the alignment, over all its columns."""
    lines: dict[float, list[LooseCharacter]] = {}
    for piece in between:
        character = piece[2]
        near = (y for y in lines if abs(y - character.baseline) < 0.6 * character.size)
        lines.setdefault(next(near, character.baseline), []).append(piece)
    n_cols = max(c.col + c.colspan for c in table.cells)
    added: list[tuple[int, RawCell]] = []
    for line in lines.values():
        if sum(character.text.isalnum() for _, _, character in line) < MIN_LETTERS:
            continue
        frame = Box.hull(box for box, _, _ in line)
        y = (frame.turned(angle).y0 + frame.turned(angle).y1) / 2
        above = sum(bottom < y for _, bottom in bands.values())
        ink = [(box, character.text, angle) for box, _, character in line]
        cell = RawCell(above, 0, n_cols, frame, ink, [character for _, _, character in line], frame)
        added.append((above, cell))
    order = sorted(bands, key=lambda row: bands[row] if table.box is None else (row, row))
    numbers = {row: 2 * rank + 1 for rank, row in enumerate(order)}
    added = [(above, cell) for above, cell in added if 0 < above < len(order)]
    if added:
        kept = [replace(cell, row=numbers[cell.row]) for cell in table.cells]
        table.cells = [*kept, *(replace(cell, row=2 * above) for above, cell in added)]


def _row_ranks(table: RawTable, angle: int) -> dict[int, int]:
    """TeX's row numbers to ours. A long table's foot is set before its body, so there the place counts."""
    if table.box is not None:
        return {row: rank for rank, row in enumerate(sorted({c.row for c in table.cells}))}
    starts = ((cell.row, cell.start.turned(angle)) for cell in table.cells)
    tops = extents((row, box.y0, box.y0) for row, box in starts)
    return {row: rank for rank, row in enumerate(sorted(tops, key=lambda row: (tops[row][0], row)))}


def _without_covered(cells: Sequence[RawCell], rows: dict[int, int]) -> list[RawCell]:
    """The cells without the empty ones that a multirow or a block covers. A negative multirow spans upwards.

    A span ends before a row with a cell that has ink of its own, so that cells stay disjoint; what a block
    covers beside it must be empty.
    """
    inked = {(rows[c.row], col) for c in cells if c.text for col in range(c.col, c.col + c.colspan)}
    tops = {rank: row for row, rank in rows.items()}
    covered: set[tuple[int, int]] = set()
    kept = []
    for cell in cells:
        first, last = _span(cell, rows[cell.row], len(rows), inked)
        slots = {(r, c) for r in range(first, last) for c in range(cell.col, cell.col + cell.colspan)}
        covered |= slots - {(rows[cell.row], cell.col)}
        is_one = abs(cell.rowspan) == 1
        kept.append(cell if is_one else replace(cell, row=tops[first], rowspan=last - first))
    return [c for c in kept if c.rowspan > 1 or c.text or (rows[c.row], c.col) not in covered]


def _span(cell: RawCell, rank: int, n_rows: int, inked: set[tuple[int, int]]) -> tuple[int, int]:
    """The rows of a multirow: the first, and the one behind the last."""
    step = -1 if cell.rowspan < 0 else 1
    last = rank
    for _ in range(abs(cell.rowspan) - 1):
        following = last + step
        cols = range(cell.col, cell.col + cell.colspan)
        if not 0 <= following < n_rows or any((following, col) in inked for col in cols):
            break
        last = following
    return min(rank, last), max(rank, last) + 1


def _angle(cells: Sequence[RawCell]) -> int:
    votes = Counter(angle for cell in cells for _, text, angle in cell.ink if text.strip())
    return votes.most_common(1)[0][0] if votes else 0


def _ink_box(table: RawTable, page_ink: Iterable[Box], angle: int) -> Box:
    inks = [box for cell in table.cells for box, _, _ in cell.ink]
    if table.box is not None:
        for ink in page_ink:
            # what pdfium says of a rule has half of its width more at each end
            thin = min(ink.width, ink.height)
            is_inside = table.box.expanded(SLACK + min(thin, RULE_SLACK)).contains(ink)
            if is_inside or (thin < RULE_HEIGHT and table.box.expanded(SLACK).holds_centre(ink)):
                inks.append(ink)  # a rule may be told to stick out at its ends
        return Box.hull(inks) if inks else table.box
    marks = [box.turned(angle) for cell in table.cells for box in cell.marks]
    rows = Box.hull([*marks, *(ink.turned(angle) for ink in inks)])
    sides = (box.turned(angle) for boxes in table.edges.values() for box in boxes)
    edges = [b for b in sides if rows.y0 <= (b.y0 + b.y1) / 2 <= rows.y1]
    frame = Box.hull([rows, *edges])  # without the caption, which is a row without cells
    near = frame.expanded(NEAR)
    painted = [ink.turned(angle) for ink in page_ink]
    own = [ink.turned(angle) for ink in inks]
    own += [ink for ink in painted if near.contains(ink) or _is_rule_of(ink, frame)]
    return Box.hull(own or marks).turned(360 - angle)


def _is_rule_of(ink: Box, frame: Box) -> bool:
    """Whether it is a rule across a long table, which may be wider than its cells and lie just outside."""
    inside = min(ink.x1, frame.x1) - max(ink.x0, frame.x0)
    close = frame.y0 - RULE_DISTANCE <= ink.y0 and ink.y1 <= frame.y1 + RULE_DISTANCE
    return ink.height < RULE_HEIGHT and close and inside > 0.8 * frame.width


def _column_edges(table: RawTable, n_cols: int, angle: int, frame: Box) -> list[float]:
    """The left edge of each column, and the right edge of the last."""
    middles: dict[int, float] = {}
    for col, boxes in table.edges.items():
        if 0 < col < n_cols:
            middles[col] = _middle(box.turned(angle) for box in boxes)
    begun = ((c.col, c.start.turned(angle)) for c in table.cells)
    starts = extents((col, box.x0, box.x1) for col, box in begun)
    ended = ((c.col + c.colspan, c.end.turned(angle)) for c in table.cells if c.end is not None)
    ends = extents((col, box.x0, box.x1) for col, box in ended)
    for col in range(1, n_cols):
        if col not in middles and col in starts and col in ends:
            middles[col] = (ends[col][1] + starts[col][0]) / 2
    _follow_ink(table, middles, angle)
    edges = [frame.x0]
    for col in range(1, n_cols):
        edges.append(max(edges[-1], middles.get(col, edges[-1])))
    return [*(min(edge, frame.x1) for edge in edges), frame.x1]


def _follow_ink(table: RawTable, middles: dict[int, float], angle: int) -> None:
    """Move an edge that the ink of a column runs over (`D{.}{.}{1}` is as wide as TeX is told) into the gap
    between the columns, if there is one.
    """
    inks = [(cell, box.turned(angle)) for cell in table.cells for box, text, _ in cell.ink if text.strip()]
    left = extents((cell.col, ink.x0, ink.x1) for cell, ink in inks)
    right = extents((cell.col + cell.colspan, ink.x0, ink.x1) for cell, ink in inks)
    for col in middles.keys() & left.keys() & right.keys():
        end, start = right[col][1], left[col][0]
        if end < start and not end <= middles[col] <= start:
            middles[col] = (end + start) / 2


def _follow_text(cells: Sequence[RawCell], slots: list[Box], angle: int) -> None:
    """Move an edge between two cells of a row that the text of one runs over into the gap between them.

    A list of citations or a number may be wider than TeX is told that its column is.
    """
    rows: dict[int, list[int]] = defaultdict(list)
    for place in sorted(range(len(cells)), key=lambda place: cells[place].col):
        if abs(cells[place].rowspan) == 1:
            rows[cells[place].row].append(place)
    for own in rows.values():
        reach = -inf
        for left, right in pairwise(own):
            before, after = (_text_extent(cells[place], angle) for place in (left, right))
            reach, edge = max(reach, before[1]), slots[right].x0
            is_beside = cells[left].col + cells[left].colspan == cells[right].col
            if not is_beside or reach > after[0] or max(reach - edge, edge - after[0]) <= OVERHANG:
                continue
            gap = [x for x in (reach, after[0]) if abs(x) < inf]
            moved = min(max(sum(gap) / len(gap), slots[left].x0), slots[right].x1)
            slots[left], slots[right] = replace(slots[left], x1=moved), replace(slots[right], x0=moved)


def _text_extent(cell: RawCell, angle: int) -> tuple[float, float]:
    """From where to where the text of a cell reaches."""
    inks = [box.turned(angle) for box, text, _ in cell.ink if text.strip()]
    return min((ink.x0 for ink in inks), default=inf), max((ink.x1 for ink in inks), default=-inf)


def _middle(sides: Iterable[Box]) -> float:
    """The middle of a separator in most rows: a heading that was set apart must not move the others."""
    rows: dict[int, list[float]] = defaultdict(list)
    for side in sides:
        rows[round(side.y0)].append(side.x0)
    return median((min(xs) + max(xs)) / 2 for xs in rows.values())


def _row_edges(cells: Sequence[RawCell], rows: dict[int, int], angle: int, frame: Box) -> list[float]:
    """The top edge of each row, and the bottom edge of the last."""
    parts = (
        (rows[cell.row], part.turned(angle))
        for cell in cells
        for part in (*cell.marks, *(box for box, _, _ in cell.ink if abs(cell.rowspan) == 1))
    )
    bands = extents((row, part.y0, part.y1) for row, part in parts)
    _flatten_overlapped(bands, {rows[cell.row] for cell in cells if cell.ink})
    edges = [frame.y0]
    for row in range(1, len(rows)):
        middle = (bands[row - 1][1] + bands[row][0]) / 2
        edges.append(max(edges[-1], min(middle, frame.y1)))
    return [*edges, frame.y1]


def _flatten_overlapped(bands: dict[int, tuple[float, float]], inked: set[int]) -> None:
    """A row without ink over which another one was pulled (by a negative space) has no height."""
    for row in sorted(bands.keys() - inked, reverse=True):
        if row + 1 in bands and bands[row][1] > bands[row + 1][0] + SLACK:
            bands[row] = bands[row + 1][0], bands[row + 1][0]
        elif row - 1 in bands and bands[row][0] < bands[row - 1][1] - SLACK:
            bands[row] = bands[row - 1][1], bands[row - 1][1]
