"""The recipe and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from parsemark.model import Page, Prediction
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.figures import FigureInfo
from parsemark.protocols.measured import MeasuredProtocol, in_order, own_truth, score_info
from parsemark.protocols.run_tables import RunTables
from parsemark.protocols.summary import Summary

BLOCKS = "marker_blocks"
"""Where a page keeps its true blocks, as Markdown."""


@dataclass(frozen=True)
class MarkerProtocol(MeasuredProtocol):
    """Blocks of the truth looked for in the page, and their order, as marker's own benchmark does it.

    Args:
        unfound_in_order: Blocks that are not found stand at position 0 and so in perfect order, as upstream
            has it; else the order is that of the found ones, and worth nothing without any.
    """

    name: ClassVar[str] = "marker"
    title: ClassVar[str] = "marker's benchmark: blocks and their order"
    comparability: ClassVar[int] = 1
    infos: ClassVar[tuple[FigureInfo, ...]] = (
        score_info("score", "Score", "0.8 × blocks found + 0.2 × their order.", largest=100.0, main=True),
        score_info("blocks", "Blocks", "Similarity of the blocks, by length.", largest=100.0, main=True),
        score_info("order", "Order", "Kendall's tau of the blocks' places.", largest=100.0, main=True),
    )

    unfound_in_order: bool = True

    def preload(self) -> None:
        """Find pandoc, or say that it is missing, before anything is scored."""
        from parsemark.protocols.marker_bench.rules import find_pandoc

        find_pandoc()

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """The numbers of a page."""
        from parsemark.formats import markdown_of, write_document
        from parsemark.protocols.marker_bench.rules import (
            BLOCK_SHARE,
            ORDER_SHARE,
            cleaned,
            order_score,
            page_score,
        )

        blocks = own_truth(truth, BLOCKS)
        if not isinstance(blocks, list):
            blocks = [written for e in in_order(truth) if (written := write_document([e]).strip())]
        if not blocks:
            return None
        found = page_score(blocks, markdown_of(prediction), cleaned)
        score, order = found.score, found.order
        if not self.unfound_in_order:
            places = [start for start, value in zip(found.starts, found.by_block, strict=False) if value]
            order = order_score(sorted(range(len(places)), key=places.__getitem__)) if places else 0.0
            score += ORDER_SHARE * (order - found.order)
        return {"score": score, "order": order, "blocks": (score - ORDER_SHARE * order) / BLOCK_SHARE}

    def summarise(self, tables: RunTables) -> Summary:
        """The figures, with the version of pandoc that they depend on."""
        from parsemark.protocols.marker_bench.rules import pandoc_version

        sums = self.figure_sums(tables)
        return PageProtocol.summary_of(self, tables, sums, settings={"pandoc": pandoc_version()})
