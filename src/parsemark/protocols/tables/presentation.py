"""What a report shows of the `tables` protocol beside its figures: types of errors, matching rules.

Missed, invented, split and merged tables follow from the matches. What went wrong inside a table is what the
metric `reader` says happened to it: its events, put together under the names by which people ask for them.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from parsemark.matching.ngrams import put_together
from parsemark.matching.tables import CONFIDENCE_THRESHOLD, NGRAM_RULE, THETA
from parsemark.metrics import get_metric
from parsemark.metrics.table_input import TableInput
from parsemark.model import Element, Table
from parsemark.protocols.presentation import (
    ErrorKind,
    Explanation,
    Finding,
    Presentation,
    ScoredTables,
)
from parsemark.protocols.run_scores.sums import read_toml
from parsemark.protocols.tables.figure_definitions import metric_words
from parsemark.protocols.tables.page import truth_input

METRIC = "reader"
MAX_CELLS = 1_000
MAX_CHARACTERS = 100_000  # larger tables get no explanation: a parser must not decide how long a report takes

_ERRORS = read_toml(__package__, "errors.toml")["kind"]
ERROR_KINDS = tuple(ErrorKind(kind["name"], kind["label"], kind["definition"]) for kind in _ERRORS)
OF_EVENT = {event: str(kind["name"]) for kind in _ERRORS for event in kind["events"]} | {"padded": ""}
"""Error type of each event of `reader`; padding harms no reader of the table."""


RULE_WORDS = {
    "bbox": "an optimal one-to-one assignment by the overlap of boxes (IoU)",
    "content": "an optimal one-to-one assignment by the overlap of contents (content-Jaccard)",
    "ngrams": "character 3-grams, with pieces of a split table put together and merged tables cut apart",
}


def present(metrics: tuple[str, ...]) -> Presentation:
    """Show a run that was scored by these metrics, that of the ranking first."""
    return Presentation(
        drawing="parsemark.report.presentations.tables:DRAWING",
        error_kinds=ERROR_KINDS,
        element_errors=errors_of_matches,
        explain=explain_pair,
        explain_stored=(METRIC, stored_explanation),
        join_pieces=_join_pieces,
        rules=tuple(RULE_WORDS),  # matching in order of confidence is for curves alone
        rule_words=RULE_WORDS,
        metrics=metrics,
        metric_words=metric_words,
        # Pages by F1; a table has no precision of its own, so tables by recall.
        slice_figure=lambda summary, scope: (
            summary.primary if scope == "page" else summary.primary.replace("te_f1_", "te_recall_")
        ),
        sure_above=CONFIDENCE_THRESHOLD,
    )


def _join_pieces(truth: Element, pieces: Sequence[Element]) -> Element | None:
    """Put pieces below or beside each other, as they are scored."""
    table = put_together(truth, pieces)
    return None if table is None else replace(pieces[0], table=table, html=None, latex=None)


def errors_of_matches(run: ScoredTables) -> pl.DataFrame:
    """Return missed, partly found, invented, split and merged tables: `sample`, `parser`, `element`, `error`.

    Splits and merges are those that matching by characters sees, since the others pair one with one. A table
    that was merged is not counted as missed once more.
    """
    by_characters = run.matches
    if run.rule != NGRAM_RULE:
        pieces = (pl.col("rule") == NGRAM_RULE) & pl.col("kind").is_in(["split", "merge"])
        by_characters = run.scan("matches").filter(pieces).drop("rule").collect()
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


def _elements(matches: pl.DataFrame, side: str, error: str) -> pl.DataFrame:
    """Return each element of one side of some matches, with its error type."""
    return matches.explode(side).select("sample", "parser", element=side, error=pl.lit(error))


def explain_pair(truth: Element, pred: Element) -> Explanation | None:
    """Explain the score of `reader` for a pair of tables; return None for tables that are too large."""
    left, right = _content(truth), _content(pred)
    if left is None or right is None:
        return None
    score = get_metric(METRIC).score(truth_input(left), TableInput(right))
    if score.value is None:
        return None
    return _explanation(score.value, score.details)


def stored_explanation(value: float, text: str) -> Explanation | None:
    """Explain a pair by what was stored with its score; return None where the run keeps only a part of it,
    or something else: a run may come from elsewhere.
    """
    try:
        details = json.loads(text)
        return None if "shortened" in details else _explanation(value, details)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None


def _explanation(value: float, details: Mapping[str, Any]) -> Explanation:
    told = [(OF_EVENT.get(e["kind"], ""), str(e["message"])) for e in details["errors"]]
    counts: Counter[str] = Counter()
    for event, n in details["counts"].items():
        if kind := OF_EVENT.get(event, ""):
            counts[kind] += int(n)
    return Explanation(
        title=f"{METRIC} {value:.1f} of 10",
        findings=tuple(Finding(kind, message) for kind, message in told),
        counts=dict(counts),
        n_findings=int(details["n_errors"]),
    )


def _content(element: Element) -> Table | str | None:
    content = element.table if element.table is not None else element.html
    if content is None or isinstance(content, str):
        return None if content is None or len(content) > MAX_CHARACTERS else content
    small = content.n_cells <= MAX_CELLS and sum(len(c.text) for c in content.cells) <= MAX_CHARACTERS
    return content if small else None
