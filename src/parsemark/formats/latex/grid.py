r"""The cells of a LaTeX table on TeX's own grid: rows and the rules between them, spans, and columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from parsemark.errors import FormatError
from parsemark.formats.latex.commands import CLASS_RULES, RULES, SIGNATURES
from parsemark.formats.latex.definitions import Definitions, expand, read_definitions
from parsemark.formats.latex.environments import TABLE_ENVIRONMENTS, column_specification
from parsemark.formats.latex.scanner import ALONE, LatexSource, Range, TokenKind
from parsemark.formats.limits import MAX_COLUMNS, MAX_GRID, MAX_LATEX_ROWS, MAX_SPAN, check_grid

_ROW_ENDS = frozenset({"\\", "tabularnewline", "cr", "crcr", "newrow"})
_MIDRULES = frozenset({"midrule", "colrule", "middlehline", "midline", "svhline", "mr"})
"""Rules that belong below the column heads."""
_NAMED_RULES = """midrule hdashline thickhline hlinewd Xhline hhline specialrule Hline toprule bottomrule
hline firsthline lasthline hlineB hdottedline firsthdashline lasthdashline"""
_FULL_RULES = frozenset([*_NAMED_RULES.split(), *CLASS_RULES])
_HEADS, _FEET = ("endfirsthead", "endhead"), ("endlastfoot", "endfoot")
"""Marks of a longtable behind its heads and feet; those of the printed table first."""
_MULTIROW = {"multirow": "omomo", "multirowcell": "moo", "multirowthead": "mo"}
"""Arguments before the text; the first mandatory one is the number of rows."""
_MAX_NESTING = 20
_COLUMN_ARGUMENTS = {**dict.fromkeys("pmb", "om"), **dict.fromkeys("wW", "omm")}
"""Of columns with a width; others may have an option."""
_COUNT = re.compile(r"[0-9]{1,9}")


class RowLine(Enum):
    """How the source draws what lies above a row."""

    NONE = 0
    SINGLE = 1
    DOUBLE = 2
    MIDRULE = 3


@dataclass(slots=True)
class ColumnSpec:
    """What the specification adds to the cells of one column."""

    before: tuple[Range, ...] = ()  # `@{…}` in front of the first column
    after: tuple[Range, ...] = ()  # `@{…}` and `!{…}` between this column and the next
    prefix: tuple[Range, ...] = ()  # `>{…}`
    suffix: tuple[Range, ...] = ()  # `<{…}`
    is_number: bool = False  # whether siunitx sets the cells
    is_math: bool = False  # whether dcolumn sets the cells: in math mode


@dataclass(slots=True)
class TexCell:
    """A cell of the source at its place, as TeX sets it: rows are not joined yet."""

    row: int
    col: int
    content: tuple[Range, ...] = ()  # what it shows, without the spanning commands
    colspan: int = 1
    rowspan: int = 1  # negative where the text stands in the last row of its span, as `multirow` has it
    specification: Range | None = None
    r"""What a `\multicolumn` has instead of the column's own (text between columns, math mode)."""


@dataclass(frozen=True, slots=True)
class TexGrid:
    """A table environment as TeX sees it, before multirow cells take the places below them."""

    source: LatexSource
    environment: str
    columns: list[ColumnSpec]
    cells: list[TexCell]
    lines: list[RowLine]  # the rule above each row, and at the end the rule below the last one
    blank_rows: frozenset[int]  # rows that are only vertical space
    head_rows: int | None  # rows before longtable's `\endhead`, where the source has one
    sections: tuple[str, ...] = ()  # of each row of an `all_rows` grid, as `_TexBody.sections` has them

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.lines) - 1


def read_grid(text: str, definitions: Definitions | None = None, *, all_rows: bool = False) -> TexGrid:
    """Return the grid of the first table environment in a source; raise FormatError where there is none.

    Macros of the source and those of `definitions` are expanded. Of a longtable `all_rows` keeps all heads
    and feet, in the order of the source.
    """
    known = {**(definitions or {}), **read_definitions(text)}
    source = LatexSource(expand(text, known))
    for index, token in enumerate(source.tokens):
        if token.kind is TokenKind.BEGIN and token.text in TABLE_ENVIRONMENTS:
            end = source.partner[index]
            end = len(source.tokens) if end == ALONE else end
            specification, start = column_specification(source, token.text, index + 1, end)
            body = _split_body(source, (start, end))
            break
    else:
        raise FormatError("There is no LaTeX table environment (tabular, longtable, array, ...) in the text")
    rows, head_rows = (body.rows, None) if all_rows else _logical_rows(body)
    columns, cells = read_columns(source, specification), list(_placed(source, rows))
    lines = [*(row.above for row in rows), body.below]
    blank_rows = frozenset(number for number, row in enumerate(rows) if row.is_blank)
    sections = tuple(body.sections()) if all_rows else ()
    return TexGrid(source, token.text, columns, cells, lines, blank_rows, head_rows, sections)


def select_rows(grid: TexGrid, rows: Sequence[int], head_rows: int | None) -> TexGrid:
    """Return the grid of some rows, in the given order."""
    by_row: dict[int, list[TexCell]] = {}
    for cell in grid.cells:
        by_row.setdefault(cell.row, []).append(cell)
    return replace(
        grid,
        cells=[replace(cell, row=new) for new, row in enumerate(rows) for cell in by_row.get(row, [])],
        lines=[*(grid.lines[row] for row in rows), grid.lines[-1]],
        blank_rows=frozenset(new for new, row in enumerate(rows) if row in grid.blank_rows),
        head_rows=head_rows,
        sections=tuple(grid.sections[row] for row in rows) if grid.sections else (),
    )


class _TexRow(NamedTuple):
    """One row: the token range of each cell, and the full-width rule above it."""

    cells: list[Range]
    above: RowLine

    @property
    def is_blank(self) -> bool:
        r"""Return whether nothing is in it, not even an `&`: vertical space, which TeX makes of a lone
        `\\`.
        """
        return len(self.cells) == 1 and self.cells[0][0] == self.cells[0][1]


@dataclass(slots=True)
class _TexBody:
    """The rows of an environment, and longtable's marks: name to the number of rows before it, in the order
    of the source. Two marks may have the same number: a foot is often a rule alone.
    """

    rows: list[_TexRow] = field(default_factory=list)
    marks: dict[str, int] = field(default_factory=dict)
    below: RowLine = RowLine.NONE  # the rule after the last row

    def sections(self) -> list[str]:
        """Return the mark behind the part of a longtable that each row is in; empty for the body."""
        names: list[str] = []
        for name, count in self.marks.items():
            names += [name] * (count - len(names))
        return names + [""] * (len(self.rows) - len(names))


def _logical_rows(body: _TexBody) -> tuple[list[_TexRow], int | None]:
    """Return the rows in the order of the printed table, and how many are its head.

    longtable writes its head and foot first, and a second version of each for the other pages. A reader wants
    the table once: first head, body, last foot.
    """
    parts: dict[str, list[_TexRow]] = {name: [] for name in ("", *body.marks)}
    for row, section in zip(body.rows, body.sections(), strict=True):
        parts[section].append(row)
    head, foot = (next((parts[mark] for mark in marks if mark in parts), None) for marks in (_HEADS, _FEET))
    return [*(head or []), *parts[""], *(foot or [])], None if head is None else len(head)


def _split_body(source: LatexSource, span: Range) -> _TexBody:
    """Return rows and cells at the outermost level of a body."""
    body = _TexBody()
    index, end = span
    index, line = _read_rules(source, index, end, body)
    cell_start, cells, count = index, list[Range](), 0
    for mark in source.marks_in((index, end)):
        if mark < index:
            continue
        token = source.tokens[mark]
        if token.kind is TokenKind.ALIGN:
            cells.append(source.strip((cell_start, mark)))
            if len(cells) > MAX_COLUMNS:
                raise FormatError(f"A table row has more than {MAX_COLUMNS:,} cells", position=token.start)
            if count + len(cells) > MAX_GRID:
                raise FormatError(f"The table has more than {MAX_GRID:,} cells", position=token.start)
            index = cell_start = mark + 1
        elif token.kind is TokenKind.COMMAND and token.text in _ROW_ENDS:
            cells.append(source.strip((cell_start, mark)))
            count += len(cells)
            if len(body.rows) >= MAX_LATEX_ROWS:
                raise FormatError(f"The table has more than {MAX_LATEX_ROWS:,} rows", position=token.start)
            body.rows.append(_TexRow(cells, line))
            # A bracket with anything but a length in it is a cell's text.
            index = source.skip_arguments("*l", mark + 1, end)
            index, line = _read_rules(source, index, end, body)
            cell_start, cells = index, []
        else:
            index = min(source.after(mark), end)
    last = _TexRow([*cells, source.strip((cell_start, end))], line)
    if last.is_blank:
        body.below = line
    else:
        body.rows.append(last)
    return body


def _read_rules(source: LatexSource, index: int, end: int, body: _TexBody) -> tuple[int, RowLine]:
    """Return everything between two rows, and the strongest full-width rule among it."""
    full_rules, has_midrule = 0, False
    while (index := source.skip_space(index, end)) < end:
        kind, name = source.tokens[index][:2]
        if kind is not TokenKind.COMMAND or name not in RULES:
            break
        if name in (*_HEADS, *_FEET):
            body.marks.setdefault(name, len(body.rows))
        full_rules += name in _FULL_RULES
        has_midrule |= name in _MIDRULES
        index = source.skip_arguments(RULES[name], index + 1, end)
    if has_midrule:
        return index, RowLine.MIDRULE
    return index, (RowLine.NONE, RowLine.SINGLE, RowLine.DOUBLE)[min(full_rules, 2)]


def _placed(source: LatexSource, rows: list[_TexRow]) -> Iterator[TexCell]:
    n_cols = 0
    for number, row in enumerate(rows):
        col = 0
        for span in row.cells:
            cell = TexCell(number, col, (span,))
            if source.marks_in(span):
                cell.content = tuple(_SpanReader(source, cell).read(span, 0))
            cell.content = tuple(part for part in cell.content if part[0] < part[1])
            yield cell
            col += cell.colspan
        n_cols = max(n_cols, col)
        check_grid(number + 1, n_cols)


class _SpanReader:
    r"""Reads `\multicolumn` and `\multirow` into a cell, also inside of font and colour commands."""

    def __init__(self, source: LatexSource, cell: TexCell) -> None:
        self.source, self.cell = source, cell
        self.has_multirow = False

    def read(self, span: Range, depth: int) -> list[Range]:
        """Return the parts of a range that are left when the spanning commands are taken out."""
        start, end = span
        index = start
        parts: list[Range] = []
        while index < end and depth < _MAX_NESTING:
            kind, name = self.source.tokens[index][:2]
            is_command = kind is TokenKind.COMMAND
            if is_command and name == "multicolumn" and self.cell.specification is None:
                count, behind = self.source.argument(index + 1, end)
                self.cell.specification, behind = self.source.argument(behind, end)
                self.cell.colspan = max(1, _count(self.source.raw(count)))
                inner, behind = self.source.argument(behind, end)
            elif is_command and name in _MULTIROW and not self.has_multirow:
                arguments, behind = self.source.arguments(f"*{_MULTIROW[name]}", index + 1, end)
                counts = (self.source.raw(argument) for letter, argument in arguments if letter == "m")
                self.cell.rowspan, self.has_multirow = _count(next(counts, "")) or 1, True
                inner, behind = self.source.argument(behind, end)
            elif kind is TokenKind.OPEN and self._holds_span((index + 1, self.source.partner[index])):
                inner, behind = (index + 1, self.source.partner[index]), self.source.partner[index] + 1
            else:
                index = self.source.after(index)
                continue
            parts += [(start, index), *self.read(inner, depth + 1)]
            start = index = behind
        return [*parts, (start, end)]

    def _holds_span(self, inner: Range) -> bool:
        """Return whether a group begins with a spanning command (fonts and colours may come first)."""
        index, end = inner
        while (index := self.source.skip_space(index, end)) < end:
            token = self.source.tokens[index]
            if token.kind is TokenKind.OPEN:
                end = min(end, self.source.partner[index]) if self.source.partner[index] != ALONE else end
                index += 1
                continue
            if token.kind is not TokenKind.COMMAND:
                return False
            if token.text == "multicolumn" or token.text in _MULTIROW:
                return True
            signature = SIGNATURES.get(token.text)
            if signature is None:
                index += 1
                if index >= end or self.source.tokens[index].kind is not TokenKind.OPEN:
                    return False
                continue
            index = self.source.skip_arguments(signature.split("M")[0], index + 1, end)
        return False


def _count(text: str) -> int:
    """Return a number of rows or columns, cut to the limit; 1 where it is none (`*` lets multirow fit its
    text).
    """
    try:
        value = int(float(text.strip().rstrip("*").replace("−", "-") or "1"))
    except (ValueError, OverflowError):
        return 1
    return max(-MAX_SPAN, min(MAX_SPAN, value))


def read_columns(source: LatexSource, specification: Range) -> list[ColumnSpec]:
    """Return the columns of a specification; what is not understood is passed over.

    Three things in `{l r@{.}l >{$}c<{$} S[table-format=2.1] *{3}{c}}` change what a cell shows: text between
    columns (`@{.}`), columns in math mode, and siunitx' number columns. Everything else is alignment.
    """
    reader = _SpecificationReader(source)
    reader.read(specification, depth=0)
    return reader.columns


class _SpecificationReader:
    def __init__(self, source: LatexSource) -> None:
        self.source = source
        self.columns: list[ColumnSpec] = []
        self.pending = ColumnSpec()
        self.repeated = 0
        """Bodies of `*{n}{…}` read so far: one that adds no column could be read for ever."""

    def read(self, span: Range, depth: int) -> None:
        index, end = span
        while index < end and len(self.columns) < MAX_COLUMNS:
            token = self.source.tokens[index]
            index += 1
            if token.kind is TokenKind.CHAR and token.text == "*" and depth < 5:
                index = self._repeat(index, end, depth)
            elif token.kind is TokenKind.CHAR and token.text in "@!><":
                argument, index = self.source.argument(index, end)
                self._decorate(token.text, argument)
            elif token.kind is TokenKind.CHAR and token.text[:1].isalpha():
                letters = [letter for letter in token.text if letter.isalpha()]
                for letter in letters[: MAX_COLUMNS - len(self.columns)]:
                    self.pending.is_number, self.pending.is_math = letter == "S", letter == "D"
                    self.columns.append(self.pending)
                    self.pending = ColumnSpec()
                index = self.source.skip_arguments(_COLUMN_ARGUMENTS.get(token.text[-1], "o"), index, end)
            elif token.kind is TokenKind.OPEN:
                index = self.source.after(index - 1)

    def _repeat(self, index: int, end: int, depth: int) -> int:
        count, index = self.source.argument(index, end)
        body, index = self.source.argument(index, end)
        digits = self.source.raw(count).strip()
        for _ in range(min(int(digits), MAX_COLUMNS) if _COUNT.fullmatch(digits) else 0):
            if max(len(self.columns), self.repeated) >= MAX_COLUMNS or body[0] == body[1]:
                break
            self.repeated += 1
            self.read(body, depth + 1)
        return index

    def _decorate(self, mark: str, argument: Range) -> None:
        last = self.columns[-1] if self.columns else None
        if mark == ">":
            self.pending.prefix += (argument,)
        elif last is None:
            self.pending.before += (argument,) if mark != "<" else ()
        elif mark == "<":
            last.suffix += (argument,)
        else:
            last.after += (argument,)
