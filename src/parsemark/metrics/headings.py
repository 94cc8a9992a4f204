"""Headings as a tree: who is below whom, whatever level the highest one has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parsemark.kernels import kernel


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in reading order."""

    text: str
    level: int  # from 1; only which of two levels is deeper counts


def parents(headings: Sequence[Heading]) -> list[int]:
    """Return for each heading the index of the one above it; -1 for those at the top.

    >>> parents([Heading("1", 2), Heading("1.1", 3), Heading("2", 2)])
    [-1, 0, -1]
    """
    stack: list[int] = []
    found: list[int] = []
    for index, heading in enumerate(headings):
        while stack and headings[stack[-1]].level >= heading.level:
            stack.pop()
        found.append(stack[-1] if stack else -1)
        stack.append(index)
    return found


def parent_accuracy(
    truth: Sequence[Heading], pred: Sequence[Heading], answers: Mapping[int, int]
) -> float | None:
    """Return the share of the true headings whose parent is answered by the parent of their answer.

    `answers` has the index of the prediction that answers a truth; a truth without one is wrong. None where
    there is no true heading.
    """
    if not truth:
        return None
    above_truth, above_pred = parents(truth), parents(pred)
    right = 0
    for t, p in answers.items():
        expected = -1 if above_truth[t] < 0 else answers.get(above_truth[t], -2)
        right += above_pred[p] == expected
    return right / len(truth)


def tree_similarity(truth: Sequence[Heading], pred: Sequence[Heading]) -> float | None:
    """Return 1 − tree edit distance / size of the larger tree; 1 for the same tree, however deep it begins.

    Inserting and deleting a heading costs 1, renaming one the normalised edit distance of the texts. None
    where neither side has a heading.
    """
    size = max(len(truth), len(pred))
    if size == 0:
        return None
    distance = kernel.ordered_tree_distance(_tree(truth), _tree(pred), False)
    return max(0.0, 1.0 - float(distance) / size)


def _tree(headings: Sequence[Heading]) -> object:
    above = parents(headings)
    children: dict[int, list[int]] = {}
    for index, parent in enumerate(above):
        children.setdefault(parent, []).append(index)
    leftmost: list[int] = []
    texts: list[str | None] = []
    stack: list[tuple[int, int, int]] = [(-1, 0, 0)]  # heading, next child, first node below it
    while stack:
        heading, child, first = stack.pop()
        below = children.get(heading, [])
        if child < len(below):
            stack.append((heading, child + 1, first))
            stack.append((below[child], 0, len(leftmost)))
        else:
            leftmost.append(first)
            texts.append(headings[heading].text if heading >= 0 else "")
    return kernel.ordered_tree(leftmost, ["heading"] * (len(leftmost) - 1) + ["root"], texts)
