# /// script
# dependencies = ["paddlepaddle==3.3.0", "paddleocr==3.7.0", "paddlex==3.7.2", "pypdfium2==5.14.0"]
# [tool.parsemark]
# about = "PaddleOCR (PP-OCR): lines of the page's picture, grouped to paragraphs in reading order"
# licence = "Apache-2.0"
# homepage = "https://github.com/PaddlePaddle/PaddleOCR"
# engine = "paddle"
# gives = ["text", "boxes", "confidence"]
# needs = ["folder:PADDLEX_WEIGHTS"]
# paper = "OmniDocBench: PaddleOCR among the OCR models"
# weight-files = ["official_models/PP-OCRv6_medium_det", "official_models/PP-OCRv6_medium_rec"]
# options.dpi = { default = 150, about = "Resolution at which the page is read" }
# options.language = { default = "en", about = "PaddleOCR's name of the language" }
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-OCRv6_medium_det@main"
# folder = "official_models/PP-OCRv6_medium_det"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-OCRv6_medium_rec@main"
# folder = "official_models/PP-OCRv6_medium_rec"
# licence = "Apache-2.0"
# ///
"""paddleocr: `PaddleOCR.predict` on the page's picture; columns and paragraphs from the white space."""

import os
from functools import cache

from parsemark_layout import paragraphs_output, serve_models, weight_files, weights_folder
from parsemark_pages import open_page, picture

WEIGHTS = weights_folder("PADDLEX_WEIGHTS")
os.environ.setdefault("PADDLE_PDX_CACHE_HOME", str(WEIGHTS))
os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")


@cache
def pipeline(language):
    from paddleocr import PaddleOCR

    unused = ("use_doc_orientation_classify", "use_doc_unwarping", "use_textline_orientation")
    return PaddleOCR(lang=language, **dict.fromkeys(unused, False))


def parse(pdf, page, options):
    import numpy as np

    with open_page(pdf, page) as opened:
        image = np.asarray(picture(opened, options["dpi"]))[:, :, ::-1].copy()
    (result,) = pipeline(options["language"]).predict(image)
    return read(result.json["res"], 72 / options["dpi"])


def read(page, points):
    return paragraphs_output(page["rec_polys"], page["rec_texts"], page["rec_scores"], points)


if __name__ == "__main__":
    files = weight_files(WEIGHTS / "official_models", ("*.pdiparams", "*.safetensors"))
    versions = ["paddleocr", "paddlex", "paddlepaddle", "pypdfium2"]
    serve_models(parse, lambda options: pipeline(options["language"]), files, versions)
