"""What a report draws of the `document` protocol: OmniDocBench's tables.

Of these 2 (all figures), 3 to 5 (pages) and 7 to 9 (elements). Theirs of pages are means, in 4 and 5 with the
variance over pages. Theirs of elements come from parsers of elements alone; ours from the same elements
inside whole pages. Only the groups that a
corpus has are there, under the names that it gives them.
"""

import json
from collections.abc import Sequence
from functools import partial
from statistics import fmean, variance

import polars as pl

from parsemark.protocols import PAGE_LEVEL
from parsemark.report.drawing import DataTable, TableColumn, TableRow, captioned, table_needs
from parsemark.report.source import Drawing, RunSource
from parsemark.store.summary import Figure, Slice

_captioned = partial(captioned, __package__)
_ISSUES = ("fuzzy_scan", "watermark", "colorful_background")
_TABLE_GROUPS = {
    "language": "language", "line": "frame", "with_span": "merged cells", "include_equation": "formula",
    "include_background": "colour", "table_layout": "layout",
}  # fmt: skip
_FORMULAS = ("formula", "equation_isolated", "display_formula")
_TEXT_GROUPS = {"text_language": "language", "text_background": "background", "text_rotate": "rotation"}


def omnidocbench_tables(run: RunSource) -> list[DataTable]:
    """Return the tables that the run has numbers for."""
    found = [
        _overall(run),
        _by_source(run),
        _with_variance(run, "omnidocbench-4", "text_edit", _issues(run)),
        _with_variance(run, "omnidocbench-5", "order_edit", _groups(run, "layout")),
        _of_elements(run, "omnidocbench-7", "table", "teds", _TABLE_GROUPS),
        _of_elements(run, "omnidocbench-8", "text", "text_edit", _TEXT_GROUPS),
        _formulas(run),
    ]
    return [table for table in found if table is not None]


def _overall(run: RunSource) -> DataTable:
    """Return table 2: every main figure, on all pages and by language."""
    infos = [info for info in run.summary.shown() if info.main and info.style == "score"]
    languages = [s for s in run.summary.slices if (s.scope, s.attribute) == ("page", "language")]
    parts: list[Slice | None] = [None, *(languages if len(languages) > 1 else [])]
    columns = [
        (TableColumn.of(info, part.value if part else "all", info.label), info.name, part)
        for info in infos
        for part in parts
    ]
    return DataTable.of_figures(*_captioned("omnidocbench-2"), run.summary, columns)


def _by_source(run: RunSource) -> DataTable | None:
    """Return table 3: text by type of page, the mean over all pages last."""
    parts = [s for s in run.summary.slices if (s.scope, s.attribute) == ("page", "data_source")]
    if len(parts) < 2:
        return None
    info, groups = run.summary.info("text_edit"), ", ".join(f"{s.value} {s.n}" for s in parts)
    text = _captioned("omnidocbench-3", label=info.label, definition=info.definition, groups=groups)
    columns = [(TableColumn.of(info, s.value if s else "all"), info.name, s) for s in (*parts, None)]
    return DataTable.of_figures(*text, run.summary, columns)


def _groups(run: RunSource, attribute: str) -> dict[str, frozenset[str]]:
    """Return the values of an attribute with the pages that have each."""
    found: dict[str, set[str]] = {}
    for sample, text in run.samples.select("sample", "attributes").iter_rows():
        value = json.loads(text or "{}").get(attribute)
        if value is not None:
            found.setdefault(str(value), set()).add(sample)
    return {value: frozenset(samples) for value, samples in sorted(found.items())}


def _issues(run: RunSource) -> dict[str, frozenset[str]]:
    """Return pages by special issue, and those that have none."""
    by_issue = {issue: pages for issue in _ISSUES if (pages := _groups(run, issue).get("True"))}
    return {**by_issue, "none": frozenset(run.samples["sample"]).difference(*by_issue.values())}


def _with_variance(
    run: RunSource, key: str, metric: str, groups: dict[str, frozenset[str]]
) -> DataTable | None:
    """Return the mean and variance of a measure of pages, group by group."""
    if len(groups) < 2:
        return None
    of_pages = run.scan("scores").filter(element=PAGE_LEVEL, metric=metric)
    rows = of_pages.select("sample", "parser", "value").drop_nulls("value").collect()
    info = run.summary.info(metric)
    labels = (("mean", info.higher_is_better), ("variance", None))
    columns = [TableColumn(label, "score", better, name) for name in groups for label, better in labels]
    table = []
    for parser in run.summary.ordered():
        own = dict(rows.filter(pl.col("parser") == parser).select("sample", "value").iter_rows())
        cells: list[Figure | None] = []
        for samples in groups.values():
            known = [own[s] for s in samples if s in own]
            spread = Figure(value=variance(known), n=len(known)) if len(known) > 1 else None
            cells += [_mean(known), spread]
        table.append(TableRow(parser, tuple(cells)))
    sizes = ", ".join(f"{name} {len(samples)}" for name, samples in groups.items())
    return DataTable(*_captioned(key, label=info.label, groups=sizes), tuple(columns), tuple(table))


def _of_elements(
    run: RunSource, key: str, scope: str, figure: str, groups: dict[str, str]
) -> DataTable | None:
    """Return tables 7 and 8: elements by their attributes."""
    parts = [
        (groups[s.attribute], s)
        for s in run.summary.slices
        if s.scope == scope and s.attribute in groups and any(figure in own for own in s.figures.values())
    ]
    parts.sort(key=lambda part: list(groups.values()).index(part[0]))
    if not parts:
        return None
    text = _captioned(key, groups=", ".join(f"{group} {s.value} {s.n}" for group, s in parts))
    higher = not figure.endswith("_edit")
    columns = [(TableColumn(s.value, "score", higher, group), figure, s) for group, s in parts]
    return DataTable.of_figures(*text, run.summary, columns)


def _formulas(run: RunSource) -> DataTable | None:
    """Return table 9: CDM, the share of formulas that look right, and edit distance."""
    metrics = ("cdm", "edit_distance")
    of_formulas = pl.col("category").is_in(_FORMULAS) & pl.col("metric").is_in(metrics)
    of_elements = run.scan("scores").filter(of_formulas & (pl.col("element") != PAGE_LEVEL))
    rows = of_elements.select("parser", "metric", "value").drop_nulls("value").collect()
    if rows.is_empty():
        return None
    has_cdm = not rows.filter(pl.col("metric") == "cdm").is_empty()
    columns = [TableColumn("CDM"), TableColumn("ExpRate@CDM")] if has_cdm else []
    table = []
    for parser in run.summary.ordered():
        own = rows.filter(pl.col("parser") == parser)
        cdm, edit = (own.filter(pl.col("metric") == metric)["value"].to_list() for metric in metrics)
        cells = [_mean(cdm), _mean([float(v >= 0.9995) for v in cdm])] if has_cdm else []
        table.append(TableRow(parser, (*cells, _mean(edit))))
    columns.append(TableColumn("edit distance", "score", higher_is_better=False))
    return DataTable(*_captioned("omnidocbench-9"), tuple(columns), tuple(table))


def _mean(values: Sequence[float]) -> Figure | None:
    return Figure(value=fmean(values), n=len(values)) if values else None


DRAWING = Drawing(paper_tables=omnidocbench_tables, paper_table_needs=table_needs(__package__))
