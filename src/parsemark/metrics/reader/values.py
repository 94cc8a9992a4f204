"""The values of the truth, and what became of each; what was done to all of them alike is one event."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

from parsemark.metrics.reader.align import Alignment
from parsemark.metrics.reader.events import Causes, Event, Kind, quote
from parsemark.metrics.reader.likeness import (
    ANOTHER_UNIT,
    MARKS,
    NEAR,
    SAME,
    Change,
    Difference,
    difference,
    likeness,
    slip,
)
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.signs import SAYS
from parsemark.metrics.reader.structure import Structure
from parsemark.metrics.reader.texts import is_numeric, numbers, tight

Position = tuple[int, int]
_SHORT = 4
"""A slip of so many characters (`->.` is three) that comes again has one cause."""
_OF_NUMBERS = frozenset("0123456789.,-")
_DIGITS = re.compile(r"\d+")
_SLIPPED = 3
"""So many wrong values in a column, and more in all, are no exchange."""
_SIGN = 3
"""A value of at most so many characters may be a sign that stands for something."""
_RENAMED = 0.25
"""Severity of signs that are given by others throughout, which stand for nothing else."""
_ONE_STATE = 0.85
"""Severity of yes and no that became one: no value of them is known."""
_SAID = 0.1
"""Severity of a yes or no that is said in another way."""


@dataclass(frozen=True)
class Side:
    """One predicted table against the truth: who answers whom."""

    truth: Sheet
    structure: Structure
    pred: Sheet
    alignment: Alignment
    torn: frozenset[int] = frozenset()
    """Rows of the truth that the prediction gives as several."""

    @cached_property
    def pred_header(self) -> int:
        """The predicted rows above the first one that answers a row of data are headers.

        So does a row whose cells have slipped: nothing answers it column by column, but it says the same.
        """
        first = min(self.alignment.rows.values(), default=self.pred.n_rows)
        if first:
            below = range(self.structure.n_header, self.truth.n_rows)
            data = {tuple(filter(None, self.truth.texts[r])) for r in below if r not in self.alignment.rows}
            slipped = (r for r in range(first) if tuple(filter(None, self.pred.texts[r])) in data - {()})
            first = next(slipped, first)
        return first

    @property
    def stubs(self) -> frozenset[int]:
        """The truth's label columns."""
        return self.structure.stubs

    @cached_property
    def stands_upright(self) -> bool:
        """Whether most of what the truth says below its header stands in its row and column, literally."""
        columns = list(self.alignment.columns.items())
        same = said = 0
        for row in range(self.structure.n_header, self.truth.n_rows):
            texts, at = self.truth.texts[row], self.alignment.rows.get(row)
            said += sum(map(bool, texts))
            if at is not None:
                given = self.pred.texts[at]
                same += sum(bool(texts[c]) and texts[c] == given[p] for c, p in columns)
        return 2 * same > said


class Asked:
    """The values that a table is asked for, whatever it is compared with.

    Args:
        truth: The table.
        structure: Its headers.
        no_value: Weight of a cell that says there is no value.
    """

    def __init__(self, truth: Sheet, structure: Structure, no_value: float) -> None:
        stubs = structure.stubs
        self.weights: dict[Position, float] = {}
        self.of_row: dict[int, float] = {}
        self.of_column: dict[int, float] = {}
        plain = [c for c in range(truth.n_cols) if c not in stubs]
        for row in range(structure.n_header, truth.n_rows):
            if row in structure.sections:
                continue
            texts, starts = truth.texts[row], truth.starts[row]
            if plain and all(texts) and all(starts):  # as most rows
                asked = plain
            else:
                there = [c for c, present in enumerate(truth.present[row]) if present]
                named_only = stubs.issuperset(there)
                # A name is no value of its own where it names something.
                asked = [
                    c
                    for c in there
                    if named_only or not (c in stubs if starts[c] else _is_name(truth, stubs, row, c))
                ]
            weights = [1.0 if texts[c] else no_value for c in asked]
            if is_one_remark([texts[c] for c in asked]):
                weights = [1 / len(asked)] * len(asked)
            self.weights |= zip(zip(repeat(row), asked), weights, strict=True)
            if asked:
                self.of_row[row] = sum(weights, 0.0)
            for col, weight in zip(asked, weights, strict=True):
                self.of_column[col] = self.of_column.get(col, 0.0) + weight
        self.total = max(1.0, sum(self.weights.values()))
        body = range(structure.n_header, truth.n_rows)
        over = {text for r in range(structure.n_header) for text in truth.texts[r]}
        beside = {truth.texts[r][c] for r in body for c in (stubs if r not in structure.sections else (0,))}
        self.only_over_columns = frozenset(over - beside - {""})
        """What names columns and no row."""
        self.only_beside_rows = frozenset(beside - over - {""})


def _is_name(truth: Sheet, stubs: frozenset[int], row: int, col: int) -> bool:
    """Whether a cell that begins elsewhere is in a label column, or spans from there."""
    while col and col not in stubs and not truth.starts[row][col] and not truth.starts[row][col - 1]:
        col -= 1
    return col in stubs or (truth.goes_on(row, col) and col - 1 in stubs)


class Values:
    """What became of the values that a table is asked for."""

    def __init__(self, side: Side, asked: Asked) -> None:
        self.side = side
        self.weights, self.total = asked.weights, asked.total
        self.of_row, self.of_column = asked.of_row, asked.of_column

    def _is_said_once(self, row: int, at: int) -> bool:
        """Whether a row is one remark, and the prediction makes it once."""
        texts = [text for c, text in enumerate(self.side.truth.texts[row]) if (row, c) in self.weights]
        given = [text for text in self.side.pred.texts[at] if text]
        return is_one_remark(texts) and any(likeness(texts[0], text) > NEAR for text in given)

    @cached_property
    def _states(self) -> list[tuple[int, int, int, int]]:
        """The values that say yes or no, if the prediction says the same of all of them."""
        truth, pred = self.side.truth.texts, self.side.pred.texts
        told = [found for found in self._answered if truth[found[0]][found[1]].casefold() in SAYS]
        meant = {SAYS[truth[row][col].casefold()] for row, col, _, _ in told}
        given = {pred[at][partner] for _, _, at, partner in told}
        return told if len(meant) == 2 and len(given) == 1 and len(told) >= _SLIPPED else []

    def compare(self, causes: Causes) -> None:
        """Compare the values whose row and column were found."""
        states = frozenset(self._states)
        if states:
            extent = sum(self.weights[row, col] for row, col, _, _ in states)
            message = "Yes and no are given alike: nothing tells which is which."
            causes.add(Event(Kind.VALUE_WRONG, extent, message, {}, _ONE_STATE), "states")
        for found in self._differing:
            if found not in states:
                self._compare(*found, causes)

    @cached_property
    def _answered(self) -> list[tuple[int, int, int, int]]:
        """The values whose row and column were found: row and column, there and here."""
        rows, columns = self.side.alignment.rows, self.side.alignment.columns
        return [(r, c, rows[r], columns[c]) for r, c in self.weights if r in rows and c in columns]

    @cached_property
    def _differing(self) -> list[tuple[int, int, int, int]]:
        """Those of them that are not given literally."""
        truth, pred = self.side.truth.texts, self.side.pred.texts
        return [found for found in self._answered if truth[found[0]][found[1]] != pred[found[2]][found[3]]]

    @cached_property
    def units(self) -> dict[int, str]:
        """For each column what the prediction adds to most of its values alike: `7.85 g/cm³`, `$0.8`."""
        truth, pred = self.side.truth.texts, self.side.pred.texts
        added: dict[int, Counter[str]] = defaultdict(Counter)
        for row, col, at, partner in self._differing:
            text, found = truth[row][col], pred[at][partner]
            if text and found and is_numeric(text) and (unit := _added(text, found)):
                added[col][unit] += 1
        numbers = Counter(
            col
            for row, col, at, partner in (self._answered if added else ())
            if col in added and truth[row][col] and pred[at][partner] and is_numeric(truth[row][col])
        )
        most = {col: counts.most_common(1)[0] for col, counts in added.items()}
        return {col: unit for col, (unit, n) in most.items() if 2 * n > numbers[col]}

    @cached_property
    def _emptied(self) -> frozenset[int]:
        """Columns of which nothing is given."""
        given = {c for _, c, at, partner in self._answered if self.side.pred.present[at][partner]}
        return frozenset({c for _, c, _, _ in self._answered} - given)

    @cached_property
    def went_to(self) -> dict[Position, Position]:
        """For each place of the prediction the value that went there from the row above or below."""
        side, rows = self.side, self.side.alignment.rows
        found: dict[Position, Position] = {}
        for row, col, at, partner in self._differing:
            text = side.truth.texts[row][col]
            if text and not side.pred.texts[at][partner]:
                beside = (r for r in (row + 1, row - 1) if r in rows and not side.truth.present[r][col])
                there = next((rows[r] for r in beside if side.pred.texts[rows[r]][partner] == text), None)
                if there is not None:
                    found.setdefault((there, partner), (row, col))
        return found

    @cached_property
    def _gone_to_another_row(self) -> frozenset[Position]:
        return frozenset(self.went_to.values())

    @cached_property
    def _told_apart(self) -> frozenset[str]:
        """All that the truth says as a value."""
        return frozenset(self.side.truth.texts[row][col] for row, col in self.weights)

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Signs that are given by another one everywhere, which stands for nothing else: ✓ by Yes."""
        side = self.side
        given: dict[str, Counter[str]] = defaultdict(Counter)
        meant: dict[str, set[str]] = defaultdict(set)
        columns = [(c, p) for c, p in side.alignment.columns.items() if c not in side.stubs]
        for row, at in side.alignment.rows.items():
            for col, partner in columns:
                text, found = side.truth.texts[row][col], side.pred.texts[at][partner]
                given[text][found] += 1
                meant[found].add(text)
        return {
            text: found
            for text, counts in given.items()
            for found, count in counts.items()
            if len(counts) == 1 < count and found != text and len(meant[found]) == 1
            if _is_sign(text) and not is_numeric(found)
        }

    def _compare(self, row: int, col: int, at: int, partner: int, causes: Causes) -> None:
        side, where = self.side, {"row": row, "col": col}
        text, found = side.truth.texts[row][col], side.pred.texts[at][partner]
        diff = difference(text, found)
        if diff.change is not Change.NONE:
            diff = self._done_to_all(col, text, found) or diff
        if diff.change is Change.NONE or (text and not found and self._is_said_once(row, at)):
            return
        if diff.change is Change.MISREAD and diff.cause in ("", MARKS) and found in self._told_apart:
            diff = Difference(Change.OTHER, 0.0, diff.cause)  # it says what another value says
        true = quote(side.truth.shown[row][col])
        unit = f": {ANOTHER_UNIT}" if diff.cause == ANOTHER_UNIT else ""

        def add(
            kind: Kind,
            *cause: object,
            told: str = f"{quote(side.pred.shown[at][partner])} instead of {true}{unit}.",
            severity: float = 1.0,
        ) -> None:
            place = f"Row {self.name(row, col)}, column {self.header(col)}"
            causes.add(Event(kind, self.weights[row, col], f"{place}: {told}", where, severity), *cause)

        if diff.change is Change.NOTATION:
            add(Kind.NOTATION, "value", diff.cause, severity=diff.severity)
        elif diff.change is Change.MISREAD:
            add(Kind.VALUE_MISREAD, diff.cause or slip(text, found), severity=1 - diff.likeness)
        elif not found and text and self._given_once(row, col):
            add(Kind.SPAN_LOST, told="given once for several.")
        elif text and self._elsewhere(text, at, partner):
            add(Kind.VALUE_SHIFTED, told="moved in its row.")
        elif text and f" {text} " in f" {found} ":
            add(Kind.CELLS_MERGED, found)
        elif not found and (row, col) in self._gone_to_another_row:
            add(Kind.VALUE_SHIFTED, "row", told="given in the row beside its own.")
        elif not found:
            # A column that is empty throughout is lost as one.
            line = f"column {col}" if col in self._emptied else f"row {row}"
            add(Kind.VALUE_LOST, line, told=f"{true} is lost.")
        else:
            # The same slip in many values is one cause; values that have nothing in common are not.
            cause = slip(text, found)
            pattern = _DIGITS.sub("#", cause)
            if not any(c not in "#>. " for c in pattern):  # digits alone have their own cause each
                pattern = cause if len(cause) <= _SHORT else ""
            add(Kind.VALUE_WRONG, diff.cause or (pattern if 0 < len(pattern) <= _SHORT else (row, col)))

    def _done_to_all(self, col: int, text: str, found: str) -> Difference | None:
        """The difference of two values if the same was done to others."""
        meant, said = SAYS.get(text.casefold()), SAYS.get(found.casefold())
        if meant is not None and said is not None:
            same = Difference(Change.NOTATION, 0.9, "signs given by others", _SAID)
            return same if meant is said else Difference(Change.OTHER, 0.0)
        if _is_sign(text) and self.renamed.get(text) == found:
            return Difference(Change.NOTATION, 0.75, "signs given by others", _RENAMED if found else 1.0)
        if col in self.units and is_numeric(text) and (unit := _added(text, found)):
            if unit != self.units[col]:
                return Difference(Change.OTHER, 0.0)  # the others have another one
            return SAME if self.unit_is_told(col) else Difference(Change.NOTATION, 0.75, f"{unit} is added")
        known, given = numbers(text), numbers(found)
        if 0 < len(given) < len(known) and is_numeric(text) and _are_first_and_some(given, known):
            return Difference(Change.MISREAD, 0.0, "a part is lost")
        return None

    def unit_is_told(self, col: int) -> bool:
        """Whether the header of a column tells the unit that the prediction adds to its values."""
        rows = range(self.side.structure.n_header)
        header = f" {tight(' '.join(self.side.truth.texts[r][col] for r in rows))} "
        return all(_stands_in(tight(part), header) for part in self.units[col].split())

    def _given_once(self, row: int, col: int) -> bool:
        """Whether a cell of several rows or columns is given for another one of them, as at its middle."""
        truth, pred = self.side.truth, self.side.pred.texts
        rows, columns = self.side.alignment.rows, self.side.alignment.columns
        others = [(r, col) for r in truth.span_in_column(row, col)] + [
            (row, c) for c in truth.span_in_row(row, col)
        ]
        text = truth.texts[row][col]
        return any(r in rows and c in columns and pred[rows[r]][columns[c]] == text for r, c in others)

    def _elsewhere(self, text: str, at: int, partner: int) -> bool:
        """Whether a value stands in its row, but under another column, where it does not belong."""
        side = self.side
        if text not in side.pred.texts[at]:
            return False
        answered = {p: c for c, p in side.alignment.columns.items()}
        truth_row = next(t for t, p in side.alignment.rows.items() if p == at)
        for place, other in enumerate(side.pred.texts[at]):
            if place == partner or other != text:
                continue
            owner = answered.get(place)
            if owner is None or side.truth.texts[truth_row][owner] != other:
                return True
        return False

    def header(self, col: int) -> str:
        """A column's header in a message."""
        rows = self.side.truth.shown[: self.side.structure.n_header]
        shown = " / ".join(dict.fromkeys(row[col] for row in rows if row[col]))
        return quote(shown or f"number {col + 1}")

    def name(self, row: int, col: int) -> str:
        """A row's name in a message."""
        texts = self.side.truth.shown[row]
        shown = " / ".join(dict.fromkeys(texts[s] for s in self.side.structure.labels[col] if texts[s]))
        return quote(shown or f"number {row - self.side.structure.n_header + 1}")


def is_one_remark(texts: list[str]) -> bool:
    """Whether all values of a row are one word: it says nothing of any of them, as `DNP` does."""
    if len(texts) < 2 or texts[0] != texts[-1] or len(set(texts)) > 1:
        return False
    return len(texts[0]) > 1 and texts[0].isalpha() and texts[0].casefold() not in SAYS


def _is_sign(text: str) -> bool:
    """Whether a value may be a sign that stands for something."""
    return 0 < len(tight(text)) <= _SIGN and not is_numeric(text)


def _are_first_and_some(given: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Whether numbers are the first and some of the others: a value and what is left of its deviations."""
    rest = iter(known)
    return given[0] == known[0] and all(number in rest for number in given)


def _added(text: str, found: str) -> str:
    """What a value that holds the true one adds to it; empty where it does not, or where digits meet."""
    before, held, after = tight(found).partition(tight(text))
    whole = bool(held) and not set(before[-1:] + after[:1]) & _OF_NUMBERS
    return f"{before} {after}".strip() if whole else ""


def _stands_in(unit: str, header: str) -> bool:
    """Whether a unit stands in a header by itself: `g` does not in `Dose(mg)`."""
    at = header.find(unit)
    while at >= 0:
        if not header[at - 1].isalpha() and not header[at + len(unit)].isalpha():
            return True
        at = header.find(unit, at + 1)
    return False
