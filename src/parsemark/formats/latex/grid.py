"""The cells of a LaTeX table placed on TeX's own grid."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from parsemark.errors import FormatError
from parsemark.formats.latex.columns import ColumnSpec, read_columns
from parsemark.formats.latex.definitions import Definitions, expand, read_definitions
from parsemark.formats.latex.environments import TABLE_ENVIRONMENTS, column_specification
from parsemark.formats.latex.rows import Body, RowLine, TexRow, split_body
from parsemark.formats.latex.scanner import ALONE, LatexSource, TokenKind
from parsemark.formats.latex.spans import SpannedCell, read_spans
from parsemark.formats.limits import check_grid


class PlacedCell(NamedTuple):
    """A cell of the source at its place, as TeX sets it: rows are not joined yet."""

    row: int
    col: int
    cell: SpannedCell


@dataclass(frozen=True, slots=True)
class TexGrid:
    """A table environment as TeX sees it, before multirow cells take the places below them."""

    source: LatexSource
    environment: str
    columns: list[ColumnSpec]
    cells: list[PlacedCell]
    lines: list[RowLine]  # the rule above each row, and at the end the rule below the last one
    blank_rows: frozenset[int]  # rows that are only vertical space
    head_rows: int | None  # rows before longtable's `\endhead`, where the source has one
    sections: tuple[str, ...] = ()
    """Of which part of a longtable each row is (`endhead`, …, or empty for the body); only of `all_rows`
    grids.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.lines) - 1


def read_grid(text: str, definitions: Definitions | None = None, *, all_rows: bool = False) -> TexGrid:
    """The grid of the first table environment in a source.

    Args:
        text: The source; macros that it defines itself are expanded.
        definitions: More macros, of the document that the table is from.
        all_rows: Keep all heads and feet of a longtable, in the order of the source.

    Raises:
        FormatError: There is none, or it is over a limit.
    """
    known = {**(definitions or {}), **read_definitions(text)}
    source = LatexSource(expand(text, known))
    for index, token in enumerate(source.tokens):
        if token.kind is TokenKind.BEGIN and token.text in TABLE_ENVIRONMENTS:
            end = source.partner[index]
            end = len(source.tokens) if end == ALONE else end
            specification, start = column_specification(source, token.text, index + 1, end)
            body = split_body(source, (start, end))
            break
    else:
        raise FormatError("There is no LaTeX table environment (tabular, longtable, array, ...) in the text")
    rows, head_rows = (body.rows, None) if all_rows else _logical_rows(body)
    return TexGrid(
        source,
        token.text,
        read_columns(source, specification),
        list(_placed(source, rows)),
        [*(row.above for row in rows), body.below],
        frozenset(number for number, row in enumerate(rows) if row.is_blank),
        head_rows,
        _sections(body) if all_rows else (),
    )


def select_rows(grid: TexGrid, rows: Sequence[int], head_rows: int | None) -> TexGrid:
    """The grid of some rows, in the given order."""
    by_row: dict[int, list[PlacedCell]] = {}
    for placed in grid.cells:
        by_row.setdefault(placed.row, []).append(placed)
    return replace(
        grid,
        cells=[p._replace(row=new) for new, row in enumerate(rows) for p in by_row.get(row, [])],
        lines=[*(grid.lines[row] for row in rows), grid.lines[-1]],
        blank_rows=frozenset(new for new, row in enumerate(rows) if row in grid.blank_rows),
        head_rows=head_rows,
        sections=tuple(grid.sections[row] for row in rows) if grid.sections else (),
    )


def _sections(body: Body) -> tuple[str, ...]:
    names: list[str] = []
    for name, count in body.marks.items():
        names += [name] * (count - len(names))
    return (*names, *([""] * (len(body.rows) - len(names))))


def _logical_rows(body: Body) -> tuple[list[TexRow], int | None]:
    r"""The rows in the order of the printed table.

    longtable writes its head and foot first, and a second version of each for the other pages. A reader wants
    the table once: first head, body, last foot.
    """
    parts: dict[str, list[TexRow]] = {}
    start = 0
    for name, count in body.marks.items():
        parts[name] = body.rows[start:count]
        start = count
    rest = body.rows[start:]
    head = parts.get("endfirsthead", parts.get("endhead"))
    foot = parts.get("endlastfoot", parts.get("endfoot", []))
    return [*(head or []), *rest, *foot], None if head is None else len(head)


def _placed(source: LatexSource, rows: list[TexRow]) -> Iterator[PlacedCell]:
    n_cols = 0
    for number, row in enumerate(rows):
        col = 0
        for span in row.cells:
            cell = read_spans(source, span)
            yield PlacedCell(number, col, cell)
            col += cell.colspan
        n_cols = max(n_cols, col)
        check_grid(number + 1, n_cols)
