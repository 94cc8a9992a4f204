"""The table of parsers is generated from the registry, and the examples of the guide work as printed."""

import re
import zipfile
from pathlib import Path

import pytest
from scripts.write_parser_table import parser_table, with_table
from tests.parsers.pages import write_page
from tests.parsers.scripts import write_worker
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.parsers import get_parser, parser_names

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reference" / "parsers.md"
GUIDE = DOCS / "how-to" / "parsers.md"


def test_the_page_has_the_table_of_the_registry() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_table(text) == text, "run scripts/write_parser_table.py"


def test_every_parser_is_listed_once() -> None:
    rows = parser_table().splitlines()[2:]
    names = [re.match(r"\| \[`([^`]+)`\]", row) for row in rows]
    assert [m[1] for m in names if m] == parser_names()


@pytest.mark.parametrize("name", parser_names())
def test_every_worker_says_where_it_stands(name: str) -> None:
    info = get_parser(name).info
    assert all(len(line) < 200 for line in (info.about, info.paper, info.weights_note))
    if any(need.startswith("folder:") for need in info.needs):
        assert info.weights or info.weights_note, "list the sources of its weights, or say what to put there"


@pytest.mark.parsers
@pytest.mark.parametrize("section", ["## Your own parser", "### A parser of whole documents"])
def test_add_your_parser_works_as_the_page_says(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script as it is printed, saved under the name and tried by the command that the page says."""
    text = GUIDE.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text[text.index(section) :], re.DOTALL)
    command = re.search(r"Save it as `([^`]+)` and try it: `parsemark ([^`]+)`", text)
    assert code is not None and command is not None
    monkeypatch.chdir(tmp_path)
    Path(command[1]).write_text(code[1])
    write_page(Path(command[2].split()[1]))
    done = CliRunner().invoke(app, command[2].split(), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "pdfplumber" in done.output and re.search(r"\d+ tables? on page 1", done.output)
    assert "cell" in done.output and "33" in done.output


@pytest.mark.parsers
def test_a_parser_of_docx_works_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    line = re.search(r"A parser with `(# reads = [^`]+)`", text)
    command = re.search(r"Try it: `parsemark ([^`]+)`", text)
    assert line is not None and command is not None
    monkeypatch.chdir(tmp_path)
    body = "from parsemark_worker import serve, text_output\nserve(lambda pdf, page, options: "
    body += 'text_output("markdown", f"| {page} |\\n|---|\\n| {pdf[-4:]} |"))\n'
    write_worker(tmp_path, body, "my_parser.py", fact=line[1].removeprefix("# "))
    with zipfile.ZipFile(command[1].split()[1], "w") as file:
        file.writestr("word/document.xml", "<w:document/>")
    done = CliRunner().invoke(app, command[1].split(), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "1 table in report.docx" in done.output and "docx" in done.output
