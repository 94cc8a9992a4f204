"""Is A really better than B? Paired permutation tests, Holm's correction, and ranks with uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from parsemark.stats.bootstrap import cluster_weights, percentile_interval, resamples_for

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

N_PERMUTATIONS = 10_000
EXACT_UP_TO = 13
"""With at most this many clusters all 2^n permutations are tried."""
ALPHA = 0.05
_BLOCK = 500


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The difference A − B on the same clusters."""

    a: str
    b: str
    difference: float
    ci95: tuple[float, float] | None
    p: float
    p_holm: float
    n_clusters: int

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is below 5 %."""
        return self.p_holm < ALPHA


def permutation_p(a: Floats, b: Floats, statistic: Statistic, seed: int = 0) -> float:
    """Two-sided p-value of statistic(Σa) − statistic(Σb) when A and B are exchanged cluster by cluster.

    Args:
        a: (clusters, quantities) of A.
        b: The same clusters of B.
        statistic: Maps totals (…, quantities) to values (…).
        seed: Of the random exchanges, where not all are tried.
    """
    return permutation_ps([(a, b)], statistic, seed)[0]


def permutation_ps(
    pairs: Sequence[tuple[Floats, Floats]], statistic: Statistic, seed: int = 0
) -> list[float]:
    """`permutation_p` for many pairs on the same clusters, which share their random exchanges."""
    p_values = [_exact_p(a, b, statistic) for a, b in pairs]
    rest = [k for k, p in enumerate(p_values) if p is None]
    sampled = dict(zip(rest, _sampled_ps([pairs[k] for k in rest], statistic, seed), strict=True))
    return [sampled[k] if p is None else p for k, p in enumerate(p_values)]


def _exact_p(a: Floats, b: Floats, statistic: Statistic) -> float | None:
    """The p-value over all exchanges; None if too many clusters differ for that."""
    informative = np.any(a != b, axis=1)
    n = int(informative.sum())
    if n > EXACT_UP_TO:
        return None
    swaps = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)
    return float(np.mean(_is_extreme(a, b, swaps @ (a - b)[informative], statistic)))


def _sampled_ps(pairs: Sequence[tuple[Floats, Floats]], statistic: Statistic, seed: int) -> list[float]:
    """P-values over random exchanges, in blocks, so that memory stays bounded for any number of clusters."""
    if not pairs:
        return []
    moved = np.concatenate([a - b for a, b in pairs], axis=1)
    extreme, width = np.zeros(len(pairs)), pairs[0][0].shape[1]
    rng = np.random.default_rng(seed)
    for _ in range(N_PERMUTATIONS // _BLOCK):
        shift = rng.integers(0, 2, (_BLOCK, len(moved))).astype(float) @ moved
        for k, (a, b) in enumerate(pairs):
            extreme[k] += _is_extreme(a, b, shift[:, k * width : (k + 1) * width], statistic).sum()
    p_values: list[float] = ((extreme + 1) / (N_PERMUTATIONS + 1)).tolist()
    return p_values


def _is_extreme(a: Floats, b: Floats, shift: Floats, statistic: Statistic) -> NDArray[np.bool_]:
    """For each exchange whether it leaves A and B at least as far apart as they are."""
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    observed = abs(_difference(total_a, total_b, statistic))
    exchanged = np.nan_to_num(statistic(total_a - shift)) - np.nan_to_num(statistic(total_b + shift))
    extreme: NDArray[np.bool_] = np.abs(exchanged) >= observed - 1e-12
    return extreme


def paired_interval(a: Floats, b: Floats, statistic: Statistic, seed: int = 0) -> tuple[float, float] | None:
    """Bootstrap interval of the difference, the same clusters drawn for both."""
    if len(a) < 2:
        return None
    weights = cluster_weights(len(a), resamples_for(len(a)), seed)
    return percentile_interval(statistic(weights @ a) - statistic(weights @ b))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    corrected, running = [0.0] * len(p_values), 0.0
    for step, k in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - step) * p_values[k]))
        corrected[k] = running
    return corrected


def compare_all(sums: Mapping[str, Floats], statistic: Statistic, seed: int = 0) -> list[PairedTest]:
    """Every pair of contestants, corrected for the number of pairs."""
    pairs = list(combinations(sums, 2))
    p_values = permutation_ps([(sums[a], sums[b]) for a, b in pairs], statistic, seed)
    return [
        PairedTest(
            a,
            b,
            _difference(sums[a].sum(axis=0), sums[b].sum(axis=0), statistic),
            paired_interval(sums[a], sums[b], statistic, seed),
            p,
            corrected,
            len(sums[a]),
        )
        for (a, b), p, corrected in zip(pairs, p_values, holm(p_values), strict=True)
    ]


def rank_intervals(
    sums: Mapping[str, Floats], statistic: Statistic, seed: int = 0
) -> dict[str, tuple[int, int]]:
    """The central 95 % of each contestant's rank over bootstrap resamples; 1 is best, ties share a rank."""
    names = list(sums)
    n_clusters = len(next(iter(sums.values())))
    weights = cluster_weights(n_clusters, resamples_for(n_clusters), seed)
    draws = np.nan_to_num(np.stack([statistic(weights @ sums[name]) for name in names]))
    ranks = 1 + (draws[None, :, :] > draws[:, None, :] + 1e-12).sum(axis=1)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=1, method="nearest")
    return {name: (int(low[k]), int(high[k])) for k, name in enumerate(names)}


def _difference(a: Floats, b: Floats, statistic: Statistic) -> float:
    return float(np.nan_to_num(statistic(a)) - np.nan_to_num(statistic(b)))
