"""`corpus import`: a folder of any size becomes a corpus, whatever happens on the way."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from tests.corpora.tagging import grid, write_tagged
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.check import check_corpus
from parsemark.corpora.files import hash_of_files
from parsemark.engine import import_corpus as module
from parsemark.engine.import_corpus import JOURNAL, import_corpus
from parsemark.errors import UsageError
from parsemark.system.pool import Finished

ROWS = [["Name", "One"], ["alpha", "1"], ["beta", "3"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three tagged PDFs, one of them below; one without tags, one that is none, and a link that leads out."""
    root = tmp_path / "in"
    (root / "below").mkdir(parents=True)
    texts, table = grid(ROWS)
    for name in ("a.pdf", "b.pdf", "below/c d.pdf"):
        write_tagged(root / name, [texts], [table])
    write_tagged(root / "plain.pdf", [texts], [])
    (root / "broken.pdf").write_bytes(b"%PDF-1.7 no")
    write_tagged(tmp_path / "outside.pdf", [texts], [table])
    (root / "link.pdf").symlink_to(tmp_path / "outside.pdf")
    return root


def test_a_folder_becomes_a_corpus(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = CliRunner().invoke(app, ["corpus", "import", str(folder), "--out", str(out), "--workers", "1"])
    assert found.exit_code == 0, found.output
    assert "failed 1, imported 3, no truth 1" in found.output
    assert "5 new, 0 changed, 0 unchanged, 0 removed" in " ".join(found.output.split())
    said = " ".join(found.output.split())
    assert "broken.pdf (failed): " in said and "plain.pdf (no truth): it has no truth" in said
    corpus = load_corpus(str(out))
    assert len(corpus) == 3 and not corpus.remarks
    tables = [element.table for sample in corpus.samples() if sample.truth for element in sample.truth.tables]
    assert [table.text_rows() for table in tables if table] == [ROWS] * 3
    manifest = json.loads((out / "corpus.json").read_text())
    assert manifest["hash"] == hash_of_files(manifest["files"])
    assert set(manifest["files"]) == {
        path.relative_to(out).as_posix() for part in ("pdfs", "truth") for path in (out / part).rglob("*.*")
    }
    statistics = json.loads((out / "statistics.json").read_text())
    assert statistics["elements: structure tree"]["table"] == 3
    croissant = json.loads((out / "croissant.json").read_text())
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert {part["@id"] for part in croissant["distribution"]} == {"corpus.json", "truth", "pdfs"}


def test_one_that_was_killed_goes_on(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, read, seen = tmp_path / "out", module.read_truth, list[str]()

    def in_process(pool, todo):  # type: ignore[no-untyped-def]
        for task in todo:
            seen.append(task.file)
            if len(seen) == 2:
                raise KeyboardInterrupt
            yield Finished(task, read(task))

    monkeypatch.setattr(module, "results_of", in_process)
    with pytest.raises(KeyboardInterrupt):
        import_corpus(folder, out)
    assert not (out / "corpus.json").exists()
    import_corpus(folder, out)
    assert seen == ["a.pdf", "b.pdf", "b.pdf", "broken.pdf", "plain.pdf", "below/c d.pdf"]
    texts, table = grid([*ROWS, ["gamma", "5"]])
    write_tagged(folder / "a.pdf", [texts], [table])
    os.utime(folder / "a.pdf", ns=(1, 1))
    found = import_corpus(folder, out)
    assert seen[6:] == ["a.pdf"] and found["documents"] == {"failed": 1, "imported": 3, "no truth": 1}
    whole = import_corpus(folder, tmp_path / "other")
    assert whole == found
    assert load_corpus(str(out)).hash == load_corpus(str(tmp_path / "other")).hash


def test_what_was_deleted_leaves_the_corpus(folder: Path, tmp_path: Path) -> None:
    out, changes = tmp_path / "out", Counter[str]()
    import_corpus(folder, out, workers=1, changes=changes)
    assert changes == Counter(new=5)
    (folder / "b.pdf").unlink()
    with (folder / "a.pdf").open("ab") as file:
        file.write(b"\n")
    changes.clear()
    assert import_corpus(folder, out, workers=1, changes=changes)["documents"]["imported"] == 2
    assert changes == Counter(changed=1, unchanged=3, removed=1)
    assert len(load_corpus(str(out))) == 2 and not list(out.glob("*/b[-.]*"))
    folder.rename(tmp_path / "away")
    folder.mkdir()
    with pytest.raises(UsageError, match="no longer has any PDF of this import; the corpus is unchanged"):
        import_corpus(folder, out, workers=1)
    assert len(load_corpus(str(out))) == 2


def test_a_pdf_that_is_changed_in_place_does_not_change_the_corpus(folder: Path, tmp_path: Path) -> None:
    import_corpus(folder, tmp_path / "out", workers=1)
    (folder / "a.pdf").write_bytes(b"something else")
    assert check_corpus(load_corpus(str(tmp_path / "out"))).ok


def test_a_folder_without_pdfs_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(UsageError, match="contains no PDF"):
        import_corpus(tmp_path / "in", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_folders_are_refused(folder: Path, tmp_path: Path) -> None:
    import_corpus(folder / "below", tmp_path / "out", workers=1)
    with pytest.raises(UsageError, match="This is an import of"):
        import_corpus(folder, tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(UsageError, match="is not empty"):
        import_corpus(folder, tmp_path / "full")
    assert (tmp_path / "out" / JOURNAL).exists()
