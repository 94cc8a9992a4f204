"""The page of a choice."""

from pathlib import Path
from typing import Any

import pytest

from parsemark.choosing import Choice, ParserCandidate
from parsemark.protocols import Figure, Verdict
from parsemark.report.choice_page import write_choice
from parsemark.verdicts.run_verdict import BestOnKind

HOSTILE = "<script>alert(1)</script>"


def _candidate(name: str, labels: int, gap: bool, cpu_s: float | None, **more: Any) -> ParserCandidate:
    known = Figure(value=0.8, low=0.7, high=0.9, n=labels) if labels else None
    numbers = {"value_a": 0.6, "value_b": 0.8, "difference": -0.2, "low": -0.3, "high": 0.1}
    state: Any = "not_significant"
    behind = Verdict(a=name, b="good", figure="f", p=0.2, state=state, n_documents=9, **numbers)
    return ParserCandidate(
        name, (name,), 0.7, known, known, behind if gap and labels else None, cpu_s, **more
    )


def choice(*, labels: int) -> Choice:
    signals = {"invented": 0.01, "ragged": 0.1, "errors": (("value wrong", 3),)}
    terms = {"million_pages_usd": 2000.0, "licence": "AGPL-3.0"}
    best = _candidate("good", labels, False, 1.5, **signals, **terms)
    other = _candidate(HOSTILE, labels, True, 0.01, failed=2)
    waiting = () if labels else ("a-p1", HOSTILE)
    done = tuple(f"a-p{k}" for k in range(labels))
    kinds = (BestOnKind("text layer", "none (scan)", 9, "true tables", "good", 0.9, 0.9),) if labels else ()
    return Choice(
        "tables",
        "TE F1",
        (best, other),
        30,
        5,
        done,
        4,
        waiting,
        10,
        by_kind=kinds,
        notes=("One vote each.",),
    )


def many_alike() -> Choice:
    """Six parsers, nearly as good and as fast as each other, one of them with a long name."""
    names = ("pymupdf4llm", "camelot(flavor=stream)", "pymupdf", "pdfplumber", "rapid(words=pdf)", "udoc")
    candidates = tuple(_candidate(name, 10, k > 0, 1 + k / 50) for k, name in enumerate(names))
    cheap = _candidate("pdftotext", 10, True, 0.01)
    done = tuple(f"a-p{k}" for k in range(10))
    return Choice("tables", "TE F1", (*candidates, cheap), 30, 5, done, 4, budget=10)


@pytest.mark.parametrize("labels", [0, 10])
def test_it_says_who_why_and_what_next_and_runs_nothing(tmp_path: Path, labels: int) -> None:
    page = write_choice(choice(labels=labels), "folder:my pdfs", tmp_path).read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert ("0.70 to 0.90" in page) == bool(labels)
    assert ("guesses, not measurements" in page) != bool(labels)
    assert "value wrong (3)" in page
    assert "2,000.00" in page or "2000.00" in page
    assert "AGPL-3.0" in page
    assert ("Scored true tables" in page) == bool(labels)
    assert ("as in <code>bench</code>" in page) == bool(labels)
    assert "&#39;folder:my pdfs&#39;" in page  # quoted for the shell
    assert page.count("<circle") == 2


def test_parsers_without_a_cpu_time_have_no_place_in_the_chart(tmp_path: Path) -> None:
    bare = ParserCandidate("bare", ("bare",), 0.7)
    page = write_choice(Choice("tables", "F1", (bare, bare), 3, 1), "demo", tmp_path)
    assert "<svg" not in page.read_text("utf-8")
