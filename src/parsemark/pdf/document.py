"""Opening documents and pages, and what they say of themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import pypdfium2 as pdfium

from parsemark.errors import PdfError
from parsemark.model import Box
from parsemark.plain_words import counted


class PageShape(NamedTuple):
    """Size of a page as it is shown, in points, and how far it is turned."""

    width: float
    height: float
    rotation: int


@contextmanager
def open_document(pdf: Path) -> Iterator[Any]:
    """A pdfium document, closed at the end. pdfium allows no threads.

    Raises:
        PdfError: There is no such file, it is not a PDF, or pdfium refuses a part of it.
    """
    try:
        document = pdfium.PdfDocument(pdf)
    except (pdfium.PdfiumError, OSError) as error:
        raise PdfError(f"{pdf} cannot be opened as a PDF: {error}") from error
    try:
        yield document
    except pdfium.PdfiumError as error:
        raise PdfError(f"{pdf} cannot be read: {error}") from error
    finally:
        document.close()


def extract_page(pdf: Path, page_number: int, target: Path) -> None:
    """Write one page, counted from 1, as a PDF of its own."""
    with open_document(pdf) as document:
        alone = pdfium.PdfDocument.new()
        try:
            alone.import_pages(document, [page_number - 1])
            alone.save(target)
        finally:
            alone.close()
    # A comment after the end of the file: it goes wherever the file goes, and readers pass over it.
    with target.open("ab") as file:
        file.write(_TAKEN_FROM + hashlib.sha256(pdf.read_bytes()).hexdigest().encode() + b"\n")


_TAKEN_FROM = b"%parsemark-taken-from "


def taken_from(pdf: Path) -> str:
    """Hash of the PDF that `extract_page` took this one from; empty where it was not made so."""
    with pdf.open("rb") as file:
        file.seek(-min(200, pdf.stat().st_size), 2)
        _, mark, rest = file.read().rpartition(_TAKEN_FROM)
    return rest[:64].decode("ascii", "ignore") if mark else ""


@contextmanager
def open_page(pdf: Path, page_number: int) -> Iterator[Any]:
    """A pdfium page, by its number from 1, closed at the end; PdfError as `open_document`."""
    with open_document(pdf) as document:
        if not 1 <= page_number <= len(document):
            raise PdfError(f"{pdf} has {counted(len(document), 'page')}; there is no page {page_number}.")
        page = document[page_number - 1]
        try:
            yield page
        finally:
            page.close()


def count_pages(pdf: Path) -> int:
    """How many pages a PDF has."""
    with open_document(pdf) as document:
        return len(document)


def page_shapes(pdf: Path) -> list[PageShape]:
    """The shape of each page of a PDF."""
    shapes = []
    with open_document(pdf) as document:
        for index in range(len(document)):
            page = document[index]
            width, height = page.get_size()
            shapes.append(PageShape(width, height, page.get_rotation()))
            page.close()
    return shapes


def producer(pdf: Path) -> str:
    """The producer that a PDF's metadata names; empty if they name none."""
    with open_document(pdf) as document:
        named: str = document.get_metadata_value("Producer")
        return named.strip()


_MAKERS = {
    "LaTeX": ("tex", "dvips", "dvipdfm", "ghostscript dvi"),
    "Word": ("word", "office", "writer", "pages", "excel", "powerpoint", "google docs", "wps"),
    "publishing": (
        "indesign", "quark", "framemaker", "pagemaker", "arbortext", "3b2", "xpp", "antenna house", "pdflib",
        "prince", "apogee", "itext", "springer", "elsevier",
    ),
}  # fmt: skip
"""Words in the metadata of a PDF by which programs of a kind are known; the first kind that fits counts."""


def made_with(pdf: Path) -> str:
    """The kind of program that a PDF was made with, by what its metadata say: as in Soric et al.'s Table 1.

    Returns:
        `LaTeX`, `Word` (word processors), `publishing` (professional systems) or `other`.
    """
    with open_document(pdf) as document:
        named = [document.get_metadata_value(key) for key in ("Creator", "Producer")]
    return maker_kind(" ".join(named))


def maker_kind(named: str) -> str:
    """The kind of program that a creator or producer is.

    >>> maker_kind("LaTeX with hyperref pdfTeX-1.40.21"), maker_kind("Microsoft® Word 2016"), maker_kind("")
    ('LaTeX', 'Word', 'other')
    """
    folded = named.casefold()
    return next((kind for kind, words in _MAKERS.items() if any(w in folded for w in words)), "other")


_frames: WeakKeyDictionary[Any, tuple[tuple[float, float, float, float], int]] = WeakKeyDictionary()
"""What is shown of the sheet, and its rotation: asking pdfium cost half of reading a page's glyphs."""


def _frame(page: Any) -> tuple[tuple[float, float, float, float], int]:
    if page not in _frames:
        # `get_cropbox` and `get_mediabox` do not see what the page inherits from its parent (xdvipdfmx writes
        # all pages so) and answer US letter; `get_bbox` is what pdfium shows.
        _frames[page] = (tuple(page.get_bbox()), page.get_rotation())
    return _frames[page]


def to_page_box(page: Any, left: float, bottom: float, right: float, top: float) -> Box:
    """PDF coordinates to points from the top left of the page as it is shown."""
    (x0, y0, x1, y1), rotation = _frame(page)
    if rotation == 0:
        corners = (left - x0, y1 - top, right - x0, y1 - bottom)
    elif rotation == 90:
        corners = (bottom - y0, left - x0, top - y0, right - x0)
    elif rotation == 180:
        corners = (x1 - right, bottom - y0, x1 - left, top - y0)
    else:
        corners = (y1 - top, x1 - right, y1 - bottom, x1 - left)
    a, b, c, d = corners
    return Box(min(a, c), min(b, d), max(a, c), max(b, d))
