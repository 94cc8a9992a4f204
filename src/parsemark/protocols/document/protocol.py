"""The recipe for whole pages: its options, and where its parts are."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from parsemark.errors import UsageError
from parsemark.model import Page, Prediction
from parsemark.protocols.base import FigureSums, PageProtocol, PageScores, RunTables, Summary
from parsemark.protocols.presentation import (
    DataTable,
    ErrorKind,
    NamedProfile,
    PageView,
    PageViews,
    RunView,
    Switch,
    errors_by_kind,
)

if TYPE_CHECKING:
    import polars as pl

ProfileName = Literal["strict", "v1.0", "v1.5", "v1.6", "v1.6-fixed"]
MatchName = Literal["quick_match", "simple_match", "no_split"]

_STRICT = (
    "rules of its own, which are not made of the switches of the published profiles. Every element of truth "
    "and output is in exactly one match, found by the cheapest alignment of the two sequences; case and "
    "punctuation count; what is missed or invented counts in full, and so does a page on which the parser "
    "failed; headers, footers, page numbers and ignored elements are not counted. Its Overall is the mean of "
    "1 − text edit, formulas, tables and 1 − order edit."
)


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
    comparability: ClassVar[int] = 5
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"edit_distance"})
    error_kinds: ClassVar[tuple[ErrorKind, ...]] = (
        ErrorKind("missed", "Missed", "An element of the page that nothing answers."),
        ErrorKind("invented", "Invented", "An element of the output that answers nothing on the page."),
        ErrorKind("split", "Split", "An element that was read in several pieces."),
        ErrorKind("merged", "Merged", "Elements that were read as one."),
    )

    profile: ProfileName = "strict"
    cdm: bool = False
    match: MatchName = "quick_match"

    def __post_init__(self) -> None:
        if self.match != "quick_match" and self.profile != "v1.0":
            raise UsageError(
                f"match={self.match} works in profile v1.0 alone: in later versions it ends with an error."
            )
        if self.cdm and self.profile == "v1.0":
            raise UsageError("Profile v1.0 has no CDM; leave cdm out, or take profile v1.5 or later.")

    def preload(self) -> None:
        """The rules of the profile, and Beautiful Soup where they read tables with it."""
        if self.profile == "strict":
            importlib.import_module("parsemark.protocols.document.strict.scores")
        else:
            importlib.import_module("parsemark.protocols.document.published.scores").preload()

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Match and score one page; see `published/scores.py` and `strict/scores.py`."""
        if self.profile == "strict":
            from parsemark.protocols.document.strict.scores import score_page as score_strictly

            return score_strictly(truth, prediction, cdm=self.cdm)
        from parsemark.protocols.document.published.profile import get_profile
        from parsemark.protocols.document.published.scores import score_page

        return score_page(truth, prediction, get_profile(self.profile), match=self.match, cdm=self.cdm)

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """What the figures are made of."""
        from parsemark.protocols.document.summary import figure_sums

        return figure_sums(self, tables)

    def summarise(self, tables: RunTables) -> Summary:
        """All figures of a run; see `summary.py`."""
        from parsemark.protocols.document.summary import summarise

        return summarise(self, tables)

    def shown_metrics(self, metrics: Sequence[str]) -> list[str]:
        """Edit distance, which most elements have, first; lengths are no metric."""
        return sorted(set(metrics) - {"length"}, key=lambda metric: (metric != "edit_distance", metric))

    def slice_figure(self, summary: Summary, scope: str) -> str:
        """Pages by the overall figure, tables by TEDS, text and formulas by their edit distance."""
        return {"page": summary.primary, "table": "teds"}.get(scope, f"{scope}_edit")

    def paper_table_needs(self) -> Mapping[str, str]:
        """What OmniDocBench's tables are made of."""
        from parsemark.protocols.document.papers import NEEDS

        return NEEDS

    def paper_tables(self, run: RunView) -> list[DataTable]:
        """OmniDocBench's; see `papers.py`."""
        from parsemark.protocols.document.papers import omnidocbench_tables

        return omnidocbench_tables(run)

    def element_errors(self, run: RunView) -> pl.DataFrame:
        """Missed, invented, split and merged elements, of those that count.

        What is matched only so that it is no extra, such as page numbers, has no score of its own. A block
        that answers texts and formulas has scores for each kind, and is one error of each element.
        """
        import polars as pl

        key = ["sample", "parser", "element", "pred"]
        metrics = ("edit_distance", "length", "teds")
        scored = pl.concat([run.scores_by(m).select(key) for m in metrics]).unique()
        truth, pred = (pl.col(side).list.join("+") for side in ("truth", "pred"))
        element = pl.when(truth != "").then(truth).otherwise(pred)
        if self.profile == "strict":  # a block of the output is in one match, so it names that
            scored = scored.with_columns(element=_unless_answered(pl.col("element"), pl.col("pred")))
            element = _unless_answered(truth, pred)
        counted = run.matches.join(
            scored,
            left_on=["sample", "parser", element, pred],
            right_on=key,
            how="semi",
            maintain_order="left",
        )
        return errors_by_kind(
            counted, {"miss": "missed", "extra": "invented", "split": "split", "merge": "merged"}
        )

    def page_views(self, summary: Summary) -> PageViews | None:
        """Pages matched by our own rules; published ones have nothing to draw."""
        if self.profile != "strict":
            return None
        left_out = frozenset(summary.details.get("left_out", ()))
        return PageViews("text_edit", "Numbers are text edit distances; lower is better.", left_out)

    def view_page(self, truth: Page, prediction: Prediction) -> PageView:
        """See `strict/view.py`."""
        from parsemark.protocols.document.strict.view import view_page

        return view_page(truth, prediction)

    def named_profile(self) -> NamedProfile:
        """A published profile with its switches; `strict` has none, but rules of its own."""
        if self.profile == "strict":
            return NamedProfile(self.profile, sentence=_STRICT)
        from parsemark.protocols.document.published.profile import get_profile, switch_sentences

        profile = get_profile(self.profile)
        sentences = switch_sentences().items()
        return NamedProfile(profile.name, tuple(Switch(n, getattr(profile, n), s) for n, s in sentences))


def _unless_answered(element: pl.Expr, pred: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(pred == "").then(element).otherwise(pl.lit(""))
