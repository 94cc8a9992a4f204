"""Matching without boxes: character 3-grams, with splits put together and merges cut apart.

1. An optimal one-to-one assignment by the F1 of the tables' 3-gram multisets.
2. *Splits*: a left-over prediction joins the truth whose F1 it raises most.
3. *Merges*: a left-over truth shares the prediction that holds its rows. The rows of that prediction are
   dealt out in contiguous runs so that the total row similarity is largest.

The overlap of a match is the multiset Jaccard of 3-grams between the truth and what answers it, so that the
thresholds of the other rules apply.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parsemark.kernels.ngrams import Bag, character_ngrams, multiset_f1, multiset_jaccard, shared_count
from parsemark.matching.assignment import best_pairs
from parsemark.matching.combine import slice_rows, stack_tables
from parsemark.matching.content import element_text, table_text
from parsemark.model import Element, Match, Matching, Table

RULE = "ngrams"
MIN_PAIR_F1 = 0.2
"""Below this a pair shares no more than chance."""
MIN_SPLIT_GAIN = 0.02
"""A fragment joins only if it raises F1 by more than this."""
MIN_MERGE_RECALL = 0.5
"""A merged prediction must hold at least this share of the truth's 3-grams."""


@dataclass(frozen=True, slots=True)
class ContentMatching:
    """A matching and, for each answered truth, the table that answers it (stacked or cut out)."""

    matching: Matching
    answers: Mapping[str, Table]


def match_by_ngrams(truth: Sequence[Element], pred: Sequence[Element]) -> ContentMatching:
    """Match tables by their characters alone."""
    truth_bags = [text_bag(element_text(t)) for t in truth]
    pred_bags = [text_bag(element_text(p)) for p in pred]
    groups = _pair(truth_bags, pred_bags)
    _attach_fragments(groups, truth_bags, pred_bags)
    answers = {row: _stack(pred, cols) for row, cols in groups.items()}
    _share_merged(groups, answers, truth, truth_bags, pred, pred_bags)
    return _result(truth, truth_bags, pred, groups, answers)


def text_bag(text: str) -> Bag:
    """3-grams of letters and digits, case and compatibility forms folded."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return character_ngrams("".join(filter(str.isalnum, folded)))


def _pair(truth_bags: Sequence[Bag], pred_bags: Sequence[Bag]) -> dict[int, list[int]]:
    similarity = np.array([[multiset_f1(t, p) if t and p else 0.0 for p in pred_bags] for t in truth_bags])
    similarity = similarity.reshape(len(truth_bags), len(pred_bags))
    return {row: [col] for row, col in best_pairs(similarity) if similarity[row, col] >= MIN_PAIR_F1}


def _attach_fragments(
    groups: dict[int, list[int]], truth_bags: Sequence[Bag], pred_bags: Sequence[Bag]
) -> None:
    """Give each left-over prediction to the group whose F1 it raises most, largest fragments first."""
    taken = {col for cols in groups.values() for col in cols}
    rest = [col for col in range(len(pred_bags)) if col not in taken and pred_bags[col]]
    together = {row: Counter(pred_bags[cols[0]]) for row, cols in groups.items()}
    for col in sorted(rest, key=lambda c: (-pred_bags[c].total(), c)):
        gains = [
            (multiset_f1(truth_bags[row], bag + pred_bags[col]) - multiset_f1(truth_bags[row], bag), -row)
            for row, bag in together.items()
            if shared_count(truth_bags[row], pred_bags[col])
        ]
        gain, negative_row = max(gains, default=(0.0, 0))
        if gain > MIN_SPLIT_GAIN:
            groups[-negative_row].append(col)
            together[-negative_row] = together[-negative_row] + pred_bags[col]
    for cols in groups.values():
        cols.sort()


def _share_merged(
    groups: dict[int, list[int]],
    answers: dict[int, Table | None],
    truth: Sequence[Element],
    truth_bags: Sequence[Bag],
    pred: Sequence[Element],
    pred_bags: Sequence[Bag],
) -> None:
    """Let truths without an answer share a prediction that holds their rows."""
    owner = {cols[0]: row for row, cols in groups.items() if len(cols) == 1}
    sharers: dict[int, list[int]] = {}
    for row, bag in enumerate(truth_bags):
        if row in groups or not bag:
            continue
        held = [(shared_count(bag, pred_bags[col]) / bag.total(), -col) for col in owner]
        recall, negative_col = max(held, default=(0.0, 0))
        if recall >= MIN_MERGE_RECALL:
            sharers.setdefault(-negative_col, []).append(row)
    for col, rows in sharers.items():
        table = pred[col].table
        members = [owner[col], *rows]
        truths = [truth[row].table for row in members]
        if table is None or any(t is None for t in truths):
            continue
        runs = _deal_rows([t for t in truths if t is not None], table)
        if any(start == stop for start, stop in runs):
            continue
        for row, (start, stop) in zip(members, runs, strict=True):
            groups[row] = [col]
            answers[row] = slice_rows(table, start, stop)


def _deal_rows(truths: Sequence[Table], merged: Table) -> list[tuple[int, int]]:
    """Contiguous row runs of `merged`, one for each truth, with the largest total row similarity."""
    affinity = np.array([_row_affinity(truth, merged) for truth in truths])
    rows = np.arange(merged.n_rows)
    centre = [float((a * rows).sum() / a.sum()) if a.sum() > 0 else 0.0 for a in affinity]
    order = sorted(range(len(truths)), key=lambda k: (centre[k], k))
    sums = np.concatenate([np.zeros((len(truths), 1)), affinity.cumsum(axis=1)], axis=1)
    best = sums[order[0]].copy()
    cuts: list[list[int]] = []
    for k in order[1:]:
        start = np.maximum.accumulate(best - sums[k])
        choice, seen = [], 0
        for stop in range(merged.n_rows + 1):
            if best[stop] - sums[k][stop] > best[seen] - sums[k][seen]:
                seen = stop
            choice.append(seen)
        cuts.append(choice)
        best = start + sums[k]
    stop, runs = merged.n_rows, {}
    for k, choice in zip(reversed(order[1:]), reversed(cuts), strict=True):
        runs[k] = (choice[stop], stop)
        stop = choice[stop]
    runs[order[0]] = (0, stop)
    return [runs[k] for k in range(len(truths))]


def _row_affinity(truth: Table, merged: Table) -> list[float]:
    """For each row of `merged` how well its most similar row of `truth` fits."""
    truth_rows = [text_bag(" ".join(row)) for row in truth.text_rows()]
    merged_rows = [text_bag(" ".join(row)) for row in merged.text_rows()]
    return [max((multiset_f1(t, m) for t in truth_rows if t and m), default=0.0) for m in merged_rows]


def _stack(pred: Sequence[Element], cols: Sequence[int]) -> Table | None:
    tables = [table for col in cols if (table := pred[col].table) is not None]
    return stack_tables(tables) if tables else None


def _result(
    truth: Sequence[Element],
    truth_bags: Sequence[Bag],
    pred: Sequence[Element],
    groups: Mapping[int, Sequence[int]],
    answers: Mapping[int, Table | None],
) -> ContentMatching:
    matches = []
    for row, element in enumerate(truth):
        cols = groups.get(row, ())
        if not cols:
            matches.append(Match((element.id,), ()))
            continue
        answer = answers.get(row)
        text = " ".join(element_text(pred[col]) for col in cols) if answer is None else table_text(answer)
        overlap = multiset_jaccard(truth_bags[row], text_bag(text))
        matches.append(Match((element.id,), tuple(pred[col].id for col in cols), overlap))
    taken = {col for cols in groups.values() for col in cols}
    matches += [Match((), (p.id,)) for col, p in enumerate(pred) if col not in taken]
    tables = {truth[row].id: table for row, table in answers.items() if table is not None}
    return ContentMatching(Matching(RULE, tuple(matches)), tables)
