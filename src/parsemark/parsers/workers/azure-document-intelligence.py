# /// script
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0"]
# [tool.parsemark]
# network = true
# about = "Azure AI Document Intelligence, layout model"
# licence = "proprietary service"
# homepage = "https://learn.microsoft.com/azure/ai-services/document-intelligence/"
# gives = ["cells", "boxes", "markdown"]
# needs = ["env:AZURE_DI_ENDPOINT", "env:AZURE_DI_KEY"]
# paid = true
# options.usd_per_page.default = 0.01
# options.usd_per_page.about = "The price of a page in US dollars, for the cost that is recorded"
# options.model = { default = "prebuilt-layout", about = "The model that analyses the page" }
# ///
"""azure-document-intelligence: `analyze` on the single page, asked until it is done."""

import base64
import os
from urllib.parse import urlsplit

from parsemark_http import call, poll
from parsemark_layout import on_page
from parsemark_pages import open_page, single_page
from parsemark_worker import add_cost, cell, cells_apart, elements_output, serve, table

VERSION = "2024-11-30"
INCH = 72.0
MARKS = {":selected:": "☒", ":unselected:": "☐"}  # boxes to tick, as Azure writes them in cells


def parse(pdf, page, options):
    server = os.environ["AZURE_DI_ENDPOINT"].rstrip("/")
    key = {"Ocp-Apim-Subscription-Key": os.environ["AZURE_DI_KEY"]}
    sent = call(
        "POST",
        f"{server}/documentintelligence/documentModels/{options['model']}:analyze",
        accept=(202,),
        headers=key,
        params={"api-version": VERSION, "outputContentFormat": "markdown"},
        json={"base64Source": base64.b64encode(single_page(pdf, page)).decode()},
    )
    add_cost(options["usd_per_page"])
    where = sent.headers["operation-location"]
    if urlsplit(where.lower())[:2] != urlsplit(server.lower())[:2]:
        raise ValueError("the service points to another server")
    result = poll(lambda: done(where, key))
    with open_page(pdf, page) as opened:
        unit = points((result.get("pages") or [{}])[0], opened.get_size())
    tables = (read(item, unit) for item in result.get("tables") or [])
    return elements_output(tables, markdown=result.get("content"))


def points(sheet, size):
    """How many points one unit of Azure's is, across and down: inches for a PDF, pixels for a scan."""
    if not sheet.get("width") or not sheet.get("height"):
        return INCH, INCH
    return size[0] / sheet["width"], size[1] / sheet["height"]


def done(where, key):
    state = call("GET", where, headers=key).json()
    if state["status"] in ("notStarted", "running"):
        return None
    if state["status"] != "succeeded":
        raise ValueError(f"Azure ended with {state['status']!r}: {str(state.get('error'))[:300]}")
    return state["analyzeResult"]


def read(item, unit):
    cells = []
    for c in item["cells"]:
        spans = c.get("rowSpan", 1), c.get("columnSpan", 1)
        text, box = said(c.get("content") or ""), place(c.get("boundingRegions"), unit)
        cells.append(cell(c["rowIndex"], c["columnIndex"], text, *spans, box))
    return table(cells=cells_apart(cells), box=place(item.get("boundingRegions"), unit))


def said(text):
    for mark, character in MARKS.items():
        text = text.replace(mark, character)
    return text


def place(regions, unit):
    """The hull of all regions: a cell or table may have several; none without two corners."""
    corners = [v for region in regions or [] for v in region.get("polygon") or []]
    return on_page(corners[: len(corners) // 2 * 2], *unit) if len(corners) >= 4 else None


if __name__ == "__main__":
    serve(parse, versions=["httpx"])
