"""Draws the truth of a page over its picture."""

from __future__ import annotations

from PIL import Image, ImageDraw

from parsemark.corpora.render import page_image
from parsemark.errors import CorpusError
from parsemark.model import Box, Category, Sample

COLOURS = {
    Category.TABLE: "#d62728",
    Category.TABLE_CAPTION: "#ff7f0e",
    Category.TABLE_FOOTNOTE: "#ff7f0e",
    Category.TITLE: "#9467bd",
    Category.FIGURE: "#2ca02c",
    Category.FIGURE_CAPTION: "#98df8a",
    Category.EQUATION_ISOLATED: "#e377c2",
    Category.EQUATION_CAPTION: "#e377c2",
    Category.LIST_GROUP: "#17becf",
}
OTHER = "#1f77b4"
CELL = "#7f7f7f"
HEADER_CELL = "#8c564b"


def draw_truth(sample: Sample, dpi: int = 110) -> Image.Image:
    """The page with a box, category and reading order for each element, and all cells."""
    if sample.truth is None:
        raise CorpusError(f"Sample {sample.id} has no truth to draw.")
    picture = page_image(sample, dpi).convert("RGB")
    pen = ImageDraw.Draw(picture)
    scale = picture.width / sample.truth.width
    for element in sample.truth.elements:
        for cell in element.table.cells if element.table is not None else ():
            if cell.box is not None:
                pen.rectangle(_scaled(cell.box, scale), outline=HEADER_CELL if cell.header else CELL)
        if element.box is not None:
            colour = COLOURS.get(Category(element.category), OTHER)
            corners = _scaled(element.box.expanded(1.0), scale)
            pen.rectangle(corners, outline=colour, width=2)
            order = "" if element.order is None else f"{element.order} "
            pen.text((corners[0], max(0, corners[1] - 11)), f"{order}{element.category}", fill=colour)
    return picture


def _scaled(box: Box, scale: float) -> tuple[float, float, float, float]:
    return (box.x0 * scale, box.y0 * scale, box.x1 * scale, box.y1 * scale)
