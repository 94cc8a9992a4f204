"""The text of a cell as a reader of the page sees it, from its characters and their places.

TeX sets neither blanks nor scripts as such: a blank is a gap, a footnote mark is a small glyph above the
line, and an accent of an old font is a glyph of its own. What is written here has the notation of
`parsemark.formats` (`x^2`, `10^{-3}`), so that it can stand beside texts that were read from a source.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from parsemark.model import Box
from parsemark.pdf.text import LINE_END_HYPHEN

UNKNOWN = "\ufffd"
"""A glyph of which the PDF does not say what it means."""
GAP = 0.16
"""A gap of this share of the font's size is a blank; kerns are smaller, TeX's smallest spaces larger."""
SCRIPT_SIZE, SCRIPT_SHIFT = 0.9, 0.12
"""Scripts are smaller than this share of the size of their line, and stand off its baseline by that one."""
LINE_SHIFT = 0.75
"""A glyph that is off by this share of the size is on another line."""
DIVISION = "\u00ad"
"""Where a word was divided at the end of a line; its hyphen may be that of the division or its own."""

_COMBINING = {
    "´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "˜": "\u0303", "¨": "\u0308", "¯": "\u0304", "˘": "\u0306",
    "˙": "\u0307", "˚": "\u030a", "˝": "\u030b", "ˇ": "\u030c", "¸": "\u0327", "˛": "\u0328",
}  # fmt: skip
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"}


@dataclass(frozen=True, slots=True)
class Character:
    """A glyph in the frame of its text: x runs along the line, y downwards."""

    text: str
    box: Box
    """As wide as the glyph's advance, so that the next one of a word begins where it ends."""
    baseline: float
    size: float
    is_bold: bool = False


def character_of(code: int) -> str:
    """The text of a code of pdfium's; what has none is `UNKNOWN`."""
    if code == LINE_END_HYPHEN:
        return "-"
    if code < 32 or code >= 0x110000 or 0xD800 <= code < 0xE000 or 0xE000 <= code <= 0xF8FF:
        return UNKNOWN
    character = chr(code)
    return _LIGATURES.get(character, character)


def composed_text(characters: Sequence[Character]) -> str:
    """The text of characters in the order of the file: blanks, line ends, scripts and accents put in.

    >>> line = [Character("m", Box(0, 0, 8, 5), 10, 10), Character("2", Box(8, 0, 12, 3), 6, 7)]
    >>> composed_text([*line, Character("a", Box(16, 0, 20, 5), 10, 10)])
    'm^2 a'
    """
    seen = [c for c in characters if c.text.strip()]
    lines = [_with_accents(line) for line in _lines(seen)]
    text = ""
    for line in lines:
        part = _line_text(line)
        if text.endswith("-") and len(text) > 1 and text[-2].isalpha() and part[:1].islower():
            text = text[:-1] + DIVISION + part
        else:
            text = f"{text} {part}" if text and part else text or part
    return " ".join(text.split())


def _lines(characters: Sequence[Character]) -> list[list[Character]]:
    """Split where the text goes back to the left and down (or up): scripts go on to the right."""
    lines: list[list[Character]] = []
    for character in characters:
        line = lines[-1] if lines else []
        if not line:
            lines.append([character])
            continue
        size = max(c.size for c in line)
        shift = abs(character.baseline - _baseline(line))
        is_back = character.box.x0 < line[-1].box.x1 - 0.5 * size
        if shift > LINE_SHIFT * size and (is_back or shift > 1.5 * size):
            lines.append([character])
        else:
            line.append(character)
    return lines


def _baseline(line: Sequence[Character]) -> float:
    """Of the last glyph that has the full size."""
    size = max(c.size for c in line)
    return next(c.baseline for c in reversed(line) if c.size > SCRIPT_SIZE * size or c is line[0])


def _with_accents(line: Sequence[Character]) -> list[Character]:
    """Each accent that stands over or under a letter joined with it."""
    joined: list[Character] = []
    waiting: Character | None = None
    for character in line:
        combining = _COMBINING.get(character.text)
        if waiting is not None:
            if _overlap(waiting.box, character.box) and character.text.isalpha():
                joined.append(_accented(character, waiting))
                waiting = None
                continue
            joined.append(waiting)
            waiting = None
        if combining is None:
            joined.append(character)
        elif joined and joined[-1].text.isalpha() and _overlap(character.box, joined[-1].box):
            joined[-1] = _accented(joined[-1], character)
        else:
            waiting = character
    return joined if waiting is None else [*joined, waiting]


def _accented(letter: Character, accent: Character) -> Character:
    plain = {"ı": "i", "ȷ": "j"}.get(letter.text, letter.text)
    return replace(letter, text=unicodedata.normalize("NFC", plain + _COMBINING[accent.text]))


def _overlap(accent: Box, letter: Box) -> bool:
    shared = min(accent.x1, letter.x1) - max(accent.x0, letter.x0)
    return shared > 0.5 * min(accent.width, letter.width)


def _line_text(line: Sequence[Character]) -> str:
    if not line:
        return ""
    size = max(c.size for c in line)
    pieces: list[tuple[str, str]] = []  # the script ("", "^" or "_") and the text
    end: float | None = None
    for index, character in enumerate(line):
        script = _script(line, index, size)
        gap = 0.0 if end is None else character.box.x0 - end
        blank = " " if gap > GAP * max(character.size, 0.7 * size) else ""
        if pieces and pieces[-1][0] == script:
            pieces[-1] = (script, pieces[-1][1] + blank + character.text)
        elif blank and script == "":
            pieces.append((script, blank + character.text))
        else:
            pieces.append((script, character.text))
        end = character.box.x1
    return "".join(_written(script, text) for script, text in pieces)


def _script(line: Sequence[Character], index: int, size: float) -> str:
    character = line[index]
    if character.size >= SCRIPT_SIZE * size:
        return ""
    full = [i for i, c in enumerate(line) if c.size >= SCRIPT_SIZE * size]
    nearest = min(full, key=lambda i: (abs(i - index), i > index))
    shift = character.baseline - line[nearest].baseline
    if abs(shift) < SCRIPT_SHIFT * size:
        return ""
    return "_" if shift > 0 else "^"


def _written(script: str, text: str) -> str:
    if not script:
        return text
    return script + (text if len(text) == 1 else f"{{{text}}}")
