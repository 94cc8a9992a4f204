r"""Well-formed tables cell by cell, without scanning the whole source.

Most tables are one environment whose braces are closed in the cell in which they are opened. There the rows
and cells can be cut out of the source with one pattern; a cell without markup is its own text, and one with
markup is scanned and printed alone, once for each distinct cell. Reading a whole source token by token gives
the same, at several times the cost, because

- a cell never depends on another: what `LatexSource` matches (groups, brackets, environments, dollars) is
  only used inside of one cell, and all groups of a cell end in it;
- an environment in a cell, a comment, `\verb`, a macro, text that a column specification adds, longtable's
  marks and whatever else is not plainly a row or a rule make `quick_table` answer None, and the source is
  read in full.

`tests/formats/test_latex_quick.py` holds the two against each other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from parsemark.errors import FormatError
from parsemark.formats.cell_text import clean
from parsemark.formats.latex.columns import ColumnSpec, read_columns
from parsemark.formats.latex.commands import LINE_BREAKS, SIGNATURES, SPACING
from parsemark.formats.latex.definitions import MAY_DEFINE
from parsemark.formats.latex.environments import TABLE_ENVIRONMENTS, column_specification
from parsemark.formats.latex.joining import PrintedCell
from parsemark.formats.latex.printer import Printer
from parsemark.formats.latex.rows import (
    FULL_RULES,
    LENGTH,
    LONGTABLE_MARKS,
    MIDRULES,
    ROW_ENDS,
    RULES,
    RowLine,
)
from parsemark.formats.latex.scanner import ALONE, LatexSource, Range, TokenKind
from parsemark.formats.latex.spans import read_spans
from parsemark.formats.latex.special import SPECIAL

_MAX_CHARS = 100_000
_MAX_CELL_CHARS = 2_000
"""Longer sources and cells are read in full, where the limits are kept."""
_MAX_CELLS = 5_000
_CACHED_CELLS = 4_096

_BEGIN = re.compile(r"[^\\{}%&]*+\\begin\{([A-Za-z]+\*?)\}")
_WORD_ENDS = "|".join(sorted((name for name in ROW_ENDS if name.isalpha()), key=len, reverse=True))
_ROW_END = rf"\\(?:\\|(?:{_WORD_ENDS})(?![A-Za-z]))"
_COMMAND = r"\\(?:[A-Za-z]++|[^A-Za-z])"
_SIDE = r"\\(?:begin|end)(?![A-Za-z])"


def _group(depth: int) -> str:
    inner = f"|{_group(depth - 1)}" if depth else ""
    return rf"\{{(?:[^\\{{}}%]++|{_COMMAND}{inner})*+\}}"


_GROUP = _group(5)
_BODY = rf"(?:[^\\{{}}%]++|(?!{_SIDE}){_COMMAND}|{_GROUP})*+"
_ENVIRONMENT = rf"\\begin\{{(?P<name>[A-Za-z]+\*?)\}}{_BODY}\\end\{{(?P=name)\}}"
_CELL = re.compile(
    rf"(?P<raw>(?:[^\\{{}}&%]++|(?!{_ROW_END}|{_SIDE}){_COMMAND}|{_GROUP}|{_ENVIRONMENT})*+)"
    rf"(?:(?P<more>&)|{_ROW_END}\*?+|(?P<last>\Z))",
    re.DOTALL,
)
_OPENINGS = {
    "oM": re.compile(rf"\s*+(?:\[[a-z]\]\s*+)?+{_GROUP}"),
    "moM": re.compile(rf"\s*+{_GROUP}\s*+(?:\[[a-z]\]\s*+)?+{_GROUP}"),
}
"""What follows the name of an environment, by the signatures of `TABLE_ENVIRONMENTS`."""
_OTHER_CELLS = frozenset({"array", "tblr", "longtblr", "talltblr"})
"""All cells in math mode, or other column specifications."""
_MARKUP = re.compile(r"[\\{}$^_~`]|--|''")
_COMMENT = re.compile(rf"({_COMMAND})|%[^\n]*+(?:\n[ \t]*+)?+", re.DOTALL)
_JOINING_COMMENT = re.compile(r"(?:\\[A-Za-z]++|[\d$])%")
"""A comment whose removal could join what stands around it to something else, or a percent sign."""
_RULE = re.compile(r"\s*+\\([A-Za-z]++)")
_ARGUMENTS = {
    "p": re.compile(r"(?:\s*+\([A-Za-z0-9., ]{0,30}\))?+"),
    "m": re.compile(rf"\s*+{_GROUP}"),
    "o": re.compile(r"(?:\s*+\[[^\[\]\\{}%&]*+\]|(?!\s*+\[))"),
    "*": re.compile(r"\*?+"),
}
_BRACKET = re.compile(r"\s*+\[")
_NO_LENGTH = re.compile(r"[{}\[&%$]|\\[^A-Za-z]")


_PRINTING = {
    name: signature
    for name, signature in SIGNATURES.items()
    if name not in SPECIAL and name not in LINE_BREAKS and name not in SPACING
}
_FONTS = frozenset(name for name, signature in _PRINTING.items() if signature == "M")
_SILENT = frozenset(name for name, signature in _PRINTING.items() if signature == "")
_CITATIONS = frozenset(name for name, signature in _PRINTING.items() if signature == "*oom")

_FORMULA = rf"\$(?!\$)(?:[^$\\{{}}%]++|{_COMMAND}|{_GROUP})*+\$(?!\$)"
_NUMBER = re.compile(r"\$\s*+([-+]?+)([\d.]++)\s*+(?:\\pm\s*+([\d.]++)\s*+)?+\$")


def _simple(depth: int) -> str:
    """Plain text, escaped characters, formulas in dollars, and commands with at most a group each."""
    inner = rf"|\{{(?:{_simple(depth - 1)})*+\}}" if depth else ""
    return rf"[^\\{{}}$^_~`'&-]++|-(?!-)|'(?!')|~|\\[%&_#]|{_FORMULA}|\\[A-Za-z]++{inner}"


_SIMPLE = re.compile(rf"(?:{_simple(3)})*+")
_SPAN = re.compile(
    r"\\(?:multicolumn\{(\d{1,3})\}\{[|lcr]++\}|multirow\{(\d{1,3})\}\{\*\})\{(.*)\}", re.DOTALL
)
_PIECE = re.compile(rf"({_FORMULA})|\\([%&_#])|\\([A-Za-z]++)\s*+(\{{[^{{}}]*+\}}|\{{)?+|[{{}}~]")


class QuickTable(NamedTuple):
    """The cells of a table where its rows have them, and its lines, as `TexGrid` has them."""

    cells: list[PrintedCell]
    lines: list[RowLine]
    blank_rows: frozenset[int]


class _NotSimpleError(Exception):
    """A piece of a cell has to be printed by `Printer`."""


class _NotQuickError(Exception):
    """The source has to be read in full."""


class _QuickCell(NamedTuple):
    text: str
    colspan: int
    rowspan: int


def quick_table(text: str) -> QuickTable | None:
    """The first table of a source if it is plain enough to be read cell by cell; None if not."""
    if len(text) > _MAX_CHARS or "\\verb" in text or "\\lstinline" in text or MAY_DEFINE.search(text):
        return None
    if "%" in text:
        if _JOINING_COMMENT.search(text):
            return None
        text = _COMMENT.sub(r"\1", text)
    begin = _BEGIN.match(text)
    arguments = _OPENINGS.get(TABLE_ENVIRONMENTS.get(begin[1], "")) if begin else None
    if begin is None or arguments is None or begin[1] in _OTHER_CELLS:
        return None
    end = text.rfind(f"\\end{{{begin[1]}}}", begin.end())
    opening = arguments.match(text, begin.end(), end) if end >= 0 else None
    if opening is None or not _is_plain_opening(begin[1], opening[0]):
        return None
    try:
        return _rows(text[opening.end() : end])
    except (_NotQuickError, FormatError):  # the full reading says what is wrong, and where
        return None


@lru_cache(256)
def _is_plain_opening(name: str, opening: str) -> bool:
    """Whether the columns of an environment add nothing to its cells."""
    source = LatexSource(opening)
    specification, _ = column_specification(source, name, *source.whole)
    return _is_closed(source) and _add_nothing(source, read_columns(source, specification))


def _add_nothing(source: LatexSource, columns: list[ColumnSpec]) -> bool:
    printer = Printer(source, SPECIAL)
    return not any(
        column.is_number
        or column.is_math
        or _has_dollar(source, column.prefix)
        or any(
            printer.text(part).strip()
            for part in (*column.before, *column.after, *column.prefix, *column.suffix)
            if printer.knows_all(part)
        )
        for column in columns
    )


def _has_dollar(source: LatexSource, parts: tuple[Range, ...]) -> bool:
    tokens = source.tokens
    return any(
        tokens[i].kind is TokenKind.MATH or tokens[i].text == "(" for a, b in parts for i in range(a, b)
    )


def _rows(body: str) -> QuickTable:
    """Rows and cells as `rows.split_body` cuts them and `cells.print_cells` prints them."""
    cells: list[PrintedCell] = []
    lines: list[RowLine] = []
    blank: list[int] = []
    row = col = n_in_row = 0
    position, line = _rules(body, 0)
    lines.append(line)
    next_cell, has_markup = _CELL.match, _MARKUP.search
    while True:
        match = next_cell(body, position)
        if match is None or len(cells) > _MAX_CELLS:
            raise _NotQuickError
        raw = match["raw"]
        n_in_row += 1
        if has_markup(raw):
            text, colspan, rowspan = _read_cell(raw.strip())
            cells.append(PrintedCell(row, col, text, rowspan, colspan))
            col += colspan
        else:
            cells.append(PrintedCell(row, col, " ".join(raw.split())))
            col += 1
        position = match.end()
        if match["more"]:
            continue
        is_blank = n_in_row == 1 and not raw.strip()
        if match["last"] is not None:
            if is_blank:
                cells.pop()
                return QuickTable(cells, lines, frozenset(blank))
            return QuickTable(cells, [*lines, RowLine.NONE], frozenset(blank))
        if is_blank:
            blank.append(row)
        position, line = _rules(body, _behind_length(body, position))
        lines.append(line)
        row, col, n_in_row = row + 1, 0, 0


def _behind_length(body: str, position: int) -> int:
    """Behind the length of a row's end or of a rule, if there is one."""
    opening = _BRACKET.match(body, position)
    if opening is None:
        return position
    closing = body.find("]", opening.end())
    inner = body[opening.end() : closing] if closing >= 0 else "{"
    if _NO_LENGTH.search(inner):
        raise _NotQuickError
    return closing + 1 if LENGTH.fullmatch(inner) else position


def _rules(body: str, position: int) -> tuple[int, RowLine]:
    """As `rows._read_rules`, for rules whose arguments are in braces."""
    full_rules, has_midrule = 0, False
    while (match := _RULE.match(body, position)) is not None and (name := match[1]) in RULES:
        if name in LONGTABLE_MARKS:
            raise _NotQuickError
        full_rules += name in FULL_RULES
        has_midrule |= name in MIDRULES
        position = match.end()
        for kind in RULES[name]:
            if kind == "l":
                position = _behind_length(body, position)
            elif (argument := _ARGUMENTS[kind].match(body, position)) is not None:
                position = argument.end()
            else:
                raise _NotQuickError
    if has_midrule:
        return position, RowLine.MIDRULE
    return position, (RowLine.NONE, RowLine.SINGLE, RowLine.DOUBLE)[min(full_rules, 2)]


@lru_cache(_CACHED_CELLS)
def _read_cell(raw: str) -> _QuickCell:
    """A cell with markup, read by itself."""
    if len(raw) > _MAX_CELL_CHARS:
        raise _NotQuickError
    span = _SPAN.fullmatch(raw)
    colspan, rowspan, inner = span.groups() if span else (None, None, raw)
    simple = _print_simple(inner)
    if simple is not None:
        return _QuickCell(clean(simple), max(1, int(colspan or 1)), int(rowspan or 1) or 1)
    source = LatexSource(raw)
    if not _is_closed(source):
        raise _NotQuickError
    spanned = read_spans(source, source.whole)
    if spanned.specification is not None:
        columns = read_columns(source, spanned.specification)[:1]
        if not _add_nothing(source, columns):
            raise _NotQuickError
    printer = Printer(source, SPECIAL)
    text = "".join(printer.text(part) for part in spanned.content)
    return _QuickCell(clean(text), spanned.colspan, spanned.rowspan)


def _print_simple(text: str) -> str | None:
    r"""What fonts, escaped characters, formulas in dollars and citations print; None for all else.

    In text mode what is printed is the pieces' texts in their order, so fonts and braces can be taken out.
    """
    if "\\multi" in text or not _SIMPLE.fullmatch(text):  # a span in a formula is the cell's
        return None
    try:
        return _PIECE.sub(_print_piece, text.replace("\n", " "))
    except _NotSimpleError:
        return None


def _print_piece(piece: re.Match[str]) -> str:
    formula, escaped, name, argument = piece.groups()
    if formula is not None:
        return _print_formula(formula)
    if name is None:
        return escaped or " " * (piece[0] == "~")
    if name in _SILENT or (name in _FONTS and argument):
        return _PIECE.sub(_print_piece, argument) if argument else ""
    if name in _CITATIONS and argument and not _MARKUP.search(argument[1:-1]):
        return ""
    raise _NotSimpleError


@lru_cache(_CACHED_CELLS)
def _print_formula(formula: str) -> str:
    """What a formula in dollars prints."""
    number = _NUMBER.fullmatch(formula)
    if number is not None:
        sign, digits, error = number.groups()
        return sign.replace("-", "−") + digits + (f" ± {error}" if error else "")
    source = LatexSource(formula)
    if not _is_closed(source):
        raise _NotSimpleError
    return Printer(source, SPECIAL).text(source.whole)


def _is_closed(source: LatexSource) -> bool:
    """Whether all groups and environments of a cell end in it, so that they do in the table too.

    The columns of a table in a cell have to be in braces: without them they would be one token, and what that
    is depends on what stands before the cell.
    """
    tokens, partner = source.tokens, source.partner
    n_open = n_close = 0
    for mark in source.marks:
        kind = tokens[mark].kind
        if kind is TokenKind.OPEN or kind is TokenKind.BEGIN:
            n_open += 1
            if partner[mark] == ALONE:
                return False
            if tokens[mark].text in TABLE_ENVIRONMENTS:
                following = source.skip_space(mark + 1, partner[mark])
                if tokens[following].text not in ("{", "["):
                    return False
        elif kind is TokenKind.CLOSE or kind is TokenKind.END:
            n_close += 1
    return n_open == n_close
