"""Which tables of several parsers are the same, and what they say together, cell by cell."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from rapidfuzz.fuzz import ratio

from parsemark.formats.notation import compact
from parsemark.kernels.ngrams import multiset_f1
from parsemark.model import Box, Cell, Element, Prediction, Table

Engines = Mapping[str, str]
"""Parser to the engine that it stands on; a parser that is not in it stands on itself."""

SAME_PLACE = 0.5  # IoU from which two tables are one
SAME_TEXT = 0.7  # likeness of their texts from which two tables are one, where their boxes do not say
_MAX_CHARS = 5_000


@dataclass
class TableCandidate:
    """The tables that parsers see at one place of a page."""

    members: dict[str, Element] = field(default_factory=dict)  # by parser; each has a table

    def tables(self) -> dict[str, Table]:
        """Return the table of each parser at this place."""
        return {parser: e.table for parser, e in self.members.items() if e.table is not None}

    def engine_counts(self, engines: Engines) -> Counter[str]:
        """Return the engines that see it, each with the number of its parsers that do."""
        return Counter(engines.get(parser, parser) for parser in self.members)

    def shares(self, engines: Engines) -> dict[str, float]:
        """Return each parser's share of the one vote of its engine."""
        counts = self.engine_counts(engines)
        return {parser: 1 / counts[engines.get(parser, parser)] for parser in self.members}

    def box(self) -> Box | None:
        """Return the median of its members' boxes, edge by edge; None if none has a box."""
        boxes = [e.box.as_tuple() for e in self.members.values() if e.box is not None]
        return Box(*map(median, zip(*boxes, strict=True))) if boxes else None


def find_candidates(predictions: Mapping[str, Prediction]) -> list[TableCandidate]:
    """Return the places of a page where parsers see tables; each table of a parser is in another
    candidate.
    """
    candidates: list[TableCandidate] = []
    for parser, prediction in predictions.items():
        for element in prediction.tables:
            if element.table is None or not element.table.cells:
                continue
            others = [(k, c.members.values()) for k, c in enumerate(candidates) if parser not in c.members]
            near = [(max(same_table(element, member) for member in own), -k) for k, own in others]
            likeness, number = max(near, default=(0.0, 0))
            if likeness <= 0:
                candidates.append(TableCandidate())
                number = 1 - len(candidates)
            candidates[-number].members[parser] = element
    return candidates


def same_table(a: Element, b: Element) -> float:
    """Return how alike two tables are if they are the same one; else 0."""
    place = 1.0 if a.box is None or b.box is None else a.box.iou(b.box)
    if a.box is not None and b.box is not None and place >= SAME_PLACE:
        return place
    text = ratio(folded_text(a), folded_text(b)) / 100 if place > 0 else 0.0
    return text if text >= SAME_TEXT else 0.0


def folded_text(element: Element) -> str:
    """Return the text of a table as it is compared: without white space, and not all of a long one."""
    cells = element.table.cells if element.table is not None else ()
    return compact("".join(cell.text for cell in cells))[:_MAX_CHARS]


def same_grid(a: Table, b: Table) -> float:
    """Return how alike two tables are: F1 of their filled cells, each with its neighbour to the right.

    Neighbours make it a matter of the grid and not of the words alone.
    """
    return multiset_f1(_neighbours(a), _neighbours(b))


def _neighbours(table: Table) -> Counter[tuple[str, str]]:
    rows = [[*map(compact, row), ""] for row in table.text_rows()]
    return Counter((text, after) for row in rows for text, after in pairwise(row) if text)


def _same_size(a: Table, b: Table) -> float:
    """Return the share of the larger grid that the smaller one can cover."""
    rows, cols = sorted((a.n_rows, b.n_rows)), sorted((a.n_cols, b.n_cols))
    return rows[0] / rows[1] * (cols[0] / cols[1])


def most_typical(tables: Mapping[str, Table], weights: Mapping[str, float]) -> str:
    """Return the parser whose table is most like all others, which count by their weights as it does itself.

    Blank rows and columns, which `same_grid` does not see, make tables less alike.
    """

    def standing(parser: str) -> tuple[float, bool, str]:
        own = tables[parser]
        others = [(weights[other], table) for other, table in tables.items() if other != parser]
        alike = sum(weight * (same_grid(own, table) * _same_size(own, table)) for weight, table in others)
        return alike + weights[parser], own.has_spans, parser

    return max(tables, key=standing)


def vote(
    model: Table, tables: Mapping[str, Table], weights: Mapping[str, float]
) -> tuple[Table, dict[tuple[int, int], float]]:
    """Return the model's grid; in each of its cells the text of the greatest weight among tables of its size.

    With it, by row and column, the weight that speaks for the text of a cell.
    """
    equal = {p: t for p, t in tables.items() if (t.n_rows, t.n_cols) == (model.n_rows, model.n_cols)}
    cells = []
    support = {}
    for cell in model.cells:
        own = compact(cell.text)
        votes: dict[str, float] = defaultdict(float)
        spelt: dict[str, str] = {own: cell.text}
        headers: list[float] = []
        for parser, table in equal.items():
            other = table.cell_at(cell.row, cell.col) or Cell(cell.row, cell.col)
            votes[compact(other.text)] += weights[parser]
            spelt.setdefault(compact(other.text), other.text)
            if other.header is not None:
                headers.append(weights[parser] if other.header else -weights[parser])
        winner = max(votes, key=lambda key: (votes[key], key == own, len(key), key)) if votes else own
        support[cell.row, cell.col] = votes[winner]
        header = sum(headers) > 0 if headers else None
        cells.append(Cell(cell.row, cell.col, spelt[winner], cell.rowspan, cell.colspan, header))
    return Table(model.n_rows, model.n_cols, tuple(cells)), support


def in_reading_order(elements: Sequence[Element]) -> list[Element]:
    """Sort from the top, then from the left; elements without a box come last."""
    return sorted(elements, key=lambda e: (e.box is None, (e.box.y0, e.box.x0) if e.box else (0.0, 0.0)))
