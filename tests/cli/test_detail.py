"""Options of every command: `-q` and `-v`, and the consents, before or behind the command."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pypdfium2
import pytest
from typer.testing import CliRunner

import parsemark
from parsemark.cli import printing
from parsemark.cli.main import app
from parsemark.errors import CorpusError, UsageError
from parsemark.protocols import canonical_specs


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


def test_a_pair_of_files_is_scored_as_a_line_of_pairs(tmp_path: Path) -> None:
    truth, pred = tmp_path / "truth.html", tmp_path / "pred.md"
    truth.write_text("<table><tr><td>lead</td><td>11.34</td></tr></table>")
    pred.write_text("| lead | 11.84 |\n|---|---|\n")
    scores = [json.loads(line) for line in out("pairs", str(truth), str(pred), "--out", "-").splitlines()]
    expected = parsemark.score_pair(truth.read_text(), pred.read_text(), ["teds"])["teds"].value
    (teds,) = (row["value"] for row in scores if row["metric"] == "teds")
    assert teds == pytest.approx(expected) and 0 < teds < 1
    with pytest.raises(UsageError, match="No such file"):
        out("pairs", str(truth), str(tmp_path / "none.md"))


def test_on_a_terminal_markdown_is_folded_between_words_and_tables_have_no_bars(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    link = f"<file:///{'x' * 99}>"
    text = (
        f"{'several words ' * 9}\n\n| figure | a\\|b |\n|---|---:|\n| one | 0.5 |\n\nSide by side: {link}\n"
    )
    printing.set_detail(0)
    printing.answer(text)
    assert capsys.readouterr().out == text
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    printing.answer(text)
    shown = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()
    prose = [line for line in shown if "several" in line]
    assert len(prose) > 2 and all(set(line.split()) == {"several", "words"} for line in prose)
    assert any(line.split() == ["figure", "a|b"] for line in shown)
    assert any(link in line for line in shown), "a link is not folded"


@pytest.mark.parametrize("group", [(), ("corpus",), ("parsers",), ("study",), ("study", "judge")])
def test_a_group_lists_its_commands_with_examples(group: tuple[str, ...]) -> None:
    help_text = out(*group, "--help")
    examples = help_text.partition("\nExamples:\n")[2].splitlines()
    commands = [line.strip() for line in examples if line.startswith("  parsemark ")]
    assert len(commands) >= 3 and all(line.startswith(" ".join(["parsemark", *group])) for line in commands)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("--parser", "openai(model=x)"), "vlm(model=NAME,base_url=URL)"),
        (("--protocol", "omnidocbench"), "document(profile=v1.6)"),
        (("--protocol", "teds"), "tables(metrics=teds)"),
    ],
)
def test_an_error_gives_what_a_common_name_stands_for(
    words: tuple[str, ...], meant: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        out("bench", "demo", *words, "--out", str(tmp_path / "run"))
    assert str(caught.value).endswith(f"Write {meant}.")
    assert not (tmp_path / "run").exists()
    if words[0] == "--protocol":
        canonical_specs([meant])


def test_a_folder_of_word_files_is_answered_with_the_command_that_reads_one(tmp_path: Path) -> None:
    (tmp_path / "letter.docx").write_bytes(b"PK")
    with pytest.raises(CorpusError, match=r"parsemark try \S+letter\.docx --parser mammoth --pages 1$"):
        out("bench", str(tmp_path))
