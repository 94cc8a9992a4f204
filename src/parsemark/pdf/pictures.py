"""What a page looks like: as a picture, as what is painted on it, and pictures as pages."""

from __future__ import annotations

import ctypes
import io
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap
from pathlib import Path
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

from parsemark.errors import PdfError
from parsemark.model import Box
from parsemark.pdf.child import in_child
from parsemark.pdf.document import Edges, open_document, open_page, to_page_box, to_page_boxes
from parsemark.pdf.text import Glyph, PackedGlyphs, pack_glyphs, unpack_glyphs

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 100_000_000
MAX_SIDE = 32_000  # pixels: what pictures of most formats can have at all
_NO_DATE = time.gmtime(0)  # so that equal pages give equal PDFs
_MAX_QUALITY = 95
_JPEG_QUALITY = 65
_AS_PILLOW_KEEPS_THEM = {"rev_byteorder": True, "prefer_bgrx": True}
"""Pixels of red, green, blue and one byte unused: those of three bytes are put in order one by one."""


def render_page(pdf: Path, page_number: int, dpi: int, *, forms: bool = False) -> Image.Image:
    """Return a page as a picture, also with the fields of its forms; one that would be too large is a
    PdfError.
    """
    from PIL import Image

    width, height, stride, pixels = _rendered(pdf, page_number, dpi, forms)
    return Image.frombuffer("RGB", (width, height), pixels, "raw", "BGR", stride, 1)


Pixels = Any  # bytes that go from process to process without being copied


@in_child()
def _rendered(pdf: Path, page_number: int, dpi: int, forms: bool) -> tuple[int, int, int, Pixels]:
    with open_document(pdf) as document:
        if forms:
            document.init_forms()  # before its pages are opened
    with open_page(pdf, page_number) as page:
        shot = _shot(page, page_number, pdf, dpi, may_draw_forms=forms)
        return shot.width, shot.height, shot.stride, PickleBuffer(shot.buffer)


Frame = tuple[int, int]  # width and height into which a picture has to fit, in pixels


@in_child()
def page_jpegs(pdf: Path, page_number: int, dpi: int, frames: Sequence[Frame]) -> list[bytes]:
    """Return a page as `jpegs`, which are made where it is drawn: they are a fortieth of its pixels."""
    from PIL import Image

    with open_page(pdf, page_number) as page:
        shot = _shot(page, page_number, pdf, dpi, **_AS_PILLOW_KEEPS_THEM)
        size = shot.width, shot.height
        return jpegs(Image.frombuffer("RGBX", size, shot.buffer, "raw", "RGBX", shot.stride, 1), frames)


def jpegs(picture: Image.Image, frames: Sequence[Frame]) -> list[bytes]:
    """Return a picture as large as each frame allows, but no larger than it is (WebP takes seven times as
    long).
    """
    from PIL import Image

    written = []
    for wide, high in frames:
        fitting, stream = picture, io.BytesIO()
        if (scale := min(wide / picture.width, high / picture.height)) < 1:
            size = max(1, round(scale * picture.width)), max(1, round(scale * picture.height))
            fitting = picture.resize(size, Image.Resampling.HAMMING, reducing_gap=2.0)
        fitting.save(stream, format="JPEG", quality=_JPEG_QUALITY)
        written.append(stream.getvalue())
    return written


@in_child()
def sharp_pixels(pdf: Path, page_numbers: Sequence[int], dpi: int) -> list[tuple[int, int, Pixels]]:
    """Return width, height and pixels (red, green, blue and one byte unused) of pages, without any
    smoothing.
    """
    shots = []
    with open_document(pdf) as document:
        for number in page_numbers:
            page = document[number - 1]
            sharp = dict.fromkeys(("no_smoothtext", "no_smoothimage", "no_smoothpath"), True)
            shot = _shot(page, number, pdf, dpi, **sharp, **_AS_PILLOW_KEEPS_THEM)
            shots.append((shot.width, shot.height, PickleBuffer(shot.buffer)))
            page.close()
    return shots


def _shot(page: Any, number: int, pdf: Path, dpi: int, **how: bool) -> Any:
    """Return a picture of an open page, in memory that lives as long as anybody holds it."""
    from pypdfium2 import PdfBitmap

    width, height = (side * dpi / 72 for side in page.get_size())
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE:
        raise PdfError(f"Page {number} of {pdf} is too large for {dpi} dpi; use a smaller dpi.")
    how = {"may_draw_forms": False, **how}  # the document may have been opened with its forms before
    return page.render(scale=dpi / 72, bitmap_maker=PdfBitmap.new_foreign, **how)


def page_picture(page: Any, number: int, pdf: Path, dpi: int) -> Any:
    """Return an open page in grey, as an array (rows, columns), for functions that run `in_child`."""
    return _shot(page, number, pdf, dpi, grayscale=True).to_numpy()


def open_picture(path: Path) -> Image.Image:
    """Return a picture file, grey or coloured; one that is broken or too large is a PdfError."""
    from PIL import Image

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
    dpi = picture.width * 72 / size[0], picture.height * 72 / size[1]
    # Else Pillow writes the name of the file, which may be a temporary one.
    said = {"producer": producer, "title": "page", "creationDate": _NO_DATE, "modDate": _NO_DATE}
    picture.save(path, format="PDF", dpi=dpi, quality=min(quality, _MAX_QUALITY), **said)


@dataclass(frozen=True)
class PageInk:
    """The text layer and the painted objects of a page."""

    width: float
    height: float
    glyphs: tuple[Glyph, ...]  # without blanks
    boxes: tuple[Box, ...]

    @cached_property
    def centres(self) -> list[tuple[float, float, str]]:
        """Return where the middle of each glyph is, with its text."""
        return [(*glyph.box.centre, glyph.text) for glyph in self.glyphs]

    def inside(self, frame: Box, tolerance: float) -> list[Box]:
        """Return the boxes painted in a frame, without the ground on which they stand.

        A ground holds the whole frame, up to `tolerance` points, and goes on at two opposite sides of it: a
        coloured box, a slide.
        """

        def is_ground(box: Box) -> bool:
            is_wider = box.x0 < frame.x0 - tolerance and box.x1 > frame.x1 + tolerance
            is_higher = box.y0 < frame.y0 - tolerance and box.y1 > frame.y1 + tolerance
            return box.contains(frame, tolerance) and (is_wider or is_higher)

        return [box for box in self.boxes if frame.holds_centre(box) and not is_ground(box)]


def page_ink(pdf: Path, page_number: int) -> PageInk:
    """Read a page's ink."""
    width, height, glyphs, boxes = _ink(pdf, page_number)
    inked = tuple(g for g in unpack_glyphs(glyphs) if g.text.strip() and not g.generated)
    sides = iter(array("d", boxes))
    return PageInk(width, height, inked, tuple(starmap(Box, zip(sides, sides, sides, sides, strict=True))))


@in_child()
def _ink(pdf: Path, page_number: int) -> tuple[float, float, PackedGlyphs, bytes]:
    with open_page(pdf, page_number) as page:
        edges = array("d", (side for _, bounds in painted_objects(page) if bounds for side in bounds))
        width, height = page.get_size()
        return width, height, pack_glyphs(page), to_page_boxes(page, edges)


@in_child()
def painted_rectangles(pdf: Path, page_number: int) -> list[tuple[int, Box]]:
    """Return the filled shapes of a page with their colour (0xRRGGBB), in the order in which they are
    painted.
    """
    from pypdfium2 import raw

    found = []
    channels = [ctypes.c_uint() for _ in range(4)]
    with open_page(pdf, page_number) as page:
        for item, bounds in painted_objects(page):
            is_path = raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_PATH
            if bounds and is_path and raw.FPDFPageObj_GetFillColor(item, *channels):
                red, green, blue = (c.value for c in channels[:3])
                found.append((red << 16 | green << 8 | blue, to_page_box(page, *bounds)))
    return found


@in_child()
def page_objects(pdf: Path, page_number: int) -> list[tuple[bool, Box | None]]:
    """Return whether each object of a page is text, and where it lies; None where that is not known."""
    from pypdfium2 import raw

    with open_page(pdf, page_number) as page:
        found = ((raw.FPDFPageObj_GetType(item), bounds) for item, bounds in painted_objects(page))
        places = ((kind, to_page_box(page, *bounds) if bounds else None) for kind, bounds in found)
        return [(kind == raw.FPDF_PAGEOBJ_TEXT, box) for kind, box in places]


def painted_objects(page: Any, but: int | None = None) -> Iterator[tuple[Any, Edges | None]]:
    """Yield the painted objects of an open page, `but` one type, with left, bottom, right and top where
    known.
    """
    from pypdfium2 import raw

    edges = [ctypes.c_float() for _ in range(4)]
    for index in range(raw.FPDFPage_CountObjects(page)):
        item = raw.FPDFPage_GetObject(page, index)
        if but is not None and raw.FPDFPageObj_GetType(item) == but:
            continue
        is_known = raw.FPDFPageObj_GetBounds(item, *edges)
        left, bottom, right, top = (e.value for e in edges)
        yield item, (left, bottom, right, top) if is_known else None
