r"""`pdf-parse-bench:DIR`: one-page PDFs with LaTeX truth (Horn & Keuper).

    DIR/pdfs/NNN.pdf
    DIR/ground_truth/NNN.json    [{"type": "table", "data": "\\begin{tabular}…", …}, …]

Blocks are in reading order; there are no boxes.
"""

from functools import partial
from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus, Remark
from parsemark.corpora.loaders import (
    SampleIds,
    files_inside,
    read_each,
    read_json,
    require_inside,
    table_element,
)
from parsemark.errors import CorpusError
from parsemark.model import Category, Element, Page, Sample
from parsemark.pdf import page_shapes

_CATEGORIES = {
    "text": Category.TEXT_BLOCK, "display-formula": Category.EQUATION_ISOLATED,
    "inline-formula": "equation_inline",
}  # fmt: skip


def load(root: Path) -> Corpus:
    """Load pdf-parse-bench: synthetic one-page PDFs with text, formulas and tables.

    Every block of the ground truth becomes an element.
    """
    remarks: list[Remark] = []
    truths = files_inside(
        require_inside(root, root / "ground_truth"), "*.json", remarks, of="a folder of pdf-parse-bench"
    )
    samples = read_each(root, truths, partial(_samples, root), remarks)
    known = {truth.stem for truth in truths}
    for pdf in files_inside(require_inside(root, root / "pdfs"), "*.pdf"):
        if pdf.stem not in known:
            why = f"is left out: ground_truth/{pdf.stem}.json is missing."
            remarks.append(Remark(f"pdfs/{pdf.name}", why))
    return Corpus.of("pdf-parse-bench", samples, root=root, version="1", licence="MIT", remarks=remarks)


def _samples(root: Path, truth: Path, ids: SampleIds) -> list[Sample]:
    pdf = require_inside(root, root / "pdfs" / f"{truth.stem}.pdf")
    shape = page_shapes(pdf)[0]
    blocks = read_json(truth)
    if not isinstance(blocks, list):
        raise CorpusError(f"{truth} is not a list of blocks.")
    identifier = ids.make(truth.stem)
    elements = tuple(_element(block, order, truth) for order, block in enumerate(blocks))
    page = Page(identifier, shape.width, shape.height, elements)
    return [Sample(identifier, truth.stem, 1, page, pdf)]


def _element(block: Any, order: int, path: Path) -> Element:
    try:
        kind, data = str(block["type"]), str(block["data"])
    except (TypeError, KeyError) as error:
        raise CorpusError(f"{path}, block {order}: it needs `type` and `data`.") from error
    identifier = f"b{order}"
    attributes = {key: block[key] for key in ("complexity",) if isinstance(block.get(key), str)}
    if kind == "table":
        return table_element(identifier, latex=data, order=order, attributes=attributes)
    if kind not in _CATEGORIES:
        known = ", ".join(["table", *_CATEGORIES])
        raise CorpusError(f"{path}, block {order}: the type must be one of {known}; got {kind!r}.")
    text, latex = (data, None) if kind == "text" else (None, data)
    return Element(identifier, _CATEGORIES[kind], order=order, text=text, latex=latex, attributes=attributes)
