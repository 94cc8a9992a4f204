import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from parsemark.stats.intervals import (
    UNSEEN,
    group_documents,
    interval_from,
    jackknife_interval,
    leave_one_out,
    sum_by_cluster,
    t_quantile,
    t_tails,
)


def mean(totals: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return totals[..., 0] / totals[..., 1]


def scores(*values: float) -> np.ndarray:
    return np.array([[v, 1.0] for v in values])


def test_leaving_out_by_hand() -> None:
    assert leave_one_out(scores(1, 0, 0.5), mean) == pytest.approx([0.25, 0.75, 0.5])


@given(st.lists(st.floats(0.01, 0.99), min_size=6, max_size=30))
def test_of_a_mean_it_is_the_usual_standard_error_on_the_logit_scale(values: list[float]) -> None:
    value, n = float(np.mean(values)), len(values)

    def ends(spread: float) -> np.ndarray:
        half = stats.t.ppf(0.975, n - 1) * spread / (value * (1 - value))
        return 1 / (1 + np.exp(-(np.log(value / (1 - value)) + np.array([-half, half]))))

    seen, unseen = ends(stats.sem(values)), ends(np.sqrt(stats.sem(values) ** 2 + (UNSEEN / n) ** 2))
    # What was not seen takes away no more than it does where all documents agree.
    agreeing = stats.beta.ppf(0.025, n, 1)
    expected = max(unseen[0], seen[0] * agreeing), min(unseen[1], 1 - (1 - seen[1]) * agreeing)
    assert jackknife_interval(scores(*values), mean) == pytest.approx(expected, abs=1e-9)


@given(st.integers(6, 20), st.floats(1e-9, 0.01))
def test_a_speck_in_one_document_does_not_widen_the_interval_to_anything(n: int, speck: float) -> None:
    perfect, _ = jackknife_interval(scores(*[1.0] * n), mean)
    low, high = jackknife_interval(scores(*[1.0] * (n - 1), 1 - speck), mean)
    # On the logit scale a half-width of t times the value leaves e^t times the distance from 1 at most.
    assert low >= perfect * (1 - speck / n * np.exp(stats.t.ppf(0.975, n - 1))) - 1e-9
    assert high > 1 - speck / n


@pytest.mark.parametrize("n", range(1, 9))
def test_fewer_than_six_documents_have_no_interval(n: int) -> None:
    """Five of five had a bar from .48 to 1, which looks like a result."""
    assert (jackknife_interval(scores(*[1.0] * n), mean) is None) == (n < 6)
    assert (jackknife_interval(scores(*np.linspace(0.2, 0.9, n)), mean, "positive") is None) == (n < 6)


@given(st.lists(st.floats(0, 1), min_size=6, max_size=12))
def test_it_holds_the_value_and_stays_inside(values: list[float]) -> None:
    low, high = jackknife_interval(scores(*values), mean)
    assert 0 <= low <= np.mean(values) + 1e-12 and np.mean(values) - 1e-12 <= high <= 1
    assert low < high


def test_at_the_ends_the_bound_is_clopper_and_pearsons() -> None:
    low, high = jackknife_interval(scores(*[1.0] * 14), mean)
    assert high == 1 and low == pytest.approx(stats.beta.ppf(0.025, 14, 1))
    # Nothing of fourteen: a document of zeros in both columns adds nothing, one with a denominator does.
    assert jackknife_interval(np.array([[0.0, 1.0]] * 14), mean) == pytest.approx((0, 1 - low))


def test_documents_that_agree_do_not_make_a_point_of_a_rate() -> None:
    sums = np.ones((6, 2))
    low, high = jackknife_interval(sums, mean, "positive") or (1.0, 1.0)
    assert 0.9 < low < 0.97 < 1.03 < high < 1.1


def test_a_rate_of_zero_has_poissons_bound() -> None:
    found = jackknife_interval(np.array([[0.0, 1.0]] * 10), mean, "positive")
    assert found == pytest.approx((0, -np.log(0.025) / 10))


def test_positive_figures_stay_positive() -> None:
    low, high = jackknife_interval(scores(0.1, 9.0, 0.2, 0.1, 0.1, 0.1), mean, "positive")
    assert 0 < low < 1.6 < high


def test_what_is_not_defined_without_a_document_is_not_defined() -> None:
    """All truths lie in one document: without it the figure is not 0, there is none."""
    sums = np.array([[2.0, 2.0], *[[0.1, 0.0]] * 6])
    assert jackknife_interval(sums, mean) is None
    assert interval_from(0.5, np.array([0.5] * 6 + [np.nan])) is None
    assert jackknife_interval(np.zeros((3, 2)), mean) is None


def test_many_documents_are_left_out_in_groups() -> None:
    assert group_documents([""] * 5).tolist() == [0, 1, 2, 3, 4]
    groups = group_documents([""] * 1000)
    assert set(groups) == set(range(200)) and np.bincount(groups).max() == 5


def test_sums_by_cluster() -> None:
    sums, names = sum_by_cluster(scores(0.25, 0.5, 1.0), ["a", "b", "a"])
    assert names == ["a", "b"]
    assert sums.tolist() == [[1.25, 2.0], [0.5, 1.0]]


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 13, 29, 100, 101, 999, 5000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_quantiles_are_scipys(df: int, level: float) -> None:
    from scipy.special import stdtrit

    assert t_quantile(level, df) == pytest.approx(float(stdtrit(df, (1 + level) / 2)), rel=1e-10)
    assert t_tails(-t_quantile(level, df), df) == pytest.approx(1 - level, rel=1e-9)


def test_few_documents_give_no_absurd_upper_end() -> None:
    """All but one without any: the upper end was 164,893 tables per page."""
    low, high = jackknife_interval(np.array([[1.0, 1.0], *[[0.0, 1.0]] * 5]), mean, "positive")
    assert 0 <= low < 0.5 < high < 25
    near = [jackknife_interval(scores(*[1.0 - d, 1.0 + d] * 3), mean, "positive") for d in (0.868, 0.87)]
    assert near[0][1] == pytest.approx(near[1][1], rel=0.02), "no jump where the line begins"
