"""Two parsers, or one parser in two runs, on the same pages: how far apart are they, and how sure is that?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from parsemark.protocols import tables_figures as figures
from parsemark.protocols.tables_evidence import Evidence, Pages, gather
from parsemark.protocols.tables_summary import PRIMARY_METRIC
from parsemark.stats.comparison import ALPHA, paired_interval, permutation_p
from parsemark.stats.detection import is_detected

PRIMARY = f"te_f1_{figures.METRIC_NAMES[PRIMARY_METRIC]}"


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of A and of B on the same pages, and what lies between them (A − B)."""

    figure: str
    a: float
    b: float
    difference: float
    ci95: tuple[float, float] | None
    p: float
    n_documents: int

    @property
    def significant(self) -> bool:
        """Whether exchange of A and B page by page explains the difference in under 5 % of cases."""
        return self.p < ALPHA


@dataclass(frozen=True, slots=True)
class PageDifference:
    """What A and B earned on one page in the primary figure."""

    sample: str
    a: float
    b: float

    @property
    def difference(self) -> float:
        """A − B."""
        return self.a - self.b


@dataclass(frozen=True, slots=True)
class Comparison:
    """A against B: every figure, and the pages on which they differ most."""

    a: str
    b: str
    rule: str
    n_pages: int
    differences: tuple[Difference, ...]
    pages: tuple[PageDifference, ...]
    """Pages that differ, largest difference first."""

    @property
    def primary(self) -> Difference:
        """The figure that decides."""
        return next(d for d in self.differences if d.figure == PRIMARY)


@dataclass(frozen=True, slots=True)
class Contestant:
    """One side of a comparison: a parser in the tables of a run."""

    label: str
    parser: str
    samples: pl.DataFrame
    matches: pl.DataFrame
    scores: pl.DataFrame

    def evidence(self, pages: Pages, rule: str) -> Evidence:
        """Its rows under a rule, on these pages."""
        own = (pl.col("parser") == self.parser) & (pl.col("rule") == rule)
        scores = self.scores.filter(own)
        metrics = scores["metric"].unique().sort().to_list()
        return gather(pages, self.matches.filter(own), scores, metrics or list(figures.METRIC_NAMES))


def compare(a: Contestant, b: Contestant, rule: str) -> Comparison:
    """Compare two contestants on the pages that both were given."""
    pages = _common_pages(a, b)
    left, right = a.evidence(pages, rule), b.evidence(pages, rule)
    metrics = [m for m in figures.METRIC_NAMES if m in left.structure and m in right.structure]
    credit: dict[str, tuple[Any, Any]] = {
        "td_f1": (is_detected(left.overlap, figures.THETA), is_detected(right.overlap, figures.THETA))
    }
    for metric in metrics:
        pair = figures.extraction_credit(left, metric), figures.extraction_credit(right, metric)
        credit[f"te_f1_{figures.METRIC_NAMES[metric]}"] = pair
    differences = [_difference(name, left, right, *pair) for name, pair in credit.items()]
    return Comparison(
        a.label,
        b.label,
        rule,
        len(pages.samples),
        tuple(differences),
        _page_differences(left, right, *credit[PRIMARY]),
    )


def in_words(comparison: Comparison) -> str:
    """The answer to "is A better than B?" as one or two sentences."""
    a, b, d = comparison.a, comparison.b, comparison.primary
    interval = f", 95 % interval {d.ci95[0]:+.3f} to {d.ci95[1]:+.3f}" if d.ci95 else ""
    evidence = (
        f"end-to-end F1 (GriTS-Con) {d.a:.3f} against {d.b:.3f}, difference {d.difference:+.3f}{interval}, "
        f"p = {_p(d.p)} on {comparison.n_pages} pages of {d.n_documents} documents"
    )
    if not d.significant:
        return f"The data cannot tell {a} from {b}: {evidence}."
    better, worse = (a, b) if d.difference > 0 else (b, a)
    return f"{better} is better than {worse}: {evidence}."


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _common_pages(a: Contestant, b: Contestant) -> Pages:
    shared = a.samples.join(b.samples.select("sample"), on="sample", how="semi")
    return Pages.from_frame(shared)


def _difference(name: str, left: Evidence, right: Evidence, credit_a: Any, credit_b: Any) -> Difference:
    a, b = figures.document_sums(left, credit_a), figures.document_sums(right, credit_b)
    value_a, value_b = (float(figures.f1_statistic(s.sum(axis=0))) for s in (a, b))
    return Difference(
        name,
        value_a,
        value_b,
        value_a - value_b,
        paired_interval(a, b, figures.f1_statistic),
        permutation_p(a, b, figures.f1_statistic),
        len(a),
    )


def _page_differences(
    left: Evidence, right: Evidence, credit_a: Any, credit_b: Any
) -> tuple[PageDifference, ...]:
    """F1 by page; a page without truth and without predictions counts 1 for having nothing wrong."""
    a, b = (_page_f1(figures.page_sums(e, c)) for e, c in ((left, credit_a), (right, credit_b)))
    rows = [PageDifference(s, float(x), float(y)) for s, x, y in zip(left.pages.samples, a, b, strict=True)]
    changed = [row for row in rows if row.difference != 0]
    return tuple(sorted(changed, key=lambda row: (-abs(row.difference), row.sample)))


def _page_f1(sums: figures.Floats) -> figures.Floats:
    quiet = (sums[:, 0] == 0) & (sums[:, 1] == 0)
    return np.where(quiet, 1.0, figures.f1_statistic(sums))
