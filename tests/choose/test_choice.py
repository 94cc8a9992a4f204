"""The choice itself, on runs of workers that are made for it."""

from dataclasses import replace
from pathlib import Path

from tests.engine.fakes import FakeParser, make_corpus

from parsemark.choose import choose, in_words, next_step
from parsemark.corpora import Corpus
from parsemark.engine.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring import score_run


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


def test_a_page_that_nobody_spoke_of_is_no_label(tmp_path: Path) -> None:
    """In a folder, pages without a file count as pages without tables; but a label is what someone gave."""
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 6)
    run = parse_corpus(
        tmp_path / "run", corpus, [FakeParser("one"), FakeParser("two")], ParseOptions(n_workers=1)
    )
    score_run(run, n_workers=1)
    order = choose(run, corpus=corpus, budget=6).labelled
    assert len(order) == 6
    assumed = set(order[2:5])
    samples = [
        replace(s, truth=replace(s.truth, assumed=s.id in assumed)) for s in corpus.samples() if s.truth
    ]
    partly = Corpus.of("fakes", samples, root=corpus.root, version="1", licence="CC0")
    choice = choose(run, corpus=partly, budget=6)
    assert choice.labelled == order[:2], "labels count up to the first page without one"
    assert choice.next_pages == order[2:5], "the last page has its label already"
