"""A table on its way into metrics: read once, prepared once for each form that a metric needs.

`parsemark.formats` reads HTML for people: it cleans texts, keeps superscripts, reads MathML. Published values
of TEDS and GriTS depend on what lxml's parser makes of it, white space included: see `read_row_cells`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, pairwise, starmap
from typing import TYPE_CHECKING, Any, TypeVar

from lxml import etree

from parsemark.errors import FormatError
from parsemark.formats import FoundTable, read_tables
from parsemark.formats.cell_text import flat, flat_table
from parsemark.formats.html.plain import PlainTable
from parsemark.formats.html.tables import read_span as placed_span
from parsemark.formats.html.tree import has_stray_angles, parse_html
from parsemark.formats.limits import MAX_GRID, MAX_SPAN
from parsemark.formats.tables import read_html_alone
from parsemark.formats.text.delimited import find_small_csv_table
from parsemark.model import Table

if TYPE_CHECKING:
    from parsemark.metrics.reader.pages import Pages

_PARTS = ("tr", "td", "th")


@dataclass(frozen=True, slots=True)
class RowCells:
    """The cells of a table row by row; where they lie on the grid follows from the spans."""

    lengths: Sequence[int]
    """Number of cells in each row."""
    texts: list[str]
    """Texts of all cells, row after row."""
    spans: Mapping[int, tuple[int, int]]
    """Rowspan and colspan of the cells that cover several positions, by their place in `texts`."""

    def rows(self) -> Iterator[range]:
        """Return the cells of each row, by their place in `texts`."""
        return starmap(range, pairwise(accumulate(self.lengths, initial=0)))


def read_span(value: str | None) -> int:
    """Return a span as browsers read it: leading digits count, nonsense and 0 are 1; FormatError over the
    limit.
    """
    span = placed_span(value, zero=1)
    if span > MAX_SPAN:
        raise FormatError(f"A cell spans {span:,} rows or columns; at most {MAX_SPAN:,} are read")
    return span


def read_row_cells(table: etree._Element) -> RowCells:
    """Return the cells of a table: th counts as td, everything else is unwrapped.

    A table inside a cell is part of the cell's text. A cell that broken markup put inside of another one
    is a cell of its own, and its text also counts for the outer one, as in the reference implementations.
    """
    lengths: list[int] = []
    texts: list[str] = []
    spans: dict[int, tuple[int, int]] = {}
    nested: set[etree._Element] = set()
    for part in table.iter(*_PARTS):
        if nested and part in nested:
            continue
        if part.tag == "tr":
            lengths.append(0)
            continue
        if len(texts) == MAX_GRID:
            raise FormatError(f"The table has more than {MAX_GRID:,} cells")
        if not lengths:
            lengths.append(0)
        text = part.text or ""
        if len(part):
            text = "".join(map(str, part.itertext()))
            for inner in part.iterdescendants("table"):
                nested.update(inner.iter(*_PARTS))
        rowspan, colspan = read_span(part.get("rowspan")), read_span(part.get("colspan"))
        if rowspan > 1 or colspan > 1:
            spans[len(texts)] = rowspan, colspan
        texts.append(text)
        lengths[-1] += 1
    return RowCells(lengths, texts, spans)


_EMPTY = Table(0, 0)

T = TypeVar("T")


class TableInput:
    """A text in any format, or a `Table`, with everything that metrics derive from it, cached.

    A text without any table is an empty table: a parser that returned prose instead of a table has an answer,
    and it is wrong (of a truth see `require_table`). A text over a limit raises FormatError when first read.

    Args:
        source: The table; None if there is none. Of a text with several tables, the first.
        format: The text's format; found out by default.
        raw: Keep the text of HTML as it is written, as the reference implementations do. By default runs of
            white space, also no-break and thin spaces, are one space, as everywhere else, and accents are
            written with their letters (`flat`).
    """

    def __init__(self, source: str | Table | None, format: str | None = None, *, raw: bool = False) -> None:
        if source is not None and not isinstance(source, str | Table):
            raise FormatError(f"A table must be a text or a Table, not {type(source).__name__}")
        self.source = _EMPTY if source is None else source
        self.format = format
        self.raw = raw
        self._derived: dict[Callable[[TableInput], Any], Any] = {}

    def __reduce__(self) -> tuple[Callable[..., TableInput], tuple[str | Table, str | None]]:
        return partial(TableInput, raw=self.raw), (self.source, self.format)

    @cached_property
    def table(self) -> Table:
        """Return the table as the model has it, with all white space as single spaces."""
        if isinstance(self.source, Table):
            return flat_table(self.source)
        return flat_table(self.found_tables[0].table) if self.found_tables else _EMPTY

    @cached_property
    def _plain(self) -> PlainTable | None:
        """Return the table if all of the text is one in plain HTML, read without its white space."""
        if isinstance(self.source, Table) or self.raw or self.format not in (None, "html"):
            return None
        return read_html_alone(self.source)

    @cached_property
    def found_tables(self) -> list[FoundTable]:
        """Return every table of the text; none for a `Table`, which needs no reading."""
        if isinstance(self.source, Table):
            return []
        if self._plain is not None:
            return [self._plain.found_in(self.source)]
        found = read_tables(self.source, self.format)
        return found or (find_small_csv_table(self.source) if self.format is None else [])

    @cached_property
    def pages(self) -> Pages:
        """Return all tables and the text around them, as `reader` reads them."""
        from parsemark.metrics.reader.pages import Pages
        from parsemark.metrics.reader.sheet import Sheet

        if isinstance(self.source, Table):
            sheet = Sheet.from_table(self.table)
            return Pages((sheet,) if sheet.n_rows else ())
        return Pages.from_found(self.found_tables, self.source)

    @cached_property
    def html(self) -> str | None:
        """Return the HTML of the table, if that is how it is written."""
        if isinstance(self.source, Table) or self.format not in (None, "html"):
            return None
        if self.source.lstrip()[:1] == "<":
            return self.source
        first = self.found_tables[0] if self.found_tables else None
        return first.source if first is not None and first.format == "html" else None

    @cached_property
    def element(self) -> etree._Element | None:
        """Return the table element as lxml reads it, without any care for stray `<`."""
        return None if self.html is None else _table_element(self.html, keep_stray_angles=False)

    @property
    def is_absent(self) -> bool:
        """Return whether there is no table at all."""
        if self._plain is not None:
            return False
        return self.element is None if self.html is not None else self.table.n_rows == 0

    def require_table(self) -> None:
        """Raise FormatError for a truth that is text without a table: two such texts would be equal."""
        is_text = isinstance(self.source, str) and self._plain is None and self.source.strip()
        if not is_text or self.found_tables:
            return
        # Any tag makes lxml see a table, but one without a single cell.
        if self.is_absent or (self.html is not None and not self.row_cells.lengths):
            raise FormatError(
                "No table was found in the truth. If it has one, give its format: in a file of pairs as "
                "`truth_format` (for the prediction, `pred_format`)"
            )

    @cached_property
    def row_cells(self) -> RowCells:
        """Return the cells as the reference implementations read them."""
        if self._plain is not None:
            texts = self._plain.texts
            texts = texts if all(map(str.isascii, texts)) else _flat_texts(texts)
            return RowCells(self._plain.row_lengths, texts, self._plain.spans)
        if self.html is None:
            return _cells_of(self.table)
        return self._read_row_cells(self.element)

    @cached_property
    def lossless_row_cells(self) -> RowCells:
        """Return the cells with a stray `<` as text, where `row_cells` may have lost what follows it."""
        if self._plain is not None or self.html is None or not has_stray_angles(self.html):
            return self.row_cells
        return self._read_row_cells(_table_element(self.html, keep_stray_angles=True))

    def _read_row_cells(self, element: etree._Element | None) -> RowCells:
        if element is None:
            return RowCells([], [], {})
        cells = read_row_cells(element)
        return cells if self.raw else replace(cells, texts=_flat_texts(cells.texts))

    def derive(self, function: Callable[[TableInput], T]) -> T:
        """Return a function's result for the table, computed once, so that a metric prepares its own form
        once.

        It is the key, so a lambda would be computed anew each time.
        """
        if function not in self._derived:
            self._derived[function] = function(self)
        derived: T = self._derived[function]
        return derived


def _cells_of(table: Table) -> RowCells:
    """Return the cells of a table in the order of their rows."""
    lengths = [0] * table.n_rows
    for cell in table.cells:
        lengths[cell.row] += 1
    sizes = ((cell.rowspan, cell.colspan) for cell in table.cells)
    spans = {index: size for index, size in enumerate(sizes) if size != (1, 1)}
    return RowCells(lengths, [cell.text for cell in table.cells], spans)


def _flat_texts(texts: Sequence[str]) -> list[str]:
    return list(map(flat, texts))


def _table_element(html: str, *, keep_stray_angles: bool) -> etree._Element | None:
    sources = (html, f"<table>{html}</table>")
    roots = (parse_html(source, keep_stray_angles=keep_stray_angles) for source in sources)
    return next((table for root in roots if root is not None for table in root.iter("table")), None)


AnyTable = Any  # a text in any format, a Table, a TableInput, rows as lists, a DataFrame of pandas or polars


def as_truth(table: AnyTable) -> TableInput:
    """Return a true table, prepared; raise FormatError where it cannot be read."""
    truth = as_input(table)
    truth.require_table()
    return truth


def as_input(table: AnyTable) -> TableInput:
    """Return a table, prepared; rows and DataFrames become tables, the names of columns their header.

    >>> [cell.text for cell in as_input([["a", "b"], [1, None]]).table.cells]
    ['a', 'b', '1', '']
    """
    if isinstance(table, TableInput):
        return table
    columns = getattr(table, "columns", None)
    if columns is not None and (hasattr(table, "rows") or hasattr(table, "itertuples")):  # polars, pandas
        rows = [columns, *(table.rows() if hasattr(table, "rows") else table.itertuples(index=False))]
        return TableInput(Table.from_rows([[_written(value) for value in row] for row in rows], 1))
    if isinstance(table, list | tuple):
        if not all(isinstance(row, list | tuple) for row in table):
            raise FormatError("A table of rows must be a list of lists, one for each row")
        return TableInput(Table.from_rows([[_written(value) for value in row] for row in table]))
    return TableInput(table)


def _written(value: object) -> str:
    """Return a value as a cell shows it; what is missing is empty."""
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "" if is_missing else str(value)
