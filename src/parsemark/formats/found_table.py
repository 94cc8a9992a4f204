"""Where things stand in a text: its lines, and tables that were found in it."""

from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple, get_args

from parsemark.formats.limits import check_lines
from parsemark.model import Table

Format = Literal["html", "markdown", "grid", "latex", "csv", "tsv", "plain"]
"""The formats of `read_tables`; `grid` are Markdown's and reStructuredText's drawn tables."""

FORMATS: tuple[str, ...] = get_args(Format)

SUFFIXES = {
    ".html": "html", ".htm": "html", ".mmd": "markdown", ".md": "markdown", ".markdown": "markdown",
    ".tex": "latex", ".txt": "text", ".csv": "csv", ".tsv": "tsv",
}  # fmt: skip
"""Suffix of a file to what it is written in; of several files for one page the first counts."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table with its place in the text: `text[start:end] == source`."""

    table: Table
    format: str
    start: int
    end: int
    source: str


class TextLine(NamedTuple):
    """`text[start:end]`, without its line end."""

    text: str
    start: int
    end: int

    @property
    def is_blank(self) -> bool:
        """Return whether there is nothing but white space."""
        return not self.text or self.text.isspace()


def split_lines(text: str) -> list[TextLine]:
    r"""Return the lines of a text; a line end is `\n`, with or without `\r` before it."""
    check_lines(text.count("\n"))
    lines: list[TextLine] = []
    start = 0
    for piece in text.split("\n"):
        shown = piece.removesuffix("\r")
        lines.append(TextLine(shown, start, start + len(shown)))
        start += len(piece) + 1
    return lines


def blocks(lines: list[TextLine]) -> list[list[TextLine]]:
    """Return runs of lines that are not blank."""
    return [list(run) for is_blank, run in groupby(lines, lambda line: line.is_blank) if not is_blank]
