"""`folder:DIR`: your own documents, with truth for some of their pages or for none.

    DIR/report.pdf
    DIR/report.p3.t1.html            the first table on page 3 (.html, .csv, .tsv, .md, .tex, .txt)
    DIR/report.p3.html               or all tables of page 3 in one file
    DIR/report.p4.no-tables          an empty file: page 4 was looked at and has no tables
    DIR/report.p5.json               all of page 5, as a page of a parsemark corpus
    DIR/report.p6.md                 all of page 6 as Markdown: text, headings, lists, tables, formulas

    DIR/report.md                    all of the document, with a line `<!-- page break -->` between its pages
    DIR/report.no-tables             an empty file: no page without a file of its own has tables
    DIR/invoice.html                 all tables of invoice.pdf, which has one page (.html, .csv, .tsv, .tex)

`folder:DIR/report.pdf` is that one document with the files that speak of it; its pages have the same ids.

What no file speaks of is not known: a page without one has no truth (`Sample.truth` is None), and only what
needs no truth is measured on it. Markdown with nothing but tables speaks of tables alone.

A file that cannot be used costs itself: the page that it was for has no truth. So does one that names another
PDF than the one it lies beside.
"""

import os
import re
import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.files import page_from_file, read_page
from parsemark.corpora.loaders.files import is_storable, page_id, read_text, unstorable
from parsemark.corpora.render import names_itself_pdf
from parsemark.errors import CorpusError, FormatError, PdfError
from parsemark.formats import read_document, read_tables
from parsemark.formats.found_table import SUFFIXES
from parsemark.model import Category, Element, Page, Sample
from parsemark.pdf import IN_NO_SCORE, count_pages, page_shapes
from parsemark.plain_words import counted
from parsemark.system import file_sha256

FORMATS = {
    suffix: kind if kind not in ("markdown", "text") else None
    for suffix, kind in SUFFIXES.items()
    if suffix not in (".mmd", ".markdown")  # as parsers name their outputs
}
"""Suffix of a table's truth to the format that it is read as; None where the format is found out."""
OF_ONE_PAGE = (".html", ".htm", ".csv", ".tsv", ".tex")
"""What is truth beside a PDF of one page, under its bare name. Text and Markdown may be anything."""
_TABLE_FILES = (".html", ".htm", ".csv", ".tsv")
"""What is named where it has the name of no PDF."""
PAGE_SUFFIX = ".json"
MARKDOWN = ".md"
NO_TABLES = "no-tables"

_PAGE_BREAK = re.compile(
    r"^[ \t]*(?:<!--\s*page[ _-]?break\s*-->|\\(?:newpage|pagebreak|clearpage))[ \t]*$|\f",
    re.MULTILINE | re.IGNORECASE,
)
_MAX_BREAKS = 100_000
_NAME = re.compile(r"(.+?)(?:\.p(\d{1,6})(?:\.t(\d{1,6}))?)?(\.[\w-]+)", re.IGNORECASE | re.DOTALL)
_PAGE_OF = re.compile(r"\.p\d{1,6}(?:\.t\d{1,6})?$", re.IGNORECASE)
_LIKE_TRUTH = re.compile(r"[._ /-]p(?:age)?[._ -]?\d|[._ /-]no[._ -]?tables?(?![a-z])", re.IGNORECASE)
"""What follows a document's name in a file that seems to speak of a page of it."""
_NO_TRUTH = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".webp", ".bmp", ".svg", ".bak"})
"""What lies beside PDFs page by page, and is no truth."""


@dataclass(frozen=True, slots=True)
class _Label:
    """A truth file: of one table, of all tables of a page, of a whole page, or of the absence of tables."""

    page: int
    table: int | None  # None for whatever is not one table
    path: Path
    no_tables: bool = False
    part: int | None = None  # which part of a file for all pages it is, from 0

    @property
    def is_markdown(self) -> bool:
        """Return whether it is a page as Markdown."""
        return self.table is None and not self.no_tables and self.path.suffix.lower() == MARKDOWN

    @property
    def is_of_tables(self) -> bool:
        """Return whether it holds only tables, without other content of the page."""
        holds_tables = self.path.suffix.lower() in FORMATS and not self.no_tables
        return self.table is not None or (holds_tables and not self.is_markdown)


@dataclass
class _Document:
    """A PDF and the files that speak about it."""

    pdf: Path
    name: str
    labels: list[_Label] = field(default_factory=list)
    whole: Path | None = None  # all its pages as Markdown
    no_tables: bool = False  # whether pages without a file are known to have no tables
    bare: list[Path] = field(default_factory=list)
    """Tables under its own name, which is enough where there is only one page."""
    unplaced: list[Remark] = field(default_factory=list)
    """On files that seem to be its truth but are for no page that can be told."""

    @property
    def folder(self) -> Path:
        return self.pdf.with_suffix("")

    @cached_property
    def sha256(self) -> str:
        """Return the hash of the PDF; truth may name it."""
        return file_sha256(self.pdf)


class _ByName:
    """Documents by their paths without suffix, or by the composed form of these, unless two have that.

    File systems write one name in several ways, and people do not see which.
    """

    def __init__(self, documents: Sequence[_Document]) -> None:
        self._exact = {document.folder: document for document in documents}
        self._forms: dict[str, _Document | None] = {}
        for document in documents:
            form = _composed(document.folder)
            self._forms[form] = None if form in self._forms else document

    def get(self, path: Path) -> _Document | None:
        return self._exact.get(path) or self._forms.get(_composed(path))


def _composed(name: Path | str) -> str:
    return unicodedata.normalize("NFC", str(name))


def load(path: Path) -> Corpus:
    """Load a folder of PDFs, with truth files beside them if there are any, or one PDF."""
    remarks: list[Remark] = []
    documents, root = _documents(path, remarks), path
    if path.is_file():
        root, documents = path.parent, [document for document in documents if document.pdf == path]
        remarks = [] if documents else [r for r in remarks if r.where == path.name]  # not of its neighbours
    broken: list[Sample] = []
    samples = [sample for document in documents for sample in _samples(document, root, remarks, broken)]
    if not samples:
        raise CorpusError(f"No PDF in {path} can be read: {remarks[0]}")
    if (unknown := _unknown(samples)) is not None:
        remarks.append(unknown)
    name = path.stem if path.is_file() else path.resolve().name
    return Corpus.of(name, samples, root=root, version="1", licence="unknown", remarks=remarks, broken=broken)


def page_files(root: Path) -> dict[str, list[Path]]:
    """Return the files that speak of one page each, by its id; what speaks of a whole document is not among
    them.
    """
    found: dict[str, list[Path]] = {}
    for document in _documents(root, []):
        try:
            n_pages = count_pages(document.pdf)
        except PdfError:
            continue
        for number, labels in _labels_by_page(document, n_pages, root).items():
            found[page_id(document.name, number)] = [label.path for label in labels if label.part is None]
    return found


def _how_to_read(files: Sequence[Path]) -> str:
    """Return how Word and HTML files are read, if there are any; a folder of documents holds PDFs."""
    sources = [path for path in files if path.suffix.lower() in (".docx", ".html", ".htm")]
    if not sources:
        return ""
    parser = "mammoth" if sources[0].suffix.lower() == ".docx" else "pandoc"
    return (
        " A folder of documents holds PDFs. One Word or HTML file: "
        f"parsemark try {shlex.quote(str(sources[0]))} --parser {parser} --pages 1"
    )


def _documents(place: Path, remarks: list[Remark]) -> list[_Document]:
    """Return the PDFs of a folder, or one PDF and its neighbours, with the files about them."""
    if place.is_file() and place.suffix.lower() != ".pdf":
        like = "but is a PDF: rename it" if _is_pdf(place) else "and is not a PDF"
        raise CorpusError(f"{place} does not have a PDF's suffix (.pdf), {like}.{_how_to_read([place])}")
    root = place.parent if place.is_file() else place
    files = list(_files(root, remarks, deep=place.is_dir()))
    pdfs = [path for path in files if path.suffix.lower() == ".pdf"]
    documents = [_Document(pdf, pdf.relative_to(root).with_suffix("").as_posix()) for pdf in pdfs]
    if not documents:
        why = f" ({remarks[0]})" if remarks else ""
        raise CorpusError(f"There is no PDF in {place}.{why}{_how_to_read(files)}")
    _assign(files, documents, root, remarks)
    return documents


_MOST_NAMED = 8


def _unknown(samples: Sequence[Sample]) -> Remark | None:
    """Return names the pages without truth where others have some: they are neither right nor wrong."""
    ids = [sample.id for sample in samples if sample.truth is None]
    if not ids or len(ids) == len(samples):
        return None
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    said = (
        f"left out of scores that need truth ({', '.join(ids[:_MOST_NAMED])}{more}). For a page without "
        f"tables, create a file DOCUMENT.pN.{NO_TABLES}. A page being annotated counts once it is accepted."
    )
    return Remark(f"{len(ids)} of {counted(len(samples), 'page')} without truth", said, left_out=False)


def _files(root: Path, remarks: list[Remark], *, deep: bool) -> Iterator[Path]:
    """Yield the files of the folder, and if `deep` those below it; links that lead out are not followed."""
    inside = root.resolve()
    for path in sorted(_below(root) if deep else root.iterdir()):
        if not is_storable(path):
            remarks.append(unstorable(path, root))
        elif not path.resolve().is_relative_to(inside):
            where = path.relative_to(root).as_posix()
            remarks.append(Remark(where, "leads outside the corpus folder. Copy the file into it."))
        elif path.is_file():
            yield path


def _below(root: Path) -> Iterator[Path]:
    """Yield all files and folders below; unlike `rglob`, go on if one vanishes meanwhile."""
    for folder, folders, files in os.walk(root):
        yield from (Path(folder, name) for name in (*folders, *files))


def _is_pdf(path: Path) -> bool:
    """Return whether a file begins as PDFs do, whatever it is called."""
    try:
        with path.open("rb") as file:
            return file.read(5) == b"%PDF-"
    except OSError:
        return False


def _assign(files: Sequence[Path], documents: Sequence[_Document], root: Path, remarks: list[Remark]) -> None:
    """Assign each truth file to its document; list files that look like truth and are not."""
    by_path = _ByName(documents)
    for path in files:
        if path.suffix.lower() == ".pdf" or _take(path, by_path):
            continue
        where = path.relative_to(root).as_posix()
        if (owner := _owner(path, by_path)) is not None:
            name = owner.pdf.stem
            said = (
                f"is not named as truth of {owner.name}.pdf. Name it {name}.pN.tM.csv (table M of page N; "
                f"or .html, .md, .tex), {name}.pN.md, {name}.pN{PAGE_SUFFIX} or {name}.pN.{NO_TABLES}."
            )
            owner.unplaced.append(Remark(where, said))
        elif path.suffix.lower() in _TABLE_FILES or _LIKE_TRUTH.search(path.stem):
            if path.suffix.lower() in (*FORMATS, PAGE_SUFFIX, f".{NO_TABLES}"):
                stem = _PAGE_OF.sub("", path.stem)
                pdf = path.with_name(f"{stem}.pdf").relative_to(root).as_posix()
                remarks.append(Remark(where, f"looks like truth, but {pdf} is missing."))
        elif _is_pdf(path):
            said = f"is a PDF whose name lacks the suffix .pdf. To include it, name it {path.name}.pdf."
            remarks.append(Remark(where, said))
    for document in documents:
        document.labels.sort(key=lambda label: (label.page, label.table or 0, label.path))


def _take(path: Path, documents: _ByName) -> bool:
    """Assign a file to the document that it is named after; return False if its name is not that of truth."""
    parts = _NAME.fullmatch(path.name)
    document = documents.get(path.with_name(parts[1])) if parts else None
    page, table = (parts[2], parts[3]) if parts and document else (None, None)
    document = document or documents.get(path.with_suffix(""))  # a PDF may itself be called `report.p1.pdf`
    if document is None:
        return False
    suffix = path.suffix.lower()
    if page is not None and suffix in (*FORMATS, *(() if table else (PAGE_SUFFIX, f".{NO_TABLES}"))):
        number = int(table) if table else None
        document.labels.append(_Label(int(page), number, path, suffix == f".{NO_TABLES}"))
    elif page is None and suffix == MARKDOWN:
        document.whole = path
    elif page is None and suffix == f".{NO_TABLES}":
        document.no_tables = True
    elif page is None and suffix in OF_ONE_PAGE:
        document.bare.append(path)
    else:
        return False
    return True


def _owner(path: Path, documents: _ByName) -> _Document | None:
    """Return the document of which a file seems to be truth: it begins with its name, and goes on with a
    page.
    """
    if path.suffix.lower() in _NO_TRUTH or path.name.endswith("~"):
        return None
    ends = (end for end in range(len(path.name), 0, -1) if path.name[end : end + 1] in (".", "-", "_", " "))
    owners = ((end, documents.get(path.with_name(path.name[:end]))) for end in ends)
    found = [(path.name[end:], owner) for end, owner in owners if owner is not None]
    if (owner := documents.get(path.parent)) is not None:
        found.append((f"/{path.name}", owner))
    return next((owner for rest, owner in found if _LIKE_TRUTH.match(rest)), None)


def _samples(
    document: _Document, root: Path, remarks: list[Remark], broken: list[Sample]
) -> Iterator[Sample]:
    try:
        shapes = page_shapes(document.pdf)
    except PdfError as error:
        is_pdf = names_itself_pdf(document.pdf)
        tried = "; a run counts which parsers survive it" if is_pdf else ", because it is not a PDF"
        said = f"is {IN_NO_SCORE}{tried}: {error}"
        remarks.append(Remark(f"{document.name}.pdf", said))
        broken.append(Sample(page_id(document.name, 1), document.name, 1, None, document.pdf))
        return
    by_page = _labels_by_page(document, len(shapes), root)
    remarks.extend(document.unplaced)
    for number, labels in sorted(by_page.items()):
        if (gap := _gap(labels)) is not None:
            where = f"{document.name}.pdf, page {number}"
            said = f"has truth for table {gap[1]} but none for table {gap[0]}. Is that file missing?"
            remarks.append(Remark(where, said, left_out=False))
    for number, shape in enumerate(shapes, start=1):
        blank = Page(page_id(document.name, number), shape.width, shape.height, only_tables=True)
        page: Page | None = None
        if number in by_page:
            try:
                page = _page(blank, by_page[number], document, root)
            except CorpusError as error:
                remarks.append(Remark(f"{document.name}.pdf, page {number}", f"has no truth: {error}"))
        elif document.no_tables and not document.unplaced:  # else the missing table may be theirs
            page = blank
        yield Sample(blank.id, document.name, number, page, document.pdf)


def _labels_by_page(document: _Document, n_pages: int, root: Path) -> dict[int, list[_Label]]:
    """Return the labels of each page; labels that fit no page stay with the document."""
    for file in document.bare:
        if n_pages == 1:
            document.labels.append(_Label(1, None, file))
        else:
            said = (
                f"matches no page of {document.name}.pdf, which has {n_pages}. Name it "
                f"{document.pdf.stem}.pN.t1{file.suffix}."
            )
            document.unplaced.append(Remark(file.relative_to(root).as_posix(), said))
    document.bare = []
    if document.whole is not None:
        n_parts = _n_parts(document.whole)
        if n_parts == n_pages:  # a page's own file says more of it
            own = {label.page for label in document.labels}
            others = [n for n in range(n_pages) if n + 1 not in own]
            document.labels += [_Label(n + 1, None, document.whole, part=n) for n in others]
        else:
            said = (
                f"has {counted(n_parts, 'part')}, but {document.name}.pdf has {counted(n_pages, 'page')}, so "
                "it is not used. Separate pages by a line <!-- page break -->; name a single page "
                f"{document.pdf.stem}.pN.md."
            )
            document.unplaced.append(Remark(document.whole.relative_to(root).as_posix(), said))
    by_page: dict[int, list[_Label]] = {}
    for label in document.labels:
        if 1 <= label.page <= n_pages:
            by_page.setdefault(label.page, []).append(label)
        else:
            where = label.path.relative_to(root).as_posix()
            said = f"is for page {label.page}, but {document.name}.pdf has {counted(n_pages, 'page')}."
            document.unplaced.append(Remark(where, said))
    return by_page


def _n_parts(path: Path) -> int:
    """Return how many pages a file for all of them has; 0 if it cannot be read."""
    try:
        return len(_PAGE_BREAK.split(read_text(path), maxsplit=_MAX_BREAKS))
    except CorpusError:
        return 0


def _gap(labels: Sequence[_Label]) -> tuple[int, int] | None:
    """Return the first number that the tables of a page leave out, and the one that comes after it."""
    numbers = sorted({label.table for label in labels if label.table is not None})
    counted_up = enumerate(numbers, start=min([1, *numbers]))
    return next(((expected, number) for expected, number in counted_up if number != expected), None)


def _page(blank: Page, labels: Sequence[_Label], document: _Document, root: Path) -> Page:
    """Return one page of what its files say; raise CorpusError where they contradict each other, or are of
    another PDF.
    """
    names = [label.path.relative_to(root).as_posix() for label in labels]
    whole = [label for label in labels if label.table is None]
    tables = [label.table for label in labels]
    if len(set(tables)) < len(tables) or (whole and len(labels) > 1):
        raise CorpusError(f"{' and '.join(names)} are for the same page or table. Keep one of them.")
    if labels[0].is_of_tables:
        return replace(blank, elements=tuple(element for label in labels for element in _elements(label)))
    if whole[0].no_tables:
        return blank
    if whole[0].is_markdown:
        return _markdown_page(blank, whole[0])
    file = read_page(whole[0].path)
    if file.page_info.pdf_sha256 not in (None, document.sha256):
        raise CorpusError(
            f"{names[0]} is truth of another version of {document.pdf.name}. If it is right for this "
            "one too, remove pdf_sha256 from it; else remove the file, and annotate the page again."
        )
    return page_from_file(file, blank.id)


def _markdown_page(blank: Page, label: _Label) -> Page:
    """Return a page of Markdown; one that has nothing but tables says nothing of the text around them."""
    text = read_text(label.path)
    if label.part is not None:
        text = _PAGE_BREAK.split(text, maxsplit=_MAX_BREAKS)[label.part]
    try:
        elements = read_document(text).elements
    except FormatError as error:
        raise CorpusError(f"{label.path}: {error}") from error
    if label.part is None and not elements:
        raise CorpusError(f"{label.path} is empty. For a page without tables make a file {NO_TABLES}.")
    only_tables = bool(elements) and all(e.category == Category.TABLE for e in elements)
    return replace(blank, elements=elements, only_tables=only_tables)


def _elements(label: _Label) -> Iterator[Element]:
    try:
        found = read_tables(read_text(label.path), FORMATS[label.path.suffix.lower()])
    except FormatError as error:
        raise CorpusError(f"{label.path}: {error}") from error
    # Of a table without cells nothing can be found, and nothing compared.
    found = [one for one in found if one.table.cells]
    if not found or (label.table is not None and len(found) != 1):
        wanted = "some" if label.table is None else "one"
        raise CorpusError(
            f"{label.path} holds {counted(len(found), 'table')}, and should hold {wanted}. All tables of "
            f"page N go into a file that ends in .pN{label.path.suffix}; for a page without tables make one "
            f"that ends in .{NO_TABLES}."
        )
    for number, one in enumerate(found, start=label.table or 1):
        html = one.source if one.format == "html" else None
        latex = one.source if one.format == "latex" else None
        yield Element(f"t{number}", Category.TABLE, None, number, latex=latex, html=html, table=one.table)
