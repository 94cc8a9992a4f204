"""The recipe: its options, and where its parts are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from parsemark.model import Page, Prediction
from parsemark.protocols.base import FigureSums, PageProtocol, PageScores, RunTables, Summary

DEFAULT_METRICS = ("teds", "grits_top", "grits_con")
Match = Literal["auto", "bbox", "content", "ngrams"]


@dataclass(frozen=True)
class TablesProtocol(PageProtocol):
    """End-to-end table extraction.

    Args:
        metrics: Specs of the metrics that score matched pairs.
        match: The rule by which the leaderboard matches; `auto` takes the one that fits the run.
    """

    name: ClassVar[str] = "tables"
    title: ClassVar[str] = "Table extraction"
    comparability: ClassVar[int] = 1

    metrics: tuple[str, ...] = DEFAULT_METRICS
    match: Match = "auto"

    def __post_init__(self) -> None:
        from parsemark.metrics import get_metric

        for spec in self.metrics:
            get_metric(spec)  # a wrong one is refused before anything is parsed

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Match the tables of one page under every rule and score the pairs; see `page.py`."""
        from parsemark.protocols.tables.page import PageScorer

        return PageScorer(self.metrics, truth, prediction).run(page_text)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """What the figures under the rule of the leaderboard are made of; see `figures.py`."""
        from parsemark.protocols.tables.summary import RunEvidence

        return RunEvidence.of(tables, self.match).figure_sums()

    def summarise(self, tables: RunTables) -> Summary:
        """All figures of a run; see `summary.py`."""
        from parsemark.protocols.tables.summary import summarise

        return summarise(self, tables)
