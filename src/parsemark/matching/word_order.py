"""In which order the words of a page must stand, however it is read, and which of them do not.

Only what both the place on the page and the order of the file say is asked for, so that tables may be read by
rows or by columns. Turned text is put in order by itself, turned back.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

from parsemark.model import Box

_WIDE = 1.0  # heights of a letter between two words of a line from which on they are two cells
_FAR = 8.0  # the same between two lines of which one follows the other
_LONG = 4  # letters from which on the shape of a word says whether it is turned
_ABOVE = 3  # how many cells above one come before it
_AROUND = 100  # Words before and behind one that say how far all around it went
_AT_ONCE = 256  # cells that are compared with all others at once

Stretches = tuple[list[int], list[int]]


@dataclass(frozen=True, slots=True)
class PageAtom:
    """A word of a page as it is compared."""

    text: str
    box: Box
    line: int  # below 0: it belongs to no line, as what a form's field says
    edge: bool = False


def neighbours(page: Sequence[PageAtom]) -> Iterator[Stretches]:
    """Stretches of words of which the first comes before the second in every way to read a page.

    The first is left of the second, or above it; both the place on the page and the order of the file must
    say so, and lines must run from left to right.
    """
    turns = _turns(page)
    for degrees in sorted(set(turns)):
        boxes = {i: atom.box.turned(degrees) for i, atom in enumerate(page) if turns[i] == degrees}
        beside = [(boxes[i], boxes[k]) for i, k in pairwise(boxes) if page[i].line == page[k].line]
        steps = [second.x0 > first.x0 for first, second in beside if first != second]
        if 2 * sum(steps) < len(steps):
            continue
        cells = [cell for cell in _cells(page, boxes) if not page[cell[0]].edge and page[cell[0]].line >= 0]
        hulls = [boxes[cell[0]] if len(cell) == 1 else Box.hull(boxes[i] for i in cell) for cell in cells]
        for cell in cells:
            yield from (([i], [k]) for i, k in pairwise(cell))
        for i, k in _before(hulls):
            one, other = cells[i], cells[k]
            yield one, other
            if len(one) + len(other) > 2:
                yield one[-1:], other[:1]


def _turns(page: Sequence[PageAtom]) -> list[int]:
    """By how many degrees each word's line is to be turned to run to the right; usually by none.

    A line runs from its first word to its last one; a single word is as its shape says, and runs upwards.
    """
    turns: list[int] = []
    for _, line in groupby(page, key=lambda atom: atom.line):
        own = list(line)
        (x0, y0), (x1, y1) = own[0].box.centre, own[-1].box.centre
        across, down = x1 - x0, y1 - y0
        if own[0].box == own[-1].box and len(own[0].text) >= _LONG:
            across, down = own[0].box.width, -own[0].box.height
        turns += [0 if abs(across) >= abs(down) else 90 if down < 0 else 270] * len(own)
    return turns


def _cells(page: Sequence[PageAtom], boxes: Mapping[int, Box]) -> list[list[int]]:
    """Words of a line that stand together: a line of prose, or what a cell of a table says."""
    cells: list[list[int]] = []
    for i, box in boxes.items():
        if cells and page[cells[-1][-1]].line == page[i].line:
            last = boxes[cells[-1][-1]]
            gap = box.x0 - last.x1
            if box == last or -last.height <= gap <= _WIDE * max(last.height, box.height):
                cells[-1].append(i)
                continue
        cells.append([i])
    return cells


def _before(hulls: Sequence[Box]) -> Iterator[tuple[int, int]]:
    """Of each box, the next ones above and the next one left of it that the file has before it."""
    import numpy as np

    x0, y0, x1, y1 = np.array([(b.x0, b.y0, b.x1, b.y1) for b in hulls]).reshape(-1, 4).T
    height = y1 - y0
    for start in range(0, len(hulls), _AT_ONCE):
        k = np.arange(start, min(start + _AT_ONCE, len(hulls)))[:, None]
        earlier, lower = np.arange(len(hulls)) < k, np.minimum(height, height[k])
        gap, shared = y0[k] - y1, np.minimum(y1, y1[k]) - np.maximum(y0, y0[k])
        above = earlier & (gap >= -0.3 * height) & (gap <= _FAR * lower)
        above &= np.minimum(x1, x1[k]) > np.maximum(x0, x0[k])
        beside = earlier & (x1 <= x0[k]) & (2 * shared >= lower)
        own, over = np.nonzero(above)
        nearest = np.lexsort((-y1[over], own))
        own, over = own[nearest], over[nearest]
        # The nearest may be lost, and then says nothing.
        near = np.arange(len(own)) - np.searchsorted(own, own) < _ABOVE
        yield from zip(over[near].tolist(), (own[near] + start).tolist(), strict=True)
        has_left = np.flatnonzero(beside.any(axis=1))
        left = np.argmax(np.where(beside[has_left], x1, -np.inf), axis=1)
        yield from zip(left.tolist(), (has_left + start).tolist(), strict=True)


def moved(pairs: Sequence[Stretches], place: Sequence[int | None]) -> Iterator[int]:
    """Words of stretches that stand before what they follow.

    Of both, that one has moved which went farther from its place: what stands between two paragraphs that
    change places is out of order with both, and has not moved. If both went equally far, the smaller one.

    Of each pair of stretches the first comes before the second; `place` is where each word of the page surely
    stands in the output.
    """
    medians: dict[tuple[int, int], float | None] = {}

    def where(cell: list[int]) -> float | None:
        if len(cell) == 1:
            return place[cell[0]]
        key = cell[0], len(cell)
        if key not in medians:
            places = [at for i in cell if (at := place[i]) is not None]
            medians[key] = median(places) if 2 * len(places) >= len(cell) else None
        return medians[key]

    ways: dict[int, float] = {}
    for one, other in pairs:
        first, second = where(one), where(other)
        if first is not None and second is not None and first > second:
            ways = ways or _ways(place)
            went = [-median(ways[i] for i in cell if i in ways) for cell in (one, other)]
            yield from min(zip(went, (len(one), len(other)), (one, other), strict=True))[2]


def _ways(place: Sequence[int | None]) -> dict[int, float]:
    """How far each word went from its place among those of the page, beyond what most around it went."""
    import numpy as np

    here = [i for i, at in enumerate(place) if at is not None]
    went = np.argsort(np.argsort([place[i] or 0 for i in here])) - np.arange(len(here))
    around = np.lib.stride_tricks.sliding_window_view(np.pad(went, _AROUND, "symmetric"), 2 * _AROUND + 1)
    return dict(zip(here, np.abs(went - np.median(around, axis=1)).tolist(), strict=True))
