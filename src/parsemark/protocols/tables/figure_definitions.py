"""What each figure of the tables protocol is called, how it is defined, and over what it is taken."""

from collections.abc import Sequence
from math import isfinite

from parsemark.errors import ParsemarkError
from parsemark.metrics import get_metric
from parsemark.metrics.base import Metadata
from parsemark.protocols.run_scores.sums import read_figures
from parsemark.store.summary import FigureInfo

SHORT_NAMES = {"grits_top": "top", "grits_con": "con", "teds": "teds"}
"""How some structure metrics are called in the names of figures (te_f1_top and so on)."""
SENSITIVITY = (0.5, 0.6, 0.7, 0.8, 0.9)


def short_name(metric: str) -> str:
    """Return how a structure metric is called in the names of figures."""
    return SHORT_NAMES.get(metric, metric)


def metric_metadata(metric: str) -> Metadata:
    """Return the metadata of a metric; for one that is not installed here, its spec and the most common
    values.
    """
    try:
        return get_metric(metric).metadata
    except ParsemarkError:
        return Metadata(metric, "", "")


def metric_words(metric: str, *, short: bool = False) -> str:
    """Return how a structure metric is called on an axis, or `short` in a table's head."""
    metadata = metric_metadata(metric)
    name, bracket, options = metric.partition("(")
    label = (metadata.short_label if short else "") or metadata.label or name.replace("_", " ")
    return label + bracket + options.replace("_", " ")


def metric_range(metric: str) -> tuple[float, float]:
    """Return its lowest and highest value; 0 and 1 where it has no bound."""
    low, high = metric_metadata(metric).range
    return (low if isfinite(low) else 0.0), (high if isfinite(high) else 1.0)


def _credit_words(metric: str) -> str:
    """Return what a found table is credited with, in words."""
    top = metric_range(metric)[1]
    return f"{metric_words(metric)} score" + ("" if top == 1 else f" / {top:g}")


def worst_value(metric: str) -> float:
    """Return the value of a missed table."""
    low, high = metric_range(metric)
    return low if metric_metadata(metric).higher_is_better else high


def figure_definitions(metrics: Sequence[str]) -> list[FigureInfo]:
    """Return all figures of structure metrics, that of the ranking first, as they are shown: see
    `figures.toml`.
    """
    each = {
        "metric": [
            {"short": short_name(m), "score": _credit_words(m), "label": metric_words(m, short=True)}
            for m in metrics
        ],
        "expected": [
            {"key": "e05", "label": "E₀.₅", "start": "0.5"},
            {"key": "e0", "label": "E₀", "start": "0"},
        ],
        "threshold": [{"theta": f"{theta:g}"} for theta in SENSITIVITY],
    }
    return list(read_figures("parsemark.protocols.tables", each=each).values())
