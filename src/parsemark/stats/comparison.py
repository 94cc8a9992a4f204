"""Is A better than B? One studentised test, simultaneous over all pairs, and the interval that belongs to it.

The differences of several contestants on the same documents have jackknife standard errors and known
correlations. The largest of all studentised differences (max-t) has one distribution under "no difference
anywhere"; its quantile makes the intervals of all pairs true together, so also the interval of a pair that
the data chose, such as "the best and the second". The p-value of a pair comes from the same distribution, so
it is below 5 % exactly where the interval leaves out 0. `bench/intervals.py` measures how often both err.

As for single figures, each standard error has a share for documents that were not drawn (`UNSEEN_APART`), so
two contestants that are equal on every document have no interval of width 0, but the one to which the
interval of nearly equal ones shrinks: of two alone inside ±.05 from twelve documents on. However small the
spread, n documents that all point the same way are no rarer than n tosses of a coin that fall alike: p is at
least 2^(1 − n), so fewer than `FEWEST_DOCUMENTS` resolve nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from parsemark.stats.intervals import LEVEL, Floats, Range, Statistic, leave_one_out, t_quantile

N_DRAWS = 10_000
FEW_DOCUMENTS = 40
_BLOCK = 2_000
_CELLS = 2_000_000
ALPHA = 1 - LEVEL
FEWEST_DOCUMENTS = 6
"""The fewest with which a difference can be told from chance: 2^(1 − 6) is below 5 %."""
UNSEEN_APART = 0.25
"""Share of one document on which two contestants may be entirely apart and that was not drawn. More than for
a single figure: contestants that are nearly copies differ on few documents, which are easily not drawn."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference A − B on the same documents."""

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    """Simultaneous interval; None where a value is not defined without some document."""
    p: float
    """Probability of a largest difference, of all that were looked at, that stands out as much."""
    n_documents: int
    is_equal: bool = False
    """Whether A and B have the same sums on every document, so that nothing tells them apart."""

    def times(self, scale: float) -> Contrast:
        """The same in another unit."""
        low, high = (None if end is None else end * scale for end in (self.low, self.high))
        return replace(self, difference=self.difference * scale, low=low, high=high)


def contrasts(
    sums: Mapping[str, Floats],
    statistic: Statistic,
    pairs: Sequence[tuple[str, str]],
    seed: int = 0,
    bounds: Range = "unit",
) -> list[Contrast]:
    """The difference of each pair with an interval that is simultaneous over the pairs given.

    Args:
        sums: Contestant to (documents, quantities); all on the same documents.
        statistic: Maps totals (…, quantities) to values (…).
        pairs: Which differences are looked at.
        seed: Of the draws from the distribution of the largest one.
        bounds: Whether the figure lies between 0 and 1, or what was not drawn is in proportion to the values.
    """
    if not pairs:
        return []
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    index = {name: k for k, name in enumerate(names)}
    counted = np.any([np.any(sums[name] != 0, axis=1) for name in names], axis=0)
    n = int(counted.sum())
    values = np.array([float(statistic(sums[name].sum(axis=0))) for name in names])
    columns = [leave_one_out(sums[name][counted], statistic) for name in names]
    left_out = np.stack(columns, axis=1) if n else np.zeros((0, len(names)))
    first = np.array([index[a] for a, _ in pairs])
    second = np.array([index[b] for _, b in pairs])
    differences = values[first] - values[second]
    deviations = left_out - left_out.mean(axis=0) if n else left_out
    influence = deviations[:, first] - deviations[:, second]
    errors = np.sqrt((n - 1) / n * np.sum(influence**2, axis=0)) if n else np.zeros(len(pairs))
    usable = np.isfinite(errors) & np.isfinite(differences) & (errors > 1e-12) & (n > 1)
    scale = np.maximum(np.abs(values[first]), np.abs(values[second])) if bounds == "positive" else 1.0
    errors = np.where(usable, np.hypot(errors, UNSEEN_APART * scale / max(n, 1)), errors)
    largest = _largest_t(influence[:, usable], n, seed)
    critical = float(np.quantile(largest, LEVEL)) if usable.any() else t_quantile(LEVEL, max(n - 1, 1))
    found = []
    for k, (a, b) in enumerate(pairs):
        difference = float(differences[k])
        if usable[k]:
            half = critical * float(errors[k])
            p = float((1 + np.sum(largest >= abs(difference) / errors[k] - 1e-12)) / (1 + len(largest)))
            found.append(_contrast(a, b, difference, half, p, n))
        elif not np.isfinite(errors[k]) or not np.isfinite(difference) or n < 2:
            found.append(Contrast(a, b, difference if np.isfinite(difference) else 0.0, None, None, 1.0, n))
        else:  # every document makes the same difference, or none: what may be unseen is all of the interval
            unseen = critical * UNSEEN_APART * float(np.broadcast_to(scale, len(pairs))[k]) / n
            is_none = abs(difference) < 1e-12
            found.append(_contrast(a, b, 0.0 if is_none else difference, unseen, 1.0 if is_none else 0.0, n))
    known = np.isfinite(differences) & (n > 0)
    return [
        replace(c, is_equal=bool(is_known) and np.array_equal(sums[c.a], sums[c.b]))
        for c, is_known in zip(found, known, strict=True)
    ]


def _contrast(a: str, b: str, difference: float, half: float, p: float, n: int) -> Contrast:
    """With a p-value that so few documents can have, and an interval that says the same."""
    p = max(p, min(1.0, 2.0 ** (1 - n)))
    reach = abs(difference)
    if p >= ALPHA:
        half = max(half, reach * (1 + 1e-9))
    elif half >= reach > 0:
        half = reach * (1 - 1e-9)
    return Contrast(a, b, difference, difference - half, difference + half, p, n)


def _largest_t(influence: Floats, n: int, seed: int) -> Floats:
    """Draws of the largest studentised difference if no two contestants differed.

    The documents' influences get normal weights, which keeps the correlations of the differences. With few
    documents whole samples are drawn and each difference is divided by its own standard error, as the data's
    are; with many, a common chi-square with n − 1 degrees of freedom does the same.
    """
    if influence.shape[1] == 0:
        return np.zeros(1)
    unit = influence / np.sqrt(np.sum(influence**2, axis=0))
    # The differences of k contestants vary in k − 1 directions: as many normals are enough.
    _, scale, directions = np.linalg.svd(unit, full_matrices=False)
    kept = scale > 1e-9 * scale[0]
    unit = scale[kept, None] * directions[kept]
    rank = len(unit)
    rng = np.random.default_rng(seed)
    draws = []
    if n <= FEW_DOCUMENTS:
        block = max(1, _CELLS // (n * unit.shape[1]))
        for start in range(0, N_DRAWS, block):
            samples = rng.standard_normal((min(block, N_DRAWS - start), n, rank)) @ unit
            error = samples.std(axis=1, ddof=1) / np.sqrt(n)
            draws.append(np.max(np.abs(samples.mean(axis=1)) / error, axis=1))
    else:
        for _ in range(N_DRAWS // _BLOCK):
            normal = np.abs(rng.standard_normal((_BLOCK, rank)) @ unit).max(axis=1)
            draws.append(normal / np.sqrt(rng.chisquare(n - 1, _BLOCK) / (n - 1)))
    return np.concatenate(draws)


def rank_intervals(names: Sequence[str], found: Sequence[Contrast]) -> dict[str, tuple[int, int]]:
    """The places that the simultaneous intervals allow; 1 is the largest value.

    Args:
        names: The contestants.
        found: The contrasts of all pairs of them.
    """
    above = dict.fromkeys(names, 0)
    below = dict.fromkeys(names, 0)
    for c in found:
        if c.low is None or c.high is None or c.low <= 0 <= c.high:
            continue
        winner, loser = (c.a, c.b) if c.difference > 0 else (c.b, c.a)
        above[loser] += 1
        below[winner] += 1
    return {name: (1 + above[name], len(names) - below[name]) for name in names}
