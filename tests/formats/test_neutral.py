"""The neutral spelling: what outputs only write differently is the same in it, nothing is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.formats import neutral, read_document, write_table
from parsemark.model import Box, Element, Prediction, Table

WORDS = st.lists(
    st.sampled_from(["tide", "Slack", "water", "9", "minutes", "$x$", "knots.", "The"]),
    min_size=1,
    max_size=12,
)
CELLS = st.sampled_from(["Port", "12.5", "a b", "$y_1$", "n/a"])


@st.composite
def documents(draw: st.DrawFn) -> list[tuple[str, object]]:
    """Blocks: what they are and what they hold."""
    blocks: list[tuple[str, object]] = []
    for kind in draw(
        st.lists(st.sampled_from(["title", "text", "item", "table", "formula"]), min_size=1, max_size=6)
    ):
        if kind == "table":
            width = draw(st.integers(2, 3))
            rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=2, max_size=4))
            blocks.append((kind, rows))
        else:
            blocks.append((kind, " ".join(draw(WORDS))))
    return blocks


def written(blocks: list[tuple[str, object]], *, newlines: int, html: bool, dollars: bool) -> str:
    out = []
    for kind, content in blocks:
        if kind == "table":
            assert isinstance(content, list)
            head, *body = [f"| {' | '.join(row)} |" for row in content]
            pipes = "\n".join([head, "|" + "---|" * len(content[0]), *body])
            text = write_table(Table.from_rows(content), "html") if html else pipes
        else:
            marks = {"title": "## ", "item": "- "}.get(kind, "")
            text = f"{marks}{content}"
            if kind == "formula":
                text = "$$\na + b\n$$" if dollars else "\\[a + b\\]"
        out.append(text if dollars else re.sub(r"\$([^$\n]+)\$", r"\\(\1\\)", text))
    joined, before = "", ""
    for (kind, _), text in zip(blocks, out, strict=True):
        # A pipe table ends only at a blank line.
        joined += ("\n\n" if before == "table" and not html else "\n" * newlines) + text
        before = kind
    return joined.lstrip("\n")


def spelled(text: str) -> Prediction:
    return neutral(Prediction("s", "p", text=text))


@given(documents())
def test_newlines_tables_and_dollars_move_nothing(blocks: list[tuple[str, object]]) -> None:
    base = spelled(written(blocks, newlines=2, html=True, dollars=True))
    for newlines, html, dollars in ((1, True, True), (3, True, True), (2, False, True), (2, True, False)):
        other = spelled(written(blocks, newlines=newlines, html=html, dollars=dollars))
        assert other.text == base.text
        assert [e.table for e in other.elements] == [e.table for e in base.elements]


@given(documents())
def test_it_is_its_own_neutral_form_and_keeps_tables(blocks: list[tuple[str, object]]) -> None:
    once = spelled(written(blocks, newlines=2, html=False, dollars=True))
    assert neutral(once) == once
    tables = [content for kind, content in blocks if kind == "table"]
    assert [list(map(list, e.table.text_rows())) for e in once.elements if e.table] == tables


@given(documents())
def test_no_word_is_lost(blocks: list[tuple[str, object]]) -> None:
    text = written(blocks, newlines=2, html=True, dollars=True)
    assert _words(spelled(text).text or "") == _words(text)


def _words(text: str) -> list[str]:
    return sorted(word for word in re.findall(r"\w+", text) if word not in ("td", "th"))


@pytest.mark.parametrize("rest", ["$x$ is small.", "**this** value.", "*this* one.", r"\(X\) and more."])
def test_lines_that_break_before_a_formula_or_emphasis_go_on(rest: str) -> None:
    assert spelled(f"It is due to\n{rest}").text == spelled(f"It is due to {rest}").text
    assert spelled("Prices\n$5.00\n$6.00").text.count("\n\n") == 2


@pytest.mark.parametrize(
    "line", ["a wrapped line that is long enough to have been broken by its parser and", "One"]
)
def test_lines_that_break_off_in_a_sentence_are_one_paragraph(line: str) -> None:
    assert spelled(f"{line}\ngoes on. Then it ends.\nNext one.").text == (
        f"{line} goes on. Then it ends.\n\nNext one.\n"
    )


def test_boxes_labels_and_what_cannot_be_read_stay() -> None:
    element = Element("p1", "table", box=Box(0, 0, 9, 9), table=Table.from_rows([["a", "b"]]), html="<table>")
    found = neutral(Prediction("s", "p", elements=(element,)))
    assert found.text is None and found.elements[0].box == element.box
    assert found.elements[0].html == "<table>\n<tr><th>a</th><th>b</th></tr>\n</table>"
    labelled = spelled("Text.\n\n<!-- page_footnote -->\n\nA note\n")
    assert [e.category for e in read_document(labelled.text or "").elements] == [
        "text_block",
        "page_footnote",
    ]
    deep = Prediction("s", "p", text="> " * 5000 + "x")
    assert neutral(deep) == deep


SPELLINGS = {
    "formulas": (r"The rate $x^2 < 9$ is.", r"The rate $ x^2 &lt; 9 $ is.", r"The rate \( x^2 < 9 \) is."),
    "prices": ("It costs $5 or $6 now.", r"It costs \$5 or \$6 now.", "It costs &#36;5 or &dollar;6 now."),
    "bullets": ("- one\n- two", "* one\n* two", "+ one\n\n+ two", "• one\n• two"),
    "numbers": ("1. one\n2. two", "1) one\n2) two"),
    "entities": ("Salt & it's 5 € – a < b.", "Salt &amp; it&#39;s 5 &euro; &ndash;&nbsp;a &lt; b."),
    "escapes": ("A_b, #5, 3*4 and 5% [x.", r"A\_b, \#5, 3\*4 and 5\% \[x."),
    "emphasis": ("**Bold** and *thin*.", "__Bold__ and _thin_.", "<b>Bold</b> and <em>thin</em>."),
    "titles": ("## R & D", "## R &amp; D ##", "<h2>R &amp; D</h2>", "R & D\n---"),
    "cells": (
        "| a | b |\n|---|---|\n| R & D | $x$ |",
        "| a | b |\n|:--|--:|\n| R &amp; D | $ x $ |",
        "<table><tr><th>a</th><th>b</th></tr><tr><td>R &amp; D</td><td>\\(x\\)</td></tr></table>",
    ),
}


@pytest.mark.parametrize("spellings", SPELLINGS.values(), ids=SPELLINGS)
def test_what_is_only_spelled_differently_is_the_same(spellings: tuple[str, ...]) -> None:
    forms = {(own.text, tuple(e.html for e in own.elements)) for own in map(spelled, spellings)}
    assert len(forms) == 1, forms
    assert spelled(next(iter(forms))[0] or "").text == next(iter(forms))[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"2\*3\*4 is.", "2*3*4 is."),
        (r"From \$x to\$ y.", "From $x to$ y."),
        ("Write &lt;b&gt; here.", "Write <b> here."),
        ("Write &amp;lt; here.", "Write &lt; here."),
        (r"\# five", "# five"),
        ("It has $ 5 and $ 6 now.", "It has $5 and$ 6 now."),
    ],
)
def test_what_markdown_tells_apart_stays_apart(one: str, other: str) -> None:
    assert spelled(one).text != spelled(other).text


SIGNS = "_*$#&<>[]%.+-|~!()\\; ab1"


@given(st.text(SIGNS, min_size=1, max_size=30).map(lambda text: f"a {text.strip()} z."))
def test_a_neutral_line_is_its_own_neutral_form(line: str) -> None:
    once = spelled(line).text or ""
    assert spelled(once).text == once


def test_marks_without_end_cost_their_length() -> None:
    for mark in ("*", "_", "$ ", "[", "&", "&lt;", "\\_", "<b>", "`"):
        assert spelled("a " + mark * 20_000).text


def test_html_and_markdown_of_one_page_are_alike() -> None:
    html = "<html><body><h2>Tides</h2><p>Slack water.</p><ul><li>one</li><li>two</li></ul></body></html>"
    markdown = "## Tides\n\nSlack water.\n\n- one\n- two\n"
    assert neutral(Prediction("s", "p", text=html, format="html")).text == markdown == spelled(markdown).text
