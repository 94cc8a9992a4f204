"""Plain text with aligned columns, as `pdftotext -layout` and reStructuredText's simple tables have it.

Columns are parted by two or more spaces that line up. They are taken from the lines with the most parts; a
part of another line belongs to the columns above and below it, and spans them if they are several. A line
that is only a rule is no row; a rule below the first rows makes them headers.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from statistics import median
from typing import NamedTuple

from parsemark.formats.cell_text import clean_limited
from parsemark.formats.found_table import FoundTable, TextLine, blocks, split_lines
from parsemark.formats.limits import check_grid, check_tables
from parsemark.model import Cell, Table

_RULE = re.compile(r"\s*+(?:[-=_─━═]{2,}+\s*+)++")
_LEADERS = re.compile(r"\.{4,}|(?:\. ){4,}")
_ITEM = re.compile(r"(?:[-*•–·]|\(?[0-9a-zA-Z]{1,3}[.)])")
_SHORT_PART = 30
_LEAST_ROWS = 3  # so many lines with several parts make a table beyond doubt


def find_plain_tables(text: str) -> list[FoundTable]:
    """The whole text as one aligned table."""
    lines = [line for line in split_lines(text) if not line.is_blank]
    return _found(text, lines) if lines else []


def find_aligned_tables(text: str) -> list[FoundTable]:
    """The blocks of lines in a text that are aligned tables beyond doubt."""
    found: list[FoundTable] = []
    for block in blocks(split_lines(text)):
        if _is_aligned(block):
            found += _found(text, block)
            check_tables(len(found), block[0].start)
    return found


def _found(text: str, block: list[TextLine]) -> list[FoundTable]:
    start, end = block[0].start, block[-1].end
    table = _read_block(block)
    return [FoundTable(table, "plain", start, end, text[start:end])] if table.n_cells else []


def _read_block(block: list[TextLine]) -> Table:
    lines = [line.text.expandtabs() for line in block]
    rules = [i for i, line in enumerate(lines) if _RULE.fullmatch(line)]
    rows = _rows_of([line for line in lines if not _RULE.fullmatch(line)])
    columns = _columns_of(rows)
    check_grid(len(rows), len(columns), block[0].start)
    spans = _spanned_columns(rows, columns)
    n_headers = _header_rows(rules, len(lines))
    cells: list[Cell] = []
    for r, parts in enumerate(rows):
        cells += _row_cells(r, parts, spans, len(columns), None if n_headers is None else r < n_headers)
    return Table(len(rows), len(columns), tuple(cells))


def _row_cells(
    row: int, parts: list[_ColumnPart], spans: _Spans, n_columns: int, header: bool | None
) -> list[Cell]:
    """Cells of a line: parts in the same columns make one, and columns without a part are empty cells."""
    placed: list[tuple[int, int, list[str]]] = []
    for part in parts:
        first, last = spans[part.extent]
        texts = [part.text]
        if placed and first <= placed[-1][1]:
            first, before, above = placed.pop()
            last, texts = max(last, before), above + texts
        placed.append((first, last, texts))
    cells = [
        Cell(row, first, clean_limited(" ".join(texts)), 1, last - first + 1, header)
        for first, last, texts in placed
    ]
    taken = {col for first, last, _ in placed for col in range(first, last + 1)}
    return cells + [Cell(row, c, header=header) for c in range(n_columns) if c not in taken]


def _header_rows(rules: list[int], n_lines: int) -> int | None:
    """How many rows stand above the first rule that has rows on both sides."""
    above = (rule - count for count, rule in enumerate(rules) if rule < n_lines - 1)
    return next((n_rows for n_rows in above if n_rows > 0), None)


def _is_aligned(block: list[TextLine]) -> bool:
    """Whether a block looks like a table and not like prose in columns, a list or a table of contents."""
    if len(block) < _LEAST_ROWS:
        return False
    lines = [line.text.expandtabs() for line in block if not _RULE.fullmatch(line.text)]
    rows = _rows_of(lines)
    divided = [row for row in rows if len(row) > 1]
    if len(divided) < _LEAST_ROWS or len(divided) < 0.6 * len(rows):
        return False
    if sum(_LEADERS.search(line) is not None for line in lines) > 0.3 * len(lines):
        return False
    if all(len(row) == 2 and _ITEM.fullmatch(row[0].text) for row in divided):
        return False
    if median(len(part.text) for row in divided for part in row) > _SHORT_PART:
        return False
    return len(_columns_of(rows)) >= 2 and _n_fitting(rows) >= 0.8 * len(divided)


def _n_fitting(rows: list[list[_ColumnPart]]) -> int:
    """How many lines with several parts have each of them in a column of its own."""
    spans = _spanned_columns(rows, _columns_of(rows))
    divided = (row for row in rows if len(row) > 1)
    return sum(len(row) == len({spans[part.extent][0] for part in row}) for row in divided)


_PART = re.compile(r"\S+(?: \S+)*")


class _ColumnPart(NamedTuple):
    """Text without a gap in it, from column `start` to before `end`."""

    start: int
    end: int
    text: str = ""

    @property
    def extent(self) -> tuple[int, int]:
        """Most lines of a table have parts at the same places: what follows from them is found once."""
        return self[:2]


_Spans = dict[tuple[int, int], tuple[int, int]]  # first and last column that the parts of an extent stand in


def _rows_of(lines: list[str]) -> list[list[_ColumnPart]]:
    """The parts of each line that two or more spaces divide.

    A wide character (中) takes two columns, unless the lines fit better where every character takes one.
    """
    rows = [[_ColumnPart(m.start(), m.end(), m.group()) for m in _PART.finditer(line)] for line in lines]
    if all(map(str.isascii, lines)):
        return rows
    drawn = [
        [_ColumnPart(places[part.start], places[part.end], part.text) for part in row]
        for row, places in zip(rows, map(_places, lines), strict=True)
    ]
    return max(drawn, rows, key=_n_fitting)


def _places(line: str) -> list[int]:
    """The column in which each character begins, and the one behind the last."""
    wide = (2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in line)
    return list(accumulate(wide, initial=0))


def _columns_of(rows: list[list[_ColumnPart]]) -> list[_ColumnPart]:
    """The extents of the columns, left to right.

    They come from the lines that have as many parts as most lines with several have, or more; parts of
    other lines that stand where none of these columns is make columns of their own.
    """
    counts = Counter(len(row) for row in rows if len(row) > 1)
    if not counts:
        parts = [part for row in rows for part in row]
        return [_ColumnPart(min(p.start for p in parts), max(p.end for p in parts))] if parts else []
    usual = max(counts, key=lambda n: (counts[n] * n, n))
    columns = _merged({part.extent for row in rows if len(row) >= usual for part in row})
    extents = {part.extent for row in rows if len(row) > 1 for part in row}
    outside = {extent for extent in extents if not _overlapping(extent, columns)}
    return _merged({column.extent for column in columns} | outside)


def _spanned_columns(rows: list[list[_ColumnPart]], columns: list[_ColumnPart]) -> _Spans:
    """The columns that each part stands in; the nearest one where it stands in none."""
    found: _Spans = {}
    for extent in {part.extent for row in rows for part in row}:
        if overlapping := _overlapping(extent, columns):
            found[extent] = overlapping[0], overlapping[-1]
            continue
        start, end = extent
        after = min(bisect_left(columns, end, key=lambda c: c.start), len(columns) - 1)
        before = max(after - 1, 0)
        is_nearer = start - columns[before].end <= columns[after].start - end
        found[extent] = (before, before) if is_nearer else (after, after)
    return found


def _overlapping(extent: tuple[int, int], columns: list[_ColumnPart]) -> range:
    first = bisect_left(columns, extent[0] + 1, key=lambda c: c.end)
    last = bisect_left(columns, extent[1], key=lambda c: c.start)
    return range(first, max(first, last))


def _merged(extents: set[tuple[int, int]]) -> list[_ColumnPart]:
    """Disjoint extents that cover all."""
    merged: list[_ColumnPart] = []
    for start, end in sorted(extents):
        if merged and start < merged[-1].end:
            merged[-1] = _ColumnPart(merged[-1].start, max(merged[-1].end, end))
        else:
            merged.append(_ColumnPart(start, end))
    return merged
