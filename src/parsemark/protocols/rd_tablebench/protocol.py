"""The recipe: its options and figure."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Literal

from parsemark.model import Page, Prediction, Status
from parsemark.protocols.figures import FigureInfo
from parsemark.protocols.measured import LeftOutError, MeasuredProtocol, html_of, own_truth, score_info
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.result_files import BoardRun, Files, as_csv

HTML = "rd_tablebench_html"
"""Where a page keeps its true table."""


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
    comparability: ClassVar[int] = 1
    infos: ClassVar[tuple[FigureInfo, ...]] = (
        score_info(
            "similarity",
            "Similarity",
            "Alignment of two grids, row by row and cell by cell, with free gaps at the ends.",
            "pages with one table",
            main=True,
        ),
    )

    choose: Literal["longest", "largest", "first"] = "longest"
    missing_left_out: bool = False

    def presentation(self) -> Presentation:
        """Write the board's files."""
        return Presentation(result_files=self.result_files)

    def result_files(self, board: BoardRun) -> Files:
        """The chosen table of each page as `providers/PARSER/NAME.html`, and a file of scores."""
        for parser in board.parsers:
            values = board.values(parser)
            rows: list[list[object]] = [["name", "similarity"]]
            for sample, document, _ in board.pages():
                with suppress(ValueError):
                    yield (
                        f"providers/{parser}/{document}.html",
                        self._chosen(board.prediction(sample, parser)),
                    )
                rows.append([document, values.get(sample, {}).get("similarity")])
            yield f"{parser}.csv", as_csv(rows)

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """The number of a page; none where it has not exactly one table."""
        from parsemark.protocols.rd_tablebench.rules import html_similarity

        wanted = own_truth(truth, HTML)
        if not isinstance(wanted, str):
            if len(truth.tables) != 1:
                return None
            wanted = html_of(truth.tables[0])
        try:
            return {"similarity": html_similarity(wanted, self._chosen(prediction))}
        except ValueError as error:  # not one that is too large, which is ours
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
