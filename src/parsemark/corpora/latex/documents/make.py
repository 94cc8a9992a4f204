"""Makes a corpus of real LaTeX documents."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.latex.documents.join import alignments, join_tables
from parsemark.corpora.latex.documents.page_attributes import SINGLE, in_reading_order, page_looks
from parsemark.corpora.latex.documents.source_tables import (
    class_of_log,
    document_class,
    main_files,
    read_candidates,
)
from parsemark.corpora.latex.documents.typeset import Typeset, typeset
from parsemark.corpora.latex.marks import MarkedPage
from parsemark.corpora.latex.sources import FoundDocument, SourceDocument, locate, read_document
from parsemark.corpora.making import Progress, in_processes, new_folder, require_name, silent, with_boxes
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import CorpusError, LatexError, ParsemarkError, PdfError
from parsemark.model import AttributeValue, Box, Element, Page, Sample
from parsemark.pdf import PageInk, page_ink
from parsemark.system import write_bytes, write_text
from parsemark.system.pdflatex import require_pdflatex
from parsemark.system.scratch import ScratchFolder, made_whole

GENERATOR = "parsemark latex 3"
MAX_MAINS = 3  # main files of one source that are tried, in turn, until one compiles
REPORT = "report.json"
_UNEXPECTED = (ValueError, ArithmeticError, LookupError, RecursionError, OSError)
"""What a strange document can lead to; it costs that document alone."""
MIN_SNAP, MAX_SNAP = 0.1, 1.5
"""Points by which the box of a table may differ from its ink and is put there; more is not the same ink."""


class DocumentReport(BaseModel):
    """What became of one document."""

    document: str
    origin: str
    licence: str
    problem: str | None = None  # why it is not in the corpus
    main: str | None = None  # the file that was compiled
    other_mains: list[str] = []
    """Files that could have been, and are not in the corpus: a folder is one document."""
    engine: str | None = None
    pages: int = 0
    left_out: dict[int, str] = {}
    """Pages that are not in the corpus, with the reason: a table on them could not be had."""
    cpu_s: float = 0.0  # CPU seconds of TeX and its programs
    tables: int = 0  # tables and parts of tables in the truth
    layout: int = 0  # alignments that are no tables: title blocks, lists, frames
    not_set: int = 0  # tables of the source that are not in the PDF
    notes: list[str] = []


class Report(BaseModel):
    """`report.json`."""

    documents: list[DocumentReport]

    @property
    def failed(self) -> list[DocumentReport]:
        """Documents that are not in the corpus."""
        return [d for d in self.documents if d.problem is not None]


@made_whole
def make_documents(
    sources: Iterable[Path],
    out: Path,
    *,
    name: str = "latex",
    licence: str = "unknown",
    workers: int | None = None,
    progress: Progress = silent,
) -> tuple[CorpusFile, Report]:
    """Compile each LaTeX file, folder and archive and write a corpus of all pages into a new folder.

    What does not compile is listed in the report. The licence is that of documents that bring no file of one;
    without `workers` there are as many processes as cores.
    """
    require_name(name)
    require_pdflatex("Making a corpus from LaTeX documents")
    new_folder(out, "pdfs", "truth")
    reports = []
    make = partial(_make_one, out=out, licence=licence)
    for document, made in in_processes(make, locate(sources), workers):
        lost = DocumentReport(document=document.name, origin=str(document.path), licence=licence)
        reports.append(made or lost.model_copy(update={"problem": "ends the program"}))
        progress(1)
    report = Report(documents=sorted(reports, key=lambda r: r.document))
    write_text(out / REPORT, report.model_dump_json(indent=1) + "\n")
    if len(report.failed) == len(report.documents):
        reasons = "; ".join(f"{d.document}: {d.problem}" for d in report.failed[:3]) or "there is no document"
        raise CorpusError(f"No document could be used: {reasons}")
    licences = sorted({d.licence for d in report.documents if d.problem is None})
    manifest = write_manifest(
        out,
        name=name,
        licence=", ".join(licences),
        description="Real LaTeX documents, with tables and cells located by TeX.",
        generator=GENERATOR,
    )
    return manifest, report


def _make_one(located: FoundDocument, out: Path, licence: str) -> DocumentReport:
    document = read_document(located)
    report = DocumentReport(
        document=document.name,
        origin=document.origin,
        licence=document.licence(licence),
        notes=document.skipped,
    )
    if document.problem is not None:
        return report.model_copy(update={"problem": f"cannot be read: {document.problem}"})
    try:
        mains = main_files(document)
    except LatexError as error:
        return report.model_copy(update={"problem": str(error)})
    problems: list[str] = []
    for main in mains[:MAX_MAINS]:
        with ScratchFolder("parsemark-") as work:
            try:
                set_document = typeset(document, main, work)
                made, samples = _join(document, main, set_document, report)
            except (LatexError, PdfError, *_UNEXPECTED) as error:
                why = str(error) if isinstance(error, ParsemarkError) else f"cannot be read: {error!r}"
                problems.append(f"{main} {why}" if len(mains) > 1 else why)
                continue
            write_bytes(out / "pdfs" / f"{document.name}.pdf", set_document.pdf.read_bytes())
        for sample in samples:
            write_page(out, sample, f"pdfs/{document.name}.pdf")
        made.other_mains = [name for name in mains if name != main]
        made.notes += problems
        return made
    return report.model_copy(update={"problem": "; ".join(problems)})


def _join(
    document: SourceDocument, main: str, typeset_document: Typeset, report: DocumentReport
) -> tuple[DocumentReport, list[Sample]]:
    candidates = read_candidates(document, main)
    by_page: dict[int, list[Element]] = {}
    left_out = dict(typeset_document.left_out)
    layout = 0
    found = alignments(typeset_document.pages)
    for joined in join_tables(found, candidates.tables, typeset_document.build.missing_signs):
        layout += joined.is_layout
        if joined.element is not None:
            by_page.setdefault(joined.page, []).append(joined.element)
        elif not joined.is_layout:  # never a page without the table that it shows
            left_out.setdefault(joined.page, joined.note)
    for number, own in by_page.items():
        ink = page_ink(typeset_document.pdf, number)
        by_page[number] = [_at_ink(element, ink) for element in own]
    boxes = {number: [e.box for e in own if e.box is not None] for number, own in by_page.items()}
    looks = page_looks(typeset_document.pdf, boxes, typeset_document.in_columns)
    for candidate in candidates.tables:
        for number, look in looks.items() if not candidate.is_used else ():
            if candidate.stands_on(look.glyphs) and number not in by_page:
                left_out.setdefault(number, f"it shows a {candidate.grid.environment} that was not marked")
    kept = [page for page in typeset_document.pages if page.number not in left_out]
    if not kept:
        raise LatexError(f"none of its pages can be used: {next(iter(left_out.values()), 'it has none')}")
    build = typeset_document.build
    common: dict[str, AttributeValue] = {
        "data_source": "latex",
        "document_class": class_of_log(build.log) or document_class(document.tex_files()[main])[0],
    }
    samples = []
    for page in kept:
        attributes = {**common, **looks[page.number].attributes}
        samples.append(_sample(document.name, page, by_page.get(page.number, []), attributes))
    update = {
        "main": main,
        "engine": build.engine,
        "pages": len(samples),
        "left_out": left_out,
        "cpu_s": round(build.cpu_s, 2),
        "tables": sum(len(by_page.get(page.number, [])) for page in kept),
        "layout": layout,
        "not_set": candidates.passed_over + sum(not c.is_used for c in candidates.tables),
        "notes": [*report.notes, *build.notes, *candidates.problems],
    }
    return report.model_copy(update=update), samples


def _sample(
    document: str, page: MarkedPage, elements: list[Element], attributes: dict[str, AttributeValue]
) -> Sample:
    key = f"{document}-p{page.number:03d}"
    placed = in_reading_order(elements, page.width, in_columns=attributes["layout"] != SINGLE)
    size = round(page.width, 2), round(page.height, 2)
    frame = Box(0, 0, *size)  # a rule may stand over its edge by a hair
    numbered = tuple(replace(_cut(e, frame), order=order) for order, e in enumerate(placed))
    rotated = any(element.attributes.get("rotated") for element in elements)
    truth = Page(key, *size, numbered, attributes={**attributes, "rotated": rotated}, only_tables=True)
    return Sample(key, document, page.number, truth)


def _at_ink(element: Element, ink: PageInk) -> Element:
    """The element with the box of its ink in the published PDF, where the marks moved a rule by a hair."""
    if element.box is None:
        return element
    inside = ink.inside(element.box, MAX_SNAP)
    hull = Box.hull(inside) if inside else element.box
    moved = max(abs(a - b) for a, b in zip(hull.as_tuple(), element.box.as_tuple(), strict=True))
    return _cut(replace(element, box=hull), hull) if MIN_SNAP < moved <= MAX_SNAP else element


def _cut(element: Element, frame: Box) -> Element:
    """The element with all boxes cut at the edges of a frame."""
    return with_boxes(element, lambda box: box.clipped(frame).rounded())
