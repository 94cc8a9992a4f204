"""The first page: who is better, by how much, how sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsemark.report.charts import chart_to_json
from parsemark.report.charts.tradeoff import trade_off
from parsemark.report.chunks import write_chunk
from parsemark.report.columns import Column, column_for, columns_of, format_value
from parsemark.report.facets import Slice, slices
from parsemark.report.site import CHART_SCRIPTS, Site
from parsemark.report.slice_figures import slice_figures
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


def write_leaderboard(site: Site) -> None:
    """Write `index.html` and the numbers of all slices."""
    source = site.source
    parts = slices(source)
    figures = {part.key: slice_figures(source, part) for part in parts}
    columns = columns_of(source.figures)
    boards = {part.key: make_board(source, figures[part.key], columns, whole=not part.key) for part in parts}
    write_chunk(
        site.root,
        "leaderboard",
        {
            "parsers": [row.parser.name for row in boards[""].rows],
            "colours": source.colours,
            "slices": {
                part.key: _slice_json(source, part, boards[part.key], figures[part.key]) for part in parts
            },
        },
    )
    site.page(
        "index",
        current="index",
        scripts=(*CHART_SCRIPTS, "js/leaderboard.js"),
        board=boards[""],
        facts=_facts(source),
        slices=parts,
        slice_groups=_groups(parts),
    )


def make_board(source: Source, figures: Figures, columns: Sequence[Column], *, whole: bool) -> Board:
    """The table of some pages."""
    headline = column_for(source.primary)
    axes = {c.key: _scale(c, figures) for c in columns}
    ranks = _tested_ranks(source) if whole else _plain_ranks(source, figures)
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


def _tested_ranks(source: Source) -> dict[str, Rank]:
    comparison = source.summary.get("comparison") or {}
    best, tied = comparison.get("best"), set(comparison.get("tied_with_best", ()))
    ranks = comparison.get("ranks", {})
    if not ranks:
        return _plain_ranks(source, source.figures)
    return {
        name: Rank(
            low, high, f"{low}" if low == high else f"{low}–{high}", bool(tied) and name in {best, *tied}
        )
        for name, (low, high) in ranks.items()
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


def _facts(source: Source) -> list[dict[str, str]]:
    tables = source.samples["n_tables"].sum()
    failures = int((source.parses["status"] != "ok").sum())
    return [
        {"label": "corpus", "value": source.manifest.corpus.name},
        {"label": "pages", "value": f"{len(source.samples):,}"},
        {"label": "pages without tables", "value": f"{source.negatives:,}"},
        {"label": "true tables", "value": f"{tables:,}"},
        {"label": "parsers", "value": f"{len(source.parsers):,}"},
        {"label": "failed parses", "value": f"{failures:,}"},
    ]


def _groups(parts: Sequence[Slice]) -> list[dict[str, Any]]:
    names = list(dict.fromkeys(part.attribute for part in parts))
    return [
        {
            "name": name,
            "slices": [
                {"key": p.key, "label": p.label, "n_pages": f"{len(p.pages):,} pages"}
                for p in parts
                if p.attribute == name
            ],
        }
        for name in names
    ]


def _slice_json(source: Source, part: Slice, board: Board, figures: Figures) -> dict[str, Any]:
    chart = trade_off(figures, source)
    return {
        "label": f"{part.attribute}: {part.label}" if part.attribute else part.label,
        "n_pages": len(part.pages),
        "chart": chart_to_json(chart) if chart else None,
        "rows": {row.parser.name: _row_json(row, board) for row in board.rows if row.parser.name in figures},
    }


def _row_json(row: Row, board: Board) -> dict[str, Any]:
    cells = {}
    for key, cell in row.cells.items():
        if cell.value is None:
            continue
        cells[key] = {"value": cell.value, "text": cell.text, "title": cell.title}
        if cell.problem:
            cells[key]["problem"] = True
        axis = board.axes.get(key)
        if axis and cell.low is not None and cell.high is not None:
            cells[key]["at"] = [axis.at(cell.low), axis.at(cell.value), axis.at(cell.high)]
    return {"rank": {"low": row.rank.low, "text": row.rank.text, "tied": row.rank.tied}, "cells": cells}
