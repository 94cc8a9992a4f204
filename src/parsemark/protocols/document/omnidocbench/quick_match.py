"""Truths and items of one page, matched and written as records (sections 5 and 6)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from parsemark.kernels import kernel
from parsemark.matching.edit_distance import Distances, assignment, distance_matrix, ned, ned_matrix
from parsemark.protocols.document.omnidocbench.normalise import norm_formula, norm_text, unwrap_formula
from parsemark.protocols.document.omnidocbench.profile import Profile
from parsemark.protocols.document.omnidocbench.records import (
    FORMULA,
    IGNORED,
    Items,
    MarkdownItem,
    Record,
    Truth,
    Truths,
)
from parsemark.protocols.document.omnidocbench.rows import split_items, split_truths
from parsemark.protocols.document.omnidocbench.table_html import norm_table

Kind = Literal["text", "formula", "mixed", "table"]
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


@dataclass(slots=True)
class Strings:
    """What is compared: normalised strings without the empty ones, and whose they are.

    `truths` and `items` are looked up by the index of a string. With the published defect they still hold the
    items of empty strings, so that what stands behind one of those gets its neighbour's place.
    """

    truths: Truths
    items: Items
    own_truths: list[Truth]
    norm_truths: list[str]
    own_items: list[MarkdownItem]
    norm_preds: list[str]


def prepare(truths: Truths, items: Items, profile: Profile, kind: Kind = "mixed") -> Strings:
    """Normalise both sides and drop what is empty."""

    def norm(raw: str, category: str) -> str:
        if kind == "table":
            is_raw = not profile.normalises_table_cells or "<table" not in raw.lower()
            return raw if is_raw else norm_table(raw, profile)
        is_formula = kind == "formula" or (kind == "mixed" and category == FORMULA)
        return (norm_formula if is_formula else norm_text)(raw, profile)

    left = [(t, said) for t in truths if t.raw and (said := norm(t.raw, t.category))]
    right = [(i, said) for i in items if i.content and (said := norm(i.content, i.cat))]
    own_truths, own_items = [t for t, _ in left], [i for i, _ in right]
    owners = (truths, items) if profile.filters_strings_only else (own_truths, own_items)
    return Strings(*owners, own_truths, [said for _, said in left], own_items, [said for _, said in right])


def quick_match(
    truths: Truths, items: Items, profile: Profile, kind: Kind = "mixed", *, splits_items: bool = True
) -> list[Record]:
    """Compute the Adjacency Search Match of one page."""
    if profile.mixes_formulas:
        truths = split_truths(list(truths), profile)
        items = sorted(items, key=lambda item: (item.is_inline, item.start))
        if splits_items:
            items = split_items(items, profile)
    strings = prepare(truths, items, profile, kind)
    return [record_of(answer, strings, profile) for answer in _answers(strings, profile)]


def _answers(strings: Strings, profile: Profile) -> list[AnsweredTruths]:
    truths, preds = strings.norm_truths, strings.norm_preds
    if not truths:
        return [AnsweredTruths((), (p,), 1) for p in range(len(preds))]
    if not preds:
        return [AnsweredTruths((t,), (), 1) for t in range(len(truths))]
    if len(truths) == len(preds) == 1:
        return [AnsweredTruths((0,), (0,), ned(truths[0], preds[0]))]
    categories = [t.category for t in strings.own_truths]
    ignored = [t for t, c in enumerate(categories) if c in IGNORED] if profile.ignored_first else []
    taken, ignored_answers = _ignored_answers(ignored, strings)
    rows = sorted(set(range(len(truths))).difference(ignored))
    columns = sorted(set(range(len(preds))) - taken)
    containable = [profile.formulas_can_be_contained or categories[t] != FORMULA for t in rows]
    matched = _adjacency_match([truths[t] for t in rows], [preds[p] for p in columns], containable, profile)
    answers = [
        AnsweredTruths(tuple(rows[t] for t in a.truths), tuple(columns[p] for p in a.preds), a.edit)
        for a in matched
    ]
    if profile.mixes_formulas:
        answers = [a for a in answers if a.truths or not a.preds or not strings.items[a.preds[0]].is_inline]
    return answers + ignored_answers


def _ignored_answers(ignored: list[int], strings: Strings) -> tuple[set[int], list[AnsweredTruths]]:
    """Return the truths that match captions, headers and the like, and their matches."""
    if not ignored:
        return set(), []
    truths = [strings.norm_truths[t] for t in ignored]
    matrix = ned_matrix(truths, strings.norm_preds)
    close = [(row, p) for row, p in np.argwhere(matrix < SETTLED).tolist()]
    taken, last = {p for _, p in close}, dict(close)
    open_rows = [row for row in range(len(ignored)) if row not in last]
    unused = sorted(taken - set(last.values()))
    if open_rows and unused:
        for r, c in assignment(matrix[open_rows][:, unused]):
            last[open_rows[r]] = unused[c]
    edits = {row: float(matrix[row, p]) for row, p in last.items()}
    return taken, [
        AnsweredTruths((t,), (last[row],) if row in last else (), edits.get(row, 1))
        for row, t in enumerate(ignored)
    ]


def record_of(answer: AnsweredTruths, strings: Strings, profile: Profile) -> Record:
    """Return a match in the form of the result files."""
    record = Record(list(answer.truths) or [""], list(answer.preds) or [""], edit=answer.edit)
    if answer.truths:
        own, owners = ([of[t] for t in answer.truths] for of in (strings.own_truths, strings.truths))
        raws = [t.raw for t in own]
        record.gt = "".join(raws)
        record.norm_gt = "".join(strings.norm_truths[t] for t in answer.truths)
        record.gt_position = [t.position for t in owners]
        record.gt_attribute = [t.attribute for t in owners]
        record.truth_ids = tuple(i for t in own for i in t.ids)
        categories = [t.category for t in owners]
        counted = Counter([c for c in categories if c not in IGNORED] or categories)
        record.gt_category_type = counted.most_common(1)[0][0]
        if profile.mixes_formulas and len(raws) > 1 and record.gt_category_type == FORMULA:
            record.gt = as_array(raws, profile)
    if answer.preds:
        raws = [strings.own_items[p].content for p in answer.preds]
        first = strings.items[answer.preds[0]]
        are_rows = profile.mixes_formulas and len(raws) > 1 and "equation" in first.type
        record.pred = as_array(raws, profile) if are_rows else "".join(raws)
        record.norm_pred = "".join(strings.norm_preds[p] for p in answer.preds)
        record.pred_position, record.pred_category_type = first.start, first.type
    return record


def as_array(raws: Sequence[str], profile: Profile) -> str:
    """Return several formulas as the rows of one."""
    if profile.formula_norm == "v1.6":
        rows = [unwrap_formula(raw) for raw in raws]
    else:
        rows = [raw.strip("$").strip("\n") for raw in raws]
    return r"\begin{array}{l} " + r" \\ ".join(f"{{{row}}}" for row in rows) + r" \end{array}"


def simple_match(truths: Truths, items: Items, profile: Profile, kind: Kind = "table") -> list[Record]:
    """Return one record per truth, by one assignment without any threshold; tables are always matched so."""
    strings = prepare(truths, items, profile, kind)
    matrix = ned_matrix(strings.norm_truths, strings.norm_preds)
    pairs = dict(assignment(matrix))
    records = []
    for t in range(len(strings.norm_truths)):
        p = pairs.get(t)
        answer = AnsweredTruths((t,), (), 1) if p is None else AnsweredTruths((t,), (p,), float(matrix[t, p]))
        records.append(record_of(answer, strings, profile))
        if p == 0 and profile.index_zero_is_missing:
            records[-1].pred_position = records[-1].pred_category_type = ""
    left = tuple(sorted(set(range(len(strings.norm_preds))).difference(pairs.values())))
    if left and kind != "table":
        records.append(record_of(AnsweredTruths((), left, 1), strings, profile))
    return records


# --- Adjacency Search Match: texts that a parser cut in pieces, or ran together (sections 5.6 to 5.8) -------


def _adjacency_match(
    truths: Sequence[str], preds: Sequence[str], containable: Sequence[bool], profile: Profile
) -> list[AnsweredTruths]:
    """Match non-empty strings in their order; `containable` truths may be found inside of a prediction.

    Predictions that follow each other are merged where together they fit a truth better; truths and
    predictions are assigned; truths that are left and occur inside of a prediction are attached to it; what
    is left on both sides is assigned again. Then come the predictions that are left, as one answer, and the
    truths that are left, one each.
    """
    matrix = ned_matrix(truths, preds)
    columns, matrix = _merge_adjacent(truths, preds, matrix, profile.group_limit or len(preds))
    keys: dict[tuple[int, ...], list[int]] = {}
    matched: set[int] = set()
    for row, column in assignment(matrix):
        if matrix[row, column] <= UNMATCHED:
            keys.setdefault(tuple(columns[column]), []).append(row)
            matched.add(row)
    unmatched = [t for t, can_be in enumerate(containable) if can_be and t not in matched]
    for p, pred in enumerate(preds):
        if hits := [t for t in unmatched if window_ned(truths[t], pred, CONTAINED) < CONTAINED]:
            keys.setdefault((p,), []).extend(t for t in hits if t not in matched)
            matched.update(hits)
    answers = []
    for key, rows in ((key, sorted(members)) for key, members in keys.items() if members):
        said = preds[key[0]] if len(rows) > 1 else " ".join(preds[p] for p in key)
        answers.append(AnsweredTruths(tuple(rows), key, ned("".join(truths[r] for r in rows), said)))
    used = {p for key in keys for p in key}
    # The order of these sets decides ties, so they are made as the published code makes them.
    open_truths = list(set(range(len(truths))) - matched)
    open_preds = list(set(range(len(preds))) - used)
    measure = ned_matrix if profile.leftovers_by_ned else distance_matrix
    costs = measure([truths[t] for t in open_truths], [preds[p] for p in open_preds])
    pairs = [(open_truths[r], open_preds[c]) for r, c in assignment(costs)]
    answers += (AnsweredTruths((t,), (p,), 1) for t, p in pairs)
    if open_preds and not open_truths:
        answers.append(AnsweredTruths((), tuple(open_preds), 1))
    answered = {t for t, _ in pairs}
    for _ in range(2 if profile.repeats_unmatched_truths and not open_preds else 1):  # a defect of v1.0
        answers += (AnsweredTruths((t,), (), 1) for t in open_truths if t not in answered)
    return answers


@dataclass(slots=True)
class _Proposal:
    members: list[int]
    cost: float


def _merge_adjacent(
    truths: Sequence[str], preds: Sequence[str], matrix: Distances, limit: int
) -> tuple[list[list[int]], Distances]:
    """Return columns after merging, each the list of its predictions, and their distances."""
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
    truth: str, preds: Sequence[str], distances: Distances, settled: list[bool], limit: int
) -> _Proposal:
    @cache
    def part(p: int) -> float:
        """Return how well a prediction fits somewhere in the truth; infinite where it is longer."""
        return window_ned(preds[p], truth, MERGED_PART)

    found: list[_Proposal] = []
    for p in (p for p, is_settled in enumerate(settled) if not is_settled):
        members, cost, joined = [p], float(distances[p]), preds[p]
        for q in range(p + 1, len(preds)):
            if settled[q] or len(members) >= limit or len(joined) > len(truth):
                break
            longer = f"{joined} {preds[q]}"
            # A text so much longer than the truth cannot be closer; saves the distance in most cases.
            is_too_long = (len(longer) - len(truth)) / len(longer) > cost
            if is_too_long or part(p) > MERGED_PART or part(q) >= MERGED_PART:
                break
            if (distance := ned(truth, longer)) > cost:
                break
            members.append(q)
            cost, joined = distance, longer
        found.append(_Proposal(members, cost))
    return min(found, key=lambda proposal: proposal.cost)


def window_ned(short: str, long: str, limit: float) -> float:
    """Return the least distance of `short` to a window of its length in `long`, over that length.

    Infinite where `short` is empty or longer, and where the value is above `limit`.
    """
    size = len(short)
    if not 0 < size <= len(long):
        return float("inf")
    distance = kernel.window_distance(short, long, int(limit * size) + 1)
    return distance / size if distance >= 0 else float("inf")


def _resolved(proposals: list[_Proposal]) -> list[_Proposal]:
    """Return proposals that share no prediction: of each cluster of overlapping ones the path of least mean
    cost.
    """
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
