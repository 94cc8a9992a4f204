"""A table as a grid whose cells know their neighbours, as benchmarks of facts walk through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from parsemark.plain_words import counted
from parsemark.protocols.facts import TooHardError

if TYPE_CHECKING:
    from bs4 import Tag

Place = tuple[int, int]  # row and column of a cell's first slot: its name
Direction = Literal["up", "down", "left", "right"]
Relation = Literal[Direction, "top_heading", "left_heading"]  # of another cell to one that is asked for
_STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
RELATIONS: tuple[Relation, ...] = ("up", "down", "left", "right", "top_heading", "left_heading")
MAX_SLOTS = 400_000  # slots of the tables of one page; a colspan of a billion is no table
MAX_PAIRS = 1_000_000  # tables times rows, and nodes of cells: nested ones are looked at again and again


class CellSpec(NamedTuple):
    """A cell as it was written."""

    text: str
    rowspan: int = 1
    colspan: int = 1
    heading: bool = False


@dataclass(frozen=True, slots=True)
class CellGrid:
    """A table's cells by place, and which cell covers each slot."""

    text: dict[Place, str]
    headings: frozenset[Place]
    spans: dict[Place, tuple[int, int]]
    slots: tuple[tuple[Place | None, ...], ...]
    by_slots: bool = False  # whether a cell's neighbours are those of the slots that it has, not of its spans

    def neighbours(self, cell: Place, direction: Direction) -> set[Place]:
        """Return the next cells in a direction; empty slots are skipped over."""
        (row, col), (rowspan, colspan) = cell, self.spans[cell]
        if self.by_slots:
            return self._neighbours_of_slots(cell, *_STEPS[direction])
        if direction in ("up", "down"):
            steps = range(row - 1, -1, -1) if direction == "up" else range(row + rowspan, len(self.slots))
            lines = ((self.slots[r][c] for r in steps) for c in range(col, col + colspan))
        else:
            width = len(self.slots[0])
            steps = range(col - 1, -1, -1) if direction == "left" else range(col + colspan, width)
            lines = ((self.slots[r][c] for c in steps) for r in range(row, row + rowspan))
        firsts = (next((slot for slot in line if slot not in (None, cell)), None) for line in lines)
        return {place for place in firsts if place is not None}

    def _neighbours_of_slots(self, cell: Place, down: int, right: int) -> set[Place]:
        """Return the first other cells beyond each slot; a later cell may have taken some of a span's."""
        (row, col), (rowspan, colspan) = cell, self.spans[cell]
        rows, columns = range(len(self.slots)), range(len(self.slots[0]))
        found: set[Place] = set()
        for r in rows[row : row + rowspan]:
            for c in columns[col : col + colspan]:
                y, x = r + down, c + right
                if self.slots[r][c] != cell or (y in rows and x in columns and self.slots[y][x] == cell):
                    continue
                while y in rows and x in columns:
                    if (place := self.slots[y][x]) is not None and place != cell:
                        found.add(place)
                        break
                    y, x = y + down, x + right
        return found

    def check(self) -> None:
        """Raise the IndexError that building all neighbours at once would raise."""
        for (row, _), (rowspan, _) in self.spans.items():
            if row + rowspan > len(self.slots):
                raise IndexError("a cell with a rowspan reaches below its table")

    def reached(self, cell: Place, direction: Direction, headings: frozenset[Place]) -> set[Place]:
        """Return the headings met on the way from a cell; where there are none, the cells at the way's
        ends.
        """
        seen: set[Place] = set()
        todo, met, ends = {cell}, set(), set()
        while todo:
            place = todo.pop()
            seen.add(place)
            if place in headings and place != cell:
                met.add(place)
            following = self.neighbours(place, direction)
            if following:
                todo |= following - seen
            else:
                ends.add(place)
        return (met or ends) - {cell}


def grid_of(rows: Sequence[Sequence[CellSpec]], budget: int = MAX_SLOTS) -> CellGrid | None:
    """Place cells row by row; None without any.

    A colspan overwrites what a rowspan from above holds, as the benchmarks do it.
    """
    text: dict[Place, str] = {}
    headings: set[Place] = set()
    spans: dict[Place, tuple[int, int]] = {}
    slots: list[list[Place | None]] = []
    pending: list[tuple[Place, int] | None] = []

    def spanned(col: int) -> Place | None:
        held = pending[col]
        if held is None:
            return None
        pending[col] = (held[0], held[1] - 1) if held[1] > 1 else None
        return held[0]

    for row, cells in enumerate(rows):
        line: list[Place | None] = []
        left = iter(cells)
        following = next(left, None)
        while following is not None or len(line) < len(pending):
            if len(line) < len(pending) and (pending[len(line)] is not None or following is None):
                line.append(spanned(len(line)))
                continue
            assert following is not None
            place = (row, len(line))
            text[place], spans[place] = following.text, (following.rowspan, following.colspan)
            if following.heading:
                headings.add(place)
            budget -= following.colspan
            _within(budget)
            pending.extend([None] * (len(line) + following.colspan - len(pending)))
            for col in range(len(line), len(line) + following.colspan):
                pending[col] = (place, following.rowspan - 1) if following.rowspan > 1 else None
            line += [place] * following.colspan
            following = next(left, None)
        budget -= len(line)
        _within(budget)
        slots.append(line)
    while any(pending):
        budget -= len(pending)
        _within(budget)
        slots.append([spanned(col) for col in range(len(pending))])
    width = max((c for line in slots for c, slot in enumerate(line) if slot is not None), default=-1) + 1
    if not text or not width:
        return None
    padded = tuple(tuple((line + [None] * width)[:width]) for line in slots)
    return CellGrid(text, frozenset(headings), spans, padded)


def pipe_tables(text: str, is_rule: Callable[[str], bool]) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield runs of two lines or more with a `|`: the first one's number, and cells by rows but those of a
    rule.
    """
    at = 0
    for has_pipe, run in groupby(text.strip().split("\n"), lambda line: "|" in line):
        lines = list(run)
        if has_pipe and len(lines) > 1 and (rows := list(_pipe_rows(lines, is_rule))):
            yield at, rows
        at += len(lines)


def _pipe_rows(lines: Sequence[str], is_rule: Callable[[str], bool]) -> Iterator[list[str]]:
    is_headed = False
    for line in lines:
        bare = line.replace("|", "").strip()
        if not is_headed and bare and not bare.strip("-: "):
            is_headed = True
        elif not (line.strip() and is_rule(line)):
            cells = [part.strip() for part in line.split("|")]
            cells = cells[1:] if not cells[0] else cells
            cells = cells[:-1] if cells and not cells[-1] else cells
            if cells:
                yield cells


def _within(budget: int) -> None:
    if budget < 0:
        raise TooHardError(f"The tables of this output have more than {MAX_SLOTS:,} slots.")


def html_grids(
    text: str,
    text_of: Callable[[Tag], str],
    *,
    max_span: int | None = None,
    budget: int | None = None,
    by_slots: bool = False,
) -> list[CellGrid]:
    """Return every table element of an HTML text that has a cell, nested ones again by themselves, within
    bounds.

    When `text_of` says what a cell says, its `<br>` are line ends. `max_span` is the most that a span counts,
    but a rowspan of 0, which goes to the end of its table; `budget` are the slots, rows and cells that all
    tables may have together (by default each may have `MAX_SLOTS`). IndexError where building all neighbours
    at once would raise it, TooHardError beyond what any page has.
    """
    if "<table" not in text.lower():
        return []
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "html.parser")
    tables, heads, n_rows = soup.find_all("table"), soup.find_all("thead"), len(soup.find_all("tr"))
    if (len(tables) + len(heads)) * n_rows > MAX_PAIRS:
        said = f"{counted(len(tables), 'table')} with {counted(n_rows, 'row')}"
        raise TooHardError(f"{said} are more than any page has.")
    in_head = {id(row) for head in heads for row in head.find_all("tr")}
    n_nodes, most, found = 0, max_span or MAX_SLOTS * MAX_SLOTS, []
    for table in tables:
        rows, specs = table.find_all("tr"), []
        for number, row in enumerate(rows):
            cells = row.find_all(["th", "td"], recursive=False)
            budget = None if budget is None else budget - 1 - len(cells)
            n_nodes += sum(1 for cell in cells for _ in cell.descendants)
            if n_nodes > MAX_PAIRS:
                raise TooHardError("The output has cells inside of cells, more than any page.")
            about = len(rows) - number, id(row) in in_head, most
            specs.append([_spec(cell, text_of, *about) for cell in cells])
        if (grid := grid_of(specs, MAX_SLOTS if budget is None else budget)) is not None:
            if not by_slots:
                grid.check()
            found.append(replace(grid, by_slots=by_slots))
    return found


def _spec(cell: Tag, text_of: Callable[[Tag], str], rows_left: int, in_head: bool, most: int) -> CellSpec:
    for line_end in cell.find_all("br"):
        line_end.replace_with("\n")
    raw = cell.get("rowspan")
    to_end = isinstance(raw, str) and raw.strip() == "0"
    rowspan = max(1, rows_left) if to_end else min(_span(raw), most)
    colspan = min(_span(cell.get("colspan")), most)
    return CellSpec(text_of(cell).strip(), rowspan, colspan, cell.name == "th" or in_head)


def _span(raw: Any) -> int:
    """Return a span as a positive number; 1 for anything else."""
    try:
        return max(1, int(raw))
    except (TypeError, ValueError):
        return 1
