"""Corpora whose truth comes from the documents themselves.

`tagged:DIR` reads structure trees, `embedded:DIR` all that PDFs embed (trees, outlines, links, forms), and
`source-pairs:DIR` the source file beside each PDF.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from glob import escape
from pathlib import Path
from typing import NamedTuple

from parsemark.corpora.base import MALFORMED, Corpus, Remark
from parsemark.corpora.files import page_file_text
from parsemark.corpora.loaders.files import SampleIds, files_inside, page_id, read_each, require_inside
from parsemark.corpora.source_pairs.lay import read_pair
from parsemark.corpora.source_pairs.read_source import SOURCES
from parsemark.corpora.tagged.outline_links_forms import embedded_facts
from parsemark.corpora.tagged.read import TaggedDocument, TaggedPage, read_tagged
from parsemark.errors import CorpusError, FormatError
from parsemark.model import Element, Page, Sample
from parsemark.pdf import page_shapes, seen_page
from parsemark.plain_words import counted

ORIGINS = ("embedded", "tagged", "source-pairs")
"""Where truth may come from: everything in the PDF, its structure tree, or the source beside it."""
_LISTED = 8
_MAX_MESSAGE = 4000


class NoTruthError(CorpusError):
    """A PDF has none of the truth that was asked for."""


class ImportTask(NamedTuple):
    """A PDF of which the truth is to be read."""

    root: Path
    file: str
    origin: str


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """The truth of a PDF: its pages as files, and how much there is of what."""

    outcome: str  # `imported`, `no truth` or `failed`
    message: str = ""
    pages: tuple[tuple[str, str], ...] = ()
    counts: Mapping[tuple[str, str], int] = field(default_factory=dict)


def read_truth(task: ImportTask) -> ImportedDocument:
    """Read one PDF of many. A PDF that cannot be read is reported and fails alone."""
    pdf, remarks = task.root / task.file, list[Remark]()
    try:
        samples = list(_samples(task.origin, pdf, task.file, remarks))
    except NoTruthError as error:
        return ImportedDocument("no truth", str(error))
    except (CorpusError, FormatError, *MALFORMED) as error:
        return ImportedDocument("failed", str(error))
    counts: Counter[tuple[str, str]] = Counter()
    for truth in (sample.truth for sample in samples if sample.truth is not None):
        counts["pages", "with truth"] += 1
        counts["pages", "covered"] += truth.covered is not None and len(truth.covered) > 0
        counts.update((f"elements: {e.derivation}", str(e.category)) for e in truth.elements)
        counts.update((f"facts: {fact.derivation}", fact.kind) for fact in truth.facts)
    derivations = {group.partition(": ")[2] for group, _ in counts if ": " in group}
    counts.update(("documents by derivation", derivation) for derivation in derivations)
    pages = tuple((s.id, page_file_text(s, f"pdfs/{task.file}")) for s in samples)
    message = "; ".join(remark.message for remark in remarks)[:_MAX_MESSAGE]
    if not pages:
        return ImportedDocument("no truth", message or "it has no truth.")
    return ImportedDocument("imported", message, pages, counts)


def _load(root: Path, origin: str) -> Corpus:
    """Load the truth of all PDFs below a folder; leave out PDFs without truth, with a remark."""
    remarks: list[Remark] = []

    def read(pdf: Path, _: SampleIds) -> list[Sample]:
        samples = list(_samples(origin, pdf, pdf.relative_to(root).as_posix(), remarks))
        if not samples:
            raise NoTruthError("it has no truth.")
        return samples

    files = files_inside(root, "*.pdf", remarks, of="a folder of PDFs")
    samples = read_each(root, files, read, remarks)
    return Corpus.of(
        f"{origin} {root.name}", samples, root=root, version="1", licence="unknown", remarks=remarks
    )


def load_embedded(root: Path) -> Corpus:
    """Load all truth that PDFs contain: structure trees, outlines, links and forms."""
    return _load(root, "embedded")


def load_tagged(root: Path) -> Corpus:
    """Load truth from the structure trees of tagged PDFs."""
    return _load(root, "tagged")


def load_source_pairs(root: Path) -> Corpus:
    """Load truth from the source file (LaTeX, Word, HTML, …) beside each PDF."""
    return _load(root, "source-pairs")


def _document(origin: str, pdf: Path, root: Path) -> TaggedDocument:
    if origin == "source-pairs":
        return read_pair(pdf, require_inside(root, _source_of(pdf)))
    document = read_tagged(pdf) or TaggedDocument({}, [], {}, {})
    if origin == "tagged" and not document.pages:
        raise NoTruthError("it has no structure tree.")
    return document


def _source_of(pdf: Path) -> Path:
    beside = {p.suffix.lower(): p for p in pdf.parent.glob(f"{escape(pdf.stem)}.*") if p.is_file()}
    source = next((beside[suffix] for suffix in SOURCES if suffix in beside), None)
    if source is None:
        raise NoTruthError(f"it has no source beside it ({', '.join(SOURCES)}).")
    return source


def _samples(origin: str, pdf: Path, where: str, remarks: list[Remark]) -> Iterator[Sample]:
    document = _document(origin, pdf, pdf.parents[where.count("/")])
    remarks.extend(_remarks(where, document))
    name, facts_by_page = where.removesuffix(".pdf"), embedded_facts(pdf)
    shapes = page_shapes(pdf)
    for number in sorted({*document.pages, *facts_by_page}):
        page, shape = document.pages.get(number, TaggedPage(number)), shapes[number - 1]
        elements, facts = tuple(_visible(pdf, page)), facts_by_page.get(number, ())
        truth = Page(page_id(name, number), shape.width, shape.height, elements, facts=facts)
        truth = replace(truth, covered=page.covered, only_facts=not elements)
        if elements or facts:
            yield Sample(truth.id, name, number, truth, pdf)


def _visible(pdf: Path, page: TaggedPage) -> Iterator[Element]:
    """Yield the elements of a page, without those that have no visible word: no parser should return them."""
    seen = seen_page(pdf, page.number)
    words = seen.words if seen.source == "layer" else ()
    for element in page.elements:
        inside = [word.shown for word in words if element.box and element.box.holds_centre(word.box)]
        if not element.text or not inside or any(inside):
            yield element


def _remarks(where: str, document: TaggedDocument) -> Iterator[Remark]:
    """Yield what of a document is not used as truth, and why."""
    refused: dict[str, list[str]] = defaultdict(list)
    for table in document.tables:
        if table.refused and table.pages:
            refused[table.refused].append(str(table.pages[0]))
    for why, pages in refused.items():
        listed = ", ".join(pages[:_LISTED]) + (" …" if len(pages) > _LISTED else "")
        yield Remark(where, f"{counted(len(pages), 'table')} refused (page {listed}): {why}.")
    if n := len(document.missing):
        named = "; ".join(document.missing[:_LISTED]) + (" …" if n > _LISTED else "")
        what = f"{counted(n, 'element')} of its source {'has' if n == 1 else 'have'}"
        yield Remark(where, f"{what} no place on its pages: {named}.")
    for fault, n in document.faults.items():
        yield Remark(where, f"its structure tree has {n:,} {fault}; they are not used.", left_out=False)
