"""Detection figures of Soric et al. (section 5): thresholded, expected, and ranked by confidence.

`overlap` holds the Jaccard index J of each positive prediction with the truth it answers (0 if it answers
none). Recall divides by the number of truths, precision by the number of positive predictions. A prediction
is a true positive if J > θ, strictly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

CTDAR_THRESHOLDS = (0.6, 0.7, 0.8, 0.9)


def f1(precision: ArrayLike, recall: ArrayLike) -> Floats:
    """Return the harmonic mean; 0 where both are 0, and where precision is undefined because nothing was
    predicted.
    """
    p = np.nan_to_num(np.asarray(precision, dtype=float))
    r = np.nan_to_num(np.asarray(recall, dtype=float))
    total = p + r
    quotient: Floats = np.divide(2 * p * r, total, out=np.zeros_like(total), where=total > 0)
    return quotient


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Return element-wise quotient, NaN where the denominator is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    quotient: Floats = np.divide(top, bottom, out=np.full(bottom.shape, np.nan), where=bottom != 0)
    return quotient


def is_detected(overlap: ArrayLike, theta: float) -> Floats:
    """Return 1[J > θ]."""
    return (np.asarray(overlap, dtype=float) > theta).astype(float)


def expected_detected(overlap: ArrayLike, start: float) -> Floats:
    """Return E[1(J > θ)] for θ with density ∝ θ on [start, 1].

    For `start` = 0 this is J²; for `start` = 0.5 it is 4/3 (J² − 1/4) above 0.5 and 0 below.
    """
    j = np.asarray(overlap, dtype=float)
    value = (j**2 - start**2) / (1 - start**2)
    return np.where(j > start, value, 0.0)


@dataclass(frozen=True, slots=True)
class PrecisionRecallCurve:
    """Precision and recall at each distinct confidence, from the most to the least confident."""

    confidence: Floats
    precision: Floats
    recall: Floats

    @property
    def average_precision(self) -> float:
        """Return Σ (R_k − R_{k−1}) P_k, step-wise as scikit-learn computes it."""
        return float(np.sum(np.diff(self.recall, prepend=0.0) * self.precision))


def precision_recall_curve(
    confidence: ArrayLike, credit: ArrayLike, n_truth: float, weight: ArrayLike | None = None
) -> PrecisionRecallCurve:
    """Return the curve of predictions ranked by confidence. `credit`: what each earns, 1[J > θ], its
    expectation, or the same times a structure score; `n_truth`: truths, found or not; `weight`: how often
    each counts (for bootstrap resamples).
    """
    conf, value = np.asarray(confidence, dtype=float), np.asarray(credit, dtype=float)
    times = np.ones_like(conf) if weight is None else np.asarray(weight, dtype=float)
    order = np.argsort(-conf, kind="stable")
    conf, value, times = conf[order], value[order], times[order]
    earned, seen = np.cumsum(value * times), np.cumsum(times)
    last = np.flatnonzero(np.diff(conf, append=-np.inf)) if conf.size else np.zeros(0, dtype=int)
    precision = np.nan_to_num(ratio(earned[last], seen[last]))
    recall = np.nan_to_num(ratio(earned[last], n_truth))
    return PrecisionRecallCurve(conf[last], precision, recall)


def average_precision(
    confidence: ArrayLike, credit: ArrayLike, n_truth: float, weight: ArrayLike | None = None
) -> float:
    """Return the area under the precision-recall curve; truths that were never found add nothing."""
    return precision_recall_curve(confidence, credit, n_truth, weight).average_precision
