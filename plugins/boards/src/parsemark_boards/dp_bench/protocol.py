"""DP-Bench (Upstage): NID over all text of a page, TEDS of its first table.

Everything is as in `upstage/dp-bench` at 2024-10-24; `docs/dp-bench.md` lists what is wrong with it
and kept. `truth.py` says what pages are made of.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rapidfuzz.fuzz import ratio

from parsemark.metrics import EditTree, tree_similarity
from parsemark.model import Category, Element, Page, Prediction
from parsemark.protocols import BoardRun, Files, as_json, html_of, in_order, predicted_elements, text_of
from parsemark_boards.dp_bench.truth import PAGE, DpBenchPage, PageData, first_tree, has_tables, page_text
from parsemark_boards.labels import label_of
from parsemark_boards.measured_protocol import (
    MeasuredProtocol,
    UnreadableTruthError,
    own_truth,
    reading_truth,
)


@dataclass(frozen=True)
class DpBenchProtocol(MeasuredProtocol):
    """NID of the text and TEDS of the first table, as DP-Bench computes them.

    Where upstream's run would end (a span that is no number, no prediction), a page is worth nothing.

    Args:
        empty_is_hundredth: An empty page met by an empty output is worth 0.01, as upstream has it; else 1.
    """

    name: ClassVar[str] = "dp-bench"
    title: ClassVar[str] = "DP-Bench: text, and first tables"
    upstream: ClassVar[str] = "dp-bench of October 2024 (mirror b29fd1c)"
    comparability: ClassVar[int] = 1
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "nid", "tables": "teds"}
    table_matching: ClassVar[str] = "order"
    truth_models: ClassVar[Mapping[str, Any]] = {PAGE: DpBenchPage}

    empty_is_hundredth: bool = True

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """Return the three numbers of a page."""
        expected = own_truth(truth, PAGE) or page_data(in_order(truth))
        output = page_data(predicted_elements(prediction))
        both_empty = not page_text(expected) and not page_text(output)
        nid = 1.0 if both_empty and not self.empty_is_hundredth else raw_nid(expected, output) / 100.0
        if not has_tables(expected):
            return {"nid": nid, "teds": None, "teds_s": None}
        with reading_truth():
            tree = first_tree(expected)
        try:
            teds = both_teds(tree, first_tree(output))
        except ZeroDivisionError as error:
            raise UnreadableTruthError("the first table is empty") from error
        except ValueError:
            teds = 0.0, 0.0
        return {"nid": nid, "teds": teds[0], "teds_s": teds[1]}

    def result_files(self, board: BoardRun) -> Files:
        """Return a prediction file of the benchmark's form for each parser, and its scores."""
        for parser in board.parsers:
            outputs = ((document, board.prediction(sample, parser)) for sample, document, _ in board.pages())
            pages = {f"{document}.pdf": page_data(predicted_elements(own)) for document, own in outputs}
            yield f"{parser}.json", as_json(pages)
        yield from super().result_files(board)


def page_data(elements: Iterable[Element]) -> dict[str, Any]:
    """Return elements in the form of the benchmark's files."""
    listed = []
    for element in elements:
        html = html_of(element) if element.category == Category.TABLE else ""
        content = {"text": text_of(element), "html": html}
        listed.append({"category": label_of(element, __package__), "content": content})
    return {"elements": listed}


def raw_nid(truth: PageData, pred: PageData) -> float:
    """Return NID of a page from 0 to 100; but 1 where both are empty, as upstream has it."""
    a, b = page_text(truth), page_text(pred)
    if not a and not b:
        return 1.0
    return ratio(a, b) if b or not a else 0.0


def both_teds(truth: EditTree | None, pred: EditTree | None) -> tuple[float, float]:
    """Return TEDS and TEDS-S of the first tables; raise ZeroDivisionError where both are empty: upstream's
    run ends.
    """
    if truth is None or pred is None:
        return 0.0, 0.0
    return tree_similarity(truth, pred, False), tree_similarity(truth, pred, True)
