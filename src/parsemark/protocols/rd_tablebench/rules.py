"""RD-TableBench's rules (Reducto): two tables as grids, aligned row by row and cell by cell.

Everything is as in `reductoai/rd-tablebench` at commit 1a07a58; `docs/boards/rd-tablebench.md` lists what is
wrong with it and kept. Sums are in float32, as there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from lxml import etree
from rapidfuzz.distance import Levenshtein

from parsemark.errors import FormatError
from parsemark.formats.limits import MAX_GRID

GridRows = list[list[str]]
Item = TypeVar("Item")
ROW_MATCH, ROW_GAP, COLUMN_GAP = 5, -3, -1
MAX_STEPS = 100_000_000
"""Pairs of cells that are compared; more are refused."""


def grid_of_html(document: str) -> GridRows:
    """All rows of an HTML document as a grid in which spanned cells repeat their text.

    Raises:
        ValueError: A span is no number, or (AttributeError upstream) the document is empty.
        FormatError: The table is too large.
    """
    root = etree.HTML(document) if document.strip() else None
    if root is None:
        raise ValueError("the document is empty")
    rows: GridRows = []
    pending: dict[int, tuple[str, int]] = {}
    size = 0

    def fill(row: list[str]) -> None:
        while (held := pending.pop(len(row), None)) is not None:
            if held[1] > 1:
                pending[len(row)] = held[0], held[1] - 1
            row.append(held[0])

    for line in root.iter("tr"):
        row: list[str] = []
        for cell in line:
            if cell.tag not in ("td", "th"):
                continue
            fill(row)
            text = "".join(map(str, cell.itertext())).strip()
            rowspan, colspan = int(cell.get("rowspan", "1")), int(cell.get("colspan", "1"))
            size += max(colspan, 1)
            if size > MAX_GRID:
                raise FormatError(f"The table has more than {MAX_GRID:,} cells")
            if rowspan > 1:
                pending.update((len(row) + k, (text, rowspan - 1)) for k in range(colspan))
            row += [text] * colspan
        fill(row)
        size += len(row)
        rows.append(row)
    width = max(map(len, rows), default=0)
    if width * len(rows) > MAX_GRID:
        raise FormatError(f"The table has more than {MAX_GRID:,} cells")
    return [row + [""] * (width - len(row)) for row in rows]


def cell_score(a: str, b: str) -> float:
    """From −1 to 1."""
    if a == b:
        return 1.0
    return -1 + 2 * (1 - Levenshtein.distance(a, b) / max(len(a), len(b)))


Step = tuple[int | None, int | None]


def align(
    a: Sequence[Item], b: Sequence[Item], score: Callable[[Item, Item], float], gap: int
) -> tuple[float, list[Step]]:
    """The value of the best alignment, and its steps: pairs of indices, None for a gap.

    Gaps at either end are free; those at the beginning are steps all the same, those at the end are not.
    """
    m, n = len(a), len(b)
    values: Any = np.zeros((m + 1, n + 1), dtype=np.float32)
    ways = np.zeros((m + 1, n + 1), dtype=np.int8)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            options = (
                values[i - 1, j - 1] + np.float32(score(a[i - 1], b[j - 1])),
                values[i - 1, j] + np.float32(gap),
                values[i, j - 1] + np.float32(gap),
            )
            best = max(options)
            values[i, j], ways[i, j] = best, options.index(best)
    i, j = m, n
    last = int(np.argmax(values[:, n]))
    if values[last, n] > values[i, j]:
        i, j = last, n
    last = int(np.argmax(values[m, :]))
    if values[m, last] > values[i, j]:
        i, j = m, last
    return float(values[i, j]), _steps(ways, i, j)


def _steps(ways: Any, i: int, j: int) -> list[Step]:
    steps: list[Step] = []
    while i or j:
        way = 2 if not i else 1 if not j else int(ways[i, j])
        i, j = i - (way != 2), j - (way != 1)
        steps.append((None if way == 2 else i, None if way == 1 else j))
    return steps[::-1]


def grid_similarity(truth: GridRows, pred: GridRows) -> float:
    """From 0 to 1.

    Raises:
        ValueError: A grid has no cells.
        FormatError: The grids are too large to compare.
    """
    wanted, found = _cleaned(truth), _cleaned(pred)
    if len(wanted) * len(found) * len(wanted[0]) * len(found[0]) > MAX_STEPS:
        raise FormatError("The tables are too large to compare")
    rows: dict[tuple[tuple[str, ...], tuple[str, ...]], float] = {}
    cells: dict[tuple[str, str], float] = {}

    def of_cells(x: str, y: str) -> float:
        if (x, y) not in cells:
            cells[x, y] = cell_score(x, y)
        return cells[x, y]

    def of_rows(x: tuple[str, ...], y: tuple[str, ...]) -> float:
        if (x, y) not in rows:
            rows[x, y] = align(x, y, of_cells, COLUMN_GAP)[0] + ROW_MATCH
        return rows[x, y]

    value, steps = align(wanted, found, of_rows, ROW_GAP)
    if not steps:
        return 0.0
    share = float(np.float32(value) / (len(steps) * (ROW_MATCH + len(wanted[0]))))
    return min(1.0, max(0.0, share))


def _cleaned(grid: GridRows) -> list[tuple[str, ...]]:
    if not grid or not grid[0]:
        raise ValueError("a table without cells")
    return [tuple("".join(cell.replace("-", "").split()) for cell in row) for row in grid]


def html_similarity(truth: str, pred: str) -> float:
    """The similarity of two HTML tables; raises as `grid_of_html` and `grid_similarity` do."""
    return grid_similarity(grid_of_html(truth), grid_of_html(pred))
