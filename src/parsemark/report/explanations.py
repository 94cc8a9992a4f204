"""What metrics that explain themselves (`reader`) say about matched tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from parsemark.model import Element, Page, Prediction
from parsemark.report.source import Source

EXPLAINING = ("reader",)
MAX_LINES = 40


def explain_tables(source: Source, limit: int) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """(sample, parser, truth id) to the explanations of its score, for the `limit` worst pairs.

    Only metrics that the run was scored with are asked again: an explanation belongs to a score.
    """
    present = [m for m in source.metrics if m.partition("(")[0] in EXPLAINING]
    if not present:
        return {}
    pairs = source.scores.filter(pl.col("metric").is_in(present) & pl.col("value").is_not_null())
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in pairs.sort("value").head(limit).iter_rows(named=True):
        explanation = _explain(source, row)
        if explanation:
            found.setdefault((row["sample"], row["parser"], row["element"]), []).append(explanation)
    return found


def _explain(source: Source, row: Mapping[str, Any]) -> dict[str, Any] | None:
    from parsemark.metrics import score

    truth = _table_of(source.run.truth(row["sample"]), row["element"])
    pred = _table_of(source.run.prediction(row["sample"], row["parser"]), row["pred"])
    if truth is None or pred is None:
        return None
    result = score(truth, pred, metrics=[row["metric"]])[row["metric"]]
    return {"metric": row["metric"], "value": result.value, "details": dict(result.details)}


def _table_of(page: Page | Prediction | None, element_id: str) -> Any:
    element: Element | None = next((e for e in page.elements if e.id == element_id), None) if page else None
    if element is None:
        return None
    return element.table if element.table is not None else element.html
