"""All that a text shows, tables and lines, in the ways in which they can be one table.

Tables may stand below each other or side by side, as lists, as records of keys and values, or as lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, compress, pairwise

from parsemark.formats import FoundTable
from parsemark.formats.html.markup import without_frame
from parsemark.formats.notation import fold_notation
from parsemark.formats.text.json_tables import data_in
from parsemark.metrics.reader.events import UNASKED, Event, Kind
from parsemark.metrics.reader.likeness import likeness
from parsemark.metrics.reader.regroup import Form, columns_joined, lines_joined, regroup_rows
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import Structure, read_structure
from parsemark.metrics.reader.symbols import answers
from parsemark.metrics.reader.texts import tight

_MOST_TABLES = 12  # of a prediction with more tables, the first ones are read
MOST_LINES = 200
_LISTED = 0.5
"""Severity of lines that set off what they are about by a colon, against 1 for cells with spaces between."""
RECORDS = 0.2  # severity of lines that name the column of each value, or the only one of a name
_LINES_OF_TEXT = frozenset({"csv", "tsv", "plain"})  # formats that lines of anything may be taken for
_SET_OFF = re.compile(r"[:：=]| [-–—] ")
_CELL_BY_CELL = 2.0  # severity of lines of one cell each: rows have to be counted out too
NARROW = 2  # of a table of so few rows or columns little tells which way it stands
_MOST_HEADER_ROWS = 4
_SAME_HEADER = 0.8
_ITEM = re.compile(r"\(?\d{1,2}[.)]\s+")  # the number of an item of a list
_EMPHASIS = re.compile(r"\*\*|__")


@dataclass(frozen=True)
class Pages:
    """All that a text shows: its tables as sheets with the headings above them, and the text around them."""

    sheets: tuple[Sheet, ...]
    headings: tuple[str, ...] = ()
    outside: str = ""
    lines: tuple[str, ...] = ()  # the lines of text around the tables
    as_data: bool = False  # whether the tables are given as data for programs

    @classmethod
    def from_found(cls, found: list[FoundTable], text: str) -> Pages:
        """Return the tables of a text and the text around them."""
        data = data_in(text) if _LINES_OF_TEXT.issuperset(f.format for f in found) else None
        if data is not None:
            sheets = [(Sheet.from_texts(grid), "") for grid in data.tables[:_MOST_TABLES]]
            pieces = [data.around]
        else:
            ends = accumulate((f.end for f in found), max, initial=0)
            pieces = [text[end : f.start] for end, f in zip(ends, found, strict=False)]
            sheets = [(Sheet.from_table(f.table), piece) for f, piece in zip(found, pieces, strict=True)]
            pieces.append(text[max((f.end for f in found), default=0) :])
        kept = [(sheet, piece) for sheet, piece in sheets if sheet.n_rows][:_MOST_TABLES]
        lines = [line for piece in pieces for line in _lines(piece)]
        return cls(
            tuple(sheet for sheet, _ in kept),
            tuple((_lines(piece) or [""])[-1] for _, piece in kept),
            fold_notation(" ".join(lines)),
            tuple(lines[:MOST_LINES]),
            as_data=data is not None,
        )

    @cached_property
    def structure(self) -> Structure:
        """Return the headers of the first table."""
        return read_structure(self.sheets[0])


def _lines(text: str) -> list[str]:
    """Return the lines of a text without the marks of headings and the tags around a page."""
    stripped = (line.strip().lstrip("#").strip() for line in without_frame(text).splitlines())
    return list(filter(None, stripped))


def arrangements(pages: Pages, structure: Structure) -> Iterable[Form]:
    """Yield the tables of a prediction together or each of them alone, with what that does to it."""
    found: list[Form] = []
    if len(pages.sheets) > 1:
        beside = (side_by_side(pages.sheets, headings) for headings in (pages.headings, ()))
        together = stacked(pages.sheets, pages.headings, headed=structure.n_header > 0)
        found += [(sheet, ()) for sheet in (together, *beside) if sheet is not None]
    message = "The output has a further table that does not belong here."
    counts = [float(sum(map(bool, chain.from_iterable(sheet.texts)))) for sheet in pages.sheets]
    unasked = [Event(Kind.INVENTED, count, message, severity=UNASKED) for count in counts]
    found += [(sheet, (*unasked[:k], *unasked[k + 1 :])) for k, sheet in enumerate(pages.sheets)]
    # Rows that fell out of the only table: lines of as many words as it has columns.
    width = pages.sheets[0].n_cols if len(pages.sheets) == 1 else 0
    loose = [words for line in pages.lines if len(words := line.split()) == width > 1]
    if loose:
        message = f"{len(loose)} of the rows are given as text outside of the table."
        event = Event(Kind.PLAIN_LINES, float(width * len(loose)), message)
        found.append((Sheet.stacked([*pages.sheets, Sheet.from_rows(loose)]), (event,)))
    message = "The table is given as data, with names and values between quotes and brackets."
    for sheet, extra in found:
        event = Event(Kind.PLAIN_LINES, float(sum(map(sum, sheet.present))), message, severity=RECORDS)
        yield sheet, (*extra, event) if pages.as_data else extra


def lines_of(pages: Pages, truth: Sheet) -> Iterable[tuple[Sheet, float]]:
    """Yield the text around the tables as lines, if it has something of the truth; and how hard it is to
    read.
    """
    if not pages.outside:
        return
    words = set(map(tight, filter(None, truth.said)))
    said = tight(pages.outside)
    if not words or sum(word in said for word in words) < len(words) / 3:
        return
    lines = pages.lines
    told = records(lines)
    if told is not None:
        yield told, RECORDS
    listed = sum(_SET_OFF.search(line) is not None for line in lines) > len(lines) / 2
    severity = RECORDS if truth.n_cols == NARROW else _LISTED
    yield Sheet.from_rows([[line] for line in lines]), severity if listed else 1.0
    if len(lines) == truth.n_rows * truth.n_cols and truth.n_cols > 1:
        # One cell on each line, row after row or column after column.
        by_row = [list(lines[k : k + truth.n_cols]) for k in range(0, len(lines), truth.n_cols)]
        yield Sheet.from_rows(by_row), _CELL_BY_CELL
        by_column = [list(lines[k :: truth.n_rows]) for k in range(truth.n_rows)]
        yield Sheet.from_rows(by_column), _CELL_BY_CELL
    elif truth.n_rows > 1:
        # One running text, or lines that end anywhere: its rows have to be found in it.
        kept = [line for line in lines if any(word in tight(fold_notation(line)) for word in words)]
        rows = [[" ".join(compress(*line))] for line in zip(truth.shown, truth.starts, strict=True)]
        cut = regroup_rows(Sheet.from_rows(rows), Sheet.from_rows([[" ".join(kept)]]))
        if cut is not None:
            yield cut[0], _CELL_BY_CELL


def forms(pred: Sheet, truth: Sheet) -> Iterable[Sheet]:
    """Return a predicted table in other layouts that say the same."""
    found = (
        _blocks_below(pred, range(0, pred.n_cols, max(truth.n_cols, 2)), pred.header_rows),
        _recorded(pred),
        _pivoted(pred),
        columns_joined(pred, [truth], pred.header_rows or 1) if pred.n_cols > truth.n_cols else None,
        # The columns of a script that runs to the left may be given the other way round.
        pred.part(range(pred.n_rows), range(pred.n_cols)[::-1]) if truth.runs_to_the_left else None,
    )
    return filter(None, found)


def layouts(truth: Sheet, structure: Structure, preds: Sequence[Sheet]) -> Iterable[Sheet]:
    """Return the truth in other layouts that say the same, where a prediction points to one of them."""
    begins = [c for c, labels in enumerate(structure.labels) if not labels]
    found = (
        lines_joined(truth, structure.n_header, preds),
        columns_joined(truth, preds, structure.n_header),
        _blocks_below(truth, begins, structure.n_header),
        answers(truth) if all(sheet.n_cols <= NARROW for sheet in preds) else None,
        _recorded(truth),
        _pivoted(truth),
    )
    return filter(None, found)


def stacked(sheets: Sequence[Sheet], headings: Sequence[str], *, headed: bool = True) -> Sheet:
    """Return tables below each other, headings as section rows; if `headed`, repeated headers are dropped."""
    widest = max(sheets, key=lambda s: s.n_cols)
    again = [_repeated(sheets[0], sheet) if headed else 0 for sheet in sheets]
    first = max(again[1:], default=0) or max(1, sheets[0].header_rows or 1)
    told = len(set(headings)) > 1 and sum(map(bool, headings)) >= len(sheets) - 1
    parts = [sheets[0].part(range(min(first, sheets[0].n_rows)), _columns(widest, sheets[0]))]
    for sheet, heading, skipped in zip(sheets, headings, [first, *again[1:]], strict=True):
        if told and heading:
            parts.append(Sheet.from_rows([[heading, *[""] * (widest.n_cols - 1)]]))
        parts.append(sheet.part(range(skipped, sheet.n_rows), _columns(widest, sheet)))
    return Sheet.stacked(parts)


def _repeated(first: Sheet, later: Sheet) -> int:
    """Return how many leading rows of a later table are the header of the first one again."""
    columns = [(c, k) for c, k in enumerate(_columns(first, later)) if k is not None]
    for count, (ours, theirs) in enumerate(zip(first.texts, later.texts, strict=False)):
        filled = [(ours[c], theirs[k]) for c, k in columns if ours[c] or theirs[k]]
        alike = sum(likeness(one, other) for one, other in filled if one and other)
        if count == _MOST_HEADER_ROWS or not filled or alike < _SAME_HEADER * len(filled):
            return count
    return min(first.n_rows, later.n_rows)


def _columns(widest: Sheet, sheet: Sheet) -> list[int | None]:
    """Return for each column of the widest table the one of another table below it, by header or by place."""
    by_place = [c if c < sheet.n_cols else None for c in range(widest.n_cols)]
    if sheet.n_cols == widest.n_cols:
        return by_place
    left = {k: text for k, text in enumerate(sheet.texts[0]) if text}
    found: list[int | None] = []
    for name in widest.texts[0]:
        at = next((k for k, text in left.items() if text == name), None)
        found.append(at)
        left.pop(-1 if at is None else at, None)
    return found if len(found) - found.count(None) >= min(2, sheet.n_cols) else by_place


def side_by_side(sheets: Sequence[Sheet], headings: Sequence[str] = ()) -> Sheet | None:
    """Return tables beside each other, under their headings if there are some; shorter ones end before."""
    n_rows = max(s.n_rows for s in sheets)
    if n_rows < 2 or any(2 * s.n_rows <= n_rows for s in sheets):
        return None
    parts = []
    for k, sheet in enumerate(sheets):
        below = Sheet.from_rows([[""] * sheet.n_cols] * (n_rows - sheet.n_rows))
        over = Sheet.from_rows([["", *[headings[k]] * (sheet.n_cols - 1)]] if any(headings) else [])
        parts.append(Sheet.stacked([part for part in (over, sheet, below) if part.n_rows]))
    return Sheet.beside(parts, None if any(headings) else sheets[0].header_rows)


def _blocks_below(sheet: Sheet, begins: Sequence[int], n_header: int | None) -> Sheet | None:
    """Return blocks of equally many columns beside each other, below each other; a header again is
    dropped.
    """
    bounds = list(pairwise([*begins, sheet.n_cols]))
    widths = {end - begin for begin, end in bounds}
    if len(bounds) < 2 or len(widths) > 1 or widths == {1}:
        return None
    blocks = []
    for begin, end in bounds:
        rows = [r for r in range(sheet.n_rows) if any(sheet.present[r][begin:end])]
        if len(rows) < 2 or rows[-1] != len(rows) - 1:
            return None  # a list has no gaps
        blocks.append(sheet.part(rows, range(begin, end), n_header))
    return stacked(blocks, [""] * len(blocks))


def _pivoted(sheet: Sheet) -> Sheet | None:
    """Return a list of row, column and value with the columns beside each other, if it is one."""
    if sheet.n_cols != 3 or sheet.n_rows < 5:  # a header over two by two
        return None
    filled: list[str] = [sheet.shown[1][0]]
    for row in sheet.shown[2:]:
        filled.append(row[0] or filled[-1])
    values = {(name, row[1]): row[2] for name, row in zip(filled, sheet.shown[1:], strict=True)}
    names, columns = list(dict.fromkeys(filled)), list(dict.fromkeys(row[1] for row in sheet.shown[1:]))
    whole = len(values) == sheet.n_rows - 1 == len(names) * len(columns)
    if not whole or min(len(names), len(columns)) < 2:
        return None
    lines = [[name, *(values[name, column] for column in columns)] for name in names]
    return Sheet.from_rows([[sheet.shown[0][0], *columns], *lines])


def records(lines: Sequence[str]) -> Sheet | None:
    """Return lines `key: value`, the same keys again and again, as a table with a row for each time."""
    # Without the marks of lists and of emphasis.
    plain = (_ITEM.sub("", line.lstrip("-*•–·+ ")) for line in lines)
    parts = (_EMPHASIS.sub("", line).replace("：", ":").partition(":") for line in plain)
    return _as_records(
        (key.strip(), value.strip()) if value.strip() else ("", key) for key, _, value in parts
    )


def _recorded(sheet: Sheet) -> Sheet | None:
    """Return a table of keys and values, the same keys again and again, as one with a row for each time."""
    if sheet.n_cols != 2 or sheet.n_rows < 4:  # two keys, two times
        return None
    keys = Counter(row[0] for row in sheet.texts)
    begin = int(keys[sheet.texts[0][0]] == 1)  # `Field | Value`
    # A text without a value that comes once is what the next ones are about.
    rows = zip(sheet.texts[begin:], sheet.shown[begin:], strict=True)
    return _as_records(
        (shown[0], shown[1]) if shown[1] or keys[texts[0]] > 1 else ("", shown[0]) for texts, shown in rows
    )


def _as_records(pairs: Iterable[tuple[str, str]]) -> Sheet | None:
    """Return keys and values as a table, a new row for each key that comes again, or where a key is empty."""
    found: list[dict[str, str]] = []
    for key, value in pairs:
        if not found or key in found[-1] or not key:
            found.append({})
        found[-1][key] = value.strip()
    keys = sorted(dict.fromkeys(key for record in found for key in record), key=bool)
    if len(found) < 2 or len(keys) < 2 or 2 * sum(map(len, found)) < len(found) * len(keys):
        return None
    return Sheet.from_rows([keys, *([record.get(key, "") for key in keys] for record in found)])
