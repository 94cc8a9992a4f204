# /// script
# dependencies = [
#   "torch==2.13.0", "torchvision==0.28.0", "doclayout-yolo==0.0.4", "huggingface-hub==1.5.0",
#   "pypdfium2==5.14.0",
# ]
# [tool.parsemark]
# about = "DocLayout-YOLO: the layout of the page; text from its text layer, tables without structure"
# licence = "AGPL-3.0"
# homepage = "https://github.com/opendatalab/DocLayout-YOLO"
# gives = ["boxes", "confidence", "text"]
# needs = ["folder:DOCLAYOUT_YOLO_WEIGHTS"]
# paper = "OmniDocBench: DocLayout-YOLO among the layout models"
# weight-files = ["*.pt"]
# options.min_confidence = { default = 0.05, about = "Boxes below this confidence are not reported" }
# options.size = { default = 1024, about = "Side of the picture that the network sees" }
# [[tool.parsemark.weights]]
# source = "hf:juliozhao/DocLayout-YOLO-DocStructBench@main"
# files = ["doclayout_yolo_docstructbench_imgsz1024.pt"]
# licence = "unknown"
# ///
"""doclayout-yolo: `YOLOv10.predict` on the page's picture; a box says what the words in it say."""

from functools import cache

from parsemark_layout import layout_element, serve_models, weight_files, weights_folder
from parsemark_pages import open_page, pdf_words, picture, share_inside
from parsemark_worker import elements_output

WEIGHTS = weights_folder("DOCLAYOUT_YOLO_WEIGHTS")
DPI = 144


@cache
def model():
    from doclayout_yolo import YOLOv10
    from doclayout_yolo.hub.utils import events

    events.enabled = False  # else each prediction would be reported to the makers of ultralytics
    return YOLOv10(str(weight_files(WEIGHTS, ("*.pt",))[0]))


def parse(pdf, page, options):
    import torch

    with open_page(pdf, page) as opened:
        image, words = picture(opened, DPI), pdf_words(opened)
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    settings = {"imgsz": options["size"], "conf": options["min_confidence"], "device": device}
    (result,) = model().predict(image, **settings, verbose=False)
    return read(result, words, 72 / DPI)


def read(result, words, points):
    """Elements from a `Results`, from top to bottom: boxes with a class whose name is in `names`."""
    seen = result.boxes
    boxes = [tuple(points * float(v) for v in box) for box in seen.xyxy.tolist()]
    found = list(zip(boxes, seen.cls.tolist(), seen.conf.tolist(), strict=True))
    found.sort(key=lambda item: (item[0][1], item[0][0]))
    elements = []
    for order, (box, number, score) in enumerate(found):
        said = " ".join(word.text for word in words if share_inside(word.box, box) >= 0.5)
        own = {"box": box, "order": order, "confidence": float(score)}
        elements.append(layout_element(result.names[int(number)], text=said, latex="", **own))
    return elements_output(elements)


if __name__ == "__main__":
    serve_models(parse, lambda _: model(), WEIGHTS, ["doclayout-yolo", "torch", "pypdfium2"])
