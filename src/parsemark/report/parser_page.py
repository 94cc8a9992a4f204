"""One page for each parser: where it is weak, its worst pages, its failures, its versions and settings."""

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import Any

from parsemark.plain_words import format_value, signed
from parsemark.protocols import Figure, FigureInfo, Slice
from parsemark.report.charts import chart_to_json
from parsemark.report.chunks import cut, write_chunk
from parsemark.report.leaderboard_table import Scale
from parsemark.report.names import page_file, viewer_link
from parsemark.report.site import CHART_SCRIPTS, ReportPage, Site
from parsemark.report.source import RunSource, ShownParser, page_values, value_words
from parsemark.verdicts.error_types import Errors

WORST = 24
MAX_FAILURES = 200
MAX_MESSAGE = 2_000
FEWEST = 5  # an attribute that fewer pages or elements have says little about a parser, and is held back


@dataclass(frozen=True, slots=True)
class Weakness:
    """What a parser earns on the pages or elements with one attribute, beside the others."""

    label: str
    note: str
    n: int
    value: float
    low: float | None
    high: float | None
    text: str
    others: str  # the middle one of the other parsers there
    behind: float  # how far the parser is behind it; below 0 it is ahead
    gap: str
    href: str


def _write(site: Site) -> None:
    """Write `parser-….html` for each parser."""
    for parser in site.source.parsers:
        _write_parser(site, parser)


def _write_parser(site: Site, parser: ShownParser) -> None:
    source = site.source
    charts = source.shown.parser_charts(source, parser)
    shown, held_back = profile(source, parser)
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
        profile=shown,
        held_back=held_back,
        fewest=FEWEST,
        n_others=len(source.figures) - 1,
        unit=Scale(0.0, source.summary.info(source.primary).top or 1.0),
        charts=charts,
        errors=_errors(parser, site.errors[0]),
        worst=worst_pages(source, parser, site.images),
        failures=_failures(source, parser),
        n_failures=source.failures(parser.name).height,
        viewer_link=viewer_link(parser=parser.name, queue="worst"),
    )


def _figures(source: RunSource, parser: ShownParser) -> list[tuple[FigureInfo, Figure, str, str]]:
    own = source.figures.get(parser.name, {})
    rows = []
    for info in source.summary.shown():
        figure = own.get(info.name)
        if figure is None or figure.value is None:
            continue
        text = " to ".join(format_value(v, info.style) for v in figure.interval) if figure.interval else ""
        rows.append((info, figure, format_value(figure.value, info.style), text))
    return rows


def profile(source: RunSource, parser: ShownParser) -> tuple[list[Weakness], list[Weakness]]:
    """The attribute values on which this parser is behind the others, where it is furthest behind first:
    those with enough pages or elements to say something, and those that are held back.
    """
    counts = Counter((part.scope, part.attribute) for part in source.summary.slices)
    found = []
    for part in source.summary.slices:
        name = source.slice_figure(part.scope)
        figure = part.figures.get(parser.name, {}).get(name)
        if counts[part.scope, part.attribute] < 2 or figure is None or figure.value is None:
            continue
        weakness = _weakness(source, parser, part, name, figure.value)
        if weakness.behind > 0 or weakness.gap == "–":  # of a parser alone nothing else is known
            found.append(weakness)
    found.sort(key=lambda w: (-w.behind, w.label))
    return [w for w in found if w.n >= FEWEST], [w for w in found if w.n < FEWEST]


def _weakness(source: RunSource, parser: ShownParser, part: Slice, name: str, value: float) -> Weakness:
    info, figure = source.summary.info(name), part.figures[parser.name][name]
    others = [
        own[name].value
        for other, own in part.figures.items()
        if other != parser.name and name in own and own[name].value is not None
    ]
    middle = median(v for v in others if v is not None) if others else None
    behind = 0.0 if middle is None else (middle - value) * (1 if info.higher_is_better else -1)
    of_pages = part.scope == "page"
    only = f"{part.attribute}={value_words(part.value)}" if of_pages else None
    return Weakness(
        label=f"{part.attribute}: {value_words(part.value)}",
        note=f"{info.label} of {part.scope.replace('_', ' ')}s",
        n=part.n,
        value=value,
        low=figure.low,
        high=figure.high,
        text=format_value(value, info.style),
        others=format_value(middle, info.style),
        behind=behind,
        gap="–" if middle is None else signed(value - middle).replace("-", "−"),
        href=viewer_link(parser=parser.name, queue="worst", only=only),
    )


def _errors(parser: ShownParser, errors: Errors) -> list[dict[str, Any]]:
    """The types of errors that the parser makes, the most frequent first."""
    counts = errors.counts(parser.name)
    rows = [
        {
            "kind": kind,
            "n": counts[kind.name][0],
            "total": counts[kind.name][1],
            "href": viewer_link(parser=parser.name, queue=f"error-{kind.name}"),
        }
        for kind in errors.kinds
        if kind.name in counts
    ]
    return sorted(rows, key=lambda row: -row["n"])


def worst_pages(source: RunSource, parser: ShownParser, images: set[int]) -> list[dict[str, Any]]:
    """The pages with the worst score; perfect ones are no weakness."""
    info = source.summary.info(source.primary)
    best = info.top if info.higher_is_better else 0.0
    sign = 1.0 if info.higher_is_better else -1.0
    values = page_values(source, parser.name)
    lost = ((sign * v, i, v) for i, v in enumerate(values) if v is not None and (best is None or v != best))
    scored = [(value, index) for _, index, value in sorted(lost)]
    ids = source.samples["sample"]
    return [
        {
            "sample": ids[index],
            "text": format_value(value, "score"),
            "number": k + 1,
            "href": viewer_link(page=ids[index], parser=parser.name),
            "thumbnail": f"thumbnails/{page_file(index)}.jpg" if index in images else None,
        }
        for k, (value, index) in enumerate(scored[:WORST])
    ]


def _failures(source: RunSource, parser: ShownParser) -> list[dict[str, Any]]:
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


PAGE = ReportPage("parsers", _write, also=("parser-*",))
