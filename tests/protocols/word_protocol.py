"""A small protocol, as another package would bring it."""

from dataclasses import dataclass
from typing import ClassVar

from parsemark.model import Page, Prediction, Status
from parsemark.protocols import (
    FigureInfo,
    FigureSums,
    PageProtocol,
    PageScores,
    RunTables,
    ScoreRow,
    Summary,
)
from parsemark.protocols.aggregate import mean_sums, page_groups, page_slices, parser_figures, rank, run_sums

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
        place = prediction.sample, "", "", "", "", prediction.parser
        return PageScores(scores=[ScoreRow(*place, "words", value, prediction.status)])

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        return [mean_sums(INFO, tables.scores, "value", tables), *run_sums(tables)]

    def summarise(self, tables: RunTables) -> Summary:
        sums = self.figure_sums(tables)
        return Summary(
            protocol=str(self),
            comparability=self.comparability,
            primary="wordiness",
            counts={"pages": tables.samples.height},
            figures=[f.info for f in sums],
            parsers={parser: parser_figures(sums, parser) for parser in tables.parsers},
            slices=page_slices(sums, page_groups(tables.samples)),
            ranking=rank(sums[0]),
        )
