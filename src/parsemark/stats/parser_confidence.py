"""What confidences are good for: reliability and D-ECE, risk against coverage, thresholds, calibrated ones.

A calibrator maps a parser's confidence to the share of its predictions that are right at that confidence. It
is fitted on matched predictions, split by document where it is judged, and kept as a small JSON object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsemark.errors import FormatError, UsageError
from parsemark.extras import needed_for

MIN_CONFIDENCE = 0.05  # predictions at or below this do not count as predictions of a table
METHODS = ("temperature", "platt", "beta", "isotonic")
_EDGE = 1e-6
_N_FOLDS = 5
MIN_PREDICTIONS = 20  # below this a calibrator would fit noise
MIN_ISOTONIC = 300
"""Below this isotonic regression is not chosen by itself: its steps fit noise and tie what was ordered."""


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
    """Return equal-width bins over [0, 1] with the precision and mean confidence of each (Soric et al.,
    5.1.3).
    """
    conf, hit = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    times = np.ones_like(conf) if weight is None else np.asarray(weight, dtype=float)
    keep = conf > MIN_CONFIDENCE
    conf, hit, times = conf[keep], hit[keep], times[keep]
    index = _bin_of(conf, n_bins)
    bins = []
    for k in range(n_bins):
        inside = index == k
        own = times[inside]
        n = float(own.sum())
        means = [float(np.average(v[inside], weights=own)) if n > 0 else None for v in (hit, conf)]
        bins.append(ReliabilityBin(k / n_bins, (k + 1) / n_bins, n, *means))
    return bins


def _bin_of(confidence: NDArray[np.float64], n_bins: int) -> NDArray[np.int64]:
    index: NDArray[np.int64] = np.clip(np.ceil(confidence * n_bins) - 1, 0, n_bins - 1).astype(np.int64)
    return index


def d_ece(
    confidence: ArrayLike, correct: ArrayLike, n_bins: int = 10, weight: ArrayLike | None = None
) -> float | None:
    """Return Σ |B_m|/n · |precision(B_m) − confidence(B_m)|; None without predictions.

    The paper prints |B_m|/m; only |B_m|/n makes the bins' weights sum to one.
    """
    bins = reliability_bins(confidence, correct, n_bins, weight)
    total = sum(b.n for b in bins)
    gaps = [b.n * abs((b.precision or 0.0) - (b.confidence or 0.0)) for b in bins]
    return sum(gaps) / total if total else None


def d_ece_by_chance(confidence: ArrayLike, correct: ArrayLike, documents: ArrayLike) -> float:
    """Return the D-ECE that perfectly honest confidences would show on as many predictions, by chance alone.

    A gap is counted by its size whichever way it goes, so chance adds up instead of cancelling out:
    E|N(0, σ)| is √(2/π)·σ, with the σ of each bin's gap over documents, or that of honest coins where it is
    larger.
    """
    n_bins = 10
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


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """If only the most confident predictions were taken: how many, and how many of them would be wrong."""

    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float  # under the curve (AURC): the mean risk over all coverages; lower is better
    best_area: float  # that of confidences which put every right prediction before every wrong one


def risk_coverage(confidence: ArrayLike, correct: ArrayLike) -> RiskCoverage | None:
    """Return the risk over coverage, predictions with equal confidence taken together; None without
    predictions.

    >>> curve = risk_coverage([0.9, 0.8, 0.3], [True, True, False])
    >>> curve.area == curve.best_area
    True
    """
    conf, hit = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    if conf.size == 0:
        return None
    order = np.argsort(-conf, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(conf[order]) != 0, True)) + 1
    wrong = np.cumsum(1 - hit[order])
    risks = wrong[ends - 1] / ends
    widths = np.diff(np.append(0, ends))
    perfect = np.cumsum(np.sort(1 - hit)) / np.arange(1, hit.size + 1)
    area = float((risks * widths).sum() / hit.size)
    return RiskCoverage(tuple((ends / hit.size).tolist()), tuple(risks.tolist()), area, float(perfect.mean()))


@dataclass(frozen=True, slots=True)
class Threshold:
    """A confidence below which predictions are dropped, and what remains with it."""

    at: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Return harmonic mean."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def at_threshold(confidence: ArrayLike, correct: ArrayLike, n_truth: int, at: float) -> Threshold:
    """Return the results after dropping predictions below `at`. Precision is 1 where nothing remains."""
    conf, hit = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    kept = conf >= at
    right = float(hit[kept].sum())
    precision = right / float(kept.sum()) if kept.any() else 1.0
    return Threshold(at, precision, right / n_truth if n_truth else 1.0)


def best_threshold(confidence: ArrayLike, correct: ArrayLike, n_truth: int) -> Threshold | None:
    """Return the threshold with the highest F1; of equal ones the highest. None without predictions."""
    found = [at_threshold(confidence, correct, n_truth, float(c)) for c in np.unique(confidence)]
    return max(found, key=lambda t: (t.f1, t.at), default=None)


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A monotone map of confidences, by one of `METHODS`."""

    method: str
    parameters: tuple[float, ...]
    """temperature, platt: slope and offset on the logit. beta: a, b, c. isotonic: xs, then as many ys."""

    def __call__(self, confidence: ArrayLike) -> NDArray[np.float64]:
        """Return the calibrated confidences."""
        conf = np.clip(np.asarray(confidence, dtype=float), 0.0, 1.0)
        if self.method == "isotonic":
            half = len(self.parameters) // 2
            return np.asarray(np.interp(conf, self.parameters[:half], self.parameters[half:]))
        inside = np.clip(conf, _EDGE, 1 - _EDGE)
        if self.method == "beta":
            a, b, c = self.parameters
            score = a * np.log(inside) - b * np.log1p(-inside) + c
        else:
            slope, offset = self.parameters
            score = slope * np.log(inside / (1 - inside)) + offset
        return np.asarray(1 / (1 + np.exp(-score)))

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"method": self.method, "parameters": list(self.parameters)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibrator:
        """Undo `to_json`; raise FormatError if it is invalid."""
        try:
            method, numbers = data["method"], tuple(float(v) for v in data["parameters"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"this is not a calibrator: {error}") from error
        wanted = {"temperature": 2, "platt": 2, "beta": 3}.get(method, len(numbers))
        if method not in METHODS or len(numbers) != wanted or not np.isfinite(numbers).all():
            said = f"method {str(method)[:40]!r}, {len(numbers)} parameters"
            raise FormatError(f"this is not a calibrator: {said}")
        if method == "isotonic" and (len(numbers) < 4 or len(numbers) % 2):
            raise FormatError("this is not a calibrator: an isotonic one needs as many ys as xs")
        return cls(method, numbers)


def fit_calibrator(confidence: ArrayLike, correct: ArrayLike, method: str = "beta") -> Calibrator:
    """Fit a calibrator. A map that would turn the order around is flattened to the mean. UsageError if the
    method is not known, or there are too few predictions.
    """
    if method not in METHODS:
        raise UsageError(f"Unknown calibration method {method!r}; choose one of: {', '.join(METHODS)}.")
    conf = np.clip(np.asarray(confidence, dtype=float), _EDGE, 1 - _EDGE)
    hit = np.asarray(correct, dtype=float)
    if hit.size < MIN_PREDICTIONS:
        raise UsageError(
            f"{hit.size} predictions are too few to calibrate; at least {MIN_PREDICTIONS} are needed."
        )
    with needed_for("Calibration"):
        from sklearn.isotonic import IsotonicRegression
        from sklearn.linear_model import LogisticRegression
    if method == "isotonic":
        fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(conf, hit)
        xs, ys = fitted.X_thresholds_.tolist(), fitted.y_thresholds_.tolist()
        if len(xs) == 1:
            xs, ys = [0.0, 1.0], [ys[0], ys[0]]
        return Calibrator(method, (*xs, *ys))
    if hit.min() == hit.max():  # all right or all wrong: the rule of succession, for every confidence
        rate = (hit.sum() + 1) / (hit.size + 2)
        offset = float(np.log(rate / (1 - rate)))
        return Calibrator(method, (0.0, 0.0, offset) if method == "beta" else (0.0, offset))
    logit = np.log(conf / (1 - conf))
    columns = np.stack([np.log(conf), -np.log1p(-conf)], 1) if method == "beta" else logit[:, None]
    regression = LogisticRegression(C=1e6, fit_intercept=method != "temperature", max_iter=10_000)
    model = regression.fit(columns, hit)
    slopes = [max(0.0, float(v)) for v in model.coef_[0]]
    offset = float(model.intercept_[0]) if method != "temperature" else 0.0
    return Calibrator(method, (*slopes, offset))


def document_folds(documents: Sequence[str]) -> dict[str, int]:
    """Return a fold for each document: what is fitted on the others has not seen it. UsageError below two."""
    names = sorted(set(documents))
    if len(names) < 2:
        raise UsageError("Confidences are tested on held-out documents: give at least two documents.")
    return {name: number % min(_N_FOLDS, len(names)) for number, name in enumerate(names)}


def calibrators_by_document(
    confidence: ArrayLike, correct: ArrayLike, documents: Sequence[str], method: str = "beta"
) -> dict[str, Calibrator]:
    """Fit for each document a calibrator without it; raise UsageError as `fit_calibrator` does."""
    conf, hit = np.asarray(confidence, dtype=float), np.asarray(correct, dtype=float)
    fold_of = document_folds(documents)
    folds = np.array([fold_of[d] for d in documents])
    least = hit.size - int(np.bincount(folds).max())
    if least < MIN_PREDICTIONS:
        raise UsageError(
            f"{hit.size} predictions are too few to calibrate: each document is judged by a calibrator of "
            f"the others, which needs {MIN_PREDICTIONS}; without a part of the documents {least} are left."
        )
    parts = {int(fold): folds != fold for fold in np.unique(folds)}
    fitted = {fold: fit_calibrator(conf[seen], hit[seen], method) for fold, seen in parts.items()}
    return {document: fitted[fold] for document, fold in fold_of.items()}


def cross_calibrated(
    confidence: ArrayLike, correct: ArrayLike, documents: Sequence[str], method: str = "beta"
) -> NDArray[np.float64]:
    """Calibrate each prediction's confidence by a calibrator fitted without its document."""
    unseen = calibrators_by_document(confidence, correct, documents, method)
    pairs = zip(np.asarray(confidence, dtype=float), documents, strict=True)
    return np.array([float(unseen[document](value)) for value, document in pairs])
