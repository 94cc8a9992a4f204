"""Blocks of text matched as they follow each other, with splits, merges, misses, extras and moved blocks.

Every block of both sides is in exactly one match. The matching is monotone where it can be: the first stage
is the cheapest alignment of the two sequences, counted in edits, in which a block answers one block, a run of
blocks, or nothing. What answers nothing there may have been moved: the second stage assigns it whatever its
place. There is no threshold of time; pages that are too large are matched by equal blocks alone, and say so.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from parsemark.kernels import kernel
from parsemark.matching.edit_distance import assignment, ned

MAX_PAIRS = 400_000  # pairs of blocks that are compared; above it, only equal blocks are matched
MAX_CHARACTERS = 400_000  # characters of one side that are compared; above it, only equal blocks are matched
MAX_CHARACTER_PAIRS = 200_000_000_000
"""Characters times characters of all that is compared (some 15 s); above it, only equal blocks are matched.

A block that answers many is compared with the runs of them that begin at each, so a page of 70,000 characters
in one block reaches it.
"""
MAX_NED = 0.7  # a moved block that is less alike shares no more than chance
MAX_WEIGHED = 2_000  # equal blocks that are chosen by their characters, in quadratic time
SHORT_RUN = 8  # all runs up to this length are tried; of longer ones only the longest
_MOSTLY = 0.6  # share of the characters of a long run that must be in members that occur in its counterpart
_MAX_MISSES = 3  # members in a row of a long run that may be unlike
_SHORT = 60
"""Blocks up to this many characters are also compared letter by letter to see whether they may be matched."""
_CONTAINED = 0.5  # share of the 3-grams of a part of a run that its counterpart must have


@dataclass(frozen=True, slots=True)
class BlockMatch:
    """Indices of truths and predictions that answer each other; one side may be empty."""

    truths: tuple[int, ...]
    preds: tuple[int, ...]
    is_moved: bool = False  # whether it was found out of its place


@dataclass(frozen=True, slots=True)
class BlockMatching:
    """All matches, by truth, extras last."""

    matches: tuple[BlockMatch, ...]
    is_complete: bool = True  # False where the page was too large and only equal blocks were matched


def match_blocks(truths: Sequence[str], preds: Sequence[str], n_ordered: int | None = None) -> BlockMatching:
    """Match non-empty strings that are ready to be compared, truths outside of reading order last.

    The first `n_ordered` truths, by default all, have a place in reading order; the others are matched in the
    second stage alone, wherever they stand.
    """
    n_ordered = len(truths) if n_ordered is None else n_ordered
    fixed = _equal_in_order(truths[:n_ordered], preds)
    matches = [BlockMatch((t,), (p,)) for t, p in fixed.items()]
    open_truths, open_preds = _left(truths, preds, matches)
    sizes = sum(len(truths[t]) for t in open_truths), sum(len(preds[p]) for p in open_preds)
    complete = len(open_truths) * len(open_preds) <= MAX_PAIRS and max(sizes) <= MAX_CHARACTERS
    if complete:
        finder = _Finder(truths, preds)
        anchors = [(-1, -1), *sorted(fixed.items()), (n_ordered, len(preds))]
        stretches = [(range(t0 + 1, t1), range(p0 + 1, p1)) for (t0, p0), (t1, p1) in pairwise(anchors)]
        candidates = [finder.candidates(rows, columns) for rows, columns in stretches]
        # What the first stage leaves, at most all that is open, is compared once more in the second.
        complete = sizes[0] * sizes[1] + sum(map(finder.work, candidates)) <= MAX_CHARACTER_PAIRS
    if complete:
        for (rows, columns), found in zip(stretches, candidates, strict=True):
            matches += finder.align(rows, columns, found)
    matches += _moved(truths, preds, matches, compares=complete)
    open_truths, open_preds = _left(truths, preds, matches)
    matches += (BlockMatch((t,), ()) for t in open_truths)
    matches.sort(key=lambda m: m.truths[0])
    matches += (BlockMatch((), (p,)) for p in open_preds)
    return BlockMatching(tuple(matches), complete)


def _left(
    truths: Sequence[str], preds: Sequence[str], matches: Sequence[BlockMatch]
) -> tuple[list[int], list[int]]:
    """Return the truths and the predictions that no match has."""
    answered, used = {t for m in matches for t in m.truths}, {p for m in matches for p in m.preds}
    open_preds = [p for p in range(len(preds)) if p not in used]
    return [t for t in range(len(truths)) if t not in answered], open_preds


def _equal_in_order(truths: Sequence[str], preds: Sequence[str]) -> dict[int, int]:
    """Return blocks that occur once on each side and are equal: the longest run of them that is in order.

    A block that is equal but out of order is left to the second stage. Such anchors are part of a cheapest
    alignment in all but contrived cases, and make the rest of a page small.
    """
    counts_t, counts_p = Counter(truths), Counter(preds)
    where = {text: p for p, text in enumerate(preds) if counts_p[text] == 1}
    pairs = [(t, where[text]) for t, text in enumerate(truths) if counts_t[text] == 1 and text in where]
    before, last = _longest(pairs) if len(pairs) > MAX_WEIGHED else _heaviest(pairs, truths)
    chain = []
    while last >= 0:
        chain.append(pairs[last])
        last = before[last]
    return dict(chain[::-1])


def _heaviest(pairs: list[tuple[int, int]], truths: Sequence[str]) -> tuple[list[int], int]:
    """Return for each pair the one before it, and the last one: those in order with the most characters
    together.
    """
    best, before = list[int](), list[int]()
    for k, (t, p) in enumerate(pairs):
        chosen = max((j for j in range(k) if pairs[j][1] < p), key=lambda j: best[j], default=-1)
        best.append(len(truths[t]) + (best[chosen] if chosen >= 0 else 0))
        before.append(chosen)
    return before, max(range(len(pairs)), key=lambda j: best[j], default=-1)


def _longest(pairs: list[tuple[int, int]]) -> tuple[list[int], int]:
    """Return the same of the most pairs in order, whatever they say."""
    tails, ends, before = list[int](), list[int](), list[int]()
    for k, (_, p) in enumerate(pairs):
        place = bisect_left(tails, p)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1], ends[place : place + 1] = [p], [k]
    return before, ends[-1] if ends else -1


def _price(edits: int, absorbed: int = 0, place: int = 0) -> int:
    """Return edits; of equally many, fewer unequal pairs and shorter runs; of these, what comes first in the
    output.

    So a block that is given twice is extra the second time, and no part of its neighbour. One number that is
    ordered so: the budget keeps each term of a whole alignment below 2^20.
    """
    return (edits << 40) + (absorbed << 20) + place


_Candidate = tuple[int, int, range, range]
"""Where a pair or a run begins in its stretch, its truths and its predictions."""


@dataclass
class _Finder:
    """The cheapest alignment between two anchors."""

    truths: Sequence[str]
    preds: Sequence[str]
    grams: dict[str, set[str]] = field(default_factory=dict)

    def align(self, rows: range, columns: range, candidates: Sequence[_Candidate]) -> list[BlockMatch]:
        """Return matches of a stretch, chosen of its candidates; what answers nothing is left out."""
        if not rows or not columns:
            return []
        moves: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
        for i, j, truths, preds in candidates:
            end = i + len(truths), j + len(preds)
            truth, pred = "".join(self.truths[t] for t in truths), "".join(self.preds[p] for p in preds)
            edits = kernel.levenshtein(truth, pred)
            price = _price(edits, len(truths) + len(preds) - 2 + (edits > 0), j)
            moves[i, j].append((*end, price))
        n, m = len(rows), len(columns)
        cost = np.full((n + 1, m + 1), np.iinfo(np.int64).max)
        cost[0, 0] = 0
        came: dict[tuple[int, int], tuple[int, int]] = {}
        for i in range(n + 1):
            for j in range(m + 1):
                here = int(cost[i, j])
                steps = [(i + 1, j, _price(len(self.truths[rows[i]])))] if i < n else []
                steps += [(i, j + 1, _price(len(self.preds[columns[j]])))] if j < m else []
                steps += moves.get((i, j), [])
                for a, b, price in steps:
                    if here + price < cost[a, b]:
                        cost[a, b] = here + price
                        came[a, b] = (i, j)
        out: list[BlockMatch] = []
        state = (n, m)
        while state != (0, 0):
            i, j = came[state]
            if i < state[0] and j < state[1]:
                out.append(BlockMatch(tuple(rows[i : state[0]]), tuple(columns[j : state[1]])))
            state = (i, j)
        return out[::-1]

    def candidates(self, rows: range, columns: range) -> list[_Candidate]:
        """Return the pairs and runs of a stretch that may be matched."""
        found: list[_Candidate] = []
        for i, t in enumerate(rows):
            for j, p in enumerate(columns):
                if not self._may_answer(self.truths[t], self.preds[p]):
                    continue
                runs = [(1, 1), *((1, n) for n in self._runs(self.truths[t], self.preds, columns, j))]
                runs += [(n, 1) for n in self._runs(self.preds[p], self.truths, rows, i)]
                found += [(i, j, rows[i : i + down], columns[j : j + across]) for down, across in runs]
        return found

    def work(self, candidates: Sequence[_Candidate]) -> int:
        """Return the cost of comparing candidates: characters times characters."""
        return sum(
            sum(len(self.truths[t]) for t in truths) * sum(len(self.preds[p]) for p in preds)
            for _, _, truths, preds in candidates
        )

    def _runs(self, whole: str, parts: Sequence[str], places: range, start: int) -> list[int]:
        """Return lengths from 2 on of runs whose members occur in the whole: short ones, and the longest.

        In the longest run some members may be unlike, if most of its characters are in the others. It is
        looked for only where it cannot be extended to the left.
        """
        count = longest = total = alike = misses = 0
        for number, place in enumerate(places[start:], 1):
            total += len(parts[place])
            if total > 1.5 * len(whole) + 20:
                break
            if self._contains(whole, parts[place]):
                alike += len(parts[place])
                misses = 0
                count = number if count == number - 1 else count
                longest = number if alike >= _MOSTLY * total else longest
            elif (misses := misses + 1) > _MAX_MISSES:
                break
        found = list(range(2, min(count, SHORT_RUN) + 1))
        is_first = start == 0 or not self._contains(whole, parts[places[start - 1]])
        return [*found, longest] if longest > len(found) + 1 and is_first else found

    def _may_answer(self, a: str, b: str) -> bool:
        """Return whether one may hold the other, or short ones are alike: few wrong letters spoil all
        3-grams.
        """
        if self._contains(a, b) or self._contains(b, a):
            return True
        return max(len(a), len(b)) <= _SHORT and ned(a.casefold(), b.casefold()) <= MAX_NED

    def _contains(self, whole: str, part: str) -> bool:
        grams = self._grams(part)
        if len(part) < 3:
            return part.casefold() in whole.casefold()
        return len(grams & self._grams(whole)) >= _CONTAINED * len(grams)

    def _grams(self, text: str) -> set[str]:
        """Return the n-grams without case: a heading in capitals is the same heading, and its edits are its
        cost.
        """
        if text not in self.grams:
            folded = text.casefold()
            self.grams[text] = {folded[i : i + 3] for i in range(max(1, len(folded) - 2))}
        return self.grams[text]


def _moved(
    truths: Sequence[str], preds: Sequence[str], matches: Sequence[BlockMatch], *, compares: bool
) -> list[BlockMatch]:
    """Match blocks that are left on both sides, wherever they stand."""
    open_truths, open_preds = _left(truths, preds, matches)
    found: list[BlockMatch] = []
    by_text: dict[str, list[int]] = defaultdict(list)
    for p in reversed(open_preds):
        by_text[preds[p]].append(p)
    for t in open_truths:
        if by_text[truths[t]]:
            found.append(BlockMatch((t,), (by_text[truths[t]].pop(),), is_moved=True))
    if not compares:
        return found
    rows, columns = _left(truths, preds, [*matches, *found])
    if not rows or not columns:
        return found

    def unlike(truth: str, pred: str) -> float:
        """Return normalised distance without regard to case, which only decides between equally alike
        ones.
        """
        return ned(truth.casefold(), pred.casefold()) + 1e-4 * ned(truth, pred)

    costs = np.array([[unlike(truths[t], preds[p]) for p in columns] for t in rows])
    for r, c in assignment(np.minimum(costs, MAX_NED + 0.01)):
        if costs[r, c] <= MAX_NED + 1e-4:
            found.append(BlockMatch((rows[r],), (columns[c],), is_moved=True))
    return found
