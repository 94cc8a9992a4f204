"""`parsemark corpus crops`: the tables, formulas or text blocks of pages as a corpus of their own.

OmniDocBench's Tables 7 to 9 are about parsers of elements, which are given the element alone. Each crop is a
page in OmniDocBench's form with one element that fills it, so that everything works on it that works on
pages: parsers, protocols, report.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from PIL import Image

from parsemark.corpora.base import Corpus
from parsemark.corpora.render import page_image
from parsemark.errors import CorpusError
from parsemark.formats import write_table
from parsemark.model import Category, Element, Page, Sample
from parsemark.system import make_folder, replacing, write_text
from parsemark.system.scratch import made_whole

CropKind = Literal["table", "formula", "text"]
KINDS: tuple[CropKind, ...] = ("table", "formula", "text")
FILE = "crops.json"
PDF_DPI = 200
PICTURE_DPI = 72  # of a page that is only a picture a pixel is a point: it is cut as it is
MIN_SIDE = 4
_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Crops:
    """What was written."""

    n_crops: int
    n_left_out: int
    """Elements without a box, without content, or too small to be seen; pages that have no picture."""


@made_whole
def write_crops(
    corpus: Corpus, out: Path, kind: CropKind, *, progress: Callable[[], None] = lambda: None
) -> Crops:
    """Cut all elements of a kind that are not ignored into a folder, which must be new or empty.

    CorpusError if the corpus has no such element with a box.
    """
    images = make_folder(out / "images")
    pages: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    left_out = 0
    for sample in corpus.samples():
        wanted = [e for e in sample.truth.elements if _is_wanted(e, kind)] if sample.truth else []
        picture = _picture(sample) if wanted else None
        for element in wanted:
            crop = _crop(picture, element, sample.truth)
            if crop is None:
                left_out += 1
                continue
            document = _UNSAFE.sub("-", sample.document).strip("-.") or "document"
            numbers[document] = numbers.get(document, 0) + 1
            # Named as pages of a document are, so that crops of one document are known to belong together.
            name = f"{document}.pdf_{numbers[document]}.png"
            with replacing(images / name) as unfinished:
                crop.save(unfinished, format="PNG")
            pages.append(_page(sample, element, name, crop.size))
        progress()
    if not pages:
        raise CorpusError(f"{corpus.name} has no {kind} with a box on a page that can be drawn.")
    write_text(out / FILE, json.dumps(pages, indent=1, ensure_ascii=False) + "\n")
    return Crops(len(pages), left_out)


def _is_wanted(element: Element, kind: CropKind) -> bool:
    has_text = element.table is None and element.latex is None and bool((element.text or "").strip())
    is_table, is_formula = (element.category == c for c in (Category.TABLE, Category.EQUATION_ISOLATED))
    return not element.ignore and {"table": is_table, "formula": is_formula, "text": has_text}[kind]


def _picture(sample: Sample) -> Image.Image | None:
    try:
        return page_image(sample, PICTURE_DPI if sample.pdf is None else PDF_DPI).convert("RGB")
    except (CorpusError, OSError):
        return None


def _crop(picture: Image.Image | None, element: Element, page: Page | None) -> Image.Image | None:
    box = element.box
    if picture is None or box is None or page is None:
        return None
    x, y = picture.width / page.width, picture.height / page.height
    left, top = max(0, int(box.x0 * x)), max(0, int(box.y0 * y))
    right, bottom = min(picture.width, round(box.x1 * x)), min(picture.height, round(box.y1 * y))
    is_seen = min(right - left, bottom - top) >= MIN_SIDE
    return picture.crop((left, top, right, bottom)) if is_seen else None


def _page(sample: Sample, element: Element, name: str, size: tuple[int, int]) -> dict[str, Any]:
    width, height = size
    assert sample.truth is not None
    annotation = sample.truth.annotation or {}
    attributes = annotation.get("page_info", {}).get("page_attribute") or dict(sample.truth.attributes)
    place = {"anno_id": 0, "order": 1, "ignore": False, "poly": [0, 0, width, 0, width, height, 0, height]}
    info = {"image_path": name, "page_no": 1, "width": width, "height": height, "page_attribute": attributes}
    return {
        "layout_dets": [{**_content(element, annotation), **place}],
        "page_info": info,
        "extra": {"relation": [], "from": {"sample": sample.id, "element": element.id}},
    }


def _content(element: Element, annotation: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the corpus itself says of an element where it is one of OmniDocBench's, else what we know."""
    for det in annotation.get("layout_dets") or ():
        if str(det.get("anno_id")) == element.id:
            return {key: value for key, value in det.items() if key not in ("pred", "line_with_spans")}
    html = element.html
    if element.category == Category.TABLE and html is None and element.table is not None:
        html = write_table(element.table, "html")
    given = {"text": element.text, "latex": element.latex, "html": html}
    known = {key: value for key, value in given.items() if value is not None}
    return {"category_type": str(element.category), "attribute": dict(element.attributes), **known}
