"""What each figure of the tables protocol is called, how it is defined, and over what it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from parsemark.protocols.figures.figure import FigureInfo, read_figures

if TYPE_CHECKING:
    from parsemark.metrics.base import Facts

SHORT_NAMES = {"grits_top": "top", "grits_con": "con", "teds": "teds"}
"""How some structure metrics are called in the names of figures (te_f1_top and so on)."""
SENSITIVITY = (0.5, 0.6, 0.7, 0.8, 0.9)


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
    """All figures in the order in which they are shown; `figures.toml` says what they are.

    Args:
        metrics: The structure metrics of the run, the one of the ranking first.
    """
    named = [{"short": short_name(m), "score": metric_title(m), "label": metric_label(m)} for m in metrics]
    expected = [
        {"key": "e05", "label": "E₀.₅", "start": "0.5"},
        {"key": "e0", "label": "E₀", "start": "0"},
    ]
    thresholds = [{"theta": f"{theta:g}"} for theta in SENSITIVITY]
    each = {"metric": named, "expected": expected, "threshold": thresholds}
    return list(read_figures("parsemark.protocols.tables", each=each).values())
