r"""The spans of a cell: `\multicolumn` and `\multirow`, also inside of font and colour commands."""

from typing import NamedTuple

from parsemark.formats.latex.commands import SIGNATURES
from parsemark.formats.latex.rows import read_arguments, skip_arguments
from parsemark.formats.latex.scanner import ALONE, LatexSource, Range, TokenKind
from parsemark.formats.limits import MAX_SPAN

_MULTIROW = {"multirow": "omomo", "multirowcell": "moo", "multirowthead": "mo"}
"""Arguments before the text; the first mandatory one is the number of rows."""
_MAX_NESTING = 20


class SpannedCell(NamedTuple):
    """A cell of the source with what it spans."""

    content: tuple[Range, ...]  # what it shows, without the spanning commands
    colspan: int = 1
    rowspan: int = 1  # negative where the text stands in the last row of its span, as `multirow` has it
    is_multicolumn: bool = False
    """Whether the column's own specification (text between columns, math mode) is replaced."""
    specification: Range | None = None  # the column specification that a `\multicolumn` gives


def read_spans(source: LatexSource, cell: Range) -> SpannedCell:
    """The spans of a cell and the ranges of its content."""
    if not source.marks_in(cell):
        return SpannedCell((cell,) if cell[0] < cell[1] else ())
    reader = _SpanReader(source)
    content = tuple(part for part in reader.read(cell, 0) if part[0] < part[1])
    return SpannedCell(content, reader.colspan, reader.rowspan, reader.is_multicolumn, reader.specification)


class _SpanReader:
    def __init__(self, source: LatexSource) -> None:
        self.source = source
        self.colspan = 1
        self.rowspan = 1
        self.is_multicolumn = False
        self.has_multirow = False
        self.specification: Range | None = None

    def read(self, span: Range, depth: int) -> list[Range]:
        """The parts of a range that are left when the spanning commands are taken out."""
        start, end = span
        index = start
        parts: list[Range] = []
        while index < end and depth < _MAX_NESTING:
            token = self.source.tokens[index]
            if token.kind is TokenKind.COMMAND and token.text == "multicolumn" and not self.is_multicolumn:
                inner, behind = self._multicolumn(index + 1, end)
            elif token.kind is TokenKind.COMMAND and token.text in _MULTIROW and not self.has_multirow:
                inner, behind = self._multirow(token.text, index + 1, end)
            elif token.kind is TokenKind.OPEN and self._holds_span((index + 1, self.source.partner[index])):
                inner, behind = (index + 1, self.source.partner[index]), self.source.partner[index] + 1
            else:
                index = self.source.after(index)
                continue
            parts += [(start, index), *self.read(inner, depth + 1)]
            start = index = behind
        return [*parts, (start, end)]

    def _holds_span(self, inner: Range) -> bool:
        """Whether a group begins with a spanning command (fonts and colours may come first)."""
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
            index = skip_arguments(self.source, signature.split("M")[0], index + 1, end)
        return False

    def _multicolumn(self, index: int, end: int) -> tuple[Range, int]:
        count, index = self.source.argument(index, end)
        self.specification, index = self.source.argument(index, end)
        inner, index = self.source.argument(index, end)
        self.is_multicolumn = True
        self.colspan = max(1, _number(self.source.raw(count)))
        return inner, index

    def _multirow(self, name: str, index: int, end: int) -> tuple[Range, int]:
        arguments, index = read_arguments(self.source, f"*{_MULTIROW[name]}", index, end)
        counts = (self.source.raw(span) for kind, span in arguments if kind == "m")
        self.has_multirow = True
        self.rowspan = _number(next(counts, "")) or 1
        return self.source.argument(index, end)


def _number(text: str) -> int:
    """A count, cut to the limit; 1 where it is none (`*` lets multirow fit its text)."""
    try:
        value = int(float(text.strip().rstrip("*").replace("−", "-") or "1"))
    except (ValueError, OverflowError):
        return 1
    return max(-MAX_SPAN, min(MAX_SPAN, value))
