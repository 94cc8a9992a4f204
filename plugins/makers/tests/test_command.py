"""`parsemark corpus make` with these makers: options, pages that are left out, commitments."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark import make_corpus
from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.making import get_maker, list_makers
from parsemark.errors import UsageError, WriteError
from parsemark.pdf import count_pages

runner = CliRunner()


def test_every_maker_and_every_option_is_described_in_one_line() -> None:
    makers = {maker.name: maker for maker in list_makers()}
    expected = {"degraded", "docx", "features", "html", "latex", "misleading", "synthetic", "typst"}
    assert expected <= makers.keys()
    for maker in makers.values():
        assert maker.distribution == "parsemark-makers" and maker.summary.endswith(".")
        for name, line in maker.options:
            assert line.endswith(".") and "\n" not in line, f"{maker.name}, {name}"


@pytest.mark.parametrize(
    "spec",
    [
        "synthetic(pages=3,lines=full:0.5+none:0.5,tables_per_page=2.5)",
        "typst(pages=3,languages=greek+english,kinds=report)",
        "html(pages=1,long=0.5)",
        "docx(pages=1)",
    ],
)
def test_settings_of_a_manifest_give_the_maker_back(spec: str) -> None:
    maker = get_maker(spec)
    settings = json.loads(json.dumps({**maker.settings(), "replaced": {"a": "b"}}))
    assert type(maker)(**maker.options_of(settings)) == maker


def own_documents(folder: Path) -> Path:
    """Two documents, one with a table and one without truth."""
    folder.mkdir()
    of_one_page = [s for s in load_corpus("demo").samples() if s.pdf is not None and count_pages(s.pdf) == 1]
    for sample, name in zip(of_one_page, ("good", "odd"), strict=False):
        assert sample.pdf is not None
        (folder / f"{name}.pdf").write_bytes(sample.pdf.read_bytes())
    (folder / "good.p1.t1.csv").write_text("a,b\n1,2\n")
    return folder


@pytest.mark.parametrize("maker", ["degraded(dpi=50)", "misleading(kinds=white)"])
def test_pages_without_truth_are_not_in_a_copy_and_named(tmp_path: Path, maker: str) -> None:
    docs, out = own_documents(tmp_path / "docs"), tmp_path / "out"
    result = runner.invoke(app, ["corpus", "make", maker, "--corpus", f"folder:{docs}", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "odd-p1: is left out: it has no truth." in " ".join(result.stderr.split())
    assert f"{len(load_corpus(str(out)))} page" in result.stdout
    assert "odd-p1" not in load_corpus(str(out)).keys


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file stands where a folder of the way should be."""
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "out")
    error = runner.invoke(app, ["corpus", "make", "degraded", "--corpus", "demo", "--out", out]).exception
    assert isinstance(error, WriteError), error


def test_a_secret_of_another_renderer_is_refused(tmp_path: Path) -> None:
    make_corpus("typst(pages=1,languages=english)", tmp_path / "a", commit=tmp_path / "fresh.json")
    for other in ("html", "synthetic"):
        with pytest.raises(UsageError, match="made with typst"):
            make_corpus(other, tmp_path / "b", reveal=tmp_path / "fresh.secret.json")


@pytest.mark.latex
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_pages_are_made_again_from_the_secret(tmp_path: Path) -> None:
    public, secret = tmp_path / "fresh.json", tmp_path / "fresh.secret.json"
    first = ["--pages", "1", "--out", str(tmp_path / "a"), "--commit", str(public), "--workers", "1"]
    made = runner.invoke(app, ["corpus", "make", "synthetic", *first])
    assert made.exit_code == 0, made.output
    assert str(json.loads(secret.read_text())["seed"]) not in public.read_text()
    arguments = ["--reveal", str(secret), "--out", str(tmp_path / "b"), "--workers", "1"]
    again = runner.invoke(app, ["corpus", "make", "synthetic", *arguments])
    assert again.exit_code == 0 and "These are the pages that" in again.output, again.output
