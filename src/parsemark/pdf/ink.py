"""What is painted on a page: glyphs, and the boxes of all painted objects."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

from pypdfium2 import raw

from parsemark.model import Box
from parsemark.pdf.document import open_page, to_page_box
from parsemark.pdf.text import Glyph, glyphs_of


@dataclass(frozen=True)
class PageInk:
    """The text layer and the painted objects of a page."""

    width: float
    height: float
    glyphs: tuple[Glyph, ...]
    """Without blanks."""
    boxes: tuple[Box, ...]


def page_ink(pdf: Path, page_number: int) -> PageInk:
    """Read a page's ink."""
    with open_page(pdf, page_number) as page:
        glyphs = tuple(g for g in glyphs_of(page) if g.text.strip() and not g.generated)
        edges = [ctypes.c_float() for _ in range(4)]
        boxes = []
        for index in range(raw.FPDFPage_CountObjects(page)):
            item = raw.FPDFPage_GetObject(page, index)
            if raw.FPDFPageObj_GetBounds(item, *edges):
                left, bottom, right, top = (e.value for e in edges)
                boxes.append(to_page_box(page, left, bottom, right, top))
        width, height = page.get_size()
        return PageInk(width, height, glyphs, tuple(boxes))


def painted_rectangles(pdf: Path, page_number: int) -> list[tuple[int, Box]]:
    """The filled shapes of a page with their colour (0xRRGGBB), in the order in which they are painted."""
    found = []
    with open_page(pdf, page_number) as page:
        edges = [ctypes.c_float() for _ in range(4)]
        channels = [ctypes.c_uint() for _ in range(4)]
        for index in range(raw.FPDFPage_CountObjects(page)):
            item = raw.FPDFPage_GetObject(page, index)
            if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_PATH:
                continue
            if not raw.FPDFPageObj_GetFillColor(item, *channels) or not raw.FPDFPageObj_GetBounds(
                item, *edges
            ):
                continue
            red, green, blue = (c.value for c in channels[:3])
            left, bottom, right, top = (e.value for e in edges)
            found.append((red << 16 | green << 8 | blue, to_page_box(page, left, bottom, right, top)))
    return found
