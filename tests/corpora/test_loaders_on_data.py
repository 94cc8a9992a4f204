"""The loaders on the real corpora."""

from pathlib import Path

import pytest

from parsemark.corpora import Corpus, load_corpus

pytestmark = pytest.mark.conformance


def counts(corpus: Corpus) -> tuple[int, int, int, int]:
    """Documents, pages, pages with tables, tables."""
    samples = list(corpus.samples())
    tables = [len(s.truth.tables) for s in samples if s.truth]
    return len({s.document for s in samples}), len(samples), sum(n > 0 for n in tables), sum(tables)


def test_omnidocbench(reference_data: Path) -> None:
    file = reference_data / "omnidocbench-demo" / "OmniDocBench_demo.json"
    corpus = load_corpus(f"omnidocbench:{file}")
    assert counts(corpus) == (18, 18, 9, 10)
    for sample in corpus.samples():
        assert sample.image is not None and sample.image.is_file() and sample.truth is not None
        assert all(e.table is not None for e in sample.truth.tables)


def test_a_folder_without_truth(reference_data: Path) -> None:
    corpus = load_corpus(f"folder:{reference_data / 'tatr-recorded'}")
    assert {s.truth for s in corpus.samples()} == {None}
