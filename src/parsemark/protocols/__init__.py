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
from parsemark.protocols.figures.figure import Figure, FigureInfo, FigureSums, read_figures
from parsemark.protocols.figures.summary import Ranking, Slice, Summary, Verdict
from parsemark.protocols.page_elements import predicted_elements
from parsemark.protocols.presentation import Presentation, RunParser, RunView
from parsemark.protocols.result_files import BoardRun, Files, as_csv
from parsemark.protocols.run_data.rows import MatchRow, PageScores, ScoreRow
from parsemark.protocols.run_data.tables import RunTables

__all__ = [
    "DEFAULT_PROTOCOLS", "PROTOCOLS", "BoardRun", "Figure", "FigureInfo", "FigureSums", "Files", "MatchRow",
    "PageProtocol", "PageScores", "Presentation", "Ranking", "RunParser", "RunTables", "RunView", "ScoreRow",
    "Slice", "Summary", "Verdict", "as_csv", "canonical_specs", "get_protocol", "page_protocols",
    "predicted_elements", "read_figures", "with_options",
]  # fmt: skip
