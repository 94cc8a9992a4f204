"""What each figure of the tables protocol is called, how it is defined, and over what it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from parsemark.protocols.figures import FigureInfo, Style

if TYPE_CHECKING:
    from parsemark.metrics.base import Facts

SHORT_NAMES = {"grits_top": "top", "grits_con": "con", "teds": "teds"}
"""How some structure metrics are called in the names of figures (te_f1_top and so on)."""
SENSITIVITY = (0.5, 0.6, 0.7, 0.8, 0.9)

_ALL_TABLES = (
    "true tables (recall) and predicted tables (precision) of all pages, those without tables included"
)
_FOUND = "A table counts as found if its match overlaps it by more than one half."
_CONFIDENT = "Only for parsers that give a confidence."


def short_name(metric: str) -> str:
    """How a structure metric is called in the names of figures."""
    return SHORT_NAMES.get(metric, metric)


def metric_label(metric: str) -> str:
    """How a structure metric is called in a table's head."""
    facts = metric_facts(metric)
    return _labelled(metric, facts.short_label or facts.label if facts else "")


def metric_facts(metric: str) -> Facts | None:
    """What a metric says of itself; None where it is not installed here."""
    from parsemark.errors import ParsemarkError
    from parsemark.metrics import get_metric

    try:
        return get_metric(metric).facts
    except ParsemarkError:
        return None


def metric_title(metric: str) -> str:
    """How a structure metric is called in a sentence; its spec where it is not installed here."""
    facts = metric_facts(metric)
    return facts.title if facts else metric


def metric_words(metric: str) -> str:
    """How a structure metric is called on an axis."""
    facts = metric_facts(metric)
    return _labelled(metric, facts.label if facts else "")


def _labelled(metric: str, label: str) -> str:
    name, bracket, options = metric.partition("(")
    return (label or name.replace("_", " ")) + bracket + options.replace("_", " ")


def metric_range(metric: str) -> tuple[float, float]:
    """Its lowest and highest value; 0 and 1 where it is not installed here, or has no bound."""
    facts = metric_facts(metric)
    low, high = facts.range if facts else (0.0, 1.0)
    return (low if isfinite(low) else 0.0), (high if isfinite(high) else 1.0)


def worst_value(metric: str) -> float:
    """What a missed table has."""
    facts, (low, high) = metric_facts(metric), metric_range(metric)
    return low if facts is None or facts.higher_is_better else high


def figure_definitions(metrics: Sequence[str]) -> list[FigureInfo]:
    """All figures in the order in which they are shown.

    Args:
        metrics: The structure metrics of the run, the one of the ranking first.
    """
    extraction = {metric: _extraction(metric) for metric in metrics}
    return [
        *(infos[0] for infos in extraction.values()),
        _info(
            "td_f1",
            "Detection F1",
            f"Harmonic mean of detection precision and recall. {_FOUND}",
            _ALL_TABLES,
            main=True,
        ),
        _info(
            "false_tables_per_negative_page",
            "False tables",
            "Tables reported on pages that have none, per such page.",
            "pages without tables",
            style="rate",
            higher_is_better=False,
            main=True,
        ),
        _info(
            "td_precision",
            "Precision",
            f"Share of predicted tables that are true ones. {_FOUND}",
            "predicted tables",
        ),
        _info("td_recall", "Recall", f"Share of true tables that were found. {_FOUND}", "true tables"),
        *(info for infos in extraction.values() for info in infos[1:4]),
        _info(
            "ap",
            "AP",
            "Average precision: the area under the precision-recall curve over the confidence, step by step. "
            f"{_CONFIDENT}",
            "true tables",
        ),
        *(infos[4] for infos in extraction.values()),
        _info(
            "d_ece",
            "D-ECE",
            "Calibration: how far confidence and precision are apart, over ten bins of confidence. "
            f"{_CONFIDENT}",
            "predictions with a confidence above 0.05",
            higher_is_better=False,
        ),
        _info(
            "d_ece_positive",
            "D-ECE > 0.5",
            "The same for the predictions that count as tables, those with a confidence above 0.5. A parser "
            f"that reports only these has nothing to rank below: read it with AP. {_CONFIDENT}",
            "predictions with a confidence above 0.5",
            higher_is_better=False,
        ),
        *_expected("e05", "E₀.₅", "0.5"),
        *_expected("e0", "E₀", "0"),
        _info(
            "wavg_f1",
            "WAvg F1",
            "Detection F1 at overlaps above 0.6, 0.7, 0.8 and 0.9, averaged with these as weights.",
            _ALL_TABLES,
        ),
        *(
            _info(
                f"td_f1_at_{t:g}",
                f"F1 at {t:g}",
                f"Detection F1 if a table must overlap by more than {t:g}.",
                _ALL_TABLES,
            )
            for t in SENSITIVITY
        ),
        _info(
            "content_for_bbox_precision",
            "Content→box P",
            "Of the predictions that content-Jaccard above one half calls found, the share that IoU calls "
            "found.",
            "predictions found by content",
        ),
        _info(
            "content_for_bbox_recall",
            "Content→box R",
            "Of the predictions that IoU above one half calls found, the share that content-Jaccard calls "
            "found.",
            "predictions found by place",
        ),
        _info(
            "negative_pages_with_false_tables",
            "Pages with false tables",
            "Share of the pages without tables on which the parser reports one.",
            "pages without tables",
            higher_is_better=False,
        ),
        _info(
            "invented_characters",
            "Invented text",
            "Share of the characters in the predicted tables that the page's text layer does not contain.",
            "pages with predicted text and a text layer",
            higher_is_better=False,
        ),
        _info(
            "invented_numbers",
            "Invented numbers",
            "Share of the numbers in the predicted tables that the page's text layer does not contain.",
            "pages with predicted numbers and a text layer",
            higher_is_better=False,
        ),
        _info(
            "merged_tables",
            "Merged",
            "True tables that were reported as one with another and count as missed (matching by ngrams).",
            "true tables",
            style="count",
            higher_is_better=False,
        ),
        _info(
            "split_tables",
            "Split",
            "True tables that were reported in several pieces (matching by ngrams).",
            "true tables",
            style="count",
            higher_is_better=False,
        ),
        _info(
            "tables_per_page",
            "Tables/page",
            "Tables reported per page.",
            "pages that were answered",
            style="rate",
        ),
        _info(
            "metric_failures",
            "Failed scores",
            "Pairs of tables that a metric could not compare; they count as zero.",
            "scores of pairs",
            style="count",
            higher_is_better=False,
        ),
    ]


def _extraction(metric: str) -> list[FigureInfo]:
    """F1, precision, recall, structure and AP of one structure metric."""
    short, score, label = short_name(metric), metric_title(metric), metric_label(metric)
    text = (
        f"in which a found table earns its {score} score instead of 1. Missed tables, invented tables and "
        "pages on which the parser failed earn nothing and stay in the denominator."
    )
    return [
        _info(f"te_f1_{short}", f"TE F1 {label}", f"End-to-end F1, {text}", _ALL_TABLES, main=True),
        _info(f"te_precision_{short}", f"TE P {label}", f"End-to-end precision, {text}", "predicted tables"),
        _info(f"te_recall_{short}", f"TE R {label}", f"End-to-end recall, {text}", "true tables"),
        _info(
            f"tsr_{short}",
            f"{label} if found",
            f"Mean {score} score of the tables that were found. Parsers find different tables: compare with "
            "care.",
            "true tables that were found",
        ),
        _info(
            f"ap_{short}",
            f"AP {label}",
            f"Area under the precision-recall curve {text} {_CONFIDENT}",
            "true tables",
        ),
    ]


def _expected(key: str, label: str, start: str) -> list[FigureInfo]:
    text = f"averaged over all overlap thresholds from {start} to 1 instead of at one half."
    return [
        _info(f"{key}_f1", f"{label} F1", f"Detection F1, {text}", _ALL_TABLES),
        _info(f"{key}_precision", f"{label} P", f"Detection precision, {text}", "predicted tables"),
        _info(f"{key}_recall", f"{label} R", f"Detection recall, {text}", "true tables"),
    ]


def _info(
    name: str,
    label: str,
    definition: str,
    denominator: str,
    *,
    style: Style = "score",
    higher_is_better: bool = True,
    main: bool = False,
) -> FigureInfo:
    return FigureInfo(
        name=name,
        label=label,
        definition=definition,
        denominator=denominator,
        style=style,
        higher_is_better=higher_is_better,
        main=main,
    )
