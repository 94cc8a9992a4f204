"""What verdicts and intervals are worth where documents are not alike, on simulated runs.

Six equal parsers are compared; any that is called better or worse is an error. The first four worlds are those
on which the rules were chosen, the others judge them: nobody tuned anything to them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bench.intervals import PARSERS, Floats, f1
from parsemark.stats.clusters import contrasts_over_kinds, find_kinds, influences
from parsemark.stats.intervals import jackknife_interval, normalised
from parsemark.stats.bootstrap import sum_by_cluster

DOCUMENTS = (14, 30, 60)
Rng = np.random.Generator
Kind = tuple[float, float, float]


def few(rng: Rng, n: int) -> Floats:
    return 1.0 + rng.poisson(2.0, n)


def a_tenth_long(rng: Rng, n: int) -> Floats:
    """One document in ten holds 30 to 80 tables."""
    return np.where(rng.random(n) < 0.1, rng.integers(30, 81, n), few(rng, n))


def one_holds_half(rng: Rng, n: int) -> Floats:
    tables = few(rng, n)
    tables[0] = tables[1:].sum()
    return tables


def zipf(rng: Rng, n: int) -> Floats:
    return np.ceil(rng.pareto(1.2, n)).clip(1, 150)


@dataclass(frozen=True)
class World:
    tables: Callable[[Rng, int], Floats] = few
    alike: float = 3.0
    one_quality: bool = False
    n_kinds: int = 0
    kind_effect: float = 0.0
    """Standard deviation of parser × kind on the logit of the share of tables found."""
    uneven: bool = False
    """Whether kinds hold very different numbers of documents."""
    shared: float = 0.0
    """Standard deviation of what a document does to all parsers alike."""
    length_effect: float = 0.0
    """Standard deviation of a parser's own liking for long documents, on the logit per doubling."""


WORLDS = {
    "plain": World(),
    "a tenth long": World(a_tenth_long),
    "a tenth long, one quality": World(a_tenth_long, one_quality=True, alike=1.5),
    "one holds half": World(one_holds_half),
    "four templates": World(n_kinds=4, kind_effect=1.0),
}


def draw(rng: Rng, n: int, kinds: Sequence[Kind], world: World) -> tuple[Floats, Floats, list[str]]:
    """Tables of each document, (documents, parsers, 3) sums, and the kind of each document."""
    tables, k = world.tables(rng, n), len(kinds)
    recall, invented, quality = np.array(kinds).T
    groups = np.zeros(n, dtype=int)
    logit = np.broadcast_to(np.log(recall / (1 - recall)), (n, k)).copy()
    if world.n_kinds:
        chances = 1.0 / np.arange(1, world.n_kinds + 1) if world.uneven else np.ones(world.n_kinds)
        groups = rng.choice(world.n_kinds, n, p=chances / chances.sum())
        logit += rng.normal(0, world.kind_effect, (world.n_kinds, k))[groups]
    if world.shared:
        logit += rng.normal(0, world.shared, (n, 1))
    mean = 1 / (1 + np.exp(-logit))
    found = rng.beta(mean * world.alike, (1 - mean) * world.alike)
    counts = tables[:, None].astype(int)
    hits = rng.binomial(counts, found)
    if world.one_quality:
        credit = hits * rng.beta(quality * 8, (1 - quality) * 8, (n, k))
    else:
        # A sum of betas, by its mean and variance.
        mean_q, var_q = quality, quality * (1 - quality) / 9
        credit = np.clip(rng.normal(hits * mean_q, np.sqrt(hits * var_q)), 0, hits)
    false = rng.poisson(invented * tables[:, None] * rng.gamma(1.0, 1.0, (n, k)))
    sums = np.stack([np.broadcast_to(tables[:, None], (n, k)), hits + false, credit], axis=2)
    return tables, sums, [str(g) for g in groups]


def truth(kind: Kind, world: World, rng: Rng) -> float:
    total = np.zeros(3)
    for _ in range(4000 if world.n_kinds else 400):
        total += draw(rng, 60, [kind], world)[1].sum(axis=(0, 1))
    return float(f1(total))


def measure(world: World, n: int, runs: int, seed: int = 1) -> dict[str, float]:
    rng = np.random.default_rng((seed, n))
    names = [str(k) for k in range(6)]
    fair = PARSERS["fair"]
    value = truth(fair, world, rng)
    wrong = here = inside = covered = clustered = power = equal_f1 = 0
    for _ in range(runs):
        tables, sums, groups = draw(rng, n, [fair] * 6, world)
        candidates = {"template": groups}
        by_name = {name: sums[:, k] for k, name in enumerate(names)}
        found = contrasts_over_kinds(by_name, f1, list(combinations(names, 2)), tables, candidates)
        wrong += any(c.p < 0.05 for c in found.found)
        inside += np.mean([c.low <= 0 <= c.high for c in found.found])
        here += any(c.p < 0.05 for c in found.here or [])
        clustered += found.kinds is not None
        added = influences([sums[:, k] for k in range(6)], f1)
        level = find_kinds(added, normalised(tables), candidates)
        for k in range(2):
            own, w = sums[:, k], tables
            if level:
                own, w = sum_by_cluster(own, groups)[0], sum_by_cluster(w, groups)[0]
            low, high = jackknife_interval(own, f1, weights=w) or (0.0, 1.0)
            covered += low <= value <= high
        tables, sums, groups = draw(rng, n, [PARSERS["fair"], PARSERS["good"]], world)
        (told,) = contrasts_over_kinds({"0": sums[:, 0], "1": sums[:, 1]}, f1, [("0", "1")], tables, {"t": groups}).found
        power += told.p < 0.05
    return {"wrong": wrong / runs, "here": here / runs, "pair cov": inside / runs, "coverage": covered / runs / 2,
            "clustered": clustered / runs, "power": power / runs}


if __name__ == "__main__":
    for name in sys.argv[2:] or WORLDS:
        for n in DOCUMENTS:
            print(f"{name:28} {n:3}", "  ".join(f"{k} {v:.1%}" for k, v in measure(WORLDS[name], n, int(sys.argv[1])).items()), flush=True)
