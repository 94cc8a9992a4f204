"""SCORE: its own results on examples, and the protocol on pages."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from benchmark_pages import HTML, TITLE, WORDS, page, values
from reference_examples import families, same

from parsemark.errors import MissingDependencyError
from parsemark.model import Element, Table
from parsemark.protocols import get_protocol
from parsemark_boards.score_bench import protocol as score_bench

pytest.importorskip("tiktoken")
TABLE = Element("t", "table", order=1, table=Table.from_rows([["a", "b"], ["c", "d"]]))
MARKER = re.compile(r"-+ Unstructured (.+) (Begin|End)")
METRICS = ("cct", "adjusted_cct", "percent_tokens_found", "percent_tokens_added", "element_alignment")


def marked_elements(text: str) -> list[dict[str, str]] | None:
    """The elements of a text with markers; None where it has none."""
    if "Unstructured Plain Text Format" not in text or "---" not in text:
        return None
    found: list[dict[str, str]] = []
    lines: list[str] = []
    depth, outer, inner = 0, "Text", "Text"

    def close(kind: str) -> None:
        if joined := "\n".join(lines).strip():
            found.append({"type": kind, "text": joined})
        lines.clear()

    for line in text.splitlines():
        if "Unstructured Plain Text Format" in line:
            continue
        tag = MARKER.fullmatch(line)
        if tag is None or (tag[2] == "End" and not depth):
            lines.append(line)
        elif tag[2] == "Begin":
            if depth == 0:
                close("Text")
                outer = tag[1]
            elif depth == 1:
                close(outer)
                inner = tag[1]
            depth += 1
        else:
            depth -= 1
            if depth < 2:
                close(inner if depth else outer)
    close("Text" if not depth else outer if depth == 1 else inner)
    return found


def document_scores(pred: list[dict[str, Any]], truth: str) -> dict[str, Any]:
    """The measures of a document whose truth is a text; without markers it has no elements."""
    elements = marked_elements(truth)
    found = score_bench.document_scores(pred, [{"text": truth}] if elements is None else elements)
    if elements is None:
        found |= dict.fromkeys(("adjusted_cct", "element_alignment", "element_consistency"), ValueError())
    elif not isinstance(found["element_consistency"], ValueError):
        matrix = dict(score_bench.type_matrix(pred, elements))
        found["element_consistency"] = {"detection_f1": found["element_consistency"], "matrix": matrix}
    return found


def plain(value: Any) -> Any:
    """Errors, pairs and bytes as the examples write them."""
    if isinstance(value, Exception):
        return {"error": type(value).__name__}
    if isinstance(value, dict):
        return {"|".join(key) if isinstance(key, tuple) else key: plain(own) for key, own in value.items()}
    return float("nan") if value is None else value


def statistics_of(values: Sequence[float], name: str) -> dict[str, float]:
    if not values:
        return {}
    found = {"mean": fmean(values), "min": min(values), "max": max(values)}
    found |= {"std": stdev(values)} if len(values) > 1 else {}
    return {f"{name}_{key}": round(value, 3) for key, value in found.items()}


def run_of(docs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A run over files; a name on one side only has no value."""
    both = [doc for doc in docs if doc.get("pred") is not None and doc.get("gt") is not None]
    scores = [document_scores(doc["pred"], doc["gt"]) for doc in both]
    found: dict[str, Any] = {}
    for name in METRICS:
        own = [score[name] for score in scores]
        zeros, n = sum(value == 0 for value in own), len(own)
        found[name] = {"valid": n, "total": len(docs), "zeros": zeros, "skipped": len(docs) - n}
        found[name] |= statistics_of(own, name)
    matrix = sum((Counter(s["element_consistency"]["matrix"]) for s in scores), Counter[tuple[str, str]]())
    found["element_consistency"] = {"detection_f1": score_bench.consistency(matrix), "matrix": dict(matrix)}
    own_tables = [score_bench.table_scores(doc["pred"], doc["table_gt"]) for doc in both]
    tables: dict[str, float] = {"valid": len(both), "total": len(docs), "zeros": len(docs), "skipped": 0}
    for name in score_bench.TABLES:
        tables |= statistics_of([v for own in own_tables if (v := own[name]) is not None], name)
    return {**found, "tables": tables}


def own_result(family: str, given: dict[str, Any]) -> Any:
    if family == "bag":
        bag = score_bench.token_bag(given["text"])
        return {"bag": {k if isinstance(k, str) else f"0x{k.hex()}": n for k, n in bag.items()}}
    if family == "text":
        truth, pred = given["ground_truth"], given["sample"]
        found: object
        added: object
        try:
            found, added = score_bench.token_shares(truth, pred)
        except ValueError as error:
            found = added = error
        names = ("cct", "percent_tokens_found", "percent_tokens_added")
        return dict(zip(names, (score_bench.cct(truth, pred), found, added), strict=True))
    if family == "cells":
        cells = score_bench.html_cells(given["html"])
        listed = cells and [[c.row, c.col, c.colspan, c.rowspan, c.text] for c in cells]
        return {"cells": listed} if listed is not None else None
    if family == "tables":
        return {**score_bench.table_scores(given["pred"], given["gt"]), "detection_f_beta": 1.0}
    simple = {
        "plain": lambda: {"elements": marked_elements(given["text"]) or []},
        "document": lambda: document_scores(given["pred"], given["gt"]),
        "run": lambda: run_of(given["docs"]),
    }
    return simple[family]()


@pytest.mark.conformance
def test_score_bench_examples(reference_data: Path) -> None:
    for example in families(reference_data, "score-bench"):
        expected = example["expected"]
        if "error" in expected:
            with pytest.raises((TypeError, ValueError)):
                own_result(example["family"], example["input"])
        elif expected == {"cells": None}:
            assert own_result("cells", example["input"]) is None, example["id"]
        else:
            assert same(plain(own_result(example["family"], example["input"])), expected), example["id"]


def test_the_truth_itself_is_worth_one() -> None:
    found = values(
        "score-bench", page(TITLE, TABLE, WORDS), f"# Tides\n\n{HTML}\n\nSlack water lasts nine minutes."
    )
    assert found.pop("percent_tokens_added") == 0
    assert set(found.values()) == {1.0}


def test_missed_tables_leave_the_means_or_are_worth_nothing() -> None:
    found = values("score-bench", page(TITLE, TABLE), "# Tides")
    assert found["overall"] is None and found["detection_f"] == 0
    strict = values("score-bench(no_tables_left_out=false)", page(TITLE, TABLE), "# Tides")
    assert strict["overall"] == strict["table_teds"] == 0


def test_a_special_token_ends_upstreams_run() -> None:
    assert values("score-bench", page(WORDS), "<|endoftext|>")["percent_tokens_found"] is None
    assert (
        values("score-bench(errors_left_out=false)", page(WORDS), "<|endoftext|>")["percent_tokens_found"]
        == 0
    )


def test_one_right_word_is_enough_where_two_tables_are_missed() -> None:
    two = page(TITLE, WORDS, TABLE, Element("u", "table", order=3, table=Table.from_rows([["e", "f"]])))
    assert values("score-bench", two, "water")["adjusted_cct"] == 1


def test_tokens_that_cannot_be_fetched_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(name: str) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr("tiktoken.get_encoding", fails)
    score_bench._encoding.cache_clear()
    try:
        with pytest.raises(MissingDependencyError, match="cl100k_base"):
            get_protocol("score-bench").preload()
    finally:
        score_bench._encoding.cache_clear()


def test_hostile_tables_are_refused() -> None:
    wide = "<table>" + "<tr><td colspan='99999' rowspan='99999'>a</td></tr>" * 3 + "</table>"
    deep = "<table><tr><td>" * 2000
    for text in (wide, deep):
        assert values("score-bench", page(TABLE), text)
