"""Reads what `marks.tex` wrote: exact boxes of tables and cells, and the glyphs of each cell."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pypdfium2 import raw

from parsemark.corpora.latex.slots import MarkedCell, MarkedTable, RawCell, RawTable, place_cells
from parsemark.errors import LatexError, PdfError
from parsemark.model import Box
from parsemark.pdf import open_document, to_page_box

MARKS_FILE = Path(__file__).with_name("marks.tex")

_KERNEL_RULES = r"\def\@arrayrule{\@addtopreamble{\hskip-.5\arrayrulewidth\vline\hskip-.5\arrayrulewidth}}"
"""Vertical rules without width, as LaTeX has them; array's would make the tables of a document wider."""
LOAD_MARKS = (
    r"\makeatletter\AddToHook{begindocument/before}{\RequirePackage{etoolbox}"
    rf"\@ifpackageloaded{{array}}{{}}{{\RequirePackage{{array}}{_KERNEL_RULES}}}}}\makeatother"
    r"\AddToHook{begindocument/end}{\input{marks.tex}}"
)
"""Put this before a source, and a copy of MARKS_FILE beside it, to have its tables marked."""

CELL_TAG, BLOCK_TAG = "PMC", "PMB"

__all__ = ["LOAD_MARKS", "MARKS_FILE", "MarkedCell", "MarkedPage", "MarkedTable", "read_marks"]


@dataclass(frozen=True)
class MarkedPage:
    """What the marks of one page say."""

    number: int
    width: float
    height: float
    tables: tuple[MarkedTable, ...]
    """In the order of the file. A long table has one entry on each of its pages, with the same id."""
    blocks: dict[int, Box]
    """The ink of each block."""
    block_texts: dict[int, str]
    """The glyphs of each block, in the order of the file."""


@dataclass
class _Ink:
    """What is painted on a page, by cell and by block."""

    boxes: list[Box] = field(default_factory=list)
    cells: dict[int, list[tuple[Box, str, int]]] = field(default_factory=lambda: defaultdict(list))
    blocks: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))
    texts: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))


def read_marks(pdf: Path) -> list[MarkedPage]:
    """Read all pages of a marked PDF."""
    try:
        with open_document(pdf) as document:
            return [_read_page(document[index], index + 1) for index in range(len(document))]
    except PdfError as error:
        raise LatexError(f"The marked PDF cannot be read: {error}") from error


def _read_page(page: Any, number: int) -> MarkedPage:
    width, height = page.get_size()
    ink = _read_ink(page)
    tables = _read_tables(page, ink)
    return MarkedPage(
        number,
        width,
        height,
        tuple(place_cells(table, ink.boxes) for table in tables),
        {block: Box.hull(boxes) for block, boxes in ink.blocks.items()},
        {block: "".join(parts) for block, parts in ink.texts.items()},
    )


def _read_tables(page: Any, ink: _Ink) -> list[RawTable]:
    tables: dict[int, RawTable] = {}
    cells: dict[int, RawCell] = {}
    for note, box in _notes(page):
        kind, *rest = note.split(";")
        numbers = [number for part in rest if (number := _whole_number(part)) is not None]
        if kind == "S" and len(numbers) == 5:
            table_id, row, col, span, cell_id = numbers
            cell = RawCell(row, col, span, start=box, ink=ink.cells.get(cell_id, []))
            cells[cell_id] = cell
            tables.setdefault(table_id, RawTable(table_id)).cells.append(cell)
        elif kind == "E" and numbers and numbers[0] in cells:
            cells[numbers[0]].end = box
        elif kind == "R" and len(numbers) == 2 and numbers[0] in cells:
            cells[numbers[0]].rowspan = numbers[1]
        elif kind == "V" and len(numbers) == 2:
            tables.setdefault(numbers[0], RawTable(numbers[0])).edges[numbers[1]].append(box)
        elif kind == "T" and numbers:
            tables.setdefault(numbers[0], RawTable(numbers[0])).box = box
    return [table for table in tables.values() if table.cells]


def _whole_number(text: str) -> int | None:
    """A number of a note; multirow also takes ` 3` and `5.3`."""
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        return None


def _notes(page: Any) -> Iterator[tuple[str, Box]]:
    rectangle = raw.FS_RECTF()
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        note = raw.FPDFPage_GetAnnot(page, index)
        if raw.FPDFAnnot_GetSubtype(note) == raw.FPDF_ANNOT_SQUARE and raw.FPDFAnnot_GetRect(note, rectangle):
            text = _utf16(lambda b, n, a=note: raw.FPDFAnnot_GetStringValue(a, b"Contents", b, n))
            xs = sorted((rectangle.left, rectangle.right))
            ys = sorted((rectangle.bottom, rectangle.top))
            yield text, to_page_box(page, xs[0], ys[0], xs[1], ys[1])
        raw.FPDFPage_CloseAnnot(note)


def _read_ink(page: Any) -> _Ink:
    ink = _Ink()
    text_page = page.get_textpage()
    edges = [ctypes.c_float() for _ in range(4)]
    for index in range(raw.FPDFPage_CountObjects(page)):
        item = raw.FPDFPage_GetObject(page, index)
        if not raw.FPDFPageObj_GetBounds(item, *edges):
            continue
        left, bottom, right, top = (e.value for e in edges)
        box = to_page_box(page, left, bottom, right, top)
        is_text = raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_TEXT
        text = _utf16(lambda b, n, i=item: raw.FPDFTextObj_GetText(i, text_page, b, n)) if is_text else ""
        if is_text and not text.strip():
            continue
        ink.boxes.append(box)
        for tag, number in _tags(item):
            if tag == CELL_TAG:
                ink.cells[number].append((box, text, _angle(item) if is_text else 0))
            elif tag == BLOCK_TAG:
                ink.blocks[number].append(box)
                ink.texts[number].append(text)
    text_page.close()
    return ink


def _tags(item: Any) -> Iterator[tuple[str, int]]:
    for index in range(raw.FPDFPageObj_CountMarks(item)):
        mark = raw.FPDFPageObj_GetMark(item, index)
        name, length, value = ctypes.create_string_buffer(64), ctypes.c_ulong(), ctypes.c_int()
        characters = ctypes.cast(name, ctypes.POINTER(ctypes.c_ushort))
        raw.FPDFPageObjMark_GetName(mark, characters, 64, length)
        if raw.FPDFPageObjMark_GetParamIntValue(mark, b"MCID", value):
            yield name.raw[: length.value].decode("utf-16-le").rstrip("\0"), value.value


def _angle(item: Any) -> int:
    """By how many degrees the text is turned counter-clockwise: 0, 90, 180 or 270."""
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, matrix)
    if abs(matrix.b) > abs(matrix.a):
        return 90 if matrix.b > 0 else 270
    return 0 if matrix.a >= 0 else 180


def _utf16(fill: Any) -> str:
    """The text of a pdfium function that fills a UTF-16 buffer and returns the bytes it needs."""
    size = fill(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    fill(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw.decode("utf-16-le", errors="replace").rstrip("\0")
