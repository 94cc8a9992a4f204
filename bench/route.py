"""Does the stated risk of a routing rule hold on unseen documents? Simulated labels, known populations.

    python -m bench route

Worlds of unlike make: scores spread around means, pages that succeed or fail as a whole, documents of very
unlike length whose pages are alike, a rare kind that one parser alone reads, kinds that are often taken for
others, beside traits that say nothing. The constants of `choose.route` were set on the first kind of world
alone. From each draw of labelled documents a rule is learned; its gain over the single parser is then
computed on new documents of the same world and held against the limit that was stated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from parsemark.choosing.route import learn_routing
from parsemark.pdf import TRAITS

DRAWS = 200
PARSERS = ("a", "b", "c", "d")
N_KINDS = 3
DOCUMENTS = (10, 25, 60)
N_NEW = 1500
"""Documents of the population on which a rule is judged."""
Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Pages:
    """Made pages of a world."""

    scores: Floats
    """(parsers, pages)."""
    kinds: Mapping[str, Places]
    owner: Places
    """The document of each page."""


World = Callable[[np.random.Generator], Callable[[int], Pages]]
"""Draws a world: what then gives pages of so many of its documents."""


def owners(rng: np.random.Generator, n: int, *, heavy: bool = False) -> Places:
    """Return the document of each page: 1 to 3 pages, or a few documents with up to 40."""
    sizes = np.minimum(1 + rng.pareto(1.2, n) * 2, 40).astype(int) if heavy else rng.integers(1, 4, n)
    return np.repeat(np.arange(n), sizes)


def spread(rng: np.random.Generator, between: float, by_kind: float) -> Callable[[int], Pages]:
    """Return scores around means of parsers and kinds, failures among them. The world of the first
    figures.
    """
    means = 0.75 + rng.normal(0, between, (len(PARSERS), 1)) + rng.normal(0, by_kind, (len(PARSERS), N_KINDS))

    def pages(n: int) -> Pages:
        layers, lines = rng.choice(N_KINDS, n, p=[0.6, 0.25, 0.15]), rng.integers(2, size=n)
        owner = owners(rng, n)
        bent = means[:, layers] + rng.normal(0, 0.12, (len(PARSERS), n))
        scores = np.clip(bent[:, owner] + rng.normal(0, 0.15, (len(PARSERS), len(owner))), 0, 1)
        scores[rng.random(scores.shape) < 0.05] = 0.0
        return Pages(scores, {"layer": layers[owner], "lines": lines[owner]}, owner)

    return pages


def all_or_nothing(rng: np.random.Generator, apart: float) -> Callable[[int], Pages]:
    """Simulate pages that are right or worthless, in long documents on which a parser does alike
    throughout.
    """
    chances = rng.beta(4, 2, (len(PARSERS), 1)) * (1 - apart) + apart * rng.beta(
        0.7, 0.7, (len(PARSERS), N_KINDS)
    )

    def pages(n: int) -> Pages:
        kind, owner = rng.integers(N_KINDS, size=n), owners(rng, n, heavy=True)
        mean = chances[:, kind]
        of_document = rng.beta(2 * mean + 0.05, 2 * (1 - mean) + 0.05)
        scores = (rng.random((len(PARSERS), len(owner))) < of_document[:, owner]).astype(np.float64)
        return Pages(scores, {"columns": kind[owner], **noise(rng, n, owner, "columns")}, owner)

    return pages


def rare_kind(rng: np.random.Generator, share: float) -> Callable[[int], Pages]:
    """Simulate few scanned documents, which one parser reads and the others do not; it is behind on all
    else.
    """
    means = np.sort(rng.uniform(0.6, 0.9, len(PARSERS)))[::-1]

    def pages(n: int) -> Pages:
        is_scan, owner = rng.random(n) < share, owners(rng, n, heavy=True)
        read = np.where(is_scan, (np.arange(len(PARSERS)) == len(PARSERS) - 1)[:, None] * 0.7, means[:, None])
        of_document = rng.beta(6 * read + 0.02, 6 * (1 - read) + 0.02)[:, owner]
        scores = np.clip(of_document + rng.standard_t(3, (len(PARSERS), len(owner))) * 0.05, 0, 1)
        return Pages(scores, {"layer": is_scan[owner].astype(int), **noise(rng, n, owner, "layer")}, owner)

    return pages


def mistaken_kinds(rng: np.random.Generator, wrong: float) -> Callable[[int], Pages]:
    """Simulate templates with good parsers of their own, pages often taken for others, and scores with two
    peaks.
    """
    often = rng.dirichlet([2] * N_KINDS)
    good = rng.random((len(PARSERS), N_KINDS)) < 0.5

    def pages(n: int) -> Pages:
        template, owner = rng.choice(N_KINDS, n, p=often), owners(rng, n)
        is_good = good[:, template[owner]] ^ (rng.random((len(PARSERS), len(owner))) < 0.15)
        scores = np.where(is_good, rng.beta(9, 1, is_good.shape), rng.beta(1, 3, is_good.shape))
        seen = np.where(
            rng.random(len(owner)) < wrong, rng.integers(N_KINDS, size=len(owner)), template[owner]
        )
        return Pages(scores, {"maker": seen, **noise(rng, n, owner, "maker")}, owner)

    return pages


def noise(rng: np.random.Generator, n: int, owner: Places, real: str) -> dict[str, Places]:
    """Return every other trait, with values that say nothing of the scores."""
    return {trait: rng.integers(N_KINDS, size=n)[owner] for trait in TRAITS if trait != real}


WORLDS: dict[str, World] = {
    "spread: parsers alike on all kinds": partial(spread, between=0.0, by_kind=0.0),
    "spread: one parser best everywhere": partial(spread, between=0.15, by_kind=0.0),
    "spread: small differences between kinds": partial(spread, between=0.05, by_kind=0.06),
    "spread: large differences between kinds": partial(spread, between=0.05, by_kind=0.3),
    "all or nothing, kinds alike": partial(all_or_nothing, apart=0.0),
    "all or nothing, kinds unlike": partial(all_or_nothing, apart=0.8),
    "a rare kind (6 % scans)": partial(rare_kind, share=0.06),
    "scans (30 %)": partial(rare_kind, share=0.3),
    "kinds mistaken in 30 %": partial(mistaken_kinds, wrong=0.3),
    "kinds that say nothing": partial(mistaken_kinds, wrong=1.0),
}


def draw(seed: int, world: World, n_documents: int) -> tuple[bool, bool, float]:
    """Return whether the limit held, whether routing was advised, and the true gain of what was advised."""
    rng = np.random.default_rng(seed)
    pages = world(rng)
    seen, new = pages(n_documents), pages(N_NEW)
    kinds = [{k: str(of[i]) for k, of in seen.kinds.items()} for i in range(len(seen.owner))]
    routing = learn_routing(seen.scores, PARSERS, kinds, [f"d{k}" for k in seen.owner])
    alone = PARSERS.index(routing.single)
    taken = np.full(len(new.owner), alone)
    for value, parser in routing.rule.parsers.items():
        taken[new.kinds[str(routing.rule.trait)] == int(value)] = PARSERS.index(parser)
    true = float((new.scores[taken, np.arange(len(taken))] - new.scores[alone]).mean())
    return true >= routing.low, routing.worth_it, true if routing.worth_it else 0.0


def main() -> bool:
    """Print how often the limit held, how often routing was advised and what it gained."""
    good = True
    for name, world in WORLDS.items():
        for n_documents in DOCUMENTS:
            found = np.array([draw(seed, world, n_documents) for seed in range(DRAWS)])
            held, advised, gain = found.mean(axis=0)
            lost = float((found[:, 2] < 0).mean())
            print(
                f"{name}, {n_documents} labelled documents: the limit held in {held:.3f} of {DRAWS} draws; "
                f"routing advised in {advised:.2f}, mean gain of following the advice {gain:+.3f}, "
                f"worse than one parser in {lost:.3f}",
                flush=True,
            )
            good &= held >= 0.95 and lost <= 0.05
    return good
