"""Makes a corpus of real LaTeX documents."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from parsemark.corpora.making import MadeCorpus, Maker, MakingJob, option, write_manifest, write_page
from parsemark.errors import CorpusError, LatexError, ParsemarkError, PdfError, UsageError
from parsemark.model import AttributeValue, Box, Element, Page, Sample
from parsemark.pdf import PageInk, page_ink
from parsemark.plain_words import counted
from parsemark.system import ScratchFolder, make_folder, write_bytes, write_text
from parsemark.system.pdflatex import require_pdflatex
from parsemark_makers.latex.documents.join import alignments, join_tables
from parsemark_makers.latex.documents.page_attributes import SINGLE, in_reading_order, page_looks
from parsemark_makers.latex.documents.source_tables import (
    class_of_log,
    document_class,
    main_files,
)
from parsemark_makers.latex.documents.typeset import LatexDocument, typeset
from parsemark_makers.latex.marks import MarkedPage
from parsemark_makers.latex.sources import SourcePlace, locate, read_document
from parsemark_makers.making import in_processes, require_name, with_boxes

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
        """Return documents that are not in the corpus."""
        return [d for d in self.documents if d.problem is not None]

    @property
    def used(self) -> list[DocumentReport]:
        """Return documents that are in the corpus."""
        return [d for d in self.documents if d.problem is None]

    def notes(self) -> Iterator[str]:
        """Yield notes on what was made, what was left out, and where to read more."""
        tables = counted(sum(d.tables for d in self.used), "table")
        yield f"{counted(len(self.used), 'document')}, {tables}"
        for document in self.failed:
            yield f"left out {document.document}: {document.problem}"
        if unused := [d for d in self.documents if d.other_mains]:
            count = counted(sum(len(d.other_mains) for d in unused), "other main file")
            shown = ", ".join(f"{d.origin} is {d.main}" for d in unused[:3])
            shown += ", …" if len(unused) > 3 else ""
            yield f"not used: {count}, since a folder is one document ({shown}); name files to have them all"
        if n_notes := sum(len(d.notes) for d in self.documents):
            yield f"{REPORT}: {counted(n_notes, 'note')}"


@dataclass(frozen=True, kw_only=True)
class Latex(Maker):
    """Pages of real documents, from unmodified LaTeX sources; TeX itself locates tables and cells."""

    generator: ClassVar[str] = "parsemark latex 3"
    sources_help: ClassVar[str] = "LaTeX files, folders, or .tar.gz and .zip archives."

    name: str = option("Name of the corpus.", "latex")
    licence: str = option("Licence of documents without a licence file.", "unknown")

    def __post_init__(self) -> None:
        require_name(self.name)

    def n_steps(self, job: MakingJob) -> int:
        """Return the number of documents."""
        return len(locate(job.sources))

    def make(self, job: MakingJob) -> MadeCorpus:
        """Compile each LaTeX file, folder and archive; `report.json` lists what does not compile."""
        if not job.sources:
            raise UsageError(f"Give sources: {self.sources_help}")
        require_pdflatex("Making a corpus from LaTeX documents")
        for folder in ("pdfs", "truth"):
            make_folder(job.out / folder)
        reports = []
        make = partial(_make_one, out=job.out, licence=self.licence)
        for place, report in in_processes(make, locate(job.sources), job.workers):
            lost = DocumentReport(document=place.name, origin=str(place.path), licence=self.licence)
            reports.append(report or lost.model_copy(update={"problem": "ends the program"}))
            job.progress(1)
        whole = Report(documents=sorted(reports, key=lambda report: report.document))
        write_text(job.out / REPORT, whole.model_dump_json(indent=1) + "\n")
        if len(whole.failed) == len(whole.documents):
            reasons = "; ".join(f"{d.document}: {d.problem}" for d in whole.failed[:3])
            raise CorpusError(f"No document could be used: {reasons or 'there is no document'}")
        manifest = write_manifest(
            job.out,
            name=self.name,
            licence=", ".join(sorted({d.licence for d in whole.used})),
            description="Real LaTeX documents, with tables and cells located by TeX.",
            generator=self.generator,
        )
        return MadeCorpus(manifest, tuple(whole.notes()))


def _make_one(place: SourcePlace, out: Path, licence: str) -> DocumentReport:
    source = read_document(place)
    report = DocumentReport(
        document=source.name, origin=source.origin, licence=source.licence(licence), notes=source.skipped
    )
    if source.problem is not None:
        return report.model_copy(update={"problem": f"cannot be read: {source.problem}"})
    try:
        mains = main_files(source)
    except LatexError as error:
        return report.model_copy(update={"problem": str(error)})
    problems: list[str] = []
    for main in mains[:MAX_MAINS]:
        with ScratchFolder("parsemark-") as work:
            try:
                document = typeset(source, main, work)
                found, samples = _pages_of(document)
            except (LatexError, PdfError, *_UNEXPECTED) as error:
                why = str(error) if isinstance(error, ParsemarkError) else f"cannot be read: {error!r}"
                problems.append(f"{main} {why}" if len(mains) > 1 else why)
                continue
            write_bytes(out / "pdfs" / f"{source.name}.pdf", document.pdf.read_bytes())
        for sample in samples:
            write_page(out, sample, f"pdfs/{source.name}.pdf")
        found["notes"] = [*report.notes, *found["notes"], *problems]
        return report.model_copy(update={**found, "other_mains": [name for name in mains if name != main]})
    return report.model_copy(update={"problem": "; ".join(problems)})


def _pages_of(document: LatexDocument) -> tuple[dict[str, Any], list[Sample]]:
    """Return the pages of a document with their truth, and what its report says of it."""
    tables, n_layout = _tables_of(document)
    boxes = {number: [e.box for e in elements if e.box is not None] for number, elements in tables.items()}
    looks = page_looks(document.pdf, boxes, document.in_columns)
    for candidate in document.candidates.tables:
        for number, look in looks.items() if not candidate.is_used else ():
            if candidate.stands_on(look.glyphs) and number not in tables:
                why = f"it shows a {candidate.grid.environment} that was not marked"
                document.left_out.setdefault(number, why)
    pages = [page for page in document.pages if page.number not in document.left_out]
    if not pages:
        why = next(iter(document.left_out.values()), "it has none")
        raise LatexError(f"none of its pages can be used: {why}")
    build, main_text = document.build, document.source.tex_files()[document.main]
    common: dict[str, AttributeValue] = {
        "data_source": "latex",
        "document_class": class_of_log(build.log) or document_class(main_text)[0],
    }
    samples = [
        _sample(document.name, page, tables.get(page.number, []), {**common, **looks[page.number].attributes})
        for page in pages
    ]
    n_unused = sum(not candidate.is_used for candidate in document.candidates.tables)
    found = {
        "main": document.main,
        "engine": build.engine,
        "pages": len(samples),
        "left_out": document.left_out,
        "cpu_s": round(build.cpu_s, 2),
        "tables": sum(len(tables.get(page.number, [])) for page in pages),
        "layout": n_layout,
        "not_set": document.candidates.passed_over + n_unused,
        "notes": [*build.notes, *document.candidates.problems],
    }
    return found, samples


def _tables_of(document: LatexDocument) -> tuple[dict[int, list[Element]], int]:
    """Return the tables of each page, and how many alignments are layout; pages whose tables cannot be had
    are left out.
    """
    tables: dict[int, list[Element]] = {}
    n_layout = 0
    candidates, missing_signs = document.candidates.tables, document.build.missing_signs
    for joined in join_tables(alignments(document.pages), candidates, missing_signs):
        n_layout += joined.is_layout
        if joined.element is not None:
            tables.setdefault(joined.page, []).append(joined.element)
        elif not joined.is_layout:  # never a page without the table that it shows
            document.left_out.setdefault(joined.page, joined.note)
    for number, elements in tables.items():
        ink = page_ink(document.pdf, number)
        tables[number] = [_at_ink(element, ink) for element in elements]
    return tables, n_layout


def _sample(
    name: str, page: MarkedPage, elements: list[Element], attributes: dict[str, AttributeValue]
) -> Sample:
    key = f"{name}-p{page.number:03d}"
    placed = in_reading_order(elements, page.width, in_columns=attributes["layout"] != SINGLE)
    size = round(page.width, 2), round(page.height, 2)
    frame = Box(0, 0, *size)  # a rule may stand over its edge by a hair
    numbered = tuple(replace(_cut(e, frame), order=order) for order, e in enumerate(placed))
    rotated = any(element.attributes.get("rotated") for element in elements)
    truth = Page(key, *size, numbered, attributes={**attributes, "rotated": rotated}, only_tables=True)
    return Sample(key, name, page.number, truth)


def _at_ink(element: Element, ink: PageInk) -> Element:
    """Return the element with the box of its ink in the published PDF, where the marks moved a rule by a
    hair.
    """
    if element.box is None:
        return element
    inside = ink.inside(element.box, MAX_SNAP)
    hull = Box.hull(inside) if inside else element.box
    moved = max(abs(a - b) for a, b in zip(hull.as_tuple(), element.box.as_tuple(), strict=True))
    return _cut(replace(element, box=hull), hull) if MIN_SNAP < moved <= MAX_SNAP else element


def _cut(element: Element, frame: Box) -> Element:
    """Return the element with all boxes cut at the edges of a frame."""
    return with_boxes(element, lambda box: box.clipped(frame).rounded())
