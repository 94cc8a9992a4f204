r"""The body of a table environment as rows of cells, with the rules between the rows."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib.resources import files
from typing import Any

from parsemark.errors import FormatError
from parsemark.formats.latex.scanner import LatexSource, Range, TokenKind
from parsemark.formats.limits import MAX_COLUMNS, MAX_GRID, MAX_LATEX_ROWS

ROW_ENDS = frozenset({"\\", "tabularnewline", "cr", "crcr", "newrow"})

MIDRULES = frozenset({"midrule", "colrule", "middlehline", "midline", "svhline", "mr"})
"""Rules that belong below the column heads."""
COMMANDS: dict[str, dict[str, Any]] = tomllib.loads(
    files("parsemark.formats.latex").joinpath("commands.toml").read_text("utf-8")
)
"""The tables of `commands.toml`."""
CLASS_RULES = " ".join(COMMANDS["class_rules"].values()).split()
"""Full-width rules that publishers' classes have under names of their own."""


def by_name(names: Mapping[str, str]) -> dict[str, str]:
    """Name to signature, of names by signature."""
    return {name: signature for signature, listed in names.items() for name in listed.split()}


RULES = {**by_name(COMMANDS["rules"]), **dict.fromkeys(CLASS_RULES, "l")}
"""Commands that stand between rows: name to arguments."""
_FULL_RULES = """hline midrule hdashline thickhline hlinewd Xhline hhline specialrule Hline toprule bottomrule
firsthline lasthline hlineB hdottedline firsthdashline lasthdashline"""
FULL_RULES = frozenset([*_FULL_RULES.split(), *CLASS_RULES])
LONGTABLE_MARKS = frozenset({"endhead", "endfirsthead", "endfoot", "endlastfoot"})
LENGTH = re.compile(r"\s*+[-+]?[\d.]*+\s*+(?:(?!plus|minus)\\?[A-Za-z]++)?+\s*+(?:(?:plus|minus)[^\]]*+)?+")


class RowLine(Enum):
    """How the source draws what lies above a row."""

    NONE = 0
    SINGLE = 1
    DOUBLE = 2
    MIDRULE = 3


@dataclass(slots=True)
class TexRow:
    """One row: the token range of each cell, and the full-width rule above it."""

    cells: list[Range]
    above: RowLine = RowLine.NONE
    is_blank: bool = False
    r"""Whether nothing is in it, not even an `&`: vertical space, which TeX makes of a lone `\\`."""


@dataclass(slots=True)
class Body:
    """The rows of an environment, and longtable's marks: name to the number of rows before it, in the order
    of the source. Two marks may have the same number: a foot is often a rule alone.
    """

    rows: list[TexRow] = field(default_factory=list)
    marks: dict[str, int] = field(default_factory=dict)
    below: RowLine = RowLine.NONE  # the rule after the last row


def split_body(source: LatexSource, span: Range) -> Body:
    """Rows and cells at the outermost level of a body."""
    body = Body()
    index, end = span
    index, line = _read_rules(source, index, end, body)
    cell_start, cells, count = index, list[Range](), 0
    for mark in source.marks_in((index, end)):
        if mark < index:
            continue
        token = source.tokens[mark]
        if token.kind is TokenKind.ALIGN:
            cells.append((cell_start, mark))
            if len(cells) > MAX_COLUMNS:
                raise FormatError(f"A table row has more than {MAX_COLUMNS:,} cells", position=token.start)
            if count + len(cells) > MAX_GRID:
                raise FormatError(f"The table has more than {MAX_GRID:,} cells", position=token.start)
            index = cell_start = mark + 1
        elif token.kind is TokenKind.COMMAND and token.text in ROW_ENDS:
            cells.append((cell_start, mark))
            count += len(cells)
            if len(body.rows) >= MAX_LATEX_ROWS:
                raise FormatError(f"The table has more than {MAX_LATEX_ROWS:,} rows", position=token.start)
            body.rows.append(_row(source, cells, line))
            # A bracket with anything but a length in it is a cell's text.
            index = skip_arguments(source, "*l", mark + 1, end)
            index, line = _read_rules(source, index, end, body)
            cell_start, cells = index, []
        else:
            index = min(source.after(mark), end)
    cells.append((cell_start, end))
    last = _row(source, cells, line)
    if last.is_blank:
        body.below = line
    else:
        body.rows.append(last)
    return body


def _row(source: LatexSource, cells: list[Range], line: RowLine) -> TexRow:
    stripped = [source.strip(cell) for cell in cells]
    is_blank = len(stripped) == 1 and stripped[0][0] == stripped[0][1]
    return TexRow(stripped, line, is_blank)


def _read_rules(source: LatexSource, index: int, end: int, body: Body) -> tuple[int, RowLine]:
    """Everything between two rows, and the strongest full-width rule among it."""
    full_rules, has_midrule = 0, False
    while (index := source.skip_space(index, end)) < end:
        kind, name = source.tokens[index][:2]
        if kind is not TokenKind.COMMAND or name not in RULES:
            break
        if name in LONGTABLE_MARKS:
            body.marks.setdefault(name, len(body.rows))
        full_rules += name in FULL_RULES
        has_midrule |= name in MIDRULES
        index = skip_arguments(source, RULES[name], index + 1, end)
    if has_midrule:
        return index, RowLine.MIDRULE
    return index, (RowLine.NONE, RowLine.SINGLE, RowLine.DOUBLE)[min(full_rules, 2)]


def read_arguments(
    source: LatexSource, signature: str, index: int, end: int
) -> tuple[list[tuple[str, Range]], int]:
    """The arguments of a command with their letters in its signature, and the index behind them."""
    found: list[tuple[str, Range]] = []
    for kind in signature:
        argument: Range | None = None
        if kind == "*":
            index = source.starred(index, end)
        elif kind in "oO":
            argument, index = source.optional(index, end)
        elif kind == "l":
            length, behind = source.optional(index, end)
            index = behind if length is not None and LENGTH.fullmatch(source.raw(length)) else index
        elif kind == "p":
            index = source.parenthesised(index, end)
        elif source.skip_space(index, end) < end:
            argument, index = source.argument(index, end)
        if argument is not None:
            found.append((kind, argument))
    return found, index


def skip_arguments(source: LatexSource, signature: str, index: int, end: int) -> int:
    """Behind the arguments of a command."""
    return read_arguments(source, signature, index, end)[1]
