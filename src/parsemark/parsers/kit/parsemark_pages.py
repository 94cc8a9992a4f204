"""What several workers need of a page: its picture, its words, itself alone as a PDF. It needs pypdfium2.

Coordinates are points from the top left of the page as it is shown: crop box and rotation are applied.
"""

from __future__ import annotations

import ctypes
import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pypdfium2
from pypdfium2 import raw

Corners = tuple[float, float, float, float]

_LINE_END_HYPHEN = 2
_SMALLEST_REACH = 4.0


class Word(NamedTuple):
    """A word with its box."""

    text: str
    box: Corners
    glued: bool = False  # whether no space follows in the source (a word divided at a line's end)
    rise: float = 0.0  # by how much its end lies above its beginning: positive for text that runs up the page


@contextmanager
def open_page(pdf: str, page: int) -> Iterator[Any]:
    """A pdfium page, counted from 1, closed at the end."""
    with pypdfium2.PdfDocument(pdf) as document:
        opened = document[page - 1]
        try:
            yield opened
        finally:
            opened.close()


def picture(opened: Any, dpi: float) -> Any:
    """The page as a PIL picture in RGB."""
    return opened.render(scale=dpi / 72).to_pil().convert("RGB")


def single_page(pdf: str, page: int) -> bytes:
    """The page as a PDF of its own, for services that are paid by the page."""
    with pypdfium2.PdfDocument(pdf) as whole, pypdfium2.PdfDocument.new() as part:
        part.import_pages(whole, [page - 1])
        stream = io.BytesIO()
        part.save(stream)
        return stream.getvalue()


def pdf_words(opened: Any) -> list[Word]:
    """The words of the text layer, in the order of the file.

    A word ends at white space, and where the next character is far away: on another line, or in another
    cell of a table whose source has no space between them.
    """
    words: list[Word] = []
    letters: list[tuple[str, Corners]] = []
    for text, box, blank in _glyphs(opened):
        if letters and (blank or _far(letters[-1][1], box)):
            words.append(_word(letters, glued=not blank))
            letters = []
        if not blank:
            letters.append((text, box))
    if letters:
        words.append(_word(letters, glued=False))
    return words


def alto_words(pdf: str, page: int) -> list[Word]:
    """The words that pdfalto sees on a page, in its own order. It runs as a program beside Python (GPL)."""
    program = Path(sys.executable).with_name("pdfalto")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "page.xml"
        command = [str(program), "-onlyGraphsCoord", "-noLineNumbers", "-f", str(page), "-l", str(page)]
        done = subprocess.run([*command, pdf, str(target)], capture_output=True, timeout=120, check=False)
        if done.returncode or not target.is_file():
            said = done.stderr.decode("utf-8", "replace").strip()[-300:]
            raise RuntimeError(f"pdfalto failed with {done.returncode}: {said}")
        return read_alto(target.read_bytes())


def read_alto(xml: bytes) -> list[Word]:
    """Words from ALTO XML: strings with place and size in points."""
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise ValueError("the ALTO file declares entities")
    words = []
    for element in ElementTree.fromstring(xml).iter():
        if element.tag.rpartition("}")[2] != "String" or not (text := element.get("CONTENT", "").strip()):
            continue
        x, y, wide, high = (float(element.get(k, "0")) for k in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
        # Text that runs up or down the page is given by its box alone: higher than wide.
        words.append(Word(text, (x, y, x + wide, y + high)))
    return words


def _glyphs(opened: Any) -> Iterator[tuple[str, Corners, bool]]:
    text = opened.get_textpage()
    edges = [ctypes.c_double() for _ in range(4)]
    for index in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, index)
        if code == _LINE_END_HYPHEN:
            code = ord("-")
        letter = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
        raw.FPDFText_GetCharBox(text, index, *edges)
        left, right, bottom, top = (e.value for e in edges)
        blank = raw.FPDFText_IsGenerated(text, index) == 1 or not letter.strip()
        yield letter, _shown_box(opened, left, min(bottom, top), max(left, right), max(bottom, top)), blank
    text.close()


def _shown_box(opened: Any, left: float, bottom: float, right: float, top: float) -> Corners:
    x0, y0, x1, y1 = opened.get_bbox()  # `get_cropbox` does not see what the page inherits from its parent
    a, b, c, d = {
        0: (left - x0, y1 - top, right - x0, y1 - bottom),
        90: (bottom - y0, left - x0, top - y0, right - x0),
        180: (x1 - right, bottom - y0, x1 - left, top - y0),
        270: (y1 - top, x1 - right, y1 - bottom, x1 - left),
    }[opened.get_rotation() % 360]
    return (min(a, c), min(b, d), max(a, c), max(b, d))


def _far(last: Corners, box: Corners) -> bool:
    reach = max(last[3] - last[1], box[3] - box[1], last[2] - last[0], _SMALLEST_REACH) / 2
    across = max(box[0] - last[2], last[0] - box[2])
    down = max(box[1] - last[3], last[1] - box[3])
    return across > reach or down > reach


def _word(letters: list[tuple[str, Corners]], *, glued: bool) -> Word:
    boxes = [box for _, box in letters]
    rise = (boxes[0][1] + boxes[0][3] - boxes[-1][1] - boxes[-1][3]) / 2
    return Word("".join(text for text, _ in letters), hull(boxes), glued, rise)


def share_inside(inner: Corners, outer: Corners) -> float:
    """The share of a box that lies in another one."""
    width = min(inner[2], outer[2]) - max(inner[0], outer[0])
    height = min(inner[3], outer[3]) - max(inner[1], outer[1])
    area = (inner[2] - inner[0]) * (inner[3] - inner[1])
    return width * height / area if width > 0 and height > 0 and area > 0 else 0.0


# --- Lines of OCR ---------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line that an OCR engine read."""

    text: str
    box: Corners
    confidence: float = 1.0


def paragraphs(lines: list[Line]) -> list[list[Line]]:
    """Lines in reading order, grouped: recursive cuts at white gaps, across before down.

    Lines of one paragraph follow each other closely; a gap of more than a line's height begins another one,
    and so does a column.
    """
    if len(lines) < 2:
        return [lines] if lines else []
    usual = sorted(line.box[3] - line.box[1] for line in lines)[len(lines) // 2]
    across = _split(lines, 1, 3, 0.8 * usual)
    if len(across) > 1:
        return [group for part in across for group in paragraphs(part)]
    down = _split(lines, 0, 2, 0.8 * usual)
    if len(down) > 1:
        return [group for part in down for group in paragraphs(part)]
    return [sorted(lines, key=lambda line: (round((line.box[1] + line.box[3]) / usual), line.box[0]))]


def _split(lines: list[Line], low: int, high: int, gap: float) -> list[list[Line]]:
    """The lines cut at the gaps of one direction that are wider than `gap`."""
    groups: list[list[Line]] = []
    end = float("-inf")
    for line in sorted(lines, key=lambda line: line.box[low]):
        if not groups or line.box[low] - end > gap:
            groups.append([])
        groups[-1].append(line)
        end = max(end, line.box[high])
    return groups


def hull(boxes: list[Corners]) -> Corners:
    """The smallest box around all."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)
