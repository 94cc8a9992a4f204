"""What the parsers that were run agree on: the start of an annotation, with what is uncertain marked.

Which tables are the same, whose grid is taken and how cells are voted says `consensus.tables`. The
agreement of a cell is the share of the engines that see its table which have its text at its place; of a
table that one of several sees alone nothing is agreed on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from parsemark.consensus.table_votes import (
    Engines,
    TableCandidate,
    find_candidates,
    in_reading_order,
    most_typical,
    vote,
)
from parsemark.model import Box, Category, Cell, Element, Page, Prediction, Status, Table

MIN_SUPPORT = 1 / 3
"""A table that fewer engines than this share have found is left out; it takes one key to add it."""
SAME_GROUND = 0.8
"""A table that shares this much of its ground, or of the other's, with one that more parsers have found (or
that has more cells) is a part of it, or several run together: nothing to delete by hand."""
SURE = 0.6  # cells with a smaller agreement are shown first and marked


@dataclass(frozen=True)
class Start:
    """A page to begin with."""

    elements: tuple[Element, ...]
    support: Mapping[str, float] = field(default_factory=dict)
    """Element to the share of engines that found it."""
    agreement: Mapping[str, Mapping[tuple[int, int], float]] = field(default_factory=dict)
    """Element to the agreement of each of its cells, by row and column."""


def consensus(predictions: Mapping[str, Prediction], engines: Engines) -> Start:
    """Return the parsers' consensus. Failed parsers have no vote; parsers of one engine share one."""
    answering = {parser: p for parser, p in predictions.items() if p.status is Status.OK}
    n_votes = len({engines.get(parser, parser) for parser in answering})
    elements: list[Element] = []
    support: dict[str, float] = {}
    agreement: dict[str, dict[tuple[int, int], float]] = {}

    def rank(candidate: TableCandidate) -> tuple[int, int]:
        """Return the sort key: found by most engines first, then the largest."""
        cells = max(table.n_cells for table in candidate.tables().values())
        return len(candidate.engine_counts(engines)), cells

    for candidate in sorted(find_candidates(answering), key=rank, reverse=True):
        n_seeing, shares = len(candidate.engine_counts(engines)), candidate.shares(engines)
        # The most typical table, with the text that most have at each place, and how many engines that are.
        tables = candidate.tables()
        model = tables[most_typical(tables, shares)]
        holes = tuple(Cell(row, col) for row, col in model.holes)
        table, votes = vote(Table(model.n_rows, model.n_cols, (*model.cells, *holes)), tables, shares)
        share, box = n_seeing / n_votes, candidate.box()
        if share < MIN_SUPPORT or table.n_cells < 2 or any(_overlaps(box, e.box) for e in elements):
            continue
        name = f"t{len(elements) + 1}"
        elements.append(Element(name, Category.TABLE, box=box, table=with_header(table)))
        support[name] = share
        # One vote alone is no agreement, unless there is no other that could agree.
        enough = max(n_seeing, min(2, n_votes))
        agreement[name] = {place: weight / enough for place, weight in votes.items()}
    others = _text_elements(list(answering.values()), [e.box for e in elements if e.box is not None])
    together = in_reading_order([*in_reading_order(elements), *others])
    return Start(tuple(replace(e, order=k) for k, e in enumerate(together, 1)), support, agreement)


def with_header(table: Table) -> Table:
    """Return the table; one without any header has its first row as one."""
    if any(cell.header for cell in table.cells):
        return table
    return replace(table, cells=tuple(replace(cell, header=cell.row == 0) for cell in table.cells))


def _overlaps(one: Box | None, other: Box | None) -> bool:
    if one is None or other is None:
        return False
    smaller = min(one.area, other.area)
    return smaller > 0 and one.intersection_area(other) >= SAME_GROUND * smaller


def _text_elements(answering: Sequence[Prediction], tables: Sequence[Box]) -> list[Element]:
    """Return text blocks and formulas of the parser that places most of them, without what lies in tables."""

    def is_own(e: Element) -> bool:
        if e.category == Category.TABLE or e.box is None or not (e.text or e.latex):
            return False
        return not any(e.box.share_inside(box) > 0.5 for box in tables)

    best = max((list(filter(is_own, p.elements)) for p in answering), key=len, default=[])
    return [replace(e, id=f"b{k}", confidence=None) for k, e in enumerate(best, 1)]


def start_page(page: Page, start: Start) -> Page:
    """Return the page with the elements to begin with. Parsers place some beyond its edges; truth never is
    there.
    """
    return replace(page, elements=tuple(replace(e, box=box_on_page(e.box, page)) for e in start.elements))


def box_on_page(box: Box | None, page: Page) -> Box | None:
    """Return the part of a box that lies on the page, if there is any."""
    inside = None if box is None else box.clipped(Box(0.0, 0.0, page.width, page.height))
    return inside if inside is not None and inside.width > 0 and inside.height > 0 else None
