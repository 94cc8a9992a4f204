"""How good is what was found: bars, histograms, and metrics against each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from parsemark.protocols import Figure
from parsemark.report.charts.detection import STRUCTURE_NAMES
from parsemark.report.charts.spec import Axis, Chart, Series
from parsemark.report.names import viewer_link
from parsemark.report.source import STRUCTURE_METRICS, Parser, Source

METRIC_NAMES = {"grits_con": "GriTS content", "grits_top": "GriTS topology", "teds": "TEDS"}
N_BINS = 20
MOST_POINTS = 600
"""Per parser in a scatter plot; more only hide each other."""


def structure_bars(source: Source) -> Chart | None:
    """Mean structure score of the tables that were found."""
    shorts = tuple(STRUCTURE_NAMES)
    series = []
    for parser in source.parsers:
        figures = source.figures.get(parser.name, {})
        entries = [(i, figures.get(f"tsr_{s}")) for i, s in enumerate(shorts)]
        known = [(i, e) for i, e in entries if e and e.value is not None]
        if known:
            series.append(interval_series(parser.name, known))
    if not series:
        return None
    return Chart(
        "structure",
        "Structure of the tables that were found",
        "Mean score over found tables, with 95 % intervals. Each parser found other tables, so a parser that "
        "finds only easy ones looks better here than it is.",
        Axis("structure metric", kind="category", categories=tuple(STRUCTURE_NAMES.values())),
        Axis("mean score", 0.0, 1.0),
        tuple(series),
    )


def interval_series(name: str, entries: Sequence[tuple[int, Figure]]) -> Series:
    """Bars of summary figures at category positions."""
    values = tuple(e.value or 0.0 for _, e in entries)
    intervals = [e.interval for _, e in entries if e.interval]
    complete = len(intervals) == len(entries)
    return Series(
        name,
        "bars",
        tuple(float(i) for i, _ in entries),
        values,
        parser=name,
        low=tuple(low for low, _ in intervals) if complete else (),
        high=tuple(high for _, high in intervals) if complete else (),
    )


def score_histogram(
    source: Source, metric: str, parsers: Sequence[Parser], *, bars: bool = False
) -> Chart | None:
    """Distribution of a metric over the true tables; a missed table counts as 0."""
    series = []
    edges = np.linspace(0, 1, N_BINS + 1)
    centres = tuple(float(c) for c in (edges[:-1] + edges[1:]) / 2)
    for parser in parsers:
        shares = histogram_shares(source, metric, parser.name)
        if shares is not None:
            mark = "bars" if bars else "line"
            series.append(Series(parser.name, mark, centres, tuple(shares), parser=parser.name))  # type: ignore[arg-type] # one of two marks
    if not series:
        return None
    return Chart(
        f"histogram-{metric.replace('_', '-')}",
        f"Distribution of {METRIC_NAMES.get(metric, metric)}",
        f"Share of the true tables by {METRIC_NAMES.get(metric, metric)} score, in {N_BINS} bins. Tables "
        "that were missed, or lost to a failure, count as 0.",
        Axis(METRIC_NAMES.get(metric, metric), 0.0, 1.0),
        Axis("share of true tables", 0.0),
        tuple(series),
    )


def histogram_shares(source: Source, metric: str, parser: str) -> list[float] | None:
    """Share of the true tables in each bin; scores below 0 fall into the first."""
    rows = source.scores.filter(
        (pl.col("parser") == parser) & (pl.col("metric") == metric) & (pl.col("status") != "no_truth")
    )
    if rows.is_empty():
        return None
    values = rows["value"].fill_null(0.0).clip(0, 1).to_numpy()
    counts, _ = np.histogram(values, bins=np.linspace(0, 1, N_BINS + 1))
    return [float(c) / len(values) for c in counts]


def metric_scatters(source: Source) -> list[Chart]:
    """Every two structure metrics against each other, table by table."""
    present = [m for m in STRUCTURE_METRICS if m in source.metrics]
    others = [m for m in source.metrics if m.partition("(")[0] in ("reader", "cell_f1")]
    return [chart for a, b in combinations([*present, *others], 2) if (chart := _scatter(source, a, b))]


def _scatter(source: Source, a: str, b: str) -> Chart | None:
    keys = ["sample", "parser", "element", "pred"]
    known = source.scores.filter(pl.col("value").is_not_null())
    left = known.filter(pl.col("metric") == a).select(*keys, pl.col("value").alias("a"))
    both = left.join(known.filter(pl.col("metric") == b).select(*keys, pl.col("value").alias("b")), on=keys)
    series = []
    for parser in source.parsers:
        own = both.filter(pl.col("parser") == parser.name).sort("sample", "element")
        shown = own.gather_every(max(1, -(-own.height // MOST_POINTS)))
        if shown.is_empty():
            continue
        links = [
            viewer_link(page=s, table=e, parser=parser.name)
            for s, e in shown.select("sample", "element").iter_rows()
        ]
        labels = [f"{parser.name}, {s} {e}" for s, e in shown.select("sample", "element").iter_rows()]
        linked = shown.height * len(source.parsers) <= 1500
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
    name_a, name_b = (METRIC_NAMES.get(m, m) for m in (a, b))
    key = f"scatter-{a}-{b}".replace("_", "-").translate(str.maketrans("(),=", "----")).strip("-")
    top = [10.0 if m.startswith("reader") else 1.0 for m in (a, b)]
    return Chart(
        key,
        f"{name_a} against {name_b}",
        "One point for each table that was found; a click opens it. Far from the diagonal the metrics "
        "disagree.",
        Axis(name_a, min(0.0, *(min(s.x) for s in series)), top[0]),
        Axis(name_b, min(0.0, *(min(s.y) for s in series)), top[1]),
        tuple(series),
        square=True,
    )
