"""Turns truth and prediction into a score. One family per file.

>>> from parsemark.metrics import score
>>> truth = "<table><tr><td>1</td><td>2</td></tr></table>"
>>> {name: s.value for name, s in score(truth, truth, metrics=["teds", "grits_con"]).items()}
{'teds': 1.0, 'grits_con': 1.0}
"""

import contextlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from parsemark.errors import FormatError, PluginError
from parsemark.metrics.base import (
    MAX_CHARACTER_PAIRS,
    MAX_DIFFLIB_PAIRS,
    MAX_LINE_PAIRS,
    MAX_POSITION_PAIRS,
    MAX_TREE_PAIRS,
    MEAN_OF_METRICS,
    Metadata,
    Metric,
    check_pairs,
)
from parsemark.metrics.bleu import bleu_parts, corpus_bleu
from parsemark.metrics.grits import Grits, grits
from parsemark.metrics.table_input import AnyTable, RowCells, TableInput, as_input, read_span
from parsemark.metrics.teds import (
    EditTree,
    TableTree,
    edit_distance,
    reference_table,
    reference_tree,
    teds,
    tree_similarity,
)
from parsemark.model import Score, Status, Table
from parsemark.specs import Registry

METRICS = Registry(
    kind="metric",
    group="parsemark.metrics",
    builtin={
        "teds": "parsemark.metrics.teds:Teds",
        "grits_top": "parsemark.metrics.grits:GritsTop",
        "grits_con": "parsemark.metrics.grits:GritsCon",
        "grits_avg": "parsemark.metrics.grits:GritsAvg",
        "content_jaccard": "parsemark.metrics.bags:ContentJaccard",
        "dar": "parsemark.metrics.bags:Dar",
        "cell_f1": "parsemark.metrics.bags:CellF1",
        "row_f1": "parsemark.metrics.bags:RowF1",
        "bleu4": "parsemark.metrics.text:Bleu4",
        "table_edit": "parsemark.metrics.text:TableEdit",
        "reader": "parsemark.metrics.reader.metric:Reader",
        "bleu": "parsemark.metrics.bleu:Bleu",
        "formula_reader": "parsemark.metrics.formula_reader:FormulaReader",
    },
)

DEFAULT_METRICS = ("teds", "teds(structure_only=true)", "grits_top", "grits_con")
_ROUNDING = 1e-9  # a value may lie so far outside of its range


@lru_cache(maxsize=256)
def get_metric(spec: str) -> Metric[Any]:
    """Return the metric that a spec such as `teds(structure_only=true)` names.

    Raises:
        UnknownNameError: No metric has that name; the error carries the nearest ones.
        UsageError: The metric has no such option, or the option no such value.
    """
    parsed = METRICS.spec(spec)
    cls = METRICS.load(parsed.name)
    is_metric = isinstance(cls, type) and issubclass(cls, Metric)
    if not is_metric or not hasattr(cls, "name") or not hasattr(cls, "metadata"):
        raise METRICS.broken(
            parsed.name, TypeError("it is not a subclass of Metric with `name` and `metadata`")
        )
    if METRICS.is_plugin(parsed.name) and cls.name != parsed.name:
        raise METRICS.broken(parsed.name, ValueError(f"its class calls itself {cls.name!r}"))
    metric: Metric[Any] = cls.from_options(parsed.as_dict())
    return metric


def list_metrics() -> list[Metric[Any]]:
    """Return all metrics that work, with default options, by name."""
    found = []
    for name in METRICS:
        with contextlib.suppress(PluginError):
            found.append(get_metric(name))
    return found


def score(truth: AnyTable, pred: AnyTable, metrics: Iterable[str] = DEFAULT_METRICS) -> dict[str, Score]:
    """Score one table, or one formula, against another with several metrics.

    Args:
        truth: The table as it should be: text in any format, a Table, or a prepared TableInput. Of a text
            with several tables the first is taken (`reader` reads all). For a metric of formulas, the LaTeX.
        pred: The table as it was extracted.
        metrics: Specs of metrics, or one of them.

    Returns:
        For each metric, under its canonical name, its score. What could not be read has the status
        `metric_failed` and a message.
    """
    truth, pred = as_input(truth), as_input(pred)
    chosen = [get_metric(spec) for spec in ([metrics] if isinstance(metrics, str) else metrics)]
    return {str(metric): score_prepared(metric, truth, pred) for metric in chosen}


def score_prepared(metric: Metric[Any], truth: TableInput, pred: TableInput) -> Score:
    """Score a pair with one metric, which gets tables or texts as its kind wants them."""
    if metric.metadata.kind == "table":
        try:
            truth.require_table()
        except FormatError as error:
            return Score(str(metric), None, Status.METRIC_FAILED, str(error))
        return metric.score(truth, pred)
    if isinstance(truth.source, Table) or isinstance(pred.source, Table):
        why = f"{metric} compares texts of a {metric.metadata.kind}, not tables"
        return Score(str(metric), None, Status.METRIC_FAILED, why)
    return metric.score(truth.source, pred.source)


def guarded(metric: Metric[Any], scoring: Callable[[], Score]) -> Score:
    """Return the border of a batch: a fault of a metric, ours or a plug-in's, costs only the score at
    hand.
    """
    try:
        score = scoring()
        low, high = metric.metadata.range
        if score.status is not Status.OK:
            return score
        if score.value is None or isinstance(score.value, bool):
            why = f"The metric's value is {score.value}, not a number"
        elif low - _ROUNDING <= score.value <= high + _ROUNDING:
            return score
        else:
            why = f"The metric's value is {score.value}, outside of {low:g} to {high:g}"
    except (Exception, SystemExit) as error:  # a failure is data
        said = " ".join(str(error).split())[:1000]
        why = f"The metric failed ({type(error).__name__}{f': {said}' if said else ''})"
    owner = type(metric).__module__
    remedy = "please report it with this pair" if owner.startswith("parsemark.") else f"fix {owner}"
    return Score(str(metric), None, Status.METRIC_FAILED, message=f"{why}; {remedy}")


__all__ = [
    "DEFAULT_METRICS",
    "MAX_CHARACTER_PAIRS",
    "MAX_DIFFLIB_PAIRS",
    "MAX_LINE_PAIRS",
    "MAX_POSITION_PAIRS",
    "MAX_TREE_PAIRS",
    "MEAN_OF_METRICS",
    "METRICS",
    "EditTree",
    "Grits",
    "Metadata",
    "Metric",
    "RowCells",
    "TableInput",
    "TableTree",
    "bleu_parts",
    "check_pairs",
    "corpus_bleu",
    "edit_distance",
    "get_metric",
    "grits",
    "guarded",
    "list_metrics",
    "read_span",
    "reference_table",
    "reference_tree",
    "score",
    "score_prepared",
    "teds",
    "tree_similarity",
]  # fmt: skip
