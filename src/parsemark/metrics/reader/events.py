"""Events: what happened to a table on its way, each found once with its extent, and what it costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from parsemark.metrics.reader.prices import Parameters

FULL_SCORE = 10.0
UNASKED = 0.3
"""Severity of a further table beside the one asked for, and of rows given twice, against 1 for false ones."""
MISLEADING = 1.3
"""Severity of what belongs to another row or column, or of no name at all, against 1 for a part of a name."""
_MOST_TOLD = 50  # events beyond this many are counted, not told
_LONGEST_QUOTE = 60


class Kind(Enum):
    """The types of errors, as the report counts them, each with the name of its price."""

    __hash__ = object.__hash__  # members are single; that of Enum is written in Python
    price: str

    def __new__(cls, name: str, price: str) -> Kind:
        """Make a kind whose value is its name."""
        kind = object.__new__(cls)
        kind._value_, kind.price = name, price
        return kind

    VALUE_WRONG = "value_wrong", "value"
    VALUE_REVERSED = "value_reversed", "value"
    VALUE_LOST = "value_lost", "value"
    VALUE_SHIFTED = "value_shifted", "value"
    VALUE_MISREAD = "value_misread", "misread"
    NOTATION = "notation", "notation"
    HEADER_LOST = "header_lost", "header"
    HEADER_MISREAD = "header_misread", "misread"
    HEADER_CONTEXT_LOST = "header_context_lost", "context"
    NAME_LOST = "name_lost", "header"
    NAME_MISREAD = "name_misread", "misread"
    SECTION_LOST = "section_lost", "context"
    ROW_MISSING = "row_missing", "missing"
    COLUMN_MISSING = "column_missing", "missing"
    CUT_OFF = "cut_off", "cut_off"
    INVENTED = "invented", "invented"
    COLUMNS_MERGED = "columns_merged", "merged"
    ROWS_MERGED = "rows_merged", "merged"
    COLUMN_SPLIT = "column_split", "context"
    ROW_SPLIT = "row_split", "context"
    SPAN_WRONG = "span_wrong", "context"
    SPAN_LOST = "span_lost", "counted"
    MOVED = "moved", "context"
    HEADER_SHIFTED = "header_shifted", "counted"
    HEADER_MOVED = "header_moved", "header"
    CELLS_MERGED = "cells_merged", "merged"
    PLAIN_LINES = "plain_lines", "counted"
    PADDED = "padded", "padded"


_FORM = Kind.PADDED  # what costs as much as the worst of its kind, however often it comes
MISREAD = frozenset({Kind.VALUE_MISREAD, Kind.HEADER_MISREAD, Kind.NAME_MISREAD})
_VALUES_GONE = {Kind.VALUE_WRONG, Kind.VALUE_REVERSED, Kind.VALUE_LOST}
_GONE = frozenset({*_VALUES_GONE, Kind.ROW_MISSING, Kind.COLUMN_MISSING, Kind.CUT_OFF})
"""Events after which the values they touch are not known at all."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    kind: Kind
    extent: float  # how many values it touches
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
    _scores: dict[Parameters, float] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was computed already: an account is compared with others again and again."""

    def plus(self, events: Iterable[Event]) -> Account:
        """Return the account with further events."""
        events = tuple(events)
        if not events:
            return self
        return Account((*self.events, *events), self.total)

    def cost(self, event: Event, parameters: Parameters) -> float:
        """Return the cost of one event, in units of the exponent."""
        price: float = getattr(parameters, event.kind.price)
        severity = event.severity**parameters.severity if event.kind in MISREAD else event.severity
        share = min(1.0, event.extent / max(self.total, 1.0))
        cost = float(price * severity * share**parameters.growth)
        return max(cost, parameters.reversed / self._reversed) if event.kind is Kind.VALUE_REVERSED else cost

    @cached_property
    def _reversed(self) -> int:
        return sum(event.kind is Kind.VALUE_REVERSED for event in self.events)

    @property
    def known(self) -> float:
        """Return the share of the values that are there."""
        gone = sum(e.extent * min(1.0, e.severity) for e in self.events if e.kind in _GONE)
        return max(0.0, 1.0 - gone / self.total) if self.total else 1.0

    def score(self, parameters: Parameters) -> float:
        """Return the value of `reader`."""
        if parameters not in self._scores:
            self._scores[parameters] = self._score(parameters)
        return self._scores[parameters]

    def _score(self, parameters: Parameters) -> float:
        harm, form = 0.0, 0.0
        for event in self.events:
            cost = self.cost(event, parameters)
            harm, form = (harm, max(form, cost)) if event.kind is _FORM else (harm + cost, form)
        return FULL_SCORE * math.exp(-(harm**parameters.bend) - form) * self.known

    def details(self, parameters: Parameters) -> dict[str, Any]:
        """Return the explanation: events with the points they cost, strongest first, and how many of each
        kind.
        """
        costs = [(self.cost(event, parameters), event) for event in self.events]
        total = sum(cost for cost, _ in costs)
        points = FULL_SCORE - self.score(parameters)
        told = [
            {
                "kind": event.kind.value,
                "where": event.where,
                "extent": round(event.extent, 3),
                "message": event.message,
                "cost": round(points * cost / total, 4) if total else 0.0,
            }
            for cost, event in sorted(costs, key=lambda c: (-c[0], c[1].kind.value, c[1].message))
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

    def add(self, event: Event, *cause: Any) -> None:
        """Count an event with the others of its kind that have the same cause."""
        self._found.setdefault((event.kind, *cause), []).append(event)

    def events(self) -> Iterable[Event]:
        """Yield one event for each cause: it touches all values, and is as severe as the worst of them."""
        for found in self._found.values():
            first = found[0]
            again = f" (and {len(found) - 1} more like this)" if len(found) > 1 else ""
            extent = sum([e.extent for e in found])
            severity = sum([e.severity * e.extent for e in found]) / max(extent, 1e-9)
            message = first.message.removesuffix(".") + again + "."
            yield Event(first.kind, extent, message, first.where, severity)


def quote(text: str) -> str:
    """Return a text as it is shown in a message."""
    flat = " ".join(text.split())
    return f"“{flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + '…'}”"
