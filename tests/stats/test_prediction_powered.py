"""Estimates from few labels and many guesses."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.choose.label_order import draw_order, inclusion_probabilities
from parsemark.stats.prediction_powered import estimate_mean, standings, tuned_power


@pytest.mark.parametrize("power", [0.0, 0.4, 1.0])
def test_equal_chances_give_the_estimate_of_the_reference(power: float) -> None:
    ppi = pytest.importorskip("ppi_py")
    rng = np.random.default_rng(3)
    guesses = rng.random(60)
    labelled = rng.permutation(60)[:15]
    labels = np.clip(guesses[labelled] + rng.normal(0.1, 0.2, 15), 0, 1)
    ours = estimate_mean(labels, guesses, labelled, np.full(60, 0.25), power=power)
    theirs = ppi.ppi_mean_pointestimate(labels, guesses[labelled], guesses, lam=power)
    assert ours.value == pytest.approx(float(np.asarray(theirs).item()), abs=1e-12)


def test_by_hand() -> None:
    guesses = np.array([0.2, 0.4, 0.6, 0.8])
    found = estimate_mean(
        np.array([0.5, 0.9]), guesses, np.array([1, 3]), np.array([0.25, 0.5, 0.25, 1.0]), power=1.0
    )
    # residuals .1 and .1, weights 2 and 1: the bias is .1, the mean guess .5
    assert found.value == pytest.approx(0.6)


def test_all_labels_leave_no_doubt_and_need_no_guesses() -> None:
    labels = np.array([0.1, 0.5, 0.9, 1.0])
    found = estimate_mean(labels, np.zeros(4), np.arange(4), np.ones(4))
    assert (found.value, found.low, found.high) == pytest.approx((0.625,) * 3)


def test_useless_guesses_are_not_trusted() -> None:
    rng = np.random.default_rng(0)
    labels, guesses = rng.random(200), rng.random(200)
    assert tuned_power(labels, guesses, guesses, np.ones(200)) < 0.2
    assert tuned_power(labels, labels, labels, np.ones(200)) > 0.9
    assert tuned_power(labels, 1 - labels, 1 - labels, np.ones(200)) == 0


@settings(max_examples=60)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=30), st.integers(1, 30))
def test_chances_add_up_to_the_number_of_labels(sizes: list[float], n_labels: int) -> None:
    size = np.array(sizes) / sum(sizes)
    chances = inclusion_probabilities(size, min(n_labels, len(sizes)))
    assert chances.sum() == pytest.approx(min(n_labels, len(sizes)))
    assert ((chances > 0) & (chances <= 1)).all()


def test_pages_come_first_as_often_as_their_chances_say() -> None:
    size = np.array([1.0, 1.0, 2.0, 4.0])
    first = np.zeros(4)
    for seed in range(4000):
        order = draw_order(size, ["a", "b", "c", "d"], seed)
        first[order.order[0]] += 1
    assert first / 4000 == pytest.approx(order.size, abs=0.03)  # four standard errors
    assert order.inclusion(1) == pytest.approx(order.size, abs=0.03)


def test_pages_of_one_document_do_not_come_in_a_row() -> None:
    documents = ["long"] * 20 + [f"d{k}" for k in range(20)]
    shares = [
        sum(documents[i] == "long" for i in draw_order(np.ones(40), documents, seed).order[:20])
        for seed in range(200)
    ]
    assert np.mean(shares) == pytest.approx(10, abs=0.5)
    assert np.std(shares) < 2.24  # of 20 drawn from 40 at random: sqrt(20 * 20 * 20 / 40 / 39)


def test_the_estimate_is_right_on_average_and_the_interval_covers() -> None:
    """Guesses with a systematic bias, wrong where parsers disagree; pages are labelled where they do."""
    rng = np.random.default_rng(7)
    n = 80
    truth = np.clip(rng.beta(4, 1.5, n), 0, 1)
    doubt = rng.beta(0.6, 2, n)
    guesses = np.clip(truth - 0.1 + doubt * rng.normal(0, 0.3, n), 0, 1)
    values, covered = [], []
    for seed in range(400):
        order = draw_order(doubt, list(range(n)), seed)
        used = order.order[:12]
        found = estimate_mean(truth[used], guesses, used, order.inclusion(12), bounds=(0, 1))
        values.append(found.value)
        covered.append(found.low <= truth.mean() <= found.high)
    assert np.mean(values) == pytest.approx(truth.mean(), abs=0.01)
    assert np.mean(covered) > 0.93
    classical = [truth[rng.permutation(n)[:12]].mean() for _ in range(400)]
    assert np.var(values) < np.var(classical) / 2


def test_without_labels_there_is_a_guess_and_no_interval() -> None:
    found = estimate_mean(
        np.array([]), np.array([0.2, 0.4]), np.array([], dtype=int), np.ones(2), bounds=(0, 1)
    )
    assert found.value == pytest.approx(0.3)
    assert (found.low, found.high) == (0, 1)


def test_the_same_seed_gives_the_same_order() -> None:
    size = np.linspace(0.1, 1, 30)
    orders = [tuple(draw_order(size, [k // 3 for k in range(30)], seed).order) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert all(sorted(order) == list(range(30)) for order in itertools.islice(orders, 3))


def test_standings_draw_corrections_together_and_end_at_the_means() -> None:
    rng = np.random.default_rng(3)
    truth = np.clip(np.array([[0.8], [0.75], [0.3]]) + 0.2 * rng.standard_normal((3, 60)), 0, 1)
    guesses = truth - 0.2 + 0.05 * rng.standard_normal(truth.shape)
    everything = np.arange(60)
    assert np.allclose(standings(truth, guesses, everything, np.ones(60)), truth.mean(axis=1))
    few = everything[:4]
    chances = np.full(60, 4 / 60)
    noisy = truth[:, few] + np.array([[-0.1], [0.1], [0.0]])  # bad luck with the labels
    drawn = standings(noisy, guesses, few, chances)
    corrections = (noisy - guesses[:, few]).mean(axis=1)
    shift = drawn - guesses.mean(axis=1)
    assert np.ptp(shift) < np.ptp(corrections)
    assert np.isclose(shift.mean(), corrections.mean(), atol=0.05)
