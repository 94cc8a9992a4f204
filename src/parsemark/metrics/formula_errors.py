"""What differs between two formulas: symbol by symbol, by how much it changes what they say."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest

from rapidfuzz.distance import Levenshtein

from parsemark.formats.latex.formula import CLOSE, Symbols

_LOOK_ALIKE = "νvυ χx× θϑ αa ρpϱ ħh μu κk ωw γy τt ηn o0 l1I| εe∈ ∂δ ⟨(<[ ⟩)>] LΛ ø∅"
_ALIKE = frozenset(frozenset((a, b)) for group in _LOOK_ALIKE.split() for a in group for b in group if a != b)
_MARKS = frozenset(
    f"{name}("
    for name in ("hat", "bar", "tilde", "vec", "dot", "ddot", "check", "breve", "acute", "grave", "ring")
)
_LAYOUT = frozenset([CLOSE, "&", ";;", "over"])
_CONSTANTS = frozenset("π∞")
"""Letters and signs with a value of their own, as digits have it."""
_PUNCTUATION = frozenset(",;.")
_SCRIPTS = ("^(", "_(")
_OF_NAMES = ("symbol", "another_kind", "sign")
"""What reading a name as another one is at first sight: ϖ as q, or ϖ as ∅."""
KINDS = ("look_alike", "renamed", "symbol", "another_kind", "sign", "structure", "lost_or_added")


@dataclass(frozen=True, slots=True)
class FormulaError:
    """Symbols that were read as others, `times` times in the formula; None is nothing."""

    kind: str
    written: str | None
    given: str | None
    position: int
    """Of the first one, in the truth's symbols."""
    times: int = 1

    @property
    def message(self) -> str:
        """The error in words."""
        again = f" ({self.times} times)" if self.times > 1 else ""
        if self.given is None:
            return f"{_name(self.written)} is lost{again}."
        if self.written is None:
            return f"{_name(self.given)} is added{again}."
        return f"{_name(self.written)} is read as {_name(self.given)}{again}."


def formula_errors(truth: Symbols, pred: Symbols) -> list[FormulaError]:
    """The differences, equal ones taken together."""
    counts: Counter[tuple[str | None, str | None]] = Counter()
    first: dict[tuple[str | None, str | None], int] = {}
    in_text: set[tuple[str | None, str | None]] = set()
    for edit in Levenshtein.opcodes(truth, pred):
        if edit.tag == "equal":
            continue
        written = truth[edit.src_start : edit.src_end]
        given = pred[edit.dest_start : edit.dest_end]
        for offset, pair in enumerate(zip_longest(written, given)):
            counts[pair] += 1
            first.setdefault(pair, edit.src_start + offset)
            if not (_is_mark(truth, edit.src_start + offset) and _is_mark(pred, edit.dest_start + offset)):
                in_text.add(pair)
    found = []
    for pair, times in counts.items():
        kind = error_kind(*pair, mark=pair not in in_text)
        if kind in _OF_NAMES and _is_renamed(pair[0], pair[1], times, truth):
            kind = "renamed"
        if kind is not None:
            found.append(FormulaError(kind, pair[0], pair[1], first[pair], times))
    return sorted(found, key=lambda error: error.position)


def _is_mark(symbols: Symbols, position: int) -> bool:
    """Whether a symbol is all that a script says: `v^*` is the name of something as `v^c` is."""
    inside = 0 < position < len(symbols) - 1
    return inside and symbols[position - 1] in _SCRIPTS and symbols[position + 1] == CLOSE


def _is_renamed(written: str | None, given: str | None, times: int, truth: Symbols) -> bool:
    """Whether a name is given everywhere by one that the formula does not use: it is still told apart."""
    return (
        written is not None
        and given is not None
        and _names(written)
        and _names(given)
        and given not in truth
        and truth.count(written) == times
    )


def _names(symbol: str) -> bool:
    """Whether a symbol stands for something that the formula says nothing else about."""
    return _category(symbol, mark=False) in (_Category.LETTER, _Category.SYMBOL)


def error_kind(written: str | None, given: str | None, *, mark: bool = False) -> str | None:
    """What kind of error a pair is; None for one that changes nothing but the layout.

    Args:
        written: The symbol of the truth; None where there is none.
        given: What is given for it; None for nothing.
        mark: Whether both are all that a script says.
    """
    shown = [s for s in (written, given) if s is not None and s not in _LAYOUT]
    if not shown:
        return None
    if len(shown) == 2 and _are_alike(shown[0], shown[1]):
        return "look_alike"
    categories = {_category(s, mark) for s in shown}
    if len(categories) > 1:
        return "another_kind"
    if _Category.LETTER in categories:
        return "symbol" if len(shown) == 2 else "lost_or_added"
    if all(s in _PUNCTUATION for s in shown):
        return "look_alike"
    return _KIND_OF.get(categories.pop(), "sign")


class _Category(Enum):
    """What a symbol does in a formula."""

    LETTER = "letter"
    NUMBER = "number"
    RELATION = "relation"
    OPERATOR = "operator"
    BRACKET = "bracket"
    PUNCTUATION = "punctuation"
    STRUCTURE = "structure"
    SYMBOL = "symbol"


def _category(symbol: str, mark: bool) -> _Category:
    if symbol.isdigit() or symbol in _CONSTANTS:
        return _Category.NUMBER
    if len(symbol) > 1 and symbol.endswith("("):
        return _Category.STRUCTURE
    if symbol.isalpha():
        return _Category.LETTER
    found = next((category for category, signs in _SIGNS.items() if symbol in signs), _Category.SYMBOL)
    return _Category.LETTER if mark and found not in (_Category.RELATION, _Category.BRACKET) else found


_KIND_OF = {_Category.NUMBER: "symbol", _Category.STRUCTURE: "structure"}
_SIGNS = {
    _Category.BRACKET: frozenset("()[]{}⟨⟩⌈⌉⌊⌋‖|"),
    _Category.RELATION: frozenset("=<>≤≥≠∼≈≡∈∉∋⊂⊆⊃⊇⊊⊄→↦←↔⇒⇐⇔⟶⟵⟹≅≃≐∝:∣∤⊥∥≪≫≺≻⊢⊨"),
    _Category.OPERATOR: frozenset("+-·×*/±∓∘⊗⊕∧∨∩∪÷!∖⋅•⊙⊖†"),
    _Category.PUNCTUATION: frozenset(",;.'"),
}


def _are_alike(one: str, other: str) -> bool:
    if frozenset((one, other)) in _ALIKE or (one in _MARKS and other in _MARKS):
        return True
    return len(one) == len(other) == 1 and _base(one) == _base(other)


def _base(character: str) -> str:
    return unicodedata.normalize("NFD", character)[0].casefold()


_NAMES = {
    "^(": "a superscript",
    "_(": "a subscript",
    "frac(": "a fraction",
    "sqrt(": "a root",
    "matrix(": "a matrix",
    "over": "a fraction bar",
    CLOSE: "the end of a group",
}


def _name(symbol: str | None) -> str:
    if symbol is None:
        return "nothing"
    if symbol in _NAMES:
        return _NAMES[symbol]
    return f"the mark “{symbol[:-1]}”" if len(symbol) > 1 and symbol.endswith("(") else f"“{symbol}”"
