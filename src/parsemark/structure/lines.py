"""Rows and columns: which boxes stand for one, and in which order they follow each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import NDArray

from parsemark.model import Box
from parsemark.structure.parts import Part, Rules
from parsemark.structure.words import Word

MIN_NEW_SHARE = 0.5
"""A box is a second sight of better ones unless over this share of the words in it is not in theirs yet."""

SAME = 0.67  # rows that share this much of the smaller are two sights of one (of equal ones: an IoU of .5)
CROWD = 1.25  # how often rows may cover the same place, on average, before they are taken for a crowd

MIN_LANES = 3  # so many columns at least must have a word on each line of a row that is to be several
THROUGH = 0.6  # and this share of those that have words at all: a value may be missing

THINNEST = 1e-6
"""Of all words near a border: what is thinner than this share of their extent no border goes through."""

WORD_SPACE = 0.75  # in heights of a word: what is nearer on the same line is the next word of one text


class LineAxis(Enum):
    """The direction in which lines follow each other."""

    ROWS = "y"
    COLUMNS = "x"

    def extent(self, box: Box) -> tuple[float, float]:
        """Start and end of a box in this direction."""
        return (box.y0, box.y1) if self is LineAxis.ROWS else (box.x0, box.x1)


@dataclass(frozen=True, slots=True)
class Line:
    """A row (from `start` to `end` in y) or a column (in x)."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Return extent."""
        return self.end - self.start

    def overlap(self, start: float, end: float) -> float:
        """Return how much of it lies between `start` and `end`."""
        return max(0.0, min(self.end, end) - max(self.start, start))


def choose_lines(parts: Sequence[Part], words: Sequence[Word], axis: LineAxis, rules: Rules) -> list[Line]:
    """Return the rows (or columns) of a table, in order.

    Where there are words, boxes are taken by their score and by how whole their words are in them; a box
    most of whose words are already taken is a second sight of the same line, and one without words is none.
    Where there are no words, boxes are taken by their score and those that overlap a better one are dropped.
    """
    if axis is LineAxis.ROWS and words and (lines := _lines_of_text(parts, words)):
        return lines
    chosen = _by_words(parts, words, axis, rules) if words else _by_overlap(parts, axis, rules)
    lines = [Line(*axis.extent(p.box)) for p in chosen]
    lines.sort(key=lambda line: (line.start + line.end, line.start))
    return _with_gaps_filled(lines, words, axis, rules) if rules.fill_gaps and words else lines


def _lines_of_text(parts: Sequence[Part], words: Sequence[Word]) -> list[Line] | None:
    """Return the lines of text, where the rows are a crowd: dense tables make the network see one row in two
    places.

    Boxes that overlap although second sights are removed, about as many as there are lines of text, say that
    each line of text is a row but not where it is. None where the boxes can be trusted.
    """
    distinct: list[Line] = []
    for line in (Line(p.box.y0, p.box.y1) for p in sorted(parts, key=lambda p: -p.score)):
        if all(line.overlap(o.start, o.end) <= SAME * min(line.length, o.length) for o in distinct):
            distinct.append(line)
    covered = sum(g.length for g in _groups(distinct))
    if covered <= 0 or sum(line.length for line in distinct) < CROWD * covered:
        return None
    lines = _groups([Line(w.box.y0, w.box.y1) for w in words if w.box.height > 0])
    return lines if len(lines) <= CROWD * len(distinct) else None


def fitted(lines: Sequence[Line], extents: Sequence[tuple[float, float]]) -> list[Line]:
    """Return the lines with the borders between them where they cut words least, for the sake of these words.

    A network that sees a dense table half a line off cuts each line of text in two: which row takes a word
    would then depend on how tall it is. A border stays between the middles of its two lines; of equally good
    places the nearest to where it was is taken. The lines are in order and may overlap, or leave gaps; words
    have their start and end in the direction in which the lines follow each other.
    """
    if not lines:
        return []
    starts, ends = np.array(extents, dtype=np.float64).reshape(-1, 2).T
    borders = [lines[0].start]
    for before, after in pairwise(lines):
        seen = max(borders[-1], (before.end + after.start) / 2)
        low = min(seen, max(borders[-1], (before.start + before.end) / 2))
        high = max(seen, (after.start + after.end) / 2)
        near = (ends > low) & (starts < high) & (ends > starts)
        sides = np.concatenate([starts[near], ends[near]])
        places = np.unique([seen, *sides[(low < sides) & (sides < high)]])
        depths = cut_depths(places, starts[near], ends[near])
        keyed = [(round(d, 6), abs(at - seen), at) for d, at in zip(depths, places.tolist(), strict=True)]
        borders.append(min(keyed)[2])
    borders.append(max(borders[-1], lines[-1].end))
    return [Line(a, max(a, b)) for a, b in pairwise(borders)]


def cut_depths(
    borders: NDArray[np.float64], starts: NDArray[np.float64], ends: NDArray[np.float64]
) -> list[float]:
    """Return how deep each border cuts into words: of each word the smaller part, in shares of it.

    That share rises from a word's start to its middle and falls to its end, so the sum over all words bends
    only there: it is the sum of the bends before a border, however many words there are.
    """
    if not len(starts):
        return [0.0] * len(borders)
    origin = starts.min()  # near 0, little is lost when large sums cancel
    is_cut = ends - starts > THINNEST * (ends.max() - origin)
    starts, ends = starts[is_cut], ends[is_cut]
    slopes = 1 / (ends - starts)
    bends = np.concatenate([starts, (starts + ends) / 2, ends]) - origin
    turns = np.concatenate([slopes, -2 * slopes, slopes])
    order = np.argsort(bends)
    turned = np.concatenate([[0.0], np.cumsum(turns[order])])
    moment = np.concatenate([[0.0], np.cumsum((turns * bends)[order])])
    passed = np.searchsorted(bends[order], borders - origin)
    depths: list[float] = np.maximum(0.0, turned[passed] * (borders - origin) - moment[passed]).tolist()
    return depths


def split_rows(
    rows: Sequence[Line], columns: Sequence[Line], words: Sequence[Word], first: int
) -> list[Line]:
    """Return the rows, those that the network took together taken apart.

    A row is several if the lines of text in it go through: the first column and most others have a word on
    each of them. A cell whose text is wrapped has more lines than its neighbours; and in a table whose rows
    mostly have several lines, one such row says nothing. Rows before the `first` stay as they are: labels in
    a header are wrapped together.
    """
    held: list[list[tuple[int, Line]]] = [[] for _ in rows]
    for word in words:
        start, end = LineAxis.ROWS.extent(word.box)
        left, right = LineAxis.COLUMNS.extent(word.box)
        at = max(range(len(rows)), key=lambda i: rows[i].overlap(start, end))
        column = max(range(len(columns)), key=lambda i: columns[i].overlap(left, right))
        if end > start and rows[at].overlap(start, end) > 0:
            held[at].append((column, Line(start, end)))
    bands = [_groups([line for _, line in inside]) for inside in held]
    counts = [len(b) for b in bands[first:] if b]
    if not counts or sorted(counts)[len(counts) // 2] > 1:
        return list(rows)
    split: list[Line] = []
    for number, (row, inside, lines) in enumerate(zip(rows, held, bands, strict=True)):
        if number < first or len(lines) < 2 or not _go_through(inside, lines):
            split.append(row)
            continue
        edges = [row.start, *((a.end + b.start) / 2 for a, b in pairwise(lines)), row.end]
        split += [Line(a, max(a, b)) for a, b in pairwise(edges)]
    return split


def _go_through(inside: Sequence[tuple[int, Line]], lines: Sequence[Line]) -> bool:
    """Return whether the lines of text of a row have words in its first column and most of the others."""
    levels: dict[int, set[int]] = {}
    for column, word in inside:
        level = max(range(len(lines)), key=lambda i: lines[i].overlap(word.start, word.end))
        levels.setdefault(column, set()).add(level)
    whole = {column for column, seen in levels.items() if len(seen) == len(lines)}
    return min(levels) in whole and len(whole) >= max(MIN_LANES, THROUGH * len(levels))


def _by_words(parts: Sequence[Part], words: Sequence[Word], axis: LineAxis, rules: Rules) -> list[Part]:
    candidates = []
    for part in parts:
        shares = {i: s for i, w in enumerate(words) if (s := w.box.share_inside(part.box)) > 0}
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


def _by_overlap(parts: Sequence[Part], axis: LineAxis, rules: Rules) -> list[Part]:
    allowed = rules.row_overlap if axis is LineAxis.ROWS else rules.column_overlap
    chosen: list[Part] = []
    for part in sorted(parts, key=lambda p: (-p.score, axis.extent(p.box))):
        mine = Line(*axis.extent(part.box))
        others = (Line(*axis.extent(p.box)) for p in chosen)
        limits = [(o, allowed * max(1e-9, min(mine.length, o.length))) for o in others]
        if all(mine.overlap(o.start, o.end) <= limit for o, limit in limits):
            chosen.append(part)
    return chosen


def _with_gaps_filled(lines: list[Line], words: Sequence[Word], axis: LineAxis, rules: Rules) -> list[Line]:
    """Return the lines, and one for each group of words between two of them, or at the ends, that none
    covers.
    """
    if not lines:
        return lines
    extents = [axis.extent(word.box) for word in words]
    least = [rules.word_share * max(end - start, 1e-9) for start, end in extents]
    filled: list[Line] = []
    for before, after in pairwise([None, *lines, None]):
        gap = Line(-inf if before is None else before.end, inf if after is None else after.start)
        free = [k for k, extent in enumerate(extents) if gap.overlap(*extent) > least[k]]
        if axis is LineAxis.ROWS:
            filled += _groups([Line(*extents[i]) for i in free])
        else:
            filled += _columns_between(free, words)
        if after is not None:
            filled.append(after)
    return filled


def _columns_between(free: Sequence[int], words: Sequence[Word]) -> list[Line]:
    """Return the columns that words outside of all columns make: by what stands together on a line of text.

    Words that follow each other are one piece, else each place in a line of several words would be a column
    of its own. Where most pieces only continue text that stands beside them there is no column.
    """
    pieces = _pieces([words[i].box for i in free])
    inside = set(free)
    others = [word.box for i, word in enumerate(words) if i not in inside]
    found = []
    for group in _groups([Line(piece.x0, piece.x1) for piece in pieces]):
        members = [piece for piece in pieces if group.start <= piece.x0 and piece.x1 <= group.end]
        continuing = sum(any(_beside(piece, other) for other in others) for piece in members)
        if 2 * continuing <= len(members):
            found.append(group)
    return found


def _pieces(boxes: Sequence[Box]) -> list[Box]:
    """Return the hulls of boxes that follow each other on a line of text."""
    pieces: list[Box] = []
    for box in sorted(boxes, key=lambda b: (b.x0, b.y0)):
        for number, piece in enumerate(pieces):
            if _beside(piece, box):
                pieces[number] = Box.hull((piece, box))
                break
        else:
            pieces.append(box)
    return pieces


def _beside(one: Box, other: Box) -> bool:
    gap = max(one.x0, other.x0) - min(one.x1, other.x1)
    level = min(one.y1, other.y1) - max(one.y0, other.y0)
    lower = min(one.height, other.height)
    return gap <= WORD_SPACE * lower and level > 0.5 * lower


def _groups(spans: list[Line]) -> list[Line]:
    """Return the hulls of spans that overlap each other."""
    groups: list[Line] = []
    for span in sorted(spans, key=lambda s: s.start):
        if groups and span.start < groups[-1].end - 0.25 * min(span.length, groups[-1].length):
            groups[-1] = Line(groups[-1].start, max(groups[-1].end, span.end))
        else:
            groups.append(span)
    return groups
