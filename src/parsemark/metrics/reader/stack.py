"""What is one table though it stands otherwise: several below each other or side by side, lists, records."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from itertools import pairwise

from parsemark.metrics.reader.likeness import is_numeric, likeness, tight
from parsemark.metrics.reader.sheet import Grid, Sheet, fold_cell
from parsemark.metrics.reader.structure import header_rows, is_section

_MOST_HEADER_ROWS = 4
_SAME_HEADER = 0.8
_PARTS = re.compile(r"[,;]\s+(?:and\s+)?|\s+and\s+")
_ITEM = re.compile(r"\(?\d{1,2}[.)]\s+")
"""The number of an item of a list."""
MOST_KEYS = 4
"""Leading columns that may say what stands over the values of their rows."""


def stacked(sheets: Sequence[Sheet], headings: Sequence[str], *, headed: bool = True) -> Sheet:
    """Tables below each other: headers that come again are dropped, headings become section rows.

    Args:
        sheets: The tables.
        headings: What stands above each of them.
        headed: Whether the truth has a header; else a row that comes again is one of data.
    """
    widest = max(sheets, key=lambda s: s.n_cols)
    again = [_repeated(sheets[0], sheet) if headed else 0 for sheet in sheets]
    n_header = max(again[1:], default=0)
    inserted = n_header or max(1, sheets[0].header_rows or 1)
    told = len(set(headings)) > 1 and sum(map(bool, headings)) >= len(sheets) - 1
    parts: list[Sheet] = []
    for index, sheet in enumerate(sheets):
        columns = _columns(widest, sheet)
        skipped = 0 if index == 0 else again[index]
        section = Sheet.stacked([], [[headings[index], *[""] * (widest.n_cols - 1)]], widest.n_cols)
        if index == 0:
            parts.append(sheet.part(range(min(inserted, sheet.n_rows)), columns))
            skipped = min(inserted, sheet.n_rows)
        if told and headings[index]:
            parts.append(section)
        parts.append(sheet.part(range(skipped, sheet.n_rows), columns))
    return Sheet.stacked(parts, [], widest.n_cols)


def _repeated(first: Sheet, later: Sheet) -> int:
    """How many leading rows of a later table are the header of the first one again."""
    count = 0
    columns = _columns(first, later)
    while count < min(_MOST_HEADER_ROWS, first.n_rows, later.n_rows):
        pairs = [
            (first.texts[count][c], later.texts[count][k]) for c, k in enumerate(columns) if k is not None
        ]
        filled = [pair for pair in pairs if any(pair)]
        alike = sum(likeness(one, other) for one, other in filled if one and other)
        if not filled or alike < _SAME_HEADER * len(filled):
            break
        count += 1
    return count


def _columns(widest: Sheet, sheet: Sheet) -> list[int | None]:
    """For each column of the widest table the one of another table below it, by header or by place."""
    if sheet.n_cols == widest.n_cols:
        return list(range(sheet.n_cols))
    found: list[int | None] = []
    used: set[int] = set()
    for c in range(widest.n_cols):
        name = widest.texts[0][c]
        at = next(
            (k for k in range(sheet.n_cols) if k not in used and name and sheet.texts[0][k] == name), None
        )
        found.append(at)
        if at is not None:
            used.add(at)
    if len(used) < min(2, sheet.n_cols):
        return [c if c < sheet.n_cols else None for c in range(widest.n_cols)]
    return found


def side_by_side(sheets: Sequence[Sheet], headings: Sequence[str] = ()) -> Sheet | None:
    """Tables beside each other, under their headings if there are some; shorter ones end before."""
    n_rows = max(s.n_rows for s in sheets)
    if n_rows < 2 or any(2 * s.n_rows <= n_rows for s in sheets):
        return None
    sheets = [_lengthened(s, n_rows) for s in sheets]
    if any(headings):
        sheets = [_under(heading, s) for heading, s in zip(headings, sheets, strict=True)]
    return Sheet.beside(sheets, sheets[0].header_rows)


def _lengthened(sheet: Sheet, n_rows: int) -> Sheet:
    """A table with empty rows below, up to so many."""
    if sheet.n_rows == n_rows:
        return sheet
    longer = Sheet.stacked([sheet, _blank(n_rows - sheet.n_rows, sheet.n_cols)], [], sheet.n_cols)
    return dataclasses.replace(longer, header_rows=sheet.header_rows)


def _under(heading: str, sheet: Sheet) -> Sheet:
    """A table with a heading over all of its columns but the first, as its first row."""
    over = Sheet.stacked([], [["", *[heading] * (sheet.n_cols - 1)]], sheet.n_cols)
    starts = [[column < 2 for column in range(sheet.n_cols)]]
    return Sheet.stacked([dataclasses.replace(over, starts=starts), sheet], [], sheet.n_cols)


def blocks_below(sheet: Sheet, width: int) -> Sheet | None:
    """Blocks of so many columns that stand beside each other, below each other; a header again is dropped."""
    if width < 2 or sheet.n_cols < 2 * width or sheet.n_cols % width:
        return None
    blocks = []
    for begin in range(0, sheet.n_cols, width):
        columns = range(begin, begin + width)
        rows = [r for r in range(sheet.n_rows) if any(sheet.present[r][c] for c in columns)]
        if len(rows) < 2 or rows[-1] != len(rows) - 1:
            return None  # a list has no gaps
        blocks.append(sheet.part(rows, columns))
    return stacked(blocks, [""] * len(blocks))


def parts_beside(sheet: Sheet) -> Sheet | None:
    """Parts below each other in one table, each with a header of its own over the same rows, side by side.

    A part begins where the name of the first column comes again.
    """
    if not sheet.n_rows or not sheet.n_cols:
        return None
    top = int(sheet.n_rows > 1 and is_section(sheet, 0))
    name = sheet.texts[top][0]
    begins = [r for r in range(top, sheet.n_rows) if sheet.texts[r][0] == name and sheet.starts[r][0]]
    if not name or len(begins) < 2 or begins[1] - top < 2 or sheet.n_cols < 2:
        return None
    parts = [_part(sheet, begin, end) for begin, end in pairwise([*begins, sheet.n_rows])]
    names = [[row[0] for row in part.texts[part.header_rows or 0 :]] for part in parts]
    heads = {tuple(part.texts[0]) for part in parts}
    if len(heads) < len(parts) or not names[0] or any(n != names[0] for n in names) or len(set(names[0])) < 2:
        return None
    deepest = max(part.header_rows or 0 for part in parts)
    cut = [part.part(range(part.n_rows), range(int(k > 0), part.n_cols)) for k, part in enumerate(parts)]
    padded = [
        Sheet.stacked([_blank(deepest - (part.header_rows or 0), rest.n_cols), rest], [], rest.n_cols)
        for part, rest in zip(parts, cut, strict=True)
    ]
    beside = side_by_side(padded)
    return dataclasses.replace(beside, header_rows=deepest) if beside is not None else None


def _part(sheet: Sheet, begin: int, end: int) -> Sheet:
    """Some rows of a table as one of its own, without the columns that are empty there."""
    while end - 1 > begin and is_section(sheet, end - 1):
        end -= 1  # a heading belongs to what follows
    columns = [c for c in range(sheet.n_cols) if any(sheet.present[r][c] for r in range(begin, end))]
    part = sheet.part(range(begin, end), columns)
    count = header_rows(part)
    while count < part.n_rows - 1 and not part.starts[count][0]:
        count += 1  # the name of the first column spans further rows
    return dataclasses.replace(part, header_rows=count)


def _blank(n_rows: int, n_cols: int) -> Sheet:
    return Sheet.stacked([], [[""] * n_cols for _ in range(n_rows)], n_cols)


def pivoted(sheet: Sheet) -> Sheet | None:
    """A list of row, column and value with the columns beside each other, if it is one."""
    if sheet.n_cols != 3 or sheet.n_rows < 5:  # a header over two by two
        return None
    filled: list[str] = []
    for row in sheet.shown[1:]:
        filled.append(row[0] or (filled[-1] if filled else ""))
    values = {(name, row[1]): row[2] for name, row in zip(filled, sheet.shown[1:], strict=True)}
    names, columns = list(dict.fromkeys(filled)), list(dict.fromkeys(row[1] for row in sheet.shown[1:]))
    whole = len(values) == sheet.n_rows - 1 == len(names) * len(columns)
    if not whole or min(len(names), len(columns)) < 2:
        return None
    lines = [[name, *(values[name, column] for column in columns)] for name in names]
    return Sheet.stacked([], [[sheet.shown[0][0], *columns], *lines], len(columns) + 1)


def widened(sheet: Sheet, heads: Set[str]) -> Sheet | None:
    """A table in which a column, or section rows, say what stands over its values, with that over them.

    `System | Dataset | Score` with a row for each system and dataset becomes `System | XSum | PubMed`, where
    XSum and PubMed are headers of the other table.

    Args:
        sheet: The table.
        heads: The headers of the other table, tight.
    """
    if sheet.n_rows < 3 or sheet.n_cols < 2 or len(heads) < 2:
        return None
    sectioned = _sections_as_column(sheet, heads)
    if sectioned is not None:
        return _widened_by(sectioned, [0])
    keys = [c for c in range(min(MOST_KEYS, sheet.n_cols)) if _are_heads(sheet, c, heads)]
    return _widened_by([list(row) for row in sheet.shown], keys) if keys else None


def _are_heads(sheet: Sheet, column: int, heads: Set[str]) -> bool:
    """Whether all that a column says below its first cell are headers, of which some come again."""
    if tight(sheet.texts[1][column]) not in heads:
        return False
    said = {row[column] for row in sheet.texts[1:]} - {""}
    return len(said) < sheet.n_rows - 1 and all(tight(text) in heads for text in said)


def _sections_as_column(sheet: Sheet, heads: Set[str]) -> Grid[str] | None:
    """The rows of a table with the section above each as their first cell, if the sections are headers."""
    if not is_section(sheet, 1) or tight(sheet.texts[1][0]) not in heads:
        return None
    sections = {r for r in range(1, sheet.n_rows) if is_section(sheet, r)}
    if len(sections) < 2 or not all(tight(sheet.texts[r][0]) in heads for r in sections):
        return None
    rows: Grid[str] = [["", *sheet.shown[0]]]
    for r in range(1, sheet.n_rows):
        if r in sections:
            section = sheet.shown[r][0]
        else:
            rows.append([section, *sheet.shown[r]])
    return rows


def _widened_by(rows: Grid[str], keys: list[int]) -> Sheet | None:
    """Rows with the values for each text in some columns beside each other; empty cells repeat the last."""
    head, body = rows[0], rows[1:]
    numbers = [sum(is_numeric(fold_cell(row[c])) for row in body) for c in range(len(head))]
    first = next((c for c, count in enumerate(numbers) if c not in keys and 2 * count > len(body)), 0)
    names = [c for c in range(first) if c not in keys]
    if not names:
        return None
    values = [c for c in range(len(head)) if c not in keys and c not in names]
    for column in (*keys, *names):
        for above, row in pairwise(body):
            row[column] = row[column] or above[column]
    groups = list(dict.fromkeys(tuple(row[c] for c in keys) for row in body))
    found: dict[tuple[str, ...], dict[tuple[str, ...], list[str]]] = {}
    for row in body:
        of_name = found.setdefault(tuple(row[c] for c in names), {})
        of_name[tuple(row[c] for c in keys)] = [row[c] for c in values]
    told = sum(map(len, found.values()))
    if told < len(body) or len(groups) < 2 or 2 * told < len(found) * len(groups):
        return None  # it does not tell which one, or has hardly any
    nothing = [""] * len(values)
    over = [[*[""] * len(names), *(g[k] for g in groups for _ in values)] for k in range(len(keys))]
    under = [*(head[c] for c in names), *(head[c] for _ in groups for c in values)]
    if len(values) == 1:
        over[-1][: len(names)] = under[: len(names)]
    lines = [
        [*name, *(text for group in groups for text in of_name.get(group, nothing))]
        for name, of_name in found.items()
    ]
    heads = [*over, under] if len(values) > 1 else over
    wide = Sheet.stacked([], [*heads, *lines], len(under))
    return dataclasses.replace(wide, header_rows=len(heads))


def records(lines: Sequence[str]) -> Sheet | None:
    """Lines `key: value`, the same keys again and again, as a table with a row for each time."""
    pairs: list[tuple[str, str]] = []
    for line in lines:
        key, _, value = _unmarked(line).partition(":")
        pairs.append((key.strip(), value.strip()) if value.strip() else ("", key.strip()))
    return _as_records(pairs)


def itemized(lines: Sequence[str], heads: Set[str]) -> Sheet | None:
    """Lines `name: key value, key value`, or `value key`, with the keys as the headers that they are.

    Args:
        lines: The lines.
        heads: The headers of the truth over its values, tight.
    """
    known = {head.lower() for head in heads}
    found: list[dict[str, str]] = []
    for line in lines:
        name, colon, rest = _unmarked(line).partition(":")
        pairs = [_key_and_value(part, known) for part in _PARTS.split(rest)] if colon else []
        if pairs and all(pairs):
            found.append({"": name.strip(), **dict(filter(None, pairs))})
    if 2 * len(found) < len(lines):
        return None
    keys = list(dict.fromkeys(key for record in found for key in record))
    if len(found) < 2 or len(keys) < 2:
        return None
    return Sheet.stacked([], [keys, *([record.get(key, "") for key in keys] for record in found)], len(keys))


def _key_and_value(part: str, known: Set[str]) -> tuple[str, str] | None:
    """The header that a part begins or ends with, and the rest of it."""
    words = part.split()
    for at in range(len(words) - 1, 0, -1):
        begin, end = " ".join(words[:at]).rstrip(":="), " ".join(words[at:]).lstrip(":=").rstrip(".;")
        if tight(fold_cell(begin)).lower() in known:
            return begin, end
        if tight(fold_cell(end)).lower() in known:
            return end, begin
    return None


def _unmarked(line: str) -> str:
    """A line without the marks of lists and of emphasis."""
    return _ITEM.sub("", line.lstrip("-*•–·+ ")).replace("**", "").replace("__", "").replace("：", ":")


def recorded(sheet: Sheet) -> Sheet | None:
    """A table of keys and values, the same keys again and again, as one with a row for each time."""
    if sheet.n_cols != 2 or sheet.n_rows < 4:  # two keys, two times
        return None
    keys = Counter(row[0] for row in sheet.texts)
    begin = int(keys[sheet.texts[0][0]] == 1)  # `Field | Value`
    if 2 * len({row[0] for row in sheet.texts if row[1]}) > sheet.n_rows + 1:
        return None
    # A text without a value that comes once is what the next ones are about.
    rows = zip(sheet.texts[begin:], sheet.shown[begin:], strict=True)
    return _as_records(
        [(shown[0], shown[1]) if shown[1] or keys[texts[0]] > 1 else ("", shown[0]) for texts, shown in rows]
    )


def _as_records(pairs: Iterable[tuple[str, str]]) -> Sheet | None:
    """Keys and values, a new row for each key that comes again, or where a key is empty."""
    found: list[dict[str, str]] = []
    for key, value in pairs:
        if not found or key in found[-1] or not key:
            found.append({key: value})
        else:
            found[-1][key] = value
    found = [record for record in found if len(record) > 1]
    keys = list(dict.fromkeys(key for record in found for key in record))
    if len(found) < 2 or len(keys) < 2 or 2 * sum(map(len, found)) < len(found) * len(keys):
        return None
    if "" in keys:
        keys.insert(0, keys.pop(keys.index("")))
    return Sheet.stacked([], [keys, *([record.get(key, "") for key in keys] for record in found)], len(keys))
