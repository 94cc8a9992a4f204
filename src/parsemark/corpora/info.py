"""What a corpus consists of: the figures of Soric et al.'s Table 1, and the attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parsemark.corpora.base import Corpus, Remark
from parsemark.errors import PdfError
from parsemark.model import AttributeValue, Sample
from parsemark.pdf import producer


@dataclass
class CorpusInfo:
    """Counts over a corpus."""

    name: str
    version: str
    licence: str
    documents: int = 0
    pages: int = 0
    positive_pages: int = 0
    """Pages with at least one table."""
    tables: int = 0
    cells: int = 0
    without_truth: int = 0
    left_out: list[Remark] = field(default_factory=list)
    """What could not be read."""
    languages: Counter[str] = field(default_factory=Counter)
    """Pages by language."""
    producers: Counter[str] = field(default_factory=Counter)
    """Documents by the producer that their PDF names."""
    categories: Counter[str] = field(default_factory=Counter)
    page_attributes: dict[str, Counter[str]] = field(default_factory=dict)
    table_attributes: dict[str, Counter[str]] = field(default_factory=dict)


def corpus_info(corpus: Corpus) -> CorpusInfo:
    """Read all samples once and count."""
    info = CorpusInfo(corpus.name, corpus.version, corpus.licence, left_out=list(corpus.left_out))
    documents: dict[str, Path | None] = {}
    for found in map(corpus.try_read, corpus.keys):
        if isinstance(found, Remark):
            info.left_out.append(found)
            continue
        sample = found
        documents.setdefault(sample.document, sample.pdf)
        _count(info, sample)
    info.documents = len(documents)
    info.producers = Counter(_producer(pdf) for pdf in documents.values())
    return info


def _producer(pdf: Path | None) -> str:
    if pdf is None:
        return "image"
    try:
        return producer(pdf) or "not named"
    except PdfError:
        return "unreadable"


def _count(info: CorpusInfo, sample: Sample) -> None:
    info.pages += 1
    page = sample.truth
    if page is None:
        info.without_truth += 1
        return
    info.positive_pages += bool(page.tables)
    info.tables += len(page.tables)
    info.cells += sum(t.table.n_cells for t in page.tables if t.table is not None)
    info.languages[str(page.attributes.get("language", "unknown"))] += 1
    info.categories.update(str(e.category) for e in page.elements)
    _tally(info.page_attributes, page.attributes)
    for table in page.tables:
        _tally(info.table_attributes, table.attributes)


def _tally(counts: dict[str, Counter[str]], attributes: Mapping[str, AttributeValue]) -> None:
    for key, value in attributes.items():
        counts.setdefault(key, Counter())[str(value)] += 1
