"""Tables of a page that an output has as plain text, although it marks up other text.

A table is rows of short cells whose columns stand apart: at least three columns in four rows, with a white
gap between them in every row. Lines with leaders, as of a table of contents, are none, and neither are lines
of a fixed-pitch font, which is that of code. An output without any
mark of headings or tables has a format without them, so nothing is lost in it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from parsemark.matching.page_evidence import PageEvidence
from parsemark.matching.words import MAX_WORDS, counts
from parsemark.model import Box
from parsemark.pdf import SeenPage, SeenWord

_ROWS, _COLUMNS = 4, 3
_GAP = 0.9  # heights of a line between two columns
_ROW_GAP = 2.6  # heights of a line from one row to the next one
_SHORT_CELL = 4  # words of a cell of a table
_FULL = 0.7  # share of the rows that must have a cell in a column
_FEW_WORDS = 9  # words that a table must have to be asked for
_THERE, _IN_TABLE = 0.7, 0.2
"""Share of a table's words that the output must have for it to be flattened, and the most in its tables."""
_LEAST_LEADERS = 4  # signs
_LEADER = re.compile(r"[.·…_]{1,200}")
_FIXED_PITCH = re.compile(
    r"mono|nimbusmon|courier|consol|typewriter|menlo|(?:cm|sf|lm|ec|pl|la|tx|px)(?:tt|mono)", re.IGNORECASE
)
_SECTION = re.compile(r"\d{1,3}(?:\.\d{1,3})*")
_CODE = re.compile(r"(?ms)^[ \t]*(```|~~~).*?^[ \t]*\1|<pre\b.*?</pre>")
_MARKED = re.compile(
    r"(?mi)^[ \t]{0,3}#{1,6}[ \t]+\S|^[ \t]*\|.*\|[ \t]*$\n[ \t]*\|[ :|-]+\|[ \t]*$|<(?:h[1-6]|table)\b"
    r"|\\(?:section|chapter|begin\{tabular)"
)


class FlattenedTable(NamedTuple):
    """A table of a page whose words the output has outside of its tables."""

    words: tuple[int, ...]  # of the page
    said: tuple[int, ...]  # their places in the output
    n_rows: int
    n_columns: int


def marks_structure(texts: Sequence[str]) -> bool:
    """Return whether an output marks headings or tables anywhere."""
    return any(_MARKED.search(text) for text in texts)


def flattened_tables(seen: SeenPage, evidence: PageEvidence, text: str) -> Iterator[FlattenedTable]:
    """Yield the tables of a page that stand in the output as plain text."""
    found = evidence.comparison
    starts = [table.starts[0] for table in evidence.tables]
    ends = [table.starts[-1] for table in evidence.tables]
    code = [match.span() for match in _CODE.finditer(text)]
    by_box: defaultdict[Box, list[int]] = defaultdict(list)
    for i, atom in enumerate(found.page):
        if counts(atom.text):
            by_box[atom.box].append(i)
    shown = [word for word in seen.words[:MAX_WORDS] if word.shown and not word.edge and word.line >= 0]
    for rows, n_columns in _tables(shown):
        words = [i for row in rows for k in row for i in by_box[shown[k].box]]
        said = [j for i in words if (j := found.at[i]) is not None]
        if len(words) < _FEW_WORDS or len(said) < _THERE * len(words):
            continue
        inside = sum((k := bisect_right(starts, j) - 1) >= 0 and j < ends[k] for j in said)
        places = [place for j in said if (place := evidence.places[j]) is not None]
        in_code = sum(any(a <= place.start < b for a, b in code) for place in places)
        if inside < _IN_TABLE * len(said) and 2 * in_code <= len(places):
            yield FlattenedTable(tuple(words), tuple(sorted(said)), len(rows), n_columns)


def _tables(words: Sequence[SeenWord]) -> Iterator[tuple[list[list[int]], int]]:
    """Yield the rows of each table, as words of the page, and the number of its columns."""
    run: list[list[int]] = []
    for row in [*_rows(words), []]:
        is_row = len(row) >= _COLUMNS and len(_cells(words, row)) >= _COLUMNS and not _has_leaders(words, row)
        if is_row and run and _follows(words, run[-1], row):
            run.append(row)
            continue
        is_table = len(run) >= _ROWS and not _is_contents(words, run) and not _is_code(words, run)
        if is_table and (n := _n_columns(words, run)) >= _COLUMNS:
            yield run, n
        run = [row] if is_row else []


def _has_leaders(words: Sequence[SeenWord], row: Sequence[int]) -> bool:
    return sum(len(words[k].text) for k in row if _LEADER.fullmatch(words[k].text)) >= _LEAST_LEADERS


def _is_contents(words: Sequence[SeenWord], rows: Sequence[Sequence[int]]) -> bool:
    """Return whether rows are lines of a table of contents: the number of a section, a title, and a page."""
    last = [words[row[-1]].text for row in rows]
    first = [words[row[0]].text for row in rows]
    if not all(map(str.isdecimal, last)) or not all(map(_SECTION.fullmatch, first)):
        return False
    pages = [int(text[:9]) for text in last]
    return pages == sorted(pages)


def _is_code(words: Sequence[SeenWord], rows: Sequence[Sequence[int]]) -> bool:
    own = [words[k].font for row in rows for k in row]
    return 2 * sum(_FIXED_PITCH.search(font) is not None for font in own) > len(own)


def _rows(words: Sequence[SeenWord]) -> list[list[int]]:
    """Return the words side by side, from top to bottom and from left to right."""
    rows: list[list[int]] = []
    low = high = 0.0
    for i in sorted(range(len(words)), key=lambda i: words[i].box.centre[1]):
        box = words[i].box
        if rows and box.centre[1] < high and low < box.centre[1]:
            rows[-1].append(i)
        else:
            rows.append([i])
            low, high = box.y0, box.y1
    return [sorted(row, key=lambda i: words[i].box.x0) for row in rows]


def _cells(words: Sequence[SeenWord], row: Sequence[int]) -> list[list[int]]:
    cells = [[row[0]]]
    for one, other in pairwise(row):
        first, second = words[one].box, words[other].box
        if second.x0 - first.x1 > _GAP * max(first.height, second.height):
            cells.append([])
        cells[-1].append(other)
    return cells


def _follows(words: Sequence[SeenWord], one: Sequence[int], other: Sequence[int]) -> bool:
    above, below = (Box.hull(words[i].box for i in row) for row in (one, other))
    return below.y0 - above.y0 <= _ROW_GAP * max(words[i].box.height for i in (*one, *other))


def _n_columns(words: Sequence[SeenWord], rows: Sequence[Sequence[int]]) -> int:
    """Return the number of columns with white between them in all rows; 0 if this is no table."""
    cells = [[Box.hull(words[i].box for i in cell) for cell in _cells(words, row)] for row in rows]
    if sum(max(row) - min(row) == len(row) - 1 for row in rows) < _FULL * len(rows):
        return 0  # the file has something else between the words of a row: columns of text
    sizes = [len(cell) for row in rows for cell in _cells(words, row)]
    if median(sizes) > _SHORT_CELL:
        return 0
    spans = sorted((box.x0, box.x1) for row in cells for box in row)
    columns: list[list[float]] = []
    for x0, x1 in spans:
        if columns and x0 <= columns[-1][1]:
            columns[-1][1] = max(columns[-1][1], x1)
        else:
            columns.append([x0, x1])
    full = 0
    for x0, x1 in columns:
        full += sum(any(x0 <= b.x0 and b.x1 <= x1 for b in row) for row in cells) >= _FULL * len(rows)
    return full
