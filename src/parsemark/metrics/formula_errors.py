"""What differs between two formulas: symbol by symbol, by how much it changes what they say."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
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
KINDS = ("look_alike", "renamed", "letter", "number", "sign", "structure", "lost_or_added")


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
    for edit in Levenshtein.opcodes(truth, pred):
        if edit.tag == "equal":
            continue
        written = truth[edit.src_start : edit.src_end]
        given = pred[edit.dest_start : edit.dest_end]
        for offset, pair in enumerate(zip_longest(written, given)):
            counts[pair] += 1
            first.setdefault(pair, edit.src_start + offset)
    found = []
    for pair, times in counts.items():
        kind = error_kind(*pair)
        if kind == "letter" and _is_renamed(pair[0], pair[1], times, truth):
            kind = "renamed"
        if kind is not None:
            found.append(FormulaError(kind, pair[0], pair[1], first[pair], times))
    return sorted(found, key=lambda error: error.position)


def _is_renamed(written: str | None, given: str | None, times: int, truth: Symbols) -> bool:
    """Whether a letter is read everywhere as one that the formula does not use: it is still told apart."""
    return (
        written is not None
        and written not in _CONSTANTS
        and given not in truth
        and truth.count(written) == times
    )


def error_kind(written: str | None, given: str | None) -> str | None:
    """What kind of error a pair is; None for one that changes nothing but the layout."""
    shown = [s for s in (written, given) if s is not None and s not in _LAYOUT]
    if not shown:
        return None
    if written is not None and given is not None and _are_alike(written, given):
        return "look_alike"
    if any(s.isdigit() for s in shown):
        return "number"
    if any(len(s) > 1 and s.endswith("(") for s in shown):
        return "structure"
    if any(not s.isalpha() for s in shown):
        return "sign"
    return "letter" if len(shown) == 2 else "lost_or_added"


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
