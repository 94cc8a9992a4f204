"""A text as lines that know where they are."""

from __future__ import annotations

from typing import NamedTuple

from parsemark.formats.limits import check_lines


class TextLine(NamedTuple):
    """`text[start:end]`, without its line end."""

    text: str
    start: int
    end: int

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but white space."""
        return not self.text or self.text.isspace()


def split_lines(text: str) -> list[TextLine]:
    r"""The lines of a text; a line end is `\n`, with or without `\r` before it."""
    check_lines(text.count("\n"))
    lines: list[TextLine] = []
    start = 0
    for piece in text.split("\n"):
        shown = piece.removesuffix("\r")
        lines.append(TextLine(shown, start, start + len(shown)))
        start += len(piece) + 1
    return lines


def blocks(lines: list[TextLine]) -> list[list[TextLine]]:
    """Runs of lines that are not blank."""
    found: list[list[TextLine]] = []
    current: list[TextLine] = []
    for line in lines:
        if not line.is_blank:
            current.append(line)
        elif current:
            found.append(current)
            current = []
    return [*found, current] if current else found
