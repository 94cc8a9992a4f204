"""What a report shows of whole pages beside the figures: errors, pages and profiles."""

from functools import partial

import polars as pl

from parsemark.protocols.document.omnidocbench.profile import SWITCH_SENTENCES, get_profile
from parsemark.protocols.document.strict.view import view_page
from parsemark.protocols.presentation import (
    ErrorKind,
    NamedProfile,
    PageViews,
    Presentation,
    ScoredTables,
    Switch,
    errors_by_kind,
)

_STRICT = (
    "rules of its own, which no combination of the published profiles' options gives. The cheapest alignment "
    "of truth and output puts every element into exactly one match. Case and punctuation count. Missed and "
    "invented elements and failed pages count in full. Headers, footers, page numbers and ignored elements "
    "are not counted. Its Overall is the mean of 1 − text edit, formulas, tables and 1 − order edit."
)
ERROR_KINDS = (
    ErrorKind("missed", "Missed", "An element of the page that has no match in the output."),
    ErrorKind("invented", "Invented", "An element of the output that has no match on the page."),
    ErrorKind("split", "Split", "An element that was read in several pieces."),
    ErrorKind("merged", "Merged", "Elements that were read as one."),
)


def present(profile: str) -> Presentation:
    """Show a run that was scored under a profile; published ones have no pages to draw."""
    is_strict = profile == "strict"
    pages = PageViews("text_edit", "Numbers: text edit distances; lower is better.", view_page)
    return Presentation(
        drawing="parsemark.report.presentations.document:DRAWING",
        error_kinds=ERROR_KINDS,
        element_errors=partial(_element_errors, is_strict=is_strict),
        pages=pages if is_strict else None,
        profile=_named_profile(profile),
        metrics=("edit_distance",),  # most elements have it
        hidden_metrics=frozenset({"length"}),
        lower_is_better=frozenset({"edit_distance"}),
        # Pages by the overall figure, tables by TEDS, text and formulas by their edit distance.
        slice_figure=lambda run, scope: {"page": run.primary, "table": "teds"}.get(scope, f"{scope}_edit"),
    )


def _named_profile(name: str) -> NamedProfile:
    """Return the name of a published profile with its switches; `strict` has none, but rules of its own."""
    if name == "strict":
        return NamedProfile(name, sentence=_STRICT)
    profile = get_profile(name)
    switches = tuple(Switch(n, getattr(profile, n), said) for n, said in SWITCH_SENTENCES.items())
    return NamedProfile(profile.name, switches)


def _element_errors(run: ScoredTables, *, is_strict: bool) -> pl.DataFrame:
    """Find missed, invented, split and merged elements, of those that count.

    What is matched only so that it is no extra, such as page numbers, has no score of its own. A block
    that answers texts and formulas has scores for each kind, and is one error of each element.
    """
    key = ["sample", "parser", "element", "pred"]
    metrics = ("edit_distance", "length", "teds")
    scored = pl.concat([run.scores_by(m).select(key) for m in metrics]).unique()
    truth, pred = (pl.col(side).list.join("+") for side in ("truth", "pred"))
    element = pl.when(truth != "").then(truth).otherwise(pred)
    if is_strict:  # a block of the output is in one match, so it names that
        scored = scored.with_columns(element=_unless_answered(pl.col("element"), pl.col("pred")))
        element = _unless_answered(truth, pred)
    counted = run.matches.join(
        scored, left_on=["sample", "parser", element, pred], right_on=key, how="semi", maintain_order="left"
    )
    errors = {"miss": "missed", "extra": "invented", "split": "split", "merge": "merged"}
    return errors_by_kind(counted, errors)


def _unless_answered(element: pl.Expr, pred: pl.Expr) -> pl.Expr:
    return pl.when(pred == "").then(element).otherwise(pl.lit(""))
