"""Tables of a document as grids: HTML with its headers, pipe tables, and cells that know their spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from parsemark.errors import FormatError
from parsemark.formats import MAX_GRID
from parsemark_boards.cell_grids import pipe_tables
from parsemark_boards.parsebench.text import check_markdown, is_september, norm

Headers = dict[int, list[tuple[int, str]]]
_SUP = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUB = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_TABLE_TAG = re.compile(r"<table(?=[> \t\r\n]|\Z)|</table>")
_TABLE_TAG_SEPTEMBER = re.compile(r"<table(?=[>\s])|</table\s*>")
_INLINE = ("b", "i", "u", "s", "del", "strike", "ins", "mark", "span")
MAX_DEPTH = 100  # tables inside of one
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
    caption: str = ""
    spanned: set[tuple[int, int]] = field(default_factory=set)  # covered by a span, not its origin
    sections: Mapping[str, set[int]] = field(default_factory=dict)  # rows of thead, tbody and tfoot
    column_scope_rows: set[int] = field(default_factory=set)
    row_scope_rows: set[int] = field(default_factory=set)

    def section(self, name: str) -> set[int]:
        """Return rows of `thead`, `tbody` or `tfoot`."""
        return self.sections.get(name, set())

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.data[0]) if self.data else 0

    def part(self, rows: Sequence[int], cols: Sequence[int]) -> HeadedGrid:
        """Return some of its rows and columns, by their new numbers; its context stays behind."""
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
            caption=self.caption,
            sections={name: {row[r] for r in own if r in row} for name, own in self.sections.items()},
        )


def soup_of(text: str) -> Any:
    """Return HTML as Beautiful Soup reads it with lxml; raise FormatError for too many elements."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "lxml")
    depth = max((len(table.find_parents("table")) for table in soup.find_all("table")), default=0)
    if len(soup.find_all(True)) * (1 + depth) > MAX_NODES:
        raise FormatError(f"The tables have more than {MAX_NODES:,} elements")
    return soup


def table_slices(text: str) -> list[str]:
    """Return the sources of the outer tables; one that is not closed goes to the end."""
    found: list[str] = []
    depth = start = 0
    pattern = _TABLE_TAG_SEPTEMBER if is_september() else _TABLE_TAG
    for tag in pattern.finditer(text.lower()):
        if tag[0] == "<table":
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            found += [] if depth else [text[start : tag.end()]]
    return [*found, text[start:]] if depth else found


def cell_text(cell: Any, line_end: str = " ") -> str:
    """Return the text of a cell; digits in `sup` and `sub` are raised and lowered."""
    for tag in cell.find_all("br"):
        tag.replace_with(line_end)
    for name, table in (("sup", _SUP), ("sub", _SUB)):
        for tag in cell.find_all(name):
            tag.replace_with(tag.get_text().translate(table))
    if is_september() and line_end == " ":
        for tag in cell.find_all(_INLINE):
            if getattr(tag.next_sibling, "name", None) in _INLINE:
                tag.insert_after(" ")
    return str(cell.get_text()).strip()


def html_grids(text: str) -> list[HeadedGrid]:
    """Return the outer HTML tables of a text; raise ValueError where a span is no number, or raise
    FormatError for huge ones.
    """
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
    joined, title = " ".join(parts)[-300:], _caption(table)
    if title and is_september() and not joined:
        return f"<caption>{title}</caption>"
    return f"<caption>{title}</caption> {joined}" if title else joined


def _caption(table: Any) -> str:
    caption = table.find("caption")
    return str(caption.get_text(strip=True)) if caption is not None else ""


def span_of(cell: Any, name: str) -> int:
    """Return the colspan or rowspan of a cell; raise ValueError if it is not a number, also if it is
    empty.
    """
    return int(cell.get(name, 1))


def _sections(table: Any, rows: Sequence[Any]) -> tuple[dict[str, set[int]], dict[int, set[int]]]:
    """Return the rows of thead, tbody and tfoot, and those of the section that each row is in."""
    numbers = {id(row): r for r, row in enumerate(rows)}
    sections: dict[str, set[int]] = {}
    around: dict[int, set[int]] = {}
    for name in ("thead", "tbody", "tfoot"):
        for part in table.find_all(name, recursive=False):
            inside = {numbers[id(row)] for row in part.find_all("tr") if id(row) in numbers}
            sections[name] = sections.get(name, set()) | inside
            around |= dict.fromkeys(inside, inside)
    return sections, around


def _column_groups(table: Any) -> list[range]:
    groups: list[range] = []
    start = 0
    for group in table.find_all("colgroup", recursive=False):
        cols = group.find_all("col", recursive=False)
        width = sum(span_of(col, "span") for col in cols) if cols else span_of(group, "span")
        groups.append(range(start, start + width))
        start += width
    if start > MAX_GRID:
        raise FormatError(f"The column groups of a table span more than {MAX_GRID:,} columns")
    return groups


def _grid_of(table: Any) -> HeadedGrid:
    rows, head = table.find_all("tr"), table.find("thead")
    places: dict[tuple[int, int], str] = {}
    grid = HeadedGrid([])
    around: dict[int, set[int]] = {}
    groups: list[range] = []
    if is_september():
        grid.sections, around = _sections(table, rows)
        grid.header_rows |= grid.section("thead")
        groups, grid.caption = _column_groups(table), _caption(table)
    elif head is not None:
        grid.header_rows |= {rows.index(row) for row in head.find_all("tr") if row in rows}
    for r, row in enumerate(rows):
        c = 0
        for cell in row.find_all(["td", "th"]):
            while (r, c) in places:
                c += 1
            text = cell_text(cell)
            colspan, rowspan = span_of(cell, "colspan"), span_of(cell, "rowspan")
            if len(places) + max(0, colspan) * max(0, rowspan) > MAX_GRID:
                raise FormatError(f"The cells of a table span more than {MAX_GRID:,} positions")
            covered = [(y, x) for y in range(r, r + rowspan) for x in range(c, c + colspan)]
            places.update(dict.fromkeys(covered, text))
            grid.spanned.update(place for place in covered if place != (r, c))
            if cell.name == "th":
                grid.header_rows.add(r)
                grid.header_cols.add(c)
                grid.header_cells.update(covered)
                _add_headers(grid, (r, c, text), (rowspan, colspan), cell, around, groups)
            c += max(colspan, 0)
    grid.data = filled(places, len(rows)) if places else []
    return grid


def _add_headers(
    grid: HeadedGrid,
    header: tuple[int, int, str],
    spans: tuple[int, int],
    cell: Any,
    around: Mapping[int, set[int]],
    groups: Sequence[range],
) -> None:
    """Enter a header cell for the rows and columns that it heads; since September, by its scope."""
    (r, c, text), scope = header, ""
    rows: Iterable[int] = range(r, r + spans[0])
    cols: Iterable[int] = range(c, c + spans[1])
    if is_september():
        if r in grid.section("tfoot"):
            return
        scope = str(cell.get("scope", "")).lower()
        if scope in ("col", "colgroup"):
            grid.column_scope_rows.add(r)
        elif scope in ("row", "rowgroup"):
            grid.row_scope_rows.add(r)
        cols = next((group for group in groups if c in group), cols) if scope == "colgroup" else cols
        rows = sorted(around.get(r, rows)) if scope == "rowgroup" else rows
    if scope not in ("row", "rowgroup"):
        for x in cols:
            grid.col_headers.setdefault(x, []).append((r, text))
    if scope not in ("col", "colgroup"):
        for y in rows:
            grid.row_headers.setdefault(y, []).append((c, text))


def filled(places: Mapping[tuple[int, int], str], least_rows: int = 0) -> list[list[str]]:
    """Return texts by place as rows of equal length."""
    height, width = (max((place[axis] for place in places), default=-1) + 1 for axis in (0, 1))
    return [[places.get((r, c), "") for c in range(width)] for r in range(max(height, least_rows))]


def pipe_grids(text: str) -> list[HeadedGrid]:
    """Return the pipe tables of a document: runs of lines with a pipe."""
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


_PIPE_LINES = re.compile(r"(?:^[^\n]*\|[^\n]*\n)+^[^\n]*\|[^\n]*$", re.M)
_TABLE = re.compile(r"<table\b[^>]*>.*?</table>", re.I | re.S)


def without_tables(text: str) -> str:
    """Return a text without HTML tables; an unclosed one hides the rest."""
    while (new := _TABLE.sub(" ", text)) != text:
        text = new
    left = re.search(r"<table\b[^>]*>", text, re.I)
    return text if left is None else text[: left.start()] + " "


def with_cells(text: str) -> str:
    """Return a text with the cells and rows of its tables appended; since September, tables become their
    cells.
    """
    extra = []
    grids = [*pipe_grids(text), *html_grids(text)]
    if is_september():
        for grid in grids:
            placed = ((r, c, cell.strip()) for r, row in enumerate(grid.data) for c, cell in enumerate(row))
            extra += [grid.caption] if grid.caption else []
            extra += [cell for r, c, cell in placed if cell and (r, c) not in grid.spanned]
        if not extra:
            return text
        return _PIPE_LINES.sub(" ", without_tables(text)) + "\n" + "\n".join(extra)
    for grid in grids:
        for row in grid.data:
            cells = [cell for own in row if (cell := own.strip())]
            extra += cells + ([" ".join(cells)] if len(cells) > 1 else [])
    return text + "\n" + "\n".join(extra) if extra else text


_TABLE_ENDS = re.compile(r"<table(?=[\s>])[^>]*>|</table\s*>", re.I)


def with_table_lines(markdown: str) -> str:
    """Return a document whose closed HTML tables and pipe tables are lines of cells with tabs between."""
    starts: list[int] = []
    spans: list[tuple[int, int]] = []
    for tag in _TABLE_ENDS.finditer(markdown):
        if not tag[0].startswith("</"):
            starts.append(tag.start())
        elif starts:
            span = starts.pop(), tag.end()
            while spans and spans[-1][0] > span[0]:
                spans.pop()
            spans.append(span)
    check_markdown(markdown)
    for start, end in reversed(spans):
        markdown = f"{markdown[:start]}\n{_lines_of(markdown[start:end])}\n{markdown[end:]}"
    return _with_pipe_lines(markdown)


def _lines_of(source: str) -> str:
    from bs4 import BeautifulSoup

    table = BeautifulSoup(source, "html.parser").find("table")
    if table is None:
        return source
    if len(table.find_all(True)) > MAX_NODES or len(table.find_all("table")) > MAX_DEPTH:
        raise FormatError(f"A table has more than {MAX_NODES:,} elements, or {MAX_DEPTH} tables inside")
    lines: list[str] = []
    loose: list[str] = []

    def text_of(node: Any) -> str:
        return " ".join(node.get_text(" ", strip=True).split())

    def end_loose() -> None:
        if loose:
            lines.append("\t".join(loose))
            loose.clear()

    todo: list[Any] = list(table.children)[::-1]
    while todo:
        node = todo.pop()
        name = getattr(node, "name", None)
        if name in ("caption", "tr"):
            end_loose()
            if name == "tr":
                cells = [text_of(c) for c in node.find_all(["th", "td"]) if c.find_parent("tr") is node]
                lines += ["\t".join(cells)] if cells else []
            elif text := text_of(node):
                lines.append(text)
        elif name in ("th", "td"):
            loose += [text] if (text := text_of(node)) else []
        elif name is not None and name != "table":
            todo += list(node.children)[::-1]
    end_loose()
    return "\n".join(lines)


def _pipe_cells(line: str) -> list[str]:
    """Split a row at its pipes, but those after a backslash or in code."""
    cells, current, ticks = [], "", ""
    for part in re.findall(r"\\.|`+|\||[^\\`|]+|\\", line, re.S):
        if part[0] == "`":
            ticks = part if not ticks else "" if part == ticks else ticks
        if part == "|" and not ticks:
            cells.append(current.strip())
            current = ""
        else:
            current += part
    cells.append(current.strip())
    cells = cells[1:] if line.lstrip().startswith("|") and not cells[0] else cells
    return cells[:-1] if line.rstrip().endswith("|") and cells and not cells[-1] else cells


def _with_pipe_lines(markdown: str) -> str:
    lines, found, at, is_changed = markdown.splitlines(), list[str](), 0, False
    while at < len(lines):
        rule = lines[at + 1] if at + 1 < len(lines) and "|" in lines[at] else ""
        cells = _pipe_cells(rule) if "|" in rule else []
        if cells and all(re.fullmatch(":?-+:?", cell.replace(" ", "")) for cell in cells):
            is_changed = True
            found.append("\t".join(_pipe_cells(lines[at])))
            at += 2
            while at < len(lines) and "|" in lines[at]:
                found.append("\t".join(_pipe_cells(lines[at])))
                at += 1
        else:
            found.append(lines[at])
            at += 1
    return "\n".join(found) if is_changed else markdown


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
        """Return each cell once, row by row."""
        return list(dict.fromkeys(cell for row in self.slots for cell in row if cell is not None))

    def at(self, row: int, col: int) -> OriginCell | None:
        """Return the cell at a place; None beyond the table."""
        if 0 <= row < len(self.slots) and 0 <= col < len(self.slots[row]):
            return self.slots[row][col]
        return None


def resolved_grids(text: str) -> list[ResolvedGrid]:
    """Return every HTML table, nested ones again by themselves."""
    if "<table" not in text.lower():
        return []
    return [grid for table in soup_of(text).find_all("table") if (grid := _resolved(str(table))) is not None]


def _resolved(source: str) -> ResolvedGrid | None:
    table = soup_of(source).find("table")
    rows = [row.find_all(["td", "th"]) for row in table.find_all("tr")]
    spans = [[(span_of(c, "rowspan"), span_of(c, "colspan")) for c in row] for row in rows]
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
