"""Is A better than B? One test, simultaneous over all pairs, and the interval that belongs to it.

What each document adds to a difference is known. If A and B were equal, its sign would be chance, whatever
its size and however many tables the document holds. So the signs of whole documents are exchanged, and the
difference, divided by the root of its sum of squares, is compared with what that gives: the largest over all
pairs, so that all pairs are true together, also one that the data chose, such as "the best and the second".
Unlike Student's t that needs no normal distribution and no documents of one size: a document that decides
alone has its difference in every pattern, and resolves nothing. The ends of the interval are the differences
that the same test with the same critical value does not rule out, so p is below 5 % exactly where the
interval leaves out 0. `docs/explanation/numbers.md` works through an example; `bench/` measures error rates.

As for single figures, there is a share for documents that were not drawn (`UNSEEN_APART`), so two contestants
that are equal on every document have no interval of width 0, but the one to which the interval of nearly
equal ones shrinks: of two alone inside ±.05 from twelve documents on. n documents have 2^(n − 1) patterns of
signs, so p is at least 2^(1 − n), and fewer than `FEWEST_DOCUMENTS` resolve nothing and get no interval.

Where documents are of types, these are strata: what a document adds is taken from the mean of its type
(`intervals.within_types`), and the verdict is about documents of these types in this mix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from parsemark.stats.intervals import (
    FEWEST_DOCUMENTS,
    LEVEL,
    Floats,
    Range,
    RunVariance,
    Statistic,
    effective_df,
    influence,
    leave_one_out,
    normalised,
    t_quantile,
    within_types,
)

Indices = NDArray[np.int64]

N_DRAWS = 4_999
ALL_SIGNS = 13  # up to so many documents every pattern of signs is tried; of more, `N_DRAWS` are drawn
MANY_DOCUMENTS = 2_000  # from so many on, what signs give is normal
_CELLS = 2_000_000
ALPHA = 1 - LEVEL
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
    high: float | None  # simultaneous interval; None for few documents, or where one of them decides alone
    p: float  # probability of a largest difference, of all that were looked at, that stands out as much
    n_documents: int
    is_equal: bool = False  # whether both have the same sums on every document: nothing tells them apart

    def times(self, scale: float) -> Contrast:
        """Return the same in another unit."""
        low, high = (None if end is None else end * scale for end in (self.low, self.high))
        return replace(self, difference=self.difference * scale, low=low, high=high)

    def widened(self, variance: RunVariance) -> Contrast:
        """Return the same with what differs between parses, which the documents do not show."""
        if variance.variance <= 0 or self.low is None or self.high is None:
            return self
        low, high = variance.widen(self.difference, (self.low, self.high))
        before, now = (self.low, low) if self.difference > 0 else (self.high, high)
        shrunk = (self.difference - before) / (self.difference - now)
        normal = NormalDist()
        quantile = normal.inv_cdf(1 - max(self.p, 1e-12) / 2) * shrunk
        p = 2 * (1 - normal.cdf(quantile))
        is_open = low <= 0 <= high
        # The interval leaves out 0 exactly where p is below 5 %.
        p = max(p, ALPHA) if is_open else min(p, ALPHA * (1 - 1e-9))
        return replace(self, low=low, high=high, p=max(p, self.p), is_equal=False)


def contrasts(
    sums: Mapping[str, Floats],  # name to (documents, quantities), all on the same documents, or types
    statistic: Statistic,  # maps totals (…, quantities) to values (…)
    pairs: Sequence[tuple[str, str]],
    *,
    weights: Floats | None = None,  # share of each document, in any unit; None where all count alike
    types: Sequence[object] | None = None,  # of each document: strata, whose differences are no chance
    bounds: Range = "unit",  # 0 to 1; else what was not drawn is in proportion to the values
    seed: int = 0,  # of the signs that are drawn, where there are too many to try all
) -> list[Contrast]:
    """Return the difference of each pair with an interval that is simultaneous over the pairs given."""
    if not pairs:
        return []
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    counted = np.any([np.any(sums[name] != 0, axis=1) for name in names], axis=0)
    n = int(counted.sum())
    rows = [sums[name][counted] for name in names]
    values = np.array([float(statistic(own.sum(axis=0))) for own in rows])
    position = {name: k for k, name in enumerate(names)}
    first, second = np.array([[position[name] for name in pair] for pair in pairs]).T
    enough = n >= FEWEST_DOCUMENTS
    known = np.array([enough and bool(np.all(np.isfinite(leave_one_out(own, statistic)))) for own in rows])
    known = (known & np.isfinite(values))[first] & known[second] & np.isfinite(values)[second]
    shares = normalised(np.ones(n) if weights is None else weights[counted])
    added = np.nan_to_num(np.stack([influence(own, statistic) for own in rows], axis=1))
    own_types = None if types is None else [of for of, k in zip(types, counted, strict=True) if k]
    if own_types is not None:
        added = within_types(added, own_types)
    scale = np.maximum(np.abs(values[first]), np.abs(values[second])) if bounds == "positive" else 1.0
    unseen = np.broadcast_to(UNSEEN_APART * scale / max(n, 1), len(pairs))
    pair_index = first, second
    signs = _Signs(added, shares, own_types, values[first] - values[second], pair_index, known, unseen, seed)
    down, up, p = signs.test()
    return [
        replace(
            _contrast(a, b, float(signs.differences[k]), (down[k], up[k]), float(p[k]), n)
            if known[k]
            else Contrast(a, b, float(np.nan_to_num(signs.differences[k])), None, None, 1.0, n),
            is_equal=n > 0 and bool(np.isfinite(signs.differences[k])) and np.array_equal(sums[a], sums[b]),
        )
        for k, (a, b) in enumerate(pairs)
    ]


def _contrast(a: str, b: str, difference: float, halves: tuple[float, float], p: float, n: int) -> Contrast:
    """Return a contrast with a p-value that so few documents can have, and an interval that agrees with
    it.
    """
    difference = 0.0 if abs(difference) < 1e-12 else difference
    p = max(p, min(1.0, 2.0 ** (1 - n)))
    reach, towards_0 = abs(difference), 0 if difference > 0 else 1
    ends = [float(half) for half in halves]
    if p >= ALPHA:
        ends[towards_0] = max(ends[towards_0], reach * (1 + 1e-9))
    elif ends[towards_0] >= reach > 0:
        ends[towards_0] = reach * (1 - 1e-9)
    return Contrast(a, b, difference, difference - ends[0], difference + ends[1], p, n)


@dataclass(frozen=True)
class _Signs:
    """The test of all pairs by exchanging the signs of documents."""

    added: Floats  # (documents, contestants): what each document adds; columns sum to 0
    shares: Floats
    types: Sequence[object] | None
    differences: Floats
    pairs: tuple[Indices, Indices]
    known: NDArray[np.bool_]  # pairs whose difference is defined without any one document
    unseen: Floats
    seed: int

    def test(self) -> tuple[Floats, Floats, Floats]:
        """Return how far the interval of each pair reaches down and up, and its p-value."""
        squares = self._squares()
        distinct = self.known & (squares > 1e-18)  # less is what rounding leaves
        # Of documents that agree entirely, every other pattern of signs gives less.
        p = np.where(np.abs(self.differences) < 1e-12, 1.0, 0.0)
        slope = self.shares @ self.added
        slope = slope[self.pairs[0]] - slope[self.pairs[1]]
        critical = 0.0
        if distinct.any():
            found = self.differences[distinct]
            # Of what documents add if A and B are equal: what sets them apart, and a share of what was found.
            of_found = found**2 * float(np.sum(self.shares**2))
            spread = np.sqrt(squares[distinct] + 2 * found * slope[distinct] + of_found)
            largest = np.sort(self._largest(distinct, spread))
            seen = np.abs(found) / np.hypot(spread, self.unseen[distinct])
            n_as_large = len(largest) - np.searchsorted(largest, seen - 1e-9)
            # The pattern that was found is one of all, and is added to those that are drawn.
            is_drawn = len(self.shares) > ALL_SIGNS
            p[distinct] = (n_as_large + is_drawn) / (len(largest) + is_drawn)
            rank = max(1, int(np.ceil(ALPHA * (len(largest) + is_drawn) - 1e-9)) - is_drawn)
            critical = float(largest[-rank])
        return *self._reach(squares, slope, critical), p

    def _squares(self) -> Floats:
        """Return Σ over documents of what sets each pair apart, squared."""
        first, second = self.pairs
        block = max(1, _CELLS // max(1, len(self.shares)))
        starts = range(0, len(first), block)
        apart = (self.added[:, first[k : k + block]] - self.added[:, second[k : k + block]] for k in starts)
        return np.concatenate([np.sum(own**2, axis=0) for own in apart])

    def _largest(self, distinct: NDArray[np.bool_], spread: Floats) -> Floats:
        """Return the largest sum of all distinct pairs, each over its spread, for each pattern of signs."""
        columns = np.column_stack([self.added, self.shares])
        n, places = len(columns), np.arange(len(spread))
        of_pair = np.zeros((columns.shape[1], len(spread)))
        of_pair[self.pairs[0][distinct], places] = 1.0
        of_pair[self.pairs[1][distinct], places] = -1.0
        of_pair[-1] = self.differences[distinct]
        of_pair /= spread
        if n > MANY_DOCUMENTS:
            columns = np.asarray(np.linalg.qr(columns)[1])
            signs = np.random.default_rng(self.seed).standard_normal((N_DRAWS, len(columns)))
        else:
            signs = sign_patterns(n, self.seed).astype(float)
        signs, of_pair = (signs @ columns, of_pair) if n > len(of_pair) else (signs, columns @ of_pair)
        block = max(1, _CELLS // len(spread))
        blocks = (signs[k : k + block] @ of_pair for k in range(0, len(signs), block))
        return np.concatenate([np.abs(sums).max(axis=1) for sums in blocks])

    def _reach(self, squares: Floats, slope: Floats, critical: float) -> tuple[Floats, Floats]:
        """Return the differences e from the one found at which |e| = critical · √(Σ (apart + e · share)² +
        unseen²).

        Where there are none, the documents rule out nothing by their signs alone (they are few, or one
        outweighs the others), and the interval is Student's with the degrees of freedom that they leave.
        """
        n = len(self.shares)
        lead = 1 - critical**2 * float(np.sum(self.shares**2))
        if critical == 0 or lead <= 1e-9 or n < FEWEST_DOCUMENTS:
            student = t_quantile(LEVEL, effective_df(self.shares, self.types)) if n > 1 else 0.0
            variance = squares * n / max(n - 1, 1) if self.types is None else squares
            plain = student * np.sqrt(variance + self.unseen**2)
            return plain, plain
        root = np.sqrt((critical**2 * slope) ** 2 + lead * critical**2 * (squares + self.unseen**2))
        return (critical**2 * slope + root) / lead, (root - critical**2 * slope) / lead


@lru_cache(maxsize=4)
def sign_patterns(n: int, seed: int = 0) -> NDArray[np.int8]:
    """Return patterns of signs of n documents, (patterns, n): all whose first sign is + while they are
    few.
    """
    if n <= ALL_SIGNS:
        patterns = np.arange(2 ** max(n - 1, 0))
        bits = patterns[:, None] >> np.arange(n)[None, :] & 1
        return np.asarray(1 - 2 * bits[:, ::-1], dtype=np.int8)
    drawn = np.random.default_rng(seed).integers(0, 2, (N_DRAWS, n), dtype=np.int8)
    return np.asarray(1 - 2 * drawn, dtype=np.int8)


def rank_intervals(names: Sequence[str], found: Sequence[Contrast]) -> dict[str, tuple[int, int]]:
    """Return the places that the simultaneous intervals of all pairs allow; 1 is the largest value."""
    above = dict.fromkeys(names, 0)
    below = dict.fromkeys(names, 0)
    for c in found:
        if c.low is None or c.high is None or c.low <= 0 <= c.high:
            continue
        winner, loser = (c.a, c.b) if c.difference > 0 else (c.b, c.a)
        above[loser] += 1
        below[winner] += 1
    return {name: (1 + above[name], len(names) - below[name]) for name in names}
