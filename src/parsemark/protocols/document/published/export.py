"""The result files of the published programs, of the pages of one parser (section 12)."""

from collections.abc import Mapping, Sequence
from typing import Any

from parsemark.formats import markdown_of
from parsemark.model import Page, Prediction
from parsemark.protocols.document.annotation import annotation_of, page_position
from parsemark.protocols.document.published.cdm import add_cdm
from parsemark.protocols.document.published.measures import (
    MeasuredRecords,
    measure_pages,
    metric_result,
    per_page_edit,
)
from parsemark.protocols.document.published.page import page_records
from parsemark.protocols.document.published.profile import Profile
from parsemark.protocols.document.published.records import Record
from parsemark.protocols.document.published.scores import is_evaluated


def result_files(
    pages: Sequence[tuple[Page, Prediction]],
    profile: Profile,
    *,
    match: str = "quick_match",
    cdm: bool = False,
) -> dict[str, Any]:
    """The content of each file, by its name without `{save}_`.

    Pages come in the order of their annotation file, as the published programs take them.
    """
    ordered = sorted(pages, key=lambda pair: page_position(pair[0]))
    matched = [
        (annotation, page_records(annotation, markdown_of(prediction), profile, match))
        for page, prediction in ordered
        if is_evaluated(prediction, profile)
        for annotation in (annotation_of(page),)
    ]
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
    return [
        {
            "gt": m.record.gt.strip("$"),
            "pred": m.record.pred.strip("$"),
            "img_id": str(number),
            "img_name": m.page,
        }
        for number, m in enumerate(results.elements["display_formula"])
        if isinstance(m.record, Record)
    ]


def _add_debug(metrics: dict[str, Any], results: MeasuredRecords, n_pages: int) -> None:
    """What v1.6 says about its limits of time; here nothing is timed, so no case ever hits them."""
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
    """Overall as v1.6's notebook has it; null where a term is missing."""
    text = metrics["text_block"]["all"].get("Edit_dist", {}).get("ALL_page_avg")
    teds, cdm = (
        None if (value := metrics[element]["page"].get(name, {}).get("ALL")) is None else value * 100
        for element, name in (("table", "TEDS"), ("display_formula", "CDM"))
    )
    is_known = isinstance(text, float | int) and teds is not None and cdm is not None
    return {
        "notebook_metric_summary": {
            "text_block_Edit_dist": text,
            "table_TEDS": teds,
            "display_formula_CDM": cdm,
            "overall_notebook": sum([(1 - text) * 100, teds, cdm]) / 3 if is_known else None,
        },
        "page_denominators": {
            "pages": len(results.page_attributes),
            **{element: len({m.page for m in measured}) for element, measured in results.elements.items()},
        },
    }
