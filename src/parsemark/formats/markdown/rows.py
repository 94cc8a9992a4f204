"""One line of a Markdown pipe table: its cells, or whether it is the delimiter row."""

import re
from itertools import chain, pairwise

from parsemark.errors import FormatError
from parsemark.formats.limits import MAX_COLUMNS
from parsemark.formats.markdown.spans import protected_spans

_PIPE = re.compile(r"\|")
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
        why = f"A table row has {line.count('|'):,} pipes; at most {MAX_COLUMNS:,} columns are read"
        raise FormatError(why, position=position)
    spans = protected_spans(line)
    cells = _split(line, [(s.start, s.end) for s in spans])
    if expected is None or len(cells) == expected:
        return cells
    if any(s.kind != "escape" for s in spans):
        escapes = [(i, i + 2) for i in range(len(line) - 1) if line[i : i + 2] == "\\|"]
        if len(plain := _split(line, escapes)) == expected:
            return plain
    joined = _with_bars(cells)
    return joined if len(joined) == expected else cells


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
    return "|" in line and bool(_cuts(line, [(s.start, s.end) for s in protected_spans(line)]))


def is_framed(line: str) -> bool:
    """Whether the line begins with a pipe."""
    return line.lstrip().startswith("|")


def _cuts(line: str, protected: list[tuple[int, int]]) -> list[int]:
    """Where the pipes outside `protected` stand."""
    edges = [0, *chain(*protected), len(line)]
    free = zip(edges[::2], edges[1::2], strict=True)
    return [found.start() for start, end in free for found in _PIPE.finditer(line, start, end)]


def _split(line: str, protected: list[tuple[int, int]]) -> list[str]:
    """The parts between the pipes outside `protected`, without the outer pipes."""
    cuts = _cuts(line, protected)
    parts = [line[begin + 1 : end] for begin, end in pairwise([-1, *cuts, len(line)])]
    if cuts and not parts[0].strip():
        parts = parts[1:]
    if len(parts) > 1 and not parts[-1].strip():
        parts = parts[:-1]
    return parts
