"""The choice itself, on runs of workers that are made for it."""

from pathlib import Path

from tests.engine.fakes import FakeParser, make_corpus

from parsemark.choose import choose, in_words, next_step
from parsemark.engine.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring import score_run


def test_parsers_that_give_the_same_are_not_told_apart(tmp_path: Path) -> None:
    """No label separates them, so none is asked for."""
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 6)
    parsers = [FakeParser("one"), FakeParser("two")]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    choice = choose(run, budget=4)
    assert (choice.best.parser, choice.same_as_best, choice.certain) == ("one", ("two",), True)
    words = " ".join(in_words(choice))
    assert "two gives the same as one on all 6 pages" in words
    assert "not certain" not in words and "separate" not in words
    assert next_step(choice, "folder:x", "run")[0] == "Use it:"
