"""LaTeX inside a text, folded to Unicode with `_` and `^` for scripts.

Not a TeX engine: it reads what table cells and formulas in running text contain, whoever wrote it (an
author, or a parser that mixes LaTeX into HTML or Markdown), and never fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from parsemark.formats.latex.symbols import FUNCTIONS
from parsemark.formats.notation_symbols import (
    ACCENTS,
    DINGBATS,
    HIDDEN_ARGUMENTS,
    PRESENTATION,
    symbol,
)

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|[ \t\r\n]+|.", re.DOTALL)
_OPENING = re.compile(r"\\[(\[]|(?<!\\)\$\$?")
_BEGINS_NUMBER = re.compile(r"\s*+\d")
_ENDS_WITH_COMMAND = re.compile(r"\\(?:[A-Za-z]+)?\Z")
_CLOSING = {"\\(": "\\)", "\\[": "\\]"}
_PLAIN_SCRIPT = re.compile(r"[-+]?[^\W_]+(?:\.\d+)?")
_SYMBOLIC_SCRIPT = re.compile(r"[*†‡§¶°'′∘]+")
_BARE_SCRIPT = re.compile(r"[-+]?[^\W_]+(?:\.\d+)?|[*†‡§¶°'′]+|[^\s\w{}\\^$&~]")
_LONGEST_BARE_SCRIPT = 40
_SPACES = {" ", ",", ";", ":", "!", "/", ">", "\n", "\t"}
_TEXT_IN_MATH = {"text", "textrm", "textbf", "textit", "textsf", "texttt", "mbox", "hbox", "textnormal"}
MAX_DEPTH = 40
"""Groups nested deeper than this are read flat."""


def fold_latex(text: str) -> str:
    r"""Replace LaTeX by Unicode characters.

    >>> fold_latex(r"$\alpha_{12} \leq \frac{1}{2}$ and \textbf{91.2\%}")
    'α_12≤1/2 and 91.2%'
    """
    pieces: list[str] = []
    end = 0
    for start, begin, close, behind in _formulas(text):
        pieces.append(_fold(text[end:start], math=False))
        pieces.append(_fold(text[begin:close], math=True))
        end = behind
    pieces.append(_fold(text[end:], math=False))
    return "".join(pieces)


def _formulas(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Formulas in running text: where each begins, its inside, and where it ends."""
    position = 0
    missing: set[str] = set()
    while (opening := _OPENING.search(text, position)) is not None:
        start, begin = opening.span()
        position = begin
        mark = opening[0]
        if mark in missing:
            continue
        closing = _CLOSING.get(mark, "$")
        close = text.find(closing, begin)
        while closing == "$" and close > begin and text[close - 1] == "\\":
            close = text.find(closing, close + 1)
        if close < 0:
            missing |= {mark} if mark in _CLOSING else {"$", "$$"}
        elif mark in _CLOSING:
            position = close + 2
            yield start, begin, close, position
        elif _is_math(text, begin, close):
            position = close + (2 if text.startswith("$$", close) else 1)
            yield start, begin, close, position


def _is_math(text: str, begin: int, close: int) -> bool:
    """Whether dollars stand around math, not before prices: "$5 to $6" is none, "$x$" and "$ x $" are."""
    if begin == close or (_BEGINS_NUMBER.match(text, begin) and _BEGINS_NUMBER.match(text, close + 1)):
        return False
    inside = text[begin:close]
    if inside[0].isspace():
        return inside[-1].isspace() and not inside.isspace()
    # A blank behind a command belongs to the command.
    return not inside[-1].isspace() or _ENDS_WITH_COMMAND.search(inside.rstrip()[-40:]) is not None


def _fold(text: str, math: bool) -> str:
    if not re.search(r"[\\{}^_~]|--|``|''", text):
        return re.sub(r"\s+", "", text) if math else text
    return _Reader(_TOKEN.findall(text)).sequence(math, 0)


@dataclass
class _Reader:
    """A recursive reader over tokens; `at` is the next one."""

    tokens: list[str]
    at: int = field(default=0)

    def __post_init__(self) -> None:
        # Where the last of each stands: a search behind it would go to the end of the text each time.
        self._last = dict.fromkeys("])", -1)
        self._last.update((token, index) for index, token in enumerate(self.tokens) if token in self._last)

    def sequence(self, math: bool, depth: int) -> str:
        """Everything up to the closing brace of this group."""
        out: list[str] = []
        is_function = False
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token == "}":
                if depth:
                    break
                continue
            if token in "^_" and out:
                self.at -= 1
                out.append(self.scripts(math, depth, is_function))
                continue
            piece = self.piece(token, math, depth, out[-1] if out else "")
            begins_function = math and token[1:] in FUNCTIONS
            # TeX sets a gap between the name of a function and a letter or digit beside it.
            if (is_function or begins_function) and piece[:1].isalnum() and out and out[-1][-1:].isalnum():
                piece = f" {piece}"
            if piece:
                is_function = begins_function
                out.append(piece)
        return "".join(out)

    def scripts(self, math: bool, depth: int, is_function: bool = False) -> str:
        """A run of sub- and superscripts, subscripts first, braces only where they are needed."""
        found = {"_": "", "^": ""}
        while self.at < len(self.tokens) and self.tokens[self.at] in found:
            mark = self.tokens[self.at]
            if found[mark]:
                break
            self.at += 1
            following = self.tokens[self.at] if self.at < len(self.tokens) else ""
            if not following or following.isspace():
                return _script("_", found["_"], "") + _script("^", found["^"], "") + mark
            bare = not math and following != "{" and not following.startswith("\\")
            found[mark] = self.bare_script() if bare else self.argument(math=True, depth=depth)
            if not found[mark] and bare:
                return _script("_", found["_"], mark) + _script("^", found["^"], mark) + mark
        after = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if is_function:
            after = ""
        elif math and after.isspace():  # $x_1 2$ is no $x_{12}$
            after = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""
        upper = _script("^", found["^"], after)
        return _script("_", found["_"], upper or after) + upper

    def bare_script(self) -> str:
        """A script without braces outside of math: a word, a signed number, or signs."""
        found = _BARE_SCRIPT.match("".join(self.tokens[self.at : self.at + _LONGEST_BARE_SCRIPT]))
        if found is None:
            return ""
        self.at += len(found[0])
        return found[0]

    def piece(self, token: str, math: bool, depth: int, before: str) -> str:
        """One token that is not a script."""
        if token == "{":
            return self.sequence(math, depth + 1) if depth < MAX_DEPTH else ""
        if token[0] == "\\" and len(token) > 1:
            return self.command(token[1:].rstrip("*") or "*", math, depth, before)
        if token.isspace():
            return "" if math else " "
        if token == "~":
            # A tie between two words; at the start of a word a sign for "about".
            return " " if before and not before[-1].isspace() and not math else "~"
        if token == "&":
            return " " if depth else "&"
        return token

    def command(self, name: str, math: bool, depth: int, before: str) -> str:
        """A control word or control symbol."""
        if depth >= MAX_DEPTH:
            return ""
        if name in ACCENTS and (name.isalpha() or self._begins_accent()):
            return _accented(self.argument(math, depth), ACCENTS[name])
        if not name[0].isalpha():
            return self.control_symbol(name, math)
        if name in PRESENTATION:
            return self.wrapped(name, math, depth)
        if name in HIDDEN_ARGUMENTS:
            return self.skip_arguments(HIDDEN_ARGUMENTS[name], name, depth)
        return self.named(name, math, depth, before)

    def named(self, name: str, math: bool, depth: int, before: str) -> str:
        """A command that shows something: rearranged arguments, or a symbol."""
        if name in _FRACTIONS:
            top, bottom = self.argument(math, depth), self.argument(math, depth)
            space = " " if before[-1:].isdigit() else ""
            return f"{space}{_grouped(top)}/{_grouped(bottom)}"
        rearranged = _REARRANGED.get(name)
        if rearranged is not None:
            return rearranged(self, name, math, depth)
        self.skip_space()
        found = symbol(name)
        # An unknown command keeps its name: two different ones must stay different.
        return found if found is not None else name

    def control_symbol(self, name: str, math: bool) -> str:
        r"""`\%` and its like."""
        if name == "\\":
            self.option()
            return " "
        if name in _SPACES:
            # A thin space groups digits: fold_numbers decides.
            return "\u2009" if name == "," else "" if math or name in "!/" else " "
        if name == "-":
            return ""
        # A brace is left out: in a text without LaTeX it cannot be told from one of a group.
        return {"|": "‖", "{": "", "}": "", "@": ""}.get(name, name)

    def root(self, name: str, math: bool, depth: int) -> str:
        r"""`\sqrt[n]{x}`."""
        degree = self.option()
        return f"{_script('^', degree, '')}√{_grouped(self.argument(math, depth))}"

    def text_script(self, name: str, math: bool, depth: int) -> str:
        r"""`\textsuperscript{x}` and its like."""
        mark = "^" if name in ("textsuperscript", "sp") else "_"
        return _script(mark, self.argument(math=False, depth=depth), self._peek())

    def quantity(self, name: str, math: bool, depth: int) -> str:
        r"""siunitx: `\SI{5}{m}`."""
        self.option()
        count = 2 if name in ("SI", "qty") else 1
        return " ".join(self.argument(math, depth) for _ in range(count))

    def dingbat(self, name: str, math: bool, depth: int) -> str:
        r"""`\ding{51}`."""
        number = self.argument(math, depth)
        return DINGBATS.get(number, f"ding{number}")

    def stacked(self, name: str, math: bool, depth: int) -> str:
        r"""`\overset{a}{b}`: a script of `b`."""
        script, base = self.argument(math, depth), self.argument(math, depth)
        return base + _script("_" if name == "underset" else "^", script, self._peek())

    def negated(self, name: str, math: bool, depth: int) -> str:
        r"""`\not=`."""
        return self.argument(math, depth) + "\u0338"

    def wrapped(self, name: str, math: bool, depth: int) -> str:
        """A presentation command: its options are dropped and what it wraps follows."""
        if name in ("makecell", "thead", "shortstack", "parbox", "makebox", "framebox"):
            self.option()
            if name == "parbox":
                self.argument(math, depth)
        self.skip_space()
        if name in ("left", "right", "middle") and self._peek() == ".":
            self.at += 1
            return ""
        if self._peek() == "{" and depth < MAX_DEPTH:
            self.at += 1
            return self.sequence(math and name not in _TEXT_IN_MATH, depth + 1)
        return ""

    def argument(self, math: bool, depth: int) -> str:
        """One mandatory argument: a group or a single token."""
        self.skip_space()
        if self.at >= len(self.tokens) or self._peek() == "}":
            return ""
        token = self.tokens[self.at]
        self.at += 1
        return self.piece(token, math, depth + 1, "").strip()

    def skip_arguments(self, count: int, name: str, depth: int) -> str:
        """Drop options and `count` arguments."""
        if self._peek() == "(":
            self._skip_to(")")
        self.option()
        environment = ""
        for _ in range(count):
            environment = self.argument(math=False, depth=depth)
            self.option()
        if name == "begin" and environment.rstrip("*") in ("tabular", "array", "tabularx", "minipage"):
            self.option()
            self.argument(math=False, depth=depth)
        return ""

    def option(self) -> str:
        """An optional argument in brackets, if one is here."""
        start = self.at
        self.skip_space()
        if self._peek() != "[":
            self.at = start
            return ""
        begin = self.at + 1
        self._skip_to("]")
        return "".join(self.tokens[begin : self.at - 1]).strip()

    def skip_space(self) -> None:
        """Step over white space."""
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1

    def _skip_to(self, closing: str) -> None:
        if self.at > self._last[closing]:
            self.at += 1
        else:
            self.at = self.tokens.index(closing, self.at) + 1

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _begins_accent(self) -> bool:
        following = self._peek()
        return following == "{" or following[:1].isalpha() or following[:1] == "\\"


_FRACTIONS = {"frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"}
_REARRANGED: dict[str, Callable[[_Reader, str, bool, int], str]] = {
    "sqrt": _Reader.root,
    **dict.fromkeys(("textsuperscript", "textsubscript", "sp", "sb"), _Reader.text_script),
    **dict.fromkeys(("SI", "qty", "num", "unit", "si"), _Reader.quantity),
    "ding": _Reader.dingbat,
    **dict.fromkeys(("overset", "stackrel", "underset"), _Reader.stacked),
    "not": _Reader.negated,
}


def _script(mark: str, content: str, after: str) -> str:
    content = content.strip()
    if not content:
        return ""
    if mark == "^" and _SYMBOLIC_SCRIPT.fullmatch(content):
        return content
    glued = after[:1].isalnum()
    if _PLAIN_SCRIPT.fullmatch(content) and not glued:
        return mark + content
    return f"{mark}{{{content}}}"


def _grouped(content: str) -> str:
    content = content.strip()
    return content if re.fullmatch(r"[\w.]*|\(.*\)", content) else f"({content})"


def _accented(content: str, accent: str) -> str:
    content = {"ı": "i", "ȷ": "j"}.get(content.strip(), content.strip())
    return content[:1] + accent + content[1:] if content else ""
