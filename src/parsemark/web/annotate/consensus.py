"""What the parsers that were run agree on: the start of an annotation, with what is uncertain marked.

Tables of different parsers are the same if their boxes or their characters are mostly the same. Of each
such group the table that is most like the others is taken, and each of its cells gets the text that most
tables of the same shape have there. The agreement of a cell is the share of all parsers that have its text
at its place.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from parsemark.kernels.ngrams import Bag, multiset_f1
from parsemark.matching.ngrams import text_bag
from parsemark.model import Box, Category, Cell, Element, Page, Prediction, Status, Table

SAME_PLACE, SAME_TEXT = 0.5, 0.5
MIN_SUPPORT = 0.34
"""A table that fewer parsers than this share have found is left out; it takes one key to add it."""
SAME_GROUND = 0.8
"""A table that shares this much of its ground, or of the other's, with one that more parsers have found (or
that has more cells) is a part of it, or several run together: nobody wants to delete it by hand."""
SURE = 0.6
"""Cells with a smaller agreement are shown first and marked."""


@dataclass(frozen=True)
class Start:
    """A page to begin with."""

    elements: tuple[Element, ...]
    support: Mapping[str, float] = field(default_factory=dict)
    """Element to the share of parsers that found it."""
    agreement: Mapping[str, Mapping[tuple[int, int], float]] = field(default_factory=dict)
    """Element to the agreement of each of its cells, by row and column."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    parser: str
    element: Element
    table: Table
    bag: Bag


def consensus(predictions: Sequence[Prediction]) -> Start:
    """What the parsers agree on. Those that failed on the page have no voice."""
    voices = [p for p in predictions if p.status is Status.OK]
    elements: list[Element] = []
    support: dict[str, float] = {}
    agreement: dict[str, dict[tuple[int, int], float]] = {}
    n_voices = sum(bool(p.tables) for p in voices) or 1
    for group in _groups(voices):
        share = len({c.parser for c in group}) / n_voices
        box = _median_box([c.element.box for c in group if c.element.box is not None])
        if share < MIN_SUPPORT or any(_overlaps(box, element.box) for element in elements):
            continue
        name = f"t{len(elements) + 1}"
        table, cells = _vote(group)
        elements.append(Element(name, Category.TABLE, box=box, table=table))
        support[name], agreement[name] = share, cells
    ordered = sorted(
        elements, key=lambda e: (e.box is None, e.box.y0 if e.box else 0, e.box.x0 if e.box else 0)
    )
    others = _text_elements(voices, [e.box for e in ordered if e.box is not None])
    together = sorted(
        [*ordered, *others], key=lambda e: (e.box is None, e.box.y0 if e.box else 0, e.box.x0 if e.box else 0)
    )
    numbered = tuple(replace(e, order=k) for k, e in enumerate(together, 1))
    return Start(numbered, support, agreement)


def _groups(voices: Sequence[Prediction]) -> list[list[_Candidate]]:
    """Tables that are the same, at most one of each parser, largest groups first."""
    groups: list[list[_Candidate]] = []
    for prediction in voices:
        for element in prediction.tables:
            table = element.table
            if table is None or table.n_cells < 2:
                continue
            bag = text_bag(" ".join(cell.text for cell in table.cells))
            candidate = _Candidate(prediction.parser, element, table, bag)
            near = [
                (likeness, -k)
                for k, group in enumerate(groups)
                if all(member.parser != candidate.parser for member in group)
                and (likeness := max(_likeness(candidate, member) for member in group)) > 0
            ]
            if near:
                groups[-max(near)[1]].append(candidate)
            else:
                groups.append([candidate])
    return sorted(groups, key=lambda g: (len(g), max(c.table.n_cells for c in g)), reverse=True)


def _overlaps(one: Box | None, other: Box | None) -> bool:
    if one is None or other is None:
        return False
    smaller = min(one.area, other.area)
    return smaller > 0 and one.intersection_area(other) >= SAME_GROUND * smaller


def _likeness(one: _Candidate, other: _Candidate) -> float:
    """How alike two tables are; 0 if they are not the same."""
    boxes = one.element.box, other.element.box
    overlap = boxes[0].iou(boxes[1]) if boxes[0] is not None and boxes[1] is not None else 0.0
    text = multiset_f1(one.bag, other.bag) if one.bag and other.bag else 0.0
    return max(overlap, text) if overlap >= SAME_PLACE or text >= SAME_TEXT else 0.0


def _vote(group: Sequence[_Candidate]) -> tuple[Table, dict[tuple[int, int], float]]:
    """The most typical table, with the text that most have at each place."""
    shapes = Counter((c.table.n_rows, c.table.n_cols) for c in group)

    def typical(candidate: _Candidate) -> float:
        text = sum(multiset_f1(candidate.bag, c.bag) for c in group if candidate.bag and c.bag)
        return (
            text
            + 1.5 * shapes[candidate.table.n_rows, candidate.table.n_cols]
            + 0.01 * candidate.table.has_spans
        )

    chosen = max(group, key=typical)
    shape = (chosen.table.n_rows, chosen.table.n_cols)
    same = [c.table for c in group if (c.table.n_rows, c.table.n_cols) == shape]
    cells, agreement = [], {}
    for cell in _filled(chosen.table).cells:
        texts = [found.text for table in same if (found := table.cell_at(cell.row, cell.col)) is not None]
        counts = Counter(_folded(text) for text in texts)
        votes = counts.get(_folded(cell.text), 0)
        best, most = counts.most_common(1)[0] if counts else ("", 0)
        outvoted = most > votes
        text = next(t for t in texts if _folded(t) == best) if outvoted else cell.text
        agreement[cell.row, cell.col] = max(most, votes) / len(group)
        cells.append(replace(cell, text=text))
    table = Table(*shape, tuple(cells))
    if not any(cell.header for cell in cells):
        table = Table(*shape, tuple(replace(c, header=c.row == 0) for c in cells))
    return table, agreement


def _filled(table: Table) -> Table:
    holes = tuple(Cell(r, c) for r, c in table.holes)
    return Table(table.n_rows, table.n_cols, (*table.cells, *holes))


def _folded(text: str) -> str:
    return " ".join(text.split())


def _median_box(boxes: Sequence[Box]) -> Box | None:
    if not boxes:
        return None
    edges = [statistics.median(edge) for edge in zip(*(box.as_tuple() for box in boxes), strict=True)]
    return Box(
        min(edges[0], edges[2]), min(edges[1], edges[3]), max(edges[0], edges[2]), max(edges[1], edges[3])
    )


def _text_elements(voices: Sequence[Prediction], tables: Sequence[Box]) -> list[Element]:
    """Text blocks and formulas of the parser that places most of them, without what lies in tables."""

    def own(prediction: Prediction) -> list[Element]:
        return [
            e
            for e in prediction.elements
            if e.category != Category.TABLE
            and e.box is not None
            and (e.text or e.latex)
            and not any(box.intersection_area(e.box) > 0.5 * max(e.box.area, 1e-9) for box in tables)
        ]

    best = max((own(p) for p in voices), key=len, default=[])
    return [replace(e, id=f"b{k}", confidence=None) for k, e in enumerate(best, 1)]


def uncertain_cells(start: Start, element: str) -> list[tuple[int, int]]:
    """The cells to look at first, the most uncertain ones before the others."""
    cells = start.agreement.get(element, {})
    return [
        place for place, share in sorted(cells.items(), key=lambda item: (item[1], item[0])) if share < SURE
    ]


def start_page(page: Page, start: Start) -> Page:
    """The page with the elements to begin with. Parsers place some beyond its edges; truth never is there."""
    return replace(page, elements=tuple(replace(e, box=_inside(e.box, page)) for e in start.elements))


def _inside(box: Box | None, page: Page) -> Box | None:
    """The part of a box that lies on the page, if there is any."""
    if box is None:
        return None
    x0, x1 = (min(max(x, 0.0), page.width) for x in (box.x0, box.x1))
    y0, y1 = (min(max(y, 0.0), page.height) for y in (box.y0, box.y1))
    return Box(x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None
