"""What is one table though it stands otherwise: several below each other or side by side, lists, records."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from itertools import pairwise

from parsemark.metrics.reader.likeness import is_numeric, likeness, tight
from parsemark.metrics.reader.marks import answers
from parsemark.metrics.reader.paths import holds
from parsemark.metrics.reader.rejoin import lines_joined
from parsemark.metrics.reader.sheet import Grid, Sheet, fold_cell
from parsemark.metrics.reader.structure import Structure, is_section

Key = tuple[str, ...]

NARROW = 2
"""Of a table of so few rows or columns little tells which way it stands."""
_MOST_HEADER_ROWS = 4
_SAME_HEADER = 0.8
_PARTS = re.compile(r"[,;]\s+(?:and\s+)?|\s+and\s+")
_ITEM = re.compile(r"\(?\d{1,2}[.)]\s+")
"""The number of an item of a list."""
_MOST_KEYS = 4
"""Leading columns that may say what stands over the values of their rows."""
_TOP_ROWS = 3
"""Rows of a prediction in which headers are looked for."""
_MOST_HEADS = 200


def forms(pred: Sheet, truth: Sheet, heads: Set[str]) -> Iterable[Sheet]:
    """A predicted table in other layouts that say the same.

    Args:
        pred: The table.
        truth: The true one.
        heads: The headers of the truth over its values, tight.
    """
    found = (
        _blocks_below(pred, range(0, pred.n_cols, max(truth.n_cols, 2)), pred.header_rows),
        _recorded(pred),
        _parts_beside(pred),
        _widened(pred, heads),
        answers(pred),
        pred.mirrored() if truth.runs_to_the_left else None,
    )
    return filter(None, found)


def layouts(truth: Sheet, structure: Structure, preds: Sequence[Sheet]) -> Iterable[Sheet]:
    """The truth in other layouts that say the same, where a prediction points to one of them."""
    begins = [c for c, labels in enumerate(structure.labels) if not labels]
    found = (
        lines_joined(truth, structure.n_header, preds),
        _blocks_below(truth, begins, structure.n_header),
        answers(truth) if all(sheet.n_cols <= NARROW for sheet in preds) else None,
        _parts_beside(truth),
        _recorded(truth),
        *(_widened(truth, _heads(truth, sheet)) for sheet in preds[:1]),
    )
    return filter(None, found)


def _heads(truth: Sheet, pred: Sheet) -> frozenset[str]:
    """What the truth says again and again, and the prediction in its first rows, tight."""
    over = " | ".join(text for row in pred.texts[:_TOP_ROWS] for text in row[1:] if text)
    texts = Counter(text for row in truth.texts[1:] for text in row[:_MOST_KEYS] if text)
    again = [text for text, count in texts.items() if count > 1 and not is_numeric(text)]
    return frozenset(tight(text) for text in again[:_MOST_HEADS] if holds(over, text))


def stacked(sheets: Sequence[Sheet], headings: Sequence[str], *, headed: bool = True) -> Sheet:
    """Tables below each other: headers that come again are dropped, headings become section rows.

    Args:
        sheets: The tables.
        headings: What stands above each of them.
        headed: Whether the truth has a header; else a row that comes again is one of data.
    """
    widest = max(sheets, key=lambda s: s.n_cols)
    again = [_repeated(sheets[0], sheet) if headed else 0 for sheet in sheets]
    first = max(again[1:], default=0) or max(1, sheets[0].header_rows or 1)
    told = len(set(headings)) > 1 and sum(map(bool, headings)) >= len(sheets) - 1
    parts = [sheets[0].part(range(min(first, sheets[0].n_rows)), _columns(widest, sheets[0]))]
    for sheet, heading, skipped in zip(sheets, headings, [first, *again[1:]], strict=True):
        if told and heading:
            parts.append(Sheet.from_rows([[heading, *[""] * (widest.n_cols - 1)]]))
        parts.append(sheet.part(range(skipped, sheet.n_rows), _columns(widest, sheet)))
    return Sheet.stacked(parts)


def _repeated(first: Sheet, later: Sheet) -> int:
    """How many leading rows of a later table are the header of the first one again."""
    columns = [(c, k) for c, k in enumerate(_columns(first, later)) if k is not None]
    for count, (ours, theirs) in enumerate(zip(first.texts, later.texts, strict=False)):
        filled = [(ours[c], theirs[k]) for c, k in columns if ours[c] or theirs[k]]
        alike = sum(likeness(one, other) for one, other in filled if one and other)
        if count == _MOST_HEADER_ROWS or not filled or alike < _SAME_HEADER * len(filled):
            return count
    return min(first.n_rows, later.n_rows)


def _columns(widest: Sheet, sheet: Sheet) -> list[int | None]:
    """For each column of the widest table the one of another table below it, by header or by place."""
    by_place = [c if c < sheet.n_cols else None for c in range(widest.n_cols)]
    if sheet.n_cols == widest.n_cols:
        return by_place
    left = {k: text for k, text in enumerate(sheet.texts[0]) if text}
    found: list[int | None] = []
    for name in widest.texts[0]:
        at = next((k for k, text in left.items() if text == name), None)
        found.append(at)
        left.pop(-1 if at is None else at, None)
    return found if len(found) - found.count(None) >= min(2, sheet.n_cols) else by_place


def side_by_side(sheets: Sequence[Sheet], headings: Sequence[str] = ()) -> Sheet | None:
    """Tables beside each other, under their headings if there are some; shorter ones end before."""
    n_rows = max(s.n_rows for s in sheets)
    if n_rows < 2 or any(2 * s.n_rows <= n_rows for s in sheets):
        return None
    parts = []
    for k, sheet in enumerate(sheets):
        below = Sheet.from_rows([[""] * sheet.n_cols] * (n_rows - sheet.n_rows))
        over = Sheet.from_rows([["", *[headings[k]] * (sheet.n_cols - 1)]] if any(headings) else [])
        over = dataclasses.replace(over, starts=[[c < 2 for c in range(sheet.n_cols)] for _ in over.texts])
        parts.append(Sheet.stacked([part for part in (over, sheet, below) if part.n_rows]))
    return Sheet.beside(parts, None if any(headings) else sheets[0].header_rows)


def _parts_beside(sheet: Sheet) -> Sheet | None:
    """Parts below each other in one table, each with a header of its own over the same rows, side by side.

    A part begins where the name of the first column comes again.
    """
    labels = [row[0] for row in sheet.texts if row]
    begins = [r for r, label in enumerate(labels) if label == labels[0] and sheet.starts[r][0]]
    names = [labels[begin:end] for begin, end in pairwise([*begins, len(labels)])]
    heads = {tuple(sheet.texts[begin]) for begin in begins}
    if sheet.n_cols < 2 or len(names) < 2 or not labels[0] or len(heads) < len(begins):
        return None
    if any(n != names[0] for n in names) or len(set(names[0])) < 3:
        return None
    parts = []
    for begin in begins:
        rows = range(begin, begin + len(names[0]))
        columns = [c for c in range(begin > 0, sheet.n_cols) if any(sheet.present[r][c] for r in rows)]
        parts.append(sheet.part(rows, columns))
    return Sheet.beside(parts, sheet.header_rows)


def _blocks_below(sheet: Sheet, begins: Sequence[int], n_header: int | None) -> Sheet | None:
    """Blocks of equally many columns beside each other, below each other; a header again is dropped.

    Args:
        sheet: The table.
        begins: The first column of each block.
        n_header: How many rows are headers, if that is known.
    """
    bounds = list(pairwise([*begins, sheet.n_cols]))
    widths = {end - begin for begin, end in bounds}
    if len(bounds) < 2 or len(widths) > 1 or widths == {1}:
        return None
    blocks = []
    for begin, end in bounds:
        rows = [r for r in range(sheet.n_rows) if any(sheet.present[r][begin:end])]
        if len(rows) < 2 or rows[-1] != len(rows) - 1:
            return None  # a list has no gaps
        block = sheet.part(rows, range(begin, end))
        blocks.append(dataclasses.replace(block, header_rows=n_header))
    return stacked(blocks, [""] * len(blocks))


def _widened(sheet: Sheet, heads: Set[str]) -> Sheet | None:
    """A table in which a column, or section rows, say what stands over its values, with that over them.

    `System | Dataset | Score` with a row for each system and dataset becomes `System | XSum | PubMed`, where
    XSum and PubMed are headers of the other table.

    Args:
        sheet: The table.
        heads: The headers of the other table, tight.
    """
    if sheet.n_rows < 3 or sheet.n_cols < 2 or len(heads) < 2:
        return None
    sections = {r for r in range(1, sheet.n_rows) if is_section(sheet, r)}
    if len(sections) > 1 and 1 in sections and all(tight(sheet.texts[r][0]) in heads for r in sections):
        rows: Grid[str] = [["", *sheet.shown[0]]]
        for r in range(1, sheet.n_rows):
            if r in sections:
                section = sheet.shown[r][0]
            else:
                rows.append([section, *sheet.shown[r]])
        return _widened_by(rows, [0])
    keys = [c for c in range(min(_MOST_KEYS, sheet.n_cols)) if _are_heads(sheet, c, heads)]
    return _widened_by([list(row) for row in sheet.shown], keys) if keys else None


def _are_heads(sheet: Sheet, column: int, heads: Set[str]) -> bool:
    """Whether all that a column says below its first cell are headers, of which some come again."""
    if tight(sheet.texts[1][column]) not in heads:
        return False
    said = {row[column] for row in sheet.texts[1:]} - {""}
    return len(said) < sheet.n_rows - 1 and all(tight(text) in heads for text in said)


def _widened_by(rows: Grid[str], keys: list[int]) -> Sheet | None:
    """Rows with the values for each text in some columns beside each other; empty cells repeat the last."""
    head, body = rows[0], rows[1:]
    numbers = [sum(is_numeric(fold_cell(row[c])) for row in body) for c in range(len(head))]
    first = next((c for c, count in enumerate(numbers) if c not in keys and 2 * count > len(body)), 0)
    names = [c for c in range(first) if c not in keys]
    values = [c for c in range(len(head)) if c not in keys and c not in names]
    found: dict[Key, dict[Key, str]] = {}
    for above, row in pairwise(rows):
        for column in (*keys, *names):
            row[column] = row[column] or (above[column] if above is not head else "")
        group = tuple(row[c] for c in keys)
        of_name = found.setdefault(tuple(row[c] for c in names), {})
        of_name |= {(*group, head[c]) if len(values) > 1 else group: row[c] for c in values}
    told, groups = sum(map(len, found.values())), {tuple(row[c] for c in keys) for row in body}
    if not names or len(groups) < 2 or told < len(body) * len(values):
        return None  # it does not tell which one
    return _tabulated([head[c] for c in names], list(found.items()))


def _tabulated(corner: Sequence[str], rows: Sequence[tuple[Key, dict[Key, str]]]) -> Sheet | None:
    """Rows of names and values by the headers over them as a table, if most of it is told.

    Args:
        corner: What stands over the names.
        rows: The names of each row, and for each path of headers its value.
    """
    columns = list(dict.fromkeys(path for _, values in rows for path in values))
    told = sum(len(values) for _, values in rows)
    if len(rows) < 2 or len(corner) + len(columns) < 2 or 2 * told < len(rows) * len(columns):
        return None
    over = [[*[""] * len(corner), *level] for level in zip(*columns, strict=True)]
    over[-1][: len(corner)] = corner
    lines = [[*names, *(values.get(path, "") for path in columns)] for names, values in rows]
    return dataclasses.replace(Sheet.from_rows([*over, *lines]), header_rows=len(over))


def records(lines: Sequence[str]) -> Sheet | None:
    """Lines `key: value`, the same keys again and again, as a table with a row for each time."""
    parts = (_unmarked(line).partition(":") for line in lines)
    return _as_records(
        (key.strip(), value.strip()) if value.strip() else ("", key) for key, _, value in parts
    )


def itemized(lines: Sequence[str], heads: Set[str]) -> Sheet | None:
    """Lines `name: key value, key value`, or `value key`, with the keys as the headers that they are.

    Args:
        lines: The lines.
        heads: The headers of the truth over its values, tight.
    """
    known = {head.lower() for head in heads}
    found: list[tuple[Key, dict[Key, str]]] = []
    for line in lines:
        name, colon, rest = _unmarked(line).partition(":")
        pairs = [_key_and_value(part, known) for part in _PARTS.split(rest)] if colon else []
        if pairs and all(pairs):
            found.append(((name.strip(),), {(key,): value for key, value in filter(None, pairs)}))
    return _tabulated([""], found) if 2 * len(found) >= len(lines) else None


def _key_and_value(part: str, known: Set[str]) -> tuple[str, str] | None:
    """The header that a part begins or ends with, and the rest of it."""
    words = part.split()
    for at in range(len(words) - 1, 0, -1):
        begin, end = " ".join(words[:at]).rstrip(":="), " ".join(words[at:]).lstrip(":=").rstrip(".;")
        for key, value in ((begin, end), (end, begin)):
            if tight(fold_cell(key)).lower() in known:
                return key, value
    return None


def _unmarked(line: str) -> str:
    """A line without the marks of lists and of emphasis."""
    return _ITEM.sub("", line.lstrip("-*•–·+ ")).replace("**", "").replace("__", "").replace("：", ":")


def _recorded(sheet: Sheet) -> Sheet | None:
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
        (shown[0], shown[1]) if shown[1] or keys[texts[0]] > 1 else ("", shown[0]) for texts, shown in rows
    )


def _as_records(pairs: Iterable[tuple[str, str]]) -> Sheet | None:
    """Keys and values, a new row for each key that comes again, or where a key is empty."""
    found: list[dict[str, str]] = []
    for key, value in pairs:
        if not found or key in found[-1] or not key:
            found.append({})
        found[-1][key] = value.strip()
    found = [record for record in found if len(record) > 1]
    corner = [""] if any("" in record for record in found) else []
    rows = [(tuple(record.pop("", "") for _ in corner), record) for record in found]
    return _tabulated(corner, [(name, {(key,): text for key, text in row.items()}) for name, row in rows])
