"""What a protocol records of a page: rows of `matches.parquet` and `scores.parquet`."""

from __future__ import annotations

from dataclasses import dataclass, field

from parsemark.model import Prediction, Status

PAGE_LEVEL = ""
"""`ScoreRow.element`, and `category`, of a measure of the whole page."""
BROKEN = "protocol_broken"
"""`ScoreRow.metric` of a page that the protocol did not score; the engine writes it (see `broken.py`)."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One match of one page under one rule, as it lies in `matches.parquet`."""

    sample: str
    parser: str
    rule: str
    category: str
    """Of the truth, or of the prediction where there is no truth: `table`, `text_block`, …"""
    truth: tuple[str, ...]
    pred: tuple[str, ...]
    kind: str
    overlap: float | None
    confidence: float | None
    """Of the prediction; for a split the largest one; None where the parser gives none."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One score, as it lies in `scores.parquet`: of a pair, or of the whole page."""

    sample: str
    element: str
    """Id of the truth, or of the prediction where there is no truth, or empty for the whole page."""
    pred: str
    """Ids of the predictions joined by `+`; empty where there is none."""
    rule: str
    category: str
    """As in `MatchRow`; empty for the whole page."""
    parser: str
    metric: str
    value: float | None
    status: Status
    message: str | None = None

    @classmethod
    def of_page(
        cls,
        prediction: Prediction,
        metric: str,
        value: float | None,
        status: Status | None = None,
        message: str | None = None,
    ) -> ScoreRow:
        """A measure of the whole page; status and message are those of the prediction by default."""
        place = prediction.sample, PAGE_LEVEL, "", "", PAGE_LEVEL, prediction.parser
        why = prediction.message if message is None and status is None else message
        return cls(*place, metric, value, status or prediction.status, why)


@dataclass(frozen=True, slots=True)
class PageScores:
    """All that a protocol says about one page of one parser."""

    matches: list[MatchRow] = field(default_factory=list)
    scores: list[ScoreRow] = field(default_factory=list)

    def extend(self, other: PageScores) -> None:
        """Add the rows of another page."""
        self.matches.extend(other.matches)
        self.scores.extend(other.scores)
