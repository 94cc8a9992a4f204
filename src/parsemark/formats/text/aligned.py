"""Plain text with aligned columns, as `pdftotext -layout` and reStructuredText's simple tables have it.

Two or more spaces divide a line into parts. Columns come from the lines with the most parts: they end where
most of these lines have a gap. A part belongs to the columns above and below it, and spans them if they are
several. A line that is only a rule is not a row; a rule below the first rows makes them headers.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from math import inf
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
_GAP = 2  # spaces that divide two parts
_LEAST_ROWS = 3  # lines with several parts that a block needs to be a table in a document

_Extent = tuple[int, int]  # a part's first character in the line, and the one after its last
_Spans = dict[_Extent, tuple[int, int]]  # first and last column that a part of this extent reaches into


def find_plain_tables(text: str) -> list[FoundTable]:
    """Read the whole text as one aligned table."""
    lines = [line for line in split_lines(text) if not line.is_blank]
    return _found(text, lines) if lines else []


def find_aligned_tables(text: str) -> list[FoundTable]:
    """Return the blocks of lines in a text that are clearly aligned tables."""
    tables: list[FoundTable] = []
    for block in blocks(split_lines(text)):
        if _is_aligned(block):
            tables += _found(text, block)
            check_tables(len(tables), block[0].start)
    return tables


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
        header = None if n_headers is None else r < n_headers
        empty = set(range(len(columns)))
        for first, last, text in _places_in_row(parts, spans, columns):
            cells.append(Cell(r, first, clean_limited(text), 1, last - first + 1, header))
            empty.difference_update(range(first, last + 1))
        cells += [Cell(r, column, header=header) for column in sorted(empty)]
    return Table(len(rows), len(columns), tuple(cells))


def _header_rows(rules: list[int], n_lines: int) -> int | None:
    """Return how many rows stand above the first rule that has rows on both sides."""
    above = (rule - count for count, rule in enumerate(rules) if rule < n_lines - 1)
    return next((n_rows for n_rows in above if n_rows > 0), None)


def _is_aligned(block: list[TextLine]) -> bool:
    """Return whether a block looks like a table and not like prose in columns, a list or a table of
    contents.
    """
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


def _n_fitting(rows: list[_Parts]) -> int:
    """Return how many of the lines with several parts have each part in a column of its own."""
    columns = _columns_of(rows)
    spans = _spanned_columns(rows, columns)
    divided = (row for row in rows if len(row) > 1)
    return sum(len(row) == sum(1 for _ in _places_in_row(row, spans, columns)) for row in divided)


_PART = re.compile(r"\S+(?: \S+)*")


class _ColumnPart(NamedTuple):
    """Text without a gap in it, from column `start` to before `end`."""

    start: int
    end: int
    text: str = ""

    @property
    def extent(self) -> _Extent:
        """Return the extent, computed once per place: most lines of a table have parts in the same places."""
        return self[:2]

    def shared(self, other: _ColumnPart) -> int:
        """Return how many characters of a line both cover; below 0 is the distance between them."""
        return min(self.end, other.end) - max(self.start, other.start)

    def touches(self, other: _ColumnPart) -> bool:
        """Return whether no gap divides them."""
        return self.shared(other) > -_GAP


_Parts = list[_ColumnPart]  # of one line, left to right


def _rows_of(lines: list[str]) -> list[_Parts]:
    """Return the parts of each line that two or more spaces divide.

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
    """Return the column in which each character begins, and the one behind the last."""
    wide = (2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in line)
    return list(accumulate(wide, initial=0))


def _columns_of(rows: list[_Parts]) -> list[_ColumnPart]:
    """Return the extents of the columns, left to right.

    They come from the lines that have as many parts as most lines with several have, or more. Parts of
    other lines that stand where none of these columns is make columns of their own.
    """
    counts = Counter(len(row) for row in rows if len(row) > 1)
    if not counts:
        parts = [part for row in rows for part in row]
        return [_ColumnPart(min(p.start for p in parts), max(p.end for p in parts))] if parts else []
    usual = max(counts, key=lambda n: (counts[n] * n, n))
    columns = _divided_columns([row for row in rows if len(row) >= usual])
    extents = {part.extent for row in rows if len(row) > 1 for part in row}
    outside = {
        (start, end)
        for start, end in extents
        if not _overlapping((start - _GAP + 1, end + _GAP - 1), columns)
    }
    return sorted([*columns, *_merged(outside)])


def _divided_columns(rows: list[_Parts]) -> list[_ColumnPart]:
    """Return the extents that the parts of lines cover together, divided where most lines divide them.

    Every gap of a line inside such an extent votes for the place in it that most lines leave free. Columns
    end where as many gaps vote as lines run through, or more. So a line that is a character out of place
    neither joins two columns nor makes one.
    """
    texts = Counter(part.extent for row in rows for part in row)
    merged = _merged(set(texts))
    starts = [column.start for column in merged]
    gaps = Counter(
        (part.end, after.start)
        for row in rows
        for part, after in pairwise(row)
        if bisect_right(starts, part.start) == bisect_right(starts, after.start)
    )
    if not gaps:
        return merged
    places = sorted({end for extent in (*texts, *gaps) for end in extent})  # nothing changes between two
    n_texts, n_gaps = _n_covering(texts, places), _n_covering(gaps, places)
    votes = _votes(gaps, places, [gap - text for gap, text in zip(n_gaps, n_texts, strict=True)])
    borders = {(left.end, right.start): inf for left, right in pairwise(merged)}
    for k, n_votes in votes.items():
        if n_votes >= n_texts[k]:
            borders[places[k], places[k + 1]] = n_votes - n_texts[k]
    return _between(borders, texts, (places[0], places[-1]))


def _between(
    borders: Mapping[_Extent, float], texts: Mapping[_Extent, int], whole: _Extent
) -> list[_ColumnPart]:
    """Return the columns between borders, without the weaker border of one in which no text stands alone."""
    ends = [whole[0], *(end for border in sorted(borders) for end in border), whole[1]]
    pieces = [_ColumnPart(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True)]
    strengths = [inf, *(borders[border] for border in sorted(borders)), inf]
    reached = (_overlapping(extent, pieces) for extent in texts)
    has_text = {reach[0] for reach in reached if len(reach) == 1}
    columns: list[_ColumnPart] = []
    start: int | None = None  # of the pieces before this one that belong to it
    for k, piece in enumerate(pieces):
        start = piece.start if start is None else start
        if k in has_text:
            columns.append(_ColumnPart(start, piece.end))
        elif columns and strengths[k] <= strengths[k + 1]:
            columns[-1] = _ColumnPart(columns[-1].start, piece.end)
        else:
            continue
        start = None
    return columns if start is None else [*columns, _ColumnPart(start, whole[1])]


def _n_covering(extents: Mapping[_Extent, int], places: list[int]) -> list[int]:
    """Return how many extents cover what follows each place."""
    changes: Counter[int] = Counter()
    for (start, end), n in extents.items():
        changes[start] += n
        changes[end] -= n
    return list(accumulate(changes[place] for place in places))


def _votes(gaps: Mapping[_Extent, int], places: list[int], free: list[int]) -> Counter[int]:
    """Return how many gaps are for each place: a gap is for the freest place in it, the first of several."""
    votes: Counter[int] = Counter()
    index = {place: k for k, place in enumerate(places)}
    best: list[int] = []  # places with nothing as free behind them, up to the end of the gap
    done = 0
    for (start, end), n in sorted(gaps.items(), key=lambda gap: gap[0][1]):
        for k in range(done, index[end]):
            while best and free[best[-1]] < free[k]:
                best.pop()
            best.append(k)
        done = max(done, index[end])
        votes[best[bisect_left(best, index[start])]] += n
    return votes


def _spanned_columns(rows: list[_Parts], columns: list[_ColumnPart]) -> _Spans:
    """Return the columns that each part reaches into; the nearest one where it reaches into none."""
    spans: _Spans = {}
    for extent in {part.extent for row in rows for part in row}:
        if overlapping := _overlapping(extent, columns):
            spans[extent] = overlapping[0], overlapping[-1]
            continue
        start, end = extent
        after = min(bisect_left(columns, end, key=lambda c: c.start), len(columns) - 1)
        before = max(after - 1, 0)
        is_nearer = start - columns[before].end <= columns[after].start - end
        spans[extent] = (before, before) if is_nearer else (after, after)
    return spans


def _places_in_row(
    parts: _Parts, spans: _Spans, columns: list[_ColumnPart]
) -> Iterator[tuple[int, int, str]]:
    """Yield the first column, last column and text of each cell of a line.

    A line with a part at each column has one in each. Else a column that two parts reach into belongs to the
    one that has no other, or to the one with more of it. Where neither has another, they make one cell.
    """
    if len(parts) == len(columns) and all(map(_ColumnPart.touches, parts, columns)):
        yield from ((k, k, part.text) for k, part in enumerate(parts))
        return
    reached = [*(spans[part.extent] for part in parts), (len(columns), len(columns))]
    needs_first = [False] * len(reached)
    for k in reversed(range(len(parts))):
        first, last = reached[k]
        n_left = last - first + 1 - (needs_first[k + 1] and reached[k + 1][0] == last)
        needs_first[k] = n_left <= 1
    first, last, text = *reached[0], parts[0].text
    for k, part in enumerate(parts[1:], start=1):
        next_first, next_last = reached[k]
        if next_first == last:
            has_more = part.shared(columns[last]) >= parts[k - 1].shared(columns[last])
            if first < last and (needs_first[k] or has_more):
                last -= 1
            elif not needs_first[k]:
                next_first += 1
        if next_first > last:
            yield first, last, text
            first, last, text = next_first, next_last, part.text
        else:
            last, text = max(last, next_last), f"{text} {part.text}"
    yield first, last, text


def _overlapping(extent: _Extent, columns: list[_ColumnPart]) -> range:
    first = bisect_left(columns, extent[0] + 1, key=lambda c: c.end)
    last = bisect_left(columns, extent[1], key=lambda c: c.start)
    return range(first, max(first, last))


def _merged(extents: set[_Extent]) -> list[_ColumnPart]:
    """Return extents that cover all, with a gap between any two."""
    merged: list[_ColumnPart] = []
    for start, end in sorted(extents):
        if merged and start < merged[-1].end + _GAP:
            merged[-1] = _ColumnPart(merged[-1].start, max(merged[-1].end, end))
        else:
            merged.append(_ColumnPart(start, end))
    return merged
