r"""Finds table environments in a text of any kind, and reads what follows their `\begin`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from parsemark.formats.latex.commands import COMMANDS, by_name
from parsemark.formats.latex.scanner import LatexSource, Range, TokenKind

TABLE_ENVIRONMENTS = by_name(COMMANDS["tables"])
"""Environment to its arguments: `o` optional, `t` tabu's `to 5cm`, `m` a width, `M` the columns."""

_NAMES = "|".join(re.escape(name) for name in sorted(TABLE_ENVIRONMENTS, key=len, reverse=True))
_SIDE = re.compile(rf"\\(begin|end)[ \t]*\{{({_NAMES})(?:\}}|\Z)")
_CUT_OFF = re.compile(r"\n[ \t]*\n|\n[ \t]*```|\\end[ \t]*\{table|</")
_MATRIX_DELIMITER = re.compile(r"\\left[ \t]*(?:\\?[^A-Za-z\s]|\\[a-z]+)[ \t\n]*\Z")
_COMMENT = re.compile(r"(?<![\\\d%])(?<!\d[ ~])%(?![0-9A-Fa-f]{2})")
_MAX_WIDTH_TOKENS = 40
_MAX_LINE = 1000


class LatexEnvironment(NamedTuple):
    r"""A table environment in a text, from its `\begin` to behind its `\end`."""

    name: str
    start: int
    end: int


def find_environments(text: str) -> list[LatexEnvironment]:
    r"""Return the outermost table environments of a text, in order.

    A `\begin` in a comment line is none. An environment that is never closed (a parser that was cut off) ends
    at the next blank line. An `array` is only a table if it has columns, is no matrix (between `\left` and
    `\right`) and no cell of a pipe table.
    """
    found: list[LatexEnvironment] = []
    behind = 0
    for name, start, end in sorted(_pairs(text), key=lambda e: e.start):
        if start < behind:
            continue
        behind = end if end >= 0 else _cut_off(text, start)
        if name != "array" or _is_table(text, start, behind):
            found.append(LatexEnvironment(name, start, behind))
    return found


def _cut_off(text: str, start: int) -> int:
    """Return where an environment that is never closed ends."""
    following = _SIDE.search(text, start + 1)
    limit = following.start() if following and following[1] == "begin" else len(text)
    match = _CUT_OFF.search(text, start, limit)
    return match.start() if match else limit


def _pairs(text: str) -> Iterator[LatexEnvironment]:
    """Yield every environment, matched like brackets; one that is never closed has end -1."""
    open_stack: list[tuple[str, int]] = []
    open_counts: dict[str, int] = {}
    for match in _SIDE.finditer(text):
        if is_commented(text, match.start(), in_line=bool(open_stack) or match[1] == "end"):
            continue
        name = match[2]
        if match[1] == "begin":
            open_stack.append((name, match.start()))
            open_counts[name] = open_counts.get(name, 0) + 1
        elif open_counts.get(name, 0):
            while True:
                opened, start = open_stack.pop()
                open_counts[opened] -= 1
                if opened == name:
                    break
                yield LatexEnvironment(opened, start, -1)
            yield LatexEnvironment(name, start, match.end())
    for name, start in open_stack:
        yield LatexEnvironment(name, start, -1)


def is_commented(text: str, position: int, *, in_line: bool = False) -> bool:
    """Return whether a place lies behind the `%` of a comment.

    A `%` behind a number or before a code of two digits (`%20`) is a per cent sign, in a text of any kind.
    Inside a table a later one in the line may be a sign: if `in_line`, only one that begins it counts.
    """
    before = text[_line_start(text, position) : position].lstrip()
    return before[:1] == "%" or (not in_line and _COMMENT.search(before) is not None)


def _line_start(text: str, position: int) -> int:
    """Return where the line begins; looks back only so far, since a line may be the whole text."""
    start = text.rfind("\n", max(0, position - _MAX_LINE), position) + 1
    return start or max(0, position - _MAX_LINE)


def _is_table(text: str, start: int, end: int) -> bool:
    r"""Return whether an `array` is a table: it has columns, is no matrix, and stands in no row of a pipe
    table.
    """
    if "&" not in text[start:end] or _MATRIX_DELIMITER.search(text, max(0, start - 40), start):
        return False
    return text[_line_start(text, start) : start].lstrip()[:1] != "|"


def column_specification(source: LatexSource, name: str, index: int, end: int) -> tuple[Range, int]:
    r"""Return the column specification behind a `\begin{name}`, and where the rows begin."""
    specification = (index, index)
    for kind in TABLE_ENVIRONMENTS[name]:
        if kind == "o":
            _, index = source.optional(index, end)
        elif kind == "t":
            near = range(index, min(index + _MAX_WIDTH_TOKENS, end))
            index = next((i for i in near if source.tokens[i].kind is TokenKind.OPEN), index)
        else:
            argument, index = source.argument(index, end)
            if kind == "M":
                specification = argument
    return specification, index
