from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from parsemark.stats.intervals import t_quantile
from parsemark.stats.paired_test import UNSEEN_APART, Contrast, contrasts, rank_intervals


def mean(totals: np.ndarray) -> np.ndarray:
    return totals[..., 0] / totals[..., 1]


def scores(*values: float) -> np.ndarray:
    return np.array([[v, 1.0] for v in values])


def test_one_pair_is_the_paired_t_test() -> None:
    """For a mean, the jackknife is the usual standard error; with one pair max-t is |t|."""
    rng = np.random.default_rng(2)
    a, b = rng.random(20), rng.random(20) + 0.15
    (found,) = contrasts({"a": scores(*a), "b": scores(*b)}, mean, [("a", "b")])
    expected = stats.ttest_rel(a, b)
    assert found.difference == pytest.approx(np.mean(a - b))
    assert found.p == pytest.approx(expected.pvalue, abs=0.01)
    low, high = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)


def test_all_pairs_are_wider_than_one() -> None:
    rng = np.random.default_rng(3)
    sums = {name: scores(*rng.random(15)) for name in "abcdef"}
    (alone,) = contrasts(sums, mean, [("a", "b")])
    together = contrasts(sums, mean, list(combinations(sums, 2)))[0]
    assert together.high - together.low > 1.2 * (alone.high - alone.low)
    assert together.p >= alone.p


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(6, 20), st.integers(2, 5))
def test_p_and_interval_say_the_same(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    sums = {str(k): scores(*rng.random(n)) for k in range(m)}
    for c in contrasts(sums, mean, list(combinations(sums, 2))):
        assert (c.p < 0.0499) <= (c.low > 0 or c.high < 0)
        assert (c.p > 0.0503) <= (c.low <= 0 <= c.high)
        assert c.low < c.difference < c.high


def test_turning_a_pair_turns_the_sign() -> None:
    rng = np.random.default_rng(5)
    sums = {"a": scores(*rng.random(9)), "b": scores(*rng.random(9))}
    (there,), (back,) = (contrasts(sums, mean, [pair]) for pair in (("a", "b"), ("b", "a")))
    assert (there.difference, there.low, there.p) == pytest.approx((-back.difference, -back.high, back.p))


def test_identical_contestants_are_equal_as_far_as_documents_were_drawn() -> None:
    """What may be unseen is all that is left: the limit of contestants that differ less and less."""
    rng = np.random.default_rng(8)
    for n in (11, 12, 42):
        values, noise = rng.random(n) * 0.9, rng.random(n)
        same = scores(*values)
        (found,) = contrasts({"a": same, "b": same}, mean, [("a", "b")])
        assert (found.difference, found.p) == (0, 1) and found.low == -found.high
        assert found.high == pytest.approx(t_quantile(0.95, n - 1) * UNSEEN_APART / n)
        (near,) = contrasts({"a": same, "b": scores(*(values + 1e-7 * noise))}, mean, [("a", "b")])
        # The patterns of signs of few documents are few: their critical value is near Student's, not his.
        assert near.high == pytest.approx(found.high, rel=0.1)
        assert (found.high <= 0.05) == (n >= 12)


def test_a_copy_among_others_is_equal_and_does_not_change_their_verdicts() -> None:
    rng = np.random.default_rng(9)
    a, b = scores(*rng.random(14)), scores(*rng.random(14))
    alone = contrasts({"a": a, "b": b}, mean, [("a", "b")])[0]
    with_copy = contrasts({"a": a, "b": b, "copy": a}, mean, [("a", "b"), ("a", "copy"), ("copy", "b")])
    assert with_copy[0].high == pytest.approx(alone.high) and with_copy[2].p == with_copy[0].p
    assert with_copy[1].high is not None and 0 < with_copy[1].high < 0.05
    assert [found.is_equal for found in with_copy] == [False, True, False]


def test_equal_is_what_agrees_on_every_document_not_in_the_mean() -> None:
    for n in (1, 3, 20):
        same = scores(*[0.25] * n)
        assert contrasts({"a": same, "b": same.copy()}, mean, [("a", "b")])[0].is_equal
    (swapped,) = contrasts({"a": scores(0.2, 0.8, 0.5), "b": scores(0.8, 0.2, 0.5)}, mean, [("a", "b")])
    assert swapped.difference == 0 and not swapped.is_equal
    nothing = np.zeros((3, 2))
    assert not contrasts({"a": nothing, "b": nothing}, mean, [("a", "b")])[0].is_equal, "no value at all"


def test_what_was_not_drawn_is_in_proportion_where_there_is_no_upper_end() -> None:
    costs = scores(0.002, 0.003, 0.002, 0.004, 0.003, 0.002)
    (found,) = contrasts({"a": costs, "b": costs}, mean, [("a", "b")], bounds="positive")
    assert found.high is not None and 0 < found.high < 0.001


def test_the_same_difference_everywhere_is_as_sure_as_the_sign_test() -> None:
    few = contrasts({"a": scores(*[0.9] * 6), "b": scores(*[0.5] * 6)}, mean, [("a", "b")])[0]
    many = contrasts({"a": scores(*[0.9] * 20), "b": scores(*[0.5] * 20)}, mean, [("a", "b")])[0]
    assert few.p == 2**-5 and few.low > 0
    assert many.p == 2**-19 and many.low > 0


def test_one_document_says_nothing() -> None:
    (found,) = contrasts({"a": scores(0.9), "b": scores(0.1)}, mean, [("a", "b")])
    assert (found.low, found.high, found.p) == (None, None, 1)


def test_documents_that_add_nothing_do_not_count() -> None:
    rng = np.random.default_rng(6)
    a, b, nothing = scores(*rng.random(8)), scores(*rng.random(8)), np.zeros((30, 2))
    plain = contrasts({"a": a, "b": b}, mean, [("a", "b")])[0]
    padded = {"a": np.concatenate([a, nothing]), "b": np.concatenate([b, nothing])}
    assert contrasts(padded, mean, [("a", "b")])[0] == plain


def test_ranks_follow_from_the_intervals() -> None:
    def c(a: str, b: str, low: float, high: float) -> Contrast:
        return Contrast(a, b, (low + high) / 2, low, high, 0.5, 9)

    found = [c("x", "y", -0.1, 0.3), c("x", "z", 0.1, 0.4), c("y", "z", -0.1, 0.2)]
    assert rank_intervals(["x", "y", "z"], found) == {"x": (1, 2), "y": (1, 3), "z": (2, 3)}


@pytest.mark.parametrize("spread", [0.0, 1e-9, 0.001])
@pytest.mark.parametrize("n", [3, 5, 6, 14])
def test_few_documents_that_agree_resolve_nothing(n: int, spread: float) -> None:
    """Whether they agree exactly or nearly makes no difference."""
    ones = np.ones(n)
    good = np.stack([ones - spread * np.arange(n) / n, ones], axis=1)
    (found,) = contrasts({"a": good, "b": np.stack([0 * ones, ones], axis=1)}, mean, [("a", "b")])
    assert found.p >= 2.0 ** (1 - n)
    assert (found.p < 0.05) == (found.low is not None and found.low > 0) == (n >= 6)
    assert (found.low is None) == (found.high is None) == (n < 6)


def f1(totals: np.ndarray) -> np.ndarray:
    return 2 * totals[..., 2] / (totals[..., 0] + totals[..., 1])


def dominated(n: int, seed: int, effect: float = 0.0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Six parsers on documents one of which holds half of all tables; the first is better by `effect`."""
    rng = np.random.default_rng(seed)
    tables = 1.0 + rng.poisson(2.0, n)
    tables[0] = tables[1:].sum()
    sums = {}
    for name in "abcdef":
        hits = rng.binomial(tables.astype(int), np.clip(rng.beta(2.1, 0.9, n) + effect * (name == "a"), 0, 1))
        sums[name] = np.stack([tables, hits + rng.poisson(0.2 * tables), hits], axis=1)
    return sums, tables


def test_one_document_that_holds_half_of_all_tables_makes_no_false_verdicts() -> None:
    """Student's t with n − 1 degrees of freedom is wrong in 15 to 24 % of such runs."""
    wrong = 0
    for seed in range(150):
        sums, tables = dominated(20, seed)
        found = contrasts(sums, f1, list(combinations(sums, 2)), weights=tables)
        wrong += any(c.p < 0.05 for c in found)
    assert wrong <= 15, "10 % of 150 runs; 5 % are expected"


def test_a_document_alone_decides_nothing() -> None:
    """All others agree that there is no difference, and the interval says that much more is possible."""
    tables = np.array([100.0] + [1.0] * 19)
    a, b = (np.stack([tables * share, tables], axis=1) for share in (1.0, 1.0))
    b[0, 0] = 0.0
    (found,) = contrasts({"a": a, "b": b}, mean, [("a", "b")], weights=tables)
    assert found.difference > 0.8 and found.p > 0.9 and found.low < 0


def test_all_patterns_of_signs_by_hand() -> None:
    """Six documents, 32 patterns: p is the share of those that make as large a sum."""
    rng = np.random.default_rng(4)
    gaps = rng.normal(0.2, 0.3, 6)
    a, b = 0.5 + gaps / 2, 0.5 - gaps / 2
    (found,) = contrasts({"a": scores(*a), "b": scores(*b)}, mean, [("a", "b")])
    added = gaps / 6  # influence and share of the difference together
    spread = np.sqrt(np.sum(added**2))
    patterns = np.array([[1, *(1 - 2 * (k >> j & 1) for j in range(5))] for k in range(32)])
    seen = abs(added.sum()) / np.hypot(spread, UNSEEN_APART / 6)
    assert found.p == pytest.approx(np.mean(np.abs(patterns @ added) / spread >= seen - 1e-9))


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(6, 16))
def test_documents_of_no_share_and_the_order_of_documents_change_nothing(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    tables = rng.integers(1, 9, n).astype(float)
    sums = {name: np.stack([tables * rng.random(n), tables], axis=1) for name in "ab"}
    (plain,) = contrasts(sums, mean, [("a", "b")], weights=tables)
    padded = {name: np.concatenate([own, np.zeros((3, 2))]) for name, own in sums.items()}
    (with_more,) = contrasts(padded, mean, [("a", "b")], weights=np.concatenate([tables, np.zeros(3)]))
    assert with_more == plain


def test_many_documents_agree_with_signs() -> None:
    """Beyond `MANY_DOCUMENTS` the signs are not drawn: what they give is normal."""
    import parsemark.stats.paired_test as comparison

    rng = np.random.default_rng(1)
    n = comparison.MANY_DOCUMENTS + 1
    sums = {name: scores(*rng.random(n)) for name in "abc"}
    pairs = list(combinations(sums, 2))
    many = contrasts(sums, mean, pairs)
    few = contrasts({name: own[:-1] for name, own in sums.items()}, mean, pairs)
    for c, d in zip(many, few, strict=True):
        assert c.high - c.low == pytest.approx(d.high - d.low, rel=0.05)
