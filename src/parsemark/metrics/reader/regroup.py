"""Columns or rows that a parser has run together, or torn apart, put back as the truth has them.

Every row of the two tables is read as one string. Where the strings agree, each cell of the truth has its
place in the cells of the prediction: several of them in one cell, row after row, are columns run together.
Rows run together are the same on the transposed tables, and lines of plain text are a table of one column.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from parsemark.metrics.reader.align import best_path
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.texts import tight

_LEAST_ALIKE = 0.3
"""Rows less alike than this are not compared cell by cell."""
_SHARE = 0.5
"""Columns belong together if they do in this share of the rows."""
_LONGEST = 2000
"""Characters of a row; longer ones are left as they are."""
_MOST_ROWS = 400


@dataclass(frozen=True, slots=True)
class Grouped:
    """Lines (columns, or rows) of the truth that one line of the prediction holds."""

    lines: tuple[int, ...]
    held: float
    """Number of cells in which they are run together."""
    separate: float
    """Share of these cells in which each part stands on a line of its own."""
    glued: float
    """Share of these cells in which not even a space is between the parts."""


@dataclass(frozen=True)
class Regrouped:
    """A prediction with its lines put as the truth has them."""

    sheet: Sheet
    merged: tuple[Grouped, ...]
    split: tuple[tuple[int, ...], ...]
    """Columns of the given prediction that are one in the truth."""


_Parts = dict[int, list[tuple[int, int, int]]]


@dataclass(frozen=True, slots=True)
class _Row:
    """Where the cells of a row of the truth stand in a row of the prediction."""

    parts: _Parts
    """For each column of the prediction: column of the truth, and where it begins and ends in the text."""
    spread: dict[int, tuple[int, ...]]
    """For each column of the truth the columns of the prediction that hold its parts."""
    spanning: frozenset[int]
    """Columns of the truth whose cell in this row spans further ones."""


def regroup_columns(truth: Sheet, pred: Sheet, *, join: bool = True, kept: int = 0) -> Regrouped | None:
    """Put columns back that were run together or (if `join`) torn apart, or None if there are none.

    Args:
        truth: The truth.
        pred: The prediction.
        join: Whether torn columns are joined.
        kept: Of so many leading columns of the truth it does not matter whether they are run together.
    """
    if max(truth.n_rows, pred.n_rows) > _MOST_ROWS:
        return None
    rows = _located(truth, pred)
    if not rows:
        return None
    votes: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    torn: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for row in rows.values():
        for column, parts in row.parts.items():
            # A cell of several lines is given once for them, whether they are run together or not.
            if len(parts) > 1 or parts[0][0] not in row.spanning:
                votes[column][tuple(part[0] for part in parts)] += 1
        for column, places in row.spread.items():
            torn[column][places] += 1
    together = {
        c: lines for c, counts in votes.items() if len(lines := _majority(counts)) > 1 and lines[-1] >= kept
    }
    apart = {lines for counts in torn.values() if len(lines := _majority(counts)) > 1}
    apart = {lines for lines in apart if join and not set(lines) & set(together)}
    if not together and not apart:
        return None
    merged = tuple(_grouped(pred, rows, column, lines) for column, lines in sorted(together.items()))
    return Regrouped(_rebuilt(pred, rows, together, apart), merged, tuple(sorted(apart)))


def regroup_rows(truth: Sheet, pred: Sheet, n_header: int = 0) -> Regrouped | None:
    """`regroup_columns` for rows; torn rows are joined, and headers flattened, elsewhere."""
    found = regroup_columns(truth.transposed(), pred.transposed(), join=False, kept=n_header)
    if found is None:
        return None
    return Regrouped(found.sheet.transposed(), found.merged, found.split)


def unfolded(sheet: Sheet, *, alone: bool = False) -> Sheet | None:
    """The table with rows cut whose cells have equally many lines, or None if there are none.

    A cell of one line stands for all of them, as a cell that spans rows does.

    Args:
        sheet: The table.
        alone: Whether a row is cut too of which a single cell has several lines.
    """
    if not any("\n" in text for row in sheet.shown for text in row):
        return None
    parts: list[Sheet] = []
    for row, shown in enumerate(sheet.shown):
        lines = [text.split("\n") for text in shown]
        counts = {len(cell) for cell, text in zip(lines, shown, strict=True) if text}
        count = max(counts, default=1)
        several = sum(len(cell) == count for cell in lines)
        if count > 1 and counts <= {1, count} and (alone or several > 1):
            parts.append(Sheet.from_rows([[cell[k % len(cell)] for cell in lines] for k in range(count)]))
        else:
            parts.append(sheet.part([row], range(sheet.n_cols)))
    found = Sheet.stacked(parts)
    return found if found.n_rows > sheet.n_rows else None


def _majority(counts: Counter[tuple[int, ...]]) -> tuple[int, ...]:
    lines, count = max(counts.items(), key=lambda item: (item[1], len(item[0])))
    return lines if count >= _SHARE * counts.total() else ()


def _located(truth: Sheet, pred: Sheet) -> dict[int, _Row]:
    """For each row of the prediction that answers one of the truth, where its cells stand."""
    ours = [_pieces(truth, r) for r in range(truth.n_rows)]
    theirs = [_pieces(pred, r) for r in range(pred.n_rows)]
    one, other = ["".join(t for _, t in row) for row in ours], ["".join(t for _, t in row) for row in theirs]
    if max(map(len, one + other), default=0) > _LONGEST:
        return {}
    scores = cdist(one, other, scorer=Levenshtein.normalized_similarity, dtype=np.float32)
    pairs = best_path(scores, _LEAST_ALIKE)
    found: dict[int, _Row] = {}
    for t, p in pairs:
        spans = (c for c in range(truth.n_cols) if truth.starts[t][c] and len(truth.span_in_row(t, c)) > 1)
        found[p] = _Row(*_locate(ours[t], theirs[p], one[t], other[p]), frozenset(spans))
    return found


def _pieces(sheet: Sheet, row: int) -> list[tuple[int, str]]:
    found = [(c, tight(sheet.full(row, c))) for c in range(sheet.n_cols) if sheet.starts[row][c]]
    return [(c, text) for c, text in found if text]


def _locate(
    ours: list[tuple[int, str]], theirs: list[tuple[int, str]], one: str, other: str
) -> tuple[_Parts, dict[int, tuple[int, ...]]]:
    if one == other and [t for _, t in ours] == [t for _, t in theirs]:
        same = list(zip(ours, theirs, strict=True))
        parts = {p: [(c, 0, len(t))] for (c, t), (p, _) in same}
        return parts, {c: (p,) for (c, _), (p, _) in same}
    places = _places(list(accumulate((len(text) for _, text in ours), initial=0)), one, other)
    ends = list(accumulate(len(text) for _, text in theirs))
    bounds = [(column, end - len(text), end) for (column, text), end in zip(theirs, ends, strict=True)]
    held_by: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    spread: dict[int, tuple[int, ...]] = {}
    for (column, _), (begin, end) in zip(ours, pairwise(places), strict=True):
        first, last = bisect_right(ends, begin), bisect_left(ends, end) + 1
        held = [(min(end, e) - max(begin, b), c, b, e) for c, b, e in bounds[first:last]]
        if not end or not held:
            continue
        spread[column] = tuple(c for _, c, _, _ in held)
        _, where, b, e = max(held, key=lambda h: h[0])
        held_by[where].append((column, max(begin, b) - b, min(end, e) - b))
    return dict(held_by), spread


def _places(positions: list[int], one: str, other: str) -> list[int]:
    """Where positions of a text, in order, have gone in another text."""
    places: list[int] = []
    steps = iter(positions)
    position = next(steps)
    for op in Levenshtein.opcodes(one, other):
        while position < op.src_end:
            places.append(op.dest_start + min(position - op.src_start, op.dest_end - op.dest_start))
            position = next(steps)
    return [*places, len(other), *(len(other) for _ in steps)]


def _grouped(pred: Sheet, rows: dict[int, _Row], column: int, lines: tuple[int, ...]) -> Grouped:
    held = [r for r, row in rows.items() if len(row.parts.get(column, ())) > 1]
    separate = sum(pred.shown[r][column].count("\n") == len(rows[r].parts[column]) - 1 for r in held)
    glued = sum(len(pred.shown[r][column].split()) < len(rows[r].parts[column]) for r in held)
    n = max(1, len(held))
    cells = float(sum(len(rows[r].parts[column]) for r in held))
    return Grouped(lines, cells, separate / n, glued / n)


def _rebuilt(
    pred: Sheet, rows: dict[int, _Row], together: dict[int, tuple[int, ...]], apart: set[tuple[int, ...]]
) -> Sheet:
    """The prediction with merged columns cut where the truth's cells end, and torn ones joined."""
    joined = {c: lines for lines in apart for c in lines[1:]}
    firsts = {lines[0]: lines for lines in apart}
    columns: list[list[tuple[Any, ...]]] = []
    for column in range(pred.n_cols):
        if column in joined:
            continue
        if column in together:
            columns += _cut(pred, rows, column, together[column])
            continue
        lines = firsts.get(column, (column,))
        columns.append([_one_cell(pred, r, lines) for r in range(pred.n_rows)])
    return Sheet.from_cells([[column[r] for column in columns] for r in range(pred.n_rows)], pred.header_rows)


def _cut(
    pred: Sheet, rows: dict[int, _Row], column: int, lines: tuple[int, ...]
) -> list[list[tuple[Any, ...]]]:
    found: list[list[tuple[Any, ...]]] = [[] for _ in lines]
    for r in range(pred.n_rows):
        row = rows.get(r)
        parts = {line: (b, e) for line, b, e in row.parts.get(column, ())} if row else {}
        text = tight(pred.full(r, column))
        ours = [line for line in lines if line in parts]
        for k, line in enumerate(lines):
            if len(ours) < 2:  # one text for all of them, as a group header is
                text_of, shown, starts, *rest = pred.cell(r, column)
                found[k].append((text_of, shown, k == 0 and starts, *rest))
            elif line in parts:
                b, e = parts[line]
                piece = text[b:e]
                found[k].append((pred.folded(piece), piece, pred.starts[r][column], True, False))
            else:
                found[k].append(("", "", True, False, False))
    return found


def _one_cell(pred: Sheet, r: int, lines: tuple[int, ...]) -> tuple[Any, ...]:
    """The cells of a row in some columns as one."""
    if len(lines) == 1:
        return pred.cell(r, lines[0])
    begun = [c for c in lines if pred.starts[r][c]] or [lines[0]]
    text = " ".join(t for c in begun if (t := pred.texts[r][c]))
    shown = " ".join(t for c in begun if (t := pred.shown[r][c]))
    return text, shown, pred.starts[r][lines[0]], bool(shown), all(pred.holes[r][c] for c in lines)
