"""CDM of the formula records (section 10.1)."""

from typing import Any

from parsemark.protocols.document.published.measures import MeasuredRecord, MeasuredRecords
from parsemark.protocols.document.published.normalise import without_tags
from parsemark.protocols.document.published.profile import Profile
from parsemark.protocols.document.published.records import Record

_FENCE = "```latex"


def cdm_strings(record: Record, profile: Profile) -> tuple[str, list[str]]:
    """The truth, and the predictions of which the better one counts."""
    pred = record.pred
    if _FENCE in pred:
        pred = pred.rpartition(_FENCE)[2].partition("```")[0]
    if profile.cdm != "v1.6":
        return record.gt.strip("$").strip(), [pred.strip("$").strip()]
    truth = record.gt if record.gt_cdm is None else record.gt_cdm
    pred = pred.strip().strip("$").strip()
    for left, right in (("\\[", "\\]"), ("\\(", "\\)")):
        if pred.startswith(left) and pred.endswith(right) and len(pred) >= 4:
            pred = pred[2:-2]
    preds = [without_tags(pred).strip()]
    return truth, preds + ([record.pred_cdm_alt] if record.pred_cdm_alt else [])


def add_cdm(results: MeasuredRecords, profile: Profile) -> None:
    """Draw the formulas of all records and add the measure `CDM`.

    Raises:
        MissingDependencyError: There is no pdflatex that works; no record has the measure then.
    """
    from parsemark.metrics.cdm.score import cdm_scores

    pairs: list[tuple[str, str]] = []
    owners: list[MeasuredRecord] = []
    for one in results.elements["display_formula"]:
        if isinstance(one.record, Record):
            truth, preds = cdm_strings(one.record, profile)
            pairs += ((truth, pred) for pred in preds)
            owners += [one] * len(preds)
            one.pred_cdm = preds[0]
    version: Any = profile.cdm
    scores = cdm_scores(pairs, version)
    results.has_cdm = True
    for one, score in zip(owners, scores, strict=True):
        if score.value >= one.metric.get("CDM", -1.0):
            one.metric["CDM"] = score.value
            one.reason = score.reason
