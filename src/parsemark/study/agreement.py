"""How far people agree with each other: Krippendorff's alpha, mean difference, leave-one-out correlation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MIN_SHARED = 3  # pairs that a rater must share with others: any two points lie on a line


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement of raters over the pairs that at least two of them rated."""

    n_raters: int
    n_pairs: int
    alpha: float | None  # Krippendorff's alpha for interval data
    mean_absolute_difference: float | None  # over all pairs of raters, in points
    leave_one_out: tuple[float | None, ...]
    """Of each rater: Pearson correlation with the mean of the others; None where too few pairs are shared."""


def krippendorff_alpha(ratings: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha with the interval difference; None without any variation.

    1 − observed / expected disagreement, where both are mean squared differences: of ratings of the same
    unit, weighted by 1/(raters − 1), and of all ratings of all units (Krippendorff 2011). Units with a single
    rating say nothing about agreement and do not count.
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


def rater_agreement(
    ratings: Sequence[Sequence[float]], raters: Sequence[Sequence[str]] | None = None
) -> RaterAgreement:
    """Agreement over units, of which each rater may have left some out.

    By default raters are known by their position.
    """
    names = raters if raters is not None else [()] * len(ratings)
    named = [_by_rater(unit, own) for unit, own in zip(ratings, names, strict=True)]
    shared = [unit for unit in named if len(unit) > 1]
    everybody = list(dict.fromkeys(name for unit in named for name in unit))
    alpha = krippendorff_alpha(ratings)
    if len(everybody) < 2 or len(shared) < 2:
        return RaterAgreement(len(everybody), len(shared), alpha, None, ())
    differences = [abs(a - b) for unit in shared for a, b in combinations(unit.values(), 2)]
    alone = tuple(_against_others(name, shared) for name in everybody)
    return RaterAgreement(len(everybody), len(shared), alpha, float(np.mean(differences)), alone)


def _by_rater(unit: Sequence[float], names: Sequence[str]) -> dict[tuple[str, int], float]:
    """Ratings by who gave them; two people of one name are two."""
    if len(names) != len(unit):
        names = [str(place) for place in range(len(unit))]
    found: dict[tuple[str, int], float] = {}
    for name, rating in zip(names, unit, strict=True):
        found[name, sum(name == known for known, _ in found)] = rating
    return found


def _against_others(rater: tuple[str, int], units: Sequence[Mapping[tuple[str, int], float]]) -> float | None:
    """Pearson correlation with the mean of the others, over what the rater and somebody else rated."""
    own = [unit for unit in units if rater in unit]
    if len(own) < MIN_SHARED:
        return None
    others = [np.mean([value for name, value in unit.items() if name != rater]) for unit in own]
    said = [unit[rater] for unit in own]
    return float(np.corrcoef(said, others)[0, 1]) if np.std(said) and np.std(others) else None
