"""Truth tables from what a corpus gives: a source in some format, or cells with their places.

A truth that cannot be read costs only itself: its element keeps the source and says what is wrong in the
attribute `truth_error`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile
from typing import Any

from parsemark.errors import CorpusError, FormatError
from parsemark.formats import read_tables
from parsemark.formats.limits import check_grid
from parsemark.model import TRUTH_ERROR, Category, Cell, Element, Table


def table_element(identifier: str, **given: Any) -> Element:
    """Return a table element, with what is `given` of one, whose table is read from its HTML or else its
    LaTeX.
    """
    element = Element(identifier, Category.TABLE, **given)
    element = replace(element, html=element.html or None, latex=element.latex or None)
    source, format = (element.html, "html") if element.html else (element.latex, "latex")
    if not source:
        return element
    try:
        found = read_tables(source, format)
    except FormatError as error:
        return _with_error(element, str(error))
    # What an output has up to a cut, a truth has not.
    words = Counter(re.findall(r"\\(begin|end)\s*\{(\w+\*?)", source if format == "latex" else ""))
    cut = next(
        (name for (word, name), n in words.items() if word == "begin" and n > words["end", name]), None
    )
    if cut is not None:
        return _with_error(element, f"The LaTeX of the table is incomplete: \\begin{{{cut}}} has no \\end.")
    if not found or not found[0].table.cells:
        return _with_error(element, f"There is no {format} table in the truth.")
    return replace(element, table=found[0].table)


def _with_error(element: Element, why: str) -> Element:
    return replace(element, attributes={**element.attributes, TRUTH_ERROR: why})


def filled_table(cells: Iterable[Cell]) -> tuple[Table, int]:
    """Return a table of cells at given places, where places without a cell are empty cells.

    Truths made by hand overlap here and there. What comes first (by row, then column) keeps its place: a
    later cell is cut to the free places right of and below its first one, and left out where that is taken.

    Returns:
        The table, and how many cells had to be cut or left out.
    """
    ordered = sorted(cells, key=lambda c: (c.row, c.col))
    n_rows = max((c.row + c.rowspan for c in ordered), default=0)
    n_cols = max((c.col + c.colspan for c in ordered), default=0)
    try:
        check_grid(n_rows, n_cols)
    except FormatError as error:
        raise CorpusError(f"{error.message}.") from error
    taken: set[tuple[int, int]] = set()
    kept: list[Cell] = []
    n_changed = 0
    for cell in ordered:
        fitting = _cut(cell, taken)
        n_changed += fitting != cell
        if fitting is not None:
            kept.append(fitting)
            taken.update(fitting.places)
    holes = [Cell(r, c) for r in range(n_rows) for c in range(n_cols) if (r, c) not in taken]
    return Table(n_rows, n_cols, tuple(kept + holes)), n_changed


def _cut(cell: Cell, taken: set[tuple[int, int]]) -> Cell | None:
    across = range(cell.col, cell.col + cell.colspan)
    free = list(takewhile(lambda col: (cell.row, col) not in taken, across))
    if not free:
        return None
    down = range(cell.row, cell.row + cell.rowspan)
    rows = takewhile(lambda row: all((row, col) not in taken for col in free), down)
    return replace(cell, rowspan=len(list(rows)), colspan=len(free))
