"""One-to-one assignment from a similarity matrix: optimal, or by descending confidence."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from parsemark.kernels.assignment import linear_sum_assignment
from parsemark.model import Match, Matching

Similarity = NDArray[np.float64]

THRESHOLD = 0.5  # a pair counts as found if it is more alike than this


def best_pairs(similarity: Similarity, threshold: float = THRESHOLD) -> list[tuple[int, int]]:
    """The pairs of the best assignment; pairs without any similarity are left out.

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
    rule: str,
    truth: Sequence[str],
    pred: Sequence[str],
    similarity: Similarity,
    confidence: Sequence[float],
    threshold: float = THRESHOLD,
) -> Matching:
    """Pair in order of confidence, as ranked figures need it.

    Each prediction takes the free truth that it is most like, if that is more than the threshold. So a weaker
    duplicate can never take a truth from a stronger one.
    """
    pairs: dict[int, int] = {}
    for col in sorted(range(len(pred)), key=lambda c: (-confidence[c], c)):
        free = [r for r in range(len(truth)) if r not in pairs and similarity[r, col] > threshold]
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
