"""Where is a parser weak? The figures again, for pages and for tables with one attribute in common."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from parsemark.formats.model_json import page_from_json
from parsemark.protocols import tables_figures as figures
from parsemark.protocols.tables_evidence import Evidence
from parsemark.stats.bootstrap import sum_by_cluster
from parsemark.stats.detection import is_detected, ratio

MAX_VALUES = 20
"""An attribute with more values than this is an identifier or a measurement, not a group."""

TruthKey = tuple[int, str]


@dataclass(frozen=True)
class AttributeGroups:
    """Which pages, and which true tables, have which value of which attribute."""

    pages: Mapping[str, Mapping[str, list[int]]]
    tables: Mapping[str, Mapping[str, list[TruthKey]]]


def attribute_groups(samples: pl.DataFrame, index: Mapping[str, int]) -> AttributeGroups:
    """The groups of a run, read from the truths once for all parsers.

    Args:
        samples: The table `samples`.
        index: Position of each sample that has a truth.
    """
    pages: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    tables: dict[str, dict[str, list[TruthKey]]] = defaultdict(lambda: defaultdict(list))
    known = samples.filter(pl.col("truth").is_not_null())
    for sample, text in known.select("sample", "truth").iter_rows():
        page = page_from_json(json.loads(text))
        for name, value in page.attributes.items():
            pages[name][_label(value)].append(index[sample])
        for table in page.tables:
            for name, value in table.attributes.items():
                tables[name][_label(value)].append((index[sample], table.id))
    return AttributeGroups(_few_values(pages), _few_values(tables))


def attribute_figures(groups: AttributeGroups, evidence: Evidence) -> dict[str, Any]:
    """`{"page": {attribute: {value: figures}}, "table": {…}}`.

    A page attribute selects pages, so precision, recall and F1 are all defined. A table attribute selects
    true tables, so only recall and the structure of what was found are.
    """
    return {
        "page": {
            name: {value: _page_figures(evidence, members) for value, members in sorted(values.items())}
            for name, values in sorted(groups.pages.items())
        },
        "table": {
            name: {value: _table_figures(evidence, members) for value, members in sorted(values.items())}
            for name, values in sorted(groups.tables.items())
        },
    }


def _few_values(groups: Mapping[str, Mapping[str, list[Any]]]) -> dict[str, dict[str, list[Any]]]:
    return {name: dict(values) for name, values in groups.items() if len(values) <= MAX_VALUES}


def _label(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _page_figures(evidence: Evidence, members: list[int]) -> dict[str, figures.Figure]:
    chosen = np.zeros(len(evidence.pages.samples), dtype=bool)
    chosen[members] = True
    n_truth = float(evidence.pages.n_truth[chosen].sum())
    credits_by_name = {"td_f1": is_detected(evidence.overlap, figures.THETA)}
    for metric in evidence.structure:
        name = f"te_f1_{figures.METRIC_NAMES.get(metric, metric)}"
        credits_by_name[name] = figures.extraction_credit(evidence, metric)
    found = {
        name: figures.from_sums(
            figures.document_sums(evidence, credit, chosen), figures.f1_statistic, n_truth
        )
        for name, credit in credits_by_name.items()
        if n_truth
    }
    return {**found, "pages": figures.figure(float(len(members)), len(members))}


def _table_figures(evidence: Evidence, members: list[TruthKey]) -> dict[str, figures.Figure]:
    """Recall, and end-to-end recall, of the tables in a group; a table that was not found counts 0."""
    wanted = set(members)
    inside = np.array(
        [(int(p), t) in wanted for p, t in zip(evidence.page, evidence.truth, strict=True)], dtype=bool
    )
    inside &= evidence.positive
    found = {}
    for name, credit in _recall_credits(evidence).items():
        sums = np.zeros((len(evidence.pages.samples), 2))
        np.add.at(sums[:, 0], evidence.page[inside], credit[inside])
        np.add.at(sums[:, 1], [page for page, _ in members], 1.0)
        by_document = sum_by_cluster(sums, evidence.pages.documents)[0]
        found[name] = figures.from_sums(by_document, lambda t: ratio(t[..., 0], t[..., 1]), len(members))
    return found


def _recall_credits(evidence: Evidence) -> dict[str, figures.Floats]:
    found = {"td_recall": is_detected(evidence.overlap, figures.THETA)}
    for metric in evidence.structure:
        short = figures.METRIC_NAMES.get(metric, metric)
        found[f"te_recall_{short}"] = figures.extraction_credit(evidence, metric)
    return found
