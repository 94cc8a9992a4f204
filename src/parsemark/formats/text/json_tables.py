"""Tables given as data: JSON in the shapes in which programs and language models write a table.

Records with the names of columns as keys, rows as lists, columns as lists, rows by their names, one record on
each line, any of these under a key. Numbers are kept as they are written: 8.30 is not 8.3.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_BEGIN = re.compile(r"^[ \t]*+(?=[\[{])", re.MULTILINE)
_BETWEEN = re.compile(r"[\s,]*+")
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
_DEEPEST = 4  # keys and lists around a table
_JOINT = " / "  # between the levels of a name, as in headers that are flattened

Grid = list[list[str]]


class Data(NamedTuple):
    """What a text gives as data."""

    tables: list[Grid]  # each with its header as the first row if it has one
    around: str  # the rest of the text


def data_in(text: str) -> Data | None:
    """Return the tables that a text gives as JSON, if it does.

    >>> data_in('Here it is: [{"a": 1.50, "b": null}, {"a": 2, "b": true}]')
    >>> data_in('[{"a": 1.50, "b": null}, {"a": 2, "b": true}]').tables
    [[['a', 'b'], ['1.50', ''], ['2', 'true']]]
    >>> data_in('{"columns": ["a", "b"], "data": [[1, 2]]}') == data_in('{"a": [1], "b": [2]}')
    True
    """
    begin = _BEGIN.search(text)
    if begin is None:
        return None
    said: list[Any] = []
    end = begin.end()
    while end < len(text):
        try:
            value, end = _DECODER.raw_decode(text, end)
        except (ValueError, RecursionError):
            break
        said.append(value)
        between = _BETWEEN.match(text, end)
        end = between.end() if between else end
    if not said:
        return None
    # Where there are several, a record or a row stands on each line.
    tables = _tables(said if len(said) > 1 else said[0], 0)
    return Data(tables, f"{text[: begin.start()]}\n{text[end:]}") if tables else None


def _tables(value: Any, depth: int) -> list[Grid]:
    if depth > _DEEPEST:
        return []
    if isinstance(value, list):
        table = _rows(value)
        return [table] if table else [found for part in value for found in _tables(part, depth + 1)]
    if isinstance(value, dict):
        table = _headed(value) or _columns(value) or _named(value)
        below = [table] if table else [t for part in value.values() for t in _tables(part, depth + 1)]
        return below or _pairs(value)
    return []


def _pairs(value: Mapping[str, Any]) -> list[Grid]:
    """Return a table of names with a value each."""
    named = [[name, _as_text(part)] for name, part in value.items() if _is_plain(part)]
    return [named] if len(named) > 1 else []


def _rows(rows: Sequence[Any]) -> Grid | None:
    """Return a list of records, or of rows."""
    if all(isinstance(row, dict) for row in rows):
        return _records([_flat(row) for row in rows])
    if len(rows) < 2 or not all(map(_is_row, rows)):
        return None
    width = max(map(len, rows))
    sparse = 2 * sum(map(len, rows)) < width * len(rows)
    texts = [[_as_text(value) for value in row] for row in rows]
    return None if sparse or not width else [row + [""] * (width - len(row)) for row in texts]


def _records(records: Sequence[Mapping[str, str] | None]) -> Grid | None:
    filled = [record for record in records if record]
    keys = list(dict.fromkeys(key for record in filled for key in record))
    if len(filled) < len(records) or len(keys) < 2 or 2 * sum(map(len, filled)) < len(filled) * len(keys):
        return None
    return [keys, *([record.get(key, "") for key in keys] for record in filled)]


def _headed(value: Mapping[str, Any]) -> Grid | None:
    """Return a table with names of columns under one key and rows under another."""
    lists = [part for part in value.values() if isinstance(part, list) and part]
    heads = [part for part in lists if all(map(_is_plain, part))]
    bodies = [part for part in lists if all(map(_is_row, part))]
    if len(heads) != 1 or len(bodies) != 1 or max(map(len, bodies[0])) > len(heads[0]):
        return None
    return _rows([heads[0], *bodies[0]])


def _columns(value: Mapping[str, Any]) -> Grid | None:
    """Return a list of values for each column."""
    columns = list(value.values())
    if len(columns) < 2 or not all(map(_is_row, columns)) or len({*map(len, columns)}) > 1:
        return None
    return [list(value), *([_as_text(v) for v in row] for row in zip(*columns, strict=True))]


def _named(value: Mapping[str, Any]) -> Grid | None:
    """Return a record for each row under its name."""
    if len(value) < 2 or not all(isinstance(part, dict) for part in value.values()):
        return None
    flat = {name: _flat(record) for name, record in value.items()}
    return _records([{"": name, **record} if record else None for name, record in flat.items()])


def _flat(record: Mapping[str, Any], depth: int = 0) -> dict[str, str] | None:
    """Return a record whose groups of columns are records themselves, with the names of both joined."""
    found: dict[str, str] = {}
    for key, value in record.items():
        if _is_plain(value):
            found[key] = _as_text(value)
            continue
        group = _flat(value, depth + 1) if isinstance(value, dict) and depth < _DEEPEST else None
        if group is None:
            return None
        found |= {f"{key}{_JOINT}{name}": part for name, part in group.items()}
    return found


def _is_row(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_plain, value))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bool)


def _as_text(value: str | bool | None) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value).lower()
