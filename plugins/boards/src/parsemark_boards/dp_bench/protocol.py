"""DP-Bench (Upstage): NID over all text of a page, TEDS of its first table.

Everything is as in `upstage/dp-bench` at 2024-10-24; `docs/dp-bench.md` lists what is wrong with it
and kept. Pages are as in its files: `{"elements": [{"category", "content": {"text", "html"}}]}`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rapidfuzz.fuzz import ratio

from parsemark.metrics import EditTree, reference_table, reference_tree, tree_similarity
from parsemark.model import Category, Element, Page, Prediction
from parsemark.protocols import BoardRun, Files, as_json, html_of, in_order, predicted_elements, text_of
from parsemark.protocols.board_truth import blame, own_truth
from parsemark_boards.labels import label_of
from parsemark_boards.measured_protocol import MeasuredProtocol
from parsemark_boards.near_search import between

PAGE = "dp_bench_page"  # where a page keeps its elements as the board's file has them
PageData = Mapping[str, Any]
_FORM = {"elements": {"category": None, "content": {"text": None, "html": None}}}
_NO_TEXT = ("figure", "table", "chart")
_OPENING, _CLOSING = re.compile("<table[^>]*?>"), re.compile("</table>")


@dataclass(frozen=True)
class DpBenchProtocol(MeasuredProtocol):
    """NID of the text and TEDS of the first table, as DP-Bench computes them.

    Where upstream's run would end (a span that is no number, no prediction), a page is worth nothing.

    Args:
        empty_is_hundredth: An empty page met by an empty output is worth 0.01, as upstream has it; else 1.
    """

    name: ClassVar[str] = "dp-bench"
    title: ClassVar[str] = "DP-Bench: text, and first tables"
    comparability: ClassVar[int] = 1
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "nid", "tables": "teds"}
    table_matching: ClassVar[str] = "order"
    truth_keys: ClassVar[tuple[str, ...]] = (PAGE,)

    empty_is_hundredth: bool = True

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """The three numbers of a page."""
        wanted = own_truth(truth, PAGE, dict, _FORM) or page_data(in_order(truth))
        found = page_data(predicted_elements(prediction))
        both_empty = not page_text(wanted) and not page_text(found)
        nid = 1.0 if both_empty and not self.empty_is_hundredth else raw_nid(wanted, found) / 100.0
        try:
            teds = page_teds(wanted, found)
        except (ValueError, ZeroDivisionError) as error:
            blame(error, lambda: page_teds(wanted, wanted))
            teds = 0.0, 0.0
        return {"nid": nid, "teds": teds and teds[0], "teds_s": teds and teds[1]}

    def result_files(self, board: BoardRun) -> Files:
        """A prediction file of the board's form for each parser, and its scores."""
        for parser in board.parsers:
            outputs = ((document, board.prediction(sample, parser)) for sample, document, _ in board.pages())
            pages = {f"{document}.pdf": page_data(predicted_elements(own)) for document, own in outputs}
            yield f"{parser}.json", as_json(pages)
        yield from super().result_files(board)


def page_data(elements: Iterable[Element]) -> dict[str, Any]:
    """Elements in the form of the board's files."""
    listed = []
    for element in elements:
        html = html_of(element) if element.category == Category.TABLE else ""
        content = {"text": text_of(element), "html": html}
        listed.append({"category": label_of(element, __package__), "content": content})
    return {"elements": listed}


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


def page_teds(truth: PageData, pred: PageData) -> tuple[float, float] | None:
    """TEDS and TEDS-S of the first tables; None where the truth has no table.

    Upstream's run ends with ValueError where a span is no number, ZeroDivisionError where both are empty.
    """
    wanted = page_tables(truth)
    if wanted == "<html><body></body></html>":
        return None
    a, b = _tree(wanted), _tree(page_tables(pred))
    if a is None or b is None:
        return 0.0, 0.0
    return tree_similarity(a, b, False), tree_similarity(a, b, True)


def _tree(document: str) -> EditTree | None:
    if not document.startswith("<html><body><table>") and not document.endswith("</table></body></html>"):
        document = f"<html><body><table>{document}</table></body></html>"
    table = reference_table(document)
    return None if table is None else reference_tree(table)
