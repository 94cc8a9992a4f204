"""Text coverage against a truth: which characters of a page were lost, invented, or given more than once.

Needs no matching and no structure, only what is written on both sides. A character counts as found if one of
the 5-grams around it occurs on the other side; a 5-gram that a prediction has more often than the truth is
duplicated that many times.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SIZE = 5


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts of characters, of texts without white space."""

    truth: int
    pred: int
    lost: int
    invented: int
    duplicated: int
    lost_places: tuple[tuple[int, int, int], ...] = ()
    """Block, start and end of the stretches of the truth that were lost."""


def text_coverage(truth: Sequence[str], pred: Sequence[str]) -> Coverage:
    """Compare the blocks of two sides.

    >>> text_coverage(["abcdefgh"], ["abcdefgh", "abcdefgh"]).duplicated
    8
    """
    true_grams, pred_grams = _grams(truth), _grams(pred)
    in_pred, in_truth = _short_parts(pred, truth), _short_parts(truth, pred)
    lost_places = tuple(
        (number, *place)
        for number, block in enumerate(truth)
        for place in _uncovered(block, pred_grams, in_pred)
    )
    invented = sum(end - start for block in pred for start, end in _uncovered(block, true_grams, in_truth))
    left = Counter(true_grams)
    return Coverage(
        sum(map(len, truth)),
        sum(map(len, pred)),
        sum(end - start for _, start, end in lost_places),
        invented,
        sum(_repeated(block, left) for block in pred),
        lost_places,
    )


def _grams(blocks: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for block in blocks:
        if 0 < len(block) < SIZE:  # such as a page number: looked for as it is
            counts[block] += 1
        counts.update(block[i : i + SIZE] for i in range(len(block) - SIZE + 1))
    return counts


def _short_parts(blocks: Sequence[str], looked_for: Iterable[str]) -> set[str]:
    """Return all stretches of blocks that are as long as one of the short blocks that are looked for in them.

    A table of numbers has thousands of such; to look through the other side for each takes far too long.
    """
    sizes = {len(block) for block in looked_for if 0 < len(block) < SIZE}
    return {block[i : i + size] for size in sizes for block in blocks for i in range(len(block) - size + 1)}


def _uncovered(block: str, other: Counter[str], short_parts: set[str]) -> list[tuple[int, int]]:
    """Return the stretches of a block of which no 5-gram occurs on the other side; a short block is found
    whole.
    """
    if not block:
        return []
    if len(block) < SIZE:
        return [] if block in short_parts else [(0, len(block))]
    covered = bytearray(len(block))
    for start in range(len(block) - SIZE + 1):
        if block[start : start + SIZE] in other:
            covered[start : start + SIZE] = b"\x01" * SIZE
    return [found.span() for found in re.finditer(rb"\x00+", covered)]


def _repeated(block: str, left: Counter[str]) -> int:
    """Return characters whose 5-grams are in the truth but were all used up by what came before."""
    if len(block) < SIZE:
        return 0
    fresh = bytearray(len(block))
    stale = bytearray(len(block))
    for start in range(len(block) - SIZE + 1):
        gram = block[start : start + SIZE]
        if gram not in left:
            continue
        marks = fresh if left[gram] > 0 else stale
        left[gram] -= 1
        marks[start : start + SIZE] = b"\x01" * SIZE
    return sum(b > a for a, b in zip(fresh, stale, strict=True))
