"""Matching two grids row by row and column by column, as GriTS does: the twin of grid_alignment.cpp."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Generic, TypeVar

from parsemark.kernels.sequences import Pairs, align, difflib_matched, lcs_length

Span = tuple[int, int, int, int]  # a span as seen from one of its positions: x0, y0, x1, y1 in grid units

EntryT = TypeVar("EntryT")
GridMatch = tuple[float, Pairs, Pairs]  # summed similarity, matched rows, matched columns


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
    """A grid of texts, or of spans."""
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
    return _match(a, b, _hull_overlap if overlap == "hull" else _union_overlap)


def _area(x0: int, y0: int, x1: int, y1: int) -> int:
    return max(0, x1 - x0) * max(0, y1 - y0)


def _shared(s: Span, t: Span) -> int:
    return _area(max(s[0], t[0]), max(s[1], t[1]), min(s[2], t[2]), min(s[3], t[3]))


def _union_overlap(s: Span, t: Span) -> float:
    shared = _shared(s, t)
    union = _area(*s) + _area(*t) - shared
    return shared / union if union else 0.0


def _hull_overlap(s: Span, t: Span) -> float:
    hull = _area(min(s[0], t[0]), min(s[1], t[1]), max(s[2], t[2]), max(s[3], t[3]))
    return _shared(s, t) / hull if hull else 0.0


def _match(a: Grid[EntryT], b: Grid[EntryT], compare: Callable[[EntryT, EntryT], float]) -> GridMatch:
    similar = [[compare(x, y) for y in b.entries] for x in a.entries]
    rows_a = [a.ids[r * a.cols : (r + 1) * a.cols] for r in range(a.rows)]
    rows_b = [b.ids[r * b.cols : (r + 1) * b.cols] for r in range(b.rows)]
    rows = _match_lines(rows_a, rows_b, similar)
    cols = _match_lines(list(zip(*rows_a, strict=True)), list(zip(*rows_b, strict=True)), similar)
    total = 0.0
    for (r, s), (c, d) in product(rows, cols):
        total += similar[rows_a[r][c]][rows_b[s][d]]
    return total, rows, cols


def _match_lines(
    lines_a: Sequence[Sequence[int]], lines_b: Sequence[Sequence[int]], similar: list[list[float]]
) -> Pairs:
    rewards = [[_line_reward(x, y, similar) for y in lines_b] for x in lines_a]
    return align(rewards)[1]


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
