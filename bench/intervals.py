"""What the intervals of costs, average precision and D-ECE cover, on simulated runs of known true values.

The true values of average precision and D-ECE are those of 20,000 documents; costs per page have no upper
end. What verdicts and intervals of F1 are worth is measured by `bench/unlike_documents.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.unlike_documents import DOCUMENTS, PARSERS, Floats, few_tables
from parsemark.protocols.tables.figures import ranked_figures
from parsemark.protocols.tables.matched_tables import MatchedTables, TruthPages
from parsemark.stats.intervals import jackknife_interval

N_COSTS = 2000
N_RANKED = 100
N_TRUE = 20_000
HETEROGENEITY = 3.0


def main() -> bool:
    return costs(np.random.default_rng(7)) & ranked_predictions()


def ranked(rng: np.random.Generator, n: int, kind: tuple[float, float, float], bend: float) -> MatchedTables:
    """Return predictions with confidences, right ones mostly higher; `bend` is how far they are from honest.

    A prediction's chance to be right is drawn first, so its confidence is known to be honest or not.
    """
    recall, invented, _ = kind
    tables = few_tables(rng, n)
    n_pred = np.maximum(rng.poisson(tables * (recall + invented)), 0)
    page = np.repeat(np.arange(n), n_pred)
    right_share = recall / (recall + invented)
    spread = rng.beta(right_share * HETEROGENEITY, (1 - right_share) * HETEROGENEITY, n)[page]
    chance = rng.beta(spread * 2 + 0.05, (1 - spread) * 2 + 0.05)
    hit = (rng.random(len(page)) < chance).astype(float)
    # No document has more hits than tables.
    for document in range(n):
        own = np.flatnonzero((page == document) & (hit > 0))
        hit[own[int(tables[document]) :]] = 0.0
    confidence = np.clip(chance**bend, 0.06, 0.999)
    names = tuple(f"d{k:05d}" for k in range(n))
    return MatchedTables(
        pages=TruthPages(names, names, tables),
        page=page,
        truth=("",) * len(page),
        pred=("",) * len(page),
        overlap=hit,
        confidence=confidence,
        has_confidence=True,
        positive=confidence > 0.5,
        count=np.ones(len(page)),
        structure={},
    )


def ranked_coverage(n: int, kind: tuple[float, float, float], bend: float, runs: int) -> dict[str, float]:
    """Return the share of the intervals of AP and D-ECE that hold the true value."""
    from parsemark.stats.detection import average_precision
    from parsemark.stats.parser_confidence import d_ece

    rng = np.random.default_rng(11)
    many = ranked(rng, N_TRUE, kind, bend)
    truth = {
        "ap": average_precision(many.confidence, many.overlap, many.n_truth),
        "d_ece": d_ece(many.confidence, many.overlap) or 0.0,
    }
    inside = dict.fromkeys(truth, 0)
    for _ in range(runs):
        found = ranked_figures(ranked(rng, n, kind, bend))
        for name, value in truth.items():
            low, high = found[name].interval or (0.0, 1.0)
            inside[name] += low <= value <= high
    return {name: count / runs for name, count in inside.items()}


COSTS: dict[str, tuple[Callable[[np.random.Generator, int], Floats], float]] = {
    "sigma 0.2": (lambda rng, n: rng.lognormal(0.0, 0.2, n), float(np.exp(0.02))),
    "sigma 0.6": (lambda rng, n: rng.lognormal(0.0, 0.6, n), float(np.exp(0.18))),
    "sigma 1.2": (lambda rng, n: rng.lognormal(0.0, 1.2, n), float(np.exp(0.72))),
    "exponential": (lambda rng, n: rng.exponential(1.0, n), 1.0),
    "gamma 0.5": (lambda rng, n: rng.gamma(0.5, 1.0, n), 0.5),
    "Pareto 2.5": (lambda rng, n: 1.0 + rng.pareto(2.5, n), 2.5 / 1.5),
    "a tenth 20-fold": (
        lambda rng, n: np.where(rng.random(n) < 0.1, 20.0, 1.0) * rng.uniform(0.8, 1.2, n),
        2.9,
    ),
}
"""How costs are drawn, and their true mean."""


def cost_coverage(n: int, name: str, rng: np.random.Generator) -> float:
    """Return the share of the intervals of a mean cost that hold the true one."""
    draw, truth = COSTS[name]
    inside = 0
    for _ in range(N_COSTS):
        sums = np.stack([draw(rng, n), np.ones(n)], axis=1)
        low, high = jackknife_interval(sums, lambda t: t[..., 0] / t[..., 1], "positive") or (0.0, np.inf)
        inside += low <= truth <= high
    return inside / N_COSTS


def ranked_predictions() -> bool:
    """Return the average precision and D-ECE."""
    print("coverage of 95 % intervals of AP and D-ECE (honest confidences, and bent ones)")
    for n in DOCUMENTS:
        for name in ("very good", "fair", "poor"):
            for bend, words in ((1.0, "honest"), (0.4, "too sure")):
                found = ranked_coverage(n, PARSERS[name], bend, N_RANKED)
                listed = "  ".join(f"{figure} {share:.1%}" for figure, share in found.items())
                print(f"  {n:3} documents, {name}, {words}: {listed}")
    return True


def costs(rng: np.random.Generator) -> bool:
    """Return seconds per page, and other costs without an upper end."""
    print("coverage of 95 % intervals of seconds per page: lognormal, and shapes that no rule was chosen on")
    for n in (5, *DOCUMENTS):
        listed = "  ".join(f"{name} {cost_coverage(n, name, rng):.1%}" for name in COSTS)
        print(f"  {n:3} documents: {listed}")
    return True
