"""How well a column of scores follows people: three correlations, and an interval clustered by table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from parsemark.stats.bootstrap import N_RESAMPLES, cluster_weights, percentile_interval
from parsemark.stats.intervals import sum_by_cluster

Floats = NDArray[np.float64]

FEWEST_PAIRS = 3
FEWEST_TABLES = 6  # fewer have no interval: their draws are too few and too alike to say what chance does


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
        """The entry of `correlations.json`."""
        found = {**asdict(self), "ci95": None if self.ci95 is None else list(self.ci95)}
        return {key: value for key, value in found.items() if key != "why" or value is not None}


def correlate(scores: Sequence[float], people: Sequence[float], clusters: Sequence[str]) -> Correlation:
    """Correlations as scipy computes them; None where a column does not vary."""
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
    """Percentile interval of Pearson's r; its sums are added up by cluster, so a resample is a product."""
    x, y = x - x.mean(), y - y.mean()
    sums, _ = sum_by_cluster(np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1), clusters)
    if len(sums) < FEWEST_TABLES:
        return None
    n, sx, sy, sxx, syy, sxy = (cluster_weights(len(sums), N_RESAMPLES) @ sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (sxy - sx * sy / n) / np.sqrt((sxx - sx**2 / n) * (syy - sy**2 / n))
    usable = np.clip(drawn[np.isfinite(drawn)], -1.0, 1.0)  # rounding leads beyond
    return percentile_interval(usable) if len(usable) >= N_RESAMPLES / 2 else None
