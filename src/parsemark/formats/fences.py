"""Code fences: language models wrap tables in them, and programs in them are full of pipes and commas."""

from __future__ import annotations

import re

from parsemark.formats.lines import Line, split_lines

_FENCE = re.compile(r"\s*+(`{3,}+|~{3,}+)\s*+([\w+.-]*+)\s*+")
_OPENED = frozenset(
    {"", "markdown", "md", "html", "xml", "latex", "tex", "csv", "tsv", "text", "txt", "plain", "plaintext"}
)


def unfenced(text: str) -> str:
    """The text with fences as spaces, and code of other languages than those of tables as spaces too.

    Offsets stay the same. A fence that is never closed is blanked alone.
    """
    if "```" not in text and "~~~" not in text:
        return text
    characters: list[str] = []
    for line, blank in _marked(split_lines(text)):
        characters.append(" " * len(line.text) if blank else line.text)
        characters.append(text[line.end : _next_start(text, line.end)])
    return "".join(characters)


def _marked(lines: list[Line]) -> list[tuple[Line, bool]]:
    """Each line with whether it is to be blanked."""
    marked = [(line, False) for line in lines]
    opened: tuple[int, str, str] | None = None
    for index, line in enumerate(lines):
        fence = _FENCE.fullmatch(line.text)
        if fence is None:
            continue
        marked[index] = (line, True)
        marks, language = fence.group(1), fence.group(2).lower()
        if opened is None:
            opened = (index, marks, language)
        elif not language and marks.startswith(opened[1]):
            if opened[2] not in _OPENED:
                inside = slice(opened[0], index)
                marked[inside] = [(inner, True) for inner, _ in marked[inside]]
            opened = None
    return marked


def _next_start(text: str, line_end: int) -> int:
    newline = text.find("\n", line_end)
    return len(text) if newline < 0 else newline + 1
