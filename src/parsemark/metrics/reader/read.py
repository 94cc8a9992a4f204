"""Reads a prediction against the truth in every form that a reader would accept, and takes the best.

A table may be given upright or transposed, whole or in several tables with or without headings between
them, side by side, with rows folded into one, with columns run together, or as lines of text.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

from rapidfuzz.distance import Levenshtein

from parsemark.formats import FoundTable
from parsemark.formats.notation import fold_notation
from parsemark.metrics.reader.align import Likenesses, Lookup, align
from parsemark.metrics.reader.data import Data, data_in
from parsemark.metrics.reader.decimals import decimal_comma, with_points
from parsemark.metrics.reader.deviations import says_deviations, without_names_of_deviations
from parsemark.metrics.reader.events import Account, Event, Kind
from parsemark.metrics.reader.find import find_events
from parsemark.metrics.reader.likeness import is_numeric, tight
from parsemark.metrics.reader.marks import with_no_as_in
from parsemark.metrics.reader.parameters import Parameters
from parsemark.metrics.reader.paths import holds
from parsemark.metrics.reader.regroup import Grouped, Regrouped, regroup_columns, regroup_rows, unfolded
from parsemark.metrics.reader.rejoin import joined_rows, lines_joined
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.stack import (
    MOST_KEYS,
    blocks_below,
    by_name,
    itemized,
    parts_beside,
    pivoted,
    recorded,
    records,
    side_by_side,
    stacked,
    widened,
)
from parsemark.metrics.reader.structure import Structure, read_structure
from parsemark.metrics.reader.symbols import with_symbols_of
from parsemark.metrics.reader.values import Asked, Side

_MOST_TABLES = 12
"""Of a prediction with more tables, the first ones are read."""
_MOST_LINES = 200
_GOOD_ENOUGH = 9.4
"""A reading of at least this value is not tried in another form."""
_PLAUSIBLE = 0.6
"""Where this share of the values is there, a table is not tried transposed."""
_ROWS_TOGETHER = 0.8
"""Severity of rows run together with spaces between them, against 1 without."""
_A_ROW = 0.8
"""A line so much like a row's cells run together is that row."""
_GAP = re.compile(r"\t+| {2,}")
_TOP_ROWS = 3
"""Rows of a prediction in which headers are looked for."""
_NARROW = 2
"""A table of so few rows or columns is tried transposed in any case: little tells which way it stands."""
_LISTED = 0.5
"""Severity of lines that set off what they are about by a colon, against 1 for cells with spaces between."""
_RECORDS = 0.2
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
_POOR = 4.0
"""A reading of less than this value is tried transposed, unless most of it stands where it should."""
_RELATED = 0.2
"""Share of the truth's words that a table has to have to be tried in another form."""
_OF_MERGED_ROWS = frozenset(
    {Kind.ROW_MISSING, Kind.CUT_OFF, Kind.NAME_LOST, Kind.NAME_MISREAD, Kind.CELLS_MERGED}
)
_OF_MERGED_COLUMNS = frozenset(
    {
        Kind.COLUMN_MISSING,
        Kind.ROW_MISSING,
        Kind.INVENTED,
        Kind.CELLS_MERGED,
        Kind.VALUE_SHIFTED,
        Kind.VALUE_LOST,
    }
)
"""What columns or rows run together look like where they are taken as one."""
_ROUNDING = 1e-9
_SEPARATE = 0.9
"""Rows are folded, not merged, if this share of their cells has each part on a line of its own."""


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
            tuple(lines[:_MOST_LINES]),
            tuple(items[:_MOST_LINES]),
        )

    @classmethod
    def _from_data(cls, data: Data) -> Pages:
        sheets = [Sheet.from_texts(grid) for grid in data.tables[:_MOST_TABLES]]
        lines = _lines(data.around)
        outside = fold_notation(" ".join(lines))
        sheets = [sheet for sheet in sheets if sheet.n_rows]
        return cls(tuple(sheets), ("",) * len(sheets), outside, tuple(lines[:_MOST_LINES]), as_data=True)

    @cached_property
    def structure(self) -> Structure:
        """The headers of the first table."""
        return read_structure(self.sheets[0])


def _lines(text: str) -> list[str]:
    """The lines of a text without the marks of headings."""
    return [stripped for line in text.splitlines() if (stripped := line.strip().lstrip("#").strip())]


def _heading(text: str) -> str:
    """The last line above a table."""
    return next(reversed(_lines(text)), "")


def read(truth: Sheet, structure: Structure, pages: Pages, parameters: Parameters) -> Account:
    """The best account of a prediction as an answer to one table."""
    reader = _Reader(truth, structure, pages.outside, parameters)
    if len(pages.sheets) == 1 and not pages.as_data and pages.sheets[0].says_the_same_as(truth):
        return reader.nothing_happened()
    comma = decimal_comma(truth)
    if any(decimal_comma(sheet, comma) for sheet in pages.sheets) or comma:
        points = [with_points(s) if decimal_comma(s, comma) else s for s in pages.sheets]
        pages = dataclasses.replace(pages, sheets=tuple(points))
        truth = with_points(truth) if comma else truth
        reader = _Reader(truth, structure, pages.outside, parameters)
    best: Account | None = None
    for sheet, extra in _arrangements(pages, structure):
        found = reader.sheet(_as_in(truth, sheet))
        if extra:
            found = dataclasses.replace(found, events=(*found.events, *extra))
        if best is None or found.score(parameters) > best.score(parameters):
            best = found
        if best.score(parameters) >= _GOOD_ENOUGH:
            return best
    for sheet, extra in _with_loose_rows(pages, truth):
        found = reader.sheet(_as_in(truth, sheet))
        best = reader.better(best or found, dataclasses.replace(found, events=(*found.events, *extra)))
    for lines, severity in _lines_of(pages, truth, reader.heads):
        found = reader.lines(lines, severity)
        if best is None or found.score(parameters) > best.score(parameters):
            best = found
    if best is None:
        total = reader.nothing_happened().total
        best = Account((Event(Kind.ROW_MISSING, total, "All is missing: the output has no table."),), total)
    for layout in _layouts(truth, structure, pages):
        reader = _Reader(layout, read_structure(layout), pages.outside, parameters)
        for sheet, extra in _arrangements(pages, reader.structure):
            found = reader.sheet(_as_in(truth, sheet))
            best = reader.better(best, dataclasses.replace(found, events=(*found.events, *extra)))
    return best


def _as_in(truth: Sheet, sheet: Sheet) -> Sheet:
    """A predicted table with what it writes in another way, or adds to be clear, as the truth has it."""
    return without_names_of_deviations(truth, with_no_as_in(truth, with_symbols_of(truth, sheet)))


def _layouts(truth: Sheet, structure: Structure, pages: Pages) -> Iterable[Sheet]:
    """The truth laid out in another way that says the same."""
    found = (
        lines_joined(truth, structure.n_header, pages.sheets),
        _below_each_other(truth, structure),
        parts_beside(truth),
        recorded(truth),
        pivoted(truth),
        *(widened(truth, _heads(truth, sheet)) for sheet in pages.sheets[:1]),
    )
    return (layout for layout in found if layout is not None)


def _heads(truth: Sheet, pred: Sheet) -> frozenset[str]:
    """What the truth says again and again, and the prediction in its first rows, tight."""
    over = " | ".join(text for row in pred.texts[:_TOP_ROWS] for text in row if text)
    texts = Counter(text for row in truth.texts[1:] for text in row[:MOST_KEYS] if text)
    again = [text for text, count in texts.items() if count > 1 and not is_numeric(text)]
    return frozenset(tight(text) for text in again[:_MOST_LINES] if holds(over, text))


def _below_each_other(truth: Sheet, structure: Structure) -> Sheet | None:
    """The truth with the tables that stand beside each other in it put below each other."""
    begins = [c for c, labels in enumerate(structure.labels) if not labels]
    ends = [*begins[1:], truth.n_cols]
    widths = {end - begin for begin, end in zip(begins, ends, strict=True)}
    if len(begins) < 2 or len(widths) > 1 or widths == {1}:
        return None
    blocks = []
    for begin, end in zip(begins, ends, strict=True):
        columns = list(range(begin, end))
        rows = [r for r in range(truth.n_rows) if any(truth.present[r][c] for c in columns)]
        block = truth.part(rows, columns)
        blocks.append(dataclasses.replace(block, header_rows=structure.n_header))
    return stacked(blocks, [""] * len(blocks))


def _arrangements(pages: Pages, structure: Structure) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
    """The tables of a prediction in the ways that they can be together, and what that does to them."""
    for sheet, extra in _arranged(pages, structure):
        if pages.as_data:
            extent = float(sum(map(sum, sheet.present)))
            message = "The table is given as data, with names and values between quotes and brackets."
            yield sheet, (*extra, Event(Kind.PLAIN_LINES, extent, message, severity=_RECORDS))
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
        named = by_name(pages.sheets)
        if named is not None and (beside := side_by_side(named)) is not None:
            yield beside, ()
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


def _with_loose_rows(pages: Pages, truth: Sheet) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
    """The table together with rows that fell out of it: lines of text that read like rows it lacks.

    They stand below it, or behind the last cell of another row.
    """
    if len(pages.sheets) != 1 or pages.sheets[0].n_cols < truth.n_cols:
        return
    sheet, lines = pages.sheets[0], pages.lines
    if sheet.n_cols > truth.n_cols:
        beyond = [" ".join(t for t in row[truth.n_cols :] if t) for row in sheet.shown]
        lines = (*filter(None, beyond), *lines)[:_MOST_LINES]
        sheet = sheet.part(range(sheet.n_rows), range(truth.n_cols))
    if not lines:
        return
    said = [tight(fold_notation(line)) for line in lines]
    if not _may_be_rows(said, truth):
        return
    rows = [_run_together(truth, r) for r in range(truth.n_rows)]
    there = {_run_together(sheet, r) for r in range(sheet.n_rows)}
    lacking = [r for r, row in enumerate(rows) if row not in there][:_MOST_LINES]
    wanted = [rows[r] for r in lacking if rows[r]]
    loose = [line for line, told in zip(lines, said, strict=True) if _is_a_row(told, wanted)]
    if not loose:
        return
    cut = regroup_columns(truth.part(lacking, range(truth.n_cols)), Sheet.from_lines(loose))
    if cut is not None and len(cut.merged) == 1 and cut.sheet.n_cols == len(cut.merged[0].lines):
        place = {column: k for k, column in enumerate(cut.merged[0].lines)}
        rest = cut.sheet.part(range(cut.sheet.n_rows), [place.get(c) for c in range(truth.n_cols)])
        message = f"{len(loose)} of the rows are given as text outside of the table."
        event = Event(Kind.PLAIN_LINES, float(sum(map(sum, rest.present))), message)
        yield Sheet.stacked([sheet, rest], [], truth.n_cols), (event,)


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


def _lines_of(pages: Pages, truth: Sheet, heads: frozenset[str]) -> Iterable[tuple[Sheet, float]]:
    """The text around the tables as lines, if it has something of the truth; and how hard it is to read."""
    items = itemized(pages.items, heads) if pages.items else None
    if items is not None:
        yield items, _RECORDS
    if not pages.lines:
        return
    words = set(map(tight, filter(None, set().union(*truth.texts))))
    said = tight(pages.outside)
    if not words or sum(word in said for word in words) < len(words) / 3:
        return
    lines = pages.lines
    spaced = [_GAP.split(line) for line in lines]
    if len({len(parts) for parts in spaced}) == 1 and len(spaced[0]) > 1:
        yield Sheet.stacked([], spaced, len(spaced[0])), 0.0  # columns that gaps keep apart
    told = records(lines)
    if told is not None:
        yield told, _RECORDS
    listed = sum(_SET_OFF.search(line) is not None for line in lines) > len(lines) / 2
    severity = _RECORDS if truth.n_cols == _NARROW else _LISTED
    yield Sheet.from_lines(lines), severity if listed else 1.0
    if len(lines) == truth.n_rows * truth.n_cols and truth.n_cols > 1:
        # One cell on each line, row after row or column after column.
        by_row = [list(lines[k : k + truth.n_cols]) for k in range(0, len(lines), truth.n_cols)]
        yield Sheet.stacked([], by_row, truth.n_cols), _CELL_BY_CELL
        by_column = [list(lines[k :: truth.n_rows]) for k in range(truth.n_rows)]
        yield Sheet.stacked([], by_column, truth.n_cols), _CELL_BY_CELL
    elif truth.n_rows > 1:
        # One running text, or lines that end anywhere: its rows have to be found in it.
        kept = [line for line in lines if any(word in tight(fold_notation(line)) for word in words)]
        rows = [
            " ".join(t for t, s in zip(truth.shown[r], truth.starts[r], strict=True) if s)
            for r in range(truth.n_rows)
        ]
        cut = regroup_rows(Sheet.from_lines(rows), Sheet.from_lines([" ".join(kept)]))
        if cut is not None:
            yield cut.sheet, _CELL_BY_CELL


def _words(sheet: Sheet) -> set[str]:
    return set(" ".join(map(" ".join, sheet.texts)).split())


class _Reader:
    """Reads one arrangement of a prediction in every form."""

    def __init__(self, truth: Sheet, structure: Structure, outside: str, parameters: Parameters) -> None:
        self.truth, self.structure = truth, structure
        self.outside, self.parameters = outside, parameters
        self.likenesses = Likenesses(truth)
        self.words = _words(truth)
        self.asked = Asked(truth, structure, parameters.no_value)

    @cached_property
    def heads(self) -> frozenset[str]:
        """What stands over the values of the truth, tight."""
        rows, stubs = self.truth.texts[: self.structure.n_header], self.structure.stubs
        return frozenset(tight(text) for row in rows for c, text in enumerate(row) if text and c not in stubs)

    def nothing_happened(self) -> Account:
        """The account of the truth itself."""
        return Account((), self.asked.total)

    def sheet(self, pred: Sheet) -> Account:
        """The best account of one table, upright, transposed or regrouped."""
        side = self.side(pred)
        best = find_events(side, self.asked, self.outside)
        value = best.score(self.parameters)
        if value >= _GOOD_ENOUGH or not self.has_something_of_it(pred):
            return best
        doubtful = best.known < _PLAUSIBLE or (value < _POOR and not side.stands_upright)
        doubtful = doubtful or min(self.truth.n_rows, self.truth.n_cols) <= _NARROW
        if min(pred.n_rows, pred.n_cols) > 1 and doubtful:
            best = self.better(best, self.upright(pred.transposed(), best))
        blocks = blocks_below(pred, self.truth.n_cols)
        wide = widened(pred, self.heads)
        for other in filter(None, (blocks, pivoted(pred), recorded(pred), parts_beside(pred), wide)):
            best = self.better(best, self.upright(other, best))
        kinds = {event.kind for event in best.events}
        for regrouped, extra in self.regroupings(side.pred, kinds):
            best = self.better(best, self.upright(regrouped, best, extra))
        return best

    def lines(self, pred: Sheet, severity: float) -> Account:
        """The account of lines of text."""
        regrouped = regroup_columns(self.truth, pred) if pred.n_cols == 1 else None
        if regrouped is None and pred.n_cols == 1:
            return self.upright(pred)
        found = self.upright(regrouped.sheet if regrouped else pred)
        message = "The table is given as lines of text."
        event = Event(Kind.PLAIN_LINES, found.total, message, severity=severity)
        return dataclasses.replace(found, events=(*found.events, event))

    def has_something_of_it(self, pred: Sheet) -> bool:
        """Whether a table shares words with the truth; else no other form of it will do."""
        words = self.words & _words(pred)
        if len(words) >= _RELATED * len(self.words) or pred.n_rows * pred.n_cols >= self.truth.n_rows:
            return len(words) >= _RELATED * len(self.words)
        # Few cells that hold many may have run the words together as well.
        said = "".join(tight(text) for row in pred.texts for text in row)
        texts = {tight(text) for row in self.truth.texts for text in row if text}
        return sum(text in said for text in texts) >= _RELATED * len(texts)

    def better(self, one: Account, other: Account) -> Account:
        """The account with the higher score."""
        return other if other.score(self.parameters) > one.score(self.parameters) else one

    def upright(self, pred: Sheet, best: Account | None = None, extra: tuple[Event, ...] = ()) -> Account:
        """The account of a table as it stands, torn rows joined; a part of it where `best` is better.

        Args:
            pred: The table.
            best: The account that this one has to be better than.
            extra: What was done to the table to make it stand so.
        """
        least = best.score(self.parameters) - _ROUNDING if best is not None else 0.0

        def with_extra(account: Account) -> Account:
            return Account((*account.events, *extra), account.total) if extra else account

        def hopeless(account: Account) -> bool:
            return with_extra(account).score(self.parameters) < least

        side = self.side(pred)
        return with_extra(find_events(side, self.asked, self.outside, hopeless))

    def side(self, pred: Sheet) -> Side:
        """The truth and a table, aligned, torn rows joined."""
        alignment = align(Lookup(self.truth, pred, self.likenesses), self.structure.n_header)
        joined = joined_rows(self.truth, pred, alignment)
        if joined is not pred:
            alignment = align(Lookup(self.truth, joined, self.likenesses), self.structure.n_header)
        return Side(self.truth, self.structure, joined, alignment)

    def regroupings(self, pred: Sheet, kinds: set[Kind]) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
        """The table with merged rows cut, and with merged columns cut, where something points to that."""
        if kinds & _OF_MERGED_ROWS:
            folded = unfolded(pred, alone=pred.n_rows < self.truth.n_rows)
            if folded is not None:
                message = "Several rows are folded into one, each on its own line."
                extent = float(self.truth.n_rows * self.truth.n_cols)
                yield from self.with_columns_cut(folded, (Event(Kind.PADDED, extent, message),))
            few = pred.n_rows < self.truth.n_rows
            rows = regroup_rows(self.truth, pred, self.structure.n_header) if few else None
            if rows is not None:
                yield from self.with_columns_cut(rows.sheet, tuple(self.told(rows, Kind.ROWS_MERGED, "Rows")))
        if kinds & _OF_MERGED_COLUMNS or (Kind.NAME_LOST in kinds and pred.n_cols < self.truth.n_cols):
            columns = regroup_columns(self.truth, pred)
            if columns is not None:
                yield columns.sheet, tuple(self.told(columns, Kind.COLUMNS_MERGED, "Columns"))

    def with_columns_cut(
        self, rows: Sheet, extra: tuple[Event, ...]
    ) -> Iterable[tuple[Sheet, tuple[Event, ...]]]:
        """A table whose rows were cut, as it is and with its columns cut too."""
        yield rows, extra
        columns = regroup_columns(self.truth, rows) if rows.n_cols < self.truth.n_cols else None
        if columns is not None:
            yield columns.sheet, (*extra, *self.told(columns, Kind.COLUMNS_MERGED, "Columns"))

    def told(self, found: Regrouped, kind: Kind, noun: str) -> Iterable[Event]:
        """The events of a regrouping."""
        if found.merged:
            groups = found.merged
            held = sum(group.held for group in groups)
            numbers = ", ".join(self.names(group, kind) for group in groups[:3])
            more = f" and {len(groups) - 3} more" if len(groups) > 3 else ""
            if kind is Kind.ROWS_MERGED and all(map(self.continues, groups)):
                message = f"{noun} {numbers}{more} are given as one: a text goes on in the next row."
                yield Event(Kind.PADDED, held, message)
            elif kind is Kind.ROWS_MERGED and all(map(self.deviates, groups)):
                message = f"{noun} {numbers}{more} are given as one: deviations stand behind their values."
                yield Event(Kind.PADDED, held, message)
            elif sum(g.separate * g.held for g in groups) >= _SEPARATE * held:
                message = f"{noun} {numbers}{more} are folded into one, each part on its own line."
                yield Event(Kind.PADDED, held, message)
            else:
                glued = sum(g.glued * g.held for g in groups) / held if held else 0.0
                message = f"{noun} {numbers}{more} are run together."
                # Two columns are told apart more easily than four, and not at all where no space is left.
                apart = 1 - sum(group.held / len(group.lines) for group in groups) / held if held else 1.0
                apart = max(apart, _ROWS_TOGETHER) if kind is Kind.ROWS_MERGED else apart
                severity = apart + (1 - apart) * glued
                if (
                    kind is Kind.COLUMNS_MERGED
                    and sum(g.set_off * g.held for g in groups) >= _SEPARATE * held
                ):
                    message = f"{noun} {numbers}{more} are given as one, set off by brackets or commas."
                    severity = apart * _RECORDS
                yield Event(kind, held, message, severity=severity)
        if found.split:
            length = self.truth.n_rows if kind is Kind.COLUMNS_MERGED else self.truth.n_cols
            where = ", ".join(f"{lines[0] + 1}–{lines[-1] + 1}" for lines in found.split[:3])
            more = f" and {len(found.split) - 3} more" if len(found.split) > 3 else ""
            message = f"{noun} {where}{more} of the output are one in the truth."
            yield Event(Kind.COLUMN_SPLIT, float(length * len(found.split)), message)

    def continues(self, group: Grouped) -> bool:
        """Whether each further row of a group says nothing but one text, which has no name of its own."""
        if self.truth.n_cols == 1:
            return True
        rows = [self.truth.texts[r] for r in group.lines[1:]]
        return all(sum(map(bool, row)) == 1 and not row[0] and not is_numeric("".join(row)) for row in rows)

    def deviates(self, group: Grouped) -> bool:
        """Whether each further row of a group says deviations of the values in its first one."""
        return all(says_deviations(self.truth, row) for row in group.lines[1:])

    def names(self, group: Grouped, kind: Kind) -> str:
        """The lines of a group, counted from one; rows without those of the header."""
        offset = 1 if kind is Kind.COLUMNS_MERGED else 1 - self.structure.n_header
        first, last = group.lines[0] + offset, group.lines[-1] + offset
        return f"{first}–{last}" if first > 0 else f"the header–{last}"
