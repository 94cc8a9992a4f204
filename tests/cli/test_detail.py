"""Options of every command: `-q` and `-v`, and the consents, before or behind the command."""

import os
import subprocess
import sys
from pathlib import Path

import pypdfium2
import pytest
from typer.testing import CliRunner

from parsemark.cli import printing
from parsemark.cli.main import app
from parsemark.errors import UsageError


def out(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_quiet_and_verbose_stand_before_or_behind_the_command() -> None:
    names = out("-q", "list", "metrics").split()
    assert "teds" in names and out("list", "metrics", "--quiet").split() == names
    assert out("list", "metrics").startswith("metric\tsummary\t")
    few, all_of_them = out("corpus", "info", "demo"), out("corpus", "info", "demo", "-v")
    assert " more" in few and " more" not in all_of_them and len(all_of_them) > len(few)
    with pytest.raises(UsageError, match="not both"):
        out("list", "-q", "-v")


def test_a_command_says_as_much_as_it_was_asked_to_each_time() -> None:
    out("list", "metrics", "-q")
    assert printing.is_quiet()
    out("list", "metrics")
    assert not printing.is_quiet() and not printing.is_verbose()


def test_what_stands_behind_two_dashes_is_no_option_of_ours() -> None:
    result = CliRunner().invoke(app, ["list", "--", "-q"])
    assert isinstance(result.exception, UsageError) and "-q" in str(result.exception)


def test_consent_behind_the_command_is_given_to_that_command(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("PARSEMARK_FETCH_WEIGHTS", "PARSEMARK_ALLOW_LOCAL_BUILDS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    out("list", "metrics")
    assert not any(name in os.environ for name in names)
    out("list", "metrics", "-y", "--allow-local-builds")
    assert all(os.environ[name] == "1" for name in names)


def test_settings_are_read_from_a_file_that_is_named_behind_the_command(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[bench]\ncorpus = 'folder:nowhere'\n")
    command = [sys.executable, "-m", "parsemark", "bench", "--config", str(tmp_path / "mine.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2 and "nowhere" in done.stderr and "Traceback" not in done.stderr
    done = subprocess.run([*command, "-v"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" in done.stderr, "the traceback of an error is a detail"


def test_quiet_prints_the_answer_of_a_check_alone(tmp_path: Path) -> None:
    pdf = Path(printing.__file__).parents[1] / "corpora/demo/pdfs/demo-0001.pdf"
    with pypdfium2.PdfDocument(pdf) as document:
        text = "\n\n".join(page.get_textpage().get_text_bounded() for page in document)
    words = text.split(" ")
    (tmp_path / "out.md").write_text(" ".join(words[: len(words) // 2] + words[len(words) // 2 + 9 :]))
    command = ["check", str(pdf), str(tmp_path / "out.md"), "--no-ocr"]
    long, short = out(*command), out(*command, "-q")
    assert len(short.splitlines()) == 1 < len(long.splitlines()) and long.startswith(short)
