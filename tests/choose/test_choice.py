"""The choice itself, on runs of workers that are made for it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.corpora.small_files import make_pdf
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.choosing import Choice, ParserCandidate, as_json, begun_with, choose, in_words, next_step
from parsemark.choosing.choice import LOOK_EVERY, LabelChances, easiest_first, label_chances
from parsemark.choosing.label_order import LabelOrder
from parsemark.corpora import Corpus, load_corpus
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.errors import UnknownNameError
from parsemark.model import Element, Prediction, Table
from parsemark.parsers import Info
from parsemark.protocols import Figure, Verdict
from parsemark.store import Run
from parsemark.verdicts.run_verdict import Terms, run_verdict


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
    assert f"Equally good: {other}" in words
    assert "so far" not in words and "To separate" not in words
    assert next_step(choice, "folder:x", "run")[0] == "Use it:"


def test_a_family_has_one_vote_together(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine"] * 3)
    mupdf = Info(licence="AGPL-3.0", gives=("markdown",), engine="mupdf")
    parsers = [*(FakeParser(name, info=mupdf) for name in ("pymupdf", "pymupdf4llm")), FakeParser("three")]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    said = "pymupdf, pymupdf4llm share one vote, because they make the same errors."
    assert choose(run, budget=3).notes[0] == said


def _candidate(name: str, gap: tuple[float, float] | None, cpu_s: float) -> ParserCandidate:
    behind = None
    if gap is not None:
        low, high = gap
        numbers = {"value_a": 0.8, "value_b": 0.8, "difference": (low + high) / 2, "low": low, "high": high}
        state = "not_significant"
        behind = Verdict(a=name, b="dear", figure="f", p=0.5, state=state, n_documents=9, **numbers)
    return ParserCandidate(name, (name,), 0.8, Figure(value=0.8, n=9), None, behind, cpu_s)


def test_a_cheaper_parser_of_which_nothing_is_known_is_not_offered() -> None:
    best = _candidate("dear", None, 10.0)
    unknown, near = _candidate("unknown", (-1.0, 0.0), 0.1), _candidate("near", (-0.06, 0.01), 0.1)
    choice = Choice("tables", "TE F1", (best, unknown, near), 30, 5)
    words = " ".join(in_words(choice))
    assert (
        "near needs 100 times less CPU time and scores 0.00 to 0.06 lower" in words
        and "unknown needs" not in words
    )


def test_before_there_is_an_estimate_the_ranking_is_called_a_guess() -> None:
    def guessed(name: str, guess: float, cpu_s: float) -> ParserCandidate:
        return ParserCandidate(name, (name,), guess, None, None, None, cpu_s)

    candidates = guessed("dear", 0.541, 10.0), guessed("level", 0.539, 0.1), guessed("near", 0.5, 0.1)
    choice = Choice("tables", "TE F1", candidates, 30, 5)
    words = " ".join(in_words(choice))
    assert "(0.54). No page has truth yet, so this ranking is only a guess." in words
    assert "level needs 100 times less CPU time; its guessed score is 0.54, too." in words
    assert "near needs 100 times less CPU time; its guessed score is 0.50." in words
    words = " ".join(in_words(replace(choice, labelled=("p1",))))
    assert "Only 1 page has truth yet, so this ranking is only a guess." in words


def test_the_next_budget_is_named_as_a_total() -> None:
    best = replace(_candidate("dear", None, 10.0), estimate=Figure(value=0.8, n=9))
    choice = Choice("tables", "TE F1", (best,), 30, 5, labelled=tuple("abc"), budget=2, begun_with=("a",))
    again = "The budget of 2 new labels is used up. To label more, repeat the command with --labels 12"
    assert next_step(choice, "folder:x", "run")[0] == f"{again} (the new total)."


def _chances(known: list[int]) -> LabelChances:
    order = LabelOrder(np.arange(8), np.full(8, 1 / 8))
    return label_chances(order, np.isin(np.arange(8), known))


def test_labels_out_of_turn_stand_for_themselves() -> None:
    labels = _chances([0, 1, 2, 5])
    assert labels.n_out_of_turn == 1 and labels.drawn
    assert labels.chances[5] == 1
    assert labels.chances[0] == pytest.approx(3 / 7)  # drawn among the others


def test_where_most_labels_were_there_before_all_count_alike() -> None:
    labels = _chances([0, 1, 4, 5, 6])
    assert not labels.drawn and labels.n_out_of_turn == 3 and (labels.chances == 1).all()
    assert not _chances([3, 4, 6]).drawn and _chances([0, 1, 2]).drawn


def test_the_order_follows_the_figure_that_is_shown(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "wrong", "fine", "crash", "fine", "fine"])
    parsers = [FakeParser("one"), FakeParser("two"), FakeParser("three")]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    choice = choose(run, budget=4)
    shown = [candidate.value for candidate in choice.candidates]
    assert shown == sorted(shown, reverse=True)
    for c in choice.candidates:
        assert c.estimate is not None and c.value == c.estimate.value
    first = choice.labelled[0]
    without = choose(run, budget=4, skip=[first])
    assert first not in without.labelled and without.n_pages == 5
    assert "1 page skipped: the result is for the other pages." in without.notes
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


def test_no_more_pages_are_asked_for_than_there_are() -> None:
    candidates = (ParserCandidate("a", ("a",), 0.8),)
    words = in_words(Choice("tables", "TE F1", candidates, 6, 5, budget=10))
    assert "Label 6 pages to test it" in words[0]


def test_the_pages_that_are_named_are_those_that_annotate_opens() -> None:
    pages = tuple(f"p{k}" for k in range(8))
    candidates = (ParserCandidate("a", ("a",), 0.8),)
    steps = next_step(
        Choice("tables", "TE F1", candidates, 9, 5, next_pages=pages, budget=10), "folder:d", "run"
    )
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


@pytest.fixture
def readable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without truth count, though the files of these tests are not PDFs."""
    monkeypatch.setattr("parsemark.choosing.choice.unscored", lambda _: frozenset())


def _with_truth_on(folder: Path, behaviours: list[str], labelled: set[int]) -> Run:
    """A run of three parsers on pages of which only some have truth."""
    whole = make_corpus(folder / "corpus", behaviours)
    samples = [whole.read(key) for key in whole.keys]
    some = [s if k in labelled else replace(s, truth=None) for k, s in enumerate(samples)]
    corpus = Corpus.of("fakes", some, root=folder / "corpus", version="1", licence="CC0")
    parsers = [FakeParser(name) for name in ("one", "two")]
    parsers.append(FakeParser("mute", arguments=("no-start",)))
    run = parse_corpus(folder / "run", corpus, parsers, ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    return run


@pytest.mark.parametrize("labelled", [set(range(16)), {3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15}])
@pytest.mark.usefixtures("readable")
def test_bench_and_choose_show_the_same_numbers(tmp_path: Path, labelled: set[int]) -> None:
    """On the same labelled pages: values, intervals, verdicts, what would settle them; for any budget."""
    behaviours = [("fine", "error", "fine", "crash")[k % 4] for k in range(16)]
    run = _with_truth_on(tmp_path, behaviours, labelled)
    summary = run.summary()
    first, other = choose(run, budget=3), choose(run, budget=12)
    assert len(first.labelled) == len(labelled) and not first.is_estimated
    for c, d in zip(first.candidates, other.candidates, strict=True):
        assert c.estimate == d.estimate == c.labelled == summary.figure(c.parser, summary.primary)
        assert c.behind == summary.ranking.verdict(c.parser, first.best.parser)
    said = run_verdict(summary, run.records(), "x", Terms.of(run))
    if summary.ranking.best == first.best.parser:
        assert list(first.verdict) == said
    assert any(f"The licence of {first.best.parser} is MIT." in sentence for sentence in first.verdict)
    assert len(first.next_pages) == min(3, 16 - len(labelled))


@pytest.mark.usefixtures("readable")
def test_labels_that_were_there_are_not_of_the_budget(tmp_path: Path) -> None:
    run = _with_truth_on(tmp_path, ["fine"] * 8, {0, 1, 2, 3})
    assert len(choose(run, budget=2).next_pages) == 2
    begun = choose(run, budget=2, begun_with=["s000", "s001"])
    assert begun.n_new == 2 and begun.next_pages == ()
    path = tmp_path / "choice.json"
    assert begun_with(path) is None
    path.write_text(as_json(begun))
    assert begun_with(path) == ("s000", "s001")


@pytest.mark.usefixtures("readable")
def test_an_estimate_for_more_pages_says_so_and_names_what_bench_shows(tmp_path: Path) -> None:
    behaviours = ["fine", "error"] * 5
    nothing = _with_truth_on(tmp_path / "nothing", behaviours, set())
    first = [int(page[1:]) for page in choose(nothing, budget=4).next_pages]
    run = _with_truth_on(tmp_path / "some", behaviours, set(first))
    choice, summary = choose(run, budget=4), run.summary()
    assert choice.is_estimated
    for c in choice.candidates:
        assert c.labelled == summary.figure(c.parser, summary.primary)
    for row, c in zip(json.loads(as_json(choice))["candidates"], choice.candidates, strict=True):
        assert c.labelled is not None and row["labelled"]["value"] == c.labelled.value
        assert Figure.model_validate(row["estimate"]) == c.estimate
        assert (row["behind"] and Verdict.model_validate(row["behind"])) == c.behind
    words = " ".join(in_words(choice))
    assert "Scores are estimates for all 10 pages from 4 labelled pages" in words
    best = summary.figure(choice.best.parser, summary.primary)
    assert best is not None and f"scores {best.value:.2f}: the score that `bench` would print" in words


def test_dollars_for_a_million_pages_are_of_machine_and_service() -> None:
    assert Terms(cpu_hour_usd=0.36).million_pages_usd(1.0, None) == pytest.approx(100)
    assert Terms(cpu_hour_usd=0.36).million_pages_usd(1.0, 0.01) == pytest.approx(10_100)
    assert Terms().million_pages_usd(1.0, None) is None
