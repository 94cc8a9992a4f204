"""The corpus commands, end to end on the demo corpus."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.errors import CorpusError, WriteError
from parsemark.model import Table
from parsemark.pdf import count_pages

from .small_files import make_pdf, write

runner = CliRunner()


def test_info_prints_the_counts() -> None:
    result = runner.invoke(app, ["corpus", "info", "demo"])
    assert result.exit_code == 0
    assert "Pages with tables" in result.stdout and "licence" in result.stdout
    assert "16" in result.stdout


def test_show_writes_a_picture(tmp_path: Path) -> None:
    target = tmp_path / "page.png"
    result = runner.invoke(app, ["corpus", "info", "demo", "--picture", "demo-0001-p1", "--out", str(target)])
    assert result.exit_code == 0
    assert target.read_bytes().startswith(b"\x89PNG")


def test_an_unknown_page_names_the_nearest() -> None:
    result = runner.invoke(app, ["corpus", "info", "demo", "--picture", "demo-0001-p11"])
    assert result.exit_code != 0
    assert "demo-0001-p1" in str(result.exception)


def own_documents(folder: Path) -> Path:
    """Two documents: one labelled, one whose truth file is for a page that it does not have."""
    demo = load_corpus("demo")
    folder.mkdir()
    of_one_page = [s for s in demo.samples() if s.pdf is not None and count_pages(s.pdf) == 1]
    for sample, name in zip(of_one_page, ("good", "odd"), strict=False):
        assert sample.pdf is not None
        (folder / f"{name}.pdf").write_bytes(sample.pdf.read_bytes())
    (folder / "good.p1.t1.csv").write_text("a,b\n1,2\n")
    (folder / "odd.p9.t1.csv").write_text("a,b\n1,2\n")
    return folder


@pytest.mark.parametrize("command", [["check"], ["info"], ["info", "--pages"]])
def test_what_was_left_out_is_said_and_refused_if_asked(tmp_path: Path, command: list[str]) -> None:
    spec = f"folder:{own_documents(tmp_path / 'docs')}"
    result = runner.invoke(app, ["corpus", *command, spec])
    assert result.exit_code == 0, result.output
    assert "odd.p9.t1.csv" in result.stderr
    assert isinstance(runner.invoke(app, ["corpus", *command, spec, "--strict"]).exception, CorpusError)


def test_one_broken_truth_of_many_is_named_in_the_list(tmp_path: Path) -> None:
    size = "<size><width>20</width><height>20</height></size>"
    write(tmp_path / "test" / "PMC1_1.xml", f"<annotation><filename>x.jpg</filename>{size}</annotation>")
    write(tmp_path / "test" / "PMC2_1.xml", "<annotation><filename>")
    result = runner.invoke(app, ["corpus", "info", f"pubtables1m:{tmp_path}", "--pages"])
    assert result.exit_code == 0 and "PMC2_1: is left out" in result.stderr
    assert "1 page, 1 with truth" in result.stdout
    assert runner.invoke(app, ["corpus", "info", f"pubtables1m:{tmp_path}", "--strict", "--pages"]).exit_code


def test_tables_that_cannot_be_read_are_counted_in_the_list(tmp_path: Path) -> None:
    make_pdf(tmp_path / "pdfs" / "a.pdf")
    write(tmp_path / "ground_truth" / "a.json", '[{"type": "table", "data": "no table"}]')
    result = runner.invoke(app, ["corpus", "info", f"pdf-parse-bench:{tmp_path}", "--pages"])
    assert "1 table (1 cannot be read)" in result.stdout


def correct(corpus: str, changes: object, tmp_path: Path) -> Result:
    file = tmp_path / "corrections.json"
    file.write_text(json.dumps(changes))
    out = str(tmp_path / "corrected")
    return runner.invoke(app, ["corpus", "check", corpus, "--apply", str(file), "--out", out])


def test_corrections_are_applied_to_a_copy(tmp_path: Path) -> None:
    spec = f"folder:{own_documents(tmp_path / 'docs')}"
    change = {"cell": [1, 0], "was": "1", "set": {"text": "7"}, "strength": 0.8}
    entry = {"document": "good", "sample": "good-p1", "element": "t1", "changes": [change]}
    result = correct(spec, [entry], tmp_path)
    assert result.exit_code == 0, result.output
    assert "1 cell of 1 table corrected" in result.stdout and "1 page without truth" in result.stdout
    copy = load_corpus(str(tmp_path / "corrected"))
    (sample,) = copy.samples()
    assert sample.truth is not None and sample.truth.only_tables
    assert sample.pdf is not None and sample.pdf.is_file()
    assert sample.truth.tables[0].table == Table.from_rows([["a", "b"], ["7", "2"]])
    assert (tmp_path / "docs" / "good.p1.t1.csv").read_text() == "a,b\n1,2\n"


def one_change(cell: list[int], was: str) -> dict[str, object]:
    changes = [{"cell": cell, "was": was, "set": {"text": ""}}]
    return {"sample": "good-p1", "element": "t1", "changes": changes}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"sample": "no-p1", "element": "t1", "changes": []}, "no page"),
        ({"sample": "good-p1", "element": "t9", "changes": []}, "no table"),
        ({"sample": "odd-p1", "element": "t1", "changes": []}, "no truth"),
        ({"sample": "good-p1", "element": "t1"}, "changes"),
        (one_change([9, 9], ""), "no cell"),
        (one_change([0, 0], "z"), "has changed since"),
    ],
)
def test_a_correction_that_does_not_fit_is_refused(tmp_path: Path, entry: object, said: str) -> None:
    spec = f"folder:{own_documents(tmp_path / 'docs')}"
    result = correct(spec, [entry], tmp_path)
    assert isinstance(result.exception, CorpusError) and said in str(result.exception)
    assert not (tmp_path / "corrected" / "corpus.json").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["corpus", "info", "demo", "--picture", "demo-0001-p1"],
        ["corpus", "export", "demo", "--format", "detector"],
        ["corpus", "check", "demo", "--apply", "corrections.json"],
    ],
    ids=lambda command: command[1],
)
def test_a_place_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    """A file stands where a folder of the way should be."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corrections.json").write_text("[]")
    (tmp_path / "file").write_text("")
    error = runner.invoke(app, [*command, "--out", str(tmp_path / "file" / "out")]).exception
    assert isinstance(error, WriteError), error
