r"""Column specifications: what each column adds to its cells.

Three things in `{l r@{.}l >{$}c<{$} S[table-format=2.1] *{3}{c}}` change what a cell shows: text between
columns (`@{.}`), columns in math mode, and siunitx' number columns. Everything else is alignment.
"""

import re
from dataclasses import dataclass

from parsemark.formats.latex.rows import skip_arguments
from parsemark.formats.latex.scanner import LatexSource, Range, TokenKind
from parsemark.formats.limits import MAX_COLUMNS

_ARGUMENTS = {**dict.fromkeys("pmb", "om"), **dict.fromkeys("wW", "omm")}
"""Of columns with a width; others may have an option."""
_COUNT = re.compile(r"[0-9]{1,9}")


@dataclass(slots=True)
class ColumnSpec:
    """What the specification adds to the cells of one column."""

    before: tuple[Range, ...] = ()  # `@{…}` in front of the first column
    after: tuple[Range, ...] = ()  # `@{…}` and `!{…}` between this column and the next
    prefix: tuple[Range, ...] = ()  # `>{…}`
    suffix: tuple[Range, ...] = ()  # `<{…}`
    is_number: bool = False  # whether siunitx sets the cells
    is_math: bool = False  # whether dcolumn sets the cells: in math mode


def read_columns(source: LatexSource, specification: Range) -> list[ColumnSpec]:
    """The columns of a specification; what is not understood is passed over."""
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
                index = skip_arguments(self.source, _ARGUMENTS.get(token.text[-1], "o"), index, end)
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
