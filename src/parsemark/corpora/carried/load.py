"""`tagged:DIR`: the pages of tagged PDFs with what their structure trees say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.carried.tagged import TaggedDocument, read_tagged
from parsemark.corpora.loaders.files import SampleIds, files_inside, page_id, read_each
from parsemark.errors import CorpusError
from parsemark.model import Page, Sample
from parsemark.pdf import made_with
from parsemark.plain_words import counted

_LISTED = 8


def load(root: Path) -> Corpus:
    """Load all tagged PDFs below a folder; those without tags are left out, with a remark."""
    remarks: list[Remark] = []

    def read(pdf: Path, _: SampleIds) -> list[Sample]:
        name = pdf.relative_to(root).with_suffix("").as_posix()
        document = read_tagged(pdf)
        if document is None or not document.pages:
            raise CorpusError("it has no structure tree.")
        remarks.extend(_remarks(pdf.relative_to(root).as_posix(), document))
        return list(_samples(pdf, name, document))

    files = files_inside(root, "*.pdf", remarks, of="a folder of tagged PDFs")
    samples = read_each(root, files, read, remarks)
    return Corpus.of(
        f"tagged {root.name}", samples, root=root, version="1", licence="unknown", remarks=remarks
    )


def _samples(pdf: Path, name: str, document: TaggedDocument) -> Iterator[Sample]:
    kind = made_with(pdf)
    for number, page in document.pages.items():
        truth = Page(
            page_id(name, number),
            page.width,
            page.height,
            tuple(page.elements),
            attributes={"made_with": kind},
            covered=page.covered,
        )
        if page.elements:
            yield Sample(truth.id, name, number, truth, pdf)


def _remarks(where: str, document: TaggedDocument) -> Iterator[Remark]:
    """What of a document is no truth, and why."""
    refused: dict[str, list[str]] = defaultdict(list)
    for table in document.tables:
        if table.refused and table.pages:
            refused[table.refused].append(str(table.pages[0]))
    for why, pages in refused.items():
        listed = ", ".join(pages[:_LISTED]) + (" …" if len(pages) > _LISTED else "")
        yield Remark(where, f"{counted(len(pages), 'table')} refused (page {listed}): {why}.")
    for fault, n in document.faults.items():
        yield Remark(where, f"its structure tree has {n:,} {fault}; they are not used.", left_out=False)
