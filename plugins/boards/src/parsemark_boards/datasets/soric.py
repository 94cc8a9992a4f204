"""`soric:DIR`: the layout in which Soric et al. publish their datasets.

    DIR/images/NAME_3.jpg     the pages as pictures
    DIR/test/NAME_3.xml       PASCAL VOC: the tables of the page (none for a page without tables)
    DIR/pdfs/NAME_3.pdf       one PDF per page, or NAME.pdf with the page number in the picture's name
    DIR/html/NAME_3_0.html    one file per table, in the order of the XML file
    DIR/word/NAME_3.json      tokens (not read: words come from the PDF)

Boxes are pixels; with a PDF they become its points. Where the number of HTML files differs from the number of
boxes nobody can say which is which: the tables then have no content, and `truth_error` says so.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from PIL import Image

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    listing_hash,
    read_text,
    require_inside,
    table_element,
)
from parsemark.errors import CorpusError
from parsemark.model import TRUTH_ERROR, AttributeValue, Element, Page, Sample
from parsemark.pdf import page_shapes
from parsemark.plain_words import counted
from parsemark_boards.datasets.pubtables1m import VocFile, VocObject, read_voc

_TABLES = re.compile(r"table( rotated)?")
_NUMBERED = re.compile(r"(.+?)[_-](\d{1,5})")
_LAST_PART = re.compile(r"[_.-][^_.-]*$")
_DIGITS = re.compile(r"(\d+)")


@dataclass(slots=True)
class _PageFiles:
    """The files of one page."""

    stem: str
    image: Path | None = None
    xml: Path | None = None
    html: list[Path] = field(default_factory=list)


def load(root: Path) -> Corpus:
    """Load one of the table datasets of Soric et al.

    Its `len()` is the number of pages in the folder, which may differ from the paper.
    """
    remarks: list[Remark] = []
    pages = _pages(root, remarks)
    if not pages:
        raise CorpusError(f"{root} has neither images/ nor XML files. Is this a dataset of Soric et al.?")
    ids = SampleIds()
    by_id = {ids.make(page.stem): page for page in pages}
    files = [f for page in pages for f in (page.image, page.xml, *page.html) if f is not None]
    version = "1", listing_hash(root, files)
    samples = tuple(by_id), partial(_read, root, by_id, _first_numbers(pages))
    name, licence = root.resolve().name, "see the dataset's card"
    return Corpus(name, *version, root, *samples, licence, remarks=tuple(remarks))


def _pages(root: Path, remarks: list[Remark]) -> list[_PageFiles]:
    pages: dict[str, _PageFiles] = {}
    for path in files_inside(root, "*", remarks):
        suffix = path.suffix.lower()
        if suffix in (".jpg", ".jpeg", ".png"):
            pages.setdefault(path.stem, _PageFiles(path.stem)).image = path
        elif suffix == ".xml":
            pages.setdefault(path.stem, _PageFiles(path.stem)).xml = path
    html = require_inside(root, root / "html")
    for path in files_inside(html, "*.html") if html.is_dir() else []:
        stem = path.stem
        while stem not in pages and _LAST_PART.search(stem):
            stem = _LAST_PART.sub("", stem)
        if stem in pages:
            pages[stem].html.append(path)
    for page in pages.values():
        page.html.sort(key=lambda p: [int(x) if x.isdigit() else x for x in _DIGITS.split(p.stem)])
    return sorted(pages.values(), key=lambda page: page.stem)


def _first_numbers(pages: list[_PageFiles]) -> dict[str, int]:
    """Return the lowest page number of each document: 0 where pages count from 0."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for page in pages:
        if match := _NUMBERED.fullmatch(page.stem):
            numbers[match[1]].append(int(match[2]))
    return {document: min(found) for document, found in numbers.items()}


def _read(root: Path, pages: dict[str, _PageFiles], first_numbers: dict[str, int], identifier: str) -> Sample:
    """Return one page."""
    files = pages[identifier]
    pdf, number, document = _pdf(root, first_numbers, files.stem)
    voc = _annotation(files)
    width, height, scale = voc.width, voc.height, 1.0
    if pdf is not None:
        shapes = page_shapes(pdf)
        if number > len(shapes):
            has = f"{pdf} has {counted(len(shapes), 'page')}"
            raise CorpusError(f"{has}; {files.stem} would be page {number}.")
        width, height = shapes[number - 1].width, shapes[number - 1].height
        scale = width / voc.width if voc.width else 1.0
    tables = [item for item in voc.objects if _TABLES.fullmatch(item.label)]
    elements = _elements(tables, files.html, scale)
    attributes = {"annotated": files.xml is not None}
    page = Page(identifier, width, height, elements, attributes=attributes, only_tables=True)
    return Sample(identifier, document, number, page, pdf, files.image)


def _pdf(root: Path, first_numbers: dict[str, int], stem: str) -> tuple[Path | None, int, str]:
    """Return the PDF, the page's number in it, and the document's name."""
    own = root / "pdfs" / f"{stem}.pdf"
    match = _NUMBERED.fullmatch(stem)
    document = match[1] if match else stem
    if own.is_file():
        return require_inside(root, own), 1, document
    shared = root / "pdfs" / f"{document}.pdf"
    if match is None or not shared.is_file():
        return None, 1, document
    return require_inside(root, shared), int(match[2]) + (first_numbers[document] == 0), document


def _annotation(files: _PageFiles) -> VocFile:
    """Return the boxes of a page; a page without an XML file has none."""
    if files.xml is not None:
        return read_voc(files.xml)
    if files.image is None:
        raise CorpusError(f"The page {files.stem} has neither a picture nor an XML file.")
    with Image.open(files.image) as picture:
        return VocFile(picture.width, picture.height, files.image.name, ())


def _elements(tables: list[VocObject], html: list[Path], scale: float) -> tuple[Element, ...]:
    fits = len(html) == len(tables)
    sources = [read_text(path) for path in html] if fits else [None] * len(tables)
    elements = []
    for i, (table, source) in enumerate(zip(tables, sources, strict=True), start=1):
        noted: dict[str, AttributeValue] = {"rotated": "rotated" in table.label}
        if not fits:
            noted[TRUTH_ERROR] = f"There are {len(html)} HTML files for {len(tables)} boxes."
        box = table.box.scaled(scale, scale)
        elements.append(table_element(f"t{i}", html=source, box=box, attributes=noted))
    return tuple(elements)
