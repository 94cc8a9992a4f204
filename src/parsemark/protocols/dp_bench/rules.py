"""DP-Bench's rules (Upstage): NID over all text of a page, TEDS of its first table.

Everything is as in `upstage/dp-bench` at 2024-10-24; `docs/boards/dp-bench.md` lists what is wrong with it
and kept. Pages are as in its files: `{"elements": [{"category", "content": {"text", "html"}}]}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rapidfuzz.fuzz import ratio

from parsemark.kernels.search import between
from parsemark.metrics.edit_tree import EditTree, reference_table, reference_tree
from parsemark.metrics.teds import tree_similarity

PageData = Mapping[str, Any]
_NO_TEXT = ("figure", "table", "chart")
_OPENING, _CLOSING = re.compile("<table[^>]*?>"), re.compile("</table>")


def validity_error(truth: Mapping[str, PageData], pred: Mapping[str, PageData]) -> str | None:
    """Why upstream refuses two files before it scores them."""
    if not truth or not pred:
        return "a file has no pages"
    for name, page in [*truth.items(), *pred.items()]:
        if not isinstance(page, Mapping) or "elements" not in page:
            return f"{name} has no elements"
        for element in page["elements"]:
            content = element.get("content")
            if element.get("category") is None or content is None:
                return f"an element of {name} has no category or no content"
            if content.get("text") is None:
                return f"an element of {name} has no text"
    return None


def page_text(page: PageData) -> str:
    """All text but that of figures, tables and charts; line ends are deleted, which joins words."""
    texts = [e["content"]["text"] for e in page["elements"] if e["category"].lower() not in _NO_TEXT]
    return "".join(f"{text} " for text in texts).replace("\n", "")


def raw_nid(truth: PageData, pred: PageData) -> float:
    """NID of a page from 0 to 100; but 1 where both are empty, as upstream has it."""
    a, b = page_text(truth), page_text(pred)
    if not a and not b:
        return 1.0
    return ratio(a, b) if b or not a else 0.0


def page_tables(page: PageData) -> str:
    """What stands in the page's table elements, as one document."""
    parts = []
    for element in page["elements"]:
        if element["category"].lower() == "table":
            html = element["content"]["html"]
            inner = [html[a:b] for _, a, b, _ in between(html, _OPENING, _CLOSING)]
            parts += [f"<table>{part}</table>" for part in inner or [html]]
    return f"<html><body>{''.join(parts)}</body></html>"


def has_tables(page: PageData) -> bool:
    """Whether a page counts for TEDS."""
    return page_tables(page) != "<html><body></body></html>"


def page_teds(truth: PageData, pred: PageData) -> tuple[float, float] | None:
    """TEDS and TEDS-S of the first tables; None where the truth has no table.

    Raises:
        ValueError: A span is no number; upstream's run ends there.
        ZeroDivisionError: Both tables are empty; upstream's run ends there.
        FormatError: The tables are too large.
    """
    if not has_tables(truth):
        return None
    a, b = _tree(page_tables(truth)), _tree(page_tables(pred))
    if a is None or b is None:
        return 0.0, 0.0
    return tree_similarity(a, b, False), tree_similarity(a, b, True)


def _tree(document: str) -> EditTree | None:
    if not document.startswith("<html><body><table>") and not document.endswith("</table></body></html>"):
        document = f"<html><body><table>{document}</table></body></html>"
    table = reference_table(document)
    return None if table is None else reference_tree(table)


def dataset_scores(truth: Mapping[str, PageData], pred: Mapping[str, PageData]) -> dict[str, float]:
    """The three numbers of a leaderboard entry.

    Raises:
        TypeError: The prediction lacks a page of the truth.
    """
    for name in truth:
        if name not in pred:
            raise TypeError(f"the prediction has no page {name}")
    nid = sum(raw_nid(page, pred[name]) for name, page in truth.items()) / (100 * len(truth))
    pairs = [pair for name, page in truth.items() if (pair := page_teds(page, pred[name])) is not None]
    both = [sum(values) / len(pairs) for values in zip(*pairs, strict=True)] if pairs else [0.0, 0.0]
    return {"nid": nid, "teds": both[0], "teds_s": both[1]}
