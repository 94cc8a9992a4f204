# /// script
# dependencies = ["torch==2.13.0", "torchvision==0.28.0", "python-doctr==1.1.0", "pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "docTR: OCR of the whole page, with its own layout and table models"
# licence = "Apache-2.0"
# homepage = "https://github.com/mindee/doctr"
# gives = ["cells", "boxes", "confidence", "text"]
# needs = ["folder:DOCTR_WEIGHTS"]
# weight-files = [
#   "models/fast_base-688a8b34.pt", "models/crnn_vgg16_bn-0417f351.pt", "models/lw_detr_s-ebbd6ab9.pt",
#   "models/tablecenternet-ea5b30a3.pt",
# ]
# options.dpi = { default = 144, about = "Resolution at which the page is read" }
# [[tool.parsemark.weights]]
# source = "https://doctr-static.mindee.com/models?id=v0.8.1/fast_base-688a8b34.pt&src=0"
# files = ["fast_base-688a8b34.pt"]
# folder = "models"
# sha256 = { "fast_base-688a8b34.pt" = "688a8b34" }
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "https://doctr-static.mindee.com/models?id=v0.12.0/crnn_vgg16_bn-0417f351.pt&src=0"
# files = ["crnn_vgg16_bn-0417f351.pt"]
# folder = "models"
# sha256 = { "crnn_vgg16_bn-0417f351.pt" = "0417f351" }
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "https://github.com/mindee/doctr/releases/download/v1.0.1/lw_detr_s-ebbd6ab9.pt"
# files = ["lw_detr_s-ebbd6ab9.pt"]
# folder = "models"
# sha256 = { "lw_detr_s-ebbd6ab9.pt" = "ebbd6ab9" }
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "https://github.com/mindee/doctr/releases/download/v1.0.1/tablecenternet-ea5b30a3.pt"
# files = ["tablecenternet-ea5b30a3.pt"]
# folder = "models"
# sha256 = { "tablecenternet-ea5b30a3.pt" = "ea5b30a3" }
# licence = "Apache-2.0"
# ///
"""doctr: `ocr_predictor` with table detection, read from what `Page.export` writes."""

import os
from functools import cache

from parsemark_layout import on_page, serve_models, weights_folder
from parsemark_pages import open_page, picture
from parsemark_worker import block, cell, elements_output, table

WEIGHTS = weights_folder("DOCTR_WEIGHTS")
os.environ.setdefault("DOCTR_CACHE_DIR", str(WEIGHTS))


@cache
def predictor():
    from doctr.models import ocr_predictor

    return ocr_predictor(pretrained=True, detect_tables=True, detect_layout=True)


def parse(pdf, page, options):
    import numpy as np

    with open_page(pdf, page) as opened:
        image = np.asarray(picture(opened, options["dpi"]))
        size = opened.get_size()
    return read(predictor()([image]).pages[0].export(), *size)


def read(page, width, height):
    """Elements from an exported page; all coordinates are shares of the page."""
    found, texts = [], []
    for item in page["blocks"]:
        words = [word for line in item["lines"] for word in line["words"]]
        text = "\n".join(" ".join(word["value"] for word in line["words"]) for line in item["lines"])
        if words:
            confidence = sum(word["confidence"] for word in words) / len(words)
            box = on_page(item["geometry"], width, height)
            found.append(block("text_block", text, box=box, order=len(found), confidence=confidence))
            texts.append(text)
    for item in page.get("tables") or ():
        cells = []
        for c in item["cells"]:
            row, col, box = c["row_start"], c["col_start"], on_page(c["geometry"], width, height)
            spans = c["row_end"] - row + 1, c["col_end"] - col + 1
            cells.append(cell(row, col, c["value"], *spans, box))
        box = on_page(item["geometry"], width, height)
        found.append(table(cells=cells, box=box, confidence=min(1.0, item["confidence"])))
    return elements_output(found, text="\n\n".join(texts))


if __name__ == "__main__":
    serve_models(parse, lambda _: predictor(), WEIGHTS, ["python-doctr", "torch", "pypdfium2"])
