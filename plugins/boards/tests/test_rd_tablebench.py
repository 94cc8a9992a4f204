"""RD-TableBench: tables scored by its rules, its files, and the results of its own code."""

from pathlib import Path

import benchmark_programs
import pytest
from benchmark_pages import HTML, make_pdf, page, table, values, write
from reference_examples import examples, near

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.model import Element, Page, Sample
from parsemark.testing import write_corpus
from parsemark_boards.rd_tablebench import protocol as rd_tablebench

WIDE = "<table><tr><td colspan='100000000000'>a</td></tr></table>"


def test_rd_tablebench_takes_the_longest_table() -> None:
    first = Element("p1", "table", html="<table><tr><td>x</td></tr></table>")
    assert values("rd-tablebench", page(table()), None, elements=(first, table())) == {"similarity": 1}
    assert (
        values("rd-tablebench(choose=first)", page(table()), None, elements=(first, table()))["similarity"]
        < 1
    )
    assert values("rd-tablebench", page(table()), "no table") == {"similarity": 0}
    assert values("rd-tablebench(missing_left_out=true)", page(table()), "none") == {"similarity": None}
    assert values("rd-tablebench", page(table(), table()), "two true ones") == {"similarity": None}


def test_a_truth_that_cannot_be_read_is_left_out_and_the_others_count(tmp_path: Path) -> None:
    truths = tmp_path / "groundtruth"
    truths.mkdir()
    (tmp_path / "out").mkdir()
    for name, text in (("01", HTML), ("02", WIDE)):
        (truths / f"{name}.html").write_text(text)
        (tmp_path / "out" / f"{name}.html").write_text(HTML)
    corpus = load_corpus(f"rd-tablebench:{tmp_path}")
    assert "groundtruth/02.html: is left out: The table has more than" in str(corpus.left_out[0])
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=("rd-tablebench",))
    [summary] = score_run(run, n_workers=1)
    assert summary.parsers["out"]["similarity"].value == summary.parsers["out"]["similarity"].n == 1


def test_elements_that_make_no_truth_are_named_beside_the_scores(tmp_path: Path) -> None:
    odd = "<table><tr><td colspan='two'>a</td></tr></table>"
    pages = [Page(name, 9, 9, (table(html),)) for name, html in (("a", HTML), ("b", odd))]
    corpus = write_corpus(tmp_path / "corpus", [Sample(p.id, p.id, 1, p) for p in pages])
    for name in "ab":
        write(tmp_path / "out" / f"{name}.html", HTML)
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=("rd-tablebench",))
    [summary] = score_run(run, n_workers=1)
    assert summary.parsers["out"]["similarity"].n == 1
    assert "The truth of 1 page cannot be read and counts for no parser. The first is b: " in summary.notes[0]


@pytest.mark.parametrize("html", ["no table", "", "<table", "<table></table>", "<table><caption>x</caption>"])
def test_a_truth_without_a_table_is_left_out(tmp_path: Path, html: str) -> None:
    write(tmp_path / "groundtruth" / "bad.html", html)
    write(tmp_path / "groundtruth" / "inner.html", "<tr><td>a</td></tr>")
    corpus = load_corpus(f"rd-tablebench:{tmp_path}")
    (inner,) = corpus.samples()
    assert "groundtruth/bad.html: is left out: " in str(corpus.left_out[0])
    assert inner.truth and [t.is_unread for t in inner.truth.tables] == [False]


def test_missing_pdfs_of_a_board_are_named(tmp_path: Path) -> None:
    for name in "abcde":
        write(tmp_path / "groundtruth" / f"{name}.html", HTML)
    make_pdf(tmp_path / "pdfs" / "b.pdf")
    (remark,) = load_corpus(f"rd-tablebench:{tmp_path}").remarks
    assert "4 of 5 PDFs are not there (a, c, d and 1 more)" in remark.message


@pytest.mark.conformance
def test_rd_tablebench_pairs(reference_data: Path) -> None:
    for example in examples(reference_data, "rd-tablebench", "pair"):
        if "error" in example:
            with pytest.raises(ValueError):
                benchmark_programs.html_similarity(example["gt"], example["pred"])
            continue
        for side in ("gt", "pred"):
            assert rd_tablebench.grid_of_html(example[side]) == example[f"{side}_grid"], example["id"]
        own = benchmark_programs.html_similarity(example["gt"], example["pred"])
        assert near(own, example["similarity"], 1e-6), example["id"]


@pytest.mark.conformance
def test_rd_tablebench_alignments(reference_data: Path) -> None:
    for example in examples(reference_data, "rd-tablebench", "align"):
        a, b = example["a"], example["b"]
        value, steps = rd_tablebench.align(a, b, rd_tablebench.cell_score, example["gap"])
        assert near(value, example["score"], 1e-6), example["id"]
        assert [None if i is None else a[i] for i, _ in steps] == example["aligned_a"]
        assert [None if j is None else b[j] for _, j in steps] == example["aligned_b"]
