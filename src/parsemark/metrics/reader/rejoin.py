"""Rows that a parser has torn apart, put together again: a cell of three lines given as three rows."""

from __future__ import annotations

from itertools import pairwise

from parsemark.metrics.reader.align import Alignment
from parsemark.metrics.reader.likeness import likeness, may_become
from parsemark.metrics.reader.sheet import Sheet

_GAIN = 0.05
"""Likeness that a piece has to add."""
_MOST_LINES = 6
"""A torn row has at most this many pieces on each side of the one that was recognised."""


def joined_rows(truth: Sheet, pred: Sheet, alignment: Alignment) -> Sheet:
    """The prediction with torn rows joined, or the prediction itself if there are none."""
    if len(alignment.rows) == pred.n_rows or not alignment.rows:
        return pred
    matched = sorted(alignment.rows.items(), key=lambda pair: pair[1])
    first = matched[0][1]
    bounds = [first - 1, *(p for _, p in matched), pred.n_rows]
    groups: dict[int, list[int]] = {}
    taken: set[int] = set()
    for position, (row, partner) in enumerate(matched):
        above = [r for r in range(bounds[position] + 1, partner) if r not in taken][-_MOST_LINES:]
        below = list(range(partner + 1, bounds[position + 2]))[:_MOST_LINES]
        if not above and not below:
            continue
        best = _best_group(truth, pred, alignment, row, partner, above, below)
        if len(best) > 1:
            groups[partner] = best
            taken.update(best)
    return _merge(pred, groups) if groups else pred


def _best_group(
    truth: Sheet,
    pred: Sheet,
    alignment: Alignment,
    row: int,
    partner: int,
    above: list[int],
    below: list[int],
) -> list[int]:
    # A number that already has other digits will not be the true one with more text beside it.
    wanted = [
        (text, other)
        for col, other in alignment.columns.items()
        if (text := truth.texts[row][col]) and may_become(pred.texts[partner][other], text)
    ]

    def worth(group: list[int]) -> float:
        return sum([likeness(text, _joined_text(pred, group, other)) for text, other in wanted])

    best, most = [partner], worth([partner])
    for up in range(len(above) + 1):
        for down in range(len(below) + 1):
            group = [*above[len(above) - up :], partner, *below[:down]]
            if len(group) > 1 and (value := worth(group)) > most + _GAIN:
                best, most = group, value
    return best


def _joined_text(sheet: Sheet, rows: list[int], col: int) -> str:
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
        texts=[[_joined_text(sheet, group, c) for c in columns] for group in groups_in_order],
        shown=[[_joined_shown(sheet, group, c) for c in columns] for group in groups_in_order],
        starts=[sheet.starts[group[0]] for group in groups_in_order],
        present=[[any(sheet.present[r][c] for r in group) for c in columns] for group in groups_in_order],
        holes=[sheet.holes[group[0]] for group in groups_in_order],
        header_rows=sheet.header_rows,
    )


def _joined_shown(sheet: Sheet, rows: list[int], col: int) -> str:
    return " ".join(dict.fromkeys(sheet.shown[r][col] for r in rows if sheet.shown[r][col]))
