r"""LaTeX source as the text that the page shows.

Superscripts are written `x^2` and `x^{10}`, subscripts `x_i`, fractions `a/b`, roots `√x`; line breaks inside
a cell are newlines. Fonts, colours, boxes and lengths go. An unknown command prints its arguments,
or its name if it has none. Only what prints numbers from elsewhere (citations, references) and notes is left
out.

TeX ignores the blanks in a formula and sets its own. So do we: `$a=b$` and `$a = b$` are both `a = b`, `$-1$`
is `−1`, and in scripts nothing is spaced (`x_{i+1}`).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from parsemark.errors import FormatError
from parsemark.formats.latex.commands import COMMANDS, LINE_BREAKS, SIGNATURES, SPACING, TEXT_IN_MATH, by_name
from parsemark.formats.latex.environments import TABLE_ENVIRONMENTS, column_specification
from parsemark.formats.latex.scanner import ALONE, LatexSource, Range, Token, TokenKind
from parsemark.formats.latex.symbols import FUNCTIONS, symbol
from parsemark.formats.limits import MAX_LATEX_DEPTH

_GAP = re.compile(" +")


class Class(Enum):
    """TeX's classes of atoms, as far as they matter for spaces."""

    ORDINARY = "ordinary"
    BINARY = "binary"
    RELATION = "relation"
    OPENING = "opening"
    PUNCTUATION = "punctuation"
    FUNCTION = "function"
    FRACTION = "fraction"
    SPACE = "space"


_CLASSES = {
    **dict.fromkeys("*+−±∓×÷·∗∘∪∩∧∨⊕⊗⊖⊙⊘∖⋆⋄•∔⋉⋊⋒⋓⊎⊓⊔⋏⋎⊼⊻⊞⊟⊠⊡⋇⊺⋋⋌⨯⩞⌅⌆⊛⊚⊝", Class.BINARY),
    **dict.fromkeys("=<>≤≥⩽⩾≪≫≠≈∼≃≅≡∝∈∉∋⊂⊃⊆⊇→←↔⇒⇐⇔⟶⟵⟹⟸⟺↦≲≳≺≻≼≽⊢⊣⊨≔≜≐∥⊥⟷", Class.RELATION),
    **dict.fromkeys("([{⟨⌊⌈", Class.OPENING),
    **dict.fromkeys(",;", Class.PUNCTUATION),
    " ": Class.SPACE,
}
_NO_OPERAND = (Class.OPENING, Class.PUNCTUATION, Class.BINARY, Class.RELATION, Class.FUNCTION)


@dataclass(slots=True)
class Atom:
    """A piece of a formula with its scripts."""

    text: str
    kind: Class = Class.ORDINARY
    sub: str = ""
    sup: str = ""

    def __str__(self) -> str:
        return self.before("")

    def before(self, following: str) -> str:
        """Return the atom as text, with the scripts told from the text that follows."""
        upper = script("^", self.sup, following)
        return self.text + script("_", self.sub, upper or following) + upper


def atom(text: str) -> Atom:
    """Return an atom with the class that its character has in TeX."""
    return Atom(text, _CLASSES.get(text, Class.ORDINARY))


def runs_on(content: str, following: str) -> bool:
    """Return whether a text would be read as one number or one word with what follows it."""
    last, first = content[-1:], following[:1]
    return (last.isdigit() and first.isdigit()) or (last.isalpha() and first.isalpha())


def script(mark: str, text: str, following: str = "") -> str:
    r"""Return a super- or subscript: braces where it has more than one character; degrees and primes are
    themselves.

    >>> script("^", "2"), script("_", "ij"), script("^", "∘"), script("^", "'"), script("_", "i", "x")
    ('^2', '_{ij}', '°', "'", '_{i}')
    """
    if not text:
        return ""
    if mark == "^":
        if text in ("∘", "°"):
            return "°"
        primes = len(text) - len(text.lstrip("'′"))
        if primes:
            return text[:primes].replace("′", "'") + script("^", text[primes:].strip())
    return mark + (text if len(text) == 1 and not runs_on(text, following) else f"{{{text}}}")


def join(atoms: Iterable[Atom], spaced: bool = True) -> str:
    """Return the atoms as text, with spaces around operators that have something on both sides."""
    line = [a for a in atoms if a.kind is Class.SPACE or a.text or a.sub or a.sup]
    pieces: list[str] = []
    following = ""
    after: Atom | None = None
    for index in range(len(line) - 1, -1, -1):
        item, before = line[index], line[index - 1] if index else None
        if spaced:
            following = _spaced(item, before, after, following)
        else:
            following = " " if item.kind is Class.SPACE else item.before(following)
        pieces.append(following)
        after = item
    text = "".join(reversed(pieces)).strip()
    return _GAP.sub(" ", text) if spaced else text


def _spaced(item: Atom, before: Atom | None, after: Atom | None, following: str) -> str:
    """Return an atom as text with its spaces; `following` is the text of the one behind it."""
    text = item.before(following)
    if item.kind is Class.SPACE:
        text = " "
    elif item.kind is Class.PUNCTUATION and after is not None:
        is_in_number = before is not None and (before.text + after.text).isdigit()
        text = text if is_in_number else f"{text} "
    elif item.kind in (Class.FUNCTION, Class.FRACTION):
        text = _is_word(before) * " " + (f"{item} " if _is_word(after) else text)
    elif item.kind in (Class.BINARY, Class.RELATION) and _has_operands(before, after):
        text = f" {item} "
    return text


def _has_operands(before: Atom | None, after: Atom | None) -> bool:
    """Return whether an operator stands between two things; a sign or a lone operator does not."""
    if before is None or after is None or before.kind in _NO_OPERAND or after.kind is Class.RELATION:
        return False
    return after.text[:1] not in tuple(")],;")


def _is_word(neighbour: Atom | None) -> bool:
    """Return whether a function name or a fraction needs a gap to its neighbour."""
    if neighbour is None or neighbour.kind not in (Class.ORDINARY, Class.FUNCTION, Class.FRACTION):
        return False
    return neighbour.text[:1] not in tuple(")]}|/!:.'")


Printed = tuple[Atom, int]  # what a command prints, and the index of what follows it
Special = Callable[["Printer", int, int, bool], Printed]
"""A command with its own way of printing: printer, index behind its name, end, whether in math mode."""

_LIGATURES = {"-": ("---", "—", "--", "–"), **{s[0]: (s[:2], s[2]) for s in ("``“", "''”", "?`¿", "!`¡")}}
"""By their first character: sources, each followed by what it prints."""
_MATH_CHARACTERS = {"-": "−"}
_FORMULA_COMMANDS = ((TokenKind.COMMAND, "("), (TokenKind.COMMAND, "["))
_MATH_NAMES = """math displaymath equation align alignat gather multline eqnarray aligned gathered split cases
dcases matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix subarray array"""
_MATH_ENVIRONMENTS = frozenset(_MATH_NAMES.split())
_FENCES = {"pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}", "vmatrix": "||", "Vmatrix": "‖‖", "cases": "{ "}
_ENVIRONMENT_ARGUMENTS = by_name(COMMANDS["environments"])


class Printer:
    """Prints ranges of a source; `special` maps commands to their own printing functions."""

    def __init__(self, source: LatexSource, special: dict[str, Special]) -> None:
        self.source = source
        self.special = special
        self._depth = 0
        self._script_depth = 0

    def print(self, span: Range, math: bool) -> str:
        """Return the text of a range."""
        return self.formula(span) if math else self.text(span)

    def formula(self, span: Range, *, spaced: bool | None = None) -> str:
        """Return the text of a range in math mode; in scripts nothing is spaced."""
        return join(self.atoms(span), spaced=self._script_depth == 0 if spaced is None else spaced)

    def text(self, span: Range) -> str:
        """Return the text of a range in text mode."""
        self._enter(span)
        pieces: list[str] = []
        index, end = span
        tokens = self.source.tokens
        while index < end:
            kind, text, _, _ = tokens[index]
            if kind is TokenKind.SPACE or (kind is TokenKind.CHAR and text not in _LIGATURES):
                pieces.append(text)
                index += 1
                continue
            piece, index = self._piece(index, end, math=False)
            pieces.append(str(piece))
        self._depth -= 1
        return "".join(pieces)

    def atoms(self, span: Range) -> list[Atom]:
        """Return the atoms of a range in math mode."""
        self._enter(span)
        line: list[Atom] = []
        index, end = span
        while index < end:
            token = self.source.tokens[index]
            if token.kind in (TokenKind.SUPER, TokenKind.SUB) or (
                token.kind is TokenKind.CHAR and token.text == "'"
            ):
                index = self._attach_script(line, token, index, end)
            elif token.kind is TokenKind.COMMAND and token.text in ("over", "atop"):
                rest = self.atoms((index + 1, end))
                line, index = [fraction(join(line), join(rest))], end
            elif token.kind is TokenKind.SPACE:
                index += 1
            elif token.kind is TokenKind.CHAR:
                line += [atom(_MATH_CHARACTERS.get(character, character)) for character in token.text]
                index += 1
            else:
                item, index = self._piece(index, end, math=True)
                line.append(item)
        self._depth -= 1
        return line

    def operand(self, index: int, end: int, math: bool) -> tuple[str, int]:
        r"""Return the operand of a script or an accent: a group, a character, or a command with its
        arguments.
        """
        index = self.source.skip_space(index, end)
        self._script_depth += 1
        if index < end and self.source.tokens[index].kind is TokenKind.COMMAND:
            self._enter((index, end))
            printed, index = self.command(index, end, math)
            self._depth -= 1
            text = str(printed)
        else:
            argument, index = self.source.argument(index, end)
            text = self.print(argument, math)
        self._script_depth -= 1
        return text, index

    def command(self, index: int, end: int, math: bool) -> Printed:
        """Return the printed form of the command at `index`."""
        name = self.source.tokens[index].text
        index += 1
        if name in self.special:
            return self.special[name](self, index, end, math)
        if name in LINE_BREAKS:
            behind = self.source.starred(index, end) if name == "\\" else index
            return Atom("\n"), self.source.skip_arguments("l", behind, end)
        if name in SIGNATURES:
            return self._known(name, SIGNATURES[name], index, end, math)
        found = self.symbol(name)
        if found is not None:
            printed = Atom(found, Class.FUNCTION) if name in FUNCTIONS else atom(found)
            return printed, self._skip_gobbled_space(name, index, end, math)
        return self._unknown(name, index, end, math)

    def symbol(self, name: str) -> str | None:
        """Return the text of a command that stands for characters."""
        return symbol(name)

    def knows_all(self, span: Range) -> bool:
        """Return whether every command in a range is known, so that what it prints is certain."""
        commands = (t.text for t in self.source.tokens[span[0] : span[1]] if t.kind is TokenKind.COMMAND)
        return all(
            n in self.special or n in LINE_BREAKS or n in SIGNATURES or symbol(n) is not None
            for n in commands
        )

    def _enter(self, span: Range) -> None:
        self._depth += 1
        if self._depth > MAX_LATEX_DEPTH:
            start, end = span
            position = self.source.tokens[start].start if start < end else None
            raise FormatError(f"LaTeX nested deeper than {MAX_LATEX_DEPTH} levels", position=position)

    def _piece(self, index: int, end: int, math: bool) -> Printed:
        """Return the printed form of a token, with the group that it opens or the arguments that it takes."""
        token, closes = self.source.tokens[index], min(self.source.partner[index], end)
        printed = Atom(""), index + 1
        if token.kind in (TokenKind.TIE, TokenKind.ALIGN):
            printed = Atom(" ", Class.SPACE), index + 1
        elif token.kind is TokenKind.VERB:
            printed = Atom(token.text), index + 1
        elif token.kind is TokenKind.OPEN and closes != ALONE:
            printed = Atom(self.print((index + 1, closes), math)), closes + 1
        elif token.kind is TokenKind.BEGIN:
            printed = self._environment(index, end, math)
        elif not math and (token.kind is TokenKind.MATH or token[:2] in _FORMULA_COMMANDS):
            printed = self._formula(token, index, end)
        elif token.kind is TokenKind.COMMAND:
            printed = self.command(index, end, math)
        elif not math and token.kind is TokenKind.CHAR:
            printed = self._ligature(token, index, end)
        elif not math and token.kind in (TokenKind.SUPER, TokenKind.SUB):
            inner, behind = self.operand(index + 1, end, math=False)
            printed = Atom(script(token.text, inner.strip())), behind
        return printed

    def _ligature(self, token: Token, index: int, end: int) -> Printed:
        options = _LIGATURES.get(token.text, ())
        for source, text in zip(options[::2], options[1::2], strict=True):
            behind = index + len(source)
            tokens = self.source.tokens[index : min(behind, end)]
            if "".join(t.text for t in tokens if t.kind is TokenKind.CHAR) == source:
                return Atom(text), behind
        return Atom(token.text), index + 1

    def _formula(self, token: Token, index: int, end: int) -> Printed:
        r"""Return a formula from `$`, `$$`, `\(` or `\[` to its end; a lone dollar is a dollar."""
        is_dollar, closes = token.kind is TokenKind.MATH, self.source.partner[index]
        if is_dollar:
            outer = self.source.outer((index + 1, end))
            closes = next((i for i in outer if self.source.tokens[i][:2] == token[:2]), ALONE)
        if closes == ALONE or closes >= end:
            return Atom("$" * is_dollar), index + 1
        return Atom(self.formula((index + 1, closes))), closes + 1

    def _attach_script(self, line: list[Atom], token: Token, index: int, end: int) -> int:
        if token.kind is TokenKind.CHAR:
            inner, behind = "'", index + 1
        else:
            inner, behind = self.operand(index + 1, end, math=True)
        if not line or line[-1].kind is Class.SPACE:
            line.append(Atom(""))
        inner = " ".join(inner.split())
        if token.kind is TokenKind.SUB:
            line[-1].sub += inner
        else:
            line[-1].sup += inner
        return behind

    def _environment(self, index: int, end: int, math: bool) -> Printed:
        name = self.source.tokens[index].text
        closes = self.source.partner[index]
        if closes == ALONE or closes > end:
            return Atom(""), index + 1
        start = index + 1
        if name in TABLE_ENVIRONMENTS:
            _, start = column_specification(self.source, name, start, closes)
        else:
            start = self.source.skip_arguments(_ENVIRONMENT_ARGUMENTS.get(name, ""), start, closes)
        is_math = (math or name.rstrip("*") in _MATH_ENVIRONMENTS) and name not in ("tabular", "minipage")
        fences = _FENCES.get(name, "  ")
        inner = self._lines((start, closes)) if is_math else self.text((start, closes))
        return Atom(f"{fences[0]}{inner}{fences[1]}"), closes + 1

    def _lines(self, span: Range) -> str:
        r"""Return the lines of a matrix or an alignment: `\\` ends a line, `&` is a gap."""
        lines: list[str] = []
        start, end = span
        for index in self.source.outer(span):
            token = self.source.tokens[index]
            if token.kind is TokenKind.ALIGN or (token.kind is TokenKind.COMMAND and token.text == "\\"):
                lines.append(self.formula((start, index)) + (" " if token.kind is TokenKind.ALIGN else "\n"))
                start = index + 1
        return "".join([*lines, self.formula((start, end))])

    def _known(self, name: str, signature: str, index: int, end: int, math: bool) -> Printed:
        arguments, index = self.source.arguments(signature, index, end)
        printed: list[str] = []
        for kind, argument in arguments:
            if kind == "V":
                printed.append(self.source.raw(argument))
            elif kind.isupper():
                printed.append(self.print(argument, math and name not in TEXT_IN_MATH))
        text = " ".join(printed)
        if name in SPACING:
            return Atom(" ", Class.SPACE), index
        return Atom(text), index if signature else self._skip_gobbled_space(name, index, end, math)

    def _unknown(self, name: str, index: int, end: int, math: bool) -> Printed:
        r"""Return all arguments in braces, or else the name: `\ours` is most likely set as a word."""
        arguments: list[str] = []
        while (
            index < end
            and self.source.tokens[index].kind is TokenKind.OPEN
            and self.source.partner[index] != ALONE
        ):
            argument, index = self.source.argument(index, end)
            arguments.append(self.print(argument, math and name not in TEXT_IN_MATH))
        if arguments:
            return Atom(" ".join(filter(None, arguments))), index
        behind = self._skip_gobbled_space(name, index, end, math)
        is_cut = index == end < len(self.source.tokens) and self.source.tokens[index].kind is TokenKind.OPEN
        return Atom(name if name.isalpha() and not is_cut else ""), behind

    def _skip_gobbled_space(self, name: str, index: int, end: int, math: bool) -> int:
        r"""Skip blanks behind a command made of letters, like TeX."""
        return self.source.skip_space(index, end) if name.isalpha() and not math else index


def fraction(numerator: str, denominator: str) -> Atom:
    """Return a fraction on one line; parentheses where it would be read wrongly without them."""
    return Atom(f"{_factor(numerator)}/{_factor(denominator)}", Class.FRACTION)


def _factor(text: str) -> str:
    return f"({text})" if any(c in text for c in " +−±·×/") and not _is_enclosed(text) else text


def _is_enclosed(text: str) -> bool:
    """Return whether the parenthesis at the start is closed at the very end: (a + b), not (a) + (b)."""
    if not text.startswith("("):
        return False
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(text) - 1
    return True
