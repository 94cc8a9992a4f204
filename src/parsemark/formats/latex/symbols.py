r"""Commands that stand for characters: the one table of symbols, for all that reads LaTeX.

It is data, `symbols.tsv` (from pylatexenc's and the W3C's tables, with what these lack or have in a way that
reads worse). `latex_to_text` prints a symbol as it is there, `fold_notation` folds that text, and
`read_formula` takes its characters: `fold(latex_to_text(x)) == fold(x)` for every name.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib.resources import files

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "d": "\u0323", "b": "\u0331", "r": "\u030a",
    "k": "\u0328", "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303",
    "bar": "\u0304", "dot": "\u0307", "ddot": "\u0308", "dddot": "\u20db", "check": "\u030c",
    "breve": "\u0306", "acute": "\u0301", "grave": "\u0300", "mathring": "\u030a", "vec": "\u20d7",
    "overrightarrow": "\u20d7", "overline": "\u0304", "widecheck": "\u030c",
}  # fmt: skip
"""Accent commands to combining characters."""

ACCENT_SIGNS = {
    "\u0301": "´", "\u0300": "`", "\u0302": "ˆ", "\u0308": "¨", "\u0303": "~", "\u0304": "¯", "\u0307": "˙",
    "\u0306": "˘", "\u030c": "ˇ", "\u030b": "˝", "\u0327": "¸", "\u030a": "˚", "\u0328": "˛",
}  # fmt: skip
r"""What an accent over nothing prints: a tilde as `\textasciitilde` has it, since `\~{}` is the usual way to
write a home folder; the circumflex of its own, since `^` is a script here."""

_FUNCTIONS = """
arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max
min Pr sec sin sinh sup tan tanh argmax argmin softmax sign
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
r"""Commands that print their own name."""

_DINGBATS = {
    37: "☎", 42: "☛", 43: "☞", 72: "★", 108: "●", 110: "■", 115: "▲", 116: "▼", 117: "◆", 119: "◗",
    168: "♣", 169: "♦", 170: "♥", 171: "♠", 212: "→", 213: "↔", 214: "↕",
}  # fmt: skip


@cache
def _table() -> dict[str, str]:
    """Name to text of every symbol."""
    lines = files("parsemark.formats.latex").joinpath("symbols.tsv").read_text("utf-8").splitlines()
    table = {name: text for name, _, text in (line.partition("\t") for line in lines)}
    return {**table, **{name: name for name in FUNCTIONS}, **dict.fromkeys(" \n\t", " ")}


def symbol(name: str) -> str | None:
    r"""The text of a command without arguments, or None where it is not a symbol.

    >>> symbol("alpha"), symbol("checkmark"), symbol("log"), symbol("textbf")
    ('α', '✓', 'log', None)
    """
    return _table().get(name)


def accented(base: str, accent: str) -> str:
    r"""The first character of `base` with a combining accent.

    >>> accented("u", ACCENTS["bar"])
    'ū'
    """
    if not base:
        return ""
    plain = {"ı": "i", "ȷ": "j"}.get(base[0], base[0])
    return unicodedata.normalize("NFC", plain + accent) + base[1:]


def dingbat(code: int) -> str:
    r"""The character of pifont's `\ding{code}`.

    >>> dingbat(51), dingbat(55), dingbat(172)
    ('✓', '✗', '①')
    """
    if code in _DINGBATS:
        return _DINGBATS[code]
    for first, last, start in ((33, 126, 0x2701), (161, 167, 0x2761), (172, 181, 0x2460), (182, 211, 0x2776)):
        if first <= code <= last:
            return chr(start + code - first)
    return chr(0x2798 + code - 216) if 216 <= code <= 254 else ""
