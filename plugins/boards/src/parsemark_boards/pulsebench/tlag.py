"""T-LAG: how well pairs of neighbouring cells of a table are found in another, in the same direction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from lxml import etree, html
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from parsemark.errors import FormatError
from parsemark.formats import MAX_GRID, write_table
from parsemark.metrics import (
    MAX_CHARACTER_PAIRS,
    MAX_LINE_PAIRS,
    Metadata,
    Metric,
    TableInput,
    check_pairs,
)

_NULLS = frozenset(["", "-", "–", "—", "...", "…", "n/a", "na", "none", "nil", "--", "---"])
_DASHES = str.maketrans(dict.fromkeys("‒–—―−", "-"))
_EXPONENT = 7
_RIGHT, _BELOW = "right", "below"


class CellEdge(NamedTuple):
    """Two neighbouring cells, and where the second stands."""

    source: str
    target: str
    direction: str


@dataclass(frozen=True)
class TableEdges:
    """The edges of a table, and the text of its first cell."""

    edges: tuple[CellEdge, ...] = ()
    first: str = ""


@dataclass
class _Grid:
    """Cells by place while rows are read."""

    places: dict[tuple[int, int], int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    pending: dict[int, tuple[int, int]] = field(default_factory=dict)  # column to cell and rows left

    def skip(self, row: int, col: int) -> int:
        """Place the cells that reach down from above; return the next free column."""
        while col in self.pending and self.pending[col][1] > 0:
            cell, left = self.pending[col]
            self.places[row, col] = cell
            if left > 1:
                self.pending[col] = cell, left - 1
            else:
                del self.pending[col]
            col += 1
        return col


def table_edges(document: str) -> TableEdges:
    """Return the edges of all rows of a document as one table.

    Raises:
        ValueError: The document is empty.
        FormatError: Its cells span too many positions.
    """
    try:
        root = html.fromstring(document)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise ValueError("the document is empty") from error
    rows, grid = list(root.iter("tr")), _Grid()
    for row, line in enumerate(rows):
        col = 0
        for cell in line:
            if cell.tag not in ("td", "th"):
                continue
            col = grid.skip(row, col)
            number = len(grid.texts)
            grid.texts.append(_text_of(cell))
            rowspan, colspan = _span(cell, "rowspan", len(rows) - row), _span(cell, "colspan", 1)
            if len(grid.places) + max(0, rowspan) * max(0, colspan) > MAX_GRID:
                raise FormatError(f"The cells of a table span more than {MAX_GRID:,} positions")
            for y in range(rowspan):
                for x in range(colspan):
                    grid.places[row + y, col + x] = number
            if rowspan > 1:
                grid.pending.update((col + x, (number, rowspan - 1)) for x in range(colspan))
            col += colspan
        grid.skip(row, col)
    return _edges_of(grid)


def _text_of(cell: Any) -> str:
    """Return the text of a cell, without its comments."""
    return "".join(map(str, cell.xpath(".//text()"))).strip()


def _span(cell: Any, name: str, rows_left: int) -> int:
    """Return a span as the benchmark reads it; 0 reaches to the end."""
    try:
        span = int(cell.get(name, "1").strip().rstrip(">"))
    except ValueError:
        return 1
    return max(1, rows_left) if span == 0 else span


def _edges_of(grid: _Grid) -> TableEdges:
    edges: dict[tuple[int, int, str], CellEdge] = {}
    texts = grid.texts
    for (row, col), cell in sorted(grid.places.items()):
        if row < 0 or col < 0:
            continue
        for direction, place in ((_RIGHT, (row, col + 1)), (_BELOW, (row + 1, col))):
            other = grid.places.get(place, cell)
            if other != cell:
                edges[cell, other, direction] = CellEdge(texts[cell], texts[other], direction)
    first = grid.places.get((0, 0))
    return TableEdges(tuple(edges.values()), "" if first is None else texts[first])


def _norm(text: str) -> str:
    """Return a text as it is compared; "" for one that says nothing."""
    if text.strip().lower() in _NULLS or text == "[NULL]":
        return ""
    return re.sub(r"\s+", " ", text.translate(_DASHES).replace("\xa0", " ")).strip()


def text_likeness(a: str, b: str) -> float:
    """Return how alike two texts are, 0 to 1; texts that say nothing are equal."""
    return float(_likenesses([a], [b])[0, 0])


def _likenesses(truths: Sequence[str], preds: Sequence[str]) -> Any:
    a, b = ([_norm(text) for text in side] for side in (truths, preds))
    check_pairs("characters", sum(map(len, a)), sum(map(len, b)), MAX_CHARACTER_PAIRS)
    distances = cdist(a, b, scorer=Levenshtein.distance, dtype=np.int64)
    lengths = np.maximum.outer([len(text) for text in a], [len(text) for text in b])
    shares = np.where(lengths > 0, 1 - distances / np.maximum(lengths, 1), 1.0)
    return shares**_EXPONENT


class TlagResult(NamedTuple):
    """The score of a pair, and what it is made of."""

    score: float
    precision: float
    recall: float
    true_edges: int
    predicted_edges: int


def tlag(truth: str, pred: str) -> TlagResult:
    """Return T-LAG of two HTML documents; raise ValueError if one is empty, FormatError if they are too
    large.
    """
    a, b = table_edges(truth), table_edges(pred)
    counts = len(a.edges), len(b.edges)
    if not any(counts):
        value = text_likeness(a.first, b.first)
        return TlagResult(value, value, value, *counts)
    if not all(counts):
        return TlagResult(0.0, 0.0, 0.0, *counts)
    total = sum(_best_sum(a.edges, b.edges, direction) for direction in (_RIGHT, _BELOW))
    precision, recall = total / counts[1], total / counts[0]
    score = 2 * precision * recall / (precision + recall) if total > 0 else 0.0
    return TlagResult(score, precision, recall, *counts)


def _best_sum(truths: Sequence[CellEdge], preds: Sequence[CellEdge], direction: str) -> float:
    """Return the largest sum of weights over one-to-one assignments of the edges of a direction."""
    from scipy.optimize import linear_sum_assignment

    a, b = ([edge for edge in side if edge.direction == direction] for side in (truths, preds))
    if not a or not b:
        return 0.0
    check_pairs("pairs of neighbours", len(a), len(b), MAX_LINE_PAIRS // 10)
    numbers: list[dict[str, int]] = [{}, {}]
    for side, known in zip((a, b), numbers, strict=True):
        for edge in side:
            known.setdefault(edge.source, len(known))
            known.setdefault(edge.target, len(known))
    likeness = _likenesses(list(numbers[0]), list(numbers[1]))
    weights = np.ones((len(a), len(b)))
    for end in ("source", "target"):
        rows, cols = (
            [known[getattr(edge, end)] for edge in side] for side, known in zip((a, b), numbers, strict=True)
        )
        weights *= likeness[np.ix_(rows, cols)]
    return float(weights[linear_sum_assignment(weights, maximize=True)].sum())


def _html_of(table: TableInput) -> str:
    return table.html or write_table(table.table, "html")


class Tlag(Metric[TableInput]):
    """T-LAG: neighbouring cells that are neighbours in the same direction.

    Every pair of neighbouring cells is an edge, to the right or below. Edges of the truth and of the
    prediction are assigned one to one so that the sum of their weights is largest. The weight is the likeness
    of the first cells times that of the second, each (1 − Levenshtein/longer length)⁷. T-LAG is the harmonic
    mean of the sum's shares of both sides' edges. A wrong cell costs all its edges.

    Empty cases: two empty tables are equal (1). An empty table against one with several cells has 0; tables
    without neighbours are compared by their first cells.

    Differences from the reference: an empty string is a table without cells; the reference fails on it.

    >>> from parsemark.metrics import TableInput
    >>> rows = "<tr><td>tide</td><td>1.4</td></tr>", "<tr><td>tide</td><td>1.9</td></tr>"
    >>> low, high = (TableInput(f"<table>{row}</table>") for row in rows)
    >>> Tlag().score(low, low).value, round(Tlag().score(low, high).value, 4)
    (1.0, 0.0585)
    """

    name: ClassVar[str] = "tlag"
    metadata: ClassVar[Metadata] = Metadata(
        title="T-LAG: neighbouring cells",
        citation="Pulse 2026, PulseBench-Tab",
        reference="PulseBench-Tab 594fbd0, tlag_scorer.py",
        symmetric=True,
        label="T-LAG",
    )

    def compute(self, truth: TableInput, pred: TableInput) -> tuple[float, dict[str, float]]:
        """Return the value for one pair, with precision, recall and the numbers of edges."""
        found = tlag(_html_of(truth), _html_of(pred))
        return found.score, {
            "precision": found.precision,
            "recall": found.recall,
            "true_edges": found.true_edges,
            "predicted_edges": found.predicted_edges,
        }
