"""opendataloader-bench: pages scored by its rules, its files, and the results of its own code."""

import json
from pathlib import Path

import benchmark_programs
import pytest
from benchmark_pages import HTML, TITLE, WORDS, page, values, write
from reference_examples import examples, near

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import FormatError, UsageError
from parsemark.report.outputs import export_board
from parsemark_boards.opendataloader import protocol as opendataloader


def test_the_truth_itself_scores_one_in_opendataloader_as_far_as_it_can() -> None:
    found = values("opendataloader", page(TITLE, WORDS), "# Tides\n\nSlack water lasts nine minutes.")
    assert found["nid"] == found["mhs"] == found["overall"] == 1 and found["teds"] is None
    with_table = page(opendataloader_markdown=f"# a\n\n{HTML}")
    assert values("opendataloader", with_table, f"# a\n\n{HTML}")["teds"] == 1


def test_a_span_that_is_no_number_drops_a_page_or_is_worth_nothing() -> None:
    truth = page(opendataloader_markdown=HTML)
    wrong = "<table><tr><td colspan='two'>a</td></tr></table>"
    assert set(values("opendataloader", truth, wrong).values()) == {None}
    assert set(values("opendataloader(page_errors_drop=false)", truth, wrong).values()) == {0}


def test_an_evaluation_file_has_the_pages_and_means_of_the_run(tmp_path: Path) -> None:
    truths = tmp_path / "ground-truth" / "markdown"
    truths.mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for name, text in (("01", "# a\n\ntext"), ("02", "other words")):
        (truths / f"{name}.md").write_text(text)
        (tmp_path / "out" / f"{name}.md").write_text(text.replace("text", "test"))
    corpus = load_corpus(f"opendataloader-bench:{tmp_path}")
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=("opendataloader",))
    score_run(run, n_workers=1)
    assert len(export_board(run.path, None, tmp_path / "files")) == 4
    data = json.loads((tmp_path / "files" / "prediction" / "out" / "evaluation.json").read_text())
    first, second = (document["scores"] for document in data["documents"])
    assert second["nid"] == 1 and second["mhs"] is None and 0 < first["overall"] < 1
    assert data["metrics"]["score"]["overall_mean"] == pytest.approx((first["overall"] + 1) / 2)
    assert (data["metrics"]["nid_count"], data["metrics"]["mhs_count"]) == (2, 1)
    score_run(run, protocols=["tables"], n_workers=1)
    with pytest.raises(UsageError, match="no result files"):
        export_board(run.path, "tables", tmp_path / "none")


def test_opendataloader_without_elements_knows_of_no_tables(tmp_path: Path) -> None:
    write(tmp_path / "ground-truth" / "markdown" / "1.md", "| a | b |\n|---|---|\n| 1 | 2 |\n")
    (sample,) = load_corpus(f"opendataloader-bench:{tmp_path}").samples()
    assert sample.truth and sample.truth.n_tables is None
    write(tmp_path / "ground-truth" / "reference.json", "{}")
    remark, _ = load_corpus(f"opendataloader-bench:{tmp_path}").remarks
    assert "reference.json" in remark.where and "lists none of these pages" in remark.message


@pytest.mark.conformance
def test_opendataloader_pages(reference_data: Path) -> None:
    for example in examples(reference_data, "opendataloader-bench", "page"):
        if "error" in example:
            with pytest.raises((ValueError, FormatError)):
                opendataloader.page_scores(example["gt"], example["pred"])
        else:
            own = opendataloader.page_scores(example["gt"], example["pred"])
            assert near(own, example["scores"]), example["id"]


@pytest.mark.conformance
def test_opendataloader_conversion_and_headings(reference_data: Path) -> None:
    for example in examples(reference_data, "opendataloader-bench", "convert", "headings"):
        if example["kind"] == "convert":
            assert opendataloader.with_html_tables(example["input"]) == example["output"], example["id"]
        else:
            page = opendataloader.with_html_tables(example["input"])
            assert opendataloader.heading_tree(page) == example["output"], example["id"]


@pytest.mark.conformance
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
        own = {f"{name}_mean": value for name, value in benchmark_programs.means(pages).items()}
        assert near(own, theirs["score"]), example["id"]
        for name in opendataloader.OVERALL:
            assert sum(page[name] is not None for page in pages) == theirs[f"{name}_count"]


ENGINES = (
    "docling",
    "marker",
    "markitdown",
    "mineru",
    "opendataloader",
    "opendataloader-hybrid",
    "pymupdf4llm",
)


@pytest.mark.conformance
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
