"""What `reader` says about matched tables: their errors in words, shown beside the difference."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from parsemark.errors import FormatError
from parsemark.formats.model_json import element_from_json
from parsemark.metrics import get_metric
from parsemark.metrics.prepared import TableInput
from parsemark.model import Table
from parsemark.report.source import Source

METRIC = "reader"
MAX_ERRORS = 40
MAX_CELLS = 1_000
MAX_CHARACTERS = 100_000
BUDGET_S = 60.0
"""Larger tables, and what is left after this CPU time, get no explanation: a parser must not decide how long
a report takes."""

Key = tuple[str, str, str]
"""Sample, parser, and id of the truth."""
Explanations = dict[Key, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Pair:
    key: Key
    truth: TableInput
    pred: TableInput


def explain_tables(source: Source, limit: int) -> Explanations:
    """`{value, errors}` of matched pairs, for the `limit` worst of them.

    Asked here, and not only where a run was scored with `reader`: the explanation is for people who look at a
    table, whatever the leaderboard is sorted by.
    """
    metric = get_metric(METRIC)
    found: Explanations = {}
    deadline = time.process_time() + BUDGET_S
    for pair in _pairs(source, limit):
        if time.process_time() > deadline:
            break
        score = metric.score(pair.truth, pair.pred)
        errors = [error["message"] for error in score.details.get("errors", ())]
        found[pair.key] = {"value": score.value, "errors": errors[:MAX_ERRORS], "n_errors": len(errors)}
    return found


def _pairs(source: Source, limit: int) -> Iterator[_Pair]:
    """The worst plain pairs, with what the run stores about them; one truth is prepared once for all."""
    rows = _worst(source, limit)
    samples = source.scan("samples").join(rows.lazy().select("sample"), on="sample", how="semi")
    truths = _tables(samples.select("sample", pl.lit("").alias("parser"), pl.col("truth").alias("json")))
    predictions = source.scan("predictions").join(
        rows.lazy().select("sample", "parser"), on=["sample", "parser"], how="semi"
    )
    answers = _tables(predictions.select("sample", "parser", pl.col("prediction").alias("json")))
    for sample, parser, truth_id, pred_id in rows.iter_rows():
        truth, pred = truths.get((sample, "", truth_id)), answers.get((sample, parser, pred_id))
        if truth is not None and pred is not None:
            yield _Pair((sample, parser, truth_id), truth, pred)


def _worst(source: Source, limit: int) -> pl.DataFrame:
    plain = (pl.col("truth").list.len() == 1) & (pl.col("pred").list.len() == 1)
    pairs = source.matches.filter(plain).select(
        "sample",
        "parser",
        pl.col("truth").list.first().alias("element"),
        pl.col("pred").list.first(),
    )
    main = source.scores.filter(pl.col("metric") == source.main_metric)
    scored = pairs.join(main, on=["sample", "parser", "element", "pred"], how="left")
    worst = scored.sort("value", "sample", "parser", "element", nulls_last=True).head(limit)
    return worst.select("sample", "parser", "element", "pred")


def _tables(rows: pl.LazyFrame) -> dict[Key, TableInput]:
    """(sample, parser, element) to the table; what cannot be read has no explanation."""
    found: dict[Key, TableInput] = {}
    for sample, parser, text in rows.collect().iter_rows():
        for data in json.loads(text)["elements"] if text else ():
            if data.get("category") != "table":
                continue
            try:
                element = element_from_json(data)
            except FormatError:
                continue
            content = element.table if element.table is not None else element.html
            if content is not None and _is_small(content):
                found[sample, parser, element.id] = TableInput(content)
    return found


def _is_small(content: Table | str) -> bool:
    if isinstance(content, str):
        return len(content) <= MAX_CHARACTERS
    return content.n_cells <= MAX_CELLS and sum(len(c.text) for c in content.cells) <= MAX_CHARACTERS
