"""Recipes: which matching, which metrics, which figures. One folder each.

What protocols of other packages use is here, in `facts` (yes/no statements about pages) and in
`figures.aggregate` (sums over pages).
"""

from parsemark.formats.document import predicted_elements
from parsemark.protocols.contract import (
    DEFAULT_PROTOCOLS,
    PROTOCOLS,
    PageProtocol,
    WholeRun,
    canonical_specs,
    get_protocol,
    page_protocols,
    with_options,
)
from parsemark.protocols.page_elements import html_of, in_order, text_of
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.result_files import BoardRun, Files, as_csv, as_json, as_lines, read_lines
from parsemark.protocols.run_data.rows import PAGE_LEVEL, MatchRow, PageScores, ScoreRow
from parsemark.protocols.run_scores.sums import FigureSums, read_figures, read_toml
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Figure, FigureInfo, Ranking, Slice, Summary, Verdict

__all__ = [
    "DEFAULT_PROTOCOLS", "PAGE_LEVEL", "PROTOCOLS", "BoardRun", "Figure", "FigureInfo", "FigureSums", "Files",
    "MatchRow", "PageProtocol", "PageScores", "Presentation", "Ranking", "RunTables",
    "ScoreRow", "Slice", "Summary", "Verdict", "WholeRun", "as_csv", "as_json", "as_lines", "canonical_specs",
    "get_protocol", "html_of", "in_order", "page_protocols", "predicted_elements", "read_figures",
    "read_lines", "read_toml", "text_of", "with_options",
]  # fmt: skip
