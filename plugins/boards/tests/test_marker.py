"""marker's benchmark: blocks scored by its rules, and the results of its own code."""

from pathlib import Path

import pytest
from benchmark_pages import TITLE, WORDS, page, values
from reference_examples import examples, near

from parsemark_boards.marker import protocol as marker


def test_marker_finds_blocks_and_their_order() -> None:
    pytest.importorskip("pypandoc")
    truth = page(TITLE, WORDS)
    assert values("marker", truth, "# Tides\n\nSlack water lasts nine minutes.")["score"] == pytest.approx(
        100
    )
    assert values("marker", truth, "nothing alike here at all")["score"] == pytest.approx(20)
    assert values("marker(unfound_in_order=false)", truth, "nothing alike here at all")["score"] == 0


@pytest.mark.conformance
def test_marker_behind_pandoc(reference_data: Path) -> None:
    for example in examples(reference_data, "marker-benchmark", "clean", "page", "kendall"):
        if example["kind"] == "clean":
            assert marker.without_markup(example["after_pandoc"]) == example["cleaned"], example["id"]
        elif example["kind"] == "kendall":
            assert near(marker.order_score(example["actual_order"]), example["output"]), example["id"]
        else:
            blocks, cleaned = example["gt_blocks"], example.get("cleaned_blocks", example["gt_blocks"])
            known = dict(zip(blocks, cleaned, strict=True))
            known.setdefault(example["prediction"], example.get("cleaned_prediction", ""))
            own = marker.page_score(blocks, example["prediction"], known.__getitem__)
            assert near(own.score, example["score"]), example["id"]
            assert near(own.order, example["order"]), example["id"]
            assert near(list(own.by_block), example["by_block"]), example["id"]
            assert not own.starts or list(own.starts) == example["starts"], example["id"]


@pytest.mark.conformance
def test_marker_with_pandoc(reference_data: Path) -> None:
    pytest.importorskip("pypandoc")
    if "3.9" not in marker.pandoc_version():
        pytest.skip("the examples were made by pandoc 3.9")
    for example in examples(reference_data, "marker-benchmark", "clean", "page"):
        if example["kind"] == "clean":
            assert marker.through_pandoc(example["input"]) == (example["after_pandoc"],), example["id"]
        elif "cleaned_prediction" in example:
            pred = example["prediction"]
            assert marker.cleaned(pred)[pred] == example["cleaned_prediction"], example["id"]
