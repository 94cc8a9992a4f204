"""Rows, columns, notes and values that are missing, torn, or that the truth does not have."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property
from itertools import groupby
from operator import and_

from parsemark.metrics.reader.events import Event, Kind, quote
from parsemark.metrics.reader.paths import holds, worded
from parsemark.metrics.reader.structure import filled_down, is_heading, is_section
from parsemark.metrics.reader.texts import is_numeric, tight
from parsemark.metrics.reader.values import Position, Side, Values

_CAPTION_LINES = 2
_AGAIN = 0.3
"""Severity of rows that say what the table says already: as much as that of a further table beside it."""


def lost_and_invented(values: Values, moved: dict[int, int], outside: str) -> tuple[Event, ...]:
    """All that is missing, torn or invented.

    Args:
        values: What became of the values.
        moved: Rows that slipped, and where they stand in the prediction.
        outside: Folded text around the predicted table.
    """
    return (
        *_missing(values, set(moved)),
        *_invented(values, set(moved.values())),
        *_torn(values),
        *_notes_lost(values.side, outside),
    )


def moved_rows(values: Values) -> dict[int, int]:
    """Rows that nothing answers column by column, but that stand in the prediction with the same texts."""
    side = values.side
    unanswered = [row for row in values.of_row if row not in side.alignment.rows]
    if not unanswered:
        return {}
    answers = set(side.alignment.rows.values())
    left = {
        tuple(filter(None, side.pred.texts[r])): r
        for r in range(side.pred_header, side.pred.n_rows)
        if r not in answers
    }
    moved = {}
    for row in unanswered:
        texts, starts = side.truth.texts[row], side.truth.starts[row]
        begun = tuple(t for t, start in zip(texts, starts, strict=True) if t and start)
        for found in (tuple(filter(None, texts)), begun):
            if found in left:
                moved[row] = left.pop(found)
                break
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


def _torn(values: Values) -> Iterable[Event]:
    """Rows that are given as several, all of them one event."""
    rows = [r for r in sorted(values.side.torn) if r in values.of_row]
    if rows:
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        message = f"Row {values.name(rows[0], values.side.truth.n_cols - 1)}{more}: torn into several rows."
        extent = sum(values.of_row[r] for r in rows)
        yield Event(Kind.ROW_SPLIT, extent, message, {"row": rows[0], "col": None})


def _notes_lost(side: Side, outside: str) -> Iterable[Event]:
    """Notes below the data that stand neither in the prediction nor around it."""
    truth = side.truth
    row = truth.n_rows - 1
    while row in side.structure.sections:
        words = worded(truth.texts[row][0]).split()
        said = {word for line in side.pred.texts for text in line for word in worded(text).split()}
        said.update(worded(outside).split())
        if 2 * sum(word in said for word in words) < len(words):
            message = f"The note {quote(truth.shown[row][0])} is lost."
            yield Event(Kind.SECTION_LOST, 1.0, message, {"row": row, "col": 0})
        row -= 1


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
    begun = sum(map(and_, side.truth.present[last], side.truth.starts[last]))
    complete = sum(side.pred.present[at]) >= begun
    if complete or at != side.pred.n_rows - 1:
        return set()
    return set(range(last + 1, side.truth.n_rows))


class _Said:
    """What the truth says, looked up where it is asked for."""

    def __init__(self, side: Side) -> None:
        self.truth, self.structure = side.truth, side.structure
        self._in_rows: dict[int, set[str]] = {}

    @cached_property
    def anywhere(self) -> set[str]:
        """All that it says."""
        return {tight(t) for row in self.truth.texts for t in row if t}

    @cached_property
    def _sections(self) -> list[int]:
        return sorted(self.structure.sections)

    def says_in_row(self, row: int, text: str) -> bool:
        """Whether a text stands in a row, in the section heading above it, or is a part of its name."""
        if row not in self._in_rows:
            above = bisect_right(self._sections, row)
            section = self.truth.texts[self._sections[above - 1]][0] if above else ""
            self._in_rows[row] = {tight(said) for said in (section, *self.truth.texts[row])}
        if tight(text) in self._in_rows[row]:
            return True
        names = (self.name(row, col) for col in self.structure.stubs)
        return not is_numeric(text) and any(holds(name, text) for name in names)

    @cached_property
    def _names(self) -> dict[int, list[str]]:
        return filled_down(self.truth, sorted(self.structure.stubs), self.structure.n_header)

    def name(self, row: int, col: int) -> str:
        """What names a row in a label column, be it the cell above; empty in other columns."""
        return self._names[col][row] if col in self.structure.stubs else ""


def _invented(values: Values, moved: set[int]) -> Iterable[Event]:
    """What the prediction has and the truth has not: rows, columns and single values."""
    side = values.side
    pred = side.pred
    rows = {p: t for t, p in side.alignment.rows.items()}
    cols = {p: t for t, p in side.alignment.columns.items()}
    said = _Said(side)

    def again(row: int, text: str) -> bool:
        """Whether a number is given once more than the truth has it in this row."""
        theirs = sum(pred.texts[row][p] == text for p in cols)
        return is_numeric(text) and theirs >= side.truth.texts[rows[row]].count(text)

    # One line or two above the data may be a caption; a line that stands above and below is none.
    above = [r for r in range(side.pred_header) if is_section(pred, r)]
    foreign = [r for r in above if tight(pred.texts[r][0]) not in said.anywhere]
    heads = {tuple(pred.texts[r]) for r in range(side.pred_header) if r not in foreign}
    by_row: Counter[int] = Counter(foreign[_CAPTION_LINES:])
    by_column: defaultdict[int, set[int]] = defaultdict(set)
    single: list[Position] = []
    body = range(side.pred_header, pred.n_rows)
    every_column = len(cols) == pred.n_cols
    for r in body:
        answered = rows.get(r)
        if answered is not None and every_column and all(side.truth.present[answered]):
            continue  # nothing is there that the truth does not ask for
        if r in moved or (answered is None and tuple(pred.texts[r]) in heads):
            continue  # a row that slipped, or a header that comes again
        section = answered is None and is_heading(pred, r)
        for c, (text, start) in enumerate(zip(pred.texts[r], pred.starts[r], strict=True)):
            if not text or not start:
                continue
            if answered is None:
                # What the truth says elsewhere is moved, not invented: a heading, a name given again.
                by_row[r] += 0 if section and tight(text) in said.anywhere else 1
            elif c not in cols:
                if not said.says_in_row(answered, text) or again(r, text):
                    by_column[c].add(r)
            elif not side.truth.present[answered][cols[c]] and text != said.name(answered, cols[c]):
                single.append((r, c))
    # A header that comes again between invented rows, or a row that slipped, does not part them.
    counted = sorted(r for r in range(pred.n_rows) if r in rows or by_row[r])
    answering = {tuple(pred.texts[r]) for r in rows}
    for run in _runs([r for r in counted if r not in rows], counted):
        shown = " ".join(t for t in pred.shown[run[0]] if t)
        more = f" and {len(run) - 1} more" if len(run) > 1 else ""
        twice = answering.issuperset(tuple(pred.texts[r]) for r in run)
        what = "given twice" if twice else "not in the truth"
        message = f"Row {quote(shown)}{more} of the output: {what}."
        extent = float(sum(by_row[r] for r in run))
        severity = _AGAIN if twice else 1.0
        yield Event(Kind.INVENTED, extent, message, {"pred_row": run[0], "pred_col": None}, severity)
    for run in _runs(sorted(by_column), list(range(pred.n_cols))):
        more = f" and {len(run) - 1} more" if len(run) > 1 else ""
        message = f"Column {run[0] + 1}{more} of the output: not in the truth."
        touched = len(set().union(*(by_column[c] for c in run)))
        # A row that runs away touches itself, however far it runs.
        extent = min(sum(len(by_column[c]) for c in run), touched * side.truth.n_cols)
        yield Event(Kind.INVENTED, float(extent), message, {"pred_row": None, "pred_col": run[0]})
    for r, c in sorted({*single} - values.went_to.keys() if single else ()):
        message = f"{quote(pred.shown[r][c])} in row {r + 1}, column {c + 1} of the output: not in the truth."
        yield Event(Kind.INVENTED, 1.0, message, {"pred_row": r, "pred_col": c})
