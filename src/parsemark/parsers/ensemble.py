"""One parser out of several: tables that they see together, voted cell by cell. No truth is needed.

Tables of different parsers that lie at the same place (or hold the same text, where a parser gives no boxes)
are one candidate. How probable it is to be a table follows from who sees it: how often each engine sees what
is there and what is not is estimated from all candidates of a run, as Dawid and Skene do for annotators. So
the silence of a parser that finds ruled tables alone says little; settings of one tool have one voice. The
grid is that of the table which is most like all others; each cell takes the text of most votes, and who
agrees more with the others has more weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import ratio

from parsemark.model import Box, Category, Cell, Element, Prediction, Table

Floats = NDArray[np.float64]

SAME_PLACE = 0.5
"""IoU from which two tables are one."""
SAME_TEXT = 70.0
"""Likeness of their texts, in percent, from which two tables are one, where one of them has no box."""
_MAX_CHARS = 5_000
_ROUNDS = 60
ENGINES: Mapping[str, str] = {
    "pymupdf": "mupdf",
    "pymupdf4llm": "mupdf",
    "pdfplumber": "pdfminer",
    "markitdown": "pdfminer",
    "docling": "docling",
    "docling-serve": "docling",
    "tatr": "table-transformer",
    "tatr-xycut": "table-transformer",
    "gmft": "table-transformer",
    "tesseract": "tesseract",
    "rapid": "rapidocr",
    "rapid-table": "rapidocr",
    "marker": "surya",
    "surya": "surya",
    "paddleocr": "paddle",
    "pp-structure": "paddle",
    "rapidocr": "rapidocr",
}
"""Parsers that are known to stand on the same engine, by the name before the settings."""


def engine_of(parser: str) -> str:
    """What a parser stands on: settings of one tool, and tools on one engine, are no independent voices."""
    tool = parser.partition("(")[0]
    return ENGINES.get(tool, tool)


@dataclass
class TableCandidate:
    """The tables that parsers see at one place of a page."""

    members: dict[str, Element] = field(default_factory=dict)
    """By parser."""


@dataclass(frozen=True)
class Jury:
    """What is known of the parsers of an ensemble, all of it from their own outputs."""

    sees: Mapping[str, float]
    """Probability of each engine to see a candidate that is a table."""
    invents: Mapping[str, float]
    """Probability of each engine to see a candidate that is none."""
    share: float
    """Of the candidates that are tables."""
    weight: Mapping[str, float]
    """Of each parser's cells: how much its tables agree with the others'."""

    def probability(self, candidate: TableCandidate) -> float:
        """That a candidate is a table."""
        seen = {engine_of(parser) for parser in candidate.members}
        odds = np.log(self.share) - np.log1p(-self.share)
        for engine, sees in self.sees.items():
            invents = self.invents[engine]
            odds += np.log(sees / invents) if engine in seen else np.log((1 - sees) / (1 - invents))
        return float(1 / (1 + np.exp(-odds)))


def find_candidates(predictions: Mapping[str, Prediction]) -> list[TableCandidate]:
    """The places of a page where parsers see tables."""
    candidates: list[TableCandidate] = []
    for parser, prediction in predictions.items():
        for element in prediction.tables:
            if element.table is None or not element.table.cells:
                continue
            free = [c for c in candidates if parser not in c.members]
            best = max(free, key=lambda c: _likeness_to(element, c), default=None)
            if best is None or _likeness_to(element, best) <= 0:
                best = TableCandidate()
                candidates.append(best)
            best.members[parser] = element
    return candidates


def estimate_jury(candidates: Sequence[TableCandidate], parsers: Sequence[str]) -> Jury:
    """How far each engine and parser can be trusted, by expectation and maximisation over all candidates."""
    engines = sorted({engine_of(parser) for parser in parsers})
    seen = np.zeros((len(candidates), len(engines)))
    for row, candidate in enumerate(candidates):
        for parser in candidate.members:
            seen[row, engines.index(engine_of(parser))] = 1.0
    real = seen.mean(axis=1) if len(candidates) else np.zeros(0)
    sees, invents, share = np.full(len(engines), 0.7), np.full(len(engines), 0.2), 0.5
    for _ in range(_ROUNDS):
        # Each rate begins with a few made-up candidates: with little data nobody is always right or wrong.
        sees = (real @ seen + 2.0) / (real.sum() + 3.0)
        invents = ((1 - real) @ seen + 1.0) / ((1 - real).sum() + 4.0)
        share = float((real.sum() + 2.0) / (len(candidates) + 4.0))
        odds = np.log(share / (1 - share)) + (
            seen @ np.log(sees / invents) + (1 - seen) @ np.log((1 - sees) / (1 - invents))
        )
        real = 1 / (1 + np.exp(-odds))
    return Jury(
        dict(zip(engines, sees.tolist(), strict=True)),
        dict(zip(engines, invents.tolist(), strict=True)),
        share,
        _weights(candidates, parsers),
    )


def _weights(candidates: Sequence[TableCandidate], parsers: Sequence[str]) -> dict[str, float]:
    """The square of each parser's mean agreement with parsers of other engines, where both see a table."""
    agreements: dict[str, list[float]] = {parser: [] for parser in parsers}
    for candidate in candidates:
        for parser, element in candidate.members.items():
            others = [e for p, e in candidate.members.items() if engine_of(p) != engine_of(parser)]
            agreements[parser] += [_same_grid(element, other) for other in others]
    return {p: (float(np.mean(found)) ** 2 if found else 0.25) + 1e-3 for p, found in agreements.items()}


def elect(candidates: Sequence[TableCandidate], jury: Jury, min_confidence: float = 0.05) -> list[Element]:
    """The tables of a page that are probable enough, in reading order, with their probability."""
    elements = [
        _elected(candidate, probability, jury)
        for candidate in candidates
        if (probability := jury.probability(candidate)) >= min_confidence
    ]
    elements.sort(key=lambda e: (e.box is None, (e.box.y0, e.box.x0) if e.box is not None else (0.0, 0.0)))
    return elements


def _likeness_to(element: Element, candidate: TableCandidate) -> float:
    return max(_likeness(element, member) for member in candidate.members.values())


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


def _same_grid(a: Element, b: Element) -> float:
    """How alike two tables are: F1 of their cells, each with its neighbour to the right.

    Neighbours make it a matter of the grid and not of the words alone.
    """
    ours, theirs = _pairs(a), _pairs(b)
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def _pairs(element: Element) -> Counter[tuple[str, str]]:
    rows = element.table.text_rows() if element.table is not None else []
    folded = [["".join(text.split()) for text in row] for row in rows]
    return Counter(
        (text, row[i + 1] if i + 1 < len(row) else "") for row in folded for i, text in enumerate(row) if text
    )


def _elected(candidate: TableCandidate, probability: float, jury: Jury) -> Element:
    members = candidate.members
    most_alike = max(
        members,
        key=lambda p: (
            sum(jury.weight[o] * _same_grid(members[p], members[o]) for o in members if o != p)
            + jury.weight[p],
            p,
        ),
    )
    model = members[most_alike].table
    assert model is not None
    equal = [
        (jury.weight[p], t)
        for p, e in members.items()
        if (t := e.table) is not None and (t.n_rows, t.n_cols) == (model.n_rows, model.n_cols)
    ]
    boxes = [e.box for e in members.values() if e.box is not None]
    box = Box(*(median(b.as_tuple()[i] for b in boxes) for i in range(4))) if boxes else None
    return Element(
        id="", category=Category.TABLE, box=box, table=_voted(model, equal), confidence=probability
    )


def _voted(model: Table, tables: Sequence[tuple[float, Table]]) -> Table:
    """The model's grid; in each of its cells the text of the greatest weight among tables of its size."""
    cells = []
    for cell in model.cells:
        votes: dict[str, float] = {}
        spelt: dict[str, str] = {}
        headers = 0.0
        for weight, table in tables:
            other = table.cell_at(cell.row, cell.col)
            text = "" if other is None else other.text
            key = "".join(text.split())
            votes[key] = votes.get(key, 0.0) + weight
            spelt.setdefault(key, text)
            if other is not None and other.header is not None:
                headers += weight if other.header else -weight
        own = "".join(cell.text.split())
        winner = max(votes, key=lambda key: (votes[key], key == own, len(key)))
        known = any(
            c.header is not None for _, t in tables if (c := t.cell_at(cell.row, cell.col)) is not None
        )
        header = headers > 0 if known else None
        cells.append(Cell(cell.row, cell.col, spelt[winner], cell.rowspan, cell.colspan, header))
    return Table(model.n_rows, model.n_cols, tuple(cells))
