"""The loaders of datasets on the real files."""

import re
from collections import Counter
from pathlib import Path

import pytest

from parsemark.corpora import Corpus, load_corpus
from parsemark.corpora.render import page_words

pytestmark = pytest.mark.conformance


def counts(corpus: Corpus) -> tuple[int, int, int, int]:
    """Documents, pages, pages with tables, tables."""
    samples = list(corpus.samples())
    tables = [len(s.truth.tables) for s in samples if s.truth]
    return len({s.document for s in samples}), len(samples), sum(n > 0 for n in tables), sum(tables)


def test_icdar2013(reference_data: Path) -> None:
    corpus = load_corpus(f"icdar2013:{reference_data / 'icdar2013'}")
    assert counts(corpus) == (27, 111, 55, 76)
    alternates = load_corpus(f"icdar2013-alternates:{reference_data / 'icdar2013'}")
    assert counts(alternates)[:2] == (27, 111)
    assert alternates.hash != corpus.hash


def test_every_cell_of_icdar2013_holds_its_words(reference_data: Path) -> None:
    """The text layer inside a cell's box has the letters of the cell, with the corrections applied."""
    wrong = []
    for sample in load_corpus(f"icdar2013:{reference_data / 'icdar2013'}").samples():
        assert sample.truth is not None
        words = page_words(sample) if sample.truth.tables else ()
        for element in sample.truth.tables:
            assert element.table is not None and element.box is not None
            for cell in element.table.cells:
                if cell.box is None:
                    continue
                inside = [w.text for w in words if cell.box.expanded(1).contains(w.box, 3)]
                letters = [Counter(re.sub(r"\W", "", text)) for text in ("".join(inside), cell.text)]
                if letters[0] != letters[1]:
                    wrong.append((sample.id, element.id, cell, inside))
    assert wrong == []


def test_pdf_parse_bench(reference_data: Path) -> None:
    corpus = load_corpus(f"pdf-parse-bench:{reference_data / 'pdf-parse-bench-tables'}")
    assert counts(corpus) == (50, 50, 50, 222)
    errors = [e for s in corpus.samples() if s.truth for e in s.truth.tables if e.table is None]
    assert errors == []
    formulas = load_corpus(f"pdf-parse-bench:{reference_data / 'pdf-parse-bench-formulas'}")
    assert counts(formulas) == (20, 20, 0, 0)
