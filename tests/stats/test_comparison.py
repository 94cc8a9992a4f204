from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.stats import comparison
from parsemark.stats.bootstrap import bootstrap_interval, cluster_weights, sum_by_cluster
from parsemark.stats.comparison import compare_all, holm, permutation_p, rank_intervals


def mean(totals: np.ndarray) -> np.ndarray:
    return totals[..., 0] / totals[..., 1]


def scores(*values: float) -> np.ndarray:
    return np.array([[v, 1.0] for v in values])


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=6))
def test_exact_permutation_equals_enumeration(pairs: list[tuple[int, int]]) -> None:
    a, b = scores(*(x for x, _ in pairs)), scores(*(y for _, y in pairs))
    observed = abs(sum(x - y for x, y in pairs))
    signs = list(product([1, -1], repeat=len(pairs)))
    extreme = sum(
        abs(sum(s * (x - y) for s, (x, y) in zip(sign, pairs, strict=True))) >= observed for sign in signs
    )
    assert permutation_p(a, b, mean) == pytest.approx(extreme / len(signs))


def test_random_permutation_agrees_with_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    a, b = scores(*rng.random(12)), scores(*(rng.random(12) + 0.2))
    exact = permutation_p(a, b, mean)
    monkeypatch.setattr(comparison, "EXACT_UP_TO", 0)
    assert permutation_p(a, b, mean) == pytest.approx(exact, abs=0.02)


def test_identical_contestants_are_never_different() -> None:
    same = scores(0.1, 0.9, 0.4)
    (test,) = compare_all({"a": same, "b": same}, mean)
    assert test.p == 1
    assert test.difference == 0
    assert not test.significant


def test_a_clear_difference_is_significant() -> None:
    a, b = scores(*[0.9] * 20), scores(*[0.5] * 20)
    (test,) = compare_all({"a": a, "b": b}, mean)
    assert test.significant
    assert test.difference == pytest.approx(0.4)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm_only_raises_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(c >= p or c == 1 for c, p in zip(corrected, p_values, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(corrected)[order]) >= 0)


def test_ranks_of_clear_cases() -> None:
    ranks = rank_intervals({"low": scores(*[0.1] * 9), "high": scores(*[0.9] * 9)}, mean)
    assert ranks == {"low": (2, 2), "high": (1, 1)}


def test_ties_share_the_best_rank() -> None:
    same = scores(*np.linspace(0, 1, 9))
    assert rank_intervals({"a": same, "b": same}, mean) == {"a": (1, 1), "b": (1, 1)}


@settings(max_examples=20)
@given(st.integers(1, 40))
def test_bootstrap_weights_draw_as_many_as_there_are(n: int) -> None:
    assert np.all(cluster_weights(n, 50).sum(axis=1) == n)


def test_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(100):
        interval = bootstrap_interval(scores(*rng.normal(1.0, 1.0, 40)), mean)
        assert interval is not None
        hits += interval[0] <= 1.0 <= interval[1]
    assert 86 <= hits <= 100


def test_clusters_are_summed_in_order_of_appearance() -> None:
    sums, names = sum_by_cluster(np.array([[1.0], [2.0], [4.0]]), ["x", "y", "x"])
    assert names == ["x", "y"]
    assert sums[:, 0].tolist() == [5, 2]
