"""How complex a table is, by rule."""

from __future__ import annotations

from parsemark.model import Table

SIMPLE, MODERATE, COMPLEX = "simple", "moderate", "complex"


def complexity(table: Table) -> str:
    """`simple`, `moderate` or `complex`.

    * simple: a regular grid, no cell is merged;
    * complex: cells are merged in both directions, or merged cells occur in more than two rows;
    * moderate: what lies between.
    """
    wide = [c for c in table.cells if c.colspan > 1]
    tall = [c for c in table.cells if c.rowspan > 1]
    if not wide and not tall:
        return SIMPLE
    rows = {c.row for c in (*wide, *tall)}
    return COMPLEX if (wide and tall) or len(rows) > 2 else MODERATE
