"""Markdown pipe tables.

The rows above the delimiter row are headers, the others are not; without a delimiter row nobody said, and it
is None. A header row of empty cells alone is Markdown's way to write a table without headers: it is left
out, and headers are None. A short row leaves holes, a long one widens the table.
"""

from collections import Counter
from itertools import groupby

from parsemark.formats.found_table import FoundTable, TextLine, split_lines
from parsemark.formats.limits import MAX_COLUMNS, check_grid, check_tables
from parsemark.formats.markdown.inline import inline_text
from parsemark.formats.markdown.rows import (
    delimiter_columns,
    has_pipe,
    is_framed,
    is_repeated_delimiter,
    split_row,
)
from parsemark.model import Cell, Table

_MAX_CONTINUED = 20  # how many lines one row may take where a parser put line breaks into its cells
_SHORT_CELL = 40


def find_pipe_tables(text: str) -> list[FoundTable]:
    """Every pipe table of a text."""
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
    """Runs of lines that pipes divide; a row broken over lines is joined again."""
    rows: list[TextLine] = []
    index = 0
    while index < len(lines):
        line, index = _join_continued(lines, index)
        rows.append(line)
    runs = groupby(rows, key=lambda line: has_pipe(line.text))
    return [list(run) for is_divided, run in runs if is_divided]


def _join_continued(lines: list[TextLine], index: int) -> tuple[TextLine, int]:
    """The row that begins at `index`, and the index after it."""
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
    """Without lines of prose with a pipe in them before framed rows, and after them where no rule is."""
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
    """The rows without the delimiter, and how many of them are headers, if it says so."""
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
    """The number of cells that most rows have; the delimiter row's number counts too and decides ties."""
    counts = Counter(len(split_row(line.text, position=line.start)) for line in lines)
    if announced is not None:
        counts[announced] += 1
    return max(counts, key=lambda n: (counts[n], n == announced), default=None)
