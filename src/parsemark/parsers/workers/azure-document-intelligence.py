# /// script
# requires-python = ">=3.11"
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0"]
#
# [tool.parsemark]
# about = "Azure AI Document Intelligence, layout model"
# licence = "proprietary service"
# homepage = "https://learn.microsoft.com/azure/ai-services/document-intelligence/"
# gives = ["cells", "boxes", "markdown"]
# needs = ["env:AZURE_DI_ENDPOINT", "env:AZURE_DI_KEY"]
# paid = true
# paper = ""
#
# [tool.parsemark.options.usd_per_page]
# default = 0.01
# about = "The price of a page in US dollars, for the cost that is recorded"
#
# [tool.parsemark.options.model]
# default = "prebuilt-layout"
# about = "The model that analyses the page"
# ///
"""azure-document-intelligence: `analyze` on the single page, asked until it is done."""

import base64
import os

from parsemark_http import call, poll
from parsemark_pages import single_page
from parsemark_worker import add_cost, cell, elements_output, serve, table

VERSION = "2024-11-30"
INCH = 72.0


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
    if not where.startswith(server + "/"):
        raise ValueError("the service points to another server")
    result = poll(lambda: done(where, key))
    unit = INCH if result["pages"][0].get("unit") == "inch" else 1.0
    return elements_output(
        (read(item, unit) for item in result.get("tables", [])), markdown=result.get("content")
    )


def done(where, key):
    state = call("GET", where, headers=key).json()
    if state["status"] == "failed":
        raise ValueError(f"Azure failed: {str(state.get('error'))[:300]}")
    return state["analyzeResult"] if state["status"] == "succeeded" else None


def read(item, unit):
    cells = [
        cell(
            c["rowIndex"],
            c["columnIndex"],
            c.get("content"),
            rowspan=c.get("rowSpan", 1),
            colspan=c.get("columnSpan", 1),
            box=place(c.get("boundingRegions"), unit),
        )
        for c in item["cells"]
    ]
    return table(cells=cells, box=place(item.get("boundingRegions"), unit))


def place(regions, unit):
    if not regions:
        return None
    points = regions[0]["polygon"]
    return (
        min(points[0::2]) * unit,
        min(points[1::2]) * unit,
        max(points[0::2]) * unit,
        max(points[1::2]) * unit,
    )


if __name__ == "__main__":
    serve(parse, versions=["httpx"])
