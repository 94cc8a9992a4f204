"""Finds every table of a text, whatever it is written in.

LaTeX and HTML are looked for first, since they announce themselves; what they cover is blanked, so that no
table is found twice and all offsets stay true. Then come drawn tables, pipe tables, and last, in what is
left, delimited and aligned text.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from parsemark.errors import FormatError, UnknownNameError
from parsemark.formats.cell_text import without_controls
from parsemark.formats.found_table import FORMATS, FoundTable
from parsemark.formats.hidden_text import seen
from parsemark.formats.html.markup import without_frame
from parsemark.formats.html.plain import PlainTable, read_plain_table
from parsemark.formats.html.tables import find_html_tables
from parsemark.formats.latex import find_latex_tables
from parsemark.formats.limits import check_size, check_tables
from parsemark.formats.markdown.fences import blanked, unfenced
from parsemark.formats.markdown.tables import find_pipe_tables
from parsemark.formats.notation import fold_notation
from parsemark.formats.text.aligned import find_aligned_tables, find_plain_tables
from parsemark.formats.text.delimited import find_csv_tables, find_delimited_tables, find_tsv_tables
from parsemark.formats.text.grid import find_drawn_tables
from parsemark.kernels.ngrams import character_ngrams, multiset_jaccard
from parsemark.model import Table

Finder = Callable[..., list[FoundTable]]

_RULED = re.compile(r"\\(?:hline|toprule|midrule|cline)\b")
_OTHER_MARKS = ("```", "~~~", "\\begin", "\\end", "\\if", "phantom", "color", "]:")
"""Without these there are no fences, no LaTeX tables, and nothing but HTML hides text."""
_MAX_LEFT_OUT = 5  # tables over a limit in one text; with more of them it is not read
_MATH_DELIMITERS = re.compile(r"(?:[\s$]|\\\[|\\\])*+")


def read_tables(text: str, format: str | None = None, *, leave_out: bool = False) -> list[FoundTable]:
    """Return every table that a reader of the text sees, in order, with its place and its format.

    Args:
        text: Anything a parser may return: a whole document or a single table.
        format: Read the text as this format alone (`html`, `markdown`, `grid`, `latex`, `csv`, `tsv`,
            `plain`); by default all of them are looked for.
        leave_out: Whether a table over a limit is left out; else nothing is read.

    Raises:
        FormatError: The text is over a limit of `parsemark.formats.limits`.
    """
    if not isinstance(text, str):
        raise FormatError(f"Tables are read from a text, not from {type(text).__name__}")
    check_size(text)
    if format is not None and format not in FORMATS:
        raise UnknownNameError("format", format, FORMATS)
    if format in (None, "html") and (plain := read_html_alone(text)) is not None:
        return [plain.found_in(text)]
    clean = without_controls(text)
    found: list[FoundTable] = []
    rest = seen(unfenced(clean) if format is None else clean, format)
    for finder in _FINDERS if format is None else [_READERS[format]]:
        new, rest = _leaving_out(finder, rest) if leave_out else (finder(rest), rest)
        found += new
        check_tables(len(found))
        rest = blanked(rest, [(f.start, f.end) for f in new])
        if not rest or rest.isspace() or (new and not without_frame("".join(rest.split()))):
            break
    found.sort(key=lambda f: f.start)
    return [FoundTable(f.table, f.format, f.start, f.end, text[f.start : f.end]) for f in found]


def read_html_alone(text: str) -> PlainTable | None:
    """Read a text that is one table in plain HTML, and has nothing that another reader would look at."""
    return None if any(mark in text for mark in _OTHER_MARKS) else read_plain_table(text)


def read_table(text: str, format: str | None = None) -> Table:
    """Return the first table of a text.

    Raises:
        FormatError: There is no table in it, or it is over a limit.
    """
    found = read_tables(text, format)
    if not found:
        kind = "table" if format is None else f"{format} table"
        raise FormatError(f"There is no {kind} in the text", position=0)
    return found[0].table


def _find_latex(text: str, *, leave_out: bool = False) -> list[FoundTable]:
    return find_latex_tables(text, leave_out=leave_out) if "\\begin" in text else []


def find_marked_up_tables(text: str, *, leave_out: bool = False) -> list[FoundTable]:
    """Return HTML and LaTeX tables; one inside a cell of the other is part of that cell.

    One over a limit may be left out, so that it costs itself and not the whole page.
    """
    html = find_html_tables(text, leave_out=leave_out)
    latex = [found for found in _find_latex(text, leave_out=leave_out) if _is_latex_table(text, found)]
    return [f for f in html if not _is_inside(f, latex)] + [f for f in latex if not _is_inside(f, html)]


def find_text_tables(text: str) -> list[FoundTable]:
    """Return drawn, pipe, delimited and aligned tables of a text without HTML and LaTeX tables.

    One over a limit is left out, so that it costs itself and not the whole page.
    """
    found: list[FoundTable] = []
    for finder in _FINDERS[1:]:
        new, text = _leaving_out(finder, text)
        found += new
        check_tables(len(found))
        text = blanked(text, [(f.start, f.end) for f in new])
    return found


def _leaving_out(finder: Finder, text: str) -> tuple[list[FoundTable], str]:
    """Return a finder's tables without those over a limit, and the text without the blocks that these are."""
    if finder in _LEAVE_OUT:
        return finder(text, leave_out=True), text
    for _ in range(_MAX_LEFT_OUT):
        try:
            return finder(text), text
        except FormatError as error:
            if error.position is None:
                raise
            start = text.rfind("\n\n", 0, error.position) + 1
            end = text.find("\n\n", error.position)
            text = blanked(text, [(start, len(text) if end < 0 else end)])
    return finder(text), text


def _is_latex_table(text: str, found: FoundTable) -> bool:
    """Return whether it is a table: not math of a Markdown cell, and not an `array` that is an equation among
    text.
    """
    line_start = text.rfind("\n", 0, found.start) + 1
    if "\n" not in found.source and text[line_start : found.start].lstrip().startswith("|"):
        return False
    if not found.source.startswith("\\begin{array}") or _RULED.search(found.source):
        return True
    return all(_MATH_DELIMITERS.fullmatch(part) for part in (text[: found.start], text[found.end :]))


def _is_inside(found: FoundTable, others: list[FoundTable]) -> bool:
    """Return whether the nearest of `others` that begins before covers the place (they are sorted and
    disjoint).
    """
    index = bisect_right(others, found.start, key=lambda other: other.start) - 1
    return index >= 0 and found.start < others[index].end


_READERS: dict[str, Finder] = {
    "latex": _find_latex, "html": find_html_tables, "grid": find_drawn_tables, "markdown": find_pipe_tables,
    "csv": find_csv_tables, "tsv": find_tsv_tables, "plain": find_plain_tables,
}  # fmt: skip
"""How a text is read whose format is known."""

_FINDERS: tuple[Finder, ...] = (
    find_marked_up_tables, find_drawn_tables, find_pipe_tables, find_delimited_tables, find_aligned_tables,
)  # fmt: skip
"""What is looked for in a text of unknown format, in this order."""
_LEAVE_OUT: tuple[Any, ...] = (find_marked_up_tables, find_html_tables, _find_latex)
"""Those that can do without a table over a limit."""


SAME = 0.8  # share of 3-grams that two representations of one table have in common


def says_the_same(source: str, table: Table) -> bool:
    """Return whether a source says what a table's cells say, or cannot be read, so that nothing gainsays it.

    The source of a table that goes on over pages says more than the part of it on one page.
    """
    try:
        tables = [read.table for read in read_tables(source)]
    except FormatError:
        return True
    found = [cell.text for read in tables for cell in read.cells]
    bags = [
        character_ngrams("".join(c for text in texts for c in fold_notation(text).casefold() if c.isalnum()))
        for texts in (found, [cell.text for cell in table.cells])
    ]
    # With as many rows it is no part of another table, and may hold commands that print nothing.
    least = SAME / 2 if sum(read.n_rows for read in tables) == table.n_rows else SAME
    return not all(bags) or multiset_jaccard(*bags) >= least
