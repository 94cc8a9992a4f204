"""`parsemark parsers list`."""

import io
import shlex
import zipfile
from pathlib import Path

import pytest
from tests.packages import write_entry_points
from tests.parsers.pages import write_page
from tests.parsers.scripts import write_worker
from typer.testing import CliRunner

from parsemark.available import available
from parsemark.cli.main import app
from parsemark.cli.parsers import HEADS
from parsemark.errors import ParserError, UsageError
from parsemark.parsers import parser_names


def try_page(worker: str, pdf: str, pages: str = "1") -> str:
    arguments = ["try", pdf, "--parser", worker, "--pages", pages]
    return CliRunner().invoke(app, arguments, catch_exceptions=False).output


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["parsers", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))


def test_the_list_has_a_line_for_each_parser_with_all_facts() -> None:
    head, *lines = [line.split("\t") for line in run("list").splitlines()]
    assert head == list(HEADS) and [line[0] for line in lines] == parser_names()
    camelot = next(line for line in lines if line[0] == "camelot")
    assert camelot == [
        "camelot",
        "MIT",
        "cells, boxes",
        "–",
        "–",
        "flavor=lattice|stream|network|hybrid",
        "installable",
    ]
    rapid = next(line for line in lines if line[0] == "rapid")
    assert rapid[3] == "tesseract (words=tesseract), no wheels for macOS x86_64 (onnxruntime)"


def test_names_and_options_are_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    rows = [(entry.name, *(text for _, text in entry.details)) for entry in available("parsers")]
    for width in (60, 80, 200):
        console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
        monkeypatch.setattr("rich.console.Console", lambda console=console, **_: console)
        CliRunner().invoke(app, ["parsers", "list"], catch_exceptions=False)
        lines = console.file.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        assert {row[0] for row in rows} <= {line.split()[0] for line in lines if line.strip()}
        shown = "".join("".join(lines).split())
        assert width > 100 or all("".join(fact.split()) in shown for row in rows for fact in row)
        assert "…" not in shown


def test_a_broken_plugin_has_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry_points(tmp_path, "broken_package", "[parsemark.parsers]\nbroken = no_such_module:WORKER\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    _, *lines = run("list").splitlines()
    assert len(lines) == len(parser_names())
    assert any(line.startswith("broken\t") and "cannot be loaded" in line for line in lines)


def test_install_builds_and_says_so(tmp_path: Path) -> None:
    script = str(write_worker(tmp_path))
    assert "[1/1] mine: creating the environment" in run("install", script)
    assert run("install", script) == "[1/1] mine: ready\n"


def test_a_parser_that_cannot_be_installed_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROBID_URL", raising=False)
    result = CliRunner().invoke(app, ["parsers", "install", "grobid", str(write_worker(tmp_path))])
    assert result.exit_code == 1
    assert "[1/2] grobid: grobid cannot run here. Missing: GROBID_URL" in result.output
    assert "[2/2] mine: ready" in result.output


def test_try_shows_the_tables_and_no_escape_sequences(tmp_path: Path) -> None:
    body = """
    from parsemark_worker import elements_output, serve, table

    def parse(pdf, page, options):
        rows = [["plain", "\\x1b[31mred [bold]x"]]
        return elements_output([table(rows, box=(1, 2, 30, 40), confidence=0.5)])

    serve(parse)
    """
    output = try_page(str(write_worker(tmp_path, body)), str(write_page(tmp_path / "page.pdf")))
    assert "1 table on page 1" in output
    assert "table 1, 1 x 2, box 1 2 30 40, confidence 0.50" in output
    assert "plain" in output and "[bold]x" in output
    assert "\x1b[31m" not in output


def test_try_says_what_went_wrong(tmp_path: Path) -> None:
    pdf = str(write_page(tmp_path / "page.pdf"))
    fails = "from parsemark_worker import serve\nserve(lambda pdf, page, options: 1 / 0)"
    nonsense = "from parsemark_worker import serve\nserve(lambda pdf, page, options: {'format': 'pdf'})"
    with pytest.raises(ParserError, match=r"failed on page 1 of page\.pdf: ZeroDivisionError"):
        try_page(str(write_worker(tmp_path, fails)), pdf)
    with pytest.raises(ParserError, match="unreadable output"):
        try_page(str(write_worker(tmp_path, nonsense)), pdf)
    with pytest.raises(UsageError, match="Unknown parser 'pdfplumer'"):
        try_page("pdfplumer", pdf)


def test_try_shows_tracebacks_prints_and_a_forgotten_serve(tmp_path: Path) -> None:
    pdf = str(write_page(tmp_path / "page.pdf"))
    fails = """
    from parsemark_worker import serve

    def deep(page):
        return {}["no such key"]

    def parse(pdf, page, options):
        return deep(page)

    serve(parse)
    """
    with pytest.raises(ParserError, match="KeyError") as caught:
        try_page(str(write_worker(tmp_path, fails)), pdf)
    assert "The worker printed:\nTraceback" in str(caught.value)
    assert "in deep" in str(caught.value) and '{}["no such key"]' in str(caught.value)
    prints = """
    from parsemark_worker import elements_output, serve

    def parse(pdf, page, options):
        print("looking at", page)
        return elements_output([])

    serve(parse)
    """
    output = try_page(str(write_worker(tmp_path, prints)), pdf)
    assert "0 tables on page 1" in output and "The worker printed:\nlooking at 1\n" in output
    with pytest.raises(ParserError, match=r"`serve\(parse\)`: is that line missing\?"):
        try_page(str(write_worker(tmp_path, "def parse(pdf, page, options): return {}")), pdf)
    with pytest.raises(ParserError, match="SyntaxError"):
        try_page(str(write_worker(tmp_path, "def parse(pdf page): return {}")), pdf)


def _docx(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("word/document.xml", "<w:document/>")
    return path


def test_try_takes_the_files_that_a_parser_reads(tmp_path: Path) -> None:
    body = """
    from parsemark_worker import elements_output, serve, table

    def parse(pdf, page, options):
        return elements_output([table([[pdf.rpartition("/")[2], str(page)]])])

    serve(parse)
    """
    script = write_worker(tmp_path, body, fact='reads = ["docx", "html"]')
    html = tmp_path / "page.HTM"
    html.write_text("<p>x</p>")
    for file in (_docx(tmp_path / "word.docx"), html):
        output = try_page(str(script), str(file))
        assert f"1 table in {file.name}" in output
        with pytest.raises(UsageError, match="has one page, not 2"):
            try_page(str(script), str(file), "2-2")
    pdf = write_page(tmp_path / "page.pdf")
    with pytest.raises(UsageError, match=r"reads DOCX and HTML; page.pdf is a file of kind PDF"):
        try_page(str(script), str(pdf))


def test_try_says_in_plain_words_that_a_parser_reads_other_files(tmp_path: Path) -> None:
    word = _docx(tmp_path / "word.docx")
    with pytest.raises(UsageError, match=r"pdfplumber reads PDF; word.docx is a file of kind DOCX"):
        try_page("pdfplumber", str(word))
    sheet = tmp_path / "sheet.docx"
    with zipfile.ZipFile(sheet, "w") as file:
        file.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(UsageError, match=r"mammoth reads DOCX; sheet.docx is another kind of file"):
        try_page("mammoth", str(sheet))
    (tmp_path / "broken.pdf").write_text("no pdf")
    with pytest.raises(UsageError, match="cannot be opened as a PDF"):
        try_page("pdfplumber", str(tmp_path / "broken.pdf"))


def test_the_newest_versions_are_listed_and_how_to_see_all(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [f"1.{k}" for k in range(30)]
    monkeypatch.setattr("parsemark.setup_calls.parsers_versions", lambda name, pre: known)
    result = CliRunner().invoke(app, ["parsers", "versions", "camelot"])
    assert (
        result.stdout.split() == known[-10:]
        and "The newest 10 of 30; all of them: --verbose" in result.stderr
    )
    assert run("versions", "camelot", "--verbose").split() == known


def test_one_file_is_tried_and_nothing_but_its_run_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
    from parsemark_worker import serve

    serve(lambda pdf, page, options: {"format": "markdown", "content": "Some words."})
    """
    monkeypatch.chdir(tmp_path)
    page, worker = write_page(tmp_path / "page.pdf"), write_worker(tmp_path, body)
    result = CliRunner().invoke(app, ["try", str(page), "-p", str(worker), "--no-browser"])
    assert result.exit_code == 0, result.output
    assert [path.name for path in Path("runs").iterdir()] == ["try-page"]
    assert "<p>Some words.</p>" in Path("runs/try-page/try.html").read_text()
    shown = " ".join(CliRunner().invoke(app, ["try", "--help"]).output.split())
    assert "all that are installed" in shown and "a fast set" not in shown


def test_a_try_says_why_a_parser_failed_and_how_to_see_the_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
    from parsemark_worker import serve

    def parse(pdf, page, options):
        raise ValueError("too small")

    serve(parse)
    """
    monkeypatch.chdir(tmp_path)
    page = write_page(tmp_path / "page.pdf")
    worker = write_worker(tmp_path, body)
    result = CliRunner().invoke(app, ["try", str(page), "-p", str(worker), "--no-browser"])
    assert f"! {worker.stem} failed on page 1: ValueError: too small" in result.output
    again = next(line for line in result.output.splitlines() if line.startswith("  parsemark try "))
    shown = CliRunner().invoke(app, shlex.split(again)[1:])
    assert isinstance(shown.exception, ParserError) and "in parse" in str(shown.exception)
