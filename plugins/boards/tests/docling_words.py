"""What docling-eval compares that no output here has: forms, words with boxes, text by boxes, orders."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from parsemark.metrics import MAX_POSITION_PAIRS, check_pairs
from parsemark_boards.docling_eval.items import Corners
from parsemark_boards.docling_eval.measures import box_iou, token_scores
from parsemark_boards.docling_eval.words import words_of_sentences

Cells = Mapping[str, Any]
Word = Mapping[str, Any]
_FAR = 1e6
EPS = 1e-6


def _counts(tp: int, n_pred: int, n_truth: int) -> dict[str, float]:
    fp, fn = n_pred - tp, n_truth - tp
    precision = tp / (tp + fp) if tp + fp else 1.0
    recall = tp / (tp + fn) if tp + fn else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"tp": tp, "fp": fp, "fn": fn, "precision": precision, "recall": recall, "f1": f1}


def key_values(truth: Cells | None, pred: Cells | None, *, strict: bool = False) -> dict[str, Any]:
    """Entities and relations of two forms `{cells: [{id, label, text, box}], links: [[source, target]]}`."""
    counts: dict[str, Any] = {
        "entity_count": [len(side["cells"]) if side else 0 for side in (truth, pred)],
        "link_count": [len(side["links"]) if side else 0 for side in (truth, pred)],
    }
    if not truth or not pred:
        none = dict.fromkeys(("tp", "fp", "fn", "precision", "recall", "f1"), 0)
        return {**dict.fromkeys(("entity", "entity_bbox", "relation", "relation_bbox"), none), **counts}
    check_pairs("cells", len(truth["cells"]), len(pred["cells"]), MAX_POSITION_PAIRS)
    check_pairs("links", len(truth["links"]), len(pred["links"]), MAX_POSITION_PAIRS)
    alike = (lambda a, b: a == b) if strict else _alike
    cells = [side["cells"] for side in (truth, pred)]
    texts = [[_text(cell) for cell in side] for side in cells]
    if strict:
        wanted, found = set(texts[0]), set(texts[1])
        entity = _counts(len(wanted & found), len(found), len(wanted))
    else:
        free, hits = list(texts[0]), 0
        for text in texts[1]:
            at = next((k for k, own in enumerate(free) if alike(own, text)), None)
            if at is not None:
                del free[at]
                hits += 1
        entity = _counts(hits, len(texts[1]), len(texts[0]))

    def cell_overlap(a: Word, b: Word) -> float:
        if not alike(_text(a), _text(b)) or not a.get("box") or not b.get("box"):
            return 0.0
        return box_iou(tuple(a["box"]), tuple(b["box"]))

    def link_overlap(a: tuple[Word, Word], b: tuple[Word, Word]) -> float:
        both = [cell_overlap(x, y) for x, y in zip(a, b, strict=True)]
        return sum(both) / 2 if min(both) > 0 else 0.0

    links = [_links(side) for side in (truth, pred)]
    named = [dict.fromkeys(tuple((_text(c), c["label"]) for c in link) for link in side) for side in links]
    related = sum(any(alike(a[0], b[0]) and alike(x[0], y[0]) for a, x in named[0]) for b, y in named[1])
    return {
        "entity": entity,
        "entity_bbox": _counts(_assigned(*cells, cell_overlap), len(cells[1]), len(cells[0])),
        "relation": _counts(related, len(named[1]), len(named[0])),
        "relation_bbox": _counts(_assigned(*links, link_overlap), len(links[1]), len(links[0])),
        **counts,
    }


def _text(cell: Word) -> str:
    return str(cell.get("text") or "").strip().lower()


def _alike(a: str, b: str) -> bool:
    distance, total = Levenshtein.distance(a, b), len(a) + len(b)
    return distance <= 3 or (total - distance) / total >= 0.8


def _links(side: Cells) -> list[tuple[Word, Word]]:
    by_id = {cell["id"]: cell for cell in side["cells"]}
    return [(by_id[a], by_id[b]) for a, b in side["links"] if a in by_id and b in by_id]


def _assigned(truth: Sequence[Any], pred: Sequence[Any], overlap: Callable[[Any, Any], float]) -> int:
    from scipy.optimize import linear_sum_assignment

    if not truth or not pred:
        return 0
    costs = np.array([[-v if (v := overlap(a, b)) > 0 else _FAR for b in pred] for a in truth])
    return int((costs[linear_sum_assignment(costs)] < _FAR).sum())


def sentence_bleu(truth: Sequence[str], pred: Sequence[str]) -> float:
    """Nltk's BLEU of words, which is hardly more than 0 where longer runs do not match."""
    from nltk.translate.bleu_score import corpus_bleu

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(corpus_bleu([[list(truth)]], [list(pred)]))


def boxes_text(
    truth: Sequence[tuple[Corners, str]], pred: Sequence[tuple[Corners, str]]
) -> list[dict[str, Any]]:
    """Pieces of text joined by their boxes, each with the six values of its words.

    Raises:
        ZeroDivisionError: Neither side of a match has a word; upstream's run ends there.
    """
    check_pairs("boxes", len(truth), len(pred), MAX_POSITION_PAIRS)
    true_is_pivot = len(truth) <= len(pred)
    pivot, others = (truth, pred) if true_is_pivot else (pred, truth)
    received: dict[int, list[int]] = {}
    for number, (box, _) in enumerate(others):
        if pivot:
            overlaps = [box_iou(box, own) for own, _ in pivot]
            received.setdefault(max(range(len(pivot)), key=overlaps.__getitem__), []).append(number)
    pairs = [([pivot[k]], [others[n] for n in came]) for k, came in received.items()]
    if not true_is_pivot:
        pairs = [(came, own) for own, came in pairs]
    alone = [truth[k] for k in range(len(truth)) if k not in received] if true_is_pivot else []
    if not pivot:
        alone = list(truth)
    return [_box_match(*pair) for pair in [*pairs, *(([own], []) for own in alone)]]


def _box_match(truth: Sequence[tuple[Corners, str]], pred: Sequence[tuple[Corners, str]]) -> dict[str, Any]:
    a, b = ([word for _, text in side for word in words_of_sentences(text)] for side in (truth, pred))
    return {
        "true_boxes": [list(box) for box, _ in truth],
        "pred_boxes": [list(box) for box, _ in pred],
        "true_tokens": a,
        "pred_tokens": b,
        "scores": {"bleu": sentence_bleu(a, b), **token_scores(a, b)},
    }


def order_scores(areas: Sequence[float], order: Sequence[int]) -> tuple[float, float]:
    """ard_norm and w_ard_norm of an order of boxes with these areas.

    Raises:
        ZeroDivisionError: No box has an area.
    """
    n, total = len(areas), sum(areas)
    if not n:
        return 0.0, 0.0
    steps = [abs(place - true) for place, true in enumerate(order)]
    weighted = sum(step * area / total for step, area in zip(steps, areas, strict=True))
    return 1 - sum(steps) / n**2, 1 - weighted / n**2


# --- words --------------------------------------------------------------------------------------------------


class _Overlap:
    """How two words overlap."""

    def __init__(self, a: Corners, b: Corners) -> None:
        width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        self.area = width * height if width > EPS and height > EPS else 0.0
        sizes = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
        union = sum(sizes) - self.area
        self.iou = self.area / union if self.area and union > 0 else 0.0
        self.covers = bool(self.area) and any(size > 0 and self.area / size > 0.5 for size in sizes)


def word_scores(truth: Sequence[Word], pred: Sequence[Word]) -> dict[str, float]:
    """Detection and recognition of the words of a page, in percent, and the sums they are made of."""
    check_pairs("words", len(truth), len(pred), MAX_POSITION_PAIRS // 100)
    overlaps = [[_Overlap(tuple(a["box"]), tuple(b["box"])) for b in pred] for a in truth]
    best_of_pred = [max((row[j].iou for row in overlaps), default=0.0) for j in range(len(pred))]
    best_of_true = [max((cell.iou for cell in row), default=0.0) for row in overlaps]
    fits_true = [
        [j for j, cell in enumerate(row) if cell.covers and cell.iou >= best_of_pred[j]] for row in overlaps
    ]
    fits_pred = [
        [i for i, row in enumerate(overlaps) if row[j].covers and row[j].iou >= best_of_true[i]]
        for j in range(len(pred))
    ]
    matches: list[tuple[list[Word], list[Word]]] = []
    lost = {i for i, fits in enumerate(fits_true) if not fits}
    extra = {j for j, fits in enumerate(fits_pred) if not fits}
    done: set[int] = set()
    for j, fits in enumerate(fits_pred):
        if len(fits) < 2:
            continue
        if _in_one_line(truth, fits, max(fits, key=lambda i: overlaps[i][j].area)):
            matches.append(([truth[i] for i in fits], [pred[j]]))
            done |= set(fits)
        else:
            extra.add(j)
            lost |= {i for i in fits if fits_true[i]}
    for i, fits in enumerate(fits_true):
        if fits and i not in done and i not in lost:
            matches.append(([truth[i]], [pred[j] for j in fits]))
            if len(fits) > 1:
                extra -= set(fits)
    return _word_figures(matches, [pred[j] for j in sorted(extra)], [truth[i] for i in sorted(lost - done)])


def _is_vertical(word: Word) -> bool:
    x0, y0, x1, y1 = word["box"]
    return x1 - x0 > EPS and y1 - y0 > 2 * (x1 - x0) and len(word["text"]) > 1


def _along(a: Corners, b: Corners, axis: int) -> float:
    common = min(a[axis + 2], b[axis + 2]) - max(a[axis], b[axis])
    hull = max(a[axis + 2], b[axis + 2]) - min(a[axis], b[axis])
    return max(0.0, common) / hull if hull > 0 else 0.0


def _in_one_line(words: Sequence[Word], fits: Sequence[int], anchor: int) -> bool:
    n_vertical = sum(_is_vertical(words[i]) for i in fits)
    along, across, least = (0, 1, 0.3) if len(fits) - n_vertical > n_vertical else (1, 0, 0.5)
    own = tuple(words[anchor]["box"])
    for box in (tuple(words[i]["box"]) for i in fits if i != anchor):
        sizes = sorted((own[across + 2] - own[across], box[across + 2] - box[across]))
        enough = 0.0 if sizes[0] < 0.5 * sizes[1] else least
        if not (_along(own, box, along) < 0.2 and _along(own, box, across) > enough):
            return False
    return True


def _joined(words: Sequence[Word]) -> str:
    return " ".join(word["text"] for word in sorted(words, key=lambda word: word["box"][0]))


def _word_figures(
    matches: Sequence[tuple[Sequence[Word], Sequence[Word]]], extra: Sequence[Word], lost: Sequence[Word]
) -> dict[str, float]:
    tp, fp, fn = len(matches), len(extra), len(lost)
    precision, recall = tp / max(EPS, tp + fp), tp / max(EPS, tp + fn)
    letters_fp, letters_fn = (float(sum(len(word["text"]) for word in side)) for side in (extra, lost))
    pairs = [(_joined(a), _joined(b), len(a)) for a, b in matches]
    longest = EPS + sum(max(len(a), len(b), 1) for a, b, _ in pairs)
    weight = float(sum(n for *_, n in pairs))
    found: dict[str, float] = {
        "number_of_prediction_cells": tp + fp,
        "number_of_gt_cells": tp + fn,
        "number_of_false_positive_detections": fp,
        "number_of_true_positive_matches": tp,
        "number_of_false_negative_detections": fn,
        "detection_precision": 100 * precision,
        "detection_recall": 100 * recall,
        "detection_f1": 100 * 2 * precision * recall / max(EPS, precision + recall),
        "tp_words_weighted": weight,
        "sum_max_len_tp": longest,
        "text_len_fp": letters_fp,
        "text_len_fn": letters_fn,
    }
    for name, fold in (("sensitive", str), ("insensitive", str.upper)):
        distances = [(Levenshtein.distance(fold(a.strip()), fold(b.strip())), n) for a, b, n in pairs]
        wrong = EPS + sum(distance for distance, _ in distances)
        perfect = float(sum(n for distance, n in distances if distance == 0))
        all_letters = longest + letters_fp + letters_fn
        found[f"word_accuracy_{name}"] = 100 * perfect / max(EPS, weight + fp + fn)
        found[f"character_accuracy_{name}"] = 100 * (
            1 - (wrong + letters_fp + letters_fn) / max(EPS, all_letters)
        )
        found[f"perfect_matches_{name}_weighted"] = perfect
        found[f"sum_ed_{name}_tp"] = wrong
    return found


def words_of_run(pages: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The figures of a run of `word_scores`: from summed counts, but means of pages for characters."""
    total = {key: sum(page[key] for page in pages) for key in (pages[0] if pages else ())}
    tp, n_pred, n_true = (
        total.get(f"number_of_{name}", 0.0)
        for name in ("true_positive_matches", "prediction_cells", "gt_cells")
    )
    precision, recall = tp / max(EPS, n_pred), tp / max(EPS, n_true)
    wrong = total.get("text_len_fp", 0.0)
    found = {
        "f1": 200 * precision * recall / max(EPS, precision + recall),
        "recall": 100 * recall,
        "precision": 100 * precision,
    }
    weight = total.get("tp_words_weighted", 0.0) + n_pred + n_true - 2 * tp
    for name in ("sensitive", "insensitive"):
        perfect = total.get(f"perfect_matches_{name}_weighted", 0.0)
        found[f"word_accuracy_{name}"] = 100 * perfect / max(EPS, weight)
        wrong = total.get(f"character_accuracy_{name}", 0.0)
        found[f"character_accuracy_{name}"] = wrong / len(pages) if pages else 0.0
    return {key: round(value, 2) for key, value in found.items()}
