# /// script
# dependencies = ["torch==2.13.0", "marker-pdf==2.0.0", "surya-ocr==0.22.1"]
# [tool.parsemark]
# network = true
# variables = ["SURYA_INFERENCE_URL"]
# about = "Marker: layout by a detector, text and tables from the text layer; OCR by Surya behind a server"
# licence = "Apache-2.0 (models: OpenRAIL-M)"
# homepage = "https://github.com/datalab-to/marker"
# engine = "surya"
# gives = ["html", "boxes", "markdown"]
# needs = ["folder:MARKER_WEIGHTS"]
# paper = "OmniDocBench, Horn & Keuper: Marker"
# weight-files = ["layout/config.json", "ocr_error/config.json"]
# options.mode.default = "fast"
# options.mode.choices = ["fast", "balanced"]
# options.mode.about = "balanced: layout and full-page OCR by the server at SURYA_INFERENCE_URL"
# options.mode.choice-needs = { balanced = ["env:SURYA_INFERENCE_URL"] }
# [[tool.parsemark.weights]]
# source = "hf:datalab-to/surya_layout2@main"
# folder = "layout"
# licence = "OpenRAIL-M"
# restricted = true
# [[tool.parsemark.weights]]
# source = "https://models.datalab.to/ocr_error_detection/2025_02_18/manifest.json"
# listing = true
# folder = "ocr_error"
# licence = "OpenRAIL-M"
# restricted = true
# ///
"""marker: `PdfConverter` with its JSON renderer; a leaf of the tree is an element."""

import os
from functools import cache

from parsemark_layout import layout_element, serve_models, weights_folder
from parsemark_worker import elements_output

WEIGHTS = weights_folder("MARKER_WEIGHTS")
os.environ.setdefault("FAST_LAYOUT_MODEL_CHECKPOINT", str(WEIGHTS / "layout"))
os.environ.setdefault("FAST_ORDER_MODEL_CHECKPOINT", str(WEIGHTS / "layout" / "order"))
os.environ.setdefault("OCR_ERROR_MODEL_CHECKPOINT", str(WEIGHTS / "ocr_error"))
os.environ.setdefault("SURYA_INFERENCE_AUTOSTART", "false")
# The font is for office files alone; a file that is there keeps it from being fetched.
os.environ.setdefault("FONT_PATH", __file__)

TABLES = ("Table", "Form", "TableOfContents")


@cache
def models():
    from marker.models import create_model_dict

    return create_model_dict()


def converter(page, mode):
    from marker.converters.pdf import PdfConverter

    return PdfConverter(
        artifact_dict=models(),
        renderer="marker.renderers.json.JSONRenderer",
        config={
            "page_range": [page - 1],
            "mode": mode,
            "extract_images": False,
            "disable_tqdm": True,
            "keep_pageheader_in_output": True,
            "keep_pagefooter_in_output": True,
        },
    )


def parse(pdf, page, options):
    return read(converter(page, options["mode"])(pdf))


def read(rendered):
    """Elements from a `JSONOutput`: pages, groups in them, blocks in these."""
    blocks = [leaf for shown in rendered.children for child in shown.children or () for leaf in leaves(child)]
    found = []
    for order, block in enumerate(blocks):
        label = "Table" if "<table" in block.html else block.block_type
        found.append(layout_element(label, html=block.html, box=block.bbox, order=order))
    return elements_output(found, markdown="\n\n".join(markdown(block) for block in blocks))


def leaves(block):
    """A table's cells are in its HTML already; of a group the members count."""
    if block.block_type in TABLES or not block.children:
        return [block]
    return [leaf for child in block.children for leaf in leaves(child)]


def markdown(block):
    """The page as text with HTML tables, in Marker's own order."""
    from marker.renderers.markdown import MarkdownRenderer

    renderer = MarkdownRenderer({"html_tables_in_markdown": True})
    return renderer.md_cls.convert(block.html).strip()


if __name__ == "__main__":
    serve_models(parse, lambda _: models(), WEIGHTS, ["marker-pdf", "surya-ocr", "torch"])
