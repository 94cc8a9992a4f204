"""How good is what was found: bars, histograms, and metrics against each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from parsemark.protocols.exhibits import Chart, ChartAxis, Series, interval_bars
from parsemark.protocols.presentation import RunParser, RunView
from parsemark.protocols.tables.figure_definitions import metric_range, metric_words, short_name, worst_value

N_BINS = 20
MOST_METRICS = 5
"""More against each other would be too many charts."""
MOST_POINTS = 600
"""Per parser in a scatter plot; more only hide each other."""


def structure_bars(run: RunView) -> Chart | None:
    """Mean structure score of the tables that were found."""
    series = []
    for parser in run.parsers:
        figures = run.summary.parsers.get(parser.name, {})
        entries = [(i, figures.get(f"tsr_{short_name(m)}")) for i, m in enumerate(run.metrics)]
        known = [(i, e) for i, e in entries if e and e.value is not None]
        if known:
            series.append(interval_bars(parser.name, known))
    if not series:
        return None
    return Chart(
        "structure",
        "Structure of the tables that were found",
        "Mean score over found tables, with 95 % intervals. Each parser found other tables, so a parser that "
        "finds only easy ones looks better here than it is.",
        ChartAxis(
            "structure metric", kind="category", categories=tuple(metric_words(m) for m in run.metrics)
        ),
        ChartAxis("mean score", 0.0, 1.0),
        tuple(series),
    )


def score_histogram(
    run: RunView, metric: str, parsers: Sequence[RunParser], *, bars: bool = False
) -> Chart | None:
    """Distribution of a metric over the true tables; a missed table has its worst value."""
    series = []
    low, high = metric_range(metric)
    edges = np.linspace(low, high, N_BINS + 1)
    centres = tuple(float(c) for c in (edges[:-1] + edges[1:]) / 2)
    for parser in parsers:
        shares = histogram_shares(run, metric, parser.name)
        if shares is not None:
            mark = "bars" if bars else "line"
            series.append(Series(parser.name, mark, centres, tuple(shares), parser=parser.name))  # type: ignore[arg-type] # one of two marks
    if not series:
        return None
    return Chart(
        f"histogram-{metric_key(metric)}",
        f"Distribution of {metric_words(metric)}",
        f"Share of the true tables by {metric_words(metric)} score, in {N_BINS} bins. Tables "
        f"that were missed, or lost to a failure, count as {worst_value(metric):g}.",
        ChartAxis(metric_words(metric), low, high),
        ChartAxis("share of true tables", 0.0),
        tuple(series),
    )


def histogram_shares(run: RunView, metric: str, parser: str) -> list[float] | None:
    """Share of the true tables in each bin; what lies outside falls into the outermost."""
    own = (pl.col("parser") == parser) & (pl.col("status") != "no_truth")
    rows = run.scores_by(metric).filter(own)
    if rows.is_empty():
        return None
    low, high = metric_range(metric)
    values = rows["value"].fill_null(worst_value(metric)).clip(low, high).to_numpy()
    counts, _ = np.histogram(values, bins=np.linspace(low, high, N_BINS + 1))
    return [float(c) / len(values) for c in counts]


def metric_scatters(run: RunView) -> list[Chart]:
    """Every two structure metrics against each other, table by table."""
    shown = run.metrics[:MOST_METRICS]
    return [chart for a, b in combinations(shown, 2) if (chart := _scatter(run, a, b))]


def _scatter(run: RunView, a: str, b: str) -> Chart | None:
    keys = ["sample", "parser", "element", "pred"]
    left, right = (
        run.scores_by(metric).filter(pl.col("value").is_not_null()).select(*keys, pl.col("value").alias(side))
        for metric, side in ((a, "a"), (b, "b"))
    )
    both = left.join(right, on=keys, maintain_order="left")
    series = []
    for parser in run.parsers:
        own = both.filter(pl.col("parser") == parser.name).sort("sample", "element")
        shown = own.gather_every(max(1, -(-own.height // MOST_POINTS)))
        if shown.is_empty():
            continue
        rows = list(shown.select("sample", "element").iter_rows())
        links = [run.element_link(s, parser.name, e) for s, e in rows]
        labels = [f"{parser.name}, {s} {e}" for s, e in rows]
        linked = shown.height * len(run.parsers) <= 1500
        series.append(
            Series(
                parser.name,
                "points",
                tuple(shown["a"]),
                tuple(shown["b"]),
                parser=parser.name,
                faint=True,
                labels=tuple(labels) if linked else (),
                links=tuple(links) if linked else (),
            )
        )
    if not series:
        return None
    name_a, name_b = (metric_words(m) for m in (a, b))
    key = f"scatter-{metric_key(a)}-{metric_key(b)}"
    top = [metric_range(m)[1] for m in (a, b)]
    return Chart(
        key,
        f"{name_a} against {name_b}",
        "One point for each table that was found; a click opens it. Far from the diagonal the metrics "
        "disagree.",
        ChartAxis(name_a, min(0.0, *(min(s.x) for s in series)), top[0]),
        ChartAxis(name_b, min(0.0, *(min(s.y) for s in series)), top[1]),
        tuple(series),
        square=True,
    )


def metric_key(metric: str) -> str:
    """A metric in the key of a chart.

    >>> metric_key("teds(structure_only=true)")
    'teds-structure-only-true'
    """
    return "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in metric.lower()).split())
