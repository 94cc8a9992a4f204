"""Whole pages in the report: what a parser wrote is text, and formulas are harmless."""

from pathlib import Path

import pytest

from parsemark.corpora import load_corpus
from parsemark.engine.imported import import_predictions
from parsemark.engine.scoring import score_run
from parsemark.formats import write_document
from parsemark.report import build_report
from parsemark.report.mathml import mathml

HOSTILE = (
    "&lt;script&gt;alert(1)&lt;/script&gt; <img src=x onerror=alert(2)>\n\n"
    "$$\\text{<b onclick=x>}\\href{javascript:a}{b}$$"
)


def test_pages_are_written_and_nothing_foreign_is_markup(tmp_path: Path) -> None:
    corpus = load_corpus("demo")
    folder = tmp_path / "parser"
    folder.mkdir()
    for number, sample in enumerate(corpus.samples()):
        assert sample.truth is not None
        text = write_document(sample.truth)
        (folder / f"{sample.id}.md").write_text(
            f"{text}\n\n{HOSTILE}" if number == 0 else text, encoding="utf-8"
        )
        if number == 2:
            break
    run = import_predictions(tmp_path / "run", corpus, folder, protocols=("document",))
    score_run(run, n_workers=1)
    build_report(run.path, tmp_path / "site")
    pages = sorted((tmp_path / "site").glob("document-*.html"))
    assert len(pages) == len(corpus)
    first = pages[0].read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in first and "<script>alert" not in first
    assert not any(mark in first for mark in ("<img src=x", "<b onclick", 'href="javascript'))
    assert '<polyline class="path true"' in first and "<math" in "".join(p.read_text() for p in pages)
    tables = (tmp_path / "site" / "tables.html").read_text(encoding="utf-8")
    assert all(f"omnidocbench-{n}" in tables for n in (2, 5, 7, 8))
    assert 'href="document.html"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("latex", ["\\frac{a}{b}", "$$x_1^2$$", "\\[ \\sqrt{y} \\]"])
def test_formulas_become_mathml(latex: str) -> None:
    pytest.importorskip("latex2mathml")
    made = mathml(latex)
    assert made is not None and made.startswith("<math")


@pytest.mark.parametrize("latex", ["\\frac{", "<script>", "\\" * 50, "&#x3c;script&#x3e;", "{" * 3000])
def test_hostile_formulas_are_no_markup(latex: str) -> None:
    made = mathml(latex)
    assert made is None or ("<script" not in made and "on" not in made.split(">")[0])


def test_profiles_are_compared_with_reasons(tmp_path: Path) -> None:
    corpus = load_corpus("demo")
    folder = tmp_path / "parser"
    folder.mkdir()
    sample = next(iter(corpus.samples()))
    assert sample.truth is not None
    (folder / f"{sample.id}.md").write_text(write_document(sample.truth), encoding="utf-8")
    specs = ("document(profile=v1.5)", "document(profile=v1.6)")
    run = import_predictions(tmp_path / "run", corpus, folder, protocols=specs)
    score_run(run, n_workers=1)
    build_report(run.path, tmp_path / "site")
    page = (tmp_path / "site" / "profiles.html").read_text(encoding="utf-8")
    assert "missing_page_is_empty" in page and "document(profile=v1.6)" in page
    assert "index_zero_is_missing" not in page  # the same in both
