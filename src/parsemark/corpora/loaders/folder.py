"""`folder:DIR`: your own documents, with truth for some of them or for none.

    DIR/report.pdf
    DIR/report.p3.t1.html            the first table on page 3 (.html, .csv, .tsv, .md, .tex, .txt)
    DIR/report.p3.html               or all tables of page 3 in one file
    DIR/report.p4.no-tables          an empty file: page 4 was looked at and has no tables
    DIR/report.p5.json               all of page 5, as a page of a parsemark corpus
    DIR/report/page-3-table-2.csv    the same in a folder of the document's name; also
    DIR/report/page-3.html, DIR/report/page-4-no-tables, DIR/report/page-5.json
    DIR/invoice.html                 all tables of invoice.pdf, which has one page (.html, .csv, .tsv, .tex)

A document with at least one truth file, or with a folder of its name, has truth: its other pages have no
tables. As soon as one page is marked `no-tables`, or has a file for all of it, the document counts as
labelled page by page, and pages without a file have no truth. A document without any has none
(`Sample.truth` is None), and only what needs no truth is measured.

A file that cannot be used costs itself: the page that it was for has no truth, and neither have the other
pages of its document that have no file, since the missing table may be theirs.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.convert import page_from_file
from parsemark.corpora.files import read_page
from parsemark.corpora.loaders.files import SampleIds, is_storable, read_text, unstorable
from parsemark.errors import CorpusError, FormatError, PdfError
from parsemark.formats import read_tables
from parsemark.model import Category, Element, Page, Sample
from parsemark.pdf import page_shapes
from parsemark.plain_words import counted

FORMATS = {
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
    ".tsv": "tsv",
    ".md": None,
    ".tex": "latex",
    ".txt": None,
}
"""Suffix of a table's truth to the format that it is read as; None where the format is found out."""
OF_ONE_PAGE = (".html", ".htm", ".csv", ".tsv", ".tex")
"""What is truth beside a PDF of one page, under its bare name. Text and Markdown may be anything."""
_TABLE_FILES = (".html", ".htm", ".csv", ".tsv")
"""What lies beside PDFs for its table, and is named where there is no PDF of its name."""
_UNREAD = frozenset({".xlsx", ".xls", ".ods", ".docx", ".doc", ".odt", ".xml", ".rtf"})
"""Formats in which people keep tables, and which are not read as truth."""
_NO_TRUTH = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".webp", ".bmp", ".svg", ".bak"})
"""What lies beside PDFs page by page, and is no truth."""
PAGE_SUFFIX = ".json"
NO_TABLES = "no-tables"

_BESIDE = re.compile(r"(.+)\.p(\d{1,6})(?:\.t(\d{1,6})|\.(no-tables))?", re.IGNORECASE)
_WITHIN = re.compile(r"page-(\d{1,6})(?:-table-(\d{1,6})|-(no-tables))?", re.IGNORECASE)
_LIKE_NO_TABLES = re.compile(r"[._ -]no[._ -]?tables?(?![a-z])", re.IGNORECASE)
_OF_A_PAGE = re.compile(r"[._ -]?p(?:age)?[._ -]?\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Label:
    """A truth file: of one table, of all tables of a page, of a whole page, or of the absence of tables."""

    page: int
    table: int | None
    """None for whatever is not one table."""
    path: Path
    no_tables: bool = False

    @property
    def is_of_tables(self) -> bool:
        """Whether it holds tables, and nothing else is said about the page."""
        return self.table is not None or (not self.no_tables and self.path.suffix.lower() in FORMATS)


@dataclass(frozen=True, slots=True)
class _Unplaced:
    """A file that seems to be truth of a document but is for no page that can be told."""

    path: Path
    remark: Remark
    bare: bool = False
    """Whether it has the document's own name, which is enough where there is only one page."""


@dataclass
class _Document:
    """A PDF and the files that speak about it."""

    pdf: Path
    name: str
    labels: list[_Label] = field(default_factory=list)
    unplaced: list[_Unplaced] = field(default_factory=list)
    """Files that seem to be its truth but are for no page that can be told."""

    @property
    def folder(self) -> Path:
        return self.pdf.with_suffix("")


def load(root: Path) -> Corpus:
    """Load all PDFs below the folder."""
    remarks: list[Remark] = []
    files = list(_files(root, remarks))
    documents = [
        _Document(path, path.relative_to(root).with_suffix("").as_posix())
        for path in files
        if path.suffix.lower() == ".pdf"
    ]
    if not documents:
        why = f" ({remarks[0]})" if remarks else ""
        raise CorpusError(f"There is no PDF in {root}.{why}")
    _assign(files, documents, root, remarks)
    ids = SampleIds()
    samples = [sample for document in documents for sample in _samples(document, root, ids, remarks)]
    if not samples:
        raise CorpusError(f"No PDF in {root} can be read: {remarks[0]}")
    return Corpus.of(root.resolve().name, samples, root=root, version="1", licence="unknown", remarks=remarks)


def _files(root: Path, remarks: list[Remark]) -> Iterator[Path]:
    """What lies below the folder; a link that leads out of it is not followed."""
    inside = root.resolve()
    for path in sorted(root.rglob("*")):
        if not is_storable(path):
            remarks.append(unstorable(path, root))
        elif not path.resolve().is_relative_to(inside):
            where = path.relative_to(root).as_posix()
            remarks.append(Remark(where, "leads outside the corpus folder. Copy the file into it."))
        elif path.is_file():
            yield path


def _assign(files: Sequence[Path], documents: Sequence[_Document], root: Path, remarks: list[Remark]) -> None:
    """Give each truth file to its document; name those that look like truth and are not."""
    by_path = {document.folder: document for document in documents}
    for path in files:
        if path.suffix.lower() == ".pdf":
            continue
        label = _label(path)
        if label is not None and (document := by_path.get(label[0])) is not None:
            document.labels.append(label[1])
            continue
        where = path.relative_to(root).as_posix()
        owner = _owner(path, by_path)
        if owner is not None:
            name, page = owner.pdf.stem, _likely_page(path, owner)
            said = (
                f"is not named as truth of {owner.name}.pdf is. Name it {name}.p{page}.t1{_suffix(path)} "
                f"(first table on page {page}), {name}.p{page}.{NO_TABLES} or {name}.p{page}{PAGE_SUFFIX}."
            )
            bare = path.stem == name and path.suffix.lower() in OF_ONE_PAGE
            owner.unplaced.append(_Unplaced(path, Remark(where, said), bare))
        elif label is not None:
            said, likely = _no_document(label[0], documents, root)
            if likely is None:
                remarks.append(Remark(where, said))
            else:  # a table of some page of it: which pages have none cannot be told
                likely.unplaced.append(_Unplaced(path, Remark(where, said)))
        elif (owner := _named_after(path, by_path)) is not None:
            kind = path.suffix or "a file without a suffix"
            said = f"is named as truth of {owner.name}.pdf, but {kind} is not read. Save it as .csv."
            if path.suffix.lower() in _UNREAD:
                owner.unplaced.append(_Unplaced(path, Remark(where, said)))
            else:  # it may be anything, so it says nothing of the pages
                remarks.append(Remark(where, said))
        elif path.suffix.lower() in _TABLE_FILES:
            remarks.append(Remark(where, _no_document(path.with_suffix(""), documents, root)[0]))
    for document in documents:
        document.labels.sort(key=lambda label: (label.page, label.table or 0, label.path))


def _label(path: Path) -> tuple[Path, _Label] | None:
    """The document (without suffix) that a file is named after, and what it says."""
    suffix = path.suffix.lower()
    marked = NO_TABLES in path.name.lower()
    stem = path.name if suffix == f".{NO_TABLES}" or (marked and suffix not in FORMATS) else path.stem
    if beside := _BESIDE.fullmatch(stem):
        document, page, table, none = path.with_name(beside[1]), beside[2], beside[3], beside[4]
    elif within := _WITHIN.fullmatch(stem):
        document, page, table, none = path.parent, within[1], within[2], within[3]
    else:
        return None
    if none is None and suffix not in ((*FORMATS,) if table else (*FORMATS, PAGE_SUFFIX)):
        return None
    return document, _Label(int(page), int(table) if table else None, path, none is not None)


def _owner(path: Path, documents: Mapping[Path, _Document]) -> _Document | None:
    """The document whose truth a file seems to be: by its suffix, or since it speaks of no tables."""
    is_truth = path.suffix.lower() in (*FORMATS, PAGE_SUFFIX, f".{NO_TABLES}")
    return _beside(path, documents) if is_truth or _LIKE_NO_TABLES.search(path.name) else None


def _beside(path: Path, documents: Mapping[Path, _Document]) -> _Document | None:
    """The document in whose folder a file lies, or with whose name its own begins."""
    if path.parent in documents:
        return documents[path.parent]
    for end in range(len(path.name), 0, -1):
        if path.name[end : end + 1] in (".", "-", "_", " "):
            found = documents.get(path.with_name(path.name[:end]))
            if found is not None:
                return found
    return None


def _likely_page(path: Path, document: _Document) -> int:
    """The first number in a file's name behind the document's, if there is one."""
    numbers = re.findall(r"\d{1,6}", path.stem.removeprefix(document.pdf.stem))
    return int(numbers[0]) if numbers else 1


def _suffix(path: Path) -> str:
    return path.suffix if path.suffix.lower() in FORMATS else ".html"


def _named_after(path: Path, documents: Mapping[Path, _Document]) -> _Document | None:
    """The document that a file of another format is named after, page and all, as its truth would be."""
    found = _beside(path, documents)
    if found is None or path.suffix.lower() in _NO_TRUTH or path.name.endswith("~"):
        return None
    rest = path.name if path.parent in documents else path.name.removeprefix(found.pdf.stem)
    return found if _OF_A_PAGE.match(rest) else None


def _no_document(document: Path, documents: Sequence[_Document], root: Path) -> tuple[str, _Document | None]:
    """What to say of truth without a PDF, and the document of nearly that name."""
    if document == root:
        return "looks like truth, but names no PDF. Put it into a folder that is named as its PDF is.", None
    wanted = document.relative_to(root).as_posix() if document.is_relative_to(root) else document.name
    by_name = {d.name: d for d in documents}
    nearest = difflib.get_close_matches(wanted, list(by_name), n=1)
    hint = f" Is it for {nearest[0]}.pdf?" if nearest else ""
    said = f"looks like truth, but there is no {wanted}.pdf.{hint}"
    return said, by_name[nearest[0]] if nearest else None


def _samples(document: _Document, root: Path, ids: SampleIds, remarks: list[Remark]) -> Iterator[Sample]:
    try:
        shapes = page_shapes(document.pdf)
    except PdfError as error:
        remarks.append(Remark(f"{document.name}.pdf", f"is left out: {error}"))
        return
    if len(shapes) == 1:
        document.labels += [_Label(1, None, file.path) for file in document.unplaced if file.bare]
        document.unplaced = [file for file in document.unplaced if not file.bare]
    by_page: dict[int, list[_Label]] = {}
    for label in document.labels:
        if 1 <= label.page <= len(shapes):
            by_page.setdefault(label.page, []).append(label)
        else:
            where = label.path.relative_to(root).as_posix()
            said = f"is for page {label.page}, but {document.name}.pdf has {counted(len(shapes), 'page')}."
            document.unplaced.append(_Unplaced(label.path, Remark(where, said)))
    remarks.extend(file.remark for file in document.unplaced)
    for number, labels in sorted(by_page.items()):
        if (gap := _gap(labels)) is not None:
            where = f"{document.name}.pdf, page {number}"
            said = f"has a truth for table {gap[1]} but none for table {gap[0]}. Is that file missing?"
            remarks.append(Remark(where, said, left_out=False))
    others = _is_negative(document, by_page, len(shapes), remarks)
    for number, shape in enumerate(shapes, start=1):
        identifier = ids.make(document.name, f"p{number}")
        page: Page | None = None
        if number in by_page:
            try:
                page = _page(identifier, shape.width, shape.height, by_page[number], root)
            except CorpusError as error:
                remarks.append(Remark(f"{document.name}.pdf, page {number}", f"has no truth: {error}"))
        elif others:
            page = Page(identifier, shape.width, shape.height, only_tables=True, assumed=True)
        yield Sample(identifier, document.name, number, page, document.pdf)


def _gap(labels: Sequence[_Label]) -> tuple[int, int] | None:
    """The first number that the tables of a page leave out, and the one that comes after it."""
    numbers = sorted({label.table for label in labels if label.table is not None})
    for expected, number in enumerate(numbers, start=min(numbers[0], 1) if numbers else 1):
        if number != expected:
            return expected, number
    return None


def _is_negative(
    document: _Document, by_page: Mapping[int, list[_Label]], n_pages: int, remarks: list[Remark]
) -> bool:
    """Whether pages without a file are pages without tables; says so where that looks like a mistake."""
    if not document.labels and not document.folder.is_dir():
        return False
    if document.unplaced or not all(label.is_of_tables for label in document.labels):
        return False
    if len(by_page) == 1 and n_pages > 1:
        remarks.append(
            Remark(
                f"{document.name}.pdf",
                f"1 of {n_pages} pages has truth; the others count as pages without tables. If they are not "
                f"labelled yet, put an empty file {document.pdf.stem}.pN.{NO_TABLES} beside it for a page N "
                "that has none: then only pages with a file count.",
                left_out=False,
            )
        )
    return True


def _page(identifier: str, width: float, height: float, labels: Sequence[_Label], root: Path) -> Page:
    """One page of what its files say.

    Raises:
        CorpusError: They contradict each other, or one cannot be read.
    """
    names = [label.path.relative_to(root).as_posix() for label in labels]
    whole = [label for label in labels if label.table is None]
    tables = [label.table for label in labels]
    if len(set(tables)) < len(tables) or (whole and len(labels) > 1):
        raise CorpusError(f"{' and '.join(names)} are for the same page or table. Keep one of them.")
    if labels[0].is_of_tables:
        elements = tuple(element for label in labels for element in _elements(label))
        return Page(identifier, width, height, elements, only_tables=True)
    if whole[0].no_tables:
        return Page(identifier, width, height, only_tables=True)
    return page_from_file(read_page(whole[0].path), identifier)


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
            f"{label.path} holds {counted(len(found), 'table')}, and should hold "
            f"{wanted}. All tables of page N go into "
            f"a file that ends in .pN{label.path.suffix}; for a page without tables make one that ends in "
            f".{NO_TABLES}."
        )
    for number, table in enumerate(found, start=label.table or 1):
        yield Element(
            f"t{number}",
            Category.TABLE,
            order=number,
            html=table.source if table.format == "html" else None,
            latex=table.source if table.format == "latex" else None,
            table=table.table,
        )
