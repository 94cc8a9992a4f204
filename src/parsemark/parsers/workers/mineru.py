# /// script
# dependencies = ["mineru==4.0.12", "docvortex==0.5.16", "pypdfium2==5.14.0"]
# [tool.parsemark]
# variables = ["MINERU_WEIGHTS"]
# about = "MinerU: layout, OCR, formula and table models, or a VLM; flash reads the text layer alone"
# licence = "MinerU Open Source License"
# homepage = "https://github.com/opendatalab/MinerU"
# gives = ["html", "boxes", "latex", "markdown"]
# paper = "OmniDocBench: MinerU; Horn & Keuper: MinerU2.5"
# weight-files = ["MinerU-4_models_*/Layout"]
# options.tier.default = "standard"
# options.tier.choices = ["standard", "advanced", "basic", "flash"]
# options.tier.about = "MinerU's quality tier; flash needs no models"
# options.tier.choice-needs = { flash = [], "*" = ["folder:MINERU_WEIGHTS"] }
# [[tool.parsemark.weights]]
# source = "hf:opendatalab/MinerU-4_models_onnx@main"
# folder = "MinerU-4_models_onnx"
# [[tool.parsemark.weights]]
# source = "hf:jinzhenj/MinerU2.5-Pro-2605-1.2B-GGUF@main"
# folder = "MinerU2.5-Pro-2605-1.2B-GGUF"
# ///
"""mineru: `mineru.parse` on one page; its middle JSON has the blocks, with boxes in shares of the page."""

import os
import tempfile
from importlib import import_module
from pathlib import Path

from parsemark_layout import layout_element, on_page, plain_text, weight_files, weights_folder
from parsemark_worker import elements_output, serve

COMPLETE = ".mineru_complete"


def model_folder(weights):
    """A folder of links to the weights: MinerU writes locks there, and asks for a mark in each repository."""
    base = Path(tempfile.mkdtemp(prefix="mineru-"))
    for repository in (path for path in weights.iterdir() if path.is_dir()):
        (base / repository.name).mkdir()
        for path in repository.iterdir():
            (base / repository.name / path.name).symlink_to(path.resolve())
        (base / repository.name / COMPLETE).touch()
    return base


if os.environ.get("MINERU_WEIGHTS"):
    os.environ["MINERU_MODEL_BASE_DIR"] = str(model_folder(weights_folder("MINERU_WEIGHTS")))
os.environ.setdefault("MINERU_MODEL_SOURCE", "local")

mineru = import_module("mineru")  # it reads its settings when it is imported

VISUAL = ("table", "image", "chart", "code", "list", "index")  # hold body, captions, notes, items


def parse(pdf, page, options):
    result = mineru.parse(pdf, tier=options["tier"], page_range=str(page))
    return read(result.to_dict(skip_defaults=False), result.markdown())


def read(document, markdown):
    """Elements from the middle JSON of one page."""
    (page,) = document["pages"]
    sizes = document["extensions"]["docvortex_layout"]["pages"]
    size = next(s for s in sizes if s["page_idx"] == page["page_idx"])
    found = []
    for block in page["blocks"]:
        found += elements(block, size["width_pt"], size["height_pt"])
    for order, element in enumerate(found):
        element["order"] = order
    return elements_output(found, markdown=markdown)


def elements(block, width, height):
    kind, content = block["type"], block.get("content")
    if kind in VISUAL and isinstance(content, list):
        return [element for part in content for element in elements(part, width, height)]
    box = None if block.get("bbox") is None else on_page(block["bbox"], width, height)
    if kind == "table_body":
        return [layout_element("table", html=content or "", box=box)]
    if kind == "equation":
        return [layout_element("equation", latex=content or "", box=box)]
    said = plain_text(content) if isinstance(content, str) and "<" in content else spans(content)
    return [layout_element(kind, text=said, box=box)]


def spans(content):
    """The text of inline spans: plain, code, formulas in dollars, links by what they show."""
    if isinstance(content, str):
        return content
    pieces = []
    for span in content or ():
        inner = span.get("content", span.get("children"))
        text = spans(inner) if isinstance(inner, list) else inner or ""
        pieces.append(f"${text}$" if span.get("type") == "equation_inline" else text)
    return "".join(pieces)


if __name__ == "__main__":
    serve(
        parse,
        versions=["mineru", "docvortex"],
        weights=weight_files(weights_folder("MINERU_WEIGHTS")) if os.environ.get("MINERU_WEIGHTS") else (),
    )
