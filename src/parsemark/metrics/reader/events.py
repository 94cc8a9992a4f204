"""Events: what happened to a table on its way, each found once with its extent, and what it costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from parsemark.metrics.reader.parameters import Parameters

FULL_SCORE = 10.0
MISLEADING = 1.3
"""Severity of what belongs to another row or column, or of no name at all, against 1 for a part of a name."""
_MOST_TOLD = 50
"""Events beyond this many are counted, not told."""
_LONGEST_QUOTE = 60


class Kind(Enum):
    """The types of errors, as the report counts them."""

    __hash__ = object.__hash__  # members are single; that of Enum is written in Python

    VALUE_WRONG = "value_wrong"
    VALUE_LOST = "value_lost"
    VALUE_SHIFTED = "value_shifted"
    VALUE_MISREAD = "value_misread"
    NOTATION = "notation"
    HEADER_LOST = "header_lost"
    HEADER_MISREAD = "header_misread"
    HEADER_CONTEXT_LOST = "header_context_lost"
    NAME_LOST = "name_lost"
    NAME_MISREAD = "name_misread"
    SECTION_LOST = "section_lost"
    ROW_MISSING = "row_missing"
    COLUMN_MISSING = "column_missing"
    CUT_OFF = "cut_off"
    INVENTED = "invented"
    COLUMNS_MERGED = "columns_merged"
    ROWS_MERGED = "rows_merged"
    COLUMN_SPLIT = "column_split"
    ROW_SPLIT = "row_split"
    SPAN_WRONG = "span_wrong"
    SPAN_LOST = "span_lost"
    MOVED = "moved"
    HEADER_SHIFTED = "header_shifted"
    HEADER_MOVED = "header_moved"
    CELLS_MERGED = "cells_merged"
    PLAIN_LINES = "plain_lines"
    PADDED = "padded"


PRICE: dict[Kind, str] = {
    Kind.VALUE_WRONG: "value",
    Kind.VALUE_LOST: "value",
    Kind.VALUE_SHIFTED: "value",
    Kind.VALUE_MISREAD: "misread",
    Kind.NOTATION: "notation",
    Kind.HEADER_LOST: "header",
    Kind.HEADER_MISREAD: "misread",
    Kind.HEADER_CONTEXT_LOST: "context",
    Kind.NAME_LOST: "header",
    Kind.NAME_MISREAD: "misread",
    Kind.SECTION_LOST: "context",
    Kind.ROW_MISSING: "missing",
    Kind.COLUMN_MISSING: "missing",
    Kind.CUT_OFF: "cut_off",
    Kind.INVENTED: "invented",
    Kind.COLUMNS_MERGED: "merged",
    Kind.ROWS_MERGED: "merged",
    Kind.COLUMN_SPLIT: "context",
    Kind.ROW_SPLIT: "context",
    Kind.SPAN_WRONG: "context",
    Kind.SPAN_LOST: "counted",
    Kind.MOVED: "context",
    Kind.HEADER_SHIFTED: "counted",
    Kind.HEADER_MOVED: "header",
    Kind.CELLS_MERGED: "merged",
    Kind.PLAIN_LINES: "counted",
    Kind.PADDED: "padded",
}
"""Which price an event of a kind has."""

_FORM = Kind.PADDED
"""What costs as much as the worst of its kind, however often it comes."""
MISREAD = frozenset({Kind.VALUE_MISREAD, Kind.HEADER_MISREAD, Kind.NAME_MISREAD})
_GONE = frozenset({Kind.VALUE_WRONG, Kind.VALUE_LOST, Kind.ROW_MISSING, Kind.COLUMN_MISSING, Kind.CUT_OFF})
"""Events after which the values they touch are not known at all."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    kind: Kind
    extent: float
    """How many values it touches."""
    message: str
    where: dict[str, Any] = field(default_factory=dict)
    """`row` and `col` in the truth, or `pred_row` and `pred_col` in the prediction."""
    severity: float = 1.0
    """How much of what it touches it takes away; for misread texts the share of wrong letters."""


@dataclass(frozen=True)
class Account:
    """All events between a truth with so many values and what was read of it."""

    events: tuple[Event, ...]
    total: float

    def cost(self, event: Event, parameters: Parameters) -> float:
        """What one event costs, in units of the exponent."""
        price: float = getattr(parameters, PRICE[event.kind])
        severity = event.severity**parameters.severity if event.kind in MISREAD else event.severity
        share = min(1.0, event.extent / max(self.total, 1.0))
        return float(price * severity * share**parameters.growth)

    def _costs(self, parameters: Parameters) -> list[float]:
        """What each event costs; kept, since the score and the explanation both need them."""
        known = self._known_costs.get(parameters)
        if known is None:
            known = [self.cost(event, parameters) for event in self.events]
            self._known_costs[parameters] = known
        return known

    @cached_property
    def _known_costs(self) -> dict[Parameters, list[float]]:
        return {}

    @property
    def known(self) -> float:
        """Share of the values that are there."""
        gone = sum(e.extent * min(1.0, e.severity) for e in self.events if e.kind in _GONE)
        return max(0.0, 1.0 - gone / self.total) if self.total else 1.0

    def score(self, parameters: Parameters) -> float:
        """The value of `reader`."""
        known = self._scores.get(parameters)
        if known is None:
            known = self._scores[parameters] = self._score(parameters)
        return known

    @cached_property
    def _scores(self) -> dict[Parameters, float]:
        return {}

    def _score(self, parameters: Parameters) -> float:
        costs = self._costs(parameters)
        harm = sum([cost for event, cost in zip(self.events, costs, strict=True) if event.kind is not _FORM])
        form = max(
            [cost for event, cost in zip(self.events, costs, strict=True) if event.kind is _FORM], default=0.0
        )
        return FULL_SCORE * math.exp(-(harm**parameters.bend) - form) * self.known

    def details(self, parameters: Parameters) -> dict[str, Any]:
        """The explanation: events with the points they cost, strongest first, and how many of each kind."""
        costs = self._costs(parameters)
        total = sum(costs)
        points = FULL_SCORE - self.score(parameters)
        ranked = sorted(
            zip(self.events, costs, strict=True), key=lambda e: (-e[1], e[0].kind.value, e[0].message)
        )
        told = [
            {
                "kind": event.kind.value,
                "where": event.where,
                "extent": round(event.extent, 3),
                "message": event.message,
                "cost": round(points * cost / total, 4) if total else 0.0,
            }
            for event, cost in ranked
        ]
        return {
            "errors": told[:_MOST_TOLD],
            "n_errors": len(told),
            "counts": dict(sorted(Counter(event.kind.value for event in self.events).items())),
            "n_values": self.total,
        }


class Causes:
    """Collects what is found value by value into one event for each cause."""

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], list[Event]] = {}

    def add(self, key: Sequence[Any], event: Event) -> None:
        """Count an event with the others of the same cause."""
        self._found.setdefault(tuple(key), []).append(event)

    def events(self) -> Iterable[Event]:
        """One event for each cause: it touches all values, and is as severe as the worst of them."""
        for found in self._found.values():
            first = found[0]
            again = f" (and {len(found) - 1} more alike)" if len(found) > 1 else ""
            extent = sum([e.extent for e in found])
            severity = sum([e.severity * e.extent for e in found]) / max(extent, 1e-9)
            message = first.message.removesuffix(".") + again + "."
            yield Event(first.kind, extent, message, first.where, severity)


def quote(text: str) -> str:
    """A text as it is shown in a message."""
    flat = " ".join(text.split())
    return f"“{flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + '…'}”"
