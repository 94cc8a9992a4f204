"""Markdown pipe tables.

The rows above the delimiter row are headers, the others are not; without a delimiter row this is unknown, and
it is None. A header row of empty cells alone is Markdown's way to write a table without headers: it is left
out, and headers are None. A short row leaves holes, a long one widens the table.
"""

import re
from collections import Counter
from itertools import chain, groupby, pairwise

from parsemark.errors import FormatError
from parsemark.formats.found_table import FoundTable, TextLine, split_lines
from parsemark.formats.limits import MAX_COLUMNS, check_grid, check_tables
from parsemark.formats.markdown.inline import inline_text, protected_spans
from parsemark.model import Cell, Table

_MAX_CONTINUED = 20  # how many lines one row may take where a parser put line breaks into its cells
_SHORT_CELL = 40


def find_pipe_tables(text: str) -> list[FoundTable]:
    """Return every pipe table of a text."""
    found: list[FoundTable] = []
    for block in _pipe_blocks(split_lines(text)):
        trimmed = _trimmed(block)
        if _is_table(trimmed):
            start, end = trimmed[0].start, trimmed[-1].end
            table = _read_block(trimmed)
            check_tables(len(found) + 1, start)
            if table.n_cells:
                found.append(FoundTable(table, "markdown", start, end, text[start:end]))
    return found


def _pipe_blocks(lines: list[TextLine]) -> list[list[TextLine]]:
    """Return runs of lines that pipes divide; a row broken over lines is joined again."""
    rows: list[TextLine] = []
    index = 0
    while index < len(lines):
        line, index = _join_continued(lines, index)
        rows.append(line)
    runs = groupby(rows, key=lambda line: has_pipe(line.text))
    return [list(run) for is_divided, run in runs if is_divided]


def _join_continued(lines: list[TextLine], index: int) -> tuple[TextLine, int]:
    """Return the row that begins at `index`, and the index after it."""
    line = lines[index]
    if not is_framed(line.text) or line.text.rstrip().endswith("|"):
        return line, index + 1
    for last in range(index + 1, min(index + _MAX_CONTINUED, len(lines))):
        text = lines[last].text.strip()
        if not text or text.startswith("|"):
            break
        if text.endswith("|"):
            joined = "<br>".join(part.text for part in lines[index : last + 1])
            return TextLine(joined, line.start, lines[last].end), last + 1
    return line, index + 1


def _trimmed(block: list[TextLine]) -> list[TextLine]:
    """Drop lines of prose with a pipe in them before framed rows, and after them where no rule is."""
    framed = [i for i, line in enumerate(block) if is_framed(line.text)]
    delimiter = _delimiter_index(block)
    if delimiter is not None:
        is_like_header = delimiter > 0 and is_framed(block[delimiter - 1].text)
        return block[framed[0] :] if is_like_header else block
    return block[framed[0] : framed[-1] + 1] if len(framed) >= 2 else block


def _delimiter_index(block: list[TextLine]) -> int | None:
    return next((i for i, line in enumerate(block) if delimiter_columns(line.text) is not None), None)


def _is_table(block: list[TextLine]) -> bool:
    if _delimiter_index(block) is not None:
        return len(block) > 1
    if len(block) < 2:
        return False
    if all(is_framed(line.text) for line in block):
        return True
    rows = [split_row(line.text, position=line.start) for line in block]
    n_cols = len(rows[0])
    if any(len(row) != n_cols for row in rows) or n_cols < 2:
        return False
    is_short = all(len(cell.strip()) <= _SHORT_CELL for row in rows for cell in row)
    return n_cols >= 3 or (len(block) >= 3 and is_short)


_Rows = list[tuple[TextLine, list[str]]]  # lines, each with the sources of its cells


def _read_block(block: list[TextLine]) -> Table:
    rows, n_headers = _rows(block)
    n_cols = max((len(cells) for _, cells in rows), default=0)
    check_grid(len(rows), min(n_cols, MAX_COLUMNS + 1), block[0].start)
    cells: list[Cell] = []
    for r, (line, sources) in enumerate(rows):
        header = None if n_headers is None else r < n_headers
        cells += [Cell(r, c, inline_text(s, line.start), header=header) for c, s in enumerate(sources)]
    return Table(len(rows), n_cols, tuple(cells))


def _rows(block: list[TextLine]) -> tuple[_Rows, int | None]:
    """Return the rows without the delimiter, and how many of them are headers, if it says so."""
    delimiter = _delimiter_index(block)
    if delimiter is None:
        usual = _usual_count(block)
        return [(line, split_row(line.text, usual, line.start)) for line in block], None
    body = [line for line in block[delimiter + 1 :] if not is_repeated_delimiter(line.text)]
    usual = _usual_count(body, delimiter_columns(block[delimiter].text))
    rows = [(line, split_row(line.text, usual, line.start)) for line in block[:delimiter] + body]
    if all(not cell.strip() for _, cells in rows[:delimiter] for cell in cells):
        return rows[delimiter:], None
    return rows, delimiter


def _usual_count(lines: list[TextLine], announced: int | None = None) -> int | None:
    """Return the number of cells that most rows have; the delimiter row's number counts too and decides
    ties.
    """
    counts = Counter(len(split_row(line.text, position=line.start)) for line in lines)
    if announced is not None:
        counts[announced] += 1
    return max(counts, key=lambda n: (counts[n], n == announced), default=None)


_PIPE = re.compile(r"\|")
_RULE = r":?[-–—]++:?\s*+"
_DELIMITER = re.compile(rf"\s*+\|?\s*+{_RULE}(?:[|+]\s*+{_RULE})*+\|?\s*+")
_LONG_RULE = r":?-{3,}+:?\s*+"
_LONG_DELIMITER = re.compile(rf"\s*+\|?\s*+{_LONG_RULE}(?:[|+]\s*+{_LONG_RULE})*+\|?\s*+")


def delimiter_columns(line: str) -> int | None:
    """Return the number of columns if the line is a delimiter row (`|---|:-:|`), else None."""
    if ("|" not in line and "+" not in line) or _DELIMITER.fullmatch(line) is None:
        return None
    inner = line.strip().removeprefix("|").removesuffix("|")
    return 1 + inner.count("|") + inner.count("+")


def is_repeated_delimiter(line: str) -> bool:
    """Return whether a line further down is a rule too. Short dashes are data there: `| - | - |`."""
    return "|" in line and _LONG_DELIMITER.fullmatch(line) is not None


def split_row(line: str, expected: int | None = None, position: int | None = None) -> list[str]:
    r"""Return the sources of the cells of a row.

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
    """Return the cells with each triple of nothing, a tight symbol, nothing joined to the symbol between
    bars.
    """
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
    """Return whether a pipe divides the line."""
    return "|" in line and bool(_cuts(line, [(s.start, s.end) for s in protected_spans(line)]))


def is_framed(line: str) -> bool:
    """Return whether the line begins with a pipe."""
    return line.lstrip().startswith("|")


def _cuts(line: str, protected: list[tuple[int, int]]) -> list[int]:
    """Return where the pipes outside `protected` stand."""
    edges = [0, *chain(*protected), len(line)]
    free = zip(edges[::2], edges[1::2], strict=True)
    return [found.start() for start, end in free for found in _PIPE.finditer(line, start, end)]


def _split(line: str, protected: list[tuple[int, int]]) -> list[str]:
    """Return the parts between the pipes outside `protected`, without the outer pipes."""
    cuts = _cuts(line, protected)
    parts = [line[begin + 1 : end] for begin, end in pairwise([-1, *cuts, len(line)])]
    if cuts and not parts[0].strip():
        parts = parts[1:]
    if len(parts) > 1 and not parts[-1].strip():
        parts = parts[:-1]
    return parts
