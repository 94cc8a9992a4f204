"""Can a parser's confidence be trusted? Reliability bins and D-ECE (Soric et al., 5.1.3)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

MIN_CONFIDENCE = 0.05  # predictions at or below this do not count as predictions of a table


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Predictions whose confidence lies in (low, high]; the first bin includes its lower end."""

    low: float
    high: float
    n: float
    precision: float | None
    confidence: float | None


def reliability_bins(
    confidence: ArrayLike, correct: ArrayLike, n_bins: int = 10, weight: ArrayLike | None = None
) -> list[ReliabilityBin]:
    """Equal-width bins over [0, 1] with the precision and mean confidence of what falls into each."""
    conf, hit = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    times = np.ones_like(conf) if weight is None else np.asarray(weight, dtype=float)
    keep = conf > MIN_CONFIDENCE
    conf, hit, times = conf[keep], hit[keep], times[keep]
    index = _bin_of(conf, n_bins)
    bins = []
    for k in range(n_bins):
        inside = index == k
        n = float(times[inside].sum())
        own = times[inside]
        means = [float(np.average(v[inside], weights=own)) if n > 0 else None for v in (hit, conf)]
        bins.append(ReliabilityBin(k / n_bins, (k + 1) / n_bins, n, *means))
    return bins


def _bin_of(confidence: NDArray[np.float64], n_bins: int) -> NDArray[np.int64]:
    index: NDArray[np.int64] = np.clip(np.ceil(confidence * n_bins) - 1, 0, n_bins - 1).astype(np.int64)
    return index


def d_ece(
    confidence: ArrayLike, correct: ArrayLike, n_bins: int = 10, weight: ArrayLike | None = None
) -> float | None:
    """Σ |B_m|/n · |precision(B_m) − confidence(B_m)|; None without predictions.

    The paper prints |B_m|/m; only |B_m|/n makes the bins' weights sum to one.
    """
    bins = reliability_bins(confidence, correct, n_bins, weight)
    total = sum(b.n for b in bins)
    if total == 0:
        return None
    gaps = [
        b.n * abs(b.precision - b.confidence)
        for b in bins
        if b.precision is not None and b.confidence is not None
    ]
    return sum(gaps) / total


def d_ece_by_chance(
    confidence: ArrayLike, correct: ArrayLike, documents: ArrayLike, n_bins: int = 10
) -> float:
    """The D-ECE that perfectly honest confidences would show on as many predictions, by chance alone.

    A gap is counted by its size whichever way it goes, so chance adds up instead of cancelling out:
    E|N(0, σ)| is √(2/π)·σ, with the σ of each bin's gap over documents, or that of honest coins where it is
    larger.
    """
    conf, hit = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    keep = conf > MIN_CONFIDENCE
    if not keep.any():
        return 0.0
    gap, index = (conf - hit)[keep], _bin_of(conf[keep], n_bins)
    _, document = np.unique(np.asarray(documents)[keep], return_inverse=True)
    n_documents = int(document.max()) + 1
    place = index * n_documents + document
    counts = np.bincount(place, minlength=n_bins * n_documents).reshape(n_bins, n_documents)
    gaps = np.bincount(place, gap, n_bins * n_documents).reshape(n_bins, n_documents)
    count, total = counts.sum(axis=1, keepdims=True), gaps.sum(axis=1, keepdims=True)
    expected = counts * np.divide(total, count, out=np.zeros_like(total), where=count > 0)
    between = ((gaps - expected) ** 2).sum(axis=1)
    within = np.bincount(index, (conf * (1 - conf))[keep], n_bins)  # all there is where a document is alone
    deviation = np.sqrt(np.maximum(between, within))
    return float(np.sqrt(2 / np.pi) * deviation.sum() / keep.sum())
