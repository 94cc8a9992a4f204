r"""Macros that a source defines itself: `\newcommand`, `\def`, `\let`, `\newenvironment` and the like.

They are expanded before a table is read. Every use counts against a limit, so that a definition that calls
itself, or ten that double each other, end in a FormatError and not in an explosion.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from parsemark.errors import FormatError
from parsemark.formats.latex.scanner import LatexSource, TokenKind
from parsemark.formats.limits import MAX_LATEX_DEPTH, MAX_LATEX_EXPANDED_CHARS, MAX_LATEX_EXPANSIONS

_PARAMETER = re.compile(r"#([1-9])")
_SIDE = re.compile(r"\\(?:begin|end)(?![A-Za-z])")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_END_COMMAND = re.compile(r"\\end([A-Za-z]+)")
_NAMES = {TokenKind.COMMAND: "{}", TokenKind.BEGIN: "begin{{{}}}", TokenKind.END: "end{{{}}}"}
MAY_DEFINE = re.compile(
    r"\\(?:new|renew|provide)command|\\[nN]ew[eE]nviron|\\[gex]?def(?![A-Za-z])|\\let(?![A-Za-z])|\\Declare"
)


@dataclass(frozen=True, slots=True)
class Definition:
    """What a macro stands for: a body with `#1` … `#9`."""

    body: str
    n_arguments: int = 0
    default: str | None = None  # value of the first argument where it is optional


Definitions = Mapping[str, Definition]


def read_definitions(text: str) -> dict[str, Definition]:
    """Return all macros that a source defines, wherever in it; the last definition of a name counts."""
    found: dict[str, Definition] = {}
    if not MAY_DEFINE.search(text):
        return found
    source = LatexSource(text)
    index, end = source.whole
    while index < end:
        defined = _definition_at(source, index, end)
        if defined is None:
            index += 1
        else:
            found |= defined[0]
            index = defined[1]
    found.pop("", None)
    return found


Defined = tuple[dict[str, Definition], int]  # what names stand for, and the index behind the definition


def _definition_at(source: LatexSource, index: int, end: int) -> Defined | None:
    token = source.tokens[index]
    read = _READERS.get(token.text) if token.kind is TokenKind.COMMAND else None
    return read(source, index + 1, end) if read is not None else None


def _name(source: LatexSource, index: int, end: int) -> tuple[str, int]:
    (start, stop), index = source.argument(index, end)
    token = source.tokens[start] if stop - start == 1 else None
    return (token.text if token is not None and token.kind is TokenKind.COMMAND else ""), index


def _braced(source: LatexSource, index: int, end: int) -> tuple[str, int]:
    r"""Return a body by its braces alone, since it may have a `\begin` without its `\end`, and what
    follows.
    """
    start = source.skip_space(index, end)
    closes = source.closing_braces.get(start, end)
    body, index = ((start + 1, closes), closes + 1) if closes < end else source.argument(index, end)
    return source.raw(body), index


def _with_arguments(source: LatexSource, index: int, end: int) -> tuple[Definition, int]:
    """Return how many arguments are taken, the default of the first, and what they are put into."""
    count, index = source.optional(index, end)
    default, index = source.optional(index, end) if count else (None, index)
    body, index = _braced(source, index, end)
    digits = source.raw(count).strip() if count else "0"
    n_arguments = int(digits) if digits in tuple("0123456789") else 0
    return Definition(body, n_arguments, source.raw(default) if default else None), index


def _new_command(source: LatexSource, index: int, end: int) -> Defined:
    name, index = _name(source, source.starred(index, end), end)
    definition, index = _with_arguments(source, index, end)
    return {name: definition}, index


def _new_environment(source: LatexSource, index: int, end: int) -> Defined:
    r"""Return the expansion of an environment's `\begin` and `\end`, which may contain `\tabularx` …
    `\endtabularx`.
    """
    name, index = source.argument(source.starred(index, end), end)
    opening, index = _with_arguments(source, index, end)
    begin, body, close = opening.body.partition("\\BODY")
    if not body:
        close, index = _braced(source, index, end)
    both = {*_COMMAND.findall(begin)} & {*_END_COMMAND.findall(close)}
    begin = _COMMAND.sub(lambda c: rf"\begin{{{c[1]}}}" if c[1] in both else c[0], begin)
    close = _END_COMMAND.sub(lambda c: rf"\end{{{c[1]}}}" if c[1] in both else c[0], close)
    own = source.raw(name).strip()
    return {f"begin{{{own}}}": replace(opening, body=begin), f"end{{{own}}}": Definition(close)}, index


def _operator(source: LatexSource, index: int, end: int) -> Defined:
    name, index = _name(source, source.starred(index, end), end)
    body, index = source.argument(index, end)
    return {name: Definition(rf"\operatorname{{{source.raw(body)}}}")}, index


def _plain_definition(source: LatexSource, index: int, end: int) -> Defined | None:
    name, index = _name(source, index, end)
    n_arguments = 0
    while index + 1 < end and source.tokens[index].text == "#":
        n_arguments, index = n_arguments + 1, index + 2
    if index >= end or source.tokens[index].kind is not TokenKind.OPEN:
        return None  # delimited parameters: only TeX can read those
    body, index = _braced(source, index, end)
    return {name: Definition(body, n_arguments)}, index


def _alias(source: LatexSource, index: int, end: int) -> Defined | None:
    name, index = _name(source, index, end)
    index = source.skip_space(index, end)
    if index < end and source.tokens[index].text == "=":
        index = source.skip_space(index + 1, end)
    if index >= end or source.tokens[index].kind is not TokenKind.COMMAND:
        return None
    return {name: Definition("\\" + source.tokens[index].text)}, index + 1


_READERS: dict[str, Callable[[LatexSource, int, int], Defined | None]] = {
    **dict.fromkeys(("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"), _new_command),
    **dict.fromkeys(("def", "gdef", "edef", "xdef"), _plain_definition),
    **dict.fromkeys(("newenvironment", "NewEnviron"), _new_environment),
    "DeclareMathOperator": _operator,
    "let": _alias,
}


def expand(text: str, definitions: Definitions) -> str:
    """Return the text with all macros replaced by what they stand for; definitions go. Raise FormatError if
    endless.
    """
    return _Expander(definitions).expand(text, 0) if definitions else text


def expand_environments(text: str) -> str:
    """Return the text with what opens or closes environments replaced by what it stands for; other macros
    stay.
    """
    return expand(text, {name: d for name, d in read_definitions(text).items() if _SIDE.search(d.body)})


class _Expander:
    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.n_uses = 0
        self.n_chars = 0

    def expand(self, text: str, depth: int) -> str:
        source = LatexSource(text)
        index, end = source.whole
        pieces: list[str] = []
        while index < end:
            token = source.tokens[index]
            defined = _definition_at(source, index, end)
            if defined is not None and all(not name or name in self.definitions for name in defined[0]):
                index = defined[1]
                continue
            name = _NAMES.get(token.kind, "{}").format(token.text)
            definition = self.definitions.get(name) if token.kind in _NAMES else None
            if definition is None:
                pieces.append(text[token.start : token.end])
                index += 1
                continue
            body, index = self._body(source, definition, index + 1, end, depth)
            pieces.append(self.expand(body, depth + 1))
        return "".join(pieces)

    def _body(
        self, source: LatexSource, definition: Definition, index: int, end: int, depth: int
    ) -> tuple[str, int]:
        """Return the body of a macro with the arguments that follow, a missing one empty, and the index
        behind.
        """
        position, body = source.tokens[index - 1].start, definition.body
        arguments: dict[int, str] = {}
        for number in range(1, definition.n_arguments + 1):
            if number == 1 and definition.default is not None:
                given, index = source.optional(index, end)
                arguments[1] = definition.default if given is None else source.raw(given)
            else:
                argument, index = source.argument(index, end)
                arguments[number] = source.raw(argument)
        self.n_uses += 1
        self.n_chars += len(body) + sum(len(a) * body.count(f"#{n}") for n, a in arguments.items())
        is_long = self.n_uses > MAX_LATEX_EXPANSIONS or self.n_chars > MAX_LATEX_EXPANDED_CHARS
        if is_long or depth > MAX_LATEX_DEPTH:
            raise FormatError("The macros of this LaTeX source expand without end", position=position)
        return _PARAMETER.sub(lambda parameter: arguments.get(int(parameter[1]), ""), body), index
