"""Cells that an output has in another row or column than the page: by where their words stand.

Most cells agree where on the page each row and column of the output's table lies. By these bands, the words
of the page are read into a grid of the same rows and columns. Two cells are exchanged if each has the words
of the other one's place; neighbours in a line have shifted if they have the words of places as far away.
Where a page leaves a doubt, nothing is found: words between or across columns, titles above several columns,
cells with spans, a table of which most cells are elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from parsemark.matching.page_evidence import OutputTable, PageEvidence
from parsemark.matching.words import PageAtom
from parsemark.model import Box

_MOST = 2 / 3  # share of cells in their own place, of those that are there or in doubt about it
_FEW = 3  # cells in their own place from which on a table can be compared
_APART = 1.0  # points between two rows or columns
_NEAR = 1.0  # points by which words may leave their column
_BLANK = 0.6  # heights of a word from which on a blank parts two cells
_WIDE = 2.0  # the same where a sign without letters, as `&`, may stand in the blank
_FAR = 3.0  # heights of a word: a word this far from a table is not part of it
_MIDDLE = 0.2  # share of a line's height that rows may overlap at its top and at its end
_FARTHEST = 4  # columns or rows by which cells may have shifted
_MOST_PEAKS, _MOST_PLACES, _MOST_CELLS, _MOST_SLOTS = 4, 30, 5_000, 50_000
"""Places looked at of a row or column and of a word, filled cells of a table, and its rows times columns."""
_SHOWN = 40  # characters of the other cell that are named

Span = tuple[float, float]
Slot = tuple[int, int]
"""Column and row."""
Words = tuple[str, ...]
"""Sorted: what a place has, in whatever order."""


class MisplacedCells(NamedTuple):
    """One cell or several neighbours in a wrong row or column, or two that have changed places."""

    cells: tuple[range, ...]  # their words on the page
    said: tuple[int, ...]  # their words in the output
    detail: str

    @property
    def is_exchange(self) -> bool:
        """Return whether two cells have changed places."""
        return self.detail.startswith("exchanged")


class _Piece(NamedTuple):
    """Words of a line of the page without a wide blank between them."""

    words: range
    edges: tuple[Span, Span]  # across and down


class _Cell(NamedTuple):
    """A cell of the output that has words."""

    at: Slot
    words: Words
    said: range
    header: bool


class _Candidate(NamedTuple):
    """A cell and all places of the page where exactly its words stand."""

    at: Slot
    places: Sequence[tuple[Span, Span]]


class _Band(NamedTuple):
    """Where a row or column lies on the page, along one axis."""

    point: float
    """What most of its cells have in common: an edge or the middle."""
    low: float
    high: float
    number: int


def misplaced_cells(evidence: PageEvidence) -> Iterator[MisplacedCells]:
    """Yield the misplaced cells of all tables of an output of one page."""
    if not evidence.tables:
        return
    page = evidence.comparison.page
    pieces = list(_pieces(page))
    where: defaultdict[str, list[int]] = defaultdict(list)
    for i, atom in enumerate(page):
        where[atom.text].append(i)
    for table in evidence.tables:
        grid = table.table
        if grid.n_cols < 2 or grid.n_rows < 2 or grid.n_rows * grid.n_cols > _MOST_SLOTS:
            continue
        candidates = list(_candidates(table, pieces, page, evidence.comparison.output, where))
        if _FEW < len(candidates) <= _MOST_CELLS:
            bands = _bands(candidates)
            yield from _Comparison.of(table, evidence, pieces, bands).findings(len(candidates))


# --- where rows and columns lie -----------------------------------------------------------------------------


def _pieces(page: Sequence[PageAtom]) -> Iterator[_Piece]:
    """Yield the words of a page, those together that follow each other closely on a line."""
    start = 0
    for end in range(1, len(page) + 1):
        if end < len(page) and _is_joined(page[end - 1], page[end]):
            continue
        box = Box.hull(atom.box for atom in page[start:end])
        inner = _MIDDLE * min(atom.box.height for atom in page[start:end])
        yield _Piece(range(start, end), ((box.x0, box.x1), (box.y0 + inner, box.y1 - inner)))
        start = end


def _is_joined(one: PageAtom, other: PageAtom) -> bool:
    first, second = one.box, other.box
    if min(first.y1, second.y1) > max(first.y0, second.y0):
        height = max(first.height, second.height)
        is_turned = one.line != other.line and first.height > first.width and second.height > second.width
        is_near = -height < second.x0 - first.x1 < _BLANK * height and not is_turned
        return first == second or is_near
    if one.line != other.line or one.line < 0 or min(first.x1, second.x1) <= max(first.x0, second.x0):
        return False
    gap = max(second.y0 - first.y1, first.y0 - second.y1)  # turned text runs up or down
    return gap < _BLANK * max(first.width, second.width)


def _candidates(
    table: OutputTable,
    pieces: Sequence[_Piece],
    page: Sequence[PageAtom],
    output: Sequence[str],
    where: Mapping[str, Sequence[int]],
) -> Iterator[_Candidate]:
    """Yield the cells whose words stand on the page, and alone on their line."""
    starts = {piece.words.start: k for k, piece in enumerate(pieces)}
    known: dict[Words, list[tuple[Span, Span]]] = {}
    for k, cell in enumerate(table.table.cells):
        words = tuple(output[table.starts[k] : table.starts[k + 1]])
        if cell.rowspan == cell.colspan == 1 and words and table.starts[k + 1] <= len(output):
            if words not in known:
                known[words] = list(_places(words, pieces, starts, page, where))
            if known[words]:
                yield _Candidate((cell.col, cell.row), known[words])


def _places(
    words: Words,
    pieces: Sequence[_Piece],
    starts: Mapping[int, int],
    page: Sequence[PageAtom],
    where: Mapping[str, Sequence[int]],
) -> Iterator[tuple[Span, Span]]:
    """Yield where some words stand as whole pieces; nothing if all words are frequent."""
    rarest = min(range(len(words)), key=lambda k: len(where.get(words[k], ())))
    found = where.get(words[rarest], ())
    for i in found if len(found) <= _MOST_PLACES else ():
        first, last = i - rarest, i - rarest + len(words)
        if first not in starts or last > len(page) or (last < len(page) and last not in starts):
            continue
        if all(page[first + k].text == word for k, word in enumerate(words)):
            own = pieces[starts[first] : starts.get(last, len(pieces))]
            if all(_may_follow(a, b, page) for a, b in pairwise(own)):
                across, down = zip(*(piece.edges for piece in own), strict=True)
                yield (min(e[0] for e in across), max(e[1] for e in across)), (down[0][0], down[-1][1])


def _may_follow(one: _Piece, other: _Piece, page: Sequence[PageAtom]) -> bool:
    """Return whether two pieces may be one cell: on two lines, or parted by a sign without letters."""
    gap = other.edges[0][0] - one.edges[0][1]
    return one.edges[1][1] < other.edges[1][0] or 0 < gap < _WIDE * page[one.words.start].box.height


def _bands(candidates: Sequence[_Candidate]) -> tuple[list[_Band], list[_Band]]:
    """Return where the columns and the rows lie whose order is that of the page.

    Of words that occur several times, those in their own row tell where their column lies, and vice versa.
    """
    points: tuple[dict[int, float], ...] = {}, {}
    for _ in range(3):
        points = tuple(_points(_likely(candidates, points, (1 - axis,)), axis) for axis in (0, 1))
    left = _likely(candidates, points, (0, 1))
    return _along(0, left, points[0]), _along(1, left, points[1])


def _likely(
    candidates: Sequence[_Candidate], points: Sequence[Mapping[int, float]], axes: Sequence[int]
) -> list[_Candidate]:
    """Return the cells with those places alone that fit most of their row and column."""
    found = []
    for at, places in candidates:
        own = [(axis, points[axis][at[axis]]) for axis in axes if at[axis] in points[axis]]
        fits = [sum(place[axis][0] <= point <= place[axis][1] for axis, point in own) for place in places]
        best = max(fits)
        likely = [place for place, fit in zip(places, fits, strict=True) if fit == best]
        found.append(_Candidate(at, likely))
    return found


def _points(candidates: Sequence[_Candidate], axis: int) -> dict[int, float]:
    """Return where each column (0) or row (1) lies, so that most cells agree and the order is the page's, or
    its reverse.
    """
    groups: defaultdict[int, list[list[Span]]] = defaultdict(list)
    for cell in candidates:
        groups[cell.at[axis]].append([place[axis] for place in cell.places])
    peaks = {k: _peaks(groups[k]) for k in sorted(groups)}
    return max((_in_order(peaks, 1), _in_order(peaks, -1)), key=lambda found: found[0])[1]


def _peaks(spans_by_cell: Sequence[Sequence[Span]]) -> list[tuple[float, float]]:
    """Return the points that most cells have in common: how many, and the middle. A cell with several places
    counts in parts.
    """
    edges = []
    for spans in spans_by_cell:
        merged: list[Span] = []
        for low, high in sorted(spans):
            if merged and low <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(high, merged[-1][1])
            else:
                merged.append((low, high))
        for low, high in merged:
            edges += [(low, 0, 1 / len(merged)), (high, 1, 1 / len(merged))]
    edges.sort()
    found, depth = [], 0.0
    for (at, is_end, weight), (following, ends, _) in pairwise(edges):
        depth += -weight if is_end else weight
        if ends and not is_end:
            found.append((depth, (at + following) / 2))
    return sorted(found, reverse=True)[:_MOST_PEAKS]


def _in_order(
    peaks: Mapping[int, Sequence[tuple[float, float]]], sign: int
) -> tuple[float, dict[int, float]]:
    """Return the heaviest choice of points that rise with the index, and its weight."""
    points: list[float] = []
    chains: list[tuple[float, Any]] = []  # the heaviest one up to each point: its weight, its last link
    for k, own in peaks.items():
        added = []
        for weight, point in own:
            before = bisect_left(points, sign * point - _APART)
            total, chain = chains[before - 1] if before else (0.0, None)
            added.append((sign * point, total + weight, (k, point, chain)))
        for at, total, chain in added:
            place = bisect_right(points, at)
            if place and chains[place - 1][0] >= total:
                continue
            end = place
            while end < len(points) and chains[end][0] <= total:
                end += 1
            points[place:end], chains[place:end] = [at], [(total, chain)]
    total, chain = chains[-1] if chains else (0.0, None)
    found = {}
    while chain is not None:
        k, point, chain = chain
        found[k] = point
    return total, found


def _along(axis: int, candidates: Sequence[_Candidate], points: Mapping[int, float]) -> list[_Band]:
    """Return the bands of one axis in the order of the page."""
    known = sorted(points.values())
    spans: defaultdict[int, list[Span]] = defaultdict(list)
    for cell in candidates:
        point = points.get(cell.at[axis])
        for place in cell.places:
            low, high = place[axis]
            is_narrow = bisect_right(known, high) - bisect_left(known, low) == 1
            if point is not None and low <= point <= high and is_narrow:
                spans[cell.at[axis]].append((low, high))
    bands = [
        _Band(points[k], min(low for low, _ in own), max(high for _, high in own), k)
        for k, own in spans.items()
    ]
    return sorted(bands)


# --- what the page has there --------------------------------------------------------------------------------


def _lanes(span: Span, bands: Sequence[_Band], height: float) -> tuple[list[int], bool]:
    """Return the rows or columns that words may belong to, and whether the answer is sure."""
    low = bisect_left(bands, span[0], key=lambda band: band.point)
    high = bisect_right(bands, span[1], key=lambda band: band.point)
    own = list(range(low, high))
    beside = [k for k in (low - 1, high) if 0 <= k < len(bands)]
    if len(own) == 1:
        own += [k for k in beside if _overlap(bands[k], span) > _NEAR]
        return [bands[k].number for k in own], len(own) == 1
    if not own:
        inside = [k for k in beside if bands[k].low - _NEAR <= span[0] and span[1] <= bands[k].high + _NEAR]
        if len(inside) == 1 and all(_overlap(bands[k], span) <= _NEAR for k in beside if k != inside[0]):
            return [bands[inside[0]].number], True
        is_outside = len(beside) < 2
        own = [k for k in beside if not is_outside or -_overlap(bands[k], span) < _FAR * height]
    return [bands[k].number for k in own], False


def _overlap(band: _Band, span: Span) -> float:
    return min(band.high, span[1]) - max(band.low, span[0])


@dataclass(frozen=True)
class _Comparison:
    """The cells of a table and the words of the page, in the same grid."""

    cells: Mapping[Slot, _Cell]
    spanned: Set[Slot]
    filled: Set[Slot]
    """Cells with a text, even without words."""
    size: Slot
    known: tuple[Set[int], Set[int]]
    """Columns and rows that have a place on the page."""
    output: Sequence[str]
    sure: Mapping[Slot, Sequence[range]]
    """Words of the page that surely stand in a place, and below those that may."""
    perhaps: Mapping[Slot, Sequence[range]]
    page: Sequence[PageAtom]
    taken: set[Slot] = field(default_factory=set)
    """Misplaced cells that a finding has."""

    @classmethod
    def of(
        cls,
        table: OutputTable,
        evidence: PageEvidence,
        pieces: Sequence[_Piece],
        bands: tuple[Sequence[_Band], Sequence[_Band]],
    ) -> _Comparison:
        """Read the page into the grid."""
        output, cells, spanned = evidence.comparison.output, dict[Slot, _Cell](), set[Slot]()
        for k, cell in enumerate(table.table.cells):
            at, said = (cell.col, cell.row), range(table.starts[k], table.starts[k + 1])
            if cell.rowspan * cell.colspan > 1:
                spanned.update((col, row) for row, col in cell.places)
            elif said and said.stop <= len(output):
                words = tuple(sorted(output[said.start : said.stop]))
                cells[at] = _Cell(at, words, said, bool(cell.header) or cell.row == 0)
            elif said:
                spanned.add(at)
        sure, perhaps = defaultdict[Slot, list[range]](list), defaultdict[Slot, list[range]](list)
        n_left = _MOST_SLOTS
        for piece in pieces:
            height = min(high - low for low, high in piece.edges)
            cols, is_col = _lanes(piece.edges[0], bands[0], height)
            rows, is_row = _lanes(piece.edges[1], bands[1], height)
            n_left -= len(cols) * len(rows)
            if n_left < 0:
                break
            for col in cols:
                for row in rows:
                    (sure if is_col and is_row else perhaps)[col, row].append(piece.words)
        known = {band.number for band in bands[0]}, {band.number for band in bands[1]}
        if n_left < 0:
            known = set(), set()
        size = table.table.n_cols, table.table.n_rows
        filled = {(cell.col, cell.row) for cell in table.table.cells if cell.text.strip()}
        return cls(cells, spanned, filled, size, known, output, sure, perhaps, evidence.comparison.page)

    def findings(self, n_candidates: int) -> Iterator[MisplacedCells]:
        """Yield the misplaced cells, if most cells that the page has are in their own place."""
        if len(self.right) < max(_FEW, n_candidates / 2) or not self.strays:
            return
        found = [*self._exchanged(), *self._shifted(0), *self._shifted(1)]
        n_right, n_left = len(self.right), len(self.strays.keys() - self.taken)
        if n_right >= _MOST * (n_right + n_left):
            yield from found

    def _texts(self, runs: Sequence[range]) -> Words:
        return tuple(sorted(self.page[i].text for run in runs for i in run))

    @cached_property
    def right(self) -> Set[Slot]:
        """Cells that have exactly the words of their place."""
        return {at for at, cell in self.cells.items() if at in self.sure and self.has[at] == cell.words}

    @cached_property
    def has(self) -> Mapping[Slot, Words]:
        """Words that surely stand in a place."""
        return {at: self._texts(runs) for at, runs in self.sure.items()}

    @cached_property
    def contents(self) -> Mapping[Slot, Set[Words]]:
        """Return what may stand in each place: what surely does, with or without what is in doubt."""
        found = {}
        for at in self.sure.keys() | self.perhaps.keys():
            sure, doubtful = self.sure.get(at, ()), self.perhaps.get(at, ())[:_MOST_PEAKS]
            texts = {self._texts(sure), *(self._texts([*own, run]) for run in doubtful for own in ((), sure))}
            found[at] = texts - {()}
        return found

    @cached_property
    def strays(self) -> Mapping[Slot, _Cell]:
        """Cells that cannot be in their own place, which has other words, but could be in another one."""
        all_contents = {words for texts in self.contents.values() for words in texts}
        found = {}
        for at, cell in self.cells.items():
            if at not in self.right and self._is_known(at) and cell.words in all_contents:
                sure = Counter(self.has.get(at, ()))
                most = sure + Counter(self._texts(self.perhaps.get(at, ())))
                own = Counter(cell.words)
                if not sure <= own <= most:
                    found[at] = cell
        return found

    @cached_property
    def n_right(self) -> tuple[Counter[int], Counter[int]]:
        """Of each column and row, how many cells are right, or at least show where it lies."""
        found = [
            at
            for at, cell in self.cells.items()
            if at in self.right or cell.words in self.contents.get(at, ())
        ]
        return Counter(at[0] for at in found), Counter(at[1] for at in found)

    @cached_property
    def n_strays(self) -> tuple[Counter[int], Counter[int]]:
        """The same for cells that are not in their own place."""
        return Counter(at[0] for at in self.strays), Counter(at[1] for at in self.strays)

    def _is_known(self, at: Slot) -> bool:
        return at[0] in self.known[0] and at[1] in self.known[1]

    # --- which are misplaced --------------------------------------------------------------------------------

    def _exchanged(self) -> Iterator[MisplacedCells]:
        """Yield two cells of a row or column of which each has the words of the other one's place."""
        by_content: defaultdict[tuple[int, int, Words], list[Slot]] = defaultdict(list)
        for at in self.strays:
            for words in self.contents.get(at, ()):
                for axis in (0, 1):
                    by_content[axis, at[axis], words].append(at)
        for at, cell in self.strays.items():
            for axis in (1, 0):  # in the same row first
                for other_at in by_content[axis, at[axis], cell.words][:_MOST_PLACES]:
                    other = self.strays[other_at]
                    if self.taken & {at, other_at} or other.words not in self.contents.get(at, ()):
                        continue
                    is_sure = other.words == self.has.get(at) or cell.words == self.has.get(other_at)
                    if is_sure and self._is_placed((at, other_at), 1 - axis):
                        self.taken.update((at, other_at))
                        first, second = sorted([at, other_at])
                        named = " ".join(self.output[i] for i in self.strays[second].said)[:_SHOWN]
                        yield self._finding({first: second, second: first}, f"exchanged with {named}")

    def _is_placed(self, cells: Sequence[Slot], axis: int) -> bool:
        """Return whether other cells show where the two columns (0) or rows (1) of two cells lie, and most
        of the line that both share is right.
        """
        lines = [(axis, at[axis], 1) for at in cells] + [(1 - axis, cells[0][1 - axis], 2)]
        return all(
            self.n_strays[side][k] - own <= self.n_right[side][k] and (own == 2 or self.n_right[side][k])
            for side, k, own in lines
        )

    def _shifted(self, axis: int) -> Iterator[MisplacedCells]:
        """Yield the neighbours in a row (0) or column (1) that have shifted by as many places, together."""
        for line in sorted({at[1 - axis] for at in self.strays}):
            for step in sorted(range(-_FARTHEST, _FARTHEST + 1), key=abs):
                if step:
                    yield from self._shifted_by(axis, line, step)

    def _shifted_by(self, axis: int, line: int, step: int) -> Iterator[MisplacedCells]:
        def slot(k: int) -> Slot:
            return (k, line) if axis == 0 else (line, k)

        run: list[int] = []
        for k in range(self.size[axis] + 1):
            at, target = slot(k), slot(k + step)
            words = self.cells[at].words if at in self.cells else ()
            is_same = self._is_known(target) and target not in self.perhaps
            is_same = is_same and not {at, target} & self.spanned and words == self.has.get(target, ())
            if is_same and at in self.strays and at not in self.taken and target not in self.right:
                run.append(k)
            elif not is_same or k == self.size[axis]:
                if run and self._is_shift([slot(k) for k in run], axis, step):
                    places = {slot(k): slot(k + step) for k in run}
                    self.taken.update(places)
                    yield self._finding(places, _detail(axis, run, step))
                run = []

    def _is_shift(self, cells: Sequence[Slot], axis: int, step: int) -> bool:
        """Return whether cells cannot be those of merged ones, and whether others show where they belong."""
        sure = [at for at in cells if not self._may_span(at, axis, step) and not self.cells[at].header]
        if len(cells) == 1:
            return bool(sure) and self._is_single_shift(cells[0], axis, step)
        if axis == 0:
            return len(sure) >= 1
        return len(sure) >= 2 and all(self.n_right[1][at[1]] for at in cells)

    def _is_single_shift(self, at: Slot, axis: int, step: int) -> bool:
        """Return whether one cell has shifted by one: its own place is empty on the page, the other one
        in the output.

        The same happens if cells are merged and their text stands at their end. So in a row nothing may
        follow, and in a column the text must stand higher on the page.
        """
        target = (at[0] + step, at[1]) if axis == 0 else (at[0], at[1] + step)
        is_free = target not in self.filled and at not in self.sure and at not in self.perhaps
        n_right = min(self.n_right[1][at[1]], self.n_right[1][target[1]])
        if not is_free or n_right < 2 or step not in ((-1, 1) if axis == 0 else (-1,)):
            return False
        return axis == 1 or not any(c[1] == at[1] and (c[0] - target[0]) * step > 0 for c in self.right)

    def _may_span(self, at: Slot, axis: int, step: int) -> bool:
        """Return whether a cell may be in the middle of several that are merged: those up to its place, and
        as many behind it, are empty in the output.
        """
        way = 1 if step > 0 else -1
        if axis == 1 and way < 0:  # none has its text in the last row
            return False
        for n in range(1, 2 * abs(step) + 1):
            place = (at[0] + way * n, at[1]) if axis == 0 else (at[0], at[1] + way * n)
            if place in self.filled or place in self.spanned or not 0 <= place[axis] < self.size[axis]:
                return False
        return True

    def _finding(self, places: Mapping[Slot, Slot], detail: str) -> MisplacedCells:
        """Return misplaced cells with the places that have their words."""
        cells: list[range] = []
        for at, target in places.items():
            words = self.cells[at].words
            sure, doubtful = self.sure.get(target, ()), self.perhaps.get(target, ())
            runs = [sure, *([*own, run] for run in doubtful for own in ((), sure))]
            own = next(run for run in runs if self._texts(run) == words)
            for run in own:
                if cells and cells[-1].stop == run.start and run is not own[0]:
                    cells[-1] = range(cells[-1].start, run.stop)
                else:
                    cells.append(run)
        said = tuple(j for at in places for j in self.cells[at].said)
        return MisplacedCells(tuple(cells), said, detail)


def _detail(axis: int, run: Sequence[int], step: int) -> str:
    first, last = run[0], run[-1]
    name = ("column", "row")[axis]
    if first == last:
        return f"in {name} {first + 1}, the PDF has it in {name} {first + step + 1}"
    way = ("s" if abs(step) > 1 else "") + (" later" if step > 0 else " earlier")
    return f"in {name}s {first + 1} to {last + 1}, the PDF has them {abs(step)} {name}{way}"
