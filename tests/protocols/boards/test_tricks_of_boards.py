"""Tricks that pay on other boards, as their rule books list them: they pay there, and not with us."""

from pathlib import Path

import pytest
from tests.corpora.writing import write_corpus

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.metrics.katex import Render
from parsemark.metrics.teds import teds
from parsemark.model import Element, Page, Sample, Table
from parsemark.protocols.getomni import json_accuracy
from parsemark.protocols.marker_bench import page_score
from parsemark.protocols.olmocr.rules import check, read_test
from parsemark.protocols.opendataloader import page_scores
from parsemark.protocols.rd_tablebench import html_similarity
from parsemark.protocols.summary import Summary

ROWS = [[f"{name} {k}" for name in ("Port", "Depth", "Berths", "Light")] for k in range(5)]
TEXT = "Slack water lasts nine minutes at the narrows, and the stream runs at five knots on springs."
OWN = ("tables", "semantic", "document")


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
    assert json_accuracy({"n": 1, "items": [{"a": 1}, {"a": 2}]}, {"n": 1}).score == 1


TRICKS = {
    "blank": "\n",
    "letter": "s",
    "first-row": f"{TEXT}\n\n{html(ROWS[:1])}",
    "filler": f"{TEXT}\n\n{html([['x']], filler='<i></i>' * 1000)}",
    "odd-span": f"{TEXT}\n\n{html([['x']], attributes=' colspan=two')}",
    "no-table": TEXT,
}


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Summary]:
    root = tmp_path_factory.mktemp("tricks")
    elements = (
        Element("1", "text_block", order=0, text=TEXT),
        Element("2", "table", order=1, html=html(ROWS), table=Table.from_rows(ROWS)),
    )
    samples = [Sample(f"p-{k}", f"d-{k}", 1, Page(f"p-{k}", 600, 800, elements)) for k in range(2)]
    write_corpus(root / "corpus", samples, name="tricks")
    corpus = load_corpus(str(root / "corpus"))
    honest = f"{TEXT}\n\n{html(ROWS)}"
    for name, text in {"honest": honest, **TRICKS}.items():
        folder = root / name
        folder.mkdir()
        # The trick on one page of two, as who plays it would choose the hard one.
        (folder / "p-0.md").write_text(honest)
        (folder / "p-1.md").write_text(text)
        run = import_predictions(root / "run", corpus, Path(folder), name=name, protocols=OWN)
    return {summary.protocol: summary for summary in score_run(run, n_workers=1)}


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("protocol", OWN)
def test_they_do_not_pay_with_our_protocols(summaries: dict[str, Summary], protocol: str, trick: str) -> None:
    summary = summaries[protocol]
    honest, tricked = (summary.figure(name, summary.primary) for name in ("honest", trick))
    assert honest is not None and honest.value is not None
    assert tricked is not None and tricked.value is not None
    top = summary.info(summary.primary).top or 1.0
    assert honest.value >= 0.98 * top
    # Of two pages one is lost, or its table: never less than a tenth.
    assert tricked.value < 0.9 * honest.value and tricked.n == honest.n


def test_filler_and_first_rows_do_not_help_our_teds() -> None:
    assert teds(html(ROWS), html([["x"]], filler="<i></i>" * 1000)) < 0.2
    assert teds(html(ROWS), html(ROWS[:1])) < 0.3
