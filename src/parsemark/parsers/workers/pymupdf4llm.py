# /// script
# dependencies = [
#   "pymupdf4llm==2.0", "pymupdf==2.0", "pymupdf-layout==2.0", "onnxruntime==1.31.1", "numpy==2.4.6",
# ]
# [tool.parsemark]
# about = "PyMuPDF's Markdown writer with its layout model"
# licence = "AGPL-3.0"
# homepage = "https://github.com/pymupdf/pymupdf4llm"
# engine = "mupdf"
# gives = ["markdown", "boxes"]
# paper = "Horn & Keuper: PyMuPDF4LLM"
# ///
"""pymupdf4llm: `to_markdown` by page; the layout's boxes say where in the Markdown each table is."""

import pymupdf4llm
from parsemark_worker import elements_output, serve, table


def parse(pdf, page, options):
    (chunk,) = pymupdf4llm.to_markdown(
        pdf, pages=[page - 1], page_chunks=True, use_ocr=False, show_progress=False
    )
    text = chunk["text"]
    found = [box for box in chunk["page_boxes"] if box["class"] == "table"]
    tables = [table(markdown=text[slice(*box["pos"])], box=box["bbox"]) for box in found]
    return elements_output(tables, markdown=text)


serve(parse, versions=["pymupdf4llm", "pymupdf", "pymupdf-layout"])
