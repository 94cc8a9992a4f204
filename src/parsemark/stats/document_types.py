"""The two questions that an interval can answer: documents like these, or new types of documents?

Documents are of types: of one maker, template, producer, source or repository. Everything that parsemark
reports answers the first question unless it says otherwise: **documents like these, in this mix**. Types are
fixed strata, and documents are sampled within them (`typed_interval`, `typed_contrasts` with
`new_types=False`, the default). The same types are the strata of all scores, verdicts and ranks of a run
(`choose_division`), since they follow from its documents and not from its scores.

The second question is about **new types**. There a type is what is sampled, so a hundred documents of four
templates are four witnesses. It is answered from `FEWEST_TYPES` types on (`new_types=True`); from fewer,
nothing follows for another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parsemark.stats.intervals import (
    FEWEST_DOCUMENTS,
    FEWEST_OF_TYPE,
    Floats,
    Interval,
    Range,
    Statistic,
    jackknife_interval,
    sum_by_cluster,
)
from parsemark.stats.paired_test import Contrast, contrasts

FEWEST_TYPES = FEWEST_DOCUMENTS
Types = Sequence[str] | None  # the type of each document


@dataclass(frozen=True, slots=True)
class Division:
    """A division into document types: the attribute, and the type of each document (or page)."""

    attribute: str
    types: tuple[str, ...]


def choose_division(candidates: Mapping[str, Sequence[str]]) -> str | None:
    """Return the division of documents into types that a run is scored by: that with the most types of at
    least `FEWEST_OF_TYPE` documents, of several the first. None if all documents are of one type, or each is
    of its own.

    `candidates` maps the name of a division to the type of each document.
    """
    usable = {}
    for name, types in candidates.items():
        sizes = np.unique(np.asarray(types, dtype=object).astype(str), return_counts=True)[1]
        if 1 < len(sizes) < len(types):
            usable[name] = int(np.sum(sizes >= FEWEST_OF_TYPE))
    return max(usable, key=lambda name: usable[name], default=None)


def count_types(sums: Sequence[Floats], types: Types) -> int:
    """Return the number of types whose documents add anything to a score; 0 without types."""
    if types is None:
        return 0
    counted = np.any([np.any(own != 0, axis=1) for own in sums], axis=0)
    return len({name for name, k in zip(types, counted, strict=True) if k})


def typed_interval(
    sums: Floats,
    statistic: Statistic,
    types: Types,
    *,
    weights: Floats | None = None,
    bounds: Range = "unit",
    new_types: bool = False,
) -> Interval | None:
    """Return 95 % confidence interval of a score for documents like these, or for new document types.

    None for fewer than six documents, or six types.
    """
    if not new_types:
        return jackknife_interval(sums, statistic, bounds, weights=weights, types=types)
    if types is None:
        return None
    shares = None if weights is None else sum_by_cluster(weights, types)[0]
    return jackknife_interval(sum_by_cluster(sums, types)[0], statistic, bounds, weights=shares)


def typed_contrasts(
    sums: Mapping[str, Floats],
    statistic: Statistic,
    pairs: Sequence[tuple[str, str]],
    types: Types,
    *,
    weights: Floats | None = None,
    bounds: Range = "unit",
    new_types: bool = False,
) -> list[Contrast]:
    """Return the difference of each pair, simultaneous over the pairs, for documents like these or for new
    types.

    Fewer than six documents, or six types, have no interval and resolve nothing.
    """
    if new_types and types is not None:
        sums = {name: sum_by_cluster(own, types)[0] for name, own in sums.items()}
        weights = None if weights is None else sum_by_cluster(weights, types)[0]
        types = None
    return contrasts(sums, statistic, pairs, weights=weights, types=types, bounds=bounds)


def range_over_types(sums: Floats, statistic: Statistic, types: Sequence[str]) -> Interval | None:
    """Return the lowest and the highest value of a score on any of the types; None without two of them."""
    values = np.asarray(statistic(sum_by_cluster(sums, types)[0]), dtype=float)
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) > 1 else None
