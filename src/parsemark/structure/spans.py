"""Headers and spanning cells, snapped to the rows and columns that they cover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from parsemark.model import Box
from parsemark.structure.lines import Line
from parsemark.structure.parts import Part, PartKind, Rules

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
        """How many grid places it covers."""
        return max(0, self.row_end - self.row) * max(0, self.col_end - self.col)

    def overlaps(self, other: Span) -> bool:
        """Whether both cover a place."""
        shares_rows = max(self.row, other.row) < min(self.row_end, other.row_end)
        return shares_rows and max(self.col, other.col) < min(self.col_end, other.col_end)


def header_rows(parts: Sequence[Part], rows: Sequence[Line], rules: Rules) -> int:
    """How many leading rows are the header.

    The header's box takes the rows that it covers by half; what lies above the first of them is header too,
    and it ends at the first row that it does not take.
    """
    headers = [p for p in parts if p.kind is PartKind.COLUMN_HEADER and p.score >= rules.min_header_score]
    if not headers:
        return 0
    best = max(headers, key=lambda p: p.score)
    taken = _snapped(best.box.y0, best.box.y1, rows, rules.snap_share)
    if not taken:
        return 0
    end = taken[0] + 1
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
    """The cells that cover more than one place, disjoint; the lower-scored of two that overlap shrinks."""
    kinds = (PartKind.SPANNING_CELL, PartKind.PROJECTED_ROW_HEADER)
    seen = [p for p in parts if p.kind in kinds and p.score >= rules.min_span_score]
    chosen: list[Span] = []
    for part in sorted(seen, key=lambda p: -p.score):
        candidate = _snap(part, rows, columns, words, rules)
        span = None if candidate is None else _on_one_side(candidate, n_header)
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
        """Whether it holds a word a good part of which lies outside of the span that reaches into it."""
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
    """The lines that a span takes, without those at its ends into which it only reaches.

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


def _on_one_side(span: Span, n_header: int) -> Span:
    """A span lies in the header or in the body: of one that crosses the border the larger part stays."""
    if span.row < n_header < span.row_end:
        is_mostly_above = n_header - span.row >= span.row_end - n_header
        return replace(span, row_end=n_header) if is_mostly_above else replace(span, row=n_header)
    return span


def _shrunk(span: Span, better: Span) -> Span | None:
    """The largest part of `span` that is free of `better`."""
    if not span.overlaps(better):
        return span
    above, below = replace(span, row_end=better.row), replace(span, row=better.row_end)
    parts = above, below, replace(span, col_end=better.col), replace(span, col=better.col_end)
    best = max(parts, key=lambda part: part.places)
    return best if best.places > 1 else None
