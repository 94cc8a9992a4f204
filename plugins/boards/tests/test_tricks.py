"""Tricks that pay in the benchmarks, as their rule books list them: defects that are kept."""

import pytest
from benchmark_programs import html_similarity

from parsemark_boards.getomni.protocol import json_accuracy
from parsemark_boards.katex import Render
from parsemark_boards.marker.protocol import page_score
from parsemark_boards.olmocr.protocol import check
from parsemark_boards.olmocr.truth import read_test
from parsemark_boards.opendataloader.protocol import page_scores

ROWS = [[f"{name} {k}" for name in ("Port", "Depth", "Berths", "Light")] for k in range(5)]
TEXT = "Slack water lasts nine minutes at the narrows, and the stream runs at five knots on springs."


def html(rows: list[list[str]], filler: str = "", attributes: str = "") -> str:
    body = "".join(
        "<tr>" + "".join(f"<td{attributes}>{c}{filler}</td>" for c in row) + "</tr>" for row in rows
    )
    return f"<table>{body}</table>"


def no_browser(_: str) -> Render | None:
    return None


def test_the_tricks_pay_where_the_books_say() -> None:
    blank = read_test({"pdf": "a", "page": 1, "id": "i", "type": "present", "text": "nine minutes"})
    assert check(blank, "\n", no_browser).passed
    filled = page_scores(html(ROWS), html([["x"]], filler="<i></i>" * 1000))["teds"]
    assert filled is not None and filled > 0.95
    with pytest.raises(ValueError, match="invalid literal"):
        page_scores(html(ROWS), html(ROWS, attributes=" colspan='two'"))
    assert html_similarity(html(ROWS), html(ROWS[:1])) == 1
    assert page_score([TEXT], "s", str.lower).score == pytest.approx(100)
    assert page_score([TEXT], "unlike words", str.lower).score == pytest.approx(20)
    assert json_accuracy({"n": 1, "items": [{"a": 1}, {"a": 2}]}, {"n": 1}) == 1
