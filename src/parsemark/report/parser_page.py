"""One page for each parser: where it is weak, its worst pages, its failures, its versions and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from parsemark.report.board import Scale
from parsemark.report.charts import Chart, chart_to_json
from parsemark.report.charts.attributes import figure_key
from parsemark.report.charts.calibration import reliability
from parsemark.report.charts.structure import score_histogram
from parsemark.report.chunks import write_chunk
from parsemark.report.columns import Column, columns_of, format_value, is_figure
from parsemark.report.names import page_file
from parsemark.report.page_values import page_values
from parsemark.report.site import CHART_SCRIPTS, Site
from parsemark.report.source import Parser, Source
from parsemark.report.trimming import cut

WORST = 24
MAX_FAILURES = 200
MAX_MESSAGE = 2_000
UNIT = Scale(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A number with its interval, as a row."""

    label: str
    value: float
    low: float | None
    high: float | None
    text: str
    n: str
    note: str = ""


def write_parser_pages(site: Site, images: set[int]) -> None:
    """Write `parser-….html` for each parser."""
    for parser in site.source.parsers:
        _write(site, parser, images)


def _write(site: Site, parser: Parser, images: set[int]) -> None:
    source = site.source
    charts = _charts(source, parser)
    chunk = f"parsers/{parser.key}"
    data = {"colours": source.colours, "charts": {c.key: chart_to_json(c) for c in charts}}
    write_chunk(site.root, chunk, data)
    site.page(
        f"parser-{parser.key}",
        template="parser.html",
        current="",
        scripts=(*CHART_SCRIPTS, "js/figures.js"),
        parser=parser,
        chunk=chunk,
        entry=source.manifest.parser(parser.name),
        figures=_figures(source, parser),
        profile=profile(source, parser),
        unit=UNIT,
        charts=charts,
        worst=_worst(source, parser, images),
        failures=_failures(source, parser),
        n_failures=source.failures(parser.name).height,
        viewer_link=f"viewer.html#{urlencode({'parser': parser.name, 'queue': 'worst'})}",
    )


def _charts(source: Source, parser: Parser) -> list[Chart]:
    histograms = [score_histogram(source, m, [parser], bars=True) for m in source.metrics]
    return [c for c in (*histograms, reliability(source, parser)) if c is not None]


def _figures(source: Source, parser: Parser) -> list[tuple[Column, Mapping[str, Any], str, str]]:
    own = source.figures.get(parser.name, {})
    rows = []
    for column in columns_of({parser.name: own}):
        entry = own[column.key]
        interval = entry.get("ci95")
        text = " to ".join(format_value(v, column.style) for v in interval) if interval else ""
        rows.append((column, entry, format_value(entry["value"], column.style), text))
    return rows


def profile(source: Source, parser: Parser) -> list[Entry]:
    """Every attribute value of pages and tables with this parser's score, the weakest first."""
    found = []
    for scope, attributes in source.figures.get(parser.name, {}).get("by_attribute", {}).items():
        key = figure_key(source, scope)
        for attribute, values in attributes.items():
            if len(values) < 2:
                continue
            for value, figures in values.items():
                entry = figures.get(key)
                if is_figure(entry) and entry["value"] is not None:
                    found.append(_profile_entry(f"{attribute}: {value}", scope, entry))
    return sorted(found, key=lambda e: (e.value, e.label))


def _profile_entry(label: str, scope: str, entry: Mapping[str, Any]) -> Entry:
    low, high = entry.get("ci95") or (None, None)
    note = "F1 of pages" if scope == "page" else "recall of tables"
    return Entry(
        label, entry["value"], low, high, format_value(entry["value"], "score"), f"{entry['n']:,g}", note
    )


def _worst(source: Source, parser: Parser, images: set[int]) -> list[dict[str, Any]]:
    """The pages with the lowest score; perfect ones are no weakness."""
    values = page_values(source, parser.name)
    scored = sorted((v, i) for i, v in enumerate(values) if v is not None and v < 1)
    ids = source.samples["sample"]
    return [
        {
            "sample": ids[index],
            "text": format_value(value, "score"),
            "href": f"viewer.html#{urlencode({'page': ids[index], 'parser': parser.name})}",
            "thumbnail": f"thumbnails/{page_file(index)}.webp" if index in images else None,
        }
        for value, index in scored[:WORST]
    ]


def _failures(source: Source, parser: Parser) -> list[dict[str, Any]]:
    rows = source.failures(parser.name).sort("status", "sample").head(MAX_FAILURES)
    return [
        {
            "sample": row["sample"],
            "href": f"viewer.html#{urlencode({'page': row['sample'], 'parser': parser.name})}",
            "status": row["status"].replace("_", " "),
            "error": cut(row["error"] or "", MAX_MESSAGE),
            "stderr": cut(row["stderr_tail"] or "", MAX_MESSAGE),
            "attempts": row["attempts"],
        }
        for row in rows.iter_rows(named=True)
    ]
