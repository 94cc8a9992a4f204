"""The order in which pages are labelled: drawn once, doubtful pages sooner, and any beginning of it a sample.

Successive sampling (Rosén 1972): the next page is always drawn with chances in proportion to size among those
left, so that labelling may stop at any planned look.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class LabelOrder:
    """The order in which pages are to be labelled, and how likely each was to come early."""

    order: Indices  # pages, the first to be labelled first
    size: Floats  # of each page, its share of the chances; they sum to 1


def draw_order(size: Floats, clusters: Sequence[object], seed: int) -> LabelOrder:
    """Draw the order in which pages are labelled, the same for the same seed, those of one document
    (`clusters`) spread over it. `size`: chance of each page relative to the others, at least 0; pages of
    greater doubt get more.
    """
    rng = np.random.default_rng(seed)
    n = len(size)
    shares = np.maximum(np.asarray(size, dtype=float), 0.0)
    shares = shares / shares.sum() if shares.sum() > 0 else np.full(n, 1.0 / n)
    # No page is without a chance: an unlikely page's label would weigh without bound.
    shares = 0.5 * shares + 0.5 / n
    # Each page waits for an exponential time; pages of greater size wait less. The numbers of one document
    # are spaced evenly, so that its pages do not come in a row; each one alone is still uniform.
    uniform = np.empty(n)
    members: dict[object, list[int]] = {}
    for index, cluster in enumerate(clusters):
        members.setdefault(cluster, []).append(index)
    for indices in members.values():
        places = rng.permutation(len(indices))
        uniform[indices] = (places + rng.random()) / len(indices)
    waiting = -np.log1p(-uniform) / shares
    return LabelOrder(np.argsort(waiting, kind="stable").astype(np.int64), shares)


def inclusion_probabilities(size: Floats, n_labels: int) -> Floats:
    """Return probability of each page to be among the first `n_labels` (Rosén's approximation).

    All pages wait until about the same time t, at which `n_labels` are expected to have come.
    """
    n = len(size)
    if n_labels >= n:
        return np.ones(n)

    def surplus(time: float) -> float:
        return float(-np.expm1(-size * time).sum()) - n_labels

    latest = 1.0 / size.max()
    while surplus(latest) < 0:
        latest *= 2
    time = float(optimize.brentq(surplus, 0.0, latest, xtol=1e-12, rtol=1e-12))
    return -np.expm1(-size * time)
