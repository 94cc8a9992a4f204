"""The types of errors in tables: what was missed or invented, and what went wrong inside what was found.

Missed, invented, split and merged tables follow from the matches. What went wrong inside a table is what the
metric `reader` says happened to it: its events, put together under the names by which people ask for them.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import polars as pl

from parsemark.matching import ngrams
from parsemark.metrics import get_metric
from parsemark.metrics.prepared import TableInput
from parsemark.model import Element, Table
from parsemark.protocols.exhibits import ErrorKind, Explanation, Finding
from parsemark.protocols.presentation import MatchView
from parsemark.protocols.tables.evidence import CONFIDENCE_THRESHOLD, THETA

METRIC = "reader"
MAX_CELLS = 1_000
MAX_CHARACTERS = 100_000
"""Larger tables get no explanation: a parser must not decide how long a report takes."""

ERROR_KINDS = (
    ErrorKind(
        "missed", "Missed", "A true table that nothing answers, also on pages on which the parser failed."
    ),
    ErrorKind(
        "partly_found",
        "Partly found",
        "A true table whose match overlaps it by one half or less, which does not count as found.",
    ),
    ErrorKind("invented", "Invented", "A reported table that is no table of the truth."),
    ErrorKind("split", "Split", "A true table that was reported in several pieces."),
    ErrorKind("merged", "Merged", "A true table that was reported as one with another."),
    ErrorKind("row_lost", "Row lost", "Rows of the table are missing, or it ends too early."),
    ErrorKind("column_lost", "Column lost", "Columns of the table are missing."),
    ErrorKind(
        "header_lost",
        "Header lost",
        "The name of a column, row or section of the table cannot be found again.",
    ),
    ErrorKind("span_wrong", "Span wrong", "A cell spans other columns or rows than it should."),
    ErrorKind("cells_joined", "Cells joined", "Cells, rows or columns run together, or one was cut in two."),
    ErrorKind("cell_lost", "Cell lost", "The value of a cell is missing."),
    ErrorKind("cell_moved", "Cell moved", "A value or a header stands at another place of the table."),
    ErrorKind("text_wrong", "Text wrong", "A cell holds another text, or is written in another way."),
    ErrorKind("content_added", "Content added", "The table holds what is not in the truth."),
)

OF_EVENT = {
    "value_wrong": "text_wrong",
    "value_misread": "text_wrong",
    "header_misread": "text_wrong",
    "name_misread": "text_wrong",
    "notation": "text_wrong",
    "value_lost": "cell_lost",
    "value_shifted": "cell_moved",
    "header_shifted": "cell_moved",
    "header_moved": "cell_moved",
    "moved": "cell_moved",
    "header_lost": "header_lost",
    "header_context_lost": "header_lost",
    "name_lost": "header_lost",
    "section_lost": "header_lost",
    "row_missing": "row_lost",
    "cut_off": "row_lost",
    "column_missing": "column_lost",
    "columns_merged": "cells_joined",
    "rows_merged": "cells_joined",
    "cells_merged": "cells_joined",
    "column_split": "cells_joined",
    "row_split": "cells_joined",
    "plain_lines": "cells_joined",
    "span_wrong": "span_wrong",
    "span_lost": "span_wrong",
    "invented": "content_added",
    "padded": "",
}
"""An event of `reader` to the type of error it is; padding harms nobody who reads the table."""


def errors_of_matches(run: MatchView) -> pl.DataFrame:
    """Missed, partly found, invented, split and merged tables: `sample`, `parser`, `element`, `error`.

    Splits and merges are those that matching by characters sees, since the others pair one with one. A table
    that was merged is not counted as missed once more.
    """
    by_characters = _by_characters(run)
    split = _elements(by_characters.filter(pl.col("kind") == "split"), "truth", "split")
    merged = _elements(by_characters.filter(pl.col("kind") == "merge"), "truth", "merged")
    missed = _elements(run.matches.filter(pl.col("kind") == "miss"), "truth", "missed")
    sure = pl.col("confidence").is_null() | (pl.col("confidence") > CONFIDENCE_THRESHOLD)
    invented = _elements(run.matches.filter((pl.col("kind") == "extra") & sure), "pred", "invented")
    answered = (pl.col("truth").list.len() > 0) & (pl.col("pred").list.len() > 0)
    weak = run.matches.filter(answered & (pl.col("overlap") <= THETA))
    partly = _elements(weak.with_columns(pl.col("truth").list.head(1)), "truth", "partly_found")
    place = ["sample", "parser", "element"]
    return pl.concat([missed.join(merged, on=place, how="anti"), partly, invented, split, merged])


def _by_characters(run: MatchView) -> pl.DataFrame:
    if run.rule == ngrams.RULE:
        return run.matches
    pieces = pl.col("kind").is_in(["split", "merge"])
    return run.scan("matches").filter((pl.col("rule") == ngrams.RULE) & pieces).drop("rule").collect()


def _elements(matches: pl.DataFrame, side: str, error: str) -> pl.DataFrame:
    """Each element of one side of some matches, with the type of its error."""
    return matches.explode(side).select("sample", "parser", element=side, error=pl.lit(error))


def explain_pair(truth: Element, pred: Element) -> Explanation | None:
    """What `reader` says about a pair of tables; None for tables that are too large."""
    left, right = _content(truth), _content(pred)
    if left is None or right is None:
        return None
    score = get_metric(METRIC).score(_prepared(left), TableInput(right))
    if score.value is None:
        return None
    told = [(OF_EVENT.get(e["kind"], ""), e["message"]) for e in score.details.get("errors", ())]
    counts: Counter[str] = Counter()
    for event, n in score.details.get("counts", {}).items():
        if kind := OF_EVENT.get(event, ""):
            counts[kind] += n
    return Explanation(
        title=f"{METRIC} {score.value:.1f} of 10",
        findings=tuple(Finding(kind, message) for kind, message in told),
        counts=dict(counts),
        n_findings=int(score.details.get("n_errors", len(told))),
    )


@lru_cache(maxsize=64)  # one truth is compared with the answers of many parsers
def _prepared(content: Table | str) -> TableInput:
    return TableInput(content)


def _content(element: Element) -> Table | str | None:
    content = element.table if element.table is not None else element.html
    if content is None or isinstance(content, str):
        return None if content is None or len(content) > MAX_CHARACTERS else content
    small = content.n_cells <= MAX_CELLS and sum(len(c.text) for c in content.cells) <= MAX_CHARACTERS
    return content if small else None
