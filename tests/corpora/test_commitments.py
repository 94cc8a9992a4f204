"""Commitments: they hide the seed, bind the maker, and are checked by others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.commitments import (
    commit_to,
    commitment_path,
    committed_note,
    differences,
    draw_seed,
    read_secret,
    secret_path,
)
from parsemark.corpora.files import write_manifest
from parsemark.errors import CorpusError


def fake_corpus(root: Path, seed: int = 7, text: str = "truth", pdf: str = "pdf") -> Path:
    for folder, content in (("truth", text), ("pdfs", pdf)):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.json").write_text(content)
    write_manifest(
        root,
        name="fresh",
        licence="CC0",
        generator="acme pages 1",
        seed=seed,
        settings={"pages": 1, "long": 0.1},
    )
    return root


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path, Path]:
    root, public = fake_corpus(tmp_path / "corpus"), tmp_path / "fresh.json"
    commit_to(root, public)
    return root, secret_path(public), public


def test_a_commitment_is_kept(made: tuple[Path, Path, Path]) -> None:
    root, kept, public = made
    assert kept == secret_path(public) and commitment_path(kept) == public
    assert list(differences(root, read_secret(kept), public)) == []
    assert "the PDFs too" in committed_note(root, read_secret(kept), public)
    assert kept.stat().st_mode & 0o077 == 0


def test_an_earlier_commitment_is_not_written_over(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, kept, public = made
    before = kept.read_bytes(), public.read_bytes()
    with pytest.raises(CorpusError, match="earlier commitment"):
        commit_to(fake_corpus(tmp_path / "other", seed=8), public)
    assert (kept.read_bytes(), public.read_bytes()) == before


def test_a_commitment_tells_nothing_of_the_seed(tmp_path: Path) -> None:
    root = fake_corpus(tmp_path / "corpus")
    commit_to(root, tmp_path / "a.json")
    commit_to(root, tmp_path / "b.json")
    first, second = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "ab")
    assert first["commitment"] != second["commitment"], "the same seed must not be recognised"
    assert set(json.loads((tmp_path / "a.json").read_text())) == {
        "version", "format", "name", "generator", "n_files", "commitment",
    }  # fmt: skip
    assert len({draw_seed() for _ in range(100)}) == 100


@pytest.mark.parametrize("key", ["seed", "nonce", "truth", "pages", "name", "generator", "settings"])
def test_whatever_is_changed_in_the_secret_is_found(made: tuple[Path, Path, Path], key: str) -> None:
    root, kept, public = made
    data = json.loads(kept.read_text())
    data[key] = {"seed": 8, "settings": {"pages": 2}, "name": "x", "generator": "y"}.get(key, "0" * 64)
    kept.write_text(json.dumps(data))
    found = list(differences(root, read_secret(kept), public))
    assert any("does not fit the commitment" in line for line in found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda root: (root / "truth" / "a.json").write_text("easier"), "truth/a.json is missing"),
        (lambda root: (root / "pdfs" / "a.json").unlink(), "pdfs/a.json is missing"),
    ],
)
def test_changed_pages_are_found(
    made: tuple[Path, Path, Path], change: Callable[[Path], Any], words: str
) -> None:
    root, kept, public = made
    change(root)
    assert any(words in line for line in differences(root, read_secret(kept), public))


def test_pages_of_another_seed_are_found_and_other_pdfs_are_told_apart(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, kept, public = made
    secret = read_secret(kept)
    other = fake_corpus(tmp_path / "other", seed=8, text="other")
    found = " ".join(differences(other, secret, public))
    assert "seed" in found and "truths" in found
    again = fake_corpus(tmp_path / "again", pdf="set by another TeX")
    assert list(differences(again, secret, public)) == [] and "other bytes" in committed_note(
        again, secret, public
    )
    manifest = json.loads((again / "corpus.json").read_text())
    manifest["files"]["../../outside"] = "0" * 64
    (again / "corpus.json").write_text(json.dumps(manifest))
    assert any("outside" in line for line in differences(again, secret, public))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "parsemark-secret"}', "x" * 2_000_000])
def test_files_that_are_none_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.secret.json"
    path.write_text(content)
    with pytest.raises(CorpusError, match=r"x\.secret\.json"):
        read_secret(path)


def test_a_corpus_without_a_seed_has_no_commitment(tmp_path: Path) -> None:
    (tmp_path / "c" / "truth").mkdir(parents=True)
    write_manifest(tmp_path / "c", name="c")
    with pytest.raises(CorpusError, match="seed"):
        commit_to(tmp_path / "c", tmp_path / "x.json")


def test_the_check_reveals(tmp_path: Path) -> None:
    root = tmp_path / "demo"
    shutil.copytree(load_corpus("demo").root, root)
    manifest = json.loads((root / "corpus.json").read_text())
    kept = {name: digest for name, digest in manifest["files"].items() if "demo-0001" in name}
    for name in manifest["files"].keys() - kept.keys():
        (root / name).unlink()
    write_manifest(root, name="one", generator="acme pages 1", seed=3)
    commit_to(root, tmp_path / "fresh.json")
    command = ["corpus", "check", str(root), "--reveal", str(tmp_path / "fresh.secret.json")]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0 and "These are the pages that" in shown.output, shown.output
    page = next((root / "truth").iterdir())
    page.write_text(page.read_text().replace("demo", "omed"))
    write_manifest(root, name="one", generator="acme pages 1", seed=3)
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 1 and "PROBLEM The truths in" in shown.output
