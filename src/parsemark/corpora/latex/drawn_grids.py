"""Whether a drawing is a ruled table: words in cells that touch each other, or lines between their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from parsemark.corpora.latex.cell_boxes import RULE_HEIGHT
from parsemark.model import Box

MIN_CELLS = 4
"""Two rows of two cells."""
TOUCHING = 4.0
"""Cells whose frames are no further apart than this touch, in points; a diagram has arrows between."""
ACROSS = 0.95
"""The share of the width that a line between two rows covers; an arrow begins behind a word."""


def is_ruled_grid(texts: Sequence[Box], paths: Sequence[Box], lines: Iterable[Box]) -> bool:
    """Whether a drawing of words can be taken for a table with lines.

    Args:
        texts: Its words.
        paths: All else that it paints.
        lines: The thin lines of the page, of which some may be drawn over it.
    """
    if len(texts) < MIN_CELLS:
        return False
    frames = [path for path in dict.fromkeys(paths) if _frames_one_cell(path, texts)]
    beside = [f for f in frames if any(_touches(f, other) for other in frames)]
    framed = [f for f in beside if any(_touches(_turned(f), _turned(other)) for other in frames)]
    return len(framed) >= MIN_CELLS or any(_parts_rows(line, texts) for line in lines)


def _frames_one_cell(path: Box, texts: Sequence[Box]) -> bool:
    inside = sum(path.contains(text, 1.0) for text in texts)
    return min(path.width, path.height) > RULE_HEIGHT and 0 < inside <= len(texts) / 2


def _touches(one: Box, other: Box) -> bool:
    """Whether two frames stand beside each other, with nothing between them."""
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    gap = max(one.x0, other.x0) - min(one.x1, other.x1)
    return shared > 0.5 * min(one.height, other.height) and abs(gap) <= TOUCHING


def _turned(box: Box) -> Box:
    return Box(box.y0, box.x0, box.y1, box.x1)


def _parts_rows(line: Box, texts: Sequence[Box]) -> bool:
    """Whether a line across all words has several above it and several below, and runs through none."""
    hull = Box.hull(texts)
    if line.height >= RULE_HEIGHT or min(line.x1, hull.x1) - max(line.x0, hull.x0) < ACROSS * hull.width:
        return False
    middle = (line.y0 + line.y1) / 2
    above, below = sum(t.y1 <= middle for t in texts), sum(t.y0 >= middle for t in texts)
    return above + below == len(texts) and min(above, below) > 1
