"""getomni's benchmark: text and JSON scored by its rules, and the results of its own code."""

import math
from pathlib import Path
from typing import Any

import pytest
from benchmark_pages import page, values
from reference_examples import examples

from parsemark_boards.getomni import protocol as getomni


def test_getomni_compares_text_and_json() -> None:
    truth = page(trueMarkdownOutput="Tides", trueJsonOutput={"a": 1, "b": 2})
    found = values("getomni", truth, '{"a": 1, "b": 3}')
    assert found["json_accuracy"] == 0.5 and found["text_similarity"] is not None
    assert values("getomni", truth, "")["json_accuracy"] is None
    assert values("getomni(empty_left_out=false)", truth, "")["json_accuracy"] == 0


def test_an_exact_transcript_scores_one_whatever_marks_the_truth_has() -> None:
    truth = page(trueMarkdownOutput="<!-- header -->\nTides\n\nHigh and low.\n<!-- footer -->\n7")
    transcript = "Tides\n\nHigh and low.\n7"
    assert values("getomni", truth, transcript)["text_similarity"] == 1
    assert values("getomni(page_marks=true)", truth, transcript)["text_similarity"] < 1


def test_the_worked_example_of_the_docs() -> None:
    """`docs/getomni.md`: 2 of 12 characters differ."""
    assert getomni.text_similarity(" Net income\n9", "net Income 8 ") == 0.8333


def number(value: Any) -> float:
    return math.nan if value == "NaN" else value


@pytest.mark.conformance
def test_getomni_json_and_text(reference_data: Path) -> None:
    for example in examples(reference_data, "getomni-benchmark", "json", "text"):
        if example["kind"] == "text":
            own = getomni.text_similarity(example["original"], example["predicted"])
        else:
            ignore = example.get("ignore_cases", False)
            both = example["actual"], example["predicted"]
            own, stats = getomni.json_accuracy(*both, ignore_cases=ignore), example["stats"]
            counts, n_fields, diff = getomni.json_changes(*(map(getomni.upper, both) if ignore else both))
            assert diff == example["diff"], example["id"]
            assert n_fields == example["total_fields"], example["id"]
            assert counts == {name: stats[name] for name in counts}, example["id"]
        assert own == pytest.approx(number(example["score"]), abs=1e-9, nan_ok=True), example["id"]
