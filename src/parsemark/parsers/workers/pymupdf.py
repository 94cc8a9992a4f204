# /// script
# dependencies = ["pymupdf==2.0", "pymupdf-layout==2.0", "onnxruntime==1.31.1", "numpy==2.4.6"]
# [tool.parsemark]
# about = "PyMuPDF's table finder, from ruling lines or from the alignment of words"
# licence = "AGPL-3.0"
# homepage = "https://github.com/pymupdf/PyMuPDF"
# engine = "mupdf"
# gives = ["cells", "boxes"]
# paper = "Soric et al.: PyMuPDF"
# options.strategy.default = "lines"
# options.strategy.choices = ["lines", "lines_strict", "text"]
# options.strategy.about = "What marks the borders of cells"
# ///
"""PyMuPDF: `Page.find_tables`, with the spans that the boxes of its cells imply."""

import pymupdf
from parsemark_worker import cells_from_rows, elements_output, serve, table


def parse(pdf, page, options):
    with pymupdf.open(pdf) as document:
        found = document[page - 1].find_tables(strategy=options["strategy"])
        return elements_output(table(cells=cells_from_rows(t), box=t.bbox) for t in found.tables)


serve(parse, versions=["pymupdf", "pymupdf-layout"])
