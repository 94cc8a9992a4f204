"""Aligning two sequences so that the reward is greatest, in Python: the twin of alignment.hpp."""

from __future__ import annotations

from collections.abc import Sequence

Pairs = list[tuple[int, int]]


def align(rewards: Sequence[Sequence[float]]) -> tuple[float, Pairs]:
    """The best monotone alignment of rows with columns, and its value. Skips are free.

    Among equal values a match is preferred, then skipping a row, then skipping a column; equality is that of
    floats. This is the tie order of the GriTS reference, and it changes GriTS' values.
    """
    n_a, n_b = len(rewards), len(rewards[0]) if rewards else 0
    if any(len(row) != n_b for row in rewards):
        raise ValueError("rewards must be a rectangle")
    values = [[0.0] * (n_b + 1) for _ in range(n_a + 1)]
    for i, row in enumerate(rewards):
        above, here = values[i], values[i + 1]
        for j, reward in enumerate(row):
            here[j + 1] = max(above[j] + reward, above[j + 1], here[j])
    pairs: Pairs = []
    i, j = n_a, n_b
    while i and j:
        best = values[i][j]
        if values[i - 1][j - 1] + rewards[i - 1][j - 1] == best:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif values[i - 1][j] == best:
            i -= 1
        else:
            j -= 1
    return values[n_a][n_b], pairs[::-1]
