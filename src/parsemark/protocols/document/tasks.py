"""Component tasks: text, tables and formulas on crops, and layout (OmniDocBench's Tables 6 to 9).

The annotation file has a key `pred` in its elements, or for layout a file of boxes beside it. The published
code skips elements without a prediction; strictly they count as wrong. How many there are is said either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from parsemark.errors import FormatError
from parsemark.metrics.bleu import corpus_bleu
from parsemark.metrics.layout import (
    LAYOUT_CLASSES,
    LayoutBox,
    Relation,
    layout_class,
    mean_average_precision,
    relation_scores,
)
from parsemark.protocols.document.published.cdm import add_cdm
from parsemark.protocols.document.published.measures import (
    Measured,
    Results,
    measure_table,
    measure_text,
    metric_result,
)
from parsemark.protocols.document.published.normalise import norm_formula, norm_text
from parsemark.protocols.document.published.page import image_name
from parsemark.protocols.document.published.profile import V1_5, Profile
from parsemark.protocols.document.published.records import Record

Task = Literal["ocr", "table", "formula", "layout"]
TASKS: tuple[Task, ...] = ("ocr", "table", "formula", "layout")
_ELEMENT = {"ocr": "text_block", "table": "table", "formula": "display_formula"}
_KEY = {"ocr": "text", "table": "html", "formula": "latex"}
_CATEGORY = {"table": "table", "formula": "equation_isolated"}


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What came of a task."""

    task: str
    n: int
    """Elements, or pages for layout, that were scored."""
    n_missing: int
    """Elements, or pages, without a prediction."""
    figures: Mapping[str, float | None]
    result: Mapping[str, Any] = field(default_factory=dict)
    """All means by element, page and group, as the published program writes them."""


def component_task(
    pages: Sequence[Mapping[str, Any]],
    task: Task,
    *,
    counts_missing: bool = True,
    cdm: bool = False,
    profile: Profile = V1_5,
) -> TaskResult:
    """Score the key `pred` of annotated elements.

    Args:
        pages: The annotation with predictions.
        task: `ocr`, `table` or `formula`.
        counts_missing: Whether an element without a prediction counts as an empty one, or is skipped.
        cdm: Whether formulas are drawn too.
        profile: Whose normalisation.
    """
    records: list[Record] = []
    missing = 0
    results = Results({}, {}, {"table": [], "display_formula": []})
    for page in pages:
        name = image_name(page)
        results.page_attributes[name] = page["page_info"].get("page_attribute") or {}
        for det in page.get("layout_dets") or ():
            truth = det.get(_KEY[task])
            if not truth or (task in _CATEGORY and det.get("category_type") != _CATEGORY[task]):
                continue
            pred = det.get("pred") or ""
            missing += not pred
            if pred or counts_missing:
                records.append(
                    _record(str(truth), str(pred), det.get("attribute") or {}, name, task, profile)
                )
    element = _ELEMENT[task]
    measured = [_measured(record, task, profile) for record in records]
    results.elements = {element: measured}
    if cdm and task == "formula":
        add_cdm(results, profile)
    result = metric_result(results, profile)[element]
    figures = _figures(task, measured, result)
    return TaskResult(task, len(records), missing, figures, {element: result})


def _record(
    truth: str, pred: str, attribute: Mapping[str, Any], page: str, task: Task, profile: Profile
) -> Record:
    record = Record([0], [0] if pred else [""], gt=truth, pred=pred, gt_attribute=[attribute], img_id=page)
    if task != "table":
        norm = norm_formula if task == "formula" else norm_text
        record.norm_gt, record.norm_pred = norm(truth, profile), norm(pred, profile)
    return record


def _measured(record: Record, task: Task, profile: Profile) -> Measured:
    return measure_table(record, profile) if task == "table" else measure_text(record)


def _figures(task: Task, measured: Sequence[Measured], result: Mapping[str, Any]) -> dict[str, float | None]:
    edit = result["all"].get("Edit_dist", {})
    figures: dict[str, float | None] = {
        name: value if isinstance(value, float) else None for name, value in edit.items()
    }
    for name in ("TEDS", "TEDS_structure_only", "CDM"):
        if name in result["all"]:
            figures[name] = result["all"][name]["all"]
    if "CDM" in figures:
        figures["ExpRate@CDM"] = sum(m.metric["CDM"] == 1 for m in measured) / len(measured)
    if task != "table" and measured:
        # The published program takes truth and prediction the wrong way round.
        figures["BLEU"] = corpus_bleu([m.gt for m in measured], [m.pred for m in measured])
    return figures


def layout_task(
    pages: Sequence[Mapping[str, Any]], predictions: Any, classes: Sequence[str] = LAYOUT_CLASSES
) -> TaskResult:
    """Score boxes: `{"results": [{image_name, bbox, category_id, score}], "categories": {"0": name}}`.

    With `"relations": [[PARENT, CHILD], …]`, places in `results`, also what captions and footnotes belong to.

    Raises:
        FormatError: The file of boxes is of another form.
    """
    names = [image_name(page) for page in pages]
    truth = [
        LayoutBox(name, layout_class(str(det.get("category_type"))), _true_box(det["poly"]))
        for name, page in zip(names, pages, strict=True)
        for det in page.get("layout_dets") or ()
        if det.get("poly")
    ]
    pred = _read_boxes(predictions)
    scores = mean_average_precision(names, truth, pred, classes)
    figures = {"mAP": scores.ap, "AP50": scores.ap50, "AP75": scores.ap75}
    figures |= {f"AP {name}": value for name, value in scores.per_class.items()}
    if "relations" in predictions:
        relations = relation_scores(_true_relations(pages), _read_relations(predictions["relations"], pred))
        figures |= {
            "Relations precision": relations.precision,
            "Relations recall": relations.recall,
            "Relations F1": relations.f1,
        }
    found = {box.page for box in pred}
    return TaskResult("layout", len(names), sum(name not in found for name in names), figures)


def _true_relations(pages: Sequence[Mapping[str, Any]]) -> list[Relation]:
    """What the annotation calls `parent_son`: captions and footnotes of figures and tables."""
    found: list[Relation] = []
    for page in pages:
        name = image_name(page)
        boxes = {
            det.get("anno_id"): LayoutBox(
                name, layout_class(str(det.get("category_type"))), _true_box(det["poly"])
            )
            for det in page.get("layout_dets") or ()
            if det.get("poly")
        }
        for relation in (page.get("extra") or {}).get("relation") or ():
            ends = [boxes.get(relation.get(f"{end}_anno_id")) for end in ("source", "target")]
            if relation.get("relation_type") == "parent_son" and ends[0] is not None and ends[1] is not None:
                found.append((ends[0], ends[1]))
    return found


def _read_relations(data: Any, boxes: Sequence[LayoutBox]) -> list[Relation]:
    try:
        pairs = [(int(parent), int(child)) for parent, child in data]
    except (TypeError, ValueError) as error:
        raise FormatError(f"relations must be pairs of places in results: {error}") from error
    if any(not 0 <= place < len(boxes) for pair in pairs for place in pair):
        raise FormatError(f"relations must be pairs of places in results, which has {len(boxes)} boxes.")
    return [(boxes[parent], boxes[child]) for parent, child in pairs]


def _true_box(poly: Sequence[float]) -> tuple[float, float, float, float]:
    x0, x1 = sorted((poly[0], poly[2]))
    y0, y1 = sorted((poly[1], poly[5]))
    return x0, y0, x1, y1


def _read_boxes(data: Any) -> list[LayoutBox]:
    try:
        names = {str(key): str(value) for key, value in data["categories"].items()}
        return [
            LayoutBox(
                _page_name(str(item["image_name"])),
                layout_class(names[str(item["category_id"])]),
                (float(x0), float(y0), float(x1), float(y1)),
                float(item["score"]),
            )
            for item in data["results"]
            for x0, y0, x1, y1 in (item["bbox"],)
        ]
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise FormatError(
            "The boxes must be {results: [{image_name, bbox, category_id, score}], categories: {id: name}}: "
            f"{error!r}"
        ) from error


def _page_name(name: str) -> str:
    return name if name.endswith((".jpg", ".png")) else f"{name}.jpg"
