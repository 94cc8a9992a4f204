"""“This truth is wrong”: the viewer writes entries, and `corpus check` and `annotate` read them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.corpora.writing import write_corpus
from tests.engine.fakes import FakeParser, make_corpus
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.disputes import Dispute, read_disputes
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.disputed import score_without, without_elements
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError, ParsemarkError
from parsemark.model import Category, Element, Page, Table
from parsemark.store import Run

Open = Callable[..., Any]


@pytest.mark.browser
def test_the_viewer_writes_a_file_that_can_be_read(open_page: Open, server: str, tmp_path: Path) -> None:
    page = open_page(f"{server}/viewer.html#page=page-001&parser=good", accept_downloads=True)
    page.wait_for_selector("html[data-ready]", state="attached")
    page.get_by_text("This truth is wrong").click()
    page.locator(".dispute select").select_option("t0")
    page.get_by_label("What is wrong?").fill("<b>1.12</b> is 1.2")
    page.get_by_role("button", name="Add", exact=True).click()
    assert "<b>1.12</b> is 1.2" in page.locator(".dispute li").inner_text(), "shown as text"
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    page.get_by_text("This truth is wrong").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save 1 entry as disputes.json").click()
    path = tmp_path / "disputes.json"
    waiting.value.save_as(path)
    assert read_disputes(path) == [Dispute(sample="page-001", element="t0", what="<b>1.12</b> is 1.2")]


def test_check_lists_them_and_names_what_it_cannot_use(tmp_path: Path) -> None:
    path = tmp_path / "disputes.json"
    entry = {"sample": "demo-0001-p1", "element": "2", "what": "a cell is \x1b[31mmissing"}
    path.write_text(json.dumps({"corpus": "demo", "hash": "c0", "disputes": [entry]}))
    result = CliRunner().invoke(app, ["corpus", "check", "demo", "--disputes", str(path)])
    assert "DISPUTED demo-0001-p1, 2: a cell is " in result.output and "\x1b" not in result.output
    with pytest.raises(CorpusError, match="has no page 'demo-0001-p1'"):
        read_disputes(path, ["other"])
    path.write_text(json.dumps({"disputes": [{"sample": 1}]}))
    with pytest.raises(ParsemarkError, match="disputes"):
        read_disputes(path)


PROTOCOLS = ("tables", "semantic", "document(profile=strict)", "document(profile=v1.5)")


@pytest.fixture(scope="module")
def run_with_a_wrong_truth(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Four pages of two parsers; the truth of the second page is wrong."""
    folder = tmp_path_factory.mktemp("wrong")
    samples = list(make_corpus(folder / "corpus" / "pdfs", ["fine"] * 4).samples())
    truth = samples[1].truth
    assert truth is not None
    wrong = replace(truth.elements[0], table=Table.from_rows([["x", "y"], ["3", "4"]]))
    samples[1] = replace(samples[1], truth=replace(truth, elements=(wrong,)))
    write_corpus(folder / "corpus", samples, name="tiny", licence="CC0-1.0")
    corpus = load_corpus(str(folder / "corpus"))
    parsers = [FakeParser(name) for name in "ab"]
    run = parse_corpus(folder / "run", corpus, parsers, ParseOptions(protocols=PROTOCOLS))
    score_run(run, n_workers=1)
    return Run.open(run.path)


def test_a_disputed_element_costs_and_earns_nothing(run_with_a_wrong_truth: Run) -> None:
    run = run_with_a_wrong_truth
    stored = (run.path / "samples.parquet").read_bytes(), run.table("scores").to_dicts()
    element = score_without(run, [Dispute(sample="s001", element="t0")], 1)
    page = score_without(run, [Dispute(sample="s001"), Dispute(sample="s001", element="t0")], 1)
    assert (element.n_elements, element.n_pages) == (1, 0) and (page.n_elements, page.n_pages) == (0, 1)
    assert [part.protocol for part in element.protocols] == run.protocols
    for excluded, left_out in zip(element.protocols, page.protocols, strict=True):
        # The page holds nothing but the table, so both leave the same three perfect answers.
        for one, other in zip(excluded.parsers, left_out.parsers, strict=True):
            before, after = one.with_disputed.value, one.without_disputed.value
            assert before is not None and after is not None and before != after, excluded.protocol
            assert after == other.without_disputed.value, excluded.protocol
    assert ((run.path / "samples.parquet").read_bytes(), run.table("scores").to_dicts()) == stored


def test_without_disputes_nothing_changes(run_with_a_wrong_truth: Run) -> None:
    found = score_without(run_with_a_wrong_truth, [], 1)
    assert all(row.with_disputed == row.without_disputed for part in found.protocols for row in part.parsers)
    with pytest.raises(CorpusError, match="has none of the disputed pages"):
        score_without(run_with_a_wrong_truth, [Dispute(sample="elsewhere")], 1)
    with pytest.raises(CorpusError, match="has no element 't9'"):
        score_without(run_with_a_wrong_truth, [Dispute(sample="s001", element="t9")], 1)


def test_an_extra_answer_to_a_disputed_element_is_not_invented() -> None:
    text, table = Element("a", "text_block", text="x"), Element("b", "table", table=Table.from_rows([["1"]]))
    changed = without_elements(Page("p", 100, 100, (text, table)), ["b"])
    assert changed.tables == () and not changed.covers(Category.TABLE) and changed.covers("text_block")
    changed = without_elements(Page("p", 100, 100, (text, table)), ["a"])
    assert changed.covers(Category.TABLE) and not changed.covers(Category.TEXT_BLOCK)


def test_both_scores_are_printed_and_on_the_page_of_the_audit(
    run_with_a_wrong_truth: Run, tmp_path: Path
) -> None:
    run, path, out = run_with_a_wrong_truth, tmp_path / "disputes.json", tmp_path / "audit"
    entry = {"sample": "s001", "element": "t0", "what": "wrong"}
    path.write_text(json.dumps({"corpus": "tiny", "hash": "c0", "disputes": [entry]}))
    corpus = str(run.path.parent / "corpus")
    call = ["corpus", "check", corpus, "--run", str(run.path), "--disputes", str(path)]
    result = CliRunner().invoke(app, [*call, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "1 disputed element excluded from the scores, 0 disputed pages left out." in result.output
    shown = (out / "audit.html").read_text()
    assert "1 disputed element excluded" in shown
    without = score_without(run, read_disputes(path), 1).protocols[0]
    for row in without.parsers:
        assert f"<td>{without.text_of(row.without_disputed)}</td></tr>" in shown
    data = json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)
    assert (data["schema"], data["disputed"]["n_elements"]) == ("parsemark.corpus-audit", 1)
    listed = CliRunner().invoke(app, ["corpus", "check", corpus, "--disputes", str(path), "--json"])
    assert json.loads(listed.stdout)["disputes"] == ["s001, t0: wrong"]
