"""Pages as pictures, and pictures as pages."""

from __future__ import annotations

import time
from pathlib import Path

from PIL import Image

from parsemark.errors import PdfError
from parsemark.pdf.document import open_page

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
