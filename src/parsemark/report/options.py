"""How much a report holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Limits that keep the report of a large run small and quick to make."""

    max_images: int = 2_000
    """Runs with more pages get no page images; boxes are then drawn on an empty page."""
    max_raw_outputs: int = 20_000
    """Runs with more page × parser pairs get no raw outputs; the run directory keeps them."""
    max_explanations: int = 2_000
    """How many matched tables are explained by metrics that explain themselves, worst first."""
    image_dpi: int = 110
    against: Path | None = None
    """An older run to compare with."""
    also: tuple[Path, ...] = ()
    """Runs of the same parsers on other corpora, to choose from on the leaderboard."""
    home: str | None = None
    """The page that the report belongs to, where it is one of many: a link relative to it."""
