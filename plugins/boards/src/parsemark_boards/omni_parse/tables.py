"""Omni Parse Bench's tables: a cell among its neighbours, under its headings, in its section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from rapidfuzz.fuzz import ratio

from parsemark_boards.cell_grids import RELATIONS, CellGrid, Direction, Place, Relation, html_grids
from parsemark_boards.omni_parse.text import fold, seen_text

_MAX_SPAN = 1000
_LEAST = 0.5


@dataclass(frozen=True)
class ReadTable:
    """A grid with what covers which rows and columns, and its section rows."""

    grid: CellGrid
    covers: Mapping[Place, tuple[list[int], list[int]]]  # rows and columns
    labels: Mapping[int, Place]

    @classmethod
    def of(cls, grid: CellGrid) -> ReadTable:
        """Look at a grid."""
        slots: dict[Place, list[Place]] = {}
        for r, line in enumerate(grid.slots):
            for c, place in enumerate(line):
                if place is not None:
                    slots.setdefault(place, []).append((r, c))
        covers = {p: (sorted({r for r, _ in own}), sorted({c for _, c in own})) for p, own in slots.items()}
        labels = {}
        for r, starts in groupby(sorted(grid.text), key=lambda place: place[0]):
            places = list(starts)
            full = [p for p in places if grid.text[p].strip()]
            if len(places) > 1 and len(full) == 1 and full[0][1] == 0:
                labels[r] = full[0]
        return cls(grid, covers, labels)

    def _is_empty(self, place: Place | None) -> bool:
        return place is None or not self.grid.text[place].strip()

    def _filled(self, slots: Iterator[Place], stop: frozenset[Place] = frozenset()) -> Place | None:
        for r, c in slots:
            place = self.grid.slots[r][c]
            if place in stop:
                return None
            if not self._is_empty(place):
                return place
        return None

    def headings(self, cell: Place, direction: Direction) -> set[Place]:
        """Return headings on the way, empty ones passed over; a cell that is one itself has no others'
        ends.
        """
        full = frozenset(p for p in self.grid.headings if self.grid.text[p].strip())
        if cell not in full:
            return self.grid.reached(cell, direction, full)
        return {p for p in self.grid.reached(cell, direction, full) if p in full}

    def above(self, cell: Place) -> list[Place]:
        """Return the cells over its columns, top to bottom; a heading written once covers empty cells beside
        it.
        """
        rows, cols = self.covers[cell]
        found: list[Place] = []
        for r in range(min(rows)):
            for c in cols:
                place = self.grid.slots[r][c]
                if self._is_empty(place):
                    left = ((r, j) for j in range(c - 1, -1, -1))
                    place = self.labels[r] if r in self.labels else self._filled(left)
                if place is not None and place != cell and place not in found:
                    found.append(place)
        return found

    def beside(self, cell: Place) -> list[Place]:
        """Return the cells to its left; a label written once covers empty cells below it."""
        rows, cols = self.covers[cell]
        found: list[Place] = []
        for c in range(min(cols)):
            for r in rows:
                place = self.grid.slots[r][c]
                if self._is_empty(place):
                    place = self._filled(((i, c) for i in range(r - 1, -1, -1)), self.grid.headings)
                if place is not None and place not in found:
                    found.append(place)
        return found

    def section(self, cell: Place) -> list[str]:
        """Return the labels of the run of section rows nearest above, top to bottom."""
        run: list[str] = []
        for r in range(min(self.covers[cell][0]) - 1, -1, -1):
            label = self.labels.get(r) or self._across(r)
            if label is not None:
                run.insert(0, self.grid.text[label])
            elif run and any(not self._is_empty(place) for place in self.grid.slots[r]):
                break
        return run

    def _across(self, row: int) -> Place | None:
        found = {place for place in self.grid.slots[row] if place is not None}
        if len(found) != 1 or len(self.grid.slots[0]) < 2:
            return None
        [place] = found
        return place if place[0] == row and self.grid.text[place].strip() else None

    def stand_in(self, cell: Place, over: Direction) -> Place:
        """Return a cell, or, where it is empty, the first one in a direction that is not."""
        seen: set[Place] = set()
        while cell not in seen and self._is_empty(cell) and (following := self.grid.neighbours(cell, over)):
            seen.add(cell)
            cell = min(following)
        return cell


@lru_cache(maxsize=16)
def tables_of(page: str, *, by_slots: bool) -> tuple[ReadTable, ...]:
    """Return every table of an HTML page that has a cell."""
    grids = html_grids(
        page, lambda cell: seen_text(cell.decode_contents()), max_span=_MAX_SPAN, by_slots=by_slots
    )
    return tuple(map(ReadTable.of, grids))


def _least(text: str, max_diffs: int) -> float:
    return max(_LEAST, 1.0 - max_diffs / max(1, len(text)))


def _likeness(a: str, b: str) -> float:
    return max(ratio(a, b), ratio(a.replace(" ", ""), b.replace(" ", ""))) / 100.0


def _one_of(wanted: str, text: str, least: float) -> bool:
    """Return whether a cell, or one of its lines, is like a folded text."""
    return any(_likeness(wanted, fold(part)) >= least for part in {text, *text.split("\n")} if part.strip())


def _in_order(wanted: Sequence[str], found: Sequence[str], max_diffs: int) -> bool:
    """Return whether texts stand in order among others; one cell may hold several of them."""
    at = 0
    for text in found:
        for n in range(len(wanted) - at, 0, -1):
            joined = fold(" ".join(wanted[at : at + n]))
            if _one_of(joined, text, _least(joined, max_diffs)):
                at += n
                break
    return at == len(wanted)


def cell_stands(arguments: Mapping[str, Any], page: str, *, by_slots: bool) -> tuple[bool, str]:
    """Return whether some table has a cell where a fact says: roles to texts, and `max_diffs`.

    `by_slots`: where a later cell cuts a span short, neighbours are those of what is left of it.
    """
    tables = tables_of(page, by_slots=by_slots)
    if not tables:
        return False, "the output has no table"
    max_diffs = arguments["max_diffs"]
    cell = fold(arguments["cell"])
    least = _least(cell, max_diffs)
    relations = {name: fold(arguments[name]) for name in RELATIONS if arguments.get(name)}
    found = False
    for table in tables:
        for place, text in table.grid.text.items():
            if not _one_of(cell, text, least):
                continue
            found = True
            if all(_relation_holds(table, place, *asked, max_diffs) for asked in relations.items()) and (
                _structure_holds(table, place, arguments, max_diffs)
            ):
                return True, ""
    return False, f"a cell has {cell!r}, but elsewhere" if found else f"no cell has {cell!r}"


def _relation_holds(table: ReadTable, cell: Place, kind: Relation, wanted: str, max_diffs: int) -> bool:
    if kind == "top_heading":
        places = table.headings(cell, "up")
    elif kind == "left_heading":
        places = table.headings(cell, "left")
    else:
        over: Direction = "up" if kind in ("left", "right") else "left"
        places = {table.stand_in(place, over) for place in table.grid.neighbours(cell, kind)}
    least = _least(wanted, max_diffs)
    return any(_likeness(wanted, fold(table.grid.text[place])) >= least for place in places)


def _structure_holds(table: ReadTable, cell: Place, asked: Mapping[str, Any], max_diffs: int) -> bool:
    for key, around in (("headings", table.above), ("row_groups", table.beside)):
        wanted = asked.get(key)
        if wanted and not _in_order(wanted, [table.grid.text[p] for p in around(cell)], max_diffs):
            return False
    section = asked.get("section")
    return not section or _in_section(table, cell, section, max_diffs)


def _in_section(table: ReadTable, cell: Place, section: str, max_diffs: int) -> bool:
    wanted = fold(section)
    least, run, text = _least(wanted, max_diffs), table.section(cell), table.grid.text
    labels = [text[p] for p in table.beside(cell) if len(table.covers[p][0]) > 1]
    row = table.grid.slots[min(table.covers[cell][0])]
    first = next((place for place in row if place is not None), None)
    if first is not None and first != cell:
        labels.append(text[first])
    return any(_one_of(wanted, " ".join(run[k:]), least) for k in range(len(run))) or any(
        _one_of(wanted, label, least) for label in labels
    )
