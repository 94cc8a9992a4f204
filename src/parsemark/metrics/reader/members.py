"""Groups whose own values stand in a row above their members: `Race | | 0.81` over `White | 151 |`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.structure import header_rows

_LEAST_MEMBERS = 2


def given_to_members(sheet: Sheet) -> Sheet | None:
    """The table with the values of groups given to all of their members below, or None if it has no groups.

    The name of a group stands in a column before those of its members, and spans them as its values do.
    """
    if sheet.n_cols < 3:  # a name, a value of the group, and one of its members
        return None
    if all(map(all, sheet.present)) and all(map(all, sheet.starts)):
        return None  # where a group says something, its members do not
    n_header = header_rows(sheet)
    group_of = {member: group for group, members in _groups(sheet, n_header) for member in members}
    if not group_of:
        return None
    groups = set(group_of.values())
    kept = [row for row in range(sheet.n_rows) if row not in groups]
    wide = sheet.part(kept, [0, *range(sheet.n_cols)])
    for at, row in enumerate(kept):
        group = group_of.get(row)
        if row < n_header:  # the header is that of the names, not of the groups
            wide.texts[at][0] = wide.shown[at][0] = ""
            wide.present[at][0] = False
        elif group is None:  # its name spans both columns
            wide.starts[at][1] = False
        else:
            for c in (c for c in range(sheet.n_cols) if sheet.present[group][c]):
                place = c + 1 if c else 0
                wide.texts[at][place] = sheet.texts[group][c]
                wide.shown[at][place] = sheet.shown[group][c]
                wide.starts[at][place] = row == group + 1
                wide.present[at][place] = True
    return dataclasses.replace(wide, header_rows=n_header)


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
        members = range(row + 1, end)
        # Members are alike: something is said of each of them.
        shared = set.intersection(*(begun[r] for r in members)) if len(members) >= _LEAST_MEMBERS else set()
        if len(begun[row]) > 1 and len(shared) > 1:
            yield row, members
        row = end
