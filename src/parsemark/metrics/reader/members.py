"""Groups whose own values stand in a row above their members: `Race | | 0.81` over `White | 151 |`."""

from __future__ import annotations

from collections.abc import Iterable

from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import header_rows

_LEAST_MEMBERS = 2
_Cell = tuple[str, str, bool, bool, bool]
"""Its folded text, its text, and whether it begins, says something, is a hole."""


def given_to_members(sheet: Sheet) -> Sheet | None:
    """The table with the values of groups given to all of their members below, or None if it has no groups.

    The name of a group stands in a column before those of its members, and spans them as its values do.
    """
    if sheet.n_cols < 3:  # a name, a value of the group, and one of its members
        return None
    n_header = header_rows(sheet)
    group_of = {member: group for group, members in _groups(sheet, n_header) for member in members}
    if not group_of:
        return None
    nothing = ("", "", True, False, False)
    cells: list[list[_Cell]] = []
    for row in range(sheet.n_rows):
        own = [_cell(sheet, row, c) for c in range(sheet.n_cols)]
        if row in group_of:
            first = row == group_of[row] + 1
            of_group = [_cell(sheet, group_of[row], c, starts=first) for c in range(sheet.n_cols)]
            shared = [theirs if theirs[3] else ours for ours, theirs in zip(own, of_group, strict=True)]
            cells.append([of_group[0], own[0], *shared[1:]])
        elif row < n_header:
            cells.append([nothing, *own])
        elif row not in group_of.values():
            cells.append([own[0], _cell(sheet, row, 0, starts=False), *own[1:]])
    texts, shown, starts, present, holes = (
        [[cell[k] for cell in line] for line in cells] for k in range(len(nothing))
    )
    return Sheet(texts, shown, starts, present, holes, n_header)


def _cell(sheet: Sheet, row: int, col: int, *, starts: bool | None = None) -> _Cell:
    begins = sheet.starts[row][col] if starts is None else starts
    return (
        sheet.texts[row][col],
        sheet.shown[row][col],
        begins,
        sheet.present[row][col],
        sheet.holes[row][col],
    )


def _groups(sheet: Sheet, n_header: int) -> Iterable[tuple[int, range]]:
    """The rows of groups, and the rows of their members: where one says something, the others do not."""
    begun = [
        {c for c, (p, s) in enumerate(zip(sheet.present[r], sheet.starts[r], strict=True)) if p and s}
        for r in range(sheet.n_rows)
    ]
    row = n_header
    while row < sheet.n_rows:
        end = row + 1
        while end < sheet.n_rows and begun[row] & begun[end] == {0} and len(begun[end]) > 1:
            end += 1
        if len(begun[row]) > 1 and end - row > _LEAST_MEMBERS:
            yield row, range(row + 1, end)
        row = end
