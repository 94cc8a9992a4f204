"""A level above documents: kinds of documents (by template, producer, source, …) on which parsers do unlike.

Where one parser is good on one kind and another on the next, documents of a kind are no independent
witnesses: a hundred of four templates say as much about a fifth template as four do. Whether kinds matter is
asked of the data: their sums are compared with those that the same documents give if what each adds gets a
sign by chance. If kinds matter, a kind is what is drawn: intervals and tests are those over documents, with
the sums of a kind in place of a document's. Fewer than `FEWEST_DOCUMENTS` kinds then resolve nothing about
new ones; what is said about these very kinds takes them as given (`contrasts(strata=…)`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsemark.stats.intervals import Floats, Range, Statistic, influence, normalised, sum_by_cluster
from parsemark.stats.paired_test import FEWEST_DOCUMENTS, Contrast, contrasts

MATTERS = 0.25
"""Kinds matter if chance gives their sums such a spread in fewer than this share of patterns. Far above 5 %:
to overlook an effect makes verdicts false, to see one that is not there only makes them rarer."""
N_PATTERNS = 399
_MAX_DIRECTIONS = 12
_MAX_CELLS = 20_000_000


@dataclass(frozen=True, slots=True)
class Kinds:
    """A division of documents into kinds, and how much it matters."""

    attribute: str
    of_document: tuple[str, ...]  # the kind of each document
    effect: float  # how many times as large the variance over kinds is as that of documents by chance
    p: float  # how often chance alone gives as large an effect

    @property
    def n(self) -> int:
        """How many kinds there are."""
        return len(set(self.of_document))

    @property
    def matters(self) -> bool:
        """Whether figures must be taken over kinds."""
        return self.p < MATTERS and self.effect > 1

    @property
    def are_few(self) -> bool:
        """Whether they say nothing about kinds that are not among them."""
        return self.n < FEWEST_DOCUMENTS


def find_kinds(
    added: Floats, shares: Floats, candidates: Mapping[str, Sequence[str]], seed: int = 0
) -> Kinds | None:
    """The division that matters most, of those that do; None where documents may count one by one.

    `added` is (documents, columns), what each document adds to each figure or difference, and sums to 0 by
    column; the documents' shares sum to 1. A candidate is the name of a division, and the kind of each
    document.
    """
    divided = {name: tuple(kinds) for name, kinds in candidates.items() if 1 < len(set(kinds)) < len(shares)}
    if not divided or not np.any(np.abs(added) > 1e-12):
        return None
    *_, directions = np.linalg.svd(added, full_matrices=False)
    main = added @ directions[:_MAX_DIRECTIONS].T  # what few columns say as well as all
    n_patterns = int(np.clip(_MAX_CELLS // main.size, 99, N_PATTERNS))
    drawn = np.random.default_rng(seed).integers(0, 2, (n_patterns, len(shares)))
    signs: Floats = np.asarray(1 - 2 * drawn, dtype=np.float64)
    found = [_kinds(name, kinds, main, shares, signs) for name, kinds in divided.items()]
    return max((k for k in found if k.matters), key=lambda k: k.effect, default=None)


def _kinds(name: str, kinds: tuple[str, ...], added: Floats, shares: Floats, signs: Floats) -> Kinds:
    """One division: Σ over kinds of (Σ over their documents of what they add)², against that by chance."""
    _, index = np.unique(kinds, return_inverse=True)
    member = np.zeros((int(index.max()) + 1, len(kinds)))
    member[index, np.arange(len(kinds))] = 1.0
    of_kind = member @ shares
    seen = float(np.sum((member @ added) ** 2))
    by_chance = np.zeros(len(signs))
    for column in added.T:
        signed = signs * column
        by_chance += np.sum((signed @ member.T - signed.sum(axis=1)[:, None] * of_kind) ** 2, axis=1)
    p = float((1 + np.sum(by_chance >= seen)) / (1 + len(signs)))
    return Kinds(name, kinds, seen / max(float(by_chance.mean()), 1e-300), p)


@dataclass(frozen=True, slots=True)
class Contrasts:
    """The differences of pairs, over documents or over kinds of them."""

    found: list[Contrast]  # what is said about new documents: of new kinds, where kinds matter
    kinds: Kinds | None = None  # the kinds that matter
    here: list[Contrast] | None = None  # where kinds matter: what is said about documents of these very kinds


def contrasts_over_kinds(
    sums: Mapping[str, Floats],
    statistic: Statistic,
    pairs: Sequence[tuple[str, str]],
    weights: Floats,
    candidates: Mapping[str, Sequence[str]],
    bounds: Range = "unit",
) -> Contrasts:
    """The difference of each pair as `contrasts` has it, over kinds of documents if they matter.

    `candidates` are divisions: name to the kind of each document.
    """
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    if not names:
        return Contrasts([])
    added = influences([sums[name] for name in names], statistic)
    # What a document does to all contestants alike is no difference between them.
    apart = added - added.mean(axis=1, keepdims=True)
    kinds = find_kinds(apart, normalised(weights), candidates)
    if kinds is None:
        return Contrasts(contrasts(sums, statistic, pairs, weights=weights, bounds=bounds))
    by_kind = {name: sum_by_cluster(sums[name], kinds.of_document)[0] for name in names}
    of_kind = sum_by_cluster(weights, kinds.of_document)[0]
    return Contrasts(
        contrasts(by_kind, statistic, pairs, weights=of_kind, bounds=bounds),
        kinds,
        contrasts(sums, statistic, pairs, weights=weights, strata=kinds.of_document, bounds=bounds),
    )


def influences(sums: Sequence[Floats], statistic: Statistic) -> NDArray[np.float64]:
    """What documents add to the figure of each name, (documents, names); 0 where undefined."""
    return np.nan_to_num(np.stack([influence(own, statistic) for own in sums], axis=1))
