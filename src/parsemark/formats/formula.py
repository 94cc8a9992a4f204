r"""A formula in LaTeX as the sequence of what it shows, without how it is set.

`\left(\dfrac{a}{b}\right)` and `({a \over b})` are the same symbols in the same places. Markers keep the
structure: `frac(` … `over` …, `sqrt(` …, `^(` …, `_(` …, an accent with what it covers, and `matrix(` with
`&` and `;;` between its entries, each up to `CLOSE`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from parsemark.formats.formula_symbols import (
    ACCENTS,
    DROPPED_ENVIRONMENTS,
    MATRIX_FENCES,
    PRESENTATION,
    WITH_HIDDEN_ARGUMENT,
    show,
)
from parsemark.formats.latex.chemistry import format_chemistry
from parsemark.formats.limits import check_size

CLOSE = ")]"
"""End of a group that a marker opened; no character of a formula looks like it."""
MAX_DEPTH = 60
MAX_FORMULA_CHARS = 100_000

_TOKEN = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
_OPENING = re.compile(r"\$\$?|\\\[|\\\(")
_CLOSING = ("$$", "$", "\\]", "\\)")
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")

_GROUPED_DIGITS = re.compile(r"(?<=\d)\{,\}(?=\d{3}(?!\d))")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵃ-ᵏᵐᵒᵖᵗᵘᵛˣʸᶻʰʲʳˢˡᵀ]+")
_LOWERED = re.compile("[₀-₎ₐ-ₜᵢ-ᵥ]+")
_VULGAR = re.compile("[¼-¾⅐-⅞]")
_ROOT_OF_GROUP = re.compile(r"√\s*+\(([^()√]*)\)")
_ROOT_SIGN = re.compile(r"√\s*+(?![\s)}\]]|$)")
_CHEMISTRY = re.compile(r"\\(?:ce|chem|cf)(?![A-Za-z])\s*")

Symbols = tuple[str, ...]


def read_formula(source: str) -> Symbols:
    r"""The symbols of a formula.

    >>> read_formula(r"$x_{1}\!^2$")
    ('x', '_(', '1', ')]', '^(', '2', ')]')
    >>> read_formula(r"\tfrac12") == read_formula(r"{1 \over 2}")
    True

    Raises:
        FormatError: The formula is longer than `MAX_FORMULA_CHARS`.
    """
    check_size(source, MAX_FORMULA_CHARS)
    text = unicodedata.normalize("NFC", source.strip())
    for _ in range(2):
        text = _undelimited(text)
    text = _CHEMISTRY.sub("", _with_chemistry(_written_out(text)))
    tokens = [t for t in _TOKEN.findall(text) if not t.isspace() and t != "$"]
    symbols = _Reader(tokens).sequence(0, ())
    return _without_final_punctuation(symbols)


@dataclass
class _Reader:
    """A recursive reader over tokens; `at` is the next one."""

    tokens: list[str]
    at: int = 0

    def __post_init__(self) -> None:
        # A search for a bracket behind the last one would go to the end of the formula each time.
        self._last_bracket = max((i for i, token in enumerate(self.tokens) if token == "]"), default=-1)

    def sequence(self, depth: int, stops: tuple[str, ...]) -> list[str]:
        """Symbols up to one of `stops`, which is taken."""
        out: list[str] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token in stops or (stops and token.startswith("\\end")):
                self.at += 1
                break
            if token in ("\\over", "\\atop", "\\choose"):
                self.at += 1
                below = self.sequence(depth + 1, stops) if depth < MAX_DEPTH else []
                return ["frac(", *out, "over", *below, CLOSE]
            out += self.piece(depth)
        return out

    def piece(self, depth: int) -> list[str]:
        """One atom with nothing attached, or a run of scripts."""
        token = self.tokens[self.at]
        self.at += 1
        if token in ("^", "_", "'"):
            self.at -= 1
            return self.scripts(depth)
        if token == "{":
            return self.sequence(depth + 1, ("}",)) if depth < MAX_DEPTH else []
        if token in ("}", "~"):
            return []
        if token[0] == "\\" and len(token) > 1:
            return self.command(token, depth)
        return show(token)

    def scripts(self, depth: int) -> list[str]:
        """Sub- and superscripts in one order; primes are superscripts."""
        lower: list[str] = []
        upper: list[str] = []
        while self.at < len(self.tokens) and self.tokens[self.at] in ("^", "_", "'"):
            mark = self.tokens[self.at]
            self.at += 1
            if mark == "'":
                upper.append("'")
            elif mark == "^":
                upper += self.argument(depth)
            else:
                lower += self.argument(depth)
        found = ["_(", *lower, CLOSE] if lower else []
        return found + (["^(", *upper, CLOSE] if upper else [])

    def argument(self, depth: int) -> list[str]:
        """A group or a single atom."""
        if self.at >= len(self.tokens) or self.tokens[self.at] == "}" or depth >= MAX_DEPTH:
            return []
        return self.piece(depth + 1)

    def option(self, depth: int) -> list[str]:
        """What stands in brackets, if brackets follow."""
        if self.at >= self._last_bracket or self.tokens[self.at] != "[" or depth >= MAX_DEPTH:
            return []
        end = self.tokens.index("]", self.at)
        inner = _Reader(self.tokens[self.at + 1 : end]).sequence(depth + 1, ())
        self.at = end + 1
        return inner

    def command(self, token: str, depth: int) -> list[str]:
        """A control sequence."""
        environment = _ENVIRONMENT.fullmatch(token)
        if environment is not None:
            is_read = environment[1] == "begin" and depth < MAX_DEPTH
            return self.environment(environment[2], depth) if is_read else []
        name = token[1:].rstrip("*")
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, name, depth)
        if name in ACCENTS:
            return [f"{ACCENTS[name]}(", *self.argument(depth), CLOSE]
        if name in WITH_HIDDEN_ARGUMENT:
            self.argument(depth)
            return []
        if name in PRESENTATION:
            return []
        return show(token)

    def environment(self, name: str, depth: int) -> list[str]:
        """A matrix with its fences, or an alignment of which only the content counts."""
        name = name.rstrip("*")
        if name == "array" or name.endswith("at"):
            self.option(depth)
            self.argument(depth)
        end = f"\\end{{{name}}}"
        inner = self.sequence(depth + 1, (end, f"\\end{{{name}*}}"))
        if name in DROPPED_ENVIRONMENTS:
            return [s for s in inner if s not in ("&", ";;")]
        opening, closing = MATRIX_FENCES.get(name, ("", ""))
        entries = [*inner[:-1]] if inner[-1:] == [";;"] else inner
        return [*show(opening), "matrix(", *entries, CLOSE, *show(closing)]

    def fraction(self, name: str, depth: int) -> list[str]:
        r"""`\frac{a}{b}` of any size."""
        top = self.argument(depth)
        return ["frac(", *top, "over", *self.argument(depth), CLOSE]

    def binomial(self, name: str, depth: int) -> list[str]:
        r"""`\binom{n}{k}`: a fraction in parentheses."""
        return ["(", *self.fraction(name, depth), ")"]

    def root(self, name: str, depth: int) -> list[str]:
        r"""`\sqrt[n]{x}`."""
        degree = self.option(depth)
        index = ["^(", *degree, CLOSE] if degree else []
        return [*index, "sqrt(", *self.argument(depth), CLOSE]

    def stacked(self, name: str, depth: int) -> list[str]:
        r"""`\overset{a}{b}`: a script of `b`."""
        script = self.argument(depth)
        mark = "_(" if name == "underset" else "^("
        return [*self.argument(depth), mark, *script, CLOSE]

    def long_arrow(self, name: str, depth: int) -> list[str]:
        r"""`\xrightarrow[below]{above}`."""
        below = self.option(depth)
        above = self.argument(depth)
        lower = ["_(", *below, CLOSE] if below else []
        return ["→", *lower, *(["^(", *above, CLOSE] if above else [])]

    def modulo(self, name: str, depth: int) -> list[str]:
        r"""`\pmod{n}`."""
        return ["(", *"mod", *self.argument(depth), ")"]

    def fence(self, name: str, depth: int) -> list[str]:
        r"""`\left` and `\\right`: the bracket follows as it is; a dot is none."""
        if self.at < len(self.tokens) and self.tokens[self.at] == ".":
            self.at += 1
        return []

    def negation(self, name: str, depth: int) -> list[str]:
        r"""`\not=`."""
        negated = self.argument(depth)
        return show(unicodedata.normalize("NFC", "".join(negated) + "\u0338")) if negated else []


_SPECIAL: dict[str, Callable[[_Reader, str, int], list[str]]] = {
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"), _Reader.fraction),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), _Reader.binomial),
    "sqrt": _Reader.root,
    **dict.fromkeys(("overset", "underset", "stackrel"), _Reader.stacked),
    **dict.fromkeys(("xrightarrow", "xlongrightarrow"), _Reader.long_arrow),
    **dict.fromkeys(("pmod", "pod"), _Reader.modulo),
    **dict.fromkeys(("left", "right", "middle"), _Reader.fence),
    "not": _Reader.negation,
}


def _undelimited(text: str) -> str:
    """The formula without the dollars or brackets around it."""
    opening = _OPENING.match(text)
    text = text[opening.end() :].strip() if opening else text
    closing = next((mark for mark in _CLOSING if text.endswith(mark)), "")
    return text.removesuffix(closing).strip()


def _written_out(text: str) -> str:
    r"""The formula with the scripts, roots and fractions of Unicode as LaTeX has them.

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


def _plain(characters: str) -> str:
    return unicodedata.normalize("NFKC", characters)


def _with_chemistry(text: str) -> str:
    r"""The formula with `\ce{…}` written out as ordinary LaTeX."""
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
