"""The recipe: its options and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from parsemark.model import Category, Element, Page, Prediction
from parsemark.protocols.figures import FigureInfo
from parsemark.protocols.measured import (
    MeasuredProtocol,
    html_of,
    in_order,
    own_truth,
    predicted_elements,
    score_info,
)
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.result_files import BoardRun, Files, as_json

PAGE = "dp_bench_page"
"""Where a page keeps its elements as the board's file has them."""


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
    infos: ClassVar[tuple[FigureInfo, ...]] = (
        score_info("nid", "NID", "Similarity of the text without tables, figures and charts.", main=True),
        score_info("teds", "TEDS", "Of the first table of a page.", "pages with tables", main=True),
        score_info("teds_s", "TEDS-S", "TEDS without content.", "pages with tables", main=True),
    )

    empty_is_hundredth: bool = True

    def presentation(self) -> Presentation:
        """Write the board's files."""
        return Presentation(result_files=result_files)

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """The three numbers of a page."""
        from parsemark.protocols.dp_bench.rules import page_teds, page_text, raw_nid

        wanted = own_truth(truth, PAGE) or page_data(in_order(truth))
        found = page_data(predicted_elements(prediction))
        both_empty = not page_text(wanted) and not page_text(found)
        nid = 1.0 if both_empty and not self.empty_is_hundredth else raw_nid(wanted, found) / 100.0
        try:
            teds = page_teds(wanted, found)
        except (ValueError, ZeroDivisionError):
            teds = 0.0, 0.0
        return {"nid": nid, "teds": teds and teds[0], "teds_s": teds and teds[1]}


def result_files(board: BoardRun) -> Files:
    """A prediction file of the board's form for each parser, and its scores."""
    for parser in board.parsers:
        pages = {
            f"{document}.pdf": page_data(predicted_elements(board.prediction(sample, parser)))
            for sample, document, _ in board.pages()
        }
        yield f"{parser}.json", as_json(pages)
        yield f"{parser}_scores.json", as_json(board.figures(parser))


_CATEGORIES = {str(Category.TABLE): "table", str(Category.FIGURE): "figure"}


def page_data(elements: Iterable[Element]) -> dict[str, Any]:
    """Elements in the form of the board's files."""
    return {
        "elements": [
            {
                "category": _CATEGORIES.get(str(element.category), "paragraph"),
                "content": {
                    "text": (element.text if element.text is not None else element.latex) or "",
                    "html": html_of(element) if element.category == Category.TABLE else "",
                },
            }
            for element in elements
        ]
    }
