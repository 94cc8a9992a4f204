"""Finds the events between the truth and one aligned table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from parsemark.metrics.reader.align import Alignment
from parsemark.metrics.reader.events import Account, Causes, Event, Kind, quote
from parsemark.metrics.reader.likeness import NEAR, Change, difference, likeness, slip, tight
from parsemark.metrics.reader.naming import COLUMNS, ROWS, Around, How, Named, judge
from parsemark.metrics.reader.paths import Fill, Path, column_paths, counted_paths
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import Structure, is_section

Position = tuple[int, int]
_SHORT = 4
"""A slip of so many characters (`->.` is three) that comes again has one cause."""


@dataclass(frozen=True)
class Side:
    """One predicted table against the truth: who answers whom."""

    truth: Sheet
    structure: Structure
    pred: Sheet
    alignment: Alignment

    @cached_property
    def pred_header(self) -> int:
        """The predicted rows above the first one that answers a row of data are headers."""
        return min(self.alignment.rows.values(), default=self.pred.n_rows)

    @cached_property
    def stubs(self) -> frozenset[int]:
        """The truth's label columns."""
        return frozenset(s for stub in self.structure.labels for s in stub)


def find_events(side: Side, outside: str, no_value: float) -> Account:
    """All events between the truth and an aligned table.

    Args:
        side: The two tables and their alignment.
        outside: Folded text around the predicted table.
        no_value: Weight of a cell that says there is no value.
    """
    values = Values(side, no_value)
    causes = Causes()
    if side.alignment.rows:
        heads = tuple(tuple(filter(None, side.pred.texts[r])) for r in range(side.pred_header))
        judge(list(_columns(values)), COLUMNS, Around(outside, heads), causes)
        judge(list(_rows(values)), ROWS, Around(outside), causes)
    values.compare(causes)
    moved = _moved_rows(values)
    for row in moved:
        message = f"Row {values.name(row, side.truth.n_cols - 1)}: its cells have slipped."
        event = Event(Kind.VALUE_SHIFTED, values.of_row[row], message, {"row": row, "col": None})
        causes.add((Kind.VALUE_SHIFTED,), event)
    events = [*causes.events(), *_missing(values, set(moved)), *_invented(side, set(moved.values()))]
    return Account(tuple(events), values.total)


class Values:
    """The values of the truth: what a table is asked for."""

    def __init__(self, side: Side, no_value: float) -> None:
        self.side = side
        truth, structure = side.truth, side.structure
        self.weights: dict[Position, float] = {}
        for row in range(structure.n_header, truth.n_rows):
            if row in structure.sections:
                continue
            named_only = not any(truth.present[row][c] for c in range(truth.n_cols) if c not in side.stubs)
            for col in range(truth.n_cols):
                # A name is no value of its own where it names something.
                if truth.present[row][col] and (named_only or not self._is_name(row, col)):
                    self.weights[row, col] = 1.0 if truth.texts[row][col] else no_value
        self.of_row: dict[int, float] = defaultdict(float)
        self.of_column: dict[int, float] = defaultdict(float)
        for (row, col), weight in self.weights.items():
            self.of_row[row] += weight
            self.of_column[col] += weight
        self.total = max(1.0, sum(self.weights.values()))

    def _is_name(self, row: int, col: int) -> bool:
        """Whether a cell is in a label column, or is one that begins there and spans further columns."""
        truth, stubs = self.side.truth, self.side.stubs
        while col and col not in stubs and not truth.starts[row][col] and not truth.starts[row][col - 1]:
            col -= 1
        if col in stubs:
            return True
        spans = col > 0 and not truth.starts[row][col] and truth.texts[row][col] == truth.texts[row][col - 1]
        return spans and col - 1 in stubs

    def compare(self, causes: Causes) -> None:
        """Compare the values whose row and column were found."""
        side = self.side
        for (row, col), weight in self.weights.items():
            at, partner = side.alignment.rows.get(row), side.alignment.columns.get(col)
            if at is None or partner is None:
                continue
            text, found = side.truth.texts[row][col], side.pred.texts[at][partner]
            if text != found:
                self._compare(row, col, at, partner, weight, causes)

    def _compare(self, row: int, col: int, at: int, partner: int, weight: float, causes: Causes) -> None:
        side = self.side
        text, found = side.truth.texts[row][col], side.pred.texts[at][partner]
        diff = difference(text, found)
        if diff.change is Change.NONE:
            return
        where = {"row": row, "col": col}
        given = side.pred.shown[at][partner]
        told = f"{self._place(row, col)}: {quote(given)} instead of {quote(side.truth.shown[row][col])}."
        if diff.change is Change.NOTATION:
            event = Event(Kind.NOTATION, weight, told, where)
            causes.add((Kind.NOTATION, "value", diff.cause), event)
        elif diff.change is Change.MISREAD:
            event = Event(Kind.VALUE_MISREAD, weight, told, where, 1 - diff.likeness)
            causes.add((Kind.VALUE_MISREAD, slip(text, found)), event)
        elif not found and not side.truth.starts[row][col] and self._given_before(row, col, at):
            event = Event(Kind.SPAN_LOST, weight, f"{self._place(row, col)}: given once for several.", where)
            causes.add((Kind.SPAN_LOST,), event)
        elif text and self._elsewhere(text, at, partner):
            event = Event(Kind.VALUE_SHIFTED, weight, f"{self._place(row, col)}: moved in its row.", where)
            causes.add((Kind.VALUE_SHIFTED,), event)
        elif text and f" {text} " in f" {found} ":
            event = Event(Kind.CELLS_MERGED, weight, told, where)
            causes.add((Kind.CELLS_MERGED, found), event)
        elif not found:
            lost = f"{self._place(row, col)}: {quote(side.truth.shown[row][col])} is lost."
            causes.add((Kind.VALUE_LOST, row), Event(Kind.VALUE_LOST, weight, lost, where))
        else:
            # The same slip in many values is one cause; values that have nothing in common are not.
            cause = slip(text, found)
            key = (Kind.VALUE_WRONG, cause if len(cause) <= _SHORT else (row, col))
            causes.add(key, Event(Kind.VALUE_WRONG, weight, told, where))

    def _given_before(self, row: int, col: int, at: int) -> bool:
        """Whether the spanning cell is given for an earlier column or row."""
        side = self.side
        text = side.truth.texts[row][col]
        for c, r in ((col - 1, row), (col, row - 1)):
            if c < 0 or r < 0 or side.truth.texts[r][c] != text:
                continue
            partner, above = side.alignment.columns.get(c), side.alignment.rows.get(r)
            if partner is not None and above is not None and side.pred.texts[above][partner] in (text, ""):
                return True
        return False

    def _elsewhere(self, text: str, at: int, partner: int) -> bool:
        """Whether a value stands in its row, but under another column, where it does not belong."""
        side = self.side
        answered = {p: c for c, p in side.alignment.columns.items()}
        truth_row = next(t for t, p in side.alignment.rows.items() if p == at)
        for place, other in enumerate(side.pred.texts[at]):
            if place == partner or other != text:
                continue
            owner = answered.get(place)
            if owner is None or side.truth.texts[truth_row][owner] != other:
                return True
        return False

    def _place(self, row: int, col: int) -> str:
        return f"Row {self.name(row, col)}, column {self.header(col)}"

    def header(self, col: int) -> str:
        """A column's header in a message."""
        truth = self.side.truth
        rows = range(self.side.structure.n_header)
        shown = " / ".join(dict.fromkeys(truth.shown[r][col] for r in rows if truth.shown[r][col]))
        return quote(shown or f"number {col + 1}")

    def name(self, row: int, col: int) -> str:
        """A row's name in a message."""
        truth, stub = self.side.truth, self.side.structure.labels[col]
        shown = " / ".join(dict.fromkeys(truth.shown[row][s] for s in stub if truth.shown[row][s]))
        return quote(shown or f"number {row - self.side.structure.n_header + 1}")


def _columns(values: Values) -> Iterable[Named]:
    """The columns of the truth with their headers."""
    side = values.side
    truth = column_paths(side.truth, range(side.structure.n_header), Fill.NOT)
    padded = column_paths(side.truth, range(side.structure.n_header), Fill.PADDED)
    rows = [r for r in range(side.pred_header) if not _is_caption(side, r, truth)]
    given = {fill: column_paths(side.pred, rows, fill) for fill in Fill}
    counted = counted_paths(side.pred, rows, sorted(side.alignment.columns.values()))
    for col, path in enumerate(truth):
        partner = side.alignment.columns.get(col)
        extent = max(1.0, values.of_column.get(col, 0.0))
        if partner is None:
            if col not in side.stubs:
                continue  # the column is missing, header and all
            readings: tuple[tuple[How, Path], ...] = ((How.GIVEN, ()),)
        else:
            readings = (
                (How.GIVEN, given[Fill.NOT][partner]),
                (How.CARRIED, given[Fill.PADDED][partner]),
                (How.SHORT, given[Fill.RAGGED][partner]),
                (How.COUNTED, counted[partner]),
            )
            if padded[col] != path and match_padded(padded[col], given, partner):
                continue
        yield Named(path, readings, extent, {"row": None, "col": col}, needed=col not in side.stubs)


def match_padded(padded: Path, given: dict[Fill, list[Path]], partner: int) -> bool:
    """Whether the truth itself leaves a group's further cells empty, and the prediction fills them."""
    return padded in (given[Fill.NOT][partner], given[Fill.PADDED][partner])


def _is_caption(side: Side, row: int, truth: list[Path]) -> bool:
    """Whether a row above the data is one text for the whole table, and no header of the truth."""
    if not is_section(side.pred, row):
        return False
    text = side.pred.texts[row][0]
    return not any(likeness(level, text) > NEAR for path in truth for level in path)


def _rows(values: Values) -> Iterable[Named]:
    """The rows of the truth with their names: section heading and label cells."""
    side = values.side
    truth, pred = side.truth, side.pred
    own = _filled_down(truth, sorted(side.stubs), side.structure.n_header)
    # The names of the prediction: all columns left of its first value, and those that answer label columns.
    answered = {p for c, p in side.alignment.columns.items() if c in side.stubs}
    valued = [p for c, p in side.alignment.columns.items() if c not in side.stubs]
    leading = set(range(min(valued, default=0))) - set(valued)
    columns = sorted(answered | leading)
    given = _filled_down(pred, columns, side.pred_header, hanging=True)
    body = range(side.structure.n_header, truth.n_rows)
    sections = _sections_above(side, {tight(texts[r]) for texts in own.values() for r in body if texts[r]})
    section = ""
    for row in body:
        if row in side.structure.sections:
            section = truth.texts[row][0]
            continue
        at = side.alignment.rows.get(row)
        if at is None or row not in values.of_row:
            continue
        path = _distinct([section, *(own[c][row] for c in sorted(side.stubs))])
        literal = _distinct([sections[at], *(pred.texts[at][c] for c in columns)])
        carried = _distinct([sections[at], *(given[c][at] for c in columns)])
        # Where the truth leaves a name out itself, nothing is asked that it does not ask.
        emptied = any(
            truth.present[row][c] and not pred.present[at][p]
            for c in side.stubs
            if (p := side.alignment.columns.get(c)) is not None
        )
        readings = ((How.GIVEN, literal), (How.CARRIED if emptied else How.GIVEN, carried))
        yield Named(path, readings, values.of_row[row], {"row": row, "col": None})


def _distinct(texts: Iterable[str]) -> Path:
    return tuple(dict.fromkeys(text for text in texts if text))


def _sections_above(side: Side, names: set[str]) -> list[str]:
    """For each predicted row the section heading above it.

    A heading is what answers one of the truth, or a row that says nothing but its first text and answers no
    row of data. Above the data it has to be a name of the truth: else it is a header.
    """
    pred, structure = side.pred, side.structure
    answers = {p: t for t, p in side.alignment.rows.items()}
    found, section = [], ""
    for row, texts in enumerate(pred.texts):
        answered = answers.get(row)
        if answered is not None:
            heading = answered in structure.sections
        else:
            heading = bool(texts[0]) and (not any(texts[1:]) or is_section(pred, row))
            heading = heading and (row >= side.pred_header or tight(texts[0]) in names)
        section = texts[0] if heading else section
        found.append("" if heading else section)
    return found


def _filled_down(
    sheet: Sheet, columns: list[int], n_header: int, *, hanging: bool = False
) -> dict[int, list[str]]:
    """The texts of columns, an empty cell repeating the one above; a header that comes again is passed over.

    Args:
        sheet: The table.
        columns: The label columns.
        n_header: How many leading rows are headers.
        hanging: Whether a name beside the header reaches down into the first rows of data. The truth's spans
            say that themselves.
    """
    heads = {tuple(sheet.texts[r]) for r in range(n_header)}
    rows = [r for r in range(n_header, sheet.n_rows) if tuple(sheet.texts[r]) not in heads]
    filled: dict[int, list[str]] = {}
    for col in columns:
        texts = [row[col] for row in sheet.texts]
        head = [texts[r] for r in range(n_header) if texts[r]] if hanging else []
        name = head[-1] if head else ""
        for row in rows:
            name = texts[row] = texts[row] or name
        filled[col] = texts
    return filled


def _moved_rows(values: Values) -> dict[int, int]:
    """Rows that nothing answers column by column, but that stand in the prediction with the same texts."""
    side = values.side
    answers = set(side.alignment.rows.values())
    left = {
        tuple(filter(None, side.pred.texts[r])): r
        for r in range(side.pred_header, side.pred.n_rows)
        if r not in answers
    }
    moved = {}
    for row in values.of_row:
        texts = tuple(filter(None, side.truth.texts[row]))
        if row not in side.alignment.rows and texts in left:
            moved[row] = left.pop(texts)
    return moved


def _missing(values: Values, moved: set[int]) -> Iterable[Event]:
    """Rows and columns that nothing answers, neighbours as one event."""
    side = values.side
    rows = [r for r in sorted(values.of_row) if r not in side.alignment.rows and r not in moved]
    gone = set(rows) | moved
    cut = _cut_off(side)
    for run in _runs(rows, sorted(values.of_row)):
        is_cut = run[-1] in cut
        kind = Kind.CUT_OFF if is_cut else Kind.ROW_MISSING
        names = values.name(run[0], side.truth.n_cols - 1)
        more = f" and {len(run) - 1} more" if len(run) > 1 else ""
        said = "missing: the output breaks off before" if is_cut else "missing"
        extent = sum(values.of_row[r] for r in run)
        yield Event(kind, extent, f"Row {names}{more}: {said}.", {"row": run[0], "col": None})
    columns = [c for c in sorted(values.of_column) if c not in side.alignment.columns]
    for run in _runs(columns, sorted(values.of_column)):
        extent = sum(w for (r, c), w in values.weights.items() if c in run and r not in gone)
        if extent:
            more = f" and {len(run) - 1} more" if len(run) > 1 else ""
            message = f"Column {values.header(run[0])}{more}: missing."
            yield Event(Kind.COLUMN_MISSING, extent, message, {"row": None, "col": run[0]})


def _runs(chosen: list[int], all_of_them: list[int]) -> Iterable[list[int]]:
    """Neighbours among all of them, together."""
    rank = {value: k for k, value in enumerate(all_of_them)}
    for _, run in groupby(enumerate(chosen), key=lambda pair: rank[pair[1]] - pair[0]):
        yield [value for _, value in run]


def _cut_off(side: Side) -> set[int]:
    """The last rows of the truth if they are missing and the last row before them is not complete."""
    if not side.alignment.rows:
        return set()
    last = max(side.alignment.rows)
    at = side.alignment.rows[last]
    complete = sum(side.pred.present[at]) >= sum(side.truth.present[last])
    if complete or at != side.pred.n_rows - 1:
        return set()
    return set(range(last + 1, side.truth.n_rows))


def _invented(side: Side, moved: set[int]) -> Iterable[Event]:
    """What the prediction has and the truth has not: rows, columns and single values."""
    pred = side.pred
    rows = {p: t for t, p in side.alignment.rows.items()}
    cols = {p: t for t, p in side.alignment.columns.items()}
    heads = {tuple(pred.texts[r]) for r in range(side.pred_header)}
    expected = {tight(t) for row in side.truth.texts for t in row if t}
    by_row: Counter[int] = Counter()
    by_column: Counter[int] = Counter()
    single: list[Position] = []
    body = range(side.pred_header, pred.n_rows)
    for r in body:
        if r in moved or (r not in rows and tuple(pred.texts[r]) in heads):
            continue  # a row that slipped, or a header that comes again
        section = is_section(pred, r)
        for c in range(pred.n_cols):
            text = pred.texts[r][c]
            if not text or not pred.starts[r][c]:
                continue
            if r not in rows:
                # What the truth says elsewhere is moved, not invented: a heading, a name given again.
                by_row[r] += 0 if section and tight(text) in expected else 1
            elif c not in cols:
                by_column[c] += 0 if tight(text) in map(tight, side.truth.texts[rows[r]]) else 1
            elif not side.truth.present[rows[r]][cols[c]]:
                single.append((r, c))
    for run in _runs(sorted(r for r in by_row if by_row[r]), list(body)):
        shown = " ".join(t for t in pred.shown[run[0]] if t)
        more = f" and {len(run) - 1} more" if len(run) > 1 else ""
        message = f"Row {quote(shown)}{more} of the output: not in the truth."
        extent = float(sum(by_row[r] for r in run))
        yield Event(Kind.INVENTED, extent, message, {"pred_row": run[0], "pred_col": None})
    for c in sorted(c for c in by_column if by_column[c]):
        message = f"Column {c + 1} of the output: not in the truth."
        yield Event(Kind.INVENTED, float(by_column[c]), message, {"pred_row": None, "pred_col": c})
    for r, c in single:
        message = f"{quote(pred.shown[r][c])} in row {r + 1}, column {c + 1} of the output: not in the truth."
        yield Event(Kind.INVENTED, 1.0, message, {"pred_row": r, "pred_col": c})
