"""Bootstrap intervals that respect clusters: pages of one document are drawn together."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

N_RESAMPLES = 2000
MIN_RESAMPLES = 400
_MAX_DRAWS = 4_000_000
LEVEL = 0.95


@lru_cache(maxsize=8)
def cluster_weights(n_clusters: int, n_resamples: int = N_RESAMPLES, seed: int = 0) -> Floats:
    """How often each cluster is drawn in each resample: (n_resamples, n_clusters), rows sum to n_clusters."""
    drawn = np.random.default_rng(seed).integers(0, n_clusters, (n_resamples, n_clusters))
    drawn += n_clusters * np.arange(n_resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n_clusters)
    weights = counts.reshape(n_resamples, n_clusters).astype(float)
    weights.setflags(write=False)
    return weights


def percentile_interval(draws: Floats, level: float = LEVEL) -> tuple[float, float] | None:
    """The central interval of the draws; None if fewer than two of them are defined."""
    defined = draws[~np.isnan(draws)]
    if defined.size < 2:
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_interval(
    sums: Floats, statistic: Callable[[Floats], Floats], seed: int = 0
) -> tuple[float, float] | None:
    """Interval of a statistic of totals; None where fewer than two clusters add anything to them. `sums` are
    (clusters, quantities); the statistic maps totals (…, quantities) to values (…).
    """
    if np.count_nonzero(np.any(sums != 0, axis=1)) < 2:
        return None
    # Fewer resamples where each one is large, since its draws already average much out.
    n_resamples = int(np.clip(_MAX_DRAWS // len(sums), MIN_RESAMPLES, N_RESAMPLES))
    totals = cluster_weights(len(sums), n_resamples, seed) @ sums
    return percentile_interval(statistic(totals))
