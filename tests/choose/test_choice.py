"""The choice itself, on runs of workers that are made for it."""

from pathlib import Path

import numpy as np
import pytest
from tests.corpora.small_files import make_pdf
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.choose import Choice, ParserCandidate, choose, in_words, next_step
from parsemark.choose.choice import LOOK_EVERY, UsableLabels, easiest_first, usable_labels
from parsemark.choose.label_order import LabelOrder
from parsemark.corpora import load_corpus
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.errors import UnknownNameError
from parsemark.model import Element, Prediction, Table
from parsemark.stats.prediction_powered import Estimate


def test_parsers_that_give_the_same_are_not_told_apart(tmp_path: Path) -> None:
    """No label separates them, so none is asked for."""
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 6)
    parsers = [FakeParser("one"), FakeParser("two")]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    choice = choose(run, budget=4)
    # Which of them comes first is a matter of the CPU time that was measured.
    (other,) = choice.same_as_best
    assert {choice.best.parser, other} == {"one", "two"} and choice.certain
    words = " ".join(in_words(choice))
    assert f"{other} gives the same as {choice.best.parser} on all 6 pages" in words
    assert f"Level with it: {other}" in words
    assert "not certain" not in words and "would tell" not in words
    assert next_step(choice, "folder:x", "run")[0] == "Use it:"


def test_a_family_has_one_vote_together(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 3)
    # Two of them are known to share an engine.
    parsers = [FakeParser("pymupdf"), FakeParser("pymupdf4llm"), FakeParser("three")]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    said = "pymupdf, pymupdf4llm have one vote together, because they make the same errors."
    assert choose(run, budget=3).notes[0] == said


@pytest.mark.parametrize(
    ("more", "said"), [(1, "About 1 more labelled page would"), (7, "About 7 more labelled pages would")]
)
def test_a_single_label_is_one_and_names_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch, more: int, said: str
) -> None:
    monkeypatch.setattr("parsemark.choose.answer.labels_needed", lambda *_: more)
    behind = Estimate(-0.2, -0.3, 0.1, 0.1, 10, 0.5)
    first, second = (
        ParserCandidate(name, (name,), 0.7, Estimate(0.8, 0.7, 0.9, 0.05, 10, 0.5), gap, 1.0, None, 0)
        for name, gap in (("Mine", None), ("Theirs", behind))
    )
    labelled = tuple(f"p{k}" for k in range(10))
    choice = Choice("tables", "TE F1", (first, second), 30, 5, labelled, (), 10, False, ())
    assert f"{said} tell Theirs from Mine with 95 % certainty" in " ".join(in_words(choice))


def _candidate(name: str, guess: float, gap: Estimate | None, cpu_s: float) -> ParserCandidate:
    return ParserCandidate(name, (name,), guess, Estimate(0.8, 0.7, 0.9, 0.05, 10, 0.5), gap, cpu_s, None, 0)


def test_a_cheaper_parser_of_which_nothing_is_known_is_not_offered() -> None:
    best = _candidate("dear", 0.8, None, 10.0)
    unknown = _candidate("unknown", 0.8, Estimate(-0.3, -1.0, 0.0, 0.3, 10, 0.5), 0.1)
    near = _candidate("near", 0.8, Estimate(-0.02, -0.06, 0.01, 0.02, 10, 0.5), 0.1)
    choice = Choice("tables", "TE F1", (best, unknown, near), 30, 5, (), (), 10, True)
    words = " ".join(in_words(choice))
    assert "near is 100 times cheaper and loses 0.00 to 0.06" in words and "unknown is" not in words


def _labels(known: list[int], budget: int = 6) -> UsableLabels:
    order = LabelOrder(np.arange(8), np.full(8, 1 / 8))
    return usable_labels(order, np.isin(np.arange(8), known), budget)


def test_labels_out_of_turn_stand_for_themselves() -> None:
    labels = _labels([0, 1, 2, 5])
    assert labels.pages.tolist() == [0, 1, 2, 5] and labels.n_out_of_turn == 1 and not labels.as_if_drawn
    assert labels.inclusion[5] == 1
    assert labels.inclusion[0] == pytest.approx(3 / 7)  # drawn among the others


def test_without_labels_in_turn_all_count_as_if_drawn() -> None:
    labels = _labels([3, 4, 6])
    assert labels.pages.tolist() == [3, 4, 6] and labels.as_if_drawn
    assert labels.inclusion[3] == pytest.approx(3 / 8)
    assert not _labels([0, 1, 2]).as_if_drawn and _labels([0, 1, 2, 7], budget=3).n_out_of_turn == 0


def test_the_order_follows_the_figure_that_is_shown(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "wrong", "fine", "crash", "fine", "fine"])
    parsers = [FakeParser("one"), FakeParser("two"), FakeParser("three")]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    choice = choose(run, budget=4)
    shown = [candidate.value for candidate in choice.candidates]
    assert shown == sorted(shown, reverse=True)
    for c in choice.candidates:
        assert c.estimate is not None and c.estimate.low <= c.value <= c.estimate.high
    first = choice.labelled[0]
    without = choose(run, budget=4, skip=[first])
    assert first not in without.labelled and without.n_pages == 5
    assert "1 page skipped: the answer is about the others." in without.notes
    with pytest.raises(UnknownNameError):
        choose(run, skip=["nosuch"])


def test_the_first_page_to_label_is_an_easy_one() -> None:
    def given(rows: int) -> Prediction:
        table = Table.from_rows([["a", "b"]] * rows)
        return Prediction("s", "p", elements=(Element("e", "table", table=table),) if rows else ())

    pages = {"large": 90, "none": 0, "small": 4, "later": 1, "middle": 20, "x": 50}
    predictions = {(page, "p"): given(rows) for page, rows in pages.items()}
    order = ["large", "none", "small", "middle", "x", "later"]
    assert easiest_first(order, predictions, ["p"]) == ["small", "middle", "x", "large", "none", "later"]


@pytest.mark.parametrize(
    ("value", "error", "n_labels", "said", "apart"),
    [
        (
            -0.10,
            0.1,
            10,
            "About 55 more labelled pages would tell b from a",
            "0.10",
        ),
        (
            0.10,
            0.1,
            10,
            "About 55 more labelled pages would tell b from a",
            "0.10",
        ),  # it may be ahead in the end
        (
            -0.001,
            0.1,
            10,
            "Labels of all 200 pages would tell b from a",
            "0.001",
        ),
        (-0.1, float("inf"), 2, "", ""),
        (-0.1, 0.1, 200, "", ""),
    ],
)
def test_what_more_labels_would_tell_is_said_only_where_it_is_known(
    value: float, error: float, n_labels: int, said: str, apart: str
) -> None:
    gap = Estimate(value, value - 0.3, value + 0.3, error, n_labels, 0.5)
    labelled = tuple(f"p{k}" for k in range(n_labels))
    candidates = (_candidate("a", 0.8, None, 1.0), _candidate("b", 0.8, gap, 1.0))
    words = in_words(Choice("tables", "TE F1", candidates, 200, 5, labelled, (), 300, False))
    found = [sentence for sentence in words if "would tell" in sentence]
    assert found == [f"{said} with 95 % certainty, if they stay {apart} apart."] * bool(said)


def test_no_more_pages_are_asked_for_than_there_are() -> None:
    candidates = (ParserCandidate("a", ("a",), 0.8, None, None, 1.0, None, 0),)
    words = in_words(Choice("tables", "TE F1", candidates, 6, 5, (), (), 10, False))
    assert "label 6 pages to know" in words[0]


def test_the_pages_that_are_named_are_those_that_annotate_opens() -> None:
    pages = tuple(f"p{k}" for k in range(8))
    candidates = (ParserCandidate("a", ("a",), 0.8, None, None, 1.0, None, 0),)
    steps = next_step(Choice("tables", "TE F1", candidates, 9, 5, (), pages, 10, False), "folder:d", "run")
    named = steps[0].partition(": ")[2].split(", ")
    assert len(named) == LOOK_EVERY
    assert [word for word in steps[1].split() if word in pages] == named


def test_a_file_that_is_no_pdf_is_no_page_to_label(tmp_path: Path) -> None:
    make_pdf(tmp_path / "docs" / "a.pdf")
    (tmp_path / "docs" / "empty.pdf").touch()
    corpus = load_corpus(f"folder:{tmp_path / 'docs'}")
    parsers = [FakeParser("one"), FakeParser("two")]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, protocols=["tables"], n_workers=1)
    found = choose(run)
    assert found.next_pages == ("a-p1",) and found.n_pages == 1
