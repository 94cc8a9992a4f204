"""A page at one moment: who has accepted it, what is uncertain, and what a check has changed, in words."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from parsemark.consensus.starting_page import SURE, Start
from parsemark.kernels import kernel
from parsemark.model import Cell, Element, Page, Sample, Table

_LONGEST = 120
_MOST_PAIRS = 4_000_000  # of rows or columns looked at for which became which; beyond, places decide
_ANY_LINE = 1e-6  # what a line is like any other one


@dataclass(frozen=True, slots=True)
class ParserDifference:
    """One thing that is not the same."""

    element: str
    what: str
    before: str
    after: str


def differences(before: Page, after: Page) -> list[ParserDifference]:
    """Return all differences, in the order of the first page's elements, then what was added."""
    old, new = ({e.id: e for e in page.elements} for page in (before, after))
    found: list[ParserDifference] = []
    for name, element in old.items():
        if name not in new:
            found.append(ParserDifference(name, "removed", _short(_content(element)), ""))
        else:
            found += _of_element(element, new[name])
    found += [
        ParserDifference(name, "added", "", _short(_content(element)))
        for name, element in new.items()
        if name not in old
    ]
    orders = [
        [
            e.id
            for e in sorted(page.elements, key=lambda e: (e.order is None, e.order or 0))
            if e.id in old and e.id in new
        ]
        for page in (before, after)
    ]
    if orders[0] != orders[1]:
        found.append(ParserDifference("", "order", " ".join(orders[0]), " ".join(orders[1])))
    if before.attributes != after.attributes:
        found.append(_of_attributes("page", before, after))
    ties = [{f"{r.target} to {r.source}" for r in page.relations} for page in (before, after)]
    if ties[0] != ties[1]:
        shown = (", ".join(sorted(one - other)) for one, other in (ties, reversed(ties)))
        found.append(ParserDifference("", "affiliation", *shown))
    return found


def _of_attributes(name: str, before: Element | Page, after: Element | Page) -> ParserDifference:
    shown = ("; ".join(f"{k}: {v}" for k, v in sorted(side.attributes.items())) for side in (before, after))
    return ParserDifference(name, "attributes", *map(_short, shown))


def _of_element(before: Element, after: Element) -> list[ParserDifference]:
    found = []
    if before.category != after.category:
        found.append(ParserDifference(before.id, "category", before.category, after.category))
    if before.box != after.box:
        found.append(ParserDifference(before.id, "box", _box(before), _box(after)))
    if before.attributes != after.attributes:
        found.append(_of_attributes(before.id, before, after))
    if before.table is not None and after.table is not None:
        found += _of_tables(before.id, before.table, after.table)
    elif _content(before) != _content(after):
        found.append(ParserDifference(before.id, "text", _short(_content(before)), _short(_content(after))))
    return found


def _of_tables(name: str, before: Table, after: Table) -> list[ParserDifference]:
    """Return rows and columns that came or went, then cell by cell what differs in those that both have.

    Places are those of the table as it is now, except of what was removed.
    """
    rows, columns = _paired_axes(before, after)
    found = []
    for axis, pairs in (("row", rows), ("col", columns)):
        word = "row" if axis == "row" else "column"
        for place, text in enumerate(_lines(before, axis, separator=" | ")):
            if place not in pairs:
                found.append(ParserDifference(name, f"{word} {place + 1} removed", _short(text), ""))
        there = set(pairs.values())
        for place, text in enumerate(_lines(after, axis, separator=" | ")):
            if place not in there:
                found.append(ParserDifference(name, f"{word} {place + 1} added", "", _short(text)))
    old = {(c.row, c.col): c for c in (_moved(cell, rows, columns) for cell in before.cells) if c}
    both = set(rows.values()), set(columns.values())
    new = {(c.row, c.col): c for c in after.cells if _moved(c, *({k: k for k in axis} for axis in both))}
    return found + _of_cells(name, old, new)


def _of_cells(
    name: str, old: Mapping[tuple[int, int], Cell], new: Mapping[tuple[int, int], Cell]
) -> list[ParserDifference]:
    found = []
    for place in sorted(old.keys() | new.keys()):
        a, b = old.get(place), new.get(place)
        where = f"row {place[0] + 1}, column {place[1] + 1}"
        if a is None or b is None:
            texts = [_short(c.text) if c else "covered" for c in (a, b)]
            found.append(ParserDifference(name, f"{where}: cell", *texts))
            continue
        if a.text != b.text:
            found.append(ParserDifference(name, f"{where}: text", _short(a.text), _short(b.text)))
        if (a.rowspan, a.colspan) != (b.rowspan, b.colspan):
            spans = [f"{c.rowspan} × {c.colspan}" for c in (a, b)]
            found.append(ParserDifference(name, f"{where}: span", *spans))
        if bool(a.header) != bool(b.header):
            words = ["header" if c.header else "body" for c in (a, b)]
            found.append(ParserDifference(name, f"{where}: role", *words))
    return found


def _paired_axes(before: Table, after: Table) -> tuple[dict[int, int], dict[int, int]]:
    """Return the new index of each row, and of each column."""
    rows = _paired(_lines(before, "row"), _lines(after, "row"))
    # Only what both have tells which column is which.
    return rows, _paired(_lines(before, "col", set(rows)), _lines(after, "col", set(rows.values())))


def unchanged_cells(before: Table, after: Table) -> dict[tuple[int, int], tuple[int, int]]:
    """Return where the cells lie now whose text is as it was, by where they lay."""
    if (before.n_rows, before.n_cols) == (after.n_rows, after.n_cols):
        rows, columns = {r: r for r in range(before.n_rows)}, {c: c for c in range(before.n_cols)}
    else:
        rows, columns = _paired_axes(before, after)
    now = {(c.row, c.col): c.text for c in after.cells}
    moved = ((cell, _moved(cell, rows, columns)) for cell in before.cells)
    return {
        (old.row, old.col): (new.row, new.col)
        for old, new in moved
        if new is not None and now.get((new.row, new.col)) == old.text
    }


def _moved(cell: Cell, rows: Mapping[int, int], columns: Mapping[int, int]) -> Cell | None:
    """Return a cell where it lies after rows and columns came and went; None if it went with them."""
    down = [rows[r] for r in range(cell.row, cell.row + cell.rowspan) if r in rows]
    right = [columns[c] for c in range(cell.col, cell.col + cell.colspan) if c in columns]
    if not down or not right:
        return None
    return Cell(down[0], right[0], cell.text, down[-1] - down[0] + 1, right[-1] - right[0] + 1, cell.header)


def _lines(table: Table, axis: str, kept: Container[int] | None = None, separator: str = "\n") -> list[str]:
    """Return the texts of each row, or of each column; of the other axis only the kept lines."""
    lines: list[list[str]] = [[] for _ in range(table.n_rows if axis == "row" else table.n_cols)]
    for cell in sorted(table.cells, key=lambda c: (c.row, c.col)):
        line, other = (cell.row, cell.col) if axis == "row" else (cell.col, cell.row)
        if kept is None or other in kept:
            lines[line].append(cell.text)
    return [separator.join(texts) for texts in lines]


def _paired(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Return the new index of each line, in order, so that as little as possible has changed.

    Where nothing tells them apart, a line was rewritten and not replaced.
    """
    if len(before) * len(after) > _MOST_PAIRS:
        return {k: k for k in range(min(len(before), len(after)))}
    old, new = ([line[:_LONGEST] for line in lines] for lines in (before, after))
    likeness = cdist(old, new, scorer=Indel.normalized_similarity, dtype=np.float64)
    return dict(kernel.monotone_pairs(likeness + _ANY_LINE))


def _content(element: Element) -> str:
    if element.table is not None:
        return f"table of {element.table.n_rows} × {element.table.n_cols}"
    return element.latex or element.text or ""


def _box(element: Element) -> str:
    return "none" if element.box is None else " ".join(f"{edge:g}" for edge in element.box.as_tuple())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@dataclass(frozen=True, slots=True)
class PageState:
    """A page as it is now."""

    sample: Sample
    page: Page
    revision: int  # grows with every change; 0 for an unchanged page
    start: Start
    n_edits: int
    accepted: tuple[tuple[str, Page], ...]  # who has said that the page is right, and how it was then
    has_truth: bool = False  # whether files have truth for it that was not accepted here

    @property
    def is_changed(self) -> bool:
        """Return whether the last acceptance is older than the last edit."""
        return bool(self.accepted) and self.accepted[-1][1] != self.page

    @property
    def truth(self) -> str:
        """Return where the truth of the page comes from, in words; a proposal is none."""
        if self.accepted:
            return "accepted, edited since" if self.is_changed else "accepted"
        if self.has_truth:
            return "typed by hand"
        if self.n_edits:
            return "none: edited, not accepted"
        return "none: proposed by parsers" if self.page.elements else "none"

    @property
    def doubts(self) -> dict[str, list[tuple[int, int, float]]]:
        """Return cells that the parsers disagree on and that are not yet settled: by another text, or by
        accepting the page. They move with rows and columns that come and go.
        """
        if self.accepted and not self.is_changed:
            return {}
        first = {e.id: e.table for e in self.start.elements if e.table is not None}
        now = {e.id: e.table for e in self.page.elements if e.table is not None}
        found: dict[str, list[tuple[int, int, float]]] = {}
        for name, cells in self.start.agreement.items():
            old, new = first.get(name), now.get(name)
            if old is not None and new is not None:
                same = unchanged_cells(old, new)
                unsure = {place: share for place, share in cells.items() if share < SURE and place in same}
                found[name] = [(*same[place], share) for place, share in unsure.items()]
        return {name: cells for name, cells in found.items() if cells}

    @property
    def check(self) -> list[ParserDifference] | None:
        """Return the second person's changes to what the first had accepted; None until there is a second."""
        people = list(dict(self.accepted))
        if len(people) < 2:
            return None
        first = next(page for person, page in self.accepted if person == people[0])
        last = self.accepted[-1][1]
        return differences(first, last)
