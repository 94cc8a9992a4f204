"""The recipe for whole pages: its options, and where its parts are."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from parsemark.errors import UsageError
from parsemark.model import Page, Prediction
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.run_data.rows import PageScores
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Summary

ProfileName = Literal["strict", "v1.0", "v1.5", "v1.6", "v1.6-fixed", "v1.7"]
MatchName = Literal["quick_match", "simple_match", "no_split"]


@dataclass(frozen=True)
class DocumentProtocol(PageProtocol):
    """Whole pages: text, formulas, tables, reading order.

    Args:
        profile: `strict` is ours; the others repeat OmniDocBench's published versions, defects included.
        cdm: Whether formulas are also drawn and compared as they look; needs pdflatex.
        match: The published matcher; others than `quick_match` exist in v1.0 alone.
    """

    name: ClassVar[str] = "document"
    title: ClassVar[str] = "Whole pages"
    comparability: ClassVar[int] = 7
    needs_only_pages: ClassVar[bool] = True
    figures_by_kind: ClassVar[Mapping[str, str]] = {
        "text": "text_edit", "tables": "teds_f1", "headings": "heading_tree", "order": "order_edit",
        "formulas": "formula_f1",
    }  # fmt: skip
    table_matching: ClassVar[str] = "ngrams"

    profile: ProfileName = "strict"
    cdm: bool = False
    match: MatchName = "quick_match"

    def __post_init__(self) -> None:
        if self.match != "quick_match" and self.profile != "v1.0":
            raise UsageError(f"match={self.match} works only in profile v1.0; in later versions it fails.")
        if self.cdm and self.profile == "v1.0":
            raise UsageError("Profile v1.0 has no CDM; leave out cdm, or use profile v1.5 or later.")

    def preload(self) -> None:
        """Load the rules of the profile, and the readers of tables and inline formulas where they are
        needed.
        """
        rules = "strict" if self.profile == "strict" else "omnidocbench"
        importlib.import_module(f"parsemark.protocols.document.{rules}.scores")
        if rules == "omnidocbench":
            importlib.import_module("bs4")
            importlib.import_module("parsemark.protocols.document.omnidocbench.normalise").converter()

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Match and score one page; see `omnidocbench/scores.py` and `strict/scores.py`."""
        if self.profile == "strict":
            from parsemark.protocols.document.strict.scores import score_page as score_strictly

            return score_strictly(truth, prediction, cdm=self.cdm)
        from parsemark.protocols.document.omnidocbench.profile import get_profile
        from parsemark.protocols.document.omnidocbench.scores import score_page

        return score_page(truth, prediction, get_profile(self.profile), match=self.match, cdm=self.cdm)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the sums behind the figures."""
        from parsemark.protocols.document.summary import DocumentFigures

        figures = DocumentFigures(self.profile, self.cdm)
        return figures.sums(figures.counted(tables))

    def summarise(self, tables: RunTables) -> Summary:
        """Return all figures of a run; see `summary.py`."""
        from parsemark.protocols.document.summary import summarise

        # `strict` has a matcher of its own, which has no name to choose by.
        matcher = {} if self.profile == "strict" else {"match": self.match}
        settings = {"profile": self.profile, **matcher, "cdm": str(self.cdm).lower()}
        return summarise(self, tables, self.profile, settings, cdm=self.cdm)

    def presentation(self) -> Presentation:
        """Show OmniDocBench's tables, types of errors, whole pages and profiles; see `presentation.py`."""
        from parsemark.protocols.document.presentation import present

        return present(self.profile)
