# /// script
# dependencies = [
#   "rapidocr==3.10.0", "onnxruntime==1.31.1", "opencv-python-headless==5.0.0.93", "numpy==2.4.6",
#   "pillow==13.0.0", "pypdfium2==5.14.0", "pyclipper==1.4.0", "shapely==2.2.0", "omegaconf==2.4.0",
#   "antlr4-python3-runtime==4.9.3", "pyyaml==6.0.3", "six==1.17.0", "tqdm==4.70.1", "requests==2.34.2",
#   "urllib3==2.8.0", "idna==3.20", "certifi==2026.10.18", "charset-normalizer==3.5.2", "colorlog==6.12.0",
#   "flatbuffers==25.12.19", "protobuf==7.36.2", "packaging==26.3", "typing-extensions==4.16.0",
# ]
# [tool.parsemark]
# about = "OCR of the whole page by PaddleOCR's models: paragraphs in reading order, with boxes"
# licence = "Apache-2.0"
# homepage = "https://github.com/RapidAI/RapidOCR"
# gives = ["text", "boxes", "confidence"]
# no-deps = true
# paper = "OmniDocBench: PaddleOCR among the OCR models"
# options.dpi = { default = 150, about = "Resolution at which the page is read" }
# ///
"""rapidocr: lines from its detector and recogniser; columns and paragraphs from the white space."""

import logging
from pathlib import Path

import numpy as np
import rapidocr
from parsemark_layout import paragraphs_output, rapid_ocr, serve_models
from parsemark_pages import open_page, picture


def parse(pdf, page, options):
    with open_page(pdf, page) as opened:
        image = np.asarray(picture(opened, options["dpi"]))[:, :, ::-1]
    found = rapid_ocr()(image)
    if found.boxes is None:
        return paragraphs_output((), (), (), 1.0)
    return paragraphs_output(found.boxes, found.txts, found.scores, 72 / options["dpi"])


if __name__ == "__main__":
    logging.disable(logging.INFO)
    weights = sorted((Path(rapidocr.__file__).parent / "models").glob("*.onnx"))
    serve_models(parse, lambda _: rapid_ocr(), weights, ["rapidocr", "onnxruntime", "pypdfium2"])
