"""Whole pages in the report: what a parser wrote is text, and formulas are harmless."""

import json
import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.formats import write_document
from parsemark.report import build_report
from parsemark.report.mathml import mathml
from parsemark.report.source import RunSource
from parsemark.store import Run
from parsemark.verdicts.comparison import compare_runs
from parsemark.verdicts.error_types import find_errors
from parsemark.verdicts.gate import GateLimits, gate_runs

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
    assert 'href="document.html"' in (tmp_path / "site" / "viewer.html").read_text(encoding="utf-8")


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
    assert "marked <code>ignore</code> are left out" in page and "`" not in page


def test_figures_of_different_meaning_share_no_column(tmp_path: Path) -> None:
    """Overall is a score under strict and an edit distance under v1.0; both are called `overall` inside."""
    poly = [0, 0, 100, 0, 100, 20, 0, 20]
    table = "<table><tr><td>a</td><td>b</td></tr></table>"
    contents = [
        ("text_block", "text", "A sentence to read."),
        ("equation_isolated", "latex", "$$x = y + z$$"),
        ("table", "html", table),
        ("page_number", "text", "17"),
    ]
    dets = [
        {"category_type": kind, "anno_id": n, "order": n + 1, "poly": poly, "ignore": False, key: content}
        for n, (kind, key, content) in enumerate(contents)
    ]
    info = {"image_path": "a.png", "page_no": 0, "width": 100, "height": 100, "page_attribute": {}}
    annotation = tmp_path / "pages.json"
    annotation.write_text(json.dumps([{"layout_dets": dets, "page_info": info, "extra": {"relation": []}}]))
    (tmp_path / "perfect").mkdir()
    (tmp_path / "perfect" / "a.md").write_text(f"A sentence to read.\n\n$$x = y + z$$\n\n{table}\n")
    specs = ("document", "document(profile=v1.0)")
    corpus = load_corpus(f"omnidocbench:{annotation}")
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "perfect", protocols=specs)
    score_run(run, n_workers=1)
    build_report(run.path, tmp_path / "site")
    page = (tmp_path / "site" / "profiles.html").read_text(encoding="utf-8")
    heads = [text for _, text in re.findall(r'<th scope="col"( class="\w+")?>(.*?)</th>', page)]
    heads = [re.sub("<[^>]*>", "", head) for head in heads]
    assert "Overall ↑" in heads and "Overall edit ↓" in heads
    rows = re.findall(r"<tr><th scope=\"row\" class=\"name\"><bdi>perfect.*?</tr>", page)
    strict, published = ([None, None, *re.findall("<td>(.*?)</td>", row)] for row in rows)
    assert strict[heads.index("Overall ↑")] == "1.000" and strict[heads.index("Overall edit ↓")] == "–"
    assert published[heads.index("Overall ↑")] == "–" and published[heads.index("Overall edit ↓")] != "–"
    assert "<code>strict</code>: rules of its own" in page
    answer = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    for profile in ("strict", "v1.0"):
        assert f">Whole pages, {profile}</a>" in answer, "one page with a switch"
        assert f'aria-label="Whole pages, {profile}"' in answer
    # The page number is matched, but does not count: leaving it out is no error.
    for spec in specs:
        errors = find_errors(RunSource(run, spec), limit=10)
        assert errors.rows.is_empty() and not errors.looks_inside
    assert "What goes wrong?" not in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def written(folder: Path, changes: Mapping[str, str | None], n_pages: int = 8) -> Path:
    """The truth of the first pages as Markdown; some with other words, and None without a file."""
    folder.mkdir()
    for sample in islice(load_corpus("demo").samples(), n_pages):
        assert sample.truth is not None
        text = changes.get(sample.id, write_document(sample.truth))
        if text is not None:
            (folder / f"{sample.id}.md").write_text(text, encoding="utf-8")
    return folder


def scored(place: Path, changes: Mapping[str, str | None]) -> Run:
    place.mkdir()
    folder = written(place / "parser", changes)
    protocols = ("document", "document(profile=v1.6)")
    run = import_predictions(place / "run", load_corpus("demo"), folder, pages="8", protocols=protocols)
    score_run(run, n_workers=1)
    return run


def without_tables() -> str:
    """The first page that has text, and no table."""
    return next(
        sample.id
        for sample in load_corpus("demo").samples()
        if sample.truth is not None
        and not any(e.category == "table" for e in sample.truth.elements)
        and sum(e.category == "text_block" for e in sample.truth.elements) > 1
    )


@pytest.mark.parametrize("profile", ["strict", "v1.6"])
def test_a_gate_names_pages_without_tables_and_what_was_missed(tmp_path: Path, profile: str) -> None:
    sample = without_tables()
    old, new = scored(tmp_path / "old", {}), scored(tmp_path / "new", {sample: "Nonsense of no page."})
    protocol = "document" if profile == "strict" else f"document(profile={profile})"
    checks = gate_runs(new, old, GateLimits(max_drop=0.001), protocol=protocol).failed
    (page,) = next(check.pages for check in checks if check.name.endswith("plain drop"))
    assert page.startswith(f"{sample}: ")
    assert re.search(r"missed \d+ → \d+", page) and "same matches" not in page
    comparison = compare_runs(old, new, protocol).comparisons[0]
    assert [difference.sample for difference in comparison.pages] == [sample]


def test_a_page_without_a_file_is_no_failed_parse(tmp_path: Path) -> None:
    run = scored(tmp_path / "run", {without_tables(): None})
    build_report(run.path, tmp_path / "site")
    shown = re.sub(r"<[^>]*>|\s+", " ", (tmp_path / "site" / "index.html").read_text(encoding="utf-8"))
    assert re.search(r"\b0\s+failed parses|failed parses\s+0\b", shown)
    assert re.search(r"\b1\s+page without output|page without output\s+1\b", shown)


def test_only_published_profiles_have_a_published_matcher(tmp_path: Path) -> None:
    run = scored(tmp_path / "run", {})
    assert "match" not in run.summary("document").settings
    assert run.summary("document(profile=v1.6)").settings["match"] == "quick_match"
