"""What came of a page: which truth is answered by which prediction, and what that is worth.

A matching carries no quality; a score is a value or None, with the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """Why a score, or a prediction, is as it is. Nothing is dropped: each of these is in a denominator."""

    OK = "ok"
    NO_TRUTH = "no_truth"
    NO_PREDICTION = "no_prediction"
    PARSER_FAILED = "parser_failed"
    PARSER_TIMEOUT = "parser_timeout"
    METRIC_FAILED = "metric_failed"


@dataclass(frozen=True, slots=True)
class Score:
    """The value of one metric for one pair."""

    metric: str
    value: float | None
    status: Status = Status.OK
    message: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """What produced the value, where the metric explains itself; plain JSON data."""


@dataclass(frozen=True, slots=True)
class Match:
    """Truth elements answered by predicted ones.

    One truth and one prediction: a plain pair. Several predictions: a split. Several truths: a merge.
    No prediction: a miss. No truth: an extra.
    """

    truth: tuple[str, ...]
    pred: tuple[str, ...]
    overlap: float | None = None
    """The similarity that decided the match (IoU, content-Jaccard, n-gram F1); None without a pair."""

    @property
    def kind(self) -> str:
        """`pair`, `split`, `merge`, `many`, `miss` or `extra`."""
        if not self.pred:
            return "miss"
        if not self.truth:
            return "extra"
        if len(self.truth) == 1:
            return "pair" if len(self.pred) == 1 else "split"
        return "merge" if len(self.pred) == 1 else "many"


@dataclass(frozen=True, slots=True)
class Matching:
    """All matches of one page under one rule. Every truth and every prediction occurs in at least one."""

    rule: str
    """`bbox`, `content` or `ngrams`."""
    matches: tuple[Match, ...]

    @property
    def pairs(self) -> tuple[Match, ...]:
        """The matches that have both sides."""
        return tuple(m for m in self.matches if m.truth and m.pred)
