"""Metrics that compare tables as multisets: of cells, of rows, of neighbours, of pieces of text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from parsemark.formats.notation import fold_notation
from parsemark.kernels.ngrams import Bag, multiset_f1, multiset_jaccard
from parsemark.matching.tables import content_bag
from parsemark.metrics.base import Metadata, Metric
from parsemark.metrics.table_input import TableInput
from parsemark.model import Cell, Table

_BRUTE_FORCE = "brute force in the tests"


@dataclass(frozen=True)
class ContentJaccard(Metric[TableInput]):
    """Content-Jaccard: multiset Jaccard of bigrams of 2-character chunks of the table's text.

    Options:
        variant: `literal` is the paper read literally: the texts of all cells, without white space, cut into
            chunks that do not overlap. One character more at the start changes all chunks. `per_cell` starts
            anew in each cell; `overlapping` takes a chunk at every character.

    Empty cases: two tables without text are equal (1). One without text against another has 0.

    Differences from the reference: the paper does not say whether chunks restart at cells; no code is
    published.

    >>> from parsemark.metrics import score
    >>> specs = ["content_jaccard", "content_jaccard(variant=overlapping)"]
    >>> table = "<table><tr><td>{}</td><td>Total</td></tr></table>"
    >>> truth, pred = table.format("Location"), table.format("xLocation")
    >>> result = score(truth, pred, metrics=specs)
    >>> [round(s.value, 2) for s in result.values()]
    [0.0, 0.92]
    """

    name = "content_jaccard"
    metadata = Metadata(
        "Content-Jaccard",
        "Soric et al., Benchmarking Table Extraction from Heterogeneous Scientific Documents, 6.1 and C.1",
        "the paper's definition",
        symmetric=True,
    )

    variant: Literal["literal", "per_cell", "overlapping"] = "literal"

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        return multiset_jaccard(content_bag(truth.table, self.variant), content_bag(pred.table, self.variant))


class CellF1(Metric[TableInput]):
    r"""F1 of the multisets of cell texts, after notation folding.

    The same symbol written in LaTeX, HTML, Markdown or Unicode is the same text. Where a cell stands does
    not matter; a spanning cell counts once, an empty one not at all.

    Empty cases: two tables without text are equal (1). One without text against another has 0.

    Differences from the reference: this is parsemark's own.

    >>> from parsemark.metrics import score
    >>> table = "<table><tr><td>{}</td><td>{}</td></tr></table>"
    >>> truth, pred = table.format("α", "1"), table.format(r"$\alpha$", "2")
    >>> score(truth, pred, metrics=["cell_f1"])["cell_f1"].value
    0.5
    """

    name = "cell_f1"
    metadata = Metadata("F1 of cells after notation folding", "parsemark", _BRUTE_FORCE, symmetric=True)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        return multiset_f1(_cell_bag(truth), _cell_bag(pred))


class RowF1(Metric[TableInput]):
    """F1 of the multisets of whole rows, after notation folding.

    A row is the sequence of the texts at its grid positions: a spanning cell repeats its text, a hole is
    empty. Rows without any text do not count, and empty positions at the end of a row neither.

    Empty cases: two tables without text are equal (1). One without text against another has 0.

    Differences from the reference: this is parsemark's own.

    >>> from parsemark.metrics import score
    >>> truth = "<table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></table>"
    >>> pred = "<table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>3</td></tr></table>"
    >>> score(truth, pred, metrics=["row_f1"])["row_f1"].value
    0.5
    """

    name = "row_f1"
    metadata = Metadata("F1 of rows after notation folding", "parsemark", _BRUTE_FORCE, symmetric=True)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        return multiset_f1(_row_bag(truth), _row_bag(pred))


class Dar(Metric[TableInput]):
    """F1 of directed adjacency relations: which text stands right of, and which below, which.

    A relation joins a cell with text to the nearest cell with text to its right, in each row that it
    spans, and likewise downwards; each pair of neighbours counts once per direction. Relations are
    compared as multisets of (text, text, direction), with texts without white space and in lower case.

    Empty cases: two tables without text are equal (1). One without text against another has 0. Where neither
    has relations (a single cell each), the value is 1 if the texts are equal, else 0.

    Differences from the reference: the ICDAR 2013 competition has no common code for texts; it also replaces
    special characters, which is not done here.

    >>> from parsemark.metrics import score
    >>> truth = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    >>> pred = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>x</td></tr></table>"
    >>> score(truth, pred, metrics=["dar"])["dar"].value
    0.5
    """

    name = "dar"
    metadata = Metadata(
        "Directed adjacency relations",
        "Göbel et al. 2012, A methodology for evaluating algorithms for table understanding in PDF documents",
        f"the paper's definition; {_BRUTE_FORCE}",
        symmetric=True,
    )

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        a, b = _relations(truth.table), _relations(pred.table)
        if not a and not b:
            a, b = (Counter(filter(None, map(_dense, side.table.cells))) for side in (truth, pred))
        return multiset_f1(a, b)


def folded_cells(table: TableInput) -> list[str]:
    """Return the texts of a table's cells after notation folding."""
    return [fold_notation(cell.text) for cell in table.table.cells]


def _cell_bag(table: TableInput) -> Bag:
    return Counter(text for text in table.derive(folded_cells) if text)


def _row_bag(table: TableInput) -> Bag:
    """Return rows of texts: a spanning cell repeats its text, a hole is empty, empty ends are cut off."""
    folded = [*table.derive(folded_cells), ""]  # a hole is cell -1
    rows = ([folded[i] for i in row] for row in table.table.grid)
    return Counter(tuple(row[: max(k for k, t in enumerate(row, 1) if t)]) for row in rows if any(row))


def _dense(cell: Cell) -> str:
    return "".join(cell.text.split()).lower()


def _relations(table: Table) -> Bag:
    texts, rows = list(map(_dense, table.cells)), table.grid
    pairs: set[tuple[int, int, str]] = set()
    for direction, lines in (("right", rows), ("down", list(zip(*rows, strict=True)))):
        for line in lines:
            filled = [index for index in line if index >= 0 and texts[index]]
            pairs.update((a, b, direction) for a, b in pairwise(filled) if a != b)
    return Counter((texts[a], texts[b], direction) for a, b, direction in pairs)
