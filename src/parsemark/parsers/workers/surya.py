# /// script
# dependencies = ["torch==2.13.0", "surya-ocr==0.22.1"]
# [tool.parsemark]
# network = true
# about = "Surya: one vision-language model reads the whole page into blocks of HTML, in reading order"
# licence = "Apache-2.0 (models: OpenRAIL-M)"
# homepage = "https://github.com/datalab-to/surya"
# gives = ["html", "boxes", "confidence", "markdown"]
# needs = ["env:SURYA_INFERENCE_URL"]
# paper = "OmniDocBench: Surya among the OCR and layout models"
# weights-note = "none here: a server (vLLM or llama.cpp) at SURYA_INFERENCE_URL has datalab-to/surya-ocr-2"
# ///
"""surya: `RecognitionPredictor` on the whole page, against the server that SURYA_INFERENCE_URL names."""

import os
from functools import cache

from parsemark_layout import layout_element, plain_text
from parsemark_pages import open_page, picture
from parsemark_worker import elements_output, serve

os.environ.setdefault("SURYA_INFERENCE_AUTOSTART", "false")
os.environ.setdefault("DISABLE_TQDM", "true")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
DPI = 192  # what Surya itself renders at for recognition (IMAGE_DPI_HIGHRES)


@cache
def predictor():
    from surya.inference import SuryaInferenceManager
    from surya.recognition import RecognitionPredictor

    return RecognitionPredictor(SuryaInferenceManager(method="vllm"))


def parse(pdf, page, options):
    with open_page(pdf, page) as opened:
        image = picture(opened, DPI)
    (result,) = predictor()([image], full_page=True)
    return read(result, 72 / DPI)


def read(result, points):
    """Elements from a `PageOCRResult`. A page all of whose blocks failed is a failure, not an empty page."""
    blocks = sorted(result.blocks, key=lambda b: b.reading_order)
    if blocks and all(b.error for b in blocks):
        raise RuntimeError("Surya's server gave no readable answer for this page")
    blocks = [b for b in blocks if not b.error]
    found = [
        layout_element(
            b.label,
            html=b.html if not b.skipped else "",
            box=b.polygon,
            scale=points,
            order=order,
            confidence=b.confidence,
        )
        for order, b in enumerate(blocks)
    ]
    pieces = [b.html if "<table" in b.html else plain_text(b.html) for b in blocks if not b.skipped]
    return elements_output(found, markdown="\n\n".join(pieces))


if __name__ == "__main__":
    serve(parse, versions=["surya-ocr", "pypdfium2"], prepare=lambda _: predictor())
