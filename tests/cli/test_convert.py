"""`parsemark convert`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.errors import FormatError, UsageError

PIPES = "# Page\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("html", "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>\n"),
        ("markdown", "| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
        ("csv", "a,b\n1,2\n"),
    ],
)
def test_from_standard_input(to: str, expected: str) -> None:
    result = CliRunner().invoke(app, ["convert", "-", "--to", to], input=PIPES)
    assert (result.exit_code, result.stdout) == (0, expected)


def test_text_in_other_encodings(tmp_path: Path) -> None:
    wide, latin = tmp_path / "wide.csv", tmp_path / "latin.csv"
    wide.write_text("é,b\n1,2\n", encoding="utf-16")
    latin.write_text("a,b\né,2\n", encoding="latin-1")
    done = CliRunner().invoke(app, ["convert", str(wide), "--from", "csv", "--to", "csv"])
    assert done.stdout == "é,b\n1,2\n"
    refused = CliRunner().invoke(app, ["convert", str(latin), "--from", "csv", "--to", "csv"])
    assert refused.exit_code and "not UTF-8 text (line 2)" in str(refused.exception)


def test_to_latex_and_back(tmp_path: Path) -> None:
    source, tex = tmp_path / "page.md", tmp_path / "table.tex"
    source.write_text(PIPES)
    assert (
        CliRunner().invoke(app, ["convert", str(source), "--to", "latex", "--out", str(tex)]).exit_code == 0
    )
    result = CliRunner().invoke(app, ["convert", str(tex), "--to", "csv"])
    assert result.stdout == "a,b\n1,2\n"


def test_a_csv_file_is_read_as_csv_and_from_overrides(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("only\none column\n")
    assert CliRunner().invoke(app, ["convert", str(path), "--to", "csv"]).stdout == "only\none column\n"
    result = CliRunner().invoke(app, ["convert", str(path), "--to", "csv", "--from", "html"])
    assert isinstance(result.exception, FormatError)


def test_several_tables_are_parted_by_an_empty_line() -> None:
    result = CliRunner().invoke(app, ["convert", "-", "--to", "csv"], input=f"{PIPES}\n{PIPES}")
    assert result.stdout == "a,b\n1,2\n\na,b\n1,2\n"


def test_a_missing_file_says_so() -> None:
    result = CliRunner().invoke(app, ["convert", "/nowhere/page.md", "--to", "html"])
    assert isinstance(result.exception, UsageError)
    assert "No such file" in str(result.exception)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    arguments = ["convert", "-", "--to", "csv", "--out", str(tmp_path / "nowhere" / "t.csv")]
    result = CliRunner().invoke(app, arguments, input=PIPES)
    assert isinstance(result.exception, UsageError)
    assert "nowhere" in str(result.exception)
