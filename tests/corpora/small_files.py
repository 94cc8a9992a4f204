"""Small files in the layouts of other people's corpora."""

from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image


def make_pdf(path: Path, *sizes: tuple[float, float], rotation: int = 0) -> Path:
    """A PDF of empty pages."""
    document = pdfium.PdfDocument.new()
    for width, height in sizes or [(595, 842)]:
        document.new_page(width, height).set_rotation(rotation)
    path.parent.mkdir(parents=True, exist_ok=True)
    document.save(path)
    document.close()
    return path


def make_picture(path: Path, width: int, height: int) -> Path:
    """A white picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (width, height), "white").save(path)
    return path


def write(path: Path, text: str) -> Path:
    """A text file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
