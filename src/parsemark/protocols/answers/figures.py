"""Shares of facts that are answered right, wrong or not at all: all, by kind, numbers apart."""

from __future__ import annotations

import polars as pl

from parsemark.protocols.answers.ask import ANSWER, KINDS
from parsemark.protocols.answers.retrieval import CHUNKINGS, FOUND, SIZE, TOP
from parsemark.protocols.facts.protocol import FactTotals
from parsemark.protocols.figures.aggregate import run_sums, sums_of_rows
from parsemark.protocols.figures.figure import FigureInfo, FigureSums
from parsemark.protocols.run_data.tables import RunTables

NUMBERS = ("cell number", "number")


def _info(name: str, label: str, definition: str, *, main: bool = False, better: bool = True) -> FigureInfo:
    return FigureInfo(
        name=name, label=label, definition=definition, denominator="facts", main=main, higher_is_better=better
    )


_RIGHT = _info(
    "right",
    "Right",
    "Mean over the kinds of facts of the share that the output answers rightly, each kind alike.",
    main=True,
)
_WRONG = _info(
    "wrong", "Wrong", "Share of all facts to which the output gives a wrong answer.", main=True, better=False
)
_NOT_FOUND = _info(
    "not_found", "Not found", "Share of all facts to which the output gives none.", main=True, better=False
)


def figure_sums(tables: RunTables) -> list[FigureSums]:
    """The mean of the kinds, what is wrong or not found, numbers, each kind, and what is retrieved."""
    columns = ("sample", "parser", "pred", "rule", "category", "metric", "value")
    rows = tables.read("scores", *columns, where=pl.col("element") != "")
    answers = rows.filter(pl.col("metric") == ANSWER)
    asked = set(answers["category"])
    kinds = FactTotals.of(tables, "category", [k for k in KINDS if k in asked], metric=ANSWER)
    right, said = pl.col("value").fill_null(0.0), pl.col("pred") != ""
    numbers = answers.filter(pl.col("category").is_in(NUMBERS))
    found = [
        kinds.share(_RIGHT, kinds.groups),
        sums_of_rows(_WRONG, answers, said & (right == 0), tables),
        sums_of_rows(_NOT_FOUND, answers, ~said & (right == 0), tables),
    ]
    for info, value in ((_RIGHT, right), (_WRONG, said & (right == 0))):
        own = _info(
            name=f"numbers_{info.name}",
            label=f"Numbers {info.label.lower()}",
            definition=f"The share of numbers, in tables and in sentences, that is {info.label.lower()}.",
            better=info.higher_is_better,
        )
        found.append(sums_of_rows(own, numbers, value, tables))
    for kind in kinds.groups:
        info = _info(
            f"right.{kind.replace(' ', '_')}", f"Right: {kind}", f"Share of facts of the kind {kind}."
        )
        found.append(sums_of_rows(info, answers.filter(pl.col("category") == kind), right, tables))
    return [*found, *_retrieved(rows, tables), *run_sums(tables)]


def _retrieved(rows: pl.DataFrame, tables: RunTables) -> list[FigureSums]:
    found = []
    for chunking in CHUNKINGS:
        own = rows.filter(pl.col("metric") == FOUND + chunking)
        if own.is_empty():
            continue
        what = f"chunks of {SIZE} words" if chunking == "tokens" else "chunks that begin at headings"
        info = _info(
            f"{FOUND}{chunking}",
            f"Found in top {TOP} ({chunking})",
            f"Share of values, numbers and names that one of the first {TOP} of {what}, by BM25, answers.",
            main=True,
        )
        found.append(sums_of_rows(info, own, pl.col("value"), tables))
        for step in ("parse", "chunk", "retrieval"):
            info = _info(
                f"lost_{chunking}_{step}",
                f"Lost in {step} ({chunking})",
                f"Share of these that is lost in this step: {_STEPS[step]}.",
                better=False,
            )
            found.append(sums_of_rows(info, own, pl.col("rule") == step, tables))
    return found


_STEPS = {
    "parse": "the output as a whole does not answer them",
    "chunk": "the output does, but no chunk by itself",
    "retrieval": "a chunk does, but is not among the first",
}
