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
