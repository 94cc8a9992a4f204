"""Pages as elements in the form of DP-Bench's `reference.json`, which opendataloader-bench uses too."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import SampleIds, first_page_size, read_json, require_inside, table_element
from parsemark.errors import CorpusError
from parsemark.model import Box, Category, Element, Page, Sample
from parsemark.plain_words import listed

_CATEGORIES = {
    "paragraph": Category.TEXT_BLOCK, "heading1": Category.TITLE, "footer": Category.FOOTER,
    "caption": Category.FIGURE_CAPTION, "header": Category.HEADER, "list": Category.LIST_GROUP,
    "chart": Category.FIGURE, "figure": Category.FIGURE, "footnote": Category.PAGE_FOOTNOTE,
    "equation": Category.EQUATION_ISOLATED, "index": Category.REFERENCE,
}  # fmt: skip
_OUTSIDE = (Category.HEADER, Category.FOOTER)
_FARTHEST = 2.0  # shares of a page that a corner may be away; beyond it stand pixels
_LFS = b"version https://git-lfs"


def read_reference(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the pages of a `reference.json` by the names of their PDFs."""
    data = read_json(path)
    if not isinstance(data, dict) or not all(isinstance(p, dict) and "elements" in p for p in data.values()):
        raise CorpusError(f'{path} is not of the form {{"ID.pdf": {{"elements": […]}}}}.')
    return data


def benchmark_corpus(
    name: str, samples: list[Sample], root: Path, remarks: list[Remark], licence: str
) -> Corpus:
    """Return the corpus of a benchmark, with a warning if PDFs are missing."""
    missing = [sample.id for sample in samples if sample.pdf is None]
    if missing:
        gone = f"{len(missing)} of {len(samples)} PDFs are not there ({listed(missing)})"
        why = f"{gone}: these outputs can be imported, not parsed."
        remarks.append(Remark("pdfs", why, left_out=False))
    return Corpus.of(name, samples, root=root, version="1", licence=licence, remarks=remarks)


def page_sample(
    stem: str,
    folder: Path,
    data: Mapping[str, Any] | None,
    annotation: dict[str, Any],
    ids: SampleIds,
    *,
    only_tables: bool = False,
) -> Sample:
    """Return the sample of a page. Without `data` its elements are unknown, so no output invents any."""
    pdf: Path | None = require_inside(folder, folder / "pdfs" / f"{stem}.pdf")
    if pdf is None or not pdf.is_file() or pdf.read_bytes()[: len(_LFS)] == _LFS:
        pdf = None
    width, height = first_page_size(pdf)
    listed = () if data is None else data["elements"]
    elements = tuple(_element(e, n, width, height) for n, e in enumerate(listed))
    page = Page(ids.make(stem), width, height, elements, annotation=annotation)
    page = replace(page, covered=frozenset() if data is None else None, only_tables=only_tables)
    return Sample(page.id, stem, 1, page, pdf)


def _element(data: Mapping[str, Any], number: int, width: float, height: float) -> Element:
    """An element; coordinates are relative to the page."""
    content, kind = data["content"], str(data["category"]).lower()
    corners = data.get("coordinates") or []
    if any(abs(float(c[axis])) > _FARTHEST for c in corners for axis in "xy"):
        raise CorpusError(
            f"element {number}: its coordinates {corners[0]} … are no shares of the page, 0 to 1."
        )
    xs, ys = [float(c["x"]) * width for c in corners], [float(c["y"]) * height for c in corners]
    box = Box.of_points(xs, ys) if corners else None
    identifier = str(number)
    if kind == "table":
        html = str(content.get("html") or "")
        is_inner = "<table" not in html.lower() and "<tr" in html.lower()
        whole = f"<table>{html}</table>" if is_inner else html
        return table_element(identifier, html=whole, text=content.get("text"), box=box, order=number)
    category = _CATEGORIES.get(kind, Category.TEXT_BLOCK)
    text = str(content.get("text") or "")
    formula = str(content.get("markdown") or text).strip("$ \n")
    latex = formula if category is Category.EQUATION_ISOLATED else None
    return Element(identifier, category, box, None if category in _OUTSIDE else number, text, latex)
