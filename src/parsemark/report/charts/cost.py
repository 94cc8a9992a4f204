"""Time per page."""

from __future__ import annotations

import polars as pl

from parsemark.protocols.exhibits import Axis, Chart, Series
from parsemark.report.source import Source

SHORTEST_S = 1e-4


def time_per_page(source: Source) -> Chart | None:
    """Median CPU time of a page, with the range of nine pages in ten."""
    known = source.parses.filter(pl.col("cpu_s").is_not_null())
    grouped = known.group_by("parser").agg(
        pl.col("cpu_s").median().alias("middle"),
        pl.col("cpu_s").quantile(0.05, "linear").alias("low"),
        pl.col("cpu_s").quantile(0.95, "linear").alias("high"),
    )
    times = {row["parser"]: row for row in grouped.iter_rows(named=True)}
    timed = [p for p in source.parsers if p.name in times]
    if not timed:
        return None
    series = []
    for position, parser in enumerate(timed):
        row = {k: max(v, SHORTEST_S) for k, v in times[parser.name].items() if k != "parser"}
        series.append(
            Series(
                parser.name,
                "points",
                (float(position),),
                (row["middle"],),
                parser=parser.name,
                low=(row["low"],),
                high=(row["high"],),
                links=(parser.href,),
            )
        )
    return Chart(
        "time",
        "Time per page",
        "Median CPU seconds per page; the line covers the pages between the 5th and the 95th percentile.",
        Axis("parser", kind="category", categories=tuple(p.name for p in timed)),
        Axis("CPU seconds per page", kind="log"),
        tuple(series),
    )
