"""The leaderboard's numbers for some of the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from parsemark.model import Status
from parsemark.protocols.tables import CONFIDENCE_THRESHOLD
from parsemark.report.facets import Slice
from parsemark.report.source import Source

Figures = dict[str, dict[str, Any]]


def slice_figures(source: Source, part: Slice) -> Mapping[str, Mapping[str, Any]]:
    """Parser name to figures: scores as the protocol summarised them, counts and times taken here.

    A slice that the protocol did not summarise has counts and times alone.
    """
    if not part.key:
        return source.figures
    found: Figures = {parser.name: dict(_scores(source, parser.name, part)) for parser in source.parsers}
    _add_costs(found, source.parses.filter(pl.col("sample").is_in(list(part.pages))))
    _add_false_tables(found, source, part)
    return found


def _scores(source: Source, parser: str, part: Slice) -> Mapping[str, Any]:
    by_page = source.figures.get(parser, {}).get("by_attribute", {}).get("page", {})
    value = str(part.value).lower() if isinstance(part.value, bool) else str(part.value)
    figures: Mapping[str, Any] = by_page.get(part.attribute, {}).get(value, {})
    return {key: entry for key, entry in figures.items() if key != "pages"}


def _add_costs(found: Figures, parses: pl.DataFrame) -> None:
    grouped = parses.group_by("parser").agg(
        pl.len().alias("pages"),
        (pl.col("status") != str(Status.OK)).sum().alias("failures"),
        pl.col("cpu_s").mean().alias("cpu_s_per_page"),
        pl.col("cpu_s").is_not_null().sum().alias("cpu_n"),
        pl.col("wall_s").mean().alias("wall_s_per_page"),
        pl.col("wall_s").is_not_null().sum().alias("wall_n"),
    )
    for row in grouped.iter_rows(named=True):
        entry = found.setdefault(row["parser"], {})
        entry["failures"] = _figure(row["failures"], row["pages"])
        entry["cpu_s_per_page"] = _figure(row["cpu_s_per_page"], row["cpu_n"])
        entry["wall_s_per_page"] = _figure(row["wall_s_per_page"], row["wall_n"])


def _add_false_tables(found: Figures, source: Source, part: Slice) -> None:
    inside = source.samples.filter(pl.col("sample").is_in(list(part.pages)) & (pl.col("n_tables") == 0))
    if inside.is_empty():
        return
    sure = pl.col("confidence").is_null() | (pl.col("confidence") > CONFIDENCE_THRESHOLD)
    extras = source.matches.filter(
        (pl.col("kind") == "extra") & sure & pl.col("sample").is_in(inside["sample"].to_list())
    )
    counts = dict(extras.group_by("parser").len().iter_rows())
    for parser in source.parsers:
        entry = found.setdefault(parser.name, {})
        n = inside.height
        entry["false_tables_per_negative_page"] = _figure(counts.get(parser.name, 0) / n, n)


def _figure(value: float | None, n: int) -> dict[str, Any]:
    return {"value": value, "ci95": None, "n": n}
