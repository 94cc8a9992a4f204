r"""LaTeX inside of a text, folded to Unicode with `_` and `^` for scripts.

What is folded is any text, from any writer (an author, or a parser that mixes LaTeX into HTML or Markdown),
so a dollar may be a price, `~` may say "about", and a script may lack its braces (`10^-3`, `F_max`). The
LaTeX in it is printed as it is everywhere else; then scripts get one form. So what a page shows folds like
its source, and whatever is read, reading never fails.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from parsemark.errors import FormatError
from parsemark.formats.latex.printer import Atom, Class, Printed, Printer, runs_on
from parsemark.formats.latex.scanner import ALONE, LatexSource, TokenKind
from parsemark.formats.latex.special import SPECIAL

_OPENING = re.compile(r"\\[(\[]|(?<!\\)\$\$?")
_BEGINS_NUMBER = re.compile(r"\s*+\d")
_ENDS_WITH_COMMAND = re.compile(r"\\(?:[A-Za-z]+)?\Z")
_CLOSING = {"\\(": "\\)", "\\[": "\\]"}
_ANY_MARK = re.compile(r"[\\{}~_^$]")
_MARKUP = re.compile(r"[\\{}~]")
_BRACES = str.maketrans("", "", "{}")
_MARK = re.compile(r"[_^]")
_GLYPHS = re.compile(r"[*†‡§¶°'′∘]+")
_SAME_CHARACTER = str.maketrans("‐‑‒–—−―﹣－⁃˗\ufffe∗⋆＊﹡∘˚′", "-" * 12 + "*" * 4 + "°°'")
"""Characters by which a script is told, as one; U+FFFE is how pdfium writes a hyphen at a line's end."""
_WORD = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|[^\W\d_]+)")
"""A number or a word: a script that needs no braces, and how far one without braces reaches."""
_BARE = re.compile(rf"{_WORD.pattern}|[*†‡§¶°'′]+|[^\s\w{{}}\\^$&~]")
_THIN = "\u2009"  # groups digits: `fold_notation` decides
MAX_DEPTH = 40  # scripts nested deeper than this stay as they are


def fold_latex(text: str) -> str:
    r"""Replace LaTeX by Unicode characters.

    >>> fold_latex(r"$\alpha_{12} \leq \frac{1}{2}$ and \textbf{91.2\%}")
    'α_12 ≤ 1/2 and 91.2%'
    """
    if not _ANY_MARK.search(text):
        return text if text.isascii() else text.translate(_SAME_CHARACTER)
    pieces: list[str] = []
    end = 0
    for start, begin, close, behind in _formulas(text):
        pieces += [_print(text[end:start], math=False), _print(text[begin:close], math=True)]
        end = behind
    pieces.append(_print(text[end:], math=False))
    printed = "".join(pieces)
    return _fold_scripts(printed if printed.isascii() else printed.translate(_SAME_CHARACTER))


def _formulas(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield formulas in running text: where each begins, its inside, and where it ends."""
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
            position = close + (len(mark) if text.startswith(mark, close) else 1)
            yield start, begin, close, position


def _is_math(text: str, begin: int, close: int) -> bool:
    """Return whether dollars stand around math, not before prices: "$5 to $6" is none, "$x$" and "$ x $"
    are.
    """
    if begin == close or (_BEGINS_NUMBER.match(text, begin) and _BEGINS_NUMBER.match(text, close + 1)):
        return False
    inside = text[begin:close]
    if inside[0].isspace():
        return inside[-1].isspace() and not inside.isspace()
    # A blank behind a command belongs to the command.
    return not inside[-1].isspace() or _ENDS_WITH_COMMAND.search(inside.rstrip()[-40:]) is not None


@lru_cache(4_096)
def _print(text: str, math: bool) -> str:
    if math:
        text = text if text.isascii() else " ".join(text.split())
        if not _MARKUP.search(text) and not _MARK.search(text):
            return "".join(text.split())
    elif not _MARKUP.search(text):
        return text
    try:
        source = LatexSource(text, inline=True)
        return _InlinePrinter(source, SPECIAL).print(source.whole, math)
    except FormatError:  # too long or too deep for any page
        return text.translate(_BRACES)


class _InlinePrinter(Printer):
    """Prints text that may hold LaTeX. Only scripts have braces in what is printed."""

    def symbol(self, name: str) -> str | None:
        """Fold a symbol. A thin space may group digits; braces would be taken for those of a script."""
        if name in (",", "thinspace"):
            return _THIN
        found = super().symbol(name)
        return None if found is None else found.translate(_BRACES)

    def _piece(self, index: int, end: int, math: bool) -> Printed:
        token = self.source.tokens[index]
        if not math and token.kind is TokenKind.TIE:
            # A tie between two words; at the start of a word a sign for "about".
            is_tie = index > 0 and self.source.tokens[index - 1].kind is not TokenKind.SPACE
            return Atom(" " if is_tie else "~"), index + 1
        if not math and token.kind is TokenKind.ALIGN and self._depth == 1:
            return Atom("&"), index + 1
        if not math and token.kind in (TokenKind.SUPER, TokenKind.SUB):
            return self._script(token.text, index + 1, end)
        return super()._piece(index, end, math)

    def _script(self, mark: str, index: int, end: int) -> Printed:
        """Fold a script. One in braces keeps them; one without is separated from the text later."""
        following = self.source.tokens[index] if index < end else None
        if following is None or following.kind not in (TokenKind.OPEN, TokenKind.COMMAND):
            return Atom(mark), index
        if following.kind is TokenKind.OPEN and self.source.partner[index] == ALONE:
            return Atom(mark), index + 1
        inner, behind = self.operand(index, end, math=True)
        return Atom(f"{mark}{{{inner}}}" if inner.strip() else ""), behind

    def command(self, index: int, end: int, math: bool) -> Printed:
        """Fold a command; an accent with nothing to stand on is a character."""
        name = self.source.tokens[index].text
        following = self.source.tokens[index + 1 : min(index + 2, end)]
        is_bare = not any(
            kind in (TokenKind.OPEN, TokenKind.COMMAND) or (kind is TokenKind.CHAR and text[0].isalpha())
            for kind, text, _, _ in following
        )
        if not math and name in _BARE_ACCENTS and is_bare:
            return Atom(name, Class.ORDINARY), index + 1
        return super().command(index, end, math)


_BARE_ACCENTS = frozenset("'`^\"~=.")


def _fold_scripts(text: str, depth: int = 0) -> str:
    """Return one form for all scripts: subscripts first, and braces only where they are needed."""
    if depth > MAX_DEPTH or not _MARK.search(text):
        return text.translate(_BRACES)
    closing = _closing_braces(text)
    pieces: list[str] = []
    position = 0
    while (mark := _MARK.search(text, position)) is not None:
        pieces.append(text[position : mark.start()].translate(_BRACES))
        position = mark.start()
        found: dict[str, str] = {}
        while text[position : position + 1] in ("_", "^") and text[position] not in found:
            sign = text[position]
            if text.startswith("{", position + 1) and position + 1 in closing:
                close = closing[position + 1]
                found[sign] = _fold_scripts(text[position + 2 : close], depth + 1).strip()
                position = close + 1
            elif (bare := _BARE.match(text, position + 1)) is not None:
                found[sign] = bare[0]
                position = bare.end()
            else:
                found[sign] = ""
                position += 1
                pieces.append(_printed_scripts(found, sign))
                found = {}
                break
        if found:
            pieces.append(_printed_scripts(found, text[position : position + 1]))
    return "".join([*pieces, text[position:].translate(_BRACES)])


def _printed_scripts(found: dict[str, str], following: str) -> str:
    upper = _script("^", found.get("^", ""), following)
    return _script("_", found.get("_", ""), upper or following) + upper + following * ("" in found.values())


def _script(mark: str, content: str, following: str) -> str:
    if not content:
        return ""
    if mark == "^" and _GLYPHS.fullmatch(content):
        return content
    if _WORD.fullmatch(content) and not runs_on(content, following):
        return mark + content
    return f"{mark}{{{content}}}"


def _closing_braces(text: str) -> dict[int, int]:
    """Return where each brace that is closed is closed."""
    closing: dict[int, int] = {}
    unclosed: list[int] = []
    for brace in re.finditer("[{}]", text):
        if brace[0] == "{":
            unclosed.append(brace.start())
        elif unclosed:
            closing[unclosed.pop()] = brace.start()
    return closing
