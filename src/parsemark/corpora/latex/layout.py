"""What looks like a table and is none, or is none and looks like one.

Alignments for lines to sign on, for authors, for the notes of a table; drawings that are ruled tables: words
in cells that touch each other, or lines between their rows.
"""

import re
from collections.abc import Iterable, Sequence

from parsemark.corpora.latex.cell_boxes import RULE_HEIGHT, MarkedCell, MarkedTable
from parsemark.model import Box

MIN_LINE = 20.0  # a line of a cell that one can sign on is at least this long, in points
NEAR_TABLE = 15.0  # how far below its table a block of notes begins at most, in points

_LEADERS = re.compile(r"(?:[._\u2026·]\s*){4,}")
_ADDRESS = re.compile(r"\S+@\S+\.\w+")
_SIGNS = "*∗⋆†‡§¶‖#"
_NOTE_MARK = re.compile(rf"\^?\{{?\(?([a-z]|\d{{1,2}}|[{re.escape(_SIGNS)}]{{1,3}})[).:]?\}}?")
_RAISED = re.compile(r"\^(?:\{([^{}]*)\}|(\S))")


def is_to_sign(marked: MarkedTable) -> bool:
    """Whether names stand under lines: at least every second row has nothing but leaders and lone lines."""
    shown = ([cell for cell in row if cell.text or cell.ink is not None] for row in marked.rows)
    is_line = [all(_is_line(cell, marked.angle) for cell in row) for row in shown if row]
    return any(is_line) and 2 * sum(is_line) >= len(is_line)


def _is_line(cell: MarkedCell, angle: int) -> bool:
    if cell.text:
        return _LEADERS.fullmatch(cell.text) is not None
    ink = None if cell.ink is None else cell.ink.turned(angle)
    return ink is not None and ink.height < RULE_HEIGHT and ink.width >= MIN_LINE


def names_authors(marked: MarkedTable) -> bool:
    """Whether people stand beside each other, with a row of their addresses below, and no lines."""
    rows = ([cell.text for cell in row if cell.text] for row in marked.rows[1:])
    has_addresses = any(len(texts) > 1 and all(map(_ADDRESS.search, texts)) for texts in rows)
    return has_addresses and not marked.rules


def has_notes_of(marked: MarkedTable, others: Iterable[MarkedTable]) -> bool:
    """Whether it explains the raised marks of a table that stands right above it."""
    if marked.n_cols != 2:
        return False
    texts = [cell.text for cell in sorted(marked.cells, key=lambda c: c.row) if cell.col == 0]
    found = [_NOTE_MARK.fullmatch(text) for text in texts]
    marks = {match[1] for match in found if match is not None}
    if len(texts) < marked.n_rows or not all(found):
        return False
    return any(_is_above(other, marked) and marks <= _raised_marks(other) for other in others)


def _is_above(other: MarkedTable, marked: MarkedTable) -> bool:
    upper, lower = other.box.turned(other.angle), marked.box.turned(marked.angle)
    beside = min(upper.x1, lower.x1) - max(upper.x0, lower.x0)
    is_near = beside > 0.5 * min(upper.width, lower.width) and abs(lower.y0 - upper.y1) <= NEAR_TABLE
    return is_near and other.angle == marked.angle


def _raised_marks(table: MarkedTable) -> set[str]:
    """What stands above the line in its cells, and signs at their ends."""
    raised: set[str] = set()
    for cell in table.cells:
        for match in _RAISED.finditer(cell.text):
            raised.update(re.split(r"[\s,;]+", match[1] or match[2]))
        end = len(cell.text.rstrip(_SIGNS))
        raised.add(cell.text[end:])
    return raised


MIN_CELLS = 4  # two rows of two cells
TOUCHING = 4.0
"""Cells whose frames are no further apart than this touch, in points; a diagram has arrows between."""
ACROSS = 0.95  # the share of the width that a line between two rows covers; an arrow begins behind a word


def is_ruled_grid(texts: Sequence[Box], paths: Sequence[Box], lines: Iterable[Box]) -> bool:
    """Whether a drawing of words can be taken for a table, by its paths and the thin lines of the page."""
    if len(texts) < MIN_CELLS:
        return False
    frames = [path for path in dict.fromkeys(paths) if _frames_one_cell(path, texts)]
    beside = [f for f in frames if any(_touches(f, other) for other in frames)]
    turned = [f.turned(90) for f in frames]  # what stands above is beside
    framed = [f for f in beside if any(_touches(f.turned(90), other) for other in turned)]
    return len(framed) >= MIN_CELLS or any(_parts_rows(line, texts) for line in lines)


def _frames_one_cell(path: Box, texts: Sequence[Box]) -> bool:
    inside = sum(path.contains(text, 1.0) for text in texts)
    return min(path.width, path.height) > RULE_HEIGHT and 0 < inside <= len(texts) / 2


def _touches(one: Box, other: Box) -> bool:
    """Whether two frames stand beside each other, with nothing between them."""
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    gap = max(one.x0, other.x0) - min(one.x1, other.x1)
    return shared > 0.5 * min(one.height, other.height) and abs(gap) <= TOUCHING


def _parts_rows(line: Box, texts: Sequence[Box]) -> bool:
    """Whether a line across all words has several above it and several below, and runs through none."""
    hull = Box.hull(texts)
    if line.height >= RULE_HEIGHT or min(line.x1, hull.x1) - max(line.x0, hull.x0) < ACROSS * hull.width:
        return False
    middle = (line.y0 + line.y1) / 2
    above, below = sum(t.y1 <= middle for t in texts), sum(t.y0 >= middle for t in texts)
    return above + below == len(texts) and min(above, below) > 1
