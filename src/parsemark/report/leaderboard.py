"""The first page: who is better, by how much, how sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parsemark.report.board import Board, Figures, Row, make_board
from parsemark.report.charts import chart_to_json
from parsemark.report.charts.tradeoff import trade_off
from parsemark.report.chunks import write_chunk
from parsemark.report.columns import columns_of
from parsemark.report.facets import Slice, slices
from parsemark.report.options import ReportOptions
from parsemark.report.site import CHART_SCRIPTS, Site
from parsemark.report.slice_figures import slice_figures
from parsemark.report.source import Source
from parsemark.store import Run


@dataclass(frozen=True, slots=True)
class Part:
    """A selection of pages with its numbers."""

    pages: Slice
    figures: Figures
    board: Board


def write_leaderboard(site: Site, options: ReportOptions) -> None:
    """Write `index.html` and the numbers of all slices."""
    source = site.source
    parts = [*_own_parts(source), *(_other_corpus(source, path) for path in options.also)]
    whole = parts[0].board
    write_chunk(
        site.root,
        "leaderboard",
        {
            "parsers": [row.parser.name for row in whole.rows],
            "colours": source.colours,
            "slices": {part.pages.key: _slice_json(source, part) for part in parts},
        },
    )
    site.page(
        "index",
        current="index",
        scripts=(*CHART_SCRIPTS, "js/leaderboard.js"),
        board=whole,
        facts=_facts(source),
        slice_groups=_groups([part.pages for part in parts]),
    )


def _own_parts(source: Source) -> list[Part]:
    columns = columns_of(source.figures)
    parts = []
    for pages in slices(source):
        figures = slice_figures(source, pages)
        tests = None if pages.key else source.summary.get("comparison")
        parts.append(Part(pages, figures, make_board(source, figures, columns, tests)))
    return parts


def _other_corpus(source: Source, path: Path) -> Part:
    """Another run as one more selection: what the parsers of this report earn on its corpus."""
    run = Run.open(path)
    summary, corpus = run.summary(), run.manifest.corpus
    names = {parser.name for parser in source.parsers}
    figures = {name: figures for name, figures in summary["parsers"].items() if name in names}
    samples = tuple(run.table("samples")["sample"])
    label = f"{corpus.name} {corpus.version}"
    pages = Slice(f"corpus={label} {corpus.hash[:8]}", "corpus", label, label, samples)
    board = make_board(source, figures, columns_of(source.figures), summary.get("comparison"))
    return Part(pages, figures, board)


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


def _slice_json(source: Source, part: Part) -> dict[str, Any]:
    chart, pages, board = trade_off(part.figures, source), part.pages, part.board
    return {
        "label": f"{pages.attribute}: {pages.label}" if pages.attribute else pages.label,
        "n_pages": len(pages.pages),
        "chart": chart_to_json(chart) if chart else None,
        "rows": {
            row.parser.name: _row_json(row, board) for row in board.rows if row.parser.name in part.figures
        },
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
