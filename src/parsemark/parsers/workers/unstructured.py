# /// script
# dependencies = [
#   "torch==2.13.0", "unstructured[pdf]==0.27.32", "unstructured-inference==1.6.14", "pypdfium2==5.14.0",
# ]
# [tool.parsemark]
# about = "unstructured: layout by YOLOX, text by Tesseract and the text layer, tables by Table Transformer"
# licence = "Apache-2.0"
# homepage = "https://github.com/Unstructured-IO/unstructured"
# gives = ["html", "boxes", "confidence", "text"]
# needs = ["poppler", "folder:UNSTRUCTURED_WEIGHTS"]
# paper = "OmniDocBench: Unstructured"
# weight-files = ["en_core_web_sm*"]
# options.strategy.default = "hi_res"
# options.strategy.choices = ["hi_res", "fast", "ocr_only"]
# options.strategy.about = "fast reads the text layer alone, ocr_only the picture alone; both give no tables"
# options.strategy.choice-needs = { hi_res = ["tesseract"], ocr_only = ["tesseract"] }
# [[tool.parsemark.weights]]
# source = """https://github.com/explosion/spacy-models/releases/download/en_core_web_sm-3.8.0/\
# en_core_web_sm-3.8.0-py3-none-any.whl"""
# licence = "MIT"
# sha256 = { "en_core_web_sm-3.8.0-py3-none-any.whl" = "1932429db727d4bff3deed6b34cfc05d" }
# [[tool.parsemark.weights]]
# source = "hf:unstructuredio/yolo_x_layout@main"
# files = ["yolox_l0.05.onnx"]
# folder = "unstructuredio/yolo_x_layout"
# licence = "Apache-2.0"
# [[tool.parsemark.weights]]
# source = "hf:microsoft/table-transformer-structure-recognition@main"
# files = ["config.json", "preprocessor_config.json", "model.safetensors"]
# folder = "microsoft/table-transformer-structure-recognition"
# licence = "MIT"
# ///
"""unstructured: `partition_pdf` on the single page."""

import io
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

from parsemark_layout import layout_element, on_page, serve_models, weights_folder
from parsemark_worker import elements_output

WEIGHTS = weights_folder("UNSTRUCTURED_WEIGHTS")
START = Path.cwd()
os.chdir(WEIGHTS)  # a model called OWNER/NAME is taken from a folder of that name, before the hub's cache
os.environ.update(DO_NOT_TRACK="true", SCARF_NO_ANALYTICS="true")
MODELS = ("unstructuredio/yolo_x_layout", "microsoft/table-transformer-structure-recognition")


def add_language_model():
    """spaCy's model is a package, unpacked or in its wheel; spaCy cannot load it from inside a wheel."""
    sys.path.append(str(WEIGHTS))
    for wheel in WEIGHTS.glob("en_core_web_sm-*.whl"):
        unpacked = tempfile.mkdtemp(prefix="spacy-")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked)
        sys.path.append(unpacked)


def prepare(options):
    """Have everything here, or say what is not: the package would fetch its language model from the net."""
    from unstructured.nlp import tokenize

    def refuse():
        raise FileNotFoundError(f"spaCy cannot load en_core_web_sm from {WEIGHTS}")

    tokenize._install_spacy_model = refuse
    for name in MODELS if options["strategy"] == "hi_res" else ():
        cached = WEIGHTS / "hub" / f"models--{name.replace('/', '--')}"
        if not (WEIGHTS / name).is_dir() and not cached.is_dir():
            raise FileNotFoundError(f"{WEIGHTS / name} is missing: put the files of the model {name} there")
    if options["strategy"] == "hi_res":
        from unstructured_inference.models import tables

        tables.TableTransformerForObjectDetection = SimpleNamespace(from_pretrained=load)


def load(name):
    """The table model. Its published configuration has `dilation: null`, which transformers 5 refuses."""
    from transformers import TableTransformerConfig, TableTransformerForObjectDetection

    settings, _ = TableTransformerConfig.get_config_dict(name)
    config = TableTransformerConfig.from_dict({**settings, "dilation": bool(settings.get("dilation"))})
    return TableTransformerForObjectDetection.from_pretrained(name, config=config)


def parse(pdf, page, options):
    from parsemark_pages import open_page, single_page
    from unstructured.partition.pdf import partition_pdf

    pdf = str(START / pdf)
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
    """Elements from `Element.to_dict`; the points are on a plane of `layout_width` by `layout_height`.

    Captions of tables are `FigureCaption`s too; a `Formula` has text, not LaTeX.
    """
    found = [
        layout_element(
            "Caption" if item["type"] == "FigureCaption" else item["type"],
            text=item["text"],
            latex="",
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
    return on_page(coordinates["points"], width / across, height / down)


if __name__ == "__main__":
    add_language_model()
    serve_models(parse, prepare, WEIGHTS, ["unstructured", "unstructured-inference", "pypdfium2"])
