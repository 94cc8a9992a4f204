"""Outputs as files, and one document side by side."""

import importlib
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.accessible import accessible
from tests.engine.fakes import FakeParser, make_corpus
from tests.parsers.pages import write_page

from parsemark import api
from parsemark.corpora import Corpus, load_corpus
from parsemark.engine.import_outputs import import_predictions, page_names
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.errors import UnknownNameError, UsageError
from parsemark.model import Box, Element, Prediction, Sample, Table
from parsemark.parsers import read_raw
from parsemark.parsers.parser import KIT
from parsemark.report.outputs import export_outputs
from parsemark.report.try_page import _Marked, compare_words, write_try
from parsemark.store import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "crash", "fine"])
    parsers = [FakeParser("one"), FakeParser("two")]
    return parse_corpus(tmp_path / "run", corpus, parsers, ParseOptions(n_workers=1))


@pytest.mark.parametrize("format", ["md", "html", "csv", "json"])
def test_outputs_are_files_named_after_the_documents(run: Run, tmp_path: Path, format: str) -> None:
    written = export_outputs(run, format, tmp_path / "out", ["one"])
    table = run.table("samples")
    rows = zip(table["sample"], table["pdf"], table["page_number"], strict=True)
    names = page_names({sample: (Path(pdf), number) for sample, pdf, number in rows})
    ok = {names[r.sample] for r in run.records() if r.parser == "one" and r.status == "ok"}
    assert ok and {path.name.split(".table")[0].removesuffix(f".{format}") for path in written} == ok
    assert all(path.parent == tmp_path / "out" / "one" and path.read_text() for path in written)
    if format == "json":
        assert json.loads(written[0].read_text())["parser"] == "one"


def test_boxes_of_a_parser_are_what_a_structure_model_reads(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(raw: bytes, sample: str, parser: str) -> Prediction:
        places = () if sample.endswith("2") else (Box(10, 20, 110, 70), Box(10, 100, 50, 120), None)
        tables = [Element(f"t{k}", "table", box=box, confidence=0.9) for k, box in enumerate(places)]
        return Prediction(sample, parser, elements=tuple(tables))

    monkeypatch.setattr("parsemark.report.outputs.read_raw", read)
    (path,) = api.export(run.path, format="boxes", parsers=["one"], out=tmp_path / "boxes.json")
    monkeypatch.setenv("BOXES", str(path))
    monkeypatch.syspath_prepend(KIT.parent)
    layout = importlib.import_module("parsemark_layout")
    records = {r.sample: r for r in run.records() if r.parser == "one"}
    table = run.table("samples").select("sample", "pdf", "page_number", "width", "height")
    for sample, pdf, number, *size in table.iter_rows():
        expected = read(b"", sample, "one").tables if records[sample].blob else ()
        boxes = [pytest.approx(e.box.as_tuple()) for e in expected if e.box]
        found = layout.detected_tables("BOXES", pdf, number, size, 0.1)
        assert [box for _, box in found] == boxes
        assert all(score == 0.9 for score, _ in found)
    assert any(json.loads(path.read_text())["annotations"])
    with pytest.raises(KeyError, match="has no image"):
        layout.detected_tables("BOXES", "other.pdf", 1, (1, 1), 0.0)
    with pytest.raises(UsageError, match="add --parser"):
        api.export(run.path, format="boxes")


def test_wrong_formats_and_parsers_are_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="md, html, csv, json"):
        export_outputs(run, "docx", tmp_path)
    with pytest.raises(UnknownNameError):
        export_outputs(run, "md", tmp_path, ["three"])


def test_words_that_others_lack_and_words_that_are_missing() -> None:
    words = {"a": Counter(["x", "y"]), "b": Counter(["x", "z"]), "c": Counter(["x", "z"]), "d": Counter()}
    usual, missing = compare_words("a", {k: Counter(v) for k, v in words.items()})
    assert usual == {"x", "z"} and missing == ("z",)
    assert compare_words("a", {"a": Counter(["x"])}) == (None, ())


def test_one_document_side_by_side(run: Run, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "again", ["fine", "crash", "fine"])
    html = write_try(run, corpus, tmp_path / "try.html").read_text()
    assert html.count("<h3>one</h3>") == 3 and html.count("<h3>two</h3>") == 3
    assert html.count('class="failed"') == 2 and "<script" not in html
    assert (
        'class="own"' not in html and "<mark>Marked</mark>" in html and html.count("<mark>") == 1
    )  # all alike


@pytest.mark.browser
def test_the_page_of_one_document_is_accessible(
    run: Run, tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    corpus = make_corpus(tmp_path / "again", ["fine", "crash", "fine"])
    page = open_page(write_try(run, corpus, tmp_path / "try.html").as_uri())
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    accessible(page)


def test_what_one_parser_has_alone_is_marked() -> None:
    made = [Element("e", "table", table=Table.from_rows([["a b", "<i>"], ["c", "d"]]))]
    body, alone = _Marked(set(), {"c", "d"}, {"a", "c", "d"}).body(made)
    assert '<td class="own">a <mark>b</mark></td>' in body and "<td>d</td>" in body
    assert alone == 2 and "<i>" not in body


def test_the_whole_text_is_shown_and_compared_among_those_who_give_text(tmp_path: Path) -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    outputs = {
        "one": f"# Title\n\nSome words.\n\n{table}",
        "two": f"# Title\n\nSome word.\n\n{table}",
        "three": f"# Title\n\nSome words.\n\n{table}",
        **{f"tables{k}": table for k in range(5)},
    }
    corpus = make_corpus(tmp_path / "corpus", ["fine"])
    for name, text in outputs.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{next(corpus.samples()).id}.md").write_text(text)
        run = import_predictions(tmp_path / "run", corpus, folder)
    html = write_try(run, corpus, tmp_path / "try.html").read_text()
    assert html.count("Title</p>") == 3 and html.count("<table>") == 8
    assert html.count("<mark>") == 2 and "<mark>word</mark>" in html  # and the legend
    assert html.count("Most others also have") == 1 and "Most others also have: words" in html


@pytest.mark.parametrize("format", ["md", "html"])
def test_what_was_exported_can_be_scored_again(run: Run, tmp_path: Path, format: str) -> None:
    corpus = make_corpus(tmp_path / "same", ["fine", "crash", "fine"])
    export_outputs(run, format, tmp_path / "out", ["one"])
    again = import_predictions(tmp_path / "again", corpus, tmp_path / "out" / "one")

    def tables(run: Run) -> dict[str, list[Table | None]]:
        return {
            r.sample: [e.table for e in read_raw(run.raw(r.blob), r.sample, "one").tables]
            for r in run.records()
            if r.parser == "one" and r.blob is not None
        }

    assert tables(again) == tables(run) and sum(map(bool, tables(again).values())) == 2


def test_files_of_a_folder_of_pdfs_are_found_by_pdf_and_page(tmp_path: Path) -> None:
    for name in ("one report", "two"):
        write_page(tmp_path / f"{name}.pdf")
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    for name in ("one_report.p1", "two.p1"):
        (outputs / f"{name}.md").write_text("Words.")
    run = import_predictions(tmp_path / "run", load_corpus(f"folder:{tmp_path}"), outputs)
    assert [str(r.status) for r in run.records()] == ["ok", "ok"]


def test_names_of_files_stay_readable_and_unique(tmp_path: Path) -> None:
    """Also where names differ in signs that are replaced, or an umlaut is two characters; all are read."""
    samples = []
    names = ("TeX Shop & Asymptote", "TeX Shop Asymptote", "TeX Shop - Asymptote", "U\u0308bersicht")
    for index, name in enumerate(names):
        (tmp_path / f"{name}.pdf").write_text(f"fine {index}")
        samples.append(Sample(f"s{index}", name, 1, None, tmp_path / f"{name}.pdf"))
    corpus = Corpus.of("named", samples, root=tmp_path, version="1", licence="CC0")
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser("one")], ParseOptions(n_workers=1))
    written = {path.name for path in export_outputs(run, "md", tmp_path / "out")}
    assert len(written) == 4 and {"\u00dcbersicht.p1.md", "TeX_Shop_-_Asymptote.p1.md"} < written
    assert sum(bool(re.fullmatch(r"TeX_Shop_Asymptote-[0-9a-f]{6}\.p1\.md", name)) for name in written) == 2
    again = import_predictions(tmp_path / "again", corpus, tmp_path / "out" / "one", protocols=("tables",))
    assert {r.status for r in again.records()} == {"ok"}
