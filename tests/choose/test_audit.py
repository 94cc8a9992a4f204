"""Errors of a truth that the parsers show."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.accessible import accessible
from tests.corpora.writing import write_corpus
from tests.engine.fakes import FakeParser, make_corpus
from typer.testing import CliRunner

from parsemark.choosing.audit import Audit, Suspicion, aligned_texts, audit_page, audit_run, ranked
from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.disputed import ParserWithout, ProtocolWithout, WithoutDisputed
from parsemark.engine.scoring.score import score_run
from parsemark.errors import StoreError, UsageError
from parsemark.model import Box, Cell, Element, Page, Prediction, Table
from parsemark.pdf import Glyph
from parsemark.protocols import Figure
from parsemark.report.audit_page import write_audit

FAMILIES = (("a", "a2"), ("b",), ("c",), ("d",))


def table(rows: list[list[str]]) -> Table:
    cells = tuple(Cell(r, c, text) for r, row in enumerate(rows) for c, text in enumerate(row))
    return Table(len(rows), len(rows[0]), cells)


def page(rows: list[list[str]]) -> Page:
    return Page("p", 600, 800, (Element("t1", "table", table=table(rows)),))


def answers(**by_parser: list[list[str]]) -> dict[str, Prediction]:
    return {
        name: Prediction("p", name, elements=(Element("x", "table", table=table(rows)),))
        for name, rows in by_parser.items()
    }


RIGHT = [["metal", "density"], ["lead", "11.34"], ["gold", "19.30"]]
WRONG = [["metal", "density"], ["lead", "11.84"], ["gold", "19.30"]]


def test_independent_parsers_against_the_truth() -> None:
    (found,) = audit_page(page(WRONG), answers(a=RIGHT, b=RIGHT, c=RIGHT), FAMILIES)
    assert (found.row, found.col, found.truth, found.consensus) == (1, 1, "11.84", "11.34")
    assert len(found.against) == 3 and found.strength == 1


def test_a_family_has_one_vote() -> None:
    assert audit_page(page(WRONG), answers(a=RIGHT, a2=RIGHT), FAMILIES) == []


def test_the_text_layer_is_a_witness() -> None:
    (found,) = audit_page(page(WRONG), answers(a=RIGHT), FAMILIES, "metal density lead 11.34 gold 19.30")
    assert found.in_text_layer
    assert audit_page(page(WRONG), answers(a=RIGHT), FAMILIES, "metal density lead 11.84 gold 19.30") == []


def test_a_right_truth_is_not_suspected_when_half_misread() -> None:
    assert audit_page(page(RIGHT), answers(a=WRONG, b=WRONG, c=RIGHT, d=RIGHT), FAMILIES) == []


def test_cells_are_found_through_their_neighbours() -> None:
    shifted = [["metal", "density"], ["", ""], ["lead", "11.34"], ["gold", "19.30"]]
    found = dict(aligned_texts(table(WRONG), table(shifted)))
    assert found[1, 1] == "11.34" and found[2, 0] == "gold"


def test_notation_is_no_error() -> None:
    truth = [["a", "−1.5"], ["b", "$x^2$"]]
    given = [["a", "-1.5"], ["b", "x²"]]
    assert audit_page(page(truth), answers(a=given, b=given, c=given), FAMILIES) == []


@pytest.mark.parametrize("seed", range(5))
def test_injected_errors_are_found_and_little_else(seed: int) -> None:
    rng = random.Random(seed)
    rows = [[f"{rng.randint(100, 9999)}" for _ in range(6)] for _ in range(20)]
    noisy = {
        name: [[("x" + t if rng.random() < 0.05 else t) for t in row] for row in rows] for name in "abcd"
    }
    wrong = {(rng.randrange(20), rng.randrange(6)) for _ in range(10)}
    truth = [
        [("7" + t[1:] if t[0] != "7" else "1" + t[1:]) if (r, c) in wrong else t for c, t in enumerate(row)]
        for r, row in enumerate(rows)
    ]
    found = {(s.row, s.col) for s in ranked(audit_page(page(truth), answers(**noisy), FAMILIES))}
    assert len(found & wrong) >= 0.9 * len(wrong)
    assert len(found - wrong) <= 0.02 * 120


def test_the_strongest_come_first() -> None:
    (one,) = audit_page(page(WRONG), answers(a=RIGHT, b=RIGHT, c=RIGHT), FAMILIES)
    weak = replace(one, against=("a",), n_families=4)
    assert ranked([weak, one])[0] is one


def test_what_is_printed_in_a_cell_decides() -> None:
    letters = [Glyph(c, Box(10.0 + 5 * k, 10.0, 14.0 + 5 * k, 18.0)) for k, c in enumerate("Malta")]
    box = Box(8.0, 8.0, 40.0, 20.0)
    given = table([["malta", "12"], ["Oslo", "7"], ["Bern", "31"]])
    boxed = replace(given, cells=(replace(given.cells[0], box=box), *given.cells[1:]))
    truth = Page("p", 200.0, 200.0, (Element("t", "table", table=boxed),))
    rest = [["Oslo", "7"], ["Bern", "31"]]
    lower, upper, other = ([[name, "12"], *rest] for name in ("malta", "Malta", "x"))
    (found,) = audit_page(truth, answers(a=lower, b=lower, c=upper), FAMILIES, "Malta 12", letters)
    assert (found.truth, found.consensus, found.against) == ("malta", "Malta", ("c",))
    # Alone against parsers that read the truth it is not believed: the box may be wrong.
    assert audit_page(truth, answers(a=lower, b=lower), FAMILIES, "Malta 12", letters) == []
    # And where it says what the truth says, parsers that read otherwise have cut the table differently.
    right = replace(boxed, cells=(replace(boxed.cells[0], text="Malta"), *given.cells[1:]))
    page_of_it = Page("p", 200.0, 200.0, (Element("t", "table", table=right),))
    assert audit_page(page_of_it, answers(a=other, b=other, c=other), FAMILIES, None, letters) == []


def test_a_run_is_audited_and_its_corrections_can_be_applied(tmp_path: Path) -> None:
    samples = list(make_corpus(tmp_path / "corpus" / "pdfs", ["fine"] * 3).samples())
    assert samples[1].truth is not None
    (wrong,) = samples[1].truth.elements
    bad = replace(wrong, table=table([["s001", "page 1"], ["1", "7"]]))
    samples[1] = replace(samples[1], truth=replace(samples[1].truth, elements=(bad,)))
    write_corpus(tmp_path / "corpus", samples, name="tiny", licence="CC0-1.0")
    corpus, parsers = load_corpus(str(tmp_path / "corpus")), [FakeParser(name) for name in "abc"]
    run = parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions())
    with pytest.raises(StoreError, match="not scored yet: parsemark score"):
        audit_run(corpus, run)
    score_run(run, n_workers=1)
    with pytest.raises(UsageError, match="at least 2 parsers"):
        audit_run(corpus, parse_corpus(tmp_path / "one", corpus, parsers[:1], ParseOptions()))
    found = audit_run(corpus, run)
    assert (found.n_pages, found.n_cells) == (3, 12)
    assert ("s001", 1, 1, "7", "2") in [
        (x.sample, x.row, x.col, x.truth, x.consensus) for x in found.suspicions
    ]
    flags = ["--run", str(run.path), "--out", str(tmp_path / "audit")]
    said = CliRunner().invoke(app, ["corpus", "check", str(tmp_path / "corpus"), *flags])
    assert said.exit_code == 0 and "4 of 12 cells on 3 pages with doubtful truth" in said.output, said.output
    assert "fine s001" in (tmp_path / "audit" / "audit.html").read_text()
    fixes = tmp_path / "audit" / "corrections.json"
    flags = ["--apply", str(fixes), "--out", str(tmp_path / "mended")]
    said = CliRunner().invoke(app, ["corpus", "check", str(tmp_path / "corpus"), *flags])
    mended = load_corpus(str(tmp_path / "mended")).read("s001").truth
    assert mended is not None and mended.elements[0].table is not None, said.output
    assert [c.text for c in mended.elements[0].table.cells] == ["fine s001", "page 1", "1", "2"]


@pytest.mark.browser
def test_the_page_of_an_audit_is_accessible(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    corpus = make_corpus(tmp_path / "pdfs", ["fine"])
    (sample,) = corpus.samples()
    assert sample.truth is not None
    suspicion = Suspicion(sample.id, sample.truth.tables[0].id, 0, 0, "7", "2", ("a", "b"), ("c",), 3, True)
    scores = ParserWithout("a", Figure(value=0.5, low=0.4, high=0.6), Figure(value=0.7, low=0.6, high=0.8))
    disputed = ProtocolWithout("tables", "TE F1 Con", "score", "higher is better", (scores,))
    audit = Audit((suspicion,), 1, 4, FAMILIES, WithoutDisputed(1, 0, (disputed,), ()))
    page = open_page(next(p for p in write_audit(corpus, audit, tmp_path) if p.suffix == ".html").as_uri())
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    accessible(page)
