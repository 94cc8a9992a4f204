"""PureDocBench's leaderboard: OmniDocBench v1.6 on each track, and the mean of the three Overalls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from parsemark.protocols import FigureSums, RunTables
from parsemark_boards.omnidocbench_pages import (
    PARTS,
    OmniDocBenchPages,
    attribute_of_pages,
    mean_of,
    of_measure,
)

if TYPE_CHECKING:
    import polars as pl

TRACKS = ("clean", "digital", "real")
TRACK = "puredocbench_track"  # attribute of pages


@dataclass(frozen=True)
class PureDocBenchProtocol(OmniDocBenchPages):
    """Overall score of each track, and their mean, as on PureDocBench's leaderboard."""

    name: ClassVar[str] = "puredocbench"
    title: ClassVar[str] = "PureDocBench: three tracks"
    comparability: ClassVar[int] = 1
    profile: ClassVar[str] = "v1.6"
    upstream: ClassVar[str] = "PureDocBench 1.1 (June 2026)"

    def means(
        self, tables: RunTables, rows: pl.DataFrame, measures: Mapping[str, FigureSums]
    ) -> list[FigureSums]:
        """Avg3 if there are pages of all tracks, and the Overall of each track that is there."""
        from parsemark.protocols.run_scores.aggregate import mean_sums

        tracks = attribute_of_pages(tables, TRACK)
        turned = [PARTS[name] for name in measures]
        parts = {}
        for track in dict.fromkeys(tracks[s] for s in sorted(tracks)):
            pages = [sample for sample, own in tracks.items() if own == track]
            parts[track] = [
                mean_sums(figure.info, of_measure(rows, name, pages), "value", tables)
                for name, figure in measures.items()
            ]
        found = []
        if all(track in parts for track in TRACKS):
            every = [part for track in TRACKS for part in parts[track]]
            found.append(mean_of(every, self.info("avg3", measures), turned * len(TRACKS)))
        there = [track for track in TRACKS if track in parts]
        found += [mean_of(parts[t], self.info(f"overall_{t}", measures), turned) for t in there]
        return found
