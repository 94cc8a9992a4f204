"""A page as OmniDocBench annotates it: as its corpus gave it, or made of its elements."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parsemark.model import Category, Element, Page, Status
from parsemark.protocols.page_elements import html_of
from parsemark.protocols.run_data.rows import PAGE_LEVEL, RowWriter

Annotation = Mapping[str, Any]
_OWN_CATEGORIES = {str(Category.LIST_GROUP): str(Category.TEXT_BLOCK)}
"""What only our corpora have, by the name of what it is matched as."""

TABLES_ONLY = "It returns tables only, so whole pages cannot be scored."
"""Message of the pages of a parser that is left out."""
TRUTH_HAS_ONLY_TABLES = "The truth of this page has only its tables; the rest of the page is not scored."
TRUTH_HAS_NOT_ALL = "The truth of this page does not have all elements of this kind, so they are not scored."
"""Message of the measures of whole pages that such a truth does not allow."""


def annotation_of(page: Page) -> Annotation:
    """Return the annotation of a page.

    In OmniDocBench's files reading order begins at 1, and its rules take 0 for missing. Our corpora count
    from 0, so the orders of their elements are shifted; annotations of OmniDocBench's form stay as they are.
    """
    if page.annotation is not None and "layout_dets" in page.annotation:
        return page.annotation
    first = min((e.order for e in page.elements if e.order is not None), default=1)
    shift = max(0, 1 - first)
    info = {"image_path": f"{page.id}.jpg", "page_attribute": dict(page.attributes)}
    ends = [(r.kind, r.source, r.target) for r in page.relations]
    keys = ("relation_type", "source_anno_id", "target_anno_id")
    return {
        "layout_dets": [_det(element, shift) for element in page.elements],
        "page_info": {**info, "width": page.width, "height": page.height},
        "extra": {"relation": [dict(zip(keys, relation, strict=True)) for relation in ends]},
    }


def _det(element: Element, shift: int) -> dict[str, Any]:
    category = str(element.category)
    det: dict[str, Any] = {
        "category_type": _OWN_CATEGORIES.get(category, category),
        "anno_id": element.id,
        "order": None if element.order is None else element.order + shift,
        "ignore": element.ignore,
        "attribute": dict(element.attributes),
        "text": element.text or "",
    }
    if category == Category.TABLE:
        det["html"] = html_of(element)
    if element.latex is not None:
        det["latex"] = element.latex
    if element.box is not None:
        x0, y0, x1, y1 = element.box.as_tuple()
        det["poly"] = [x0, y0, x1, y0, x1, y1, x0, y1]
    return det


def mark_only_tables(writer: RowWriter) -> None:
    """Mark the text of a page for which a parser gives tables alone.

    A parser that has only such pages is left out; for another one the page counts as it is: nobody gains by
    an empty page.
    """
    prediction, rows = writer.prediction, writer.out.scores
    is_text = prediction.text is not None or any(e.category != Category.TABLE for e in prediction.elements)
    if prediction.status is not Status.OK or is_text:
        return
    for index, row in enumerate(rows):
        if (row.element, row.metric) == (PAGE_LEVEL, "text_edit"):
            rows[index] = replace(row, status=Status.NO_PREDICTION, message=TABLES_ONLY)
            return
    writer.page("text_edit", None, Status.NO_PREDICTION, TABLES_ONLY)
