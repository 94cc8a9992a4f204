"""Spaced tokens made uniform, and a colour for each that is drawn (steps 4 and 5)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from parsemark.errors import FormatError
from parsemark.metrics.cdm import cdm_table

Version = Literal["v1.5", "v1.6"]


@cache
def _commands(name: str, new: bool = False) -> frozenset[str]:
    """Return a list of commands, as v1.5 has it, or with what v1.6 adds."""
    tables = [cdm_table("all"), *([cdm_table("new")] if new else [])]
    names = " ".join(table.get(name, "") for table in tables).split()
    signs = " ".join(table.get(f"{name}_signs", "") for table in tables).split()
    return frozenset([*(f"\\{name}" for name in names), *signs])


_INVISIBLE, _OPTIONAL, _TWO, _TWO_INVISIBLE = map(
    _commands, ("invisible", "optional", "two", "two_invisible")
)
_LENGTH = re.compile(r"\[[-.0-9]+[ ]?[a-z]{2}\]")
_BIG = re.compile(r"(\\(?:big|Big|bigg|Bigg)[glrm]?) ([(){}|\[\]]|\\[^\s]+)")
_MAX_COLOURS = 5831  # 18³ − 1: more signs cannot be distinguished


def normalise(spaced: str, version: Version = "v1.6") -> str:
    """Return spaced tokens with one spelling, and braces around every argument."""
    new = version == "v1.6"
    is_tabular = "tabular" in spaced
    text = spaced.replace("\\pmatrix", "\\mypmatrix").replace("\\matrix", "\\mymatrix")
    for word in ("\\raggedright", "\\arraybackslash", "\\lowercase", "\\uppercase"):
        text = text.replace(word, "")
    text = re.sub(r"\\[hv]space \{ [.0-9a-z ]+ \}", "" if is_tabular else _glue, text)
    text = re.sub(r"(\\begin\{array\} )(\{ [lcr ]+ \})", lambda m: m[1] + m[2].replace(" ", ""), text)
    if is_tabular:
        text = re.sub(
            r"\\begin \{tabular\} \{ [^{}]* \}|\\begin \{tabular\}|\\end \{tabular\}"
            r"|\\cmidrule (?:\( [^()]* \) )?\{ [^{}]* \}|\\cline \{ [^{}]* \}",
            _glue,
            text,
        )
    text = " ".join(_spelt(text.split(), new))
    if new:
        text = re.sub(r"\\string \S+", _glue, text)
    text = _BIG.sub(r"\1\2", text)
    text = text.replace("\\operatorname *", "\\operatorname").replace("\\lefteqn", "")
    text = text.replace("\\footnote ", "^ ")
    text = re.sub(r"\\' [^{ ]", _glue, text)
    text = re.sub(
        r"\\parbox \{[^{}]*\}|\\raisebox \{[^{}]*\}(?: \[[^\[\]]*\])*|\{ \\char[^{}]*\}", _glue, text
    )
    if new:
        text = re.sub(r"\\rule \{[^{}]*\} \{[^{}]*\}", _glue, text)
    text = re.sub(r"\\specialrule \{[^{}]*\} \{[^{}]*\} \{[^{}]*\}", _glue, text)
    text = re.sub(r"\\(?:colorbox|textcolor|cellcolor|color) (?:\[ [^\[\]]* \] )?\{[^{}]*\}", "", text)
    return " ".join(_add_braces(text.split(), _commands("one", new)))


def _glue(match: re.Match[str]) -> str:
    return match[0].replace(" ", "")


def _spelt(tokens: Sequence[str], new: bool) -> list[str]:
    out: list[str] = []
    dots, names = _commands("dots", new), _commands("names", new)
    for index, token in enumerate(tokens):
        if new and token in ("--", "---"):
            out += token
        elif token in dots:
            out += (".", ".", ".")
        elif token in names:
            letters = token[1:].removeprefix("b").removeprefix("p") if token.endswith("mod") else token[1:]
            out += ("\\mathrm", "{", *letters, "}")
        elif not new and index and out and out[-1] == "\\not":
            out[-1] += token
        else:
            out.append(token)
    return out


def _braced(tokens: list[str], position: int, one: frozenset[str]) -> tuple[list[str], int]:
    """Return one token with its arguments, in braces."""
    token = tokens[position]
    out = [token]
    position += 1
    wanted = 2 if token in _TWO or token in _TWO_INVISIBLE else 1
    if wanted == 1 and token not in one | _INVISIBLE | _OPTIONAL:
        return out, position
    if token in _OPTIONAL and position < len(tokens) and tokens[position] == "[":
        end = _closing(tokens, position, "[", "]")
        out += tokens[position : end + 1]
        position = end + 1
    for _ in range(wanted):
        if position >= len(tokens):
            break
        if tokens[position] == "{":
            end = _closing(tokens, position, "{", "}")
            inner = _add_braces(tokens[position + 1 : end], one)
            position = end + 1
        else:
            inner, position = _braced(tokens, position, one)
        out += ["{", *inner, "}"]
    return out, position


def _add_braces(tokens: list[str], one: frozenset[str]) -> list[str]:
    out: list[str] = []
    position = 0
    while position < len(tokens):
        piece, position = _braced(tokens, position, one)
        out += piece
    return out


def _closing(tokens: Sequence[str], start: int, left: str, right: str) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += (tokens[index] == left) - (tokens[index] == right)
        if depth == 0:
            return index
    raise FormatError(f"A {left} of the formula is never closed.")


# --- colouring ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Coloured:
    """A formula in which every sign has a colour of its own."""

    latex: str
    tokens: tuple[str, ...]  # the i-th has colour i + 1


def colour_of(number: int) -> tuple[int, int, int]:
    """Return the colour of a sign, from 1."""
    return number // 324 * 15, number % 324 // 18 * 15, number % 18 * 15


class _Colourer:
    def __init__(self, tokens: list[str], new: bool) -> None:
        self.tokens = tokens
        self.one, self.phantom, self.uncounted = (
            _commands(name, new) for name in ("one", "phantom", "uncounted")
        )
        self.names: list[str] = []

    def wrapper(self, name: str) -> str:
        self.names.append(name)
        if len(self.names) > _MAX_COLOURS:
            raise FormatError(f"The formula has more than {_MAX_COLOURS:,} signs.")
        red, green, blue = colour_of(len(self.names))
        return f"\\mathcolor[RGB]{{{red},{green},{blue}}}{{"

    def run(self, start: int, end: int, braced: bool = False) -> list[str]:
        """Return the tokens of a range, coloured; in an optional argument each in braces of its own."""
        out: list[str] = []
        position = start
        while position < end:
            piece, position = self.piece(position, end, braced)
            out += piece
        return out

    def piece(self, at: int, end: int, braced: bool) -> tuple[list[str], int]:
        token = self.tokens[at]
        has_group = at + 1 < end and self.tokens[at + 1] == "{"
        if token in self.phantom:
            after = _closing(self.tokens, at + 1, "{", "}") + 1 if has_group else at + 1
            return self.tokens[at:after], after
        if token in _INVISIBLE and has_group:
            close = min(_closing(self.tokens, at + 1, "{", "}"), end)
            return [token, "{", *self.run(at + 2, close, braced), "}"], close + 1
        if token in _TWO or token in self.one or token in _OPTIONAL:
            return self._wrapped(at, end, 2 if token in _TWO else 1, braced)
        if token in ("\\multicolumn", "\\multirow"):
            return self._third_group(at, end)
        if not self._counts(at):
            return [token], at + 1
        inner = f"{self.wrapper(token)}{token}}}"
        return [f"{{{inner}}}" if braced or (at and self.tokens[at - 1] == "_") else inner], at + 1

    def _wrapped(self, at: int, end: int, wanted: int, braced: bool) -> tuple[list[str], int]:
        token = self.tokens[at]
        out = [self.wrapper(token) + token]
        position = at + 1
        if token in _OPTIONAL and position < end and self.tokens[position] == "[":
            close = _closing(self.tokens, position, "[", "]")
            out += ["[", *self.run(position + 1, close, braced=True), "]"]
            position = close + 1
        for _ in range(wanted):
            if position < end and self.tokens[position] == "{":
                close = _closing(self.tokens, position, "{", "}")
                out += ["{", *self.run(position + 1, close, braced), "}"]
                position = close + 1
        out.append("}")
        before = braced or (at > 0 and self.tokens[at - 1] == "_")
        after = position < len(self.tokens) and self.tokens[position] == "_"
        if before or (token in self.one and after and token != "\\underbrace"):
            out[0] = "{" + out[0]
            out[-1] = "}}"
        return out, position

    def _third_group(self, at: int, end: int) -> tuple[list[str], int]:
        out = [self.tokens[at]]
        position = at + 1
        for number in range(3):
            if position >= end or self.tokens[position] != "{":
                break
            close = _closing(self.tokens, position, "{", "}")
            inside = self.run(position + 1, close) if number == 2 else self.tokens[position + 1 : close]
            out += ["{", *inside, "}"]
            position = close + 1
        return out, position

    def _counts(self, at: int) -> bool:
        token = self.tokens[at]
        if token in self.uncounted or token in _TWO_INVISIBLE or token in _INVISIBLE:
            return False
        is_frame = token[0] in "{}^_" or token.startswith(("\\begin{", "\\end{"))
        is_rule = token.startswith("\\") and ("rule" in token or "line" in token)
        if is_frame or is_rule or _LENGTH.fullmatch(token):
            return False
        if token == "[":
            return not (at and self.tokens[at - 1] == "\\sqrt")
        return token != "]" or (at >= 3 and self.tokens[at - 3] != "\\sqrt")


def colour(normalised: str, version: Version = "v1.6") -> Coloured:
    """Draw each sign in a colour of its own."""
    tokens = normalised.split()
    colourer = _Colourer(tokens, version == "v1.6")
    latex = " ".join(colourer.run(0, len(tokens)))
    return Coloured(latex, tuple(colourer.names))
