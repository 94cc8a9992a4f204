"""Measures of a document: tables, text, text by boxes, and the tree of its items."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from lxml import etree, html
from rapidfuzz.distance import Levenshtein

from parsemark.kernels import kernel
from parsemark.metrics.bleu import corpus_bleu
from parsemark.metrics.edit_tree import EditTree, reference_tree
from parsemark.metrics.meteor import match_words, score_of, words_of_sentences
from parsemark.metrics.size_limits import MAX_CHARACTER_PAIRS, MAX_POSITION_PAIRS, MAX_TREE_PAIRS, check_pairs
from parsemark.metrics.teds import tree_similarity
from parsemark.metrics.wordnet import synonyms
from parsemark.protocols.boards.docling_eval.items import Corners, Item, complete

TEXT = ("bleu", "f1_score", "precision", "recall", "edit_distance", "meteor")
_STOP_TAGS = ("<i>", "</i>", "<b>", "</b>", "<u>", "</u>")


def statistics_of(values: Sequence[float], n_bins: int = 20, top: float | None = 1.0) -> dict[str, Any]:
    """A list of values as the board's files give it; without values mean and median are -1."""
    top = max(values, default=0.0) if top is None else top
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
    """TEDS of two tables as HTML, not rounded; None where the board's own code fails.

    Raises:
        FormatError: The tables are too large.
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
    """The six values of two Markdown texts.

    Raises:
        ZeroDivisionError: A text is nothing but white space; upstream's run ends there.
        FormatError: The texts are too long.
    """
    check_pairs("characters", len(truth), len(pred), MAX_CHARACTER_PAIRS)
    values = token_scores(words_of_sentences(truth), words_of_sentences(pred))
    if not truth.strip() or not pred.strip():
        raise ZeroDivisionError("a text is blank")
    return {"bleu": corpus_bleu([pred], [truth]), **values}


def token_scores(truth: Sequence[str], pred: Sequence[str]) -> dict[str, float]:
    """The five values of two lists of words."""
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
        "meteor": score_of(len(wanted), len(said), pairs),
    }


def box_iou(a: Corners, b: Corners, least: float = 1e-6) -> float:
    """Overlap of two boxes, with the board's own addition to the union."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    common = max(0.0, width) * max(0.0, height)
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common + least)


# --- structure ------------------------------------------------------------------------------------


def structure_distance(truth: Iterable[Item], pred: Iterable[Item]) -> float:
    """Edit distance of two trees of labels; it is not divided by anything."""
    nodes = [list(_postorder({"label": "body", "children": list(complete(side))})) for side in (truth, pred)]
    check_pairs("items", len(nodes[0]), len(nodes[1]), MAX_TREE_PAIRS)
    trees = [kernel.ordered_tree(*(list(column) for column in zip(*own, strict=True))) for own in nodes]
    return float(kernel.ordered_tree_distance(*trees, True))


def _postorder(item: Mapping[str, Any], first: int = 0) -> list[tuple[int, str, None]]:
    """Leftmost leaf and label of each node."""
    nodes: list[tuple[int, str, None]] = []
    for child in item.get("children", ()):
        nodes += _postorder(child, first + len(nodes))
    return [*nodes, (first, item["label"], None)]
