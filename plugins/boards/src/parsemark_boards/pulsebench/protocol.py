"""PulseBench-Tab (Pulse): T-LAG of a page's only table, with both means."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator

from parsemark.model import Page, Prediction, Status
from parsemark.protocols import BoardRun, Files, html_of
from parsemark_boards.measured_protocol import MeasuredProtocol, own_truth, reading_truth
from parsemark_boards.pulsebench.tlag import table_edges, tlag
from parsemark_boards.truth_model import benchmark_rules

HTML = "pulsebench_html"  # where a page keeps its true table


def _check_table(html: str) -> str:
    """Refuse a table that the benchmark cannot read."""
    with benchmark_rules():
        table_edges(html)
    return html


TrueTable = Annotated[str, AfterValidator(_check_table)]
"""A true table as HTML."""


@dataclass(frozen=True)
class PulsebenchProtocol(MeasuredProtocol):
    """T-LAG of a page's only table, as PulseBench-Tab computes it.

    There are two means: pages without output count as 0, or, as in the benchmark, are left out.
    """

    name: ClassVar[str] = "pulsebench-tab"
    title: ClassVar[str] = "PulseBench-Tab: T-LAG of tables"
    upstream: ClassVar[str] = "PulseBench-Tab 594fbd0 (April 2026)"
    comparability: ClassVar[int] = 1
    figures_by_kind: ClassVar[Mapping[str, str]] = {"tables": "tlag"}
    table_matching: ClassVar[str] = "order"
    truth_models: ClassVar[Mapping[str, Any]] = {HTML: TrueTable}

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """Return both numbers of a page; none where the truth has not exactly one table."""
        expected = own_truth(truth, HTML)
        if expected is None:
            if len(truth.tables) != 1:
                return None
            expected = html_of(truth.tables[0])
            with reading_truth():
                table_edges(expected)
        output = self._output(prediction)
        if not output.strip():
            return {"tlag": 0.0, "tlag_answered": None}
        value = tlag(expected, output).score
        return {"tlag": value, "tlag_answered": value}

    def _output(self, prediction: Prediction) -> str:
        """Return the tables of an output as one document, as upstream reads a file."""
        return "".join(html_of(table) for table in prediction.tables if prediction.status is Status.OK)

    def result_files(self, board: BoardRun) -> Files:
        """Return `PARSER/NAME.html`, which the benchmark's program scores, and the numbers."""
        for parser in board.parsers:
            for sample, document, _ in board.pages():
                yield f"{parser}/{document}.html", self._output(board.prediction(sample, parser))
        yield from super().result_files(board)
