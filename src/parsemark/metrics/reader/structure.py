"""What is a header in the truth: header rows, label columns, and section rows between the data."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import and_

from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.texts import is_numeric

MAX_HEADER_ROWS = 6
_MOSTLY = 0.7
_MOST_LINES = 2  # the last row that can be a further line of the names in the first one
_BRACKETED = re.compile(r"\(.*\)|\[.*\]")
_DEVIATION = re.compile(r"[(\[](?=[^()\[\]A-Za-z]*\d)[^()\[\]A-Za-z]*+[)\]]|±[\d.]++%?")


@dataclass(frozen=True)
class Structure:
    """The roles of a sheet's rows and columns."""

    n_header: int  # the first rows are headers
    labels: tuple[tuple[int, ...], ...]
    """For each column the columns that name its rows; a label column names itself by those before it."""
    sections: frozenset[int]  # rows that name the rows below them (projected row headers)

    @cached_property
    def stubs(self) -> frozenset[int]:
        """Return the label columns."""
        return frozenset(s for stub in self.labels for s in stub)


def read_structure(sheet: Sheet) -> Structure:
    """Find the headers of a sheet."""
    n_header = header_rows(sheet)
    sections = frozenset(r for r in range(n_header, sheet.n_rows) if is_section(sheet, r))
    if len(sections) > (sheet.n_rows - n_header) / 2:
        sections = frozenset()
    return Structure(n_header, label_columns(sheet, n_header, sections), sections)


def header_rows(sheet: Sheet) -> int:
    """Return how many leading rows are headers."""
    most = max(0, min(MAX_HEADER_ROWS, sheet.n_rows - 1))
    count = sheet.header_rows or min(most, 1)
    if most and sheet.header_rows is None and all(sheet.texts[0]):
        # Without a declared header, a first row whose texts all occur again below is not a header.
        columns = zip(*sheet.texts, strict=True)
        count = int(not all(first in rest for first, *rest in columns))
    while 0 < count < most and _continues_header(sheet, count):
        count += 1
    return min(count, most)


def _continues_header(sheet: Sheet, row: int) -> bool:
    """Return whether a row below a header row still is one: it names what a group above covers."""
    above, names = row - 1, sheet.texts[row]
    columns = [c for c in range(1, sheet.n_cols) if names[c]]
    said, below = [names[c] for c in columns], [t[c] for t in sheet.texts[row + 1 :] for c in columns if t[c]]
    spans = [sheet.goes_on(above, c) for c in range(1, sheet.n_cols)]
    if _goes_on_in_lines(sheet, row, said, below):
        return True
    if is_section(sheet, row):
        return False
    if (sheet.header_rows or 0) > 1 and not all(spans):
        return False  # a source that tells several header rows tells all of them
    unnamed = not sheet.present[above][0] and not sheet.present[row][0]
    # What a group covers has names that differ.
    grouped = any(spans) and all(names[c] != names[c - 1] for c in range(1, sheet.n_cols) if spans[c - 1])
    # It has words over columns of numbers.
    worded = 2 * len(said) >= max(2, sheet.n_cols - 1) and not any(map(is_numeric, said))
    if (unnamed or grouped) and worded and sum(map(is_numeric, below)) > _MOSTLY * len(below):
        return True
    if sheet.present[row][0] and sheet.starts[row][0]:
        # The first column is itself below a group, so its own name is still to come. Where the source tells
        # that the header has ended, a row with values is the first of the data.
        told = sheet.header_rows is not None and any(map(is_numeric, sheet.texts[row]))
        return bool(spans) and spans[0] and not told
    padded = any(not sheet.present[above][c] for c in range(1, sheet.n_cols))
    return any(spans) or padded


def _goes_on_in_lines(sheet: Sheet, row: int, said: list[str], below: list[str]) -> bool:
    """Return whether a row is a further line of the names above it, over columns of values.

    It says units in brackets, or words where the first column has nothing more to say and nobody says that
    the header has ended.
    """
    units = sum(map(_is_unit, said))
    if not said or row > _MOST_LINES or any(is_numeric(text) and not _is_unit(text) for text in said):
        return False
    unnamed = sheet.header_rows is None and not sheet.present[row][0]
    if not unnamed and ((sheet.header_rows or 1) > 1 or 2 * units < sheet.n_cols - 1):
        return False
    valued = sum(is_numeric(text) or not any(map(str.isalnum, text)) for text in below)
    return row < sheet.n_rows - 2 and valued > _MOSTLY * len(below)


def _is_unit(text: str) -> bool:
    """Return whether a text stands in brackets and is no interval or pair of numbers."""
    return _BRACKETED.fullmatch(text) is not None and any(c.isalpha() or c == "%" for c in text)


def is_section(sheet: Sheet, row: int) -> bool:
    """Return whether a row holds one text alone: in its first column, over all of them, or again in each."""
    present, starts, texts = sheet.present[row], sheet.starts[row], sheet.texts[row]
    if len(present) < 2 or not present[0]:
        return False
    # The first cell begins here, and no other one that says something does.
    if starts[0] and not (present[1] and starts[1]) and sum(map(and_, present, starts)) == 1:
        return True
    return bool(texts[0]) and texts.count(texts[0]) == len(texts) > 2 and not is_numeric(texts[0])


def label_columns(sheet: Sheet, n_header: int, sections: frozenset[int]) -> tuple[tuple[int, ...], ...]:
    """Return the columns that name the rows of each column.

    The first column does, and those after it as long as the ones before repeat or leave out names (a row
    span, an empty cell below a name). Where the header of the first column comes again, a new table stands
    beside the first one and brings its own labels.
    """
    # A name may come again in the next section.
    rows = groupby(range(n_header, sheet.n_rows), sections.__contains__)
    parts = [list(part) for is_section, part in rows if not is_section]
    # The lowest header text of each column.
    heads = sheet.texts[n_header - 1 :: -1] if n_header else []
    names = [next((row[c] for row in heads if row[c]), "") for c in range(sheet.n_cols)]
    again = [c for c in range(2, sheet.n_cols) if "" != names[c] == names[0]]
    begins = [0, *(c for c in again if _names_rows(sheet, parts, c))]
    result: list[tuple[int, ...]] = []
    for begin, end in pairwise([*begins, sheet.n_cols]):
        stub = _stub(sheet, parts, begin, end)
        result += [tuple(s for s in stub if s < c) for c in range(begin, end)]
    return tuple(result)


def _names_rows(sheet: Sheet, parts: list[list[int]], col: int) -> bool:
    """Return whether a column tells rows apart: at least half of its runs of equal texts are different
    ones.
    """
    runs: list[str] = []
    different = 0
    for rows in parts:
        begun = [sheet.texts[r][col] for r in rows if sheet.present[r][col] and sheet.starts[r][col]]
        found = [text for text, _ in groupby(begun)]
        different += len(set(found))
        runs += found
    worded = sum(any(c.isalnum() for c in text) for text in runs)
    return bool(runs) and different >= len(runs) / 2 and worded >= len(runs) / 2


def _repeats(sheet: Sheet, rows: list[int], col: int) -> bool:
    """Return whether a column names several rows at once: by a span, an empty cell, or the same text
    again.
    """
    begun = all(sheet.starts[r][col] and sheet.present[r][col] for r in rows)
    return not begun or any(sheet.texts[a][col] == sheet.texts[b][col] for a, b in pairwise(rows))


def _stub(sheet: Sheet, parts: list[list[int]], begin: int, end: int) -> list[int]:
    rows = [row for part in parts for row in part]
    if begin + 1 < end and not any(sheet.present[r][begin] and sheet.starts[r][begin] for r in rows):
        begin += 1  # an indent
    if not _names_rows(sheet, parts, begin):
        return []
    stub = [begin]
    while stub[-1] + 2 < end and any(_repeats(sheet, part, stub[-1]) for part in parts):
        following = stub[-1] + 1
        values = [sheet.texts[r][following] for r in rows if sheet.texts[r][following]]
        if not values or sum(is_numeric(v) for v in values) > len(values) / 2:
            break
        stub.append(following)
    return stub


def is_heading(sheet: Sheet, row: int) -> bool:
    """Return whether a row says one text alone, wherever it stands."""
    return sum(map(bool, sheet.texts[row])) == 1 or is_section(sheet, row)


def filled_down(
    sheet: Sheet, columns: list[int], n_header: int, *, hanging: bool = False
) -> dict[int, list[str]]:
    """Return the texts of columns, an empty cell repeating the one above; a header that comes again is passed
    over.

    If `hanging`, a name beside the header reaches down into the first rows of data, as a span would say.
    """
    heads = {tuple(sheet.texts[r]) for r in range(n_header)}
    rows = [r for r in range(n_header, sheet.n_rows) if tuple(sheet.texts[r]) not in heads]
    filled: dict[int, list[str]] = {}
    for col in columns:
        texts = [row[col] for row in sheet.texts]
        name = next(filter(None, texts[:n_header][::-1]), "") if hanging else ""
        for row in rows:
            name = texts[row] = texts[row] or name
        filled[col] = texts
    return filled


def says_deviations(sheet: Sheet, row: int, first: int = 0) -> bool:
    """Return whether all that begins in a row, from a column on, are deviations of the values above it:
    `(0.2)`.
    """
    texts = zip(sheet.texts[row][first:], sheet.starts[row][first:], strict=True)
    begun = [text for text, starts in texts if text and starts]
    return bool(begun) and all(map(_DEVIATION.fullmatch, begun))
