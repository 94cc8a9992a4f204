# /// script
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0"]
# [tool.parsemark]
# network = true
# variables = ["DOCLING_SERVE_API_KEY"]
# about = "Docling behind docling-serve, which runs elsewhere: set DOCLING_SERVE_URL"
# licence = "MIT"
# homepage = "https://github.com/docling-project/docling-serve"
# engine = "docling"
# gives = ["cells", "boxes", "markdown"]
# needs = ["env:DOCLING_SERVE_URL"]
# paper = "Soric et al.: Docling"
# options.ocr.default = false
# options.ocr.about = "Whether text is read from the picture where there is no text layer"
# ///
"""docling-serve: `v1/convert/file` on the single page, as Markdown and as a DoclingDocument."""

import os

from parsemark_http import call
from parsemark_pages import single_page
from parsemark_worker import cell, cells_apart, elements_output, serve, table

SERVER = os.environ.get("DOCLING_SERVE_URL", "").rstrip("/")
WANTED = {"to_formats": ["md", "json"], "image_export_mode": "placeholder"}


def parse(pdf, page, options):
    key = os.environ.get("DOCLING_SERVE_API_KEY")
    answer = call(
        "POST",
        f"{SERVER}/v1/convert/file",
        headers={"X-Api-Key": key} if key else {},
        files={"files": ("page.pdf", single_page(pdf, page), "application/pdf")},
        data={**WANTED, "do_ocr": str(options["ocr"]).lower()},
    ).json()
    if answer.get("status") not in ("success", "partial_success"):
        raise ValueError(f"docling-serve failed: {str(answer.get('errors'))[:300]}")
    document = answer["document"]
    content = document.get("json_content") or {}
    tables = (read(item, content) for item in content.get("tables", []))
    return elements_output(tables, markdown=document.get("md_content"))


def read(item, document):
    cells = []
    for c in item["data"]["table_cells"]:
        row, col = c["start_row_offset_idx"], c["start_col_offset_idx"]
        spans = c["end_row_offset_idx"] - row, c["end_col_offset_idx"] - col
        cells.append(cell(row, col, c.get("text"), *spans))
    return table(cells=cells_apart(cells), box=place(item.get("prov") or [], document.get("pages") or {}))


def place(provenance, pages):
    if not provenance:
        return None
    box, number = provenance[0]["bbox"], str(provenance[0]["page_no"])
    if box.get("coord_origin", "TOPLEFT") == "TOPLEFT":
        return (box["l"], box["t"], box["r"], box["b"])
    height = pages[number]["size"]["height"]
    return (box["l"], height - box["t"], box["r"], height - box["b"])


if __name__ == "__main__":
    serve(parse, versions=["httpx"])
