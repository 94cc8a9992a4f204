"""HTML tables of nothing but rows of cells of text, read without building a tree.

Most tables that a program writes are of this kind, and a tree costs more than all else that is done to read
them. Whatever is unusual (a tag that is left out or stands in a cell, a character reference, an attribute
without quotes) is left to lxml; the result is the same.
"""

from __future__ import annotations

import re
from itertools import pairwise

from parsemark.formats.html.placing import GridBuilder, read_span
from parsemark.formats.limits import MAX_CELL_CHARS, check_grid
from parsemark.model import Cell, Table

_SPACE = r"[ \t\r\n]*+"
_ATTRIBUTES = r"(?: [a-z-]++=\"[^\"<>&]*+\")*+"
_TEXT = r"[^<&\f\ufffe\uffff]*+"
"""What HTML's parser passes on as it is."""
_CELLS = "|".join(rf"<{tag}{_ATTRIBUTES}>{_TEXT}</{tag}>{_SPACE}" for tag in ("td", "th"))
_ROWS = rf"(?:<tr{_ATTRIBUTES}>{_SPACE}(?:{_CELLS})*+</tr>{_SPACE})*+"
_SECTIONS = "|".join(
    rf"<{tag}{_ATTRIBUTES}>{_SPACE}{_ROWS}</{tag}>{_SPACE}" for tag in ("thead", "tbody", "tfoot")
)
_TABLE = re.compile(rf"<table{_ATTRIBUTES}>{_SPACE}{_ROWS}(?:{_SECTIONS})*+</table>")
_PART = re.compile(r"<(/thead|t(?:r|d|h|head))\b([^>]*+)>([^<]*+)")
_CELL = re.compile(r"<td[^>]*+>([^<]*+)")
_ATTRIBUTE = re.compile(r"([a-z-]++)=\"([^\"]*+)\"")
_Part = tuple[str, str, str]
"""A tag, what stands in it, and the text behind it."""


def read_plain_table(source: str, position: int | None = None) -> Table | None:
    """A table that is plain, or None if it is not.

    Args:
        source: The table, from its first tag to its last.
        position: Where it begins in what the caller reads, for errors.
    """
    if _TABLE.fullmatch(source) is None:
        return None
    if "<th" not in source and "span" not in source and len(source) <= MAX_CELL_CHARS:
        return _bare(source, position)
    parts: list[_Part] = _PART.findall(source)
    if len(source) > MAX_CELL_CHARS and max((len(text) for _, _, text in parts), default=0) > MAX_CELL_CHARS:
        return None
    says_headers = "<th" in source and _says_headers(parts)
    return (_spanning if "span" in source else _regular)(parts, says_headers, position)


def _bare(source: str, position: int | None) -> Table:
    """The table of which nothing is said but the texts of its cells."""
    if "<td " in source:
        rows = [_CELL.findall(row) for row in source.split("<tr")[1:]]
    else:
        # Each second piece is a text; a row begins where the piece before it says so.
        pieces = source.replace("</td>", "<td>").split("<td>")
        texts = pieces[1::2]
        begins = [k for k, between in enumerate(pieces[::2]) if between for _ in range(between.count("<tr"))]
        rows = [texts[begin:end] for begin, end in pairwise([*begins, len(texts)])]
    check_grid(len(rows), max(map(len, rows), default=0), position)
    return Table.from_rows(rows if _are_clean(rows) else [[" ".join(t.split()) for t in row] for row in rows])


def _are_clean(rows: list[list[str]]) -> bool:
    """Whether no text has other white space than single spaces inside it."""
    joined = f"|{'|'.join(map('|'.join, rows))}|"
    return joined.isprintable() and not ("  " in joined or "| " in joined or " |" in joined)


def _says_headers(parts: list[_Part]) -> bool:
    """Whether there is a header cell, or a row in a head."""
    tags = [tag for tag, _, _ in parts]
    heads = (index for index, tag in enumerate(tags) if tag == "thead")
    return "th" in tags or any(tags[index + 1] == "tr" for index in heads)


def _regular(parts: list[_Part], says_headers: bool, position: int | None) -> Table:
    """The table of cells of which none spans others."""
    rows: list[list[str]] = []
    headers: list[list[bool]] = []
    in_head = False
    for tag, _, text in parts:
        if tag in ("td", "th"):
            rows[-1].append(" ".join(text.split()))
            headers[-1].append(tag == "th" or in_head)
        elif tag == "tr":
            rows.append([])
            headers.append([])
        else:
            in_head = tag == "thead"
    n_cols = max(map(len, rows), default=0)
    check_grid(len(rows), n_cols, position)
    if not says_headers:
        return Table.from_rows(rows)
    first = next((r for r, row in enumerate(headers) if not all(row)), len(rows))
    if not any(map(any, headers[first:])):
        return Table.from_rows(rows, header_rows=first)
    cells = [
        Cell(r, c, text, 1, 1, header)
        for r, row in enumerate(zip(rows, headers, strict=True))
        for c, (text, header) in enumerate(zip(*row, strict=True))
    ]
    return Table(len(rows), n_cols, tuple(cells))


def _spanning(parts: list[_Part], says_headers: bool, position: int | None) -> Table:
    """The table of cells that may span others."""
    builder = GridBuilder(position)
    rows_left = sum(tag == "tr" for tag, _, _ in parts)
    in_head = False
    for tag, inside, text in parts:
        if tag == "tr":
            builder.start_row()
            rows_left -= 1
        elif tag in ("td", "th"):
            # Of two attributes with one name the first counts, as for a tree.
            said = dict(reversed(_ATTRIBUTE.findall(inside))) if inside else {}
            rowspan = read_span(said.get("rowspan"), zero=rows_left + 1)
            colspan = read_span(said.get("colspan"), zero=1)
            header = (tag == "th" or in_head) if says_headers else None
            builder.add(" ".join(text.split()), rowspan, colspan, header)
        else:
            in_head = tag == "thead"
    return builder.build()
