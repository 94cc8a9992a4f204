"""Kinds of pages in a run: found once, shown as slices; scans that nobody reads, broken files survived."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.corpora.small_files import make_pdf
from tests.engine.fakes import make_corpus

from parsemark.choosing import choose
from parsemark.corpora import Corpus, load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.parsing import parse
from parsemark.engine.parsing.parse import ParseOptions, add_samples, open_run
from parsemark.engine.scoring.score import score_run
from parsemark.engine.verify_bundle import verify_bundle
from parsemark.model import Page, Status
from parsemark.pdf import save_picture_pdf
from parsemark.protocols import Summary
from parsemark.store import ParseRecord, Run, schema_of
from parsemark.store.bundle import write_bundle
from parsemark.store.folder import RunFolder
from parsemark.verdicts.gate import GateLimits, gate_runs
from parsemark.verdicts.run_verdict import run_verdict, scored_records


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Two blank pages, one of them landscape, a scan, and a broken file; nothing is parsed yet."""
    folder = tmp_path / "docs"
    make_pdf(folder / "upright.pdf")
    make_pdf(folder / "wide.pdf", (800, 500))
    save_picture_pdf(Image.new("RGB", (90, 90)), folder / "scan.pdf", (200, 300), quality=90, producer="x")
    (folder / "bad.pdf").write_text("%PDF-1.4 and no more")
    (folder / "upright.no-tables").touch()
    (folder / "wide.no-tables").touch()
    corpus = load_corpus(f"folder:{folder}")
    found = open_run(tmp_path / "run", corpus, ParseOptions())
    add_samples(found, corpus, None)
    return found


def scored(run: Run, **outputs: dict[str, str | None]) -> Summary:
    """The summary where parsers gave these texts for pages; None is a crash, and all else is empty."""
    records = []
    for parser, texts in outputs.items():
        for sample in run.table("samples")["sample"]:
            text = texts.get(sample, "")
            raw = json.dumps({"format": "markdown", "content": text or "---"}).encode()
            done = {"blob": RunFolder.of(run).blobs.put(raw)} if text is not None else {}
            status = Status.PARSER_FAILED if text is None else Status.OK
            records.append(ParseRecord(sample, parser, status, parser, cpu_s=0.1, **done).to_json())
    RunFolder.of(run).write_table("parses", pl.DataFrame(records, schema=schema_of("parses")))
    return score_run(run, protocols=["tables"], n_workers=1)[0]


def test_pages_of_a_folder_are_told_apart_by_their_kinds(run: Run) -> None:
    summary = scored(run, one={})
    found = {(part.attribute, part.value): part.n for part in summary.slices}
    assert found["shape of the page", "landscape"] == 1 and found["shape of the page", "portrait"] == 2
    assert found["text layer", "blank page"] == 2 and found["text layer", "none (scan)"] == 1
    assert found["file", "unreadable"] == 1
    assert not any(attribute == "made with" for attribute, _ in found), "all pages are alike"


def test_kinds_are_found_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run.table("samples")
    monkeypatch.setattr(parse, "look_at", lambda sample: pytest.fail(f"{sample.id} is looked at again"))
    add_samples(run, load_corpus(run.manifest.corpus.spec), None)
    assert run.table("samples").equals(before)


def test_scans_that_no_parser_reads_are_a_warning(run: Run) -> None:
    warned = [note for note in scored(run, one={}).notes if "without a text layer" in note]
    assert len(warned) == 1 and warned[0].startswith("1 page without")
    read = scored(run, one={}, ocr={"scan-p1": "words of the scan"})
    assert not any("without a text layer" in note for note in read.notes)


def test_broken_files_are_tried_and_counted(run: Run) -> None:
    summary = scored(run, strong={"bad-p1": "not found"}, weak={"bad-p1": None})
    counts = {parser: summary.figure(parser, "survived") for parser in ("strong", "weak")}
    assert {p: (f.value, f.n) for p, f in counts.items() if f} == {"strong": (1, 1), "weak": (0, 1)}
    assert "1 broken file (bad): strong survived 1 of 1 and weak survived 0 of 1." in summary.notes
    assert summary.counts["pages"] == summary.counts["documents"] == 3, "it is in no score"
    assert summary.counts["unreadable files"] == 1
    failed = summary.figure("weak", "failures")
    assert failed is not None and (failed.value, failed.n) == (0, 3)
    said = " ".join(run_verdict(summary, scored_records(run, "tables"), "x"))
    assert "no answer" not in said, said


def test_outputs_from_elsewhere_are_not_asked_to_survive(run: Run, tmp_path: Path) -> None:
    """They have a record for each page of the run, or its bundle could not be verified."""
    before = scored(run, weak={"bad-p1": None})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "scan-p1.md").write_text("words")
    corpus = load_corpus(run.manifest.corpus.spec)
    imported = import_predictions(run.path, corpus, tmp_path / "elsewhere", protocols=("tables",))
    records = {r.sample: r.status for r in imported.records() if r.parser == "elsewhere"}
    assert records["bad-p1"] == Status.NO_PREDICTION and len(records) == run.table("samples").height
    notes = score_run(imported, protocols=["tables"], n_workers=1)[0].notes
    assert [n for n in notes if "broken" in n] == [n for n in before.notes if "broken" in n]


def test_nobody_is_asked_to_survive_what_is_no_pdf(tmp_path: Path) -> None:
    make_pdf(tmp_path / "docs" / "a.pdf")
    for name, text in (("empty", ""), ("page", "<html>not found</html>"), ("bad", "%PDF-1.4 and no more")):
        (tmp_path / "docs" / f"{name}.pdf").write_text(text)
    corpus = load_corpus(f"folder:{tmp_path / 'docs'}")
    run = open_run(tmp_path / "run", corpus, ParseOptions())
    add_samples(run, corpus, None)
    summary = scored(run, weak={"bad-p1": None, "empty-p1": None, "page-p1": None})
    figure = summary.figure("weak", "survived")
    assert figure is not None and (figure.value, figure.n) == (0, 1)
    assert "2 files are not PDFs (empty, page): in no score and no count of failures." in summary.notes
    assert (summary.counts["pages"], summary.counts["unreadable files"]) == (1, 3)
    write_bundle(run, tmp_path / "bundle.zip")
    found = verify_bundle(tmp_path / "bundle.zip", n_workers=1)
    (check,) = (check for check in found.checks if check.name == "corpus")
    assert "1 of its 1 page and 3 files in no score" in check.text


def test_other_files_with_truth_are_scored_and_not_said_to_be_in_no_score(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "docs", ["ok", "ok"])
    run = open_run(tmp_path / "run", corpus, ParseOptions())
    add_samples(run, corpus, None)
    summary = scored(run, one={})
    assert summary.counts["tables"] == 2 and not any("no PDF" in note for note in summary.notes)


def test_a_bundle_may_have_pages_of_whose_tables_nothing_is_known(tmp_path: Path) -> None:
    known, other = make_corpus(tmp_path / "docs", ["ok", "ok"]).samples()
    unknown = replace(other, truth=Page(other.id, 600, 800, covered=frozenset()))
    corpus = Corpus.of("two", [known, unknown], root=tmp_path, version="1", licence="CC0")
    run = open_run(tmp_path / "run", corpus, ParseOptions())
    add_samples(run, corpus, None)
    assert scored(run, one={}).counts["pages with truth"] == 1
    write_bundle(run, tmp_path / "bundle.zip")
    found = verify_bundle(tmp_path / "bundle.zip", n_workers=1)
    (check,) = (check for check in found.checks if check.name == "corpus")
    assert check.passed, check.differences


def test_a_page_without_truth_has_the_size_of_its_pdf(tmp_path: Path) -> None:
    make_pdf(tmp_path / "docs" / "letter.pdf", (612, 792))
    corpus = load_corpus(f"folder:{tmp_path / 'docs'}")
    run = open_run(tmp_path / "run", corpus, ParseOptions())
    add_samples(run, corpus, None)
    assert run.table("samples").select("width", "height", "truth").row(0) == (612, 792, None)


def test_where_no_file_is_broken_nothing_is_said_of_them(run: Run) -> None:
    RunFolder.of(run).replace_samples(r for r in run.table("samples").to_dicts() if r["sample"] != "bad-p1")
    summary = scored(run, one={})
    assert "survived" not in summary.parsers["one"] and not any("broken" in note for note in summary.notes)


@pytest.mark.parametrize("kinds", ["[1]", "{", '{"layer": [1], "other": "x"}', '"x"'])
def test_kinds_that_somebody_else_wrote_may_be_anything(run: Run, kinds: str) -> None:
    RunFolder.of(run).replace_samples({**row, "kinds": kinds} for row in run.table("samples").to_dicts())
    assert not {part.attribute for part in scored(run, one={}).slices} & {"text layer", "other", "file"}


@pytest.mark.parametrize("other", ["a,b\n1,3\n", "a,b\n1,2\n"])
def test_copies_whose_truths_contradict_each_other_are_named(tmp_path: Path, other: str) -> None:
    docs = tmp_path / "docs"
    make_pdf(docs / "first.pdf")
    (docs / "a copy.pdf").write_bytes((docs / "first.pdf").read_bytes())
    (docs / "first.csv").write_text("a,b\n1,2\n")
    (docs / "a copy.csv").write_text(other)
    corpus = load_corpus(f"folder:{docs}")
    run = open_run(tmp_path / "run", corpus, ParseOptions())
    add_samples(run, corpus, None)
    summary = scored(run, one={}, two={})
    said = (
        "a copy and first are the same file, but their truths of page 1 differ, "
        "so no parser can be right on both."
    )
    assert (said in summary.notes) == (said in choose(run).notes) == ("3" in other)


def test_a_file_in_no_score_fails_no_gate(run: Run) -> None:
    bad, good = (next(s for s in run.table("samples")["sample"] if name in s) for name in ("bad", "upright"))
    scored(run, one={bad: None})
    assert gate_runs(Run.open(run.path), None, GateLimits()).passed
    scored(run, one={bad: None, good: None})
    (failed,) = gate_runs(Run.open(run.path), None, GateLimits()).failed
    assert [page.partition(":")[0] for page in failed.pages] == [good]
