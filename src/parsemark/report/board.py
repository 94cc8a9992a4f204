"""The leaderboard's table: cells with intervals, ranks with ties, and the answer in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsemark.report.columns import Column, column_for, format_value
from parsemark.report.source import Parser, Source

Figures = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a value lies on the bar of its column, in percent of the width."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Percent from the left."""
        span = self.high - self.low
        return round(100 * (min(max(value, self.low), self.high) - self.low) / span, 1) if span > 0 else 50.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of the table."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    title: str
    problem: bool


@dataclass(frozen=True, slots=True)
class Rank:
    """A place, or the places that the data allow."""

    low: int
    high: int
    text: str
    tied: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One parser."""

    parser: Parser
    rank: Rank
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Board:
    """The table of one slice."""

    columns: Sequence[Column]
    axes: Mapping[str, Scale]
    rows: Sequence[Row]
    headline: Column
    rank_definition: str
    sentence: str


RANK_OF_ALL = (
    "The central 95 % of the ranks over resamples of the documents. “Tied” means that a paired permutation "
    "test, corrected for the number of comparisons, cannot tell the parser from the best one."
)
RANK_OF_SLICE = (
    " For a selection of pages: the plain order, and “tied” where the interval overlaps the best one's."
)


def make_board(
    source: Source, figures: Figures, columns: Sequence[Column], comparison: Mapping[str, Any] | None
) -> Board:
    """The table of some pages.

    Args:
        source: The run whose parsers are the rows.
        figures: Parser name to its numbers.
        columns: The numbers to show.
        comparison: The tests between parsers, where these pages have been tested.
    """
    headline = column_for(source.primary)
    axes = {c.key: _scale(c, figures) for c in columns}
    tested = comparison and comparison.get("ranks")
    ranks = _tested_ranks(comparison) if comparison and tested else _plain_ranks(source, figures)
    rows = [
        Row(
            parser,
            ranks.get(parser.name, Rank(len(source.parsers), len(source.parsers), "–", False)),
            {c.key: _cell(c, figures.get(parser.name, {}).get(c.key)) for c in columns},
        )
        for parser in source.parsers
    ]
    rows.sort(key=lambda row: _order(row, headline.key))
    shown_axes = {k: axis for k, axis in axes.items() if axis is not None}
    definition = RANK_OF_ALL + RANK_OF_SLICE
    return Board(columns, shown_axes, rows, headline, definition, _sentence(source, rows, headline))


def _order(row: Row, headline: str) -> tuple[float, str]:
    value = row.cells[headline].value if headline in row.cells else None
    return (-value if value is not None else float("inf"), row.parser.name)


def _cell(column: Column, entry: Mapping[str, Any] | None) -> Cell:
    value = entry["value"] if entry else None
    low, high = (entry.get("ci95") or (None, None)) if entry else (None, None)
    parts = []
    if low is not None and high is not None:
        parts.append(f"95 % interval {format_value(low, column.style)} to {format_value(high, column.style)}")
    if entry and entry.get("n") is not None:
        parts.append(f"n = {entry['n']:,g}")
    problem = column.key == "failures" and bool(value)
    return Cell(value, low, high, format_value(value, column.style), ", ".join(parts), problem)


def _scale(column: Column, figures: Figures) -> Scale | None:
    """Scores share 0 to 1, so that bars of different columns can be compared; the rest starts at 0."""
    if column.style == "count":
        return None
    if column.style == "score":
        return Scale(0.0, 1.0)
    tops = [
        (entry.get("ci95") or [entry["value"]])[-1]
        for parser in figures.values()
        if (entry := parser.get(column.key)) and entry["value"] is not None
    ]
    return Scale(0.0, max(tops)) if tops and max(tops) > 0 else None


def _tested_ranks(comparison: Mapping[str, Any]) -> dict[str, Rank]:
    best, tied = comparison.get("best"), set(comparison.get("tied_with_best", ()))
    return {
        name: Rank(
            low, high, f"{low}" if low == high else f"{low}–{high}", bool(tied) and name in {best, *tied}
        )
        for name, (low, high) in comparison["ranks"].items()
    }


def _plain_ranks(source: Source, figures: Figures) -> dict[str, Rank]:
    entries = {
        name: entry
        for name, parser in figures.items()
        if (entry := parser.get(source.primary)) and entry["value"] is not None
    }
    if not entries:
        return {}
    best = max(entries.values(), key=lambda e: e["value"])
    floor = best["ci95"][0] if best.get("ci95") else best["value"]
    tied = {n for n, e in entries.items() if (e["ci95"][1] if e.get("ci95") else e["value"]) >= floor}
    ranks = {}
    for name, entry in entries.items():
        place = 1 + sum(other["value"] > entry["value"] for other in entries.values())
        ranks[name] = Rank(place, place, str(place), len(tied) > 1 and name in tied)
    return ranks


def _sentence(source: Source, rows: Sequence[Row], headline: Column) -> str:
    """The answer in words."""
    scored = [row for row in rows if headline.key in row.cells and row.cells[headline.key].value is not None]
    if not scored:
        return "No parser has a score yet."
    best = scored[0]
    cell = best.cells[headline.key]
    tied = [row.parser.name for row in scored[1:] if row.rank.tied]
    interval = f" ({cell.title.split(',')[0]})" if cell.low is not None else ""
    first = f"{best.parser.name} leads with {headline.label} {cell.text}{interval}"
    if not tied:
        return f"{first}." if len(scored) == 1 else f"{first}, ahead of every other parser."
    listed = ", ".join(tied[:3]) + (f" and {len(tied) - 3} more" if len(tied) > 3 else "")
    return f"{first}; the data cannot tell it from {listed}."
