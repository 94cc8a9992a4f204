"""Visual grounding: whether elements are found where they are, as what they are, and with what they say."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

from parsemark.metrics.size_limits import MAX_POSITION_PAIRS, check_pairs
from parsemark.protocols.parsebench.text import check_markdown, subbed

Box = tuple[float, float, float, float]
_BASIC = ("Table", "Picture", "Page-header", "Page-footer")
_RUNNING = ("Page-header", "Page-footer")
_CORE = {"Code": "Text", "Document Index": "Text", "Key-Value Region": "Text"}
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_TYPOGRAPHY = str.maketrans(
    {**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟", '"'), **dict.fromkeys("–—‐‑‒―−", "-"), "…": "..."}
)
_LEAST = 1e-10


def norm_layout(text: str, *, images: bool = False) -> str:
    """A text as grounding compares it."""
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
    found = re.search(r"\balt\s*=\s*[\"']([^\"']*)[\"']", tag[0], re.I)
    return found[1] if found else ""


def tokens(text: str) -> list[str]:
    """The words of a normalised text."""
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
    """The words of what an element says."""
    if not content:
        return []
    if content.get("type") == "table":
        source = str(content.get("html") or "")
        if ignore_head:
            source = re.sub(r"<thead\b.*?</thead>", "", source, flags=re.S | re.I)
        parser = _Data()
        parser.feed(check_markdown(source))
        parser.close()
        return tokens(norm_layout(" ".join(parser.parts), images=images))
    return tokens(norm_layout(str(content.get("text") or ""), images=images))


def in_ontology(label: str, ontology: str) -> str | None:
    """The class of a label; None where the ontology has none."""
    if ontology == "canonical":
        return label
    if ontology == "core":
        return _CORE.get(label, label)
    if label in ("Title", "Section-header", "Section"):
        return "Section"
    return label if label in _BASIC else "Text"


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _common(a: Box, b: Box) -> float:
    return _area((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))


def _inside(a: Box, b: Box) -> float:
    return _common(a, b) / max(_LEAST, _area(a))


def _iou(a: Box, b: Box) -> float:
    common = _common(a, b)
    return common / max(_LEAST, _area(a) + _area(b) - common)


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
    attributes: Mapping[str, str] | None = None


def _is_true(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "yes")


def true_blocks(rules: Sequence[Mapping[str, Any]], ontology: str) -> list[GroundedBlock]:
    """The elements that rules name."""
    found = []
    for number, rule in enumerate(rules):
        attributes = {key: str(value) for key, value in (rule.get("attributes") or {}).items()}
        if attributes.get("content") == "explicit":
            attributes["explicit"] = "true"
        if _is_true(attributes.get("ignore")):
            continue
        x, y, w, h = rule["bbox"]
        label = str(rule["canonical_class"])
        no_head = _is_true(attributes.get("ignore_thead")) or _is_true(attributes.get("ignore_head"))
        words = content_tokens(
            rule.get("content"), ignore_head=no_head, images=label in ("Picture", *_RUNNING)
        )
        attributes["label"] = label
        order = rule.get("ro_index")
        box, kind = (x, y, x + w, y + h), in_ontology(label, ontology)
        place = rule.get("page") or 1, box, kind, words, number if order is None else order
        found.append(GroundedBlock(*place, bool(rule.get("content")), attributes=attributes))
    return found


def predicted_blocks(
    predictions: Sequence[Mapping[str, Any]], width: float, height: float, ontology: str
) -> list[GroundedBlock]:
    """What an output has where."""
    found = []
    counts = Counter[int]()
    for own in predictions:
        page = own.get("page") or 1
        given = (own.get("provider_metadata") or {}).get("order_index")
        order = given if isinstance(given, int) else counts[page]
        counts[page] += 1
        kind = in_ontology(str(own["label"]), ontology)
        x0, y0, x1, y1 = own["bbox"]
        box = (x0 / width, y0 / height, x1 / width, y1 / height)
        if kind is not None:
            content = own.get("content")
            words = content_tokens(content)
            found.append(GroundedBlock(page, box, kind, words, order, bool(content), own.get("score", 1.0)))
    return found


def grounded(truth: Sequence[GroundedBlock], pred: Sequence[GroundedBlock]) -> list[dict[str, Any]]:
    """What came of each element."""
    check_pairs("blocks", len(truth), len(pred), MAX_POSITION_PAIRS // 100)
    found = []
    for element in truth:
        own = [block for block in pred if block.page == element.page]
        label = (element.attributes or {}).get("label")
        matched, localised = None, False
        group = [b for b in own if _inside(b.box, element.box) >= 0.2] if label in _RUNNING else []
        if group:
            localised, matched = _spanned(element, group)
        else:
            fits = [
                b for b in own if _inside(element.box, b.box) >= 0.5 and _inside(b.box, element.box) >= 0.2
            ]
            localised = bool(fits) and label not in _RUNNING
            if fits:
                matched = max(fits, key=lambda b: _iou(element.box, b.box))
            elif own:
                matched = max(own, key=lambda b: _inside(element.box, b.box))
        classed = localised and matched is not None and matched.kind == element.kind
        attributed = _attributed(element, truth, own, running=label in _RUNNING)
        found.append(
            {
                "page": element.page,
                "localization_pass": localised,
                "classification_pass": classed,
                "attribution_applicable": attributed is not None,
                "attribution_pass": bool(attributed),
                "passes": classed and attributed is not False,
            }
        )
    return found


def _spanned(element: GroundedBlock, group: Sequence[GroundedBlock]) -> tuple[bool, GroundedBlock]:
    x0, y0, x1, y1 = element.box
    clipped = [(max(x0, b.box[0]), max(y0, b.box[1]), min(x1, b.box[2]), min(y1, b.box[3])) for b in group]
    width = (max(b[2] for b in clipped) - min(b[0] for b in clipped)) / max(_LEAST, x1 - x0)
    covered, end = 0.0, y0
    for _, top, _, bottom in sorted(clipped, key=lambda b: b[1]):
        covered += max(0.0, bottom - max(top, end))
        end = max(end, bottom)
    passes = width >= 0.8 and covered / max(_LEAST, y1 - y0) >= 0.5
    return passes, max(group, key=lambda b: _iou(element.box, b.box))


def _token_scores(wanted: Counter[str], found: Counter[str]) -> tuple[float, float]:
    """Recall and F1."""
    common = (wanted & found).total()
    if not common:
        return 0.0, 0.0
    precision, recall = common / found.total(), common / wanted.total()
    return recall, 2 * precision * recall / (precision + recall)


def _attributed(
    element: GroundedBlock, truth: Sequence[GroundedBlock], blocks: Sequence[GroundedBlock], *, running: bool
) -> bool | None:
    """Whether a block near an element says what it says; None where that is not asked."""
    attributes = element.attributes or {}
    is_formula = attributes.get("label") == "Formula" or attributes.get("text_role") == "formula"
    if not element.words or is_formula or _is_true(attributes.get("caption")):
        return None
    wanted, explicit = Counter(element.words), _is_true(attributes.get("explicit"))
    said = [block for block in blocks if block.has_content]
    runs: list[tuple[list[str], float]] = []
    if running:
        near = sorted((b for b in said if _inside(b.box, element.box) >= 0.2), key=lambda b: b.order)
        for start in range(len(near)):
            for end in range(start + 1, min(len(near), start + 50) + 1):
                words = [word for block in near[start:end] for word in block.words]
                runs.append((words, 0.0))
    else:
        for block in said:
            if _inside(element.box, block.box) >= 0.3:
                others = Counter[str]()
                for other in truth:
                    is_near = other.page == element.page and _inside(other.box, block.box) >= 0.3
                    if other is not element and is_near:
                        others.update(other.words)
                left = Counter(block.words) - (others - wanted)
                runs.append((list(left.elements()), _iou(element.box, block.box)))
    scores = [_token_scores(wanted, Counter(words)) for words, _ in runs]
    return any((recall if explicit else f1) >= 0.8 for recall, f1 in scores)


def layout_metrics(
    rules: Sequence[Mapping[str, Any]],
    predictions: Sequence[Mapping[str, Any]],
    ontology: str = "basic",
    image_width: float = 1.0,
    image_height: float = 1.0,
) -> dict[str, Any]:
    """The shares of elements that are found, classed and said, and that pass altogether."""
    truth = true_blocks(rules, ontology)
    elements = grounded(truth, predicted_blocks(predictions, image_width, image_height, ontology))
    n, asked = len(elements), [own for own in elements if own["attribution_applicable"]]
    located, classed = (
        sum(own[f"{name}_pass"] for own in elements) for name in ("localization", "classification")
    )
    said = sum(own["attribution_pass"] for own in asked)
    values: dict[str, Any] = {"elements": elements}
    if n:
        values |= {
            "layout_localization_pass_rate": located / n,
            "layout_classification_pass_rate": classed / n,
            "layout_element_rule_pass_rate": sum(own["passes"] for own in elements) / n,
            "layout_rule_pass_rate": (located + classed + said) / (2 * n + len(asked)),
            "rule_pass_rate": (located + classed + said) / (2 * n + len(asked)),
        }
    if asked:
        values["layout_attribution_pass_rate"] = said / len(asked)
    return values
