"""A parser that failed on every page is no result, and the exit code says so."""

from pathlib import Path

import pytest
import typer
from rich.console import Console
from tests.corpora.small_files import make_pdf
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.cli import running
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
    (tmp_path / "docs" / "bad.pdf").write_text("%PDF-1.4 and no more")
    (tmp_path / "docs" / "empty.pdf").touch()
    corpus = load_corpus(f"folder:{tmp_path / 'docs'}")
    said = {remark.where: remark.message for remark in corpus.remarks}
    rule = "is in no score and no count of failures"
    assert said["bad.pdf"].startswith(f"{rule}; a run counts which parsers survive it: ")
    assert said["empty.pdf"].startswith(f"{rule}, for it is no PDF: ")
    events = ProgressLines(Console(quiet=True))
    run = parse_corpus(tmp_path / "run", corpus, [FakeParser()], ParseOptions(n_workers=1), events)
    n_failed = {r.sample for r in run.records() if r.status != "ok"} - {"bad-p1", "empty-p1"}
    assert events.n_done == {"fake": 3} and events.n_failed == {"fake": len(n_failed)}
    (summary,) = score_run(run, n_workers=1)
    assert summary.parsers["fake"]["failures"].value == len(n_failed)
    assert "1 file is no PDF (empty): in no score and no count of failures." in summary.notes
