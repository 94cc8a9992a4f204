"""Rows, columns, notes and values that are missing, torn, or that the truth does not have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import groupby
from operator import and_

from parsemark.metrics.reader.events import UNASKED, Event, Kind, quote
from parsemark.metrics.reader.paths import holds, worded
from parsemark.metrics.reader.structure import is_heading, is_section
from parsemark.metrics.reader.texts import is_numeric, tight
from parsemark.metrics.reader.values import Position, Side

_CAPTION_LINES = 2


def lost_and_invented(side: Side, moved: dict[int, int], outside: str) -> tuple[Event, ...]:
    """All that is missing, torn or invented, but for rows that slipped: where they stand is `moved`."""
    return (
        *_missing(side, set(moved)),
        *_invented(side, set(moved.values())),
        *_torn(side),
        *_notes_lost(side, outside),
    )


def moved_rows(side: Side) -> dict[int, int]:
    """Rows that nothing answers column by column, but that stand in the prediction with the same texts."""
    unanswered = [row for row in side.asked.of_row if row not in side.alignment.rows]
    if not unanswered:
        return {}
    body = range(side.pred_header, side.pred.n_rows)
    left = {tuple(filter(None, side.pred.texts[r])): r for r in body if r not in side.alignment.row_of}
    moved = {}
    for row in unanswered:
        texts, starts = side.truth.texts[row], side.truth.starts[row]
        begun = tuple(t for t, start in zip(texts, starts, strict=True) if t and start)
        found = next((texts for texts in (tuple(filter(None, texts)), begun) if texts in left), None)
        if found is not None:
            moved[row] = left.pop(found)
    return moved


def _missing(side: Side, moved: set[int]) -> Iterable[Event]:
    """Rows and columns that nothing answers, neighbours as one event."""
    of_row, of_column = side.asked.of_row, side.asked.of_column
    rows = [r for r in sorted(of_row) if r not in side.alignment.rows and r not in moved]
    gone = set(rows) | moved
    cut = _cut_off(side)
    for run in _runs(rows, sorted(of_row)):
        kind, said = Kind.ROW_MISSING, "missing"
        if run[-1] in cut:
            kind, said = Kind.CUT_OFF, "missing: the output breaks off before"
        message = f"Row {side.name(run[0])}{_and_more(run)}: {said}."
        yield Event(kind, sum(of_row[r] for r in run), message, {"row": run[0], "col": None})
    columns = [c for c in sorted(of_column) if c not in side.alignment.columns]
    for run in _runs(columns, sorted(of_column)):
        extent = sum(w for (r, c), w in side.asked.weights.items() if c in run and r not in gone)
        if extent:
            message = f"Column {side.header(run[0])}{_and_more(run)}: missing."
            yield Event(Kind.COLUMN_MISSING, extent, message, {"row": None, "col": run[0]})


def _torn(side: Side) -> Iterable[Event]:
    """Rows that are given as several, all of them one event."""
    rows = [r for r in sorted(side.torn) if r in side.asked.of_row]
    if rows:
        message = f"Row {side.name(rows[0])}{_and_more(rows)}: torn into several rows."
        extent = sum(side.asked.of_row[r] for r in rows)
        yield Event(Kind.ROW_SPLIT, extent, message, {"row": rows[0], "col": None})


def _notes_lost(side: Side, outside: str) -> Iterable[Event]:
    """Notes below the data that stand neither in the prediction nor around it."""
    row = side.truth.n_rows - 1
    while row in side.structure.sections:
        words = worded(side.truth.texts[row][0]).split()
        said = {word for text in (outside, *side.pred.said) for word in worded(text).split()}
        if 2 * sum(word in said for word in words) < len(words):
            message = f"The note {quote(side.truth.shown[row][0])} is lost."
            yield Event(Kind.SECTION_LOST, 1.0, message, {"row": row, "col": 0})
        row -= 1


def _runs(chosen: list[int], all_of_them: list[int]) -> Iterable[list[int]]:
    """Neighbours among all of them, together."""
    rank = {value: k for k, value in enumerate(all_of_them)}
    for _, run in groupby(enumerate(chosen), key=lambda pair: rank[pair[1]] - pair[0]):
        yield [value for _, value in run]


def _and_more(run: list[int]) -> str:
    return f" and {len(run) - 1} more" if len(run) > 1 else ""


def _cut_off(side: Side) -> range:
    """The last rows of the truth if they are missing and the last row before them is not complete."""
    last = max(side.alignment.rows, default=side.truth.n_rows)
    at = side.alignment.rows.get(last)
    if at is None or at != side.pred.n_rows - 1:
        return range(0)
    begun = sum(map(and_, side.truth.present[last], side.truth.starts[last]))
    return range(last + 1, side.truth.n_rows) if sum(side.pred.present[at]) < begun else range(0)


def _says_in_row(side: Side, row: int, text: str) -> bool:
    """Whether a text stands in a row, in the section heading above it, or is a part of its name."""
    if tight(text) in map(tight, (side.asked.section_of.get(row, ""), *side.truth.texts[row])):
        return True
    return not is_numeric(text) and any(holds(names[row], text) for names in side.asked.names.values())


def _invented(side: Side, moved: set[int]) -> Iterable[Event]:
    """What the prediction has and the truth has not: rows, columns and single values."""
    pred, rows, cols = side.pred, side.alignment.row_of, side.alignment.column_of
    truth, asked = side.truth, side.asked

    def again(row: int, text: str) -> bool:
        """Whether a number is given once more than the truth has it in this row."""
        theirs = sum(pred.texts[row][p] == text for p in cols)
        return is_numeric(text) and theirs >= truth.texts[rows[row]].count(text)

    # One line or two above the data may be a caption; a line that stands above and below is none.
    above = [r for r in range(side.pred_header) if is_section(pred, r)]
    foreign = [r for r in above if tight(pred.texts[r][0]) not in asked.said]
    heads = {tuple(pred.texts[r]) for r in range(side.pred_header) if r not in foreign}
    by_row: Counter[int] = Counter(foreign[_CAPTION_LINES:])
    by_column: defaultdict[int, set[int]] = defaultdict(set)
    single: list[Position] = []
    for r in range(side.pred_header, pred.n_rows):
        answered = rows.get(r)
        if r in moved or (answered is None and tuple(pred.texts[r]) in heads):
            continue  # a row that slipped, or a header that comes again
        section = answered is None and is_heading(pred, r)
        for c, (text, start) in enumerate(zip(pred.texts[r], pred.starts[r], strict=True)):
            if not text or not start:
                continue
            if answered is None:
                # What the truth says elsewhere is moved, not invented: a heading, a name given again.
                by_row[r] += 0 if section and tight(text) in asked.said else 1
            elif c not in cols:
                if not _says_in_row(side, answered, text) or again(r, text):
                    by_column[c].add(r)
            elif not truth.present[answered][cols[c]]:
                names = asked.names.get(cols[c])
                if names is None or names[answered] != text:
                    single.append((r, c))
    # A header that comes again between invented rows, or a row that slipped, does not part them.
    counted = sorted(r for r in range(pred.n_rows) if r in rows or by_row[r])
    answering = {tuple(pred.texts[r]) for r in rows}
    for run in _runs([r for r in counted if r not in rows], counted):
        twice = answering.issuperset(tuple(pred.texts[r]) for r in run)
        shown = quote(" ".join(filter(None, pred.shown[run[0]])))
        what = "given twice" if twice else "not in the truth"
        message = f"Row {shown}{_and_more(run)} of the output: {what}."
        extent = float(sum(by_row[r] for r in run))
        where = {"pred_row": run[0], "pred_col": None}
        yield Event(Kind.INVENTED, extent, message, where, UNASKED if twice else 1.0)
    for run in _runs(sorted(by_column), list(range(pred.n_cols))):
        message = f"Column {run[0] + 1}{_and_more(run)} of the output: not in the truth."
        touched = len(set().union(*(by_column[c] for c in run)))
        # A row that runs away touches itself, however far it runs.
        extent = float(min(sum(len(by_column[c]) for c in run), touched * truth.n_cols))
        yield Event(Kind.INVENTED, extent, message, {"pred_row": None, "pred_col": run[0]})
    for r, c in sorted({*single} - {*side.went_to.values()} if single else ()):
        message = f"{quote(pred.shown[r][c])} in row {r + 1}, column {c + 1} of the output: not in the truth."
        yield Event(Kind.INVENTED, 1.0, message, {"pred_row": r, "pred_col": c})
