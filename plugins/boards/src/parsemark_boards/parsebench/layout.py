"""Visual grounding: elements found where they are, as what they are, with what they say, and in order."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any

from parsemark.metrics import MAX_POSITION_PAIRS, check_pairs
from parsemark.model import Box
from parsemark_boards.parsebench.text import check_markdown, subbed

_BASIC = ("Table", "Picture", "Page-header", "Page-footer")
_RUNNING = ("Page-header", "Page-footer")
_CORE = {"Code": "Text", "Document Index": "Text", "Key-Value Region": "Text"}
_CLASSES = frozenset(
    (*_BASIC, *_CORE, "Caption", "Footnote", "Formula", "List-item", "Section-header", "Text", "Title")
)
_BEYOND_CORE = ("Checkbox-Selected", "Checkbox-Unselected", "Form")
_TOKEN_SCORES = ("token_precision", "token_recall", "token_f1")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_TYPOGRAPHY = str.maketrans(
    {**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟", '"'), **dict.fromkeys("–—‐‑‒―−", "-"), "…": "..."}
)
_LEAST = 1e-10
_THRESHOLDS = tuple((50 + 5 * step) / 100 for step in range(10))
_NEIGHBOURS = 3


def norm_layout(text: str, *, images: bool = False) -> str:
    """Return a text as grounding compares it."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", check_markdown(text)))
    text = "".join(sign for sign in text if not unicodedata.combining(sign)).replace("ß", "ss")
    text = re.sub(r"\$\$.*?\$\$", " ", text, flags=re.S)
    text = re.sub(r"\$[^$]+\$", lambda found: " " if re.search(r"[\\^_{}]", found[0]) else found[0], text)
    text = re.sub(r"[_^][a-zA-Z0-9]+", " ", text)
    for sign, letters in _LIGATURES.items():
        text = text.replace(sign, letters)
    if images:
        text = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"\1", text)
        text = re.sub(r"<img\b[^>]*>", _alt, text, flags=re.I)
    text = re.sub(r"</?(?:sup|sub|b|i|u|ins|mark|span|div|br/?)\b[^>]*>", " ", text, flags=re.I)
    text = subbed(
        text,
        (r'\bstyle\s*=\s*"[^"]*"', " "),
        (r"\*\*(.*?)\*\*", r"\1"),
        ("__(.*?)__", r"\1"),
        (r"\*(.*?)\*", r"\1"),
        ("_(.*?)_", r"\1"),
        (r"#{1,6}\s*", ""),
        (r"\$", ""),
        (r"(?<!!)\[([^\]]*)\]\([^)]*\)", r"\1"),
        (r"(\w)[-›]\s*\n\s*(\w)", r"\1\2"),
    )
    text = re.sub(r"\s+", " ", text.translate(_TYPOGRAPHY).lower())
    return re.sub(r"[^a-z0-9\s.,;:!?\-()\[\]{}/'\"%]", " ", text).strip()


def _alt(tag: re.Match[str]) -> str:
    found = re.search(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", tag[0], re.I)
    return next(own for own in found.groups() if own is not None) if found else ""


def tokens(text: str) -> list[str]:
    """Return the words of a normalised text."""
    return re.findall("[a-z0-9]+", text)


class _Data(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def content_tokens(
    content: Mapping[str, Any] | None, *, ignore_head: bool = False, images: bool = False
) -> list[str]:
    """Return the words of what an element says."""
    if not content:
        return []
    text = str(content.get("text") or "")
    if content.get("type") == "table":
        source = str(content.get("html") or "")
        if ignore_head:
            source = re.sub(r"<thead\b.*?</thead>", "", source, flags=re.S | re.I)
        parser = _Data()
        parser.feed(check_markdown(source))
        parser.close()
        text = " ".join(parser.parts)
    return tokens(norm_layout(text, images=images))


def in_ontology(label: str, ontology: str) -> str | None:
    """Return the class of a label; None where the ontology has none."""
    if ontology == "canonical":
        return label
    if ontology == "core":
        return None if label in _BEYOND_CORE else _CORE.get(label, label)
    if label in ("Title", "Section-header", "Section"):
        return "Section"
    return label if label in _BASIC else "Text"


def inside(a: Box, b: Box) -> float:
    """Return the share of one box in another; 0 where it has no area."""
    return a.intersection_area(b) / max(_LEAST, a.area)


@dataclass(frozen=True)
class GroundedBlock:
    """A block of either side on its page, in shares of the page."""

    page: int
    box: Box
    kind: str | None
    words: list[str]
    order: int
    has_content: bool = False
    score: float = 1.0
    attributes: Mapping[str, str] = field(default_factory=dict)
    is_ordered: bool = True

    def has(self, flag: str) -> bool:
        """Return whether the truth flags it, as `ignore` (only detection counts it), `explicit` or
        `caption`.
        """
        return self.attributes.get(flag, "").lower() in ("true", "1", "yes")

    @property
    def is_running(self) -> bool:
        """Return whether it is a page's head or foot."""
        return self.attributes.get("label") in _RUNNING


def true_blocks(rules: Sequence[Mapping[str, Any]], ontology: str) -> list[GroundedBlock]:
    """Return the elements that rules name."""
    found = []
    for number, rule in enumerate(rules):
        label, (x, y, w, h) = str(rule["canonical_class"]), rule["bbox"]
        attributes = {key: str(value) for key, value in (rule.get("attributes") or {}).items()}
        attributes["label"] = label
        if attributes.get("content") == "explicit":
            attributes["explicit"] = "true"
        order, content = rule.get("ro_index"), rule.get("content")
        element = GroundedBlock(
            rule.get("page") or 1,
            Box(x, y, x + w, y + h),
            in_ontology(label, ontology),
            [],
            number if order is None else order,
            bool(content),
            attributes=attributes,
            is_ordered=order is not None,
        )
        no_head, images = element.has("ignore_thead") or element.has("ignore_head"), element.is_running
        words = content_tokens(content, ignore_head=no_head, images=images or label == "Picture")
        found.append(replace(element, words=words))
    return found


def predicted_blocks(
    predictions: Sequence[Mapping[str, Any]], width: float, height: float, ontology: str
) -> list[GroundedBlock]:
    """Return the blocks of an output with their places; raise ValueError for a label that upstream fails on.

    A block whose class the ontology lacks has no kind: only its text counts.
    """
    found = []
    counts = Counter[int]()
    for own in predictions:
        page, label = own.get("page") or 1, str(own["label"])
        given = (own.get("provider_metadata") or {}).get("order_index")
        order = given if isinstance(given, int) else counts[page]
        if label not in _CLASSES and label not in _BEYOND_CORE:
            raise ValueError(f"{label!r} is not a class of ParseBench")
        kind = in_ontology(label, ontology)
        counts[page] += kind is not None
        x0, y0, x1, y1 = own["bbox"]
        box = Box(x0 / width, y0 / height, max(x0, x1) / width, max(y0, y1) / height)  # turned: no area
        content, score = own.get("content"), own.get("score", 1.0)
        found.append(GroundedBlock(page, box, kind, content_tokens(content), order, bool(content), score))
    return found


def grounded(truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock]) -> list[dict[str, Any]]:
    """Return the result of each element, in the benchmark's words."""
    check_pairs("blocks", len(truth), len(pred), MAX_POSITION_PAIRS // 100)
    found = []
    for element in truth:
        own = [block for block in pred if block.page == element.page]
        localised, matched, order = _located(element, [block for block in own if block.kind is not None])
        classed = localised and matched is not None and matched.kind == element.kind
        why, scores = _attributed(element, truth, own)
        asked = scores is not None
        found.append(
            {
                "page": element.page,
                "localization_pass": localised,
                "classification_pass": classed,
                "attribution_applicable": asked,
                "attribution_pass": why == "pass" if asked else None,
                "attribution_reason": why,
                **dict(zip(_TOKEN_SCORES, scores or (None,) * 3, strict=True)),
                "best_pred_class": matched.kind if matched and localised else None,
                "matched_pred_order_index": order,
                "passes": classed and (why == "pass" or not asked),
            }
        )
    return found


def _located(
    element: GroundedBlock, own: Sequence[GroundedBlock]
) -> tuple[bool, GroundedBlock | None, int | None]:
    """Return whether an element is found, the block that answers it, and where that stands in the order."""
    fits = [block for block in own if answers(element, block)]
    if fits and element.is_running:
        return *_spanned(element, fits), min(block.order for block in fits)
    if not own:
        return False, None, None
    overlap = Box.iou if fits else inside
    matched = max(fits or own, key=lambda block: overlap(element.box, block.box))
    return bool(fits), matched, matched.order


def answers(element: GroundedBlock, block: GroundedBlock) -> bool:
    """Return whether a block may be what was found of an element, or a part of a running head."""
    if element.page != block.page or inside(block.box, element.box) < 0.2:
        return False
    return element.is_running or inside(element.box, block.box) >= 0.5


def _spanned(element: GroundedBlock, group: Sequence[GroundedBlock]) -> tuple[bool, GroundedBlock]:
    own, clipped = element.box, [block.box.clipped(element.box) for block in group]
    covered, end = 0.0, own.y0
    for part in sorted(clipped, key=lambda box: box.y0):
        covered += max(0.0, part.y1 - max(part.y0, end))
        end = max(end, part.y1)
    width = Box.hull(clipped).width / max(_LEAST, own.width)
    passes = width >= 0.8 and covered / max(_LEAST, own.height) >= 0.5
    return passes, max(group, key=lambda b: element.box.iou(b.box))


def _token_scores(wanted: Counter[str], found: Counter[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    common = (wanted & found).total()
    precision, recall = common / max(1, found.total()), common / max(1, wanted.total())
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def skipped(element: GroundedBlock) -> str | None:
    """Return why the text of an element is not compared; None where it is."""
    if not element.words:
        return "no_gt_content"
    if element.attributes["label"] == "Formula" or element.attributes.get("text_role") == "formula":
        return "formula_skip"
    return "caption_skip" if element.has("caption") else None


def _own_words(block: GroundedBlock, wanted: Counter[str], others: Sequence[GroundedBlock]) -> Counter[str]:
    """Return the words of a block without those of other elements in it."""
    foreign = Counter(word for other in others if inside(other.box, block.box) >= 0.3 for word in other.words)
    return Counter(block.words) - (foreign - wanted)


def _attributed(
    element: GroundedBlock, truth: Sequence[GroundedBlock], blocks: Sequence[GroundedBlock]
) -> tuple[str, tuple[float, float, float] | None]:
    """Return whether a block near an element says what it says, and how nearly; no scores where it is not
    asked.
    """
    if why := skipped(element):
        return why, None
    wanted, asked = Counter(element.words), 1 if element.has("explicit") else 2
    others = [other for other in truth if other is not element and other.page == element.page]
    said = [block for block in blocks if block.has_content]
    ranked: list[tuple[tuple[float, ...], tuple[float, float, float]]] = []
    if element.is_running:
        near = sorted((b for b in said if inside(b.box, element.box) >= 0.2), key=lambda b: b.order)
        bags = [_own_words(block, wanted, others) for block in near]
        for start in range(len(near)):
            run, overlap = Counter[str](), 0.0
            for end in range(start, min(len(near), start + 50)):
                run += bags[end]
                overlap = max(overlap, element.box.iou(near[end].box))
                scores = _token_scores(wanted, run)
                ranked.append(((scores[asked], scores[3 - asked], start - end, overlap), scores))
    else:
        for block in said:
            if inside(element.box, block.box) >= 0.3:
                scores = _token_scores(wanted, _own_words(block, wanted, others))
                ranked.append(((scores[asked], element.box.iou(block.box)), scores))
    if not ranked:
        return "no_overlap_preds", (0.0, 0.0, 0.0)
    best = max(ranked, key=lambda own: own[0])[1]
    missed = "explicit_recall_below_threshold" if asked == 1 else "f1_below_threshold"
    return "pass" if best[asked] >= 0.8 else missed, best


# --- documents ----------------------------------------------------------------------------------------------


def layout_metrics(
    rules: Sequence[Mapping[str, Any]],
    predictions: Sequence[Mapping[str, Any]],
    ontology: str = "basic",
    image_width: float = 1.0,
    image_height: float = 1.0,
) -> dict[str, Any]:
    """Return the result of each element, the shares that pass and stand in order, and the measures of
    detectors.
    """
    every = true_blocks(rules, ontology)
    truth = [element for element in every if not element.has("ignore")]
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
    """Return the number of each element that is found and says what it says, to `pass` or why it stands
    wrong.

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
            raise ValueError("An element of the truth has no position in the reading order")
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
    """Return the shares of tokens that stand in overlapping elements and blocks, and their harmonic mean.

    Blocks on pages without truth do not count.
    """
    pages = {element.page for element in truth}
    asked, found, said = [element for element in truth if skipped(element) is None], 0, 0
    for block in (own for own in pred if own.page in pages):
        near = [element for element in asked if _overlap(element, block)]
        counted = [element for element in near if not element.has("explicit")]
        if counted or not near:
            said += len(block.words)
            found += _common_words([block], counted)
    wanted = sum(len(element.words) for element in asked)
    recalled = sum(_common_words([e], [b for b in pred if _overlap(e, b)]) for e in asked)
    lap, lar = found / said if said else 1.0, recalled / wanted if wanted else 1.0
    return {"lap": lap, "lar": lar, "af1": 2 * lap * lar / (lap + lar) if lap + lar else 0.0}


def _overlap(a: GroundedBlock, b: GroundedBlock) -> bool:
    return a.page == b.page and max(inside(a.box, b.box), inside(b.box, a.box)) >= 0.3


def _common_words(a: Sequence[GroundedBlock], b: Sequence[GroundedBlock]) -> int:
    bags = [Counter(word for block in blocks for word in block.words) for blocks in (a, b)]
    return (bags[0] & bags[1]).total()


def average_precisions(
    truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock]
) -> dict[str, list[float]]:
    """Return for each class of the truth its average precision at IoU .50, .55, … .95."""
    found = {}
    for kind in sorted({str(element.kind) for element in truth}):
        wanted = [element for element in truth if element.kind == kind]
        own = sorted((block for block in pred if block.kind == kind), key=lambda b: -b.score)
        scores = [block.score for block in own]
        found[kind] = [_average_precision(hits(wanted, own, at), scores) for at in _THRESHOLDS]
    return found


def hits(truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock], threshold: float) -> list[bool]:
    """Return whether each block, the surest first, takes an element that is still free; upstream pools
    pages.
    """
    left, found = list(truth), []
    for block in pred:
        near = [(e.box.iou(block.box), -n) for n, e in enumerate(left)]
        overlap, at = max(near, default=(0.0, 0))
        found.append(bool(near) and overlap >= threshold)
        if found[-1]:
            left.pop(-at)
    return found


def _average_precision(hits: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the mean precision at each hit; blocks that are equally sure stand at one place."""
    value, found, last = 0.0, 0, 0
    for number, hit in enumerate(hits, 1):
        found += hit
        if number == len(hits) or scores[number] != scores[number - 1]:
            value += (found - last) * found / number
            last = found
    return value / found if found else 0.0
