"""olmOCR-bench's rules on tables: which tables a page has, and which cells stand around a cell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from parsemark.protocols.boards.olmocr.text import is_equal, limit, normalise
from parsemark.protocols.facts.grid import (
    DIRECTIONS,
    MAX_SLOTS,
    CellGrid,
    CellSpec,
    Place,
    grid_of,
    html_grids,
    pipe_tables,
)

RELATIONS = (*DIRECTIONS, "top_heading", "left_heading")


def markdown_tables(md: str) -> list[CellGrid]:
    """Every run of at least two lines with a `|`: also one inside of HTML, formulas or prose."""
    found = []
    for _, rows in pipe_tables(md, lambda line: not line.strip().strip("- :|")):
        headed = ([CellSpec(text, heading=not c) for c, text in enumerate(row)] for row in rows[1:])
        if (grid := grid_of([[CellSpec(text, heading=True) for text in rows[0]], *headed])) is not None:
            found.append(grid)
    return found


def html_tables(md: str) -> list[CellGrid]:
    """Every table element that has rows, nested ones again by themselves."""
    return html_grids(md, lambda cell: cell.get_text(), budget=MAX_SLOTS)


@lru_cache(maxsize=16)
def tables_of(md: str, markdown: bool) -> tuple[tuple[CellGrid, dict[Place, str]], ...]:
    """The tables of a page with the normal form of their cells; Markdown's first, if they are asked for."""
    grids = [*(markdown_tables(md) if markdown else []), *html_tables(md)]
    return tuple((grid, {place: normalise(text) for place, text in grid.text.items()}) for grid in grids)


def related(grid: CellGrid, cell: Place, relation: str) -> set[Place]:
    """The cells that stand in a relation to a cell."""
    if relation == "top_heading":
        return grid.reached(cell, "up", grid.headings)
    if relation == "left_heading":
        return grid.reached(cell, "left", grid.headings)
    return grid.neighbours(cell, relation)  # type: ignore[arg-type]


def table_holds(wanted: Mapping[str, Any], max_diffs: int, md: str, markdown: bool) -> tuple[bool, str]:
    """Whether some table has a cell in these surroundings; the texts are in normal form."""
    tables = tables_of(md, markdown)
    cell, found = wanted["cell"], False
    asked = [(name, wanted[name]) for name in RELATIONS if wanted.get(name)]
    for grid, texts in tables:
        for place, text in texts.items():
            if not _equal(cell, text, max_diffs):
                continue
            found = True
            if all(
                any(_equal(value, texts[other], max_diffs) for other in related(grid, place, name))
                for name, value in asked
            ):
                return True, text
    if not tables:
        return False, "the output has no table"
    if not found:
        return False, f"no cell says {cell!r}"
    return False, f"a cell says {cell!r}, but not with {', '.join(f'{n} {v!r}' for n, v in asked)}"


def _equal(query: str, text: str, max_diffs: int) -> bool:
    least = max(0.5, limit(query, max_diffs))
    return query == text if least == 1.0 else is_equal(query, text, least)
