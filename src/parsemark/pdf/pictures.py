"""What a page looks like: as a picture, as what is painted on it, and pictures as pages."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from pypdfium2 import raw

from parsemark.errors import PdfError
from parsemark.model import Box
from parsemark.pdf.document import open_page, to_page_box
from parsemark.pdf.text import Glyph, glyphs_of

MAX_PIXELS = 100_000_000
MAX_SIDE = 32_000
"""Pixels: what pictures of most formats can have at all."""
_NO_DATE = time.gmtime(0)
"""So that equal pages give equal PDFs."""
_MAX_QUALITY = 95


def render_page(pdf: Path, page_number: int, dpi: int) -> Image.Image:
    """A page as a picture; a page that would be too large is a PdfError."""
    with open_page(pdf, page_number) as page:
        width, height = (side * dpi / 72 for side in page.get_size())
        if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE:
            raise PdfError(f"Page {page_number} of {pdf} is too large for {dpi} dpi; use a smaller dpi.")
        picture: Image.Image = page.render(scale=dpi / 72).to_pil().convert("RGB")
        return picture


def open_picture(path: Path) -> Image.Image:
    """A picture file, grey or coloured; one that is broken or too large is a PdfError."""
    try:
        with Image.open(path) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise PdfError(f"The picture {path} has {picture.width} × {picture.height} pixels.")
            return picture.convert("L" if picture.mode in ("1", "L") else "RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise PdfError(f"The picture {path} cannot be read: {error}.") from error


def save_picture_pdf(
    picture: Image.Image, path: Path, size: tuple[float, float], *, quality: int, producer: str
) -> None:
    """Write a PDF of one page, `size` points large, that is the picture and nothing else."""
    picture.save(
        path,
        format="PDF",
        dpi=(picture.width * 72 / size[0], picture.height * 72 / size[1]),
        quality=min(quality, _MAX_QUALITY),
        producer=producer,
        title="page",  # else Pillow writes the name of the file, which may be a temporary one
        creationDate=_NO_DATE,
        modDate=_NO_DATE,
    )


@dataclass(frozen=True)
class PageInk:
    """The text layer and the painted objects of a page."""

    width: float
    height: float
    glyphs: tuple[Glyph, ...]
    """Without blanks."""
    boxes: tuple[Box, ...]

    def inside(self, frame: Box, tolerance: float) -> list[Box]:
        """What is painted in a frame, without the ground on which it stands.

        A ground holds the whole frame and goes on at two opposite sides of it: a coloured box, a slide.

        Args:
            frame: Where to look.
            tolerance: By how much something may leave the frame, in points.
        """
        return [
            box for box in self.boxes if frame.holds_centre(box) and not _is_ground(box, frame, tolerance)
        ]


def _is_ground(box: Box, frame: Box, tolerance: float) -> bool:
    is_wider = box.x0 < frame.x0 - tolerance and box.x1 > frame.x1 + tolerance
    is_higher = box.y0 < frame.y0 - tolerance and box.y1 > frame.y1 + tolerance
    return box.contains(frame, tolerance) and (is_wider or is_higher)


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
