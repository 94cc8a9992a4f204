"""`parsemark corpus make` with these makers: options, and pages that are left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.making import list_makers
from parsemark.errors import WriteError
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
