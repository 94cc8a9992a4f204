"""A table as a reader sees it: folded texts on a full grid, without empty rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from parsemark.formats.notation import fold_notation, is_placeholder
from parsemark.model import HOLE, Table

Entry = TypeVar("Entry")
Grid = list[list[Entry]]


@dataclass(frozen=True)
class Sheet:
    """Grids with one list per row and one entry per column."""

    texts: Grid[str]
    """Folded texts; empty for placeholders. A spanning cell repeats its text."""
    shown: Grid[str]
    """The texts as they were written."""
    starts: Grid[bool]
    """Whether a cell begins here: not so where a span repeats it."""
    present: Grid[bool]
    """Whether anything is written here, be it a placeholder."""
    holes: Grid[bool]
    """Whether the source has no cell here, not even an empty one."""
    header_rows: int | None
    """How many leading rows the source says are headers; None where it does not say."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.texts)

    @property
    def n_cols(self) -> int:
        """Number of columns."""
        return len(self.texts[0]) if self.texts else 0

    @classmethod
    def from_table(cls, table: Table) -> Sheet:
        """Fold a table and drop its empty rows and columns."""
        folded = [fold_cell(cell.text) for cell in table.cells]
        filled = [bool(cell.text.strip()) for cell in table.cells]
        rows = [r for r in range(table.n_rows) if any(i != HOLE and filled[i] for i in table.grid[r])]
        used = {c for r in rows for c, i in enumerate(table.grid[r]) if i != HOLE and filled[i]}
        cols = sorted(used)
        grid = [[table.grid[r][c] for c in cols] for r in rows]
        return cls(
            texts=[["" if i == HOLE else folded[i] for i in row] for row in grid],
            shown=[["" if i == HOLE else table.cells[i].text.strip() for i in row] for row in grid],
            starts=_starts(grid),
            present=[[i != HOLE and filled[i] for i in row] for row in grid],
            holes=[[i == HOLE for i in row] for row in grid],
            header_rows=_flagged_rows(table, rows),
        )

    def transposed(self) -> Sheet:
        """The sheet with rows and columns exchanged."""
        return Sheet(
            _flipped(self.texts),
            _flipped(self.shown),
            _flipped(self.starts),
            _flipped(self.present),
            _flipped(self.holes),
            None,
        )

    def below(self, head: Sheet, n_header: int) -> Sheet:
        """The sheet with the first rows of another one of equal width on top."""
        return Sheet(
            head.texts[:n_header] + self.texts,
            head.shown[:n_header] + self.shown,
            head.starts[:n_header] + self.starts,
            head.present[:n_header] + self.present,
            head.holes[:n_header] + self.holes,
            n_header,
        )


def fold_cell(text: str) -> str:
    """The folded text of a cell, empty for a placeholder. A lone root sign is a check mark misread."""
    folded = fold_notation(text)
    if folded == "√":
        return "✓"
    if not folded and len(text.strip()) == 1:
        return text.strip()  # a brace or a dollar alone is no markup
    return "" if is_placeholder(folded) else folded


def _flipped(grid: Sequence[Sequence[Entry]]) -> Grid[Entry]:
    return [list(column) for column in zip(*grid, strict=True)]


def _starts(grid: Grid[int]) -> Grid[bool]:
    seen: set[int] = set()
    starts: Grid[bool] = []
    for row in grid:
        line = []
        for index in row:
            line.append(index == HOLE or index not in seen)
            seen.add(index)
        starts.append(line)
    return starts


def _flagged_rows(table: Table, rows: list[int]) -> int | None:
    if all(cell.header is None for cell in table.cells):
        return None
    count = 0
    for r in rows:
        cells = [table.cells[i] for i in table.grid[r] if i != HOLE and table.cells[i].text.strip()]
        if not cells or not all(cell.header for cell in cells):
            break
        count += 1
    return count
