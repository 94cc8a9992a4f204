# /// script
# requires-python = ">=3.11"
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0"]
#
# [tool.parsemark]
# about = "Google Document AI (form or layout parser)"
# licence = "proprietary service"
# homepage = "https://cloud.google.com/document-ai"
# gives = ["cells", "boxes", "confidence", "text"]
# needs = ["env:GOOGLE_DOCUMENTAI_PROCESSOR", "env:GOOGLE_ACCESS_TOKEN"]
# paid = true
# paper = ""
#
# [tool.parsemark.options.usd_per_page]
# default = 0.03
# about = "The price of a page in US dollars, for the cost that is recorded"
# ///
"""google-document-ai: `process` on the single page.

GOOGLE_DOCUMENTAI_PROCESSOR is the processor's name: projects/…/locations/…/processors/….
"""

import base64
import os

from parsemark_http import call
from parsemark_pages import single_page
from parsemark_worker import add_cost, cell, elements_output, serve, table


def parse(pdf, page, options):
    processor = os.environ["GOOGLE_DOCUMENTAI_PROCESSOR"].strip("/")
    place = processor.split("/locations/")[-1].split("/")[0]
    server = os.environ.get("GOOGLE_DOCUMENTAI_URL", f"https://{place}-documentai.googleapis.com").rstrip("/")
    content = base64.b64encode(single_page(pdf, page)).decode()
    answer = call(
        "POST",
        f"{server}/v1/{processor}:process",
        headers={"Authorization": f"Bearer {os.environ['GOOGLE_ACCESS_TOKEN']}"},
        json={"rawDocument": {"content": content, "mimeType": "application/pdf"}, "skipHumanReview": True},
    ).json()
    add_cost(options["usd_per_page"])
    document = answer["document"]
    text = document.get("text", "")
    tables = [
        read(item, text, sheet["dimension"], document_size(pdf, page))
        for sheet in document.get("pages", [])
        for item in sheet.get("tables", [])
    ]
    return elements_output(tables, text=text)


def document_size(pdf, page):
    from parsemark_pages import open_page

    with open_page(pdf, page) as opened:
        return opened.get_size()


def read(item, text, dimension, size):
    rows = [*item.get("headerRows", []), *item.get("bodyRows", [])]
    cells, taken = [], set()
    for r, row in enumerate(rows):
        col = 0
        for found in row.get("cells", []):
            while (r, col) in taken:
                col += 1
            down, across = max(1, found.get("rowSpan", 1)), max(1, found.get("colSpan", 1))
            taken |= {(i, j) for i in range(r, r + down) for j in range(col, col + across)}
            layout = found.get("layout", {})
            cells.append(
                cell(
                    r,
                    col,
                    words(layout, text),
                    rowspan=min(down, len(rows) - r),
                    colspan=across,
                    box=box(layout, size),
                )
            )
            col += across
    layout = item.get("layout", {})
    return table(cells=cells, box=box(layout, size), confidence=layout.get("confidence"))


def words(layout, text):
    segments = layout.get("textAnchor", {}).get("textSegments", [])
    return " ".join("".join(text[int(s.get("startIndex", 0)) : int(s["endIndex"])] for s in segments).split())


def box(layout, size):
    corners = layout.get("boundingPoly", {}).get("normalizedVertices")
    if not corners:
        return None
    xs, ys = [c.get("x", 0.0) * size[0] for c in corners], [c.get("y", 0.0) * size[1] for c in corners]
    return (min(xs), min(ys), max(xs), max(ys))


if __name__ == "__main__":
    serve(parse, versions=["httpx"])
