"""GriTS: grid table similarity, of topology and of content; the kernel aligns the grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from parsemark.errors import FormatError
from parsemark.formats.limits import check_grid
from parsemark.kernels import kernel
from parsemark.metrics.base import (
    MAX_CHARACTER_PAIRS,
    MAX_DIFFLIB_PAIRS,
    MAX_LINE_PAIRS,
    MAX_POSITION_PAIRS,
    MEAN_OF_METRICS,
    Metadata,
    Metric,
    check_pairs,
)
from parsemark.metrics.table_input import AnyTable, RowCells, TableInput, as_input, as_truth
from parsemark.model.table import slot

_CITATION = "Smock et al. 2023, GriTS: Grid table similarity metric (ICDAR)"
_NO_SPAN = (0, 0, 1, 1)


@dataclass(frozen=True)
class GritsTop(Metric[TableInput]):
    """Grid similarity of the cells' topology.

    Rows are aligned with rows and columns with columns so that the summed similarity is greatest (each
    alignment taken by itself, the factored heuristic of the paper). The value is twice the similarity
    summed over matched positions, over the number of positions of both grids. Two positions are similar
    by the overlap of their cells' spans, each as seen from its position.

    Options:
        overlap: `union` divides the intersection by the union (IoU, as the paper defines it and as
            table-metric-study computes it); `hull` by the common bounding box, as Microsoft's code does.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: table-transformer's grits.py fails on ragged tables and on HTML that
    is not XML; here holes are filled, as in table-metric-study. Ties between alignments are broken as
    there. Because of these ties the value is not exactly symmetric.

    >>> from parsemark.metrics import get_metric, score
    >>> wide = '<table><tr><td colspan="2">a</td></tr><tr><td>b</td><td>c</td></tr></table>'
    >>> plain = "<table><tr><td>a</td><td>a</td></tr><tr><td>b</td><td>c</td></tr></table>"
    >>> score(wide, plain, metrics=["grits_top"])["grits_top"].value
    0.75
    """

    name = "grits_top"
    metadata = Metadata(
        title="Grid table similarity: topology",
        citation=_CITATION,
        reference="table-transformer grits.py (hull), table-metric-study (union)",
        label="GriTS topology",
        short_label="Top",
    )

    overlap: Literal["union", "hull"] = "union"

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        a, b = truth.derive(grids_of), pred.derive(grids_of)
        if a.size == 0 or b.size == 0:
            return float(a.size == b.size)
        _check_grids(a, b)
        return _f_score(kernel.match_span_grids(a.span_grid, b.span_grid, self.overlap)[0], a.size, b.size)


@dataclass(frozen=True)
class GritsCon(Metric[TableInput]):
    r"""Grid similarity of the cells' contents.

    As `grits_top`, but two positions are similar by their texts: 2 · matched characters / all characters, and
    1 for two empty texts.

    Options:
        mode: `reference` counts as matched what Python's difflib matches, as all published values do, with
            its rule that ignores frequent characters of texts of 200 characters or more. `exact` takes a
            longest common subsequence, as the paper says.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: as for `grits_top`. difflib is bit-exact.

    >>> from parsemark.metrics import score
    >>> truth, pred = "| ab | c |\n|---|---|\n| 1 | 2 |", "| ab | c |\n|---|---|\n| 1 | 3 |"
    >>> score(truth, pred, metrics=["grits_con"])["grits_con"].value
    0.75
    """

    name = "grits_con"
    metadata = Metadata(
        title="Grid table similarity: content",
        citation=_CITATION,
        reference="table-metric-study, table-transformer grits.py",
        label="GriTS content",
        short_label="Con",
    )

    mode: Literal["reference", "exact"] = "reference"

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        a, b = truth.derive(grids_of), pred.derive(grids_of)
        if a.size == 0 or b.size == 0:
            return float(a.size == b.size)
        _check_grids(a, b)
        limit = MAX_DIFFLIB_PAIRS if self.mode == "reference" else MAX_CHARACTER_PAIRS
        check_pairs("characters", a.n_characters, b.n_characters, limit)
        similarity = "difflib" if self.mode == "reference" else "lcs"
        try:
            total, _, _ = kernel.match_text_grids(a.text_grid, b.text_grid, similarity)
        except ValueError as error:
            raise FormatError(f"The tables are too large to compare: {error}") from error
        return _f_score(total, a.size, b.size)


class GritsAvg(Metric[TableInput]):
    r"""Mean of `grits_top` and `grits_con`.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: those of its parts.

    >>> from parsemark.metrics import score
    >>> truth, pred = "| ab | c |\n|---|---|\n| 1 | 2 |", "| ab | c |\n|---|---|\n| 1 | 3 |"
    >>> score(truth, pred, metrics=["grits_avg"])["grits_avg"].value
    0.875
    """

    name = "grits_avg"
    metadata = Metadata("Grid table similarity: mean of topology and content", *MEAN_OF_METRICS)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """Return the value for one pair."""
        return (GritsTop().compute(truth, pred) + GritsCon().compute(truth, pred)) / 2


@dataclass(frozen=True)
class TableGrids:
    """Positions row by row; `texts[owners[k]]` is the text at position k, and owner -1 is a hole."""

    n_rows: int
    n_cols: int
    owners: Sequence[int]
    texts: Sequence[str]
    spans: Mapping[int, tuple[int, int, int, int]]
    """Row, column, rowspan and colspan of the cells that cover several positions."""

    @property
    def size(self) -> int:
        """Return the number of grid positions."""
        return self.n_rows * self.n_cols

    @cached_property
    def n_characters(self) -> int:
        """Return characters of all cells."""
        return sum(map(len, self.texts))

    @cached_property
    def text_grid(self) -> Any:
        """Return the kernel's grid of stripped texts; a hole is empty."""
        numbers: dict[str, int] = {"": 0}
        of_cell = [numbers.setdefault(text.strip(), len(numbers)) for text in self.texts]
        of_cell.append(0)  # holes: owner -1
        ids = [of_cell[owner] for owner in self.owners]
        return kernel.text_grid(self.n_rows, self.n_cols, ids, list(numbers))

    @cached_property
    def span_grid(self) -> Any:
        """Return the kernel's grid of spans, each relative to its position; a hole spans only itself."""
        numbers: dict[tuple[int, int, int, int], int] = {_NO_SPAN: 0}
        ids = [0] * len(self.owners)
        for position, owner in enumerate(self.owners if self.spans else ()):
            if owner in self.spans:
                row, col, rowspan, colspan = self.spans[owner]
                down, right = row - position // self.n_cols, col - position % self.n_cols
                span = (right, down, right + colspan, down + rowspan)
                ids[position] = numbers.setdefault(span, len(numbers))
        return kernel.span_grid(self.n_rows, self.n_cols, ids, list(numbers))


def grids_of_cells(cells: RowCells) -> TableGrids:
    """Place cells as GriTS does: each takes the first free column of its row; spans fill, unclipped.

    Rows after the last one that a cell covers do not count. Where cells overlap the later one shows.
    """
    if not cells.spans:
        return _grids_without_spans(cells)
    taken: dict[int, set[int]] = {}
    places: list[tuple[int, int, int, int]] = []
    n_rows = n_cols = 0
    for row, indices in enumerate(cells.rows()):
        here = taken.pop(row, set())
        col = 0
        for index in indices:
            while col in here:
                col += 1
            rowspan, colspan = cells.spans.get(index, (1, 1))
            places.append((row, col, rowspan, colspan))
            columns = range(col, col + colspan)
            here.update(columns)
            for below in range(row + 1, row + rowspan):
                taken.setdefault(below, set()).update(columns)
            n_rows, n_cols = max(n_rows, row + rowspan), max(n_cols, col + colspan)
            check_grid(n_rows, n_cols)
    owners = [-1] * (n_rows * n_cols)
    for index, (row, col, rowspan, colspan) in enumerate(places):
        for r in range(row, row + rowspan):
            start = r * n_cols + col
            owners[start : start + colspan] = [index] * colspan
    return TableGrids(n_rows, n_cols, owners, cells.texts, {index: places[index] for index in cells.spans})


def _grids_without_spans(cells: RowCells) -> TableGrids:
    n_cols = max(cells.lengths, default=0)
    n_rows = max((row for row, length in enumerate(cells.lengths, 1) if length), default=0)
    check_grid(n_rows, n_cols)
    owners: list[int] = []
    for row in islice(cells.rows(), n_rows):
        owners += row
        owners += [-1] * (n_cols - len(row))
    return TableGrids(n_rows, n_cols, owners, cells.texts, {})


def grids_of(given: TableInput) -> TableGrids:
    """Return the grids of a table that a metric was given."""
    if given.html is not None:
        return grids_of_cells(given.row_cells)
    table = given.table
    spans = {index: slot(cell) for index, cell in enumerate(table.cells) if cell.rowspan * cell.colspan > 1}
    owners = list(chain.from_iterable(table.grid))
    return TableGrids(table.n_rows, table.n_cols, owners, [cell.text for cell in table.cells], spans)


def _check_grids(a: TableGrids, b: TableGrids) -> None:
    check_pairs("grid positions", a.size, b.size, MAX_POSITION_PAIRS)
    check_pairs("rows", a.n_rows, b.n_rows, MAX_LINE_PAIRS)
    check_pairs("columns", a.n_cols, b.n_cols, MAX_LINE_PAIRS)


def _f_score(total: float, truth_size: int, pred_size: int) -> float:
    """Return F1 with the reference's order of operations, so that values agree to the last bits."""
    precision, recall = total / pred_size, total / truth_size
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


class Grits(NamedTuple):
    """The two GriTS values of a pair."""

    top: float
    con: float


def grits(truth: AnyTable, pred: AnyTable, *, overlap: str = "union", mode: str = "reference") -> Grits:
    """Return GriTS of two tables, topology and content; see `GritsTop` and `GritsCon`.

    >>> grits("<table><tr><td>1</td></tr></table>", "<table><tr><td>2</td></tr></table>")
    Grits(top=1.0, con=0.0)

    Raises:
        FormatError: A table cannot be read, or the two are too large to compare.
    """
    truth, pred = as_truth(truth), as_input(pred)
    top = GritsTop.from_options({"overlap": overlap}).compute(truth, pred)
    con = GritsCon.from_options({"mode": mode}).compute(truth, pred)
    return Grits(top, con)
