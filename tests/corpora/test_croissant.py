"""Croissant metadata, read by MLCommons' own library."""

import json
from pathlib import Path
from typing import Any

import mlcroissant
import pytest
from typer.testing import CliRunner

from parsemark import corpus_calls
from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.corpora.croissant import describe_corpus, describe_folder
from parsemark.corpora.files import read_manifest


def read(content: dict[str, Any], folder: Path) -> mlcroissant.Dataset:
    path = folder / "croissant.json"
    path.write_text(json.dumps(content))
    dataset = mlcroissant.Dataset(jsonld=path)
    assert not dataset.metadata.issues.errors
    return dataset


def test_any_corpus_has_a_record_for_each_page(tmp_path: Path) -> None:
    corpus = load_corpus("demo")
    records = list(read(describe_corpus(corpus), tmp_path).records("pages"))
    samples = list(corpus.samples())
    assert [record["pages/id"] for record in records] == [sample.id for sample in samples]
    assert sum(record["pages/tables"] for record in records) == 62
    assert all(record["pages/truth"] for record in records)


def test_documents_without_truth_are_described_too(tmp_path: Path) -> None:
    pdf = next(sample.pdf for sample in load_corpus("demo").samples() if sample.pdf is not None)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf.read_bytes())
    content = corpus_calls.croissant(folder)
    records = list(read(content, tmp_path).records("pages"))
    assert records and not any(record["pages/truth"] for record in records)
    assert "distribution" not in content


def test_a_corpus_folder_lists_its_files(tmp_path: Path) -> None:
    root = load_corpus("demo").root
    content = describe_folder(read_manifest(root), root / "corpus.json")
    dataset = read(content, tmp_path)
    assert {part.name for part in dataset.metadata.distribution} == {"corpus.json", "truth", "pdfs"}


def test_the_command_prints_it(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["corpus", "info", "demo", "--croissant"])
    assert done.exit_code == 0
    assert json.loads(done.stdout) == corpus_calls.croissant("demo")
    with pytest.raises(json.JSONDecodeError):
        json.loads(CliRunner().invoke(app, ["corpus", "info", "demo"]).stdout)
