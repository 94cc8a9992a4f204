"""The values of the truth, and what became of each; what was done to all of them alike is one event."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, compress, pairwise, product
from typing import NamedTuple

from parsemark.metrics.reader.align import Alignment
from parsemark.metrics.reader.events import Causes, Event, Kind, quote
from parsemark.metrics.reader.likeness import (
    ANOTHER,
    ANOTHER_UNIT,
    MARKS,
    NEAR,
    SAME,
    SLIGHTLY,
    Change,
    Difference,
    difference,
    likeness,
    misread,
    noted,
    slip,
)
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import Structure, filled_down
from parsemark.metrics.reader.texts import is_numeric, numbers, state, tight

Position = tuple[int, int]
_SHORT = 4  # a slip of so many characters (`->.` is three) that comes again has one cause
_OF_NUMBERS = frozenset("0123456789.,-")
_DIGITS = re.compile(r"\d+")
_SIGN_FIRST = re.compile(r"^-([$€£¥₹])")
_LEAST_STATES = 3  # so many values that say yes or no tell whether both became one
_SIGN = 3  # a value of at most so many characters may be a sign that stands for something
_ONE_STATE = 0.85  # severity of yes and no that became one: no value of them is known


class Asked:
    """The values that a table is asked for; a cell that says there is none weighs `no_value`."""

    def __init__(self, truth: Sheet, structure: Structure, no_value: float) -> None:
        self.truth, self.structure = truth, structure
        stubs = structure.stubs
        self.weights: dict[Position, float] = {}
        self.columns_in: dict[int, list[int]] = {}  # the columns of each row that has values
        self.of_row: defaultdict[int, float] = defaultdict(float)
        self.of_column: defaultdict[int, float] = defaultdict(float)
        self.section_of: dict[int, str] = {}  # the heading above each row of data
        section = ""
        for row in range(structure.n_header, truth.n_rows):
            texts = truth.texts[row]
            if row in structure.sections:
                section = texts[0]
                continue
            self.section_of[row] = section
            there = [c for c, present in enumerate(truth.present[row]) if present]
            # A name is no value of its own where it names something.
            named_only = stubs.issuperset(there)
            if named_only:
                asked = there
            elif all(truth.starts[row]):
                asked = [c for c in there if c not in stubs]
            else:
                asked = [c for c in there if not _is_name(truth, stubs, row, c)]
            self.columns_in[row] = asked
            remark = 1 / len(asked) if is_one_remark([texts[c] for c in asked]) else None
            for col in asked:
                weight = remark or (1.0 if texts[col] else no_value)
                self.weights[row, col] = weight
                self.of_row[row] += weight
                self.of_column[col] += weight
        self.total = max(1.0, sum(self.weights.values()))
        over = set(chain.from_iterable(truth.texts[: structure.n_header]))
        beside = {truth.texts[r][c] for r in self.section_of for c in stubs}
        self.only_over_columns = frozenset(over - beside - {""})  # what names columns and no row
        self.only_beside_rows = frozenset(beside - over - {""})

    @cached_property
    def names(self) -> dict[int, list[str]]:
        """Return what names the rows in each label column, be it the cell above."""
        return filled_down(self.truth, sorted(self.structure.stubs), self.structure.n_header)

    @cached_property
    def said(self) -> frozenset[str]:
        """Return all that the truth says, tight."""
        return frozenset(tight(text) for text in self.truth.said if text)

    @cached_property
    def told_apart(self) -> frozenset[str]:
        """Return all that the truth says as a value."""
        return frozenset(self.truth.texts[row][col] for row, col in self.weights)

    @cached_property
    def headers(self) -> list[str]:
        """Return the headers of all columns, as messages call them."""
        rows = self.truth.shown[: self.structure.n_header]
        shown = (" / ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True))
        named = list(shown) or [""] * self.truth.n_cols
        return [quote(header or f"number {col}") for col, header in enumerate(named, 1)]

    @cached_property
    def has_states(self) -> bool:
        """Return whether any value says one of two opposites, as yes and no are."""
        return any(map(state, self.told_apart))


def _is_name(truth: Sheet, stubs: frozenset[int], row: int, col: int) -> bool:
    """Return whether a cell is in a label column, or spans from there."""
    while col and col not in stubs and not truth.starts[row][col] and not truth.starts[row][col - 1]:
        col -= 1
    return col in stubs or (truth.goes_on(row, col) and col - 1 in stubs)


class _AnsweredValue(NamedTuple):
    """A value of the truth, and what stands where its row and column were found."""

    row: int
    col: int
    at: int
    partner: int
    text: str
    found: str


class Side:
    """One predicted table against the truth: who answers whom, and what became of each value."""

    def __init__(self, asked: Asked, pred: Sheet, alignment: Alignment, torn: frozenset[int]) -> None:
        self.asked, self.truth, self.structure = asked, asked.truth, asked.structure
        self.pred, self.alignment = pred, alignment
        self.torn = torn  # rows of the truth that the prediction gives as several
        self.valued = {c: p for c, p in alignment.columns.items() if c not in self.structure.stubs}
        """Columns of values, and the predicted ones that answer them."""
        self.slipped, self.pred_header = self._find_slipped()
        """The predicted rows above the first one that answers a row of data, or slipped, are headers."""

    def _find_slipped(self) -> tuple[dict[int, int], int]:
        """Return the rows that nothing answers column by column, but that say the same; and where the data
        begin.
        """
        truth, rows = self.truth, self.alignment.rows
        unanswered = {r: tuple(filter(None, truth.texts[r])) for r in self.asked.of_row if r not in rows}
        first = min(rows.values(), default=self.pred.n_rows)
        if not unanswered:
            return {}, first
        given, data = [tuple(filter(None, texts)) for texts in self.pred.texts], {*unanswered.values()} - {()}
        first = next((r for r in range(first) if given[r] in data), first)
        slipped: dict[int, int] = {}
        left = {given[r]: r for r in range(first, len(given)) if r not in self.alignment.row_of}
        for row, said in unanswered.items():
            begun = tuple(filter(None, compress(truth.texts[row], truth.starts[row])))
            found = next((texts for texts in (said, begun) if texts in left), None)
            if found is not None:
                slipped[row] = left.pop(found)
        return slipped, first

    def stands_upright(self) -> bool:
        """Return whether most of what the truth says below its header stands in its row and column,
        literally.
        """
        truth, pred = self.truth.texts, self.pred.texts
        said = sum(map(bool, chain.from_iterable(truth[self.structure.n_header :])))
        columns = list(self.alignment.columns.items())
        pairs = ((truth[r][c], pred[at][p]) for r, at in self.alignment.rows.items() for c, p in columns)
        return 2 * sum(text == found != "" for text, found in pairs) > said

    def compare(self, causes: Causes) -> None:
        """Compare the values whose row and column were found."""
        answered = self._answered if self.asked.has_states else ()
        states = {a for a in answered if state(a.text)}
        both_meant = len({meant[1] for a in states if (meant := state(a.text))}) == 2
        if both_meant and len({a.found for a in states}) == 1 and len(states) >= _LEAST_STATES:
            extent = sum(self.asked.weights[a.row, a.col] for a in states)
            message = "Yes and no look the same and cannot be distinguished."
            causes.add(Event(Kind.VALUE_WRONG, extent, message, {}, _ONE_STATE), "states")
        else:
            states = set()
        for answer in self._differing:
            if answer not in states:
                self._compare(answer, causes)

    @cached_property
    def _answered(self) -> list[_AnsweredValue]:
        """Return the values whose row and column were found."""
        return list(self._answers(differing=False))

    @cached_property
    def _differing(self) -> list[_AnsweredValue]:
        """Return those of them that are not given literally."""
        return list(self._answers(differing=True))

    def _answers(self, *, differing: bool) -> Iterator[_AnsweredValue]:
        columns = self.alignment.columns
        for row, asked in self.asked.columns_in.items():
            at = self.alignment.rows.get(row)
            if at is None:
                continue
            truth, pred = self.truth.texts[row], self.pred.texts[at]
            for col in asked:
                partner = columns.get(col)
                if partner is not None and not (differing and truth[col] == pred[partner]):
                    yield _AnsweredValue(row, col, at, partner, truth[col], pred[partner])

    @cached_property
    def units(self) -> dict[int, str]:
        """Return for each column the unit that the prediction adds to most of its values: `7.85 g/cm³`,
        `$0.8`.
        """
        filled = [a for a in self._differing if a.found and is_numeric(a.text)]
        added = Counter((a.col, unit) for a in filled if (unit := _added(a.text, a.found)))
        if not added:
            return {}
        numeric = Counter(a.col for a in self._answered if a.found and is_numeric(a.text))
        return {col: unit for (col, unit), n in added.items() if 2 * n > numeric[col]}

    @cached_property
    def _emptied(self) -> frozenset[int]:
        """Return columns of which nothing is given."""
        given = {a.col for a in self._answered if self.pred.present[a.at][a.partner]}
        return frozenset({a.col for a in self._answered} - given)

    @cached_property
    def _left_out(self) -> frozenset[Position]:
        """Return empty cells in columns that leave out nothing but the words that stand above them."""
        given: dict[int, list[_AnsweredValue]] = defaultdict(list)
        for a in self._answered:
            given[a.col].append(a)
        found: set[Position] = set()
        for col, column in given.items():
            again = {b.row for a, b in pairwise(column) if b.text == a.text and _is_text(a.text)}
            empty = {a.row for a in column if a.text and not a.found}
            found |= {(row, col) for row in empty} if empty <= again else set()
        return frozenset(found)

    @cached_property
    def went_to(self) -> dict[Position, Position]:
        """Return the values that went to the row above or below, and where they stand in the prediction."""
        rows = self.alignment.rows
        found: dict[Position, Position] = {}
        for a in self._differing:
            if a.text and not a.found:
                beside = (r for r in (a.row + 1, a.row - 1) if r in rows and not self.truth.present[r][a.col])
                there = next((rows[r] for r in beside if self.pred.texts[rows[r]][a.partner] == a.text), None)
                if there is not None:
                    found.setdefault((there, a.partner), (a.row, a.col))
        return {value: place for place, value in found.items()}

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Return signs that are given by another one everywhere, which stands for nothing else: ✓ by Yes."""
        pairs = product(self.alignment.rows.items(), self.valued.items())
        given = Counter((self.truth.texts[r][c], self.pred.texts[at][p]) for (r, at), (c, p) in pairs)
        ways, meanings = Counter(text for text, _ in given), Counter(found for _, found in given)
        return {
            text: found
            for (text, found), count in given.items()
            if ways[text] == meanings[found] == 1 < count and found != text
            if _is_sign(text) and not is_numeric(found)
        }

    def _compare(self, a: _AnsweredValue, causes: Causes) -> None:
        diff = difference(a.text, a.found)
        if diff.change in (Change.MISREAD, Change.OTHER):
            diff = self._done_to_all(a) or diff
        if diff.change is Change.NONE or (a.text and not a.found and self._is_said_once(a)):
            return
        if diff.change is Change.MISREAD and diff.cause in ("", MARKS) and a.found in self.asked.told_apart:
            diff = ANOTHER._replace(cause=diff.cause)  # it says what another value says
        true = quote(self.truth.shown[a.row][a.col])
        unit = f": {ANOTHER_UNIT}" if diff.cause == ANOTHER_UNIT else ""

        def add(
            kind: Kind,
            *cause: object,
            told: str = f"{quote(self.pred.shown[a.at][a.partner])} instead of {true}{unit}.",
            severity: float = 1.0,
        ) -> None:
            message = f"Row {self.name(a.row, a.col)}, column {self.header(a.col)}: {told}"
            where = {"row": a.row, "col": a.col}
            causes.add(Event(kind, self.asked.weights[a.row, a.col], message, where, severity), *cause)

        if diff.change is Change.NOTATION:
            add(Kind.NOTATION, "value", diff.cause, severity=diff.severity)
        elif diff.change is Change.MISREAD:
            add(Kind.VALUE_MISREAD, diff.cause or slip(a.text, a.found), severity=1 - diff.likeness)
        elif diff.change is Change.REVERSED:
            add(Kind.VALUE_REVERSED, diff.cause or self._slipped(a))
        elif a.text and not a.found and self._given_once(a):
            add(Kind.SPAN_LOST, told="given once for several.")
        elif a.text and self._elsewhere(a):
            add(Kind.VALUE_SHIFTED, told="moved in its row.")
        elif a.text and f" {a.text} " in f" {a.found} ":
            add(Kind.CELLS_MERGED, a.found)
        elif not a.found and (a.row, a.col) in self.went_to:
            add(Kind.VALUE_SHIFTED, "row", told="given in the row beside its own.")
        elif not a.found and (a.row, a.col) in self._left_out:
            add(Kind.PADDED, "value", told="the value above must be copied into an empty cell.")
        elif not a.found:
            # A column that is empty throughout is lost as one.
            line = f"column {a.col}" if a.col in self._emptied else f"row {a.row}"
            add(Kind.VALUE_LOST, line, told=f"{true} is lost.")
        else:
            add(Kind.VALUE_WRONG, diff.cause or self._slipped(a))

    def _slipped(self, a: _AnsweredValue) -> object:
        """Return the cause of a wrong value: the same slip in many is one, and nothing in common none."""
        cause = slip(a.text, a.found)
        pattern = _DIGITS.sub("#", cause)
        if not any(c not in "#>. " for c in pattern):  # digits alone have their own cause each
            pattern = cause if len(cause) <= _SHORT else ""
        return pattern if 0 < len(pattern) <= _SHORT else (a.row, a.col)

    def _done_to_all(self, a: _AnsweredValue) -> Difference | None:
        """Return the difference of two values if the same was done to others."""
        if _is_sign(a.text) and self.renamed.get(a.text) == a.found:
            return noted("signs given by others", severity=SLIGHTLY if a.found else 1.0)
        if a.col in self.units and is_numeric(a.text) and (unit := _added(a.text, a.found)):
            if unit != self.units[a.col]:
                return ANOTHER  # the others have another one
            return SAME if self.unit_is_told(a.col) else noted(f"{unit} is added")
        known, given = numbers(a.text), numbers(a.found)
        if 0 < len(given) < len(known) and given[0] == known[0] and is_numeric(a.text):
            rest = iter(known)
            if all(number in rest for number in given):  # the value and what is left of its deviations
                return misread(0.0, "a part is lost")
        return None

    def unit_is_told(self, col: int) -> bool:
        """Return whether the header of a column tells the unit that the prediction adds to its values."""
        rows = range(self.structure.n_header)
        header = tight(" ".join(self.truth.texts[r][col] for r in rows))
        # It stands there by itself: `g` does not in `Dose(mg)`.
        parts = (re.escape(tight(part)) for part in self.units[col].split())
        return all(re.search(rf"(?<![^\W\d_]){part}(?![^\W\d_])", header) for part in parts)

    def _is_said_once(self, a: _AnsweredValue) -> bool:
        """Return whether a row is one remark, and the prediction makes it once."""
        texts = [text for c, text in enumerate(self.truth.texts[a.row]) if (a.row, c) in self.asked.weights]
        given = filter(None, self.pred.texts[a.at])
        return is_one_remark(texts) and any(likeness(texts[0], text) > NEAR for text in given)

    def _given_once(self, a: _AnsweredValue) -> bool:
        """Return whether a cell of several rows or columns is given for another one of them, as at its
        middle.
        """
        rows, columns = self.alignment.rows, self.alignment.columns
        others = [(r, a.col) for r in self.truth.span_in_column(a.row, a.col)]
        others += [(a.row, c) for c in self.truth.span_in_row(a.row, a.col)]
        found = (self.pred.texts[rows[r]][columns[c]] for r, c in others if r in rows and c in columns)
        return a.text in found

    def _elsewhere(self, a: _AnsweredValue) -> bool:
        """Return whether a value stands in its row, but under another column, where it does not belong."""
        places = [p for p, text in enumerate(self.pred.texts[a.at]) if text == a.text and p != a.partner]
        owners = (self.alignment.column_of.get(place) for place in places)
        return any(owner is None or self.truth.texts[a.row][owner] != a.text for owner in owners)

    def header(self, col: int) -> str:
        """Return a column's header in a message."""
        return self.asked.headers[col]

    def name(self, row: int, col: int = -1) -> str:
        """Return a row's name in a message, as the labels of a column give it."""
        texts = self.truth.shown[row]
        shown = " / ".join(dict.fromkeys(texts[s] for s in self.structure.labels[col] if texts[s]))
        return quote(shown or f"number {row - self.structure.n_header + 1}")


def is_one_remark(texts: list[str]) -> bool:
    """Return whether all values of a row are one word: it says nothing of any of them, as `DNP` does."""
    said = texts[0] if len(texts) > 1 and texts.count(texts[0]) == len(texts) else ""
    return len(said) > 1 and said.isalpha() and state(said) is None


def _is_sign(text: str) -> bool:
    """Return whether a value may be a sign that stands for something."""
    return 0 < len(tight(text)) <= _SIGN and not is_numeric(text)


def _is_text(text: str) -> bool:
    """Return whether a value is neither a number nor a sign or word that says yes or no."""
    return len(text) > _SIGN and not is_numeric(text) and state(text) is None


def _added(text: str, found: str) -> str:
    """Return what a value adds to the true one that it contains; empty if it does not, or where digits
    meet.
    """
    before, held, after = _SIGN_FIRST.sub(r"\1-", tight(found)).partition(tight(text))
    whole = bool(held) and not set(before[-1:] + after[:1]) & _OF_NUMBERS
    return f"{before} {after}".strip() if whole else ""
