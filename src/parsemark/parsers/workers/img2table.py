# /// script
# dependencies = ["img2table==2.0.0", "opencv-contrib-python==5.0.0.93", "pypdfium2==5.14.0", "numpy==2.4.6"]
# [tool.parsemark]
# about = "Tables from the page's picture, text from its text layer"
# licence = "MIT"
# homepage = "https://github.com/xavctn/img2table"
# gives = ["cells", "boxes"]
# options.borderless = { default = true, about = "Whether tables without ruling lines are sought too" }
# ///
"""img2table: `PDF.extract_tables` with the PDF's own text."""

from img2table.document import PDF
from parsemark_worker import cells_from_boxes, elements_output, serve, table

POINTS_PER_PIXEL = 72 / 200  # img2table renders pages at 200 dpi


def parse(pdf, page, options):
    document = PDF(pdf, pages=[page - 1], pdf_text_extraction=True)
    found = document.extract_tables(borderless_tables=options["borderless"])
    return elements_output(_read(t) for t in found.get(page - 1, []))


def _read(found):
    """A cell that spans is listed at each of its places with the same box."""
    boxes = {_points(c.bbox): c.value for row in found.content.values() for c in row}
    return table(cells=cells_from_boxes(list(boxes.items())), box=_points(found.bbox))


def _points(box):
    return tuple(v * POINTS_PER_PIXEL for v in (box.x1, box.y1, box.x2, box.y2))


serve(parse, versions=["img2table", "opencv-contrib-python", "pypdfium2"])
