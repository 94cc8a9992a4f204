"""Shares of facts that are answered right, wrong or not at all: all, by kind, numbers apart."""

import polars as pl

from parsemark.protocols.answers.ask import ANSWER, KINDS
from parsemark.protocols.answers.retrieval import BUDGET, CHUNKINGS, FOUND, SIZE
from parsemark.protocols.facts.protocol import FactTotals
from parsemark.protocols.run_scores.aggregate import run_sums, sums_of_rows
from parsemark.protocols.run_scores.sums import FigureSums, read_figures
from parsemark.store.run_tables import RunTables

NUMBERS = ("cell number", "number")


def figure_sums(tables: RunTables) -> list[FigureSums]:
    """Return the mean of the kinds, what is wrong or not found, numbers, each kind, and what is retrieved."""
    columns = ("sample", "parser", "pred", "rule", "category", "metric", "value")
    rows = tables.read("scores", *columns, where=pl.col("element") != "")
    answers = rows.filter(pl.col("metric") == ANSWER)
    numbers = answers.filter(pl.col("category").is_in(NUMBERS))
    asked = set(answers["category"])
    kinds = FactTotals.of(tables, "category", [k for k in KINDS if k in asked], metric=ANSWER)
    right, said = pl.col("value").fill_null(0.0), pl.col("pred") != ""
    parts = {
        "wrong": (answers.filter(said), right == 0),
        "not_found": (answers, ~said & (right == 0)),
        "numbers_right": (numbers, right),
        "numbers_wrong": (numbers.filter(said), right == 0),
    }
    keys = {kind: kind.replace(" ", "_") for kind in kinds.groups}
    for kind, key in keys.items():
        parts[f"right.{key}"] = answers.filter(pl.col("category") == kind), right
    searched = {name: rows.filter(pl.col("metric") == FOUND + name) for name in CHUNKINGS}
    chunks = {
        "tokens": f"chunks of {SIZE} words",
        "headings": f"chunks that begin at true headings or after {SIZE} words",
    }
    chunkings = [name for name in CHUNKINGS if not searched[name].is_empty()]
    for name in chunkings:
        parts[FOUND + name] = searched[name], pl.col("value")
        for step in ("parse", "chunk", "retrieval"):
            parts[f"lost_{name}_{step}"] = searched[name], pl.col("rule") == step
    each = {
        "kind": [{"kind": kind, "key": key} for kind, key in keys.items()],
        "chunking": [{"chunking": name, "chunks": chunks[name]} for name in chunkings],
    }
    infos = read_figures(__package__, words={"budget": f"{BUDGET:,}"}, each=each)
    shares = [sums_of_rows(infos[name], *part, tables) for name, part in parts.items()]
    return [kinds.share(infos["right"], kinds.groups), *shares, *run_sums(tables)]
