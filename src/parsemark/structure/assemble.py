"""From parts and words to a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from parsemark.model import Box, Cell, Table
from parsemark.structure.lines import Line, LineAxis, choose_lines, fitted, split_rows
from parsemark.structure.parts import RULES, Frame, Part, PartKind, Rules
from parsemark.structure.words import Word, as_tall_as_their_lines, join_words


def build_table(
    parts: Sequence[Part], words: Sequence[Word], frame: Frame | None = None, rules: Rules = RULES
) -> Table:
    """Return the table that a structure model's boxes and a page's words make.

    Parts are in the coordinates of the upright table, words in those of the page, unless there is no frame
    that says where the table lies on it. Words outside of the table are left out; their order, that of the
    source, decides only where two lie at the same place. Cells have their boxes on the page; without a row or
    a column the table is 0 × 0.
    """
    place = frame if frame is not None else Frame(Box(0.0, 0.0, 0.0, 0.0))
    tables = [p for p in parts if p.kind is PartKind.TABLE]
    outline = max(tables, key=lambda p: p.score).box if tables else None
    members = [p for p in parts if outline is None or p.box.share_inside(outline) >= rules.member_share]
    if not members:
        return Table(0, 0)
    area = Box.hull(p.box for p in members)
    if frame is not None:
        # A first row often reaches into the caption.
        top, bottom = max(area.y0, frame.upright.y0), min(area.y1, frame.upright.y1)
        area = replace(area, y0=top, y1=bottom) if top < bottom else area
    upright = [replace(word, box=place.from_page(word.box)) for word in words]
    placed = as_tall_as_their_lines(upright)
    within = [i for i, word in enumerate(placed) if word.box.share_inside(area) >= rules.word_share]
    inside = [placed[i] for i in within]
    rows, columns = (
        choose_lines([p for p in members if p.kind is kind], inside, axis, rules)
        for kind, axis in ((PartKind.ROW, LineAxis.ROWS), (PartKind.COLUMN, LineAxis.COLUMNS))
    )
    if not rows or not columns:
        return Table(0, 0)
    n_header = header_rows(members, rows, rules)
    if rules.split_rows:
        rows = split_rows(rows, columns, inside, max(n_header, 1))
    spans = choose_spans(members, rows, columns, [word.box for word in inside], n_header, rules)
    return _filled(rows, columns, spans, n_header, [(placed[i].box, upright[i]) for i in within], place)


def _filled(
    rows: Sequence[Line],
    columns: Sequence[Line],
    spans: Sequence[Span],
    n_header: int,
    words: Sequence[tuple[Box, Word]],
    place: Frame,
) -> Table:
    """Return the table; each word goes to the cell that holds the box given with it."""
    taken = {(row, col) for s in spans for row in range(s.row, s.row_end) for col in range(s.col, s.col_end)}
    free_places = (place for place in product(range(len(rows)), range(len(columns))) if place not in taken)
    blocks = [*spans, *(Span(row, row + 1, col, col + 1) for row, col in free_places)]
    boxes = [_box(block, rows, columns) for block in blocks]
    seen = [span.seen for span in spans if span.seen is not None]
    free = [box for box, _ in words if not any(box.share_inside(span) > 0.5 for span in seen)]
    near_rows = fitted(rows, [LineAxis.ROWS.extent(box) for box in free])
    near_columns = fitted(columns, [LineAxis.COLUMNS.extent(box) for box in free])
    near = [_box(block, near_rows, near_columns) for block in blocks]
    held: list[list[Word]] = [[] for _ in blocks]
    for box, word in words:
        held[_best(box, near, blocks)].append(word)
    cells = []
    for block, box, inside in zip(blocks, boxes, held, strict=True):
        spans_of = block.row_end - block.row, block.col_end - block.col
        header = block.row < n_header or block.projected
        cells.append(Cell(block.row, block.col, join_words(inside), *spans_of, header, place.to_page(box)))
    table = Table(len(rows), len(columns), tuple(cells))
    return _without_empty_lines(table) if words else table


def _without_empty_lines(table: Table) -> Table:
    """Return the table without the rows and columns that got no word in the end, and that no span crosses."""
    rows = {r for c in table.cells if c.text or c.rowspan > 1 for r in range(c.row, c.row + c.rowspan)}
    columns = {k for c in table.cells if c.text or c.colspan > 1 for k in range(c.col, c.col + c.colspan)}
    if len(rows) == table.n_rows and len(columns) == table.n_cols:
        return table
    return table.without(set(range(table.n_rows)) - rows, set(range(table.n_cols)) - columns)


def _box(block: Span, rows: Sequence[Line], columns: Sequence[Line]) -> Box:
    x0, x1 = columns[block.col].start, columns[block.col_end - 1].end
    y0, y1 = rows[block.row].start, rows[block.row_end - 1].end
    return Box(x0, y0, max(x0, x1), max(y0, y1))


def _best(word: Box, boxes: Sequence[Box], blocks: Sequence[Span]) -> int:
    """Return the cell that covers most of a word, else the nearest one.

    A spanning cell also has what lies where the network saw it: its last line may reach over its last row.
    """
    shares = [word.intersection_area(box) for box in boxes]
    best = max(range(len(boxes)), key=lambda i: shares[i])
    for i, block in enumerate(blocks):
        if block.seen is not None and word.intersection_area(block.seen) > shares[best] + 1e-6:
            best, shares[i] = i, word.intersection_area(block.seen)
    if shares[best] > 0:
        return best
    x, y = word.centre
    across = [max(box.x0 - x, 0.0, x - box.x1) for box in boxes]
    down = [max(box.y0 - y, 0.0, y - box.y1) for box in boxes]
    return min(range(len(boxes)), key=lambda i: across[i] ** 2 + down[i] ** 2)


SURE = 0.75  # a span that covers less than this of its outermost row or column may only reach into it


@dataclass(frozen=True, slots=True)
class Span:
    """A block of grid places: rows `row` to `row_end - 1`, columns `col` to `col_end - 1`."""

    row: int
    row_end: int
    col: int
    col_end: int
    projected: bool = False
    seen: Box | None = None  # where the network saw it

    @property
    def places(self) -> int:
        """Return how many grid places it covers."""
        return max(0, self.row_end - self.row) * max(0, self.col_end - self.col)

    def overlaps(self, other: Span) -> bool:
        """Return whether both cover a place."""
        shares_rows = max(self.row, other.row) < min(self.row_end, other.row_end)
        return shares_rows and max(self.col, other.col) < min(self.col_end, other.col_end)


def header_rows(parts: Sequence[Part], rows: Sequence[Line], rules: Rules) -> int:
    """Return how many leading rows are the header.

    The header's box takes the rows that it covers by half; what lies above the first of them is header too,
    and it ends at the first row that it does not take.
    """
    headers = [p for p in parts if p.kind is PartKind.COLUMN_HEADER and p.score >= rules.min_header_score]
    best = max(headers, key=lambda p: p.score, default=None)
    taken = [] if best is None else _snapped(best.box.y0, best.box.y1, rows, rules.snap_share)
    end = taken[0] + 1 if taken else 0
    while end in taken:
        end += 1
    return end


def choose_spans(
    parts: Sequence[Part],
    rows: Sequence[Line],
    columns: Sequence[Line],
    words: Sequence[Box],
    n_header: int,
    rules: Rules,
) -> list[Span]:
    """Return the cells that cover more than one place, disjoint; the lower-scored of two that overlap
    shrinks.
    """
    kinds = (PartKind.SPANNING_CELL, PartKind.PROJECTED_ROW_HEADER)
    seen = [p for p in parts if p.kind in kinds and p.score >= rules.min_span_score]
    chosen: list[Span] = []
    for part in sorted(seen, key=lambda p: -p.score):
        span = _snap(part, rows, columns, words, rules)
        if span is not None and span.row < n_header < span.row_end:
            # It lies in the header or in the body: of one that crosses the border the larger part stays.
            is_mostly_above = n_header - span.row >= span.row_end - n_header
            span = replace(span, row_end=n_header) if is_mostly_above else replace(span, row=n_header)
        for other in chosen:
            span = None if span is None else _shrunk(span, other)
        if span is not None and span.places > 1:
            chosen.append(span)
    return chosen


def _snap(
    part: Part, rows: Sequence[Line], columns: Sequence[Line], words: Sequence[Box], rules: Rules
) -> Span | None:
    box = part.box
    taken = _snapped(box.y0, box.y1, rows, rules.snap_share)
    across = _snapped(box.x0, box.x1, columns, rules.snap_share)
    if not taken or not across:
        return None
    left, right = columns[across[0]].start, columns[across[-1]].end
    top, bottom = rows[taken[0]].start, rows[taken[-1]].end

    def cuts(place: Box) -> bool:
        """Return whether it holds a word a good part of which lies outside of the span that reaches into
        it.
        """
        return any(w.share_inside(place) >= SURE and w.share_inside(box) < SURE for w in words)

    taken = _without_doubtful_ends(
        taken, rows, (box.y0, box.y1), lambda line: cuts(Box(left, line.start, right, line.end))
    )
    across = _without_doubtful_ends(
        across, columns, (box.x0, box.x1), lambda line: cuts(Box(line.start, top, line.end, bottom))
    )
    projected = part.kind is PartKind.PROJECTED_ROW_HEADER
    if projected and len(columns) > 1:
        across = [0, len(columns) - 1]  # a projected row header is the only content of its row
    return Span(taken[0], taken[-1] + 1, across[0], across[-1] + 1, projected, box)


def _without_doubtful_ends(
    taken: list[int], lines: Sequence[Line], extent: tuple[float, float], cuts: Callable[[Line], bool]
) -> list[int]:
    """Return the lines that a span takes, without those at its ends into which it only reaches.

    It covers half of such a line and cuts text there that has a line of its own: two rows would become one.
    """
    kept = list(taken)
    while len(kept) > 1:
        end = min((0, -1), key=lambda i: lines[kept[i]].overlap(*extent) / max(lines[kept[i]].length, 1e-9))
        line = lines[kept[end]]
        if line.overlap(*extent) >= SURE * line.length or not cuts(line):
            break
        kept.pop(end)
    return kept


def _snapped(start: float, end: float, lines: Sequence[Line], share: float) -> list[int]:
    return [i for i, line in enumerate(lines) if line.overlap(start, end) >= share * max(line.length, 1e-9)]


def _shrunk(span: Span, better: Span) -> Span | None:
    """Return the largest part of `span` that is free of `better`."""
    if not span.overlaps(better):
        return span
    above, below = replace(span, row_end=better.row), replace(span, row=better.row_end)
    parts = above, below, replace(span, col_end=better.col), replace(span, col=better.col_end)
    best = max(parts, key=lambda part: part.places)
    return best if best.places > 1 else None
