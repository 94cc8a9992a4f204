"""Reads a prediction against the truth in every form that a reader would accept, and takes the best.

A table may be given upright or transposed, whole or in several tables with or without headings between
them, side by side, with rows folded into one, with columns run together, or as lines of text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from itertools import chain

from parsemark.metrics.reader.align import Likenesses, Lookup, align
from parsemark.metrics.reader.citations import without_citations
from parsemark.metrics.reader.events import Account, Event, Kind
from parsemark.metrics.reader.find_events import find_events
from parsemark.metrics.reader.joined_tables import forms, layouts
from parsemark.metrics.reader.pages import Pages, arrangements, lines_of
from parsemark.metrics.reader.parameters import Parameters
from parsemark.metrics.reader.regroup import (
    Grouped,
    Regrouped,
    joined_rows,
    regroup_columns,
    regroup_rows,
    unfolded,
)
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.signs import with_no_as_in, with_symbols_of
from parsemark.metrics.reader.structure import Structure, read_structure, says_deviations
from parsemark.metrics.reader.texts import is_numeric, tight
from parsemark.metrics.reader.value_kinds import in_one_way
from parsemark.metrics.reader.values import Asked, Side

_GOOD_ENOUGH = 9.4
"""A reading of at least this value is not tried in another form."""
_PLAUSIBLE = 0.6
"""Where this share of the values is there and most stand upright, a table is not tried transposed."""
_ROWS_TOGETHER = 0.8
"""Severity of rows run together with spaces between them, against 1 without."""
_RELATED = 0.2
"""Share of the truth's words that a table has to have to be tried in another form."""
_OF_ROWS = frozenset({Kind.CUT_OFF, Kind.NAME_LOST, Kind.NAME_MISREAD})
_OF_COLUMNS = frozenset({Kind.COLUMN_MISSING, Kind.INVENTED, Kind.VALUE_SHIFTED, Kind.VALUE_LOST})
_OF_BOTH = frozenset({Kind.ROW_MISSING, Kind.CELLS_MERGED})
"""What columns or rows run together look like where they are taken as one."""
_ROUNDING = 1e-9
_SEPARATE = 0.9
"""Rows are folded, not merged, if this share of their cells has each part on a line of its own."""


def read(truth: Sheet, structure: Structure, pages: Pages, parameters: Parameters) -> Account:
    """The best account of a prediction as an answer to one table."""
    if len(pages.sheets) == 1 and not pages.as_data and pages.sheets[0].says_the_same_as(truth):
        return Account((), Asked(truth, structure, parameters.no_value).total)
    # Numbers and other values of all tables are written in one way.
    pairs = [in_one_way(truth, sheet) for sheet in pages.sheets]
    truth = pairs[0][0] if pairs else in_one_way(truth, truth)[0]
    pages = dataclasses.replace(pages, sheets=tuple(pred for _, pred in pairs))
    best: Account | None = None
    others = (in_one_way(other, other)[0] for other in layouts(truth, structure, pages.sheets))
    for layout in chain([truth], others):
        as_given = layout is truth
        asked = Asked(layout, structure if as_given else read_structure(layout), parameters.no_value)
        reader = _Reader(asked, pages, parameters)
        for found in reader.accounts(lines=as_given or not pages.sheets):
            if best is None or found.score(parameters) > best.score(parameters):
                best = found
            if best.score(parameters) >= _GOOD_ENOUGH:
                return best
    nothing = Event(Kind.ROW_MISSING, asked.total, "All is missing: the output has no table.")
    return best or Account((nothing,), asked.total)


def _words(sheet: Sheet) -> set[str]:
    return set(" ".join(map(" ".join, sheet.texts)).split())


_Form = tuple[Sheet, tuple[Event, ...]]
"""A prediction put as the truth has it, and what had been done to it."""


class _Reader:
    """Reads one arrangement of a prediction in every form."""

    def __init__(self, asked: Asked, pages: Pages, parameters: Parameters) -> None:
        self.truth, self.structure, self.asked = asked.truth, asked.structure, asked
        self.pages, self.parameters = pages, parameters
        self.likenesses = Likenesses(asked.truth)
        self.words = _words(asked.truth)

    def accounts(self, *, lines: bool) -> Iterable[Account]:
        """The accounts of all ways in which the tables of a prediction, and its lines, can be one table."""
        for sheet, extra in arrangements(self.pages, self.structure):
            # What it writes in another way, or adds to be clear, as the truth has it.
            alike = with_no_as_in(self.truth, with_symbols_of(self.truth, sheet))
            yield self.sheet(without_citations(self.truth, alike)).plus(extra)
        for sheet, severity in lines_of(self.pages, self.truth) if lines else ():
            yield self.lines(without_citations(self.truth, sheet), severity)

    def sheet(self, pred: Sheet) -> Account:
        """The best account of one table, upright, transposed or regrouped."""
        side = self.side(pred)
        best = find_events(side, self.pages.outside)
        if best.score(self.parameters) >= _GOOD_ENOUGH or not self.has_something_of_it(pred):
            return best
        doubtful = best.known < _PLAUSIBLE or not side.stands_upright
        if min(pred.n_rows, pred.n_cols) > 1 and doubtful:
            best = self.better(best, self.upright(pred.transposed(), best))
        for other in forms(pred, self.truth):
            best = self.better(best, self.upright(other, best))
        for form, extra in self.regroupings(side.pred, {event.kind for event in best.events}):
            best = self.better(best, self.upright(form, best, extra))
        return best

    def lines(self, pred: Sheet, severity: float) -> Account:
        """The account of lines of text."""
        regrouped = regroup_columns(self.truth, pred) if pred.n_cols == 1 else None
        found = self.upright(regrouped.sheet if regrouped else pred)
        message = "The table is given as lines of text."
        event = Event(Kind.PLAIN_LINES, found.total, message, severity=severity)
        return found.plus([event])

    def has_something_of_it(self, pred: Sheet) -> bool:
        """Whether a table shares words with the truth; else no other form of it will do."""
        if len(self.words & _words(pred)) >= _RELATED * len(self.words):
            return True
        # Few cells that hold many may have run the words together as well.
        said = "".join(tight(text) for row in pred.texts for text in row)
        few = pred.n_rows * pred.n_cols < self.truth.n_rows
        return few and sum(text in said for text in self.asked.said) >= _RELATED * len(self.asked.said)

    def better(self, one: Account, other: Account) -> Account:
        """The account with the higher score."""
        return other if other.score(self.parameters) > one.score(self.parameters) else one

    def upright(self, pred: Sheet, best: Account | None = None, extra: tuple[Event, ...] = ()) -> Account:
        """The account of a table as it stands, torn rows joined; a part of it where `best` is better.

        What was done to the table to make it stand so is `extra`.
        """
        least = best.score(self.parameters) - _ROUNDING if best is not None else 0.0

        def hopeless(account: Account) -> bool:
            return account.plus(extra).score(self.parameters) < least

        side = self.side(in_one_way(self.truth, pred)[1])
        return find_events(side, self.pages.outside, hopeless).plus(extra)

    def side(self, pred: Sheet) -> Side:
        """The truth and a table, aligned, torn rows joined."""
        alignment = align(Lookup(self.truth, pred, self.likenesses), self.structure.n_header)
        joined, torn = joined_rows(self.truth, pred, alignment, self.structure.n_header)
        if joined is not pred:
            alignment = align(Lookup(self.truth, joined, self.likenesses), self.structure.n_header)
        return Side(self.asked, joined, alignment, torn)

    def regroupings(self, pred: Sheet, kinds: set[Kind]) -> Iterable[_Form]:
        """The table with merged rows cut, and with merged columns cut, where something points to that."""
        few, narrow = pred.n_rows < self.truth.n_rows, pred.n_cols < self.truth.n_cols
        cut: list[_Form] = []
        if kinds & (_OF_ROWS | _OF_BOTH):
            if (folded := unfolded(pred, alone=few)) is not None:
                message = "Several rows are folded into one, each on its own line."
                event = Event(Kind.PADDED, float(self.truth.n_rows * self.truth.n_cols), message)
                cut.append((folded, (event,)))
            if few and (rows := regroup_rows(self.truth, pred, self.structure.n_header)):
                cut.append((rows.sheet, tuple(self.told(rows, Kind.ROWS_MERGED, "Rows"))))
        yield from cut
        if (narrow and Kind.NAME_LOST in kinds) or kinds & (_OF_COLUMNS | _OF_BOTH):
            cut.append((pred, ()))
        for sheet, extra in cut:
            if (sheet is pred or narrow) and (columns := regroup_columns(self.truth, sheet)):
                yield columns.sheet, (*extra, *self.told(columns, Kind.COLUMNS_MERGED, "Columns"))

    def told(self, found: Regrouped, kind: Kind, noun: str) -> Iterable[Event]:
        """The events of a regrouping."""
        groups, of_rows = found.merged, kind is Kind.ROWS_MERGED
        if groups:
            held = sum(group.held for group in groups)
            which = f"{noun} {_listed([self.names(group, kind) for group in groups])}"

            def share(of: Callable[[Grouped], float]) -> float:
                return sum(of(group) * group.held for group in groups) / held if held else 0.0

            # Two columns are told apart more easily than four, and not at all where no space is left.
            apart = 1 - share(lambda group: 1 / len(group.lines))
            apart = max(apart, _ROWS_TOGETHER) if of_rows else apart
            if of_rows and all(map(self.goes_on, groups)):
                why = "a text goes on, or deviations stand behind their values"
                yield Event(Kind.PADDED, held, f"{which} are given as one: {why}.")
            elif share(lambda group: group.separate) >= _SEPARATE:
                yield Event(Kind.PADDED, held, f"{which} are folded into one, each part on its own line.")
            else:
                severity = apart + (1 - apart) * share(lambda group: group.glued)
                yield Event(kind, held, f"{which} are run together.", severity=severity)
        if found.split:
            length = self.truth.n_cols if of_rows else self.truth.n_rows
            where = _listed([f"{lines[0] + 1}–{lines[-1] + 1}" for lines in found.split])
            message = f"{noun} {where} of the output are one in the truth."
            yield Event(Kind.COLUMN_SPLIT, float(length * len(found.split)), message)

    def goes_on(self, group: Grouped) -> bool:
        """Whether each further row of a group says one text without a name, or deviations of the values."""
        rows = [self.truth.texts[r] for r in group.lines[1:]]
        texts = [[text for text in row if text] for row in rows]
        lines = all(
            len(t) == 1 and not row[0] and not is_numeric(t[0]) for row, t in zip(rows, texts, strict=True)
        )
        return self.truth.n_cols == 1 or lines or all(says_deviations(self.truth, r) for r in group.lines[1:])

    def names(self, group: Grouped, kind: Kind) -> str:
        """The lines of a group, counted from one; rows without those of the header."""
        offset = 1 if kind is Kind.COLUMNS_MERGED else 1 - self.structure.n_header
        first, last = group.lines[0] + offset, group.lines[-1] + offset
        return f"{first}–{last}" if first > 0 else f"the header–{last}"


def _listed(names: list[str]) -> str:
    """The first of some names, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
