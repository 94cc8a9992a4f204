import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.stats.calibration import d_ece, d_ece_by_chance, reliability_bins, risk_coverage

PREDICTIONS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.8, 0.99]), st.booleans()), min_size=1, max_size=40
)


def test_d_ece_by_hand() -> None:
    # (.8, .9]: two predictions, one right, mean confidence .85, gap .35. (.1, .2]: one wrong, gap .15.
    value = d_ece([0.82, 0.88, 0.15], [1, 0, 0])
    assert value == pytest.approx((2 * 0.35 + 1 * 0.15) / 3)


def test_a_calibrated_parser_has_no_error() -> None:
    assert d_ece([0.75] * 4, [1, 1, 1, 0]) == pytest.approx(0)


def test_hopeless_confidences_do_not_count() -> None:
    assert d_ece([0.05, 0.01], [0, 0]) is None
    assert sum(b.n for b in reliability_bins([0.05, 0.06], [0, 0])) == 1


def test_borders_belong_to_the_lower_bin() -> None:
    counts = [b.n for b in reliability_bins([0.1, 0.2, 0.21, 1.0], [1, 1, 1, 1])]
    assert counts == [1, 1, 1, 0, 0, 0, 0, 0, 0, 1]


def test_what_chance_adds_to_honest_confidences_is_known() -> None:
    """The mean D-ECE of honest confidences over many small samples is what is told beforehand."""
    rng = np.random.default_rng(5)
    seen, told = [], []
    for _ in range(300):
        confidence = rng.uniform(0.1, 1.0, 40)
        hit = rng.random(40) < confidence
        seen.append(d_ece(confidence, hit))
        told.append(d_ece_by_chance(confidence, hit, np.arange(40)))
    assert np.mean(told) == pytest.approx(np.mean(seen), rel=0.1)


def test_chance_adds_nothing_where_nothing_is_predicted() -> None:
    assert d_ece_by_chance([], [], []) == 0
    assert d_ece_by_chance([0.01], [0], ["a"]) == 0


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
