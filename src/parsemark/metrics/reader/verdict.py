"""From what is known and what was lost to a value between 0 and 10."""

from __future__ import annotations

import math
from dataclasses import dataclass

from parsemark.metrics.reader.facts import Comparison, Fact, Position
from parsemark.metrics.reader.parameters import Parameters

FULL_SCORE = 10.0


@dataclass(frozen=True, slots=True)
class Losses:
    """How much was lost in which way, in values; the sum of the truth's values is `total`."""

    total: float
    value: float = 0.0
    header: float = 0.0
    label: float = 0.0
    row: float = 0.0
    column: float = 0.0
    invented: float = 0.0
    cut_off: float = 0.0
    padded: float = 0.0

    def weighted(self, parameters: Parameters) -> float:
        """The losses by their weights."""
        return (
            parameters.value * self.value
            + parameters.header * self.header
            + parameters.label * self.label
            + parameters.row * (self.row + parameters.cut_off * self.cut_off)
            + parameters.column * self.column
            + parameters.invented * self.invented
        )

    def score(self, parameters: Parameters) -> float:
        """The value of `reader`."""
        total = max(self.total, 1.0)
        cost = (self.weighted(parameters) / total**parameters.size) ** parameters.bend
        cost += parameters.padded * self.padded / total
        return FULL_SCORE * math.exp(-cost)


@dataclass(frozen=True)
class Reading:
    """The truth as it can be known from all predicted tables together."""

    parts: tuple[Comparison, ...]
    facts: dict[Position, tuple[Fact, int]]
    """For each value the best that any part knows of it, and which part that is."""
    extras: tuple[tuple[int, Position], ...]
    """Invented values: part and place."""
    cut_off: frozenset[int]
    """Rows of the truth behind the point at which the output breaks off."""


def losses(reading: Reading) -> Losses:
    """Count what was lost."""
    lost = dict.fromkeys(("value", "header", "label", "row", "column", "cut_off", "padded"), 0.0)
    total = 0.0
    for fact, _ in reading.facts.values():
        total += fact.weight
        if fact.found is None:
            lost[_missing(reading, fact)] += fact.weight
            continue
        lost["value"] += fact.weight * (1 - fact.value)
        lost["header"] += fact.weight * fact.value * (1 - fact.header)
        lost["label"] += fact.weight * fact.value * fact.header * (1 - fact.label)
        lost["padded"] += fact.weight * fact.padded
    return Losses(total=total, invented=float(len(reading.extras)), **lost)


def _missing(reading: Reading, fact: Fact) -> str:
    if fact.row in reading.cut_off:
        return "cut_off"
    known_rows = (part.side.alignment.rows for part in reading.parts)
    return "column" if any(fact.row in rows for rows in known_rows) else "row"
