"""The measures of records and their means: over elements, pages and attributes (section 9)."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from parsemark.errors import FormatError
from parsemark.kernels import kernel
from parsemark.protocols.document.omnidocbench.cdm import cdm_strings
from parsemark.protocols.document.omnidocbench.page import Order, PageRecords
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.records import Record
from parsemark.protocols.document.omnidocbench.table_html import as_older_parser, norm_table

_NAN = "NaN"


@dataclass(slots=True)
class MeasuredRecord:
    """A record, or the reading order of a page, with its measures."""

    record: Record | Order
    page: str
    gt: str
    pred: str
    upper: int
    edits: int
    metric: dict[str, float] = field(default_factory=dict)
    pred_cdm: str | None = None  # what was drawn, where CDM was asked for
    reason: str | None = None  # why CDM is 0, where a formula could not be drawn

    def to_json(self) -> dict[str, Any]:
        """Return the form of the result files."""
        base = asdict(self.record) if isinstance(self.record, Order) else self.record.to_json()
        extra = {"image_name": self.page, "upper_len": self.upper, "metric": self.metric}
        return base | extra | {"Edit_num": self.edits}


def measure_text(record: Record) -> MeasuredRecord:
    """Edit distance of what is compared: the normalised strings, or the raw ones where they are empty."""
    gt, pred = record.norm_gt or record.gt, record.norm_pred or record.pred
    upper = max(len(gt), len(pred))
    edits = kernel.levenshtein(gt, pred) if upper else 0
    measured = MeasuredRecord(record, page_of(record.img_id), gt, pred, upper, edits)
    if upper:
        measured.metric["Edit_dist"] = edits / upper
    return measured


def measure_order(order: Order) -> MeasuredRecord:
    """Edit distance of the two lists."""
    upper = max(len(order.gt), len(order.pred))
    edits = round(order.edit * upper)
    return MeasuredRecord(order, page_of(order.img_id), "", "", upper, edits, {"Edit_dist": order.edit})


def measure_table(record: Record, profile: Profile) -> MeasuredRecord:
    """Return TEDS, TEDS of the structure, and edit distance of normalised HTML."""
    record.norm_gt, record.norm_pred = norm_table(record.gt, profile), norm_table(record.pred, profile)
    measured = measure_text(record)
    gt, pred = norm_table(measured.gt, profile), norm_table(measured.pred, profile)
    values = [teds(gt, pred, False), teds(gt, pred, True)]
    if profile.teds_fails_together and None in values:
        values = [0.0, 0.0]
    content, structure = (0.0 if v is None else v for v in values)
    measured.metric = {"TEDS": content, "TEDS_structure_only": structure, **measured.metric}
    return measured


def page_of(name: str) -> str:
    """Return the page of a record; some names have a number behind."""
    return name if name.endswith((".jpg", ".png")) else name.rpartition("_")[0] or name


@lru_cache(maxsize=4096)
def teds(gt: str, pred: str, structure_only: bool) -> float | None:
    """Return TEDS of normalised HTML; None where the published code fails, which counts as 0."""
    from parsemark.metrics.teds import edit_distance

    if not gt or not pred:
        return 0.0
    trees = _tree(gt), _tree(pred)
    if any(tree == "absent" for tree in trees):
        return 0.0
    if any(tree is None for tree in trees):
        return None
    a, b = trees
    size = max(a.n_elements, b.n_elements)
    try:
        return 1.0 - edit_distance(a, b, structure_only) / size if size else None
    except FormatError:
        return None


@lru_cache(maxsize=512)
def _tree(text: str) -> Any:
    """Return the tree of the first table; `absent` without one, None where a span is no number."""
    from lxml import etree, html

    from parsemark.metrics.teds import tree_of_element

    parser = html.HTMLParser(remove_comments=True, encoding="utf-8")
    try:
        root = html.fromstring(as_older_parser(text).encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return None
    tables: Any = root.xpath("body/table")
    if not tables:
        return "absent"
    try:
        return tree_of_element(tables[0], lambda span: 1 if span is None else int(span))
    except ValueError:
        return None


# --- means -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class MeasuredRecords:
    """The measured records of a run, by element."""

    elements: dict[str, list[MeasuredRecord]]
    page_attributes: dict[str, Mapping[str, Any]]
    pages_with: dict[str, list[str]]  # pages whose truth has a counted table or formula, by element
    has_cdm: bool = False


def measure_pages(
    pages: Iterable[tuple[Mapping[str, Any], PageRecords]], profile: Profile, *, is_whole_run: bool = True
) -> MeasuredRecords:
    """Measure the records of annotated pages, in the order of the result files.

    Where these are all pages, v1.5 loses formulas that are answered by text if no page has text.
    """
    found = PageRecords("")
    orders: list[Order] = []
    results = MeasuredRecords({}, {}, {"table": [], "display_formula": []})
    for annotation, records in pages:
        for kind in ("text", "moved", "formulas", "tables", "latex_tables"):
            getattr(found, kind).extend(getattr(records, kind))
        orders += [] if records.order is None else [records.order]
        results.page_attributes[records.name] = annotation["page_info"].get("page_attribute") or {}
        kinds = {d.get("category_type") for d in annotation["layout_dets"] if not d.get("ignore")}
        for element, category in (("table", "table"), ("display_formula", "equation_isolated")):
            if category in kinds:
                results.pages_with[element].append(records.name)
    text = found.text + (found.moved if found.text or not is_whole_run else [])
    tables = found.latex_tables if len(found.latex_tables) > len(found.tables) else found.tables
    results.elements = {
        "text_block": [measure_text(r) for r in text],
        "display_formula": [measure_text(r) for r in found.formulas],
        "table": [measure_table(r, profile) for r in tables],
        "reading_order": [measure_order(o) for o in orders],
    }
    return results


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


def metric_result(results: MeasuredRecords, profile: Profile) -> dict[str, Any]:
    """Return the content of `…_metric_result.json`."""
    return {
        element: {
            "all": _over_all(measured, profile),
            "group": _by_attribute(measured),
            "page": _by_page(element, measured, results, profile),
        }
        for element, measured in results.elements.items()
    }


def mean(values: Sequence[float]) -> float:
    """Return arithmetic mean; sums as numpy does, so that the last digit agrees."""
    return float(np.mean(values))


def _over_all(measured: Sequence[MeasuredRecord], profile: Profile) -> dict[str, Any]:
    pages = per_page_edit(measured)
    edit: dict[str, Any] = {"ALL_page_avg": sum(pages.values()) / len(pages) if pages else _NAN}
    if profile.whole_and_sample_means and measured:
        upper = sum(m.upper for m in measured)
        edit["edit_whole"] = sum(m.edits for m in measured) / upper if upper else _NAN
        samples = [m.metric["Edit_dist"] for m in measured if "Edit_dist" in m.metric]
        edit["edit_sample_avg"] = sum(samples) / len(samples) if samples else _NAN
    result: dict[str, Any] = {
        name: {"all": sum(values) / len(values)}
        for name in ("TEDS", "TEDS_structure_only", "CDM")
        if (values := [m.metric[name] for m in measured if name in m.metric])
    }
    result["Edit_dist"] = edit
    return result


def per_page_edit(measured: Sequence[MeasuredRecord]) -> dict[str, float]:
    """Return edits over lengths of each page; pages without any length are left out."""
    edits, uppers = Counter[str](), Counter[str]()
    for m in measured:
        edits[m.page] += m.edits
        uppers[m.page] += m.upper
    return {page: edits[page] / uppers[page] for page in edits if uppers[page]}


def _by_attribute(measured: Sequence[MeasuredRecord]) -> dict[str, Any]:
    counts = Counter[str]()
    values: dict[str, dict[str, list[float]]] = {}
    for m in measured:
        attributes = m.record.gt_attribute if isinstance(m.record, Record) else ()
        labels = {f"{key}: {value}" for attribute in attributes for key, value in attribute.items()}
        counts.update(labels)
        for label in labels:
            for name, value in m.metric.items():
                values.setdefault(name, {}).setdefault(label, []).append(value)
    groups: dict[str, Any] = {
        name: {label: mean(found) for label, found in sorted(by_label.items())}
        for name, by_label in sorted(values.items())
    }
    groups["sample_count"] = dict(sorted(counts.items()))
    return groups


def page_labels(attributes: Mapping[str, Any]) -> list[str]:
    """Return the groups that a page belongs to."""
    labels = ["ALL"]
    for key, value in attributes.items():
        if isinstance(value, list):
            labels += (str(entry) for entry in value if "table" not in str(entry))
        else:
            labels.append(f"{key}: {value}")
    return list(dict.fromkeys(labels))


def _by_page(
    element: str, measured: Sequence[MeasuredRecord], results: MeasuredRecords, profile: Profile
) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for name in sorted({name for m in measured for name in m.metric}):
        pages = _page_values(name, measured)
        if profile.silent_pages_are_zero and name != "Edit_dist":
            for page in results.pages_with.get(element, ()):
                pages.setdefault(page, 0.0)
        by_label: dict[str, list[float]] = {}
        for page, value in pages.items():
            for label in page_labels(results.page_attributes.get(page, {})):
                by_label.setdefault(label, []).append(value)
        ordered = sorted(by_label.items())
        tables[name] = {label: mean(own) for label, own in ordered}
        if name == "Edit_dist" and profile.page_variance:
            tables["Edit_dist_var"] = {
                label: float(np.var(own, ddof=1)) if len(own) > 1 else math.nan for label, own in ordered
            }
    return tables


def _page_values(name: str, measured: Sequence[MeasuredRecord]) -> dict[str, float]:
    found: dict[str, list[tuple[float, int]]] = {}
    for m in measured:
        if name in m.metric:
            found.setdefault(m.page, []).append((m.metric[name], m.upper))
    if name != "Edit_dist":
        return {page: mean([v for v, _ in pairs]) for page, pairs in found.items()}
    return {
        page: sum(v * u for v, u in pairs) / total
        for page, pairs in found.items()
        if (total := sum(u for _, u in pairs))
    }
