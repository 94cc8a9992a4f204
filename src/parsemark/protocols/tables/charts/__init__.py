"""The charts of the tables protocol: Soric et al.'s figures, under every matching rule."""

from __future__ import annotations

from parsemark.protocols.exhibits import Chart, Section
from parsemark.protocols.presentation import RunParser, RunView
from parsemark.protocols.tables.charts.calibration import (
    content_against_boxes,
    reliability,
    risk_over_coverage,
)
from parsemark.protocols.tables.charts.detection import (
    RULE_WORDS,
    precision_recall,
    rules_beside_each_other,
    threshold_sensitivity,
    weighted_precision_recall,
)
from parsemark.protocols.tables.charts.structure import metric_scatters, score_histogram, structure_bars


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
