# /// script
# dependencies = [
#   "paddlepaddle==3.3.0", "paddleocr[doc-parser]==3.7.0", "paddlex==3.7.2", "pypdfium2==5.14.0",
# ]
# [tool.parsemark]
# about = "PP-StructureV3 of PaddleOCR: layout, OCR, tables and formulas from the page's picture"
# licence = "Apache-2.0"
# homepage = "https://github.com/PaddlePaddle/PaddleOCR"
# engine = "paddle"
# gives = ["html", "boxes", "confidence", "latex", "markdown"]
# needs = ["folder:PADDLEX_WEIGHTS"]
# paper = "OmniDocBench: PP-StructureV3"
# weight-files = [
#   "official_models/PP-DocLayout_plus-L", "official_models/PP-DocBlockLayout",
#   "official_models/PP-OCRv5_server_det", "official_models/PP-OCRv5_server_rec",
#   "official_models/PP-LCNet_x1_0_table_cls", "official_models/PP-LCNet_x1_0_doc_ori",
#   "official_models/PP-LCNet_x1_0_textline_ori",
#   "official_models/SLANeXt_wired", "official_models/SLANet_plus", "official_models/PP-FormulaNet_plus-L",
#   "official_models/RT-DETR-L_wired_table_cell_det", "official_models/RT-DETR-L_wireless_table_cell_det",
# ]
# options.dpi = { default = 200, about = "Resolution at which the page is read" }
# options.formulas = { default = true, about = "Whether formulas are read into LaTeX" }
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-DocLayout_plus-L@main"
# folder = "official_models/PP-DocLayout_plus-L"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-DocBlockLayout@main"
# folder = "official_models/PP-DocBlockLayout"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-OCRv5_server_det@main"
# folder = "official_models/PP-OCRv5_server_det"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-OCRv5_server_rec@main"
# folder = "official_models/PP-OCRv5_server_rec"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-LCNet_x1_0_table_cls@main"
# folder = "official_models/PP-LCNet_x1_0_table_cls"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-LCNet_x1_0_doc_ori@main"
# folder = "official_models/PP-LCNet_x1_0_doc_ori"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-LCNet_x1_0_textline_ori@main"
# folder = "official_models/PP-LCNet_x1_0_textline_ori"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/SLANeXt_wired@main"
# folder = "official_models/SLANeXt_wired"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/SLANet_plus@main"
# folder = "official_models/SLANet_plus"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/PP-FormulaNet_plus-L@main"
# folder = "official_models/PP-FormulaNet_plus-L"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/RT-DETR-L_wired_table_cell_det@main"
# folder = "official_models/RT-DETR-L_wired_table_cell_det"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:PaddlePaddle/RT-DETR-L_wireless_table_cell_det@main"
# folder = "official_models/RT-DETR-L_wireless_table_cell_det"
# licence = "Apache-2.0"
# ///
"""pp-structure: `PPStructureV3.predict` on the page's picture; blocks in reading order, tables as HTML."""

import os
from functools import cache

from parsemark_layout import layout_element, serve_models, weight_files, weights_folder
from parsemark_worker import elements_output

WEIGHTS = weights_folder("PADDLEX_WEIGHTS")
os.environ.setdefault("PADDLE_PDX_CACHE_HOME", str(WEIGHTS))
os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")


@cache
def pipeline(formulas):
    from paddleocr import PPStructureV3

    unused = ("use_doc_orientation_classify", "use_doc_unwarping", "use_textline_orientation")
    return PPStructureV3(use_formula_recognition=formulas, **dict.fromkeys(unused, False))


def parse(pdf, page, options):
    import numpy as np
    from parsemark_pages import open_page, picture

    with open_page(pdf, page) as opened:
        image = np.asarray(picture(opened, options["dpi"]))[:, :, ::-1].copy()
    (result,) = pipeline(options["formulas"]).predict(image)
    return read(result.json["res"], result.markdown["markdown_texts"], 72 / options["dpi"])


def read(page, markdown, points):
    """Elements from a result's JSON; the layout model's score of a block is that of the box it came from.

    By its place: a block below a figure or table is called `vision_footnote`, whatever its box was called.
    Where formulas are not recognised their content is text, read by OCR.
    """
    detected = page["layout_det_res"]["boxes"]
    recognised = page["model_settings"]["use_formula_recognition"]
    found = []
    for order, block in enumerate(page["parsing_res_list"]):
        label, content, box = block["block_label"], block["block_content"], block["block_bbox"]
        places = ((overlap(d["coordinate"], box), d["score"]) for d in detected)
        near, score = max(places, default=(0.0, None))
        content = content if isinstance(content, str) else ""
        given = {"html": content} if label == "table" else {"text": content}
        if label == "formula" and not recognised:
            given["latex"] = ""
        given["confidence"] = score if near > 0.5 else None
        found.append(layout_element(label, **given, box=box, scale=points, order=order))
    return elements_output(found, markdown=markdown)


def overlap(a, b):
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    shared = max(0.0, wide) * max(0.0, high)
    total = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)) - shared
    return shared / total if total > 0 else 0.0


if __name__ == "__main__":
    files = weight_files(WEIGHTS / "official_models", ("*.pdiparams", "*.safetensors"))
    versions = ["paddleocr", "paddlex", "paddlepaddle", "pypdfium2"]
    serve_models(parse, lambda options: pipeline(options["formulas"]), files, versions)
