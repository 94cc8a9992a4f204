# /// script
# dependencies = ["pdfplumber==0.11.10", "pdfminer.six==20260107", "pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "Tables from ruling lines or from the alignment of words"
# licence = "MIT"
# homepage = "https://github.com/jsvine/pdfplumber"
# engine = "pdfminer"
# gives = ["cells", "boxes"]
# paper = "Soric et al.: PDFPlumber"
# options.strategy.default = "lines"
# options.strategy.choices = ["lines", "lines_strict", "text"]
# options.strategy.about = "What marks the borders of cells"
# ///
"""pdfplumber: `Page.find_tables`, with the spans that the boxes of its cells imply."""

import pdfplumber
from parsemark_worker import cells_from_rows, crop_offset, elements_output, serve, shifted, table


def parse(pdf, page, options):
    settings = {"vertical_strategy": options["strategy"], "horizontal_strategy": options["strategy"]}
    with pdfplumber.open(pdf, pages=[page]) as document:
        sheet = document.pages[0]
        # The corner of the shown page in pdfplumber's coordinates, which are those of the whole sheet.
        left, top = crop_offset(sheet.page_obj.mediabox, sheet.page_obj.cropbox, sheet.rotation)
        origin = (sheet.bbox[0] + left, sheet.bbox[1] + top)
        found = sheet.find_tables(table_settings=settings)
        return elements_output(
            table(cells=cells_from_rows(t, origin), box=shifted(t.bbox, origin)) for t in found
        )


serve(parse, versions=["pdfplumber", "pdfminer.six"])
