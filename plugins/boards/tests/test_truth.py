"""Truth in the form of a benchmark: what is read, and what is refused."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmark_pages import HTML, page, table, values

from parsemark.corpora.files import page_from_file, page_to_file
from parsemark.errors import CorpusError
from parsemark.model import Fact, Prediction, Sample, Status
from parsemark.protocols import get_protocol
from parsemark.protocols.contract import all_truth_keys
from parsemark_boards.dp_bench import protocol as dp_bench
from parsemark_boards.getomni import protocol as getomni
from parsemark_boards.marker import protocol as marker
from parsemark_boards.ohr_bench import protocol as ohr_bench
from parsemark_boards.olmocr.protocol import read_test
from parsemark_boards.opendataloader import protocol as opendataloader
from parsemark_boards.parsebench import protocol as parsebench
from parsemark_boards.rd_tablebench import protocol as rd_tablebench
from parsemark_boards.score_bench import protocol as score_bench

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


def test_a_fact_that_cannot_be_read_is_charged_to_nobody_and_costs_only_itself() -> None:
    asked = (("table", {"cell": "d", "up": 3}), ("present", {"text": "a b c"}), ("present", {"txt": "a"}))
    facts = tuple(Fact(f"f{k}", kind, "olmocr-bench", own) for k, (kind, own) in enumerate(asked))
    prediction = Prediction("p", "one", text=f"a b c\n\n{HTML}")
    rows = get_protocol("olmocr").score_page(replace(page(table()), facts=facts), prediction, None).scores
    assert [row.value for row in rows] == [None, 1.0, None]
    assert [row.status for row in rows] == [Status.NO_TRUTH, Status.OK, Status.NO_TRUTH]
    assert all("cannot be read: fact f" in (row.message or "") for row in rows if row.value is None)


def test_a_misspelt_key_of_a_board_is_named() -> None:
    known = {dp_bench.PAGE, getomni.JSON, getomni.MARKDOWN, marker.BLOCKS, ohr_bench.QUESTIONS}
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
