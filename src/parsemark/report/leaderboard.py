"""The first page: who is better, by how much, how sure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from parsemark.model import Status
from parsemark.plain_words import name_for
from parsemark.report.charts import chart_to_json
from parsemark.report.charts.catalogue import trade_off
from parsemark.report.chunks import write_chunk
from parsemark.report.leaderboard_table import LeaderboardRow, LeaderboardTable, leaderboard_table
from parsemark.report.parser_page import worst_pages
from parsemark.report.site import CHART_SCRIPTS, ReportPage, Site
from parsemark.report.source import PageSlice, RunSource, slices
from parsemark.store import ParseRecord, Run
from parsemark.verdicts.plain_verdict import best_on_kinds, plain_verdict, scored_records


def _write(site: Site) -> None:
    """Write the leaderboard of each protocol; that of the first one is `index.html`."""
    for source, errors in zip(site.sources, site.errors, strict=True):
        parts, summary = list(_parts(source, site.options.also)), source.summary
        board, name = parts[0][1], site.leaderboard_name(source)
        groups: dict[str, list[PageSlice]] = {}
        for pages, _ in parts:
            groups.setdefault(pages.attribute, []).append(pages)
        chunk = f"leaderboards/{name}"
        content = {
            "parsers": [row.parser.name for row in board.rows],
            "colours": source.colours,
            "slices": {pages.key: _slice_json(source, pages, own) for pages, own in parts},
        }
        write_chunk(site.root, chunk, content)
        counts = {row.parser.name: errors.counts(row.parser.name) for row in board.rows}
        records = scored_records(source.run, summary.protocol)
        best = [parser for parser in source.parsers if parser.name == summary.ranking.best]
        worst = [page for parser in best for page in worst_pages(source, parser, site.images)]
        site.page(
            name,
            template="index.html",
            scripts=(*CHART_SCRIPTS, "js/leaderboard.js"),
            chunk=chunk,
            title=site.title(source),
            tabs=_tabs(site, source),
            board=board,
            summary=summary,
            verdict=plain_verdict(summary, records, source.manifest.corpus.spec),
            worst=[page for page in worst if page.thumbnail][:3],
            kinds=best_on_kinds(summary),
            facts=_facts(source, records),
            errors=errors,
            counts=counts,
            most_errors=max((n for own in counts.values() for n, _ in own.values()), default=0),
            slice_groups=groups,
        )


def _tabs(site: Site, shown: RunSource) -> list[list[tuple[str, str, bool]]]:
    """The protocols of the run, those of one name in one row: title, address, and whether it is shown."""
    rows: dict[str, list[tuple[str, str, bool]]] = {}
    for source in site.sources:
        tab = (site.title(source), f"{site.leaderboard_name(source)}.html", source is shown)
        rows.setdefault(source.recipe.name, []).append(tab)
    return list(rows.values())


def _parts(source: RunSource, also: Sequence[Path]) -> Iterator[tuple[PageSlice, LeaderboardTable]]:
    """Selections of pages, each with its table; other runs are what these parsers earn on other corpora."""
    summary, names = source.summary, {parser.name for parser in source.parsers}
    for pages in slices(source):
        ranking = None if pages.key else summary.ranking
        yield pages, leaderboard_table(source.parsers, summary, pages.figures, ranking)
    for run in map(Run.open, also):
        if summary.protocol not in run.protocols:
            continue
        there, corpus = run.summary(summary.protocol), run.manifest.corpus
        figures = {name: own for name, own in there.parsers.items() if name in names}
        label = f"{corpus.name} {corpus.version}"
        n_pages = there.counts.get("pages", run.table("samples").height)
        pages = PageSlice(f"corpus={label} {corpus.hash[:8]}", "corpus", label, n_pages, figures)
        yield pages, leaderboard_table(source.parsers, summary, figures, there.ranking)


def _facts(source: RunSource, records: Sequence[ParseRecord]) -> list[tuple[str, str]]:
    statuses = Counter(str(record.status) for record in records)
    n_silent = statuses[str(Status.NO_PREDICTION)]
    n_failed = statuses.total() - statuses[str(Status.OK)] - n_silent
    counts = {**source.summary.counts, "parsers": len(source.parsers), "failed parses": n_failed}
    counts |= {"pages without output": n_silent} if n_silent else {}
    corpus = ("corpus", source.manifest.corpus.name)
    return [corpus, *((name_for(n, name), f"{n:,}") for name, n in counts.items())]


def _slice_json(source: RunSource, pages: PageSlice, board: LeaderboardTable) -> dict[str, Any]:
    chart = trade_off(pages.figures, source)
    return {
        "label": f"{pages.attribute}: {pages.label}" if pages.attribute else pages.label,
        "sentence": board.sentence,
        "n_pages": pages.n_pages,
        "chart": chart_to_json(chart) if chart else None,
        "rows": {
            row.parser.name: _row_json(row, board) for row in board.rows if row.parser.name in pages.figures
        },
    }


def _row_json(row: LeaderboardRow, board: LeaderboardTable) -> dict[str, Any]:
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
    return {"rank": asdict(row.rank), "cells": cells}


PAGE = ReportPage("index", _write, "Leaderboard", also=("leaderboard-*",))
