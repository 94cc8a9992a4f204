"""Does the stated risk of a routing rule hold on unseen documents? Simulated labels, known populations.

    python -m bench route

Documents of kinds, parsers that do unlike on them (or not), pages of a document alike. From each draw of
labelled documents a rule is learned; its gain over the single parser is then computed on 4,000 pages of new
documents and held against the limit that was stated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parsemark.choose.route import learn_routing
from parsemark.pdf import Kinds

DRAWS = 200
PARSERS = ("a", "b", "c", "d")
WORLDS = {
    "parsers alike on all kinds": (0.0, 0.0),
    "one parser best everywhere": (0.15, 0.0),
    "small differences between kinds": (0.05, 0.06),
    "large differences between kinds": (0.05, 0.3),
}
"""Spread of parsers, and of parsers within a kind."""
Floats = NDArray[np.float64]


def pages(
    rng: np.random.Generator, means: Floats, n_documents: int, per_document: int
) -> tuple[Floats, list[Kinds], list[str]]:
    """Scores, kinds and documents of made pages: most scores are near 1, failures are 0."""
    layers, lines = rng.choice(3, n_documents, p=[0.6, 0.25, 0.15]), rng.integers(2, size=n_documents)
    owner = np.repeat(np.arange(n_documents), rng.integers(1, per_document + 1, n_documents))
    bent = means[:, layers] + rng.normal(0, 0.12, (len(PARSERS), n_documents))
    scores = np.clip(bent[:, owner] + rng.normal(0, 0.15, (len(PARSERS), len(owner))), 0, 1)
    scores[rng.random(scores.shape) < 0.05] = 0.0
    kinds = [{"layer": f"layer {layers[k]}", "lines": f"lines {lines[k]}"} for k in owner]
    return scores, kinds, [f"d{k}" for k in owner]


def draw(seed: int, spread: float, by_kind: float, n_documents: int) -> tuple[bool, bool, float]:
    """Whether the limit held, whether routing was advised, and the true gain of what was advised."""
    rng = np.random.default_rng(seed)
    means = 0.75 + rng.normal(0, spread, (len(PARSERS), 1)) + rng.normal(0, by_kind, (len(PARSERS), 3))
    scores, kinds, documents = pages(rng, means, n_documents, 3)
    routing = learn_routing(scores, PARSERS, kinds, documents)
    new_scores, new_kinds, _ = pages(rng, means, 2000, 3)
    taken = [PARSERS.index(routing.rule.parser_for(k)) for k in new_kinds]
    alone = new_scores[PARSERS.index(routing.single)]
    true = float((new_scores[taken, np.arange(len(taken))] - alone).mean())
    return true >= routing.low, routing.worth_it, true if routing.worth_it else 0.0


def main() -> bool:
    """Print how often the limit held, how often routing was advised and what it gained."""
    good = True
    for world, (spread, by_kind) in WORLDS.items():
        for n_documents in (10, 25, 60):
            found = np.array([draw(seed, spread, by_kind, n_documents) for seed in range(DRAWS)])
            held, advised, gain = found.mean(axis=0)
            lost = float((found[:, 2] < 0).mean())
            print(
                f"{world}, {n_documents} labelled documents: the limit held in {held:.3f} of {DRAWS} draws; "
                f"routing advised in {advised:.2f}, mean gain of following the advice {gain:+.3f}, "
                f"worse than one parser in {lost:.3f}",
                flush=True,
            )
            good &= held >= 0.95 and lost <= 0.05
    return good
