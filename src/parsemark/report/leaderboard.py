"""The first page: who is better, by how much, how sure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from parsemark.model import Status
from parsemark.plain_words import counted, name_for
from parsemark.report.charts import chart_to_json
from parsemark.report.charts.catalogue import trade_off
from parsemark.report.chunks import write_chunk
from parsemark.report.leaderboard_table import LeaderboardRow, LeaderboardTable, leaderboard_table
from parsemark.report.names import viewer_link
from parsemark.report.parser_page import worst_pages
from parsemark.report.site import CHART_SCRIPTS, ReportPage, Site
from parsemark.report.source import PageSlice, RunSource, ShownParser, slices
from parsemark.store import Run
from parsemark.verdicts.error_types import Errors
from parsemark.verdicts.plain_verdict import best_on_kinds, plain_verdict, scored_records


@dataclass(frozen=True, slots=True)
class LeaderboardPart:
    """A selection of pages with its table."""

    pages: PageSlice
    board: LeaderboardTable


def _write(site: Site) -> None:
    """Write the leaderboard of each protocol; that of the first one is `index.html`."""
    for source, found in zip(site.sources, site.errors, strict=True):
        parts = [*_own_parts(source), *_other_corpora(source, site.options.also)]
        name = site.leaderboard_name(source)
        chunk = f"leaderboards/{name}"
        write_chunk(
            site.root,
            chunk,
            {
                "parsers": [row.parser.name for row in parts[0].board.rows],
                "colours": source.colours,
                "slices": {part.pages.key: _slice_json(source, part) for part in parts},
            },
        )
        site.page(
            name,
            template="index.html",
            current="index",
            scripts=(*CHART_SCRIPTS, "js/leaderboard.js"),
            chunk=chunk,
            title=site.title(source),
            tabs=_tabs(site, source),
            board=parts[0].board,
            settings=source.summary.settings,
            failures_count=source.summary.failures_count,
            verdict=plain_verdict(
                source.summary,
                scored_records(source.run, source.summary.protocol),
                source.manifest.corpus.spec,
            ),
            worst=_worst_of_best(source, site.images),
            kinds=best_on_kinds(source.summary),
            overall_best=source.summary.ranking.best,
            notes=[*source.summary.ranking.notes, *source.summary.notes],
            facts=_facts(source),
            errors=error_table(source, found, parts[0].board),
            error_kinds=found.kinds,
            n_explained=len(found.explained),
            n_pairs=found.n_pairs,
            looks_inside=found.looks_inside,
            slice_groups=_groups([part.pages for part in parts]),
        )


def _tabs(site: Site, shown: RunSource) -> list[list[tuple[str, str, bool]]]:
    """The protocols of the run, those of one name in one row: title, address, and whether it is shown."""
    rows: dict[str, list[tuple[str, str, bool]]] = {}
    for source in site.sources:
        tab = (site.title(source), f"{site.leaderboard_name(source)}.html", source is shown)
        rows.setdefault(source.recipe.name, []).append(tab)
    return list(rows.values())


def _worst_of_best(source: RunSource, images: set[int]) -> list[dict[str, Any]]:
    """The three worst pages of the best parser that have a picture."""
    best = next((p for p in source.parsers if p.name == source.summary.ranking.best), None)
    if best is None:
        return []
    return [page for page in worst_pages(source, best, images) if page["thumbnail"]][:3]


def error_table(
    source: RunSource, errors: Errors, board: LeaderboardTable
) -> list[tuple[ShownParser, list[dict[str, Any]]]]:
    """Parsers in the order of the leaderboard, and for each type of error how many elements have it.

    `heat` is 0 to 5: how many those are, among the parsers and types of the table.
    """
    counts = {row.parser.name: errors.counts(row.parser.name) for row in board.rows}
    most = max((n for own in counts.values() for n, _ in own.values()), default=0)
    table = []
    for row in board.rows:
        cells = []
        for kind in errors.kinds:
            n, total = counts[row.parser.name].get(kind.name, (0, 0))
            often = f", {total} in all" if total != n else ""
            href = viewer_link(
                parser=row.parser.name, queue=f"error-{kind.name}", protocol=source.summary.protocol
            )
            title, heat = f"{kind.label}: {counted(n, 'element')}{often}", -(-5 * n // most) if most else 0
            cells.append({"n": n, "title": title, "href": href, "heat": heat})
        table.append((row.parser, cells))
    return table if most else []


def _own_parts(source: RunSource) -> list[LeaderboardPart]:
    parts = []
    for pages in slices(source):
        ranking = None if pages.key else source.summary.ranking
        parts.append(
            LeaderboardPart(pages, leaderboard_table(source.parsers, source.summary, pages.figures, ranking))
        )
    return parts


def _other_corpora(source: RunSource, paths: Sequence[Path]) -> Iterator[LeaderboardPart]:
    """Other runs as more selections: what the parsers of this report earn on their corpora."""
    for path in paths:
        run = Run.open(path)
        if source.summary.protocol not in run.protocols:
            continue
        summary, corpus = run.summary(source.summary.protocol), run.manifest.corpus
        names = {parser.name for parser in source.parsers}
        figures = {name: own for name, own in summary.parsers.items() if name in names}
        label = f"{corpus.name} {corpus.version}"
        n_pages = summary.counts.get("pages", run.table("samples").height)
        pages = PageSlice(f"corpus={label} {corpus.hash[:8]}", "corpus", label, n_pages, figures)
        yield LeaderboardPart(
            pages, leaderboard_table(source.parsers, source.summary, figures, summary.ranking)
        )


def _facts(source: RunSource) -> list[dict[str, str]]:
    statuses = Counter(str(record.status) for record in scored_records(source.run, source.summary.protocol))
    n_silent = statuses[str(Status.NO_PREDICTION)]
    n_failed = statuses.total() - statuses[str(Status.OK)] - n_silent
    return [
        {"label": "corpus", "value": source.manifest.corpus.name},
        *(
            {"label": name_for(n, name), "value": f"{n:,}"}
            for name, n in (
                *source.summary.counts.items(),
                ("parsers", len(source.parsers)),
                ("failed parses", n_failed),
                *([("pages without output", n_silent)] if n_silent else []),
            )
        ),
    ]


def _groups(parts: Sequence[PageSlice]) -> list[dict[str, Any]]:
    names = list(dict.fromkeys(part.attribute for part in parts))
    return [
        {
            "name": name,
            "slices": [
                {"key": p.key, "label": p.label, "n_pages": counted(p.n_pages, "page")}
                for p in parts
                if p.attribute == name
            ],
        }
        for name in names
    ]


def _slice_json(source: RunSource, part: LeaderboardPart) -> dict[str, Any]:
    chart, pages, board = trade_off(part.pages.figures, source), part.pages, part.board
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
