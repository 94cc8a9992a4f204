"""What the rows of a run say about one parser under one matching rule, as arrays ready for statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parsemark.protocols.base import Floats

THETA = 0.5
"""A table counts as found if its match overlaps it by more than this."""
CONFIDENCE_THRESHOLD = 0.5
"""A prediction with a known confidence at or below this is not a positive prediction."""


def is_positive(confidence: float | None) -> bool:
    """Whether a prediction counts as a table: its confidence is above the threshold, or not known."""
    return confidence is None or confidence > CONFIDENCE_THRESHOLD


@dataclass(frozen=True)
class Pages:
    """The pages with truth of a run, in a fixed order."""

    samples: tuple[str, ...]
    documents: tuple[str, ...]
    n_truth: Floats

    @property
    def index(self) -> dict[str, int]:
        """Position of each sample."""
        return {sample: k for k, sample in enumerate(self.samples)}

    @classmethod
    def from_frame(cls, samples: pl.DataFrame) -> Pages:
        """Pages of `samples.parquet` that have a truth."""
        known = samples.filter(pl.col("truth").is_not_null()).sort("sample")
        return cls(
            tuple(known["sample"]), tuple(known["document"]), known["n_tables"].to_numpy().astype(float)
        )


@dataclass(frozen=True)
class Evidence:
    """All predictions of one parser under one rule: one entry for each match that has a prediction."""

    pages: Pages
    page: NDArray[np.int64]
    truth: tuple[str, ...]
    """Id of the truth, or empty for an extra."""
    pred: tuple[str, ...]
    overlap: Floats
    confidence: Floats
    """1 where the parser gives none, as in the paper."""
    has_confidence: bool
    positive: NDArray[np.bool_]
    """Whether the prediction counts as a table at the confidence threshold."""
    count: Floats
    """How many predictions the entry stands for: several for a split."""
    structure: Mapping[str, Floats]
    """Structure credit, 0 to 1, by metric; 0 for an extra and where the metric failed."""

    @property
    def n_truth(self) -> float:
        """Number of true tables."""
        return float(self.pages.n_truth.sum())


def _credit(metric: str, values: Sequence[float | None]) -> Floats:
    """What values of a metric earn; a metric that is not installed here is taken to range from 0 to 1."""
    from parsemark.errors import ParsemarkError
    from parsemark.metrics import get_metric

    try:
        credit = get_metric(metric).facts.credit
    except ParsemarkError:
        return np.clip([value or 0.0 for value in values], 0.0, 1.0)
    return np.array([0.0 if value is None else credit(value) for value in values])


def gather(pages: Pages, matches: pl.DataFrame, scores: pl.DataFrame, metrics: Sequence[str]) -> Evidence:
    """Evidence from the rows of one parser and one rule."""
    index = pages.index
    rows = [r for r in matches.iter_rows(named=True) if r["pred"] and r["sample"] in index]
    value = {
        (s, e, p, m): v
        for s, e, p, m, v in scores.select("sample", "element", "pred", "metric", "value").iter_rows()
    }
    keys = [(r["sample"], (r["truth"] or r["pred"])[0], "+".join(r["pred"])) for r in rows]
    return Evidence(
        pages=pages,
        page=np.array([index[r["sample"]] for r in rows], dtype=np.int64),
        truth=tuple(r["truth"][0] if r["truth"] else "" for r in rows),
        pred=tuple(key[2] for key in keys),
        overlap=np.array([r["overlap"] or 0.0 for r in rows]),
        confidence=np.array([1.0 if r["confidence"] is None else r["confidence"] for r in rows]),
        has_confidence=any(r["confidence"] is not None for r in rows),
        positive=np.array([is_positive(r["confidence"]) for r in rows], dtype=bool),
        count=np.array([float(len(r["pred"])) for r in rows]),
        structure={m: _credit(m, [value.get((*key, m)) for key in keys]) for m in metrics},
    )
