"""A small protocol, as another package would bring it."""

from dataclasses import dataclass
from typing import ClassVar

from parsemark.model import Page, Prediction, Status
from parsemark.protocols import FigureInfo, FigureSums, PageProtocol, PageScores, RunTables, ScoreRow
from parsemark.protocols.run_scores.aggregate import page_means, run_sums

INFO = FigureInfo(
    name="wordiness",
    label="Wordiness",
    definition="Share of a number of words that an output has.",
    denominator="all pages",
    main=True,
)


@dataclass(frozen=True)
class WordProtocol(PageProtocol):
    """Counts words; a page-level metric and nothing else."""

    name: ClassVar[str] = "words"
    title: ClassVar[str] = "Number of words"
    comparability: ClassVar[int] = 3

    enough: int = 10

    def score_page(self, truth: Page | None, prediction: Prediction, page_text: str | None) -> PageScores:
        words = [c.text for e in prediction.tables if e.table for c in e.table.cells]
        value = min(1.0, len(words) / self.enough) if prediction.status is Status.OK else 0.0
        return PageScores(scores=[ScoreRow.of_page(prediction, INFO.name, value)])

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        return [*page_means([INFO], tables), *run_sums(tables)]
