"""The rules of the published profiles, each on a small page of our own."""

import dataclasses
import json
import random
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import slowness

from parsemark.formats import markdown_of
from parsemark.kernels import kernel
from parsemark.kernels.assignment import linear_sum_assignment
from parsemark.model import Element, Page, Prediction, Status, Table
from parsemark.parsers.raw import read_raw
from parsemark.protocols import get_protocol
from parsemark.protocols.document.annotation import annotation_of
from parsemark.protocols.document.omnidocbench import formulas, table_html
from parsemark.protocols.document.omnidocbench.extract import extract
from parsemark.protocols.document.omnidocbench.measures import measure_pages, metric_result
from parsemark.protocols.document.omnidocbench.page import PageRecords, page_records
from parsemark.protocols.document.omnidocbench.profile import PROFILES, V1_0, V1_5, V1_6, V1_6_FIXED
from parsemark.protocols.document.omnidocbench.records import MarkdownItem
from parsemark.protocols.document.omnidocbench.scan import spans
from parsemark.protocols.document.omnidocbench.table_lines import items_of_tables, table_lines
from parsemark.protocols.document.summary import TABLES_ONLY

FOX = "the quick brown fox jumps over the lazy dog near the river bank"
MARKETS = "a completely different sentence about economics and markets"
ALL = list(PROFILES.values())


def page(*dets: dict[str, Any], relation: list[Any] | None = None) -> dict[str, Any]:
    filled = [{"anno_id": i, "ignore": False, "attribute": {}, **det} for i, det in enumerate(dets)]
    info = {"image_path": "images/p.jpg", "page_attribute": {"language": "english", "special_issue": ["x"]}}
    return {"layout_dets": filled, "page_info": info, "extra": {"relation": relation or []}}


def text(content: str, order: int, **more: Any) -> dict[str, Any]:
    return {"category_type": "text_block", "text": content, "order": order, **more}


def edits(records: PageRecords) -> list[float]:
    return [record.edit for record in records.text]


@pytest.mark.parametrize("profile", ALL, ids=lambda p: p.name)
def test_a_perfect_page_is_perfect(profile: Any) -> None:
    truth = page(
        text(FOX, 1),
        {"category_type": "table", "html": "<table><tr><td>a</td><td>b</td></tr></table>", "order": 2},
        text(MARKETS, 3),
    )
    markdown = f"{FOX}\n\n<table><tr><td>a</td><td>b</td></tr></table>\n\n{MARKETS}"
    result = metric_result(measure_pages([(truth, page_records(truth, markdown, profile))], profile), profile)
    assert result["text_block"]["all"]["Edit_dist"]["ALL_page_avg"] == 0
    assert result["table"]["all"]["TEDS"]["all"] == 1
    assert result["text_block"]["page"]["Edit_dist"] == {"ALL": 0.0, "language: english": 0.0, "x": 0.0}


def random_table(random_of: random.Random) -> str:
    """A table as parsers write them, sometimes damaged, with texts that HTML and NFKC change."""
    texts = [
        "a",
        " ",
        "\n",
        "1.5",
        "＜",
        "&amp;",
        "&lt;",
        "&nbsp;",
        ">",
        "$x$",
        "\\pm",
        " - ",
        "—",
        "\u200b",
        "< 5",
        "x<y",
        "％",
    ]
    attributes = [
        ' colspan="2"',
        ' rowspan="3"',
        ' style="a: b"',
        ' align=""',
        ' class="x"',
        " colspan=2",
        " ",
    ]
    inner = ["b", "i", "sup", "span", "p", "td", "th", "table"]

    def text() -> str:
        return "".join(random_of.choices(texts, [4] * 7 + [1] * (len(texts) - 7), k=random_of.randrange(4)))

    def attributes_of() -> str:
        return "".join(random_of.choices(attributes, [9, 9, 5, 5, 1, 1, 1], k=random_of.choice((0, 0, 1, 2))))

    def content(depth: int = 0) -> str:
        parts = text()
        if depth < 3 and random_of.random() < 0.3:
            tag = random_of.choice(inner)
            end = tag if random_of.random() < 0.97 else random_of.choice(inner)
            parts += f"<{tag}{attributes_of()}>{content(depth + 1)}</{end}>{text()}"
        if random_of.random() < 0.08:
            parts += (
                random_of.choice(["<br>", "<br>", "<br/>", "</td>", "<!-- c -->", "<img>", "<TD>"]) + text()
            )
        return parts

    rows = ""
    for _ in range(random_of.randrange(1, 4)):
        cell = random_of.choice(("td", "td", "th"))
        cells = [f"<{cell}{attributes_of()}>{content()}</{cell}>" for _ in range(random_of.randrange(4))]
        rows += (
            f"<tr>{random_of.choice(['', ' ', chr(10)]).join(cells)}</tr>{random_of.choice(['', chr(10)])}"
        )
    if random_of.random() < 0.5:
        rows = f"<thead>{rows}</thead> <tbody>{rows}</tbody>"
    return f"<table{attributes_of()}>{rows}</table>"


@pytest.mark.parametrize("profile", [V1_5, V1_6], ids=lambda p: p.name)
def test_plain_tables_are_read_as_beautiful_soup_reads_them(profile: Any) -> None:
    random_of, n_quick = random.Random(7), 0
    for _ in range(150):
        table = random_table(random_of)
        for source in (table, table_html.norm_table(table, profile)):
            quick = table_html._quickly_simplified(source, profile)
            n_quick += quick is not None
            assert quick in (None, table_html._simplified_by_tree(source, profile))
    assert n_quick > 80


def test_a_byte_order_mark_stays_in_the_text() -> None:
    raw = json.dumps({"format": "markdown", "content": f"\ufeff{FOX}"}).encode()
    (record,) = page_records(page(text(FOX, 1)), markdown_of(read_raw(raw, "p", "x")), V1_5).text
    assert record.pred == f"\ufeff{FOX}" and record.norm_pred == record.norm_gt


def test_extra_text_counts_in_the_first_version_only() -> None:
    markdown = f"{FOX}\n\nwords that nobody wrote"
    assert edits(page_records(page(text(FOX, 1)), markdown, V1_0)) == [0, 1]
    assert edits(page_records(page(text(FOX, 1)), markdown, V1_5)) == [0]


def test_the_first_table_has_no_place_unless_the_defect_is_mended() -> None:
    truth = page({"category_type": "table", "html": "<table><tr><td>a</td></tr></table>", "order": 1})
    markdown = "<table><tr><td>a</td></tr></table>"
    for profile, places in ((V1_6, []), (V1_6_FIXED, [1]), (PROFILES["v1.7"], [1])):
        order = page_records(truth, markdown, profile).order
        assert order is not None and order.pred == places


def test_a_table_that_answers_no_table_is_matched_as_text_in_v1_7() -> None:
    words = FOX.split()
    rows = "".join(f"<tr><td>{word}</td></tr>" for word in words)
    drawn = f"<table><tr><th>{FOX}</th></tr></table>"
    assert edits(page_records(page(text(FOX, 1)), drawn, V1_6)) == [1]
    assert edits(page_records(page(text(FOX, 1)), drawn, PROFILES["v1.7"])) == [0]
    items = items_of_tables([MarkdownItem("html_table", f"<table>{rows}</table>", 7, 90)])
    assert [item.content for item in items] == words and [item.start for item in items][:3] == [7, 8, 9]
    assert table_lines("<table><tr><td>a b</td><td></td><td>$\\alpha$</td></tr></table>") == ["ab α"]


def test_parts_of_a_cut_paragraph_are_joined() -> None:
    relation = [
        {"relation_type": "truncated", "source_anno_id": 0, "target_anno_id": 1},
        {"relation_type": "truncated", "source_anno_id": 1, "target_anno_id": 2},
    ]
    truth = page(text("one ", 1), text("two ", 2), text("three", 3), relation=relation)
    assert [r.gt for r in page_records(truth, FOX, V1_6).text] == ["one two three"]
    assert [r.gt for r in page_records(truth, FOX, V1_5).text] == ["one two two three"]


def test_switches_differ_between_versions() -> None:
    switches = [field.name for field in dataclasses.fields(V1_6) if field.name != "name"]
    differ = {name for name in switches if getattr(V1_6, name) != getattr(V1_6_FIXED, name)}
    assert differ == {"index_zero_is_missing", "filters_strings_only"}
    assert V1_6.missing_page_is_empty and not V1_5.missing_page_is_empty


@settings(max_examples=200)
@given(st.text(alphabet="$\\[]()ab\n", max_size=40), st.booleans())
def test_linear_scan_finds_what_the_regular_expression_finds(content: str, dotall: bool) -> None:
    import re

    pattern = r"\$\$(.*?)\$\$|\\\[(.*?)\\\]|\$(.*?)\$|\\\((.*?)\\\)"
    expected = [m.span() for m in re.finditer(pattern, content, re.DOTALL if dotall else 0)]
    pairs = (("$$", "$$"), ("\\[", "\\]"), ("$", "$"), ("\\(", "\\)"))
    assert [(s.start, s.end) for s in spans(content, pairs, dotall=dotall)] == expected


PIECES = [
    FOX,
    MARKETS,
    "# Title",
    "| a | b |",
    "|---|---|",
    "| 1:2 | x |",
    "$x_1$",
    "$$a=b$$",
    "\\[ c \\]",
    "\\( d",
    "<table><tr><td>1+2=3</td></tr></table>",
    "<table>",
    "</table>",
    "```python",
    "```",
    "![f=1](u)",
    "$",
    "{",
    "\\begin{tabular}{c}1\\end{tabular}",
    "$$\\begin{array}{l} a \\\\ b \\end{array}$$",
    "\\text{ x }",
    "中文，①",
    "<div>Figure</div>",
    "\\begin{cases} a \\\\ b \\end{cases}",
    "}",
    "\\",
    "3 + 4 = 7 \\quad 1/2=0.5",
    "",
]


@pytest.mark.parametrize("profile", ALL, ids=lambda p: p.name)
def test_no_page_fails(profile: Any) -> None:
    """Whatever is on a page, it is matched and measured, and each truth is answered for."""
    rng = random.Random(5)
    for _ in range(150):
        markdown = rng.choice(["\n\n", "\n"]).join(rng.choices(PIECES, k=rng.randint(0, 12)))
        truth = page(
            *(text(t, k, ignore=rng.random() < 0.2) for k, t in enumerate(rng.choices(PIECES, k=4))),
            {"category_type": "equation_isolated", "latex": rng.choice(PIECES), "order": rng.randint(0, 9)},
            {"category_type": "table", "html": rng.choice(PIECES), "order": None},
            {"category_type": "header", "text": rng.choice(PIECES), "order": None},
        )
        records = page_records(truth, markdown, profile)
        result = metric_result(measure_pages([(truth, records)], profile), profile)
        assert set(result) == {"text_block", "display_formula", "table", "reading_order"}


HOSTILE = {
    "pipes": "|" * 200_000,
    "dollars": "$" * 100_001,
    "brackets": "\\[" * 100_000,
    "images": "![" * 100_000,
    "open tables": "<table>" * 20_000 + "</table>" * 3,
    "nested tables": "<table><tr><td>" * 100 + "x" + "</td></tr></table>" * 100,
    "one line": "word " * 100_000,
    "braces": "$" + "{" * 50_000 + "$",
    "titles": "\\title {" * 50_000 + "}",
    "fences": "```a\n" * 50_000,
    "garbage": "".join(chr(c) for c in range(1, 0xD000)),
}


@pytest.mark.parametrize("profile", ALL, ids=lambda p: p.name)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markdown_is_read_in_bounded_time(profile: Any, name: str) -> None:
    start = time.process_time()
    extract(HOSTILE[name], profile)
    assert time.process_time() - start < 30 * slowness()  # seconds; a quadratic step would need hours


def test_formulas_are_assigned_as_if_each_could_go_without_an_answer() -> None:
    """The published matrix has rows and columns for that; where they are left out nothing changes."""
    rng = np.random.default_rng(5)
    solve = linear_sum_assignment()
    for _ in range(3000):
        g, p = int(rng.integers(1, 7)), int(rng.integers(1, 14))
        # Few different values, most of them 1: of unlike formulas many assignments are equally good.
        distances = np.where(rng.random((g, p)) < 0.6, 1.0, rng.integers(0, 5, (g, p)) / 4)
        square = np.ones((g + p, g + p))
        square[:g, :p], square[g:, p:] = distances, 0
        found = solve(formulas._with_stand_ins(distances))[1][:g]
        assert np.minimum(found, p).tolist() == np.minimum(solve(square)[1][:g], p).tolist()


def test_thousands_of_formulas_need_no_square_of_memory() -> None:
    assert formulas._with_stand_ins(np.ones((1, 100_000))).size == 100_000


def test_a_formula_of_many_rows_is_aligned_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row begins hundreds of runs; without the alignment every truth still has its record."""
    rows = [f"a_{{{k}}} = {k}" for k in range(40)]
    truths = [{"category_type": "equation_isolated", "latex": row, "order": k} for k, row in enumerate(rows)]
    markdown = "$$\\begin{array}{l} " + " \\\\ ".join(rows) + " \\end{array}$$"
    compared: list[str] = []
    distance = kernel.levenshtein

    def counted(a: str, b: str) -> int:
        compared.append(a)
        return distance(a, b)

    monkeypatch.setattr(formulas, "kernel", SimpleNamespace(levenshtein=counted))
    assert [r.edit for r in page_records(page(*truths), markdown, V1_6).formulas] == [0.0] * 40
    assert len(compared) > 50_000
    for bound, most in (("_MAX_COMPARISONS", 1000), ("_MAX_PREDICTIONS", 10)):
        compared.clear()
        with monkeypatch.context() as bounded:
            bounded.setattr(formulas, bound, most)
            assert len(page_records(page(*truths), markdown, V1_6).formulas) == 40
        assert len(compared) < 3000, bound


@pytest.mark.parametrize("profile", ["v1.0", "v1.5", "v1.6"])
def test_what_our_own_reader_refuses_is_scored_as_the_published_code_does(profile: str) -> None:
    """The published profiles need no table of ours: an absurd span costs a rename, not the page."""
    words = "The quick brown fox jumps over the lazy dog"
    html = '<table><tr><td colspan="999999999">a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>'
    raw = json.dumps({"format": "markdown", "content": f"{words}\n\n{html}"}).encode()
    prediction = read_raw(raw, "p", "parser")
    # A table over a limit costs itself, not the page; the text is whole for those who read it by other rules.
    assert prediction.status is Status.OK and not prediction.elements
    assert prediction.text is not None and html in prediction.text and "left out" in str(prediction.message)
    table = Element("t", "table", order=1, table=Table.from_rows([["a", "b"], ["1", "2"]]))
    truth = Page("p", 600, 800, (Element("x", "text_block", order=0, text=words), table))
    rows = get_protocol(f"document(profile={profile})").score_page(truth, prediction, None).scores
    values = {row.metric: row.value for row in rows if row.element == ""}
    assert values["text_edit"] == 0
    assert values["teds"] == pytest.approx(1 - 1 / 6)


@pytest.mark.parametrize("profile", ["v1.0", "v1.5", "v1.6", "v1.6-fixed", "v1.7"])
@pytest.mark.parametrize("first", [-3, 0, 1, 7])
def test_reading_order_has_the_first_element_wherever_a_corpus_begins_to_count(
    profile: str, first: int
) -> None:
    contents = (FOX, MARKETS, "another paragraph, which speaks of sailing boats and the wind at sea")
    elements = [Element(f"e{i}", "text_block", order=first + i, text=t) for i, t in enumerate(contents)]
    head = Element("h", "header", order=None, text="running head")
    truth = Page("p", 600, 800, (head, *elements))
    protocol = get_protocol(f"document(profile={profile})")

    def order_edit(*said: str) -> float | None:
        rows = protocol.score_page(truth, Prediction("p", "parser", text="\n\n".join(said)), None).scores
        return next(row.value for row in rows if row.element == "" and row.metric == "order_edit")

    assert order_edit(*contents) == 0
    assert order_edit(contents[1], contents[0], contents[2]) == pytest.approx(2 / 3)
    orders = [det["order"] for det in annotation_of(truth)["layout_dets"]]
    assert orders[0] is None and min(orders[1:]) == max(first, 1)


def test_an_annotation_of_omnidocbench_is_scored_as_it_is_written() -> None:
    written = page(text(FOX, 0), text(MARKETS, 1))
    truth = Page("p", 600, 800, (Element("0", "text_block", order=0, text=FOX),), annotation=written)
    assert annotation_of(truth) is written


ELEMENTS = (
    Element("h", "header", text="Annals of a_b * c"),
    Element("t", "title", order=1, text="2. Methods"),
    Element("a", "text_block", order=2, text="Costs of 5_a * 3 [1] & `code` | more"),
    Element("c", "table_caption", order=3, text="Table 2: Results of all"),
    Element("d", "table", order=4, table=Table.from_rows([["a", "b"], ["1", "2"]])),
    Element("e", "equation_isolated", order=5, latex="E = mc^2"),
    Element("f", "page_footnote", text="A note below the page"),
)


@pytest.mark.parametrize("profile", list(PROFILES))
def test_elements_are_scored_as_the_markdown_that_they_make(profile: str) -> None:
    """Without escapes and comments, which these rules count as text."""
    prediction = Prediction("p", "parser", elements=ELEMENTS)
    rows = get_protocol(f"document(profile={profile})").score_page(
        Page("p", 600, 800, ELEMENTS), prediction, None
    )
    found = {row.metric: row.value for row in rows.scores if row.element == ""}
    assert (found["text_edit"], found["table_edit"], found["formula_edit"], found["teds"]) == (0, 0, 0, 1)


@pytest.mark.parametrize("profile", list(PROFILES))
def test_a_page_of_tables_alone_counts_but_a_parser_of_tables_alone_is_told(profile: str) -> None:
    prediction = Prediction("p", "parser", elements=tuple(e for e in ELEMENTS if e.category == "table"))
    rows = get_protocol(f"document(profile={profile})").score_page(
        Page("p", 600, 800, ELEMENTS), prediction, None
    )
    found = {row.metric: (row.value, row.message) for row in rows.scores if row.element == ""}
    assert found["text_edit"] == (1, TABLES_ONLY) and found["teds"] == (1, None)
