"""Formulas as a line of text, spaced as TeX spaces them.

TeX ignores the blanks in a formula and sets its own. So do we: `$a=b$` and `$a = b$` are both `a = b`, `$-1$`
is `−1`, and in scripts nothing is spaced (`x_{i+1}`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

_BINARY = frozenset("*+−±∓×÷·∗∘∪∩∧∨⊕⊗⊖⊙⊘∖⋆⋄•∔⋉⋊⋒⋓⊎⊓⊔⋏⋎⊼⊻⊞⊟⊠⊡⋇⊺⋋⋌⨯⩞⌅⌆⊛⊚⊝")
_RELATION = frozenset("=<>≤≥⩽⩾≪≫≠≈∼≃≅≡∝∈∉∋⊂⊃⊆⊇→←↔⇒⇐⇔⟶⟵⟹⟸⟺↦≲≳≺≻≼≽⊢⊣⊨≔≜≐∥⊥⟷")
_OPENING = frozenset("([{⟨⌊⌈")
_GAP = re.compile(" +")
_PUNCTUATION = frozenset(",;")


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


_NO_OPERAND = (Class.OPENING, Class.PUNCTUATION, Class.BINARY, Class.RELATION, Class.FUNCTION)


@dataclass(slots=True)
class Atom:
    """A piece of a formula with its scripts."""

    text: str
    kind: Class = Class.ORDINARY
    sub: str = ""
    sup: str = ""

    def __str__(self) -> str:
        return self.text + script("_", self.sub) + script("^", self.sup)


def atom(text: str) -> Atom:
    """An atom with the class that its character has in TeX."""
    if text in _BINARY:
        return Atom(text, Class.BINARY)
    if text in _RELATION:
        return Atom(text, Class.RELATION)
    if text in _OPENING:
        return Atom(text, Class.OPENING)
    if text in _PUNCTUATION:
        return Atom(text, Class.PUNCTUATION)
    return Atom(text, Class.SPACE if text == " " else Class.ORDINARY)


def script(mark: str, text: str) -> str:
    r"""A super- or subscript: braces where it has more than one character; degrees and primes are themselves.

    >>> script("^", "2"), script("_", "ij"), script("^", "∘"), script("^", "'")
    ('^2', '_{ij}', '°', "'")
    """
    if not text:
        return ""
    if mark == "^":
        if text in ("∘", "°"):
            return "°"
        primes = len(text) - len(text.lstrip("'′"))
        if primes:
            return text[:primes].replace("′", "'") + script("^", text[primes:].strip())
    return mark + (text if len(text) == 1 else f"{{{text}}}")


def join(atoms: Iterable[Atom], spaced: bool = True) -> str:
    """The atoms as text, with spaces around operators that have something on both sides."""
    line = [a for a in atoms if a.kind is Class.SPACE or a.text or a.sub or a.sup]
    if not spaced:
        return "".join(" " if a.kind is Class.SPACE else str(a) for a in line).strip()
    pieces: list[str] = []
    for index, item in enumerate(line):
        before = line[index - 1] if index else None
        after = line[index + 1] if index + 1 < len(line) else None
        pieces.append(_spaced(item, before, after))
    return _GAP.sub(" ", "".join(pieces)).strip()


def _spaced(item: Atom, before: Atom | None, after: Atom | None) -> str:
    text = str(item)
    if item.kind is Class.SPACE:
        text = " "
    elif item.kind is Class.PUNCTUATION and after is not None:
        is_in_number = before is not None and (before.text + after.text).isdigit()
        text = text if is_in_number else f"{text} "
    elif item.kind in (Class.FUNCTION, Class.FRACTION):
        text = _is_word(before) * " " + text + _is_word(after) * " "
    elif item.kind in (Class.BINARY, Class.RELATION) and _has_operands(before, after):
        text = f" {text} "
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
