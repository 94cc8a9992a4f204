"""How alike the outputs of parsers are, page by page. Needs no truth.

Agreement is evidence, never proof: parsers that share an engine share its errors. So each family of
dependent parsers has one vote (`families`), and votes weigh by competence, which is estimated from the
agreements themselves, as Dawid and Skene do for annotators: whoever agrees with the competent is competent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel
from scipy.optimize import linear_sum_assignment

from parsemark.metrics import get_metric
from parsemark.metrics.prepared import TableInput
from parsemark.model import Prediction, Status
from parsemark.parsers.ensemble import ENGINES
from parsemark.protocols.tables import is_positive

Floats = NDArray[np.float64]

DEPENDENT = 0.9
"""Likeness on hard pages from which on two parsers count as one family: they make the same errors."""
MAX_TEXT = 20_000
"""Characters of a page's text that are compared; enough to tell parsers apart."""
_ROUNDS = 50


@dataclass(frozen=True)
class ParserAgreement:
    """Likeness of every pair of parsers on every page."""

    parsers: tuple[str, ...]
    samples: tuple[str, ...]
    likeness: Floats
    """(parsers, parsers, pages), symmetric, 1 on the diagonal."""

    def families(self) -> tuple[tuple[str, ...], ...]:
        """Parsers that depend on each other: declared by their engine, or found by equal errors."""
        return find_families(self)

    def guesses(self) -> Floats:
        """(parsers, pages): what each page would earn if the other families were right."""
        return _weighted(self, _membership(self), competence(self))

    def doubt(self) -> Floats:
        """Of each page, how far the families disagree: 0 if all say the same."""
        outside = _membership(self)[:, None] != _membership(self)[None, :]
        if not outside.any():
            return np.ones(len(self.samples))
        return np.asarray(1.0 - self.likeness[outside].mean(axis=0), dtype=np.float64)


def measure_agreement(
    predictions: Mapping[tuple[str, str], Prediction],
    parsers: Sequence[str],
    samples: Sequence[str],
    *,
    text: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ParserAgreement:
    """Compare all outputs with each other.

    Args:
        predictions: By sample and parser; a missing one counts as failed.
        parsers: Their names.
        samples: The pages.
        text: Compare the whole text instead of the tables.
        progress: Called with 1 after each page.
    """
    likeness = np.ones((len(parsers), len(parsers), len(samples)))
    for page, sample in enumerate(samples):
        outputs = [_output(predictions.get((sample, parser)), text=text) for parser in parsers]
        for i, one in enumerate(outputs):
            for j in range(i + 1, len(outputs)):
                likeness[i, j, page] = likeness[j, i, page] = one.likeness(outputs[j])
        if progress:
            progress(1)
    return ParserAgreement(tuple(parsers), tuple(samples), likeness)


@dataclass(frozen=True)
class _Output:
    """What is compared of one parser's answer to one page."""

    failed: bool
    tables: tuple[TableInput, ...] = ()
    text: str | None = None

    def likeness(self, other: _Output) -> float:
        """1 for equal answers; a failure agrees with nothing, not even with another failure."""
        if self.failed or other.failed:
            return 0.0
        if self.text is not None or other.text is not None:
            return Indel.normalized_similarity(self.text or "", other.text or "")
        return table_likeness(self.tables, other.tables)


def _output(prediction: Prediction | None, *, text: bool) -> _Output:
    if prediction is None or prediction.status is not Status.OK:
        return _Output(failed=True)
    if text:
        whole = prediction.text
        if whole is None:
            whole = "\n".join(e.text or "" for e in prediction.elements)
        return _Output(False, text=" ".join(whole.split())[:MAX_TEXT])
    # What the parser itself does not believe to be a table does not count in the protocol either.
    counted = [e for e in prediction.tables if is_positive(e.confidence)]
    tables = (e.table if e.table is not None else e.html or "" for e in counted)
    return _Output(False, tuple(TableInput(table) for table in tables))


def table_likeness(a: Sequence[TableInput], b: Sequence[TableInput]) -> float:
    """F1 of the best pairing of two lists of tables by GriTS-Con; 1 if neither has any."""
    if not a or not b:
        return float(not a and not b)
    metric = get_metric("grits_con")
    values = np.array([[metric.score(x, y).value or 0.0 for y in b] for x in a])
    rows, columns = linear_sum_assignment(-values)
    return float(2 * values[rows, columns].sum() / (len(a) + len(b)))


def find_families(agreement: ParserAgreement) -> tuple[tuple[str, ...], ...]:
    """Group dependent parsers.

    Two good parsers agree on easy pages because both are right. Dependence shows on hard pages, where the
    others disagree: there, independent parsers err differently. So likeness is averaged with the doubt of
    the page as weight.
    """
    n = len(agreement.parsers)
    off = ~np.eye(n, dtype=bool)
    hardness = 1.0 - np.median(agreement.likeness[off], axis=0) if n > 1 else np.ones(1)
    total = hardness.sum()
    joined = list(range(n))
    for i in range(n):
        for j in range(i):
            declared = _engine(agreement.parsers[i]) == _engine(agreement.parsers[j])
            alike = total > 0 and float(agreement.likeness[i, j] @ hardness) / total >= DEPENDENT
            if declared or alike:
                joined = [joined[j] if k == joined[i] else k for k in joined]
    groups: dict[int, list[str]] = {}
    for name, group in zip(agreement.parsers, joined, strict=True):
        groups.setdefault(group, []).append(name)
    return tuple(tuple(members) for members in groups.values())


def _engine(parser: str) -> str:
    name = parser.partition("(")[0]
    return ENGINES.get(name, parser)


def competence(agreement: ParserAgreement) -> Floats:
    """How far each parser is to be believed, 0 to 1: its agreement with the families of the others.

    Weights and agreements are made from each other until they stand still.
    """
    membership = _membership(agreement)
    weights = np.ones(len(agreement.parsers))
    for _ in range(_ROUNDS):
        guesses = _weighted(agreement, membership, weights).mean(axis=1)
        # A parser that agrees with half of what others say is worth less than half a vote.
        updated = np.maximum(guesses, 1e-6) ** 2
        if np.allclose(updated, weights, atol=1e-9):
            break
        weights = updated
    return np.sqrt(weights)


def _membership(agreement: ParserAgreement) -> NDArray[np.int64]:
    family = {name: k for k, members in enumerate(agreement.families()) for name in members}
    return np.array([family[name] for name in agreement.parsers], dtype=np.int64)


def _weighted(agreement: ParserAgreement, membership: NDArray[np.int64], weights: Floats) -> Floats:
    """Of each parser and page, the mean likeness to the other families, one vote for each family."""
    families: Iterable[int] = np.unique(membership)
    votes: list[Floats] = []
    ballots: list[float] = []
    for family in families:
        members = membership == family
        votes.append(np.average(agreement.likeness[:, members], axis=1, weights=weights[members]))
        ballots.append(float(weights[members].mean()))
    stacked, weight = np.stack(votes), np.array(ballots)  # (families, parsers, pages)
    own = membership[None, :] == np.unique(membership)[:, None]  # (families, parsers)
    shares = np.where(own, 0.0, weight[:, None])
    total = shares.sum(axis=0)
    guesses = np.einsum("fp,fpn->pn", shares, stacked) / np.where(total > 0, total, 1.0)[:, None]
    return np.where(total[:, None] > 0, guesses, 0.5)
