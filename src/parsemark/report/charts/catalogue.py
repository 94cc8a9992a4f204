"""All figures of a run in the order in which they are shown, and those of them that every protocol has.

Quality against time, time per page, and where a parser is weak: scores by attribute of page or element.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import polars as pl

from parsemark.engine.parsing.scaling import read_scaling
from parsemark.plain_words import attribute_name
from parsemark.protocols import Figure
from parsemark.report.drawing import Chart, ChartAxis, Mark, RunParser, Section, Series, interval_bars
from parsemark.report.names import safe_name
from parsemark.report.source import RunSource

TIME = "cpu_s_per_page"
FASTEST_S = 1e-4  # times below this are below what the clock resolves
LEVELS = ("simple", "moderate", "complex")
_LINE_AND_POINTS: tuple[Mark, Mark] = ("line", "points")
CURVES = ("severity",)  # attributes whose values are steps of one quantity, drawn as a curve


def all_sections(source: RunSource) -> list[Section]:
    """Return every section that has at least one figure: those of every protocol, and the protocol's own."""
    counts = Counter((part.scope, part.attribute) for part in source.summary.slices)
    names = [name for name, n in counts.items() if n > 1]
    names.sort(key=lambda name: (name[1] != "complexity", name[0] == "page", name[1]))
    found = [
        Section.of(
            "overview", "Overview", [*cost_charts(source), time_per_page(source), *scaling_charts(source)]
        ),
        *source.drawing.charts(source),
        Section.of("attributes", "By attribute", [breakdown(source, *name) for name in names]),
    ]
    return [section for section in found if section.charts]


def stored_sections(source: RunSource, *, first: bool) -> list[Section]:
    """Return the same; sections and charts of a run's second protocol carry its name, since keys must not
    meet.
    """
    sections = all_sections(source)
    if first:
        return sections
    prefix = safe_name(source.summary.protocol)
    for_second = [(s, [replace(chart, key=f"{prefix}-{chart.key}") for chart in s.charts]) for s in sections]
    return [Section(f"{prefix}-{s.key}", s.title, tuple(charts)) for s, charts in for_second]


def cost_charts(source: RunSource) -> list[Chart | None]:
    """Return quality against CPU time, and against price where a parser is paid by the page."""
    figures = source.summary.parsers
    return [trade_off(figures, source), price_trade_off(figures, source)]


def scaling_charts(source: RunSource) -> list[Chart | None]:
    """Return speed against workers, time against document length, and GPU memory, as measured."""
    scaling = read_scaling(source.run)
    if scaling is None:
        return []
    names = [parser.name for parser in source.parsers]
    counts = sorted({t.workers for n in names for t in scaling.by_workers(n)})
    place = {k: float(at) for at, k in enumerate(counts)}
    speeds = {n: [(place[t.workers], t.pages_per_s) for t in scaling.by_workers(n)] for n in names}
    times = {n: [(float(t.pages), t.wall_s) for t in scaling.by_length(n)] for n in names}
    memory = {
        n: [(place[t.workers], t.gpu_mb) for t in scaling.by_workers(n) if t.gpu_mb is not None]
        for n in names
    }
    used = {n: points for n, points in memory.items() if any(mb > 0 for _, mb in points)}
    workers = ChartAxis("workers", kind="category", categories=tuple(map(str, counts)))
    pages = ChartAxis("pages of the document", kind="log")
    return [
        Chart.of(
            "speed-workers",
            "Speed against workers",
            f"Higher is better. Includes the start of the workers; {scaling.cores} cores.",
            "",
            (workers, ChartAxis("pages per second", 0.0)),
            _measured_lines(speeds),
        ),
        Chart.of(
            "time-length",
            "Time against document length",
            "Lower is better. One worker, including its start.",
            "",
            (pages, ChartAxis("seconds", kind="log")),
            _measured_lines(times),
        ),
        Chart.of(
            "gpu-workers",
            "GPU memory against workers",
            "Lower is better. Peak memory of the GPU, added by the parser.",
            "Memory that was in use before the parser started is subtracted.",
            (workers, ChartAxis("MB", 0.0)),
            _measured_lines(used),
        ),
    ]


def _measured_lines(points: Mapping[str, Sequence[tuple[float, float]]]) -> list[Series]:
    """Return a line and its points for each parser that has any."""
    found = []
    for name, own in points.items():
        if own:
            x, y = zip(*own, strict=True)
            found += [Series(name, mark, x, y, parser=name) for mark in _LINE_AND_POINTS]
    return found


def trade_off(figures: Mapping[str, Mapping[str, Figure]], source: RunSource) -> Chart | None:
    """Return the chart of quality against CPU time; None where no parser has both a score and a time."""
    times = {name: own[TIME].value for name, own in figures.items() if TIME in own}
    known = {name: max(time, FASTEST_S) for name, time in times.items() if time is not None}
    return _against(figures, source, known, "quality-time", "CPU seconds per page")


def price_trade_off(figures: Mapping[str, Mapping[str, Figure]], source: RunSource) -> Chart | None:
    """Return the chart of quality against price; None where no parser is paid by the page."""
    paid = source.parses.filter(pl.col("cost_usd") > 0).group_by("parser").agg(pl.col("cost_usd").mean())
    return _against(figures, source, dict(paid.iter_rows()), "quality-price", "USD per page")


def _against(
    figures: Mapping[str, Mapping[str, Figure]],
    source: RunSource,
    costs: Mapping[str, float],
    key: str,
    axis: str,
) -> Chart | None:
    quality = source.summary.info(source.summary.primary)
    series = []
    for parser in source.parsers:
        score = figures.get(parser.name, {}).get(quality.name)
        if score is None or score.value is None or parser.name not in costs:
            continue
        point = _point(parser, costs[parser.name], score.value, score.low, score.high)
        series.append(replace(point, labels=(parser.name,)))
    if not series:
        return None
    sign = 1.0 if quality.higher_is_better else -1.0
    front = [(x, sign * y) for x, y in pareto_front([(s.x[0], sign * s.y[0]) for s in series])]
    # A staircase: until a dearer parser is better, the cheaper one is the best that the cost buys.
    corners = [p for a, b in pairwise(front) for p in (a, (b[0], a[1]))] + front[-1:]
    xs, ys = zip(*corners, strict=True)
    line = Series("Pareto front", "line", xs, ys, dash=True)
    return Chart(
        key,
        "Quality against cost" if key == "quality-time" else "Quality against price",
        f"Better is {'up' if quality.higher_is_better else 'down'} and left. Bars: 95 % CI.",
        "Dashed: Pareto front, the best score of any parser that costs at most this much.",
        ChartAxis(axis, kind="log"),
        ChartAxis(quality.label, 0.0, quality.top),
        (line, *series),
        labelled=True,
    )


def _point(parser: RunParser, x: float, y: float, low: float | None, high: float | None) -> Series:
    """Return a parser as a point with its interval, which leads to its page."""
    ends = [() if end is None else (end,) for end in (low, high)]
    name, links = parser.name, (parser.href,)
    return Series(name, "points", (x,), (y,), parser=name, low=ends[0], high=ends[1], links=links)


def pareto_front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other beats in both, from the fastest to the best.

    >>> pareto_front([(1, 0.5), (2, 0.4), (3, 0.9), (3, 0.8)])
    [(1, 0.5), (3, 0.9)]
    """
    front: list[tuple[float, float]] = []
    for time, score in sorted(points, key=lambda p: (p[0], -p[1])):
        if not front or score > front[-1][1]:
            front.append((time, score))
    return front


def time_per_page(source: RunSource) -> Chart | None:
    """Return the median CPU time of a page, with the range of nine pages in ten."""
    known = source.parses.filter(pl.col("cpu_s").is_not_null())
    cpu_s = pl.col("cpu_s")
    shares = {"low": cpu_s.quantile(0.05, "linear"), "high": cpu_s.quantile(0.95, "linear")}
    grouped = known.group_by("parser").agg(middle=cpu_s.median(), **shares)
    times = {parser: [max(s, FASTEST_S) for s in own] for parser, *own in grouped.iter_rows()}
    timed = [p for p in source.parsers if p.name in times]
    series = [_point(parser, float(at), *times[parser.name]) for at, parser in enumerate(timed)]
    parsers = ChartAxis("parser", kind="category", categories=tuple(p.name for p in timed))
    caption = "Median CPU seconds per page. Line: 5th to 95th percentile."
    axes = parsers, ChartAxis("CPU seconds per page", kind="log")
    return Chart.of("time", "Time per page", caption, "", axes, series)


def breakdown(source: RunSource, scope: str, attribute: str) -> Chart | None:
    """Return one attribute: a group of bars for each value, a bar for each parser."""
    parts = {p.value: p for p in source.summary.slices if (p.scope, p.attribute) == (scope, attribute)}
    values = _ordered(set(parts))
    info = source.summary.info(source.slice_figure(scope))
    series: list[Series] = []
    for parser in source.parsers:
        entries = [parts[v].figures.get(parser.name, {}).get(info.name) for v in values]
        series += interval_bars(parser.name, entries, "line" if attribute in CURVES else "bars")
    kind = scope.replace("_", " ")
    key, title = f"by-{_key(scope)}-{_key(attribute)}", f"By {attribute_name(attribute)} of the {kind}"
    caption = f"{info.label}, with 95 % CI. {info.direction.capitalize()}."
    about = f"One group of bars for each {attribute_name(attribute)}. {info.definition}"
    by_value = ChartAxis(attribute_name(attribute), kind="category", categories=tuple(values))
    axes = by_value, ChartAxis(info.label, 0.0, info.top)
    return Chart.of(key, title, caption, about, axes, series)


def _ordered(values: set[str]) -> list[str]:
    if values <= set(LEVELS):
        return [level for level in LEVELS if level in values]
    return sorted(values, key=lambda v: (not v.replace(".", "").isdigit(), v.zfill(12)))


def _key(attribute: str) -> str:
    plain = attribute.replace("_", "-").lower()
    return plain if plain.replace("-", "").isalnum() and plain.isascii() else safe_name(attribute)
