"""Makes the training data of the detector and of the structure model from corpora with exact boxes.

    python bench/training/prepare.py CORPUS… --out FOLDER

Writes FOLDER/detection and FOLDER/structure, each with `coco.json` and `images/`: whole pages whose
longest side is 800, and upright tables with a white border whose longest side is 1000, in four levels of
grey (a page then takes about 20 kB). Classes are those of Table Transformer. Every tenth document is for
validation.
"""

import argparse
import json
import math
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from bench._ideal_parts import ideal_parts
from PIL import Image

from parsemark import load_corpus
from parsemark.model import Box, Element, Sample
from parsemark.pdf import render_page
from parsemark.structure import Frame, PartKind

DPI = 144
SCALE = DPI / 72
BORDER_PX = 100
SIDE = {"detection": 800, "structure": 1000}
CLASSES = {"detection": ["table", "table rotated"], "structure": [kind.value for kind in PartKind]}
MAX_OBJECTS = 125


class Folder:
    """One data set in COCO's form."""

    def __init__(self, root: Path, task: str) -> None:
        self.root, self.side = root / task, SIDE[task]
        (self.root / "images").mkdir(parents=True, exist_ok=True)
        self.images: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []
        self.categories = [{"id": i, "name": name} for i, name in enumerate(CLASSES[task])]

    def add(
        self,
        whole: tuple[int, int],
        draw: Callable[[], Image.Image],
        boxes: list[tuple[int, Box]],
        document: str,
        validation: bool,
    ) -> None:
        """Add a picture of the size `whole`, which is drawn unless an earlier, broken-off run has done so."""
        scale = self.side / max(whole)
        size = (max(1, round(whole[0] * scale)), max(1, round(whole[1] * scale)))
        number = len(self.images)
        name = f"{number:05d}.png"
        target = self.root / "images" / name
        if not target.exists():
            small = draw().convert("L").resize(size, Image.Resampling.BICUBIC)
            small.quantize(4).save(target.with_suffix(".tmp"), format="png", bits=2)
            target.with_suffix(".tmp").replace(target)
        self.images.append(
            {"id": number, "file_name": name, "width": size[0], "height": size[1], "document": document}
            | {"validation": validation}
        )
        for category, box in boxes:
            corner = [round(box.x0 * scale, 2), round(box.y0 * scale, 2)]
            extent = [round(box.width * scale, 2), round(box.height * scale, 2)]
            self.annotations.append({"image_id": number, "category_id": category, "bbox": corner + extent})

    def close(self) -> None:
        content = {"images": self.images, "annotations": self.annotations, "categories": self.categories}
        (self.root / "coco.json").write_text(json.dumps(content))
        taken = sum(path.stat().st_size for path in self.root.rglob("*") if path.is_file())
        print(f"{self.root}: {len(self.images)} images, {len(self.annotations)} boxes, {taken / 1e6:.1f} MB")


def add_sample(sample: Sample, detection: Folder, structure: Folder, document: str, validation: bool) -> None:
    if sample.pdf is None or sample.truth is None:
        return
    pdf, number = sample.pdf, sample.page_number

    @cache
    def page() -> Image.Image:
        return render_page(pdf, number, DPI).convert("L")

    boxes = [
        (int(_angle(element) != 0), _scaled(element.box))
        for element in sample.truth.tables
        if element.box is not None
    ]
    whole = (math.ceil(sample.truth.width * SCALE), math.ceil(sample.truth.height * SCALE))
    detection.add(whole, page, boxes, document, validation)
    for element in sample.truth.tables:
        table = element.table
        if element.box is None or table is None or any(cell.box is None for cell in table.cells):
            continue
        frame = Frame(element.box, _angle(element))
        parts = ideal_parts(table, frame)
        if parts and len(parts) <= MAX_OBJECTS:
            box, angle = element.box, frame.angle
            x0, y0, x1, y1 = _pixels(box)
            sides = (x1 - x0, y1 - y0) if angle % 180 == 0 else (y1 - y0, x1 - x0)
            size = (sides[0] + 2 * BORDER_PX, sides[1] + 2 * BORDER_PX)
            kinds = list(PartKind)
            moved = [(kinds.index(p.kind), _scaled(p.box, BORDER_PX)) for p in parts]
            structure.add(size, partial(_cut, page, box, angle), moved, document, validation)


def _cut(page: Callable[[], Image.Image], box: Box, angle: int) -> Image.Image:
    """Return the table, upright, with a white border."""
    crop = page().crop(_pixels(box)).rotate(-angle, expand=True)
    framed = Image.new("L", (crop.width + 2 * BORDER_PX, crop.height + 2 * BORDER_PX), 255)
    framed.paste(crop, (BORDER_PX, BORDER_PX))
    return framed


def _pixels(box: Box) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = (round(v * SCALE) for v in box.as_tuple())
    return (x0, y0, x1, y1)


def _angle(element: Element) -> int:
    return int(element.attributes.get("rotated") or 0) % 360


def _scaled(box: Box, border: float = 0.0) -> Box:
    return Box(*(v * SCALE + border for v in box.as_tuple()))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("corpus", nargs="+")
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--pages", type=int, default=10**9, help="take only so many pages")
    given = arguments.parse_args()
    folders = [Folder(given.out, task) for task in ("detection", "structure")]
    for number, spec in enumerate(given.corpus):
        documents: list[str] = []
        for sample in load_corpus(spec).samples():
            if len(folders[0].images) >= given.pages:
                break
            if sample.document not in documents[-1:]:
                documents.append(sample.document)
            add_sample(sample, *folders, f"{number}/{sample.document}", len(documents) % 10 == 0)
    for folder in folders:
        folder.close()


if __name__ == "__main__":
    main()
