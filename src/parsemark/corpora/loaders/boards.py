"""Boards that compare whole pages or tables: truths as their own rules read them, and as elements.

    opendataloader-bench:DIR   ground-truth/markdown/ID.md, ground-truth/reference.json, pdfs/ID.pdf
    dp-bench:DIR               reference.json (or dataset/reference.json), pdfs/ID.pdf beside it
    rd-tablebench:DIR          groundtruth/NAME.html, pdfs/NAME.pdf

PDFs may be missing (upstream keeps them in Git LFS): then outputs can be imported, not parsed.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.loaders.files import (
    SampleIds,
    files_inside,
    first_page_size,
    read_each,
    read_json,
    read_text,
    require_inside,
)
from parsemark.corpora.loaders.truth_tables import table_element
from parsemark.errors import CorpusError
from parsemark.model import Box, Category, Element, Page, Sample
from parsemark.plain_words import listed
from parsemark.protocols.boards.dp_bench import PAGE
from parsemark.protocols.boards.opendataloader import MARKDOWN
from parsemark.protocols.boards.rd_tablebench import HTML

_CATEGORIES = {
    "paragraph": Category.TEXT_BLOCK, "heading1": Category.TITLE, "footer": Category.FOOTER,
    "caption": Category.FIGURE_CAPTION, "header": Category.HEADER, "list": Category.LIST_GROUP,
    "chart": Category.FIGURE, "figure": Category.FIGURE, "footnote": Category.PAGE_FOOTNOTE,
    "equation": Category.EQUATION_ISOLATED, "index": Category.REFERENCE,
}  # fmt: skip
_OUTSIDE = (Category.HEADER, Category.FOOTER)
_FARTHEST = 2.0  # shares of a page that a corner may be away; beyond it stand pixels
_LFS = b"version https://git-lfs"


def load_opendataloader(root: Path) -> Corpus:
    """Load opendataloader-bench: each page's Markdown, with its elements where `reference.json` has them."""
    remarks: list[Remark] = []
    folder = root / "ground-truth"
    truths = files_inside(folder / "markdown", "*.md", remarks, of="opendataloader-bench")
    reference = folder / "reference.json"
    pages = _pages(read_json(reference), reference) if reference.is_file() else {}

    def read(path: Path, ids: SampleIds) -> list[Sample]:
        annotation = {MARKDOWN: read_text(path).replace("\r\n", "\n").replace("\r", "\n")}
        return [_sample(path.stem, root, pages.get(f"{path.stem}.pdf"), annotation, ids)]

    return board_corpus("opendataloader-bench", read_each(root, truths, read, remarks), root, remarks, "MIT")


def load_dp_bench(root: Path) -> Corpus:
    """Load DP-Bench: the pages of `reference.json`."""
    remarks: list[Remark] = []
    folder = root / "dataset" if (root / "dataset" / "reference.json").is_file() else root
    path = folder / "reference.json"
    if not path.is_file():
        raise CorpusError(f"{root} has no reference.json. Is this DP-Bench?")
    pages = _pages(read_json(path), path)

    def read(pdf: Path, ids: SampleIds) -> list[Sample]:
        data = pages[pdf.name]
        kept = [{"category": e["category"], "content": dict(e["content"])} for e in data["elements"]]
        return [_sample(pdf.name.removesuffix(".pdf"), folder, data, {PAGE: {"elements": kept}}, ids)]

    samples = read_each(root, [folder / "pdfs" / name for name in pages], read, remarks)
    return board_corpus("dp-bench", samples, root, remarks, "MIT")


def load_rd_tablebench(root: Path) -> Corpus:
    """Load RD-TableBench: one table for each file."""
    remarks: list[Remark] = []
    folder = root / "rd-tablebench" if (root / "rd-tablebench").is_dir() else root
    truths = files_inside(folder / "groundtruth", "*.html", remarks, of="RD-TableBench")

    def read(path: Path, ids: SampleIds) -> list[Sample]:
        html = read_text(path)
        data = {"elements": [{"category": "Table", "content": {"html": html}}]}
        return [_sample(path.stem, folder, data, {HTML: html}, ids)]

    return board_corpus("rd-tablebench", read_each(root, truths, read, remarks), root, remarks, "unknown")


def _pages(data: Any, path: Path) -> dict[str, Mapping[str, Any]]:
    if not isinstance(data, dict) or not all(isinstance(p, dict) and "elements" in p for p in data.values()):
        raise CorpusError(f'{path} is not of the form {{"ID.pdf": {{"elements": […]}}}}.')
    return data


def board_corpus(name: str, samples: list[Sample], root: Path, remarks: list[Remark], licence: str) -> Corpus:
    """The corpus of a board, with a remark where PDFs are missing."""
    missing = [sample.id for sample in samples if sample.pdf is None]
    if missing:
        gone = f"{len(missing)} of {len(samples)} PDFs are not there ({listed(missing)})"
        why = f"{gone}: these outputs can be imported, not parsed."
        remarks.append(Remark("pdfs", why, left_out=False))
    return Corpus.of(name, samples, root=root, version="1", licence=licence, remarks=remarks)


def _sample(
    stem: str, folder: Path, data: Mapping[str, Any] | None, annotation: dict[str, Any], ids: SampleIds
) -> Sample:
    """A page; without `data` no element of it is known, so none that a parser gives is invented."""
    pdf: Path | None = require_inside(folder, folder / "pdfs" / f"{stem}.pdf")
    if pdf is None or not pdf.is_file() or pdf.read_bytes()[: len(_LFS)] == _LFS:
        pdf = None
    width, height = first_page_size(pdf)
    listed = () if data is None else data["elements"]
    elements = tuple(_element(e, n, width, height) for n, e in enumerate(listed))
    page = Page(ids.make(stem), width, height, elements, annotation=annotation)
    page = replace(page, covered=frozenset() if data is None else None, only_tables=HTML in annotation)
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
