"""A parser that failed on every page is no result, and the exit code says so."""

from pathlib import Path

import pytest
import typer
from rich.console import Console
from tests.engine.fakes import FakeParser, make_corpus

from parsemark.cli import running
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
