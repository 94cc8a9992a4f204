"""HTML as it is written: tags, comments and character references, in time linear in the text.

For what works on the markup itself and needs no tree. Regular expressions such as `<b[^>]*>.*?</b>` look for
their end again and again where there is none; here each search that fails is the last of its kind.
"""

import html
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][^\s/>\x00]*+)")
_REST = re.compile(r"(?:[^>\"']|\"[^\"]*+\"|'[^']*+')*+>")
_ATTRIBUTE = re.compile(r"""([^\s/>=\"'][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]*+)))?""")
_HUGE_REFERENCE = re.compile(r"&#(?:\d{8,}+|[xX][0-9a-fA-F]{8,}+);?")
_FRAME = re.compile(r"<(?:!doctype\b[^<>]*+|/?(?:html|head|body)(?:\s[^<>]*+)?)>", re.IGNORECASE)
_QUOTED_TAG_CHARS = 2_000  # how far a tag is read with care for `>` in quotes; a longer one ends at its first


class Tag(NamedTuple):
    """A tag `text[start:end]`."""

    name: str  # in lower case
    closes: bool
    start: int
    end: int
    inside: str  # what stands between the name and `>`

    def attributes(self) -> dict[str, str]:
        """Return the attributes, names in lower case; of two with one name the last counts."""
        found = (match.groups("") for match in _ATTRIBUTE.finditer(self.inside))
        return {name.lower(): unescape("".join(values)) for name, *values in found}


def read_tags(text: str, start: int = 0) -> Iterator[Tag]:
    """Yield the tags of a text. Comments, declarations and processing instructions are tags of the name
    `!`.
    """
    position = start
    while (position := text.find("<", position)) >= 0:
        if text.startswith(("<!", "<?"), position):
            closing = "-->" if text.startswith("<!--", position) else ">"
            end = text.find(closing, position + 2)
            end = len(text) if end < 0 else end + len(closing)
            yield Tag("!", False, position, end, "")
            position = end
            continue
        found = _TAG.match(text, position)
        if found is None:
            position += 1
            continue
        rest = _REST.match(text, found.end(), found.end() + _QUOTED_TAG_CHARS)
        end = rest.end() if rest is not None else text.find(">", found.end()) + 1
        if not end:
            return
        yield Tag(found["name"].lower(), bool(found["close"]), position, end, text[found.end() : end - 1])
        position = end


def replace_tags(text: str, replacement: Callable[[Tag], str | None]) -> str:
    """Return the text with each tag replaced; None leaves it as it is."""
    pieces: list[str] = []
    position = 0
    for tag in read_tags(text):
        new = replacement(tag)
        if new is not None:
            pieces += [text[position : tag.start], new]
            position = tag.end
    return "".join([*pieces, text[position:]])


def replace_elements(text: str, name: str, replacement: Callable[[Tag], str]) -> str:
    """Return the text with each element `name` replaced, from its start tag to the next end tag of its
    name.
    """
    pieces: list[str] = []
    position = 0
    opened: Tag | None = None
    for tag in read_tags(text):
        if tag.name != name:
            continue
        if opened is None and not tag.closes:
            opened = tag
        elif opened is not None and tag.closes:
            pieces += [text[position : opened.start], replacement(opened)]
            position, opened = tag.end, None
    return "".join([*pieces, text[position:]])


def unescape(text: str) -> str:
    """Return `html.unescape`, which raises ValueError for a reference of thousands of digits."""
    return html.unescape(_HUGE_REFERENCE.sub("\ufffd", text)) if "&" in text else text


def without_frame(text: str) -> str:
    """Return the text without the tags around all of a page, which say nothing.

    >>> without_frame("<!DOCTYPE html><html lang='en'><body>A <b>page</b></body></html>")
    'A <b>page</b>'
    """
    return _FRAME.sub("", text) if "<" in text else text


_FIGURES = frozenset({"image", "picture", "figure", "formula-not-decoded"})


class Comment(NamedTuple):
    """A comment `source[start:end]`, with what it says in lower case."""

    start: int
    end: int
    word: str

    @property
    def is_figure(self) -> bool:
        """Return whether it stands for a picture (`<!-- image -->`)."""
        return self.word in _FIGURES


def read_comments(source: str) -> Iterator[Comment]:
    """Yield the comments of a text; one that is not closed is none."""
    position = 0
    while (start := source.find("<!--", position)) >= 0 and (end := source.find("-->", start + 4)) >= 0:
        position = end + 3
        yield Comment(start, position, source[start + 4 : end].strip().lower())
