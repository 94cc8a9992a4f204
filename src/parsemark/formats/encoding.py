"""Bytes of a file as text: UTF-8, or UTF-16 where a byte order mark says so (as spreadsheets write it)."""

from __future__ import annotations

import codecs

from parsemark.errors import FormatError

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decoded(data: bytes) -> str:
    """The text; a byte order mark of UTF-8 stays.

    Nothing is guessed and nothing replaced: a truth with a wrong letter is worse than none.

    Raises:
        FormatError: It is in another encoding, or no text.

    >>> decoded("Réponse".encode("utf-16"))
    'Réponse'
    """
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"The file is not UTF-8 text (line {line}). Save it as UTF-8", position=error.start
        ) from error
