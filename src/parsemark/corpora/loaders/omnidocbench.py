"""`omnidocbench:FILE`: OmniDocBench's annotation, v1.0 to v1.6.

    FILE            OmniDocBench.json, a list of pages
    images/         beside it (or in the folder above): the pages as pictures
    pdfs/, ori_pdfs/    where they were downloaded: one PDF per page, of the picture's name

Boxes are pixels of the picture. With a PDF they become its points; without, a pixel counts as a point. PDFs
are found by name (`NAME.pdf_30.jpg` → `NAME.pdf_30.pdf`); a page without one has only its picture. Width and
height of many pages are the wrong way round in the annotation; the picture, or else the boxes, tell. Each
page keeps its annotation as it is, for the published versions of the evaluation read more of it than the
elements have.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from PIL import Image

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.loaders.files import (
    SampleIds,
    files_inside,
    read_json,
    require_inside,
    require_some,
    skip_with_remark,
)
from parsemark.corpora.loaders.truth_tables import table_element
from parsemark.corpora.protocol_truth import check_protocol_truth
from parsemark.errors import CorpusError
from parsemark.model import AttributeValue, Box, Category, Element, Page, Relation, Sample
from parsemark.pdf import page_shapes
from parsemark.plain_words import listed

_PAGE_SUFFIX = re.compile(r"(?:\.pdf|(?<=[0-9a-f]{32}))_\d+$")
"""The page number behind a PDF's name or a hash; other names end in numbers of documents."""
_FEWEST_NUMBERS = 4  # of a polygon: x and y of two corners
_FOLDERS_OF_PDFS = ("pdfs", "ori_pdfs", "pdf")
_TEXTS = ("html", "latex", "text")
_TYPES = {"category_type": str | float, "anno_id": str | float, "order": float, **dict.fromkeys(_TEXTS, str)}
"""Of an element's values that the published programs read as they are."""


def load(path: Path) -> Corpus:
    """Load OmniDocBench: whole pages with text, formulas, tables and reading order.

    The path is the annotation file, or a folder with one such file.
    """
    files = [path] if path.is_file() else files_inside(path, "*.json", deep=False)
    if len(files) != 1:
        raise CorpusError(f"{path} contains {len(files)} JSON files; give the annotation file itself.")
    file = files[0]
    data = read_json(file)
    pages = data.get("pages", data.get("data")) if isinstance(data, dict) else data
    if not isinstance(pages, list):
        raise CorpusError(f"{file} is not a list of pages. Is this OmniDocBench's annotation?")
    ids = SampleIds()
    samples: list[Sample] = []
    remarks: list[Remark] = []
    for index, page in enumerate(pages):
        with skip_with_remark(remarks, file.parent, file.parent / f"{file.name}, page {index}"):
            samples.append(_sample(page, file, index, ids))
    require_some(samples, remarks, file)
    remarks += [*_twins(samples), *_unknown_categories(samples)]
    root, licence = file.parent, "research use only"
    return Corpus.of("omnidocbench", samples, root=root, version=file.stem, licence=licence, remarks=remarks)


def _twins(samples: list[Sample]) -> Iterator[Remark]:
    """Yield pages with one picture: files of outputs that are named after it answer the first."""
    first: dict[str, str] = {}
    for sample in samples:
        picture = sample.aliases[-1]
        if (other := first.setdefault(picture, sample.id)) != sample.id:
            why = f"two pages have this image_path. Outputs of the second are named {sample.id}, not {other}."
            yield Remark(picture, why, left_out=False)


def _unknown_categories(samples: list[Sample]) -> Iterator[Remark]:
    """Yield categories that no protocol asks for, with the pages that have them."""
    pages: dict[str, list[str]] = {}
    for sample in samples:
        for kind in dict.fromkeys(e.category for e in sample.truth.elements) if sample.truth else ():
            if kind not in _KNOWN and not kind.endswith("_mask"):
                pages.setdefault(kind, []).append(sample.id)
    for kind, ids in pages.items():
        why = f"this category is unknown, so no score uses its elements ({listed(ids)})."
        yield Remark(f"category_type {kind!r}", why, left_out=False)


def _sample(data: Any, file: Path, index: int, ids: SampleIds) -> Sample:
    where = f"{file}, page {index}"
    try:
        info, dets = data["page_info"], data["layout_dets"]
        width, height = float(info["width"]), float(info["height"])
        picture = PurePosixPath(str(info["image_path"]).replace("\\", "/")).name
        if width <= 0 or height <= 0:
            raise ValueError("the page has no size")
    except (TypeError, KeyError, ValueError) as error:
        raise CorpusError(f"{where}: it needs page_info with width, height, image_path ({error}).") from error
    stem = PurePosixPath(picture).stem
    image = _beside(file, ("images",), picture)
    if _is_turned(width, height, dets, image):
        width, height = height, width
    pdf = _beside(file, _FOLDERS_OF_PDFS, f"{stem}.pdf")
    scale = 1.0
    if pdf is not None:
        shape = page_shapes(pdf)[0]
        scale = shape.width / width
        width, height = shape.width, shape.height
    elements = _elements(dets, scale, where)
    relations = _relations(data.get("extra"), {e.id for e in elements})
    said, annotation = attributes(info.get("page_attribute")), {**data, "page_index": index}
    page = Page(ids.make(stem), width, height, elements, relations, said, annotation)
    check_protocol_truth(page, where, own_keys=False)
    document = _PAGE_SUFFIX.sub("", stem) or stem
    return Sample(page.id, document, 1, page, pdf, image, output_names(picture))


def output_names(picture: str) -> tuple[str, ...]:
    """Return the names that the published code looks for, in its order: `S`, `S` without `.pdf`, `N`."""
    short = picture[:-4]
    return tuple(dict.fromkeys((short, short.replace(".pdf", ""), picture)))


def _is_turned(width: float, height: float, dets: Any, image: Path | None) -> bool:
    """Return whether width and height are the wrong way round: as the picture says, or else the boxes."""
    if image is not None:
        with contextlib.suppress(OSError, Image.DecompressionBombError), Image.open(image) as picture:
            return picture.size == (height, width) != (width, height)
    polygons = [det.get("poly") for det in dets if isinstance(det, Mapping)] if isinstance(dets, list) else []
    xs, ys = ([n for poly in polygons if poly for n in poly[start::2]] for start in (0, 1))
    if not all(isinstance(n, int | float) for n in (*xs, *ys)):
        return False
    fits = max(xs, default=0) <= width and max(ys, default=0) <= height
    return not fits and max(xs, default=0) <= height and max(ys, default=0) <= width


def _beside(file: Path, folders: tuple[str, ...], name: str) -> Path | None:
    """Return a file of this name in one of the folders beside the annotation or above it."""
    candidates = (base / folder / name for base in (file.parent, file.parent.parent) for folder in folders)
    found = next((path for path in candidates if path.is_file()), None)
    return None if found is None else require_inside(file.parent.parent, found)


def _elements(dets: Any, scale: float, where: str) -> tuple[Element, ...]:
    if not isinstance(dets, list):
        raise CorpusError(f"{where}: layout_dets is not a list.")
    taken: set[str] = set()
    elements = []
    for index, det in enumerate(dets):
        if not isinstance(det, Mapping) or "category_type" not in det:
            raise CorpusError(f"{where}, element {index}: it has no category_type.")
        wanted = str(det.get("anno_id", f"e{index}"))
        identifier = wanted if wanted not in taken else f"{wanted}-e{index}"
        taken.add(identifier)
        _check_types(det, _TYPES, f"{where}, element {index}")
        elements.append(_element(det, identifier, scale, f"{where}, element {identifier}"))
    return tuple(elements)


def _check_types(said: Mapping[str, Any], types: Mapping[str, Any], where: str) -> None:
    """Raise CorpusError for a value of another type than the published programs can read."""
    for key, expected in types.items():
        value = said.get(key)
        value = float(value) if isinstance(value, int) else value
        if value is not None and not isinstance(value, expected):
            wanted = "a number" if expected is float else "text" if expected is str else "text or a number"
            raise CorpusError(f"{where}: {key} must be {wanted}; got {str(said[key])[:40]!r}.")


def _element(det: Mapping[str, Any], identifier: str, scale: float, where: str) -> Element:
    kind = category(det["category_type"])
    order = det.get("order")
    order = int(order) if isinstance(order, int | float) else None
    rest: dict[str, Any] = {key: det.get(key) for key in _TEXTS}
    rest |= {"ignore": bool(det.get("ignore", False)), "attributes": attributes(det.get("attribute"))}
    rest |= {"box": _box(det.get("poly"), scale, where), "order": order}
    if kind == Category.TABLE:
        return table_element(identifier, **{**rest, "text": None})
    return Element(identifier, kind, **rest)


def _box(poly: Any, scale: float, where: str) -> Box | None:
    if not poly:
        return None
    try:
        numbers = [float(v) * scale for v in poly]
        if len(numbers) < _FEWEST_NUMBERS or len(numbers) % 2:
            raise ValueError("it needs two points or more")
        return Box.of_points(numbers[0::2], numbers[1::2])
    except (TypeError, ValueError) as error:
        raise CorpusError(f"{where}: the poly {poly!r} is not a polygon ({error}).") from error


def _relations(extra: Any, known: set[str]) -> tuple[Relation, ...]:
    """Return the relations whose two ends are on the page; some name elements that were taken out."""
    relations = []
    for item in (extra.get("relation") or ()) if isinstance(extra, Mapping) else ():
        _check_types(item, dict.fromkeys(("source_anno_id", "target_anno_id"), str | float), "relation")
        source, target = str(item.get("source_anno_id")), str(item.get("target_anno_id"))
        if source in known and target in known:
            relations.append(Relation(str(item.get("relation_type", item.get("relation"))), source, target))
    return tuple(relations)


_CATEGORIES = {
    "text": Category.TEXT_BLOCK, "textblock": Category.TEXT_BLOCK, "list": Category.LIST_GROUP,
    "image": Category.FIGURE, "image_caption": Category.FIGURE_CAPTION,
    "image_footnote": Category.FIGURE_FOOTNOTE, "isolate_formula": Category.EQUATION_ISOLATED,
    "equation": Category.EQUATION_ISOLATED, "formula": Category.EQUATION_ISOLATED,
    "formula_caption": Category.EQUATION_CAPTION, "code": Category.CODE_TXT,
    "code_caption": Category.CODE_TXT_CAPTION, "algorithm": Category.CODE_ALGORITHM,
}  # fmt: skip
_KNOWN = frozenset(
    {*map(str, Category), "text_span", "text_all", "equation_inline", "equation_ignore", "equation_semantic"}
    | {"equation_explanation", "footnote_mark", "organic_chemical_formula", "chart"}
)
_WORDS = {
    "en": "english", "eng": "english", "zh": "simplified_chinese", "ch": "simplified_chinese",
    "chinese": "simplified_chinese", "en_ch": "en_ch_mixed", "colorful_backgroud": "colorful_background",
    "colorful_backgroung": "colorful_background", "multi_coloured": "multi_colored",
    "single_coloured": "single_colored",
}  # fmt: skip
_PREFIXES = ("text_", "table_", "equation_")
_NOTHING = frozenset({"", "none", "null", "nan"})


def category(name: object) -> str:
    """Return the category, in `Category`'s spelling where it is one of those."""
    word = str(name).strip().lower().replace(" ", "_").replace("-", "_")
    return str(_CATEGORIES.get(word, word))


def attributes(data: object) -> dict[str, AttributeValue]:
    """Return attributes with one spelling; the words of a list become flags, and `None` among them is
    none.
    """
    if not isinstance(data, Mapping):
        return {}
    spelt: dict[str, AttributeValue] = {}
    for key, value in data.items():
        name = _WORDS.get(name := str(key).strip().lower(), name)
        if isinstance(value, list | tuple):
            spelt |= {_word(item): True for item in value if not _is_nothing(item)}
        elif isinstance(value, str) and not _is_nothing(value):
            spelt[name] = _value(str(key), value)
        elif value is None or isinstance(value, bool | int | float):
            spelt[name] = value
    return spelt


def _value(key: str, value: str) -> str | bool:
    word = _word(value)
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if "language" in key:
        for prefix in _PREFIXES:
            word = word.removeprefix(prefix)
        return _word(word)
    return word


def _word(value: object) -> str:
    word = str(value).strip()
    return _WORDS.get(word.lower().replace(" ", "_"), word)


def _is_nothing(value: object) -> bool:
    return value is None or str(value).strip().lower() in _NOTHING
