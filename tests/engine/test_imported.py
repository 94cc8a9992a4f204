"""Outputs made elsewhere, in every format, and files that are not to be trusted."""

import json
import shutil
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpora.small_files import make_pdf, write
from tests.engine.fakes import make_corpus
from typer.testing import CliRunner

from parsemark import api
from parsemark.cli.main import app
from parsemark.corpora import Corpus, load_corpus
from parsemark.engine.events import Events
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.parsing.parse import ParseOptions, open_run
from parsemark.engine.scoring.score import score_run
from parsemark.errors import FormatError, StoreError, UsageError
from parsemark.formats.output_pages import page_texts
from parsemark.protocols import Figure
from parsemark.store import Run, RunFolder
from parsemark.store.manifest import ParserEntry

HTML = "<table><tr><td>{0}</td><td>page 1</td></tr><tr><td>1</td><td>2</td></tr></table>"
FORMATS = {
    ".md": "| {0} | page 1 |\n|---|---|\n| 1 | 2 |\n",
    ".html": HTML,
    ".htm": HTML,
    ".tex": "\\begin{{tabular}}{{ll}} {0} & page 1 \\\\ 1 & 2 \\end{{tabular}}",
    ".csv": "{0},page 1\n1,2\n",
    ".txt": HTML,
}
CELLS = [["{0}", "page 1"], ["1", "2"]]


@pytest.mark.parametrize("suffix", [*FORMATS, ".JSON", ".json"])
def test_every_format_scores_alike(suffix: str, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine"])
    outputs = tmp_path / "mine"
    outputs.mkdir()
    for key in corpus.keys:
        if suffix.lower() == ".json":
            cells = [
                {"row": r, "col": c, "text": text.format(key)}
                for r, row in enumerate(CELLS)
                for c, text in enumerate(row)
            ]
            content = json.dumps({"elements": [{"category": "table", "cells": cells}]})
        else:
            content = FORMATS[suffix].format(key)
        mark = "\ufeff" if key == corpus.keys[0] else ""  # as editors of Windows write it
        (outputs / f"{key}{suffix}").write_text(mark + content)
    (summary,) = score_run(import_predictions(tmp_path / "run", corpus, outputs), n_workers=1)
    figures = summary.parsers["mine"]
    assert figures["te_f1_con"].value == 1
    assert figures["failures"].value == 0 and "unanswered" not in figures
    assert figures["cpu_s_per_page"] == Figure(value=None, n=0)


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[" * 100_000,
        b"null",
        b'{"elements": 3}',
        b'{"format": "elements", "elements": [7]}',
        b"\xff\xfe",
    ],
)
def test_a_broken_file_costs_its_page(content: bytes, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["fine", "fine"])
    outputs = tmp_path / "mine"
    outputs.mkdir()
    (outputs / "s000.json").write_bytes(content)
    (outputs / "s001.html").write_text(HTML.format("s001"))
    run = import_predictions(tmp_path / "run", corpus, outputs)
    (summary,) = score_run(run, n_workers=1)
    assert summary.parsers["mine"]["te_recall_con"].value == 0.5
    assert str(run.prediction("s000", "mine").status) == "parser_failed"


def two_documents(folder: Path) -> Corpus:
    make_pdf(folder / "a.pdf", (595, 842), (595, 842), (595, 842))
    make_pdf(folder / "sub" / "b.pdf")
    for page in (1, 2, 3):
        write(folder / f"a.p{page}.t1.csv", f"page,{page}\n1,2\n")
    write(folder / "sub" / "b.p1.t1.csv", "page,b\n1,2\n")
    return load_corpus(f"folder:{folder}")


def table(page: object) -> str:
    return f"| page | {page} |\n|---|---|\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    "text",
    [
        table(1) + "\f" + table(2) + "\f" + table(3) + "\f",
        f"<!-- page 1 -->\n{table(1)}\n<!-- page 2 -->\n{table(2)}\n<!-- page 3 -->\n{table(3)}",
        f"<!-- Page: 2 -->\n{table(2)}\n<!-- Page: 1 -->\n{table(1)}\n<!-- Page: 3 -->\n{table(3)}",
        f"\n\n{{0}}{'-' * 48}\n\n{table(1)}\n\n{{1}}{'-' * 48}\n{table(2)}\n\n{{2}}{'-' * 48}\n\n{table(3)}",
        f"{table(1)}\n<!-- page 2 -->\n{table(2)}\n<!-- page 3 -->\n{table(3)}",
        f"{table(1)}\n<!-- page 1 -->\n{table(2)}\n<!-- page 2 -->\n{table(3)}\n<!-- page 3 -->\n",
        f"{table(1)}\n<!-- page 1 -->\n{table(2)}\n<!-- page 2 -->\n{table(3)}",
        f"# A\n<!-- page 1 -->\n{table(1)}\n<!-- page 2 -->\n{table(2)}\n<!-- page 3 -->\n{table(3)}",
        f"{table(1)}\n{{1}}{'-' * 48}\n{table(2)}\n\n{{2}}{'-' * 48}\n\n{table(3)}",
        f"{table(1)}\n<!-- PageBreak -->\n{table(2)}\n<!-- page break -->\n{table(3)}",
    ],
)
def test_one_file_per_document(text: str, tmp_path: Path) -> None:
    corpus = two_documents(tmp_path / "pdfs")
    write(tmp_path / "mine" / "a.md", text)
    write(tmp_path / "mine" / "b.html", HTML.format("page").replace("page 1", "b"))
    (summary,) = score_run(import_predictions(tmp_path / "run", corpus, tmp_path / "mine"), n_workers=1)
    assert summary.parsers["mine"]["te_f1_con"].value == 1


def test_a_text_whose_page_is_not_told_fails_with_the_reason(tmp_path: Path) -> None:
    corpus = two_documents(tmp_path / "pdfs")
    write(tmp_path / "mine" / "a.md", f"{table(1)}\n<!-- page 3 -->\n{table(3)}")
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "mine")
    assert [str(r.status) for r in run.records()] == ["parser_failed"] * 3 + ["no_prediction"]
    assert "above the first mark, of page 3" in str(run.records()[0].error)


@given(st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=2, max_size=5), st.booleans(), st.data())
def test_nothing_between_marks_is_lost(parts: list[str], above: bool, data: st.DataObject) -> None:
    n_pages = len(parts)
    marks = [data.draw(st.integers(1, n_pages)) for _ in parts]
    text = "x\n" * above + "".join(
        f"<!-- page {k} -->\n{part}\n" for k, part in zip(marks, parts, strict=True)
    )
    try:
        pages = page_texts(text, n_pages)
    except FormatError:
        assert above and marks[0] > 2
        return
    assert len(pages) == n_pages
    assert sorted("".join(pages).replace("\n", "")) == sorted("x" * above + "".join(parts))


def test_another_number_of_pages_fails_on_the_document_only(tmp_path: Path) -> None:
    corpus = two_documents(tmp_path / "pdfs")
    write(tmp_path / "mine" / "a.md", table(1) + "\f" + table(2))
    write(tmp_path / "mine" / "b.md", table("b"))
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "mine")
    assert [str(r.status) for r in run.records()] == ["parser_failed"] * 3 + ["ok"]
    assert "The file has 2 pages, but the document has 3" in str(run.records()[0].error)


def test_a_separator_of_ones_own(tmp_path: Path) -> None:
    corpus = two_documents(tmp_path / "pdfs")
    write(tmp_path / "mine" / "a.md", "\n=====\n".join(map(table, (1, 2, 3))))
    out = tmp_path / "run"
    run = import_predictions(out, corpus, tmp_path / "mine", page_separator="\n=====\n")
    assert [str(r.status) for r in run.records()] == ["ok"] * 3 + ["no_prediction"]
    (summary,) = score_run(run, n_workers=1)
    (figures,) = summary.parsers.values()
    assert (figures["failures"].value, figures["unanswered"].value) == (0, 1), "no file is no failure"


@pytest.mark.parametrize("protocol", ["document", "document(profile=v1.6)"])
def test_a_parser_of_tables_is_one_that_gives_nothing_else(tmp_path: Path, protocol: str) -> None:
    """One file of a table among pages with text leaves nobody out, also where the truth has no text."""
    corpus = two_documents(tmp_path / "pdfs")
    for page in (1, 2, 3):
        write(tmp_path / "mixed" / f"a-p{page}.md", f"Some text.\n\n{table(page)}")
        write(tmp_path / "tables" / f"a-p{page}.csv", f"page,{page}\n1,2\n")
    (tmp_path / "mixed" / "a-p3.md").unlink()
    write(tmp_path / "mixed" / "a-p3.csv", "page,3\n1,2\n")
    for name in ("mixed", "tables"):
        run = import_predictions(tmp_path / "run", corpus, tmp_path / name, protocols=[protocol])
    (summary,) = score_run(run, n_workers=1, protocols=[protocol])
    assert list(summary.parsers) == ["mixed"]


def test_json_of_a_document(tmp_path: Path) -> None:
    corpus = two_documents(tmp_path / "pdfs")
    write(tmp_path / "mine" / "a.json", json.dumps({"pages": [{"markdown": table(k)} for k in (1, 2, 3)]}))
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "mine")
    assert [str(r.status) for r in run.records()][:3] == ["ok"] * 3


def test_an_imported_parser_can_be_removed(tmp_path: Path) -> None:
    corpus = two_documents(tmp_path / "pdfs")
    for name in ("mine", "other"):
        write(tmp_path / name / "a.md", table(1) + "\f" + table(2) + "\f" + table(3))
        run = import_predictions(tmp_path / "run", corpus, tmp_path / name)
    RunFolder.of(run).remove_parser("mine")
    assert {r.parser for r in run.records()} == {"other"}
    assert [p.name for p in run.manifest.parsers] == ["other"]


@pytest.mark.parametrize("name", ["e\x1b]0;P\x07", "a\n::error::x", "\u202ea", " ", "x" * 301])
def test_a_name_that_hides_something_is_refused(name: str, tmp_path: Path) -> None:
    write(tmp_path / "mine" / "a.md", table(1))
    with pytest.raises(UsageError, match="No parser can be called"):
        import_predictions(tmp_path / "run", two_documents(tmp_path / "pdfs"), tmp_path / "mine", name=name)


@pytest.mark.parametrize("name", ["e\x1b]0;P\x07", "a\n::error::x", "a\tb", "\x9b2J"])
def test_a_manifest_whose_names_speak_to_terminals_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a parser's name"):
        ParserEntry(name=name, fingerprint="f")


def test_a_corrected_truth_is_taken_over_without_parsing_again(tmp_path: Path) -> None:
    corpus = two_documents(tmp_path / "pdfs")
    write(tmp_path / "mine" / "a.md", table(1) + "\f" + table("2b") + "\f" + table(3))
    write(tmp_path / "mine" / "b.md", table("b"))
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "mine")
    before = score_run(run, n_workers=1)[0].parsers["mine"]["te_f1_con"].value
    write(tmp_path / "pdfs" / "a.p2.t1.csv", "page,2b\n1,2\n")
    make_pdf(tmp_path / "pdfs" / "c.pdf")
    (tmp_path / "pdfs" / "sub" / "b.pdf").unlink()
    grown = load_corpus(corpus.spec)
    run = open_run(tmp_path / "run", grown, ParseOptions())
    assert {r.sample for r in run.records()} == {"a-p1", "a-p2", "a-p3"}
    after = score_run(run, n_workers=1)[0].parsers["mine"]["te_f1_con"].value
    assert before < 1 and after == 1
    with pytest.raises(StoreError, match="contains a run of the corpus"):
        open_run(tmp_path / "run", make_corpus(tmp_path / "other", ["fine"]), ParseOptions())


def folder_run(tmp_path: Path) -> Path:
    """A run of a folder with one document of two pages, one table on each, and a right answer for page 1."""
    docs = tmp_path / "docs"
    docs.mkdir()
    make_pdf(docs / "a.pdf", (595, 842), (595, 842))
    write(docs / "a.p1.t1.csv", "x,y\n1,2\n")
    write(docs / "a.p2.t1.csv", "x,y\n3,4\n")
    write(tmp_path / "mine" / "a-p1.csv", "x,y\n1,7\n")
    import_predictions(tmp_path / "run", load_corpus(f"folder:{docs}"), tmp_path / "mine")
    return docs


class Notes(Events):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_scoring_again_takes_over_a_corrected_truth(tmp_path: Path) -> None:
    docs = folder_run(tmp_path)
    events = Notes()
    before = api.score(tmp_path / "run", workers=1, events=events).summary()
    assert events.notes == []
    (docs / "a.p1.t1.csv").write_text("x,y\n1,7\n")
    after = api.score(tmp_path / "run", workers=1, events=events).summary()
    assert events.notes == [f"folder:{docs} has changed: the truth of 1 page is updated."]
    assert after.parsers["mine"]["tsr_con"].value == 1 > (before.parsers["mine"]["tsr_con"].value or 0)


@pytest.mark.parametrize("change", ["gone", "other pages"])
def test_scoring_again_needs_no_corpus(tmp_path: Path, change: str) -> None:
    docs = folder_run(tmp_path)
    before = api.score(tmp_path / "run", workers=1).summary()
    if change == "gone":
        shutil.rmtree(docs)
    else:
        (docs / "a.pdf").unlink()
        make_pdf(docs / "a.pdf")
    assert api.score(tmp_path / "run", workers=1).summary() == before


def test_outputs_that_all_fail_end_with_1_and_a_reason(tmp_path: Path) -> None:
    make_pdf(tmp_path / "docs" / "a.pdf")
    write(tmp_path / "mine" / "a-p1.json", "this is no JSON")
    command = ["score", str(tmp_path / "mine"), "--corpus", f"folder:{tmp_path / 'docs'}"]
    result = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "run")])
    assert result.exit_code == 1
    assert "mine failed on every page. The first: a-p1.json: The file is not JSON" in result.stdout


def test_outputs_for_pages_without_truth_are_scored_by_their_evidence(tmp_path: Path) -> None:
    make_pdf(tmp_path / "docs" / "a.pdf")
    for name in ("mine", "yours"):
        write(tmp_path / name / "a-p1.md", "words")
    command = ["score", "--corpus", f"folder:{tmp_path / 'docs'}", "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(app, [*command, str(tmp_path / "mine")]).exit_code == 0
    assert list(Run.open(tmp_path / "run").protocols) == ["evidence", "tables"]
    named = [*command[:-1], str(tmp_path / "other")]
    CliRunner().invoke(app, [*named, str(tmp_path / "mine"), "--protocol", "tables"])
    assert CliRunner().invoke(app, [*named, str(tmp_path / "yours")]).exit_code == 0
    assert list(Run.open(tmp_path / "other").protocols) == ["tables"], "a run that is there keeps its own"


def folder_corpus(place: Path, *names: str) -> Corpus:
    for name in names:
        make_pdf(place / f"{name}.pdf")
        write(place / f"{name}.p1.html", HTML.format(name))
    return load_corpus(f"folder:{place}")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_that_differ_in_normalisation_alone_are_equal(tmp_path: Path, form: str) -> None:
    place, outputs = tmp_path / "pages", tmp_path / "mine"
    place.mkdir()
    outputs.mkdir()
    corpus = folder_corpus(place, unicodedata.normalize("NFC", "ünï-çode"))
    (outputs / f"{unicodedata.normalize(form, 'ünï-çode')}.html").write_text(HTML.format("x"))
    notes = Notes()
    run = import_predictions(tmp_path / "run", corpus, outputs, events=notes)
    assert run.table("parses")["status"].to_list() == ["ok"]
    assert not any("Not used" in note for note in notes.notes)


def test_a_file_that_answers_two_documents_is_named(tmp_path: Path) -> None:
    place, outputs = tmp_path / "pages", tmp_path / "mine"
    place.mkdir()
    outputs.mkdir()
    corpus = folder_corpus(place, "doc", "doc-p1")
    (outputs / "doc-p1.html").write_text(HTML.format("x"))
    notes = Notes()
    import_predictions(tmp_path / "run", corpus, outputs, events=notes)
    (said,) = [note for note in notes.notes if "is used for pages of 2 documents" in note]
    assert said.startswith("doc-p1.html ") and "doc-p1, doc-p1-p1" in said
    (outputs / "doc-p1-p1.html").write_text(HTML.format("x"))
    alone = Notes()
    import_predictions(tmp_path / "other", corpus, outputs, events=alone)
    assert not any("is used for pages" in note for note in alone.notes)


def test_files_in_folders_answer_the_documents_in_folders_of_that_name(tmp_path: Path) -> None:
    place, outputs = tmp_path / "pages", tmp_path / "mine"
    for folder in ("a", "b", "c"):
        (place / folder).mkdir(parents=True)
        (outputs / folder).mkdir(parents=True)
    corpus = folder_corpus(place, "a/x", "b/x", "c/x")
    for name in ("a/x", "b/x.p1", "b/y"):
        (outputs / f"{name}.html").write_text(HTML.format(f"of {name}"))
    notes = Notes()
    run = import_predictions(tmp_path / "run", corpus, outputs, events=notes)
    parses = run.table("parses").sort("sample")
    assert parses["status"].to_list() == ["ok", "ok", "no_prediction"]
    said = [RunFolder.of(run).blobs.get(blob).decode() for blob in parses["blob"].to_list()[:2]]
    assert "of a/x" in said[0] and "of b/x.p1" in said[1]
    assert [note for note in notes.notes if "Not used" in note] == [
        f"Not used in {outputs}: b/y.html (no sample or document of that name), c (a folder)"
    ]


def test_a_second_file_of_a_page_is_named(tmp_path: Path) -> None:
    place, outputs = tmp_path / "pages", tmp_path / "mine"
    place.mkdir()
    corpus = folder_corpus(place, "doc")
    for name in ("doc-p1.html", "doc.p1.html", "doc.html"):
        write(outputs / name, HTML.format("x"))
    notes = Notes()
    import_predictions(tmp_path / "run", corpus, outputs, events=notes)
    (said,) = [note for note in notes.notes if "Not used" in note]
    assert "doc-p1.html (doc.p1.html is taken)" in said and "doc.html (doc.p1.html is taken)" in said


def test_pages_with_one_alias_have_files_of_their_own(tmp_path: Path) -> None:
    page = {"layout_dets": [{"category_type": "wobble"}], "page_info": {"height": 9, "width": 9}}
    pages = [
        page | {"page_info": {**page["page_info"], "image_path": "same.jpg", "page_no": n}} for n in (0, 1)
    ]
    file = write(tmp_path / "o.json", json.dumps(pages))
    corpus = load_corpus(f"omnidocbench:{file}")
    assert [remark.where for remark in corpus.remarks] == ["same.jpg", "category_type 'wobble'"]
    assert "named same-2, not same" in corpus.remarks[0].message
    assert "same and same-2" in corpus.remarks[1].message and not corpus.left_out
    for name in ("same", "same-2"):
        write(tmp_path / "mine" / f"{name}.html", HTML.format(name))
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "mine")
    assert run.table("parses")["blob"].n_unique() == 2
