# /// script
# dependencies = ["httpx==0.28.1", "lxml==6.0.2", "pypdfium2==5.14.0"]
# [tool.parsemark]
# network = true
# about = "GROBID's full-text service, which runs elsewhere: set GROBID_URL to its address"
# licence = "Apache-2.0"
# homepage = "https://github.com/kermitt2/grobid"
# gives = ["cells", "boxes"]
# paper = "Soric et al.: Grobid"
# needs = ["env:GROBID_URL"]
# options.box.default = "table"
# options.box.choices = ["table", "figure"]
# options.box.about = "The table alone, or with its caption, as GROBID groups them"
# ///
"""GROBID: `processFulltextDocument` on the single page, tables from the TEI that it returns."""

import os
import re

import httpx
from lxml import etree
from parsemark_http import call
from parsemark_pages import single_page
from parsemark_worker import cell, elements_output, serve, table

TEI = {"t": "http://www.tei-c.org/ns/1.0"}
SERVER = os.environ.get("GROBID_URL", "").rstrip("/") + "/api"
EMPTY, FAILED = 204, 500  # where GROBID found nothing, and where it cannot read the page, not asked again


def parse(pdf, page, options):
    """The tables in the TEI for the single page. Header consolidation would ask others."""
    answer = call(
        "POST",
        f"{SERVER}/processFulltextDocument",
        accept=(200, EMPTY, FAILED),
        files={"input": ("page.pdf", single_page(pdf, page), "application/pdf")},
        data={"teiCoordinates": "figure", "consolidateHeader": "0", "consolidateCitations": "0"},
    )
    answer.raise_for_status()
    found = answer.status_code != EMPTY and answer.content
    return elements_output(read_tables(found, options["box"]) if found else [])


def read_tables(tei, which):
    """The server's XML is not ours: no entities, no network, no huge trees."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    root = etree.fromstring(tei, parser)
    for figure in root.iterfind(".//t:figure[@type='table']", TEI):
        content = figure.find("t:table", TEI)
        if content is not None:
            coords = (content if which == "table" else figure).get("coords") or figure.get("coords")
            yield table(cells=list(read_cells(content)), box=read_box(coords))


def read_cells(content):
    for row, line in enumerate(content.iterfind("t:row", TEI)):
        col = 0
        for item in line.iterfind("t:cell", TEI):
            asked = item.get("cols", "1")
            span = max(1, min(100, int(asked))) if asked.isascii() and asked.isdigit() else 1
            yield cell(row, col, " ".join("".join(item.itertext()).split()), colspan=span)
            col += span


def read_box(coords):
    """`page,x,y,width,height;…` from the top left; the hull of the parts on the page."""
    found = (re.findall(r"-?\d{1,9}(?:\.\d{1,20})?", part) for part in (coords or "").split(";"))
    parts = [[float(v) for v in part] for part in found if len(part) == 5]
    if not parts:
        return None
    lefts, tops = [p[1] for p in parts], [p[2] for p in parts]
    return min(lefts), min(tops), max(p[1] + p[3] for p in parts), max(p[2] + p[4] for p in parts)


def versions():
    """The server's version, where it says it."""
    try:
        return httpx.get(f"{SERVER}/version", timeout=10).text.strip()[:80]
    except (httpx.HTTPError, httpx.InvalidURL):
        return "unknown"


serve(parse, versions=["httpx", "lxml"], facts={"grobid": versions()})
