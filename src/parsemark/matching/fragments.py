"""Which pieces make up which table: the best total assignment of predictions to truths.

A prediction may be a piece of a truth if enough of its characters are the truth's. Each piece goes to one
truth or to none, so that together they hold as much of the truths as possible:

    worth = 3-grams held − a tenth of those held twice − those that the truth has not + place − disorder

Equal pieces, such as the headers of two tables of one kind, hold the same of either table. There *place*
decides (how much of the piece's box lies in the truth's, where both are known), and *disorder*: truths and
pieces are in reading order, so two pieces should not answer truths the other way round, nor should pieces of
one truth be far from each other or the lower one come first.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from parsemark.kernels.ngrams import Bag, shared_count, text_bag
from parsemark.model import Element

Floats = NDArray[np.float64]

MIN_INSIDE = 0.4  # a piece has at least this share of its 3-grams from the truth
HELD_TWICE = 0.1
"""What a 3-gram costs that another piece has given already; headers are repeated where tables are cut."""
MOST_FOREIGN = 0.9
"""What the truth has not costs this share of what it has at most: a bad answer is still an answer."""
PLACE = 0.5  # worth of a box inside the truth's, over that of the piece's 3-grams
DISORDER = 0.2  # what a piece loses, over its 3-grams, if it is in disorder with all the others
MAX_WORK = 100_000_000  # comparisons of counts after which the search ends with the best that it has found
MAX_CLAIMS = 50_000_000  # counts in memory; predictions beyond are no pieces, the smallest ones first
MAX_PIECES = 400  # the largest ones; what lies below is a page of confetti


@dataclass(frozen=True)
class PieceClaims:
    """What each prediction may give to each truth."""

    wholes: tuple[Floats, ...]  # of each truth, how often each of its 3-grams occurs in it
    claims: tuple[Floats, ...]
    """Of each truth (predictions, 3-grams of the truth): what a prediction has of them, 0 for no piece."""
    foreign: Floats  # (truths, predictions): 3-grams of a prediction that the truth has not
    inside: Floats  # (truths, predictions): share of a prediction's box in the truth's; 0 where unknown
    heights: Floats  # (truths, predictions): where in the truth a prediction's 3-grams are, 0 is the top

    @cached_property
    def sizes(self) -> Floats:
        """Return (truths, predictions): 3-grams that a prediction may give to a truth."""
        return np.array([claim.sum(axis=1) for claim in self.claims])

    def gains(self, truth: int, left: Floats) -> Floats:
        """Return for each prediction its gain for a truth of which these 3-grams are not held yet."""
        size = self.sizes[truth]
        new = np.minimum(self.claims[truth], left).sum(axis=1)
        foreign = np.minimum(self.foreign[truth], MOST_FOREIGN * size)
        return np.asarray(new - HELD_TWICE * (size - new) - foreign + PLACE * size * self.inside[truth])

    def disorder(self, p: int, t: int, others: Sequence[tuple[int, int]]) -> float:
        """Return the cost of making `p` a piece of `t` while the others are pieces of theirs."""
        total = 0.0
        for q, u in others:
            if u != t:
                amount = float((q - p) * (u - t) < 0)
            else:
                lower = (self.heights[t, p] - self.heights[t, q]) * (1 if p < q else -1)
                amount = (1 - 1 / abs(p - q)) / 8 + max(lower, 0.0)
            total += amount * min(self.sizes[t, p], self.sizes[u, q])
        return float(DISORDER * total / max(self.inside.shape[1] - 1, 1))


def claim_pieces(
    truth: Sequence[Element],
    pred: Sequence[Element],
    views: Sequence[tuple[Sequence[Bag], Sequence[Bag]]],
    pairs: set[tuple[int, int]],
) -> PieceClaims:
    """Find out which predictions may be pieces of which truths, both in reading order.

    The views are bags of truths and of predictions: along rows, which survives cells that were run together,
    and within cells, which survives columns that were taken apart. The pairs answer each other as a whole,
    however badly.
    """
    shape = len(truth), len(pred)
    wholes, claims = [], []
    room = MAX_CLAIMS // max(sum(len(bag) for view in views for bag in view[0]), 1)
    by_size = sorted(range(len(pred)), key=lambda p: (-views[0][1][p].total(), p))[:room]
    foreign, inside, heights = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for t, whole in enumerate(truth):
        bags = [view[0][t] for view in views]
        wholes.append(np.array([n for bag in bags for n in bag.values()], dtype=np.float64))
        claim = np.zeros((len(pred), len(wholes[-1])))
        height = _heights(whole, bags[-1])
        for p in by_size:
            own = [view[1][p] for view in views]
            shared = [shared_count(a, b) for a, b in zip(bags, own, strict=True)]
            shares = [n / b.total() if b else 0.0 for n, b in zip(shared, own, strict=True)]
            if max(shares) < MIN_INSIDE and (t, p) not in pairs:
                continue
            claim[p] = [min(n, b[gram]) for a, b in zip(bags, own, strict=True) for gram, n in a.items()]
            # Of what one view takes apart the other says that it is there: the better one is believed.
            foreign[t, p] = (1 - max(shares)) * sum(b.total() for b in own)
            cells = claim[p, -len(height) :] if len(height) else claim[p, :0]
            heights[t, p] = float((cells * height).sum() / cells.sum()) if cells.sum() else 0.5
            box = pred[p].box
            if box is not None and whole.box is not None:
                inside[t, p] = box.share_inside(whole.box)
        claims.append(claim)
    return PieceClaims(tuple(wholes), tuple(claims), foreign, inside, heights)


def _heights(whole: Element, bag: Bag) -> Floats:
    """Return where in a table each 3-gram of its cells is in the mean, from 0 to 1."""
    if whole.table is None:
        return np.full(len(bag), 0.5)
    sums: Bag = Counter()
    for cell in whole.table.cells:
        for gram, n in text_bag(cell.text).items():
            sums[gram] += n * cell.row
    last = max(whole.table.n_rows - 1, 1)
    return np.array([sums[gram] / n / last for gram, n in bag.items()])


def assign_pieces(pieces: PieceClaims) -> list[int | None]:
    """Return for each prediction the truth that it is a piece of, or None: the best assignment, by branch and
    bound.

    What a piece adds only becomes less as others are given to its truth, so the gains of the pieces that are
    left bound what is to come. A page on which that takes too long gets the best that was found until then.
    """
    sizes = pieces.sizes
    assigned: list[int | None] = [None] * pieces.inside.shape[1]
    if not sizes.size or not sizes.any():
        return assigned
    gains = np.array([pieces.gains(t, whole) for t, whole in enumerate(pieces.wholes)])
    gains[sizes == 0] = -np.inf
    order = [int(p) for p in np.argsort(-sizes.max(axis=0), kind="stable") if sizes[:, p].any()][:MAX_PIECES]
    best, best_worth, work = list(assigned), 0.0, 0

    def descend(depth: int, left: list[Floats], gains: Floats, so_far: float) -> None:
        """Try all that the piece at this depth may belong to, the most promising truth first."""
        nonlocal best, best_worth, work
        if so_far > best_worth + 1e-9:
            best, best_worth = list(assigned), so_far
        rest = order[depth:]
        if not rest or so_far + np.maximum(gains[:, rest].max(axis=0), 0.0).sum() <= best_worth + 1e-9:
            return
        p = rest[0]
        others = [(q, u) for q, u in enumerate(assigned) if u is not None]
        own = enumerate(gains[:, p].tolist())
        net = np.array([g - pieces.disorder(p, t, others) if g > 0 else 0.0 for t, g in own])
        for t in [int(t) for t in np.argsort(-net, kind="stable") if net[t] > 0]:
            if work > MAX_WORK:
                return
            work += pieces.claims[t].size + 100 * len(order)
            smaller, lower = list(left), gains.copy()
            smaller[t] = np.maximum(left[t] - pieces.claims[t][p], 0.0)
            lower[t] = np.where(np.isneginf(gains[t]), -np.inf, pieces.gains(t, smaller[t]))
            assigned[p] = t
            descend(depth + 1, smaller, lower, so_far + float(net[t]))
            assigned[p] = None
        if work <= MAX_WORK:
            descend(depth + 1, left, gains, so_far)

    descend(0, list(pieces.wholes), gains, 0.0)
    return best
