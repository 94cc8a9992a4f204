"""Pages of several benchmarks: elements as in DP-Bench's `reference.json`, and pages with one table."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pydantic import ValidatorFunctionWrapHandler, field_validator, model_validator

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    first_page_size,
    read_each,
    read_json,
    read_text,
    require_inside,
    table_element,
)
from parsemark.errors import CorpusError
from parsemark.model import Box, Category, Element, Page, Sample
from parsemark.plain_words import counted, listed
from parsemark_boards.truth_model import TruthModel, read_truth

NO_TEXT = ("figure", "table", "chart")  # categories whose text is not compared
_CATEGORIES = {
    "paragraph": Category.TEXT_BLOCK, "heading1": Category.TITLE, "footer": Category.FOOTER,
    "caption": Category.FIGURE_CAPTION, "header": Category.HEADER, "list": Category.LIST_GROUP,
    "chart": Category.FIGURE, "figure": Category.FIGURE, "footnote": Category.PAGE_FOOTNOTE,
    "equation": Category.EQUATION_ISOLATED, "index": Category.REFERENCE,
}  # fmt: skip
_OUTSIDE = (Category.HEADER, Category.FOOTER)
_FARTHEST = 2.0  # shares of a page that a corner may be away; beyond it stand pixels
_LFS = b"version https://git-lfs"


class ReferenceCorner(TruthModel):
    """A corner of an element."""

    x: float
    y: float

    @field_validator("x", "y")
    @classmethod
    def _is_share(cls, value: float) -> float:
        if not abs(value) <= _FARTHEST:
            raise ValueError("must be a share of the page, 0 to 1")
        return value


class ReferenceContent(TruthModel):
    """What an element says."""

    text: str | None = None
    html: str | None = None
    markdown: str | None = None


class ReferenceElement(TruthModel):
    """An element of a page."""

    category: str
    content: ReferenceContent
    coordinates: list[ReferenceCorner] | None = None

    @field_validator("coordinates", mode="wrap")
    @classmethod
    def _drops_bad_corners(cls, value: Any, read: ValidatorFunctionWrapHandler) -> Any:
        """Drop unreadable corners, which count for no score: the element then has no place."""
        try:
            return read(value)
        except ValueError:
            return None

    @property
    def kind(self) -> str:
        """Return the category, whatever its case."""
        return self.category.lower()

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.kind == "table" and self.content.html is None:
            raise ValueError("a table needs content.html")
        if self.kind not in NO_TEXT and self.content.text is None:
            raise ValueError("an element other than a table, figure or chart needs content.text")
        return self


class ReferencePage(TruthModel):
    """A page."""

    elements: list[ReferenceElement]


def read_reference(root: Path, path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the pages of a `reference.json` by the names of their PDFs, to be validated one by one."""
    data = read_json(require_inside(root, path))
    if not isinstance(data, dict):
        raise CorpusError(f'{path} must have the form {{"ID.pdf": {{"elements": […]}}}}.')
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


def one_table_corpus(
    name: str, title: str, root: Path, truths: Path, folder: Path, own: tuple[str, Any]
) -> Corpus:
    """Return the corpus of a benchmark with a file `NAME.html` for the only table of each page.

    A table that the benchmark could not read is left out. `own` is the key under which pages keep the table
    in the benchmark's own form, and its model; PDFs are in the subfolder `pdfs` of `folder`.
    """
    remarks: list[Remark] = []

    def read(path: Path, ids: SampleIds) -> list[Sample]:
        html = read_truth(read_text(path), own[1])
        pdf = find_pdf(folder, path.stem)
        table = table_element("0", html=whole_table(html), order=0)
        size, annotation = first_page_size(pdf), {own[0]: html}
        page = Page(ids.make(path.stem), *size, (table,), annotation=annotation, only_tables=True)
        return [Sample(page.id, path.stem, 1, page, pdf)]

    files = files_inside(require_inside(root, truths), "*.html", remarks, of=title)
    return benchmark_corpus(name, read_each(root, files, read, remarks), root, remarks, "unknown")


def page_sample(
    stem: str, folder: Path, page: ReferencePage | None, annotation: dict[str, Any], ids: SampleIds
) -> Sample:
    """Return the sample of a page. Without `page` its elements are unknown, so no output invents any."""
    pdf = find_pdf(folder, stem)
    width, height = first_page_size(pdf)
    listed = () if page is None else page.elements
    elements = tuple(_element(e, n, width, height) for n, e in enumerate(listed))
    truth = Page(ids.make(stem), width, height, elements, annotation=annotation)
    truth = replace(truth, covered=frozenset() if page is None else None)
    return Sample(truth.id, stem, 1, truth, pdf)


def misplaced(name: str, data: Mapping[str, Any], page: ReferencePage) -> list[Remark]:
    """Return a warning if corners of a page cannot be read; scores do not use them."""
    pairs = zip(data["elements"], page.elements, strict=True)
    n_lost = sum(own.get("coordinates") is not None and read.coordinates is None for own, read in pairs)
    if not n_lost:
        return []
    why = "coordinates must be corners {x, y} as shares of the page, 0 to 1. No score uses them."
    return [Remark(name, f"{counted(n_lost, 'element')} kept without a place: {why}", left_out=False)]


def find_pdf(folder: Path, stem: str) -> Path | None:
    """Return the PDF of a page; None if it is not there, or only a pointer of Git LFS is."""
    pdf = require_inside(folder, folder / "pdfs" / f"{stem}.pdf")
    return None if not pdf.is_file() or pdf.read_bytes()[: len(_LFS)] == _LFS else pdf


def _element(data: ReferenceElement, number: int, width: float, height: float) -> Element:
    """Return an element; coordinates are relative to the page."""
    corners, content = data.coordinates or [], data.content
    box = Box.of_points([c.x * width for c in corners], [c.y * height for c in corners]) if corners else None
    identifier = str(number)
    if data.kind == "table":
        whole = whole_table(content.html or "")
        return table_element(identifier, html=whole, text=content.text, box=box, order=number)
    category = _CATEGORIES.get(data.kind, Category.TEXT_BLOCK)
    text = content.text or ""
    formula = (content.markdown or text).strip("$ \n")
    latex = formula if category is Category.EQUATION_ISOLATED else None
    return Element(identifier, category, box, None if category in _OUTSIDE else number, text, latex)


def raw_element(data: ReferenceElement, number: int) -> dict[str, Any]:
    """Return an element of a prediction file as one of a raw output.

    Its box is left out: services write corners in other units, and no score of the benchmark uses them.
    """
    is_table = data.kind == "table"
    category = Category.TABLE if is_table else _CATEGORIES.get(data.kind, Category.TEXT_BLOCK)
    text = {"text": data.content.text, "html": data.content.html if is_table else None}
    return {"category": str(category), "order": number, **text}


def whole_table(html: str) -> str:
    """Return the HTML of a table, with its outer tags if it has only rows."""
    is_inner = "<table" not in html.lower() and "<tr" in html.lower()
    return f"<table>{html}</table>" if is_inner else html
