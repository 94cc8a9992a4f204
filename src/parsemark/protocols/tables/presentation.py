"""What a report shows of the `tables` protocol beside its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from parsemark.matching.ngrams import put_together
from parsemark.model import Element
from parsemark.protocols.presentation import Presentation
from parsemark.protocols.summary import Summary
from parsemark.protocols.tables.charts import charts_of_parser, sections
from parsemark.protocols.tables.errors import ERROR_KINDS, errors_of_matches, explain_pair
from parsemark.protocols.tables.evidence import CONFIDENCE_THRESHOLD
from parsemark.protocols.tables.figure_definitions import metric_words
from parsemark.protocols.tables.papers import NEEDS, soric_tables

RULE_WORDS = {
    "bbox": "an optimal one-to-one assignment by the overlap of boxes (IoU)",
    "content": "an optimal one-to-one assignment by the overlap of contents (content-Jaccard)",
    "ngrams": "character 3-grams, with pieces of a split table put together and merged tables cut apart",
}


def present(metrics: tuple[str, ...]) -> Presentation:
    """Show a run that was scored by these metrics, that of the ranking first."""
    return Presentation(
        charts=sections,
        parser_charts=charts_of_parser,
        paper_tables=soric_tables,
        paper_table_needs=NEEDS,
        error_kinds=ERROR_KINDS,
        element_errors=errors_of_matches,
        explain=explain_pair,
        join_pieces=_join_pieces,
        rules=tuple(RULE_WORDS),  # matching in order of confidence is for curves alone
        rule_words=RULE_WORDS,
        metrics=metrics,
        metric_words=metric_words,
        slice_figure=_slice_figure,
        sure_above=CONFIDENCE_THRESHOLD,
    )


def _slice_figure(summary: Summary, scope: str) -> str:
    """Compare pages by F1; a table has no precision of its own, so tables by recall."""
    return summary.primary if scope == "page" else summary.primary.replace("te_f1_", "te_recall_")


def _join_pieces(truth: Element, pieces: Sequence[Element]) -> Element | None:
    """Put pieces below or beside each other, as they are scored."""
    table = put_together(truth, pieces)
    return None if table is None else replace(pieces[0], table=table, html=None, latex=None)
