"""A score: a value or None, with the reason."""

from __future__ import annotations

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
