"""Rows and columns: which boxes stand for one, and in which order they follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from parsemark.model import Box
from parsemark.structure.parts import Part, Rules
from parsemark.structure.words import Word

MIN_NEW_SHARE = 0.5
"""A box is a second sight of better ones unless over this share of the words in it is not in theirs yet."""

SAME = 0.67
"""Rows that share this much of the smaller are two sights of one (an IoU of a half, for equal ones)."""
CROWD = 1.25
"""How often rows may cover the same place, on average, before they are taken for a crowd."""


class Axis(Enum):
    """The direction in which lines follow each other."""

    ROWS = "y"
    COLUMNS = "x"

    def extent(self, box: Box) -> tuple[float, float]:
        """Start and end of a box in this direction."""
        return (box.y0, box.y1) if self is Axis.ROWS else (box.x0, box.x1)


@dataclass(frozen=True, slots=True)
class Line:
    """A row (from `start` to `end` in y) or a column (in x)."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Extent."""
        return self.end - self.start

    def overlap(self, start: float, end: float) -> float:
        """How much of it lies between `start` and `end`."""
        return max(0.0, min(self.end, end) - max(self.start, start))


def share_inside(inner: Box, outer: Box) -> float:
    """The share of `inner` that lies in `outer`; a box without area counts by its middle."""
    if inner.area > 0:
        return inner.intersection_area(outer) / inner.area
    x, y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
    return float(outer.x0 <= x <= outer.x1 and outer.y0 <= y <= outer.y1)


def choose_lines(parts: Sequence[Part], words: Sequence[Word], axis: Axis, rules: Rules) -> list[Line]:
    """The rows (or columns) of a table, in order.

    Where there are words, boxes are taken by their score and by how whole their words are in them; a box
    most of whose words are already taken is a second sight of the same line, and one without words is none.
    Where there are no words, boxes are taken by their score and those that overlap a better one are dropped.
    """
    if axis is Axis.ROWS and words and (lines := _lines_of_text(parts, words)):
        return lines
    chosen = _by_words(parts, words, axis, rules) if words else _by_overlap(parts, axis, rules)
    lines = sorted(
        (Line(*axis.extent(p.box)) for p in chosen), key=lambda line: (line.start + line.end, line.start)
    )
    return _with_gaps_filled(lines, words, axis, rules) if rules.fill_gaps and words else lines


def _lines_of_text(parts: Sequence[Part], words: Sequence[Word]) -> list[Line] | None:
    """The lines of text, where the rows are a crowd: dense tables make the network see one row in two places.

    Boxes that overlap although second sights are removed, about as many as there are lines of text, say that
    each line of text is a row but not where it is. None where the boxes can be trusted.
    """
    extents = [Line(p.box.y0, p.box.y1) for p in sorted(parts, key=lambda p: -p.score)]
    distinct: list[Line] = []
    for line in extents:
        if all(line.overlap(o.start, o.end) <= SAME * min(line.length, o.length) for o in distinct):
            distinct.append(line)
    covered = sum(g.length for g in _groups(distinct))
    if covered <= 0 or sum(line.length for line in distinct) < CROWD * covered:
        return None
    lines = _groups([Line(w.box.y0, w.box.y1) for w in words if w.box.height > 0])
    return lines if len(lines) <= CROWD * len(distinct) else None


def _by_words(parts: Sequence[Part], words: Sequence[Word], axis: Axis, rules: Rules) -> list[Part]:
    candidates = []
    for part in parts:
        shares = {i: s for i, w in enumerate(words) if (s := share_inside(w.box, part.box)) > 0}
        if any(share >= rules.word_share for share in shares.values()):
            # A box that lies between two lines of text cuts the words of both: it must not win by its score.
            wholeness = sum(s * s for s in shares.values()) / sum(shares.values())
            candidates.append((-part.score * wholeness, axis.extent(part.box), part, shares))
    covered = dict.fromkeys(range(len(words)), 0.0)
    chosen = []
    for _, _, part, shares in sorted(candidates, key=lambda c: c[:2]):
        # A word of a spanning cell lies half in each of two rows: each of them adds its half.
        added = sum(min(share, 1.0 - covered[i]) for i, share in shares.items())
        if added > MIN_NEW_SHARE * sum(shares.values()):
            chosen.append(part)
            for i, share in shares.items():
                covered[i] = min(1.0, covered[i] + share)
    return chosen


def _by_overlap(parts: Sequence[Part], axis: Axis, rules: Rules) -> list[Part]:
    allowed = rules.row_overlap if axis is Axis.ROWS else rules.column_overlap
    chosen: list[Part] = []
    for part in sorted(parts, key=lambda p: (-p.score, axis.extent(p.box))):
        mine = Line(*axis.extent(part.box))
        others = [Line(*axis.extent(p.box)) for p in chosen]
        if all(
            mine.overlap(o.start, o.end) <= allowed * max(1e-9, min(mine.length, o.length)) for o in others
        ):
            chosen.append(part)
    return chosen


def _with_gaps_filled(lines: list[Line], words: Sequence[Word], axis: Axis, rules: Rules) -> list[Line]:
    """The lines, and one for each group of words between two of them that none of them covers."""
    filled = lines[:1]
    for before, after in pairwise(lines):
        inside = []
        for word in words:
            start, end = axis.extent(word.box)
            length = max(end - start, 1e-9)
            free = Line(before.end, after.start).overlap(start, end) if after.start > before.end else 0.0
            if free / length > rules.word_share:
                inside.append(Line(start, end))
        filled += [*_groups(inside), after]
    return filled


def _groups(spans: list[Line]) -> list[Line]:
    """The hulls of spans that overlap each other."""
    groups: list[Line] = []
    for span in sorted(spans, key=lambda s: s.start):
        if groups and span.start < groups[-1].end - 0.25 * min(span.length, groups[-1].length):
            groups[-1] = Line(groups[-1].start, max(groups[-1].end, span.end))
        else:
            groups.append(span)
    return groups
