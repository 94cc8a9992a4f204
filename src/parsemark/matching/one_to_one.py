"""Matching one to one: by place (IoU), by content (Soric et al.'s content-Jaccard), or by number."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from parsemark.kernels.ngrams import Bag, chunk_bigrams, multiset_jaccard
from parsemark.matching.assignment import Similarity, assign, assign_by_confidence
from parsemark.model import Element, Matching, Table

BOX_RULE = "bbox"


def iou_matrix(truth: Sequence[Element], pred: Sequence[Element]) -> Similarity:
    """IoU of every pair; 0 where a side has no box."""
    values = [[t.box.iou(p.box) if t.box and p.box else 0.0 for p in pred] for t in truth]
    return np.array(values).reshape(len(truth), len(pred))


def match_by_box(
    truth: Sequence[Element], pred: Sequence[Element], confident: Sequence[bool] | None = None
) -> Matching:
    """Optimal one-to-one assignment by IoU."""
    ids = [e.id for e in truth], [e.id for e in pred]
    return assign(BOX_RULE, *ids, iou_matrix(truth, pred), confident)


def rank_by_box(truth: Sequence[Element], pred: Sequence[Element], confidence: Sequence[float]) -> Matching:
    """Match one to one in order of confidence, by IoU."""
    ids = [e.id for e in truth], [e.id for e in pred]
    return assign_by_confidence(BOX_RULE, *ids, iou_matrix(truth, pred), confidence)


ORDER_RULE = "order"


def match_in_order(
    truth: Sequence[Element], pred: Sequence[Element], confident: Sequence[bool] | None = None
) -> Matching:
    """The first with the first, the second with the second, as boards do it that join or number tables."""
    placed = sorted(truth, key=lambda e: float("inf") if e.order is None else e.order)
    ids = [e.id for e in placed], [e.id for e in pred]
    return assign(ORDER_RULE, *ids, np.eye(len(truth), len(pred)), confident)


CONTENT_RULE = "content"
Variant = Literal["literal", "per_cell", "overlapping"]


def table_text(table: Table) -> str:
    """The texts of all cells in reading order."""
    return " ".join(cell.text for cell in table.cells)


def element_text(element: Element) -> str:
    """The content of an element as text; empty where it has none."""
    return element.text or "" if element.table is None else table_text(element.table)


def content_bag(table: Table, variant: Variant = "literal") -> Bag:
    """The multiset of 2-grams of 2-character chunks that stands for a table.

    `literal` is the paper read literally: one chunk sequence through the whole table. `per_cell` starts anew
    in each cell, `overlapping` takes a chunk at every character; both survive a character more or less.
    """
    if variant == "per_cell":
        bag: Bag = Counter()
        for cell in table.cells:
            bag.update(chunk_bigrams(cell.text))
        return bag
    return chunk_bigrams(table_text(table), overlapping=variant == "overlapping")


def content_matrix(truth: Sequence[Element], pred: Sequence[Element]) -> Similarity:
    """Content-Jaccard of every pair; 0 where a side is no readable table."""
    return jaccard_matrix(*([chunk_bigrams(element_text(e)) for e in side] for side in (truth, pred)))


def jaccard_matrix(truth: Sequence[Bag], pred: Sequence[Bag]) -> Similarity:
    """Jaccard index of every pair of bags; 0 where one is empty."""
    values = [[multiset_jaccard(t, p) if t and p else 0.0 for p in pred] for t in truth]
    return np.array(values).reshape(len(truth), len(pred))


def match_by_content(
    truth: Sequence[Element], pred: Sequence[Element], confident: Sequence[bool] | None = None
) -> Matching:
    """Optimal one-to-one assignment by content-Jaccard."""
    ids = [e.id for e in truth], [e.id for e in pred]
    return assign(CONTENT_RULE, *ids, content_matrix(truth, pred), confident)


def rank_by_content(
    truth: Sequence[Element], pred: Sequence[Element], confidence: Sequence[float]
) -> Matching:
    """Match one to one in order of confidence, by content-Jaccard."""
    ids = [e.id for e in truth], [e.id for e in pred]
    return assign_by_confidence(CONTENT_RULE, *ids, content_matrix(truth, pred), confidence)
