"""Comma-, semicolon- and tab-separated values.

Nothing in such a file says which rows are headers: header is None. Blank lines are no rows. In a mixed
document only blocks whose lines all have the same number of fields are taken, and commas only where they do
not look like prose.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Literal

from parsemark.errors import FormatError
from parsemark.formats.cell_text import clean_limited, without_controls
from parsemark.formats.found_table import FoundTable, TextLine, blocks, split_lines
from parsemark.formats.limits import MAX_COLUMNS, check_grid, check_lines, check_size, check_tables
from parsemark.model import Table

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
"""The first line of a file in which Excel says what separates its fields."""
_GAP = re.compile(r"\S(?: {2,}|\t)\S")
_SHORT_FIELD = 25


def find_csv_tables(text: str) -> list[FoundTable]:
    """Return the whole text as one table, separated by what gives most of its lines the same number of
    fields.

    Where several do, it is not the comma, which stands in numbers too.
    """
    if said := _SEPARATOR_LINE.match(text):
        return _whole(text, said[1], "csv", said.end())
    lines = [line for line in _QUOTED.sub("", text).splitlines() if line.strip()]

    def evidence(delimiter: str) -> tuple[int, int]:
        counts = Counter(line.count(delimiter) for line in lines)
        return max((n for count, n in counts.items() if count), default=0), len(lines) - counts[0]

    return _whole(text, max(";\t,", key=evidence), "csv")


def find_tsv_tables(text: str) -> list[FoundTable]:
    """Return the whole text as one table of tab-separated values."""
    return _whole(text, "\t", "tsv")


def find_delimited_tables(text: str) -> list[FoundTable]:
    """Return the blocks of lines in a text that are separated values beyond doubt."""
    found: list[FoundTable] = []
    for block in blocks(split_lines(text)):
        name, delimiter = _delimiter_of(block)
        if delimiter:
            start, end = block[0].start, block[-1].end
            check_tables(len(found) + 1, start)
            table = _read((line.text for line in block), delimiter, start)
            found.append(FoundTable(table, name, start, end, text[start:end]))
    return found


def find_small_csv_table(text: str) -> list[FoundTable]:
    """Return a text that is nothing but comma-separated values, if only two lines of two.

    In a document that is no evidence of a table; where a table is expected it is one. Commas with a space
    after them, as in prose, are none.
    """
    check_size(text)
    text = without_controls(text)
    found = list(islice(blocks(split_lines(text)), 2))
    if len(found) != 1 or not _is_regular([line.text for line in found[0]], ",", min_fields=4):
        return []
    return _whole(text, ",", "csv")


def _whole(text: str, delimiter: str, name: str, start: int = 0) -> list[FoundTable]:
    check_lines(text.count("\n"))
    if not text[start:].strip():
        return []
    # A quotation mark that nothing closes is a sign like others: it must not swallow the rows below it.
    opening = rf'(^|{re.escape(delimiter)})"'
    quotes = not re.search(opening, re.sub(rf'{opening}(?:[^"]|"")*"', r"\1", text, flags=re.M), re.M)
    table = _read(io.StringIO(text[start:], newline=""), delimiter, start, quotes)
    return [FoundTable(table, name, 0, len(text), text)]


def _read(lines: Iterable[str], delimiter: str, position: int, quotes: bool = True) -> Table:
    rows: list[list[str]] = []
    n_cols = 0
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    try:
        for row in filter(None, csv.reader(lines, delimiter=delimiter, quoting=quoting)):
            n_cols = max(n_cols, len(row))
            check_grid(len(rows) + 1, n_cols, position)
            rows.append([clean_limited(field, position) for field in row])
    except csv.Error as error:
        raise FormatError(f"The separated values cannot be read: {error}", position=position) from error
    return Table.from_rows(rows)


def _delimiter_of(block: list[TextLine]) -> tuple[str, str]:
    """Format and delimiter, or two empty strings where the block is not separated values."""
    lines = [line.text for line in block]
    if len(lines) < 2:
        return "", ""
    tabs = Counter(line.count("\t") for line in lines)
    if 0 not in tabs and tabs.most_common(1)[0][1] >= 0.8 * len(lines):
        return "tsv", "\t"
    for delimiter in (";", ","):
        if all(delimiter in line for line in lines) and _is_regular(lines, delimiter):
            return "csv", delimiter
    return "", ""


def _is_regular(lines: list[str], delimiter: str, min_fields: int = 6) -> bool:
    """Return whether all lines have the same number of fields and do not read like prose or aligned text."""
    if any(line.count(delimiter) > MAX_COLUMNS for line in lines):
        return False
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return False
    counts = {len(row) for row in rows}
    if len(counts) != 1 or min(counts) < 2 or len(rows) < 2:
        return False
    is_list = not any(field.strip() for row in rows for field in row[1:])  # its items end with a semicolon
    if is_list or any(_GAP.search(field) for row in rows for field in row):
        return False
    spaced = sum(field.startswith(" ") for row in rows for field in row[1:])
    if spaced > 0.2 * sum(len(row) - 1 for row in rows):  # behind commas, as in sentences
        ends_sentences = any(line.rstrip().endswith((".", ":", "!", "?", ",")) for line in lines)
        fields_are_short = all(len(field.strip()) <= _SHORT_FIELD for row in rows for field in row)
        return fields_are_short and not ends_sentences and len(rows) >= 3 and min(counts) >= 3
    return len(rows) * min(counts) >= min_fields or delimiter == ";" or any('"' in line for line in lines)
