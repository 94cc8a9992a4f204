"""`tagged:DIR`: PDFs with what their structure trees say; `carried:DIR`: all PDFs that carry any truth;
`pairs:DIR`: PDFs with what the sources beside them say.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from glob import escape
from pathlib import Path
from typing import NamedTuple

from parsemark.corpora.base import MALFORMED, Corpus, Remark
from parsemark.corpora.carried.facts import carried_facts
from parsemark.corpora.carried.laying import read_pair
from parsemark.corpora.carried.sources import SOURCES
from parsemark.corpora.carried.tagged import TaggedDocument, TaggedPage, read_tagged
from parsemark.corpora.files import page_file_text
from parsemark.corpora.loaders.files import SampleIds, files_inside, page_id, read_each
from parsemark.errors import CorpusError, FormatError
from parsemark.model import Element, Page, Sample
from parsemark.pdf import page_shapes, seen_page
from parsemark.plain_words import counted

_LISTED = 8
_MAX_MESSAGE = 4000


class NothingCarriedError(CorpusError):
    """A PDF has nothing of what is looked for."""


class CarriedTask(NamedTuple):
    """A PDF of which the truth is to be read."""

    root: Path
    file: str
    kind: str


@dataclass(frozen=True, slots=True)
class CarriedDocument:
    """What a PDF carries: its pages as files, and figures of it."""

    outcome: str  # `taken`, `carries nothing` or `failed`
    message: str = ""
    pages: tuple[tuple[str, str], ...] = ()
    counts: Mapping[tuple[str, str], int] = field(default_factory=dict)


def read_carried(task: CarriedTask) -> CarriedDocument:
    """Read one PDF of many; what cannot be read is said and costs itself."""
    pdf, remarks = task.root / task.file, list[Remark]()
    try:
        samples = list(_samples(task.kind, pdf, task.file, remarks))
    except NothingCarriedError as error:
        return CarriedDocument("carries nothing", str(error))
    except (CorpusError, FormatError, *MALFORMED) as error:
        return CarriedDocument("failed", str(error))
    counts: Counter[tuple[str, str]] = Counter()
    for truth in (sample.truth for sample in samples if sample.truth is not None):
        counts["pages", "with truth"] += 1
        counts["pages", "covered"] += truth.covered is not None and len(truth.covered) > 0
        counts.update((f"elements: {e.derivation}", str(e.category)) for e in truth.elements)
        counts.update((f"facts: {fact.derivation}", fact.kind) for fact in truth.facts)
    kinds = {kind.partition(": ")[2] for kind, _ in counts if ": " in kind}
    counts.update(("documents by what they carry", kind) for kind in kinds)
    pages = tuple((s.id, page_file_text(s, f"pdfs/{task.file}")) for s in samples)
    said = "; ".join(remark.message for remark in remarks)[:_MAX_MESSAGE]
    outcome = ("taken", said) if pages else ("carries nothing", said or "it carries no truth.")
    return CarriedDocument(*outcome, pages, counts)


def _loaded(root: Path, kind: str) -> Corpus:
    """What all PDFs below a folder carry of a kind; those without are left out, with a remark."""
    remarks: list[Remark] = []

    def read(pdf: Path, _: SampleIds) -> list[Sample]:
        samples = list(_samples(kind, pdf, pdf.relative_to(root).as_posix(), remarks))
        if not samples:
            raise NothingCarriedError("it carries no truth.")
        return samples

    files = files_inside(root, "*.pdf", remarks, of="a folder of PDFs")
    samples = read_each(root, files, read, remarks)
    return Corpus.of(
        f"{kind} {root.name}", samples, root=root, version="1", licence="unknown", remarks=remarks
    )


load = partial(_loaded, kind="tagged")
load_facts = partial(_loaded, kind="carried")
load_pairs = partial(_loaded, kind="pairs")


def _document(kind: str, pdf: Path) -> TaggedDocument:
    if kind != "pairs":
        document = read_tagged(pdf) or TaggedDocument({}, [], {}, {})
        if kind == "tagged" and not document.pages:
            raise NothingCarriedError("it has no structure tree.")
        return document
    beside = {p.suffix.lower(): p for p in pdf.parent.glob(f"{escape(pdf.stem)}.*") if p.is_file()}
    for suffix in SOURCES:
        if suffix in beside:
            return read_pair(pdf, beside[suffix])
    raise NothingCarriedError(f"it has no source beside it ({', '.join(SOURCES)}).")


def _samples(kind: str, pdf: Path, where: str, remarks: list[Remark]) -> Iterator[Sample]:
    document = _document(kind, pdf)
    remarks.extend(_remarks(where, document))
    name, facts = where.removesuffix(".pdf"), carried_facts(pdf)
    shapes = page_shapes(pdf)
    for number in sorted({*document.pages, *facts}):
        page, shape = document.pages.get(number, TaggedPage(number)), shapes[number - 1]
        elements, own = tuple(_shown(pdf, page)), facts.get(number, ())
        truth = Page(page_id(name, number), shape.width, shape.height, elements, facts=own)
        truth = replace(truth, covered=page.covered, only_facts=not elements)
        if elements or own:
            yield Sample(truth.id, name, number, truth, pdf)


def _shown(pdf: Path, page: TaggedPage) -> Iterator[Element]:
    """The elements of a page without those of which no word can be seen: to read them out is no merit."""
    seen = seen_page(pdf, page.number)
    words = seen.words if seen.source == "layer" else ()
    for element in page.elements:
        inside = [word.shown for word in words if element.box and element.box.holds_centre(word.box)]
        if not element.text or not inside or any(inside):
            yield element


def _remarks(where: str, document: TaggedDocument) -> Iterator[Remark]:
    """What of a document is no truth, and why."""
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
