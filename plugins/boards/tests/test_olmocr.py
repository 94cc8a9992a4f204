"""olmOCR-bench's rules on small cases of our own: what holds, what is wrong with it, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError
from parsemark.formats import write_document
from parsemark.model import Box, Fact, Page, Prediction, Status
from parsemark.protocols import get_protocol
from parsemark.protocols.answers.files import fact_lines
from parsemark.protocols.facts import TooHardError
from parsemark.report.outputs import export_board
from parsemark.store import Run
from parsemark_boards.katex import Render, find_chromium, render_all
from parsemark_boards.near_search import near
from parsemark_boards.olmocr.protocol import OlmocrProtocol, check
from parsemark_boards.olmocr.truth import read_test

TABLE = "| Port | Depth |\n|---|---|\n| Oban | 9.5 |\n| Mull | 7 |"


ANY = {"pdf": "a.pdf", "page": 1, "id": "i"}


def passes(md: str, options: OlmocrProtocol = OlmocrProtocol(), **test: Any) -> bool | None:  # noqa: B008 - frozen
    return check(read_test({"pdf": "a.pdf", "page": 1, "id": "i", **test}), md, no_browser, options).passed


def no_browser(_: str) -> Render | None:
    return None


def test_text_is_found_with_some_differences_and_without_marks_of_markdown() -> None:
    assert passes("The **old** harbour", type="present", text="old harbour")
    assert passes("The old harbor", type="present", text="old harbour", max_diffs=1)
    assert not passes("The old harbour", type="absent", text="old harbour")
    assert passes("tide " * 50 + "end", type="absent", text="end", first_n=50)


def test_order_asks_for_one_place_of_each_text() -> None:
    assert passes("alpha beta gamma", type="order", before="alpha", after="gamma")
    assert not passes("alpha beta gamma", type="order", before="gamma", after="alpha")
    assert not passes("alpha", type="order", before="alpha", after="gamma")


@pytest.mark.parametrize(("relation", "value"), [("up", "Depth"), ("left", "Oban"), ("down", "7")])
def test_a_cell_has_its_neighbours_and_headings(relation: str, value: str) -> None:
    assert passes(
        TABLE, type="table", cell="9.5", top_heading="Depth", left_heading="Oban", **{relation: value}
    )
    assert not passes(TABLE, type="table", cell="9.5", **{relation: "elsewhere"})


def test_defects_are_switches() -> None:
    assert passes("\n", type="present", text="two words")
    assert not passes("\n", OlmocrProtocol(short_text_in_query=False), type="present", text="two words")
    misread = {"type": "present", "text": "abcdefghijkl", "max_diffs": 1}
    assert not passes("xx abcdeZghijkl yy", **misread)
    assert passes("xx abcdeZghijkl yy", OlmocrProtocol(rounding=False), **misread)


def test_formulas_without_a_browser_are_not_tried_unless_they_are_written_the_same() -> None:
    assert passes("so $a+b$ holds", type="math", math="a+b")
    assert passes("no formula", type="math", math="a+b") is False
    assert passes("so $b+a$ holds", type="math", math="a+b") is None


def test_what_upstream_loads_is_loaded() -> None:
    for odd in ({"max_diffs": True}, {"first_n": "x"}, {"page": "one"}, {"pdf": 5}):
        assert read_test({"pdf": "a.pdf", "page": 1, "id": "i", "type": "present", "text": "old", **odd})
    assert passes("the olt harbour", type="present", text="old", max_diffs=True)
    with pytest.raises(IndexError, match="first_n"):
        passes("old", type="present", text="old", first_n="x")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"pdf": "../../etc/x.pdf", "page": 1, "id": "i", "type": "present", "text": "a"}', "path inside"),
        ('{"pdf": "a.pdf", "page": "one", "id": "i", "type": "present", "text": "a"}', "whole number from 1"),
        (
            '{"pdf": "a.pdf", "pdf": "b.pdf", "page": 1, "id": "i", "type": "baseline"}',
            "it has a duplicate key: 'pdf'",
        ),
        ("", "its files are empty"),
    ],
)
def test_lines_that_no_output_can_answer_are_named(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "tests.jsonl").write_text(lines)
    with pytest.raises(CorpusError, match=message):
        load_corpus(f"olmocr-bench:{tmp_path}")


def test_what_the_board_refuses_is_refused() -> None:
    with pytest.raises(CorpusError, match="blank"):
        read_test({**ANY, "type": "footnote", "marker": "1", "appears_before_marker": "** **"})
    for wrong in ({"type": "present", "text": " "}, {"type": "presence", "text": "a"}, {"type": "table"}):
        with pytest.raises(CorpusError):
            passes("", **wrong)


@given(st.text("ab", min_size=1, max_size=8), st.text("ab", max_size=30), st.integers(1, 3))
def test_near_finds_what_a_slow_search_finds(pattern: str, text: str, k: int) -> None:
    from rapidfuzz.distance import Levenshtein

    windows = [text[i:j] for i in range(len(text) + 1) for j in range(i + 1, len(text) + 1)]
    exists = any(Levenshtein.distance(pattern, window) <= k for window in windows)
    found = near(pattern, text, k)
    assert all(Levenshtein.distance(pattern, text[a:b]) <= d <= k for a, b, d in found)
    if len(pattern) > 2 * k:
        assert bool(found) == exists


def test_near_is_what_fuzzysearch_finds() -> None:
    fuzzysearch = pytest.importorskip("fuzzysearch")
    for pattern, text, k in [("comet", "a commet, a comet", 1), ("abcabcabc", "xabcabxabcabcabd" * 3, 2)]:
        theirs = fuzzysearch.find_near_matches(pattern, text, max_l_dist=k)
        assert [(m.end - m.start, m.dist) for m in theirs] == [
            (b - a, d) for a, b, d in near(pattern, text, k)
        ]


HOSTILE = [
    {"md": "<table><tr><td colspan='99999999'>a</td></tr></table>", "type": "table", "cell": "a"},
    {"md": "<table><tr>" * 3000, "type": "table", "cell": "a"},
    {"md": "<table>" + "<tr><td>" * 3000, "type": "table", "cell": "a"},
    {"md": "<h1>" * 50_000, "type": "format", "format": "heading", "text": "a"},
    {"md": "<b" * 50_000, "type": "format", "format": "bold", "text": "a"},
    {"md": "<sup" * 50_000 + ">", "type": "footnote", "marker": "1"},
    {"md": "![" * 50_000, "type": "baseline", "max_length": 3, "max_length_skips_image_alt_tags": True},
    {"md": "\\(" * 50_000, "type": "math", "math": "a"},
    {"md": "*_" * 50_000, "type": "present", "text": "a b"},
    {"md": "ab" * 50_000, "type": "order", "before": "ba" * 20, "after": "ac" * 20, "max_diffs": 19},
]


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case["md"][:8])
def test_hostile_outputs_cost_little_and_are_refused_in_words(case: dict[str, Any]) -> None:
    try:
        passes(**case)
    except TooHardError as error:
        assert "more than" in str(error)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    tests = [
        {"pdf": "sub/a.pdf", "page": 1, "id": "1", "type": "present", "text": "tide"},
        {"pdf": "sub/a.pdf", "page": 1, "id": "2", "type": "present", "text": "moon"},
        {"pdf": "b.pdf", "page": 1, "id": "3", "type": "sentiment", "text": "keel"},
        {"pdf": "b.pdf", "page": 1, "id": "4", "type": "present", "text": " "},
    ]
    (tmp_path / "one.jsonl").write_text("\n\n".join(map(json.dumps, tests)))
    (tmp_path / "two.jsonl").write_text(json.dumps({**tests[0], "pdf": "b.pdf", "text": "rope"}))
    (tmp_path / "engine" / "sub").mkdir(parents=True)
    (tmp_path / "engine" / "sub" / "a_pg1_repeat1.md").write_text("tide only")
    return tmp_path


def test_what_is_wrong_with_a_test_is_said_in_plain_words(bench: Path) -> None:
    good = {"pdf": "b.pdf", "page": 1, "id": "9", "type": "present", "text": "keel"}
    lines = [{**good, "text": 5}, {**good, "type": None}, ["present"], {**good, "page": "x"}, good]
    (bench / "three.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (bench / "pdfs").mkdir()
    demo = next(sample.pdf for sample in load_corpus("demo").samples() if sample.pdf)
    (bench / "pdfs" / "b.pdf").write_bytes(demo.read_bytes())
    corpus = load_corpus(f"olmocr-bench:{bench}")
    told = "\n".join(str(remark) for remark in corpus.remarks)
    for said in (
        "text: must be text",
        "its 'type' is missing",
        "(line 3) left out: it is not a JSON",
    ):
        assert said in told
    assert "1 of 2 PDFs are not there (sub/a.pdf)" in told
    assert "None" not in told and "invalid literal" not in told


def test_a_folder_is_loaded_scored_and_summed_up_as_the_board_does(bench: Path, tmp_path: Path) -> None:
    corpus = load_corpus(f"olmocr-bench:{bench}")
    told = "\n".join(map(str, corpus.remarks))
    assert "1 fact (line 5) of the unknown kind 'sentiment'" in told and "text: must not be blank" in told
    run = import_predictions(tmp_path / "run", corpus, bench / "engine", protocols=("olmocr", "tables"))
    score_run(run, n_workers=1)
    summary = Run.open(run.path).summary("olmocr")
    figures = summary.parsers["engine"]
    # one.jsonl 1 of 2; two.jsonl 0 of 1, as b.pdf has no output; baseline 1 of 2.
    assert figures["overall"].value == pytest.approx((1 / 2 + 0 + 1 / 2) / 3)
    assert figures["group.one.jsonl"].n == 2 and figures["unanswered"].value == 1
    low, high = summary.details["board_interval"]["engine"]
    assert 0 <= low <= figures["overall"].value <= high <= 1
    # Pages of which facts alone are known have no truth for tables.
    assert Run.open(run.path).summary("tables").counts["pages with truth"] == 0
    # What is exported is scored again as it was; a page without output has become an empty one.
    assert len(export_board(run.path, "olmocr", tmp_path / "files")) == 4
    failed = (tmp_path / "files" / "failed-engine.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in failed} == {"2", "1", "b.pdf_baseline"}
    folder = tmp_path / "files" / "engine"
    again = import_predictions(tmp_path / "again", corpus, folder, protocols=("olmocr",))
    score_run(again, n_workers=1)
    same = Run.open(again.path).summary("olmocr").parsers["engine"]["overall"]
    assert same.value == figures["overall"].value
    score_run(run, protocols=["olmocr(errors_void=true)"], n_workers=1)
    assert Run.open(run.path).summary("olmocr(errors_void=true)").parsers["engine"]["overall"].value == 0


def test_facts_are_shown_in_words_with_what_was_written_there() -> None:
    facts = (
        Fact("1", "present", "olmocr-bench", {"text": "slack water", "max_diffs": 1}, box=Box(1, 2, 3, 4)),
        Fact("2", "table", "olmocr-bench", {"cell": "9.5", "up": "Depth"}),
        Fact("3", "order", "olmocr-bench", {"before": "a tide", "after": "a moon"}),
        Fact("4", "math", "olmocr-bench", {"math": "a+b"}),
    )
    page = Page("p", 10, 10, facts=facts, only_facts=True)
    protocol = get_protocol("olmocr")
    views = protocol.presentation().pages
    assert views is not None
    shown = views.view(page, Prediction("p", "one", text=f"slack walter\n\n{TABLE}"))
    assert [(m.truth, m.pred) for m in shown.matches] == [
        ("The page contains 'slack water'. It may differ in 1.", "passed"),
        ("A table has the cell '9.5' with up 'Depth'.", "passed: 9.5"),
        ("'a tide' comes before 'a moon'.", "not passed: 'a tide' is not found"),
        ("The page has the formula a+b.", "not passed: the output has no formula"),
    ]
    assert shown.matches[0].boxes == (Box(1, 2, 3, 4),) and shown.values == {"overall": 0.5}
    failed = views.view(page, Prediction("p", "one", Status.PARSER_FAILED, message="it crashed"))
    assert failed.message == "it crashed" and {m.pred for m in failed.matches} == {"not tried: it crashed"}


@pytest.mark.browser
def test_formulas_are_decided_as_a_browser_draws_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_chromium() is None:
        pytest.skip("no Chromium here")
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    maths = ["\\frac{a}{b}", "x^2", "a \\le b", "\\sum_{i=1}^n i"]
    facts = [Fact(m, "math", "olmocr-bench", {"math": m}, group="g") for m in maths]
    page = Page("p", 10, 10, facts=tuple(facts), only_facts=True)
    text = "So $a/b$ and $x^{2} + 1$ with \\(a \\leq b\\) and \\[\\sum_{i = 1}^{n} i\\]"
    rows = get_protocol("olmocr").score_page(page, Prediction("p", "one", text=text), None).scores
    assert {row.element: row.value for row in rows} == dict(zip(maths, (0, 1, 1, 1), strict=True))
    # What was rendered is kept.
    monkeypatch.setenv("PARSEMARK_CHROMIUM", "/nowhere")
    assert render_all("drawn", maths)[maths[0]] is not None


def test_facts_in_the_form_of_olmocr_bench_hold_there() -> None:
    samples = list(load_corpus("demo").samples())[:6]
    for sample in samples:
        assert sample.truth is not None
        kept = [e for e in sample.truth.elements if e.category not in ("header", "footer", "page_number")]
        text = write_document(kept, literal=True)
        for line in fact_lines([sample], "olmocr"):
            test = read_test(json.loads(line))
            if test["type"] in ("present", "absent", "order"):
                assert check(test, text, lambda _: None, OlmocrProtocol()).passed, test
