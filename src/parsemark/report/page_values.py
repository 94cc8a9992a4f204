"""What each parser earns on each page in the figure that the leaderboard is sorted by."""

from __future__ import annotations

import numpy as np
import polars as pl

from parsemark.protocols import tables_figures as figures
from parsemark.protocols.tables_evidence import Pages, gather
from parsemark.report.source import Source


def page_values(source: Source, parser: str) -> list[float | None]:
    """End-to-end F1 of each page in page order; None without truth.

    A page without tables counts 1 where nothing was predicted and 0 where something was, as everywhere.
    """
    metric = source.main_metric
    values: list[float | None] = [None] * len(source.samples)
    if not metric:
        return values
    pages = _known_pages(source)
    own = pl.col("parser") == parser
    scores = source.scores.filter(own & (pl.col("metric") == metric))
    evidence = gather(pages, source.matches.filter(own), scores, [metric])
    sums = figures.page_sums(evidence, figures.extraction_credit(evidence, metric))
    quiet = (sums[:, 0] == 0) & (sums[:, 1] == 0)
    found = np.where(quiet, 1.0, figures.f1_statistic(sums))
    index = dict(zip(source.samples["sample"], range(len(source.samples)), strict=True))
    for sample, value in zip(pages.samples, found, strict=True):
        values[index[sample]] = round(float(value), 4)
    return values


def _known_pages(source: Source) -> Pages:
    known = source.samples.filter(pl.col("n_tables").is_not_null())
    return Pages(tuple(known["sample"]), tuple(known["document"]), known["n_tables"].to_numpy().astype(float))
