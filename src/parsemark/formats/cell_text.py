"""How the text of a cell looks, whatever format it came from.

A cell's text is *clean*: lines are separated by one newline, none is empty, and inside a line words are
separated by one space. White space carries no meaning in any table format, so all readers agree on this.
"""

import codecs
from dataclasses import replace
from unicodedata import normalize

from parsemark.errors import FormatError
from parsemark.formats.limits import MAX_CELL_CHARS
from parsemark.model import Table

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_CONTROLS = dict.fromkeys((*range(9), 11, *range(14, 32), 127), REPLACEMENT)
_SURROGATES = range(0xD800, 0xE000)
UNSEEN = dict.fromkeys((0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x2060, 0x2065), 0xFE0E, 0xFE0F, 0xFEFF))
"""Soft hyphens, joiners and what divides without width, marks of direction and of the form of a sign."""


def clean(text: str) -> str:
    r"""Return the clean form of a cell's text.

    >>> clean("  a  b \n\n c\u00a0d ")
    'a b\nc d'
    """
    if "\n" not in text:
        return " ".join(text.split())
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def flat(text: str) -> str:
    r"""Return the text of a cell as it is compared: single spaces, accents with their letters (NFC), nothing
    unseen.

    A truth may hold a thin space that every reader folds, and where a cell's text is broken into lines is up
    to the page's width: one side must not have what the other has lost. Nor does anybody see whether an
    accent is a character of its own, as some keyboards and file systems have it, or a soft hyphen in a line.

    >>> flat("\u200be\u0301te\u0301\u00a020\u00ad24")
    'été 2024'
    """
    if text.isascii():
        return " ".join(text.split())
    return normalize("NFC", " ".join(text.translate(UNSEEN).split()))


def flat_table(table: Table) -> Table:
    """Return the table with flat texts."""
    if all(cell.text == flat(cell.text) for cell in table.cells):
        return table
    return replace(table, cells=tuple(replace(cell, text=flat(cell.text)) for cell in table.cells))


def clean_limited(text: str, position: int | None = None) -> str:
    """Return `clean`, refusing a cell that is too long."""
    check_cell(text, position)
    return clean(text)


def check_cell(text: str, position: int | None = None) -> None:
    """Refuse the text of a cell that is too long."""
    if len(text) > MAX_CELL_CHARS:
        raise FormatError(
            f"A cell has {len(text):,} characters; at most {MAX_CELL_CHARS:,} are read", position=position
        )


def without_mark(text: str) -> str:
    r"""Return the text of a file without its byte order mark; an empty line is there instead, so offsets
    stay.

    >>> without_mark("\ufeffa")
    '\na'
    """
    return "\n" + text[1:] if text.startswith("\ufeff") else text


def without_controls(text: str) -> str:
    r"""Return the text with each control character and lone surrogate replaced by U+FFFD; offsets stay the
    same.

    >>> without_controls("a\x00b\ud800\n")
    'a\ufffdb\ufffd\n'
    """
    if not text.isprintable():
        text = without_mark(text).translate(_CONTROLS)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            text = "".join(REPLACEMENT if ord(c) in _SURROGATES else c for c in text)
    return text


_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decoded(data: bytes) -> str:
    """Return the text; a byte order mark of UTF-8 stays. Raise FormatError where it is in another encoding,
    or no text.

    Nothing is guessed and nothing replaced: a truth with a wrong letter is worse than none.

    >>> decoded("Réponse".encode("utf-16"))
    'Réponse'
    """
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        why = f"The file is not UTF-8 text (line {line}). Save it as UTF-8"
        raise FormatError(why, position=error.start) from error
