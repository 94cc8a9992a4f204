"""The protocol `tables`: its options, and where pages are scored, figures summed and the rule chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from parsemark.errors import UsageError
from parsemark.metrics import get_metric
from parsemark.model import Page, Prediction
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.run_data.rows import PageScores
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Summary

PRIMARY_METRIC = "grits_con"
"""The structure metric of the ranking: of the three published ones it agrees best with people."""
DEFAULT_METRICS = (PRIMARY_METRIC, "teds", "grits_top", "reader")
Match = Literal["auto", "bbox", "content", "ngrams", "order"]
Scope = Literal["page", "document"]


@dataclass(frozen=True)
class TablesProtocol(PageProtocol):
    """End-to-end table extraction: detection and content together.

    Args:
        metrics: Specs of the metrics that score matched pairs.
        match: The rule by which the leaderboard matches. `auto` takes `bbox` where every true table has a box
            and every parser gives them, else `ngrams`. `order` takes tables as they come, as some boards do.
        rank_by: The metric whose end-to-end F1 ranks the leaderboard, scored also if `metrics` lacks it. By
            default `grits_con` if it is among them, else the first one.
        scope: `document` scores tables that run over pages as whole tables; see `whole_documents.py`.
    """

    name: ClassVar[str] = "tables"
    title: ClassVar[str] = "Table extraction"
    comparability: ClassVar[int] = 5
    needs_only_pages: ClassVar[bool] = True
    figures_by_kind: ClassVar[Mapping[str, str]] = {"tables": "te_f1_con"}
    tables_alone: ClassVar[bool] = True
    matching_rules: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "tables": ("bbox", "content", "ngrams"),
        "tables(match=order)": ("order",),
    }

    metrics: tuple[str, ...] = DEFAULT_METRICS
    match: Match = "auto"
    rank_by: str = ""
    scope: Scope = "page"

    def __post_init__(self) -> None:
        if self.scope == "document" and self.match not in ("auto", "ngrams"):
            raise UsageError(
                f"tables(scope=document) needs match=ngrams, not {self.match}: positions on different pages "
                "cannot be compared, and a table that is cut in two has no one-to-one match."
            )
        for spec in self.all_metrics:  # a wrong one is refused before anything is parsed
            kind = get_metric(spec).metadata.kind
            if kind != "table":
                raise UsageError(f"{spec} compares {kind}s, not tables; see: parsemark list metrics")

    @property
    def whole_documents(self) -> bool:
        """Return whether the pages of a document are scored together."""
        return self.scope == "document"

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """Return the metrics that score pairs, that of the ranking first, as their names are stored."""
        named = [str(get_metric(spec)) for spec in self.metrics]
        default = PRIMARY_METRIC if PRIMARY_METRIC in named else named[0]
        first = str(get_metric(self.rank_by)) if self.rank_by else default
        return tuple(dict.fromkeys([first, *named]))

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Match the tables of one page under every rule and score the pairs; see `page.py`."""
        from parsemark.protocols.tables.page import PageScorer

        return PageScorer(self.all_metrics, truth, prediction, self.match == "order").run(page_text)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the sums behind the figures under the leaderboard's rule; see `figures.py`."""
        from parsemark.protocols.tables.summary import RunMatches

        return RunMatches.of(self.seen(tables), self.rule, self.all_metrics[0]).figure_sums()

    def summarise(self, tables: RunTables) -> Summary:
        """Return all figures of a run; see `summary.py`."""
        from parsemark.protocols.tables.summary import summarise

        return summarise(
            self, self.seen(tables), self.rule, self.all_metrics[0], is_whole=self.whole_documents
        )

    def fixed_specs(self, summary: Summary, parser: str) -> list[str]:
        """Return two matching rules: by place where truth and parser have places, and by text, which every
        parser has.
        """
        if self.rule != "auto":
            return [str(self)]
        can_be_placed = "bbox" in summary.details.get("by_rule", {}).get(parser, {})
        rules: tuple[Match, ...] = ("bbox", "ngrams") if can_be_placed else ("ngrams",)
        return [str(replace(self, match=rule)) for rule in rules]

    def presentation(self) -> Presentation:
        """Show Soric et al.'s charts and tables, and types of errors; see `presentation.py`."""
        from parsemark.protocols.tables.presentation import present

        return present(self.all_metrics)

    @property
    def rule(self) -> str:
        """Return the rule of the leaderboard, `auto` where the data decide."""
        return "ngrams" if self.whole_documents else self.match

    def seen(self, tables: RunTables) -> RunTables:
        """Return the tables of a run as this protocol looks at them."""
        if not self.whole_documents:
            return tables
        from parsemark.protocols.whole_documents import joined_samples

        return joined_samples(tables)
