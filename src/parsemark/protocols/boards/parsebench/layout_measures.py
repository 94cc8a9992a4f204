"""The figures of visual grounding: what is found, average precision, reading order, tokens in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from parsemark.protocols.boards.parsebench.layout import (
    GroundedBlock,
    answers,
    grounded,
    inside,
    iou,
    is_explicit,
    is_ignored,
    predicted_blocks,
    skipped,
    true_blocks,
)

_THRESHOLDS = tuple((50 + 5 * step) / 100 for step in range(10))
_NEIGHBOURS = 3


def layout_metrics(
    rules: Sequence[Mapping[str, Any]],
    predictions: Sequence[Mapping[str, Any]],
    ontology: str = "basic",
    image_width: float = 1.0,
    image_height: float = 1.0,
) -> dict[str, Any]:
    """The shares of elements that are found, classed, said and in order, and the measures of detectors."""
    every = true_blocks(rules, ontology)
    truth = [element for element in every if not is_ignored(element)]
    blocks = predicted_blocks(predictions, image_width, image_height, ontology)
    elements = grounded(truth, blocks)
    orders = read_in_order(truth, elements)
    detected = detections([element for element in every if element.kind is not None], blocks)
    n, asked = len(elements), [own for own in elements if own["attribution_applicable"]]
    located, classed = (
        sum(own[f"{name}_pass"] for own in elements) for name in ("localization", "classification")
    )
    said = sum(own["attribution_pass"] for own in asked)
    values: dict[str, Any] = {"elements": elements, **detected}
    if n:
        values |= {
            "unmatched_gt_elements": float(sum(not any(answers(e, b) for b in blocks) for e in truth)),
            "unmatched_pred_elements": float(sum(not any(answers(e, b) for e in truth) for b in blocks)),
            "layout_localization_pass_rate": located / n,
            "layout_classification_pass_rate": classed / n,
            "layout_element_rule_pass_rate": sum(own["passes"] for own in elements) / n,
            "layout_rule_pass_rate": (located + classed + said) / (2 * n + len(asked)),
            "rule_pass_rate": (located + classed + said) / (2 * n + len(asked)),
        }
    if asked:
        values["layout_attribution_pass_rate"] = said / len(asked)
        values |= attributions(truth, blocks)
    if orders:
        values["layout_reading_order_pass_rate"] = sum(orders) / len(orders)
    return values


def read_in_order(truth: Sequence[GroundedBlock], elements: Sequence[dict[str, Any]]) -> list[bool]:
    """Say of each element whether it stands between its neighbours; give the verdicts of those asked.

    Raises:
        ValueError: Elements of a page do not say where they stand; upstream fails on them.
    """
    pages: dict[int, list[int]] = {}
    for number, own in enumerate(elements):
        own["reading_order_eligible"] = own["localization_pass"] and bool(own["attribution_pass"])
        own["reading_order_pass"] = False
        if own["reading_order_eligible"]:
            pages.setdefault(own["page"], []).append(number)
        elif not own["localization_pass"]:
            own["reading_order_reason"] = "ineligible_no_localization"
        else:
            why = "no_attribution" if own["attribution_applicable"] else own["attribution_reason"]
            own["reading_order_reason"] = f"ineligible_{why}"
    for numbers in pages.values():
        if len(numbers) > 1 and not all(truth[number].is_ordered for number in numbers):
            raise ValueError("An element of the truth does not say where it stands in the reading order")
        numbers.sort(key=lambda number: truth[number].order)
        places = [elements[number]["matched_pred_order_index"] for number in numbers]
        for at, number in enumerate(numbers):
            why = _place(places, at)
            elements[number] |= {"reading_order_pass": why == "pass", "reading_order_reason": why}
    return [own["reading_order_pass"] for own in elements if own["reading_order_eligible"]]


def _place(places: Sequence[int], at: int) -> str:
    before, after = places[max(0, at - _NEIGHBOURS) : at], places[at + 1 : at + 1 + _NEIGHBOURS]
    if not before and not after:
        return "no_local_neighbors"
    if any(place >= places[at] for place in before):
        return "before_not_before"
    return "after_not_after" if any(place <= places[at] for place in after) else "pass"


def attributions(truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock]) -> dict[str, float]:
    """The shares of tokens that stand in overlapping elements and blocks, and their harmonic mean."""
    asked = [element for element in truth if skipped(element) is None]
    found, said = 0, 0
    for block in pred:
        near = [element for element in asked if _overlap(element, block)]
        counted = [element for element in near if not is_explicit(element)]
        if near and not counted:
            continue
        said += len(block.words)
        found += _common([block], counted)
    wanted = sum(len(element.words) for element in asked)
    recalled = sum(_common([e], [b for b in pred if _overlap(e, b)]) for e in asked)
    lap, lar = found / said if said else 1.0, recalled / wanted if wanted else 1.0
    return {"lap": lap, "lar": lar, "af1": 2 * lap * lar / (lap + lar) if lap + lar else 0.0}


def _overlap(a: GroundedBlock, b: GroundedBlock) -> bool:
    return a.page == b.page and max(inside(a.box, b.box), inside(b.box, a.box)) >= 0.3


def _common(a: Sequence[GroundedBlock], b: Sequence[GroundedBlock]) -> int:
    bags = [Counter(word for block in blocks for word in block.words) for blocks in (a, b)]
    return (bags[0] & bags[1]).total()


def detections(truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock]) -> dict[str, float]:
    """Average precision over the classes of the truth, and precision, recall and F1 of each."""
    kinds = sorted({str(element.kind) for element in truth})
    values: dict[str, float] = {}
    precisions: list[list[float]] = []
    for kind in kinds:
        wanted = [element for element in truth if element.kind == kind]
        own = sorted((block for block in pred if block.kind == kind), key=lambda b: -b.score)
        hits = [_hits(wanted, own, threshold) for threshold in _THRESHOLDS]
        precisions.append([_average_precision(flags, [b.score for b in own]) for flags in hits])
        n = sum(hits[0])
        precision, recall = n / len(own) if own else 0.0, n / len(wanted)
        values[f"f1_{kind}"] = 2 * precision * recall / (precision + recall) if n else 0.0
        values |= {f"precision_{kind}": precision, f"recall_{kind}": recall}
    at = [sum(own[step] for own in precisions) / max(1, len(kinds)) for step in range(len(_THRESHOLDS))]
    return values | {
        "mAP@[.50:.95]": sum(at) / len(at),
        "AP50": at[0],
        "AP75": at[5],
        "mean_f1": sum(values[f"f1_{kind}"] for kind in kinds) / max(1, len(kinds)),
        "num_predictions": float(len(pred)),
        "num_ground_truth": float(len(truth)),
    }


def _hits(truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock], threshold: float) -> list[bool]:
    """Which blocks, the surest first, take an element that is not yet taken."""
    left, hits = list(truth), []
    for block in pred:
        near = [(iou(e.box, block.box), -n) for n, e in enumerate(left) if e.page == block.page]
        overlap, at = max(near, default=(0.0, 0))
        hits.append(bool(near) and overlap >= threshold)
        if hits[-1]:
            left.pop(-at)
    return hits


def _average_precision(hits: Sequence[bool], scores: Sequence[float]) -> float:
    """The mean precision at each hit; blocks that are equally sure stand at one place."""
    value, found, last = 0.0, 0, 0
    for number, hit in enumerate(hits, 1):
        found += hit
        if number == len(hits) or scores[number] != scores[number - 1]:
            value += (found - last) * found / number
            last = found
    return value / found if found else 0.0
