"""The recipe: its options, and where its parts are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from parsemark.errors import UsageError
from parsemark.metrics import get_metric
from parsemark.model import Element, Page, Prediction
from parsemark.protocols.base import FigureSums, PageProtocol, PageScores, RunTables, Summary
from parsemark.protocols.presentation import (
    Chart,
    DataTable,
    ErrorKind,
    Explanation,
    RunParser,
    RunView,
    Section,
)
from parsemark.protocols.tables.errors import ERROR_KINDS
from parsemark.protocols.tables.evidence import CONFIDENCE_THRESHOLD
from parsemark.protocols.tables.figure_definitions import metric_words

if TYPE_CHECKING:
    import polars as pl

    from parsemark.protocols.tables.page import LastTruth

PRIMARY_METRIC = "grits_con"
"""The structure metric of the ranking: of the three published ones it agrees best with people."""
DEFAULT_METRICS = (PRIMARY_METRIC, "teds", "grits_top", "reader")
Match = Literal["auto", "bbox", "content", "ngrams"]
Scope = Literal["page", "document"]
RULE_WORDS = {
    "bbox": "an optimal one-to-one assignment by the overlap of boxes (IoU)",
    "content": "an optimal one-to-one assignment by the overlap of contents (content-Jaccard)",
    "ngrams": "character 3-grams, with pieces of a split table put together and merged tables cut apart",
}


@dataclass(frozen=True)
class TablesProtocol(PageProtocol):
    """End-to-end table extraction.

    Args:
        metrics: Specs of the metrics that score matched pairs.
        match: The rule by which the leaderboard matches. `auto` takes `bbox` where every true table has a box
            and every parser gives them, else `ngrams`.
        rank_by: The metric whose end-to-end F1 ranks the leaderboard, scored also if `metrics` lacks it. By
            default `grits_con` if it is among them, else the first one.
        scope: `document` scores tables that run over pages as whole tables; see `long_tables.py`.
    """

    name: ClassVar[str] = "tables"
    title: ClassVar[str] = "Table extraction"
    comparability: ClassVar[int] = 3
    error_kinds: ClassVar[tuple[ErrorKind, ...]] = ERROR_KINDS
    sure_above: ClassVar[float] = CONFIDENCE_THRESHOLD

    metrics: tuple[str, ...] = DEFAULT_METRICS
    match: Match = "auto"
    rank_by: str = ""
    scope: Scope = "page"

    def __post_init__(self) -> None:
        if self.scope == "document" and self.match not in ("auto", "ngrams"):
            raise UsageError(
                f"tables(scope=document) matches by ngrams, not by {self.match}: places on different pages "
                "do not compare, and a table that was cut in two has no one-to-one answer."
            )
        for spec in self.all_metrics:  # a wrong one is refused before anything is parsed
            kind = get_metric(spec).facts.kind
            if kind != "table":
                raise UsageError(f"{spec} compares {kind}s, not tables; see: parsemark metrics")

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """The metrics that score pairs, that of the ranking first, as their names are stored."""
        named = [str(get_metric(spec)) for spec in self.metrics]
        default = PRIMARY_METRIC if PRIMARY_METRIC in named else named[0]
        first = str(get_metric(self.rank_by)) if self.rank_by else default
        return tuple(dict.fromkeys([first, *named]))

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Match the tables of one page under every rule and score the pairs; see `page.py`."""
        from parsemark.protocols.tables.page import PageScorer

        inputs = self._last_truth.inputs_of(truth)
        return PageScorer(self.all_metrics, truth, prediction, inputs).run(page_text)

    @cached_property
    def _last_truth(self) -> LastTruth:
        from parsemark.protocols.tables.page import LastTruth

        return LastTruth()

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """What the figures under the rule of the leaderboard are made of; see `figures.py`."""
        from parsemark.protocols.tables.summary import RunEvidence

        return RunEvidence.of(self.seen(tables), self.rule, self.all_metrics[0]).figure_sums()

    def summarise(self, tables: RunTables) -> Summary:
        """All figures of a run; see `summary.py`."""
        from parsemark.protocols.tables.summary import summarise

        return summarise(self, self.seen(tables))

    @property
    def whole_documents(self) -> bool:
        """Whether tables are scored across pages."""
        return self.scope == "document"

    @property
    def rule(self) -> str:
        """The rule of the leaderboard, `auto` where the data decide."""
        return "ngrams" if self.whole_documents else self.match

    def seen(self, tables: RunTables) -> RunTables:
        """The tables of a run as this protocol looks at them."""
        if not self.whole_documents:
            return tables
        from parsemark.protocols.tables.long_tables import joined_samples

        return joined_samples(tables)

    def shown_rules(self, rules: Sequence[str]) -> list[str]:
        """By place, by content, by characters; matching in order of confidence is for curves alone."""
        return [rule for rule in get_args(Match) if rule in rules]

    def shown_metrics(self, metrics: Sequence[str]) -> list[str]:
        """The metric of the ranking first, then those of the protocol in their order."""
        known = [metric for metric in self.all_metrics if metric in metrics]
        return [*known, *sorted(set(metrics) - set(known))]

    def rule_words(self, rule: str) -> str:
        """What a matching rule does."""
        return RULE_WORDS.get(rule, rule)

    def metric_words(self, metric: str) -> str:
        """As in the literature."""
        return metric_words(metric)

    def slice_figure(self, summary: Summary, scope: str) -> str:
        """Pages by F1; a table has no precision of its own, so tables by recall."""
        return summary.primary if scope == "page" else summary.primary.replace("te_f1_", "te_recall_")

    def charts(self, run: RunView) -> list[Section]:
        """See `charts/`."""
        from parsemark.protocols.tables.charts import sections

        return sections(run)

    def parser_charts(self, run: RunView, parser: RunParser) -> list[Chart]:
        """See `charts/`."""
        from parsemark.protocols.tables.charts import charts_of_parser

        return charts_of_parser(run, parser)

    def paper_table_needs(self) -> Mapping[str, str]:
        """What Soric et al.'s tables are made of."""
        from parsemark.protocols.tables.papers import NEEDS

        return NEEDS

    def paper_tables(self, run: RunView) -> list[DataTable]:
        """Soric et al.'s; see `papers.py`."""
        from parsemark.protocols.tables.papers import soric_tables

        return soric_tables(run)

    def element_errors(self, run: RunView) -> pl.DataFrame:
        """Missed, invented, split and merged tables; see `errors.py`."""
        from parsemark.protocols.tables.errors import errors_of_matches

        return errors_of_matches(run)

    def explain(self, truth: Element, pred: Element) -> Explanation | None:
        """What a reader loses; see `errors.py`."""
        from parsemark.protocols.tables.errors import explain_pair

        return explain_pair(truth, pred)

    def put_together(self, truth: Element, pieces: Sequence[Element]) -> Element | None:
        """The pieces below or beside each other, as they are scored."""
        from parsemark.matching.ngrams import put_together

        table = put_together(truth, pieces)
        return None if table is None else replace(pieces[0], table=table, html=None, latex=None)
