"""Code fences: language models wrap tables in them, and programs in them are full of pipes and commas."""

import re
from collections.abc import Callable
from typing import NamedTuple

from parsemark.formats.found_table import split_lines

_FENCE = re.compile(r"\s*+(`{3,}+|~{3,}+)\s*+([\w+.-]*+)\s*+")
MARKUP_LANGUAGES = frozenset({"markdown", "md", "html", "xml", "latex", "tex", "csv", "tsv"})
"""What stands in such a fence is part of the document and not code."""
TEXT_LANGUAGES = frozenset({"", "text", "txt", "plain", "plaintext"})  # what these hold may be either


class Fence(NamedTuple):
    """A fenced part, `text[start:end]` with its fences and `text[begin:stop]` without."""

    language: str
    start: int
    begin: int
    stop: int
    end: int


def read_fences(text: str) -> tuple[list[Fence], list[tuple[int, int]]]:
    """Return the fenced parts of a text, and the lines with a fence that opens or closes nothing."""
    fences: list[Fence] = []
    stray: list[tuple[int, int]] = []
    if "```" not in text and "~~~" not in text:
        return fences, stray
    opened: tuple[str, str, int, int] | None = None
    for line in split_lines(text):
        found = _FENCE.fullmatch(line.text)
        if found is None:
            continue
        marks, language = found[1], found[2].lower()
        if opened is None:
            opened = (marks, language, line.start, line.end)
        elif not language and marks.startswith(opened[0]):
            begin = min(opened[3] + 1 + text.startswith("\r", opened[3]), line.start)
            fences.append(Fence(opened[1], opened[2], begin, line.start, line.end))
            opened = None
        else:
            stray.append((line.start, line.end))
    if opened is not None:
        stray.append(opened[2:])
    return fences, stray


def unfenced(text: str) -> str:
    """Return the text with fences as spaces, and code of other languages than those of tables as spaces too.

    Offsets stay the same. A fence that is never closed is blanked alone.
    """
    fences, stray = read_fences(text)
    spans = list(stray)
    for fence in fences:
        if fence.language in MARKUP_LANGUAGES | TEXT_LANGUAGES:
            spans += [(fence.start, fence.begin), (fence.stop, fence.end)]
        else:
            spans.append((fence.start, fence.end))
    return blanked(text, spans)


def spaces(text: str) -> str:
    """Return as many spaces, in as many lines."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def blanked(text: str, spans: list[tuple[int, int]], blank: Callable[[str], str] = spaces) -> str:
    """Return the text with what lies in `spans` as spaces, of equal length and lines, or as `blank` says."""
    pieces: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if start >= position:
            pieces += [text[position:start], blank(text[start:end])]
            position = end
    return "".join([*pieces, text[position:]]) if pieces else text
