"""One parser out of several: tables that they see together, voted cell by cell. No truth is needed.

How probable a candidate is to be a table follows from who sees it: how often each engine sees what is there
and what is not is estimated from all candidates of a run, as Dawid and Skene do for annotators. So the
silence of a parser that finds ruled tables alone says little. The grid is that of the table which is most
like all others; each cell takes the text of most votes, and who agrees more with the others has more weight.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from parsemark.consensus.agreement import competence, numbered
from parsemark.consensus.table_votes import (
    Engines,
    TableCandidate,
    in_reading_order,
    most_typical,
    same_grid,
    vote,
)
from parsemark.model import Category, Element

_ROUNDS = 60


@dataclass(frozen=True)
class EngineRates:
    """What is known of the parsers of an ensemble, all of it from their own outputs."""

    sees: Mapping[str, float]  # probability of each engine to see a candidate that is a table
    invents: Mapping[str, float]  # probability of each engine to see a candidate that is none
    share: float  # of the candidates that are tables
    weight: Mapping[str, float]
    """Of each parser's cells: how much its tables agree with those of other engines."""
    engines: Engines = field(default_factory=dict)

    def probability(self, candidate: TableCandidate) -> float:
        """Return the probability that a candidate is a table."""
        seen = candidate.engine_counts(self.engines)
        odds = np.log(self.share) - np.log1p(-self.share)
        for engine, sees in self.sees.items():
            invents = self.invents[engine]
            odds += np.log(sees / invents) if engine in seen else np.log((1 - sees) / (1 - invents))
        return float(1 / (1 + np.exp(-odds)))


def estimate_rates(
    candidates: Sequence[TableCandidate], parsers: Sequence[str], engines: Engines
) -> EngineRates:
    """Return how far each engine and parser can be trusted, by expectation and maximisation over all
    candidates.
    """
    names = sorted({engines.get(parser, parser) for parser in parsers})
    seen = np.zeros((len(candidates), len(names)))
    for row, candidate in enumerate(candidates):
        for engine in candidate.engine_counts(engines):
            seen[row, names.index(engine)] = 1.0
    real = seen.mean(axis=1) if len(candidates) else np.zeros(0)
    sees, invents, share = np.full(len(names), 0.7), np.full(len(names), 0.2), 0.5
    for _ in range(_ROUNDS):
        # Each rate begins with a few made-up candidates: with little data no rate becomes 0 or 1.
        sees = (real @ seen + 2.0) / (real.sum() + 3.0)
        invents = ((1 - real) @ seen + 1.0) / ((1 - real).sum() + 4.0)
        share = float((real.sum() + 2.0) / (len(candidates) + 4.0))
        odds = np.log(share / (1 - share)) + (
            seen @ np.log(sees / invents) + (1 - seen) @ np.log((1 - sees) / (1 - invents))
        )
        real = 1 / (1 + np.exp(-odds))
    seeing, inventing = (dict(zip(names, rates.tolist(), strict=True)) for rates in (sees, invents))
    return EngineRates(seeing, inventing, share, _weights(candidates, parsers, engines), engines)


def _weights(
    candidates: Sequence[TableCandidate], parsers: Sequence[str], engines: Engines
) -> dict[str, float]:
    """Return the square of each parser's competence, from how alike tables are that it and others see."""
    index = {parser: number for number, parser in enumerate(parsers)}
    sums, counts = np.zeros((2, len(parsers), len(parsers)))
    for candidate in candidates:
        for (one, table), (other, its) in combinations(candidate.tables().items(), 2):
            i, j = index[one], index[other]
            sums[[i, j], [j, i]] += same_grid(table, its)
            counts[[i, j], [j, i]] += 1
    likeness = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    found_competence = competence(likeness, numbered([engines.get(parser, parser) for parser in parsers]))
    return dict(zip(parsers, (found_competence**2 + 1e-3).tolist(), strict=True))


def elect(
    candidates: Sequence[TableCandidate], engine_rates: EngineRates, min_confidence: float = 0.05
) -> list[Element]:
    """Return the tables of a page that are probable enough, in reading order, with their probability."""
    elected = []
    for candidate in candidates:
        if (probability := engine_rates.probability(candidate)) >= min_confidence:
            tables, shares = candidate.tables(), candidate.shares(engine_rates.engines)
            weights = {parser: engine_rates.weight[parser] * share for parser, share in shares.items()}
            table, _ = vote(tables[most_typical(tables, weights)], tables, weights)
            box = candidate.box()
            elected.append(Element("", Category.TABLE, box, table=table, confidence=probability))
    return in_reading_order(elected)
