"""Tree edit distance, in Python.

Of ordered trees (Zhang and Shasha 1989; the twin of ordered_tree.cpp), and of table > tr > td (the twin of
row_tree.cpp, where the recurrence is proven, without its band).
"""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from parsemark.kernels.sequences import levenshtein


@dataclass(frozen=True, slots=True)
class OrderedTree:
    """Nodes in postorder; `leftmost[i]` is the leftmost leaf below node i."""

    leftmost: tuple[int, ...]
    labels: tuple[str, ...]
    texts: tuple[str | None, ...]

    @property
    def key_roots(self) -> list[int]:
        """The last node for each leftmost leaf: the roots of the subtrees that need their own table."""
        return sorted({leaf: node for node, leaf in enumerate(self.leftmost)}.values())


def ordered_tree(leftmost: Sequence[int], labels: Sequence[str], texts: Sequence[str | None]) -> OrderedTree:
    """A tree from its nodes in postorder; nodes without text have None."""
    if not len(leftmost) == len(labels) == len(texts):
        raise ValueError("leftmost, labels and texts must describe the same nodes")
    starts: list[int] = []  # of the subtrees that have no parent yet
    for node, leaf in enumerate(leftmost):
        reached = node
        while starts and starts[-1] >= leaf:
            reached = starts.pop()
        if leaf != reached:
            raise ValueError("leftmost must name a leaf, children before their parents")
        starts.append(reached)
    return OrderedTree(tuple(leftmost), tuple(labels), tuple(texts))


def rename_cost(x: str, y: str, known: MutableMapping[tuple[str, str], float]) -> float:
    """Levenshtein distance over the longer length; 0 for two empty texts. Remembered in `known`."""
    if x == y:
        return 0.0
    cost = known.get((x, y))
    if cost is None:
        cost = known[x, y] = levenshtein(x, y) / max(len(x), len(y))
    return cost


def ordered_tree_distance(a: OrderedTree, b: OrderedTree, structure_only: bool = False) -> float:
    """Edit distance: insert and delete cost 1, renaming 1 if labels differ, else by `rename_cost`."""
    if not a.labels or not b.labels:
        return float(len(a.labels) + len(b.labels))
    costs: dict[tuple[str, str], float] = {}
    trees = [[0.0] * len(b.labels) for _ in a.labels]

    def rename(i: int, j: int) -> float:
        if a.labels[i] != b.labels[j]:
            return 1.0
        x, y = a.texts[i], b.texts[j]
        return 0.0 if structure_only or x is None or y is None else rename_cost(x, y, costs)

    for root_a in a.key_roots:
        for root_b in b.key_roots:
            first_a, first_b = a.leftmost[root_a], b.leftmost[root_b]
            forest = [[float(y) for y in range(root_b - first_b + 2)]]
            for i in range(first_a, root_a + 1):
                above, row = forest[-1], [forest[-1][0] + 1]
                before_subtree = forest[a.leftmost[i] - first_a]
                for y, j in enumerate(range(first_b, root_b + 1), 1):
                    best = min(above[y], row[y - 1]) + 1
                    if a.leftmost[i] == first_a and b.leftmost[j] == first_b:
                        best = trees[i][j] = min(best, above[y - 1] + rename(i, j))
                    else:
                        best = min(best, before_subtree[b.leftmost[j] - first_b] + trees[i][j])
                    row.append(best)
                forest.append(row)
    return trees[-1][-1]


@dataclass(frozen=True, slots=True)
class RowTree:
    """A table as rows of (label, text): cells with different labels are not comparable."""

    rows: tuple[tuple[tuple[int, str], ...], ...]


def row_tree(row_lengths: Sequence[int], labels: Sequence[int], texts: Sequence[str]) -> RowTree:
    """A tree from the number of cells of each row, and label and text of each cell."""
    if any(length < 0 for length in row_lengths):
        raise ValueError("a row cannot have a negative length")
    if not sum(row_lengths) == len(labels) == len(texts):
        raise ValueError("row_lengths, labels and texts must describe the same cells")
    cells = iter(zip(labels, texts, strict=True))
    return RowTree(tuple(tuple(next(cells) for _ in range(length)) for length in row_lengths))


def row_tree_distance(a: RowTree, b: RowTree, structure_only: bool = False) -> float:
    """Edit distance: insert and delete cost 1, renaming a cell costs what `rename_cost` says."""
    costs: dict[tuple[str, str], float] = {}

    def rename(x: tuple[int, str], y: tuple[int, str]) -> float:
        if x[0] != y[0]:
            return 1.0
        return 0.0 if structure_only else rename_cost(x[1], y[1], costs)

    positions = [(s, c) for s, row in enumerate(b.rows) for c in [*range(len(row)), None]]
    starts = [j for j in range(len(positions)) if j == 0 or positions[j - 1][1] is None]
    here = [float(j) for j in range(len(positions) + 1)]
    for row in a.rows:
        before_row = here
        for cell in row:
            above, here = here, [here[0] + 1]
            for j, (s, c) in enumerate(positions, 1):
                best = min(above[j], here[j - 1]) + 1
                if c is None:
                    best = min(best, above[starts[s]] + 1 + len(b.rows[s]))
                elif above[j - 1] < best:
                    best = min(best, above[j - 1] + rename(cell, b.rows[s][c]))
                here.append(best)
        above, here = here, [here[0] + 1]
        for j, (s, c) in enumerate(positions, 1):
            best = min(above[j], here[j - 1]) + 1
            if c is not None:
                best = min(best, before_row[j - 1] + 1 + len(row))
            elif before_row[starts[s]] + abs(len(row) - len(b.rows[s])) < best:
                distances = [[rename(x, y) for y in b.rows[s]] for x in row]
                best = min(best, before_row[starts[s]] + _sequence_distance(distances, len(b.rows[s])))
            here.append(best)
    return here[-1]


def _sequence_distance(renames: Sequence[Sequence[float]], n_b: int) -> float:
    above = [float(y) for y in range(n_b + 1)]
    for x, row in enumerate(renames, 1):
        here = [float(x)]
        for y, rename in enumerate(row, 1):
            here.append(min(above[y] + 1, here[y - 1] + 1, above[y - 1] + rename))
        above = here
    return above[n_b]
