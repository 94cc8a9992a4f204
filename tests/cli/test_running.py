"""A parser that failed on every page is no result, and the exit code says so."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from rich.console import Console
from tests.corpora.small_files import make_pdf
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.cli import main, running
from parsemark.cli.progress import ProgressLines
from parsemark.corpora import load_corpus
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run


@pytest.mark.parametrize(
    ("behaviours", "fails"),
    [
        (["error", "error"], True),
        (['say:{"format":"runes"}', "error"], True),
        (["error", "fine"], False),
    ],
)
def test_a_parser_that_failed_everywhere_ends_with_1(
    tmp_path: Path, behaviours: list[str], fails: bool
) -> None:
    corpus = make_corpus(tmp_path / "corpus", behaviours)
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(n_workers=1))
    score_run(run, n_workers=1)
    if not fails:
        running.require_some_success(run, ["fake"], Console())
        return
    with pytest.raises(typer.Exit) as caught:
        running.require_some_success(run, ["fake"], console := Console(record=True, width=60))
    assert caught.value.exit_code == 1
    said = console.export_text()
    assert "fake failed on every page. The first: " in said and len(said) > 60


def test_files_that_cannot_be_opened_are_in_no_count_of_failures(tmp_path: Path) -> None:
    """Neither while parsers run nor in the leaderboard; and that is said in one wording."""
    make_pdf(tmp_path / "docs" / "a.pdf")
    (tmp_path / "docs" / "a.no-tables").touch()
    make_pdf(tmp_path / "docs" / "unknown.pdf")
    (tmp_path / "docs" / "bad.pdf").write_text("%PDF-1.4 and no more")
    (tmp_path / "docs" / "empty.pdf").touch()
    corpus = load_corpus(f"folder:{tmp_path / 'docs'}")
    said = {remark.where: remark.message for remark in corpus.remarks}
    rule = "is in no score and no count of failures"
    assert said["bad.pdf"].startswith(f"{rule}; a run counts which parsers survive it: ")
    assert said["empty.pdf"].startswith(f"{rule}, because it is not a PDF: ")
    events = ProgressLines(Console(quiet=True))
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(n_workers=1), events)
    n_failed = {r.sample for r in run.records() if r.status != "ok"} - {"bad-p1", "empty-p1"}
    assert events.n_done == {"fake": 4} and events.n_failed == {"fake": len(n_failed)}
    summary, answers = score_run(run, protocols=["tables", "answers"], n_workers=1)
    assert summary.parsers["fake"]["failures"].value == len(n_failed)
    assert "1 file is not a PDF (empty): in no score and no count of failures." in summary.notes
    assert answers.counts == {"documents": 2, "pages": 2, "pages with truth": 1, "unreadable files": 2}


def test_sentences_are_folded_in_a_terminal_and_whole_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    remark = "page.pdf: " + "is in no score and no count of failures " * 3
    for is_terminal in (True, False):
        console = Console(file=io.StringIO(), width=40, force_terminal=is_terminal, color_system=None)
        running.say_remarks([remark], console)
        assert isinstance(console.file, io.StringIO)
        lines = console.file.getvalue().splitlines()
        assert (max(map(len, lines)) <= 40) == (len(lines) > 1) == is_terminal
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    with pytest.raises(SystemExit):
        main._fail(f"{remark}/{'long' * 20}")
    *short, last = capsys.readouterr().err.splitlines()
    assert all(len(line) <= 40 for line in short) and last.endswith("long" * 20), "a path is not cut"


def test_pages_mean_the_same_everywhere_and_help_says_what() -> None:
    from typer.testing import CliRunner

    for command in ("try", "bench", "choose"):
        shown = " ".join(CliRunner().invoke(main.app, [command, "--help"]).output.split())
        assert "`7` (the first 7), `7-7` (the 7th)" in shown, command


@pytest.mark.parametrize(("command", "code"), [("list metrics", 0), ("corpus check /nowhere", 2)])
def test_a_reader_that_closes_the_pipe_changes_no_exit_code(command: str, code: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    call = [sys.executable, "-c", "from parsemark.cli.main import run; run()", *command.split()]
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(call, stdout=closed, stderr=subprocess.PIPE, check=False, timeout=60)
        both = subprocess.run(call, stdout=closed, stderr=closed, check=False, timeout=60)
    assert done.returncode == both.returncode == code
    assert b"Traceback" not in done.stderr and b"Broken" not in done.stderr


def test_a_full_output_and_a_width_of_nothing_end_in_words() -> None:
    command = [sys.executable, "-m", "parsemark", "--help"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "No space left" in done.stderr
    shown = subprocess.run(
        [sys.executable, "-m", "parsemark", "doctor"],
        env={**os.environ, "COLUMNS": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "C++ kernel" in shown.stdout


def test_only_commands_that_have_strict_offer_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_pdf(tmp_path / "report.pdf", (595, 842), (595, 842))
    (tmp_path / "report.md").write_text("one part")
    running.load(str(tmp_path))
    assert "1 part of" in (err := capsys.readouterr().err) and "--strict" not in err
    running.load(str(tmp_path), strict=False)
    assert "With --strict, the command fails." in capsys.readouterr().err
