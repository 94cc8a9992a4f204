"""The choice itself, on runs of workers that are made for it."""

from pathlib import Path

import pytest
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.choose import Choice, ParserCandidate, choose, in_words, next_step
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run
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
    assert "not certain" not in words and "separate" not in words
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
    ("more", "said"), [(1, "About 1 more label would"), (7, "About 7 more labels would")]
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
    assert f"{said} separate Theirs from Mine." in " ".join(in_words(choice))
