"""What a report shows of a protocol beside its figures: one object of data and functions beside the protocol.

Report and `export` read a `Presentation` and know the name of no metric. Every field has a
default; a protocol names what it has something to say about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from parsemark.model import Box, Element, Page, Prediction
from parsemark.protocols.result_files import BoardRun, Files
from parsemark.store.summary import Summary

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A type of error that a protocol tells apart."""

    name: str  # in letters and `_`
    label: str
    definition: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One error between a truth and what answers it."""

    kind: str  # name of an `ErrorKind`; empty for what is no error of its own
    message: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a pair scores as it does, in words."""

    title: str  # what is explained: `reader 7.3 of 10`
    findings: tuple[Finding, ...]  # strongest first; perhaps not all
    counts: Mapping[str, int]
    n_findings: int


@dataclass(frozen=True, slots=True)
class PageMatch:
    """What answers what on a page that is shown whole."""

    kind: str  # `pair`, `split`, `merge`, `moved`, `miss` or `extra`
    category: str
    truth: str  # what stands there, as far as it is shown; empty where nothing does
    pred: str
    similarity: float | None = None
    boxes: tuple[Box, ...] = ()  # where the truth stands
    is_formula: bool = False
    is_compared: bool = False  # whether the two are texts whose difference is shown


@dataclass(frozen=True, slots=True)
class PageView:
    """A whole page as a parser read it."""

    matches: tuple[PageMatch, ...]
    true_path: tuple[Box, ...]
    pred_path: tuple[Box, ...]  # the same places in the parser's order
    lost: tuple[str, ...]  # stretches of the truth's texts and cells that were lost; perhaps not all
    n_lost: int  # how many characters were lost in all
    values: Mapping[str, float]
    message: str | None = None  # why there is nothing to see, where the parser failed
    marked: tuple[tuple[str, str], ...] = ()
    """The output's text in pieces: `same`, and `new` where nothing on the page supports it."""
    size: tuple[float, float] | None = None  # of the page in points, where there is no truth that says it


@dataclass(frozen=True, slots=True)
class PageViews:
    """How a protocol shows whole pages, and how they are listed."""

    figure: str  # the figure that stands for a page in the list
    figure_words: str  # what these numbers are, as a sentence
    view: Callable[[Page, Prediction], PageView] | None = None
    """Make the view of one page of a parser that has figures."""
    of_rows: Callable[[Sequence[Mapping[str, Any]], Prediction], PageView] | None = None
    """The same from the rows of the page and parser, for a protocol that needs no truth."""
    worst: str = ""
    """The measure of pages by which the worst come first; by default pages are in their own order."""
    found: Callable[[Sequence[Mapping[str, Any]]], Sequence[PageMatch]] | None = None
    """What rows of a page and parser found on it, for the viewer of all protocols."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One thing that the profiles of a protocol do differently."""

    name: str
    value: object
    sentence: str


@dataclass(frozen=True, slots=True)
class NamedProfile:
    """One of several sets of rules that a protocol has."""

    name: str
    switches: tuple[Switch, ...] = ()
    """The same, in the same order, for all profiles; none for a profile that is not made of switches."""
    sentence: str = ""  # how a profile that is not made of switches differs from those that are


class ScoredTables:
    """The matches and scores of a run by one protocol, under the rule of its leaderboard."""

    def __init__(self, summary: Summary, shown: Presentation, scan: Callable[[str], pl.LazyFrame]) -> None:
        self.summary, self.shown = summary, shown
        self.scan = scan
        """A table that may be too large to hold; collect only what is needed of it."""

    @cached_property
    def matches(self) -> pl.DataFrame:
        """Return one row per match, page and parser."""
        return self.scan("matches").filter(rule=self.rule).drop("rule").collect()

    def scores_of(self, parser: str) -> pl.DataFrame:
        """Return one row per score of a parser's elements; read again each time."""
        return self._scores().filter(parser=parser).collect()

    def scores_by(self, metric: str) -> pl.DataFrame:
        """Return the same by one metric."""
        return self._scores().filter(metric=metric).collect()

    def details_of(self, metric: str, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return `sample`, `parser`, `element`, value and details of the scores of some pairs."""
        import polars as pl

        told = pl.col("value").is_not_null() & pl.col("details").is_not_null()
        scores = self.scan("scores").filter(told, rule=self.rule, metric=metric)
        place = ["sample", "parser", "element", "pred"]
        own = scores.join(pairs.lazy().select(place), on=place, how="semi")
        return own.select("sample", "parser", "element", "value", "details").collect()

    def _scores(self) -> pl.LazyFrame:
        import polars as pl

        own = self.scan("scores").filter(pl.col("element") != "", rule=self.rule)
        return own.select("sample", "parser", "element", "pred", "metric", "value", "status")

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics of the scores of elements, in the protocol's order."""
        present = set(self._scores().select("metric").unique().collect()["metric"])
        known = [metric for metric in self.shown.metrics if metric in present]
        return (*known, *sorted(present - {*known} - self.shown.hidden_metrics))

    @cached_property
    def main_metric(self) -> str:
        """Return the metric that lists of elements are sorted by; empty where nothing was scored."""
        return self.metrics[0] if self.metrics else ""

    @cached_property
    def rule(self) -> str:
        """Return the matching that leaderboard and lists use for all parsers."""
        stated = self.summary.settings.get("match")
        return stated if stated in self.rules else self.rules[0] if self.rules else ""

    @cached_property
    def rules(self) -> tuple[str, ...]:
        """Return the matchings that people may choose from."""
        present = sorted(self.scan("matches").select("rule").unique().collect()["rule"])
        return tuple(rule for rule in self.shown.rules or present if rule in present)


def errors_by_kind(matches: pl.DataFrame, errors: Mapping[str, str]) -> pl.DataFrame:
    """Return the `ErrorKind` of each element of matches of some kinds: `Presentation.element_errors`."""
    import polars as pl

    wrong = matches.filter(pl.col("kind").is_in(list(errors)))
    sides = pl.when(pl.col("truth").list.len() > 0).then(pl.col("truth")).otherwise(pl.col("pred"))
    return (
        wrong.with_columns(element=sides, error=pl.col("kind").replace(errors))
        .explode("element")
        .select("sample", "parser", "element", "error")
    )


@dataclass(frozen=True)
class Presentation:
    """What is shown of a protocol; without arguments its figures alone."""

    drawing: str = ""
    """Its own charts and tables for papers: `package.module:NAME` of a `parsemark.report.source.Drawing`."""

    error_kinds: tuple[ErrorKind, ...] = ()  # types of errors, in the order in which they are shown
    element_errors: Callable[[ScoredTables], pl.DataFrame] = lambda run: run.matches.select(
        "sample", "parser", element="kind", error="kind"
    ).clear()
    """Errors that matches show: `sample`, `parser`, `element`, `error` (the name of an `ErrorKind`)."""
    explain: Callable[[Element, Element], Explanation | None] | None = None
    """Why a matched pair (truth, prediction) scores as it does; the function gives None where nothing can be
    said, or it would take too long."""
    explain_stored: tuple[str, Callable[[float, str], Explanation | None]] | None = None
    """The metric whose stored scores already hold that explanation, and what reads it from value and details
    (JSON text); the function gives None where they do not hold all of it, and the pair is explained again."""
    join_pieces: Callable[[Element, Sequence[Element]], Element | None] | None = None
    """What several predictions that answer one truth are scored as; without it they are not scored as one."""

    result_files: Callable[[BoardRun], Files] | None = None
    """The files that a board's own programs write and read, from this run."""

    pages: PageViews | None = None
    profile: NamedProfile | None = None  # the profile that is in use, where the protocol has several

    rules: tuple[str, ...] = ()
    """Matching rules that the viewer offers, the best known first; all where none is named."""
    rule_words: Mapping[str, str] = field(default_factory=dict)
    """What a matching rule does, in the middle of a sentence."""
    metrics: tuple[str, ...] = ()
    """Metrics of elements in their order: that by which lists are sorted first, unnamed ones last."""
    hidden_metrics: frozenset[str] = frozenset()  # rows of `scores.parquet` that are no metric to show
    metric_words: Callable[[str], str] = lambda metric: metric.replace("_", " ")
    """How a metric of elements is called beside its value."""
    lower_is_better: frozenset[str] = frozenset()
    """Metrics of elements of which less is better, where the metrics do not say so themselves."""
    slice_figure: Callable[[Summary, str], str] = lambda summary, _: summary.primary
    """The figure that compares pages (scope `page`), or elements of a category, with one attribute."""
    sure_above: float = 0.0
    """A prediction with a confidence up to this answers nothing, and is not shown as invented."""

    def words_for_rule(self, rule: str) -> str:
        """Return a description of a matching rule."""
        return self.rule_words.get(rule) or (f"its rule {rule}" if rule else "no rule: it matches nothing")
