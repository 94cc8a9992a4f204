"""Truth in the form of a benchmark: validated when it is loaded, by one model for each form."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmark_pages import HTML, page, table, values, write

from parsemark.corpora import load_corpus
from parsemark.corpora.files import page_file_text, page_from_file, page_to_file
from parsemark.corpora.schema import PageFile
from parsemark.errors import CorpusError
from parsemark.model import Fact, Page, Prediction, Sample, Status
from parsemark.protocols import get_protocol
from parsemark.protocols.contract import truth_models
from parsemark.testing import write_corpus
from parsemark_boards.dp_bench.truth import PAGE
from parsemark_boards.getomni import protocol as getomni
from parsemark_boards.marker.protocol import BLOCKS
from parsemark_boards.ohr_bench.results import QUESTIONS
from parsemark_boards.olmocr.truth import read_test
from parsemark_boards.opendataloader.protocol import MARKDOWN
from parsemark_boards.parsebench.truth import CASES
from parsemark_boards.pulsebench.protocol import HTML as PULSE_HTML
from parsemark_boards.rd_tablebench.protocol import HTML as RD_HTML
from parsemark_boards.score_bench.protocol import ELEMENTS

WIDE = "<table><tr><td colspan='100000000000'>a</td></tr></table>"
ODD = "<table><tr><td colspan='two'>a</td></tr></table>"
QUESTION = {"doc_name": "d", "evidence_page_no": 0, "evidence_context": "a", "answers": "5"}


def reloaded(truth: Page) -> Page:
    """A page as it is read from the file that it was written to."""
    return page_from_file(PageFile.model_validate_json(page_file_text(Sample("p", "d", 1, truth), None)), "p")


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        ({RD_HTML: WIDE}, "page p, rd_tablebench_html: The table has more than 250,000 cells"),
        ({RD_HTML: ODD}, "rd_tablebench_html: 'two' is not a number"),
        ({RD_HTML: "no table"}, "a table without cells"),
        ({MARKDOWN: ODD}, "opendataloader_markdown: 'two' is not a number"),
        ({MARKDOWN: 3}, "opendataloader_markdown: must be text"),
        (
            {PAGE: {"elements": [{"categori": "Table"}]}},
            "dp_bench_page.elements.0: .*Did you mean 'category'",
        ),
        ({PAGE: {"elements": [{"category": "Table", "content": {"html": ODD}}]}}, "'two' is not a number"),
        ({PAGE: {"elements": [{"category": "Table", "content": {"text": "a"}}]}}, "needs content.html"),
        ({PAGE: {"elements": [{"category": "list", "content": {"txt": "a"}}]}}, "Did you mean 'text'"),
        ({PAGE: {"elements": [{"category": "list", "content": {}}]}}, "needs content.text"),
        ({ELEMENTS: [1, 2]}, "score_bench_elements.0: must be an object"),
        ({ELEMENTS: [{"tpye": "Table", "text": "a"}]}, "Did you mean 'type'"),
        (
            {ELEMENTS: [{"type": "Table", "text": [{"x": 0, "y": 0, "w": 1, "content": "a"}]}]},
            "h: is missing",
        ),
        ({QUESTIONS: [{"q": 1}]}, "questions.0.doc_name: is missing"),
        ({QUESTIONS: [{k: v for k, v in QUESTION.items() if k != "answers"} | {"anwsers": 5}]}, "'answers'"),
        ({QUESTIONS: [{**QUESTION, "retrieval_results": {"one": [{"text": "a"}]}}]}, "file_name: is missing"),
        ({getomni.JSON: "{not json"}, "trueJsonOutput: must be an object, not text"),
        ({getomni.MARKDOWN: 5}, "trueMarkdownOutput: must be text"),
        ({BLOCKS: ["a", 5]}, "marker_blocks.1: must be text"),
        ({CASES: {"table": {"expected_markdwon": HTML}}}, "Did you mean 'expected_markdown'"),
        ({CASES: {"table": {"flags": {"max_title_rows": 1}}}}, "flags.*(max_top_title_rows|unknown key)"),
    ],
)
def test_a_truth_that_cannot_be_read_is_refused_when_it_is_loaded(
    annotation: dict[str, Any], why: str
) -> None:
    with pytest.raises(CorpusError, match=why) as raised:
        reloaded(page(table(), **annotation))
    assert str(raised.value).startswith("page p, ") and "pydantic" not in str(raised.value)


def test_further_keys_are_kept() -> None:
    annotation = {QUESTIONS: [{**QUESTION, "anwsers": "5", "level": 2}]}
    assert reloaded(page(**annotation)).annotation == annotation


def test_one_bad_page_is_left_out_and_the_others_are_scored(tmp_path: Path) -> None:
    good, bad = (Page(name, 9, 9, (table(),)) for name in ("good", "bad"))
    samples = [Sample(p.id, p.id, 1, p) for p in (good, bad)]
    write_corpus(tmp_path, samples)
    file = tmp_path / "truth" / "bad.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"annotation": {RD_HTML: ODD}}))
    corpus = load_corpus(tmp_path)
    assert corpus.try_read("good") == samples[0]
    assert "page bad, rd_tablebench_html: 'two' is not a number" in str(corpus.try_read("bad"))


@pytest.mark.parametrize(
    "spec", ["rd-tablebench", "rd-tablebench(missing_left_out=true)", "opendataloader", "dp-bench"]
)
def test_elements_that_make_no_truth_for_a_benchmark_count_for_no_parser(spec: str) -> None:
    truth = page(table(ODD))
    for output in (HTML, "no table"):
        prediction = Prediction("p", "one", text=output, elements=(table(),) if output == HTML else ())
        rows = get_protocol(spec).score_page(truth, prediction, None).scores
        assert {row.value for row in rows} == {None} and {row.status for row in rows} == {Status.NO_TRUTH}
        assert all(
            "cannot read the truth of this page: 'two' is not a number" in (r.message or "") for r in rows
        )


def test_a_page_file_may_hold_the_truth_of_a_benchmark() -> None:
    own = page(table(), rd_tablebench_html=HTML.replace(">d<", ">x<"))
    assert reloaded(own).annotation == own.annotation
    assert "annotation" not in json.loads(page_file_text(Sample("p", "d", 1, page(table())), None))
    assert page_to_file(Sample("p", "d", 1, page(layout_dets=[])), None).annotation is None
    assert values("rd-tablebench", own, None, elements=(table(),))["similarity"] < 1


def test_a_page_of_omnidocbench_may_hold_it_too(tmp_path: Path) -> None:
    info = {"width": 9, "height": 9, "image_path": "a.png"}
    good = {"page_info": info, "layout_dets": [], RD_HTML: HTML, "marker_block": 1}
    bad = {"page_info": {**info, "image_path": "b.png"}, "layout_dets": [], RD_HTML: ODD}
    write(tmp_path / "o.json", json.dumps([good, bad]))
    corpus = load_corpus(f"omnidocbench:{tmp_path / 'o.json'}")
    assert corpus.keys == ("a",)
    assert "page 1, rd_tablebench_html: 'two' is not a number" in str(corpus.left_out[0])


def test_a_misspelt_key_is_named() -> None:
    keys = {PAGE, getomni.JSON, getomni.MARKDOWN, BLOCKS, QUESTIONS, MARKDOWN, CASES, RD_HTML, ELEMENTS}
    assert {*keys, PULSE_HTML} == set(truth_models())
    for key, meant in (("marker_block", "marker_blocks"), ("rd-tablebench-html", "rd_tablebench_html")):
        with pytest.raises(CorpusError, match=f"{key}.*Did you mean '{meant}'.*dp_bench_page"):
            reloaded(page(table(), **{key: []}))
    own = {"marker_blocks": [], "of_a_plugin": 1}
    assert reloaded(page(table(), **own)).annotation == own


@pytest.mark.parametrize(
    ("rules", "kind", "arguments", "why"),
    [
        ("olmocr-bench", "table", {"cell": "d", "up": 3}, "page p, fact f: up: must be text"),
        ("olmocr-bench", "present", {"txt": "a"}, "text: is missing"),
        ("olmocr-bench", "presence", {}, "the type must be one of present"),
        ("omni-parse-bench", "present", {"args": {"content": {"text": "a"}}}, "max_diffs: is missing"),
        ("omni-parse-bench", "repeat", {"args": {}, "settings": {}}, "content: is missing"),
        ("parsebench", "layout", {"canonical_class": "Text"}, "bbox: is missing"),
        ("parsebench", "layout", {"canonical_class": "a", "bbox": [0, 0, 1, 1], "content": "a"}, "content: "),
        ("parsebench", "sentiment", {}, "the kind 'sentiment' is none of"),
        ("olmocr", "present", {"text": "a"}, "no protocol has the rules 'olmocr'. Did you mean 'olmocr-b"),
    ],
)
def test_a_fact_that_cannot_be_decided_is_refused_when_it_is_loaded(
    rules: str, kind: str, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(CorpusError, match=why):
        reloaded(replace(page(), facts=(Fact("f", kind, rules, arguments),)))


def test_facts_of_others_are_left_to_them() -> None:
    facts = (Fact("f", "present", "acme", {"words": 1}), Fact("g", "order", "parsebench", {"max_diffs": "x"}))
    assert reloaded(replace(page(), facts=facts)).facts == facts


@pytest.mark.parametrize(("field", "value"), [("case_sensitive", "false"), ("max_diffs", "1"), ("text", 5)])
def test_a_field_of_the_wrong_type_is_refused(field: str, value: object) -> None:
    test = {"pdf": "a.pdf", "page": 1, "id": "t", "type": "present", "text": "a b", field: value}
    with pytest.raises(CorpusError, match=f"{field}: must be "):
        read_test(test)
