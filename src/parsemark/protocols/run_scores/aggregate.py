"""From sums of pages to figures and their intervals: what the protocols have in common."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl

from parsemark.model import Status
from parsemark.protocols.run_data.rows import PAGE_LEVEL
from parsemark.protocols.run_data.unread_pages import survived, unscored
from parsemark.protocols.run_scores.sums import (
    FigureSums,
    Floats,
    Statistic,
    document_shares,
    document_types,
    read_figures,
)
from parsemark.stats.detection import ratio
from parsemark.stats.document_types import typed_interval
from parsemark.stats.intervals import Range, sum_by_cluster
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Figure, FigureInfo

FAILURES = (Status.NO_PREDICTION, Status.PARSER_FAILED, Status.PARSER_TIMEOUT, Status.METRIC_FAILED)
"""Why a page with truth may have no value, and is not left out for it."""

_PLACES = {"sample": pl.String, "place": pl.Int64}


def mean_statistic(totals: Floats) -> Floats:
    """Return quotient of the first two quantities: a sum and how many it is a sum of."""
    return ratio(totals[..., 0], totals[..., 1])


def mean_of_quotients(totals: Floats, turned: Sequence[bool] = (), *, complete: bool = False) -> Floats:
    """Return the plain mean of quotients of neighbouring quantities (…, 2 × parts); those over nothing are
    left out.

    Parts that are `turned` count as one minus themselves; a `complete` mean needs all of its parts.
    """
    values = ratio(totals[..., 0::2], totals[..., 1::2])
    values = np.where(turned, 1 - values, values) if len(turned) else values
    known = np.isfinite(values)
    n = known.sum(axis=-1)
    is_defined = n == values.shape[-1] if complete else n > 0
    return np.where(is_defined, np.where(known, values, 0.0).sum(axis=-1) / np.maximum(n, 1), np.nan)


def mean_of_figures(
    info: FigureInfo, parts: Sequence[FigureSums], turned: Sequence[bool] = (), *, complete: bool = False
) -> FigureSums:
    """Return a figure that is the mean of means, as `mean_of_quotients` takes it.

    A single page earns the mean of the parts that it has: one without tables can get better or worse, too.
    """
    first = parts[0]
    sums = {parser: np.concatenate([part.sums[parser] for part in parts], axis=1) for parser in first.sums}
    own, of_page = (partial(mean_of_quotients, turned=turned, complete=c) for c in (complete, False))
    places = first.samples, first.documents
    return FigureSums(info, *places, sums, own, page_statistic=of_page, division=first.division)


def total_statistic(totals: Floats) -> Floats:
    """Return the first quantity itself."""
    total: Floats = totals[..., 0]
    return total


def make_figure(value: float | None, n: float, interval: tuple[float, float] | None = None) -> Figure:
    """Return a number as it stands in a summary; one that is not finite is not defined."""
    if value is None or not np.isfinite(value):
        return Figure(value=None, n=n)
    low, high = interval or (None, None)
    return Figure(value=float(value), low=low, high=high, n=n)


def figure_of(figure: FigureSums, parser: str) -> Figure:
    """Return the number of one parser with its 95 % confidence interval for documents like these."""
    found = figure_of_sums(figure, figure.sums[parser])
    variance = figure.run_variance.get(parser)
    if variance is None or found.value is None or found.interval is None:
        return found
    low, high = variance.widen(found.value, found.interval)
    top = np.inf if figure.info.top is None else figure.info.top
    return found.model_copy(update={"low": max(low, 0.0), "high": min(high, top)})


def figure_of_sums(figure: FigureSums, pages: Floats) -> Figure:
    """Return the number that the sums of some pages make."""
    added = sum_by_cluster(pages, figure.documents)[0]
    types = document_types(figure.documents, figure.division)
    return from_sums(added, figure.statistic, figure.denominator, figure.info.top, types)


def from_sums(
    sums: Floats,
    statistic: Statistic,
    denominator: int = 1,
    top: float | None = 1.0,
    types: Sequence[str] | None = None,
) -> Figure:
    """Return a figure of what documents add to totals (documents, quantities); no value where nothing is
    counted.

    The denominator is the quantity that counts what it is taken over; a mean of figures may have nothing in
    the first of its parts, and is then taken over the others. `top` is the most that the value can be;
    `types` are the documents' types.
    """
    totals = sums.sum(axis=0)
    weights = sums[:, denominator]
    if denominator == 1 and not weights.any():
        weights = sums[:, 1::2].sum(axis=1)
    n = float(weights.sum())
    if n == 0:
        return make_figure(None, 0)
    interval = None
    if statistic is not total_statistic:
        scale = top or 1.0
        bounds: Range = "positive" if top is None else "unit"
        shares = document_shares(sums, denominator)
        ends = typed_interval(sums, lambda of: statistic(of) / scale, types, weights=shares, bounds=bounds)
        interval = (ends[0] * scale, ends[1] * scale) if ends else None
    return make_figure(float(statistic(totals)), n, interval)


def parser_figures(figures: Iterable[FigureSums], parser: str) -> dict[str, Figure]:
    """Return all numbers of one parser."""
    return {f.info.name: figure_of(f, parser) for f in figures if parser in f.sums}


def mean_sums(info: FigureInfo, rows: pl.DataFrame, column: str, tables: RunTables) -> FigureSums:
    """Return a figure that is the mean of a column of rows `(sample, parser, column)`; nulls are left out.

    Not so in a score where a whole page with truth has no value because it failed: that is worth nothing.
    """
    value = pl.col(column)
    if info.style == "score" and {"element", "status"} <= set(rows.columns):
        with_truth = tables.read("samples", "sample", where=pl.col("n_tables").is_not_null())["sample"]
        failed = pl.col("status").is_in([str(status) for status in FAILURES])
        of_page = (pl.col("element") == PAGE_LEVEL) & pl.col("sample").is_in(with_truth.implode())
        value = pl.when(value.is_null() & failed & of_page).then(info.worst).otherwise(value)
    valued = rows.with_columns(value.alias(column))
    return sums_of_rows(info, valued.filter(pl.col(column).is_not_null()), pl.col(column), tables)


def page_means(infos: Iterable[FigureInfo], tables: RunTables) -> list[FigureSums]:
    """Make figures that are means over pages of what `score_page` wrote for whole pages under their names."""
    of_pages = pl.col("element") == PAGE_LEVEL
    columns = ("sample", "parser", "element", "status", "value")

    def rows(metric: str) -> pl.DataFrame:
        return tables.read("scores", *columns, where=of_pages & (pl.col("metric") == metric))

    return [mean_sums(info, rows(info.name), "value", tables) for info in infos]


def sums_of_rows(
    info: FigureInfo,
    rows: pl.DataFrame,
    value: pl.Expr,
    tables: RunTables,
    statistic: Statistic = mean_statistic,
) -> FigureSums:
    """Return a figure of rows `(sample, parser, …)`: the sum of `value` and the number of rows on each
    page.
    """
    places = tables.places
    rows_of = pl.DataFrame({"sample": places.samples, "place": range(len(places.samples))}, _PLACES)
    added = (
        rows.group_by("parser", "sample")
        .agg(value.cast(pl.Float64).sum().alias("sum"), pl.len().cast(pl.Float64).alias("n"))
        .join(rows_of, on="sample")
    )
    sums = {parser: np.zeros((len(places.samples), 2)) for parser in tables.parsers}
    for (parser,), own in added.group_by("parser"):
        if parser in sums:
            sums[str(parser)][own["place"].to_numpy()] = own.select("sum", "n").to_numpy()
    return FigureSums(info, places.samples, places.documents, sums, statistic, division=places.division)


_COSTS = ("cpu_s", "wall_s", "peak_memory_mb", "cost_usd")  # columns of `parses` whose means are figures


def run_sums(tables: RunTables) -> list[FigureSums]:
    """Return failures, time, memory and cost: figures of every protocol, which need no truth."""
    infos = read_figures(__package__, "run")
    is_missing = pl.col("status") == str(Status.NO_PREDICTION)
    failed = ((pl.col("status") != str(Status.OK)) & ~is_missing).cast(pl.Float64)
    scored = ~pl.col("sample").is_in(list(unscored(tables)))
    parses = tables.read("parses", "sample", "parser", "status", *_COSTS, where=scored)
    found = [sums_of_rows(infos["failures"], parses, failed, tables, total_statistic)]
    if parses.select(is_missing.any()).item():
        found.append(sums_of_rows(infos["unanswered"], parses, is_missing, tables, total_statistic))
    if not (files := survived(tables)).is_empty():
        found.append(sums_of_rows(infos["survived"], files, pl.col("survived"), tables, total_statistic))
    return [*found, *(mean_sums(infos[f"{column}_per_page"], parses, column, tables) for column in _COSTS)]


def failed_scores(
    rows: pl.DataFrame, parsers: Sequence[str], limit: int = 300
) -> Iterator[tuple[str, pl.DataFrame, str]]:
    """Yield for each parser with failed score rows its name, these rows, and the reason for the first."""
    for parser in parsers:
        own = rows.filter(pl.col("parser") == parser).sort("sample", "element", "metric")
        if not own.is_empty():
            first = own.row(0, named=True)
            why = " ".join(str(first["message"] or "no reason given").split())[:limit]
            yield parser, own, f"{first['sample']}: {why}"
