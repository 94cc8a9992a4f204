# /// script
# requires-python = ">=3.11"
# dependencies = ["pdfplumber==0.11.10"]
#
# [tool.parsemark]
# about = "Tables from ruling lines or from the alignment of words"
# licence = "MIT"
# homepage = "https://github.com/jsvine/pdfplumber"
# gives = ["cells", "boxes"]
#
# [tool.parsemark.options.strategy]
# default = "lines"
# choices = ["lines", "lines_strict", "text"]
# about = "What marks the borders of cells"
# ///
"""pdfplumber: `Page.find_tables`, with the spans that the boxes of its cells imply."""

import pdfplumber
from parsemark_worker import cells_from_boxes, elements_output, serve, table


def parse(pdf, page, options):
    settings = {"vertical_strategy": options["strategy"], "horizontal_strategy": options["strategy"]}
    with pdfplumber.open(pdf, pages=[page]) as document:
        shown = document.pages[0]
        left, top = shown.bbox[:2]
        return elements_output(
            _read(found, left, top) for found in shown.find_tables(table_settings=settings)
        )


def _read(found, left, top):
    """Make one table; pdfplumber measures from the corner of the media box, we from that of the crop box."""
    boxes = [
        (_shift(box, left, top), text)
        for row, texts in zip(found.rows, found.extract(), strict=True)
        for box, text in zip(row.cells, texts, strict=True)
        if box is not None
    ]
    return table(cells=cells_from_boxes(boxes), box=_shift(found.bbox, left, top))


def _shift(box, left, top):
    return (box[0] - left, box[1] - top, box[2] - left, box[3] - top)


serve(parse, versions=["pdfplumber", "pdfminer.six"])
