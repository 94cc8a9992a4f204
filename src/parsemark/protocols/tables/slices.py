"""Where is a parser weak? Recall of the tables that have one attribute in common."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import polars as pl

from parsemark.formats.model_json import page_from_json
from parsemark.protocols.aggregate import MAX_VALUES, attribute_label, from_sums, mean_statistic
from parsemark.protocols.base import Figure, Floats, Slice
from parsemark.protocols.tables.evidence import THETA, Evidence
from parsemark.protocols.tables.figures import extraction_credit
from parsemark.protocols.tables.infos import short_name
from parsemark.stats.bootstrap import sum_by_cluster
from parsemark.stats.detection import is_detected

TruthKey = tuple[int, str]
"""Position of the page, and id of the table."""


def table_slices(samples: pl.DataFrame, evidence: Mapping[str, Evidence]) -> list[Slice]:
    """The tables with each value of each attribute.

    A table attribute selects true tables, so only recall, and recall weighted by structure, are defined.
    """
    if not evidence:
        return []
    groups = _table_groups(samples, next(iter(evidence.values())).pages.index)
    return [
        Slice(
            scope="table",
            attribute=attribute,
            value=value,
            n=len(members),
            figures={parser: _recall_figures(own, members) for parser, own in evidence.items()},
        )
        for attribute, values in sorted(groups.items())
        if len(values) <= MAX_VALUES
        for value, members in sorted(values.items())
    ]


def _table_groups(samples: pl.DataFrame, index: Mapping[str, int]) -> dict[str, dict[str, list[TruthKey]]]:
    groups: dict[str, dict[str, list[TruthKey]]] = defaultdict(lambda: defaultdict(list))
    known = samples.filter(pl.col("truth").is_not_null())
    for sample, text in known.select("sample", "truth").iter_rows():
        for table in page_from_json(json.loads(text)).tables:
            for name, value in table.attributes.items():
                groups[name][attribute_label(value)].append((index[sample], table.id))
    return groups


def _recall_figures(evidence: Evidence, members: list[TruthKey]) -> dict[str, Figure]:
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
        found[name] = from_sums(sum_by_cluster(sums, evidence.pages.documents)[0], mean_statistic)
    return found


def _recall_credits(evidence: Evidence) -> dict[str, Floats]:
    found = {"td_recall": is_detected(evidence.overlap, THETA)}
    for metric in evidence.structure:
        found[f"te_recall_{short_name(metric)}"] = extraction_credit(evidence, metric)
    return found
