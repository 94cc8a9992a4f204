"""A table before it is typeset: headers as a tree of groups, rows as pieces of content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from parsemark.corpora.synthetic.pieces import EMPTY, Piece
from parsemark.model import Cell, Table


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A header over one or more columns."""

    piece: Piece
    span: int = 1


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A row of the body: data, a total, or a section heading that spans the table."""

    pieces: tuple[Piece, ...]
    kind: str = "data"  # `data`, `total` or `section`


@dataclass(frozen=True)
class TableDraft:
    """What a table says."""

    kind: str
    stub: tuple[Piece, ...]  # headers of the leading columns that name the rows
    levels: tuple[tuple[RowGroup, ...], ...]
    """Headers of the other columns, top level first; the spans of each level add up to the same number."""
    rows: tuple[DraftRow, ...]
    alignments: tuple[str, ...]  # one of l, c, r, or p with a width (`p{3cm}`), per column
    row_groups: tuple[tuple[Piece, int], ...] = ()
    """Cells of the first stub column that span several rows, in order; empty if each row has its own."""
    notes: tuple[Piece, ...] = ()

    @property
    def n_cols(self) -> int:
        """Number of columns."""
        return len(self.alignments)

    @property
    def header_rows(self) -> int:
        """Number of header rows."""
        return len(self.levels)


@dataclass(frozen=True, slots=True)
class Placed:
    """A piece of content on the grid."""

    row: int
    col: int
    piece: Piece
    rowspan: int = 1
    colspan: int = 1
    header: bool | None = False


@dataclass(frozen=True)
class Layout:
    """A draft on its grid."""

    draft: TableDraft
    n_rows: int
    cells: dict[tuple[int, int], Placed] = field(default_factory=dict)

    def part(self, rows: Sequence[int]) -> Layout:
        """Some rows, as a table of its own; they must not part merged cells."""
        rank = {row: index for index, row in enumerate(rows)}
        cells = {(rank[r], col): replace(c, row=rank[r]) for (r, col), c in self.cells.items() if r in rank}
        head = self.draft.header_rows
        body = tuple(item for index, item in enumerate(self.draft.rows) if index + head in rank)
        return Layout(replace(self.draft, rows=body), len(rank), cells)

    def table(self) -> Table:
        """The truth."""
        cells = (
            Cell(c.row, c.col, c.piece.text, c.rowspan, c.colspan, c.header) for c in self.cells.values()
        )
        return Table(self.n_rows, self.draft.n_cols, tuple(cells))


def lay_out(draft: TableDraft) -> Layout:
    """Give each piece its place and its spans."""
    cells: dict[tuple[int, int], Placed] = {}

    def put(cell: Placed) -> None:
        cells[cell.row, cell.col] = cell

    head, stub = draft.header_rows, len(draft.stub)
    for col, piece in enumerate(draft.stub):
        put(Placed(0, col, piece, rowspan=head, header=True))
    for row, level in enumerate(draft.levels):
        col = stub
        for group in level:
            put(Placed(row, col, group.piece, colspan=group.span, header=True))
            col += group.span
    for row, item in enumerate(draft.rows, start=head):
        if item.kind == "section":
            put(Placed(row, 0, item.pieces[0], colspan=draft.n_cols, header=True))
        else:
            for col in range(1 if draft.row_groups else 0, draft.n_cols):
                piece = item.pieces[col] if col < len(item.pieces) else EMPTY
                put(Placed(row, col, piece, header=col < stub))
    row = head
    for piece, count in draft.row_groups:
        put(Placed(row, 0, piece, rowspan=count, header=True))
        row += count
    return Layout(draft, head + len(draft.rows), cells)


def one_level(pieces: Sequence[Piece]) -> tuple[tuple[RowGroup, ...], ...]:
    """A header of a single row."""
    return (tuple(RowGroup(piece) for piece in pieces),)
