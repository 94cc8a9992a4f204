r"""The text of a Markdown cell: emphasis, links and HTML go, what they hold stays; math stays as written.

Reading is lenient where parsers are: a star that closes nothing (`0.31**`) is text, and so is a `<` that
begins no tag.
"""

from __future__ import annotations

import re

from parsemark.formats.cell_text import check_cell, clean, clean_limited
from parsemark.formats.html.text import fragment_text
from parsemark.formats.markdown.spans import match_math, protected_spans

_SPECIAL = re.compile(r"[\\`*_$<&~\[]|[\U000F0000-\U0010FFFF]")
_PLACEHOLDERS = re.compile("[\U000f0000-\U0010ffff]")
_FIRST_PLACEHOLDER = 0xF0000
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"()]*\")?\)")
_EMPHASIS = (
    re.compile(r"(?<![\w*])\*(?![\s*])([^*]*)(?<!\s)\*(?![\w*])"),
    re.compile(r"(?<!\w)\*\*(?!\s)([^*]+)(?<!\s)\*\*"),
    re.compile(r"(?<!\w)\*(?!\s)([^*]+)(?<!\s)\*(?!\w)"),
    re.compile(r"(?<![\w_])_(?![\s_])([^_]*)(?<!\s)_(?![\w_])"),
    re.compile(r"(?<!\w)__(?!\s)([^_]+)(?<!\s)__(?!\w)"),
    re.compile(r"~~(?!\s)([^~]+)(?<!\s)~~"),
)
_EMPHASISED_SIGN = re.compile(r"(?<![\w_])_([^\w\s]{1,3})_(?=\w)")
"""`_−_0.122`: CommonMark takes it for text, parsers that find a slanted minus write it all the same."""
_TO_ESCAPE = re.compile(r"[\\`*_<&|$~\[\]]")


def inline_text(source: str, position: int | None = None) -> str:
    r"""The clean text of a cell.

    >>> inline_text(r"**a\*b** <br> `x|y` $c_1$ &lt; 0.31**")
    'a*b\nx|y $c_1$ < 0.31**'
    """
    check_cell(source, position)
    if _SPECIAL.search(source) is None:
        return clean(source)
    kept: list[str] = []
    text = _hide_protected(source, kept)
    text = _LINK.sub(r"\1", text)
    for emphasis in _EMPHASIS:
        text = emphasis.sub(r"\1", text)
    text = _EMPHASISED_SIGN.sub(r"\1", text)
    if "<" in text or "&" in text:
        text = fragment_text(text, position)
    text = _PLACEHOLDERS.sub(lambda m: kept[ord(m.group()) - _FIRST_PLACEHOLDER], text)
    return clean_limited(text, position)


def escape_inline(text: str, *, brackets: bool = True) -> str:
    r"""Clean text as Markdown that `inline_text` reads back.

    Math in it stays math, unless it holds a pipe, at which most readers of Markdown would divide the cell.
    Without `brackets` these are character references: outside of cells `\[…\]` may be a formula.

    >>> escape_inline("a|b * $x_1$\n5$")
    'a\\|b \\* $x_1$<br>5\\$'
    """
    pieces: list[str] = []
    position = 0
    while (special := _TO_ESCAPE.search(text, position)) is not None:
        start = special.start()
        pieces.append(text[position:start])
        end = None if text.startswith("$$$", start) else match_math(text, start)
        if end is not None and "|" in text[start:end]:
            end = None
        if end is None:
            is_reference = not brackets and text[start] in "[]"
            pieces.append(f"&#{ord(text[start])};" if is_reference else f"\\{text[start]}")
        else:
            pieces.append(text[start:end])
        position = start + 1 if end is None else end
    pieces.append(text[position:])
    return "".join(pieces).replace("\n", "<br>")


def _hide_protected(source: str, kept: list[str]) -> str:
    """Put one private character in place of each part that is not Markdown, and remember the part."""
    pieces: list[str] = []
    position = 0
    for start, end, kind in protected_spans(source):
        pieces.append(_hide_private(source[position:start], kept))
        part = source[start:end]
        if kind == "escape":
            part = part[1]
        elif kind == "code":
            part = part.strip("`").replace("\\|", "|")
        pieces.append(_hide(part, kept))
        position = end
    pieces.append(_hide_private(source[position:], kept))
    return "".join(pieces)


def _hide_private(text: str, kept: list[str]) -> str:
    return _PLACEHOLDERS.sub(lambda m: _hide(m.group(), kept), text)


def _hide(part: str, kept: list[str]) -> str:
    kept.append(part)
    return chr(_FIRST_PLACEHOLDER + len(kept) - 1)
