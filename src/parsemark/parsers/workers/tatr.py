# /// script
# dependencies = [
#   "torch==2.13.0", "transformers==5.17.0", "safetensors==0.8.0", "numpy==2.4.6", "pillow==13.0.0",
#   "pypdfium2==5.14.0", "pdfalto==0.6.3",
# ]
# [tool.parsemark]
# file-names = true
# about = "Table Transformer as Soric et al. run it: TATR-extract, after XY-cut, or after any other detector"
# licence = "MIT"
# homepage = "https://github.com/microsoft/table-transformer"
# engine = "table-transformer"
# gives = ["cells", "boxes", "confidence"]
# needs = ["folder:TATR_WEIGHTS"]
# paper = "Soric et al.: TATR-extract, XY-cut + TATR-extract, VGT + TATR-structure"
# [tool.parsemark.options.detect]
# default = "tatr"
# choices = ["tatr", "xycut", "file"]
# about = "The whole page, its parts after XY-cut, or the boxes of another detector (TATR_DETECTIONS, COCO)"
# choice-needs = { file = ["env:TATR_DETECTIONS"] }
# [tool.parsemark.options]
# min_confidence = { default = 0.05, about = "Tables below this probability are not reported" }
# padding.default = 100
# padding.about = "White border around a table before its structure is seen, in pixels at 144 dpi"
# [tool.parsemark.options.tokens]
# default = "pdf"
# choices = ["pdf", "pdfalto"]
# about = "Where words come from: pdfium's text layer, or the program pdfalto (GPL), as in Soric et al."
# [tool.parsemark.options.attention]
# default = false
# about = "Also return what each query of the detector looks at (scripts/explain_tatr.py)"
# [[tool.parsemark.weights]]
# source = "hf:microsoft/table-transformer-detection@no_timm"
# files = ["config.json", "preprocessor_config.json", "model.safetensors"]
# folder = "detection"
# licence = "MIT"
# [[tool.parsemark.weights]]
# source = "hf:microsoft/table-transformer-structure-recognition@no_timm"
# files = ["config.json", "preprocessor_config.json", "model.safetensors"]
# folder = "structure"
# licence = "MIT"
# ///
"""TATR: detection and structure by Table Transformer; parsemark makes the tables of the boxes and words.

Weights are read from disk, in transformers' names or in the published ones (timm's). Nothing is fetched.
"""

import json
import math
import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import torch
from parsemark_layout import detected_tables, read_detections
from parsemark_pages import alto_words, open_page, pdf_words, picture, share_inside
from parsemark_worker import elements_output, serve, structured_table
from PIL import Image
from safetensors.torch import load_file
from transformers import ResNetConfig, TableTransformerConfig, TableTransformerForObjectDetection

DPI = 144
POINTS = 72 / DPI
SIDE = {"detection": 800, "structure": 1000}  # the longest one, enlarged too: not DETR's shortest edge
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
KINDS = (
    *("table", "table column", "table row", "table column header"),
    *("table projected row header", "table spanning cell"),
)
MAX_OVERLAP = 0.05  # a table with more than this share in a more confident one is dropped (TATR's number)
CHUNK_PADDING = 10
PER_CHUNK = 2
MIN_GAP = {"rows": 8.0, "columns": 16.0}  # white space, in points, at which XY-cut cuts
MIN_CHUNK = 40.0 * 20.0  # square points below which a part of the page is not cut further, and holds no table


# --- Weights --------------------------------------------------------------------------------------------


@cache
def model(task):
    """The network of a task, with its weights; a missing file is named with what to put there."""
    folder = Path(os.environ["TATR_WEIGHTS"]) / task
    config, weights = folder / "config.json", folder / "model.safetensors"
    for path in (config, weights):
        if not path.is_file():
            raise FileNotFoundError(
                f"{path} is missing: put config.json and model.safetensors of the {task} model "
                f"there (published as microsoft/table-transformer-{task}"
                f"{'-recognition' if task == 'structure' else ''})"
            )
    network = TableTransformerForObjectDetection(read_config(config))
    state = {renamed(name): value.float() for name, value in load_file(weights).items()}
    state = {name: value for name, value in state.items() if not name.endswith("num_batches_tracked")}
    network.load_state_dict(state, strict=True)
    return network.eval()


def read_config(path):
    """The configuration without timm: published ones name a timm backbone and leave its dilation empty."""
    data = json.loads(path.read_text())
    own = data.get("backbone_config")
    shape = {
        "layer_type": "basic",
        "depths": [2, 2, 2, 2],
        "hidden_sizes": [64, 128, 256, 512],
        "embedding_size": 64,
    }
    if isinstance(own, dict):
        shape |= {key: own[key] for key in shape if key in own}
    data |= dict.fromkeys(("use_timm_backbone", "dilation", "use_pretrained_backbone"), False)
    data |= {"backbone": None, "backbone_config": ResNetConfig(**shape, out_features=["stage4"])}
    for key in ("architectures", "transformers_version", "torch_dtype", "dtype", "_name_or_path"):
        data.pop(key, None)
    return TableTransformerConfig(**data)


TIMM = (
    (r"conv_encoder\.model\.conv1\.", "conv_encoder.model.embedder.embedder.convolution."),
    (r"conv_encoder\.model\.bn1\.", "conv_encoder.model.embedder.embedder.normalization."),
    (r"layer(\d)\.(\d+)\.downsample\.0\.", "encoder.stages.{stage}.layers.{1}.shortcut.convolution."),
    (r"layer(\d)\.(\d+)\.downsample\.1\.", "encoder.stages.{stage}.layers.{1}.shortcut.normalization."),
    (r"layer(\d)\.(\d+)\.conv(\d)\.", "encoder.stages.{stage}.layers.{1}.layer.{part}.convolution."),
    (r"layer(\d)\.(\d+)\.bn(\d)\.", "encoder.stages.{stage}.layers.{1}.layer.{part}.normalization."),
)


def renamed(name):
    """timm's name of a ResNet weight as transformers'; other names as they are."""
    if ".conv_encoder.model." not in name:
        return name
    for pattern, target in TIMM:
        if match := re.search(pattern, name):
            groups = match.groups()
            stage = int(groups[0]) - 1 if groups else 0
            part = int(groups[2]) - 1 if len(groups) > 2 else 0
            filled = target.format(*groups, stage=stage, part=part)
            return name[: match.start()] + filled + name[match.end() :]
    return name


def prepare(options):
    if options["detect"] != "file":
        model("detection")
    model("structure")
    if options["detect"] == "file":
        read_detections("TATR_DETECTIONS")


# --- The networks ---------------------------------------------------------------------------------------


def see(task, image, attention=False):
    """What a network says of a picture: probabilities (queries × classes), boxes in the picture's pixels."""
    size = size_for(task, image.size)
    values = np.asarray(image.resize(size, Image.Resampling.BILINEAR), dtype=np.float32) / 255
    pixels = torch.from_numpy((values - np.float32(MEAN)) / np.float32(STD)).permute(2, 0, 1)[None]
    with torch.inference_mode():
        out = model(task)(pixels, output_attentions=attention)
    centres = out.pred_boxes[0].numpy() * np.float32([image.width, image.height] * 2)
    half = centres[:, 2:] / 2
    boxes = np.concatenate([centres[:, :2] - half, centres[:, :2] + half], axis=1)
    maps = None
    if attention:
        grid = (-(-size[1] // 32), -(-size[0] // 32))
        maps = out.cross_attentions[-1][0].mean(0).numpy().reshape(-1, *grid)
    return out.logits[0].softmax(-1).numpy(), boxes, maps


def size_for(task, size):
    """Width and height at which a network sees a picture of this size.

    The longest side is given; a network that was trained on a few shapes alone (`canvases` in its
    preprocessor_config.json, height and width) sees the one whose sides are most alike.
    """
    shapes = canvases(task)
    if shapes:
        height, width = min(shapes, key=lambda s: abs(math.log(s[1] / s[0] * size[1] / size[0])))
        return width, height
    scale = SIDE[task] / max(size)
    return max(32, round(size[0] * scale)), max(32, round(size[1] * scale))


@cache
def canvases(task):
    path = Path(os.environ["TATR_WEIGHTS"]) / task / "preprocessor_config.json"
    return json.loads(path.read_text()).get("canvases") if path.is_file() else None


def tables_in(image, min_confidence, at_most=None):
    """Candidates (score, rotated, box in pixels): every query whose probability of a table is high enough."""
    chances, boxes, _ = see("detection", image)
    found = [
        (float(row[:-1].max()), int(row[:-1].argmax()) == 1, box)
        for row, box in zip(chances, boxes, strict=True)
        if row[:-1].max() > min_confidence
    ]
    found.sort(key=lambda item: -item[0])
    return found[:at_most]


def without_seconds(found):
    """Non-maximum suppression: the more confident of two tables that share a place stays."""
    kept = []
    for score, rotated, box in sorted(found, key=lambda item: -item[0]):
        if all(share_inside(tuple(box), tuple(other)) <= MAX_OVERLAP for _, _, other in kept):
            kept.append((score, rotated, box))
    return kept


# --- XY-cut ---------------------------------------------------------------------------------------------


def cut(ink, box):
    """Recursive cuts at the widest white gap, across or down, until no gap is wide enough."""
    x0, y0, x1, y1 = shrunk(ink, box)
    if (x1 - x0) * (y1 - y0) * POINTS * POINTS < MIN_CHUNK:
        return []
    part = ink[y0:y1, x0:x1]
    across = widest_gap(part.any(axis=1), MIN_GAP["rows"] / POINTS)
    down = widest_gap(part.any(axis=0), MIN_GAP["columns"] / POINTS)
    if across and (not down or across[1] >= down[1] / 2):
        return cut(ink, (x0, y0, x1, y0 + across[0])) + cut(ink, (x0, y0 + across[0], x1, y1))
    if down:
        return cut(ink, (x0, y0, x0 + down[0], y1)) + cut(ink, (x0 + down[0], y0, x1, y1))
    return [(x0, y0, x1, y1)]


def shrunk(ink, box):
    x0, y0, x1, y1 = box
    rows, columns = (np.flatnonzero(ink[y0:y1, x0:x1].any(axis=axis)) for axis in (1, 0))
    if not len(rows) or not len(columns):
        return (x0, y0, x0, y0)
    return (x0 + int(columns[0]), y0 + int(rows[0]), x0 + int(columns[-1]) + 1, y0 + int(rows[-1]) + 1)


def widest_gap(profile, at_least):
    """Middle and width of the widest run without ink; nothing if none is wide enough."""
    marks = np.flatnonzero(profile)
    gaps = np.diff(marks) - 1
    if not len(gaps) or gaps.max() < at_least:
        return None
    where = int(gaps.argmax())
    return int(marks[where] + 1 + gaps[where] // 2), int(gaps[where])


def tables_in_chunks(image, min_confidence):
    found = []
    # The parts of a page that white space separates, as pixel boxes (black on white is assumed).
    ink = np.asarray(image.convert("L")) < 128
    for x0, y0, x1, y1 in cut(ink, (0, 0, image.width, image.height)):
        left, top = x0 - CHUNK_PADDING, y0 - CHUNK_PADDING
        part = cropped(image, (left, top, x1 + CHUNK_PADDING, y1 + CHUNK_PADDING))
        for score, rotated, box in tables_in(part, min_confidence, PER_CHUNK):
            found.append((score, rotated, box + np.float32([left, top, left, top])))
    return found


# --- One page -------------------------------------------------------------------------------------------


def parse(pdf, page, options):
    with open_page(pdf, page) as opened:
        image = picture(opened, DPI)
        words = alto_words(pdf, page) if options["tokens"] == "pdfalto" else pdf_words(opened)
    if options["detect"] == "file":
        tables = detected_tables("TATR_DETECTIONS", pdf, page, image.size, options["min_confidence"])
        found = [(score, None, np.float32(box)) for score, box in tables]
    elif options["detect"] == "xycut":
        found = tables_in_chunks(image, options["min_confidence"])
    else:
        found = tables_in(image, options["min_confidence"])
    tables, without_text = [], 0
    for score, rotated, box in without_seconds(found):
        corners = tuple(float(v) * POINTS for v in box)
        inside = [word for word in words if share_inside(word.box, corners) >= 0.5]
        if inside:
            tables.append(read(image, corners, score, turn(inside, rotated), words, options["padding"]))
        else:
            without_text += 1
    output = elements_output(tables)
    output["tables_without_text"] = without_text
    if options["attention"]:
        output["attention"] = looks(image)
    return output


def turn(inside, rotated):
    """By how much the table is turned clockwise to be upright.

    Where the detector does not say whether it lies on its side, the words do: they are longer than high.
    Which way it turns is seen from where the words run to.
    """
    if rotated is None:
        long = [w for w in inside if len(w.text) > 1] or inside
        wide = sum(w.box[2] - w.box[0] for w in long)
        rotated = sum(w.box[3] - w.box[1] for w in long) > wide
    if not rotated:
        return 0
    return 270 if sum(w.rise for w in inside) < 0 else 90


def read(image, corners, score, angle, words, padding):
    """One table: what the structure model sees in it, in points from its upright corner, and the words."""
    pixels = tuple(round(v / POINTS) for v in corners)
    upright = cropped(image, pixels).rotate(-angle, expand=True)
    framed = Image.new("RGB", (upright.width + 2 * padding, upright.height + 2 * padding), "white")
    framed.paste(upright, (padding, padding))
    chances, boxes, _ = see("structure", framed)
    parts = []
    for row, box in zip(chances, boxes, strict=True):
        kind = int(row.argmax())
        if kind < len(KINDS):
            parts.append((KINDS[kind], float(row[kind]), tuple((float(v) - padding) * POINTS for v in box)))
    around = (corners[0] - 20, corners[1] - 20, corners[2] + 20, corners[3] + 20)
    near = [(w.text, w.box, w.glued) for w in words if share_inside(w.box, around) >= 0.5]
    return structured_table(parts, near, box=corners, angle=angle, confidence=min(1.0, score))


def cropped(image, box):
    """The part of a picture; what lies outside is white (Pillow's own crop would make it black)."""
    x0, y0, x1, y1 = (round(v) for v in box)
    part = Image.new("RGB", (max(1, x1 - x0), max(1, y1 - y0)), "white")
    part.paste(image, (-x0, -y0))
    return part


def looks(image):
    """For each query of the detector: its answer, and where it looks."""
    chances, boxes, maps = see("detection", image, attention=True)
    return [
        {
            "score": float(row[:-1].max()),
            "no_object": float(row[-1]),
            "box": [float(v) * POINTS for v in box],
            "map": np.round(view / max(float(view.max()), 1e-9), 3).tolist(),
        }
        for row, box, view in zip(chances, boxes, maps, strict=True)
    ]


if __name__ == "__main__":
    torch.set_num_threads(1)
    serve(
        parse,
        versions=["torch", "transformers", "pypdfium2"],
        weights=sorted(Path(os.environ["TATR_WEIGHTS"]).glob("*/model.safetensors")),
        prepare=prepare,
    )
