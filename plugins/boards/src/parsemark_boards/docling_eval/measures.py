"""Measures of a document: tables, text, the tree of its items, boxes over a whole run, and pixels."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from lxml import etree, html
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from parsemark.errors import FormatError
from parsemark.kernels import kernel
from parsemark.metrics import (
    MAX_CHARACTER_PAIRS,
    MAX_POSITION_PAIRS,
    MAX_TREE_PAIRS,
    EditTree,
    check_pairs,
    corpus_bleu,
    reference_tree,
    tree_similarity,
)
from parsemark_boards.docling_eval.items import Corners, Doc, Item, complete, items_of, top_left
from parsemark_boards.docling_eval.meteor import match_words, meteor_of_pairs
from parsemark_boards.docling_eval.words import synonyms, words_of_sentences

TEXT = ("bleu", "f1_score", "precision", "recall", "edit_distance", "meteor")
LABELS = {
    "title", "document_index", "section_header", "paragraph", "table", "picture", "formula",
    "checkbox_selected", "checkbox_unselected", "text", "list_item", "code", "reference",
    "page_header", "page_footer", "key_value_region", "handwritten_text", "empty_value",
    "field_key", "field_value", "field_heading", "field_hint", "marker",
}  # fmt: skip
PIXEL_CLASSES = (
    "Background", "caption", "footnote", "formula", "list_item", "page_footer", "page_header",
    "picture", "section_header", "table", "text", "title", "document_index", "code",
    "checkbox_selected", "checkbox_unselected", "form", "key_value_region",
)  # fmt: skip
THRESHOLDS = [float(np.float32(0.5 + 0.05 * k)) for k in range(10)]  # of torch.linspace, in 32 bits
_MISSED = (
    7, 14, 17, 28, 31, 34, 37, 53, 54, 55, 56, 59, 60, 61, 62, 65, 66, 67, 68, 72, 73, 74, 78, 79, 80, 81,
    84, 85, 86, 87, 91, 92, 93, 97, 98, 99,
)  # fmt: skip
"""Recall points that torch.linspace puts a little too high, so that a recall of exactly this is below."""
RECALLS = np.array([k / 100 + (1e-9 if k in _MISSED else -1e-9) for k in range(101)])
MAX_DETECTIONS = 100
_MASK = 512
_WEIGHTED = (0.50, 0.75, 0.90, 0.95)
MAX_PIXELS = 50_000_000
_STOP_TAGS = ("<i>", "</i>", "<b>", "</b>", "<u>", "</u>")


def statistics_of(values: Sequence[float], n_bins: int = 20, top: float | None = 1.0) -> dict[str, Any]:
    """Return a list of values as the benchmark's files give it; without values mean and median are -1.

    Bins reach to `top`, or to the largest value if it is None; those of an empty list reach to 1.
    """
    top = max(values, default=1.0) if top is None else top
    hist, bins = np.histogram(values, bins=n_bins, range=(0.0, top))
    return {
        "total": len(values),
        "mean": statistics.mean(values) if values else -1.0,
        "median": statistics.median(values) if values else -1.0,
        "std": statistics.stdev(values) if len(values) > 1 else 0.0,
        "bins": [float(edge) for edge in bins],
        "hist": [float(n) for n in hist],
    }


# --- tables -------------------------------------------------------------------------------------------------


def table_teds(truth: str, pred: str, *, structure_only: bool = False) -> float | None:
    """Return TEDS of two HTML tables, not rounded; None where the benchmark fails, or raise FormatError for
    huge ones.
    """
    try:
        return tree_similarity(_tree(truth), _tree(pred), structure_only)
    except (ValueError, ZeroDivisionError, etree.ParserError, AssertionError):
        return None


def _tree(text: str) -> EditTree:
    for tag in _STOP_TAGS:
        text = text.replace(tag, "")
    root = html.fromstring(text)
    for head in root.iter("th"):
        head.tag = "td"
    tree = reference_tree(root)
    return tree if root.tag == "table" else replace(tree, row_lengths=None)


# --- text ---------------------------------------------------------------------------------------------------


def text_scores(truth: str, pred: str) -> dict[str, float]:
    """Return the six values of two Markdown texts; raise ZeroDivisionError for a blank one, where upstream's
    run ends.
    """
    check_pairs("characters", len(truth), len(pred), MAX_CHARACTER_PAIRS)
    values = token_scores(words_of_sentences(truth), words_of_sentences(pred))
    if not truth.strip() or not pred.strip():
        raise ZeroDivisionError("a text is blank")
    return {"bleu": corpus_bleu([pred], [truth]), **values}


def token_scores(truth: Sequence[str], pred: Sequence[str]) -> dict[str, float]:
    """Return the five values of two lists of words."""
    check_pairs("words", len(truth), len(pred), MAX_POSITION_PAIRS)
    common = len(set(truth) & set(pred))
    precision = common / len(set(pred)) if pred else 0.0
    recall = common / len(set(truth)) if truth else 0.0
    longest = max(len(truth), len(pred))
    wanted, said = ([word.lower() for word in words] for words in (truth, pred))
    pairs = match_words(wanted, said, synonyms)
    return {
        "f1_score": 2 * precision * recall / (precision + recall) if common else 0.0,
        "precision": precision,
        "recall": recall,
        "edit_distance": Levenshtein.distance(truth, pred) / longest,
        "meteor": meteor_of_pairs(len(wanted), len(said), pairs),
    }


# --- structure ------------------------------------------------------------------------------------


def structure_distance(truth: Iterable[Item], pred: Iterable[Item]) -> float:
    """Edit distance of two trees of labels; it is not divided by anything."""
    nodes = [list(_postorder({"label": "body", "children": list(complete(side))})) for side in (truth, pred)]
    check_pairs("items", len(nodes[0]), len(nodes[1]), MAX_TREE_PAIRS)
    trees = [kernel.ordered_tree(*(list(column) for column in zip(*own, strict=True))) for own in nodes]
    return float(kernel.ordered_tree_distance(*trees, True))


def _postorder(item: Mapping[str, Any], first: int = 0) -> list[tuple[int, str, None]]:
    """Return leftmost leaf and label of each node."""
    nodes: list[tuple[int, str, None]] = []
    for child in item.get("children", ()):
        nodes += _postorder(child, first + len(nodes))
    return [*nodes, (first, item["label"], None)]


# --- boxes --------------------------------------------------------------------------------------------------


def box_iou(a: Corners, b: Corners, least: float = 1e-6) -> float:
    """Return overlap of two boxes, with the benchmark's own addition to the union."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    common = max(0.0, width) * max(0.0, height)
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common + least)


class ClassedBox(NamedTuple):
    """A box of a class, by its number."""

    box: Corners
    kind: int


class BoxPage(NamedTuple):
    """The boxes of both sides on one page, in hundredths of the page."""

    name: str
    truth: list[ClassedBox]
    pred: list[ClassedBox]


def label_counts(docs: Iterable[Doc]) -> Counter[str]:
    """Return how many boxes have which label, in the order in which labels come."""
    return Counter(item["label"] for doc in docs for item in items_of(doc) for _ in item.get("prov", ()))


def common_labels(truth: Iterable[Doc], pred: Iterable[Doc]) -> list[str]:
    """Return the labels that both sides of a run have, and that count."""
    found = label_counts(pred)
    return [label for label in label_counts(truth) if label in found and label in LABELS]


def _boxes(doc: Doc, labels: Sequence[str]) -> dict[str, list[ClassedBox]]:
    """Return page to boxes; an item with k boxes on a page is entered k times with all of them, as upstream
    does.
    """
    pages: dict[str, list[ClassedBox]] = {}
    for item in items_of(doc):
        if item["label"] not in labels:
            continue
        places = [(str(place["page"]), place) for place in item.get("prov", ())]
        for page, place in [own for page, _ in places for own in places if own[0] == page]:
            width, height = doc["pages"][page]
            corners = np.array(top_left(place, height)) * ((100.0 / width, 100.0 / height) * 2)
            x0, y0, x1, y1 = corners.astype(np.float32).tolist()
            box = ClassedBox((x0, y0, x1, y1), labels.index(item["label"]))
            pages.setdefault(page, []).append(box)
    return pages


def box_pages(
    name: str, truth: Doc, pred: Doc, labels: Sequence[str], *, ignore_missing: bool = False
) -> list[BoxPage]:
    """Return the pages of a document that have true boxes; without predicted ones they are empty, or left
    out.
    """
    wanted, found = _boxes(truth, labels), _boxes(pred, labels)
    return [
        BoxPage(f"{name}-page-{page}", wanted[page], found.get(page, []))
        for page in sorted(wanted, key=int)
        if not ignore_missing or page in found
    ]


def average_precisions(
    pages: Sequence[BoxPage], n_classes: int, thresholds: Sequence[float] = THRESHOLDS
) -> dict[int, list[float]]:
    """Return class to AP at each threshold, of the classes that have truths; all scores are equal."""
    found = {}
    for kind in range(n_classes):
        n_truth = sum(box.kind == kind for page in pages for box in page.truth)
        if n_truth:
            found[kind] = [_precision(_hits(pages, kind, t), n_truth) for t in thresholds]
    return found


def _hits(pages: Sequence[BoxPage], kind: int, threshold: float) -> list[bool]:
    """Return whether each predicted box of a class matches a truth, by largest overlap, the last of
    equals.
    """
    hits = []
    for page in pages:
        free = {k: box.box for k, box in enumerate(page.truth) if box.kind == kind}
        for box in [own for own in page.pred if own.kind == kind][:MAX_DETECTIONS]:
            near = [(box_iou(own, box.box, 0.0) if own != box.box else 1.0, k) for k, own in free.items()]
            overlap, nearest = max(near, default=(-1.0, -1))
            hits.append(overlap >= min(threshold, 1 - 1e-10))
            if hits[-1]:
                del free[nearest]
    return hits


def _precision(hits: Sequence[bool], n_truth: int) -> float:
    if not hits:
        return 0.0
    right = np.cumsum(hits)
    precision = np.maximum.accumulate((right / np.arange(1, len(hits) + 1))[::-1])[::-1]
    places = np.searchsorted(right / n_truth, RECALLS, side="left")
    return float(np.mean([precision[k] if k < len(hits) else 0.0 for k in places]))


def page_layout(page: BoxPage, labels: Sequence[str]) -> dict[str, float]:
    """Return the measures of one page alone; `map_val` is AP at .50, as upstream has it."""
    check_pairs("boxes", len(page.truth), len(page.pred), MAX_POSITION_PAIRS // 100)
    at = average_precisions([page], len(labels), (0.5, 0.75))
    map_50, map_75 = (float(np.mean([own[k] for own in at.values()])) if at else -1.0 for k in (0, 1))
    weighted = [_weighted_iou(page, threshold) for threshold in _WEIGHTED]
    values = {"value": weighted[0], "map_val": map_50, "map_50": map_50, "map_75": map_75}
    for threshold, value in zip((75, 90, 95), weighted[1:], strict=True):
        values[f"avg_weighted_label_matched_iou_{threshold}"] = value
    picture = labels.index("picture") if "picture" in labels else -1
    rest = [[box for box in side if box.kind != picture] for side in (page.truth, page.pred)]
    for ending, sides in (("", (page.truth, page.pred)), ("_no_pictures", rest)):
        names = (f"segmentation_{name}{ending}" for name in ("precision", "recall", "f1"))
        values |= dict(zip(names, _segmentation(*sides), strict=True))
    return values


def _weighted_iou(page: BoxPage, threshold: float) -> float:
    free, total, weight = list(page.truth), 0.0, 0.0
    for box, kind in page.pred:
        overlaps = ((k, box_iou(own.box, box, 0.0)) for k, own in enumerate(free) if own.kind == kind)
        taken = next((own for own in overlaps if own[1] >= threshold), None)
        if taken is not None:
            area = (box[2] - box[0]) * (box[3] - box[1])
            total, weight = total + area * taken[1], weight + area
            del free[taken[0]]
    return total / weight if weight else 0.0


def _segmentation(truth: Sequence[ClassedBox], pred: Sequence[ClassedBox]) -> tuple[float, float, float]:
    if not truth:
        return float(not pred), 1.0, float(not pred)
    if not pred:
        return 1.0, 0.0, 0.0
    a, b = (_mask(side) for side in (truth, pred))
    both, n_truth, n_pred = (float(part.sum()) for part in (a & b, a, b))
    precision, recall = both / n_pred if n_pred else 0.0, both / n_truth if n_truth else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0


def _mask(boxes: Iterable[ClassedBox]) -> NDArray[np.bool_]:
    mask = np.zeros((_MASK, _MASK), dtype=bool)
    for (x0, y0, x1, y1), _ in boxes:
        left, top, right, bottom = (int(v * _MASK / 100) for v in (x0, y0, x1, y1))
        mask[max(0, top) : max(0, min(_MASK, bottom)), max(0, left) : max(0, min(_MASK, right))] = True
    return mask


def layout_evaluation(
    docs: Sequence[tuple[str, Doc, Doc]], labels: Sequence[str], *, ignore_missing: bool = False
) -> dict[str, Any]:
    """Return the benchmark's figures of a run; raise TypeError where it has exactly one class, as upstream's
    run ends.
    """
    every = (box_pages(*doc, labels, ignore_missing=ignore_missing) for doc in docs)
    pages = [page for own in every for page in own]
    seen = sorted({box.kind for page in pages for box in [*page.truth, *page.pred]})
    if len(seen) == 1:
        raise TypeError("iteration over a 0-d tensor")
    found = {kind: float(np.mean(own)) for kind, own in average_precisions(pages, len(labels)).items()}
    measured = [page_layout(page, labels) for page in pages]
    images = [{"name": page.name, **own} for page, own in zip(pages, measured, strict=True)]
    names = {"map_50": "map_50", "map_75": "map_75", "map": "map_val", "weighted_map_50": "value"}
    names |= {f"weighted_map_{t}": f"avg_weighted_label_matched_iou_{t}" for t in (75, 90, 95)}
    segmented = [f"segmentation_{name}" for name in ("precision", "recall", "f1")]
    names |= {f"{name}{end}": f"{name}{end}" for name in segmented for end in ("", "_no_pictures")}
    stats = {name: statistics_of([own[key] for own in measured]) for name, key in names.items()}
    return {
        "mAP": float(np.mean(list(found.values()))) if found else -1.0,
        "per_class": {labels[kind]: found.get(kind, -1.0) for kind in seen},
        "images": images,
        "stats": {f"{name}_stats": own for name, own in stats.items()},
    }


# --- pixels -------------------------------------------------------------------------------------------------

Matrix = NDArray[np.float64]


def pixel_matrix(truth: Doc, pred: Doc, page: str) -> Matrix:
    """Return how pixels are classed, true class by predicted one; raise FormatError for a page that is too
    large.
    """
    width, height = map(math.ceil, truth["pages"][page])
    if width * height > MAX_PIXELS:
        raise FormatError(f"The page has more than {MAX_PIXELS:,} pixels")
    masks = []
    for doc in (truth, pred):
        mask = np.zeros((height, width), dtype=np.uint32)
        for item in items_of(doc):
            if item["label"] not in PIXEL_CLASSES[1:]:
                continue
            for place in item.get("prov", ()):
                if str(place["page"]) == page:
                    x0, y0, x1, y1 = top_left(place, doc["pages"][page][1])
                    rows = slice(math.floor(y0), math.ceil(y1))
                    cells = mask[rows, math.floor(x0) : math.ceil(x1)]
                    cells |= np.uint32(1 << PIXEL_CLASSES.index(item["label"]))
        masks.append(np.where(mask == 0, np.uint32(1), mask))
    pairs, counts = np.unique(masks[0].astype(np.uint64) << 32 | masks[1], return_counts=True)
    matrix = np.zeros((len(PIXEL_CLASSES), len(PIXEL_CLASSES)))
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        sides = (
            frozenset(k for k in range(len(PIXEL_CLASSES)) if bits >> k & 1)
            for bits in (pair >> 32, pair & 0xFFFFFFFF)
        )
        for (g, p), share in _shares(*sides).items():
            matrix[g, p] += share * count
    return matrix


def _shares(truth: frozenset[int], pred: frozenset[int]) -> dict[tuple[int, int], float]:
    """Return the contribution of one pixel."""
    lost, extra, both = truth - pred, pred - truth, truth & pred
    if truth < pred:
        own = {(g, g): len(truth) / len(pred) for g in truth}
        return own | {(g, p): 1 / len(pred) for g in truth for p in extra}
    own = {(k, k): 1.0 for k in both}
    targets = pred if pred < truth else extra
    return own | {(g, p): 1 / len(targets) for g in lost for p in targets}


def matrix_scores(matrix: Matrix) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall and F1 of each class, 0 where they are not defined."""
    right = np.diag(matrix)

    def share(part: Matrix, whole: Matrix) -> Matrix:
        return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)

    precision, recall = share(right, matrix.sum(axis=0)), share(right, matrix.sum(axis=1))
    f1 = share(2 * precision * recall, precision + recall)
    return {"precision": precision, "recall": recall, "f1": f1}


def collapsed(matrix: Matrix) -> Matrix:
    """Return background against all other classes together."""
    rest = matrix[1:, 1:].sum()
    return np.array([[matrix[0, 0], matrix[0, 1:].sum()], [matrix[1:, 0].sum(), rest]])


def pixel_pages(truth: Doc) -> list[str]:
    """Return the pages with a true box of a class of pixels."""
    counted = [item for item in items_of(truth) if item["label"] in PIXEL_CLASSES[1:]]
    return sorted({str(place["page"]) for item in counted for place in item.get("prov", ())}, key=int)


def pixel_scores(matrix: Matrix) -> dict[str, float]:
    """Return the means over all 18 classes, present or not, and over the two collapsed ones."""
    whole, two = matrix_scores(matrix), matrix_scores(collapsed(matrix))
    values = {f"{name}_mean": float(own.mean()) for name, own in whole.items()}
    return {**values, "collapsed_f1_mean": float(two["f1"].mean())}
