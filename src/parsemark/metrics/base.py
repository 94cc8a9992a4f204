"""What every metric is: a frozen value with options, that declares its own metadata and scores a pair."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from parsemark.errors import FormatError
from parsemark.model import Score, Status
from parsemark.specs import OptionValue, changed_options, check_options

# How large two tables may be to be compared (a second for 100 kB, and 200 MB); over it a metric fails.
MAX_POSITION_PAIRS = 100_000_000
"""Cells of one table times cells of the other (10,000 each): about a second of work."""
MAX_LINE_PAIRS = 100_000_000  # rows times rows, and columns times columns: one byte of memory each
MAX_CHARACTER_PAIRS = 10_000_000_000
"""Characters of one table times characters of the other (100,000 each); 64 are compared at a time."""
MAX_DIFFLIB_PAIRS = 500_000_000
"""Characters times characters (22,000 each) where difflib compares them, one at a time."""
MAX_TREE_PAIRS = 10_000_000  # nodes times nodes of trees that are no table > tr > td: 16 bytes of memory each


def check_pairs(what: str, a: int, b: int, limit: int) -> None:
    """Refuse to compare `a` things with `b` things if that is more than `limit` comparisons."""
    if a * b > limit:
        raise FormatError(f"The tables are too large to compare: {a:,} and {b:,} {what}")


Kind = Literal["table", "formula", "text"]
MEAN_OF_METRICS = (
    "Horn & Keuper, in whose study of metrics the mean stands for the family",
    "the metrics that it is the mean of",
)
"""Citation and reference of means of metrics that studies report as one figure."""
InputT = TypeVar("InputT")


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a metric declares about itself; shown by `parsemark list metrics NAME` and held by tests."""

    title: str
    citation: str
    reference: str  # the implementation that it was checked against
    kind: Kind = "table"
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    symmetric: bool = False
    both_empty: float | None = 1.0  # value for two empty inputs
    one_empty: float | None = 0.0  # value where exactly one side is empty
    label: str = ""  # how it is called on an axis and in a table of metrics; its name where it has no label
    short_label: str = ""  # how it is called in a table's head, beside other words; else its label

    def credit(self, value: float) -> float:
        """Return the credit for a value, from 0 (nothing) to 1 (all), whatever the metric's range and
        direction.

        The best value earns 1. Where higher is better, 0 and less earn nothing; where lower is better, the
        largest value does.
        """
        share = value / self.range[1]
        return min(1.0, max(0.0, share if self.higher_is_better else 1.0 - share))


@dataclass(frozen=True)
class Metric(ABC, Generic[InputT]):
    """A metric is a frozen dataclass: its fields are its options, its name is its identity.

    A subclass sets `name` and `metadata` and implements `compute`.
    """

    name: ClassVar[str]
    metadata: ClassVar[Metadata]

    def __str__(self) -> str:
        return changed_options(self, self.name)

    @classmethod
    def from_options(cls, options: Mapping[str, OptionValue]) -> Self:
        """Build the metric from the options of a spec, checking names and values."""
        return cls(**check_options(cls, "Metric", cls.name, options))

    @abstractmethod
    def compute(self, truth: InputT, pred: InputT) -> float | tuple[float, Mapping[str, Any]]:
        """Return the value, or the value and its explanation. May raise FormatError."""

    def score(self, truth: InputT, pred: InputT) -> Score:
        """Return `compute` with failures as data."""
        try:
            result = self.compute(truth, pred)
        except FormatError as error:
            return Score(str(self), None, Status.METRIC_FAILED, message=str(error))
        value, details = result if isinstance(result, tuple) else (result, {})
        return Score(str(self), value, details=details)
