"""The first page: who is better, by how much, how sure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from parsemark.model import Status
from parsemark.plain_words import attribute_name, counted, name_for
from parsemark.report.charts import chart_to_json
from parsemark.report.charts.catalogue import price_trade_off, scaling_charts, trade_off
from parsemark.report.chunks import write_chunk
from parsemark.report.drawing import Chart
from parsemark.report.leaderboard_table import LeaderboardRow, LeaderboardTable, leaderboard_table
from parsemark.report.parser_page import worst_pages
from parsemark.report.site import CHART_SCRIPTS, ReportPage, Site
from parsemark.report.source import PageSlice, RunSource, slices
from parsemark.store import ParseRecord, Run
from parsemark.store.summary import Summary
from parsemark.verdicts.error_types import Errors
from parsemark.verdicts.run_verdict import (
    QUESTIONS,
    Question,
    Terms,
    best_on_kinds,
    scored_records,
    verdict_by_question,
)


def _write(site: Site) -> None:
    """Write `index.html`: the leaderboard of each protocol, of which one is shown at a time."""
    parts = [_part(site, number, source) for number, source in enumerate(site.sources, start=1)]
    site.page("index", scripts=(*CHART_SCRIPTS, "js/leaderboard.js"), parts=parts)


def _part(site: Site, number: int, source: RunSource) -> dict[str, Any]:
    """Return what the page shows of one protocol, and write the data of its selections of pages."""
    ending = "" if number == 1 else f"-{number}"  # of names inside the page
    selections, summary = list(_parts(source, site.options.also)), source.summary
    board, errors = selections[0][1], site.errors[number - 1]
    groups: dict[str, list[PageSlice]] = {}
    for pages, _ in selections:
        groups.setdefault(pages.attribute, []).append(pages)
    chunk = f"leaderboards/{number}"
    content = {
        "parsers": [row.parser.name for row in board.rows],
        "colours": source.colours,
        "slices": {pages.key: _slice_json(source, pages, own, ending) for pages, own in selections},
    }
    write_chunk(site.root, chunk, content)
    counts = {parser.name: errors.counts(parser.name) for parser in board.scored}
    records = scored_records(source.run, summary.protocol)
    best = [parser for parser in source.parsers if parser.name == summary.ranking.best]
    worst = [page for parser in best for page in worst_pages(source, parser, site.images)]
    verdict = verdict_by_question(summary, records, source.manifest.corpus.spec, Terms.of(source.run))
    verdict = [*_errors_apart(summary, errors), *verdict]
    return {
        "ending": ending,
        "chunk": chunk,
        "title": site.title(source),
        "board": board,
        "summary": summary,
        "verdict": [(words, [s for q, s in verdict if q == question]) for question, words in QUESTIONS],
        "compared": summary.ranking.best is not None and len(summary.parsers) > 1,
        "worst": [page for page in worst if page.thumbnail][:3],
        "kinds": best_on_kinds(summary),
        "facts": _facts(source, records),
        "errors": errors,
        "counts": counts,
        "most_errors": max((n for own in counts.values() for n, _ in own.values()), default=0),
        "slice_groups": groups,
    }


def _errors_apart(summary: Summary, errors: Errors) -> Iterator[tuple[Question, str]]:
    """Yield the type of error by which the runner-up is furthest behind the leader."""
    first, second = [*summary.ordered(), "", ""][:2]
    if summary.ranking.best != first or not second:
        return
    a, b = errors.counts(first), errors.counts(second)
    gaps = [(b.get(k.name, (0, 0))[0] - a.get(k.name, (0, 0))[0], k) for k in errors.kinds]
    gap, kind = max(gaps, key=lambda entry: entry[0], default=(0, None))
    if kind is not None and gap > 0:
        n_first, n_second = (counts.get(kind.name, (0, 0))[0] for counts in (a, b))
        of_first = f"{first} has the error “{kind.label}” in {counted(n_first, 'element')}"
        yield "why", f"Largest advantage over {second}: {of_first}, {second} in {n_second:,}."


def _parts(source: RunSource, also: Sequence[Path]) -> Iterator[tuple[PageSlice, LeaderboardTable]]:
    """Yield selections of pages, each with its table; other runs are what these parsers earn on other
    corpora.
    """
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


def _slice_json(source: RunSource, pages: PageSlice, board: LeaderboardTable, ending: str) -> dict[str, Any]:
    charts = [trade_off(pages.figures, source), price_trade_off(pages.figures, source)]
    speed = [] if pages.key else scaling_charts(source)
    return {
        "label": f"{attribute_name(pages.attribute)}: {pages.label}" if pages.attribute else pages.label,
        "sentence": board.sentence,
        "n_pages": pages.n_pages,
        "charts": _charts_json(charts, ending),
        "speed": _charts_json(speed, ending),
        "rows": {
            row.parser.name: _row_json(row, board) for row in board.rows if row.parser.name in pages.figures
        },
    }


def _charts_json(charts: Sequence[Chart | None], ending: str) -> list[dict[str, Any]]:
    return [chart_to_json(replace(c, key=f"{c.key}{ending}")) for c in charts if c is not None]


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


PAGE = ReportPage("index", _write, "Answer")
