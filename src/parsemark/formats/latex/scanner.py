"""LaTeX source as tokens, with every brace, bracket and environment matched once.

All later steps walk ranges of token indices and jump over groups in one step, so reading a table takes
time linear in its length. Broken sources are normal (parsers are cut off, people forget braces): a brace
or environment without partner is a token that stands alone.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from parsemark.formats.limits import MAX_LATEX_CHARS, MAX_VERB_CHARS, check_size

Range = tuple[int, int]  # token indices, the end excluded

ALONE = -1  # entry of `LatexSource.partner` for a token that opens nothing or is never closed


class TokenKind(Enum):
    """What TeX takes a piece of source for."""

    COMMAND = "command"
    OPEN = "{"
    CLOSE = "}"
    BEGIN = "begin"
    END = "end"
    ALIGN = "&"
    MATH = "$"
    SUPER = "^"
    SUB = "_"
    TIE = "~"
    SPACE = "space"
    VERB = "verb"
    CHAR = "char"


class Token(NamedTuple):
    r"""One token; `text` is the name of a command or environment, the content of a verb, or the characters.

    Ordinary characters come in runs. Behind whatever may take an argument without braces they come singly,
    so that a token is an argument: the 1 and the 2 of `\\frac12`.
    """

    kind: TokenKind
    text: str
    start: int
    end: int


_SPECIAL_KINDS = {mark: TokenKind(mark) for mark in "{}&^_~"}
_ENVIRONMENT = r"(?P<env>\\(?P<side>begin|end)\s*\{(?P<name>[^{}\\\n]{0,40})(?:\}|\Z))"
_VERBATIM = r"(?P<verb>\\(?:verb|lstinline)\*?(?P<quote>[^A-Za-z*\s\[{]))"
_COMMAND = r"\\(?P<command>[A-Za-z]+|.|$)"
_COMMENT = r"(?P<comment>%[^\n]*(?:\n[ \t]*)?)"
_RUN = r"(?P<run>[^\\{}&$%^_~\s\[\]()*=\#@!?<>'`|\"-]+)"
_OTHERS = rf"{_VERBATIM}|{_COMMAND}|{_COMMENT}|(?P<math>\$\$?)|(?P<char>.)"
_TOKEN = re.compile(rf"{_RUN}|(?P<space>\s+)|{_ENVIRONMENT}|{_OTHERS}", re.DOTALL)
_INLINE_TOKEN = re.compile(rf"{_RUN}|(?P<space>[ \t\r\n]+)|{_ENVIRONMENT}|{_COMMAND}|(?P<char>.)", re.DOTALL)
"""In text that need not be LaTeX: a per cent sign or a dollar is one, and only plain blanks are space."""
_TAKE_ARGUMENTS = frozenset("}]^_")
_MOST_ARGUMENTS = 3  # how many characters behind a command may each be an argument
_WITH_LENGTH = frozenset({"hskip", "kern", "mkern", "mskip", "hglue", "vrule", "hrule"})
_LONGEST_LENGTH = 40
"""How many characters a length without braces may have (`\\vrule width 1pt height 2pt`)."""
_OPENERS = {(TokenKind.CHAR, "["): "]", (TokenKind.COMMAND, "("): ")", (TokenKind.COMMAND, "["): "]"}
_CLOSERS = frozenset((kind, text) for (kind, _), text in _OPENERS.items())
_BRACKETS = frozenset("[]()")
_LENGTH = re.compile(r"\s*+[-+]?[\d.]*+\s*+(?:(?!plus|minus)\\?[A-Za-z]++)?+\s*+(?:(?:plus|minus)[^\]]*+)?+")
_MAY_CHANGE = re.compile(r"[%`]|--|''")  # a comment or a ligature
_MEANT_AS_PERCENT = re.compile(r"%[ \t]*(?:&|\\\\|\}|\$|\)|\\end\b|\\hline\b)")


class LatexSource:
    """A scanned source: its tokens, and for each opening token the index of its partner.

    In text that may hold LaTeX, such as a parser's cell (`inline`), there are no comments, nothing is
    verbatim, and a dollar is a character.
    """

    def __init__(self, text: str, *, inline: bool = False) -> None:
        check_size(text, MAX_LATEX_CHARS)
        self.text = text
        self.tokens = _scan(text, _INLINE_TOKEN if inline else _TOKEN)
        plain = (TokenKind.CHAR, TokenKind.SPACE)
        kinds = enumerate(self.tokens)
        self.marks = [k for k, (kind, sign, _, _) in kinds if kind not in plain or sign in _BRACKETS]
        """Indices of all tokens but ordinary characters and white space."""
        self.partner = _match_groups(self.tokens, self.marks)
        if "[" in text or "\\(" in text:
            _match_brackets(self.tokens, self.marks, self.partner)

    @cached_property
    def closing_braces(self) -> dict[int, int]:
        """Return the closing brace of each opening one, whatever environments begin or end between them."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for index in self.marks:
            if self.tokens[index].kind is TokenKind.OPEN:
                opened.append(index)
            elif self.tokens[index].kind is TokenKind.CLOSE and opened:
                found[opened.pop()] = index
        return found

    @property
    def whole(self) -> Range:
        """Return the range of all tokens."""
        return 0, len(self.tokens)

    def marks_in(self, span: Range) -> list[int]:
        """Return the indices in a range of all tokens but ordinary characters and white space."""
        return self.marks[bisect_left(self.marks, span[0]) : bisect_left(self.marks, span[1])]

    def plain_text(self, span: Range) -> str | None:
        """Return the printed text of a range without any markup; None where it has some."""
        first = bisect_left(self.marks, span[0])
        if first < len(self.marks) and self.marks[first] < span[1]:
            return None
        raw = self.raw(span)
        return None if _MAY_CHANGE.search(raw) else raw.replace("\n", " ")

    def skip_space(self, index: int, end: int) -> int:
        """Return the first index from `index` on that is not white space."""
        while index < end and self.tokens[index].kind is TokenKind.SPACE:
            index += 1
        return index

    def strip(self, span: Range) -> Range:
        """Return the range without white space at its ends."""
        start, end = span
        start = self.skip_space(start, end)
        while end > start and self.tokens[end - 1].kind is TokenKind.SPACE:
            end -= 1
        return start, end

    def after(self, index: int) -> int:
        """Return the index behind the token, or behind its partner where it opens a group."""
        closes = self.partner[index]
        opens = closes != ALONE and self.tokens[index].kind in (TokenKind.OPEN, TokenKind.BEGIN)
        return closes + 1 if opens else index + 1

    def outer(self, span: Range) -> Iterator[int]:
        """Yield the indices of a range's tokens that are in no group of it; those that open one are among
        them.
        """
        index, end = span
        while index < end:
            yield index
            index = self.after(index)

    def commands(self, span: Range, *names: str) -> Iterator[int]:
        """Return the indices of commands with these names that are in no group of a range."""
        wanted = {(TokenKind.COMMAND, name) for name in names}
        return (index for index in self.outer(span) if self.tokens[index][:2] in wanted)

    def argument(self, index: int, end: int) -> tuple[Range, int]:
        """Return a mandatory argument (a group's inside, or one token) and the index of what follows."""
        index = self.skip_space(index, end)
        if index >= end:
            return (end, end), end
        closes = self.partner[index]
        if self.tokens[index].kind is TokenKind.OPEN and closes != ALONE:
            return (index + 1, min(closes, end)), min(closes + 1, end)
        return (index, index + 1), index + 1

    def optional(self, index: int, end: int) -> tuple[Range | None, int]:
        """Return an optional argument `[…]` if there is one, and the index of what follows."""
        start = self.skip_space(index, end)
        if start >= end or self.tokens[start].text != "[" or self.tokens[start].kind is not TokenKind.CHAR:
            return None, index
        closes = self.partner[start]
        if closes == ALONE or closes >= end:
            return None, index
        return (start + 1, closes), closes + 1

    def starred(self, index: int, end: int) -> int:
        """Return the index behind a star, if one is there."""
        return index + 1 if index < end and self.tokens[index].text == "*" else index

    def arguments(self, signature: str, index: int, end: int) -> tuple[list[tuple[str, Range]], int]:
        """Return the arguments of a command with their letters in its signature, and the index behind
        them.
        """
        found: list[tuple[str, Range]] = []
        for kind in signature:
            argument: Range | None = None
            if kind == "*":
                index = self.starred(index, end)
            elif kind in "oO":
                argument, index = self.optional(index, end)
            elif kind == "l":
                length, behind = self.optional(index, end)
                index = behind if length is not None and _LENGTH.fullmatch(self.raw(length)) else index
            elif kind == "p":
                index = self._behind_parentheses(index, end)
            elif self.skip_space(index, end) < end:
                argument, index = self.argument(index, end)
            if argument is not None:
                found.append((kind, argument))
        return found, index

    def skip_arguments(self, signature: str, index: int, end: int) -> int:
        """Return the position behind the arguments of a command."""
        return self.arguments(signature, index, end)[1]

    def _behind_parentheses(self, index: int, end: int) -> int:
        """Return the index behind a short `(…)`, if one is there (the trim of a cmidrule, the size of a
        makebox).
        """
        start = self.skip_space(index, end)
        if start < end and self.tokens[start].text == "(":
            for closing in range(start + 1, min(start + 40, end)):
                if self.tokens[closing].text == ")":
                    return closing + 1
        return index

    def raw(self, span: Range) -> str:
        """Return the source text of a range, comments and all."""
        start, end = span
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""


def _scan(text: str, pattern: re.Pattern[str]) -> list[Token]:
    tokens: list[Token] = []
    # tuple.__new__ is twice as fast as Token(...).
    append, new = tokens.append, tuple.__new__
    match_token = pattern.match
    position, length = 0, len(text)
    singles = 0
    char, space, command, special = TokenKind.CHAR, TokenKind.SPACE, TokenKind.COMMAND, _SPECIAL_KINDS.get
    while position < length:
        match = match_token(text, position)
        assert match is not None, "the pattern accepts every character"
        group, start, position = match.lastgroup, position, match.end()
        if group == "run":
            while singles and start < position:
                append(new(Token, (char, text[start], start, start + 1)))
                start, singles = start + 1, singles - 1
            if start < position:
                append(new(Token, (char, text[start:position], start, position)))
        elif group == "command":
            name = text[start + 1 : position]
            append(new(Token, (command, name, start, position)))
            singles = _LONGEST_LENGTH if name in _WITH_LENGTH else _MOST_ARGUMENTS
        elif group == "char":
            character = text[start]
            append(new(Token, (special(character, char), character, start, position)))
            singles = _MOST_ARGUMENTS if character in _TAKE_ARGUMENTS else max(singles - 1, 0)
        elif group == "space":
            append(new(Token, (space, " ", start, position)))
        elif group == "comment":
            # Parsers write `50% & 3 \\`. TeX would take the rest of the line for a comment; nobody puts a
            # comment right behind a number and begins it with the end of a cell.
            if text[start - 1 : start].isdigit() and _MEANT_AS_PERCENT.match(text, start):
                position = start + 1
                append(new(Token, (char, "%", start, position)))
        elif group == "math":
            append(new(Token, (TokenKind.MATH, match["math"], start, position)))
            singles = 0
        elif group == "env":
            kind = TokenKind.BEGIN if match["side"] == "begin" else TokenKind.END
            append(new(Token, (kind, match["name"].strip(), start, position)))
        else:
            token = _verb(text, start, position, match["quote"])
            position = token.end
            append(token)
    return tokens


def _verb(text: str, start: int, begin: int, quote: str) -> Token:
    closing = text.find(quote, begin, begin + MAX_VERB_CHARS)
    line_end = text.find("\n", begin, begin + MAX_VERB_CHARS)
    if closing < 0 or 0 <= line_end < closing:
        return Token(TokenKind.COMMAND, "verb", start, begin - len(quote))
    return Token(TokenKind.VERB, text[begin:closing], start, closing + 1)


def _match_groups(tokens: list[Token], marks: list[int]) -> list[int]:
    """Return partners of braces and environments; what an environment's end leaves open stays alone."""
    partner = [ALONE] * len(tokens)
    open_tokens: list[int] = []
    open_environments: dict[str, int] = {}
    for index in marks:
        kind, text = tokens[index][:2]
        if kind is TokenKind.OPEN:
            open_tokens.append(index)
        elif kind is TokenKind.CLOSE:
            if open_tokens and tokens[open_tokens[-1]].kind is TokenKind.OPEN:
                partner[open_tokens.pop()] = index
        elif kind is TokenKind.BEGIN:
            open_tokens.append(index)
            open_environments[text] = open_environments.get(text, 0) + 1
        elif kind is TokenKind.END and open_environments.get(text, 0):
            opener = ALONE
            while opener == ALONE or tokens[opener][:2] != (TokenKind.BEGIN, text):
                opener = open_tokens.pop()
                if tokens[opener].kind is TokenKind.BEGIN:
                    open_environments[tokens[opener].text] -= 1
            partner[opener] = index
    return partner


def _match_brackets(tokens: list[Token], marks: list[int], partner: list[int]) -> None:
    r"""Match each `[`, `\(` and `\[` with the next closing one in the same group, in one pass from the
    end.
    """
    closing_of = {partner[index] for index in marks if partner[index] != ALONE}
    following: list[dict[tuple[TokenKind, str], int]] = [{}]
    for index in reversed(marks):
        kind, text = tokens[index][:2]
        if index in closing_of:
            following.append({})
        elif partner[index] != ALONE:
            following.pop()
        elif text not in _BRACKETS:
            continue
        elif (kind, text) in _CLOSERS:
            following[-1][kind, text] = index
        elif (kind, text) in _OPENERS:
            partner[index] = following[-1].get((kind, _OPENERS[kind, text]), ALONE)
