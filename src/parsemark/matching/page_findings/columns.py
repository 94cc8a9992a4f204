"""Lines of columns that an output has in another order: read across the columns, or a later column first.

The page says which line follows which only where the order of its file and the places of the lines agree: a
line directly below another one and directly behind it in the file. A page whose file is itself written
across the columns says nothing about their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from parsemark.matching.page_evidence import PageEvidence
from parsemark.matching.words import WordComparison, counts
from parsemark.model import Box

_WORDS = 3  # words of a line of a column, and of another column between two lines that belong together
_LEAST = 3  # places on a page from which on its columns are mixed: one may be a note or a picture's text
_FAR = 300  # words between two lines that are searched for lines of another column
_OF_EACH = 2  # such places of each of two columns
_STEP = 3.5  # heights of a line from one line to the next one
_INDENT = 3.0  # heights of a line by which the left ends of two lines of a column may differ
_FULL, _AROUND = 0.8, 8
"""How far a line that goes on must reach, of the longest line around it in its column, and what is around."""
_MOST = 0.9  # share of the lines of two columns that must stand in the order of the columns
_BESIDE = 0.5  # share of the height of the lower one of two columns at which they stand side by side
_NEAR = 5.0  # heights of a line up to which a line of another column is beside two lines


class MixedColumns(NamedTuple):
    """Lines of a page whose columns the output mixes."""

    words: tuple[int, ...]  # of these lines, on the page
    between: tuple[int, ...]  # words of another column that stand between the first two of them in the output
    boxes: tuple[Box, ...]
    detail: str


class _Line(NamedTuple):
    words: Sequence[int]
    box: Box


def mixed_columns(evidence: PageEvidence) -> Iterator[MixedColumns]:
    """Yield the columns of a page that an output mixes, and columns that it has in another order."""
    found = evidence.comparison
    lines = [
        _Line(own, Box.hull(found.page[i].box for i in own))
        for own in found.cells
        if len(own) >= _WORDS
        and found.page[own[0]].line >= 0
        and not found.page[own[0]].edge
        and sum(counts(found.page[i].text) for i in own) >= _WORDS
    ]
    if max((line.box.x0 for line in lines), default=0.0) < min((line.box.x1 for line in lines), default=0.0):
        return  # one column
    owner = {i: k for k, line in enumerate(lines) for i in line.words}
    page_word = {j: i for i, j in enumerate(found.place) if j is not None}
    torn = {
        k: between
        for k, (one, other) in enumerate(pairwise(lines))
        if _goes_on(one, other)
        and _is_full(lines, k)
        and (between := _between(found, one, other, lines, owner, page_word))
    }
    if len(torn) >= _LEAST and _are_of_two_columns([lines[k].box for k in torn]):
        hull = Box.hull(line.box for k, line in enumerate(lines) if k in torn or k - 1 in torn)
        own = [line for line in lines if hull.y0 <= line.box.centre[1] <= hull.y1]
        yield _finding(own, next(iter(torn.values())), "columns mixed")
        return
    for column in _exchanged_columns(found, lines):
        yield _finding(column, (), "columns in another order")


def _are_of_two_columns(boxes: Sequence[Box]) -> bool:
    """Return whether some lines stand side by side: of mixed columns both are torn, of a row of cells the one
    with text that goes on.
    """
    left = min(boxes, key=lambda box: box.x1)
    n_right = sum(box.x0 >= left.x1 for box in boxes)
    return n_right >= _OF_EACH and len(boxes) - n_right >= _OF_EACH


def _finding(lines: Sequence[_Line], between: tuple[int, ...], detail: str) -> MixedColumns:
    words = tuple(i for line in lines for i in line.words)
    return MixedColumns(words, between, tuple(line.box for line in lines), detail)


def _exchanged_columns(found: WordComparison, lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Yield columns that the output has behind a later column beside them, but for a few lines."""
    columns = [column for column in _columns(lines) if len(column) >= _LEAST]
    hulls = [Box.hull(line.box for line in column) for column in columns]
    for k in range(len(columns) - 1):
        one, other = hulls[k : k + 2]
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        if one.x1 > other.x0 or high < _BESIDE * min(one.height, other.height):
            continue
        first, second = (_places(found, column) for column in columns[k : k + 2])
        n_few = int((1 - _MOST) * min(len(first), len(second)))
        if min(len(first), len(second)) >= _LEAST and first[n_few] > second[-1 - n_few]:
            yield columns[k]


def _columns(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Yield lines that follow each other in the file, each below the one before and not beside it."""
    column: list[_Line] = []
    for line in lines:
        if column:
            last = column[-1].box
            is_below = line.box.y0 > last.y0 and line.box.x0 < last.x1 and line.box.x1 > last.x0
            if not is_below:
                yield column
                column = []
        column.append(line)
    if column:
        yield column


def _places(found: WordComparison, column: Sequence[_Line]) -> list[int]:
    """Return where the lines of a column begin in the output, in order; lost lines have no place."""
    begins = (next((j for i in line.words if (j := found.place[i]) is not None), None) for line in column)
    return sorted(j for j in begins if j is not None)


def _goes_on(one: _Line, other: _Line) -> bool:
    """Return whether a line is the next one of the same column."""
    height = max(one.box.height, other.box.height)
    is_below = 0 < other.box.y0 - one.box.y0 <= _STEP * height
    return is_below and abs(other.box.x0 - one.box.x0) <= _INDENT * height


def _is_full(lines: Sequence[_Line], k: int) -> bool:
    """Return whether a line reaches the end of its column: cells of a table, which end there, seldom do."""
    box = lines[k].box
    near = (line.box for line in lines[max(0, k - _AROUND) : k + _AROUND + 1])
    longest = max(b.x1 for b in near if abs(b.x0 - box.x0) <= _INDENT * box.height)
    return box.x1 - box.x0 >= _FULL * (longest - box.x0)


def _between(
    found: WordComparison,
    one: _Line,
    other: _Line,
    lines: Sequence[_Line],
    owner: dict[int, int],
    page_word: dict[int, int],
) -> tuple[int, ...]:
    """Return the words of the output that stand between two lines and are of a line beside them."""
    last = next((j for i in reversed(one.words) if (j := found.place[i]) is not None), None)
    first = next((j for i in other.words if (j := found.place[i]) is not None), None)
    if last is None or first is None or not last < first:
        return ()
    both = Box.hull((one.box, other.box))
    height = max(one.box.height, other.box.height)
    strangers = tuple(
        j
        for j in range(last + 1, min(first, last + 1 + _FAR))
        if (i := page_word.get(j)) is not None
        and (k := owner.get(i)) is not None
        and _is_beside(lines[k].box, both, _NEAR * height)
    )
    return strangers if len(strangers) >= _WORDS else ()


def _is_beside(box: Box, lines: Box, reach: float) -> bool:
    is_apart = box.x0 >= lines.x1 or box.x1 <= lines.x0
    return is_apart and box.y1 >= lines.y0 - reach and box.y0 <= lines.y1 + reach
