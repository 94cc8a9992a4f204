"""What a protocol is, and the rows it produces: one for each match and one for each score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from parsemark.model import Page, Prediction, Status
from parsemark.registry import Registry

PAGE_LEVEL = ""
"""`ScoreRow.element` of a measure of the whole page."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One match of one page under one rule, as it lies in `matches.parquet`."""

    sample: str
    parser: str
    rule: str
    truth: tuple[str, ...]
    pred: tuple[str, ...]
    kind: str
    overlap: float | None
    confidence: float | None
    """Of the prediction; for a split the largest one; None where the parser gives none."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One score, as it lies in `scores.parquet`."""

    sample: str
    element: str
    """Id of the truth, or of the prediction where there is no truth, or empty for the whole page."""
    pred: str
    """Ids of the predictions joined by `+`; empty where there is none."""
    rule: str
    parser: str
    metric: str
    value: float | None
    status: Status
    message: str | None = None


@dataclass(frozen=True, slots=True)
class PageScores:
    """All that a protocol says about one page of one parser."""

    matches: list[MatchRow] = field(default_factory=list)
    scores: list[ScoreRow] = field(default_factory=list)


class PageProtocol(Protocol):
    """A recipe: which matching, which metrics, which aggregates."""

    @property
    def name(self) -> str:
        """The name with the options that differ from the default."""

    def score_page(self, truth: Page | None, prediction: Prediction, page_text: str | None) -> PageScores:
        """Match and score one page; without a truth only what can be said without one."""

    def summarise(self, samples: Any, parses: Any, matches: Any, scores: Any) -> dict[str, Any]:
        """Aggregates over a whole run, from its tables (polars data frames)."""


PROTOCOLS = Registry(
    "protocol", "parsemark.protocols", {"tables": "parsemark.protocols.tables:TablesProtocol"}
)


def get_protocol(name: str) -> PageProtocol:
    """The protocol of that name."""
    protocol: PageProtocol = PROTOCOLS.load(name)()
    return protocol
