"""A table before it is typeset: headers as a tree of groups, rows as pieces of content; how it varies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from parsemark.model import Cell, Table
from parsemark_makers.synthetic.language import vocabulary
from parsemark_makers.synthetic.pieces import EMPTY, Piece, plain, plains, raised


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
        """Return the number of columns."""
        return len(self.alignments)

    @property
    def header_rows(self) -> int:
        """Return the number of header rows."""
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
        """Return some rows, as a table of its own; they must not part merged cells."""
        rank = {row: index for index, row in enumerate(rows)}
        cells = {(rank[r], col): replace(c, row=rank[r]) for (r, col), c in self.cells.items() if r in rank}
        head = self.draft.header_rows
        body = tuple(item for index, item in enumerate(self.draft.rows) if index + head in rank)
        return Layout(replace(self.draft, rows=body), len(rank), cells)

    def table(self) -> Table:
        """Return the truth."""
        cells = (
            Cell(c.row, c.col, c.piece.text, c.rowspan, c.colspan, c.header) for c in self.cells.values()
        )
        return Table(self.n_rows, self.draft.n_cols, tuple(cells))


def lay_out(draft: TableDraft) -> Layout:
    """Give each piece its place and its spans."""
    head, stub = draft.header_rows, len(draft.stub)
    placed = [Placed(0, col, piece, rowspan=head, header=True) for col, piece in enumerate(draft.stub)]
    for row, level in enumerate(draft.levels):
        col = stub
        for group in level:
            placed.append(Placed(row, col, group.piece, colspan=group.span, header=True))
            col += group.span
    for row, item in enumerate(draft.rows, start=head):
        if item.kind == "section":
            placed.append(Placed(row, 0, item.pieces[0], colspan=draft.n_cols, header=True))
        else:
            for col in range(1 if draft.row_groups else 0, draft.n_cols):
                piece = item.pieces[col] if col < len(item.pieces) else EMPTY
                placed.append(Placed(row, col, piece, header=col < stub))
    row = head
    for piece, count in draft.row_groups:
        placed.append(Placed(row, 0, piece, rowspan=count, header=True))
        row += count
    return Layout(draft, head + len(draft.rows), {(cell.row, cell.col): cell for cell in placed})


def one_level(*texts: str) -> tuple[tuple[RowGroup, ...], ...]:
    """Return a header of a single row."""
    return (tuple(map(RowGroup, plains(*texts))),)


def varied(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    """Add what real tables have: groups of rows, sections, empty cells, marks of notes."""
    if draft.kind in ("results", "statistics", "chemistry", "geology"):
        if rng.random() < 0.25 and len(draft.rows) >= 4:
            draft = _with_row_groups(rng, draft, language)
        elif rng.random() < 0.25 and len(draft.rows) >= 4:
            draft = _with_sections(rng, draft, language)
    if len(draft.levels) == 1 and len(draft.levels[0]) >= 4 and rng.random() < 0.45:
        draft = _with_header_groups(rng, draft, language)
        if len(draft.levels[0]) >= 2 and rng.random() < 0.3:  # a third level over all columns
            title, span = rng.choice(vocabulary(language).headings), sum(g.span for g in draft.levels[0])
            draft = replace(draft, levels=((RowGroup(plain(title), span),), *draft.levels))
    if rng.random() < 0.25:
        draft = _with_empty_cells(rng, draft)
    if rng.random() < 0.15:
        draft = _with_marked_note(rng, draft, language)
    return draft


def _with_header_groups(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    """Return a header level above the columns: groups of two or three, and columns that stand alone."""
    names = rng.sample(vocabulary(language).lists[rng.choice(["groups", "regions", "seasons"])], k=4)
    top: list[RowGroup] = []
    left = len(draft.levels[0])
    while left:
        span = min(left, rng.choice([1, 2, 2, 3]))
        top.append(RowGroup(plain(names[len(top) % 4]) if span > 1 else EMPTY, span))
        left -= span
    return replace(draft, levels=(tuple(top), *draft.levels))


def _with_row_groups(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    counts = _split(rng, len(draft.rows))
    names = vocabulary(language).lists[rng.choice(["groups", "seasons", "regions", "sites"])]
    groups = tuple((plain(names[i % len(names)]), count) for i, count in enumerate(counts))
    rows = tuple(DraftRow((EMPTY, *row.pieces), row.kind) for row in draft.rows)
    stub, alignments = (EMPTY, *draft.stub), ("l", *draft.alignments)
    return replace(draft, stub=stub, rows=rows, alignments=alignments, row_groups=groups)


def _with_sections(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    names = vocabulary(language).lists[rng.choice(["groups", "regions", "sites"])]
    rows, data = list[DraftRow](), iter(draft.rows)
    for index, count in enumerate(_split(rng, len(draft.rows))):
        rows += [DraftRow((plain(names[index % len(names)]).italic(),), "section"), *islice(data, count)]
    return replace(draft, rows=tuple(rows))


def _with_empty_cells(rng: random.Random, draft: TableDraft) -> TableDraft:
    share, blank = rng.uniform(0.05, 0.25), rng.choice([EMPTY, EMPTY, plain("–")])
    stub = len(draft.stub)

    def thin(row: DraftRow) -> DraftRow:
        kept = (p if i < stub or rng.random() > share else blank for i, p in enumerate(row.pieces))
        return replace(row, pieces=tuple(kept))

    return replace(draft, rows=tuple(thin(row) if row.kind == "data" else row for row in draft.rows))


def _with_marked_note(rng: random.Random, draft: TableDraft, language: str) -> TableDraft:
    *above, last = draft.levels
    target = rng.randrange(len(last))
    marked = RowGroup(last[target].piece + raised("a"), last[target].span)
    note = plain("a " + rng.choice(vocabulary(language).notes))
    levels = (*above, (*last[:target], marked, *last[target + 1 :]))
    return replace(draft, levels=levels, notes=(*draft.notes, note))


def _split(rng: random.Random, count: int) -> list[int]:
    """Return two or three parts of at least two rows each."""
    parts = 3 if count >= 6 and rng.random() < 0.5 else 2
    cuts = [2] * parts
    for _ in range(count - 2 * parts):
        cuts[rng.randrange(parts)] += 1
    return cuts
