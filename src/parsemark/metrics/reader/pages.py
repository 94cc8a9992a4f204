"""All that a text shows, tables and lines, in the ways in which they can be one table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

from rapidfuzz.distance import Levenshtein

from parsemark.formats import FoundTable
from parsemark.formats.html.markup import without_frame
from parsemark.formats.notation import fold_notation
from parsemark.formats.text.json_tables import Data, data_in
from parsemark.metrics.reader.events import Event, Kind
from parsemark.metrics.reader.likeness import tight
from parsemark.metrics.reader.regroup import regroup_columns, regroup_rows
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.stack import NARROW, itemized, records, side_by_side, stacked
from parsemark.metrics.reader.structure import Structure, read_structure

_MOST_TABLES = 12
"""Of a prediction with more tables, the first ones are read."""
MOST_LINES = 200
_A_ROW = 0.8
"""A line so much like a row's cells run together is that row."""
_GAP = re.compile(r"\t+| {2,}")
_LISTED = 0.5
"""Severity of lines that set off what they are about by a colon, against 1 for cells with spaces between."""
RECORDS = 0.2
"""Severity of lines that name the column of each value, or the only one of a name."""
_COUNTED_ROWS = 0.5
"""Severity of rows that are told by their place in another part of the table."""
_APART = 0.3
"""Severity of a further table beside the one that is asked for, against 1 for rows in it."""
_LINES_OF_TEXT = frozenset({"csv", "tsv", "plain"})
"""Formats that lines of anything may be taken for."""
_SET_OFF = re.compile(r"[:：=]| [-–—] ")
_CELL_BY_CELL = 2.0
"""Severity of lines of one cell each: rows have to be counted out too."""


@dataclass(frozen=True)
class Pages:
    """All that a text shows: its tables as sheets with the headings above them, and the text around them."""

    sheets: tuple[Sheet, ...]
    headings: tuple[str, ...] = ()
    outside: str = ""
    lines: tuple[str, ...] = ()
    """The lines of text around the tables."""
    items: tuple[str, ...] = ()
    """The lines that may be items of a list, though their commas may have been taken for those of a table."""
    as_data: bool = False
    """Whether the tables are given as data for programs."""

    @classmethod
    def from_found(cls, found: list[FoundTable], text: str) -> Pages:
        """The tables of a text and the text around them."""
        if _LINES_OF_TEXT.issuperset(f.format for f in found) and (data := data_in(text)) is not None:
            return cls._from_data(data)
        pieces, end = [], 0
        for f in found:
            pieces.append(text[end : f.start])
            end = max(end, f.end)
        pieces.append(text[end:])
        sheets = [(Sheet.from_table(f.table), piece) for f, piece in zip(found, pieces, strict=False)]
        kept = [(sheet, piece) for sheet, piece in sheets if sheet.n_rows][:_MOST_TABLES]
        lines = [line for piece in pieces for line in _lines(piece)]
        items = _lines(text) if found and _LINES_OF_TEXT.issuperset(f.format for f in found) else lines
        return cls(
            tuple(sheet for sheet, _ in kept),
            tuple(_heading(piece) for _, piece in kept),
            fold_notation(" ".join(lines)),
            tuple(lines[:MOST_LINES]),
            tuple(items[:MOST_LINES]),
        )

    @classmethod
    def _from_data(cls, data: Data) -> Pages:
        sheets = [Sheet.from_texts(grid) for grid in data.tables[:_MOST_TABLES]]
        lines = _lines(data.around)
        outside = fold_notation(" ".join(lines))
        sheets = [sheet for sheet in sheets if sheet.n_rows]
        return cls(tuple(sheets), ("",) * len(sheets), outside, tuple(lines[:MOST_LINES]), as_data=True)

    @cached_property
    def structure(self) -> Structure:
        """The headers of the first table."""
        return read_structure(self.sheets[0])


def _lines(text: str) -> list[str]:
    """The lines of a text without the marks of headings and the tags around a page."""
    return [
        stripped
        for line in without_frame(text).splitlines()
        if (stripped := line.strip().lstrip("#").strip())
    ]


def _heading(text: str) -> str:
    """The last line above a table."""
    return next(reversed(_lines(text)), "")


def arrangements(pages: Pages, structure: Structure) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
    """The tables of a prediction in the ways that they can be together, and what that does to them."""
    for sheet, extra in _arranged(pages, structure):
        if pages.as_data:
            extent = float(sum(map(sum, sheet.present)))
            message = "The table is given as data, with names and values between quotes and brackets."
            yield sheet, (*extra, Event(Kind.PLAIN_LINES, extent, message, severity=RECORDS))
        else:
            yield sheet, extra


def _arranged(pages: Pages, structure: Structure) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
    """The tables of a prediction together, in the ways that they can be, and each of them alone."""
    if len(pages.sheets) > 1:
        yield stacked(pages.sheets, pages.headings, headed=structure.n_header > 0), ()
        nameless = tuple(_nameless(pages.sheets, structure))
        for headings in (pages.headings, ()):
            beside = side_by_side(pages.sheets, headings)
            if beside is not None:
                yield beside, nameless
    for index, sheet in enumerate(pages.sheets):
        others = [s for k, s in enumerate(pages.sheets) if k != index]
        yield sheet, tuple(_unasked(s) for s in others)


def _nameless(sheets: Sequence[Sheet], structure: Structure) -> Iterable[Event]:
    """Parts of a table beside the first one that do not say again which row is which."""
    if sum(not labels for labels in structure.labels) > 1 or not any(structure.labels):
        return  # each part of the truth has names of its own, or none
    names = {row[0] for row in sheets[0].texts}
    for sheet in sheets[1:]:
        if 2 * sum(row[0] in names for row in sheet.texts) < sheet.n_rows:
            extent = float((sheet.n_rows - 1) * sheet.n_cols)
            message = "A part of the table does not name its rows, which have to be counted out."
            yield Event(Kind.HEADER_SHIFTED, extent, message, severity=_COUNTED_ROWS)


def _unasked(sheet: Sheet) -> Event:
    count = sum(sum(1 for text in row if text) for row in sheet.texts)
    message = "The output has a further table that does not belong here."
    return Event(Kind.INVENTED, float(count), message, severity=_APART)


def with_loose_rows(pages: Pages, truth: Sheet) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
    """The table together with rows that fell out of it: lines of text that read like rows it lacks.

    They stand below it, or behind the last cell of another row.
    """
    if len(pages.sheets) != 1 or pages.sheets[0].n_cols < truth.n_cols:
        return
    sheet, lines = pages.sheets[0], pages.lines
    if sheet.n_cols > truth.n_cols:
        beyond = [" ".join(t for t in row[truth.n_cols :] if t) for row in sheet.shown]
        lines = (*filter(None, beyond), *lines)[:MOST_LINES]
        sheet = sheet.part(range(sheet.n_rows), range(truth.n_cols))
    if not lines:
        return
    said = [tight(fold_notation(line)) for line in lines]
    if not _may_be_rows(said, truth):
        return
    rows = [_run_together(truth, r) for r in range(truth.n_rows)]
    there = {_run_together(sheet, r) for r in range(sheet.n_rows)}
    lacking = [r for r, row in enumerate(rows) if row not in there][:MOST_LINES]
    wanted = [rows[r] for r in lacking if rows[r]]
    loose = [line for line, told in zip(lines, said, strict=True) if _is_a_row(told, wanted)]
    if not loose:
        return
    cut = regroup_columns(
        truth.part(lacking, range(truth.n_cols)), Sheet.from_rows([[line] for line in loose])
    )
    if cut is not None and len(cut.merged) == 1 and cut.sheet.n_cols == len(cut.merged[0].lines):
        place = {column: k for k, column in enumerate(cut.merged[0].lines)}
        rest = cut.sheet.part(range(cut.sheet.n_rows), [place.get(c) for c in range(truth.n_cols)])
        message = f"{len(loose)} of the rows are given as text outside of the table."
        event = Event(Kind.PLAIN_LINES, float(sum(map(sum, rest.present))), message)
        yield Sheet.stacked([sheet, rest]), (event,)


def _may_be_rows(lines: list[str], sheet: Sheet) -> bool:
    """Whether a tight line is about as long as a row run together, without which it is none.

    Hyphens inside words are dropped as well, so that a row may be shorter than without its white space.
    """
    lengths = [(_A_ROW * len(line) - 1, len(line) / _A_ROW + 1) for line in lines]
    for texts, starts in zip(sheet.texts, sheet.starts, strict=True):
        row = "".join("".join(compress(texts, starts)).split())
        longest, shortest = len(row), len(row) - row.count("-")
        if any(least < longest and shortest < most for least, most in lengths):
            return True
    return False


def _is_a_row(line: str, rows: list[str]) -> bool:
    return any(Levenshtein.normalized_similarity(row, line) > _A_ROW for row in rows)


def _run_together(sheet: Sheet, row: int) -> str:
    return "".join(tight(t) for t, s in zip(sheet.texts[row], sheet.starts[row], strict=True) if s)


def lines_of(pages: Pages, truth: Sheet, heads: frozenset[str]) -> Iterable[tuple[Sheet, float]]:
    """The text around the tables as lines, if it has something of the truth; and how hard it is to read."""
    items = itemized(pages.items, heads) if pages.items else None
    if items is not None:
        yield items, RECORDS
    if not pages.lines:
        return
    words = set(map(tight, filter(None, set().union(*truth.texts))))
    said = tight(pages.outside)
    if not words or sum(word in said for word in words) < len(words) / 3:
        return
    lines = pages.lines
    spaced = [_GAP.split(line) for line in lines]
    if len({len(parts) for parts in spaced}) == 1 and len(spaced[0]) > 1:
        yield Sheet.from_rows(spaced), 0.0  # columns that gaps keep apart
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
        rows = [
            [" ".join(t for t, s in zip(truth.shown[r], truth.starts[r], strict=True) if s)]
            for r in range(truth.n_rows)
        ]
        cut = regroup_rows(Sheet.from_rows(rows), Sheet.from_rows([[" ".join(kept)]]))
        if cut is not None:
            yield cut.sheet, _CELL_BY_CELL
