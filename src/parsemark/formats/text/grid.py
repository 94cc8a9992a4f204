"""Drawn tables: Markdown's and reStructuredText's grid tables, SQL shells' output, box-drawing characters.

Walls are `|`, rules are `-` or `=`, corners are `+`. Cells may span rows and columns where the wall or rule
between them is missing. Rows above a rule of `=` are headers. Where only the first row has a rule below it
(as SQL shells draw), every line below is a row and the first is the header.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import defaultdict
from typing import NamedTuple

from parsemark.errors import FormatError
from parsemark.formats.found_table import FoundTable, TextLine, split_lines
from parsemark.formats.limits import MAX_COLUMNS, MAX_DRAWN_GRID, check_grid, check_tables
from parsemark.formats.markdown.inline import inline_text
from parsemark.model import Cell, Table

_BORDER = re.compile(r"\s*\+(?:[-=:]+\+)+\s*")
_RULE_PART = re.compile(r"\+(?=[-=:]+\+)")
_CORNER = re.compile(r"(?<=[-=:+])\+|\+(?=[-=:])")  # where a column may end: a plus that touches a rule
_FILLER = "\x00"  # stands behind a wide character, so that columns count as they are seen


def _ascii_box(code: int) -> str:
    """Return the ASCII equivalent of a box-drawing character; heavy and double rules set off headers."""
    name = unicodedata.name(chr(code))
    if " AND " in name:
        return "+"
    if name.endswith("HORIZONTAL"):
        return "=" if "HEAVY" in name or "DOUBLE" in name else "-"
    return "|" if name.endswith("VERTICAL") else "+"


_BOXES = {code: _ascii_box(code) for code in range(0x2500, 0x2574)}


def find_drawn_tables(text: str) -> list[FoundTable]:
    """Return every drawn table of a text."""
    found: list[FoundTable] = []
    for block in _drawn_blocks(split_lines(text)):
        table = _read_block([line.text for line in block], block[0].start)
        check_tables(len(found) + 1, block[0].start)
        if table is not None:
            start, end = block[0].start, block[-1].end
            found.append(FoundTable(table, "grid", start, end, text[start:end]))
    return found


def _drawn_blocks(lines: list[TextLine]) -> list[list[TextLine]]:
    """Return runs of lines that begin with a border and go on with walls and corners."""
    found: list[list[TextLine]] = [[]]
    for line in lines:
        drawn = line._replace(text=line.text.translate(_BOXES))
        if _BORDER.fullmatch(drawn.text) or (found[-1] and drawn.text.lstrip().startswith(("|", "+"))):
            found[-1].append(drawn)
        elif found[-1]:
            found.append([])
    return [block for block in found if len(block) >= 3]


def _read_block(block: list[str], position: int) -> Table | None:
    canvas = _canvas(block)
    rules = [i for i, line in enumerate(canvas) if _RULE_PART.search(line) is not None]
    edges = sorted({corner.start() for i in rules for corner in _CORNER.finditer(canvas[i])})
    if len(edges) < 2 or len(rules) < 2:
        return None
    if len(edges) > MAX_COLUMNS:
        why = f"A table row has {len(edges):,} columns; at most {MAX_COLUMNS:,} are read"
        raise FormatError(why, position=position)
    if rules[-1] != len(canvas) - 1:
        rules.append(len(canvas))
        canvas.append("")
    if _is_sql_output(canvas, rules, edges):
        rules = [rules[0], *range(rules[1], rules[2] + 1)]
        return _sql_table(canvas, rules, edges, position)
    check_grid(len(rules), len(edges), position, MAX_DRAWN_GRID)
    n_headers = _header_rows(canvas, rules)
    cells = []
    for area in _merged_cells(canvas, rules, edges):
        text = inline_text(_cell_text(canvas, rules, edges, area), position)
        header = None if n_headers is None else area.row < n_headers
        cells.append(Cell(area.row, area.col, text, area.rowspan, area.colspan, header))
    return Table(len(rules) - 1, len(edges) - 1, tuple(cells))


def _canvas(block: list[str]) -> list[str]:
    """Return the lines as they are seen: wide characters take two columns where that makes the borders
    meet.
    """
    lines = [line.expandtabs().rstrip() for line in block]
    if len({len(line) for line in lines}) > 1 and not all(line.isascii() for line in lines):
        is_wide = {c: unicodedata.east_asian_width(c) in "WF" for line in lines for c in line}
        lines = ["".join(c + _FILLER * is_wide[c] for c in line) for line in lines]
    width = max(len(line) for line in lines)
    return [line.ljust(width) for line in lines] if width * len(lines) <= 10**8 else lines


def _header_rows(canvas: list[str], rules: list[int]) -> int | None:
    """Return rows above the first rule of `=` that has rows on both sides."""
    inner = enumerate((canvas[rule] for rule in rules[1:-1]), start=1)
    return next((index for index, line in inner if "=" in line and _BORDER.fullmatch(line)), None)


def _is_sql_output(canvas: list[str], rules: list[int], edges: list[int]) -> bool:
    """Return a rule under a header of one line, none below: are the lines of the body rows, or lines of one
    cell?
    """
    if len(rules) != 3 or rules[1] != 2 or rules[2] - rules[1] < 3:
        return False
    body = canvas[rules[1] + 1 : rules[2]]
    return all(line[edges[0] + 1 : edges[1]].strip() for line in body)


def _sql_table(canvas: list[str], rules: list[int], edges: list[int], position: int) -> Table:
    lines = [canvas[1], *canvas[rules[1] + 1 : rules[-1]]]
    check_grid(len(lines), len(edges), position)
    places = list(itertools.pairwise(edges))
    rows = [[inline_text(_slice(line, *place), position) for place in places] for line in lines]
    return Table.from_rows(rows, header_rows=1)


def _cell_text(canvas: list[str], rules: list[int], edges: list[int], area: _Area) -> str:
    """Return the text of an area: a line end is a space, an empty line is a line end."""
    left, right = edges[area.col], edges[area.col + area.colspan]
    lines = canvas[rules[area.row] + 1 : rules[area.row + area.rowspan]]
    return " ".join(_slice(line, left, right).strip() or "<br>" for line in lines)


def _slice(line: str, left: int, right: int) -> str:
    return line[left + 1 : right].replace(_FILLER, "")


_WALLS = frozenset("|+")
_RULES = frozenset("-=:+")


class _Area(NamedTuple):
    """The grid positions of one cell."""

    row: int
    col: int
    rowspan: int
    colspan: int


def _merged_cells(canvas: list[str], rules: list[int], edges: list[int]) -> list[_Area]:
    """Return the cells between `rules` (line numbers) and `edges` (column numbers).

    Where the missing walls would give a cell that is no rectangle, the drawing is broken, and every place is
    a cell of its own.
    """
    n_rows, n_cols = len(rules) - 1, len(edges) - 1
    places = list(itertools.product(range(n_rows), range(n_cols)))
    joined: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for row, col in places:
        right, below = (row, col + 1), (row + 1, col)
        walls, line = canvas[rules[row] + 1 : rules[row + 1]], canvas[rules[row + 1]]
        part = line[edges[col] + 1 : edges[col + 1]]
        has_wall = all(wall[edges[col + 1] : edges[col + 1] + 1] in _WALLS for wall in walls)
        has_rule = not line or (part != "" and _RULES.issuperset(part))
        if col + 1 < n_cols and not has_wall:
            joined[row, col].append(right)
            joined[right].append((row, col))
        if row + 1 < n_rows and not has_rule:
            joined[row, col].append(below)
            joined[below].append((row, col))
    areas: list[_Area] = []
    seen: set[tuple[int, int]] = set()
    for first in (place for place in places if place not in seen):
        own, work = {first}, [first]
        while work:
            new = [place for place in joined.get(work.pop(), ()) if place not in own]
            own.update(new)
            work += new
        seen |= own
        (top, bottom), (left, right_end) = ((min(side), max(side) + 1) for side in zip(*own, strict=True))
        areas.append(_Area(top, left, bottom - top, right_end - left))
        if areas[-1].rowspan * areas[-1].colspan != len(own):
            return [_Area(row, col, 1, 1) for row, col in places]
    return areas
