"""Matching by place: intersection over union of boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsemark.matching.assignment import Similarity, assign, assign_by_confidence
from parsemark.model import Element, Matching

RULE = "bbox"


def iou_matrix(truth: Sequence[Element], pred: Sequence[Element]) -> Similarity:
    """IoU of every pair; 0 where a side has no box."""
    matrix = np.zeros((len(truth), len(pred)))
    for row, t in enumerate(truth):
        for col, p in enumerate(pred):
            if t.box is not None and p.box is not None:
                matrix[row, col] = t.box.iou(p.box)
    return matrix


def match_by_box(
    truth: Sequence[Element], pred: Sequence[Element], confident: Sequence[bool] | None = None
) -> Matching:
    """Optimal one-to-one assignment by IoU."""
    ids = [e.id for e in truth], [e.id for e in pred]
    return assign(RULE, *ids, iou_matrix(truth, pred), confident)


def rank_by_box(truth: Sequence[Element], pred: Sequence[Element], confidence: Sequence[float]) -> Matching:
    """Match one to one in order of confidence, by IoU."""
    ids = [e.id for e in truth], [e.id for e in pred]
    return assign_by_confidence(RULE, *ids, iou_matrix(truth, pred), confidence)
