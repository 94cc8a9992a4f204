"""Headings that the outline or the tags of a PDF name, and that an output has as plain lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from parsemark.errors import PdfError
from parsemark.matching.words import atoms
from parsemark.model import Box
from parsemark.pdf import OutlineEntry, SeenPage, SeenWord, read_outline, read_tagged_headings

_MARKED = re.compile(
    r"^[ \t>]{0,4}\#{1,6}[ \t]+(?P<md>[^\n]+)$"
    r"|^[ \t]{0,3}(?P<under>[^\s|>#-][^\n]*)\n[ \t]{0,3}(?:=+|-+)[ \t]*$"
    r"|^[ \t]*(?P<bold>\*\*[^\n]+\*\*|__[^\n]+__|<(?:b|strong)>[^\n]+</(?:b|strong)>)[ \t]*$"
    r"|<h[1-6]\b[^>]*>(?P<html>.{0,1000}?)</h[1-6]>"
    r"|\\(?:part|chapter|(?:sub){0,2}section|(?:sub)?paragraph)\*?\{(?P<tex>[^\n]*)\}",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
"""What marks a heading: also a line that is bold as a whole."""
_FORMATS = ("md", "html", "tex")
_TAG = re.compile(r"<[^<>]*>")
_NUMBER = re.compile(
    r"^\s*(?:(?:chapter|section|part|appendix|kapitel|chapitre)\s+)?(?:\d{1,3}|[A-Z](?=[.:)\d]))(?:\.\d{1,3})*"
    r"[.:)]?\s+",
    re.IGNORECASE,
)
_LEAST, _MOST_BEFORE = 4, 14
"""Letters that a title must have, and those of a number that may stand before it."""


class LostHeading(NamedTuple):
    """A heading of a page whose mark the output lacks."""

    text: str  # as words are compared
    n_words: int
    box: Box
    span: tuple[int, int]  # of its line in the output of its page


def lost_headings(
    pdf: Path, seen: Sequence[SeenPage], texts: Sequence[str]
) -> Iterator[tuple[int, LostHeading]]:
    """Yield the headings, with the numbers of their pages, that stand as plain lines in the output of a page.

    An output that marks none of them has a format without headings, so nothing is lost in it.
    """
    # A heading is often named twice, by an outline entry and by a tag.
    entries = sorted({(entry.page, _key(_NUMBER.sub("", entry.title))) for entry in _named(pdf)})
    found = [
        (m.lastgroup, _key(_TAG.sub(" ", m[m.lastgroup or 0]))) for text in texts for m in _headings(text)
    ]
    marked, titles = Counter(key for _, key in found), {title for _, title in entries}
    if not any(how in _FORMATS and any(_is_title(key, title) for title in titles) for how, key in found):
        return
    for title, own in groupby(sorted(entries, key=lambda entry: entry[1]), key=lambda entry: entry[1]):
        pages = [page for page, _ in own]
        n_marked = sum(n for key, n in marked.items() if _is_title(key, title))
        if len(title) < _LEAST or n_marked >= len(pages):
            continue
        for page in dict.fromkeys(pages):
            if page > len(seen) or seen[page - 1].source == "none":
                continue
            text = texts[page - 1]
            is_marked = any(
                _is_title(_key(_TAG.sub(" ", m[m.lastgroup or 0])), title) for m in _headings(text)
            )
            words = _line_of(seen[page - 1], title)
            plain = None if is_marked else _plain_line(text, title)
            if words and plain is not None:
                said = " ".join(atom for word in words for atom in atoms(word.text))
                box = Box.hull(word.box for word in words)
                yield page, LostHeading(said, len(words), box, plain)


def _named(pdf: Path) -> Iterator[OutlineEntry]:
    """Yield the headings that a PDF names; a part of it that cannot be read names none."""
    for read in (read_outline, read_tagged_headings):
        try:
            yield from read(pdf)
        except PdfError:
            continue


def _headings(text: str) -> Iterator[re.Match[str]]:
    return _MARKED.finditer(text)


def _key(text: str) -> str:
    return "".join(atoms(text))


def _is_title(key: str, title: str) -> bool:
    """Return whether a line is a title, perhaps with a number before it."""
    before = key.removesuffix(title)
    return key.endswith(title) and (
        not before or (len(before) <= _MOST_BEFORE and any(map(str.isdigit, before)))
    )


def _line_of(page: SeenPage, title: str) -> list[SeenWord]:
    """Return the words of the lines of a page that are a title and nothing else; none if no line is."""
    shown = [word for word in page.words if word.shown and not word.edge and word.line >= 0]
    lines = [list(own) for _, own in groupby(shown, key=lambda word: word.line)]
    for k, line in enumerate(lines):
        for words in (line, line + lines[k + 1]) if k + 1 < len(lines) else (line,):
            if _is_title(_key(" ".join(word.text for word in words)), title):
                return words
    return []


def _plain_line(text: str, title: str) -> tuple[int, int] | None:
    """Return the place of the line of an output that is a title."""
    start = 0
    for line in text.splitlines(keepends=True):
        if len(line) <= 4 * len(title) + 40 and _is_title(_key(_TAG.sub(" ", line)), title):
            return start, start + len(line.rstrip())
        start += len(line)
    return None
