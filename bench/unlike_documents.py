"""What verdicts and intervals are worth where documents are not alike, on simulated runs.

Six equal parsers are compared; any that is called better or worse is an error. `WORLDS` are those on which
the rules were chosen, `OTHER_WORLDS` judge them: nothing was tuned to them. `python -m bench.unlike_documents
300 "four templates"` runs one world 300 times; all of them take some minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from parsemark.stats.clusters import contrasts_over_kinds, find_kinds, influences
from parsemark.stats.intervals import jackknife_interval, normalised, sum_by_cluster

N_RUNS = 300
Floats = NDArray[np.float64]
DOCUMENTS = (14, 30, 60)
Rng = np.random.Generator
Parser = tuple[float, float, float]
"""Share of tables found, invented tables per true one, mean structure of what was found."""
NAMES = tuple("abcdef")
PARSERS = {
    "nearly perfect": (0.97, 0.01, 0.99),
    "very good": (0.95, 0.02, 0.95),
    "good": (0.90, 0.05, 0.90),
    "fair": (0.70, 0.20, 0.90),
    "poor": (0.40, 0.30, 0.80),
    "bad": (0.15, 0.10, 0.70),
}
"""Share of tables found, invented tables per true one, mean structure of what was found."""


def f1(totals: Floats) -> Floats:
    """End-to-end F1 of (truths, predictions, credit)."""
    return 2 * totals[..., 2] / np.maximum(totals[..., 0] + totals[..., 1], 1e-12)


def few_tables(rng: Rng, n: int) -> Floats:
    """One to seven or so."""
    return 1.0 + rng.poisson(2.0, n)


def a_tenth_long(rng: Rng, n: int) -> Floats:
    """One document in ten holds 30 to 80 tables."""
    return np.where(rng.random(n) < 0.1, rng.integers(30, 81, n), few_tables(rng, n)).astype(float)


def one_holds_half(rng: Rng, n: int) -> Floats:
    """The first document holds as many as all others."""
    tables = few_tables(rng, n)
    tables[0] = tables[1:].sum()
    return tables


def pareto(rng: Rng, n: int) -> Floats:
    """Without a typical number."""
    return np.ceil(rng.pareto(1.2, n)).clip(1, 150)


@dataclass(frozen=True)
class Unlike:
    """How documents differ from each other."""

    tables: Callable[[Rng, int], Floats] = few_tables
    alike: float = 3.0
    """Concentration of the share of tables that is found in a document."""
    one_quality: bool = False
    """Whether all tables of a document are read equally well."""
    kinds: tuple[int, ...] = ()
    """Numbers of kinds; each of the first division holds as many of the second."""
    effect: float = 0.0
    """Standard deviation of parser × kind (of the last division) on the logit of the share found."""
    is_uneven: bool = False
    """Whether some kinds hold most of the documents."""
    lost: float = 0.0
    """Share of documents on which a parser finds nothing."""


WORLDS = {
    "plain": Unlike(),
    "a tenth long": Unlike(a_tenth_long),
    "a tenth long, one quality": Unlike(a_tenth_long, alike=1.5, one_quality=True),
    "one holds half": Unlike(one_holds_half),
    "four templates": Unlike(kinds=(4,), effect=1.5),
}
OTHER_WORLDS = {
    "eight uneven sources": Unlike(kinds=(8,), effect=1.2, is_uneven=True, tables=pareto),
    "templates within makers": Unlike(kinds=(3, 4), effect=1.0),
    "lost documents of any length": Unlike(pareto, alike=1.0, lost=0.08),
}


def draw(rng: Rng, n: int, parsers: Sequence[Parser], world: Unlike) -> tuple[Floats, dict[str, list[str]]]:
    """(documents, parsers, 3) truths, predictions, credit; and the kinds of each document by attribute."""
    tables, k = world.tables(rng, n), len(parsers)
    recall, invented, quality = np.array(parsers).T
    logit = np.broadcast_to(np.log(recall / (1 - recall)), (n, k)).copy()
    groups: dict[str, list[str]] = {}
    if world.kinds:
        total = int(np.prod(world.kinds))
        chances = 1.0 / np.arange(1, total + 1) if world.is_uneven else np.ones(total)
        finest = rng.choice(total, n, p=chances / chances.sum())
        logit += rng.normal(0, world.effect, (total, k))[finest]
        groups["template"] = [str(g) for g in finest]
        if len(world.kinds) > 1:
            groups["maker"] = [str(g // world.kinds[-1]) for g in finest]
    mean = 1 / (1 + np.exp(-logit))
    found = rng.beta(mean * world.alike, (1 - mean) * world.alike)
    kept = rng.random((n, k)) >= world.lost
    hits = rng.binomial(tables[:, None].astype(int), found) * kept
    if world.one_quality:
        credit = hits * rng.beta(quality * 8, (1 - quality) * 8, (n, k))
    else:  # a sum of betas, by its mean and its variance
        spread = np.sqrt(hits * quality * (1 - quality) / 9)
        credit = np.clip(rng.normal(hits * quality, spread), 0, hits)
    false = rng.poisson(invented * tables[:, None] * rng.gamma(1.0, 1.0, (n, k))) * kept
    return np.stack([np.broadcast_to(tables[:, None], (n, k)), hits + false, credit], axis=2), groups


def true_f1(parser: Parser, world: Unlike, rng: Rng) -> float:
    """In the limit of many documents, each of a kind of its own where there are kinds."""
    apart = replace(world, kinds=(60,) if world.kinds else (), is_uneven=False)
    return float(f1(sum(draw(rng, 60, [parser], apart)[0].sum(axis=(0, 1)) for _ in range(1500))))


def covers(sums: Floats, groups: Mapping[str, Sequence[str]], truth: float) -> float:
    """The share of the parsers' intervals that hold the truth, over kinds where they matter."""
    n_parsers, tables = sums.shape[1], sums[:, 0, 0]
    own = [sums[:, k] for k in range(n_parsers)]
    kinds = find_kinds(influences(own, f1), normalised(tables), groups)
    if kinds is not None:
        own = [sum_by_cluster(one, kinds.of_document)[0] for one in own]
    ends = [jackknife_interval(one, f1, weights=one[:, 0]) or (0.0, 1.0) for one in own]
    return float(np.mean([low <= truth <= high for low, high in ends]))


@dataclass(frozen=True)
class Measured:
    """Of one world and number of documents."""

    wrong: float
    coverage: float
    covered_difference: float
    told_apart: float
    over_kinds: float


def measure(world: Unlike, n: int, runs: int) -> Measured:
    """Six equal parsers, and a fair and a good one, in simulated runs."""
    rng = np.random.default_rng((5, n))
    fair, good = PARSERS["fair"], PARSERS["good"]
    truth = true_f1(fair, world, rng)
    gap = truth - true_f1(good, world, rng)
    counts = np.zeros(5)
    for _ in range(runs):
        sums, groups = draw(rng, n, [fair] * len(NAMES), world)
        by_name = {name: sums[:, k] for k, name in enumerate(NAMES)}
        equal = contrasts_over_kinds(by_name, f1, list(combinations(NAMES, 2)), sums[:, 0, 0], groups)
        two, groups_of_two = draw(rng, n, [fair, good], world)
        pair = {"fair": two[:, 0], "good": two[:, 1]}
        (other,) = contrasts_over_kinds(pair, f1, [("fair", "good")], two[:, 0, 0], groups_of_two).found
        low, high = (-1.0, 1.0) if other.low is None or other.high is None else (other.low, other.high)
        counts += (
            any(c.p < 0.05 for c in equal.found),
            covers(sums, groups, truth),
            low <= gap <= high,
            other.p < 0.05,
            equal.kinds is not None,
        )
    return Measured(*(counts / runs))


def hundred_parsers(runs: int, n: int = 30) -> tuple[float, float]:
    """How often any of 100 equal parsers is told from another, and the CPU seconds that 4,950 pairs take."""
    rng, wrong, names = np.random.default_rng(6), 0, [str(k) for k in range(100)]
    pairs, started = list(combinations(names, 2)), time.process_time()
    for _ in range(runs):
        sums, _ = draw(rng, n, [PARSERS["fair"]] * 100, WORLDS["plain"])
        by_name = {name: sums[:, k] for k, name in enumerate(names)}
        found = contrasts_over_kinds(by_name, f1, pairs, sums[:, 0, 0], {})
        wrong += any(c.p < 0.05 for c in found.found)
    return wrong / runs, (time.process_time() - started) / runs


def main(names: Sequence[str] = ()) -> bool:
    """Run the worlds of these names, or all; a number is how often."""
    runs = next((int(name) for name in names if name.isdigit()), N_RUNS)
    worlds = {**WORLDS, **OTHER_WORLDS}
    wanted = [name for name in names if not name.isdigit()]
    met = True
    print("world, documents: any of six equal ones told apart; F1 covered; difference of fair and good")
    print("covered; told apart; runs in which kinds matter")
    for name in wanted or worlds:
        for n in DOCUMENTS:
            found = measure(worlds[name], n, runs)
            print(f"  {name}, {n}: " + "; ".join(f"{share:.1%}" for share in astuple(found)), flush=True)
            met &= found.wrong <= (0.07 if n >= 30 else 0.10) and found.coverage >= 0.92
    if not wanted:
        wrong, seconds = hundred_parsers(max(20, runs // 3))
        print(f"  100 equal parsers, 30 documents: {wrong:.1%}, {seconds:.2f} CPU s")
        met &= wrong <= 0.05 and seconds <= 2
    return met


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
