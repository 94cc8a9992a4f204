r"""A formula in LaTeX as the sequence of what it shows, without how it is set.

`\left(\dfrac{a}{b}\right)` and `({a \over b})` are the same symbols in the same places. Markers keep the
structure: `frac(` … `over` …, `sqrt(` …, `^(` …, `_(` …, an accent with what it covers, and `matrix(` with
`&` and `;;` between its entries, each up to `CLOSE`. A binomial is a column in brackets, a stack one without.
Lines that only lie below each other are one, with `NEW_LINE` where nothing else says that a statement ends.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache, partial

from parsemark.formats.latex.commands import COMMANDS, FRACTIONS, LINE_BREAKS, SIGNATURES
from parsemark.formats.latex.scanner import ALONE, LatexSource, Range, TokenKind
from parsemark.formats.latex.scientific import format_chemistry
from parsemark.formats.latex.symbols import symbol
from parsemark.formats.limits import check_size

CLOSE = ")]"  # end of a group that a marker opened; no character of a formula looks like it
NEW_LINE = "¶"  # where a line ends and another statement begins
GAP = "gap"  # between a value and its condition behind a brace
MAX_DEPTH = 60
MAX_FORMULA_CHARS = 100_000
_MAX_REMEMBERED_CHARS = 1_000

_OPENING = re.compile(r"\$\$?|\\\[|\\\(")
_CLOSING = ("$$", "$", "\\]", "\\)")

_GROUPED_DIGITS = re.compile(r"(?<=\d)\{,\}(?=\d{3}(?!\d))")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵃ-ᵏᵐᵒᵖᵗᵘᵛˣʸᶻʰʲʳˢˡᵀ]+")
_LOWERED = re.compile("[₀-₎ₐ-ₜᵢ-ᵥ]+")
_VULGAR = re.compile("[¼-¾⅐-⅞]")
_ROOT_OF_GROUP = re.compile(r"√\s*+\(([^()√]*)\)")
_ROOT_SIGN = re.compile(r"√\s*+(?![\s)}\]]|$)")
_CHEMISTRY = re.compile(r"\\(?:ce|chem|cf)(?![A-Za-z])\s*")

_ACCENTS = COMMANDS["formula_accents"]  # marks on a symbol, which here stay apart from it
_WRAPPERS = frozenset(COMMANDS["listed"]["formula_wrappers"].split())
"""Commands that show what they wrap, besides those of `SIGNATURES`."""
_HIDDEN = frozenset(["tag", "mspace"])
"""Commands whose argument is no part of the formula, besides those of `SIGNATURES`."""
_DROPPED_ENVIRONMENTS = frozenset(COMMANDS["listed"]["formula_layout"].split())
"""Environments that only lay lines out."""
_FENCES = {name: (fences[0], fences[1]) for name, fences in COMMANDS["formula_fences"].items()}
_STACKED_BY = {"over": None, "atop": ("", ""), "choose": ("(", ")"), "brace": ("{", "}"), "brack": ("[", "]")}
"""Commands between what stands above and below, and the brackets around both; None is a fraction."""
_TRANSPOSED = frozenset(["⊤", "⊺"])
_BEGINS_ANEW = frozenset("=<>≤≥≠∼≈≡∈→←⇒⇔∝+-·×/,;.≃≅±")
"""What goes on with the line above, or says itself that the line goes on."""
_WORDS = {"mod": "mod", "bmod": "mod", "backslash": "∖", "star": "⋆", "&": "\ue000"}
_SEPARATORS = {"&": "&", "\ue000": "&amp"}
_KEPT = frozenset("…ϖϑϱϰℜℑ")  # characters that Unicode's compatibility would take for others
_SAME = str.maketrans({sign: one for one, signs in COMMANDS["formula_same"].items() for sign in signs})
"""Characters that are drawn for the same thing."""

Symbols = tuple[str, ...]
Read = tuple[list[str], int]  # symbols, and the index of the token behind what was read


def read_formula(source: str) -> Symbols:
    r"""Return the symbols of a formula.

    >>> read_formula(r"$x_{1}\!^2$")
    ('x', '_(', '1', ')]', '^(', '2', ')]')
    >>> read_formula(r"\tfrac12") == read_formula(r"{1 \over 2}")
    True

    Raises:
        FormatError: The formula is longer than `MAX_FORMULA_CHARS`.
    """
    check_size(source, MAX_FORMULA_CHARS)
    return _read_again(source) if len(source) <= _MAX_REMEMBERED_CHARS else _read(source)


def bare_formula(latex: str) -> str:
    """Return a formula without dollars around it, and without one pair of its other delimiters."""
    text = latex.strip().strip("$").strip()
    for left, right in (("\\[", "\\]"), ("\\(", "\\)")):
        if text.startswith(left) and text.endswith(right):
            text = text[2:-2]
    return text


def _read(source: str) -> Symbols:
    text = _undelimited(_undelimited(unicodedata.normalize("NFC", source.strip())))
    scanned = LatexSource(_CHEMISTRY.sub("", _with_chemistry(_written_out(text))), inline=True)
    symbols = _FormulaReader(scanned).sequence(scanned.whole, 0)
    return _without_final_punctuation(_laid_out(symbols))


_read_again = lru_cache(2_000)(_read)  # a truth is read once and meets many parsers


class _FormulaReader:
    """Reads ranges of a source as symbols."""

    def __init__(self, source: LatexSource) -> None:
        self.source = source

    def sequence(self, span: Range, depth: int) -> list[str]:
        """Return the symbols of a range."""
        out: list[str] = []
        index, end = span
        tokens, char, space = self.source.tokens, TokenKind.CHAR, TokenKind.SPACE
        while index < end:
            kind, text, _, _ = tokens[index]
            if kind is space or (kind is char and text not in ("'", "$")):
                out += _characters(text) if kind is char else ()
                index += 1
                continue
            if kind is TokenKind.COMMAND and text in _STACKED_BY:
                below = self.sequence((index + 1, end), depth + 1) if depth < MAX_DEPTH else []
                return _stack(out, below, _STACKED_BY[text])
            piece, index = self.piece(index, end, depth)
            out += piece
        return out

    def piece(self, index: int, end: int, depth: int) -> Read:
        """Return one atom with nothing attached, or a run of scripts."""
        kind, text = self.source.tokens[index][:2]
        read: Read = [], index + 1
        if kind is TokenKind.CHAR:
            if text == "'":
                return self.scripts(index, end, depth)
            read = _characters(text) if text != "$" else [], index + 1  # a dollar only marks a formula
        elif kind in (TokenKind.SUPER, TokenKind.SUB):
            read = self.scripts(index, end, depth)
        elif kind is TokenKind.OPEN:
            closes = self.source.partner[index]
            if closes != ALONE and depth < MAX_DEPTH:
                read = self.sequence((index + 1, min(closes, end)), depth + 1), closes + 1
        elif kind is TokenKind.ALIGN:
            read = ["&"], index + 1
        elif kind is TokenKind.BEGIN:
            read = self.environment(index, end, depth)
        elif kind is TokenKind.COMMAND:
            read = self.command(text, index + 1, end, depth)
        return read

    def scripts(self, index: int, end: int, depth: int) -> Read:
        """Return sub- and superscripts in one order; primes are superscripts."""
        lower: list[str] = []
        upper: list[str] = []
        behind = index
        while (index := self.source.skip_space(index, end)) < end:
            kind, text = self.source.tokens[index][:2]
            if kind is TokenKind.CHAR and text == "'":
                upper.append("'")
                index += 1
            elif kind is TokenKind.SUPER or kind is TokenKind.SUB:
                found, index = self.argument(index + 1, end, depth)
                (upper if kind is TokenKind.SUPER else lower).extend(found)
            else:
                break
            behind = index
        if len(upper) == 1 and upper[0] in _TRANSPOSED:
            upper = ["T"]
        return _scripts(lower, upper), behind

    def argument(self, index: int, end: int, depth: int) -> Read:
        """Return a group or a single atom."""
        index = self.source.skip_space(index, end)
        if index >= end or depth >= MAX_DEPTH or self.source.tokens[index].kind is TokenKind.CLOSE:
            return [], index
        if self.source.tokens[index].kind is TokenKind.OPEN and self.source.partner[index] == ALONE:
            return self.sequence((index + 1, end), depth + 1), end
        return self.piece(index, end, depth + 1)

    def option(self, index: int, end: int, depth: int) -> Read:
        """Return the content of the brackets that follow, if any."""
        span, index = self.source.optional(index, end)
        return self.sequence(span, depth + 1) if span and depth < MAX_DEPTH else [], index

    def command(self, name: str, index: int, end: int, depth: int) -> Read:
        """Return a control sequence; `index` is behind its name."""
        if name in ("left", "right", "middle"):  # the bracket follows as it is; a dot is none
            here = self.source.skip_space(index, end)
            is_dot = here < end and self.source.tokens[here][:2] == (TokenKind.CHAR, ".")
            return [], here + 1 if is_dot else index
        if name in _SPECIAL:
            kinds, show_all = _SPECIAL[name]
            found: list[list[str]] = []
            for kind in kinds:
                part, index = (self.option if kind == "o" else self.argument)(index, end, depth)
                found.append(part)
            return show_all(*found), index
        if name in LINE_BREAKS:
            return [";;"], self.source.skip_arguments("*l", index, end)
        if name in _WRAPPERS:
            return [], self.source.starred(index, end)
        signature = "*m" if name in _HIDDEN else SIGNATURES.get(name)
        if signature is None:
            return list(show(name)), index
        arguments, index = self.source.arguments(signature, index, end)
        shown = [span for kind, span in arguments if kind.isupper() and depth < MAX_DEPTH]
        return [s for span in shown for s in self.sequence(span, depth + 1)], index

    def environment(self, index: int, end: int, depth: int) -> Read:
        """Return a matrix with its fences, or an alignment of which only the content counts."""
        name = self.source.tokens[index].text.rstrip("*")
        closes = self.source.partner[index]
        closes = end if closes == ALONE else min(closes, end)
        if depth >= MAX_DEPTH:
            return [], index + 1
        start = index + 1
        if name == "array" or name.endswith("at"):
            start = self.source.skip_arguments("om", start, closes)
        inner = self.sequence((start, closes), depth + 1)
        if name in _DROPPED_ENVIRONMENTS:
            return ["lines(", *inner, CLOSE], closes + 1
        return _matrix(inner, _FENCES.get(name, ("", ""))), closes + 1


def _scripts(lower: list[str], upper: list[str]) -> list[str]:
    below = ["_(", *lower, CLOSE] if lower else []
    return below + (["^(", *upper, CLOSE] if upper else [])


def _stack(above: list[str], below: list[str], fences: tuple[str, str] | None) -> list[str]:
    """Stack two things: a fraction, or without a bar a column between brackets."""
    if fences is None:
        return ["frac(", *above, "over", *below, CLOSE]
    return _matrix([*above, ";;", *below], fences)


def _matrix(entries: list[str], fences: tuple[str, str]) -> list[str]:
    opening, closing = fences
    entries = entries[:-1] if entries[-1:] == [";;"] else entries
    return [*_characters(opening), "matrix(", *entries, CLOSE, *_characters(closing)]


def _general_fraction(*arguments: list[str]) -> list[str]:
    r"""Return `\genfrac(){0pt}{}{n}{k}`: with brackets, and a bar unless it has no thickness."""
    opening, closing, thickness, _, top, bottom = arguments
    if thickness[:1] == ["0"]:
        return _stack(top, bottom, ("".join(opening), "".join(closing)))
    return [*opening, *_stack(top, bottom, None), *closing]


def _negated(sign: list[str]) -> list[str]:
    return _characters(unicodedata.normalize("NFC", "".join(sign) + "\u0338")) if sign else []


_SPECIAL: dict[str, tuple[str, Callable[..., list[str]]]] = {
    **dict.fromkeys(FRACTIONS, ("mm", partial(_stack, fences=None))),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), ("mm", partial(_stack, fences=("(", ")")))),
    "genfrac": ("mmmmmm", _general_fraction),
    **{
        name: ("m", partial(_matrix, fences=_FENCES.get(name, ("", ""))))
        for name in ("substack", "matrix", "pmatrix", "cases")
    },
    "prescript": ("mm", lambda upper, lower: _scripts(lower, upper)),
    "sideset": ("mmm", lambda left, right, base: [*left, *base, *right]),
    "sqrt": ("om", lambda degree, radicand: [*_scripts([], degree), "sqrt(", *radicand, CLOSE]),
    **dict.fromkeys(("overset", "stackrel"), ("mm", lambda script, base: [*base, "^(", *script, CLOSE])),
    "underset": ("mm", lambda script, base: [*base, "_(", *script, CLOSE]),
    **dict.fromkeys(
        ("xrightarrow", "xlongrightarrow"), ("om", lambda below, above: ["→", *_scripts(below, above)])
    ),
    **dict.fromkeys(("pmod", "pod"), ("m", lambda inner: ["(", *"mod", *inner, ")"])),
    **{
        name: ("m", lambda covered, accent=accent: [f"{accent}(", *covered, CLOSE])
        for name, accent in _ACCENTS.items()
    },
    "not": ("m", _negated),
}
"""Commands with a way of their own: how their arguments are read (`o` in brackets), and what they show."""


def _laid_out(symbols: list[str]) -> list[str]:
    """Return the symbols with breaks of columns and rows where they say something.

    A matrix has them; round and square brackets around one say the same. Behind a brace columns only part a
    value from its condition. In all else they lay out lines.
    """
    out: list[str] = []
    opened: list[int] = []
    for at, sign in enumerate(symbols):
        out.append(sign)
        if len(sign) > 1 and sign.endswith("("):
            opened.append(len(out) - 1)
        elif sign == CLOSE and opened:
            begin = opened.pop()
            if out[begin] not in ("matrix(", "lines("):
                continue
            before = out[begin - 1] if begin else ""
            behind = symbols[at + 1] if at + 1 < len(symbols) else ""
            inside = out[begin + 1 : -1]
            if before == "{" and behind != "}":
                out[begin:] = ["matrix(", *_braced(inside), CLOSE]
            elif out[begin] == "lines(":
                out[begin:] = _lines(inside)
            elif before in ("(", "[") and behind in (")", "]"):
                out[begin - 1] = "("
                symbols[at + 1] = ")"
    return _lines(out)


def _braced(inside: list[str]) -> list[str]:
    """Return lines behind a brace: a gap where a column ends, unless a relation goes on or a comma is
    there.
    """
    around = zip(["", *inside], inside, [*inside[1:], ""], strict=False)
    return [
        GAP if sign == "&" else sign
        for before, sign, after in around
        if sign != "&" or _BEGINS_ANEW.isdisjoint((before, after))
    ]


def _lines(symbols: list[str]) -> list[str]:
    """Return lines as one, with `NEW_LINE` where a statement begins and nothing else says so."""
    out: list[str] = []
    depth = 0
    ended = False
    for sign in symbols:
        if not depth and sign in ("&", ";;"):
            ended = ended or sign == ";;"
            continue
        if ended and out and sign not in _BEGINS_ANEW and out[-1] not in _BEGINS_ANEW:
            out.append(NEW_LINE)
        ended = False
        depth += (len(sign) > 1 and sign.endswith("(")) - (sign == CLOSE)
        out.append(sign)
    return out


@cache
def show(name: str) -> Symbols:
    r"""Return the symbols that a command shows; a word is its letters.

    >>> show("sin"), show("alpha"), show("le"), show("foo")
    (('s', 'i', 'n'), ('α',), ('≤',), ('\\foo',))
    """
    text = _WORDS.get(name) or symbol(name)
    if text is None:
        return (f"\\{name}",) if name else ()  # a source may end with a backslash
    return tuple(_SEPARATORS.get(s, s) for s in _characters(text) if s != "&")


def _characters(text: str) -> list[str]:
    """Return the symbols that characters show, with one name for all that look the same."""
    if text.isascii() and " " not in text:
        return list(text)
    if not text.isascii():
        pieces = (c if c in _KEPT else unicodedata.normalize("NFKC", c) for c in text)
        text = "".join(pieces).translate(_SAME)
    return [c for c in text if not c.isspace()]


def _undelimited(text: str) -> str:
    """Return the formula without the dollars or brackets around it."""
    opening = _OPENING.match(text)
    text = text[opening.end() :].strip() if opening else text
    closing = next((mark for mark in _CLOSING if text.endswith(mark)), "")
    return text.removesuffix(closing).strip()


def _written_out(text: str) -> str:
    r"""Return the formula with the scripts, roots and fractions of Unicode as LaTeX has them.

    >>> _written_out("x² a⁻¹ ½ √(x+1) √π 1{,}000")
    'x^{2} a^{−1} \\frac{1}{2} \\sqrt{x+1} \\sqrt π 1000'
    """
    text = _GROUPED_DIGITS.sub("", text)
    if text.isascii():
        return text
    text = _RAISED.sub(lambda found: f"^{{{_plain(found[0])}}}", text)
    text = _LOWERED.sub(lambda found: f"_{{{_plain(found[0])}}}", text)
    text = _VULGAR.sub(lambda found: "\\frac{{{}}}{{{}}}".format(*_plain(found[0]).split("⁄")), text)
    return _ROOT_SIGN.sub(r"\\sqrt ", _ROOT_OF_GROUP.sub(r"\\sqrt{\1}", text))


_plain = partial(unicodedata.normalize, "NFKC")


def _with_chemistry(text: str) -> str:
    r"""Return the formula with `\ce{…}` written out as ordinary LaTeX."""
    pieces: list[str] = []
    end = 0
    for found in _CHEMISTRY.finditer(text):
        start = found.end()
        if start < end or text[start : start + 1] != "{":
            continue
        level, at = 0, start
        while at < len(text):
            level += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
            if level == 0:
                break
        inner = text[start + 1 : at - 1]
        # What is in dollars inside of \ce is math already.
        written = "".join(p if k % 2 else format_chemistry(p) for k, p in enumerate(inner.split("$")))
        pieces += [text[end : found.start()], "{", written, "}"]
        end = at
    return "".join([*pieces, text[end:]])


def _without_final_punctuation(symbols: list[str]) -> Symbols:
    start, end = 0, len(symbols)
    while end and symbols[end - 1] in (".", ",", ";", ";;", "&"):
        end -= 1
    while start < end and symbols[start] in ("&", ";;"):
        start += 1
    return tuple(symbols[start:end])
