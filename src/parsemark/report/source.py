"""What the pages of the report read from a run: the tables, in the shape in which they are shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from parsemark.errors import PluginError, UnknownNameError, UsageError
from parsemark.model import AttributeValue, Status
from parsemark.protocols import Figure, FigureSums, PageProtocol, Presentation, Summary, get_protocol
from parsemark.protocols.broken import complete_sums
from parsemark.report.colours import colour_indices
from parsemark.report.names import safe_name, viewer_link
from parsemark.store import Run


@dataclass(frozen=True, slots=True)
class ShownParser:
    """A parser as the pages name it."""

    name: str
    colour: int
    key: str
    """Name of its files."""

    @property
    def href(self) -> str:
        """Its page."""
        return f"parser-{self.key}.html"


def readable_protocols(run: Run) -> tuple[list[str], list[str]]:
    """The protocols of a run whose code is here, and those of packages that are not installed.

    Raises:
        UsageError: None is here.
    """
    here: list[str] = []
    missing: list[str] = []
    for spec in run.protocols:
        try:
            get_protocol(spec)
            here.append(spec)
        except (UnknownNameError, PluginError):
            missing.append(spec)
    if missing and not here:
        raise UsageError(
            f"{run.path} was scored by {', '.join(missing)}, of a package that is not installed here, or "
            f"does not work. Install it, or score otherwise: parsemark score {run.path} --protocol tables"
        )
    return here, missing


class RunSource:
    """A run, read once, for all pages of its report."""

    def __init__(self, run: Run, protocol: str | None = None) -> None:
        self.run = run
        self.manifest = run.manifest
        self.protocol = protocol or next(iter(run.protocols), None)
        self.summary: Summary = run.summary(self.protocol)
        self.recipe: PageProtocol = get_protocol(self.summary.protocol)
        self.shown: Presentation = self.recipe.presentation()
        with run.scanning("samples") as samples:
            self.samples: pl.DataFrame = samples.drop("truth").collect().with_row_index("page")
        names = self._parser_names()
        colours = colour_indices(names)
        self.parsers = tuple(ShownParser(n, colours[n], safe_name(n)) for n in names)

    def _parser_names(self) -> list[str]:
        summarised = list(self.figures)
        listed = [p.name for p in self.manifest.parsers if p.name not in summarised]
        return [*summarised, *listed]

    @property
    def colours(self) -> dict[str, int]:
        """Parser name to palette index."""
        return {p.name: p.colour for p in self.parsers}

    @cached_property
    def parses(self) -> pl.DataFrame:
        """What became of each page by each parser: `sample`, `parser`, `status`, `cpu_s`."""
        return self.run.run_tables(self.protocol).read("parses", "sample", "parser", "status", "cpu_s")

    def scan(self, name: str) -> pl.LazyFrame:
        """A table that may be too large to hold; collect only what is needed of it."""
        path = self.run.table_path(name, self.protocol)
        return pl.scan_parquet(path) if path.exists() else self.run.table(name, self.protocol).lazy()

    @cached_property
    def matches(self) -> pl.DataFrame:
        """One row per match, page and parser, under the rule of the leaderboard."""
        return self.scan("matches").filter(pl.col("rule") == self.rule).drop("rule").collect()

    @property
    def scores(self) -> pl.DataFrame:
        """One row per score of a table, under the rule of the leaderboard; read anew each time."""
        return self._scores().collect()

    def scores_of(self, parser: str) -> pl.DataFrame:
        """The same of one parser."""
        return self._scores().filter(pl.col("parser") == parser).collect()

    def scores_by(self, metric: str) -> pl.DataFrame:
        """The same by one metric."""
        return self._scores().filter(pl.col("metric") == metric).collect()

    def _scores(self) -> pl.LazyFrame:
        own = self.scan("scores").filter((pl.col("rule") == self.rule) & (pl.col("element") != ""))
        return own.select("sample", "parser", "element", "pred", "metric", "value", "status")

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that pairs of tables were scored with, the best known first."""
        present = self._scores().select(pl.col("metric").unique()).collect()["metric"]
        return tuple(self.shown.shown_metrics(sorted(present)))

    @cached_property
    def main_metric(self) -> str:
        """The metric that lists of tables are sorted by; empty where nothing was scored."""
        return self.metrics[0] if self.metrics else ""

    @cached_property
    def rule(self) -> str:
        """The matching that leaderboard and lists use for all parsers."""
        stated = self.summary.settings.get("match")
        return stated if stated in self.rules else self.rules[0] if self.rules else ""

    @cached_property
    def rules(self) -> tuple[str, ...]:
        """The matchings that people may choose from."""
        present = self.scan("matches").select(pl.col("rule").unique()).collect()["rule"]
        return tuple(self.shown.shown_rules(sorted(present)))

    @property
    def primary(self) -> str:
        """The figure that the leaderboard is sorted by."""
        return self.summary.primary

    @property
    def figures(self) -> Mapping[str, Mapping[str, Figure]]:
        """Parser name to its numbers."""
        return self.summary.parsers

    @property
    def corpus(self) -> str:
        """Name and version of the corpus."""
        return f"{self.manifest.corpus.name} {self.manifest.corpus.version}"

    def element_link(self, sample: str, parser: str, element: str) -> str:
        """Where an element is shown."""
        return viewer_link(page=sample, table=element, parser=parser)

    def slice_figure(self, scope: str) -> str:
        """The figure by which pages or elements with one attribute are compared: one that they have."""
        wanted = self.shown.slice_figure(self.summary, scope)
        names = {
            n for part in self.summary.slices if part.scope == scope for f in part.figures.values() for n in f
        }
        return wanted if wanted in names or not names else min(names)

    def details(self, part: str, parser: str) -> Any:
        """What the protocol keeps for its own charts about a parser; empty if nothing."""
        return self.summary.details.get(part, {}).get(parser) or {}

    @cached_property
    def primary_sums(self) -> FigureSums | None:
        """What the primary figure is made of, page by page; None where nothing could be scored."""
        sums = complete_sums(self.recipe, self.run.run_tables(self.protocol))
        return next((f for f in sums if f.info.name == self.primary), None)

    @cached_property
    def attributes(self) -> list[dict[str, AttributeValue]]:
        """The attributes of each page, in page order."""
        return [json.loads(text) if text else {} for text in self.samples["attributes"]]

    def failures(self, parser: str) -> pl.DataFrame:
        """The pages on which a parser did not answer, with the reason."""
        failed = (pl.col("parser") == parser) & (pl.col("status") != str(Status.OK))
        return self.run.run_tables(self.protocol).read("parses", pl.all(), where=failed)

    def pages_with(self, attribute: str, value: AttributeValue) -> list[str]:
        """Ids of the pages that have an attribute."""
        ids = self.samples["sample"].to_list()
        return [i for i, a in zip(ids, self.attributes, strict=True) if a.get(attribute) == value]

    def batches(self, size: int) -> Iterator[tuple[int, pl.Series]]:
        """The ids of the pages in order, some at a time, with the number of the first."""
        ids = self.samples["sample"]
        for first in range(0, len(ids), size):
            yield first, ids.slice(first, size)

    def rows_of(self, name: str, ids: pl.Series) -> pl.DataFrame:
        """The rows of a large table for neighbouring pages."""
        own = pl.col("sample").is_between(pl.lit(ids[0]), pl.lit(ids[-1]))
        with self.run.scanning(name, self.protocol) as rows:
            return rows.filter(own).collect()


def page_values(source: RunSource, parser: str, samples: pl.Series | None = None) -> list[float | None]:
    """The primary figure of each page; None where the page has none.

    Args:
        source: The run.
        parser: One of its parsers.
        samples: The pages, where those of another run are meant.
    """
    pages = source.samples["sample"] if samples is None else samples
    values: list[float | None] = [None] * len(pages)
    figure = source.primary_sums
    if figure is None or parser not in figure.sums:
        return values
    index = dict(zip(pages, range(len(pages)), strict=True))
    for sample, value in zip(figure.samples, figure.page_values(parser), strict=True):
        if np.isfinite(value) and sample in index:
            values[index[sample]] = round(float(value), 4)
    return values


MOST_VALUES = 12
"""An attribute with more values than this (a file name, a date) is not something to slice by."""
FEWEST_PAGES = 2


@dataclass(frozen=True, slots=True)
class PageSlice:
    """Some pages of a run with their numbers."""

    key: str
    attribute: str
    label: str
    n_pages: int
    figures: Mapping[str, Mapping[str, Figure]]


def slices(source: RunSource) -> list[PageSlice]:
    """All pages, and each value of each attribute that divides them."""
    n_all = len(source.samples)
    found = [PageSlice("", "", "All pages", n_all, source.figures)]
    of_pages = [part for part in source.summary.slices if part.scope == "page"]
    values: dict[str, int] = {}
    for part in of_pages:
        values[part.attribute] = values.get(part.attribute, 0) + 1
    return found + [
        PageSlice(f"{p.attribute}={value_words(p.value)}", p.attribute, value_words(p.value), p.n, p.figures)
        for p in of_pages
        if values[p.attribute] <= MOST_VALUES and FEWEST_PAGES <= p.n < n_all
    ]


def value_words(value: str) -> str:
    """A slice's value as the pages and the viewer's filter write it."""
    return {"true": "yes", "false": "no"}.get(value, value)


def value_text(value: AttributeValue) -> str:
    """An attribute's value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
