"""From parts and words to a table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from parsemark.model import Box, Cell, Table
from parsemark.structure.lines import Line, LineAxis, choose_lines, fitted, split_rows
from parsemark.structure.parts import RULES, Frame, Part, PartKind, Rules
from parsemark.structure.spans import Span, choose_spans, header_rows
from parsemark.structure.words import Word, as_tall_as_their_lines, join_words


def build_table(
    parts: Sequence[Part], words: Sequence[Word], frame: Frame | None = None, rules: Rules = RULES
) -> Table:
    """The table that a structure model's boxes and a page's words make.

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
    """The table; each word goes to the cell that holds the box given with it."""
    blocks = list(_blocks(len(rows), len(columns), spans))
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
    """The table without the rows and columns that got no word in the end, and that no span crosses."""
    rows = {r for c in table.cells if c.text or c.rowspan > 1 for r in range(c.row, c.row + c.rowspan)}
    columns = {k for c in table.cells if c.text or c.colspan > 1 for k in range(c.col, c.col + c.colspan)}
    if len(rows) == table.n_rows and len(columns) == table.n_cols:
        return table
    return table.without(set(range(table.n_rows)) - rows, set(range(table.n_cols)) - columns)


def _blocks(n_rows: int, n_cols: int, spans: Sequence[Span]) -> Iterator[Span]:
    """The spans, and each place that none of them covers."""
    taken = {(row, col) for s in spans for row in range(s.row, s.row_end) for col in range(s.col, s.col_end)}
    yield from spans
    free = (place for place in product(range(n_rows), range(n_cols)) if place not in taken)
    yield from (Span(row, row + 1, col, col + 1) for row, col in free)


def _box(block: Span, rows: Sequence[Line], columns: Sequence[Line]) -> Box:
    x0, x1 = columns[block.col].start, columns[block.col_end - 1].end
    y0, y1 = rows[block.row].start, rows[block.row_end - 1].end
    return Box(x0, y0, max(x0, x1), max(y0, y1))


def _best(word: Box, boxes: Sequence[Box], blocks: Sequence[Span]) -> int:
    """The cell that covers most of a word, else the nearest one.

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
