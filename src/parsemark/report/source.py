"""What the pages of the report read from a run: the tables, in the shape in which they are shown."""

from __future__ import annotations

import importlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from parsemark.errors import UsageError
from parsemark.model import AttributeValue, Status
from parsemark.plain_words import unbroken
from parsemark.protocols import Figure, FigureSums
from parsemark.protocols.run_data.broken_pages import complete_sums
from parsemark.protocols.run_scores.slices import attribute_label, page_attributes
from parsemark.report.colours import colour_indices
from parsemark.report.drawing import Chart, DataTable, RunParser, Section
from parsemark.report.names import safe_name, viewer_link
from parsemark.store import Run
from parsemark.verdicts.comparison import RunComparison, compare_runs, require_comparable, require_same_corpus
from parsemark.verdicts.scored_run import ScoredRun


class RunSource(ScoredRun):
    """A run as pages, charts and tables read it: with colours, links, and values of pages."""

    def __init__(self, run: Run, protocol: str | None = None) -> None:
        super().__init__(run, protocol)
        self.corpus = f"{self.manifest.corpus.name} {self.manifest.corpus.version}"
        with run.scanning("samples") as samples:
            self.samples = samples.drop("truth").collect().with_row_index("page")
        names = list(dict.fromkeys([*self.summary.parsers, *(p.name for p in self.manifest.parsers)]))
        colours = colour_indices(names)
        self.parsers: tuple[RunParser, ...] = tuple(RunParser(n, colours[n], safe_name(n)) for n in names)

    @cached_property
    def drawing(self) -> Drawing:
        """Return the protocol's own charts and tables."""
        return Drawing.of(self.shown.drawing)

    def details(self, part: str, parser: str) -> Any:
        """Return the protocol's data for its own charts about a parser; empty if there is none."""
        return self.summary.details.get(part, {}).get(parser) or {}

    @property
    def colours(self) -> dict[str, int]:
        """Return parser name to palette index."""
        return {p.name: p.colour for p in self.parsers}

    @cached_property
    def parses(self) -> pl.DataFrame:
        """Return the outcome of each page by each parser: `sample`, `parser`, `status`, `cpu_s`,
        `cost_usd`.
        """
        columns = ("sample", "parser", "status", "cpu_s", "cost_usd")
        return self.run.run_tables(self.protocol).read("parses", *columns)

    def element_link(self, sample: str, parser: str, element: str) -> str:
        """Return where an element is shown."""
        return viewer_link(page=sample, table=element, parser=parser)

    def slice_figure(self, scope: str) -> str:
        """Return the figure by which pages or elements with one attribute are compared: one that they
        have.
        """
        wanted = self.shown.slice_figure(self.summary, scope)
        own = [part for part in self.summary.slices if part.scope == scope]
        names = {name for part in own for figures in part.figures.values() for name in figures}
        return wanted if wanted in names or not names else min(names)

    @cached_property
    def primary_sums(self) -> FigureSums | None:
        """Return the sums behind the primary figure, page by page; None where nothing could be scored."""
        sums = complete_sums(self.recipe, self.run.run_tables(self.protocol))
        return next((f for f in sums if f.info.name == self.summary.primary), None)

    @cached_property
    def attributes(self) -> dict[str, dict[str, AttributeValue]]:
        """Return the attributes and kinds of each page, by its id, in page order."""
        return dict(zip(self.samples["sample"], page_attributes(self.samples), strict=True))

    def failures(self, parser: str) -> pl.DataFrame:
        """Return the pages on which a parser did not answer, with the reason."""
        failed = (pl.col("parser") == parser) & (pl.col("status") != str(Status.OK))
        return self.run.run_tables(self.protocol).read("parses", pl.all(), where=failed)

    def batches(self, size: int) -> Iterator[tuple[int, pl.Series]]:
        """Yield the ids of the pages in order, some at a time, with the number of the first."""
        ids = self.samples["sample"]
        for first in range(0, len(ids), size):
            yield first, ids.slice(first, size)

    def rows_of(self, name: str, ids: pl.Series) -> pl.DataFrame:
        """Return the rows of a large table for neighbouring pages."""
        own = pl.col("sample").is_between(pl.lit(ids[0]), pl.lit(ids[-1]))
        with self.run.scanning(name, self.protocol) as rows:
            return rows.filter(own).collect()


def _nothing(*_: Any) -> list[Any]:
    return []


@dataclass(frozen=True)
class Drawing:
    """The charts and tables that one protocol has of its own."""

    charts: Callable[[RunSource], Sequence[Section]] = _nothing
    """Beside quality against time, time, and attributes, which every protocol has."""
    parser_charts: Callable[[RunSource, RunParser], Sequence[Chart]] = _nothing
    paper_tables: Callable[[RunSource], Sequence[DataTable]] = _nothing
    """Tables of the publications that the protocol stands for, from this run."""
    paper_table_needs: Mapping[str, str] = field(default_factory=dict)
    """What a run must have for each of these tables, by its key, as what follows "needs"."""

    @classmethod
    def of(cls, spec: str) -> Drawing:
        """Load what `Presentation.drawing` names; what fails of other packages is left out with a warning."""
        if not spec:
            return cls()
        if spec.startswith("parsemark.report."):
            return _load(spec)
        found: Drawing = _kept(f"{spec} could not be loaded", lambda: _load(spec), cls)()
        made = {
            name: _kept(f"{spec}: its {name} could not be made", getattr(found, name), _nothing)
            for name in _FUNCTIONS
        }
        return cls(**made, paper_table_needs=found.paper_table_needs)


_FUNCTIONS = ("charts", "parser_charts", "paper_tables")


def _load(spec: str) -> Drawing:
    module, _, name = spec.partition(":")
    found = getattr(importlib.import_module(module), name)
    if not isinstance(found, Drawing):
        raise TypeError(f"{spec} is not a Drawing")
    return found


def _kept(what: str, make: Callable[..., Any], default: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any) -> Any:
        try:
            return make(*args)
        except Exception as error:  # code of another package costs only what it draws
            message = unbroken(f"{type(error).__name__}: {error}")[:200]
            warnings.warn(f"{what} ({message}).", stacklevel=2)
            return default(*args)

    return made


@dataclass(frozen=True, slots=True)
class Older:
    """An older run beside the one of the report."""

    run: Run
    changes: RunComparison | None
    refused: str = ""  # why there is no comparison: a report is not lost because an old run does not fit
    is_beside: bool = False  # whether its pages can be shown, though its figures cannot be compared

    @classmethod
    def of(cls, source: RunSource, path: Path) -> Older:
        """Read the run that the report was asked to compare with."""
        run, protocol, is_beside = Run.open(path), source.summary.protocol, False
        try:
            require_same_corpus(run, source.run)
            require_comparable(run.summary(protocol), source.summary)
            is_beside = True
            return cls(run, compare_runs(run, source.run, protocol), is_beside=True)
        except UsageError as error:
            return cls(run, None, str(error), is_beside)

    def source(self, protocol: str) -> RunSource | None:
        """Return its tables, where they can be shown."""
        return RunSource(self.run, protocol) if self.is_beside else None


def page_values(source: RunSource, parser: str, samples: pl.Series | None = None) -> list[float | None]:
    """Return the primary figure of each page (or of `samples`, those of another run); None where it has
    none.
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


MOST_VALUES = 12  # an attribute with more values than this (a file name, a date) is not something to slice by
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
    """Return all pages, and each value of each attribute that divides them."""
    n_all = source.summary.counts.get("pages", len(source.samples))
    found = [PageSlice("", "", "All pages", n_all, source.summary.parsers)]
    of_pages = [part for part in source.summary.slices if part.scope == "page"]
    values = Counter(part.attribute for part in of_pages)
    return found + [
        PageSlice(f"{p.attribute}={value_words(p.value)}", p.attribute, value_words(p.value), p.n, p.figures)
        for p in of_pages
        if values[p.attribute] <= MOST_VALUES and FEWEST_PAGES <= p.n < n_all
    ]


def value_words(value: AttributeValue) -> str:
    """Return an attribute's value, of a page or of a slice, as the pages and the viewer's filter write it."""
    label = attribute_label(value)
    return {"true": "yes", "false": "no"}.get(label, label)
