r"""Commands that stand for characters: the one table of symbols, for all that reads LaTeX.

It is data, `symbols.tsv` (from pylatexenc's and the W3C's tables, with what these lack or have in a way that
reads worse). `latex_to_text` prints a symbol as it is there, `fold_notation` folds that text, and
`read_formula` takes its characters: `fold(latex_to_text(x)) == fold(x)` for every name.
"""

import unicodedata
from functools import cache
from importlib.resources import files

from parsemark.formats.latex.commands import COMMANDS

ACCENTS, ACCENT_SIGNS = COMMANDS["accents"], COMMANDS["accent_signs"]
"""Accent commands to combining characters, and what an accent over nothing prints."""
FUNCTIONS = frozenset(COMMANDS["listed"]["functions"].split())  # commands that print their own name


@cache
def _table() -> dict[str, str]:
    """Return name and text of every symbol."""
    lines = files("parsemark.formats.latex").joinpath("symbols.tsv").read_text("utf-8").splitlines()
    table = {name: text for name, _, text in (line.partition("\t") for line in lines)}
    return {**table, **{name: name for name in FUNCTIONS}, **dict.fromkeys(" \n\t", " ")}


def symbol(name: str) -> str | None:
    r"""Return the text of a command without arguments, or None where it is not a symbol.

    >>> symbol("alpha"), symbol("checkmark"), symbol("log"), symbol("textbf")
    ('α', '✓', 'log', None)
    """
    return _table().get(name)


def accented(base: str, accent: str) -> str:
    r"""Return the first character of `base` with a combining accent.

    >>> accented("u", ACCENTS["bar"])
    'ū'
    """
    if not base:
        return ""
    plain = {"ı": "i", "ȷ": "j"}.get(base[0], base[0])
    return unicodedata.normalize("NFC", plain + accent) + base[1:]


def dingbat(code: int) -> str:
    r"""Return the character of pifont's `\ding{code}`.

    >>> dingbat(51), dingbat(55), dingbat(172)
    ('✓', '✗', '①')
    """
    if (known := COMMANDS["dingbats"].get(str(code))) is not None:
        return str(known)
    for first, last, start in ((33, 126, 0x2701), (161, 167, 0x2761), (172, 181, 0x2460), (182, 211, 0x2776)):
        if first <= code <= last:
            return chr(start + code - first)
    return chr(0x2798 + code - 216) if 216 <= code <= 254 else ""
