"""What other boards' programs do around their rules: no figure of a run needs it, conformance compares it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parsemark_boards.dp_bench.protocol import both_teds, raw_nid
from parsemark_boards.dp_bench.truth import PageData, first_tree, has_tables
from parsemark_boards.opendataloader.protocol import MEASURES
from parsemark_boards.rd_tablebench.protocol import read_grid, similarity


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


def means(pages: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The board's numbers of an engine: each measure over the pages where it is defined."""
    found: dict[str, float | None] = {}
    for name in ("overall", *MEASURES):
        values = [value for page in pages if (value := page[name]) is not None]
        found[name] = sum(values) / len(values) if values else None
    return found


def page_teds(truth: PageData, pred: PageData) -> tuple[float, float] | None:
    """DP-Bench's TEDS and TEDS-S of the first tables; None where the truth has no table."""
    return both_teds(first_tree(truth), first_tree(pred)) if has_tables(truth) else None


def html_similarity(truth: str, pred: str) -> float:
    """RD-TableBench's similarity of two HTML tables."""
    return similarity(read_grid(truth), read_grid(pred))
