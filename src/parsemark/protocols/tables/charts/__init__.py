"""The charts of the tables protocol: Soric et al.'s figures, under every matching rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsemark.protocols.charts import Chart, ChartAxis, Guide, Section, Series, interval_bars
from parsemark.protocols.figures.figure import Figure
from parsemark.protocols.presentation import RunParser, RunView
from parsemark.protocols.tables.charts.structure import (
    RULE_NAMES,
    Points,
    columns,
    content_against_boxes,
    metric_key,
    metric_scatters,
    reliability,
    risk_over_coverage,
    score_histogram,
    structure_bars,
)
from parsemark.protocols.tables.figure_definitions import metric_words, short_name

RECALL, PRECISION = ChartAxis("recall", 0.0, 1.0), ChartAxis("precision", 0.0, 1.0)
MOST_POINTS = 400
RULE_WORDS = {"bbox": "boxes", "content": "content", "ngrams": "characters"}


def sections(run: RunView) -> list[Section]:
    """All charts of a run, in the order in which they are shown."""
    return [
        Section.of(
            "detection",
            "Detection",
            [
                *(precision_recall(run, rule) for rule in RULE_WORDS),
                rules_beside_each_other(run),
                threshold_sensitivity(run),
            ],
        ),
        Section.of(
            "extraction",
            "End to end",
            [weighted_precision_recall(run, rule, m) for rule in RULE_WORDS for m in run.metrics],
        ),
        Section.of(
            "structure",
            "Structure",
            [structure_bars(run), *(score_histogram(run, metric, run.parsers) for metric in run.metrics)],
        ),
        Section.of(
            "confidence",
            "Confidence",
            [
                *(reliability(run, parser) for parser in run.parsers),
                risk_over_coverage(run),
                content_against_boxes(run),
            ],
        ),
        Section.of("metrics", "Metrics against each other", metric_scatters(run)),
    ]


def charts_of_parser(run: RunView, parser: RunParser) -> list[Chart]:
    """What the page of one parser shows."""
    histograms = [score_histogram(run, metric, [parser], bars=True) for metric in run.metrics]
    return [chart for chart in (*histograms, reliability(run, parser)) if chart is not None]


def iso_f1() -> tuple[Guide, ...]:
    """The curves on which F1 is constant: p = f·r / (2r − f)."""
    guides = []
    for level in (0.2, 0.4, 0.6, 0.8):
        first = level / (2 - level)
        recalls = [first + (1 - first) * k / 40 for k in range(41)]
        precisions = [level * r / (2 * r - level) for r in recalls]
        guides.append(Guide(f"F1 {level:g}", tuple(recalls), tuple(precisions)))
    return tuple(guides)


def precision_recall(run: RunView, rule: str) -> Chart | None:
    """Thresholded (solid, filled) and expected (dashed, faint) precision and recall under one matching."""
    series = []
    for name, figures in _figures(run, rule):
        curves = figures.get("curves")
        if curves:
            series.append(_curve(name, curves["thresholded"]))
            series.append(_curve(name, curves["expected"], dash=True))
        else:
            series += _points(name, figures, ("td_recall", "td_precision"), label="overlap above one half")
            series += _points(name, figures, ("e05_recall", "e05_precision"), label="expected", faint=True)
    return Chart.of(
        f"pr-{rule}",
        f"Precision and recall, matched by {RULE_WORDS[rule]}",
        f"Matched by {RULE_NAMES[rule]}. Solid: a table counts as found if it overlaps by more than one "
        "half. Dashed or faint: expected over all thresholds above one half. A curve for parsers that give a "
        "confidence, a point for the others; it begins at the surest prediction and ends where the parser's "
        "predictions end (in Soric et al. at recall 1). Grey: equal F1.",
        (RECALL, PRECISION),
        series,
        iso_f1(),
        square=True,
    )


def weighted_precision_recall(run: RunView, rule: str, metric: str) -> Chart | None:
    """The same weighted by a structure score, with what structure costs shaded."""
    series, short = [], short_name(metric)
    for name, figures in _figures(run, rule):
        curves = figures.get("curves")
        if curves and short in curves:
            plain, weighted = thin(curves["thresholded"]), thin(curves[short])
            series.append(_band(name, plain, weighted))
            series.append(_curve(name, weighted, dash=True))
        else:
            series += _points(
                name, figures, ("td_recall", "td_precision"), label="detection alone", faint=True
            )
            keys = (f"te_recall_{short}", f"te_precision_{short}")
            series += _points(name, figures, keys, label="weighted by structure")
    score = metric_words(metric)
    return Chart.of(
        f"pr-{rule}-{metric_key(short)}",
        f"Precision and recall weighted by {score}, matched by {RULE_WORDS[rule]}",
        f"Matched by {RULE_NAMES[rule]}; each found table counts by its {score} score. Shaded, or from the "
        "faint point to the full one: what the structure costs.",
        (RECALL, PRECISION),
        series,
        iso_f1(),
        square=True,
    )


def rules_beside_each_other(run: RunView) -> Chart | None:
    """The primary figure under every rule that applies to a parser: how much the rule decides."""
    figure = run.summary.info(run.summary.primary)
    series: list[Series] = []
    for parser in run.parsers:
        by_rule = run.details("by_rule", parser.name)
        found = [by_rule.get(rule, {}).get(figure.name) for rule in RULE_WORDS]
        series += interval_bars(parser.name, [Figure.model_validate(d) if d else None for d in found])
    return Chart.of(
        "rules",
        "How much does the matching decide?",
        f"{figure.label} under every matching rule that applies to a parser, with 95 % intervals: by place, "
        "by content, by characters. The leaderboard uses one of them for all.",
        (
            ChartAxis("tables matched by", kind="category", categories=tuple(RULE_WORDS.values())),
            ChartAxis(figure.label, 0.0, 1.0),
        ),
        series,
    )


def threshold_sensitivity(run: RunView) -> Chart | None:
    """Detection F1 as the threshold of the overlap rises."""
    series = []
    for parser in run.parsers:
        figures = run.summary.parsers.get(parser.name, {})
        pairs = [
            (float(key.removeprefix("td_f1_at_")), entry.value)
            for key, entry in figures.items()
            if key.startswith("td_f1_at_") and entry.value is not None
        ]
        if pairs:
            xs, ys = zip(*sorted(pairs), strict=True)
            series.append(Series(parser.name, "line", xs, ys, parser=parser.name))
    return Chart.of(
        "threshold",
        "How strict is “found”?",
        "Detection F1 when a table must overlap by more than the threshold to count as found.",
        (ChartAxis("overlap threshold", 0.5, 0.9), ChartAxis("detection F1", 0.0, 1.0)),
        series,
    )


def thin(points: Points) -> Points:
    """At most `MOST_POINTS` of a curve's points, the first and the last among them."""
    if len(points) <= MOST_POINTS:
        return points
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(k * step)] for k in range(MOST_POINTS)]


def _figures(run: RunView, rule: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Each parser's figures under a rule; parsers to which it does not apply are left out."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for parser in run.parsers:
        by_rule, curves = (run.details(part, parser.name).get(rule) for part in ("by_rule", "curves"))
        if by_rule:
            found.append((parser.name, {**by_rule, "curves": curves}))
    return found


def _curve(name: str, points: Points, *, dash: bool = False) -> Series:
    return Series(name, "line", *columns(thin(points)), parser=name, dash=dash)


def _band(name: str, plain: Points, weighted: Points) -> Series:
    base_x, base = columns(weighted)
    return Series(name, "band", *columns(plain), parser=name, base_x=base_x, base=base)


def _points(
    name: str, figures: Mapping[str, Any], keys: tuple[str, str], *, label: str, faint: bool = False
) -> list[Series]:
    recall, precision = (figures.get(key, {}).get("value") for key in keys)
    if recall is None or precision is None:
        return []
    labels = (f"{name}, {label}",)
    return [Series(name, "points", (recall,), (precision,), parser=name, faint=faint, labels=labels)]
