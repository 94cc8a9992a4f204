"""Matching without boxes: character 3-grams, with splits put together and merges cut apart.

1. An optimal one-to-one assignment by the F1 of the tables' 3-gram multisets.
2. *Splits*: where that leaves predictions over, or pairs that are not alike, the best total assignment of
   pieces to truths (`fragments`). Pieces are put below or beside each other, whichever resembles the truth's
   rows more.
3. *Merges*: a left-over truth whose content a prediction holds besides that of another truth was merged with
   it. The rows of that prediction are dealt out in contiguous runs so that the total row similarity is
   largest. Who merges k tables has found one of them: the one that its run of rows resembles most. The
   match has all of the truths, that one first, and the kind `merge`; the others are misses too.

The overlap of a match is the multiset Jaccard of 3-grams between the truth and what answers it, so that the
thresholds of the other rules apply.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parsemark.kernels.ngrams import Bag, multiset_f1, multiset_jaccard, shared_count, text_bag
from parsemark.matching.combine import join_tables, slice_rows, stack_tables
from parsemark.matching.fragments import assign_pieces, claim_pieces
from parsemark.matching.tables import NGRAM_RULE, THETA, best_pairs, element_text, table_text
from parsemark.model import Element, Match, Matching, Table

MIN_PAIR_F1 = 0.2  # below this a pair shares no more than chance
FOUND_F1 = 2 * THETA / (1 + THETA)  # the F1 that belongs to a Jaccard index at the threshold
MIN_MERGE_RECALL = 0.5  # a merged prediction must hold at least this share of the truth's 3-grams


@dataclass(frozen=True, slots=True)
class ContentMatching:
    """A matching and, for each answered truth, the table that answers it (stacked or cut out)."""

    matching: Matching
    answers: Mapping[str, Table]


def match_by_ngrams(truth: Sequence[Element], pred: Sequence[Element]) -> ContentMatching:
    """Match tables by their characters alone."""
    matcher = _NgramMatcher(truth, pred)
    matcher.find_merged()
    return matcher.result()


def _grouped(
    truth: Sequence[Element], pred: Sequence[Element], truth_bags: Sequence[Bag], pred_bags: Sequence[Bag]
) -> dict[int, list[int]]:
    """Return the predictions that answer each truth: one, or its pieces in their order."""
    similarity = np.array([[multiset_f1(t, p) if t and p else 0.0 for p in pred_bags] for t in truth_bags])
    similarity = similarity.reshape(len(truth_bags), len(pred_bags))
    pairs = {pair for pair in best_pairs(similarity, FOUND_F1) if similarity[pair] >= MIN_PAIR_F1}
    views = (truth_bags, pred_bags), ([_cell_bag(t) for t in truth], [_cell_bag(p) for p in pred])
    pieces = claim_pieces(truth, pred, views, pairs)
    possible = set(np.flatnonzero(pieces.sizes.any(axis=0)).tolist()) if truth else set()
    if possible == {col for _, col in pairs} and all(similarity[pair] >= FOUND_F1 for pair in pairs):
        return {row: [col] for row, col in sorted(pairs)}
    groups: dict[int, list[int]] = {}
    for col, row in enumerate(assign_pieces(pieces)):
        if row is not None:
            groups.setdefault(row, []).append(col)
    return groups


def _cell_bag(element: Element) -> Bag:
    """Return 3-grams that do not reach over the border of a cell."""
    if element.table is None:
        return text_bag(element.text or "")
    return Counter(gram for cell in element.table.cells for gram in text_bag(cell.text).elements())


class _NgramMatcher:
    """Which predictions answer which truths, and with which table."""

    def __init__(self, truth: Sequence[Element], pred: Sequence[Element]) -> None:
        self.truth, self.pred = truth, pred
        self.truth_bags, self.pred_bags = (
            [text_bag(element_text(e)) for e in side] for side in (truth, pred)
        )
        self.groups = _grouped(truth, pred, self.truth_bags, self.pred_bags)
        pieces = {row: [pred[col] for col in cols] for row, cols in self.groups.items()}
        self.answers = {row: put_together(truth[row], own) for row, own in pieces.items()}
        self.merged: dict[int, list[int]] = {}
        """For each truth that was found in a merged prediction, the truths that it was merged with."""

    def find_merged(self) -> None:
        """Match merged predictions with the truth, of all that they hold, whose rows are held best."""
        owner = {cols[0]: row for row, cols in self.groups.items() if len(cols) == 1}
        members = {col: [row] for col, row in owner.items()}
        held = {col: self.truth_bags[row] for col, row in owner.items()}
        for row, bag in enumerate(self.truth_bags):
            if row in self.groups or not bag:
                continue
            shares = [(_added_share(held[col], bag, self.pred_bags[col]), -col) for col in owner]
            share, negative_col = max(shares, default=(0.0, 0))
            if share >= MIN_MERGE_RECALL:
                members[-negative_col].append(row)
                held[-negative_col] = held[-negative_col] + bag
        for col, rows in members.items():
            if len(rows) > 1:
                kept = self._keep_best(rows, self.pred[col].table)
                del self.groups[owner[col]]
                self.groups[kept] = [col]
                self.merged[kept] = [row for row in rows if row != kept]

    def _keep_best(self, rows: Sequence[int], table: Table | None) -> int:
        """Return the truth that keeps a merged prediction; its answer is its run of the prediction's rows."""
        truths = [t for row in rows if (t := self.truth[row].table) is not None]
        self.answers.pop(rows[0], None)
        if table is None or len(truths) < len(rows):
            self.answers[rows[0]] = table
            return rows[0]
        parts = [slice_rows(table, start, stop) for start, stop in _deal_rows(truths, table)]
        bags = [text_bag(table_text(part)) for part in parts]
        fits = [multiset_jaccard(self.truth_bags[row], bag) for row, bag in zip(rows, bags, strict=True)]
        best = max(range(len(rows)), key=lambda k: (fits[k], -k))
        self.answers[rows[best]] = parts[best]
        return rows[best]

    def result(self) -> ContentMatching:
        """Return all matches, with the tables that answer."""
        matches = []
        for row, element in enumerate(self.truth):
            found = [self.pred[col] for col in self.groups.get(row, ())]
            if not found:
                matches.append(Match((element.id,), ()))
                continue
            answer = self.answers.get(row)
            text = " ".join(map(element_text, found)) if answer is None else table_text(answer)
            overlap = multiset_jaccard(self.truth_bags[row], text_bag(text))
            with_others = (element.id, *(self.truth[other].id for other in self.merged.get(row, ())))
            matches.append(Match(with_others, tuple(e.id for e in found), overlap))
        taken = {col for cols in self.groups.values() for col in cols}
        matches += [Match((), (p.id,)) for col, p in enumerate(self.pred) if col not in taken]
        known = ((row, table) for row, table in self.answers.items() if row in self.groups)
        tables = {self.truth[row].id: table for row, table in known if table is not None}
        return ContentMatching(Matching(NGRAM_RULE, tuple(matches)), tables)


def _added_share(before: Bag, bag: Bag, pred_bag: Bag) -> float:
    """Return how much of a truth a prediction holds besides that of others: equal tables must be there
    twice.
    """
    added = shared_count(before + bag, pred_bag) - shared_count(before, pred_bag)
    return added / bag.total()


def _deal_rows(truths: Sequence[Table], merged: Table) -> list[tuple[int, int]]:
    """Return contiguous row runs of `merged`, one for each truth, with the largest total row similarity."""
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
    """Return for each row of `merged` how well its most similar row of `truth` fits."""
    truth_rows = [text_bag(" ".join(row)) for row in truth.text_rows()]
    merged_rows = [text_bag(" ".join(row)) for row in merged.text_rows()]
    return [max((multiset_f1(t, m) for t in truth_rows if t and m), default=0.0) for m in merged_rows]


def put_together(truth: Element, found: Sequence[Element]) -> Table | None:
    """Return the pieces of a table below or beside each other, whichever resembles its rows more."""
    pieces = [piece for piece in found if piece.table is not None]
    tables = [piece.table for piece in pieces if piece.table is not None]
    if len(tables) < 2 or truth.table is None:
        return stack_tables(tables) if tables else None
    from_left = sorted(pieces, key=lambda piece: piece.box.x0 if piece.box is not None else 0.0)
    below = stack_tables(tables)
    beside = join_tables([piece.table for piece in from_left if piece.table is not None])
    fit = [sum(_row_affinity(candidate, truth.table)) for candidate in (below, beside)]
    return beside if fit[1] > fit[0] else below
