"""Tables written in HTML.

The grid is GriTS': each `tr` is a row, each `td` or `th` takes the first free column, spans fill. A caption
is not part of it. A table inside a cell is part of that cell's text; only where a table has a single cell
with tables in it (a frame for layout) those are read instead. A cell is a header if it is a `th` or lies in
a `thead`; in a table with neither, the header is unknown, and it is None. Tables of TEI
(`<row><cell>`, as GROBID gives them) and of DocBook (`<row><entry>`) are read alike.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from parsemark.errors import FormatError
from parsemark.formats.cell_text import without_controls
from parsemark.formats.found_table import FoundTable
from parsemark.formats.html.grid_builder import GridBuilder
from parsemark.formats.html.plain import read_plain_table
from parsemark.formats.html.tree import ROW_PARTS, cell_text, parse_html
from parsemark.formats.limits import MAX_GRID, MAX_SPAN, check_size, check_tables
from parsemark.model import Table


def find_html_tables(text: str, *, leave_out: bool = False) -> list[FoundTable]:
    """Return every outermost table of an HTML text, or of a text with HTML in it.

    One over a limit is refused with all that is around it, unless such ones are to be left out.
    """
    check_size(text)
    text = without_controls(text)
    found: list[FoundTable] = []
    for start, end in html_table_spans(text, check_spans=not leave_out):
        source = text[start:end]
        is_certain = source[:6].lower().startswith("<table") or "</t" in source.lower()
        try:
            tables = list(_read_all(source, start))
        except FormatError:
            if not leave_out:
                raise
            continue
        for table in tables:
            # Rows without a table around them may be tags that prose names.
            if is_certain or table.n_cells > 1:
                found.append(FoundTable(table, "html", start, end, source))
    return found


def _read_all(source: str, position: int) -> Iterator[Table]:
    if (plain := read_plain_table(source)) is not None:
        yield plain.table()
        return
    source = in_html(source)
    # Rows without a table around them: lxml keeps their cells where the table is added.
    for markup in (source, f"<table>{source}</table>"):
        root = parse_html(markup, position)
        if root is None:
            return
        if (outer := next(root.iter("table"), None)) is not None:
            yield from (_read_table(element, position) for element in _unframed(outer))
            return


def _unframed(table: etree._Element) -> list[etree._Element]:
    """Return the tables inside a frame for layout, or the table itself."""
    while next(table.iterdescendants("table"), None) is not None:
        cells = [part for part in _own_parts(table) if part.tag != "tr"]
        inner = list(cells[0].iter("table")) if len(cells) == 1 else []
        if not inner:
            return [table]
        if len(inner) > 1:
            return [t for t in inner if next(t.iterancestors("table")) is table]
        table = inner[0]
    return [table]


def _own_parts(table: etree._Element) -> Iterator[etree._Element]:
    """Yield rows and cells of the table in order, without those of tables inside of it."""
    if next(table.iterdescendants("table"), None) is None:
        yield from table.iter(*ROW_PARTS)
        return
    walker = etree.iterwalk(table, events=("start",))
    for _, element in walker:
        if element.tag == "table" and element is not table:
            walker.skip_subtree()
        elif element.tag in ROW_PARTS:
            yield element


def _read_table(table: etree._Element, position: int) -> Table:
    parts = [(part, part.tag) for part in _own_parts(table)]
    rows = [part for part, tag in parts if tag == "tr"]
    rows_left = len(rows)
    says_headers = any(tag == "th" for _, tag in parts) or any(map(_in_head, rows))
    builder = GridBuilder(position)
    in_head = False
    for part, tag in parts:
        if tag == "tr":
            builder.start_row()
            rows_left -= 1
            in_head = says_headers and _in_head(part)
            continue
        header = (tag == "th" or in_head) if says_headers else None
        attributes = part.keys()
        rowspan = read_span(part.get("rowspan"), zero=rows_left + 1) if attributes else 1
        colspan = read_span(part.get("colspan"), zero=1) if attributes else 1
        builder.add(cell_text(part, position), rowspan, colspan, header)
    return builder.build()


def _in_head(row: etree._Element) -> bool:
    parent = row.getparent()
    return parent is not None and parent.tag == "thead"


_NAMES = {"row": "tr", "cell": "td", "entry": "td", "lb": "br", "head": "caption"}
_NO_MATTER = ("hi", "emph", "emphasis", "ref", "ptr", "formula", "num", "seg", "note", "para", "graphic")
"""What a cell may hold besides its text; it goes, as other markup does."""
_TAG = re.compile(rf"<(/?)({'|'.join([*_NAMES, *_NO_MATTER])})(?=[\s/>])([^<>]{{0,10000}})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b([A-Za-z]{1,20})\s{0,9}=\s{0,9}[\"']([^\"'<>]{0,99})[\"']")
_NUMBER = re.compile(r"(\d{1,4})\Z")


def in_html(source: str) -> str:
    """Return a table with its rows and cells named as in HTML; one that has no `<row>` is given back as it
    is.

    >>> in_html('<table><row><cell cols="2">A</cell><cell/></row></table>')
    '<table><tr><td colspan="2">A</td><td></td></tr></table>'
    """
    if not any(begun in source for begun in ("<row", "<Row", "<ROW")):
        return source
    return _TAG.sub(_renamed, source)


def _renamed(tag: re.Match[str]) -> str:
    closes, name, rest = tag[1], tag[2].lower(), tag[3]
    if name in _NO_MATTER:
        return ""
    spans = _spans(rest) if name in ("cell", "entry") and not closes else ""
    # HTML knows no row or cell that closes itself.
    ended = f"</{_NAMES[name]}>" if rest.endswith("/") and name != "lb" else ""
    return f"<{closes}{_NAMES[name]}{spans}>{ended}"


def _spans(rest: str) -> str:
    """Return the attributes of HTML for how far a cell reaches."""
    said = {name.lower(): value for name, value in _ATTRIBUTE.findall(rest)}
    numbers = {name: int(found[1]) for name, value in said.items() if (found := _NUMBER.search(value))}
    rows = numbers.get("rows", numbers.get("morerows", 0) + 1)
    columns = numbers.get("cols", numbers.get("nameend", 0) - numbers.get("namest", 0) + 1)
    spans = f' rowspan="{rows}"' if rows > 1 else ""
    return f'{spans} colspan="{columns}"' if columns > 1 else spans


_DIGITS = re.compile(r"\s*\+?(\d{1,9})")


def read_span(value: str | None, zero: int) -> int:
    """Return a span as browsers read it: leading digits count, nonsense is 1; `zero` is what 0 stands for."""
    digits = _DIGITS.match(value or "")
    return 1 if digits is None else int(digits[1]) or zero


_PARTS = "table|thead|tbody|tfoot|caption|colgroup|col|tr|td|th|row|cell|entry"
_COMMENT_OR_TAG = re.compile(rf"<!--|<(?P<close>/?)(?P<name>{_PARTS})(?=[\s/>])", re.IGNORECASE)
_SPAN = re.compile(r"(?:row|col)span\s*+=\s*+[\"']?\s*+(\d++)", re.IGNORECASE)
_CUT_TAG = re.compile(r"</?(?:[a-zA-Z]*|t[rdh]\s[^<>]*)\Z")
MAX_PARTS = 2 * MAX_GRID  # tags of one table; each cell has two
_CELLS = ("td", "th", "caption", "cell", "entry")
_BEGIN_ROWS = ("tr", "thead", "tbody", "tfoot")
_ATTRIBUTES = 10_000  # how far the end of a tag is searched: one with more in it is no tag of a table


@dataclass(slots=True)
class _Open:
    """A table whose end was not seen yet."""

    start: int
    in_cell: bool = False
    implied: bool = False  # whether rows began without a `<table>` around them


def html_table_spans(text: str, *, check_spans: bool = True) -> list[tuple[int, int]]:
    """Start and end of each outermost table: one linear pass over the tags, before any tree is built.

    A table that is never closed ends with the line of its last tag, or where the next table begins. Rows
    without a `<table>` around them make one of their own. With `check_spans` a cell that spans too much is
    refused here already.
    """
    if (plain := _plain_span(text)) is not None:
        return [plain]
    spans, stack = list[tuple[int, int]](), list[_Open]()
    last_end = n_parts = 0

    def close(end: int) -> None:
        nonlocal n_parts
        closed = stack.pop()
        if not stack:
            spans.append((closed.start, end))
            n_parts = 0

    for name, closes, start, end in _tags(text, check_spans):
        if name != "table":
            n_parts += 1
            if n_parts > MAX_PARTS:
                why = f"A table has more than {MAX_PARTS:,} tags of rows and cells"
                raise FormatError(why, position=start)
            if stack:
                stack[-1].in_cell = name in _CELLS and not closes
            elif name in _BEGIN_ROWS and not closes:
                stack.append(_Open(start, implied=True))
        elif not closes:
            check_tables(len(spans) + 1, start)
            if stack and (stack[-1].implied or not stack[-1].in_cell):
                close(last_end)  # only inside a cell it is nested; the table before it was never closed
            stack.append(_Open(start))
        elif stack:
            close(end)
        last_end = end
    if stack:
        line_end = text.find("\n", last_end)
        end = len(text) if line_end < 0 else line_end
        cut = _CUT_TAG.search(text, last_end, end)
        spans.append((stack[0].start, end if cut is None else cut.start()))
    return spans


def _plain_span(text: str) -> tuple[int, int] | None:
    """Return the span of the only table of a text whose tags are as they should be, without looking at each
    tag.

    None where anything is unusual: then the tags are read one by one, with the same result.
    """
    first = _COMMENT_OR_TAG.search(text)
    folded = text.lower()
    if first is None or len(folded) != len(text):
        return None
    start, close = first.start(), folded.rfind("</table")
    opened = text.find(">", first.end(), first.end() + _ATTRIBUTES)
    end = close + len("</table>")
    is_plain = (
        folded.startswith("<table", start)
        and folded.count("<table") == folded.count("</table") == 1
        and "<!--" not in text
        and first.end() <= opened < close
        and text.startswith(">", end - 1)
        and text.rfind("<", 0, close) < text.rfind(">", 0, close)  # the end stands inside no other tag
        and folded.count("<", start, end) <= MAX_PARTS
        and _COMMENT_OR_TAG.search(text, end) is None
        and not ("span" in folded and any(len(found[1]) > 3 for found in _SPAN.finditer(text, start, end)))
    )
    return (start, end) if is_plain else None


def _tags(text: str, check_spans: bool) -> Iterator[tuple[str, bool, int, int]]:
    """Yield the tags that make tables: name, whether it closes, start, end. Comments are skipped."""
    position = 0
    while (tag := _COMMENT_OR_TAG.search(text, position)) is not None:
        if tag["name"] is None:
            position = text.find("-->", tag.end()) + 3
            if position < 3:
                return
            continue
        end = text.find(">", tag.end(), tag.end() + _ATTRIBUTES)
        position = tag.end() if end < 0 else end + 1
        if check_spans:
            _check_spans(text, tag.end(), position)
        yield tag["name"].lower(), bool(tag["close"]), tag.start(), position


def _check_spans(text: str, start: int, end: int) -> None:
    for span in _SPAN.finditer(text, start, end):
        digits = span[1].lstrip("0")
        if len(digits) > 4 or int(digits or 0) > MAX_SPAN:
            shown = digits if len(digits) <= 12 else f"{digits[:12]}…"
            why = f"A cell spans {shown} rows or columns; at most {MAX_SPAN:,} are read"
            raise FormatError(why, position=span.start())
