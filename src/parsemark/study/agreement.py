"""How far people agree with each other, and how well a column of scores follows them.

People: Krippendorff's alpha, mean difference, leave-one-out correlation. Scores: three correlations, and an
interval clustered by table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from parsemark.stats.intervals import N_RESAMPLES, cluster_weights, percentile_interval, sum_by_cluster

Floats = NDArray[np.float64]
MIN_SHARED = 3  # pairs that a rater must share with others: any two points lie on a line
FEWEST_PAIRS = 3
FEWEST_TABLES = 6  # fewer have no interval: their draws are too few and too alike to say what chance does


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
    """Return Krippendorff's alpha with the interval difference; None without any variation.

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
    """Return agreement over units, of which each rater may have left some out.

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
    """Group ratings by rater; two people of one name are two."""
    if len(names) != len(unit):
        names = [str(place) for place in range(len(unit))]
    found: dict[tuple[str, int], float] = {}
    for name, rating in zip(names, unit, strict=True):
        found[name, sum(name == known for known, _ in found)] = rating
    return found


def _against_others(rater: tuple[str, int], units: Sequence[Mapping[tuple[str, int], float]]) -> float | None:
    """Return Pearson correlation with the mean of the others, over what the rater and somebody else rated."""
    own = [unit for unit in units if rater in unit]
    if len(own) < MIN_SHARED:
        return None
    others = [np.mean([value for name, value in unit.items() if name != rater]) for unit in own]
    said = [unit[rater] for unit in own]
    return float(np.corrcoef(said, others)[0, 1]) if np.std(said) and np.std(others) else None


@dataclass(frozen=True)
class Correlation:
    """Of one column with the mean human rating."""

    pearson: float | None
    spearman: float | None
    kendall: float | None
    n: int
    ci95: tuple[float, float] | None  # of Pearson's, by drawing tables; None with fewer than `FEWEST_TABLES`
    why: str | None = None  # why there is no correlation, or no interval

    def as_json(self) -> dict[str, object]:
        """Return the entry of `correlations.json`."""
        found = {**asdict(self), "ci95": None if self.ci95 is None else list(self.ci95)}
        return {key: value for key, value in found.items() if key != "why" or value is not None}


def correlate(scores: Sequence[float], people: Sequence[float], clusters: Sequence[str]) -> Correlation:
    """Return correlations as scipy computes them; None where a column does not vary."""
    from scipy.stats import kendalltau, pearsonr, spearmanr

    x, y = np.asarray(scores, dtype=float), np.asarray(people, dtype=float)
    why = None
    if len(x) < FEWEST_PAIRS:
        why = f"fewer than {FEWEST_PAIRS} pairs"
    elif np.ptp(y) == 0:
        why = "people gave all pairs the same rating"
    elif np.ptp(x) == 0:
        why = "all pairs have the same value"
    if why is not None:
        return Correlation(None, None, None, len(x), None, why)
    interval = _interval(x, y, clusters)
    if interval is None:
        few = f"fewer than {FEWEST_TABLES} tables resolve nothing; the order may be chance"
        why = few if len(set(clusters)) < FEWEST_TABLES else "most draws of tables do not vary"
    measures = (pearsonr, spearmanr, kendalltau)
    pearson, spearman, kendall = (float(measure(x, y).statistic) for measure in measures)
    return Correlation(pearson, spearman, kendall, len(x), interval, why)


def _interval(x: Floats, y: Floats, clusters: Sequence[str]) -> tuple[float, float] | None:
    """Return the percentile interval of Pearson's r; its sums are added up by cluster, so a resample is a
    product.
    """
    x, y = x - x.mean(), y - y.mean()
    sums, _ = sum_by_cluster(np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1), clusters)
    if len(sums) < FEWEST_TABLES:
        return None
    n, sx, sy, sxx, syy, sxy = (cluster_weights(len(sums), N_RESAMPLES) @ sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (sxy - sx * sy / n) / np.sqrt((sxx - sx**2 / n) * (syy - sy**2 / n))
    usable = np.clip(drawn[np.isfinite(drawn)], -1.0, 1.0)  # rounding leads beyond
    return percentile_interval(usable) if len(usable) >= N_RESAMPLES / 2 else None
