"""From the marks of a table to the box of each cell.

A cell's box is its slot: from column edge to column edge and from row edge to row edge, so that the slots of
a table tile its box. Column edges are the middles of TeX's separators; row edges lie between the struts
(and the ink) of neighbouring rows. All of it is computed in the table's own frame: `upright` undoes a
rotation first, and `place_cells` redoes it last.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import inf
from statistics import median

from parsemark.model import Box, extents, slot
from parsemark_makers.latex.cell_text import Character, composed_text

SLACK = 1.0
"""By how much ink may leave TeX's box: the width of its own outer rules, also if they are scaled up."""
RULE_SLACK = 3.0  # the same for thick rules: at most their own width, in points
NEAR = 1.5  # ink this close to a long table belongs to it, in points
RULE_HEIGHT, RULE_DISTANCE = 2.0, 8.0
"""What is a rule, and how far from the cells of a long table it may lie, in points."""


OVERHANG = 0.25  # by how much text may leave its cell without moving its edge, in points
MIN_LETTERS = 3  # letters and figures of a line between two rows that make it one of its own

InkPiece = tuple[Box, str, int]
"""Something painted: its box, its glyphs, and the angle of these in the frame of the box."""
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
        """Return its text as visible on the page."""
        drawn = (box.turned(_angle([self])) for box, text, _ in self.ink if not text)
        rules = [box for box in drawn if box.height < RULE_HEIGHT and box.width > box.height]
        return composed_text(self.characters, rules)

    @property
    def marks(self) -> list[Box]:
        """Return where it begins, and where it ends if that is known."""
        return [self.start] if self.end is None else [self.start, self.end]

    @property
    def is_bold(self) -> bool:
        """Return whether all letters and figures in it are."""
        return {c.is_bold for c in self.characters if c.text.isalnum()} == {True}


@dataclass
class RawTable:
    """A table as marked, on one page."""

    id: int
    parent: int | None = None  # the table in one of whose cells this one stands
    cells: list[RawCell] = field(default_factory=list)
    edges: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))
    box: Box | None = None  # TeX's box; None for a long table
    angle: int = 0  # by how much it was turned into its own frame (`upright`)


@dataclass(frozen=True, slots=True)
class MarkedCell:
    """A cell of TeX's own grid."""

    row: int
    col: int
    rowspan: int
    colspan: int
    text: str  # what a reader of the page sees in it
    box: Box
    ink: Box | None
    is_bold: bool = False  # whether all letters and figures in it are


@dataclass(frozen=True, slots=True)
class MarkedTable:
    """A table of TeX's own: its grid, and exact boxes."""

    id: int
    angle: int  # by how many degrees the table is turned counter-clockwise: 0, 90, 180 or 270
    box: Box  # the hull of the table's ink
    n_rows: int
    n_cols: int
    cells: tuple[MarkedCell, ...]
    parent: int | None = None  # the table in one of whose cells this one stands
    rules: tuple[Box, ...] = ()  # the lines of the table, in its own frame (see `Box.turned`)
    picture_share: float = 0.0  # the share of the table's area that pictures cover
    painted: tuple[Box, ...] = ()  # all ink of the table, in its own frame
    leaves_page: bool = False  # whether it runs over the edge of its page
    page: int = 1  # that it, or a part of a long one, stands on

    @property
    def slots(self) -> set[tuple[int, int, int, int]]:
        """Return row, column, rowspan and colspan of each cell."""
        return set(map(slot, self.cells))

    @property
    def rows(self) -> list[list[MarkedCell]]:
        """Return the cells that begin in each row."""
        rows: list[list[MarkedCell]] = [[] for _ in range(self.n_rows)]
        for cell in self.cells:
            rows[cell.row].append(cell)
        return rows


def upright(table: RawTable) -> RawTable:
    """Return the table in its own frame: turned so that its text is not."""
    angle = _angle(table.cells)
    cells = []
    for cell in table.cells:
        ink = [(box.turned(angle), text, (own - angle) % 360) for box, text, own in cell.ink]
        end = cell.end and cell.end.turned(angle)
        cells.append(replace(cell, start=cell.start.turned(angle), end=end, ink=ink))
    edges = {col: [box.turned(angle) for box in boxes] for col, boxes in table.edges.items()}
    box = table.box and table.box.turned(angle)
    return replace(table, cells=cells, edges=defaultdict(list, edges), box=box, angle=angle)


def place_cells(table: RawTable, page_ink: Sequence[Box], pictures: Iterable[Box] = ()) -> MarkedTable:
    """Return the number the rows, join what is spanned, and give each cell its slot."""
    painted = [ink.turned(table.angle) for ink in page_ink]
    # A long table's foot is set before its body, so there the place of a row counts, and not its number.
    tops = extents((cell.row, cell.start.y0, cell.start.y0) for cell in table.cells)
    order = sorted(tops, key=lambda row: (tops[row][0] if table.box is None else 0.0, row))
    rows = {row: rank for rank, row in enumerate(order)}
    cells = _without_covered(table.cells, rows)
    n_cols = max(c.col + c.colspan for c in table.cells)
    box = _ink_box(table, painted)
    columns = _column_edges(table, n_cols, box)
    bands = _row_edges(table.cells, rows, box)
    spans, slots = [], []
    for cell in cells:
        top, behind = rows[cell.row], min(cell.col + cell.colspan, n_cols)
        spans.append(min(abs(cell.rowspan), len(rows) - top))
        x1, y1 = columns[behind], bands[top + spans[-1]]
        slots.append(Box(columns[cell.col], bands[top], max(columns[cell.col], x1), max(bands[top], y1)))
    _follow_text(cells, slots)
    placed, back = [], 360 - table.angle
    for cell, span, own in zip(cells, spans, slots, strict=True):
        ink = Box.hull(b for b, _, _ in cell.ink).turned(back) if cell.ink else None
        grid = (rows[cell.row], cell.col, span, cell.colspan)
        placed.append(MarkedCell(*grid, cell.text, own.turned(back), ink, cell.is_bold))
    inside = tuple(ink for ink in painted if box.expanded(SLACK).contains(ink))
    rules = tuple(ink for ink in inside if min(ink.width, ink.height) < RULE_HEIGHT)
    on_page = box.turned(back)
    covered = sum(picture.intersection_area(on_page) for picture in pictures)
    share = min(1.0, covered / box.area) if box.area else 0.0
    shape = (on_page, len(rows), n_cols, tuple(placed))
    return MarkedTable(table.id, table.angle, *shape, table.parent, rules, share, inside)


def columns_of(table: RawTable) -> list[RawTable]:
    """Return the parts of a long table that stand beside each other, in the columns of a page.

    Its head is one box that TeX sets several times, so a part has its own copy of each cell.
    """
    if table.box is not None:
        return [table]
    rows: list[list[float]] = []
    for before, cell in zip([None, *table.cells], table.cells, strict=False):
        start, end = cell.start.x0, (cell.end or cell.start).x1
        if before is not None and before.row == cell.row and before.col < cell.col:
            rows[-1] = [min(rows[-1][0], start), max(rows[-1][1], end)]
        else:
            rows.append([start, max(start, end)])
    spans: list[list[float]] = []
    for x0, x1 in sorted(rows):
        if spans and x0 <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], x1)
        elif x1 > x0:
            spans.append([x0, x1])
    if len(spans) < 2:
        return [table]
    parts = [_between(table, x0 - SLACK, x1 + SLACK) for x0, x1 in spans]
    return [part for part in parts if part.cells]


def _between(table: RawTable, left: float, right: float) -> RawTable:
    """Return the part of a table between two places of a line."""

    def is_inside(box: Box) -> bool:
        return left <= box.centre[0] <= right

    cells = []
    for cell in table.cells:
        if is_inside(cell.start):
            ink = [piece for piece in cell.ink if is_inside(piece[0])]
            characters = [c for c in cell.characters if is_inside(c.box)]
            cells.append(replace(cell, ink=ink, characters=characters))
    edges = {col: [box for box in boxes if is_inside(box)] for col, boxes in table.edges.items()}
    return replace(table, cells=cells, edges=defaultdict(list, edges))


def take_loose(table: RawTable, loose: Iterable[LooseCharacter]) -> None:
    r"""Give text between the columns of a table (`r@{.}l`) to the cell before it, or else behind it.

    What stands between its rows (`\noalign`) becomes a row of its own.
    """
    frame = Box.hull(box for cell in table.cells for box in cell.marks)
    frame = frame if table.box is None else table.box.expanded(SLACK)
    between: list[tuple[Box, Character]] = []
    boxes = (
        (cell.row, box) for cell in table.cells for box in (*cell.marks, *(ink for ink, _, _ in cell.ink))
    )
    bands = extents((row, box.y0, box.y1) for row, box in boxes)
    for on_page, angle, character in loose:
        box = on_page.turned(table.angle)
        if angle != table.angle or not frame.contains(box, SLACK):
            continue
        x, y = box.centre
        if not any(top <= y <= bottom for top, bottom in bands.values()):
            between.append((box, character))
            continue
        row = [c for c in table.cells if c.start.y0 <= y <= c.start.y1]
        before = [(c.end.x1, c) for c in row if c.end is not None and c.end.x1 <= x + SLACK]
        after = [(c.start.x0, c) for c in row if c.start.x0 >= x - SLACK]
        if before:
            cell = max(before, key=lambda pair: pair[0])[1]
            cell.characters.append(character)
        elif after:
            cell = min(after, key=lambda pair: pair[0])[1]
            cell.characters.insert(0, character)
        else:
            continue
        cell.ink.append((box, character.text, 0))
    if between:
        _add_rows(table, between, bands)


def _add_rows(
    table: RawTable, between: Sequence[tuple[Box, Character]], bands: dict[int, tuple[float, float]]
) -> None:
    """Add rows for lines of text that stand between those of the alignment, over all its columns."""
    lines: dict[float, list[tuple[Box, Character]]] = {}
    for piece in between:
        character = piece[1]
        near = (y for y in lines if abs(y - character.baseline) < 0.6 * character.size)
        lines.setdefault(next(near, character.baseline), []).append(piece)
    n_cols = max(c.col + c.colspan for c in table.cells)
    order = sorted(bands, key=lambda row: bands[row] if table.box is None else (row, row))
    added: list[RawCell] = []
    for line in lines.values():
        frame = Box.hull(box for box, _ in line)
        above = sum(bottom < frame.centre[1] for _, bottom in bands.values())
        if 0 < above < len(order) and sum(c.text.isalnum() for _, c in line) >= MIN_LETTERS:
            ink = [(box, character.text, 0) for box, character in line]
            added.append(RawCell(2 * above, 0, n_cols, frame, ink, [c for _, c in line], frame))
    if added:
        numbers = {row: 2 * rank + 1 for rank, row in enumerate(order)}
        table.cells = [*(replace(cell, row=numbers[cell.row]) for cell in table.cells), *added]


def _without_covered(cells: Sequence[RawCell], rows: dict[int, int]) -> list[RawCell]:
    """Return the cells without the empty ones that a multirow or a block covers. A negative multirow spans
    upwards.

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
    """Return the rows of a multirow: the first, and the one behind the last."""
    cols, last = range(cell.col, cell.col + cell.colspan), rank
    step = -1 if cell.rowspan < 0 else 1
    for following in range(rank + step, rank + (cell.rowspan or 1), step):
        if not 0 <= following < n_rows or any((following, col) in inked for col in cols):
            break
        last = following
    return min(rank, last), max(rank, last) + 1


def _angle(cells: Sequence[RawCell]) -> int:
    votes = Counter(angle for cell in cells for _, text, angle in cell.ink if text.strip())
    return votes.most_common(1)[0][0] if votes else 0


def _ink_box(table: RawTable, painted: Sequence[Box]) -> Box:
    inks = [box for cell in table.cells for box, _, _ in cell.ink]
    if table.box is not None:
        for ink in painted:
            # what pdfium says of a rule has half of its width more at each end
            thin = min(ink.width, ink.height)
            is_inside = table.box.expanded(SLACK + min(thin, RULE_SLACK)).contains(ink)
            if is_inside or (thin < RULE_HEIGHT and table.box.expanded(SLACK).holds_centre(ink)):
                inks.append(ink)  # a rule may be told to stick out at its ends
        return Box.hull(inks) if inks else table.box
    marks = [box for cell in table.cells for box in cell.marks]
    rows = Box.hull([*marks, *inks])
    edges = [b for boxes in table.edges.values() for b in boxes if rows.y0 <= b.centre[1] <= rows.y1]
    frame = Box.hull([rows, *edges])  # without the caption, which is a row without cells
    near = frame.expanded(NEAR)
    inks += [ink for ink in painted if near.contains(ink) or _is_rule_of(ink, frame)]
    return Box.hull(inks or marks)


def _is_rule_of(ink: Box, frame: Box) -> bool:
    """Return whether it is a rule across a long table, which may be wider than its cells and lie just
    outside.
    """
    inside = min(ink.x1, frame.x1) - max(ink.x0, frame.x0)
    close = frame.y0 - RULE_DISTANCE <= ink.y0 and ink.y1 <= frame.y1 + RULE_DISTANCE
    return ink.height < RULE_HEIGHT and close and inside > 0.8 * frame.width


def _column_edges(table: RawTable, n_cols: int, frame: Box) -> list[float]:
    """Return the left edge of each column, and the right edge of the last."""
    middles: dict[int, float] = {}
    for col, sides in table.edges.items():
        if 0 < col < n_cols:  # the middle in most rows: a heading that was set apart must not move the others
            places = extents((round(side.y0), side.x0, side.x0) for side in sides)
            middles[col] = median((low + high) / 2 for low, high in places.values())
    starts = extents((c.col, c.start.x0, c.start.x1) for c in table.cells)
    ends = extents((c.col + c.colspan, c.end.x0, c.end.x1) for c in table.cells if c.end is not None)
    for col in range(1, n_cols):
        if col not in middles and col in starts and col in ends:
            middles[col] = (ends[col][1] + starts[col][0]) / 2
    _follow_ink(table, middles)
    edges = [frame.x0]
    for col in range(1, n_cols):
        edges.append(max(edges[-1], middles.get(col, edges[-1])))
    return [*(min(edge, frame.x1) for edge in edges), frame.x1]


def _follow_ink(table: RawTable, middles: dict[int, float]) -> None:
    """Move an edge that the ink of a column runs over (`D{.}{.}{1}` is as wide as TeX is told) into the gap
    between the columns, if there is one.
    """
    inks = [(cell, box) for cell in table.cells for box, text, _ in cell.ink if text.strip()]
    left = extents((cell.col, ink.x0, ink.x1) for cell, ink in inks)
    right = extents((cell.col + cell.colspan, ink.x0, ink.x1) for cell, ink in inks)
    for col in middles.keys() & left.keys() & right.keys():
        end, start = right[col][1], left[col][0]
        if end < start and not end <= middles[col] <= start:
            middles[col] = (end + start) / 2


def _follow_text(cells: Sequence[RawCell], slots: list[Box]) -> None:
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
            before, after = (_text_extent(cells[place]) for place in (left, right))
            reach, edge = max(reach, before[1]), slots[right].x0
            is_beside = cells[left].col + cells[left].colspan == cells[right].col
            if not is_beside or reach > after[0] or max(reach - edge, edge - after[0]) <= OVERHANG:
                continue
            gap = [x for x in (reach, after[0]) if abs(x) < inf]
            moved = min(max(sum(gap) / len(gap), slots[left].x0), slots[right].x1)
            slots[left], slots[right] = replace(slots[left], x1=moved), replace(slots[right], x0=moved)


def _text_extent(cell: RawCell) -> tuple[float, float]:
    """Return the start and the end of the text of a cell."""
    inks = [box for box, text, _ in cell.ink if text.strip()]
    return min((ink.x0 for ink in inks), default=inf), max((ink.x1 for ink in inks), default=-inf)


def _row_edges(cells: Sequence[RawCell], rows: dict[int, int], frame: Box) -> list[float]:
    """Return the top edge of each row, and the bottom edge of the last."""
    parts = (
        (rows[cell.row], part)
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
    """Set the height to 0 of rows without ink over which another one was pulled (by a negative space)."""
    for row in sorted(bands.keys() - inked, reverse=True):
        if row + 1 in bands and bands[row][1] > bands[row + 1][0] + SLACK:
            bands[row] = bands[row + 1][0], bands[row + 1][0]
        elif row - 1 in bands and bands[row][0] < bands[row - 1][1] - SLACK:
            bands[row] = bands[row - 1][1], bands[row - 1][1]
