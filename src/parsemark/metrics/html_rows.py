"""HTML as the reference implementations of table metrics see it: rows of cells, and markup inside of cells.

`parsemark.formats` reads HTML for people: it cleans texts, keeps superscripts, reads MathML. Published
values of TEDS and GriTS depend on what lxml's parser makes of the HTML, white space included, so metrics
on HTML use this.
"""

from typing import NamedTuple

from lxml import etree

from parsemark.errors import FormatError
from parsemark.formats.html.placing import read_span as placed_span
from parsemark.formats.limits import MAX_GRID, MAX_SPAN

_PARTS = ("tr", "td", "th")


class RowCell(NamedTuple):
    """A cell in its row; where it lies on the grid follows from the spans before it."""

    text: str
    rowspan: int = 1
    colspan: int = 1


Rows = list[list[RowCell]]


def read_span(value: str | None) -> int:
    """A span as browsers read it: leading digits count, nonsense and 0 are 1; FormatError over the limit."""
    span = placed_span(value, zero=1)
    if span > MAX_SPAN:
        raise FormatError(f"A cell spans {span:,} rows or columns; at most {MAX_SPAN:,} are read")
    return span


def first_table(root: etree._Element | None) -> etree._Element | None:
    """The first table element of a parsed document."""
    return None if root is None else next(root.iter("table"), None)


def read_rows(table: etree._Element) -> Rows:
    """The rows of a table: th counts as td, everything else is unwrapped.

    A table inside a cell is part of the cell's text. A cell that broken markup put inside of another one
    is a cell of its own, and its text also counts for the outer one, as in the reference implementations.
    """
    rows: Rows = []
    nested: set[etree._Element] = set()
    n_cells = 0
    for part in table.iter(*_PARTS):
        if nested and part in nested:
            continue
        if part.tag == "tr":
            rows.append([])
            continue
        if not rows:
            rows.append([])
        text = part.text or ""
        if (n_cells := n_cells + 1) > MAX_GRID:
            raise FormatError(f"The table has more than {MAX_GRID:,} cells")
        if len(part):
            text = "".join(map(str, part.itertext()))
            for inner in part.iterdescendants("table"):
                nested.update(inner.iter(*_PARTS))
        rows[-1].append(RowCell(text, read_span(part.get("rowspan")), read_span(part.get("colspan"))))
    return rows
