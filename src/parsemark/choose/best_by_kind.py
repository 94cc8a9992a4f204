"""Who is best on which kind of pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsemark.pdf.page_kinds import TRAITS, Kinds

Floats = NDArray[np.float64]

MIN_KIND = 3  # pages of a kind before something is said of it


@dataclass(frozen=True)
class KindStanding:
    """Who is best on the pages of one kind."""

    trait: str
    value: str
    n_pages: int
    n_labels: int
    parser: str
    score: float  # of that parser on these pages: the mean of the labels, or a guess where there are too few
    best_score: float  # of the best parser over all pages, here


def best_by_kind(
    kinds: Mapping[str, Kinds],
    samples: Sequence[str],
    parsers: Sequence[str],
    best: str,
    scores: Floats,
    guesses: Floats,
) -> tuple[KindStanding, ...]:
    """For each kind that some pages are of and others are not, its best parser; scores and guesses are
    (parsers, pages), scores NaN where nothing is known.
    """
    found = []
    for trait, name in TRAITS.items():
        values = np.array([kinds.get(sample, {}).get(trait, "") for sample in samples])
        for value in sorted(set(values.tolist()) - {""}):
            own = values == value
            if not MIN_KIND <= own.sum() < len(samples):
                continue
            labelled = own & ~np.isnan(scores).any(axis=0)
            known = labelled.sum() >= MIN_KIND
            means = scores[:, labelled].mean(axis=1) if known else guesses[:, own].mean(axis=1)
            first, overall = int(means.argmax()), parsers.index(best)
            if means[first] <= means[overall]:
                first = overall
            found.append(
                KindStanding(
                    name, value, int(own.sum()), int(labelled.sum()) if known else 0, parsers[first],
                    float(means[first]), float(means[overall]),
                )
            )  # fmt: skip
    return tuple(found)
