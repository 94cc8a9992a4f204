"""Formulas as a line of text, spaced as TeX spaces them.

TeX ignores the blanks in a formula and sets its own. So do we: `$a=b$` and `$a = b$` are both `a = b`, `$-1$`
is `−1`, and in scripts nothing is spaced (`x_{i+1}`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

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
        """The atom as text, with the scripts told from the text that follows."""
        upper = script("^", self.sup, following)
        return self.text + script("_", self.sub, upper or following) + upper


def atom(text: str) -> Atom:
    """An atom with the class that its character has in TeX."""
    return Atom(text, _CLASSES.get(text, Class.ORDINARY))


def runs_on(content: str, following: str) -> bool:
    """Whether a text would be read as one number or one word with what follows it."""
    last, first = content[-1:], following[:1]
    return (last.isdigit() and first.isdigit()) or (last.isalpha() and first.isalpha())


def script(mark: str, text: str, following: str = "") -> str:
    r"""A super- or subscript: braces where it has more than one character; degrees and primes are themselves.

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
    """The atoms as text, with spaces around operators that have something on both sides."""
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
    """An atom as text with its spaces; `following` is the text of the one behind it."""
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
    """Whether an operator stands between two things; a sign or a lone operator does not."""
    if before is None or after is None or before.kind in _NO_OPERAND or after.kind is Class.RELATION:
        return False
    return after.text[:1] not in tuple(")],;")


def _is_word(neighbour: Atom | None) -> bool:
    """Whether a function name or a fraction needs a gap to its neighbour."""
    if neighbour is None or neighbour.kind not in (Class.ORDINARY, Class.FUNCTION, Class.FRACTION):
        return False
    return neighbour.text[:1] not in tuple(")]}|/!:.'")
