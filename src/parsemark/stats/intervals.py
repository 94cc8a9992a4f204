"""Intervals of scores: jackknife over documents, within their types, with Student's t on the logit scale.

A score is a statistic of totals to which each document adds something. Pages of one document are alike, so
documents are the sampling unit. The question is "on documents like these, in this mix": document types are
fixed strata, and documents are sampled within them (`within_types`). The jackknife leaves out one document at
a time. For a score between 0 and 1 the interval is symmetric on the logit scale, which keeps it inside and
follows the skewness near the ends. Degrees of freedom follow from the documents' shares (`effective_df`). At
0 and 1, where no document differs, the bound is exact for the share of documents that could differ unseen.
Fewer than `FEWEST_DOCUMENTS` have no interval. `bench/unlike_documents.py` measures coverage. Studies and the
agreement of boards resample documents instead (`bootstrap_interval`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
Interval = tuple[float, float]
Range = Literal["unit", "positive"]  # whether a figure lies between 0 and 1, or is only not negative

LEVEL = 0.95
FEWEST_DOCUMENTS = 6
"""With fewer there is no interval and no verdict: n documents have 2^(n − 1) patterns of signs, so their
smallest p is 2^(1 − n), and that of five is above 5 %."""
FEWEST_OF_TYPE = 3  # documents of a type with fewer are compared with all documents, not with their type
N_RESAMPLES = 2000
MIN_RESAMPLES = 400
_MAX_DRAWS = 4_000_000
UNSEEN = 0.1
"""Share of one document that may be entirely otherwise and was not drawn. Without it the interval of a nearly
perfect parser covers 83 % at 14 documents: the rare page that goes wrong is usually not among them."""
KNOWN_BY_SIZE = 2
"""Degrees of freedom that the fit of `variance_by_size` is worth: with it, intervals are half as wide where
few documents hold most, and cover 93 % or more."""
_SMALLEST = 0.25
MAX_DF = 200  # from here on Student's t is normal
MAX_GROUPS = 200  # figures that are slow to recompute leave out one of so many groups of documents at a time


@lru_cache(maxsize=256)
def t_quantile(level: float, df: int) -> float:
    """Return Student's t with `df` degrees of freedom: half-width that covers `level` on both sides.

    Newton's method on the finite sum that the distribution is for whole degrees of freedom. `scipy.special`
    says the same, but to import it costs more than to score a page.
    """
    scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    angle = math.atan(NormalDist().inv_cdf((1 + level) / 2) / math.sqrt(df))
    low, high = 0.0, math.pi / 2
    for _ in range(100):
        excess = _t_share(angle, df) - level
        low, high = (low, angle) if excess > 0 else (angle, high)
        slope = 2 * math.exp(scale) * math.sqrt(df) * math.cos(angle) ** (df - 1)
        step = excess / slope if slope else math.inf
        following = angle - step if low < angle - step < high else (low + high) / 2
        if abs(following - angle) <= 1e-15 * angle:
            break
        angle = following
    return math.tan(angle) * math.sqrt(df)


def t_tails(value: float, df: int) -> float:
    """Return how likely Student's t is at least as far from 0 as `value`, on either side."""
    return max(0.0, 1 - _t_share(math.atan(abs(value) / math.sqrt(df)), df))


def _t_share(angle: float, df: int) -> float:
    """Return how much of Student's t lies within tan(angle) · √df of 0."""
    cosine = math.cos(angle)
    term, total = (cosine, 0.0) if df % 2 else (1.0, 0.0)
    for k in range(2 + df % 2, df + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    share = math.sin(angle) * total
    return 2 / math.pi * (angle + share) if df % 2 else share


def sum_by_cluster(values: Floats, clusters: Sequence[object]) -> tuple[Floats, list[object]]:
    """Return sums of the rows of `values` for each cluster, in order of first appearance."""
    index, names = _cluster_index(tuple(clusters))
    sums = np.zeros((len(names), *values.shape[1:]))
    np.add.at(sums, index, values)
    return sums, list(names)


@lru_cache(maxsize=16)
def _cluster_index(clusters: tuple[object, ...]) -> tuple[NDArray[np.int64], tuple[object, ...]]:
    """Return the position of each row's cluster, and the clusters; the same for most figures of a run."""
    names = tuple(dict.fromkeys(clusters))
    position = {name: k for k, name in enumerate(names)}
    return np.array([position[c] for c in clusters], dtype=np.int64), names


def leave_one_out(sums: Floats, statistic: Statistic) -> Floats:
    """Return the statistic without each document in turn; NaN where it is then not defined.

    `sums` (documents, quantities) is what each adds to the totals.
    """
    # Differences of sums leave specks where exact arithmetic leaves 0.
    rest = sums.sum(axis=0) - sums
    return statistic(np.where(np.abs(rest) < 1e-9, 0.0, rest))


def normalised(weights: Floats) -> Floats:
    """Return shares that add up to 1; equal ones where nothing counts."""
    total = float(weights.sum())
    return weights / total if total > 0 else np.full(len(weights), 1 / max(len(weights), 1))


def within_types(values: Floats, types: Sequence[object] | None = None) -> Floats:
    """Return deviations of documents from the mean of their type, scaled so that their squares add up to a
    variance.

    The squares sum to an unbiased estimate of the variance of the total of `values` (documents, …), if
    documents are sampled within types: each type of n documents contributes n/(n − 1) times its sum of
    squares. Documents of a type with fewer than `FEWEST_OF_TYPE`, or without types, deviate from the mean of
    all documents. Every document counts once, whatever it holds: what is sampled is a document.
    """
    group, sizes = _groups(None if types is None else tuple(types), len(values))
    totals = np.zeros((len(sizes), *values.shape[1:]))
    np.add.at(totals, group, values)
    # The last group is compared with all documents.
    totals[-1], sizes = values.sum(axis=0), np.append(sizes[:-1], len(values))
    shape = (-1, *(1,) * (values.ndim - 1))
    means = totals / sizes.reshape(shape)
    factors = np.sqrt(sizes / np.maximum(sizes - 1, 1)).reshape(shape)
    deviations: Floats = (values - means[group]) * factors[group]
    return deviations


@lru_cache(maxsize=256)  # the same for most figures of a run, and for each of its groups of pages
def _groups(types: tuple[object, ...] | None, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the group of each document, and the groups' sizes; the last one holds those of small types."""
    if types is None:
        return np.zeros(n, dtype=np.int64), np.array([n])
    index, names = _cluster_index(types)
    sizes = np.bincount(index, minlength=len(names))
    large = np.flatnonzero(sizes >= FEWEST_OF_TYPE)
    position = np.full(len(names), len(large))
    position[large] = np.arange(len(large))
    group = position[index]
    return group, np.bincount(group, minlength=len(large) + 1)


def effective_df(shares: Floats, types: Sequence[object] | None = None) -> int:
    """Return degrees of freedom of a variance that documents of these shares determine, rounded down; 1 at
    least.

    Satterthwaite's (Σ Q)² / Σ (Q²/df) over types, where Q = Σw² and df = Q²/Σw⁴ − 1 of a type, if what a
    document adds varies in proportion to its share w. For n equal shares that is n − 1 without types, and n
    minus their number for types of one size.
    """
    group, sizes = _groups(None if types is None else tuple(types), len(shares))
    squares = np.bincount(group, shares**2, len(sizes))
    fourths = np.bincount(group, shares**4, len(sizes))
    own = np.divide(squares**2, fourths, out=np.ones(len(sizes)), where=fourths > 0) - 1
    if len(sizes) > 1:  # the mean of all documents costs those of small types no degree of freedom
        own[-1] += 1
    df = squares.sum() ** 2 / np.sum(squares**2 / np.maximum(own, 1))
    return max(1, math.floor(float(df) + 1e-9))


@lru_cache(maxsize=256)
def _df_of_equal_shares(n: int, types: tuple[object, ...] | None) -> int:
    return effective_df(np.ones(n), types)


def variance_by_size(squares: Floats, shares: Floats) -> float:
    """Return the variance of a total if each document varies as documents of its size do.

    Where one document holds half of all tables, its own square alone says how much it varies, and is small by
    chance in many samples. So the squares of all documents are fitted by b · w² + a · w/n, with a, b ≥ 0: the
    first term is the quality of a document, the second that of its tables one by one.
    """
    n = len(shares)
    size = np.maximum(shares, _SMALLEST / n)  # what holds next to nothing would decide the fit
    by_table = 1 / (n * size)
    scale = 1 / (1 / 3 + by_table)
    rows = np.column_stack([scale, scale * by_table])
    target = scale * squares / size**2
    fit = np.linalg.lstsq(rows, target, rcond=None)[0]
    if fit.min() < 0:  # the better of both terms alone
        alone = np.maximum(rows.T @ target, 0) / np.sum(rows**2, axis=0)
        errors = [float(np.sum((target - alone[k] * rows[:, k]) ** 2)) for k in (0, 1)]
        fit = np.where(np.arange(2) == int(np.argmin(errors)), alone, 0.0)
    return float(np.sum(fit[0] * shares**2 + fit[1] * shares / n))


def influence(sums: Floats, statistic: Statistic) -> Floats:
    """Return the influence of each document on a statistic of the totals: its change if the document counts
    slightly more.

    For a ratio of sums N / D that is (n_i − value · d_i) / D. Influences add up to 0.
    """
    totals, step = sums.sum(axis=0), 1e-5
    moved: Floats = (statistic(totals + step * sums) - statistic(totals - step * sums)) / (2 * step)
    return moved


def jackknife_interval(
    sums: Floats,
    statistic: Statistic,
    bounds: Range = "unit",
    level: float = LEVEL,
    weights: Floats | None = None,
    types: Sequence[object] | None = None,
) -> Interval | None:
    """Return 95 % confidence interval of a statistic of totals, for documents like these.

    `sums` are (documents, quantities), or (document types, quantities) to ask about new types; the statistic
    maps totals (…, quantities) to values (…), between 0 and 1 if `bounds`. `weights`: share of each document
    in the score, in any unit, None where all count alike. `types`: the type of each document; None where
    there are none. None if fewer than `FEWEST_DOCUMENTS` documents add anything.
    """
    is_counted = np.any(sums != 0, axis=1)
    counted = sums[is_counted]
    if len(counted) < FEWEST_DOCUMENTS:
        return None
    value = float(statistic(counted.sum(axis=0)))
    own = None if types is None else [name for name, k in zip(types, is_counted, strict=True) if k]
    shares = normalised(np.ones(len(counted)) if weights is None else weights[is_counted])
    return interval_from(value, leave_one_out(counted, statistic), bounds, level, shares, own)


def interval_from(
    value: float,
    left_out: Floats,
    bounds: Range = "unit",
    level: float = LEVEL,
    shares: Floats | None = None,
    types: Sequence[object] | None = None,
) -> Interval | None:
    """Return the interval of a value and of what it is without each document (or group of documents) in turn.

    None for fewer than `FEWEST_DOCUMENTS`, and where the value is not defined without some document.
    """
    n = len(left_out)
    if n < FEWEST_DOCUMENTS or not np.isfinite(value) or not np.all(np.isfinite(left_out)):
        return None
    shares = np.ones(n) if shares is None else shares
    of_equal = _df_of_equal_shares(n, None if types is None else tuple(types))
    df = min(effective_df(shares, types) + KNOWN_BY_SIZE, of_equal)
    unseen = _zero_bound(effective_df(shares) + 1, bounds, level)
    if value <= 0:
        return 0.0, unseen
    if bounds == "unit" and value >= 1:
        return 1 - unseen, 1.0
    # A value moves n/(n − 1) times as far as a document's influence on it if the document is left out.
    squares = ((n - 1) / n * within_types(left_out, types)) ** 2
    variance = max(float(squares.sum()), variance_by_size(squares, normalised(shares)))
    t = t_quantile(level, df)
    if bounds == "positive":
        half = t * math.sqrt(variance + (UNSEEN * value / n) ** 2)
        return _log_interval(value, half, half * (1 + max(_skewness(left_out), 0.0) / math.sqrt(n)))
    seen_low, seen_high = _logit_interval(value, t * math.sqrt(variance))
    low, high = _logit_interval(value, t * math.sqrt(variance + (UNSEEN / n) ** 2))
    # Near an end the logit turns what was not seen into nearly anything. It is no more than at the end
    # itself: the share of documents that may hide behind n that agree, each of them entirely otherwise.
    return max(low, seen_low * (1 - unseen)), min(high, 1 - (1 - seen_high) * (1 - unseen))


@dataclass(frozen=True, slots=True)
class RunVariance:
    """The variance of a value between parses of the same pages, and the degrees of freedom that show it."""

    variance: float = 0.0
    df: int = MAX_DF

    def __add__(self, other: RunVariance) -> RunVariance:
        """Return the variance of a difference of two."""
        parts = self.variance**2 / self.df + other.variance**2 / other.df
        total = self.variance + other.variance
        return RunVariance(total, max(1, int(total**2 / parts)) if parts > 0 else MAX_DF)

    def widen(self, value: float, ends: Interval) -> Interval:
        """Return an interval over documents, as wide as both variances together make it.

        Degrees of freedom are Satterthwaite's, so few parses matter as much as they add.
        """
        if self.variance <= 0:
            return ends
        of_documents = ((ends[1] - ends[0]) / 4) ** 2
        both = RunVariance(of_documents) + self
        half = t_quantile(LEVEL, both.df) * math.sqrt(self.variance)
        return value - math.hypot(value - ends[0], half), value + math.hypot(ends[1] - value, half)


def _logit_interval(value: float, half: float) -> Interval:
    """Return symmetric on the logit scale."""
    # As far as from one end of all numbers to the other.
    centre, width = math.log(value / (1 - value)), min(half / (value * (1 - value)), 2000.0)
    return _expit(centre - width), _expit(centre + width)


def _skewness(left_out: Floats) -> float:
    """Return the skewness of the documents' contributions: a document that adds much leaves little when it is
    left out.
    """
    added = left_out.mean() - left_out
    spread = float(np.sqrt(np.mean(added**2)))
    return float(np.mean(added**3)) / spread**3 if spread > 1e-12 else 0.0


def _log_interval(value: float, down: float, up: float) -> Interval:
    """Return half-widths on the log scale; upwards only while that is less than doubling twice or so.

    Of a few costs the largest are usually not among those drawn, so the upper half-width is the longer one
    (see `_skewness`). Few documents of very different value have a half-width of many times the value. On the
    log scale that would be a factor of millions, so from `up == value` on the end goes on as a straight line.
    """
    low = value * float(np.exp(-min(down / value, 700.0)))
    return low, value * float(np.exp(up / value)) if up <= value else value + up * (np.e - 1)


def group_documents(types: Sequence[object]) -> NDArray[np.int64]:
    """Assign each document a group: groups of one while there are few, else about `MAX_GROUPS` at random.

    Documents of a group are of one type, or all of types that are too small to have a group.
    """
    n = len(types)
    if n <= MAX_GROUPS:
        return np.arange(n)
    group, sizes = _groups(tuple(types), n)
    found, first = np.zeros(n, dtype=np.int64), 0
    rng = np.random.default_rng(0)
    for k, size in enumerate(sizes):
        n_groups = min(int(size), max(FEWEST_OF_TYPE, round(MAX_GROUPS * size / n)))
        found[group == k] = first + rng.permutation(int(size)) % max(n_groups, 1)
        first += n_groups
    return found


def _zero_bound(n: int, bounds: Range, level: float) -> float:
    """Return an upper bound for a plain 0 over n documents: Clopper and Pearson's, or Poisson's."""
    rest = (1 - level) / 2
    return float(1 - rest ** (1 / n)) if bounds == "unit" else float(-np.log(rest) / n)


def _expit(x: float) -> float:
    return float(1 / (1 + np.exp(min(-x, 700.0))))


@lru_cache(maxsize=8)
def cluster_weights(n_clusters: int, n_resamples: int = N_RESAMPLES, seed: int = 0) -> Floats:
    """Return how often each cluster is drawn in each resample: (n_resamples, n_clusters), rows sum to
    n_clusters.
    """
    drawn = np.random.default_rng(seed).integers(0, n_clusters, (n_resamples, n_clusters))
    drawn += n_clusters * np.arange(n_resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n_clusters)
    weights = counts.reshape(n_resamples, n_clusters).astype(float)
    weights.setflags(write=False)
    return weights


def percentile_interval(draws: Floats) -> Interval | None:
    """Return the central interval of the draws; None if fewer than two of them are defined."""
    defined = draws[~np.isnan(draws)]
    if defined.size < 2:
        return None
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def bootstrap_interval(sums: Floats, statistic: Statistic, seed: int = 0) -> Interval | None:
    """Return interval of a statistic of totals; None where fewer than two clusters add anything to them.
    `sums` are (clusters, quantities); the statistic maps totals (…, quantities) to values (…).
    """
    if np.count_nonzero(np.any(sums != 0, axis=1)) < 2:
        return None
    # Fewer resamples where each one is large, since its draws already average much out.
    n_resamples = int(np.clip(_MAX_DRAWS // len(sums), MIN_RESAMPLES, N_RESAMPLES))
    totals = cluster_weights(len(sums), n_resamples, seed) @ sums
    return percentile_interval(statistic(totals))
