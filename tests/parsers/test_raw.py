"""Raw outputs become predictions; hostile ones become failures with a reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsers.raws import as_raw

from parsemark.formats.limits import MAX_TABLES
from parsemark.model import Box, Prediction, Status
from parsemark.parsers import raw, read_raw
from parsemark.parsers.kit.parsemark_worker import elements_output
from parsemark.parsers.raw import MAX_ELEMENTS


def read(data: object) -> Prediction:
    return read_raw(as_raw(data), "sample", "parser")


def test_elements_keep_what_the_parser_gave() -> None:
    prediction = read(
        {
            "format": "elements",
            "content": "# The page",
            "elements": [
                {
                    "category": "table",
                    "box": [1, 2, 3, 4],
                    "confidence": 0.25,
                    "order": 3,
                    "cells": [
                        {
                            "row": 0,
                            "col": 0,
                            "rowspan": 1,
                            "colspan": 2,
                            "text": "a\n b",
                            "box": [1, 2, 2, 3],
                        },
                        {"row": 1, "col": 1, "text": "c"},
                    ],
                },
                {"category": "title", "text": "The page"},
            ],
        }
    )
    assert prediction.status is Status.OK
    assert prediction.text == "# The page"
    found, title = prediction.elements
    assert (found.id, found.box, found.confidence, found.order) == ("p1", Box(1, 2, 3, 4), 0.25, 3)
    assert found.table is not None
    assert [(c.row, c.col, c.colspan, c.text) for c in found.table.cells] == [
        (0, 0, 2, "a b"),
        (1, 1, 1, "c"),
    ]
    assert title.text == "The page" and title.box is None and title.confidence is None


def test_what_the_page_beside_elements_is_written_in() -> None:
    page = {"format": "elements", "elements": [], "content": "2 * 3 * 4"}
    assert read(page).format == read({**page, "content_format": None}).format == "markdown"
    assert read({**page, "content_format": "text"}).format == "text"
    assert read(elements_output([], text="2 * 3 * 4")).format == "text"
    assert read(elements_output([], markdown="*a*")).format == "markdown"
    for wrong in ("word", 3, ["text"]):
        failed = read({**page, "content_format": wrong})
        assert failed.status is Status.PARSER_FAILED and "content_format" in str(failed.message)


def test_html_and_markdown_elements_are_read() -> None:
    html = "<table><tr><td colspan=2>a</td></tr><tr><td>b</td><td>c</td></tr></table>"
    prediction = read(
        {
            "format": "elements",
            "elements": [
                {"category": "table", "html": html},
                {"category": "table", "markdown": "| a | b |\n|---|---|\n| c | d |"},
                {"category": "table", "markdown": "no table in here"},
            ],
        }
    )
    first, second, third = prediction.tables
    assert first.html == html and first.table is not None and first.table.has_spans
    assert second.table is not None and second.table.text_rows() == [["a", "b"], ["c", "d"]]
    assert third.table is None


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("markdown", "Text\n\n| a | b |\n|---|---|\n| c | d |\n\nmore"),
        ("markdown", "Text\n\n<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"),
        ("html", "<p>x</p><table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"),
        ("latex", r"\begin{tabular}{ll} a & b \\ c & d \end{tabular}"),
    ],
)
def test_tables_are_found_in_text(kind: str, content: str) -> None:
    prediction = read({"format": kind, "content": content})
    (element,) = prediction.tables
    assert element.table is not None
    assert element.table.text_rows() == [["a", "b"], ["c", "d"]]
    assert element.box is None and element.confidence is None
    assert prediction.text == content


CELL = {"row": 0, "col": 0, "text": "x"}


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ({"category": "tabel"}, "category"),
        ({"category": "table", "box": [3, 2, 1, 4]}, "box"),
        ({"category": "table", "box": [1, 2, 3]}, "element 1"),
        ({"category": "table", "box": [0, 0, 1e999, 1]}, "element 1"),
        ({"category": "table", "confidence": 1.5}, "confidence"),
        ({"category": "table", "confidence": "high"}, "element 1"),
        ({"category": "table", "cells": [CELL, CELL]}, "overlaps"),
        ({"category": "table", "cells": [{**CELL, "row": -1}]}, "row"),
        ({"category": "table", "cells": [{**CELL, "row": 1.5}]}, "whole number"),
        ({"category": "table", "cells": [{**CELL, "rowspan": 10**9}]}, "limit"),
        ({"category": "table", "cells": [{**CELL, "row": 10**12}]}, "limit"),
        ({"category": "table", "cells": "cells"}, "element 1"),
        ({"category": "table", "cells": [{**CELL, "row_span": 2}]}, "'row_span'; known keys: box, col"),
        ({"category": "table", "cells": [{**CELL, "text": 1}]}, "1 (int) is not text"),
        ({"category": "table", "bbox": [0, 0, 1, 1]}, "'bbox'; known keys: box"),
        ({"category": "text_block", "text": 5}, "not text"),
        (["table"], "element 1"),
    ],
)
def test_a_bad_element_fails_the_page_with_a_reason(element: object, words: str) -> None:
    prediction = read({"format": "elements", "elements": [element]})
    assert prediction.status is Status.PARSER_FAILED
    assert prediction.elements == ()
    assert words in (prediction.message or "")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[]",
        b"null",
        b'{"format": "pdf"}',
        b'{"format": "markdown"}',
        b'{"format": "markdown", "content": 3}',
        b'{"format": "elements", "elements": {}}',
        as_raw({"format": "elements", "elements": [{"category": "title"}] * (MAX_ELEMENTS + 1)}),
        as_raw({"format": "markdown", "content": "x" * 11_000_000}),
    ],
)
def test_what_is_no_output_fails_the_page(raw: bytes) -> None:
    prediction = read_raw(raw, "sample", "parser")
    assert prediction.status is Status.PARSER_FAILED
    assert prediction.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
ELEMENTS = st.fixed_dictionaries(
    {"category": st.sampled_from(["table", "title"]) | JSON},
    optional=dict.fromkeys(("box", "confidence", "order", "html", "markdown", "cells", "text"), JSON),
)
OUTPUTS = JSON | st.fixed_dictionaries(
    {"format": st.sampled_from(["elements", "markdown", "html", "text", "latex"])},
    optional={"content": st.text() | JSON, "elements": st.lists(ELEMENTS, max_size=3) | JSON},
)


@given(OUTPUTS)
def test_any_output_gives_a_prediction(data: object) -> None:
    prediction = read_raw(json.dumps(data).encode(), "sample", "parser")
    assert prediction.status in (Status.OK, Status.PARSER_FAILED)
    assert (prediction.message is None) == (prediction.status is Status.OK)


@given(st.binary(max_size=200))
def test_any_bytes_give_a_prediction(raw: bytes) -> None:
    assert read_raw(raw, "sample", "parser").status in (Status.OK, Status.PARSER_FAILED)


def test_the_latex_of_an_element_is_kept() -> None:
    elements = [
        {"category": "equation_isolated", "latex": "x^2"},
        {"category": "table", "latex": r"\begin{tabular}{ll}a & b \\ c & d\end{tabular}"},
    ]
    raw = json.dumps({"format": "elements", "elements": elements}).encode()
    formula, table = read_raw(raw, "s", "p").elements
    assert formula.latex == "x^2"
    assert table.latex is not None and table.table.text_rows() == [["a", "b"], ["c", "d"]]


def test_a_table_over_a_limit_costs_itself() -> None:
    absurd = '<table><tr><td colspan="100000">a</td></tr></table>'
    content = f"Words.\n\n{absurd}\n\n<table><tr><td>1</td><td>2</td></tr></table>"
    read = read_raw(json.dumps({"format": "markdown", "content": content}).encode(), "s", "p")
    assert read.status is Status.OK
    assert [e.table.text_rows() for e in read.tables if e.table is not None] == [[["1", "2"]]]
    assert read.message is not None and "100000" in read.message


def test_a_text_of_too_many_tables_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []
    read_tables = raw.read_tables

    def counted(*arguments: Any, leave_out: bool = False) -> Any:
        calls.append(leave_out)
        return read_tables(*arguments, leave_out=leave_out)

    monkeypatch.setattr(raw, "read_tables", counted)
    content = "\\begin{tabular}{l} a \\end{tabular}\n" * (MAX_TABLES + 1)
    prediction = read({"format": "markdown", "content": content})
    assert prediction.status is Status.PARSER_FAILED and "more than 2,000 tables" in str(prediction.message)
    assert calls == [False] and prediction.text == content


def test_an_elements_markup_over_a_limit_costs_its_cells_alone() -> None:
    absurd = '<table><tr><td colspan="100000">a</td></tr></table>'
    good = {"category": "table", "html": "<table><tr><td>b</td></tr></table>"}
    prediction = read(
        {
            "format": "elements",
            "content": None,
            "elements": [{"category": "table", "html": absurd, "box": [1, 2, 3, 4]}, good],
        }
    )
    assert prediction.status is Status.OK and prediction.message is not None
    assert "left out" in prediction.message
    first, second = prediction.tables
    assert first.table is None and first.box == Box(1, 2, 3, 4) and second.table is not None
