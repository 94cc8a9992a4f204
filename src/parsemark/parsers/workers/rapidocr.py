# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "rapidocr==3.10.0", "onnxruntime==1.31.1", "opencv-python-headless==5.0.0.93", "numpy==2.4.6",
#   "pillow==13.0.0", "pypdfium2==5.14.0", "pyclipper==1.4.0", "shapely==2.2.0", "omegaconf==2.4.0",
#   "antlr4-python3-runtime==4.9.3", "pyyaml==6.0.3", "six==1.17.0", "tqdm==4.70.1", "requests==2.34.2",
#   "urllib3==2.8.0", "idna==3.20", "certifi==2026.10.18", "charset-normalizer==3.5.2", "colorlog==6.12.0",
#   "flatbuffers==25.12.19", "protobuf==7.36.2", "packaging==26.3", "typing-extensions==4.16.0",
# ]
#
# [tool.parsemark]
# about = "OCR of the whole page by PaddleOCR's models: paragraphs in reading order, with boxes"
# licence = "Apache-2.0"
# homepage = "https://github.com/RapidAI/RapidOCR"
# gives = ["text", "boxes", "confidence"]
# no-deps = true
# paper = "OmniDocBench: PaddleOCR among the OCR models"
#
# [tool.parsemark.options.dpi]
# default = 150
# about = "Resolution at which the page is read"
# ///
"""rapidocr: lines from its detector and recogniser; columns and paragraphs from the white space."""

import logging
from functools import cache
from pathlib import Path

import numpy as np
import rapidocr
from parsemark_pages import Line, hull, open_page, paragraphs, picture
from parsemark_worker import block, elements_output, serve


@cache
def engine():
    return rapidocr.RapidOCR(
        params={
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": 2000,
        }
    )


def parse(pdf, page, options):
    with open_page(pdf, page) as opened:
        image = np.asarray(picture(opened, options["dpi"]))[:, :, ::-1]
    found = engine()(image)
    points = 72 / options["dpi"]
    lines = []
    if found.boxes is not None:
        for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
            (x0, y0), (x1, y1) = corners.min(0) * points, corners.max(0) * points
            lines.append(Line(text, (float(x0), float(y0), float(x1), float(y1)), float(score)))
    groups = paragraphs(lines)
    texts = ["\n".join(line.text for line in group) for group in groups]
    blocks = [
        block(
            "text_block",
            text,
            box=hull([line.box for line in group]),
            order=number,
            confidence=sum(line.confidence for line in group) / len(group),
        )
        for number, (text, group) in enumerate(zip(texts, groups, strict=True))
    ]
    return elements_output(blocks, text="\n\n".join(texts))


if __name__ == "__main__":
    logging.disable(logging.INFO)
    serve(
        parse,
        versions=["rapidocr", "onnxruntime", "pypdfium2"],
        weights=sorted((Path(rapidocr.__file__).parent / "models").glob("*.onnx")),
        prepare=lambda _: engine(),
    )
