"""The records of one page as the rows of a run."""

from __future__ import annotations

from collections.abc import Sequence

from parsemark.errors import MissingDependencyError
from parsemark.formats import markdown_of
from parsemark.model import Page, Prediction, Status
from parsemark.protocols.document.annotation import (
    TABLES_ONLY,
    TRUTH_HAS_ONLY_TABLES,
    annotation_of,
    gives_only_tables,
    mark_only_tables,
)
from parsemark.protocols.document.published import latex_text, table_html
from parsemark.protocols.document.published.cdm import add_cdm
from parsemark.protocols.document.published.measures import (
    MeasuredRecord,
    MeasuredRecords,
    measure_pages,
    per_page_edit,
)
from parsemark.protocols.document.published.page import page_records
from parsemark.protocols.document.published.profile import Profile
from parsemark.protocols.document.published.records import Record
from parsemark.protocols.rows import PAGE_LEVEL, MatchRow, PageScores, ScoreRow

SHORT = {"text_block": "text", "display_formula": "formula", "table": "table", "reading_order": "order"}
"""What the elements are called in names of figures."""
METRICS = {"TEDS": "teds", "TEDS_structure_only": "teds_structure", "CDM": "cdm"}
LATEX_TABLES = "latex_tables"
"""Row of a page whose tables were matched as LaTeX, under a profile that sets such pages apart."""


def preload() -> None:
    """Import what reads tables and inline formulas, which nearly every set of pages has."""
    latex_text.preload()
    table_html.preload()


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
    out = PageScores()
    if truth is None:
        return out
    writer = _PublishedWriter(prediction, profile.name, out)
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
        writer.match(record)
    for element, measured in results.elements.items():
        if truth.only_tables and element != "table":
            writer.page(f"{SHORT[element]}_edit", None, Status.NO_TRUTH, TRUTH_HAS_ONLY_TABLES)
            continue
        for one in measured:
            writer.element(element, one)
        _page_rows(writer, element, measured, results, profile)
    if records.latex_tables:
        writer.page(LATEX_TABLES, float(len(records.latex_tables)))
    if prediction.status is Status.OK and gives_only_tables(prediction) and not mark_only_tables(out.scores):
        writer.page("text_edit", None, Status.NO_PREDICTION, TABLES_ONLY)
    return out


class _PublishedWriter:
    def __init__(self, prediction: Prediction, rule: str, out: PageScores) -> None:
        self.prediction, self.rule, self.out = prediction, rule, out

    def match(self, record: Record) -> None:
        truth, pred = record.truth_ids, tuple(f"i{p}" for p in record.pred_idx if p != "")
        kind = "extra" if not truth else "miss" if not pred else "pair"
        if kind == "pair" and (len(truth) > 1 or len(pred) > 1):
            kind = "split" if len(truth) == 1 else "merge" if len(pred) == 1 else "many"
        self.out.matches.append(
            MatchRow(
                self.prediction.sample,
                self.prediction.parser,
                self.rule,
                record.gt_category_type or record.pred_category_type,
                truth,
                pred,
                kind,
                1 - record.edit if truth and pred else None,
                None,
            )
        )

    def element(self, element: str, measured: MeasuredRecord) -> None:
        record = measured.record
        if not isinstance(record, Record):
            return
        self.match(record)
        pred = "+".join(f"i{p}" for p in record.pred_idx if p != "")
        status = Status.OK if pred else Status.NO_PREDICTION
        values = {"length": float(measured.upper)}
        for name, value in measured.metric.items():
            values[METRICS.get(name, "edit_distance")] = value
        for metric, value in values.items():
            self.out.scores.append(
                ScoreRow(
                    self.prediction.sample,
                    "+".join(record.truth_ids) or pred,
                    pred,
                    self.rule,
                    SHORT[element],
                    self.prediction.parser,
                    metric,
                    value,
                    status if record.truth_ids else Status.NO_TRUTH,
                    measured.reason if metric == "cdm" else None,
                )
            )

    def page(
        self, metric: str, value: float | None, status: Status = Status.OK, message: str | None = None
    ) -> None:
        place = self.prediction.sample, PAGE_LEVEL, "", self.rule, PAGE_LEVEL, self.prediction.parser
        self.out.scores.append(ScoreRow(*place, metric, value, status, message))


def _page_rows(
    writer: _PublishedWriter,
    element: str,
    measured: Sequence[MeasuredRecord],
    results: MeasuredRecords,
    profile: Profile,
) -> None:
    short = SHORT[element]
    for value in per_page_edit(measured).values():
        writer.page(f"{short}_edit", value)
    if measured:
        writer.page(f"{short}_edits", float(sum(m.edits for m in measured)))
        writer.page(f"{short}_length", float(sum(m.upper for m in measured)))
    for name, metric in METRICS.items():
        values = [m.metric[name] for m in measured if name in m.metric]
        if values:
            writer.page(metric, sum(values) / len(values))
        elif (
            profile.silent_pages_are_zero
            and results.pages_with.get(element)
            and _belongs(name, element, results)
        ):
            writer.page(metric, 0.0, Status.NO_PREDICTION)


def _belongs(metric: str, element: str, results: MeasuredRecords) -> bool:
    """Whether a measure was taken of this kind of element."""
    return (
        results.has_cdm
        if metric == "CDM" and element == "display_formula"
        else (metric != "CDM" and element == "table")
    )
