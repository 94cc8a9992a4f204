"""Agreement, families and competence: clones must not win."""

from dataclasses import replace

import numpy as np
import pytest

from parsemark.consensus.agreement import ParserAgreement, competence, measure_agreement, numbered
from parsemark.model import Cell, Element, Prediction, Status, Table
from parsemark.parsers.catalogue import engine_of

N_PAGES = 60


def world(
    accuracy: dict[str, float], clones: dict[str, str], seed: int = 0
) -> tuple[ParserAgreement, np.ndarray]:
    """Parsers that are right on a page with their accuracy, and each wrong in its own way; clones copy."""
    rng = np.random.default_rng(seed)
    answers = {
        name: np.where(rng.random(N_PAGES) < a, 0, rng.integers(1, 10**6, N_PAGES))
        for name, a in accuracy.items()
    }
    answers |= {name: answers[of] for name, of in clones.items()}
    names = tuple(answers)
    stacked = np.array([answers[name] for name in names])
    likeness = (stacked[:, None] == stacked[None, :]).astype(float)
    return ParserAgreement(names, tuple(map(str, range(N_PAGES))), likeness), (stacked == 0).mean(axis=1)


@pytest.mark.parametrize("n_clones", [0, 1, 3])
@pytest.mark.parametrize("of", ["good", "fair", "bad"])
def test_clones_do_not_change_who_is_best(of: str, n_clones: int) -> None:
    accuracy = {"good": 0.9, "fair": 0.7, "so-so": 0.6, "weak": 0.5, "bad": 0.3}
    agreement, right = world(accuracy, {f"clone{k}": of for k in range(n_clones)})
    guesses = agreement.guesses().mean(axis=1)
    assert agreement.parsers[int(guesses.argmax())] in {
        "good",
        *({"clone0", "clone1", "clone2"} if of == "good" else ()),
    }
    assert np.corrcoef(guesses, right)[0, 1] > 0.9
    families = {frozenset(family) for family in agreement.families()}
    assert frozenset({of, *(f"clone{k}" for k in range(n_clones))}) in families


def test_good_parsers_that_agree_because_they_are_right_are_no_family() -> None:
    agreement, _ = world({"a": 0.97, "b": 0.97, "c": 0.97, "d": 0.5}, {})
    assert all(len(family) == 1 for family in agreement.families())


def test_a_declared_engine_is_one_family() -> None:
    parsers = ("pymupdf", "pymupdf4llm(x=1)", "camelot")
    engines = {parser: engine_of(parser) for parser in parsers}
    agreement = ParserAgreement(parsers, ("p",), np.full((3, 3, 1), 0.1), engines)
    assert ("pymupdf", "pymupdf4llm(x=1)") in agreement.families()


def test_competence_orders_by_accuracy() -> None:
    agreement, right = world({"a": 0.9, "b": 0.75, "c": 0.6, "d": 0.4}, {})
    assert list(np.argsort(-agreement.competence())) == list(np.argsort(-right))


def test_who_was_never_compared_has_half_a_vote_and_changes_nobody_else() -> None:
    nan = np.nan
    alike = np.array([[1, 0.9, 0.9], [0.9, 1, 0.9], [0.9, 0.9, 1]])
    with_stranger = np.full((4, 4), nan)
    with_stranger[:3, :3] = alike
    np.fill_diagonal(with_stranger, 1)
    known = competence(alike, numbered("abc"))
    assert competence(with_stranger, numbered("abcd")) == pytest.approx([*known, 0.5])


def test_clones_weigh_as_one_vote() -> None:
    alike = np.array([[1, 0.8, 0.2], [0.8, 1, 0.4], [0.2, 0.4, 1]])
    cloned = alike[np.ix_([0, 1, 2, 2, 2], [0, 1, 2, 2, 2])]
    once = competence(alike, numbered("abc"))
    assert competence(cloned, numbered("abccc")) == pytest.approx(once[[0, 1, 2, 2, 2]])
    assert competence(cloned, numbered("abcde"))[2] > once[2]


def prediction(parser: str, *tables: str, status: Status = Status.OK) -> Prediction:
    elements = tuple(
        Element(f"t{k}", "table", table=Table(1, 1, (Cell(0, 0, text),))) for k, text in enumerate(tables)
    )
    return Prediction("s", parser, status, elements, text=" ".join(tables))


def test_likeness_of_outputs() -> None:
    predictions = {
        ("s", "a"): prediction("a", "one", "two"),
        ("s", "b"): prediction("b", "one", "two"),
        ("s", "half"): prediction("half", "one"),
        ("s", "none"): prediction("none"),
        ("s", "none2"): prediction("none2"),
        ("s", "failed"): prediction("failed", status=Status.PARSER_FAILED),
    }
    names = [parser for _, parser in predictions]
    likeness = measure_agreement(predictions, names, ["s"], {}).likeness[:, :, 0]
    assert likeness[0, 1] == 1
    assert likeness[0, 2] == pytest.approx(2 / 3)
    assert likeness[0, 3] == 0
    assert likeness[3, 4] == 1
    assert (likeness[5, :5] == 0).all()
    text = measure_agreement(predictions, names, ["s"], {}, text=True).likeness[:, :, 0]
    assert text[0, 1] == 1 and 0 < text[0, 2] < 1


def test_what_a_parser_does_not_believe_itself_does_not_count() -> None:
    sure = prediction("a", "one")
    guess = replace(sure.elements[0], id="guess", confidence=0.1)
    hedging = replace(sure, parser="b", elements=(replace(sure.elements[0], confidence=0.9), guess))
    likeness = measure_agreement({("s", "a"): sure, ("s", "b"): hedging}, ["a", "b"], ["s"], {}).likeness
    assert likeness[0, 1, 0] == 1


def test_a_page_on_which_all_agree_is_not_in_doubt() -> None:
    agreement, _ = world({"a": 0.9, "b": 0.7, "c": 0.6}, {})
    doubt = agreement.doubt()
    alike = (agreement.likeness == 1).all(axis=(0, 1))
    assert (doubt[alike] == 0).all() and (doubt[~alike] > 0).all()
