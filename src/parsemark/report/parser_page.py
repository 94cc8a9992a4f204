"""One page for each parser: where it is weak, its worst pages, its failures, its versions and settings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from parsemark.protocols import Figure, FigureInfo
from parsemark.report.board import Scale
from parsemark.report.charts import Chart, chart_to_json
from parsemark.report.charts.attributes import figure_key
from parsemark.report.charts.calibration import reliability
from parsemark.report.charts.structure import score_histogram
from parsemark.report.chunks import write_chunk
from parsemark.report.names import page_file, viewer_link
from parsemark.report.numbers import format_value
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
        viewer_link=viewer_link(parser=parser.name, queue="worst"),
    )


def _charts(source: Source, parser: Parser) -> list[Chart]:
    histograms = [score_histogram(source, m, [parser], bars=True) for m in source.metrics]
    return [c for c in (*histograms, reliability(source, parser)) if c is not None]


def _figures(source: Source, parser: Parser) -> list[tuple[FigureInfo, Figure, str, str]]:
    own = source.figures.get(parser.name, {})
    rows = []
    for info in source.summary.shown():
        figure = own.get(info.name)
        if figure is None or figure.value is None:
            continue
        text = " to ".join(format_value(v, info.style) for v in figure.interval) if figure.interval else ""
        rows.append((info, figure, format_value(figure.value, info.style), text))
    return rows


def profile(source: Source, parser: Parser) -> list[Entry]:
    """Every attribute value of pages and tables with this parser's score, the weakest first."""
    counts = Counter((part.scope, part.attribute) for part in source.summary.slices)
    found = []
    for part in source.summary.slices:
        figure = part.figures.get(parser.name, {}).get(figure_key(source, part.scope))
        if counts[part.scope, part.attribute] > 1 and figure is not None and figure.value is not None:
            info = source.summary.info(figure_key(source, part.scope))
            text, n = format_value(figure.value, info.style), f"{figure.n:,g}"
            note = f"{info.label} of {part.scope}s"
            label = f"{part.attribute}: {part.value}"
            found.append(Entry(label, figure.value, figure.low, figure.high, text, n, note))
    return sorted(found, key=lambda e: (e.value, e.label))


def _worst(source: Source, parser: Parser, images: set[int]) -> list[dict[str, Any]]:
    """The pages with the lowest score; perfect ones are no weakness."""
    values = page_values(source, parser.name)
    scored = sorted((v, i) for i, v in enumerate(values) if v is not None and v < 1)
    ids = source.samples["sample"]
    return [
        {
            "sample": ids[index],
            "text": format_value(value, "score"),
            "href": viewer_link(page=ids[index], parser=parser.name),
            "thumbnail": f"thumbnails/{page_file(index)}.webp" if index in images else None,
        }
        for value, index in scored[:WORST]
    ]


def _failures(source: Source, parser: Parser) -> list[dict[str, Any]]:
    rows = source.failures(parser.name).sort("status", "sample").head(MAX_FAILURES)
    return [
        {
            "sample": row["sample"],
            "href": viewer_link(page=row["sample"], parser=parser.name),
            "status": row["status"].replace("_", " "),
            "error": cut(row["error"] or "", MAX_MESSAGE),
            "stderr": cut(row["stderr_tail"] or "", MAX_MESSAGE),
            "attempts": row["attempts"],
        }
        for row in rows.iter_rows(named=True)
    ]
