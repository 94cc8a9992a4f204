"""One page for each parser: where it is weak, its worst pages, its failures, its versions and settings."""

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from parsemark.plain_words import attribute_name
from parsemark.protocols import Figure, FigureInfo, Slice
from parsemark.report.charts import chart_to_json
from parsemark.report.chunks import write_chunk
from parsemark.report.drawing import RunParser
from parsemark.report.leaderboard_table import Scale
from parsemark.report.names import page_file, viewer_link
from parsemark.report.site import CHART_SCRIPTS, ReportPage, Site
from parsemark.report.source import RunSource, page_values, value_words

WORST = 24
SHOWN_FIRST = 8  # attributes and worst pages; the others are folded
MAX_FAILURES = 200
MAX_MESSAGE = 2_000
FEWEST = 5  # an attribute that fewer pages or elements have says little about a parser, and is held back


@dataclass(frozen=True, slots=True)
class Weakness:
    """The score of a parser on the pages or elements with one attribute, beside the others."""

    label: str
    info: FigureInfo
    part: Slice
    figure: Figure
    others: float | None  # the middle one of the other parsers there
    behind: float  # how far the parser is behind it; below 0 it is ahead
    href: str


class WorstPage(NamedTuple):
    """A page on which a parser has lost something."""

    sample: str
    value: float
    thumbnail: str | None


def _write(site: Site) -> None:
    """Write `parser-….html` for each parser."""
    source, found = site.source, site.errors[0]
    for parser in source.parsers:
        charts = source.drawing.parser_charts(source, parser)
        shown, held_back = profile(source, parser)
        own, counts = source.summary.parsers.get(parser.name, {}), found.counts(parser.name)
        figures = [(i, own[i.name]) for i in source.summary.shown() if i.name in own]
        figures = [(info, figure) for info, figure in figures if figure.value is not None]
        errors = [(kind, *counts[kind.name]) for kind in found.kinds if kind.name in counts]
        failures = source.failures(parser.name).sort("status", "sample")
        chunk = f"parsers/{parser.key}"
        data = {"colours": source.colours, "charts": {c.key: chart_to_json(c) for c in charts}}
        write_chunk(site.root, chunk, data)
        site.page(
            f"parser-{parser.key}",
            template="parser.html",
            scripts=(*CHART_SCRIPTS, "js/charts.js"),
            parser=parser,
            chunk=chunk,
            entry=source.manifest.parser(parser.name),
            main_figures=[row for row in figures if row[0].main],
            other_figures=[row for row in figures if not row[0].main],
            shown_first=SHOWN_FIRST,
            profile=shown,
            held_back=held_back,
            fewest=FEWEST,
            n_others=len(source.summary.parsers) - 1,
            unit=Scale(0.0, source.summary.info(source.summary.primary).top or 1.0),
            charts=charts,
            errors=sorted(errors, key=lambda row: -row[1]),
            worst=worst_pages(source, parser, site.images),
            failures=failures.head(MAX_FAILURES).to_dicts(),
            n_failures=failures.height,
            longest_message=MAX_MESSAGE,
        )


def profile(source: RunSource, parser: RunParser) -> tuple[list[Weakness], list[Weakness]]:
    """Return the attribute values on which this parser is behind the others, where it is furthest behind
    first: those with enough pages or elements to say something, and those that are held back.
    """
    counts = Counter((part.scope, part.attribute) for part in source.summary.slices)
    found = []
    for part in source.summary.slices:
        name = source.slice_figure(part.scope)
        figure = part.figures.get(parser.name, {}).get(name)
        if counts[part.scope, part.attribute] < 2 or figure is None or figure.value is None:
            continue
        weakness = _weakness(source, parser, part, name, figure.value)
        if weakness.behind > 0 or weakness.others is None:  # of a parser alone nothing else is known
            found.append(weakness)
    found.sort(key=lambda w: (-w.behind, w.label))
    return [w for w in found if w.part.n >= FEWEST], [w for w in found if w.part.n < FEWEST]


def _weakness(source: RunSource, parser: RunParser, part: Slice, name: str, value: float) -> Weakness:
    info, figure = source.summary.info(name), part.figures[parser.name][name]
    known = {other: own[name].value for other, own in part.figures.items() if name in own}
    others = [v for other, v in known.items() if other != parser.name and v is not None]
    middle = median(others) if others else None
    behind = 0.0 if middle is None else (middle - value) * (1 if info.higher_is_better else -1)
    label = value_words(part.value)
    only = f"{part.attribute}={label}" if part.scope == "page" else None
    link = viewer_link(parser=parser.name, queue="worst", only=only)
    return Weakness(f"{attribute_name(part.attribute)}: {label}", info, part, figure, middle, behind, link)


def worst_pages(source: RunSource, parser: RunParser, images: set[int]) -> list[WorstPage]:
    """Return the pages with the worst score; perfect ones are no weakness."""
    info = source.summary.info(source.summary.primary)
    best = info.top if info.higher_is_better else 0.0
    sign = 1.0 if info.higher_is_better else -1.0
    values = page_values(source, parser.name)
    lost = ((sign * v, i, v) for i, v in enumerate(values) if v is not None and (best is None or v != best))
    ids = source.samples["sample"]
    return [
        WorstPage(ids[index], value, f"thumbnails/{page_file(index)}.jpg" if index in images else None)
        for _, index, value in sorted(lost)[:WORST]
    ]


PAGE = ReportPage("parsers", _write, under="index", also=("parser-*",))
