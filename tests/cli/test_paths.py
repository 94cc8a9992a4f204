"""A bare path is understood: a PDF, a folder, a run, a file of a corpus."""

import shutil
from pathlib import Path

import pytest
from tests.corpora.small_files import make_pdf
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

import parsemark as pm
from parsemark.cli.main import app
from parsemark.errors import ParsemarkError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    make_pdf(tmp_path / "docs" / "a.pdf")
    shutil.copytree(pm.load_corpus("demo").root, tmp_path / "own")
    fabricate_run(tmp_path / "runs" / "demo", 4, ("good", "fair"))
    return tmp_path


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("docs", "docs"),
        ("docs/a.pdf", "a"),
        ("own", "demo"),
        ("own/corpus.json", "demo"),
        ("runs/demo", "demo"),
    ],
)
def test_a_path_is_a_corpus(here: Path, path: str, name: str) -> None:
    shown = CliRunner().invoke(app, ["corpus", "info", path, "--json"])
    assert shown.exit_code == 0 and f'"name": "{name}"' in shown.stdout


@pytest.mark.parametrize("path", ["runs/demo", "runs/demo/", "demo", "demo/"])
def test_a_corpus_stands_for_its_run(here: Path, path: str) -> None:
    shown = CliRunner().invoke(app, ["compare", path, "good", "fair"])
    assert shown.exit_code == 0 and "fair" in shown.output
    assert pm.load_run(path).path == Path("runs/demo")
    assert "good" in CliRunner().invoke(app, ["export", path]).output


def test_what_is_neither_is_named(here: Path) -> None:
    with pytest.raises(ParsemarkError, match="docs"):
        pm.load_run("docs")
