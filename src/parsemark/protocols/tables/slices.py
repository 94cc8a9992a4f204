"""Where is a parser weak? Recall of the tables that have one attribute in common."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsemark.formats.model_json import page_from_json
from parsemark.protocols.figures.aggregate import (
    MAX_VALUES,
    attribute_label,
    element_attributes,
    from_sums,
    mean_statistic,
)
from parsemark.protocols.figures.figure import Figure, Floats
from parsemark.protocols.figures.summary import Slice
from parsemark.protocols.run_data.tables import RunTables
from parsemark.protocols.tables.figure_definitions import short_name
from parsemark.protocols.tables.figures import extraction_credit
from parsemark.protocols.tables.matched_tables import THETA, MatchedTables, TruthPages
from parsemark.stats.detection import is_detected
from parsemark.stats.intervals import sum_by_cluster

TableGroup = list[tuple[int, str]]
"""The true tables with one value of one attribute: the position of each one's page, and its id."""


@dataclass(frozen=True)
class Truths:
    """What summaries need to know of the true tables of a run."""

    n_unboxed: int
    unread: frozenset[tuple[int, str]]  # page and id of those that cannot be read
    groups: Mapping[str, Mapping[str, TableGroup]]  # attribute to value to the tables that have it

    @classmethod
    def of(cls, tables: RunTables, pages: TruthPages) -> Truths:
        """Read the truths, some pages at a time."""
        n_unboxed = 0
        groups: dict[str, dict[str, TableGroup]] = defaultdict(lambda: defaultdict(list))
        too_many: set[str] = set()
        place = pages.frame()
        names: dict[str, str] = {}
        unread: set[tuple[int, str]] = set()
        for (samples,) in tables.batches("samples"):
            known = samples.select("sample", "truth").join(place, on="sample", maintain_order="left")
            for text, page in known.select("truth", "page").iter_rows():
                for table in page_from_json(json.loads(text)).tables:
                    n_unboxed += table.box is None
                    if table.is_unread:
                        unread.add((page, table.id))
                    for name, value in element_attributes(table).items():
                        if name in too_many:
                            continue
                        own = page, names.setdefault(table.id, table.id)
                        groups[name][attribute_label(value)].append(own)
                        if len(groups[name]) > MAX_VALUES:
                            too_many.add(name)
                            del groups[name]
        return cls(n_unboxed, frozenset(unread), groups)


def table_slices(truths: Truths, matched: Mapping[str, MatchedTables]) -> list[Slice]:
    """The tables with each value of each attribute.

    A table attribute selects true tables, so only recall, and recall weighted by structure, are defined. What
    cannot be read has no structure.
    """
    if not matched:
        return []
    groups = [
        (attribute, value, group)
        for attribute, values in sorted(truths.groups.items())
        for value, group in sorted(values.items())
    ]
    figures: list[dict[str, dict[str, Figure]]] = [defaultdict(dict) for _ in groups]
    for parser, own, credit in _credits(matched):
        left_out = truths.unread - own.pages.unread
        codes = {name: k for k, name in enumerate(dict.fromkeys(own.truth))}
        answered = own.page * len(codes) + np.array([codes[name] for name in own.truth], dtype=np.int64)
        for (*_, group), found in zip(groups, figures, strict=True):
            wanted = [page * len(codes) + codes[name] for page, name in group if name in codes]
            inside = np.isin(answered, wanted) & own.positive
            asked = [page for page, name in group if (page, name) not in left_out]
            found[parser] |= {name: _recall(own, asked, earned, inside) for name, earned in credit.items()}
    return [
        Slice(scope="table", attribute=attribute, value=value, n=len(group), figures=dict(found))
        for (attribute, value, group), found in zip(groups, figures, strict=True)
    ]


def _credits(
    matched: Mapping[str, MatchedTables],
) -> Iterator[tuple[str, MatchedTables, dict[str, Floats]]]:
    """What each parser earns by finding tables, and by reading those that can be read."""
    for parser, own in matched.items():
        yield parser, own, {"td_recall": is_detected(own.overlap, THETA)}
        read = own.readable
        yield parser, read, {f"te_recall_{short_name(m)}": extraction_credit(read, m) for m in read.structure}


def _recall(matched: MatchedTables, asked: list[int], credit: Floats, inside: NDArray[np.bool_]) -> Figure:
    """Recall, or end-to-end recall, of tables on these pages; a table that was not found counts 0."""
    sums = np.zeros((len(matched.pages.samples), 2))
    np.add.at(sums[:, 0], matched.page[inside], credit[inside])
    np.add.at(sums[:, 1], asked, 1.0)
    return from_sums(sum_by_cluster(sums, matched.pages.documents)[0], mean_statistic)
