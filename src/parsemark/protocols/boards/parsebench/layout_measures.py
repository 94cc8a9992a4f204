"""The figures of visual grounding: what is found, average precision, reading order, tokens in their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from parsemark.protocols.boards.parsebench.layout import (
    GroundedBlock,
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
    """What came of each element, the shares that pass and stand in order, and the measures of detectors."""
    every = true_blocks(rules, ontology)
    truth = [element for element in every if not is_ignored(element)]
    blocks = predicted_blocks(predictions, image_width, image_height, ontology)
    elements = grounded(truth, blocks)
    orders = read_in_order(truth, elements)
    precisions = average_precisions([element for element in every if element.kind is not None], blocks)
    steps = [sum(own) / len(precisions) for own in zip(*precisions.values(), strict=True)]
    values: dict[str, Any] = {
        "elements": elements,
        "reading_order": orders,
        "mAP@[.50:.95]": sum(steps) / len(steps) if steps else 0.0,
    }
    if elements:
        values["layout_element_rule_pass_rate"] = sum(own["passes"] for own in elements) / len(elements)
    if any(own["attribution_applicable"] for own in elements):
        values |= attributions(truth, blocks)
    if orders:
        values["layout_reading_order_pass_rate"] = sum(v == "pass" for v in orders.values()) / len(orders)
    return values


def read_in_order(truth: Sequence[GroundedBlock], elements: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Number of each element that is found and says what it says, to `pass` or why it stands wrong.

    Raises:
        ValueError: Elements of a page do not say where they stand; upstream fails on them.
    """
    pages: dict[int, list[int]] = {}
    for number, own in enumerate(elements):
        if own["localization_pass"] and own["attribution_pass"]:
            pages.setdefault(own["page"], []).append(number)
    found: dict[int, str] = {}
    for numbers in pages.values():
        if len(numbers) > 1 and not all(truth[number].is_ordered for number in numbers):
            raise ValueError("An element of the truth does not say where it stands in the reading order")
        numbers.sort(key=lambda number: truth[number].order)
        places = [elements[number]["matched_pred_order_index"] for number in numbers]
        found |= {number: _place(places, at) for at, number in enumerate(numbers)}
    return found


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


def average_precisions(
    truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock]
) -> dict[str, list[float]]:
    """Each class of the truth to its average precision at IoU .50, .55, … .95."""
    found = {}
    for kind in sorted({str(element.kind) for element in truth}):
        wanted = [element for element in truth if element.kind == kind]
        own = sorted((block for block in pred if block.kind == kind), key=lambda b: -b.score)
        scores = [block.score for block in own]
        found[kind] = [_average_precision(hits(wanted, own, at), scores) for at in _THRESHOLDS]
    return found


def hits(truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock], threshold: float) -> list[bool]:
    """Which blocks, the surest first, take an element that is not yet taken."""
    left, found = list(truth), []
    for block in pred:
        near = [(iou(e.box, block.box), -n) for n, e in enumerate(left) if e.page == block.page]
        overlap, at = max(near, default=(0.0, 0))
        found.append(bool(near) and overlap >= threshold)
        if found[-1]:
            left.pop(-at)
    return found


def _average_precision(hits: Sequence[bool], scores: Sequence[float]) -> float:
    """The mean precision at each hit; blocks that are equally sure stand at one place."""
    value, found, last = 0.0, 0, 0
    for number, hit in enumerate(hits, 1):
        found += hit
        if number == len(hits) or scores[number] != scores[number - 1]:
            value += (found - last) * found / number
            last = found
    return value / found if found else 0.0
