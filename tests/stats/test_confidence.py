"""Risk–coverage, thresholds and calibrators: definitions, limits, and what calibration must achieve."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.errors import FormatError, UsageError
from parsemark.stats.parser_confidence import (
    METHODS,
    Calibrator,
    at_threshold,
    best_threshold,
    cross_calibrated,
    d_ece,
    fit_calibrator,
    risk_coverage,
)

PREDICTIONS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.8, 0.99]), st.booleans()), min_size=1, max_size=40
)


@given(PREDICTIONS)
def test_risk_coverage_is_the_mean_risk_and_never_better_than_perfect(
    items: list[tuple[float, bool]],
) -> None:
    conf, hit = zip(*items, strict=True)
    curve = risk_coverage(conf, hit)
    assert curve is not None
    assert curve.coverage[-1] == 1.0 and curve.risk[-1] == pytest.approx(1 - np.mean(hit))
    # The slow way: one step for each distinct confidence, weighted by how many predictions it adds.
    area = 0.0
    for c in sorted(set(conf), reverse=True):
        kept = [h for k, h in items if k >= c]
        area += (1 - np.mean(kept)) * sum(k == c for k in conf) / len(items)
    assert curve.area == pytest.approx(area)
    assert curve.area >= curve.best_area - 1e-9


@given(PREDICTIONS, st.integers(1, 60))
def test_the_best_threshold_is_the_best_of_all(items: list[tuple[float, bool]], n_truth: int) -> None:
    conf, hit = zip(*items, strict=True)
    n_truth = max(n_truth, sum(hit))
    best = best_threshold(conf, hit, n_truth)
    assert best is not None
    assert best.f1 == max(at_threshold(conf, hit, n_truth, c).f1 for c in conf)
    assert at_threshold(conf, hit, n_truth, 2.0).precision == 1.0, "nothing is claimed"


def _overconfident(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Confidences near 1 of which far fewer are right, as detectors give them on foreign pages."""
    dice = np.random.default_rng(seed)
    truth = dice.uniform(0.05, 0.95, n)
    conf = truth**0.25
    return conf, dice.random(n) < truth, [f"d{i % 20}" for i in range(n)]


@pytest.mark.parametrize("method", METHODS)
def test_calibration_lowers_d_ece_on_documents_that_it_has_not_seen(method: str) -> None:
    conf, hit, documents = _overconfident(800, 1)
    before, after = d_ece(conf, hit), d_ece(cross_calibrated(conf, hit, documents, method), hit)
    assert before is not None and after is not None
    assert after < (0.75 if method == "temperature" else 0.4) * before


@pytest.mark.parametrize("method", METHODS)
def test_a_calibrator_keeps_the_order_and_survives_json(method: str) -> None:
    conf, hit, _ = _overconfident(300, 2)
    calibrator = fit_calibrator(conf, hit, method)
    grid = np.linspace(0, 1, 101)
    values = calibrator(grid)
    assert (np.diff(values) >= -1e-12).all() and (values >= 0).all() and (values <= 1).all()
    again = Calibrator.from_json(json.loads(json.dumps(calibrator.to_json())))
    assert np.array_equal(again(grid), values)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("right", [True, False])
def test_predictions_that_are_all_alike_have_a_calibrator(method: str, right: bool) -> None:
    values = fit_calibrator(np.linspace(0.1, 0.9, 30), [right] * 30, method)(np.linspace(0, 1, 11))
    assert (values > 0.9).all() if right else (values < 0.1).all()


def test_bad_input_is_refused() -> None:
    with pytest.raises(UsageError, match="too few"):
        fit_calibrator([0.5] * 5, [True] * 5)
    with pytest.raises(UsageError, match="temperature, platt"):
        fit_calibrator([0.5] * 50, [True] * 50, "magic")
    with pytest.raises(UsageError, match="at least two"):
        cross_calibrated([0.5] * 50, [True] * 50, ["d"] * 50)
    for data in ({}, {"method": "beta", "parameters": [1]}, {"method": "isotonic", "parameters": [1, 2, 3]}):
        with pytest.raises(FormatError, match="not a calibrator"):
            Calibrator.from_json(data)
