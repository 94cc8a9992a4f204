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
from parsemark.corpora.files import write_manifest
from parsemark.corpora.fresh import (
    commit,
    commitment_path,
    differences,
    draw_seed,
    read_secret,
    same_pdfs,
    secret_path,
)
from parsemark.corpora.synthetic.options import GENERATOR
from parsemark.errors import CorpusError, UsageError


def fake_corpus(root: Path, seed: int = 7, text: str = "truth", pdf: str = "pdf") -> Path:
    for folder, content in (("truth", text), ("pdfs", pdf)):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.json").write_text(content)
    write_manifest(
        root,
        name="fresh",
        licence="CC0",
        generator=f"parsemark {GENERATOR}",
        seed=seed,
        settings={"pages": 1, "long": 0.1},
    )
    return root


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path, Path]:
    root, public = fake_corpus(tmp_path / "corpus"), tmp_path / "fresh.json"
    _, kept = commit(root, public)
    return root, kept, public


def test_a_commitment_is_kept(made: tuple[Path, Path, Path]) -> None:
    root, kept, public = made
    assert kept == secret_path(public) and commitment_path(kept) == public
    assert list(differences(root, read_secret(kept), public)) == []
    assert same_pdfs(root, read_secret(kept))
    assert kept.stat().st_mode & 0o077 == 0


def test_an_earlier_commitment_is_not_written_over(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, kept, public = made
    before = kept.read_bytes(), public.read_bytes()
    with pytest.raises(CorpusError, match="earlier commitment"):
        commit(fake_corpus(tmp_path / "other", seed=8), public)
    out = tmp_path / "never"
    arguments = ["--pages", "1", "--out", str(out), "--commit", str(public)]
    refused = CliRunner().invoke(app, ["corpus", "make", "synthetic", *arguments])
    assert refused.exit_code != 0 and not out.exists()
    assert (kept.read_bytes(), public.read_bytes()) == before


def test_a_commitment_tells_nothing_of_the_seed(tmp_path: Path) -> None:
    root = fake_corpus(tmp_path / "corpus")
    first, _ = commit(root, tmp_path / "a.json")
    second, _ = commit(root, tmp_path / "b.json")
    assert first.commitment != second.commitment, "the same seed must not be recognised"
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
    assert list(differences(again, secret, public)) == [] and not same_pdfs(again, secret)
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
        commit(tmp_path / "c", tmp_path / "x.json")


def test_the_command_reveals(made: tuple[Path, Path, Path]) -> None:
    root, kept, _ = made
    invoke = CliRunner().invoke
    shown = invoke(app, ["corpus", "reveal", str(root), str(kept)])
    assert shown.exit_code == 0 and "✓" in shown.output
    (root / "truth" / "a.json").write_text("easier")
    assert invoke(app, ["corpus", "reveal", str(root), str(kept)]).exit_code == 1


def test_a_secret_of_another_generator_or_with_unknown_settings_is_refused(
    made: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, kept, _ = made
    out = ["--out", str(tmp_path / "new")]
    other = CliRunner().invoke(app, ["corpus", "make", "typst", "--reveal", str(kept), *out])
    assert isinstance(other.exception, UsageError) and "made with latex" in str(other.exception)
    data = json.loads(kept.read_text())
    kept.write_text(json.dumps({**data, "settings": {"pages": 1, "evil": 1}}))
    unknown = CliRunner().invoke(app, ["corpus", "make", "synthetic", "--reveal", str(kept), *out])
    assert isinstance(unknown.exception, UsageError) and "evil" in str(unknown.exception)
    settings = {"renderer": "typst", "pages": 1}
    kept.write_text(json.dumps({**data, "generator": f"parsemark {GENERATOR}", "settings": settings}))
    maker = CliRunner().invoke(app, ["corpus", "make", "html", "--reveal", str(kept), *out])
    assert isinstance(maker.exception, UsageError) and "made with typst" in str(maker.exception)


@pytest.mark.latex
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_pages_are_made_again_from_the_secret(tmp_path: Path) -> None:
    invoke = CliRunner().invoke
    public = tmp_path / "fresh.json"
    first = ["--pages", "1", "--out", str(tmp_path / "a"), "--commit", str(public), "--workers", "1"]
    made = invoke(app, ["corpus", "make", "synthetic", *first])
    assert made.exit_code == 0, made.output
    assert str(read_secret(secret_path(public)).seed) not in public.read_text()
    arguments = ["--reveal", str(secret_path(public)), "--out", str(tmp_path / "b"), "--workers", "1"]
    again = invoke(app, ["corpus", "make", "synthetic", *arguments])
    assert again.exit_code == 0 and "committed" in again.output, again.output
