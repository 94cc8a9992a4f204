"""Other boards' own results on examples that their code computed."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.protocols.boards import board_programs

from parsemark.errors import FormatError
from parsemark.protocols.boards import dp_bench, getomni, opendataloader, rd_tablebench
from parsemark.protocols.boards import marker_bench as marker

pytestmark = pytest.mark.conformance


def examples(folder: Path, board: str, *kinds: str) -> Iterator[dict[str, Any]]:
    """The examples of a board's files, here and kept back; there must be some of each kind."""
    found = dict.fromkeys(kinds, 0)
    for path in sorted((folder / "rules").glob(f"{board}-[dh]*.jsonl")):
        for line in path.open():
            example = json.loads(line)
            if example["kind"] in kinds:
                found[example["kind"]] += 1
                yield example
    assert all(found.values()), found


def near(own: Any, theirs: Any, tolerance: float = 1e-9) -> bool:
    """Whether two results are equal, numbers up to a tolerance."""
    if isinstance(theirs, dict):
        return own.keys() == theirs.keys() and all(near(own[key], theirs[key], tolerance) for key in theirs)
    if isinstance(theirs, list | tuple):
        return len(own) == len(theirs) and all(
            near(a, b, tolerance) for a, b in zip(own, theirs, strict=True)
        )
    if theirs is None or own is None:
        return own is theirs
    return bool(abs(own - theirs) <= tolerance)


def test_opendataloader_pages(reference_data: Path) -> None:
    for example in examples(reference_data, "opendataloader-bench", "page"):
        if "error" in example:
            with pytest.raises((ValueError, FormatError)):
                opendataloader.page_scores(example["gt"], example["pred"])
        else:
            own = opendataloader.page_scores(example["gt"], example["pred"])
            assert near(own, example["scores"]), example["id"]


def test_opendataloader_conversion_and_headings(reference_data: Path) -> None:
    for example in examples(reference_data, "opendataloader-bench", "convert", "headings"):
        if example["kind"] == "convert":
            assert opendataloader.with_html_tables(example["input"]) == example["output"], example["id"]
        else:
            page = opendataloader.with_html_tables(example["input"])
            assert opendataloader.heading_tree(page) == example["output"], example["id"]


def test_dp_bench_pages(reference_data: Path) -> None:
    for example in examples(reference_data, "dp-bench", "page"):
        if "nid_error" not in example:
            assert near(dp_bench.raw_nid(example["gt"], example["pred"]), example["nid_raw"]), example["id"]
        if "teds_error" in example:
            with pytest.raises((ValueError, ZeroDivisionError)):
                dp_bench.page_teds(example["gt"], example["pred"])
            continue
        own = dp_bench.page_teds(example["gt"], example["pred"])
        theirs = None if example["teds"] is None else (example["teds"], example["teds_s"])
        assert near(own, theirs), example["id"]


def test_rd_tablebench_pairs(reference_data: Path) -> None:
    for example in examples(reference_data, "rd-tablebench", "pair"):
        if "error" in example:
            with pytest.raises(ValueError):
                rd_tablebench.html_similarity(example["gt"], example["pred"])
            continue
        for side in ("gt", "pred"):
            assert rd_tablebench.grid_of_html(example[side]) == example[f"{side}_grid"], example["id"]
        own = rd_tablebench.html_similarity(example["gt"], example["pred"])
        assert near(own, example["similarity"], 1e-6), example["id"]


def test_rd_tablebench_alignments(reference_data: Path) -> None:
    for example in examples(reference_data, "rd-tablebench", "align"):
        a, b = example["a"], example["b"]
        value, steps = rd_tablebench.align(a, b, rd_tablebench.cell_score, example["gap"])
        assert near(value, example["score"], 1e-6), example["id"]
        assert [None if i is None else a[i] for i, _ in steps] == example["aligned_a"]
        assert [None if j is None else b[j] for _, j in steps] == example["aligned_b"]


def test_opendataloader_folders(reference_data: Path) -> None:
    for example in examples(reference_data, "opendataloader-bench", "folder"):
        pages, evaluated = [], []
        for document in example["documents"]:
            try:
                pages.append(opendataloader.page_scores(document["gt"], document.get("pred", "")))
            except (ValueError, FormatError):
                continue
            evaluated.append(document["document_id"])
        assert evaluated == example["evaluated"], example["id"]
        theirs = example["metrics"]
        own = {f"{name}_mean": value for name, value in board_programs.means(pages).items()}
        assert near(own, theirs["score"]), example["id"]
        for name in opendataloader.OVERALL:
            assert sum(page[name] is not None for page in pages) == theirs[f"{name}_count"]


def test_dp_bench_datasets(reference_data: Path) -> None:
    for example in examples(reference_data, "dp-bench", "dataset"):
        truth, pred, theirs = example["gt"], example["pred"], example["output"]
        assert (board_programs.validity_error(truth, pred) is None) == theirs["valid"], example["id"]
        if not theirs["valid"]:
            continue
        if any(key.endswith("_error") and value for key, value in theirs.items()):
            with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
                board_programs.dataset_scores(truth, pred)
            continue
        own = board_programs.dataset_scores(truth, pred)
        assert near(own, {name: theirs[name] for name in own}), example["id"]


ENGINES = (
    "docling",
    "marker",
    "markitdown",
    "mineru",
    "opendataloader",
    "opendataloader-hybrid",
    "pymupdf4llm",
)


@pytest.mark.parametrize("engine", ENGINES)
def test_opendataloader_on_real_pages(reference_data: Path, engine: str) -> None:
    root = reference_data / "rules" / "real" / "opendataloader-bench"
    theirs = json.loads((root / "prediction" / engine / "evaluation.json").read_text())
    for document in theirs["documents"]:
        name = f"{document['document_id']}.md"
        truth = (root / "ground-truth" / "markdown" / name).read_text()
        output = root / "prediction" / engine / "markdown" / name
        own = opendataloader.page_scores(truth, output.read_text() if output.exists() else "")
        assert near(own, document["scores"]), name


def test_dp_bench_on_real_pages(reference_data: Path) -> None:
    root = reference_data / "rules" / "real" / "dp-bench"
    truth = json.loads((root / "reference.json").read_text())
    for service, theirs in json.loads((root / "evaluation.json").read_text())["services"].items():
        [path] = (root / "sample_results").glob(f"{service}_*.json")
        own = board_programs.dataset_scores(truth, json.loads(path.read_text()))
        assert near(own, {name: theirs[name] for name in own}), service


def number(value: Any) -> float:
    return math.nan if value == "NaN" else value


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
