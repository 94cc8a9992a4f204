"""The records of one page as the rows of a run."""

import importlib
from collections.abc import Sequence

from parsemark.errors import MissingDependencyError
from parsemark.formats import markdown_of
from parsemark.model import Category, Page, Prediction, Status
from parsemark.protocols.document.annotation import (
    TRUTH_HAS_NOT_ALL,
    TRUTH_HAS_ONLY_TABLES,
    annotation_of,
    mark_only_tables,
)
from parsemark.protocols.document.published import latex_text
from parsemark.protocols.document.published.cdm import add_cdm
from parsemark.protocols.document.published.measures import (
    MeasuredRecords,
    measure_pages,
    per_page_edit,
)
from parsemark.protocols.document.published.page import page_records
from parsemark.protocols.document.published.profile import Profile
from parsemark.protocols.document.published.records import Record
from parsemark.protocols.run_data.rows import PageScores, RowWriter

SHORT = {"text_block": "text", "display_formula": "formula", "table": "table", "reading_order": "order"}
"""What the elements are called in names of figures."""
COVERED_BY = {
    "text_block": Category.TEXT_BLOCK,
    "display_formula": Category.EQUATION_ISOLATED,
    "table": Category.TABLE,
    "reading_order": Category.TEXT_BLOCK,
}
"""What a truth has to cover for an element to be measured: the published code knows no partial truth."""
METRICS = {"TEDS": "teds", "TEDS_structure_only": "teds_structure", "CDM": "cdm"}
LATEX_TABLES = "latex_tables"
"""Row of a page whose tables were matched as LaTeX, under a profile that sets such pages apart."""


def preload() -> None:
    """Import what reads tables and inline formulas, which nearly every set of pages has."""
    latex_text.converter()
    importlib.import_module("bs4")


def is_evaluated(prediction: Prediction, profile: Profile) -> bool:
    """Whether the published code would see a file for this page, or takes a missing one for empty.

    A page that breaks the profile has a file, whatever is in it: it counts as an empty one.
    """
    has_file = prediction.text is not None or prediction.status in (Status.OK, Status.METRIC_FAILED)
    return profile.missing_page_is_empty or has_file


def score_page(
    truth: Page | None, prediction: Prediction, profile: Profile, *, match: str, cdm: bool
) -> PageScores:
    """All rows of a page under a published profile."""
    writer = RowWriter(prediction, profile.name)
    out, writer.why = writer.out, None
    if truth is None:
        return out
    if not is_evaluated(prediction, profile):
        status = prediction.status if prediction.status is not Status.OK else Status.NO_PREDICTION
        why = prediction.message or f"{profile.name} leaves pages without a prediction out of all means."
        for name in ("text_edit", "formula_edit", "table_edit", "order_edit"):
            writer.page(name, None, status, why)
        return out
    annotation = annotation_of(truth)
    # What this profile has failed on once is not tried again.
    has_failed = prediction.status is Status.METRIC_FAILED
    records = page_records(annotation, "" if has_failed else markdown_of(prediction), profile, match)
    results = measure_pages([(annotation, records)], profile, is_whole_run=False)
    if cdm:
        try:
            add_cdm(results, profile)
        except MissingDependencyError as error:
            writer.page("cdm", None, Status.METRIC_FAILED, str(error))
    for record in records.ignored:
        _write_match(writer, record)
    for element, measured in results.elements.items():
        if not truth.covers(COVERED_BY[element]):
            why = TRUTH_HAS_ONLY_TABLES if truth.only_tables else TRUTH_HAS_NOT_ALL
            writer.page(f"{SHORT[element]}_edit", None, Status.NO_TRUTH, why)
            continue
        for one in measured:
            if isinstance(one.record, Record):
                sides = _write_match(writer, one.record)
                writer.element(SHORT[element], *sides, "length", float(one.upper))
                for name, value in one.metric.items():
                    reason = one.reason if name == "CDM" else None
                    writer.element(SHORT[element], *sides, METRICS.get(name, "edit_distance"), value, reason)
        _page_rows(writer, element, results, profile)
    if records.latex_tables:
        writer.page(LATEX_TABLES, float(len(records.latex_tables)))
    mark_only_tables(writer)
    return out


def _write_match(writer: RowWriter, record: Record) -> tuple[Sequence[str], Sequence[str]]:
    truths, preds = record.truth_ids, [f"i{p}" for p in record.pred_idx if p != ""]
    overlap = 1 - record.edit if truths and preds else None
    writer.match(record.gt_category_type or record.pred_category_type, truths, preds, overlap)
    return truths, preds


def _page_rows(writer: RowWriter, element: str, results: MeasuredRecords, profile: Profile) -> None:
    short, measured = SHORT[element], results.elements[element]
    of_formulas = ("CDM",) if results.has_cdm else ()
    taken = {"display_formula": of_formulas, "table": ("TEDS", "TEDS_structure_only")}.get(element, ())
    for value in per_page_edit(measured).values():
        writer.page(f"{short}_edit", value)
    if measured:
        writer.page(f"{short}_edits", float(sum(m.edits for m in measured)))
        writer.page(f"{short}_length", float(sum(m.upper for m in measured)))
    for name, metric in METRICS.items():
        values = [m.metric[name] for m in measured if name in m.metric]
        if values:
            writer.page(metric, sum(values) / len(values))
        elif profile.silent_pages_are_zero and results.pages_with.get(element) and name in taken:
            writer.page(metric, 0.0, Status.NO_PREDICTION)
