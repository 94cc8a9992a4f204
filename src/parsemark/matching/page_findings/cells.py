"""Cells that an output has in another row or column than the page: by where their words stand.

A cell is placed if its words stand once on the page, or once where the table stands, and once in the table.
Placed cells tell where each column and each row of the output's table lies on the page. A cell outside of its
own column and inside of another one is misplaced. Where a page leaves a doubt, nothing is found: cells with
spans, titles above several columns, cells beside others' words, columns that overlap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from parsemark.matching.page_evidence import OutputTable, PageEvidence
from parsemark.matching.words import PageAtom
from parsemark.model import Box

_OTHERS, _OTHERS_OF_PAIR = 3, 2
"""Other cells that must show where a row or column lies; the same if two cells have changed places."""
_MOST = 2 / 3  # share of the cells of a row or column that must agree about its place
_CLEAR = 2.0  # points between a misplaced cell and its own row or column
_NEAR = 1.0  # points by which a cell may leave its column
_BLANK = 0.6  # heights of a word from which on a blank parts two cells
_MIDDLE = 0.2  # share of a line's height that rows may overlap at its top and at its end
_MOST_PLACES, _MOST_CELLS, _MOST_SLOTS = 20, 5_000, 200_000
"""Places of a word on the page, placed cells of a table and its rows times columns that are looked at."""
_SHOWN = 40  # characters of the other cell that are named

Span = tuple[float, float]


class MisplacedCells(NamedTuple):
    """One cell or several neighbours in a wrong row or column, or two that have changed places."""

    cells: tuple[range, ...]  # their words on the page
    said: tuple[int, ...]  # their words in the output
    detail: str

    @property
    def is_exchange(self) -> bool:
        """Return whether two cells have changed places."""
        return self.detail.startswith("exchanged")


class _PlacedCell(NamedTuple):
    at: tuple[int, int]  # column and row in the output
    edges: tuple[Span, Span]  # place on the page, across and down
    words: range
    said: range
    header: bool


class _Band(NamedTuple):
    """Where a row or column lies on the page, along one axis."""

    low: float
    high: float
    point: float
    """What most of its cells have in common: an edge or the middle."""
    n: int

    def holds(self, edges: Span) -> bool:
        """Return whether a cell belongs to it."""
        inside = self.low - _NEAR <= edges[0] and edges[1] <= self.high + _NEAR
        return inside or edges[0] <= self.point <= edges[1]

    def gap(self, edges: Span) -> float:
        """Return how far a cell is away from it."""
        return max(self.low - edges[1], edges[0] - self.high)


def misplaced_cells(evidence: PageEvidence) -> Iterator[MisplacedCells]:
    """Yield the misplaced cells of all tables of an output of one page."""
    if not evidence.tables:
        return
    page = evidence.comparison.page
    where: defaultdict[str, list[int]] = defaultdict(list)
    for i, atom in enumerate(page):
        where[atom.text].append(i)
    for table in evidence.tables:
        grid = table.table
        if grid.n_cols >= 2 and grid.n_rows >= 3 and grid.n_rows * grid.n_cols <= _MOST_SLOTS:
            cells = list(_placed(table, page, evidence.comparison.output, where))
            if _OTHERS < len(cells) <= _MOST_CELLS:
                bands = _bands(cells, 0), _bands(cells, 1)
                filled = {(cell.col, cell.row) for cell in grid.cells if cell.text.strip()}
                for axis in (0, 1):
                    yield from _along(axis, cells, bands, filled, evidence.comparison.output)


# --- where cells stand --------------------------------------------------------------------------------------


def _placed(
    table: OutputTable, page: Sequence[PageAtom], output: Sequence[str], where: Mapping[str, Sequence[int]]
) -> Iterator[_PlacedCell]:
    """Yield the cells that stand at one place for sure."""
    texts = [tuple(output[start:end]) for start, end in pairwise(table.starts)]
    known = Counter(texts)
    found: list[tuple[int, list[range]]] = []
    for k, cell in enumerate(table.table.cells):
        is_whole = table.starts[k + 1] <= len(output)
        if cell.rowspan == cell.colspan == 1 and texts[k] and known[texts[k]] == 1 and is_whole:
            found.append((k, list(_occurrences(texts[k], page, where))))
    sure = [Box.hull(page[i].box for i in places[0]) for _, places in found if len(places) == 1]
    if not sure:
        return
    region = Box.hull(sure)
    for k, places in found:
        if len(places) > 1:
            places = [own for own in places if all(region.holds_centre(page[i].box) for i in own)]  # noqa: PLW2901
        if len(places) != 1 or not _is_alone(places[0], page):
            continue
        own, cell = places[0], table.table.cells[k]
        box = Box.hull(page[i].box for i in own)
        inner = _MIDDLE * min(page[i].box.height for i in own)
        yield _PlacedCell(
            (cell.col, cell.row),
            ((box.x0, box.x1), (box.y0 + inner, box.y1 - inner)),
            own,
            range(table.starts[k], table.starts[k + 1]),
            bool(cell.header) or cell.row == 0,
        )


def _occurrences(
    words: tuple[str, ...], page: Sequence[PageAtom], where: Mapping[str, Sequence[int]]
) -> Iterator[range]:
    """Yield where some words stand in a row on the page; nothing if all of them are frequent."""
    rarest = min(range(len(words)), key=lambda k: len(where.get(words[k], ())))
    places = where.get(words[rarest], ())
    for i in places if len(places) <= _MOST_PLACES else ():
        own = range(i - rarest, i - rarest + len(words))
        is_inside = own.start >= 0 and own.stop <= len(page)
        if is_inside and all(page[at].text == word for at, word in zip(own, words, strict=True)):
            yield own


def _is_alone(own: range, page: Sequence[PageAtom]) -> bool:
    """Return whether no other word stands close before or behind some words on their line."""
    for one, other in ((own.start - 1, own.start), (own.stop - 1, own.stop)):
        if one < 0 or other >= len(page):
            continue
        first, second = page[one].box, page[other].box
        height = max(first.height, second.height)
        is_beside = min(first.y1, second.y1) - max(first.y0, second.y0) > 0
        if is_beside and -height < second.x0 - first.x1 < _BLANK * height:
            return False
        if first == second:  # parts of one word
            return False
    return True


def _bands(cells: Sequence[_PlacedCell], axis: int) -> dict[int, _Band]:
    """Return where the columns (0) or rows (1) lie of which enough cells agree about it."""
    groups: defaultdict[int, list[Span]] = defaultdict(list)
    for cell in cells:
        groups[cell.at[axis]].append(cell.edges[axis])
    points = {k: _deepest(own) for k, own in groups.items()}
    known = sorted(point for k, point in points.items() if len(groups[k]) >= _OTHERS)
    found = {}
    for k, own in groups.items():
        narrow = [e for e in own if bisect_right(known, e[1]) - bisect_left(known, e[0]) <= 1]
        alike = [e for e in narrow if e[0] <= points[k] <= e[1]]
        if alike:
            band = _Band(min(e[0] for e in alike), max(e[1] for e in alike), points[k], 0)
            n = sum(map(band.holds, narrow))
            if n >= _MOST * len(own):
                found[k] = band._replace(n=n)
    return found


def _deepest(spans: Sequence[Span]) -> float:
    """Return the middle of what most of some spans have in common."""
    edges = sorted([(low, 0) for low, _ in spans] + [(high, 1) for _, high in spans])
    depth = best = 0
    found = edges[0][0]
    for (at, is_end), (following, _) in pairwise(edges):
        depth += -1 if is_end else 1
        if depth > best:
            best, found = depth, (at + following) / 2
    return found


# --- which are misplaced ------------------------------------------------------------------------------------


def _along(
    axis: int,
    cells: Sequence[_PlacedCell],
    bands: tuple[Mapping[int, _Band], Mapping[int, _Band]],
    filled: Set[tuple[int, int]],
    output: Sequence[str],
) -> Iterator[MisplacedCells]:
    """Yield the cells of a row that stand in wrong columns (0), or of a column in wrong rows (1)."""
    strays: defaultdict[int, dict[int, tuple[_PlacedCell, int]]] = defaultdict(dict)
    for cell in cells:
        if (target := _target(cell, axis, bands)) is not None:
            strays[cell.at[1 - axis]][cell.at[axis]] = cell, target
    n_own = Counter(cell.at[1 - axis] for cell in cells)
    for line, own in strays.items():
        rest = dict(own)
        for k, (cell, target) in own.items():
            other, back = own.get(target, (cell, k + 1))
            if back == k < target:
                words = " ".join(output[other.said.start : other.said.stop])
                yield _finding([cell, other], f"exchanged with {words[:_SHOWN]}")
                del rest[k], rest[target]
        rest = {
            k: (cell, target)
            for k, (cell, target) in rest.items()
            if not cell.header and min(bands[axis][n].n for n in (k, target)) >= _OTHERS
        }
        yield from _shifted(axis, rest, n_own[line] - len(own), filled)


def _target(
    cell: _PlacedCell, axis: int, bands: tuple[Mapping[int, _Band], Mapping[int, _Band]]
) -> int | None:
    """Return the column or row in which a cell stands on the page; None if it is its own, or in doubt."""
    edges, home = cell.edges[axis], bands[axis].get(cell.at[axis])
    line = bands[1 - axis].get(cell.at[1 - axis])
    if home is None or home.n < _OTHERS_OF_PAIR or home.holds(edges) or home.gap(edges) < _CLEAR:
        return None
    if line is None or line.n < 2 or not line.holds(cell.edges[1 - axis]):
        return None
    near = [k for k, band in bands[axis].items() if band.gap(edges) <= 0]
    if len(near) != 1:
        return None
    band = bands[axis][near[0]]
    is_apart = band.gap((home.low, home.high)) > 0
    return near[0] if band.n >= _OTHERS_OF_PAIR and band.holds(edges) and is_apart else None


def _shifted(
    axis: int, strays: Mapping[int, tuple[_PlacedCell, int]], n_steady: int, filled: Set[tuple[int, int]]
) -> Iterator[MisplacedCells]:
    """Yield the cells of one row or column that have shifted by as many places, as one finding."""
    steps = Counter(target - k for k, (_, target) in strays.items())
    if not steps:
        return
    step, n = steps.most_common(1)[0]
    own = [cell for k, (cell, target) in sorted(strays.items()) if target - k == step]
    is_run = all(b.at[axis] - a.at[axis] == 1 for a, b in pairwise(own))
    if axis == 1 and (n < 2 or not is_run):
        return
    if n == 1 and (n_steady < 2 or _may_span(own[0], axis, step, filled)):
        return
    first, last = own[0].at[axis], own[-1].at[axis]
    name = ("column", "row")[axis]
    if first == last:
        detail = f"in {name} {first + 1}, the PDF has it in {name} {first + step + 1}"
    else:
        detail = f"in {name}s {first + 1} to {last + 1}, the PDF has them {abs(step)} {name}"
        detail += ("s" if abs(step) > 1 else "") + (" later" if step > 0 else " earlier")
    yield _finding(own, detail)


def _may_span(cell: _PlacedCell, axis: int, step: int, filled: Set[tuple[int, int]]) -> bool:
    """Return whether a cell may be in the middle of several that are merged: those up to its place, and as
    many behind it, are empty in the output.
    """
    way = 1 if step > 0 else -1
    places = [cell.at[axis] + way * k for k in range(1, 2 * abs(step) + 1)]
    line = cell.at[1 - axis]
    last = max(place[axis] for place in filled)
    is_empty = not any(((k, line) if axis == 0 else (line, k)) in filled for k in places)
    return is_empty and min(places) >= 0 and max(places) <= last


def _finding(cells: Sequence[_PlacedCell], detail: str) -> MisplacedCells:
    said = tuple(j for cell in cells for j in cell.said)
    return MisplacedCells(tuple(cell.words for cell in cells), said, detail)
