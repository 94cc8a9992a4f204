"""Boards that measure pages: folders in their form, scored and summed up; their defects as switches."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.files import page_from_file, page_to_file
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError, UsageError
from parsemark.model import Cell, Element, Fact, Page, Prediction, Sample, Status, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.boards import (
    dp_bench,
    getomni,
    marker_bench,
    ohr_bench,
    opendataloader,
    rd_tablebench,
    score_bench,
)
from parsemark.protocols.boards.olmocr.protocol import read_test
from parsemark.protocols.boards.parsebench import protocol as parsebench
from parsemark.protocols.contract import all_truth_keys
from parsemark.protocols.figures.aggregate import figure_of, mean_of_figures, mean_statistic
from parsemark.protocols.figures.figure import FigureInfo, FigureSums
from parsemark.protocols.figures.pair_verdicts import rank
from parsemark.report.outputs import export_board
from parsemark.store import Run

INFO = FigureInfo(name="overall", label="Overall", definition="d", denominator="all dimensions")
HTML = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"


def values(spec: str, truth: Page, text: str | None, **more: Any) -> dict[str, float | None]:
    """What a protocol says of one page."""
    elements = more.pop("elements", ())
    prediction = Prediction(truth.id, "one", text=text, elements=elements, **more)
    return {row.metric: row.value for row in get_protocol(spec).score_page(truth, prediction, None).scores}


def page(*elements: Element, **annotation: Any) -> Page:
    return Page("p", 100, 100, elements, annotation=annotation or None)


def table(html: str = HTML) -> Element:
    return Element("t", "table", order=1, html=html, table=Table(1, 1, (Cell(0, 0, "a"),)))


TITLE = Element("h", "title", order=0, text="Tides")
WORDS = Element("w", "text_block", order=2, text="Slack water lasts nine minutes.")


def test_the_truth_itself_scores_one_in_opendataloader_as_far_as_it_can() -> None:
    found = values("opendataloader", page(TITLE, WORDS), "# Tides\n\nSlack water lasts nine minutes.")
    assert found["nid"] == found["mhs"] == found["overall"] == 1 and found["teds"] is None
    with_table = page(opendataloader_markdown=f"# a\n\n{HTML}")
    assert values("opendataloader", with_table, f"# a\n\n{HTML}")["teds"] == 1


def test_a_span_that_is_no_number_drops_a_page_or_is_worth_nothing() -> None:
    truth = page(opendataloader_markdown=HTML)
    wrong = "<table><tr><td colspan='two'>a</td></tr></table>"
    assert set(values("opendataloader", truth, wrong).values()) == {None}
    assert set(values("opendataloader(page_errors_drop=false)", truth, wrong).values()) == {0}


def test_dp_bench_looks_at_text_and_the_first_table() -> None:
    truth = page(TITLE, table(), WORDS)
    found = values("dp-bench", truth, f"# Tides\n\n{HTML}\n\nSlack water lasts nine minutes.")
    assert found == {"nid": 1, "teds": 1, "teds_s": 1}
    assert values("dp-bench", page(), "")["nid"] == 0.01
    assert values("dp-bench(empty_is_hundredth=false)", page(), "")["nid"] == 1


def test_rd_tablebench_takes_the_longest_table() -> None:
    first = Element("p1", "table", html="<table><tr><td>x</td></tr></table>")
    assert values("rd-tablebench", page(table()), None, elements=(first, table())) == {"similarity": 1}
    assert (
        values("rd-tablebench(choose=first)", page(table()), None, elements=(first, table()))["similarity"]
        < 1
    )
    assert values("rd-tablebench", page(table()), "no table") == {"similarity": 0}
    assert values("rd-tablebench(missing_left_out=true)", page(table()), "none") == {"similarity": None}
    assert values("rd-tablebench", page(table(), table()), "two true ones") == {"similarity": None}


WIDE = "<table><tr><td colspan='100000000000'>a</td></tr></table>"
ODD = "<table><tr><td colspan='two'>a</td></tr></table>"


@pytest.mark.parametrize(
    ("spec", "annotation"),
    [
        ("rd-tablebench", {"rd_tablebench_html": WIDE}),
        ("rd-tablebench(missing_left_out=true)", {"rd_tablebench_html": ODD}),
        ("opendataloader", {"opendataloader_markdown": ODD}),
        ("opendataloader(page_errors_drop=false)", {"opendataloader_markdown": ODD}),
        ("opendataloader", {"opendataloader_markdown": 3}),
        ("dp-bench", {"dp_bench_page": {"elements": [{"categori": "Table"}]}}),
        ("score-bench", {"score_bench_elements": [1, 2]}),
        ("ohr-bench", {"ohr_bench_questions": [{"q": 1}]}),
        ("getomni", {"trueJsonOutput": "{not json"}),
        ("getomni", {"trueMarkdownOutput": 5}),
    ],
)
def test_a_truth_that_cannot_be_read_is_charged_to_nobody(spec: str, annotation: dict[str, Any]) -> None:
    prediction = Prediction("p", "one", text=HTML, elements=(table(),))
    rows = get_protocol(spec).score_page(page(table(), **annotation), prediction, None).scores
    assert {row.value for row in rows} == {None} and {row.status for row in rows} == {Status.NO_TRUTH}
    assert all("the truth of this page cannot be read" in (row.message or "") for row in rows)


def test_an_unreadable_truth_is_said_and_the_other_pages_count(tmp_path: Path) -> None:
    truths = tmp_path / "groundtruth"
    truths.mkdir()
    (tmp_path / "out").mkdir()
    for name, text in (("01", HTML), ("02", WIDE)):
        (truths / f"{name}.html").write_text(text)
        (tmp_path / "out" / f"{name}.html").write_text(HTML)
    corpus = load_corpus(f"rd-tablebench:{tmp_path}")
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=("rd-tablebench",))
    [summary] = score_run(run, n_workers=1)
    assert summary.parsers["out"]["similarity"].value == summary.parsers["out"]["similarity"].n == 1
    assert "The truth of 1 page cannot be read" in summary.notes[0] and "02" in summary.notes[0]


def test_a_page_file_may_hold_the_truth_of_a_board(tmp_path: Path) -> None:
    from parsemark.corpora.files import page_file_text, page_from_file, page_to_file
    from parsemark.corpora.schema import PageFile
    from parsemark.model import Sample

    own = page(table(), rd_tablebench_html=HTML.replace(">d<", ">x<"))
    written = PageFile.model_validate_json(page_file_text(Sample("p", "d", 1, own), None))
    assert page_from_file(written, "p").annotation == own.annotation
    assert "annotation" not in json.loads(page_file_text(Sample("p", "d", 1, page(table())), None))
    assert page_to_file(Sample("p", "d", 1, page(layout_dets=[])), None).annotation is None
    assert values("rd-tablebench", own, None, elements=(table(),))["similarity"] < 1


def test_marker_finds_blocks_and_their_order() -> None:
    pytest.importorskip("pypandoc")
    truth = page(TITLE, WORDS)
    assert values("marker", truth, "# Tides\n\nSlack water lasts nine minutes.")["score"] == pytest.approx(
        100
    )
    assert values("marker", truth, "nothing alike here at all")["score"] == pytest.approx(20)
    assert values("marker(unfound_in_order=false)", truth, "nothing alike here at all")["score"] == 0


def test_getomni_compares_text_and_json() -> None:
    truth = page(trueMarkdownOutput="Tides", trueJsonOutput={"a": 1, "b": 2})
    found = values("getomni", truth, '{"a": 1, "b": 3}')
    assert found["json_accuracy"] == 0.5 and found["text_similarity"] is not None
    assert values("getomni", truth, "")["json_accuracy"] is None
    assert values("getomni(empty_left_out=false)", truth, "")["json_accuracy"] == 0


def test_an_evaluation_file_has_the_pages_and_means_of_the_run(tmp_path: Path) -> None:
    truths = tmp_path / "ground-truth" / "markdown"
    truths.mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for name, text in (("01", "# a\n\ntext"), ("02", "other words")):
        (truths / f"{name}.md").write_text(text)
        (tmp_path / "out" / f"{name}.md").write_text(text.replace("text", "test"))
    corpus = load_corpus(f"opendataloader-bench:{tmp_path}")
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=("opendataloader",))
    score_run(run, n_workers=1)
    assert export_board(run.path, None, tmp_path / "files") == 4
    data = json.loads((tmp_path / "files" / "prediction" / "out" / "evaluation.json").read_text())
    first, second = (document["scores"] for document in data["documents"])
    assert second["nid"] == 1 and second["mhs"] is None and 0 < first["overall"] < 1
    assert data["metrics"]["score"]["overall_mean"] == pytest.approx((first["overall"] + 1) / 2)
    assert (data["metrics"]["nid_count"], data["metrics"]["mhs_count"]) == (2, 1)
    score_run(run, protocols=["tables"], n_workers=1)
    with pytest.raises(UsageError, match="no result files"):
        export_board(run.path, "tables", tmp_path / "none")


@pytest.mark.parametrize("spec", ["opendataloader", "dp-bench", "getomni"])
def test_a_failed_page_is_worth_nothing_and_stays(spec: str) -> None:
    found = values(spec, page(TITLE, WORDS), None, status=Status.PARSER_FAILED)
    assert found[{"opendataloader": "overall", "dp-bench": "nid", "getomni": "text_similarity"}[spec]] == 0


def test_hostile_pages_are_refused_or_cost_little() -> None:
    truth = page(TITLE, table())
    for text in (
        "<table>" * 3000,
        "<table><tr><td colspan='999999999999'>" * 20,
        "|" * 100_000,
        "[" * 20_000,
    ):
        for spec in ("opendataloader", "dp-bench", "rd-tablebench", "getomni"):
            assert values(spec, truth, text)
    deep = json.dumps({"a": 1})
    for _ in range(200):
        deep = f'{{"a": {deep}}}'
    nested = page(trueMarkdownOutput="", trueJsonOutput=json.loads(deep))
    assert values("getomni", nested, deep.replace("1", "2"))["json_accuracy"] == 0


def test_pixels_are_no_shares_of_a_page(tmp_path: Path) -> None:
    element = {"category": "Table", "content": {"html": HTML}, "coordinates": [{"x": 40, "y": 100}] * 4}
    pages = {"a.pdf": {"elements": [element]}, "b.pdf": {"elements": []}}
    (tmp_path / "reference.json").write_text(json.dumps(pages))
    corpus = load_corpus(f"dp-bench:{tmp_path}")
    assert corpus.keys == ("b",)
    assert any("no shares of the page" in str(remark) for remark in corpus.left_out)


def test_folders_of_the_boards_are_loaded_and_scored(tmp_path: Path) -> None:
    element = {
        "category": "Table",
        "content": {"text": "", "html": HTML},
        "coordinates": [{"x": 0.1, "y": 0.2}] * 4,
    }
    odl = tmp_path / "odl" / "ground-truth"
    (odl / "markdown").mkdir(parents=True)
    (odl / "markdown" / "01.md").write_text("# a\n\ntext")
    (odl / "reference.json").write_text(json.dumps({"01.pdf": {"elements": [element]}}))
    (tmp_path / "dp").mkdir()
    (tmp_path / "dp" / "reference.json").write_text(json.dumps({"01.pdf": {"elements": [element]}}))
    (tmp_path / "rd" / "groundtruth").mkdir(parents=True)
    (tmp_path / "rd" / "groundtruth" / "01.html").write_text(HTML)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "01.md").write_text(f"# a\n\ntext\n\n{HTML}")
    for loader, folder, protocol, figure in (
        ("opendataloader-bench", "odl", "opendataloader", "mhs"),
        ("dp-bench", "dp", "dp-bench", "teds"),
        ("rd-tablebench", "rd", "rd-tablebench", "similarity"),
    ):
        corpus = load_corpus(f"{loader}:{tmp_path / folder}")
        assert "imported, not parsed" in str(corpus.remarks[-1])
        run = import_predictions(tmp_path / f"run-{folder}", corpus, tmp_path / "out", protocols=(protocol,))
        score_run(run, n_workers=1)
        found = Run.open(run.path).summary(protocol).parsers["out"][figure]
        assert found.value is not None and found.value > 0.4 and found.n == 1
        written = tmp_path / f"files-{folder}"
        arguments = ["export", str(run.path), "--format", "board", "--out", str(written)]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert [p for p in written.rglob("*") if p.is_file() and "01" in p.read_text() + p.name]
        with pytest.raises(CorpusError, match="Is this"):
            load_corpus(f"{loader}:{tmp_path / 'out'}")


def test_a_fact_that_cannot_be_read_is_charged_to_nobody_and_costs_only_itself() -> None:
    asked = (("table", {"cell": "d", "up": 3}), ("present", {"text": "a b c"}), ("present", {"txt": "a"}))
    facts = tuple(Fact(f"f{k}", kind, "olmocr-bench", own) for k, (kind, own) in enumerate(asked))
    prediction = Prediction("p", "one", text=f"a b c\n\n{HTML}")
    rows = get_protocol("olmocr").score_page(replace(page(table()), facts=facts), prediction, None).scores
    assert [row.value for row in rows] == [None, 1.0, None]
    assert [row.status for row in rows] == [Status.NO_TRUTH, Status.OK, Status.NO_TRUTH]
    assert all("cannot be read: fact f" in (row.message or "") for row in rows if row.value is None)


def test_a_misspelt_key_of_a_board_is_named() -> None:
    known = {dp_bench.PAGE, getomni.JSON, getomni.MARKDOWN, marker_bench.BLOCKS, ohr_bench.QUESTIONS}
    known |= {opendataloader.MARKDOWN, parsebench.CASES, rd_tablebench.HTML, score_bench.ELEMENTS}
    assert known == set(all_truth_keys())
    file = page_to_file(Sample("p", "d", 1, page(table())), None)
    for key, meant in (("marker_block", "marker_blocks"), ("rd-tablebench-html", "rd_tablebench_html")):
        with pytest.raises(CorpusError, match=f"{key}.*Did you mean '{meant}'.*dp_bench_page"):
            page_from_file(file.model_copy(update={"annotation": {key: []}}), "p")
    own = {"marker_blocks": [], "of_a_plugin": 1}
    assert page_from_file(file.model_copy(update={"annotation": own}), "p").annotation == own


def test_misspelt_keys_below_a_board_s_own_and_unknown_rules_cost_themselves_and_are_named() -> None:
    element = {"category": "table", "content": {"txt": "", "html": HTML}}
    for spec, truth, where in (
        (
            "dp-bench",
            page(dp_bench_page={"elements": [element]}),
            "elements, entry 1.content has the key 'txt'",
        ),
        ("score-bench", page(score_bench_elements=[{"tpye": "Table", "text": "a"}]), "has the key 'tpye'"),
        ("ohr-bench", page(ohr_bench_questions=[{"anwsers": "5"}]), "'anwsers'.*Did you mean 'answers'"),
        ("parsebench", page(parsebench_cases={"table": {"expected_markdwon": HTML}}), "expected_markdwon"),
    ):
        rows = get_protocol(spec).score_page(truth, Prediction("p", "one", text="a"), None).scores
        assert {row.status for row in rows} == {Status.NO_TRUTH}
        assert all(re.search(where, row.message or "") for row in rows), rows[0].message
    facts = tuple(
        Fact(f"f{k}", "present", rules, {"text": "a b c"})
        for k, rules in enumerate(("olmocr-bench", "olmocr"))
    )
    for spec in ("olmocr", "parsebench"):
        truth = replace(page(), facts=facts)
        rows = get_protocol(spec).score_page(truth, Prediction("p", "one", text="a b c"), None).scores
        named = [row for row in rows if row.message and "unknown rules" in row.message]
        assert [row.status for row in named] == [Status.NO_TRUTH]
        assert "1 fact (f1)" in str(named[0].message) and "known are answers, features, olmocr-bench" in str(
            named[0].message
        )
    assert [row.value for row in rows if row.element] == []


@pytest.mark.parametrize(
    ("field", "value"), [("case_sensitive", "false"), ("page", True), ("max_diffs", True), ("first_n", "3")]
)
def test_a_field_of_the_wrong_type_is_refused(field: str, value: object) -> None:
    test = {"pdf": "a.pdf", "page": 1, "id": "t", "type": "present", "text": "a b", field: value}
    with pytest.raises(CorpusError, match=f"{field} must be .*, not {value!r}"):
        read_test(test)


def test_a_headline_of_several_parts_needs_not_the_first_one() -> None:
    """ParseBench's overall of a corpus without tables: a number with a star, or neither."""
    names = ("p1", "p2")
    missing = np.zeros((2, 2))
    parts = [
        FigureSums(INFO, names, names, {"a": missing, "b": missing}, mean_statistic),
        FigureSums(INFO, names, names, {"a": np.ones((2, 2)), "b": missing}, mean_statistic),
    ]
    whole = mean_of_figures(INFO, parts)
    assert figure_of(whole, "a").value == 1 and figure_of(whole, "b").value is None
    ranking = rank(whole)
    assert ranking.best == "a" and "No Overall, and so no place, for b" in ranking.notes[0]
