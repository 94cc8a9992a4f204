"""All that a text shows, tables and lines, in the ways in which they can be one table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, compress

from parsemark.formats import FoundTable
from parsemark.formats.html.markup import without_frame
from parsemark.formats.notation import fold_notation
from parsemark.formats.text.json_tables import data_in
from parsemark.metrics.reader.events import UNASKED, Event, Kind
from parsemark.metrics.reader.joined_tables import NARROW, records, side_by_side, stacked
from parsemark.metrics.reader.regroup import regroup_rows
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import Structure, read_structure
from parsemark.metrics.reader.texts import tight

_MOST_TABLES = 12
"""Of a prediction with more tables, the first ones are read."""
MOST_LINES = 200
_LISTED = 0.5
"""Severity of lines that set off what they are about by a colon, against 1 for cells with spaces between."""
RECORDS = 0.2
"""Severity of lines that name the column of each value, or the only one of a name."""
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
    as_data: bool = False
    """Whether the tables are given as data for programs."""

    @classmethod
    def from_found(cls, found: list[FoundTable], text: str) -> Pages:
        """The tables of a text and the text around them."""
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
        """The headers of the first table."""
        return read_structure(self.sheets[0])


def _lines(text: str) -> list[str]:
    """The lines of a text without the marks of headings and the tags around a page."""
    return [
        stripped
        for line in without_frame(text).splitlines()
        if (stripped := line.strip().lstrip("#").strip())
    ]


def arrangements(pages: Pages, structure: Structure) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
    """The tables of a prediction together or each of them alone, with what that does to it."""
    message = "The table is given as data, with names and values between quotes and brackets."
    for sheet, extra in _arranged(pages, structure):
        event = Event(Kind.PLAIN_LINES, float(sum(map(sum, sheet.present))), message, severity=RECORDS)
        yield sheet, (*extra, event) if pages.as_data else extra


def _arranged(pages: Pages, structure: Structure) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
    if len(pages.sheets) > 1:
        yield stacked(pages.sheets, pages.headings, headed=structure.n_header > 0), ()
        for headings in (pages.headings, ()):
            beside = side_by_side(pages.sheets, headings)
            if beside is not None:
                yield beside, ()
    message = "The output has a further table that does not belong here."
    counts = [float(sum(map(bool, chain.from_iterable(sheet.texts)))) for sheet in pages.sheets]
    unasked = [Event(Kind.INVENTED, count, message, severity=UNASKED) for count in counts]
    for k, sheet in enumerate(pages.sheets):
        yield sheet, (*unasked[:k], *unasked[k + 1 :])
    # Rows that fell out of the only table: lines of as many words as it has columns.
    width = pages.sheets[0].n_cols if len(pages.sheets) == 1 else 0
    loose = [words for line in pages.lines if len(words := line.split()) == width > 1]
    if loose:
        message = f"{len(loose)} of the rows are given as text outside of the table."
        event = Event(Kind.PLAIN_LINES, float(width * len(loose)), message)
        yield Sheet.stacked([*pages.sheets, Sheet.from_rows(loose)]), (event,)


def lines_of(pages: Pages, truth: Sheet) -> Iterable[tuple[Sheet, float]]:
    """The text around the tables as lines, if it has something of the truth; and how hard it is to read."""
    words = set(map(tight, filter(None, set().union(*truth.texts))))
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
            yield cut.sheet, _CELL_BY_CELL
