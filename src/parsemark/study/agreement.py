"""How far people agree with each other: Krippendorff's alpha, mean difference, leave-one-out correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """Agreement of raters over the pairs that all of them rated."""

    n_raters: int
    n_pairs: int
    alpha: float | None
    """Krippendorff's alpha for interval data."""
    mean_absolute_difference: float | None
    """Over all pairs of raters, in points."""
    leave_one_out: tuple[float | None, ...]
    """Of each rater: Pearson correlation with the mean of the others."""


def krippendorff_alpha(ratings: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha with the interval difference; None without any variation.

    1 − observed / expected disagreement, where both are mean squared differences: of ratings of the same
    unit, weighted by 1/(raters − 1), and of all ratings of all units (Krippendorff 2011). Units with a single
    rating say nothing about agreement and do not count.

    Args:
        ratings: The ratings of each unit, in any order, at least two each to count.
    """
    units = [np.asarray(unit, dtype=float) for unit in ratings if len(unit) > 1]
    if not units:
        return None
    everything = np.concatenate(units)
    n = len(everything)
    # The sum of squared differences of all ordered pairs is 2(n Σx² − (Σx)²).
    observed = sum(_squared_differences(unit) / (len(unit) - 1) for unit in units) / n
    expected = _squared_differences(everything) / (n * (n - 1))
    return None if expected == 0 else float(1 - observed / expected)


def _squared_differences(values: Floats) -> float:
    centred = values - values.mean()
    return float(2 * len(values) * np.square(centred).sum())


def rater_agreement(ratings: Sequence[Sequence[float]]) -> Agreement:
    """Agreement over units; raters are known by their position."""
    alpha = krippendorff_alpha(ratings)
    n_raters = max((len(unit) for unit in ratings), default=0)
    complete = np.array([unit for unit in ratings if len(unit) == n_raters], dtype=float)
    if n_raters < 2 or len(complete) < 2:
        return Agreement(n_raters, len(complete), alpha, None, ())
    columns = complete.T
    differences = [np.abs(a - b).mean() for a, b in combinations(columns, 2)]
    alone = tuple(_pearson(columns[k], np.delete(columns, k, axis=0).mean(axis=0)) for k in range(n_raters))
    return Agreement(n_raters, len(complete), alpha, float(np.mean(differences)), alone)


def _pearson(one: Floats, other: Floats) -> float | None:
    if one.std() == 0 or other.std() == 0:
        return None
    return float(np.corrcoef(one, other)[0, 1])
