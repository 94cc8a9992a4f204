"""What benchmarks share that score pages by OmniDocBench's program and have means of their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from parsemark.corpora import Corpus, load_corpus
from parsemark.model import Page, Prediction, Sample, Status
from parsemark.protocols import (
    PAGE_LEVEL,
    FigureInfo,
    FigureSums,
    PageProtocol,
    PageScores,
    RunTables,
    Summary,
    get_protocol,
    read_figures,
)
from parsemark_boards.measured_protocol import package_of

if TYPE_CHECKING:
    import polars as pl

PARTS = {"text_edit": True, "teds": False, "cdm": False}
"""Measures of a page that its score is made of; those that count as one minus themselves."""


@dataclass(frozen=True)
class OmniDocBenchPages(PageProtocol):
    """Pages by a published version of OmniDocBench's program, with the benchmark's own means.

    Args:
        cdm: Whether formulas are drawn and compared; needs pdflatex. Without it the scores lack formulas.
    """

    needs_only_pages: ClassVar[bool] = False  # `document` scores any run by the same rules
    profile: ClassVar[str]
    """The version of OmniDocBench's rules."""
    upstream: ClassVar[str]

    cdm: bool = True

    @cached_property
    def pages_protocol(self) -> PageProtocol:
        """The protocol that scores single pages."""
        return get_protocol(f"document(profile={self.profile},cdm={str(self.cdm).lower()})")

    def preload(self) -> None:
        """Import what scores pages."""
        self.pages_protocol.preload()

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Score one page as OmniDocBench does."""
        return self.pages_protocol.score_page(truth, prediction, page_text)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """The benchmark's means, the measures of pages, then the figures of every protocol."""
        from parsemark.protocols.run_scores.aggregate import mean_sums, run_sums

        rows = page_rows(tables)
        names = ["text_edit", "teds", *(["cdm"] if self.cdm and not why_not_drawn(tables) else [])]
        infos = read_figures(package_of(self), "measure")
        measures = {name: mean_sums(infos[name], of_measure(rows, name), "value", tables) for name in names}
        return [*self.means(tables, rows, measures), *measures.values(), *run_sums(tables)]

    @abstractmethod
    def means(
        self, tables: RunTables, rows: pl.DataFrame, measures: Mapping[str, FigureSums]
    ) -> list[FigureSums]:
        """Return the benchmark's own figures, the one that ranks first.

        `rows` has the values of whole pages `(sample, parser, metric, value)`, `measures` their means.
        """

    def info(self, name: str, measures: Collection[str], **words: str) -> FigureInfo:
        """Describe a mean; its label says so where it lacks formulas."""
        found = read_figures(package_of(self), "mean", words)[name]
        if "cdm" in measures:
            return found
        return found.model_copy(update={"label": f"{found.label} (no CDM)"})

    def summarise(self, tables: RunTables) -> Summary:
        """Sum up a run, with a note where formulas are missing."""
        why = why_not_drawn(tables) if self.cdm else "It was not asked for."
        notes = [f"Scores lack formulas, which the published ones contain: CDM is not computed. {why}"]
        notes = notes if why else []
        settings = {"rules": self.upstream, "profile": self.profile, "cdm": str(self.cdm).lower()}
        sums = self.figure_sums(tables)
        if sums[0].info.name in PARTS:
            loader = f"{self.name}:PATH"
            notes.append(f"There is no Overall: only pages that are loaded by {loader} have what it needs.")
        return self.summary_of(
            tables, sums, settings=settings, notes=notes, failures_count=self.counts_missing
        )

    @property
    def counts_missing(self) -> bool:
        """Whether a page without output counts as an empty one."""
        return self.profile not in ("v1.0", "v1.5")


def page_rows(tables: RunTables) -> pl.DataFrame:
    """Return the measures of whole pages, without those that were not measured."""
    import polars as pl

    of_page = (pl.col("element") == PAGE_LEVEL) & pl.col("metric").is_in(list(PARTS))
    rows = tables.read("scores", "sample", "parser", "metric", "value", where=of_page)
    return rows.filter(pl.col("value").is_not_null())


def of_measure(rows: pl.DataFrame, name: str, samples: Collection[str] | None = None) -> pl.DataFrame:
    """Return the rows of a measure, of some pages."""
    import polars as pl

    own = rows.filter(pl.col("metric") == name)
    return own if samples is None else own.filter(pl.col("sample").is_in(list(samples)))


def why_not_drawn(tables: RunTables) -> str:
    """Return why CDM could not be computed; "" if it was."""
    import polars as pl

    failed = (pl.col("metric") == "cdm") & (pl.col("status") == str(Status.METRIC_FAILED))
    lost = tables.read("scores", "message", where=failed & (pl.col("element") == PAGE_LEVEL))
    return str(lost["message"][0]) if len(lost) else ""


def attribute_of_pages(tables: RunTables, name: str) -> dict[str, str]:
    """Return an attribute of the pages that have it, by sample."""
    from parsemark.protocols.run_scores.slices import page_attributes

    samples = tables.known("samples", "sample", "attributes")
    said = zip(samples["sample"], page_attributes(samples), strict=True)
    return {str(sample): str(own[name]) for sample, own in said if own.get(name) is not None}


def omnidocbench_samples(file: Path) -> Corpus:
    """Load a file in the form of OmniDocBench's annotation."""
    return load_corpus(f"omnidocbench:{file}")


def with_attributes(sample: Sample, **attributes: str) -> Sample:
    """Return a sample whose page has more attributes."""
    if sample.truth is None:
        return sample
    truth = replace(sample.truth, attributes={**sample.truth.attributes, **attributes})
    return replace(sample, truth=truth)


def mean_of(
    parts: Sequence[FigureSums], info: FigureInfo, turned: Sequence[bool] = (), *, complete: bool = True
) -> FigureSums:
    """Return the mean of means, which needs all of them if it is `complete`."""
    from parsemark.protocols.run_scores.aggregate import mean_of_figures

    return mean_of_figures(info, parts, turned, complete=complete)
