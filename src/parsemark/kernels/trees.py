"""Tree edit distance of ordered trees (Zhang and Shasha 1989), in Python: the twin of ordered_tree.cpp."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from parsemark.kernels.texts import levenshtein


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
    if any(not 0 <= leaf <= node for node, leaf in enumerate(leftmost)):
        raise ValueError("leftmost must name an earlier node or the node itself")
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
