"""Matching one to one: by place (IoU), content (Soric et al.'s content-Jaccard), 3-grams, or number."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from parsemark.kernels.assignment import linear_sum_assignment
from parsemark.kernels.ngrams import Bag, chunk_bigrams, multiset_jaccard, text_bag
from parsemark.model import Element, Match, Matching, Table

Similarity = NDArray[np.float64]
Variant = Literal["literal", "per_cell", "overlapping"]

THETA = 0.5  # a table counts as found if its match is more alike, or overlaps it by more, than this
CONFIDENCE_THRESHOLD = 0.5
"""A prediction with a known confidence at or below this is not a positive prediction."""

BOX_RULE, CONTENT_RULE, NGRAM_RULE = "bbox", "content", "ngrams"
ORDER_RULE = "order"  # the first with the first, as boards do it that join or number tables


def is_positive(confidence: float | None) -> bool:
    """Return whether a prediction counts as a table: its confidence is above the threshold, or not known."""
    return confidence is None or confidence > CONFIDENCE_THRESHOLD


def match_one_to_one(
    rule: str, truth: Sequence[Element], pred: Sequence[Element], confident: Sequence[bool] | None = None
) -> Matching:
    """Return the best assignment by a rule; see `assign`."""
    if rule == ORDER_RULE:
        truth = sorted(truth, key=lambda e: float("inf") if e.order is None else e.order)
    return assign(rule, _ids(truth), _ids(pred), _similarity(rule, truth, pred), confident)


def rank_one_to_one(
    rule: str, truth: Sequence[Element], pred: Sequence[Element], confidence: Sequence[float]
) -> Matching:
    """Return the assignment by a rule in order of confidence; see `assign_by_confidence`."""
    return assign_by_confidence(rule, _ids(truth), _ids(pred), _similarity(rule, truth, pred), confidence)


def _ids(elements: Sequence[Element]) -> list[str]:
    return [element.id for element in elements]


def _similarity(rule: str, truth: Sequence[Element], pred: Sequence[Element]) -> Similarity:
    """Return how alike each truth (rows) and each prediction are; 0 where one has no box, or no text."""
    if rule == ORDER_RULE:
        return np.eye(len(truth), len(pred))
    if rule == BOX_RULE:
        values = [[t.box.iou(p.box) if t.box and p.box else 0.0 for p in pred] for t in truth]
    else:
        bag_of = chunk_bigrams if rule == CONTENT_RULE else text_bag
        ours, theirs = ([bag_of(element_text(e)) for e in side] for side in (truth, pred))
        values = [[multiset_jaccard(t, p) if t and p else 0.0 for p in theirs] for t in ours]
    return np.array(values).reshape(len(truth), len(pred))


def table_text(table: Table) -> str:
    """Return the texts of all cells in reading order."""
    return " ".join(cell.text for cell in table.cells)


def element_text(element: Element) -> str:
    """Return the content of an element as text; empty where it has none."""
    return element.text or "" if element.table is None else table_text(element.table)


def content_bag(table: Table, variant: Variant = "literal") -> Bag:
    """Return the multiset of 2-grams of 2-character chunks that stands for a table.

    `literal` is the paper read literally: one chunk sequence through the whole table. `per_cell` starts anew
    in each cell, `overlapping` takes a chunk at every character; both survive a character more or less.
    """
    if variant == "per_cell":
        return Counter(gram for cell in table.cells for gram in chunk_bigrams(cell.text).elements())
    return chunk_bigrams(table_text(table), overlapping=variant == "overlapping")


def best_pairs(similarity: Similarity, threshold: float = THETA) -> list[tuple[int, int]]:
    """Return the pairs of the best assignment; pairs without any similarity are left out.

    Best is the one with the most pairs above the threshold, and of these the one with the largest sum: two
    tables that are found must not become one that is found perfectly. Deterministic: the solver is, and rows
    and columns come in the caller's order.
    """
    if similarity.size == 0:
        return []
    reward = 1.0 + min(similarity.shape)  # more than all similarities together
    rows, cols = linear_sum_assignment()(similarity + reward * (similarity > threshold), maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, cols, strict=True) if similarity[r, c] > 0]


def assign(
    rule: str,
    truth: Sequence[str],
    pred: Sequence[str],
    similarity: Similarity,
    confident: Sequence[bool] | None = None,
) -> Matching:
    """Pair truths (ids of the rows) and predictions (of the columns) one to one, as well as possible.

    Predictions that are `confident` count as positive. They are assigned first and the others get what is
    left, so that a prediction below the confidence threshold never takes a truth from one above it.
    """
    sure = np.ones(len(pred), dtype=bool) if confident is None else np.asarray(confident, dtype=bool)
    pairs: dict[int, int] = {}
    for stage in (np.flatnonzero(sure), np.flatnonzero(~sure)):
        open_rows = np.array([r for r in range(len(truth)) if r not in pairs], dtype=int)
        for r, c in best_pairs(similarity[np.ix_(open_rows, stage)]):
            pairs[int(open_rows[r])] = int(stage[c])
    return _matching(rule, truth, pred, similarity, pairs)


def assign_by_confidence(
    rule: str, truth: Sequence[str], pred: Sequence[str], similarity: Similarity, confidence: Sequence[float]
) -> Matching:
    """Pair in order of confidence, as ranked figures need it.

    Each prediction takes the free truth that it is most like, if that is more than the threshold. So a weaker
    duplicate can never take a truth from a stronger one.
    """
    pairs: dict[int, int] = {}
    for col in sorted(range(len(pred)), key=lambda c: (-confidence[c], c)):
        free = [r for r in range(len(truth)) if r not in pairs and similarity[r, col] > THETA]
        if free:
            pairs[max(free, key=lambda r: (similarity[r, col], -r))] = col
    return _matching(rule, truth, pred, similarity, pairs)


def _matching(
    rule: str, truth: Sequence[str], pred: Sequence[str], similarity: Similarity, pairs: dict[int, int]
) -> Matching:
    taken = set(pairs.values())
    matches = [
        Match((t,), (pred[pairs[r]],), float(similarity[r, pairs[r]])) if r in pairs else Match((t,), ())
        for r, t in enumerate(truth)
    ]
    matches += [Match((), (p,)) for c, p in enumerate(pred) if c not in taken]
    return Matching(rule, tuple(matches))
