"""The page of a choice."""

from pathlib import Path

import pytest

from parsemark.choose import Choice, ParserCandidate
from parsemark.report.choice_page import write_choice
from parsemark.stats.prediction_powered import Estimate

HOSTILE = "<script>alert(1)</script>"


def choice(*, labels: int) -> Choice:
    known = Estimate(0.8, 0.7, 0.9, 0.05, labels, 0.5) if labels else None
    behind = Estimate(-0.2, -0.3, 0.1, 0.1, labels, 0.5) if labels else None
    best = ParserCandidate(
        "good", ("good",), 0.7, known, None, 1.5, 0.002, 0, 0.01, 0.1, (("value_wrong", 3),)
    )
    other = ParserCandidate(HOSTILE, (HOSTILE,), 0.5, known, behind, 0.01, None, 2)
    waiting = () if labels else ("a-p1", HOSTILE)
    done = tuple(f"a-p{k}" for k in range(labels))
    return Choice("tables", "TE F1", (best, other), 30, 5, done, waiting, 10, False, ("One vote each.",))


def many_alike() -> Choice:
    """Six parsers, nearly as good and as fast as each other, one of them with a long name."""
    names = ("pymupdf4llm", "camelot(flavor=stream)", "pymupdf", "pdfplumber", "rapid(words=pdf)", "udoc")
    known, behind = Estimate(0.9, 0.8, 1.0, 0.05, 10, 0.5), Estimate(-0.2, -0.3, 0.1, 0.1, 10, 0.5)
    candidates = tuple(
        ParserCandidate(name, (name,), 0.9, known, behind if k else None, 1 + k / 50, None, 0)
        for k, name in enumerate(names)
    )
    cheap = ParserCandidate("pdftotext", ("pdftotext",), 0.9, known, behind, 0.01, None, 0)
    done = tuple(f"a-p{k}" for k in range(10))
    return Choice("tables", "TE F1", (*candidates, cheap), 30, 5, done, (), 10, False)


@pytest.mark.parametrize("labels", [0, 10])
def test_it_says_who_why_and_what_next_and_runs_nothing(tmp_path: Path, labels: int) -> None:
    page = write_choice(choice(labels=labels), "folder:my pdfs", tmp_path).read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert ("0.70 to 0.90" in page) == bool(labels)
    assert ("They are no measurements" in page) != bool(labels)
    assert "value wrong (3)" in page
    assert "0.0020" in page
    assert "&#39;folder:my pdfs&#39;" in page  # quoted for the shell
    assert page.count("<circle") == 2


def test_parsers_without_a_cpu_time_have_no_place_in_the_chart(tmp_path: Path) -> None:
    bare = ParserCandidate("bare", ("bare",), 0.7, None, None, None, None, 0)
    page = write_choice(Choice("tables", "F1", (bare, bare), 3, 1, (), (), 0, False), "demo", tmp_path)
    assert "<svg" not in page.read_text("utf-8")
