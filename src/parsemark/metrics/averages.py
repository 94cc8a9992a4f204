"""Means of metrics that studies of metrics report as one figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from parsemark.metrics.base import Facts, Metric
from parsemark.metrics.grits import GritsCon, GritsTop
from parsemark.metrics.prepared import TableInput
from parsemark.metrics.score_alignment import ScoreContent, ScoreIndex

_CITATION = "Horn & Keuper, in whose study of metrics the mean stands for the family"
_PARTS = "the metrics that it is the mean of"


def _mean(parts: Sequence[Metric[TableInput]], truth: TableInput, pred: TableInput) -> float:
    """The mean of other metrics; it fails where one of them does."""
    results = [part.compute(truth, pred) for part in parts]
    return fmean(result[0] if isinstance(result, tuple) else result for result in results)


@dataclass(frozen=True)
class GritsAvg(Metric[TableInput]):
    r"""Mean of `grits_top` and `grits_con`.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: those of its parts.

    >>> from parsemark.metrics import score
    >>> truth, pred = "| ab | c |\n|---|---|\n| 1 | 2 |", "| ab | c |\n|---|---|\n| 1 | 3 |"
    >>> score(truth, pred, metrics=["grits_avg"])["grits_avg"].value
    0.875
    """

    name = "grits_avg"
    facts = Facts("Grid table similarity: mean of topology and content", _CITATION, _PARTS)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """The value for one pair."""
        return _mean((GritsTop(), GritsCon()), truth, pred)


@dataclass(frozen=True)
class ScoreAvg(Metric[TableInput]):
    r"""Mean of `score_index` and `score_content`.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference: those of its parts.

    >>> from parsemark.metrics import score
    >>> table = "| ab | c |\n|---|---|\n| 1 | 2 |"
    >>> score(table, table, metrics=["score_avg"])["score_avg"].value
    1.0
    """

    name = "score_avg"
    facts = Facts("SCORE: mean of index and content", _CITATION, _PARTS)

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """The value for one pair."""
        return _mean((ScoreIndex(), ScoreContent()), truth, pred)
