"""A protocol of another package: a statistic of its own, and no care taken of failures."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from parsemark.model import Page, Prediction, Status
from parsemark.protocols import (
    FigureInfo,
    FigureSums,
    PageProtocol,
    PageScores,
    RunTables,
    ScoreRow,
)
from parsemark.protocols.run_scores.aggregate import mean_sums, run_sums

SHARE = FigureInfo(
    name="share",
    label="Cells found",
    definition="Cells of the output over cells of the truth, of all pages together.",
    denominator="cells of the truth",
    main=True,
)
MEAN = FigureInfo(
    name="mean",
    label="Right",
    definition="Pages with as many cells as there are.",
    denominator="pages with truth",
    main=True,
)


def share(totals: np.ndarray) -> np.ndarray:
    """Found cells over all cells; not `mean_statistic`, although it could be."""
    found, cells = totals[..., 0], totals[..., 1]
    return np.divide(found, cells, out=np.full(cells.shape, np.nan), where=cells != 0)


@dataclass(frozen=True)
class ShareProtocol(PageProtocol):
    """Breaks on a page, and says of pages that failed what `failed` says: nothing, or no value."""

    name: ClassVar[str] = "share"
    title: ClassVar[str] = "Cells found"
    comparability: ClassVar[int] = 1

    failed: str = "nothing"
    breaks: str = ""

    def score_page(self, truth: Page | None, prediction: Prediction, page_text: str | None) -> PageScores:
        if prediction.sample == self.breaks:
            raise RuntimeError("not this page")
        if truth is None or not truth.tables:
            return PageScores()
        place = prediction.sample, "", "", "", "", prediction.parser
        if prediction.status is not Status.OK:
            rows = [ScoreRow(*place, "right", None, prediction.status)] if self.failed == "null" else []
            return PageScores(scores=rows)
        sizes = [
            float(sum(len(e.table.cells) for e in side.tables if e.table)) for side in (truth, prediction)
        ]
        rows = [
            ScoreRow(*place, name, n, Status.OK) for name, n in zip(("cells", "found"), sizes, strict=True)
        ]
        return PageScores(scores=[*rows, ScoreRow(*place, "right", float(sizes[0] == sizes[1]), Status.OK)])

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """The share by its own statistic, and a mean."""
        place = {sample: k for k, sample in enumerate(tables.places.samples)}
        sums = {parser: np.zeros((len(place), 2)) for parser in tables.parsers}
        column = {"found": 0, "cells": 1}
        for row in tables.scores.iter_rows(named=True):
            if row["metric"] in column:
                sums[row["parser"]][place[row["sample"]], column[row["metric"]]] = row["value"]
        own = FigureSums(SHARE, tables.places.samples, tables.places.documents, sums, share)
        right = tables.scores.filter(pl.col("metric") == "right")
        return [own, mean_sums(MEAN, right, "value", tables), *run_sums(tables)]
