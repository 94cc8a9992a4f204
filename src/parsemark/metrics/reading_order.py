"""How far a prediction is from the reading order of the truth."""

from collections.abc import Iterable, Sequence

from rapidfuzz.distance import Levenshtein


def order_edit(expected: Sequence[int], placed: Iterable[tuple[int, int]]) -> float:
    """Return the normalised edit distance of two orders: 0 for equal ones, at most 1; lower is better.

    Args:
        expected: The places of all elements in the truth, in any order.
        placed: For each element that was found, its place in the prediction and its place in the truth.

    >>> order_edit([1, 2, 3, 4], [(0, 1), (1, 3), (2, 2)])
    0.5
    """
    found = [true for _, true in sorted(placed, key=lambda pair: pair[0])]
    return Levenshtein.distance(sorted(expected), found) / max(len(expected), len(found))
