"""The boxes that a perfect structure model would see in a table whose cells have exact boxes."""

from __future__ import annotations

from collections.abc import Sequence

from parsemark.model import Box, Cell, Table
from parsemark.structure.parts import Frame, Part, PartKind


def ideal_parts(table: Table, frame: Frame) -> list[Part]:
    """Return table, columns, rows, header and spanning cells, in the coordinates of the upright table.

    Table Transformer's own convention: rows reach over the whole width and columns over the whole height. A
    cell over all columns below the header is a projected row header. Lines that no cell of one line tells of
    are taken from the cells that begin and end there.

    Args:
        table: A table all of whose cells have boxes, on the page.
        frame: Where it lies, and how it is turned.

    Raises:
        ValueError: If a cell has no box.
    """
    boxes = [frame.from_page(_box_of(cell)) for cell in table.cells]
    if not boxes:
        return []
    outline = Box.hull(boxes)
    rows = _bounds(
        table.n_rows,
        [(c.row, c.rowspan, b.y0, b.y1) for c, b in zip(table.cells, boxes, strict=True)],
        (outline.y0, outline.y1),
    )
    columns = _bounds(
        table.n_cols,
        [(c.col, c.colspan, b.x0, b.x1) for c, b in zip(table.cells, boxes, strict=True)],
        (outline.x0, outline.x1),
    )
    parts = [Part(PartKind.TABLE, outline)]
    parts += [Part(PartKind.COLUMN, Box(x0, outline.y0, x1, outline.y1)) for x0, x1 in columns]
    parts += [Part(PartKind.ROW, Box(outline.x0, y0, outline.x1, y1)) for y0, y1 in rows]
    n_header = header_height(table)
    if n_header:
        parts.append(
            Part(PartKind.COLUMN_HEADER, Box(outline.x0, rows[0][0], outline.x1, rows[n_header - 1][1]))
        )
    for cell in table.cells:
        if cell.rowspan > 1 or cell.colspan > 1:
            box = Box(
                columns[cell.col][0],
                rows[cell.row][0],
                columns[cell.col + cell.colspan - 1][1],
                rows[cell.row + cell.rowspan - 1][1],
            )
            projected = cell.rowspan == 1 and cell.colspan == table.n_cols and cell.row >= n_header
            parts.append(Part(PartKind.PROJECTED_ROW_HEADER if projected else PartKind.SPANNING_CELL, box))
    return parts


def header_height(table: Table) -> int:
    """Return how many leading rows hold header cells alone; 0 if all do, which says nothing."""
    n_header = 0
    for row in range(table.n_rows):
        cells = [cell for col in range(table.n_cols) if (cell := table.cell_at(row, col)) is not None]
        if not cells or not all(cell.header for cell in cells):
            break
        n_header += 1
    if n_header == table.n_rows:
        return 0
    # A header cell may reach down no further than the header: else the row where it ends is a body row.
    while n_header and any(c.row < n_header < c.row + c.rowspan for c in table.cells):
        n_header -= 1
    return n_header


def _box_of(cell: Cell) -> Box:
    if cell.box is None:
        raise ValueError(f"the cell at ({cell.row}, {cell.col}) has no box")
    return cell.box


def _bounds(
    n_lines: int, extents: Sequence[tuple[int, int, float, float]], whole: tuple[float, float]
) -> list[tuple[float, float]]:
    """Start and end of each line from cells given as (first line, lines, start, end)."""
    starts: dict[int, list[float]] = {0: [whole[0]]}
    ends: dict[int, list[float]] = {n_lines - 1: [whole[1]]}
    for line, span, start, end in extents:
        starts.setdefault(line, []).append(start)
        ends.setdefault(line + span - 1, []).append(end)
    edges = [whole[0]]
    for line in range(1, n_lines):
        known = [*starts.get(line, []), *ends.get(line - 1, [])]
        edges.append(max(edges[-1], sum(known) / len(known)) if known else edges[-1])
    edges.append(whole[1])
    return [(edges[i], max(edges[i], edges[i + 1])) for i in range(n_lines)]
