"""The recipe: its options, and where its parts are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsemark.model import Page, Prediction
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.figures import FigureSums
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.rows import PageScores
from parsemark.protocols.run_tables import RunTables
from parsemark.protocols.summary import Summary


@dataclass(frozen=True)
class OlmocrProtocol(PageProtocol):
    """Every test of olmOCR-bench is passed or not; the score is the mean of the groups' shares.

    The options are known defects of the board, as they are by default; see `docs/boards/olmocr.md`.

    Args:
        short_text_in_query: A page shorter than the query is searched in the query: a blank passes.
        rounding: Exactly `max_diffs` differences fail for some lengths.
        unrenderable_passes: A true formula that shows nothing passes with any formula.
        errors_void: A page without output, or a table that makes upstream's code fail, voids all scores of a
            parser. Off by default: such pages count as empty ones.
        skip_baseline: Leave out the tests that every page has.
    """

    name: ClassVar[str] = "olmocr"
    title: ClassVar[str] = "olmOCR-bench: unit tests on pages"
    comparability: ClassVar[int] = 1
    reads_facts: ClassVar[bool] = True

    short_text_in_query: bool = True
    rounding: bool = True
    unrenderable_passes: bool = True
    errors_void: bool = False
    skip_baseline: bool = False

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Decide the facts of one page; see `page.py`."""
        from parsemark.formats import markdown_of
        from parsemark.protocols.facts.scoring import facts_of, nothing_to_ask
        from parsemark.protocols.olmocr.page import score_facts
        from parsemark.protocols.olmocr.rules import RULES, Quirks

        facts = [fact for fact in facts_of(truth, RULES) if not self.skip_baseline or fact.kind != "baseline"]
        if not facts:
            return nothing_to_ask(prediction, "facts")
        quirks = Quirks(self.short_text_in_query, self.rounding, self.unrenderable_passes)
        return score_facts(facts, prediction, markdown_of(prediction), quirks)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """What the figures are made of; see `figures.py`."""
        from parsemark.protocols.olmocr.figures import figure_sums

        return figure_sums(tables, self.errors_void)

    def summarise(self, tables: RunTables) -> Summary:
        """All figures, and the board's own interval; see `figures.py`."""
        from parsemark.protocols.olmocr.figures import board_intervals, notes_of

        parts = {
            "details": {"board_interval": board_intervals(tables, self.errors_void)},
            "notes": notes_of(tables),
        }
        return self.summary_of(tables, self.figure_sums(tables), **parts)

    def presentation(self) -> Presentation:
        """Show facts page by page, and write the board's files; see `facts/views.py` and `exports.py`."""
        from parsemark.protocols.facts.views import fact_views
        from parsemark.protocols.olmocr.exports import result_files

        return Presentation(pages=fact_views(self.score_page, "overall"), result_files=result_files)
