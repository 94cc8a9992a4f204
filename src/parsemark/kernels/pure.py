"""All kernel functions in Python, under the names that the native module has.

The twins of edit_similarity.cpp, sequence_matcher.cpp and alignment.hpp (two sequences compared or aligned),
similarity_matrix.cpp, grid_alignment.cpp (as GriTS matches two grids), ordered_tree.cpp (tree edit distance,
Zhang and Shasha 1989) and row_tree.cpp (of table > tr > td; the recurrence is proven there, here is no band).
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from itertools import product
from typing import TYPE_CHECKING, Generic, TypeVar

from rapidfuzz.distance import LCSseq, Levenshtein

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from parsemark.kernels.plain_table import PlainTableEntries

__all__ = [
    "VERSION", "align", "close_matches", "column_maxima", "difflib_matched", "lcs_length", "levenshtein",
    "line_likeness", "match_span_grids", "match_text_grids", "monotone_pairs", "ordered_tree",
    "ordered_tree_distance", "read_plain_table", "row_tree", "row_tree_distance", "similarity_matrix",
    "span_grid", "square_by_kinds", "text_grid", "window_distance",
]  # fmt: skip

VERSION = 7  # raised with each change of what a function takes or returns; `cpp/module.cpp` has the same
LONGEST_COMPARED = 64  # characters of the longest text that `similarity_matrix` takes
_AT_ONCE = 1_000_000  # entries that are gathered at once

EntryT = TypeVar("EntryT")
Pairs = list[tuple[int, int]]
Span = tuple[int, int, int, int]  # a span as seen from one of its positions: x0, y0, x1, y1 in grid units
GridMatch = tuple[float, Pairs, Pairs]  # summed similarity, matched rows, matched columns


def align(rewards: Sequence[Sequence[float]]) -> tuple[float, Pairs]:
    """Return the best monotone alignment of rows with columns, and its value. Skips are free.

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


def monotone_pairs(scores: NDArray[np.float64]) -> Pairs:
    """Return the monotone pairing of rows with columns whose scores have the greatest sum.

    Among equal sums the pairs stand as early as they can: from the end, a row is skipped before a column, and
    both before a match.
    """
    import numpy as np

    n, m = scores.shape
    totals = np.zeros((n + 1, m + 1))
    for i in range(n):
        best = np.maximum(totals[i, :-1] + scores[i], totals[i, 1:])
        totals[i + 1, 1:] = np.maximum.accumulate(best)
    pairs: Pairs = []
    i, j = n, m
    while i and j:
        if totals[i, j] == totals[i - 1, j]:
            i -= 1
        elif totals[i, j] == totals[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def read_plain_table(text: str) -> PlainTableEntries | None:
    """Return the cells of a text that is one table in plain HTML; None if it is anything else."""
    from parsemark.kernels import plain_table  # its patterns take long to compile

    return plain_table.read_plain_table(text)


def levenshtein(a: str, b: str) -> int:
    """Return the least number of insertions, deletions and replacements that turn `a` into `b`."""
    return Levenshtein.distance(a, b)


def window_distance(pattern: str, text: str, cutoff: int) -> int:
    """Return the least Levenshtein distance between `pattern` and a window of its length in `text`.

    -1 where it is above the cutoff, or there is no such window.
    """
    size = len(pattern)
    if not 0 < size <= len(text):
        return -1
    best = cutoff + 1
    for start in range(len(text) - size + 1):
        distance = Levenshtein.distance(pattern, text[start : start + size], score_cutoff=best - 1)
        best = min(best, distance)
        if best == 0:
            break
    return best if best <= cutoff else -1


def lcs_length(a: str, b: str) -> int:
    """Return the length of a longest common subsequence."""
    return LCSseq.similarity(a, b)


def difflib_matched(a: str, b: str) -> int:
    """Return the number of characters in the blocks that `difflib.SequenceMatcher(None, a, b)` matches."""
    return sum(block.size for block in SequenceMatcher(None, a, b).get_matching_blocks())


def close_matches(queries: Sequence[str], candidates: Sequence[str], cutoff: float) -> list[int]:
    """Return for each query the first index of what `difflib.get_close_matches(…, n=1)` gives; -1 for
    nothing.
    """
    first = {text: index for index, text in reversed(list(enumerate(candidates)))}
    known: dict[str, int] = {}
    for query in queries:
        if query not in known:
            found = get_close_matches(query, first, n=1, cutoff=cutoff)
            known[query] = first[found[0]] if found else -1
    return [known[query] for query in queries]


def similarity_matrix(a: list[str], b: list[str]) -> NDArray[np.float32]:
    """Return for each text of `a` and each of `b` one less their Levenshtein distance over the longer length.

    It is 1 for two empty texts. Raises `ValueError` for a text longer than `LONGEST_COMPARED`.
    """
    import numpy as np
    from rapidfuzz.process import cdist

    if max(map(len, (*a, *b)), default=0) > LONGEST_COMPARED:
        raise ValueError(f"texts must not have more than {LONGEST_COMPARED} characters")
    return cdist(a, b, scorer=Levenshtein.normalized_similarity, dtype=np.float32)


def square_by_kinds(
    matrix: NDArray[np.float32], a: list[int], b: list[int], factor: float, both_empty: float
) -> None:
    """Square each entry in place, given the kinds of the texts that its row and its column stand for.

    The kind of a text is -1 if it is empty, else twice the number of its class, plus one if only texts of its
    own class are like it: those of other classes have `factor` of their square. An empty text is like no
    other; two of them have `both_empty`. Raises `ValueError` if there is not a kind for each row and column.
    """
    import numpy as np

    if matrix.shape != (len(a), len(b)):
        raise ValueError("there must be a kind for each row and each column")
    one, other = np.array(a, dtype=np.int32)[:, None], np.array(b, dtype=np.int32)[None, :]
    apart = ((one | other) & 1 != 0) & (one >> 1 != other >> 1)
    np.square(matrix, out=matrix)
    np.multiply(matrix, np.where(apart, np.float32(factor), np.float32(1.0)), out=matrix)
    matrix[(one < 0) | (other < 0)] = 0.0
    matrix[(one < 0) & (other < 0)] = both_empty


def column_maxima(matrix: NDArray[np.float32], ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return for each column of `ids`, which name rows of `matrix`, the elementwise maximum of these rows."""
    import numpy as np

    n_rows, n_cols = ids.shape
    if not n_rows:
        raise ValueError("there is no row to take the maximum of")
    if ids.size and not 0 <= ids.min() <= ids.max() < len(matrix):
        raise IndexError("an id names no text")
    # All of them at once would be large.
    step = max(1, _AT_ONCE // max(1, n_rows * matrix.shape[1]))
    parts = [matrix[ids[:, begin : begin + step]].max(axis=0) for begin in range(0, n_cols, step)]
    return np.concatenate(parts) if parts else np.zeros((0, matrix.shape[1]), dtype=np.float32)


def line_likeness(
    matrix: NDArray[np.float32],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    filled_a: NDArray[np.bool_],
    filled_b: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return for each line of `a` and each of `b` the mean likeness of their entries where either has
    content.

    A line is a column of ids, which name rows of `matrix` in `a` and columns of it in `b`. The flags tell
    which entries say something. The mean is 0 where none does.
    """
    import numpy as np

    if a.shape != filled_a.shape or b.shape != filled_b.shape or len(a) != len(b):
        raise ValueError("ids and flags must describe the same lines")
    for ids, count in ((a, len(matrix)), (b, matrix.shape[1])):
        if ids.size and not 0 <= ids.min() <= ids.max() < count:
            raise IndexError("an id names no text")
    sums = np.zeros((a.shape[1], b.shape[1]), dtype=np.float32)
    counts = np.zeros(sums.shape, dtype=np.int64)
    for one, other, filled_one, filled_other in zip(a, b, filled_a, filled_b, strict=True):
        either = filled_one[:, None] | filled_other[None, :]
        sums += matrix[one[:, None], other[None, :]] * either
        counts += either
    means: NDArray[np.float64] = sums / np.maximum(counts, 1)
    return means


@dataclass(frozen=True, slots=True)
class Grid(Generic[EntryT]):
    """`entries[ids[r * cols + c]]` is what stands at row r and column c."""

    rows: int
    cols: int
    ids: tuple[int, ...]
    entries: tuple[EntryT, ...]

    def __post_init__(self) -> None:
        if self.rows < 0 or self.cols < 0 or len(self.ids) != self.rows * self.cols:
            raise ValueError("ids must have rows * cols entries")
        if any(not 0 <= index < len(self.entries) for index in self.ids):
            raise ValueError("an id names no entry")


def text_grid(rows: int, cols: int, ids: Sequence[int], entries: Sequence[EntryT]) -> Grid[EntryT]:
    """Return a grid of texts, or of spans."""
    return Grid(rows, cols, tuple(ids), tuple(entries))


span_grid = text_grid


def match_text_grids(a: Grid[str], b: Grid[str], similarity: str = "difflib") -> GridMatch:
    """Match by the similarity of texts: twice the matched characters over all characters."""
    if similarity not in ("difflib", "lcs"):
        raise ValueError("similarity must be difflib or lcs")
    matched = lcs_length if similarity == "lcs" else difflib_matched

    def compare(x: str, y: str) -> float:
        total = len(x) + len(y)
        return (2 * matched(x, y)) / total if total else 1.0

    return _match(a, b, compare)


def match_span_grids(a: Grid[Span], b: Grid[Span], overlap: str = "union") -> GridMatch:
    """Match by the overlap of spans: their intersection over their union, or over their common hull."""
    if overlap not in ("union", "hull"):
        raise ValueError("overlap must be union or hull")

    def compare(s: Span, t: Span) -> float:
        shared = _area(max(s[0], t[0]), max(s[1], t[1]), min(s[2], t[2]), min(s[3], t[3]))
        whole = _area(*s) + _area(*t) - shared
        if overlap == "hull":
            whole = _area(min(s[0], t[0]), min(s[1], t[1]), max(s[2], t[2]), max(s[3], t[3]))
        return shared / whole if whole else 0.0

    return _match(a, b, compare)


def _area(x0: int, y0: int, x1: int, y1: int) -> int:
    return max(0, x1 - x0) * max(0, y1 - y0)


def _match(a: Grid[EntryT], b: Grid[EntryT], compare: Callable[[EntryT, EntryT], float]) -> GridMatch:
    similar = [[compare(x, y) for y in b.entries] for x in a.entries]
    rows_a, rows_b = ([g.ids[r * g.cols : (r + 1) * g.cols] for r in range(g.rows)] for g in (a, b))
    columns_a, columns_b = (list(zip(*rows, strict=True)) for rows in (rows_a, rows_b))
    rows, cols = (
        align([[_line_reward(x, y, similar) for y in theirs] for x in ours])[1]
        for ours, theirs in ((rows_a, rows_b), (columns_a, columns_b))
    )
    total = 0.0
    for (r, s), (c, d) in product(rows, cols):
        total += similar[rows_a[r][c]][rows_b[s][d]]
    return total, rows, cols


def _line_reward(x: Sequence[int], y: Sequence[int], similar: list[list[float]]) -> float:
    row = [0.0] * (len(y) + 1)
    for a in x:
        known = similar[a]
        diagonal = left = 0.0
        for j, b in enumerate(y, 1):
            above = row[j]
            left = row[j] = max(diagonal + known[b], above, left)
            diagonal = above
    return row[-1]


@dataclass(frozen=True, slots=True)
class OrderedTree:
    """Nodes in postorder; `leftmost[i]` is the leftmost leaf below node i."""

    leftmost: tuple[int, ...]
    labels: tuple[str, ...]
    texts: tuple[str | None, ...]

    @property
    def key_roots(self) -> list[int]:
        """Return the last node for each leftmost leaf: the roots of the subtrees that need their own
        table.
        """
        return sorted({leaf: node for node, leaf in enumerate(self.leftmost)}.values())


def ordered_tree(leftmost: Sequence[int], labels: Sequence[str], texts: Sequence[str | None]) -> OrderedTree:
    """Return a tree from its nodes in postorder; nodes without text have None."""
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
    """Return Levenshtein distance over the longer length; 0 for two empty texts. Remembered in `known`."""
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
    """Return a tree from the number of cells of each row, and label and text of each cell."""
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
