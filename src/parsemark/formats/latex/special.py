"""Commands that print in a way of their own."""

import contextlib
import unicodedata
from collections.abc import Callable
from functools import partial

from parsemark.formats.cell_text import clean_limited
from parsemark.formats.latex.commands import FRACTIONS, SUBSCRIPTS, SUPERSCRIPTS
from parsemark.formats.latex.definitions import expand, read_definitions
from parsemark.formats.latex.printer import Atom, Class, Printed, Printer, Special, fraction, join, script
from parsemark.formats.latex.scanner import LatexSource, TokenKind
from parsemark.formats.latex.scientific import CHEMISTRY_COMMANDS, UNIT_COMMANDS
from parsemark.formats.latex.symbols import ACCENT_SIGNS, ACCENTS, accented, dingbat

_ALPHABETS = {
    "mathbb": "DOUBLE-STRUCK", "mathbbm": "DOUBLE-STRUCK", "mathds": "DOUBLE-STRUCK", "Bbb": "DOUBLE-STRUCK",
    "mathcal": "SCRIPT", "mathscr": "SCRIPT", "mathfrak": "FRAKTUR",
}  # fmt: skip

_PHONETIC_LETTERS = str.maketrans(
    '@ABCDEFGHIJKLMNOPQRSTUVWXYZ:;"0123456789', "əɑβɕðɛɸɣɦɪʝʁʎɱŋɔʔʕɾʃθʊʋɯχʏʒːˑˈʉɨʌɜɥɐɒɤɵɘ"
)
"""What tipa prints for the characters that a keyboard has (Rei, *TIPA Manual*, table of shortcuts)."""
_PHONETIC_COMMANDS = {
    ":": {"t": "ʈ", "d": "ɖ", "n": "ɳ", "s": "ʂ", "z": "ʐ", "l": "ɭ", "r": "ɽ", "R": "ɻ"},
    ";": {"B": "ʙ", "G": "ɢ", "H": "ʜ", "L": "ʟ", "N": "ɴ", "R": "ʀ"},
    "!": {"b": "ɓ", "d": "ɗ", "g": "ɠ", "j": "ʄ", "G": "ʛ"},
    "*": {"k": "ʞ", "r": "ɹ", "t": "ʇ", "w": "ʍ"},
}
"""tipa's commands for retroflex letters, small capitals, implosives and turned letters."""

_NO_XSPACE = frozenset(",.'/?;:!-)")
_NO_XSPACE_COMMANDS = frozenset({" ", "/", "space", "footnote", "footnotemark", "xspace"})
r"""The exceptions of xspace.sty, beside braces and ties."""


def _accent(combining: str, printer: Printer, index: int, end: int, math: bool) -> Printed:
    base, index = printer.operand(index, end, math)
    if not base.strip():
        return Atom(ACCENT_SIGNS.get(combining, "")), index
    return Atom(accented(base, combining) if len(base) == 1 or not math else base), index


def _script(mark: str, printer: Printer, index: int, end: int, math: bool) -> Printed:
    argument, behind = printer.source.optional(index, end)
    if argument is None:
        here = printer.source.skip_space(index, end)
        if here >= end or printer.source.tokens[here].kind is not TokenKind.OPEN:
            return Atom(""), index
        argument, behind = printer.source.argument(index, end)
    return Atom(script(mark, printer.print(argument, math=False).strip())), behind


def _of(signature: str, build: Callable[..., Atom]) -> Special:
    """Return a command by the texts of its arguments: `m` an operand, `o` in brackets, `s` the same as a
    script.
    """

    def printed(printer: Printer, index: int, end: int, math: bool) -> Printed:
        texts: list[str] = []
        for kind in signature:
            if kind == "m":
                text, index = printer.operand(index, end, math)
            else:
                span, index = printer.source.optional(index, end)
                text = "" if span is None else printer.formula(span, spaced=False if kind == "s" else None)
            texts.append(text)
        return build(*texts), index

    return printed


def _root(order: str, radicand: str) -> Atom:
    inner = radicand if len(radicand) == 1 or radicand.isdecimal() else f"({radicand})"
    return Atom({"": "√", "3": "∛", "4": "∜"}.get(order, f"{script('^', order)}√") + inner)


def _in_alphabet(alphabet: str, text: str) -> Atom:
    def turned(character: str) -> str:
        if character.isascii() and character.isalnum():
            case = "DIGIT" if character.isdigit() else "CAPITAL" if character.isupper() else "SMALL"
            name = f"{case} {unicodedata.name(character).rsplit(' ', 1)[-1]}"
            for kind in (alphabet.replace("FRAKTUR", "BLACK-LETTER"), f"MATHEMATICAL {alphabet}"):
                with contextlib.suppress(KeyError):
                    return unicodedata.lookup(f"{kind} {name}")
        return character

    return Atom("".join(map(turned, text)))


def _dingbat(printer: Printer, index: int, end: int, math: bool) -> Printed:
    argument, index = printer.source.argument(index, end)
    code = printer.source.raw(argument).strip()
    return Atom(dingbat(int(code)) if code.isascii() and code.isdigit() and len(code) < 4 else code), index


def _delimiter(printer: Printer, index: int, end: int, math: bool) -> Printed:
    r"""Return `\left` and its kin: the delimiter follows, and a dot stands for none."""
    here = printer.source.skip_space(index, end)
    is_dot = here < end and printer.source.tokens[here][:2] == (TokenKind.CHAR, ".")
    return Atom(""), here + is_dot


def _negated(base: str) -> Atom:
    return Atom(unicodedata.normalize("NFC", base[:1] + "\u0338") + base[1:], Class.RELATION)


def _diagonal(printer: Printer, index: int, end: int, math: bool) -> Printed:
    """Return a cell cut by a diagonal line: its parts, with a slash for the line."""
    _, index = printer.source.optional(index, end)
    parts: list[str] = []
    while len(parts) < 3 and index < end and printer.source.tokens[index].kind is TokenKind.OPEN:
        argument, index = printer.source.argument(index, end)
        parts.append(" ".join(printer.print(argument, math).split()))
    return Atom(" / ".join(filter(None, parts))), index


def _operator(printer: Printer, index: int, end: int, math: bool) -> Printed:
    argument, index = printer.source.argument(printer.source.starred(index, end), end)
    return Atom(join(printer.atoms(argument), spaced=False), Class.FUNCTION), index


def _item(printer: Printer, index: int, end: int, math: bool) -> Printed:
    label, index = printer.source.optional(index, end)
    return Atom("\n" + (printer.print(label, math) if label else "•") + " "), index


def _length(printer: Printer, index: int, end: int, math: bool) -> Printed:
    r"""Return `\hskip 3pt`, `\kern-2pt`: a length without braces."""
    here = printer.source.skip_space(index, end)
    while here < end and printer.source.tokens[here].text in tuple("-+.0123456789"):
        here += 1
    following = printer.source.tokens[here : min(here + 2, end)]
    unit = "".join(token.text for token in following if token.kind is TokenKind.CHAR)
    behind = here + 2 if unit in ("pt", "em", "ex", "cm", "mm", "in", "mu", "sp", "bp") else here
    return Atom(" ", Class.SPACE), behind


def _rule(printer: Printer, index: int, end: int, math: bool) -> Printed:
    r"""Return `\vrule width 1pt height 2pt`."""
    tokens = printer.source.tokens
    while (here := printer.source.skip_space(index, end)) < end:
        word = "".join(t.text for t in tokens[here : min(here + 6, end)])
        key = next((k for k in ("width", "height", "depth") if word.startswith(k)), None)
        if key is None:
            break
        _, index = _length(printer, here + len(key), end, math)
    return Atom(""), index


def _xspace(printer: Printer, index: int, end: int, math: bool) -> Printed:
    r"""Return `\xspace`: a blank, unless what follows needs none. TeX has dropped the blanks of the
    source.
    """
    here = printer.source.skip_space(index, end)
    if here >= end or math:
        return Atom(""), here
    token = printer.source.tokens[here]
    if token.kind is TokenKind.COMMAND:
        needs_none = token.text in _NO_XSPACE_COMMANDS
    elif token.kind is TokenKind.CHAR:
        needs_none = token.text[0] in _NO_XSPACE
    else:
        needs_none = token.kind in (TokenKind.OPEN, TokenKind.CLOSE, TokenKind.TIE)
    return Atom("" if needs_none else " "), here


def _phonetic(printer: Printer, index: int, end: int, math: bool) -> Printed:
    r"""Return `\textipa`: characters stand for phonetic letters, and some commands mean others than
    outside.
    """
    outside, printer.special = printer.special, _PHONETIC
    try:
        text, index = printer.operand(index, end, math=False)
    finally:
        printer.special = outside
    if outside is _PHONETIC:
        return Atom(text), index  # the outer one turns all its letters
    letters = unicodedata.normalize("NFD", text).replace('""', "ˌ").translate(_PHONETIC_LETTERS)
    return Atom(unicodedata.normalize("NFC", letters)), index


SPECIAL: dict[str, Special] = {
    **UNIT_COMMANDS,
    **CHEMISTRY_COMMANDS,
    **{name: partial(_accent, combining) for name, combining in ACCENTS.items()},
    **{name: partial(_script, "^") for name in SUPERSCRIPTS},
    **{name: partial(_script, "_") for name in SUBSCRIPTS},
    **dict.fromkeys(FRACTIONS, _of("omm", lambda _, above, below: fraction(above, below))),
    **{name: _of("m", partial(_in_alphabet, alphabet)) for name, alphabet in _ALPHABETS.items()},
    **dict.fromkeys(("left", "right", "middle"), _delimiter),
    **dict.fromkeys(("diagbox", "backslashbox", "slashbox"), _diagonal),
    **dict.fromkeys(("operatorname", "operatornamewithlimits"), _operator),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), _of("mm", lambda n, k: Atom(f"({n} {k})"))),
    **dict.fromkeys(("hskip", "kern", "mkern", "mskip", "hglue"), _length),
    **dict.fromkeys(("vrule", "hrule"), _rule),
    **dict.fromkeys(("overset", "stackrel"), _of("mm", lambda above, base: Atom(base, sup=above))),
    "underset": _of("mm", lambda below, base: Atom(base, sub=below)),
    "xrightarrow": _of("sm", partial(Atom, "→", Class.RELATION)),
    "xleftarrow": _of("sm", partial(Atom, "←", Class.RELATION)),
    "sqrt": _of("om", _root),
    "ding": _dingbat,
    "not": _of("m", _negated),
    "item": _item,
    "enquote": _of("m", lambda text: Atom(f"“{text}”")),
    "xspace": _xspace,
    "textipa": _phonetic,
}
_PHONETIC: dict[str, Special] = {
    **SPECIAL,
    **{
        name: _of("m", lambda base, letters=letters: Atom(letters.get(base, base)))
        for name, letters in _PHONETIC_COMMANDS.items()
    },
}


def latex_to_text(source: str, *, math: bool = False) -> str:
    r"""Return the text that a piece of LaTeX shows; in `math` mode it is a formula without its dollars.

    Raises:
        FormatError: The source is over a limit of `parsemark.formats.limits`.

    >>> latex_to_text(r"\textbf{0.72} $\pm\,0.03$ m$^{2}$")
    '0.72 ± 0.03 m^2'
    """
    scanned = LatexSource(expand(source, read_definitions(source)))
    return clean_limited(Printer(scanned, SPECIAL).print(scanned.whole, math))
