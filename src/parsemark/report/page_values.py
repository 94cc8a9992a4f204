"""What each parser earns on each page in the figure that the leaderboard is sorted by."""

from __future__ import annotations

import numpy as np

from parsemark.report.source import Source


def page_values(source: Source, parser: str) -> list[float | None]:
    """The primary figure of each page in page order; None where the page has none."""
    values: list[float | None] = [None] * len(source.samples)
    figure = source.primary_sums
    if figure is None or parser not in figure.sums:
        return values
    index = dict(zip(source.samples["sample"], range(len(source.samples)), strict=True))
    for sample, value in zip(figure.samples, figure.page_values(parser), strict=True):
        if np.isfinite(value):
            values[index[sample]] = round(float(value), 4)
    return values
