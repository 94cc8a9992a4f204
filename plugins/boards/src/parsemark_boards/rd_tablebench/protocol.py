"""RD-TableBench (Reducto): two tables as grids, aligned row by row and cell by cell.

Everything is as in `reductoai/rd-tablebench` at commit 1a07a58; `docs/rd-tablebench.md` lists what is
wrong with it and kept. Sums are in float32, as there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from lxml import etree
from pydantic import AfterValidator
from rapidfuzz.distance import Levenshtein

from parsemark.errors import FormatError
from parsemark.formats import MAX_GRID
from parsemark.model import Page, Prediction, Status
from parsemark.protocols import BoardRun, Files, as_csv, html_of
from parsemark_boards.measured_protocol import LeftOutError, MeasuredProtocol, own_truth, reading_truth
from parsemark_boards.truth_model import benchmark_rules

HTML = "rd_tablebench_html"  # where a page keeps its true table
GridRows = list[list[str]]
CleanGrid = list[tuple[str, ...]]  # without blanks and hyphens
Item = TypeVar("Item")
ROW_MATCH, ROW_GAP, COLUMN_GAP = 5, -3, -1
MAX_STEPS = 100_000_000  # pairs of cells that are compared; more are refused


def _check_table(html: str) -> str:
    """Refuse a table that the benchmark cannot read."""
    with benchmark_rules():
        read_grid(html)
    return html


TrueTable = Annotated[str, AfterValidator(_check_table)]
"""A true table as HTML."""


@dataclass(frozen=True)
class RdTableBenchProtocol(MeasuredProtocol):
    """Similarity of a page's only table, as RD-TableBench computes it.

    Args:
        choose: Which table of an output is taken: the `longest` HTML, the `largest` grid, or the `first`.
        missing_left_out: A page without a table in the output, or one on which upstream's code fails, does
            not count, as a published fork has it; else it is worth nothing.
    """

    name: ClassVar[str] = "rd-tablebench"
    title: ClassVar[str] = "RD-TableBench: tables aligned row by row"
    upstream: ClassVar[str] = "rd-tablebench 1a07a58 (November 2024)"
    comparability: ClassVar[int] = 1
    figures_by_kind: ClassVar[Mapping[str, str]] = {"tables": "similarity"}
    table_matching: ClassVar[str] = "order"
    truth_models: ClassVar[Mapping[str, Any]] = {HTML: TrueTable}

    choose: Literal["longest", "largest", "first"] = "longest"
    missing_left_out: bool = False

    def result_files(self, board: BoardRun) -> Files:
        """Return the chosen table of each page as `providers/PARSER/NAME.html`, and a file of scores."""
        for parser in board.parsers:
            values = board.values(parser)
            rows: list[list[object]] = [["name", "similarity"]]
            for sample, document, _ in board.pages():
                with suppress(ValueError):
                    chosen = self._chosen(board.prediction(sample, parser))
                    yield f"providers/{parser}/{document}.html", chosen
                rows.append([document, values.get(sample, {}).get("similarity")])
            yield f"{parser}.csv", as_csv(rows)

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """Return the number of a page; none where it has not exactly one table."""
        expected = own_truth(truth, HTML)
        if expected is None:
            if len(truth.tables) != 1:
                return None
            expected = html_of(truth.tables[0])
        with reading_truth():
            grid = read_grid(expected)
        try:
            return {"similarity": similarity(grid, read_grid(self._chosen(prediction)))}
        except ValueError as error:
            if self.missing_left_out:
                raise LeftOutError(str(error)) from error
            raise

    def _chosen(self, prediction: Prediction) -> str:
        tables = [table for table in prediction.tables if prediction.status is Status.OK]
        if not tables:
            raise ValueError("the output has no table")
        if self.choose == "first":
            return html_of(tables[0])
        if self.choose == "largest":
            return html_of(max(tables, key=lambda t: t.table.n_rows * t.table.n_cols if t.table else 0))
        return max(map(html_of, tables), key=len)


def grid_of_html(document: str) -> GridRows:
    """Return all rows of an HTML document as a grid in which spanned cells repeat their text.

    ValueError where a span is no number or (AttributeError upstream) nothing is there, FormatError if huge.
    """
    root = etree.HTML(document) if document.strip() else None
    if root is None:
        raise ValueError("the document is empty")
    rows: GridRows = []
    pending: dict[int, tuple[str, int]] = {}
    size = 0

    def fill(row: list[str]) -> None:
        while (held := pending.pop(len(row), None)) is not None:
            if held[1] > 1:
                pending[len(row)] = held[0], held[1] - 1
            row.append(held[0])

    for line in root.iter("tr"):
        row: list[str] = []
        for cell in line:
            if cell.tag not in ("td", "th"):
                continue
            fill(row)
            text = "".join(map(str, cell.itertext())).strip()
            rowspan, colspan = int(cell.get("rowspan", "1")), int(cell.get("colspan", "1"))
            size += max(colspan, 1)
            if size > MAX_GRID:
                raise FormatError(f"The table has more than {MAX_GRID:,} cells")
            if rowspan > 1:
                pending.update((len(row) + k, (text, rowspan - 1)) for k in range(colspan))
            row += [text] * colspan
        fill(row)
        size += len(row)
        rows.append(row)
    width = max(map(len, rows), default=0)
    if width * len(rows) > MAX_GRID:
        raise FormatError(f"The table has more than {MAX_GRID:,} cells")
    return [row + [""] * (width - len(row)) for row in rows]


def cell_score(a: str, b: str) -> float:
    """Return a score from −1 to 1."""
    if a == b:
        return 1.0
    return -1 + 2 * (1 - Levenshtein.distance(a, b) / max(len(a), len(b)))


Step = tuple[int | None, int | None]


def align(
    a: Sequence[Item], b: Sequence[Item], score: Callable[[Item, Item], float], gap: int
) -> tuple[float, list[Step]]:
    """Return the value of the best alignment, and its steps: pairs of indices, None for a gap.

    Gaps at either end are free; those at the beginning are steps all the same, those at the end are not.
    """
    m, n = len(a), len(b)
    values: Any = np.zeros((m + 1, n + 1), dtype=np.float32)
    ways = np.zeros((m + 1, n + 1), dtype=np.int8)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            options = (
                values[i - 1, j - 1] + np.float32(score(a[i - 1], b[j - 1])),
                values[i - 1, j] + np.float32(gap),
                values[i, j - 1] + np.float32(gap),
            )
            best = max(options)
            values[i, j], ways[i, j] = best, options.index(best)
    ends = ((m, n), (int(np.argmax(values[:, n])), n), (m, int(np.argmax(values[m, :]))))
    i, j = max(ends, key=lambda end: values[end])
    return float(values[i, j]), _steps(ways, i, j)


def _steps(ways: Any, i: int, j: int) -> list[Step]:
    steps: list[Step] = []
    while i or j:
        way = 2 if not i else 1 if not j else int(ways[i, j])
        i, j = i - (way != 2), j - (way != 1)
        steps.append((None if way == 2 else i, None if way == 1 else j))
    return steps[::-1]


def similarity(wanted: CleanGrid, found: CleanGrid) -> float:
    """Return the similarity of a true table and a predicted one, from 0 to 1; raise FormatError for huge
    ones.
    """
    if len(wanted) * len(found) * len(wanted[0]) * len(found[0]) > MAX_STEPS:
        raise FormatError("The tables are too large to compare")
    of_cells = cache(cell_score)

    @cache
    def of_rows(x: tuple[str, ...], y: tuple[str, ...]) -> float:
        return align(x, y, of_cells, COLUMN_GAP)[0] + ROW_MATCH

    value, steps = align(wanted, found, of_rows, ROW_GAP)
    if not steps:
        return 0.0
    share = float(np.float32(value) / (len(steps) * (ROW_MATCH + len(wanted[0]))))
    return min(1.0, max(0.0, share))


def read_grid(html: str) -> CleanGrid:
    """Return an HTML table as it is compared; ValueError and FormatError as for `grid_of_html`, or without
    cells.
    """
    grid = grid_of_html(html)
    if not grid or not grid[0]:
        raise ValueError("a table without cells")
    return [tuple("".join(cell.replace("-", "").split()) for cell in row) for row in grid]
