"""One parser out of several: tables that enough of them see, voted cell by cell.

Tables of different parsers that lie at the same place (or hold the same text, where a parser gives no boxes)
are one table. Its size is that of most votes; each place of its grid takes the text that most tables of
this size have there. The share of the parsers that see the table is its confidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from rapidfuzz.fuzz import ratio

from parsemark.model import Box, Category, Cell, Element, Prediction, Table

SAME_PLACE = 0.5
"""IoU from which two tables are one."""
SAME_TEXT = 70.0
"""Likeness of their texts, in percent, from which two tables are one, where one of them has no box."""
_MAX_CHARS = 5_000


@dataclass
class _Group:
    """The tables that parsers see at one place."""

    members: list[Element] = field(default_factory=list)
    voters: list[int] = field(default_factory=list)


def vote(predictions: Sequence[Prediction], min_share: float = 0.5) -> list[Element]:
    """The tables that at least `min_share` of the parsers see, in reading order."""
    groups = _groups(predictions)
    needed = max(1, -(-len(predictions) * min_share // 1))
    chosen = [g for g in groups if len(g.voters) >= needed]
    elements = [_elected(group, len(predictions)) for group in chosen]
    elements.sort(key=lambda e: (e.box is None, (e.box.y0, e.box.x0) if e.box is not None else (0.0, 0.0)))
    return elements


def _groups(predictions: Sequence[Prediction]) -> list[_Group]:
    groups: list[_Group] = []
    for voter, prediction in enumerate(predictions):
        for element in prediction.tables:
            if element.table is None or not element.table.cells:
                continue
            free = [g for g in groups if voter not in g.voters]
            best = max(free, key=lambda g: _likeness(element, g.members[0]), default=None)
            if best is None or _likeness(element, best.members[0]) <= 0:
                best = _Group()
                groups.append(best)
            best.members.append(element)
            best.voters.append(voter)
    return groups


def _likeness(a: Element, b: Element) -> float:
    """Above 0 if two tables are one."""
    if a.box is not None and b.box is not None:
        overlap = a.box.iou(b.box)
        return overlap if overlap >= SAME_PLACE else 0.0
    same = ratio(_text(a), _text(b))
    return same / 100 if same >= SAME_TEXT else 0.0


def _text(element: Element) -> str:
    if element.table is None:
        return ""
    return " ".join(cell.text for cell in element.table.cells)[:_MAX_CHARS]


def _elected(group: _Group, n_voters: int) -> Element:
    tables = [e.table for e in group.members if e.table is not None]
    sizes = Counter((t.n_rows, t.n_cols) for t in tables)
    most = max(sizes.values())
    # Of sizes with equal votes the one nearest to all others' number of places.
    middle = median(t.n_rows * t.n_cols for t in tables)
    size = min((s for s, n in sizes.items() if n == most), key=lambda s: (abs(s[0] * s[1] - middle), s))
    equal = [t for t in tables if (t.n_rows, t.n_cols) == size]
    boxes = [e.box for e in group.members if e.box is not None]
    box = Box(*(median(b.as_tuple()[i] for b in boxes) for i in range(4))) if boxes else None
    return Element(
        id="", category=Category.TABLE, box=box, table=_voted(equal), confidence=len(group.voters) / n_voters
    )


def _voted(tables: Sequence[Table]) -> Table:
    """Tables of one size, cell by cell: the spans of the most usual grid, the text of most votes."""
    shapes = Counter(tuple((c.row, c.col, c.rowspan, c.colspan) for c in t.cells) for t in tables)
    shape = max(shapes, key=lambda s: (shapes[s], -len(s)))
    cells = []
    for row, col, rowspan, colspan in shape:
        texts = [c.text if (c := t.cell_at(row, col)) is not None else "" for t in tables]
        votes = Counter("".join(text.split()) for text in texts)
        winner = max(votes, key=lambda key: (votes[key], len(key)))
        text = next(t for t in texts if "".join(t.split()) == winner)
        headers = [
            c.header for t in tables if (c := t.cell_at(row, col)) is not None and c.header is not None
        ]
        header = sum(headers) * 2 > len(headers) if headers else None
        cells.append(Cell(row, col, text, rowspan, colspan, header))
    return Table(tables[0].n_rows, tables[0].n_cols, tuple(cells))
