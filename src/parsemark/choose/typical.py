"""What each parser typically gets wrong on labelled pages: events that `reader` finds, counted in pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from parsemark.corpora import Corpus
from parsemark.metrics import get_metric
from parsemark.metrics.prepared import TableInput
from parsemark.model import Status
from parsemark.protocols.tables import is_positive
from parsemark.store import Run

MISSED, EXTRA, FAILED = "table_missed", "table_invented", "no_answer"
LEAST_POINTS = 0.5
"""Events that cost less are not typical errors but blemishes."""
ANSWERS = 2.0
"""Points of `reader` from which on a table is an answer to a truth at all."""


def typical_errors(
    corpus: Corpus, run: Run, parsers: Sequence[str], samples: Sequence[str]
) -> dict[str, tuple[tuple[str, int], ...]]:
    """For each parser the kinds of its errors with the number of pages that have them, most first."""
    counts: dict[str, Counter[str]] = {parser: Counter() for parser in parsers}
    for key in samples:
        truth = corpus.read(key).truth
        if truth is None:
            continue
        tables = [TableInput(e.table) for e in truth.tables if e.table is not None]
        for parser in parsers:
            counts[parser].update(_of_page(tables, run, key, parser))
    return {parser: tuple(counter.most_common()) for parser, counter in counts.items()}


def _of_page(truths: list[TableInput], run: Run, sample: str, parser: str) -> set[str]:
    prediction = run.prediction(sample, parser)
    if prediction.status is not Status.OK:
        return {FAILED}
    elements = [e for e in prediction.tables if is_positive(e.confidence)]
    given = [TableInput(e.table if e.table is not None else e.html or "") for e in elements]
    metric = get_metric("reader")
    scores = [[metric.score(truth, pred) for pred in given] for truth in truths]
    values = np.array([[score.value or 0.0 for score in row] for row in scores]).reshape(
        len(truths), len(given)
    )
    pairs = list(zip(*linear_sum_assignment(-values), strict=True))
    answered = [(i, j) for i, j in pairs if values[i, j] >= ANSWERS]
    found = {
        error["kind"]
        for i, j in answered
        for error in scores[i][j].details["errors"]
        if error["cost"] >= LEAST_POINTS
    }
    found |= {MISSED} if len(answered) < len(truths) else set()
    return found | ({EXTRA} if len(answered) < len(given) else set())
