"""Adjacency Search Match: texts that a parser cut in pieces, or ran together (sections 5.6 to 5.8).

Works on strings that are ready to be compared, and knows no documents. First predictions that follow each
other are merged where together they fit a truth better; then truths and predictions are assigned; truths that
are left and occur inside of a prediction are attached to it; what is left on both sides is assigned again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from parsemark.kernels import kernel
from parsemark.matching.edit_distance import Distances, assignment, distance_matrix, ned, ned_matrix

SETTLED = 0.25
MERGED_PART = 0.6
UNMATCHED = 0.7
CONTAINED = 0.4


@dataclass(frozen=True, slots=True)
class AnsweredTruths:
    """Truths and the predictions that answer them, as indices; either side may be empty."""

    truths: tuple[int, ...]
    preds: tuple[int, ...]
    edit: float


def adjacency_match(
    truths: Sequence[str],
    preds: Sequence[str],
    *,
    group_limit: int | None = None,
    can_be_contained: Callable[[int], bool] = lambda _: True,
    leftovers_by_ned: bool = True,
    repeats_unmatched: bool = False,
) -> list[AnsweredTruths]:
    """Match non-empty strings.

    Args:
        truths: Truths in reading order.
        preds: Predictions in their order.
        group_limit: How many predictions may be merged for one truth.
        can_be_contained: Whether a truth may be found inside of a prediction.
        leftovers_by_ned: Assign what is left by normalised distance, else by the plain one.
        repeats_unmatched: Give a truth without an answer twice if no prediction is left (a defect of v1.0).

    Returns:
        Answers of the first assignment by truth, of containment by prediction, of the second assignment, the
        predictions that are left (as one answer), and the truths that are left (one each).
    """
    matrix = ned_matrix(truths, preds)
    columns, matrix = _merge_adjacent(truths, preds, matrix, group_limit)
    keys: dict[tuple[int, ...], list[int]] = {}
    matched: set[int] = set()
    for row, column in assignment(matrix):
        if matrix[row, column] <= UNMATCHED:
            keys.setdefault(tuple(columns[column]), []).append(row)
            matched.add(row)
    _attach_contained(keys, matched, truths, preds, can_be_contained)
    answers = []
    for key, rows in ((key, sorted(members)) for key, members in keys.items() if members):
        said = preds[key[0]] if len(rows) > 1 else " ".join(preds[p] for p in key)
        answers.append(AnsweredTruths(tuple(rows), key, ned("".join(truths[r] for r in rows), said)))
    used = {p for key in keys for p in key}
    # The order of these sets decides ties, so they are made as the published code makes them.
    open_truths = list(set(range(len(truths))) - matched)
    open_preds = list(set(range(len(preds))) - used)
    measure = ned_matrix if leftovers_by_ned else distance_matrix
    costs = measure([truths[t] for t in open_truths], [preds[p] for p in open_preds])
    pairs = [(open_truths[r], open_preds[c]) for r, c in assignment(costs)]
    answers += (AnsweredTruths((t,), (p,), 1) for t, p in pairs)
    if open_preds and not open_truths:
        answers.append(AnsweredTruths((), tuple(open_preds), 1))
    answered = {t for t, _ in pairs}
    for _ in range(2 if repeats_unmatched and not open_preds else 1):
        answers += (AnsweredTruths((t,), (), 1) for t in open_truths if t not in answered)
    return answers


@dataclass(slots=True)
class _Proposal:
    members: list[int]
    cost: float


def _merge_adjacent(
    truths: Sequence[str], preds: Sequence[str], matrix: Distances, limit: int | None
) -> tuple[list[list[int]], Distances]:
    """Columns after merging, each the list of its predictions, and their distances."""
    single = [[p] for p in range(len(preds))]
    if matrix.size == 0:
        return single, matrix
    close = matrix < SETTLED
    open_rows = np.flatnonzero(~close.any(axis=1)).tolist()
    settled = np.asarray(close.any(axis=0)).tolist()
    if not open_rows or all(settled):
        return single, matrix
    proposals = [_best_group(truths[row], preds, matrix[row], settled, limit) for row in open_rows]
    accepted = {group.members[0]: group.members for group in _resolved(proposals)}
    merged_away = {p for members in accepted.values() for p in members[1:]}
    columns = [accepted.get(p, [p]) for p in range(len(preds)) if p not in merged_away]
    if not merged_away:
        return columns, matrix
    kept = np.array([column[0] for column in columns])
    changed = [i for i, column in enumerate(columns) if len(column) > 1]
    result = matrix[:, kept].copy()
    result[:, changed] = ned_matrix(truths, [" ".join(preds[p] for p in columns[i]) for i in changed])
    return columns, result


def _best_group(
    truth: str, preds: Sequence[str], distances: Distances, settled: list[bool], limit: int | None
) -> _Proposal:
    @cache
    def part(p: int) -> float:
        """How well a prediction fits somewhere in the truth; infinite where it is longer."""
        return window_ned(preds[p], truth, MERGED_PART)

    best: _Proposal | None = None
    for p in (p for p, is_settled in enumerate(settled) if not is_settled):
        members, cost, joined = [p], float(distances[p]), preds[p]
        for q in range(p + 1, len(preds)):
            if settled[q] or (limit is not None and len(members) >= limit):
                break
            longer = f"{joined} {preds[q]}"
            # A text so much longer than the truth cannot be closer; saves the distance in most cases.
            if (len(longer) - len(truth)) / len(longer) > cost or part(members[-1]) > MERGED_PART:
                break
            if part(q) >= MERGED_PART or any(part(m) > MERGED_PART for m in members):
                break
            distance = ned(truth, longer)
            if distance > cost:
                break
            members.append(q)
            cost, joined = distance, longer
            if len(joined) > len(truth):
                break
        if best is None or cost < best.cost:
            best = _Proposal(members, cost)
    assert best is not None
    return best


def window_ned(short: str, long: str, limit: float) -> float:
    """Least distance of `short` to a window of its length in `long`, over that length.

    Infinite where `short` is empty or longer, and where the value is above `limit`.
    """
    size = len(short)
    if not 0 < size <= len(long):
        return float("inf")
    distance = kernel.window_distance(short, long, int(limit * size) + 1)
    return distance / size if distance >= 0 else float("inf")


def _resolved(proposals: list[_Proposal]) -> list[_Proposal]:
    """Proposals that share no prediction: of each cluster of overlapping ones the path of least mean cost."""
    clusters: list[list[_Proposal]] = []
    taken: set[int] = set()
    for proposal in sorted(proposals, key=lambda p: p.members[0]):
        if clusters and not taken.isdisjoint(proposal.members):
            clusters[-1].append(proposal)
            taken.update(proposal.members)
        else:
            clusters.append([proposal])
            taken = set(proposal.members)
    return [member for cluster in clusters for member in _best_path(cluster)]


def _best_path(cluster: list[_Proposal]) -> list[_Proposal]:
    paths = [[cluster[0]]]
    for proposal in cluster[1:]:
        placed = False
        for path in paths:
            same = next((i for i, m in enumerate(path) if m.members == proposal.members), None)
            if same is not None:
                if proposal.cost < path[same].cost:
                    path[same] = proposal
                placed = True
            elif all(set(m.members).isdisjoint(proposal.members) for m in path):
                path.append(proposal)
                placed = True
        if not placed:
            paths.append([proposal])
    return min(paths, key=lambda path: sum(m.cost for m in path) / len(path))


def _attach_contained(
    keys: dict[tuple[int, ...], list[int]],
    matched: set[int],
    truths: Sequence[str],
    preds: Sequence[str],
    can_be_contained: Callable[[int], bool],
) -> None:
    unmatched = [t for t in range(len(truths)) if t not in matched and can_be_contained(t)]
    for p, pred in enumerate(preds):
        if hits := [t for t in unmatched if window_ned(truths[t], pred, CONTAINED) < CONTAINED]:
            keys.setdefault((p,), []).extend(t for t in hits if t not in matched)
            matched.update(hits)
