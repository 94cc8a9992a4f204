"""Which part of its page a text belongs to: body, table, note, or header and footer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Literal

from parsemark.matching.page_findings.flattened import cells_of
from parsemark.model import Box
from parsemark.pdf import SeenPage, SeenWord

Region = Literal["", "body", "table", "note", "header", "footer"]
_EDGE = 0.07  # of the page's height: text so near to its top or end is a header or footer
_SMALL, _LOW = 0.92, 0.55
"""Height of a note's text in heights of the page's text; share of the page above every note."""
_GAP = 1.3  # heights of a line between two cells
_ALIGNED = 3.0  # points by which edges of cells of one column differ
_SHORT_CELL = 4  # words of a cell that is not a line of a column of prose
_ROWS = 3  # rows from which on aligned cells are a table


class PageRegions:
    """The regions of one page, found when first asked for."""

    def __init__(self, seen: SeenPage) -> None:
        self._height = seen.height
        self._words = [word for word in seen.words if word.shown and word.line >= 0]

    def of(self, boxes: Sequence[Box]) -> Region:
        """Return the region of most of these boxes."""
        found = [self._region(box) for box in boxes]
        return max(found, key=found.count) if found else ""

    def _region(self, box: Box) -> Region:
        if any(top <= box.centre[1] <= bottom for top, bottom in self._tables):
            return "table"
        if box.y1 < _EDGE * self._height:
            return "header"
        if box.y0 > (1 - _EDGE) * self._height:
            return "footer"
        return "note" if box.y0 >= self._notes_from else "body"

    @cached_property
    def _rows(self) -> list[list[SeenWord]]:
        """Words side by side, from top to bottom and from left to right."""
        # Leaders and other low signs are apart here: with them, lines of contents would look like a table.
        rows: list[list[SeenWord]] = []
        for word in sorted(self._words, key=lambda word: word.box.centre[1]):
            if rows and word.box.centre[1] < rows[-1][0].box.y1 and word.box.y0 < rows[-1][0].box.centre[1]:
                rows[-1].append(word)
            else:
                rows.append([word])
        return [sorted(row, key=lambda word: word.box.x0) for row in rows]

    @cached_property
    def _tables(self) -> list[tuple[float, float]]:
        """Top and bottom of rows of short cells whose edges are aligned with those of the next row."""
        found: list[tuple[float, float]] = []
        run: list[list[SeenWord]] = []
        for row, following in pairwise([*self._rows, []]):
            run = [*run, row] if not run or _is_aligned(run[-1], row) else [row]
            if len(run) >= _ROWS and not (following and _is_aligned(row, following)):
                found.append((min(w.box.y0 for w in run[0]), max(w.box.y1 for w in run[-1])))
        return found

    @cached_property
    def _notes_from(self) -> float:
        """Where the small text at the end of the page begins; infinite if there is none."""
        heights = [_height(row) for row in self._rows]
        if not heights:
            return float("inf")
        small, begin = _SMALL * median(heights), float("inf")
        for row, height in zip(reversed(self._rows), reversed(heights), strict=True):
            top = min(word.box.y0 for word in row)
            if top > (1 - _EDGE) * self._height or all(word.edge for word in row):
                continue
            if height > small or top < _LOW * self._height:
                break
            begin = top
        return begin


def _height(row: Sequence[SeenWord]) -> float:
    return median(word.box.height for word in row)


def _is_aligned(one: Sequence[SeenWord], other: Sequence[SeenWord]) -> bool:
    """Whether two rows have at least two short cells each, of which two begin or end at the same places."""
    first, second = (
        [[row[k] for k in cell] for cell in cells_of(row, range(len(row)), _GAP)] for row in (one, other)
    )
    for cells in (first, second):
        if len(cells) < 2 or median(map(len, cells[1:])) > _SHORT_CELL:
            return False
    shared = sum(
        any(min(abs(a[0].box.x0 - b[0].box.x0), abs(a[-1].box.x1 - b[-1].box.x1)) <= _ALIGNED for b in second)
        for a in first
    )
    return shared >= 2
