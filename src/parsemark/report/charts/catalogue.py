"""All figures of a run, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from parsemark.report.charts import attributes, calibration, cost, detection, structure
from parsemark.report.charts.spec import Chart
from parsemark.report.charts.tradeoff import trade_off
from parsemark.report.source import Source

RULES = ("bbox", "content")


@dataclass(frozen=True, slots=True)
class Section:
    """Figures that belong together."""

    key: str
    title: str
    charts: tuple[Chart, ...]


def all_sections(source: Source) -> list[Section]:
    """Every section that has at least one figure."""
    parsers = source.parsers
    found: list[tuple[str, str, list[Chart | None]]] = [
        ("overview", "Overview", [trade_off(source.figures, source), cost.time_per_page(source)]),
        (
            "detection",
            "Detection",
            [
                *(detection.precision_recall(source, r) for r in RULES),
                detection.threshold_sensitivity(source),
            ],
        ),
        (
            "extraction",
            "End to end",
            [
                detection.weighted_precision_recall(source, r, s)
                for r in RULES
                for s in detection.STRUCTURE_NAMES
            ],
        ),
        ("structure", "Structure", [structure.structure_bars(source), *_histograms(source)]),
        (
            "confidence",
            "Confidence",
            [
                *(calibration.reliability(source, p) for p in parsers),
                calibration.risk_over_coverage(source),
                calibration.content_against_boxes(source),
            ],
        ),
        ("metrics", "Metrics against each other", list(structure.metric_scatters(source))),
        (
            "attributes",
            "By attribute",
            [attributes.breakdown(source, *name, parsers) for name in attributes.attribute_names(source)],
        ),
    ]
    sections = [Section(key, title, _present(charts)) for key, title, charts in found]
    return [section for section in sections if section.charts]


def _histograms(source: Source) -> list[Chart | None]:
    return [structure.score_histogram(source, metric, source.parsers) for metric in source.metrics]


def _present(charts: Iterable[Chart | None]) -> tuple[Chart, ...]:
    return tuple(chart for chart in charts if chart is not None)
