# /// script
# dependencies = ["httpx==0.28.1", "pypdfium2==5.14.0"]
# [tool.parsemark]
# network = true
# variables = ["GOOGLE_DOCUMENTAI_URL"]
# about = "Google Document AI (form or layout parser)"
# licence = "proprietary service"
# homepage = "https://cloud.google.com/document-ai"
# gives = ["cells", "boxes", "confidence", "text"]
# needs = ["env:GOOGLE_DOCUMENTAI_PROCESSOR", "env:GOOGLE_ACCESS_TOKEN"]
# paid = true
# options.usd_per_page.default = 0.03
# options.usd_per_page.about = "The price of a page in US dollars, for the cost that is recorded"
# ///
"""google-document-ai: `process` on the single page.

GOOGLE_DOCUMENTAI_PROCESSOR is the processor's name: projects/…/locations/…/processors/….
"""

import base64
import os

from parsemark_http import call
from parsemark_layout import on_page
from parsemark_pages import open_page, single_page
from parsemark_worker import add_cost, cell, cells_apart, elements_output, serve, table


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
    with open_page(pdf, page) as opened:
        size = opened.get_size()
    if layout := document.get("documentLayout"):
        blocks = list(flat(layout.get("blocks", [])))
        tables = [read_block(b, size) for b in blocks if "tableBlock" in b]
        return elements_output(tables, text="\n".join(filter(None, map(own_text, blocks))))
    tables = [
        read(item, text, sheet.get("dimension", {}), size)
        for sheet in document.get("pages", [])
        for item in sheet.get("tables", [])
    ]
    return elements_output(tables, text=text)


# --- The layout parser: blocks inside of blocks ---------------------------------------------------------


def flat(blocks):
    """All blocks in reading order; those inside of a table belong to its cells."""
    for block in blocks:
        yield block
        yield from flat(block.get("textBlock", {}).get("blocks", []))
        for entry in block.get("listBlock", {}).get("listEntries", []):
            yield from flat(entry.get("blocks", []))


def own_text(block):
    if "tableBlock" not in block:
        return block.get("textBlock", {}).get("text", "")
    rows = rows_of(block["tableBlock"])
    return "\n".join("\t".join(cell_text(c) for c in row) for row in rows)


def rows_of(found):
    return [row.get("cells", []) for row in (*found.get("headerRows", []), *found.get("bodyRows", []))]


def cell_text(found):
    return " ".join(filter(None, map(own_text, flat(found.get("blocks", [])))))


def read_block(block, size):
    place = box({"boundingPoly": block.get("boundingBox") or {}}, {}, size)
    return table(cells=grid(block["tableBlock"], lambda c: (cell_text(c), None)), box=place)


# --- Form parser and OCR: pages with tables -------------------------------------------------------------


def read(item, text, dimension, size):
    def content(found):
        layout = found.get("layout", {})
        return words(layout, text), box(layout, dimension, size)

    layout = item.get("layout", {})
    place = box(layout, dimension, size)
    return table(cells=grid(item, content), box=place, confidence=layout.get("confidence"))


def grid(found_table, content):
    """Cells with their places, which Google does not count: those that spans from above leave free."""
    cells, taken, rows = [], set(), rows_of(found_table)
    for r, row in enumerate(rows):
        col = 0
        for found in row:
            while (r, col) in taken:
                col += 1
            down, across = max(1, found.get("rowSpan", 1)), max(1, found.get("colSpan", 1))
            taken |= {(i, j) for i in range(r, r + down) for j in range(col, col + across)}
            said, place = content(found)
            cells.append(cell(r, col, said, rowspan=min(down, len(rows) - r), colspan=across, box=place))
            col += across
    return cells_apart(cells)


def words(layout, text):
    segments = layout.get("textAnchor", {}).get("textSegments", [])
    parts = (text[int(s.get("startIndex", 0)) : int(s.get("endIndex", 0))] for s in segments)
    return " ".join("".join(parts).split())


def box(layout, dimension, size):
    """The box around the corners, in shares of the page or in pixels; a coordinate of zero is not written."""
    shape = layout.get("boundingPoly", {})
    corners, unit = shape.get("normalizedVertices"), size
    if not corners and dimension.get("width") and dimension.get("height"):
        corners = shape.get("vertices")
        unit = (size[0] / dimension["width"], size[1] / dimension["height"])
    if not corners or len(corners) < 2:
        return None
    return on_page([(c.get("x", 0.0), c.get("y", 0.0)) for c in corners], *unit)


if __name__ == "__main__":
    serve(parse, versions=["httpx"])
