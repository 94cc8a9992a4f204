"""What of the truth a reader of the extraction still knows: one fact for each value with its headers."""

from __future__ import annotations

from dataclasses import dataclass

from parsemark.metrics.reader.align import Alignment
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import Structure

Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Known:
    """How well a header or a name is known, and whether an empty cell had to be read as a repetition."""

    credit: float
    padded: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A value of the truth, by its place there, and what is left of it."""

    row: int
    col: int
    weight: float
    value: float = 0.0
    header: float = 0.0
    label: float = 0.0
    padded: bool = False
    found: Position | None = None
    """The place in the prediction; None if its row or column is missing there."""

    @property
    def credit(self) -> float:
        """What is known of the value with its headers."""
        return self.value * self.header * self.label


@dataclass(frozen=True)
class Side:
    """One predicted table against the truth: who answers whom."""

    truth: Sheet
    structure: Structure
    pred: Sheet
    alignment: Alignment

    @property
    def pred_header(self) -> int:
        """The predicted rows above the first one that answers a row of data are headers."""
        return min(self.alignment.rows.values(), default=self.pred.n_rows)


@dataclass(frozen=True)
class Comparison:
    """One predicted table against the truth: what is known, and what was invented."""

    side: Side
    headers: dict[int, Known]
    """Of each column of the truth."""
    labels: dict[tuple[int, tuple[int, ...]], Known]
    """Of each row and set of label columns of the truth."""
    facts: dict[Position, Fact]
    """By place in the truth."""
    extras: tuple[Position, ...]
    """Places of invented values in the prediction."""

    @property
    def known(self) -> float:
        """Share of the truth that is known."""
        total = sum(fact.weight for fact in self.facts.values())
        return sum(fact.weight * fact.credit for fact in self.facts.values()) / total if total else 1.0
