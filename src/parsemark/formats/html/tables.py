"""Tables written in HTML.

The grid is GriTS': each `tr` is a row, each `td` or `th` takes the first free column, spans fill. A caption
is not part of it. A table inside a cell is part of that cell's text; only where a table has a single cell
with tables in it (a frame for layout) those are read instead. A cell is a header if it is a `th` or lies in
a `thead`; in a table with neither, nobody said what is a header, and it is None. Tables of TEI
(`<row><cell>`, as GROBID gives them) and of DocBook (`<row><entry>`) are read alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from parsemark.errors import FormatError
from parsemark.formats.cell_text import without_controls
from parsemark.formats.found_table import FoundTable
from parsemark.formats.html.placing import GridBuilder, read_span
from parsemark.formats.html.plain import read_plain_table
from parsemark.formats.html.scan import html_table_spans
from parsemark.formats.html.text import ROW_PARTS, cell_text
from parsemark.formats.html.tree import parse_html
from parsemark.formats.html.xml_rows import in_html
from parsemark.formats.limits import check_size
from parsemark.model import Table


def find_html_tables(text: str, *, leave_out: bool = False) -> list[FoundTable]:
    """Every outermost table of an HTML text, or of a text with HTML in it.

    Args:
        text: The text.
        leave_out: Whether a table over a limit is left out, rather than refused with all that is around it.
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
    plain = read_plain_table(source, position)
    if plain is not None:
        yield plain
        return
    source = in_html(source)
    root = parse_html(source, position)
    if root is None:
        return
    outer = next(root.iter("table"), None)
    if outer is None:
        # Rows without a table around them: lxml keeps their cells where the table is added.
        root = parse_html(f"<table>{source}</table>", position)
        outer = None if root is None else next(root.iter("table"), None)
    if outer is None:
        return
    for element in _unframed(outer):
        yield _read_table(element, position)


def _unframed(table: etree._Element) -> list[etree._Element]:
    """The tables inside a frame for layout, or the table itself."""
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
    """Rows and cells of the table in order, without those of tables inside of it."""
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
