"""Reads what `parsemark-marks.tex` wrote: exact boxes of tables and cells, and the glyphs of each cell."""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pypdfium2 import raw

from parsemark.errors import LatexError, PdfError
from parsemark.formats.glyphs import EXTENSION_FONT, extension_sign
from parsemark.model import Box
from parsemark.pdf import character_codes, in_child, open_document, to_page_box
from parsemark_makers.latex import cell_boxes
from parsemark_makers.latex.cell_boxes import RULE_HEIGHT, MarkedTable, RawCell, RawTable
from parsemark_makers.latex.cell_text import MATH_AXIS, Character, character_of

MARKS_FILE = Path(__file__).with_name("parsemark-marks.tex")
"""Named so that no document has a file of this name itself."""

LOAD_MARKS = (
    r"\AddToHook{begindocument/before}{\RequirePackage{etoolbox}}"
    rf"\AddToHook{{begindocument/end}}{{\input{{{MARKS_FILE.name}}}}}"
)
"""Put this before a source, and a copy of MARKS_FILE beside it, to have its tables marked."""

NOTE_HALIGN = r"\def\pmhalign{}"
"""Put this before, too, if a source has alignments by hand: they are tables whose cells cannot be marked."""

NOTE_BLOCKS = r"\def\pmblocks{}"
"""The same if a source has cells of nicematrix that are set apart from the others (`\\Block`)."""

CELL_TAG, BLOCK_TAG, MATRIX_TAG = "PMC", "PMB", "PMM"
MAX_DIVIDING = 2
"""Straight lines that divide a cell (`\\diagbox`); a diagram has more."""
MIN_CELLS = 4  # two rows of two cells
TOUCHING = 4.0
"""Cells whose frames are no further apart than this touch, in points; a diagram has arrows between."""
ACROSS = 0.95  # the share of the width that a line between two rows covers; an arrow begins behind a word
OVER_EDGE = 0.5  # a table that leaves the page by more than this runs over its edge, in points

_BOLD = re.compile(
    r"bold|black|heavy|demi|medi(?!um)|bx\d|cmb\d|cmssbx|cmmib|cmbsy|sfb|sfsx|(?:TB|TZ|[-_]B)[IO]?$",
    re.IGNORECASE,
)
"""In the names of bold fonts: Computer Modern's, Nimbus', Libertine's and those that say it."""


@dataclass(frozen=True)
class MarkedPage:
    """What the marks of one page say."""

    number: int
    width: float
    height: float
    tables: tuple[MarkedTable, ...]
    """In the order of the file. A long table has one entry on each of its pages, with the same id."""
    blocks: dict[int, Box]  # the ink of each block
    nested: tuple[MarkedTable, ...] = ()  # tables in cells of others
    unmarked: tuple[str, ...] = ()
    """Environments that begin or end here and are tables whose cells cannot be marked."""


@dataclass
class _Ink:
    """What is painted on a page, by cell and by block."""

    boxes: list[Box] = field(default_factory=list)
    pictures: list[Box] = field(default_factory=list)
    drawings: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))
    """Lines that are drawn in cells, and no rules: those of a diagram."""
    straight: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """How many of them are one straight line each."""
    words: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))  # of each matrix of TikZ
    paths: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))
    """What is drawn in each matrix of TikZ."""
    lines: list[Box] = field(default_factory=list)  # everything thin that is no text
    cells: dict[int, list[cell_boxes.InkPiece]] = field(default_factory=lambda: defaultdict(list))
    characters: dict[int, list[Character]] = field(default_factory=lambda: defaultdict(list))
    loose: list[cell_boxes.LooseCharacter] = field(default_factory=list)
    """Characters in no cell: those between columns (`r@{.}l`), and all outside of tables."""
    blocks: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))


def read_marks(pdf: Path) -> list[MarkedPage]:
    """Read all pages of a marked PDF."""
    try:
        return _marked_pages(pdf)
    except PdfError as error:
        raise LatexError(f"The marked PDF cannot be read: {error}") from error


@in_child(cpu_s=600)
def _marked_pages(pdf: Path) -> list[MarkedPage]:
    with open_document(pdf) as document:
        return [_read_page(document[index], index + 1) for index in range(len(document))]


def _read_page(page: Any, number: int) -> MarkedPage:
    width, height = page.get_size()
    ink = _read_ink(page)
    tables, unmarked = _read_tables(page, ink)
    for matrix, words in ink.words.items():
        if is_ruled_grid(words, ink.paths[matrix], ink.lines):
            unmarked += ["TikZ matrix with lines"] * 2  # it begins and ends here
    for cell, boxes in ink.drawings.items():
        if not len(boxes) == ink.straight[cell] <= MAX_DIVIDING:  # a diagram
            ink.pictures.append(Box.hull(boxes))
    frame = Box(0, 0, width, height)
    placed = []
    for table in tables:
        own, turned = cell_boxes.place_cells(table, ink.boxes, ink.pictures), frame.turned(table.angle)
        inside = frame.contains(own.box, OVER_EDGE)  # without what lies beside the page, which was not read
        inside = inside and all(turned.contains(cell.start, OVER_EDGE) for cell in table.cells)
        placed.append(replace(own, leaves_page=not inside, page=number))
    outer = tuple(table for table in placed if table.parent is None)
    nested = tuple(table for table in placed if table.parent is not None)
    blocks = {block: Box.hull(boxes) for block, boxes in ink.blocks.items()}
    return MarkedPage(number, width, height, outer, blocks, nested, tuple(unmarked))


def _read_tables(page: Any, ink: _Ink) -> tuple[list[RawTable], list[str]]:
    tables: dict[int, RawTable] = {}
    cells: dict[int, RawCell] = {}
    unmarked: list[str] = []
    for note, box in _notes(page):
        kind, *rest = note.split(";")
        numbers = [number for part in rest if (number := _whole_number(part)) is not None]
        if kind == "S" and len(numbers) == 6:
            table_id, row, col, span, cell_id, parent = numbers
            cell = RawCell(row, col, span, box, ink.cells[cell_id], ink.characters[cell_id])
            cells[cell_id] = cell
            table = tables.setdefault(table_id, RawTable(table_id))
            table.parent = parent or None
            table.cells.append(cell)
        elif kind == "E" and numbers and numbers[0] in cells:
            cells[numbers[0]].end = box
        elif kind == "R" and len(numbers) in (2, 3) and numbers[0] in cells:
            spanning = cells[numbers[0]]
            spanning.rowspan = numbers[1] or 1
            spanning.colspan = max(spanning.colspan, *numbers[2:], 1)
        elif kind == "V" and len(numbers) == 2:
            tables.setdefault(numbers[0], RawTable(numbers[0])).edges[numbers[1]].append(box)
        elif kind == "T" and numbers:
            tables.setdefault(numbers[0], RawTable(numbers[0])).box = box
        elif kind == "U" and rest:
            unmarked.append(rest[0])
        elif kind == "P":
            ink.pictures.append(box)
    turned = (cell_boxes.upright(table) for table in tables.values() if table.cells)
    found = [part for table in turned for part in cell_boxes.columns_of(table)]
    for table in found:
        cell_boxes.take_loose(table, ink.loose)
    return found, unmarked


def _whole_number(text: str) -> int | None:
    """Return a number of a note; multirow also takes ` 3` and `5.3`."""
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
            yield text, _page_box(page, rectangle)
        raw.FPDFPage_CloseAnnot(note)


def _page_box(page: Any, rectangle: Any) -> Box:
    xs, ys = sorted((rectangle.left, rectangle.right)), sorted((rectangle.bottom, rectangle.top))
    return to_page_box(page, xs[0], ys[0], xs[1], ys[1])


def _read_ink(page: Any) -> _Ink:
    ink = _Ink()
    text_page, (width, height) = page.get_textpage(), page.get_size()
    edges = [ctypes.c_float() for _ in range(4)]
    cells_of: dict[int, tuple[list[int], int, _Font]] = {}
    fonts: dict[int, _Font] = {}
    has_cells = False
    for index in range(raw.FPDFPage_CountObjects(page)):
        item = raw.FPDFPage_GetObject(page, index)
        if not raw.FPDFPageObj_GetBounds(item, *edges):
            continue
        left, bottom, right, top = (e.value for e in edges)
        box = to_page_box(page, left, bottom, right, top)
        kind = raw.FPDFPageObj_GetType(item)
        is_text = kind == raw.FPDF_PAGEOBJ_TEXT
        text = _utf16(lambda b, n, i=item: raw.FPDFTextObj_GetText(i, text_page, b, n)) if is_text else ""
        font = _font(item, fonts) if is_text else _Font()
        if is_text and not text.strip() and not font.is_extension:  # there, codes of blanks are signs
            continue
        filled, stroked = _painting(item)
        if not stroked and (not filled or min(box.width, box.height) <= 0):
            continue
        if box.x1 < 0 or box.y1 < 0 or box.x0 > width or box.y0 > height:
            continue  # beside the page, where beamer puts what it covers
        ink.boxes.append(box)
        if kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM, raw.FPDF_PAGEOBJ_SHADING):
            ink.pictures.append(box)
        if not is_text and min(box.width, box.height) < RULE_HEIGHT:
            ink.lines.append(box)
        angle = _angle(item, page) if is_text else 0
        cells = []
        for tag, number in _tags(item):
            if tag == CELL_TAG:
                ink.cells[number].append((box, text, angle))
                is_path = kind == raw.FPDF_PAGEOBJ_PATH and stroked
                if is_path and min(box.width, box.height) > RULE_HEIGHT:  # no rule, no edge of a filled cell
                    ink.drawings[number].append(box)
                    ink.straight[number] += raw.FPDFPath_CountSegments(item) == 2
                cells.append(number)
            elif tag == BLOCK_TAG:
                ink.blocks[number].append(box)
            elif tag == MATRIX_TAG:
                (ink.words if is_text else ink.paths)[number].append(box)
        if is_text:
            cells_of[ctypes.addressof(item.contents)] = cells, angle, font
            has_cells |= bool(cells)
    if has_cells:
        _read_characters(page, text_page, cells_of, ink)
    text_page.close()
    return ink


def _painting(item: Any) -> tuple[bool, bool]:
    """Return whether a path is filled, and whether it is stroked; what is no path counts as both."""
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    is_path = raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_PATH
    if not is_path or not raw.FPDFPath_GetDrawMode(item, mode, stroke):
        return True, True
    return mode.value != raw.FPDF_FILLMODE_NONE, bool(stroke.value)


def _read_characters(
    page: Any, text_page: Any, cells_of: dict[int, tuple[list[int], int, _Font]], ink: _Ink
) -> None:
    """Read the characters of each cell, one by one."""
    rectangle = raw.FS_RECTF()
    x, y, matrix = ctypes.c_double(), ctypes.c_double(), raw.FS_MATRIX()
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    for index, code in character_codes(text_page):
        item = raw.FPDFText_GetTextObject(text_page, index)
        if not item or raw.FPDFText_IsGenerated(text_page, index) == 1:
            continue
        found = cells_of.get(ctypes.addressof(item.contents))
        if found is None:
            continue
        cells, angle, font = found
        raw.FPDFText_GetLooseCharBox(text_page, index, rectangle)
        raw.FPDFText_GetCharOrigin(text_page, index, x, y)
        raw.FPDFText_GetMatrix(text_page, index, matrix)
        box = _page_box(page, rectangle)
        origin = to_page_box(page, x.value, y.value, x.value, y.value)
        scale = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        size = raw.FPDFText_GetFontSize(text_page, index) * scale
        raw.FPDFText_GetCharBox(text_page, index, left, right, bottom, top)
        tight = to_page_box(page, left.value, bottom.value, right.value, top.value)
        own, baseline, text = box.turned(angle), origin.turned(angle).y0, None
        if font.is_extension and size > 0:
            inked = tight.turned(angle)
            text = extension_sign(chr(code), own.width / size, inked.height / size) if code < 128 else None
            if text not in ("ˆ", "˜"):  # these signs hang from their origin, around the middle of their line
                baseline = (inked.y0 + inked.y1) / 2 + MATH_AXIS * size
        text = character_of(code) if text is None else text
        character = Character(text, own, baseline, size, font.is_bold)
        for cell in cells:
            ink.characters[cell].append(character)
        if not cells:
            ink.loose.append((tight, angle, character))


class _Font(NamedTuple):
    """What the name of a font says of it."""

    is_bold: bool = False
    is_extension: bool = False


def _font(item: Any, known: dict[int, _Font]) -> _Font:
    """Return the font that a text is set in."""
    font = raw.FPDFTextObj_GetFont(item)
    if not font:
        return _Font()
    place = ctypes.addressof(font.contents)
    if place not in known:
        name = ctypes.create_string_buffer(128)
        raw.FPDFFont_GetBaseFontName(font, name, 128)
        called = name.value.decode("ascii", "replace")
        known[place] = _Font(_BOLD.search(called) is not None, EXTENSION_FONT.search(called) is not None)
    return known[place]


def _tags(item: Any) -> Iterator[tuple[str, int]]:
    for index in range(raw.FPDFPageObj_CountMarks(item)):
        mark = raw.FPDFPageObj_GetMark(item, index)
        name, length, value = ctypes.create_string_buffer(64), ctypes.c_ulong(), ctypes.c_int()
        characters = ctypes.cast(name, ctypes.POINTER(ctypes.c_ushort))
        raw.FPDFPageObjMark_GetName(mark, characters, 64, length)
        if raw.FPDFPageObjMark_GetParamIntValue(mark, b"MCID", value):
            yield name.raw[: length.value].decode("utf-16-le").rstrip("\0"), value.value


def _angle(item: Any, page: Any) -> int:
    """Return by how many degrees the text is turned counter-clockwise on the page as it is shown."""
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, matrix)
    is_upright = abs(matrix.a) >= abs(matrix.b)
    angle = (0 if matrix.a >= 0 else 180) if is_upright else (90 if matrix.b > 0 else 270)
    turned: int = (angle - page.get_rotation()) % 360
    return turned


def _utf16(fill: Any) -> str:
    """Return the text of a pdfium function that fills a UTF-16 buffer and returns the bytes it needs."""
    size = fill(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    fill(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw.decode("utf-16-le", errors="replace").rstrip("\0")


def is_ruled_grid(texts: Sequence[Box], paths: Sequence[Box], lines: Iterable[Box]) -> bool:
    """Return whether a drawing of words can be taken for a table, by its paths and the thin lines of the
    page.
    """
    if len(texts) < MIN_CELLS:
        return False
    frames = [path for path in dict.fromkeys(paths) if _frames_one_cell(path, texts)]
    beside = [f for f in frames if any(_touches(f, other) for other in frames)]
    turned = [f.turned(90) for f in frames]  # what stands above is beside
    framed = [f for f in beside if any(_touches(f.turned(90), other) for other in turned)]
    return len(framed) >= MIN_CELLS or any(_parts_rows(line, texts) for line in lines)


def _frames_one_cell(path: Box, texts: Sequence[Box]) -> bool:
    inside = sum(path.contains(text, 1.0) for text in texts)
    return min(path.width, path.height) > RULE_HEIGHT and 0 < inside <= len(texts) / 2


def _touches(one: Box, other: Box) -> bool:
    """Return whether two frames stand beside each other, with nothing between them."""
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    gap = max(one.x0, other.x0) - min(one.x1, other.x1)
    return shared > 0.5 * min(one.height, other.height) and abs(gap) <= TOUCHING


def _parts_rows(line: Box, texts: Sequence[Box]) -> bool:
    """Return whether a line across all words has several above it and several below, and runs through
    none.
    """
    hull = Box.hull(texts)
    if line.height >= RULE_HEIGHT or min(line.x1, hull.x1) - max(line.x0, hull.x0) < ACROSS * hull.width:
        return False
    middle = (line.y0 + line.y1) / 2
    above, below = sum(t.y1 <= middle for t in texts), sum(t.y0 >= middle for t in texts)
    return above + below == len(texts) and min(above, below) > 1
