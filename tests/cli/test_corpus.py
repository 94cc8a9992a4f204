"""`parsemark corpus info --pages` and what is said about a corpus."""

from pathlib import Path

from tests.corpora.small_files import make_pdf, write
from typer.testing import CliRunner

from parsemark.cli.main import app


def test_list_shows_ids_and_what_is_known(tmp_path: Path) -> None:
    make_pdf(tmp_path / "report.pdf", (595, 842), (595, 842))
    make_pdf(tmp_path / "other.pdf")
    write(tmp_path / "report.p2.t1.csv", "a,b\n")
    write(tmp_path / "broken.pdf", "no PDF")
    result = CliRunner().invoke(app, ["corpus", "info", f"folder:{tmp_path}", "--pages"])
    assert result.exit_code == 0
    lines = [line.split(maxsplit=3) for line in result.stdout.splitlines()]
    assert lines[:3] == [
        ["other-p1", "other", "1", "no truth"],
        ["report-p1", "report", "1", "no truth"],
        ["report-p2", "report", "2", "1 table"],
    ]
    assert "3 pages, 1 with truth" in result.stdout
    said = result.stderr
    assert "broken.pdf" in said and "1 part of folder:" in said and "2 of 3 pages" in said


def test_pages_of_which_facts_alone_are_known_are_not_said_to_have_no_tables() -> None:
    from parsemark.corpus_calls import truth_status
    from parsemark.model import Element, Fact, Page, Sample

    def status(**known: object) -> str:
        return truth_status(Sample("s", "d", 1, Page("s", 600, 800, **known)))

    assert status(facts=(Fact("f", "heading", "parsemark"),), only_facts=True) == "1 assertion"
    assert status() == "no tables"
    assert status(elements=(Element("e", "title", text="x"),)) == "no tables, 1 other element"
    assert status(covered=frozenset({"title"})) == "nothing known of its elements"
