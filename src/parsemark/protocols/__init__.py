"""Recipes: which matching, which metrics, which figures. One folder each."""

from parsemark.protocols.contract import (
    DEFAULT_PROTOCOLS,
    PROTOCOLS,
    PageProtocol,
    canonical_specs,
    get_protocol,
    page_protocols,
    with_options,
)
from parsemark.protocols.figures.figure import Figure, FigureInfo, FigureSums
from parsemark.protocols.figures.summary import Ranking, Slice, Summary, Verdict
from parsemark.protocols.presentation import Presentation, RunParser, RunView
from parsemark.protocols.run_data.rows import MatchRow, PageScores, ScoreRow
from parsemark.protocols.run_data.tables import RunTables

__all__ = [
    "DEFAULT_PROTOCOLS", "PROTOCOLS", "Figure", "FigureInfo", "FigureSums", "MatchRow", "PageProtocol",
    "PageScores", "Presentation", "Ranking", "RunParser", "RunTables", "RunView", "ScoreRow", "Slice",
    "Summary", "Verdict", "canonical_specs", "get_protocol", "page_protocols", "with_options",
]  # fmt: skip
