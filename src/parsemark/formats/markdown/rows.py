"""One line of a Markdown pipe table: its cells, or whether it is the delimiter row."""

import re

from parsemark.errors import FormatError
from parsemark.formats.limits import MAX_COLUMNS
from parsemark.formats.markdown.spans import protected_spans

_RULE = r":?[-–—]++:?\s*+"
_DELIMITER = re.compile(rf"\s*+\|?\s*+{_RULE}(?:[|+]\s*+{_RULE})*+\|?\s*+")
_LONG_RULE = r":?-{3,}+:?\s*+"
_LONG_DELIMITER = re.compile(rf"\s*+\|?\s*+{_LONG_RULE}(?:[|+]\s*+{_LONG_RULE})*+\|?\s*+")


def delimiter_columns(line: str) -> int | None:
    """Number of columns if the line is a delimiter row (`|---|:-:|`), else None."""
    if ("|" not in line and "+" not in line) or _DELIMITER.fullmatch(line) is None:
        return None
    inner = line.strip().removeprefix("|").removesuffix("|")
    return 1 + inner.count("|") + inner.count("+")


def is_repeated_delimiter(line: str) -> bool:
    """Whether a line further down is a rule too. Short dashes are data there: `| - | - |`."""
    return "|" in line and _LONG_DELIMITER.fullmatch(line) is not None


def split_row(line: str, expected: int | None = None, position: int | None = None) -> list[str]:
    r"""The sources of the cells of a row.

    A pipe does not divide where it is escaped, in code, or in math. Where that gives another number of cells
    than `expected` and dividing in math and code gives just that number, a dollar or a backtick was no
    delimiter, and the second reading is taken; likewise where bars around a symbol, `| |E| |`, explain it.

    >>> split_row(r"| $|E|$ | a\|b |", 2)
    [' $|E|$ ', ' a\\|b ']
    >>> split_row("| $a | b$ |", 2)
    [' $a ', ' b$ ']
    >>> split_row("| a | |E| | b |", 3)
    [' a ', ' |E| ', ' b ']
    """
    if line.count("|") > MAX_COLUMNS:
        raise FormatError(
            f"A table row has {line.count('|'):,} pipes; at most {MAX_COLUMNS:,} columns are read",
            position=position,
        )
    spans = protected_spans(line)
    cells = _split(line, [(s.start, s.end) for s in spans])
    if expected is not None and len(cells) != expected and any(s.kind != "escape" for s in spans):
        escapes = [(i, i + 2) for i in range(len(line) - 1) if line[i : i + 2] == "\\|"]
        plain = _split(line, escapes)
        if len(plain) == expected:
            return plain
    if expected is not None and len(cells) > expected:
        joined = _with_bars(cells)
        if len(joined) == expected:
            return joined
    return cells


def _with_bars(cells: list[str]) -> list[str]:
    """The cells with each triple of nothing, a tight symbol, nothing joined to the symbol between bars."""
    joined: list[str] = []
    index = 0
    while index < len(cells):
        before, symbol, after = ([*cells[index : index + 3], "", "", ""])[:3]
        is_bar = index + 2 < len(cells) and before.isspace() and after.isspace()
        if is_bar and symbol and symbol == symbol.strip():
            joined.append(f"{before}|{symbol}|{after}")
            index += 3
        else:
            joined.append(before)
            index += 1
    return joined


def has_pipe(line: str) -> bool:
    """Whether a pipe divides the line."""
    if "|" not in line:
        return False
    position = 0
    for span in protected_spans(line):
        if line.find("|", position, span.start) >= 0:
            return True
        position = span.end
    return line.find("|", position) >= 0


def is_framed(line: str) -> bool:
    """Whether the line begins with a pipe."""
    return line.lstrip().startswith("|")


def _split(line: str, protected: list[tuple[int, int]]) -> list[str]:
    """The parts between the pipes outside `protected`, without the outer pipes."""
    cuts: list[int] = []
    position = 0
    for start, end in [*protected, (len(line), len(line))]:
        cut = line.find("|", position, start)
        while cut >= 0:
            cuts.append(cut)
            cut = line.find("|", cut + 1, start)
        position = end
    parts: list[str] = []
    begin = 0
    for cut in cuts:
        parts.append(line[begin:cut])
        begin = cut + 1
    parts.append(line[begin:])
    if cuts and not parts[0].strip():
        parts = parts[1:]
    if len(parts) > 1 and not parts[-1].strip():
        parts = parts[:-1]
    return parts
