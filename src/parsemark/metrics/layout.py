"""Layout: COCO's mean average precision of boxes with classes, through hotcoco."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsemark.extras import needed_for
from parsemark.system.scratch import ScratchFolder

LAYOUT_CLASSES = (
    "title", "text", "abandon", "figure", "figure_caption", "table", "table_caption", "table_footnote",
    "isolate_formula", "formula_caption",
)  # fmt: skip
"""OmniDocBench's classes of layout, in their order."""
LAYOUT_MAP = {
    "page_number": "abandon", "header": "abandon", "page_footnote": "abandon", "footer": "abandon",
    "code_txt": "figure", "equation_caption": "formula_caption", "equation_isolated": "isolate_formula",
    "text_block": "text", "plain text": "text",
}  # fmt: skip
"""Names of categories to classes; what is not named keeps its name, and counts if that is a class. Their map
misspells `reference`, so references are left out, and footnotes of figures have no class."""


@dataclass(frozen=True, slots=True)
class LayoutBox:
    """A box of a page, true or predicted."""

    page: str
    category: str
    box: tuple[float, float, float, float]
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class LayoutScores:
    """AP over IoU .50 to .95, and at .50 and .75; per class AP. None where a class has no truth."""

    ap: float | None
    ap50: float | None
    ap75: float | None
    per_class: Mapping[str, float | None]


def layout_class(category: str) -> str:
    """Return the class of a category."""
    return LAYOUT_MAP.get(category, category)


def mean_average_precision(
    pages: Sequence[str], truth: Sequence[LayoutBox], pred: Sequence[LayoutBox]
) -> LayoutScores:
    """Return COCO's AP over all pages that are evaluated, also those without predictions.

    Boxes of other classes than `LAYOUT_CLASSES` are left out.
    """
    numbers = {name: k for k, name in enumerate(LAYOUT_CLASSES, 1)}
    images = {page: k for k, page in enumerate(dict.fromkeys(pages), 1)}

    def counted(boxes: Sequence[LayoutBox]) -> Iterator[tuple[float, dict[str, Any]]]:
        """Yield the boxes that count: score, and where each lies."""
        for box in boxes:
            if box.category in numbers and box.page in images:
                x0, y0, x1, y1 = box.box
                place = {"image_id": images[box.page], "category_id": numbers[box.category]}
                yield box.score, {**place, "bbox": [x0, y0, x1 - x0, y1 - y0]}

    annotations = [
        {**place, "id": k, "area": place["bbox"][2] * place["bbox"][3], "iscrowd": 0}
        for k, (_, place) in enumerate(counted(truth), 1)
    ]
    data = {
        "info": {},
        "images": [{"id": k, "width": 1, "height": 1, "file_name": page} for page, k in images.items()],
        "annotations": annotations,
        "categories": [{"id": k, "name": name} for name, k in numbers.items()],
    }
    results = [{**place, "score": score} for score, place in counted(pred)]
    if not annotations:
        return LayoutScores(None, None, None, dict.fromkeys(LAYOUT_CLASSES))
    if not results:
        found = {numbers[b.category] for b in truth if b.category in numbers}
        per_class = {name: 0.0 if number in found else None for name, number in numbers.items()}
        return LayoutScores(0.0, 0.0, 0.0, per_class)
    return _evaluate(data, results, numbers)


def _evaluate(
    data: dict[str, Any], results: list[dict[str, Any]], numbers: Mapping[str, int]
) -> LayoutScores:
    import contextlib
    import io
    import json

    import numpy as np

    with needed_for("Layout scores"):
        import hotcoco
    evaluation: Any = hotcoco.COCOeval
    with ScratchFolder("parsemark-layout-") as folder, contextlib.redirect_stdout(io.StringIO()):
        truth_file, pred_file = folder / "truth.json", folder / "pred.json"
        truth_file.write_text(json.dumps(data), encoding="utf-8")
        pred_file.write_text(json.dumps(results), encoding="utf-8")
        truth = hotcoco.COCO(str(truth_file))
        run = evaluation(truth, truth.loadRes(str(pred_file)), "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
        precision = np.asarray(run.eval["precision"])[:, :, :, 0, -1]

    def value(part: Any) -> float | None:
        known = part[part > -1]
        return float(known.mean()) if known.size else None

    per_class = {name: value(precision[:, :, k]) for k, name in enumerate(numbers)}
    # The thresholds are .50, .55, …, .95.
    return LayoutScores(value(precision), value(precision[0]), value(precision[5]), per_class)


Relation = tuple[LayoutBox, LayoutBox]  # a figure or table, and what belongs to it


def relation_scores(truth: Sequence[Relation], pred: Sequence[Relation]) -> dict[str, float | None]:
    """Return precision, recall and F1 of captions' owners, each None where it is taken over nothing.

    Both boxes must be found, each with its class; every relation answers one at most.
    """

    def is_same(a: LayoutBox, b: LayoutBox) -> bool:
        return a.page == b.page and a.category == b.category and _iou(a, b) >= 0.5

    left = list(pred)
    for wanted in truth:
        fits = [given for given in left if all(map(is_same, wanted, given))]
        if fits:
            left.remove(max(fits, key=lambda given: sum(map(_iou, wanted, given))))
    right, both = len(pred) - len(left), len(truth) + len(pred)
    return {
        "precision": right / len(pred) if pred else None,
        "recall": right / len(truth) if truth else None,
        "F1": 2 * right / both if both else None,
    }


def _iou(a: LayoutBox, b: LayoutBox) -> float:
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = a.box, b.box
    common = max(0.0, min(ax1, bx1) - max(ax0, bx0)) * max(0.0, min(ay1, by1) - max(ay0, by0))
    whole = (ax1 - ax0) * (ay1 - ay0) + (bx1 - bx0) * (by1 - by0) - common
    return common / whole if whole > 0 else 0.0
