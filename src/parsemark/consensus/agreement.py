"""How alike the outputs of parsers are, page by page, and which parsers are one family. Needs no truth.

Agreement is evidence, never proof: parsers that share an engine share its errors. So each family of
dependent parsers has one vote (`families`), and votes weigh by competence, which is estimated from the
agreements themselves, as Dawid and Skene do for annotators: who agrees with the competent is competent.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from parsemark.consensus.table_votes import Engines
from parsemark.kernels.assignment import linear_sum_assignment
from parsemark.matching.tables import is_positive
from parsemark.metrics import get_metric
from parsemark.metrics.table_input import TableInput
from parsemark.model import Prediction, Status

Floats = NDArray[np.float64]

DEPENDENT = 0.9
"""Likeness on hard pages from which on two parsers count as one family: they make the same errors."""
MAX_TEXT = 20_000  # characters of a page's text that are compared; enough to tell parsers apart
_ROUNDS = 50


@dataclass(frozen=True)
class ParserAgreement:
    """Likeness of every pair of parsers on every page."""

    parsers: tuple[str, ...]
    samples: tuple[str, ...]
    likeness: Floats  # (parsers, parsers, pages), symmetric, 1 on the diagonal
    engines: Engines = field(default_factory=dict)

    def families(self) -> tuple[tuple[str, ...], ...]:
        """Return parsers that depend on each other: declared by their engine, or found by equal errors.

        Two good parsers agree on easy pages because both are right. Dependence shows on hard pages, where the
        others disagree: there, independent parsers err differently. So likeness is averaged with the doubt of
        the page as weight.
        """
        n = len(self.parsers)
        off = ~np.eye(n, dtype=bool)
        hardness = 1.0 - np.median(self.likeness[off], axis=0) if n > 1 else np.ones(1)
        total = hardness.sum()
        engines = [self.engines.get(name, name) for name in self.parsers]
        joined = list(range(n))
        for i in range(n):
            for j in range(i):
                alike = total > 0 and float(self.likeness[i, j] @ hardness) / total >= DEPENDENT
                if engines[i] == engines[j] or alike:
                    joined = [joined[j] if k == joined[i] else k for k in joined]
        groups: dict[int, list[str]] = {}
        for name, group in zip(self.parsers, joined, strict=True):
            groups.setdefault(group, []).append(name)
        return tuple(tuple(members) for members in groups.values())

    def guesses(self) -> Floats:
        """Return (parsers, pages): what each page would earn if the other families were right."""
        return likeness_to_others(self.likeness, self._groups(), self.competence())

    def competence(self) -> Floats:
        """Return how far each parser is to be believed, from 0 to 1."""
        return competence(self.likeness.mean(axis=2), self._groups())

    def _groups(self) -> NDArray[np.int64]:
        family = {name: members for members in self.families() for name in members}
        return numbered([family[name] for name in self.parsers])

    def doubt(self) -> Floats:
        """Return for each page how far the families disagree: 0 if all outputs agree."""
        outside = np.not_equal.outer(self._groups(), self._groups())
        if not outside.any():
            return np.ones(len(self.samples))
        return np.asarray(1.0 - self.likeness[outside].mean(axis=0), dtype=np.float64)


def measure_agreement(
    predictions: Mapping[tuple[str, str], Prediction],
    parsers: Sequence[str],
    samples: Sequence[str],
    engines: Engines,
    *,
    text: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ParserAgreement:
    """Compare all outputs with each other: their tables, or their whole text.

    Predictions are by sample and parser; a missing one counts as failed. `progress` is called with 1 after
    each page.
    """
    likeness = np.ones((len(parsers), len(parsers), len(samples)))
    for page, sample in enumerate(samples):
        outputs = [_output(predictions.get((sample, parser)), text=text) for parser in parsers]
        for (i, one), (j, other) in combinations(enumerate(outputs), 2):
            likeness[i, j, page] = likeness[j, i, page] = _likeness(one, other)
        if progress:
            progress(1)
    return ParserAgreement(tuple(parsers), tuple(samples), likeness, engines)


_Output = str | tuple[TableInput, ...] | None
"""What is compared of one parser's answer to one page: its text, or its tables; None if it failed."""


def _likeness(one: _Output, other: _Output) -> float:
    """Return 1 for equal answers; a failure agrees with nothing, not even with another failure."""
    if one is None or other is None:
        return 0.0
    if isinstance(one, str) or isinstance(other, str):
        return Indel.normalized_similarity(one, other)
    return table_likeness(one, other)


def _output(prediction: Prediction | None, *, text: bool) -> _Output:
    if prediction is None or prediction.status is not Status.OK:
        return None
    if not text:
        return prediction_tables(prediction)
    whole = prediction.text
    if whole is None:
        whole = "\n".join(e.text or "" for e in prediction.elements)
    return " ".join(whole.split())[:MAX_TEXT]


def prediction_tables(prediction: Prediction) -> tuple[TableInput, ...]:
    """Return the tables of an output; what the parser itself does not believe to be one counts nowhere."""
    counted = [e for e in prediction.tables if is_positive(e.confidence)]
    return tuple(TableInput(e.table if e.table is not None else e.html or "") for e in counted)


def table_likeness(a: Sequence[TableInput], b: Sequence[TableInput]) -> float:
    """Return F1 of the best pairing of two lists of tables by GriTS-Con; 1 if neither has any."""
    if not a or not b:
        return float(not a and not b)
    metric = get_metric("grits_con")
    values = np.array([[metric.score(x, y).value or 0.0 for y in b] for x in a])
    rows, columns = linear_sum_assignment()(-values)
    return float(2 * values[rows, columns].sum() / (len(a) + len(b)))


def numbered(groups: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return a number for each parser, the same for those of one group."""
    first = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    return np.array([first[group] for group in groups], dtype=np.int64)


def competence(likeness: Floats, groups: NDArray[np.int64]) -> Floats:
    """Return how far each parser is to be believed, 0 to 1: its agreement with the groups of the others.

    Weights and agreements are made from each other until they stand still. `likeness` is the mean over pages,
    (parsers, parsers); NaN where two were never compared.
    """
    weights = np.ones(len(likeness))
    for _ in range(_ROUNDS):
        guesses = likeness_to_others(likeness[:, :, None], groups, weights)[:, 0]
        # A parser that agrees with half of what others say is worth less than half a vote.
        updated = np.maximum(guesses, 1e-6) ** 2
        if np.allclose(updated, weights, atol=1e-9):
            break
        weights = updated
    return np.sqrt(weights)


def likeness_to_others(likeness: Floats, groups: NDArray[np.int64], weights: Floats) -> Floats:
    """Return for each parser and page the mean similarity to the other groups, with one vote for each group.

    `likeness` is (parsers, parsers, pages), NaN where two were not compared. The result is (parsers, pages),
    one half where there is nothing to compare with.
    """
    known = ~np.isnan(likeness)
    filled = np.where(known, likeness, 0.0)
    total = np.zeros((len(likeness), likeness.shape[2]))
    share = np.zeros_like(total)
    for group in np.unique(groups):
        members = groups == group
        heard = np.einsum("m,pmn->pn", weights[members], known[:, members].astype(np.float64))
        said = np.einsum("m,pmn->pn", weights[members], filled[:, members]) / np.where(heard > 0, heard, 1.0)
        ballot = np.where((heard > 0) & ~members[:, None], weights[members].mean(), 0.0)
        total += ballot * said
        share += ballot
    return np.where(share > 0, total / np.where(share > 0, share, 1.0), 0.5)
