"""What a report shows of a protocol beside its figures: one object of data and functions beside the protocol.

Report, `figures` and `export` read a `Presentation` and know the name of no metric. Every field has a
default; a protocol names what it has something to say about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from parsemark.model import Element
from parsemark.protocols.exhibits import (
    Chart,
    DataTable,
    ErrorKind,
    Explanation,
    NamedProfile,
    PageViews,
    Section,
)
from parsemark.protocols.result_files import BoardRun, Files
from parsemark.protocols.summary import Summary

if TYPE_CHECKING:
    import polars as pl


class RunParser(Protocol):
    """A parser of a run, as charts and tables name it."""

    @property
    def name(self) -> str:
        """As in the run."""

    @property
    def key(self) -> str:
        """For names of charts and files: letters, digits and hyphens."""

    @property
    def href(self) -> str:
        """Where its page is, inside the site."""


class MatchView(Protocol):
    """What errors are made of: the matches and scores of a run under one rule."""

    @property
    def rule(self) -> str:
        """The matching rule of leaderboard and lists."""

    @property
    def matches(self) -> pl.DataFrame:
        """The matches under that rule."""

    def scores_by(self, metric: str) -> pl.DataFrame:
        """The scores of elements under that rule by one metric."""

    def scan(self, name: str) -> pl.LazyFrame:
        """A table of the run that may be too large to hold."""


class RunView(MatchView, Protocol):
    """What charts and tables are made of: a scored run as the report reads it."""

    @property
    def summary(self) -> Summary:
        """What the protocol said about the run."""

    @property
    def parsers(self) -> Sequence[RunParser]:
        """In the order in which they are shown."""

    @property
    def corpus(self) -> str:
        """Name and version of the corpus."""

    @property
    def samples(self) -> pl.DataFrame:
        """One row per page, without its truth; `page` is its number."""

    @property
    def scores(self) -> pl.DataFrame:
        """The scores of elements under that rule."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of these scores, in the protocol's order."""

    def details(self, part: str, parser: str) -> Any:
        """What the summary's details hold for a parser."""

    def element_link(self, sample: str, parser: str, element: str) -> str:
        """Where an element is shown, inside the site."""


def errors_by_kind(matches: pl.DataFrame, errors: Mapping[str, str]) -> pl.DataFrame:
    """For each element of matches of some kinds the type of its error: `Presentation.element_errors`.

    Args:
        matches: Of a run under one rule.
        errors: Kind of a match to the name of an `ErrorKind`.
    """
    import polars as pl

    wrong = matches.filter(pl.col("kind").is_in(list(errors)))
    sides = pl.when(pl.col("truth").list.len() > 0).then(pl.col("truth")).otherwise(pl.col("pred"))
    return (
        wrong.with_columns(element=sides, error=pl.col("kind").replace(errors))
        .explode("element")
        .select("sample", "parser", "element", "error")
    )


def no_errors(run: MatchView) -> pl.DataFrame:
    """Say that matches show no errors."""
    return run.matches.select("sample", "parser", element="kind", error="kind").clear()


def _primary(summary: Summary, _: str) -> str:
    return summary.primary


def _nothing(*_: Any) -> list[Any]:
    return []


@dataclass(frozen=True)
class Presentation:
    """What is shown of a protocol; without arguments its figures alone."""

    charts: Callable[[RunView], Sequence[Section]] = _nothing
    """Charts of its own; quality against time, time, and attributes belong to every protocol."""
    parser_charts: Callable[[RunView, RunParser], Sequence[Chart]] = _nothing
    """Charts on the page of one parser."""
    paper_tables: Callable[[RunView], Sequence[DataTable]] = _nothing
    """Tables of the publications that the protocol stands for, from this run."""
    paper_table_needs: Mapping[str, str] = field(default_factory=dict)
    """What a run must have for each of these tables, by its key, as what follows "needs"."""

    error_kinds: tuple[ErrorKind, ...] = ()
    """Types of errors, in the order in which they are shown."""
    element_errors: Callable[[MatchView], pl.DataFrame] = no_errors
    """Errors that matches show: `sample`, `parser`, `element`, `error` (the name of an `ErrorKind`)."""
    explain: Callable[[Element, Element], Explanation | None] | None = None
    """Why a matched pair (truth, prediction) scores as it does; the function gives None where nothing can be
    said, or it would take too long."""
    join_pieces: Callable[[Element, Sequence[Element]], Element | None] | None = None
    """What several predictions that answer one truth are scored as; without it they are not scored as one."""

    result_files: Callable[[BoardRun], Files] | None = None
    """The files that a board's own programs write and read, from this run."""

    pages: PageViews | None = None
    """How whole pages are shown."""
    profile: NamedProfile | None = None
    """The profile that is in use, where the protocol has several."""

    rules: tuple[str, ...] = ()
    """Matching rules that the viewer offers, the best known first; all where none is named."""
    rule_words: Mapping[str, str] = field(default_factory=dict)
    """What a matching rule does, in the middle of a sentence."""
    metrics: tuple[str, ...] = ()
    """Metrics of elements in their order: that by which lists are sorted first, unnamed ones last."""
    hidden_metrics: frozenset[str] = frozenset()
    """Rows of `scores.parquet` that are no metric to show."""
    metric_words: Callable[[str], str] = lambda metric: metric.replace("_", " ")
    """How a metric of elements is called beside its value."""
    lower_is_better: frozenset[str] = frozenset()
    """Metrics of elements of which less is better, where the metrics do not say so themselves."""
    slice_figure: Callable[[Summary, str], str] = _primary
    """The figure that compares pages (scope `page`), or elements of a category, with one attribute."""
    sure_above: float = 0.0
    """A prediction with a confidence up to this answers nothing, and is not shown as invented."""

    def shown_rules(self, present: Sequence[str]) -> list[str]:
        """Choose the matching rules of a run that the viewer offers."""
        return [rule for rule in self.rules if rule in present] if self.rules else sorted(present)

    def shown_metrics(self, present: Sequence[str]) -> list[str]:
        """Put the metrics of a run in order."""
        known = [metric for metric in self.metrics if metric in present]
        return [*known, *sorted(set(present) - set(known) - self.hidden_metrics)]

    def words_for_rule(self, rule: str) -> str:
        """Say what a matching rule does."""
        return self.rule_words.get(rule) or (f"its rule {rule}" if rule else "no rule: it matches nothing")
