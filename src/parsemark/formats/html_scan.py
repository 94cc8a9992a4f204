"""Where the tables of an HTML text begin and end: one linear pass over the tags, before any tree is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from parsemark.errors import FormatError
from parsemark.formats.limits import MAX_GRID, MAX_SPAN, check_tables

_PARTS = "table|thead|tbody|tfoot|caption|colgroup|col|tr|td|th"
_COMMENT_OR_TAG = re.compile(rf"<!--|<(?P<close>/?)(?P<name>{_PARTS})(?=[\s/>])", re.IGNORECASE)
_SPAN = re.compile(r"(?:row|col)span\s*=\s*[\"']?\s*(\d+)", re.IGNORECASE)
_CUT_TAG = re.compile(r"</?(?:[a-zA-Z]*|t[rdh]\s[^<>]*)\Z")
MAX_PARTS = 2 * MAX_GRID
"""Tags of one table; each cell has two."""
_CELLS = ("td", "th", "caption")
_ATTRIBUTES = 10_000
"""How far the end of a tag is searched: a tag with more than that in it is no tag of a table."""


@dataclass(slots=True)
class _Open:
    """A table whose end was not seen yet."""

    start: int
    in_cell: bool = False
    implied: bool = False
    """Whether rows began without a `<table>` around them."""


def html_table_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each outermost table.

    A table that is never closed ends with the line of its last tag, or where the next table begins. Rows
    without a `<table>` around them make one of their own.
    """
    spans: list[tuple[int, int]] = []
    stack: list[_Open] = []
    last_end = 0
    n_parts = 0
    for name, close, start, end in _tags(text):
        check_tables(len(spans), start)
        n_parts = n_parts + 1 if stack else 0
        if n_parts > MAX_PARTS:
            raise FormatError(f"A table has more than {MAX_PARTS:,} tags of rows and cells", position=start)
        if name == "table" and not close:
            if stack and not stack[-1].in_cell:
                unclosed = stack.pop()
                if not stack:
                    spans.append((unclosed.start, last_end))
            stack.append(_Open(start))
        elif name == "table":
            if stack:
                opened = stack.pop()
                if not stack:
                    spans.append((opened.start, end))
        elif stack:
            stack[-1].in_cell = name in _CELLS and not close
        elif not close and name not in ("caption", "colgroup", "col"):
            stack.append(_Open(start, in_cell=name in _CELLS, implied=True))
        last_end = end
    if stack:
        line_end = text.find("\n", last_end)
        end = len(text) if line_end < 0 else line_end
        cut = _CUT_TAG.search(text, last_end, end)
        spans.append((stack[0].start, end if cut is None else cut.start()))
    return spans


def _tags(text: str) -> Iterator[tuple[str, bool, int, int]]:
    """The tags that make tables: name, whether it closes, start, end. Comments are skipped."""
    position = 0
    while (match := _COMMENT_OR_TAG.search(text, position)) is not None:
        if match.group("name") is None:
            comment_end = text.find("-->", match.end())
            if comment_end < 0:
                return
            position = comment_end + 3
            continue
        end = text.find(">", match.end(), match.end() + _ATTRIBUTES)
        position = match.end() if end < 0 else end + 1
        _check_spans(text, match.end(), position)
        yield match.group("name").lower(), bool(match.group("close")), match.start(), position


def _check_spans(text: str, start: int, end: int) -> None:
    for span in _SPAN.finditer(text, start, end):
        digits = span.group(1).lstrip("0")
        if len(digits) > 4 or int(digits or 0) > MAX_SPAN:
            shown = digits if len(digits) <= 12 else f"{digits[:12]}…"
            raise FormatError(
                f"A cell spans {shown} rows or columns; at most {MAX_SPAN:,} are read", position=span.start()
            )
