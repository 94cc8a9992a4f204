from itertools import combinations

import numpy as np
import pytest

from parsemark.stats.clusters import contrasts_over_kinds, find_kinds, influences
from parsemark.stats.intervals import effective_df, influence, jackknife_interval, normalised, t_quantile


def mean(totals: np.ndarray) -> np.ndarray:
    return totals[..., 0] / totals[..., 1]


def run(
    n: int, n_kinds: int, effect: float, seed: int, names: str = "abcdef"
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Scores of equal parsers, each good on some kinds and bad on others."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, n_kinds, n)
    sums = {}
    for name in names:
        values = rng.normal(0.5, 0.1, n) + rng.normal(0, effect, n_kinds)[kinds]
        sums[name] = np.stack([values, np.ones(n)], axis=1)
    return sums, [f"kind {k}" for k in kinds]


def test_four_templates_give_no_false_verdicts_and_say_so() -> None:
    wrong = 0
    for seed in range(40):
        sums, kinds = run(40, 4, 0.2, seed)
        pairs = list(combinations(sums, 2))
        found = contrasts_over_kinds(sums, mean, pairs, np.ones(40), {"template": kinds})
        wrong += any(c.p < 0.05 for c in found.found)
        assert found.kinds is not None and found.kinds.are_few and found.kinds.attribute == "template"
        assert any(c.p < 0.05 for c in found.here or []), "about these four they say something"
    assert wrong == 0


def test_many_kinds_are_witnesses() -> None:
    """With twelve kinds a difference that is there on all of them is resolved, over kinds."""
    sums, kinds = run(60, 12, 0.2, 1)
    sums["a"][:, 0] += 0.6
    found = contrasts_over_kinds(sums, mean, list(combinations(sums, 2)), np.ones(60), {"source": kinds})
    assert found.kinds is not None and not found.kinds.are_few
    assert all(c.p < 0.05 and c.n_documents == 12 for c in found.found if "a" in (c.a, c.b))


def test_kinds_that_make_no_difference_are_seen_as_rarely_as_said() -> None:
    seen = sum(
        contrasts_over_kinds(sums, mean, list(combinations(sums, 2)), np.ones(30), {"maker": kinds}).kinds
        is not None
        for sums, kinds in (run(30, 4, 0.0, seed) for seed in range(120))
    )
    assert 12 <= seen <= 48, "a quarter of 120 runs"


def test_the_division_that_matters_most_is_taken() -> None:
    sums, kinds = run(60, 8, 0.3, 3)
    other = [f"c{k % 5}" for k in range(60)]
    own = influences(list(sums.values()), mean)
    shares = normalised(np.ones(60))
    found = find_kinds(own, shares, {"maker": other, "source": kinds})
    assert found is not None and found.attribute == "source"
    assert found.effect > 2 and found.p < 0.01
    assert find_kinds(own, shares, {"all": ["x"] * 60, "each": [str(k) for k in range(60)]}) is None


def test_influences_of_a_ratio_by_hand_add_up_to_nothing() -> None:
    sums = np.array([[3.0, 4.0], [1.0, 4.0], [2.0, 2.0]])
    found = influence(sums, mean)
    assert found == pytest.approx([(3 - 0.6 * 4) / 10, (1 - 0.6 * 4) / 10, (2 - 0.6 * 2) / 10], abs=1e-8)
    assert found.sum() == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(
    ("weights", "expected"), [([1] * 14, 13), ([1, 1], 1), ([20] + [1] * 20, 1), ([3, 3, 3, 3, 1, 1], 3)]
)
def test_degrees_of_freedom(weights: list[float], expected: int) -> None:
    """(Σw²)² / Σw⁴ − 1: of four documents of 3 and two of 1, 38²/326 − 1 = 3.4."""
    assert effective_df(normalised(np.array(weights, dtype=float))) == expected


def test_a_document_that_holds_most_leaves_one_degree_of_freedom() -> None:
    rng = np.random.default_rng(0)
    tables = np.array([100.0] + [1.0] * 20)
    sums = np.stack([tables * np.clip(rng.normal(0.6, 0.1, 21), 0, 1), tables], axis=1)
    plain, honest = jackknife_interval(sums, mean), jackknife_interval(sums, mean, weights=tables)
    assert plain and honest
    assert honest[0] < plain[0] and honest[1] > plain[1]
    logits = [np.log(e / (1 - e)) for e in (*plain, *honest)]
    ratio = (logits[3] - logits[2]) / (logits[1] - logits[0])
    assert ratio == pytest.approx(t_quantile(0.95, 1) / t_quantile(0.95, 20), rel=0.01)
