"""DP-Bench: pages scored by its rules, its files, and the results of its own code."""

import json
import re
from pathlib import Path

import benchmark_programs
import pytest
from benchmark_pages import HTML, TITLE, WORDS, page, table, values
from reference_examples import examples, near

from parsemark import score
from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError, UsageError
from parsemark_boards.dp_bench import protocol as dp_bench


def test_dp_bench_looks_at_text_and_the_first_table() -> None:
    truth = page(TITLE, table(), WORDS)
    found = values("dp-bench", truth, f"# Tides\n\n{HTML}\n\nSlack water lasts nine minutes.")
    assert found == {"nid": 1, "teds": 1, "teds_s": 1}
    assert values("dp-bench", page(), "")["nid"] == 0.01
    assert values("dp-bench(empty_is_hundredth=false)", page(), "")["nid"] == 1


def test_corners_in_pixels_lose_their_place_and_nothing_else(tmp_path: Path) -> None:
    element = {"category": "Table", "content": {"html": HTML}, "coordinates": [{"x": 40, "y": 100}] * 4}
    pages = {"a.pdf": {"elements": [element]}, "b.pdf": {"elements": []}}
    (tmp_path / "reference.json").write_text(json.dumps(pages))
    corpus = load_corpus(f"dp-bench:{tmp_path}")
    assert corpus.keys == ("a", "b") and not corpus.left_out
    assert any("a.pdf: 1 element kept without a place" in str(remark) for remark in corpus.remarks)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("{}", "its files are empty"),
        ('{"a.pdf": {"elements": []}, "a.pdf": {"elements": []}}', "has a duplicate key: 'a.pdf'"),
        (
            '{"a.pdf": {"elements": [{"category": "Paragraph", "content": {"text": null}}]}}',
            "needs content.text",
        ),
    ],
)
def test_a_reference_that_cannot_be_used_is_refused(tmp_path: Path, reference: str, message: str) -> None:
    (tmp_path / "reference.json").write_text(reference)
    with pytest.raises(CorpusError, match=re.escape(message)):
        load_corpus(f"dp-bench:{tmp_path}")


def test_its_own_prediction_files_are_read(tmp_path: Path) -> None:
    text = {"category": "Paragraph", "content": {"text": "Net income 9"}}
    found = {"category": "table", "content": {"text": "a b c d", "html": HTML}, "coordinates": [[0, 0]] * 4}
    pages = {"a.pdf": {"elements": [text, found]}, "b.pdf": {"elements": [text]}}
    (tmp_path / "reference.json").write_text(json.dumps(pages))
    outputs = tmp_path / "upstage_241024.json"
    outputs.write_text(json.dumps({"a.pdf": {"api": "2.0", "elements": [text, found]}}))
    run = score(outputs, f"dp-bench:{tmp_path}", protocols="dp-bench", out=tmp_path / "run", workers=1)
    figures = run.summary("dp-bench").parsers["upstage_241024"]
    assert figures["nid"].value == 0.5 and figures["teds"].value == 1 and figures["unanswered"].value == 1
    for wrong, message in (
        ("{}", "the file has no pages"),
        ('{"a.pdf": {"elements": [{"category": "list", "content": {"text": null}}]}}', "needs content.text"),
        ('{"../a.pdf": {"elements": []}}', "no page can be called '../a'"),
    ):
        outputs.write_text(wrong)
        with pytest.raises(UsageError, match=re.escape(message)):
            score(outputs, f"dp-bench:{tmp_path}", protocols="dp-bench", out=tmp_path / "other", workers=1)


@pytest.mark.conformance
def test_dp_bench_scores_the_services_files_as_published(reference_data: Path, tmp_path: Path) -> None:
    root = reference_data / "rules" / "real" / "dp-bench"
    corpus = load_corpus(f"dp-bench:{root}")
    for service, theirs in json.loads((root / "evaluation.json").read_text())["services"].items():
        [path] = (root / "sample_results").glob(f"{service}_*.json")
        run = score(path, corpus, name=service, protocols="dp-bench", out=tmp_path, workers=1)
        figures = run.summary("dp-bench").parsers[service]
        for name in ("nid", "teds", "teds_s"):
            assert near(figures[name].value, theirs[name]), (service, name)


@pytest.mark.conformance
def test_dp_bench_pages(reference_data: Path) -> None:
    for example in examples(reference_data, "dp-bench", "page"):
        if "nid_error" not in example:
            assert near(dp_bench.raw_nid(example["gt"], example["pred"]), example["nid_raw"]), example["id"]
        if "teds_error" in example:
            with pytest.raises((ValueError, ZeroDivisionError)):
                benchmark_programs.page_teds(example["gt"], example["pred"])
            continue
        own = benchmark_programs.page_teds(example["gt"], example["pred"])
        theirs = None if example["teds"] is None else (example["teds"], example["teds_s"])
        assert near(own, theirs), example["id"]


@pytest.mark.conformance
def test_dp_bench_datasets(reference_data: Path) -> None:
    for example in examples(reference_data, "dp-bench", "dataset"):
        truth, pred, theirs = example["gt"], example["pred"], example["output"]
        assert (benchmark_programs.validity_error(truth, pred) is None) == theirs["valid"], example["id"]
        if not theirs["valid"]:
            continue
        if any(key.endswith("_error") and value for key, value in theirs.items()):
            with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
                benchmark_programs.dataset_scores(truth, pred)
            continue
        own = benchmark_programs.dataset_scores(truth, pred)
        assert near(own, {name: theirs[name] for name in own}), example["id"]


@pytest.mark.conformance
def test_dp_bench_on_real_pages(reference_data: Path) -> None:
    root = reference_data / "rules" / "real" / "dp-bench"
    truth = json.loads((root / "reference.json").read_text())
    for service, theirs in json.loads((root / "evaluation.json").read_text())["services"].items():
        [path] = (root / "sample_results").glob(f"{service}_*.json")
        own = benchmark_programs.dataset_scores(truth, json.loads(path.read_text()))
        assert near(own, {name: theirs[name] for name in own}), service
