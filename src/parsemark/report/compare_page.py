"""Two parsers of a run beside each other, and this run beside an older one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from parsemark.report.chunks import write_chunk
from parsemark.report.columns import columns_of
from parsemark.report.comparison import RunComparison, compare_runs
from parsemark.report.options import ReportOptions
from parsemark.report.site import CHART_SCRIPTS, Site
from parsemark.report.source import Source
from parsemark.store import Run

SHOWN_PAGES = 20


def write_compare(site: Site, options: ReportOptions) -> None:
    """Write `compare.html` and its data; pages are compared in the browser."""
    source = site.source
    columns = columns_of(source.figures)
    write_chunk(
        site.root,
        "compare",
        {
            "primary": source.primary,
            "columns": [{**asdict(c), "definition": ""} for c in columns],
            "figures": {
                parser.name: _values(source, parser.name, [c.key for c in columns])
                for parser in source.parsers
            },
            "pairs": (source.summary.get("comparison") or {}).get("pairs", []),
        },
    )
    older = Run.open(options.against) if options.against else None
    changes = compare_runs(older, source.run) if older else None
    site.page(
        "compare",
        current="compare",
        scripts=(*CHART_SCRIPTS, "js/compare.js"),
        parsers=source.parsers,
        older=older.manifest if older else None,
        changes=_changes(source, changes) if changes else [],
        only_old=changes.only_old if changes else (),
        only_new=changes.only_new if changes else (),
    )


def _values(source: Source, parser: str, keys: list[str]) -> dict[str, Any]:
    figures = source.figures.get(parser, {})
    return {k: {"value": figures[k]["value"], "ci95": figures[k].get("ci95")} for k in keys if k in figures}


def _changes(source: Source, result: RunComparison) -> list[dict[str, Any]]:
    by_name = {parser.name: parser for parser in source.parsers}
    rows = []
    for comparison, p in zip(result.comparisons, result.corrected, strict=True):
        name = comparison.a.removesuffix(" (new)")
        pages = [
            {
                "sample": page.sample,
                "old": f"{page.b:.3f}",
                "new": f"{page.a:.3f}",
                "difference": page.difference,
                "href": f"viewer.html#{urlencode({'page': page.sample, 'parser': name})}",
            }
            for page in comparison.pages[:SHOWN_PAGES]
        ]
        rows.append(
            {
                "parser": by_name[name],
                "primary": comparison.primary,
                "p": p,
                "n_changed": len(comparison.pages),
                "n_pages": comparison.n_pages,
                "pages": pages,
            }
        )
    return rows
