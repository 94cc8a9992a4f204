"""The figures of the tables protocol for one parser, each with its interval and its denominator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsemark.protocols.tables_evidence import Evidence
from parsemark.stats.bootstrap import bootstrap_interval, cluster_weights, percentile_interval, sum_by_cluster
from parsemark.stats.calibration import d_ece, reliability_bins
from parsemark.stats.detection import (
    average_precision,
    expected_detected,
    f1,
    is_detected,
    precision_recall_curve,
    ratio,
    weighted_average_f1,
)

Floats = NDArray[np.float64]
Figure = dict[str, Any]
Statistic = Callable[[Floats], Floats]

THETA = 0.5
SENSITIVITY = (0.5, 0.6, 0.7, 0.8, 0.9)
METRIC_NAMES = {"grits_top": "top", "grits_con": "con", "teds": "teds"}
"""How the structure metrics are called in the names of figures (te_f1_top and so on)."""
RANKED_RESAMPLES = 400
"""Resamples for figures that must be recomputed from ranked lists each time."""


def figure(value: float | None, n: float, ci95: tuple[float, float] | None = None) -> Figure:
    """A number as it stands in `summary.json`: value, interval, denominator."""
    defined = value is not None and bool(np.isfinite(value))
    n_out: float | int = int(n) if float(n).is_integer() else n
    return {
        "value": float(value) if defined and value is not None else None,
        "ci95": list(ci95) if defined and ci95 else None,
        "n": n_out,
    }


def f1_statistic(totals: Floats) -> Floats:
    """F1 from (n_truth, n_pred, recall credit, precision credit)."""
    return f1(ratio(totals[..., 3], totals[..., 1]), ratio(totals[..., 2], totals[..., 0]))


def precision_statistic(totals: Floats) -> Floats:
    """Precision from the same columns."""
    return ratio(totals[..., 3], totals[..., 1])


def recall_statistic(totals: Floats) -> Floats:
    """Recall from the same columns."""
    return ratio(totals[..., 2], totals[..., 0])


def page_sums(evidence: Evidence, credit: Floats) -> Floats:
    """(pages, 4): truths, positive predictions, recall credit and precision credit of each page."""
    sums = np.zeros((len(evidence.pages.samples), 4))
    sums[:, 0] = evidence.pages.n_truth
    use = evidence.positive
    np.add.at(sums[:, 1], evidence.page[use], evidence.count[use])
    np.add.at(sums[:, 2], evidence.page[use], credit[use])
    np.add.at(sums[:, 3], evidence.page[use], (credit * evidence.precision_credit)[use])
    return sums


def document_sums(evidence: Evidence, credit: Floats, pages: NDArray[np.bool_] | None = None) -> Floats:
    """The page sums added up by document; with `pages` only these count, and the others add nothing.

    All documents stay in, so that every figure of a run is drawn from the same resamples.
    """
    sums = page_sums(evidence, credit)
    if pages is not None:
        sums = sums * pages[:, None]
    return sum_by_cluster(sums, evidence.pages.documents)[0]


def extraction_credit(evidence: Evidence, metric: str, theta: float = THETA) -> Floats:
    """What each prediction earns end to end: s · 1[J > θ]."""
    return evidence.structure[metric] * is_detected(evidence.overlap, theta)


def from_sums(sums: Floats, statistic: Statistic, n: float) -> Figure:
    """A figure of totals with its interval over documents; no value where there is nothing to count."""
    if len(sums) == 0 or n == 0:
        return figure(None, 0)
    return figure(float(statistic(sums.sum(axis=0))), n, bootstrap_interval(sums, statistic))


def precision_recall_f1(evidence: Evidence, credit: Floats, name: str, suffix: str = "") -> dict[str, Figure]:
    """`NAME_precision`, `NAME_recall` and `NAME_f1` of one kind of credit."""
    sums = document_sums(evidence, credit)
    n_pred = float(evidence.count[evidence.positive].sum())
    return {
        f"{name}_precision{suffix}": from_sums(sums, precision_statistic, n_pred),
        f"{name}_recall{suffix}": from_sums(sums, recall_statistic, evidence.n_truth),
        f"{name}_f1{suffix}": from_sums(sums, f1_statistic, evidence.n_truth),
    }


def detection_figures(evidence: Evidence) -> dict[str, Figure]:
    """Thresholded and expected detection, and their sensitivity to the threshold."""
    found = precision_recall_f1(evidence, is_detected(evidence.overlap, THETA), "td")
    for start, name in ((0.0, "e0"), (0.5, "e05")):
        found |= precision_recall_f1(evidence, expected_detected(evidence.overlap, start), name)
    positive = evidence.overlap[evidence.positive]
    weighted = weighted_average_f1(positive, int(evidence.n_truth)) if evidence.n_truth else None
    found["wavg_f1"] = figure(weighted, evidence.n_truth)
    for theta in SENSITIVITY:
        sums = document_sums(evidence, is_detected(evidence.overlap, theta))
        found[f"td_f1_at_{theta:g}"] = from_sums(sums, f1_statistic, evidence.n_truth)
    return found


def extraction_figures(evidence: Evidence) -> dict[str, Figure]:
    """Structure given detection (`tsr_*`) and end to end (`te_*`) for each structure metric."""
    found: dict[str, Figure] = {}
    hit = is_detected(evidence.overlap, THETA)
    for metric in evidence.structure:
        short, credit = METRIC_NAMES.get(metric, metric), extraction_credit(evidence, metric)
        found |= precision_recall_f1(evidence, credit, "te", f"_{short}")
        sums = np.stack([document_sums(evidence, credit)[:, 2], document_sums(evidence, hit)[:, 2]], axis=1)
        n_hits = float(hit[evidence.positive].sum())
        found[f"tsr_{short}"] = from_sums(sums, lambda t: ratio(t[..., 0], t[..., 1]), n_hits)
    return found


def confidence_figures(evidence: Evidence) -> dict[str, Any]:
    """AP, AP weighted by structure and D-ECE, with curves and reliability bins where there are confidences.

    Without confidences the figures are there too, with the value None.
    """
    if not evidence.has_confidence:
        weighted_names = [f"ap_{METRIC_NAMES.get(metric, metric)}" for metric in evidence.structure]
        return {name: figure(None, 0) for name in ("ap", *weighted_names, "d_ece")}
    hit = is_detected(evidence.overlap, THETA)
    found: dict[str, Any] = {"ap": _ranked(evidence, hit)}
    for metric in evidence.structure:
        short = METRIC_NAMES.get(metric, metric)
        found[f"ap_{short}"] = _ranked(evidence, extraction_credit(evidence, metric))
    value = d_ece(evidence.confidence, hit)
    draws = [d_ece(evidence.confidence, hit, weight=w) for w in _prediction_weights(evidence)]
    several = len(set(evidence.pages.documents)) > 1
    defined = np.array([np.nan if d is None else d for d in draws])
    interval = percentile_interval(defined) if several else None
    found["d_ece"] = figure(value, len(evidence.confidence), interval)
    curve = precision_recall_curve(evidence.confidence, hit, evidence.n_truth)
    expected = precision_recall_curve(
        evidence.confidence, expected_detected(evidence.overlap, 0.5), evidence.n_truth
    )
    found["curves"] = {"thresholded": _points(curve), "expected": _points(expected)}
    for metric in evidence.structure:
        weighted = precision_recall_curve(
            evidence.confidence, extraction_credit(evidence, metric), evidence.n_truth
        )
        found["curves"][METRIC_NAMES.get(metric, metric)] = _points(weighted)
    found["reliability"] = [
        {"low": b.low, "high": b.high, "n": b.n, "precision": b.precision, "confidence": b.confidence}
        for b in reliability_bins(evidence.confidence, hit)
    ]
    return found


def _ranked(evidence: Evidence, credit: Floats) -> Figure:
    """Average precision with its interval over documents; no value without truths."""
    if not evidence.n_truth:
        return figure(None, 0)
    value = average_precision(evidence.confidence, credit, evidence.n_truth)
    truth_by_document, names = sum_by_cluster(evidence.pages.n_truth[:, None], evidence.pages.documents)
    weights = cluster_weights(len(names), RANKED_RESAMPLES)
    draws = [
        average_precision(evidence.confidence, credit, float((w @ truth_by_document).item()), times)
        for w, times in zip(weights, _prediction_weights(evidence), strict=True)
    ]
    interval = percentile_interval(np.array(draws)) if len(names) > 1 else None
    return figure(value, evidence.n_truth, interval)


def _prediction_weights(evidence: Evidence) -> Floats:
    """How often each prediction is drawn in each resample of documents."""
    names = list(dict.fromkeys(evidence.pages.documents))
    position = {name: k for k, name in enumerate(names)}
    document = np.array([position[evidence.pages.documents[p]] for p in evidence.page], dtype=int)
    weights: Floats = cluster_weights(len(names), RANKED_RESAMPLES)[:, document]
    return weights


def _points(curve: Any) -> list[list[float]]:
    points: Sequence[Sequence[float]] = np.stack(
        [curve.recall, curve.precision, curve.confidence], axis=1
    ).tolist()
    return [list(point) for point in points]
