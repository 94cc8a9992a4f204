# /// script
# dependencies = ["boto3==1.44.0", "pypdfium2==5.14.0", "pillow==13.0.0"]
# [tool.parsemark]
# network = true
# variables = ["AWS_TEXTRACT_URL", "AWS_SESSION_TOKEN", "AWS_PROFILE"]
# about = "Amazon Textract: tables of the page's picture"
# licence = "proprietary service"
# homepage = "https://aws.amazon.com/textract/"
# gives = ["cells", "boxes", "confidence", "text"]
# needs = ["env:AWS_ACCESS_KEY_ID", "env:AWS_SECRET_ACCESS_KEY", "env:AWS_DEFAULT_REGION"]
# paid = true
# options.usd_per_page.default = 0.015
# options.usd_per_page.about = "The price of a page in US dollars, for the cost that is recorded"
# ///
"""aws-textract: `AnalyzeDocument` with tables, through boto3."""

import io
import os
from functools import cache

import boto3
from botocore.config import Config
from parsemark_layout import on_page
from parsemark_pages import open_page, picture
from parsemark_worker import add_cost, cell, cells_apart, elements_output, serve, table

DPI = 200
MAX_PICTURE_BYTES = 10_000_000  # more is refused; a noisy scan can be that large as PNG
MARKS = {"SELECTED": "☒", "NOT_SELECTED": "☐"}


@cache
def client():
    return boto3.client(
        "textract",
        endpoint_url=os.environ.get("AWS_TEXTRACT_URL"),
        config=Config(retries={"max_attempts": 5, "mode": "adaptive"}),
    )


def parse(pdf, page, options):
    with open_page(pdf, page) as opened:
        size, image = opened.get_size(), picture(opened, DPI)
    stream = io.BytesIO()
    image.save(stream, "png")
    if stream.tell() > MAX_PICTURE_BYTES:
        stream = io.BytesIO()
        image.save(stream, "jpeg", quality=90)
    answer = client().analyze_document(Document={"Bytes": stream.getvalue()}, FeatureTypes=["TABLES"])
    add_cost(options["usd_per_page"])
    blocks = {b["Id"]: b for b in answer["Blocks"]}
    lines = [b["Text"] for b in answer["Blocks"] if b["BlockType"] == "LINE"]
    tables = [read(b, blocks, size) for b in answer["Blocks"] if b["BlockType"] == "TABLE"]
    return elements_output(tables, text="\n".join(lines))


def children(block, blocks, kind):
    related = [r["Ids"] for r in block.get("Relationships", []) if r["Type"] == kind]
    return [blocks[i] for ids in related for i in ids if i in blocks]


def read(block, blocks, size):
    """Cells, with the merged ones in place of those that they merge."""
    merged = children(block, blocks, "MERGED_CELL")
    covered = {c["Id"] for m in merged for c in children(m, blocks, "CHILD")}
    own = [c for c in children(block, blocks, "CHILD") if c["BlockType"] == "CELL"]
    cells = []
    for c in [*merged, *(c for c in own if c["Id"] not in covered)]:
        place = c["RowIndex"] - 1, c["ColumnIndex"] - 1
        spans = c.get("RowSpan", 1), c.get("ColumnSpan", 1)
        cells.append(cell(*place, words(c, blocks), *spans, box(c, size)))
    confidence = block.get("Confidence", 0.0) / 100
    return table(cells=cells_apart(cells), box=box(block, size), confidence=confidence)


def words(block, blocks):
    found = []
    for child in children(block, blocks, "CHILD"):
        if child["BlockType"] == "CELL":
            found.append(words(child, blocks))
        else:  # a word, or a box to tick, which has no text
            found.append(child.get("Text") or MARKS.get(child.get("SelectionStatus"), ""))
    return " ".join(text for text in found if text)


def box(block, size):
    place = block["Geometry"]["BoundingBox"]
    x, y = place["Left"], place["Top"]
    return on_page((x, y, x + place["Width"], y + place["Height"]), *size)


if __name__ == "__main__":
    serve(parse, versions=["boto3"])
