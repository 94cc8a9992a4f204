r"""Macros that a source defines itself: `\newcommand`, `\def`, `\let`, `\DeclareMathOperator`.

They are expanded before a table is read. Every use counts against a limit, so that a definition that calls
itself, or ten that double each other, end in a FormatError and not in an explosion.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from parsemark.errors import FormatError
from parsemark.formats.latex.scanner import LatexSource, TokenKind
from parsemark.formats.limits import MAX_LATEX_DEPTH, MAX_LATEX_EXPANDED_CHARS, MAX_LATEX_EXPANSIONS

_PARAMETER = re.compile(r"#([1-9])")
MAY_DEFINE = re.compile(r"\\(?:new|renew|provide)command|\\[gex]?def(?![A-Za-z])|\\let(?![A-Za-z])|\\Declare")


@dataclass(frozen=True, slots=True)
class Definition:
    """What a macro stands for: a body with `#1` … `#9`."""

    body: str
    n_arguments: int = 0
    default: str | None = None  # value of the first argument where it is optional


Definitions = Mapping[str, Definition]


def read_definitions(text: str) -> dict[str, Definition]:
    """All macros that a source defines, wherever in it; the last definition of a name counts."""
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
            name, definition, index = defined
            found[name] = definition
    found.pop("", None)
    return found


Defined = tuple[str, Definition, int]  # a name, what it stands for, and the index behind the definition


def _definition_at(source: LatexSource, index: int, end: int) -> Defined | None:
    token = source.tokens[index]
    read = _READERS.get(token.text) if token.kind is TokenKind.COMMAND else None
    return read(source, index + 1, end) if read is not None else None


def _name(source: LatexSource, index: int, end: int) -> tuple[str, int]:
    (start, stop), index = source.argument(index, end)
    token = source.tokens[start] if stop - start == 1 else None
    return (token.text if token is not None and token.kind is TokenKind.COMMAND else ""), index


def _new_command(source: LatexSource, index: int, end: int) -> Defined:
    name, index = _name(source, source.starred(index, end), end)
    count, index = source.optional(index, end)
    default, index = source.optional(index, end) if count else (None, index)
    body, index = source.argument(index, end)
    digits = source.raw(count).strip() if count else "0"
    n_arguments = int(digits) if digits in tuple("0123456789") else 0
    return name, Definition(source.raw(body), n_arguments, source.raw(default) if default else None), index


def _operator(source: LatexSource, index: int, end: int) -> Defined:
    name, index = _name(source, source.starred(index, end), end)
    body, index = source.argument(index, end)
    return name, Definition(rf"\operatorname{{{source.raw(body)}}}"), index


def _plain_definition(source: LatexSource, index: int, end: int) -> Defined | None:
    name, index = _name(source, index, end)
    n_arguments = 0
    while index + 1 < end and source.tokens[index].text == "#":
        n_arguments, index = n_arguments + 1, index + 2
    if index >= end or source.tokens[index].kind is not TokenKind.OPEN:
        return None  # delimited parameters: only TeX can read those
    body, index = source.argument(index, end)
    return name, Definition(source.raw(body), n_arguments), index


def _alias(source: LatexSource, index: int, end: int) -> Defined | None:
    name, index = _name(source, index, end)
    index = source.skip_space(index, end)
    if index < end and source.tokens[index].text == "=":
        index = source.skip_space(index + 1, end)
    if index >= end or source.tokens[index].kind is not TokenKind.COMMAND:
        return None
    return name, Definition("\\" + source.tokens[index].text), index + 1


_READERS: dict[str, Callable[[LatexSource, int, int], Defined | None]] = {
    **dict.fromkeys(("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"), _new_command),
    **dict.fromkeys(("def", "gdef", "edef", "xdef"), _plain_definition),
    "DeclareMathOperator": _operator,
    "let": _alias,
}


def expand(text: str, definitions: Definitions) -> str:
    """The text with all macros replaced by what they stand for; definitions go. FormatError if endless."""
    return _Expander(definitions).expand(text, 0) if definitions else text


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
            if (defined := _definition_at(source, index, end)) is not None:
                index = defined[2]
                continue
            definition = self.definitions.get(token.text) if token.kind is TokenKind.COMMAND else None
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
        """The body of a macro with the arguments that follow, a missing one empty, and the index behind."""
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
