"""What a protocol records of a page: rows of `matches.parquet` and `scores.parquet`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parsemark.model import Match, Prediction, Score, Status

PAGE_LEVEL = ""  # `ScoreRow.element`, and `category`, of a measure of the whole page
BROKEN = "protocol_broken"
"""`ScoreRow.metric` of a page that the protocol did not score; the engine writes it: `broken_pages.py`."""
MAX_DETAILS = 4_000  # characters of the details of a score: a parser must not decide how large a run becomes
_KEPT_OF_LISTS = (20, 8, 3, 1, 0)
Ids = Sequence[str]


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One match of one page under one rule, as it lies in `matches.parquet`."""

    sample: str
    parser: str
    rule: str
    category: str  # of the truth, or of the prediction where there is no truth: `table`, `text_block`, …
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
    element: str  # id of the truth, or of the prediction where there is no truth, or empty for the whole page
    pred: str  # ids of the predictions joined by `+`; empty where there is none
    rule: str
    category: str  # as in `MatchRow`; empty for the whole page
    parser: str
    metric: str
    value: float | None
    status: Status
    message: str | None = None
    details: str | None = None
    """What produced the value, as JSON, where the metric explains itself: see `details_text`."""

    @classmethod
    def of_page(
        cls,
        prediction: Prediction,
        metric: str,
        value: float | None,
        status: Status | None = None,
        message: str | None = None,
    ) -> ScoreRow:
        """Return a measure of the whole page; status and message are those of the prediction by default."""
        place = prediction.sample, PAGE_LEVEL, "", "", PAGE_LEVEL, prediction.parser
        why = prediction.message if message is None and status is None else message
        return cls(*place, metric, value, status or prediction.status, why)

    @classmethod
    def of_element(
        cls, prediction: Prediction, rule: str, category: str, truths: Ids, preds: Ids, score: Score
    ) -> ScoreRow:
        """Return a score of what answers some truths, or of a prediction that answers none."""
        pred = "+".join(preds)
        place = prediction.sample, "+".join(truths) or pred, pred, rule, category, prediction.parser
        told = details_text(score.details)
        return cls(*place, score.metric, score.value, score.status, score.message, told)


def details_text(details: Mapping[str, Any]) -> str | None:
    """Return details of a score as JSON of bounded size: lists that make it too long keep their beginning.

    >>> details_text({"n": 2, "found": ["a", "b"]})
    '{"n": 2, "found": ["a", "b"]}'
    """
    if not details:
        return None
    try:
        text = json.dumps(details, ensure_ascii=False, allow_nan=False)
        for kept in _KEPT_OF_LISTS:
            if len(text) <= MAX_DETAILS:
                return text
            shorter = {key: v[:kept] if isinstance(v, list) else v for key, v in details.items()}
            text = json.dumps({**shorter, "shortened": True}, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        return json.dumps({"not_stored": f"the details are not JSON data: {error}"[:300]})
    return text if len(text) <= MAX_DETAILS else json.dumps({"not_stored": "the details are too long"})


@dataclass(frozen=True, slots=True)
class PageScores:
    """All that a protocol says about one page of one parser."""

    matches: list[MatchRow] = field(default_factory=list)
    scores: list[ScoreRow] = field(default_factory=list)

    def extend(self, other: PageScores) -> None:
        """Add the rows of another page."""
        self.matches.extend(other.matches)
        self.scores.extend(other.scores)


class RowWriter:
    """Writes the rows of one page of a parser under one rule."""

    def __init__(self, prediction: Prediction, rule: str) -> None:
        self.prediction, self.rule = prediction, rule
        self.status, self.why = Status.OK, prediction.message
        """Of the page's measures, unless they say otherwise; the status also of truths without an answer."""
        self.out = PageScores()

    def match(self, category: str, truths: Ids, preds: Ids, overlap: float | None) -> None:
        """Write what answers what."""
        match = Match(tuple(truths), tuple(preds), overlap)
        place = self.prediction.sample, self.prediction.parser, self.rule, category
        self.out.matches.append(MatchRow(*place, match.truth, match.pred, match.kind, overlap, None))

    def element(
        self, category: str, truths: Ids, preds: Ids, metric: str, value: float | None, why: str | None = None
    ) -> None:
        """Write a score; what is missed or invented has the status that says so."""
        status = Status.OK if truths else Status.NO_TRUTH
        if not preds:
            status = self.status if self.status is not Status.OK else Status.NO_PREDICTION
        place = self.prediction, self.rule, category, truths, preds
        self.out.scores.append(ScoreRow.of_element(*place, Score(metric, value, status, why)))

    def page(
        self, metric: str, value: float | None, status: Status | None = None, message: str | None = None
    ) -> None:
        """Write a measure of the whole page."""
        place = self.prediction.sample, PAGE_LEVEL, "", self.rule, PAGE_LEVEL, self.prediction.parser
        self.out.scores.append(ScoreRow(*place, metric, value, status or self.status, message or self.why))
