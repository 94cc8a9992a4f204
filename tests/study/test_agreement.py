"""Agreement of raters, against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from parsemark.study import krippendorff_alpha, rater_agreement


def test_alpha_by_hand() -> None:
    # Two raters, three units: (1, 2), (3, 3), (5, 4). Squared differences of ordered pairs within units:
    # 2, 0, 2; observed = 4 / 6. Of all six values 1 2 3 3 5 4 (mean 3, sum of squares about it 10):
    # 2 · 6 · 10 = 120 over 6 · 5 ordered pairs: expected = 4. alpha = 1 − (4/6)/4 = 5/6.
    assert krippendorff_alpha([(1, 2), (3, 3), (5, 4)]) == pytest.approx(5 / 6)


def test_alpha_with_unequal_numbers_of_ratings() -> None:
    # (0, 0, 3): ordered squared differences 4 · 9 = 36, over 2 is 18. (3, 3): 0. A single rating does not
    # count. observed = 18 / 5. Values 0 0 3 3 3: mean 1.8, sum of squares 10.8; 2 · 5 · 10.8 / 20 = 5.4.
    assert krippendorff_alpha([(0, 0, 3), (3, 3), (9,)]) == pytest.approx(1 - 3.6 / 5.4)


def test_alpha_of_perfect_agreement_is_one_and_of_no_variation_is_none() -> None:
    assert krippendorff_alpha([(1, 1), (2, 2)]) == 1.0
    assert krippendorff_alpha([(1, 1), (1, 1)]) is None
    assert krippendorff_alpha([]) is None


def test_alpha_of_random_ratings_is_near_zero() -> None:
    ratings = np.random.default_rng(0).integers(0, 11, (3000, 3))
    alpha = krippendorff_alpha(ratings.tolist())
    assert alpha is not None
    assert abs(alpha) < 0.03


def test_difference_and_leave_one_out() -> None:
    found = rater_agreement([(0, 1, 2), (5, 5, 5), (10, 8, 9)])
    assert found.mean_absolute_difference == pytest.approx((1 + 2 + 1 + 0 + 0 + 0 + 2 + 1 + 1) / 9)
    first = np.corrcoef([0, 5, 10], [1.5, 5, 8.5])[0, 1]
    assert found.leave_one_out[0] == pytest.approx(first)
    assert found.n_raters == 3


def test_raters_who_left_pairs_out_are_known_by_name() -> None:
    """Each rater against the others over what they share, whoever stands first in the list."""
    names = [("Rita", "Otto"), ("Otto", "Rita"), ("Otto", "Phil"), ("Rita", "Otto"), ("Otto",)]
    ratings = [(7, 2), (0, 10), (5, 8), (4, 6), (1,)]
    found = rater_agreement(ratings, names)
    assert (found.n_raters, found.n_pairs) == (3, 4)
    assert found.mean_absolute_difference == pytest.approx((5 + 10 + 3 + 2) / 4)
    rita = np.corrcoef([7, 10, 4], [2, 0, 6])[0, 1]
    otto = np.corrcoef([2, 0, 5, 6], [7, 10, 8, 4])[0, 1]
    assert found.leave_one_out == (pytest.approx(rita), pytest.approx(otto), None)
