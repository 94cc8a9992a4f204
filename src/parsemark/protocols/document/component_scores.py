"""Component tasks: text, tables and formulas on crops, and layout (OmniDocBench's Tables 6 to 9).

The annotation file has a key `pred` in its elements, or for layout a file of boxes beside it. The published
code skips elements without a prediction; strictly they count as wrong. Their number is reported either way.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from parsemark.errors import FormatError, MissingDependencyError, UsageError
from parsemark.metrics.bleu import ORDER, corpus_bleu, tokenize_13a
from parsemark.metrics.layout import (
    LayoutBox,
    Relation,
    layout_class,
    mean_average_precision,
    relation_scores,
)
from parsemark.plain_words import counted
from parsemark.protocols.contract import get_protocol
from parsemark.protocols.document.omnidocbench.measures import (
    MeasuredRecord,
    MeasuredRecords,
    add_cdm,
    measure_table,
    measure_text,
    metric_result,
)
from parsemark.protocols.document.omnidocbench.normalise import inline_to_text, norm_formula, norm_text
from parsemark.protocols.document.omnidocbench.page import image_name
from parsemark.protocols.document.omnidocbench.profile import STRICT_COMPONENTS, V1_5, Profile, get_profile
from parsemark.protocols.document.omnidocbench.records import Record
from parsemark.protocols.document.protocol import DocumentProtocol
from parsemark.protocols.document.strict.page import in_one_notation

Pages = Sequence[Mapping[str, Any]]
Task = Literal["ocr", "table", "formula", "layout"]
TASKS: tuple[Task, ...] = ("ocr", "table", "formula", "layout")
_ELEMENTS = {
    "ocr": ("text_block", "text", None),
    "table": ("table", "html", "table"),
    "formula": ("display_formula", "latex", "equation_isolated"),
}
"""Task to the element that it measures, the key of its truth, and its category, where only one has it."""
_BOXES_FORM = "Its form: {results: [{image_name, bbox, category_id, score}], categories: {id: name}}"
_MAX_NAMED = 5
MEANINGS = {
    "ALL_page_avg": "↓ edits / length, mean over pages",
    "edit_whole": "↓ edits / length, all elements together",
    "edit_sample_avg": "↓ edits / length, mean over elements",
    "TEDS": "↑ similarity of tables as trees",
    "TEDS_structure_only": "↑ TEDS without the cell contents",
    "CDM": "↑ similarity of the rendered formulas",
    "ExpRate@CDM": "↑ share of formulas that look the same when rendered",
    "BLEU": "↑ shared sequences of one to four words",
}
"""What the figures of components are, and whether higher (↑) or lower (↓) is better."""


@dataclass(frozen=True, slots=True)
class GroupTable:
    """A figure by groups: OmniDocBench's Tables 6 to 8."""

    title: str
    values: Mapping[str, float | None]  # group to value, in the order of the published table
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What came of a task."""

    task: str
    n: int  # elements, or pages for layout, that were scored
    n_missing: int  # elements, or pages, without a prediction
    figures: Mapping[str, float | None]
    result: Mapping[str, Any] = field(default_factory=dict)
    """All means by element, page and group, as the published program writes them."""
    table: GroupTable | None = None
    remarks: Sequence[str] = ()  # what was not used of the predictions, and why


def score_file(
    task: str, predictions: Path, annotations: Iterable[Mapping[str, Any]], protocol: str = "document"
) -> TaskResult:
    """Score a file of predictions of one component, as `api.score_task` says."""
    chosen = next((name for name in TASKS if name == task), None)
    if chosen is None:
        raise UsageError(f"Unknown task {task!r}; choose one of: {', '.join(TASKS)}.")
    how = get_protocol(protocol)
    if not isinstance(how, DocumentProtocol):
        raise UsageError(f"--task needs the protocol `document`, not {how}.")
    try:
        data = json.loads(predictions.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"{predictions} cannot be read as JSON: {error}") from error
    if chosen == "layout":
        return layout_task(list(annotations), data)
    if not isinstance(data, list):
        raise UsageError("The predictions must be OmniDocBench's list of pages, with `pred` in the elements.")
    strict = how.profile == "strict"
    profile = STRICT_COMPONENTS if strict else get_profile(how.profile)
    return component_task(data, chosen, counts_missing=strict, cdm=how.cdm, profile=profile)


def component_task(
    pages: Pages, task: Task, *, counts_missing: bool = True, cdm: bool = False, profile: Profile = V1_5
) -> TaskResult:
    """Score the key `pred` of annotated elements.

    An element without a prediction counts as an empty one (`counts_missing`), or is skipped. With `cdm`
    formulas are drawn too. Texts are normalised as the profile does it.
    """
    element, key, category = _ELEMENTS[task]
    records, remarks, missing = list[Record](), list[str](), 0
    results = MeasuredRecords({}, {}, {"table": [], "display_formula": []})
    for page in pages:
        name = image_name(page)
        results.page_attributes[name] = page["page_info"].get("page_attribute") or {}
        for det in page.get("layout_dets") or ():
            truth, pred, attribute = det.get(key), det.get("pred") or "", det.get("attribute") or {}
            if not truth or (category and det.get("category_type") != category):
                continue
            missing += not pred
            if pred or counts_missing:
                records.append(_record(str(truth), str(pred), attribute, name, task, profile))
    measured = [measure_table(r, profile) if task == "table" else measure_text(r) for r in records]
    results.elements = {element: measured}
    if cdm and task == "formula":
        try:
            add_cdm(results, profile)
        except MissingDependencyError as error:
            remarks.append(f"CDM is not computed. {error}")
        if undrawn := [own.reason for own in measured if own.reason]:
            remarks.append(
                f"{counted(len(undrawn), 'formula')} could not be drawn: CDM 0. The first: {undrawn[0]}"
            )
    result = metric_result(results, profile)[element]
    figures = _figures(measured, result)
    if task != "table" and measured:
        figures["BLEU"] = _bleu(task, measured, profile, remarks)
    by_attribute = _by_attribute(task, measured, result)
    return TaskResult(task, len(records), missing, figures, {element: result}, by_attribute, remarks)


_GROUPED = {
    "table": ("Table 7: TEDS · 100 by attribute of the table", "TEDS", 100.0, (
        "language", "line", "with_span", "include_equation", "include_background", "table_layout")),
    "ocr": ("Table 8: edit distance by attribute of the text", "Edit_dist", 1.0, (
        "text_language", "text_background", "text_rotate")),
}  # fmt: skip


def _by_attribute(
    task: Task, measured: Sequence[MeasuredRecord], result: Mapping[str, Any]
) -> GroupTable | None:
    """Return means over the elements of each group, and over all."""
    if task not in _GROUPED or not measured:
        return None
    title, metric, factor, attributes = _GROUPED[task]
    means, counts = result["group"].get(metric, {}), result["group"]["sample_count"]
    known = [label for label in means if not label.endswith(": None")]
    labels = [label for name in attributes for label in known if label.partition(": ")[0] == name]
    own = [m.metric[metric] for m in measured if metric in m.metric]
    values: dict[str, float | None] = {label: factor * means[label] for label in labels}
    values["all"] = factor * sum(own) / len(own) if own else None
    return GroupTable(title, values, {**{label: counts[label] for label in labels}, "all": len(measured)})


def _record(
    truth: str, pred: str, attribute: Mapping[str, Any], page: str, task: Task, profile: Profile
) -> Record:
    record = Record([0], [0] if pred else [""], gt=truth, pred=pred, gt_attribute=[attribute], img_id=page)
    if task == "ocr" and profile is STRICT_COMPONENTS:
        record.norm_gt, record.norm_pred = in_one_notation(truth), in_one_notation(pred)
    elif task != "table":
        norm = norm_formula if task == "formula" else norm_text
        record.norm_gt, record.norm_pred = norm(truth, profile), norm(pred, profile)
    return record


def _figures(measured: Sequence[MeasuredRecord], result: Mapping[str, Any]) -> dict[str, float | None]:
    means = dict(result["all"])
    edit = means.pop("Edit_dist")
    figures = {name: value if isinstance(value, float) else None for name, value in edit.items()}
    figures |= {name: own["all"] for name, own in means.items()}
    if "CDM" in figures:
        figures["ExpRate@CDM"] = sum(m.metric["CDM"] == 1 for m in measured) / len(measured)
    return figures


def _bleu(
    task: Task, measured: Sequence[MeasuredRecord], profile: Profile, remarks: list[str]
) -> float | None:
    """Return BLEU of all elements; strictly of texts as they are written, and None where no truth is long
    enough.
    """
    truths, preds = [m.gt for m in measured], [m.pred for m in measured]
    if task == "ocr" and profile.bleu_of_bare_text:
        remarks.append(
            f"Under {profile.name}, BLEU is computed on text without white space, as published. Each block "
            "is then one word, so even a perfect text scores 0. Profile strict computes BLEU on words."
        )
    elif task == "ocr":
        records = [m.record for m in measured if isinstance(m.record, Record)]
        truths, preds = (
            [inline_to_text(getattr(r, side), profile) for r in records] for side in ("gt", "pred")
        )
    if profile.bleu_turned_round:
        return corpus_bleu(truths, preds)
    if not any(len(tokenize_13a(truth)) >= ORDER for truth in truths):
        remarks.append(
            f"BLEU is not defined: no true {task} element has {ORDER} words, separated by white space."
        )
        return None
    return corpus_bleu(preds, truths)


def layout_task(pages: Pages, predictions: Any) -> TaskResult:
    """Score boxes: `{"results": [{image_name, bbox, category_id, score}], "categories": {"0": name}}`.

    With `"relations": [[PARENT, CHILD], …]`, places in `results`, also what captions and footnotes belong to.

    Raises:
        FormatError: The file of boxes is of another form.
    """
    names = [image_name(page) for page in pages]
    truth = [box for page in pages for _, box in _true_boxes(page)]
    given, remarks = _read_boxes(predictions)
    known = set(names)
    unknown = sorted({box.page for box in given if box is not None} - known)
    if unknown and not any(box is not None and box.page in known for box in given):
        raise FormatError(
            f"The boxes name {counted(len(unknown), 'picture')} (the first: {unknown[0]}), none of which is "
            f"a page of this corpus. Its pages have names like {names[0] if names else 'nothing'}. "
            "Choose the corpus with --corpus."
        )
    if unknown:
        shown = ", ".join(unknown[:_MAX_NAMED])
        remarks.append(f"Ignored boxes on {counted(len(unknown), 'picture')} of other corpora: {shown}")
    pred = [box for box in given if box is not None and box.page in known]
    scores = mean_average_precision(names, truth, pred)
    figures = {"mAP": scores.ap, "AP50": scores.ap50, "AP75": scores.ap75}
    figures |= {f"AP {name}": value for name, value in scores.per_class.items()}
    if "relations" in predictions:
        relations = relation_scores(_true_relations(pages), _read_relations(predictions["relations"], given))
        figures |= {f"Relations {name}": value for name, value in relations.items()}
    found = {box.page for box in pred}
    n_missing = sum(name not in found for name in names)
    by_source = _by_source(pages, names, truth, pred)
    return TaskResult("layout", len(names), n_missing, figures, {}, by_source, remarks)


def _by_source(
    pages: Pages, names: Sequence[str], truth: Sequence[LayoutBox], pred: Sequence[LayoutBox]
) -> GroupTable | None:
    """Return precision on the pages of each source, and the plain mean of these."""
    by_source: dict[str, list[str]] = {}
    for name, page in zip(names, pages, strict=True):
        source = (page["page_info"].get("page_attribute") or {}).get("data_source")
        if source is not None:
            by_source.setdefault(str(source), []).append(name)
    if len(by_source) < 2:
        return None
    values: dict[str, float | None] = {}
    for source, own in sorted(by_source.items()):
        wanted = set(own)
        there, found = ([box for box in side if box.page in wanted] for side in (truth, pred))
        score = mean_average_precision(own, there, found).ap
        values[source] = None if score is None else 100 * score
    counts = {source: len(by_source[source]) for source in values}
    scored = [value for value in values.values() if value is not None]
    values["average"] = sum(scored) / len(scored) if scored else None
    return GroupTable("Table 6: mAP · 100 by type of page", values, {**counts, "average": len(names)})


def _true_relations(pages: Pages) -> list[Relation]:
    """Return the relations that the annotation calls `parent_son`: captions and footnotes of figures and
    tables.
    """
    found: list[Relation] = []
    for page in pages:
        boxes = dict(_true_boxes(page))
        for relation in (page.get("extra") or {}).get("relation") or ():
            ends = [boxes.get(relation.get(f"{end}_anno_id")) for end in ("source", "target")]
            kind = relation.get("relation_type", relation.get("relation"))
            if kind == "parent_son" and ends[0] is not None and ends[1] is not None:
                found.append((ends[0], ends[1]))
    return found


def _read_relations(data: Any, boxes: Sequence[LayoutBox | None]) -> list[Relation]:
    try:
        pairs = [(int(parent), int(child)) for parent, child in data]
    except (TypeError, ValueError) as error:
        raise FormatError(f"relations must be pairs of indices into results: {error}") from error
    if any(not 0 <= place < len(boxes) for pair in pairs for place in pair):
        raise FormatError(f"relations must be pairs of indices into results, which has {len(boxes)} boxes.")
    ends = [(boxes[parent], boxes[child]) for parent, child in pairs]
    return [(parent, child) for parent, child in ends if parent is not None and child is not None]


def _true_boxes(page: Mapping[str, Any]) -> Iterator[tuple[Any, LayoutBox]]:
    """Yield the annotated boxes of a page, each with its id."""
    for det in page.get("layout_dets") or ():
        if poly := det.get("poly"):
            (x0, x1), (y0, y1) = sorted((poly[0], poly[2])), sorted((poly[1], poly[5]))
            category = layout_class(str(det.get("category_type")))
            yield det.get("anno_id"), LayoutBox(image_name(page), category, (x0, y0, x1, y1))


def _read_boxes(data: Any) -> tuple[list[LayoutBox | None], list[str]]:
    """Return the boxes, None for each that cannot be read, and what is wrong with those."""
    if not isinstance(data, Mapping) or not isinstance(data.get("results"), list):
        raise FormatError(f"The file of boxes needs a list `results`. {_BOXES_FORM}")
    if not isinstance(data.get("categories"), Mapping):
        raise FormatError(f"The file of boxes needs `categories`, an object from ids to names. {_BOXES_FORM}")
    names = {str(key): str(value) for key, value in data["categories"].items()}
    boxes: list[LayoutBox | None] = []
    problems: list[str] = []
    for number, item in enumerate(data["results"]):
        try:
            boxes.append(_box(item, names))
        except ValueError as error:
            boxes.append(None)
            problems.append(f"box {number}: {error}")
    if problems:
        shown = "; ".join(problems[:_MAX_NAMED])
        n_boxes, are = counted(len(boxes), "box"), "is" if len(problems) == 1 else "are"
        return boxes, [f"{len(problems)} of {n_boxes} cannot be read and {are} left out: {shown}"]
    return boxes, []


def _box(item: Any, names: Mapping[str, str]) -> LayoutBox:
    """Return one box; a ValueError says what is wrong with it."""
    if not isinstance(item, Mapping) or not isinstance(item.get("image_name"), str):
        raise ValueError("it has no image_name")
    category = names.get(str(item.get("category_id")))
    if category is None:
        raise ValueError(f"category_id {item.get('category_id')!r} is not in categories")
    try:
        x0, y0, x1, y1 = (float(value) for value in item.get("bbox", ()))
        score = float(item["score"])
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError("it needs bbox, four numbers, and score, a number") from error
    if not all(map(math.isfinite, (x0, y0, x1, y1, score))):
        raise ValueError("bbox and score must be finite")
    page = item["image_name"]
    page = page if page.endswith((".jpg", ".png")) else f"{page}.jpg"
    return LayoutBox(page, layout_class(category), (x0, y0, x1, y1), score)
