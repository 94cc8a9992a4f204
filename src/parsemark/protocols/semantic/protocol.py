"""The protocol `semantic`: how pages are scored, judges asked and figures summed."""

from dataclasses import dataclass

from parsemark.matching.tables import CONFIDENCE_THRESHOLD
from parsemark.model import Page, Prediction
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.run_data.rows import PageScores
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.protocols.semantic.options import SemanticOptions
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Summary


@dataclass(frozen=True)
class SemanticProtocol(SemanticOptions):
    """Tables scored from 0 to 10 by a rule or by a language model."""

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Match and score the tables of one page; see `page.py`."""
        from parsemark.protocols.semantic.page import score_page

        return score_page(self, truth, prediction)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the sums behind the figures; see `figures.py`."""
        from parsemark.protocols.semantic.figures import figure_sums

        return figure_sums(self.judge, tables)

    def summarise(self, tables: RunTables) -> Summary:
        """Return all figures of a run; see `figures.py`."""
        from parsemark.protocols.semantic.figures import summarise

        return summarise(self, tables)

    def presentation(self) -> Presentation:
        """Show Horn & Keuper's Figure 6 and Table 3."""
        drawing = "parsemark.report.presentations.semantic:DRAWING"
        return Presentation(drawing=drawing, sure_above=CONFIDENCE_THRESHOLD)
