"""Opening documents and pages, and what they say of themselves."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from parsemark.errors import PdfError
from parsemark.model import Box
from parsemark.pdf.child import WHERE_MEMORY_IS_SCARCE, in_child, is_child
from parsemark.plain_words import counted
from parsemark.system.files import file_sha256, write_bytes

_KEPT_OPEN = 4  # documents: opening one for each of its pages takes time that grows with their square
_open: OrderedDict[tuple[object, ...], Any] = OrderedDict()


class PageShape(NamedTuple):
    """Size of a page as it is shown, in points, and how far it is turned."""

    width: float
    height: float
    rotation: int | None = None  # None if not requested


@contextmanager
def open_document(pdf: Path) -> Iterator[Any]:
    """Open a pdfium document, for functions that run `in_child`; it may stay open for the next ones.

    No such file, no PDF, or a part of it that pdfium refuses: all that is a PdfError.
    """
    if not is_child():
        raise AssertionError("PDFs may be opened only by functions marked with in_child.")
    import pypdfium2 as pdfium

    try:
        state = pdf.stat()
        key = (pdf, state.st_ino, state.st_mtime_ns, state.st_size)
        document = _open.pop(key, None) or pdfium.PdfDocument(pdf)
    except (pdfium.PdfiumError, OSError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise PdfError(f"{pdf} cannot be opened as a PDF: {reason}") from error
    try:
        yield document
    except pdfium.PdfiumError as error:
        document.close()
        raise PdfError(f"{pdf} cannot be read: {error}") from error
    except BaseException:
        document.close()
        raise
    _open[key] = document
    while len(_open) > _KEPT_OPEN:
        _open.popitem(last=False)[1].close()


def close_documents() -> None:
    """Close what has stayed open."""
    while _open:
        _open.popitem()[1].close()


def extract_page(pdf: Path, page_number: int, target: Path) -> None:
    """Write one page, counted from 1, as a PDF of its own."""
    # A comment after the end of the file: it goes wherever the file goes, and readers pass over it.
    mark = _TAKEN_FROM + file_sha256(pdf).encode() + b"\n"
    write_bytes(target, page_alone(pdf, page_number) + mark)


@in_child()
def page_alone(pdf: Path, page_number: int, without: tuple[int, ...] | None = None) -> bytes:
    """Return one page as a PDF of its own; written again where objects are named that it shall do without."""
    import io

    import pypdfium2 as pdfium
    from pypdfium2 import raw

    with open_document(pdf) as document:
        alone, written = pdfium.PdfDocument.new(), io.BytesIO()
        try:
            alone.import_pages(document, [page_number - 1])
            if without is not None:
                page = alone[0]
                for item in [raw.FPDFPage_GetObject(page, index) for index in without]:
                    raw.FPDFPage_RemoveObject(page, item)
                    raw.FPDFPageObj_Destroy(item)
                page.gen_content()
            alone.save(written)
        finally:
            alone.close()
        return written.getvalue()


@in_child(cpu_s=600)
def join_pages(pages: tuple[tuple[Path, int], ...]) -> bytes:
    """Return one PDF of pages of others, each a file and a number from 1."""
    import io

    import pypdfium2 as pdfium

    joined, written = pdfium.PdfDocument.new(), io.BytesIO()
    try:
        for pdf, number in pages:
            with open_document(pdf) as document:
                joined.import_pages(document, [number - 1])
        joined.save(written)
    finally:
        joined.close()
    return written.getvalue()


@in_child(cpu_s=600)
def repainted(pdf: Path) -> bytes:
    """Return a document with the texts of its pages painted above all else, the last line first."""
    import io

    import pypdfium2 as pdfium
    from pypdfium2 import raw

    written = io.BytesIO()
    try:
        document = pdfium.PdfDocument(pdf)  # of its own: the one that may be open stays as it is
        for page in document:
            for item in [item for line in reversed(_lines_of_texts(page)) for item in line]:
                if raw.FPDFPage_RemoveObject(page, item):
                    raw.FPDFPage_InsertObject(page, item)
            page.gen_content()
            page.close()
        document.save(written)
        document.close()
    except pdfium.PdfiumError as error:
        raise PdfError(f"{pdf} cannot be repainted: {error}") from error
    return written.getvalue()


def _lines_of_texts(page: Any) -> list[list[Any]]:
    """Return text objects that are painted one after the other from left to right at one height."""
    from pypdfium2 import raw

    lines: list[list[Any]] = []
    left, bottom, _, top = edges = [ctypes.c_float() for _ in range(4)]
    x = low = high = 0.0
    for item in [raw.FPDFPage_GetObject(page, k) for k in range(raw.FPDFPage_CountObjects(page))]:
        if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_TEXT:
            continue
        raw.FPDFPageObj_GetBounds(item, *edges)
        shared = min(high, top.value) - max(low, bottom.value)
        if lines and left.value >= x and 2 * shared >= min(high - low, top.value - bottom.value):
            lines[-1].append(item)
        else:
            lines.append([item])
        x, low, high = left.value, bottom.value, top.value
    return lines


_TAKEN_FROM = b"%parsemark-taken-from "


def taken_from(pdf: Path) -> str:
    """Return the hash of the PDF that `extract_page` took this one from; empty where it was not made so."""
    with pdf.open("rb") as file:
        file.seek(-min(200, pdf.stat().st_size), 2)
        _, mark, rest = file.read().rpartition(_TAKEN_FROM)
    return rest[:64].decode("ascii", "ignore") if mark else ""


@contextmanager
def open_page(pdf: Path, page_number: int) -> Iterator[Any]:
    """Open a pdfium page, by its number from 1, and close it at the end; raise PdfError as
    `open_document`.
    """
    with open_document(pdf) as document:
        if not 1 <= page_number <= len(document):
            raise PdfError(f"{pdf} has {counted(len(document), 'page')}; there is no page {page_number}.")
        page = document[page_number - 1]
        try:
            yield page
        finally:
            page.close()


@in_child()
def count_pages(pdf: Path) -> int:
    """Return how many pages a PDF has."""
    with open_document(pdf) as document:
        return len(document)


@in_child(cpu_s=600)
def page_shapes(pdf: Path, *, turns: bool = False) -> list[PageShape]:
    """Return the shape of each page of a PDF; how far it turns too, for which all that is on it has to be
    read.
    """
    shapes = []
    with open_document(pdf) as document:
        for index in range(len(document)):
            shapes.append(PageShape(*document.get_page_size(index)))
            if turns:
                page = document[index]
                shapes[-1] = shapes[-1]._replace(rotation=page.get_rotation())
                page.close()
    return shapes


def producer(pdf: Path) -> str:
    """Return the producer that a PDF's metadata names; empty if they name none."""
    return _metadata(pdf, ("Producer",))[0].strip()


_MAKERS = {
    "LaTeX": ("tex(?!t)", r"\bcontext\b", "dvips", "dvipdfm", "ghostscript dvi"),
    "word processor": ("word", "office", "writer", "pages", "excel", "powerpoint", "google docs", "wps"),
    "publishing": (
        "indesign", "quark", "framemaker", "pagemaker", "arbortext", "3b2", "xpp", "antenna house", "pdflib",
        "prince", "apogee", "itext", "springer", "elsevier",
    ),
}  # fmt: skip
"""Patterns in the metadata of a PDF that tell programs of a kind; the first kind that fits counts."""


def made_with(pdf: Path) -> str:
    """Return the kind of program that a PDF was made with, by its metadata: as in Soric et al.'s Table 1."""
    return maker_kind(" ".join(_metadata(pdf, ("Creator", "Producer"))))


@in_child()
def _metadata(pdf: Path, keys: tuple[str, ...]) -> list[str]:
    with open_document(pdf) as document:
        return [str(document.get_metadata_value(key)) for key in keys]


def maker_kind(named: str) -> str:
    """Return the kind of program that a creator or producer is.

    >>> maker_kind("LaTeX with hyperref pdfTeX-1.40.21"), maker_kind("Microsoft® Word 2016"), maker_kind("")
    ('LaTeX', 'word processor', 'other')
    >>> maker_kind("iText 5.5"), maker_kind("macOS 13 Quartz PDFContext"), maker_kind("ConTeXt LMTX")
    ('publishing', 'other', 'LaTeX')
    """
    folded = named.casefold()
    return next((kind for kind, words in _MAKERS.items() if re.search("|".join(words), folded)), "other")


_frames: WeakKeyDictionary[Any, tuple[tuple[float, float, float, float], int]] = WeakKeyDictionary()
"""What is shown of the sheet, and its rotation: asking pdfium cost half of reading a page's glyphs."""


def _frame(page: Any) -> tuple[tuple[float, float, float, float], int]:
    if page not in _frames:
        # `get_cropbox` and `get_mediabox` do not see what the page inherits from its parent (xdvipdfmx writes
        # all pages so) and answer US letter; `get_bbox` is what pdfium shows.
        _frames[page] = (tuple(page.get_bbox()), page.get_rotation())
    return _frames[page]


def to_page_box(page: Any, left: float, bottom: float, right: float, top: float) -> Box:
    """Convert PDF coordinates to points from the top left of the page as it is shown."""
    return Box(*to_page_edges(page, left, bottom, right, top))


Edges = tuple[float, float, float, float]


def to_page_edges(page: Any, left: float, bottom: float, right: float, top: float) -> Edges:
    """Return the same as a tuple, many of which go from process to process; what is at no finite place is at
    0.
    """
    a, b, c, d = array("d", to_page_boxes(page, array("d", (left, bottom, right, top))))
    return a, b, c, d


def to_page_boxes(page: Any, edges: array[float]) -> bytes:
    """Return the same for many: left, bottom, right and top of one after the other, as four numbers each."""
    import numpy as np

    (x0, y0, x1, y1), rotation = _frame(page)
    left, bottom, right, top = np.frombuffer(edges, dtype=np.float64).reshape(-1, 4).T
    if rotation == 0:
        sides = left - x0, y1 - top, right - x0, y1 - bottom
    elif rotation == 90:
        sides = bottom - y0, left - x0, top - y0, right - x0
    elif rotation == 180:
        sides = x1 - right, bottom - y0, x1 - left, top - y0
    else:
        sides = y1 - top, x1 - right, y1 - bottom, x1 - left
    a, b, c, d = sides
    found = np.stack([np.minimum(a, c), np.minimum(b, d), np.maximum(a, c), np.maximum(b, d)], axis=1)
    found[~np.isfinite(found).all(axis=1)] = 0.0
    return found.tobytes()


WHERE_MEMORY_IS_SCARCE.append(close_documents)
