"""The records of pages as the rows of a run, and as the published programs write them (section 12)."""

from collections.abc import Mapping, Sequence
from typing import Any

from parsemark.errors import MissingDependencyError
from parsemark.formats import markdown_of
from parsemark.model import Category, Page, Prediction, Status
from parsemark.protocols.document.annotation import (
    TRUTH_HAS_NOT_ALL,
    TRUTH_HAS_ONLY_TABLES,
    annotation_of,
    mark_only_tables,
)
from parsemark.protocols.document.omnidocbench.measures import (
    MeasuredRecords,
    add_cdm,
    measure_pages,
    metric_result,
    per_page_edit,
)
from parsemark.protocols.document.omnidocbench.page import page_records
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.records import Record
from parsemark.protocols.run_data.rows import PageScores, RowWriter

SHORT = {"text_block": "text", "display_formula": "formula", "table": "table", "reading_order": "order"}
"""What the elements are called in names of figures."""
COVERED_BY = {
    "text_block": Category.TEXT_BLOCK, "display_formula": Category.EQUATION_ISOLATED,
    "table": Category.TABLE, "reading_order": Category.TEXT_BLOCK,
}  # fmt: skip
"""What a truth has to cover for an element to be measured: the published code knows no partial truth."""
METRICS = {"TEDS": "teds", "TEDS_structure_only": "teds_structure", "CDM": "cdm"}
LATEX_TABLES = "latex_tables"
"""Row of a page whose tables were matched as LaTeX, under a profile that sets such pages apart."""


def is_evaluated(prediction: Prediction, profile: Profile) -> bool:
    """Return whether the published code would see a file for this page, or takes a missing one for empty.

    A page that breaks the profile has a file, whatever is in it: it counts as an empty one.
    """
    has_file = prediction.text is not None or prediction.status in (Status.OK, Status.METRIC_FAILED)
    return profile.missing_page_is_empty or has_file


def score_page(
    truth: Page | None, prediction: Prediction, profile: Profile, *, match: str, cdm: bool
) -> PageScores:
    """Return all rows of a page under a published profile."""
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


# --- result files -------------------------------------------------------------------------------------------


def result_files(
    pages: Sequence[tuple[Page, Prediction]],
    profile: Profile,
    *,
    match: str = "quick_match",
    cdm: bool = False,
) -> dict[str, Any]:
    """Return the content of each file, by its name without `{save}_`.

    Pages come in the order of their annotation file, as the published programs take them.
    """
    places = [(page.annotation or {}).get("page_index", 0) for page, _ in pages]
    order = sorted(range(len(pages)), key=lambda k: places[k] if isinstance(places[k], int) else 0)
    seen = [(annotation_of(page), p) for page, p in (pages[k] for k in order) if is_evaluated(p, profile)]
    matched = [(own, page_records(own, markdown_of(p), profile, match)) for own, p in seen]
    results = measure_pages(matched, profile)
    if cdm:
        add_cdm(results, profile)
    files: dict[str, Any] = {"metric_result": _sorted(metric_result(results, profile))}
    for element, measured in results.elements.items():
        files[f"{element}_result"] = [
            m.to_json() | ({} if m.pred_cdm is None else {"img_id_cdm": str(k), "pred_cdm": m.pred_cdm})
            for k, m in enumerate(measured)
        ]
        files[f"{element}_per_page_edit"] = per_page_edit(measured)
    if profile.name != "v1.0":
        files["table_per_table_TEDS"] = _per_sample(results, "table", ("TEDS", "TEDS_structure_only"))
        if cdm:
            per_formula = _per_sample(results, "display_formula", ("CDM",))
            files["display_formula_per_sample_CDM"] = {k: v["CDM"] for k, v in per_formula.items()}
    if profile.cdm != "v1.6" or not cdm:
        files["display_formula_formula"] = _for_the_cdm_tool(results)
    if profile.name.startswith("v1.6"):
        files["run_summary"] = _run_summary(files["metric_result"], results)
        _add_debug(files["metric_result"], results, len(matched))
    return files


def _sorted(data: Any) -> Any:
    return {key: _sorted(data[key]) for key in sorted(data)} if isinstance(data, dict) else data


def _per_sample(results: MeasuredRecords, element: str, names: Sequence[str]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for measured in results.elements[element]:
        record = measured.record
        if isinstance(record, Record) and all(name in measured.metric for name in names):
            found[f"{record.img_id}_{record.gt_idx}"] = {name: measured.metric[name] for name in names}
    return found


def _for_the_cdm_tool(results: MeasuredRecords) -> list[dict[str, Any]]:
    found = [(m, m.record) for m in results.elements["display_formula"] if isinstance(m.record, Record)]
    return [
        {"gt": record.gt.strip("$"), "pred": record.pred.strip("$"), "img_id": str(k), "img_name": m.page}
        for k, (m, record) in enumerate(found)
    ]


def _add_debug(metrics: dict[str, Any], results: MeasuredRecords, n_pages: int) -> None:
    """Add v1.6's counts of its time limits; here nothing is timed, so they are always 0."""
    for element, name, about, failures in (
        ("table", "TEDS", {"stage": "TEDS", "workers": 1, "timeout_sec": 120.0}, "error"),
        ("display_formula", "CDM", {"stage": "CDM", "workers": 1}, "exception"),
    ):
        if name in metrics[element]["all"]:
            about["sample_count"] = sum(name in m.metric for m in results.elements[element])
            for kind in ("timeout", failures):
                about |= {f"{kind}_case_count": 0, f"{kind}_cases": []}
            metrics[element]["metric_debug"] = {name: about}
    fallbacks = ("quick_match_timeout", "page_timeout")
    metrics["match_debug"] = {
        "workers": 1,
        "page_count": n_pages,
        "quick_match_truncated_timeout_sec": 300,
        "match_timeout_sec": 420,
        "text_match_fallback_pages": {name: [] for name in fallbacks},
        "text_match_fallback_counts": dict.fromkeys(fallbacks, 0),
    }


def _run_summary(metrics: Mapping[str, Any], results: MeasuredRecords) -> dict[str, Any]:
    """Return overall as v1.6's notebook has it; null where a term is missing."""
    text = metrics["text_block"]["all"].get("Edit_dist", {}).get("ALL_page_avg")
    teds, cdm = (
        None if (value := metrics[element]["page"].get(name, {}).get("ALL")) is None else value * 100
        for element, name in (("table", "TEDS"), ("display_formula", "CDM"))
    )
    is_known = isinstance(text, float | int) and teds is not None and cdm is not None
    overall = sum([(1 - text) * 100, teds, cdm]) / 3 if is_known else None
    terms = {"text_block_Edit_dist": text, "table_TEDS": teds, "display_formula_CDM": cdm}
    pages = {element: len({m.page for m in measured}) for element, measured in results.elements.items()}
    return {
        "notebook_metric_summary": {**terms, "overall_notebook": overall},
        "page_denominators": {"pages": len(results.page_attributes), **pages},
    }
