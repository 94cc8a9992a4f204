"""What can be asked of the generator."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from parsemark.corpora.synthetic.story import LINE_STYLES
from parsemark.errors import UsageError

GENERATOR = "synthetic 6"
"""Name and version; the version rises whenever the same seed gives other pages."""


@dataclass(frozen=True)
class SyntheticOptions:
    """How many pages, and the share of each trait among them."""

    pages: int
    seed: int = 0
    name: str = "synthetic"
    empty: float = 0.3
    """Share of pages without any table."""
    double_column: float = 0.35
    french: float = 0.25
    rotated: float = 0.1
    """Share of pages with tables that have a table turned by ±90°."""
    long: float = 0.08
    """Share of pages that belong to a table which runs over pages."""
    document_pages: int = 4
    """The most pages that one document has, long tables apart. Documents of one page are independent."""
    lines: dict[str, float] = field(
        default_factory=lambda: {"full": 0.25, "booktabs": 0.4, "partial": 0.2, "none": 0.15}
    )
    """Weight of each style of lines."""
    edition: int = 2
    """Of the kinds of tables. In the first, that of the demo, timetables ran through the night."""
    pool: Path | None = None
    """Harvested tables, used for half of the tables."""

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise UsageError(f"A corpus needs at least one page, not {self.pages}.")
        if self.document_pages < 1:
            raise UsageError(f"A document needs at least one page, not {self.document_pages}.")
        for key in ("empty", "double_column", "french", "rotated", "long"):
            if not 0 <= getattr(self, key) <= 1:
                raise UsageError(f"The share {key} must lie between 0 and 1, not {getattr(self, key)}.")
        unknown = sorted(set(self.lines) - set(LINE_STYLES))
        if unknown or sum(self.lines.values()) <= 0 or min(self.lines.values()) < 0:
            raise UsageError(f"Weights of the line styles {', '.join(LINE_STYLES)} cannot be {self.lines}.")

    def settings(self) -> dict[str, Any]:
        """What is recorded in the corpus."""
        settings = asdict(self)
        settings["pool"] = None if self.pool is None else self.pool.name
        del settings["seed"], settings["name"]
        if self.edition == 1:  # it had no number
            del settings["edition"]
        return settings


def read_line_weights(text: str) -> dict[str, float]:
    """Read `full=0.5,none=0.5`."""
    weights = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError as error:
            raise UsageError(f"Cannot read {part!r}: write line styles as full=0.5,none=0.5.") from error
    return weights
