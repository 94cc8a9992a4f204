"""Makes a corpus of real LaTeX documents."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import BaseModel

from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.latex.documents.candidates import read_candidates
from parsemark.corpora.latex.documents.join import JoinedTable, join_table, parts_by_table
from parsemark.corpora.latex.documents.latexml import Disagreement, compare_with_latexml, find_latexml
from parsemark.corpora.latex.documents.main_file import document_class, main_file
from parsemark.corpora.latex.documents.typeset import Typeset, typeset
from parsemark.corpora.latex.marks import MarkedPage
from parsemark.corpora.latex.sources import Located, SourceDocument, locate, read_document
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import CorpusError, LatexError, UsageError
from parsemark.model import AttributeValue, Box, Element, Page, Sample, Table
from parsemark.system.pdflatex import require_pdflatex

GENERATOR = "parsemark latex 1"
REPORT = "report.json"


class DocumentReport(BaseModel):
    """What became of one document."""

    document: str
    origin: str
    licence: str
    problem: str | None = None
    """Why it is not in the corpus."""
    pages: int = 0
    tables: int = 0
    """Tables and parts of tables in the truth."""
    layout: int = 0
    """Alignments that are no tables: title blocks, lists, frames."""
    not_set: int = 0
    """Tables of the source that are not in the PDF."""
    notes: list[str] = []
    disagreements: list[Disagreement] = []


class Report(BaseModel):
    """`report.json`."""

    documents: list[DocumentReport]

    @property
    def failed(self) -> list[DocumentReport]:
        """Documents that are not in the corpus."""
        return [d for d in self.documents if d.problem is not None]


@dataclass
class _Made:
    report: DocumentReport
    samples: list[Sample] = field(default_factory=list)


def make_documents(
    sources: Iterable[Path],
    out: Path,
    *,
    name: str = "latex",
    licence: str = "unknown",
    latexml: bool = False,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[CorpusFile, Report]:
    """Compile each document and write a corpus of all pages; what does not compile is listed in the report.

    Args:
        sources: LaTeX files, folders and archives, one document each.
        out: The corpus folder, new or empty.
        name: Name of the corpus.
        licence: Of documents that bring no licence file of their own.
        latexml: Ask LaTeXML for a second opinion on the tables, where it is installed.
        workers: Processes; all cores if not given.
        progress: Called with 1 for each document that is done.
    """
    require_pdflatex("Making a corpus from LaTeX documents")
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; give a new folder, or remove it first.")
    for folder in ("pdfs", "truth"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    opinion = find_latexml() if latexml else None
    reports = []
    for made in _make_all(locate(sources), out, licence, opinion, workers):
        reports.append(made)
        if progress is not None:
            progress(1)
    report = Report(documents=sorted(reports, key=lambda r: r.document))
    (out / REPORT).write_text(report.model_dump_json(indent=1) + "\n", encoding="utf-8")
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
        settings={"latexml": opinion is not None},
    )
    return manifest, report


def _make_all(
    documents: list[Located], out: Path, licence: str, opinion: str | None, workers: int | None
) -> Iterable[DocumentReport]:
    count = min(workers or os.cpu_count() or 1, len(documents))
    if count <= 1:
        for document in documents:
            yield _make_one(document, out, licence, opinion)
        return
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(_make_one, document, out, licence, opinion) for document in documents]
        for done in as_completed(futures):
            yield done.result()


def _make_one(located: Located, out: Path, licence: str, opinion: str | None) -> DocumentReport:
    document = read_document(located)
    report = DocumentReport(
        document=document.name,
        origin=document.origin,
        licence=document.licence(licence),
        notes=document.skipped,
    )
    if document.problem is not None:
        return report.model_copy(update={"problem": f"cannot be read: {document.problem}"})
    with tempfile.TemporaryDirectory(prefix="parsemark-") as work:
        try:
            main = main_file(document)
            set_document = typeset(document, main, Path(work))
            made = _join(document, main, set_document, report)
        except LatexError as error:
            return report.model_copy(update={"problem": str(error)})
        if opinion is not None:
            tables = [e for sample in made.samples if sample.truth for e in sample.truth.tables]
            made.report.disagreements = compare_with_latexml(opinion, Path(work), main, tables)
        shutil.copyfile(set_document.pdf, out / "pdfs" / f"{document.name}.pdf")
    for sample in made.samples:
        write_page(out, sample, f"pdfs/{document.name}.pdf")
    return made.report


def _join(document: SourceDocument, main: str, typeset_document: Typeset, report: DocumentReport) -> _Made:
    candidates = read_candidates(document, main)
    by_page: dict[int, list[Element]] = {}
    notes = [*report.notes, *candidates.problems]
    layout = 0
    for parts in parts_by_table(typeset_document.pages):
        for joined in join_table(parts, candidates.tables):
            layout += joined.note == "layout"
            if joined.element is not None:
                by_page.setdefault(joined.page, []).append(joined.element)
            notes += _note(joined)
    name, options = document_class(document.tex_files()[main])
    attributes: dict[str, AttributeValue] = {
        "data_source": "latex",
        "document_class": name,
    }
    if "twocolumn" in options:
        attributes["layout"] = "double_column"
    samples = [
        _sample(document.name, page, by_page.get(page.number, []), attributes)
        for page in typeset_document.pages
    ]
    update = {
        "pages": len(samples),
        "tables": sum(len(elements) for elements in by_page.values()),
        "layout": layout,
        "not_set": sum(not c.is_used for c in candidates.tables),
        "notes": notes,
    }
    return _Made(report.model_copy(update=update), samples)


def _note(joined: JoinedTable) -> list[str]:
    if joined.note in ("layout", "joined"):
        return []
    return [f"page {joined.page}: a table: {joined.note}"]


def _sample(
    document: str, page: MarkedPage, elements: list[Element], attributes: dict[str, AttributeValue]
) -> Sample:
    key = f"{document}-p{page.number:03d}"
    placed = sorted(elements, key=lambda e: (e.box.y0, e.box.x0) if e.box is not None else (0.0, 0.0))
    size = round(page.width, 2), round(page.height, 2)
    numbered = tuple(replace(_clipped(e, *size), order=order) for order, e in enumerate(placed))
    truth = Page(key, *size, numbered, attributes=attributes)
    return Sample(key, document, page.number, truth)


def _clipped(element: Element, width: float, height: float) -> Element:
    """The element with all boxes cut at the edges of the page: real tables run over them."""

    def cut(box: Box | None) -> Box | None:
        if box is None:
            return None
        xs = (min(max(x, 0.0), width) for x in (box.x0, box.x1))
        ys = (min(max(y, 0.0), height) for y in (box.y0, box.y1))
        (x0, x1), (y0, y1) = xs, ys
        return Box(x0, y0, x1, y1)

    table = element.table
    if table is not None:
        cells = tuple(replace(cell, box=cut(cell.box)) for cell in table.cells)
        table = Table(table.n_rows, table.n_cols, cells)
    return replace(element, box=cut(element.box), table=table)
