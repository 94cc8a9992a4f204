# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "torch==2.13.0", "unstructured[pdf]==0.27.32", "unstructured-inference==1.6.14", "pypdfium2==5.14.0",
# ]
#
# [tool.parsemark]
# about = "unstructured: layout by YOLOX, text by Tesseract and the text layer, tables by Table Transformer"
# licence = "Apache-2.0"
# homepage = "https://github.com/Unstructured-IO/unstructured"
# gives = ["html", "boxes", "confidence", "text"]
# needs = ["poppler"]
# paper = "OmniDocBench: Unstructured"
# weights = "UNSTRUCTURED_WEIGHTS: a Hugging Face cache with the two models that are named there"
# weight-files = [
#   "hub/models--unstructuredio--yolo_x_layout",
#   "hub/models--microsoft--table-transformer-structure-recognition",
# ]
#
# [tool.parsemark.options.strategy]
# default = "hi_res"
# choices = ["hi_res", "fast", "ocr_only"]
# about = "fast reads the text layer alone, ocr_only the picture alone; both give no tables"
# choice-needs = { hi_res = ["folder:UNSTRUCTURED_WEIGHTS", "tesseract"], ocr_only = ["tesseract"] }
# ///
"""unstructured: `partition_pdf` on the single page."""

import io
import os

from parsemark_layout import layout_element, weight_files, weights_folder
from parsemark_worker import elements_output, serve

if os.environ.get("UNSTRUCTURED_WEIGHTS"):
    weights_folder("UNSTRUCTURED_WEIGHTS")
os.environ.update(DO_NOT_TRACK="true", SCARF_NO_ANALYTICS="true")


def parse(pdf, page, options):
    from parsemark_pages import open_page, single_page
    from unstructured.partition.pdf import partition_pdf

    found = partition_pdf(
        file=io.BytesIO(single_page(pdf, page)),
        strategy=options["strategy"],
        infer_table_structure=options["strategy"] == "hi_res",
        include_page_breaks=False,
    )
    with open_page(pdf, page) as opened:
        size = opened.get_size()
    return read([element.to_dict() for element in found], *size)


def read(items, width, height):
    """Elements from `Element.to_dict`; the points are on a plane of `layout_width` by `layout_height`."""
    found = [
        layout_element(
            item["type"],
            text=item["text"],
            html=item["metadata"].get("text_as_html"),
            box=place(item["metadata"].get("coordinates"), width, height),
            order=order,
            confidence=item["metadata"].get("detection_class_prob"),
        )
        for order, item in enumerate(items)
    ]
    texts = [item["metadata"].get("text_as_html") or item["text"] for item in items]
    return elements_output(found, markdown="\n\n".join(texts))


def place(coordinates, width, height):
    if not coordinates or not coordinates.get("points"):
        return None
    across, down = coordinates["layout_width"], coordinates["layout_height"]
    if not across or not down:
        return None
    points = [(x * width / across, y * height / down) for x, y in coordinates["points"]]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


if __name__ == "__main__":
    weights = os.environ.get("UNSTRUCTURED_WEIGHTS")
    serve(
        parse,
        versions=["unstructured", "unstructured-inference", "pypdfium2"],
        weights=weight_files(weights_folder("UNSTRUCTURED_WEIGHTS")) if weights else (),
    )
