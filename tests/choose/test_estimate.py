"""Estimates from few labels and many guesses, in the form of a leaderboard's figures."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from parsemark.choosing.estimate import centred, estimated_figure, power
from parsemark.choosing.label_order import draw_order, inclusion_probabilities
from parsemark.protocols.run_scores.aggregate import figure_of, mean_statistic
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.store.run_tables import Places
from parsemark.store.summary import FigureInfo

Floats = NDArray[np.float64]
INFO = FigureInfo(name="f", label="F", definition="", denominator="pages")


def estimated(
    labels: Floats, guesses: Floats, labelled: Sequence[int], chances: Floats, documents: Sequence[str] = ()
) -> FigureSums:
    """The mean over pages, by default each a document of its own."""
    names = [f"s{k:03d}" for k in range(len(guesses))]
    documents = documents or names
    sums = np.stack([labels, np.ones(len(labels))], axis=1)
    own = tuple(names[k] for k in labelled), tuple(documents[k] for k in labelled)
    figure = FigureSums(INFO, *own, {"p": sums}, mean_statistic)
    added = {"p": centred(guesses, np.ones(len(guesses)))}
    return estimated_figure(figure, Places(tuple(names), tuple(documents)), chances, added)


def value(figure: FigureSums) -> float:
    found = figure_of(figure, "p").value
    assert found is not None
    return found


def test_equal_chances_give_the_estimate_of_the_reference() -> None:
    ppi = pytest.importorskip("ppi_py")
    rng = np.random.default_rng(3)
    guesses = rng.random(60)
    labelled = np.sort(rng.permutation(60)[:15])
    labels = np.clip(guesses[labelled] + rng.normal(0.1, 0.2, 15), 0, 1)
    ours = value(estimated(labels, guesses, labelled.tolist(), np.full(60, 0.25)))
    trust = power(labels, guesses[labelled], guesses, np.ones(15))
    theirs = ppi.ppi_mean_pointestimate(labels, guesses[labelled], guesses, lam=trust)
    assert 0.5 < trust < 1
    assert ours == pytest.approx(float(np.asarray(theirs).item()), abs=1e-9)


def test_labels_weigh_by_the_inverse_of_their_chances() -> None:
    guesses = np.full(4, 0.5)  # which tell nothing
    found = estimated(np.array([0.3, 0.9]), guesses, [1, 3], np.array([0.25, 0.5, 0.25, 1.0]))
    assert value(found) == pytest.approx((2 * 0.3 + 0.9) / 3)


def test_all_labels_leave_the_figure_as_it_is() -> None:
    labels = np.array([0.1, 0.5, 0.9, 1.0])
    found = estimated(labels, np.linspace(0, 1, 4), range(4), np.full(4, 0.7))
    assert value(found) == pytest.approx(0.625)
    assert found.sums["p"].shape == (4, 2)


def test_documents_without_labels_do_not_make_the_labelled_ones_more() -> None:
    """Three labelled documents of thirty are three, for which there is no interval."""
    guesses = np.random.default_rng(0).random(30)
    found = estimated(guesses[:3], guesses, range(3), np.full(30, 0.1))
    assert set(found.documents) == {"s000", "s001", "s002"}
    assert figure_of(found, "p").value is not None and figure_of(found, "p").interval is None
    assert figure_of(estimated(guesses[:12], guesses, range(12), np.full(30, 0.4)), "p").interval is not None


def test_useless_guesses_are_not_trusted() -> None:
    rng = np.random.default_rng(0)
    labels, guesses = rng.random(200), rng.random(200)
    assert power(labels, guesses, guesses, np.ones(200)) < 0.2
    assert power(labels, labels, labels, np.ones(200)) > 0.9
    assert power(labels, 1 - labels, 1 - labels, np.ones(200)) == 0


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
    assert inclusion_probabilities(order.size, 1) == pytest.approx(order.size, abs=0.03)


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
    values, covered, classical = [], [], []
    for seed in range(400):
        truth = rng.beta(4, 1.5, 80)
        doubt = rng.beta(0.6, 2, 80)
        guesses = np.clip(truth - 0.1 + doubt * rng.normal(0, 0.3, 80), 0, 1)
        order = draw_order(doubt, list(range(80)), seed)
        used = np.sort(order.order[:12])
        found = figure_of(
            estimated(truth[used], guesses, used.tolist(), inclusion_probabilities(order.size, 12)), "p"
        )
        assert found.value is not None and found.low is not None and found.high is not None
        values.append(found.value)
        covered.append(found.low <= 4 / 5.5 <= found.high)
        classical.append(truth[rng.permutation(80)[:12]].mean())
    assert np.mean(values) == pytest.approx(4 / 5.5, abs=0.01)
    assert 0.93 < np.mean(covered) < 0.99
    assert np.var(values) < np.var(classical) / 1.5


def test_the_same_seed_gives_the_same_order() -> None:
    size = np.linspace(0.1, 1, 30)
    orders = [tuple(draw_order(size, [k // 3 for k in range(30)], seed).order) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert all(sorted(order) == list(range(30)) for order in itertools.islice(orders, 3))
