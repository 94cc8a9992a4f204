"""Rows that a parser has torn apart, put together again: a cell of three lines given as three rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product, takewhile
from typing import NamedTuple

from parsemark.metrics.reader.align import Alignment
from parsemark.metrics.reader.likeness import likeness
from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import says_deviations
from parsemark.metrics.reader.texts import is_numeric, tight

_GAIN = 0.05
"""Likeness that a piece has to add."""
_MOST_LINES = 6
"""A torn row has at most this many pieces on each side of the one that was recognised."""


class Joined(NamedTuple):
    """A prediction with torn rows joined."""

    sheet: Sheet
    torn: frozenset[int] = frozenset()
    """The rows of the truth that were torn."""


def joined_rows(truth: Sheet, pred: Sheet, alignment: Alignment, n_header: int) -> Joined:
    """The prediction with torn rows joined, or as it is if there are none.

    Args:
        truth: The truth.
        pred: The prediction.
        alignment: Which rows and columns answer which.
        n_header: So many leading rows of the prediction are none of data.
    """
    if len(alignment.rows) == pred.n_rows or not alignment.rows:
        return Joined(pred)
    matched = sorted(alignment.rows.items(), key=lambda pair: pair[1])
    first = min(matched[0][1], n_header)
    bounds = [first - 1, *(p for _, p in matched), pred.n_rows]
    groups: dict[int, list[int]] = {}
    taken: set[int] = set()
    torn: list[int] = []
    for position, (row, partner) in enumerate(matched):
        above = [r for r in range(bounds[position] + 1, partner) if r not in taken][-_MOST_LINES:]
        below = list(range(partner + 1, bounds[position + 2]))[:_MOST_LINES]
        if not above and not below:
            continue
        columns = alignment.columns.items()
        wanted = [(text, column) for own, column in columns if (text := truth.texts[row][own])]
        best = _best_group(wanted, pred, partner, above, below)
        if len(best) > 1:
            groups[partner] = best
            taken.update(best)
            # Deviations may stand below their values.
            if not all(says_deviations(pred, r, 1) for r in best if r != partner):
                torn.append(row)
    return Joined(_merge(pred, groups), frozenset(torn)) if groups else Joined(pred)


def lines_joined(truth: Sheet, first: int, given: Sequence[Sheet]) -> Sheet | None:
    """The truth with rows joined to the one above that only go on with its texts, if the prediction does so.

    Args:
        truth: The truth.
        first: Its first row of data.
        given: The predicted tables.
    """
    going_on = [r for r in range(first + 1, truth.n_rows) if _may_go_on(truth, r)]
    if not going_on:
        return None
    said = {tight(text) for sheet in given for row in sheet.texts for text in row if text}
    groups: dict[int, list[int]] = {}
    begins = {r: r for r in range(truth.n_rows)}
    for row in going_on:
        begin = begins[row - 1]
        group = [*groups.get(begin, [begin]), row]
        wanted = {tight(_texts_in(truth, group, c)) for c in range(truth.n_cols) if truth.texts[row][c]}
        if all(any(text.startswith(part) for text in said) for part in wanted):
            groups[begin] = group
            begins[row] = begin
    return _merge(truth, groups) if groups else None


def _may_go_on(truth: Sheet, row: int) -> bool:
    """Whether a row says little, and no numbers, below one that says more."""
    texts = [t for t, starts in zip(truth.texts[row], truth.starts[row], strict=True) if t and starts]
    more = sum(map(bool, truth.texts[row - 1]))
    return 0 < 2 * len(texts) <= truth.n_cols and len(texts) <= more and not any(map(is_numeric, texts))


def _best_group(
    wanted: list[tuple[str, int]], pred: Sheet, partner: int, above: list[int], below: list[int]
) -> list[int]:
    """The rows around one that make it most like a true one when they are joined to it.

    Args:
        wanted: The true texts, and where they should stand.
        pred: The prediction.
        partner: The row that answers the true one.
        above: Rows above it that are free.
        below: Rows below it.
    """

    def is_piece(row: int) -> bool:
        return any((text := tight(pred.texts[row][c])) and text in tight(true) for true, c in wanted)

    def worth(group: list[int]) -> float:
        return sum(likeness(text, _texts_in(pred, group, column)) for text, column in wanted)

    above = list(takewhile(is_piece, reversed(above)))[::-1]
    below = list(takewhile(is_piece, below))
    best, most = [partner], worth([partner]) if above or below else 0.0
    for up, down in product(range(len(above) + 1), range(len(below) + 1)):
        group = [*above[len(above) - up :], partner, *below[:down]]
        if len(group) > 1 and (value := worth(group)) > most + _GAIN:
            best, most = group, value
    return best


def _texts_in(sheet: Sheet, rows: list[int], col: int) -> str:
    texts = [sheet.texts[rows[0]][col]]
    for _, row in pairwise(rows):
        if sheet.texts[row][col] and (sheet.starts[row][col] or sheet.texts[row][col] != texts[-1]):
            texts.append(sheet.texts[row][col])
    return " ".join(t for t in texts if t)


def _merge(sheet: Sheet, groups: dict[int, list[int]]) -> Sheet:
    merged = {row: group for group in groups.values() for row in group}
    kept = [(row, merged.get(row, [row])) for row in range(sheet.n_rows)]
    groups_in_order = [group for row, group in kept if row == group[0]]
    columns = range(sheet.n_cols)
    return Sheet(
        texts=[[_texts_in(sheet, group, c) for c in columns] for group in groups_in_order],
        shown=[[_written_in(sheet, group, c) for c in columns] for group in groups_in_order],
        starts=[sheet.starts[group[0]] for group in groups_in_order],
        present=[[any(sheet.present[r][c] for r in group) for c in columns] for group in groups_in_order],
        holes=[sheet.holes[group[0]] for group in groups_in_order],
        header_rows=sheet.header_rows,
    )


def _written_in(sheet: Sheet, rows: list[int], col: int) -> str:
    return " ".join(dict.fromkeys(sheet.shown[r][col] for r in rows if sheet.shown[r][col]))
