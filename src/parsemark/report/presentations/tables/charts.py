"""The charts of the tables protocol: Soric et al.'s figures, under every matching rule.

How good is what was found, can the confidence be trusted, and can content stand in for boxes?
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from parsemark.plain_words import rounded
from parsemark.protocols.tables.figure_definitions import metric_range, metric_words, short_name, worst_value
from parsemark.report.drawing import (
    Chart,
    ChartAxis,
    Guide,
    Mark,
    RunParser,
    Section,
    Series,
    captioned,
    interval_bars,
)
from parsemark.report.source import RunSource
from parsemark.store.summary import Figure

_captioned = partial(captioned, __package__)
RULE_NAMES = {
    "bbox": "boxes (IoU)",
    "content": "content (content-Jaccard)",
    "ngrams": "characters (3-grams, with splits and merges)",
}
DIAGONAL = Guide("", (0.0, 1.0), (0.0, 1.0))
Points = Sequence[Sequence[float]]
N_BINS = 20
MOST_METRICS = 5  # more against each other would be too many charts
MOST_POINTS = 600  # per parser in a scatter plot; more only hide each other
RECALL, PRECISION = ChartAxis("recall", 0.0, 1.0), ChartAxis("precision", 0.0, 1.0)
MOST_CURVE_POINTS = 400
RULE_WORDS = {"bbox": "boxes", "content": "content", "ngrams": "characters"}


def sections(run: RunSource) -> list[Section]:
    """Return all charts of a run, in the order in which they are shown."""
    detection = [precision_recall(run, rule) for rule in RULE_WORDS]
    detection += [rules_beside_each_other(run), threshold_sensitivity(run)]
    weighted = [weighted_precision_recall(run, rule, m) for rule in RULE_WORDS for m in run.metrics]
    structure = [structure_bars(run), *(score_histogram(run, metric, run.parsers) for metric in run.metrics)]
    confidence = [reliability(run, parser) for parser in run.parsers]
    confidence += [risk_over_coverage(run), content_against_boxes(run)]
    scatters = [_scatter(run, a, b) for a, b in combinations(run.metrics[:MOST_METRICS], 2)]
    return [
        Section.of("detection", "Detection", detection),
        Section.of("extraction", "End to end", weighted),
        Section.of("structure", "Structure", structure),
        Section.of("confidence", "Confidence", confidence),
        Section.of("metrics", "Metrics against each other", scatters),
    ]


def charts_of_parser(run: RunSource, parser: RunParser) -> list[Chart]:
    """Return the charts on the page of one parser."""
    histograms = [score_histogram(run, metric, [parser], bars=True) for metric in run.metrics]
    return [chart for chart in (*histograms, reliability(run, parser)) if chart is not None]


def iso_f1() -> tuple[Guide, ...]:
    """Return the curves on which F1 is constant: p = f·r / (2r − f)."""
    guides = []
    for level in (0.2, 0.4, 0.6, 0.8):
        first = level / (2 - level)
        recalls = [first + (1 - first) * k / 40 for k in range(41)]
        precisions = [level * r / (2 * r - level) for r in recalls]
        guides.append(Guide(f"F1 {level:g}", tuple(recalls), tuple(precisions)))
    return tuple(guides)


def precision_recall(run: RunSource, rule: str) -> Chart | None:
    """Return thresholded (solid, filled) and expected (dashed, faint) precision and recall under one
    matching.
    """
    series = []
    for name, figures in _figures(run, rule):
        curves = figures.get("curves")
        if curves:
            series.append(_curve(name, curves["thresholded"]))
            series.append(_curve(name, curves["expected"], dash=True))
        else:
            series += _points(name, figures, ("td_recall", "td_precision"), label="overlap above one half")
            series += _points(name, figures, ("e05_recall", "e05_precision"), label="expected", faint=True)
    text = _captioned("pr", rule=rule, by=RULE_WORDS[rule], how=RULE_NAMES[rule])
    return Chart.of(*text, (RECALL, PRECISION), series, iso_f1(), square=True)


def weighted_precision_recall(run: RunSource, rule: str, metric: str) -> Chart | None:
    """Return the same weighted by a structure score, with what structure costs shaded."""
    series, short = [], short_name(metric)
    for name, figures in _figures(run, rule):
        curves = figures.get("curves")
        if curves and short in curves:
            plain, weighted = thin(curves["thresholded"]), thin(curves[short])
            base_x, base = columns(weighted)
            series.append(Series(name, "band", *columns(plain), parser=name, base_x=base_x, base=base))
            series.append(_curve(name, weighted, dash=True))
        else:
            series += _points(
                name, figures, ("td_recall", "td_precision"), label="detection alone", faint=True
            )
            keys = (f"te_recall_{short}", f"te_precision_{short}")
            series += _points(name, figures, keys, label="weighted by structure")
    words = {"rule": rule, "by": RULE_WORDS[rule], "how": RULE_NAMES[rule]}
    text = _captioned("pr-weighted", metric=metric_key(short), score=metric_words(metric), **words)
    return Chart.of(*text, (RECALL, PRECISION), series, iso_f1(), square=True)


def rules_beside_each_other(run: RunSource) -> Chart | None:
    """Return the primary figure under every rule that applies to a parser: how much the rule decides."""
    figure = run.summary.info(run.summary.primary)
    series: list[Series] = []
    for parser in run.parsers:
        by_rule = run.details("by_rule", parser.name)
        found = [by_rule.get(rule, {}).get(figure.name) for rule in RULE_WORDS]
        series += interval_bars(parser.name, [Figure.model_validate(d) if d else None for d in found])
    rules = ChartAxis("tables matched by", kind="category", categories=tuple(RULE_WORDS.values()))
    axes = rules, ChartAxis(figure.label, 0.0, 1.0)
    return Chart.of(*_captioned("rules", figure=figure.label), axes, series)


def threshold_sensitivity(run: RunSource) -> Chart | None:
    """Return detection F1 as the threshold of the overlap rises."""
    prefix = "td_f1_at_"

    def points(parser: str) -> Points:
        figures = run.summary.parsers.get(parser, {}).items()
        known = [(key, f.value) for key, f in figures if key.startswith(prefix) and f.value is not None]
        return sorted((float(key.removeprefix(prefix)), value) for key, value in known)

    axes = ChartAxis("overlap threshold", 0.5, 0.9), ChartAxis("detection F1", 0.0, 1.0)
    return Chart.of(*_captioned("threshold"), axes, _of_parsers(run, "line", points))


def _of_parsers(
    run: RunSource, mark: Mark, points: Callable[[str], Points], *, faint: bool = False
) -> list[Series]:
    """Return one series for each parser that has points."""
    found = [(parser.name, points(parser.name)) for parser in run.parsers]
    return [Series(name, mark, *columns(own), parser=name, faint=faint) for name, own in found if own]


def thin(points: Points) -> Points:
    """Return at most `MOST_CURVE_POINTS` of a curve's points, the first and the last among them."""
    if len(points) <= MOST_CURVE_POINTS:
        return points
    step = (len(points) - 1) / (MOST_CURVE_POINTS - 1)
    return [points[round(k * step)] for k in range(MOST_CURVE_POINTS)]


def _figures(run: RunSource, rule: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each parser's figures under a rule; parsers to which it does not apply are left out."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for parser in run.parsers:
        by_rule, curves = (run.details(part, parser.name).get(rule) for part in ("by_rule", "curves"))
        if by_rule:
            found.append((parser.name, {**by_rule, "curves": curves}))
    return found


def _curve(name: str, points: Points, *, dash: bool = False) -> Series:
    return Series(name, "line", *columns(thin(points)), parser=name, dash=dash)


def _points(
    name: str, figures: Mapping[str, Any], keys: tuple[str, str], *, label: str, faint: bool = False
) -> list[Series]:
    recall, precision = (figures.get(key, {}).get("value") for key in keys)
    if recall is None or precision is None:
        return []
    labels = (f"{name}, {label}",)
    return [Series(name, "points", (recall,), (precision,), parser=name, faint=faint, labels=labels)]


def columns(points: Points) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return first and the second coordinates of points."""
    return tuple(p[0] for p in points), tuple(p[1] for p in points)


def structure_bars(run: RunSource) -> Chart | None:
    """Return the mean structure score of the tables that were found."""
    series: list[Series] = []
    for parser in run.parsers:
        figures = run.summary.parsers.get(parser.name, {})
        series += interval_bars(parser.name, [figures.get(f"tsr_{short_name(m)}") for m in run.metrics])
    words = tuple(metric_words(m) for m in run.metrics)
    metrics = ChartAxis("structure metric", kind="category", categories=words)
    return Chart.of(*_captioned("structure"), (metrics, ChartAxis("mean score", 0.0, 1.0)), series)


def score_histogram(
    run: RunSource, metric: str, parsers: Sequence[RunParser], *, bars: bool = False
) -> Chart | None:
    """Return the distribution of a metric over the true tables; a missed table has its worst value."""
    (low, high), score, worst = metric_range(metric), metric_words(metric), worst_value(metric)
    edges = np.linspace(low, high, N_BINS + 1)
    centres = tuple(float(c) for c in (edges[:-1] + edges[1:]) / 2)
    mark: Mark = "bars" if bars else "line"
    rows, series = run.scores_by(metric).filter(pl.col("status") != "no_truth"), []
    for parser in parsers:
        own = rows.filter(pl.col("parser") == parser.name)["value"].fill_null(worst)
        if len(own):  # what lies outside falls into the outermost bin
            counts, _ = np.histogram(own.clip(low, high).to_numpy(), bins=edges)
            shares = tuple(float(c) / len(own) for c in counts)
            series.append(Series(parser.name, mark, centres, shares, parser=parser.name))
    text = _captioned("histogram", metric=metric_key(metric), score=score, bins=N_BINS, worst=worst)
    return Chart.of(*text, (ChartAxis(score, low, high), ChartAxis("share of true tables", 0.0)), series)


def _scatter(run: RunSource, a: str, b: str) -> Chart | None:
    """Draw two structure metrics against each other, table by table."""
    keys = ["sample", "parser", "element", "pred"]
    left, right = (
        run.scores_by(metric).filter(pl.col("value").is_not_null()).select(*keys, pl.col("value").alias(side))
        for metric, side in ((a, "a"), (b, "b"))
    )
    both = left.join(right, on=keys, maintain_order="left")
    series = []
    for parser in run.parsers:
        own = both.filter(pl.col("parser") == parser.name).sort("sample", "element")
        shown = own.gather_every(max(1, -(-own.height // MOST_POINTS)))
        if shown.is_empty():
            continue
        is_linked = shown.height * len(run.parsers) <= 1500
        rows = shown.select("sample", "element").rows() if is_linked else []
        links = tuple(run.element_link(s, parser.name, e) for s, e in rows)
        labels = tuple(f"{parser.name}, {s} {e}" for s, e in rows)
        dots, own_name = (tuple(shown["a"]), tuple(shown["b"])), parser.name
        series.append(
            Series(own_name, "points", *dots, parser=own_name, faint=True, labels=labels, links=links)
        )
    if not series:
        return None
    names = metric_words(a), metric_words(b)
    text = _captioned("scatter", a=metric_key(a), b=metric_key(b), name_a=names[0], name_b=names[1])
    axes = (
        ChartAxis(names[0], min(0.0, *(min(s.x) for s in series)), metric_range(a)[1]),
        ChartAxis(names[1], min(0.0, *(min(s.y) for s in series)), metric_range(b)[1]),
    )
    return Chart.of(*text, axes, series, square=True)


def metric_key(metric: str) -> str:
    """Return a metric in the key of a chart.

    >>> metric_key("teds(structure_only=true)")
    'teds-structure-only-true'
    """
    return "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in metric.lower()).split())


def reliability(run: RunSource, parser: RunParser) -> Chart | None:
    """Return precision by confidence, with the distribution of the confidences."""
    bins = run.details("reliability", parser.name)
    if not bins:
        return None
    total = sum(b["n"] for b in bins) or 1
    centres = [(b["low"] + b["high"]) / 2 for b in bins]
    shares = tuple(b["n"] / total for b in bins)
    known = [(c, b["precision"]) for c, b in zip(centres, bins, strict=True) if b["precision"] is not None]
    d_ece = run.summary.figure(parser.name, "d_ece")
    note = f" D-ECE {rounded(d_ece.value)}." if d_ece and d_ece.value is not None else ""
    how = RULE_NAMES.get(run.rule, run.rule)
    text = _captioned("reliability", key=parser.key, parser=parser.name, note=note, how=how)
    series = (
        Series("precision", "bars", *columns(known), parser=parser.name),
        Series("share of predictions", "line", tuple(centres), shares, dash=True),
    )
    return Chart.of(*text, (ChartAxis("confidence", 0.0, 1.0), PRECISION), series, (DIAGONAL,))


def risk_over_coverage(run: RunSource) -> Chart | None:
    """Draw the share of wrong predictions among the surest ones, by how many are taken."""

    def points(parser: str) -> Points:
        found: Points = (run.details("risk_coverage", parser) or {}).get("points") or ()
        every = max(1, -(-len(found) // MOST_POINTS))
        return [*found[::every], found[-1]] if every > 1 else found

    text = _captioned("risk-coverage", how=RULE_NAMES.get(run.rule, run.rule))
    axes = ChartAxis("coverage", 0.0, 1.0), ChartAxis("risk", 0.0, 1.0)
    return Chart.of(*text, axes, _of_parsers(run, "line", points))


def content_against_boxes(run: RunSource) -> Chart | None:
    """Return content-Jaccard over IoU for each predicted table."""
    overlaps = predicted_overlaps(run)

    def points(parser: str) -> Points:
        own = overlaps.filter(pl.col("parser") == parser).select("bbox", "content")
        return own.gather_every(max(1, -(-own.height // MOST_POINTS))).rows()

    halves = (Guide("", (0.5, 0.5), (0.0, 1.0)), Guide("", (0.0, 1.0), (0.5, 0.5)))
    axes = ChartAxis("IoU", 0.0, 1.0), ChartAxis("content-Jaccard", 0.0, 1.0)
    series = _of_parsers(run, "points", points, faint=True)
    return Chart.of(*_captioned("content-iou"), axes, series, halves, square=True)


def predicted_overlaps(run: RunSource) -> pl.DataFrame:
    """Return the overlap of each predicted table by `bbox` and by `content`; 0 without a match."""
    keys = ["sample", "parser", "pred"]
    single = run.scan("matches").filter(pl.col("pred").list.len() == 1)
    by_place, by_content = (
        single.filter(rule=rule)
        .select("sample", "parser", pl.col("pred").list.first(), pl.col("overlap").fill_null(0.0).alias(rule))
        .collect()
        for rule in ("bbox", "content")
    )
    return by_place.join(by_content, on=keys).sort(keys)
