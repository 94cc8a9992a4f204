"""The columns of aligned text, from where its parts stand."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import NamedTuple

_PART = re.compile(r"\S+(?: \S+)*")


class Part(NamedTuple):
    """Text without a gap in it, from column `start` to before `end`."""

    start: int
    end: int
    text: str = ""


def parts_of(line: str) -> list[Part]:
    """The parts of a line that two or more spaces divide."""
    return [Part(m.start(), m.end(), m.group()) for m in _PART.finditer(line)]


def columns_of(rows: list[list[Part]]) -> list[Part]:
    """The extents of the columns, left to right.

    They come from the lines that have as many parts as most lines with several have, or more; parts of
    other lines that stand where none of these columns is make columns of their own.
    """
    counts = Counter(len(row) for row in rows if len(row) > 1)
    if not counts:
        parts = [part for row in rows for part in row]
        return [Part(min(p.start for p in parts), max(p.end for p in parts))] if parts else []
    usual = max(counts, key=lambda n: (counts[n] * n, n))
    columns = _merged([part for row in rows if len(row) >= usual for part in row])
    outside = [part for row in rows for part in row if len(row) > 1 and not _overlapping(part, columns)]
    return _merged([*columns, *outside])


def spanned_columns(part: Part, columns: list[Part]) -> tuple[int, int]:
    """First and last column that a part stands in; the nearest one where it stands in none."""
    overlapping = _overlapping(part, columns)
    if overlapping:
        return overlapping[0], overlapping[-1]
    after = min(bisect_left([c.start for c in columns], part.end), len(columns) - 1)
    before = max(after - 1, 0)
    distance_before = part.start - columns[before].end
    nearest = before if distance_before <= columns[after].start - part.end else after
    return nearest, nearest


def _overlapping(part: Part, columns: list[Part]) -> range:
    first = bisect_left(columns, part.start + 1, key=lambda c: c.end)
    last = bisect_left(columns, part.end, key=lambda c: c.start)
    return range(first, max(first, last))


def _merged(parts: list[Part]) -> list[Part]:
    """Disjoint extents that cover all parts."""
    merged: list[Part] = []
    for part in sorted(parts):
        if merged and part.start < merged[-1].end:
            merged[-1] = Part(merged[-1].start, max(merged[-1].end, part.end))
        else:
            merged.append(Part(part.start, part.end))
    return merged
