"""Every formula of Soric et al. section 5 on cases worked out by hand, and against other computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.metrics import average_precision_score

from parsemark.stats.detection import (
    average_precision,
    expected_detected,
    f1,
    is_detected,
    precision_recall_curve,
    ratio,
)

unit = st.floats(0, 1, allow_nan=False)


def test_a_true_positive_is_strictly_above_the_threshold() -> None:
    assert is_detected([0.5, 0.500001, 0.2], 0.5).tolist() == [0, 1, 0]


def test_expected_metrics_by_hand() -> None:
    assert expected_detected([0.6], 0.0)[0] == pytest.approx(0.36)
    assert expected_detected([0.8], 0.5)[0] == pytest.approx(4 / 3 * (0.64 - 0.25))
    assert expected_detected([0.5], 0.5)[0] == 0


@given(unit, st.sampled_from([0.0, 0.5]))
def test_expected_metrics_equal_numerical_integration(j: float, start: float) -> None:
    scale = quad(lambda t: t, start, 1)[0]
    integral = quad(lambda t: t / scale, start, j)[0] if j > start else 0.0
    assert expected_detected([j], start)[0] == pytest.approx(integral, abs=1e-9)


def test_f1_when_nothing_is_predicted_or_nothing_found() -> None:
    assert f1(ratio(0, 0), ratio(0, 3)) == 0
    assert f1(0.0, 0.0) == 0
    assert f1(0.5, 1.0) == pytest.approx(2 / 3)


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=40))
def test_average_precision_equals_scikit_learn(predictions: list[tuple[int, bool]]) -> None:
    confidence = np.array([c / 20 for c, _ in predictions])
    hit = np.array([h for _, h in predictions], dtype=float)
    if not hit.any():
        assert average_precision(confidence, hit, 3) == 0
        return
    assert average_precision(confidence, hit, hit.sum()) == pytest.approx(
        average_precision_score(hit, confidence)
    )
    # Truths that no prediction found lower recall, and with it the area, in proportion.
    missed = hit.sum() + 4
    expected = average_precision_score(hit, confidence) * hit.sum() / missed
    assert average_precision(confidence, hit, missed) == pytest.approx(expected)


def test_structure_weighted_curve_by_hand() -> None:
    # Three truths; predictions: s = .8 (right), wrong, s = .5 (right).
    curve = precision_recall_curve([0.9, 0.8, 0.3], [0.8, 0.0, 0.5], 3)
    assert curve.precision.tolist() == pytest.approx([0.8, 0.4, 1.3 / 3])
    assert curve.recall.tolist() == pytest.approx([0.8 / 3, 0.8 / 3, 1.3 / 3])
    assert curve.average_precision == pytest.approx(0.8 / 3 * 0.8 + 0.5 / 3 * 1.3 / 3)


@given(st.lists(st.tuples(unit, unit, st.integers(1, 4)), min_size=1, max_size=15))
def test_weights_mean_repetition(rows: list[tuple[float, float, int]]) -> None:
    confidence, credit, times = (np.array(column) for column in zip(*rows, strict=True))
    repeated = np.repeat(confidence, times), np.repeat(credit, times)
    weighted = average_precision(confidence, credit, 7, times)
    assert weighted == pytest.approx(average_precision(*repeated, 7))
