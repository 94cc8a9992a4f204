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
    shown = [word for word in seen.words[:MAX_WORDS] if word.shown and not word.edge and word.line >= 0]
    tables = list(_tables(shown))
    if not tables:
        return
    in_tables = [range(table.starts[0], table.starts[-1]) for table in evidence.tables]
    in_code = [range(*match.span()) for match in _CODE.finditer(text)]
    by_box: defaultdict[Box, list[int]] = defaultdict(list)
    for i, atom in enumerate(found.page):
        if counts(atom.text):
            by_box[atom.box].append(i)
    for rows, n_columns in tables:
        words = [i for row in rows for k in row for i in by_box[shown[k].box]]
        said = [j for i in words if (j := found.at[i]) is not None]
        if len(words) < _FEW_WORDS or len(said) < _THERE * len(words):
            continue
        starts = [place.start for j in said if (place := evidence.places[j]) is not None]
        is_table = _n_within(said, in_tables) >= _IN_TABLE * len(said)
        if not is_table and 2 * _n_within(starts, in_code) <= len(starts):
            yield FlattenedTable(tuple(words), tuple(sorted(said)), len(rows), n_columns)


def _n_within(places: Sequence[int], parts: Sequence[range]) -> int:
    """Return how many places lie in parts, which follow each other."""
    begins = [part.start for part in parts]
    return sum((k := bisect_right(begins, at) - 1) >= 0 and at in parts[k] for at in places)


def _tables(words: Sequence[SeenWord]) -> Iterator[tuple[list[list[int]], int]]:
    """Yield the rows of each table, as words of the page, and the number of its columns."""
    run: list[list[int]] = []
    for row in [*_rows(words), []]:
        is_row = (
            len(row) >= _COLUMNS
            and len(cells_of(words, row, _GAP)) >= _COLUMNS
            and not _has_leaders(words, row)
        )
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
    placed = sorted((word.box.y0 + word.box.y1, word.box.x0, k) for k, word in enumerate(words))
    rows: list[list[tuple[float, int]]] = []
    low = high = 0.0
    for twice, x0, k in placed:
        if rows and 2 * low < twice < 2 * high:
            rows[-1].append((x0, k))
        else:
            rows.append([(x0, k)])
            low, high = words[k].box.y0, words[k].box.y1
    return [[k for _, k in sorted(row)] for row in rows]


def cells_of(words: Sequence[SeenWord], row: Sequence[int], gap: float) -> list[list[int]]:
    """Return the parts of a row between which a gap of so many heights of its words stands."""
    cells = [[row[0]]]
    for one, other in pairwise(row):
        first, second = words[one].box, words[other].box
        space = second.x0 - first.x1
        if space > gap * (first.y1 - first.y0) and space > gap * (second.y1 - second.y0):
            cells.append([])
        cells[-1].append(other)
    return cells


def _follows(words: Sequence[SeenWord], one: Sequence[int], other: Sequence[int]) -> bool:
    above, below = (Box.hull(words[i].box for i in row) for row in (one, other))
    return below.y0 - above.y0 <= _ROW_GAP * max(words[i].box.height for i in (*one, *other))


def _n_columns(words: Sequence[SeenWord], rows: Sequence[Sequence[int]]) -> int:
    """Return the number of columns with white between them in all rows; 0 if the rows are not a table."""
    if sum(max(row) - min(row) == len(row) - 1 for row in rows) < _FULL * len(rows):
        return 0  # the file has something else between the words of a row: columns of text
    cells = [(r, cell) for r, row in enumerate(rows) for cell in cells_of(words, row, _GAP)]
    if median(len(cell) for _, cell in cells) > _SHORT_CELL:
        return 0
    spans = sorted((words[cell[0]].box.x0, max(words[k].box.x1 for k in cell), r) for r, cell in cells)
    end, own, columns = float("-inf"), set[int](), list[set[int]]()
    for x0, x1, r in spans:
        if x0 > end:
            columns.append(own := set())
        own.add(r)
        end = max(end, x1)
    return sum(len(filled) >= _FULL * len(rows) for filled in columns)
