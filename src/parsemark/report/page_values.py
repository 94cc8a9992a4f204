"""What each parser earns on each page in the figure that the leaderboard is sorted by."""

from __future__ import annotations

import numpy as np
import polars as pl

from parsemark.report.source import Source


def page_values(source: Source, parser: str, samples: pl.Series | None = None) -> list[float | None]:
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
