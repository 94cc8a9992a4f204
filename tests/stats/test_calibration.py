import numpy as np
import pytest

from parsemark.stats.parser_confidence import d_ece, d_ece_by_chance, reliability_bins


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
