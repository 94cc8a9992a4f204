"""Tables of a document as grids: HTML with its headers, pipe tables, and cells that know their spans."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from parsemark.errors import FormatError
from parsemark.formats import MAX_GRID
from parsemark_boards.cell_grids import pipe_tables
from parsemark_boards.parsebench.text import norm

Headers = dict[int, list[tuple[int, str]]]
_SUP = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUB = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_TABLE_TAG = re.compile(r"<table(?=[> \t\r\n]|\Z)|</table>")
MAX_NODES = 300_000  # nodes of a document's HTML, nested ones once for each table around them


@dataclass
class HeadedGrid:
    """A grid of texts, a spanning one at each place that it covers, and what its headers are."""

    data: list[list[str]]
    header_rows: set[int] = field(default_factory=set)
    header_cols: set[int] = field(default_factory=set)
    header_cells: set[tuple[int, int]] = field(default_factory=set)
    col_headers: Headers = field(default_factory=dict)
    row_headers: Headers = field(default_factory=dict)
    context: str = ""  # what stands before it

    @property
    def width(self) -> int:
        """Columns."""
        return len(self.data[0]) if self.data else 0

    def part(self, rows: Sequence[int], cols: Sequence[int]) -> HeadedGrid:
        """Some of its rows and columns, by their new numbers; its context stays behind."""
        row, col = ({old: new for new, old in enumerate(kept)} for kept in (rows, cols))
        return HeadedGrid(
            [[self.data[r][c] for c in cols] for r in rows],
            {row[r] for r in self.header_rows if r in row},
            {col[c] for c in self.header_cols if c in col},
            {(row[r], col[c]) for r, c in self.header_cells if r in row and c in col},
            {
                col[c]: [(row[r], text) for r, text in own if r in row]
                for c, own in self.col_headers.items()
                if c in col
            },
            {
                row[r]: [(col.get(c, c), text) for c, text in own]
                for r, own in self.row_headers.items()
                if r in row
            },
        )


def soup_of(text: str) -> Any:
    """HTML as Beautiful Soup reads it with lxml; FormatError for too many elements."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "lxml")
    depth = max((len(table.find_parents("table")) for table in soup.find_all("table")), default=0)
    if len(soup.find_all(True)) * (1 + depth) > MAX_NODES:
        raise FormatError(f"The tables have more than {MAX_NODES:,} elements")
    return soup


def table_slices(text: str) -> list[str]:
    """The sources of the outer tables; one that is not closed goes to the end."""
    found: list[str] = []
    depth = start = 0
    for tag in _TABLE_TAG.finditer(text.lower()):
        if tag[0] == "<table":
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            found += [] if depth else [text[start : tag.end()]]
    return [*found, text[start:]] if depth else found


def cell_text(cell: Any, line_end: str = " ") -> str:
    """The text of a cell; digits in `sup` and `sub` are raised and lowered."""
    for tag in cell.find_all("br"):
        tag.replace_with(line_end)
    for name, table in (("sup", _SUP), ("sub", _SUB)):
        for tag in cell.find_all(name):
            tag.replace_with(tag.get_text().translate(table))
    return str(cell.get_text()).strip()


def html_grids(text: str) -> list[HeadedGrid]:
    """The outer HTML tables of a text; ValueError where a span is no number, FormatError for huge ones."""
    if "<table" not in text.lower():
        return []
    grids = []
    for table in [own for own in soup_of(text).find_all("table") if own.find_parent("table") is None]:
        context = _context(table)
        for nested in table.find_all("table"):
            if nested.find_parent("table") is table:
                nested.replace_with(nested.get_text(" ", strip=True))
        grids.append(replace(_grid_of(table), context=context))
    return grids


def _context(table: Any) -> str:
    parts: list[str] = []
    for sibling in list(table.previous_siblings)[:3]:
        if getattr(sibling, "name", None) == "table":
            break
        text = sibling.get_text().strip() if hasattr(sibling, "get_text") else str(sibling).strip()
        if text:
            parts.insert(0, text)
    joined, caption = " ".join(parts)[-300:], table.find("caption")
    title = caption.get_text().strip() if caption is not None else ""
    return f"<caption>{title}</caption> {joined}" if title else joined


def _grid_of(table: Any) -> HeadedGrid:
    rows, head = table.find_all("tr"), table.find("thead")
    places: dict[tuple[int, int], str] = {}
    grid = HeadedGrid([])
    if head is not None:
        grid.header_rows |= {rows.index(row) for row in head.find_all("tr") if row in rows}
    for r, row in enumerate(rows):
        c = 0
        for cell in row.find_all(["td", "th"]):
            while (r, c) in places:
                c += 1
            text = cell_text(cell)
            colspan, rowspan = int(cell.get("colspan") or 1), int(cell.get("rowspan") or 1)
            if len(places) + max(0, colspan) * max(0, rowspan) > MAX_GRID:
                raise FormatError(f"The cells of a table span more than {MAX_GRID:,} positions")
            covered = [(y, x) for y in range(r, r + rowspan) for x in range(c, c + colspan)]
            places.update(dict.fromkeys(covered, text))
            if cell.name == "th":
                grid.header_rows.add(r)
                grid.header_cols.add(c)
                grid.header_cells.update(covered)
                for x in range(c, c + colspan):
                    grid.col_headers.setdefault(x, []).append((r, text))
                for y in range(r, r + rowspan):
                    grid.row_headers.setdefault(y, []).append((c, text))
            c += max(colspan, 0)
    grid.data = filled(places, len(rows)) if places else []
    return grid


def filled(places: Mapping[tuple[int, int], str], least_rows: int = 0) -> list[list[str]]:
    """Texts by place as rows of equal length."""
    height, width = (max((place[axis] for place in places), default=-1) + 1 for axis in (0, 1))
    return [[places.get((r, c), "") for c in range(width)] for r in range(max(height, least_rows))]


def pipe_grids(text: str) -> list[HeadedGrid]:
    """The pipe tables of a document: runs of lines with a pipe."""
    lines, grids = text.strip().split("\n"), []
    for at, rows in pipe_tables(text, lambda line: not line.strip("-:| \t")):
        width = max(map(len, rows))
        if width * len(rows) > MAX_GRID:
            raise FormatError(f"A table has more than {MAX_GRID:,} positions")
        data = [row + [""] * (width - len(row)) for row in rows]
        grid = HeadedGrid(data, {0}, {0}, context="\n".join(lines[max(0, at - 5) : at]))
        grid.col_headers = {c: [(0, cell)] for c, cell in enumerate(data[0])}
        grid.row_headers = {r: [(0, row[0])] for r, row in enumerate(data) if r}
        grids.append(grid)
    return grids


def with_cells(text: str) -> str:
    """A text with the cells and rows of its tables appended."""
    extra = []
    for grid in [*pipe_grids(text), *html_grids(text)]:
        for row in grid.data:
            cells = [cell for own in row if (cell := own.strip())]
            extra += cells + ([" ".join(cells)] if len(cells) > 1 else [])
    return text + "\n" + "\n".join(extra) if extra else text


# --- grids whose cells know their spans ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OriginCell:
    """A cell where it begins."""

    row: int
    col: int
    rowspan: int
    colspan: int
    text: str


@dataclass(frozen=True)
class ResolvedGrid:
    """A table whose places know their cells; clipped to its rows and columns."""

    slots: list[list[OriginCell | None]]

    def cells(self) -> list[OriginCell]:
        """Each cell once, row by row."""
        return list(dict.fromkeys(cell for row in self.slots for cell in row if cell is not None))

    def at(self, row: int, col: int) -> OriginCell | None:
        """The cell at a place; None beyond the table."""
        if 0 <= row < len(self.slots) and 0 <= col < len(self.slots[row]):
            return self.slots[row][col]
        return None


def resolved_grids(text: str) -> list[ResolvedGrid]:
    """Every HTML table, nested ones again by themselves."""
    if "<table" not in text.lower():
        return []
    return [grid for table in soup_of(text).find_all("table") if (grid := _resolved(str(table))) is not None]


def _resolved(source: str) -> ResolvedGrid | None:
    table = soup_of(source).find("table")
    rows = [row.find_all(["td", "th"]) for row in table.find_all("tr")]
    spans = [[(int(c.get("rowspan") or 1), int(c.get("colspan") or 1)) for c in row] for row in rows]
    width = max((sum(own[1] for own in row) for row in spans), default=0)
    if width * len(rows) > MAX_GRID:
        raise FormatError(f"A table has more than {MAX_GRID:,} positions")
    if width < 1:
        return None
    slots: list[list[OriginCell | None]] = [[None] * width for _ in rows]
    for r, row in enumerate(rows):
        c = 0
        for cell, (rowspan, colspan) in zip(row, spans[r], strict=True):
            while c < width and slots[r][c] is not None:
                c += 1
            if c >= width:
                break
            own = OriginCell(r, c, rowspan, colspan, norm(cell_text(cell, "\n").strip()))
            for y in range(r, min(len(rows), r + rowspan)):
                for x in range(c, min(width, c + colspan)):
                    slots[y][x] = own
            c += colspan
    return ResolvedGrid(slots)
