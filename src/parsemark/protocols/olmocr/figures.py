"""olmOCR-bench's figures from the rows of a run."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from parsemark.protocols.aggregate import FAILURES, run_sums
from parsemark.protocols.facts.scoring import FactTotals
from parsemark.protocols.figures import FigureInfo, FigureSums
from parsemark.protocols.olmocr.board import bootstrap_interval
from parsemark.protocols.run_tables import RunTables

OVERALL = FigureInfo(
    name="overall",
    label="Overall",
    definition="Mean over the groups of tests (one for each file, and the baselines) of the share that "
    "passes, each group alike. Published as a percentage.",
    denominator="all tests",
    main=True,
)
BOOTSTRAP_SEED = 0


def figure_sums(tables: RunTables, errors_void: bool) -> list[FigureSums]:
    """Overall, each group, each kind of test, and what could not be tried."""
    groups, kinds = _totals(tables, errors_void), FactTotals.of(tables, "category")
    return [
        groups.share(OVERALL, groups.groups),
        *(groups.share(_info("group", name, main=True), [name]) for name in groups.groups),
        *(kinds.share(_info("kind", name), [name]) for name in kinds.groups),
        groups.untried(),
        *run_sums(tables),
    ]


def _info(scope: str, name: str, *, main: bool = False) -> FigureInfo:
    label = name.removesuffix(".jsonl").replace("_", " ")
    what = "the group" if scope == "group" else "the kind"
    return FigureInfo(
        name=f"{scope}.{re.sub(r'[^A-Za-z0-9_.]', '_', name)}",
        label=label[:1].upper() + label[1:],
        definition=f"Share of the tests of {what} {name} that pass.",
        denominator=f"tests of {what}",
        main=main,
    )


def _totals(tables: RunTables, errors_void: bool) -> FactTotals:
    totals = FactTotals.of(tables)
    if not errors_void:
        return totals
    failed = pl.col("status").is_in([str(status) for status in FAILURES])
    crashed = pl.col("message").str.starts_with("upstream's code fails").fill_null(False)
    wrong = tables.read("scores", "parser", where=(pl.col("element") != "") & (failed | crashed))
    for parser in set(wrong["parser"]):
        totals.sums[parser][:, : 2 * len(totals.groups) : 2] = 0.0
    return totals


def board_intervals(tables: RunTables, errors_void: bool) -> dict[str, list[float]]:
    """The interval that the board prints: tests are drawn inside groups, as if they were independent."""
    totals = _totals(tables, errors_void)
    found = {}
    for parser, sums in totals.sums.items():
        summed = sums.sum(axis=0)
        passed, n = summed[0:-2:2].astype(int), summed[1:-2:2].astype(int)
        scores = [1.0 * (k < p) for p, size in zip(passed, n, strict=True) for k in range(size)]
        rng = np.random.RandomState(BOOTSTRAP_SEED)
        found[parser] = list(bootstrap_interval(scores, [int(size) for size in n], rng))
    return found


def notes_of(tables: RunTables) -> list[str]:
    """What could not be tried."""
    return FactTotals.of(tables).notes()
