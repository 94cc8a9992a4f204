"""Small files in the layouts of published datasets."""

from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image

Boxes = list[tuple[str, tuple[float, float, float, float]]]


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


def voc(boxes: Boxes, width: int, height: int, name: str = "x.jpg") -> str:
    """A PASCAL VOC annotation."""
    objects = "".join(
        f"<object><name>{label}</name><bndbox><xmin>{x0}</xmin><ymin>{y0}</ymin><xmax>{x1}</xmax>"
        f"<ymax>{y1}</ymax></bndbox></object>"
        for label, (x0, y0, x1, y1) in boxes
    )
    size = f"<size><width>{width}</width><height>{height}</height></size>"
    return f"<annotation><filename>{name}</filename>{size}{objects}</annotation>"
