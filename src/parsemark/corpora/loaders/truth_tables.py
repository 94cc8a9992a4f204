"""Truth tables from what a corpus gives: a source in some format, or cells with their places.

A truth that cannot be read costs only itself: its element keeps the source and says what is wrong in the
attribute `truth_error`.
"""

import re
from collections import Counter
from collections.abc import Iterable

from parsemark.errors import CorpusError, FormatError
from parsemark.formats import read_tables
from parsemark.formats.limits import check_grid
from parsemark.model import TRUTH_ERROR, AttributeValue, Box, Category, Cell, Element, Table


def table_element(
    identifier: str,
    *,
    html: str | None = None,
    latex: str | None = None,
    text: str | None = None,
    box: Box | None = None,
    order: int | None = None,
    ignore: bool = False,
    attributes: dict[str, AttributeValue] | None = None,
) -> Element:
    """A table element whose table is read from its HTML, or else from its LaTeX."""
    noted = dict(attributes or {})
    table: Table | None = None
    source, format = (html, "html") if html else (latex, "latex")
    if source:
        try:
            found = read_tables(source, format)
            table = found[0].table if found else None
            if cut := _cut_environment(source if format == "latex" else ""):
                table = None
                noted[TRUTH_ERROR] = f"The LaTeX of the table is cut: \\begin{{{cut}}} has no end."
            elif table is None or not table.cells:
                table = None
                noted[TRUTH_ERROR] = f"There is no {format} table in the truth."
        except FormatError as error:
            noted[TRUTH_ERROR] = str(error)
    return Element(
        identifier,
        Category.TABLE,
        box=box,
        order=order,
        text=text,
        html=html or None,
        latex=latex or None,
        table=table,
        ignore=ignore,
        attributes=noted,
    )


def _cut_environment(latex: str) -> str | None:
    """An environment that is begun more often than ended: what an output has up to there, a truth has not."""
    begun, ended = (Counter(re.findall(rf"\\{word}\s*\{{(\w+\*?)", latex)) for word in ("begin", "end"))
    return next(iter(begun - ended), None)


def filled_table(cells: Iterable[Cell]) -> tuple[Table, int]:
    """A table of cells at given places, where places without a cell are empty cells.

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
    if (cell.row, cell.col) in taken:
        return None
    colspan = 1
    while colspan < cell.colspan and (cell.row, cell.col + colspan) not in taken:
        colspan += 1
    rowspan = 1
    while rowspan < cell.rowspan and all(
        (cell.row + rowspan, cell.col + c) not in taken for c in range(colspan)
    ):
        rowspan += 1
    return Cell(cell.row, cell.col, cell.text, rowspan, colspan, cell.header, cell.box)
