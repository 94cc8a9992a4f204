"""What differs between two formulas: symbol by symbol, by how much it changes what they say."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest

from rapidfuzz.distance import Levenshtein

from parsemark.formats.latex.formula import CLOSE, GAP, NEW_LINE, Symbols
from parsemark.formats.latex.slashes import readings

_LOOK_ALIKE = "νvυ χx× θϑ αa ρpϱ ħh μu κk ωw γy τt ηn oO0°∘ l1I| εe∈ ∂δ ⟨(<[ ⟩)>] LΛ ø∅ ≡="
_ALIKE = frozenset(frozenset((a, b)) for group in _LOOK_ALIKE.split() for a in group for b in group if a != b)
_MARKS = frozenset(
    f"{name}("
    for name in ("hat", "bar", "tilde", "vec", "dot", "ddot", "check", "breve", "acute", "grave", "ring")
)
_BREAKS = frozenset(["&", ";;"])
"""Where columns and rows of a matrix end."""
_LAYOUT = frozenset([CLOSE, "over"])
"""Where groups end and fractions are cut, which is compared as a whole."""
_CONSTANTS = frozenset("π∞")
"""Letters and signs with a value of their own, as digits have it."""
_PUNCTUATION = frozenset([",", ";", ".", NEW_LINE, GAP])
_ENDS = frozenset([NEW_LINE, GAP])
"""Where the layout parts what a comma may part as well."""
_EQUATION_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?'?\)")
_SPACES = ("\\quad", "\\qquad", "\\hfill", "\\;", "\\,", "\\:", "\\ ", "~", "\\eqno")
_Pair = tuple[str | None, str | None]
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
        if self.written == self.given == CLOSE:
            return f"a root, fraction, script or other group ends elsewhere{again}."
        if self.written == self.given == "over":
            return f"a fraction has its bar elsewhere{again}."
        if self.given is None:
            return f"{_name(self.written)} is lost{again}."
        if self.written is None:
            return f"{_name(self.given)} is added{again}."
        return f"{_name(self.written)} is read as {_name(self.given)}{again}."


def compare_formulas(
    truth: Symbols, pred: Symbols, weight: Callable[[FormulaError], float]
) -> tuple[list[FormulaError], int]:
    """The differences of two formulas, and the symbols of the longer one; slashes may be fractions."""
    pairs = zip_longest(readings(truth), readings(pred))
    read = dict.fromkeys((expected or truth, given or pred) for expected, given in pairs)
    found = [(formula_errors(*pair), max(map(len, pair))) for pair in read]
    # Read so that they agree best.
    return min(found, key=lambda compared: sum(map(weight, compared[0])))


def formula_errors(truth: Symbols, pred: Symbols) -> list[FormulaError]:
    """The differences, equal ones taken together."""
    counts: Counter[_Pair] = Counter()
    first: dict[_Pair, int] = {}
    in_text: set[_Pair] = set()
    for edit in Levenshtein.opcodes(truth, pred):
        if edit.tag == "equal":
            continue
        written = truth[edit.src_start : edit.src_end]
        given = pred[edit.dest_start : edit.dest_end]
        for offset, replaced in enumerate(zip_longest(written, given)):
            for pair in _apart(*replaced):
                counts[pair] += 1
                first.setdefault(pair, edit.src_start + offset)
                if not (
                    _is_mark(truth, edit.src_start + offset) and _is_mark(pred, edit.dest_start + offset)
                ):
                    in_text.add(pair)
    found = [*_extents(counts, first), *_bars(counts, first)]
    if _changed(counts, "matrix("):  # what is lost with it is no error of its own
        counts = Counter({pair: n for pair, n in counts.items() if _BREAKS.isdisjoint(pair)})
    for pair, times in counts.items():
        kind = error_kind(*pair, mark=pair not in in_text)
        if kind in _OF_NAMES and _is_renamed(pair[0], pair[1], times, truth):
            kind = "renamed"
        if kind is not None:
            found.append(FormulaError(kind, pair[0], pair[1], first[pair], times))
    return sorted(found, key=lambda error: error.position)


def _apart(written: str | None, given: str | None) -> list[_Pair]:
    """A symbol in the place of a break, or of where a group ends or is cut, is one lost and one added."""
    marks = _BREAKS | _LAYOUT
    if written is None or given is None or (written in marks) == (given in marks):
        return [(written, given)]
    return [(written, None), (None, given)]


def _changed(counts: Counter[_Pair], symbol: str) -> int:
    """How many more of a symbol are lost than added, or the other way round."""
    lost = sum(n for pair, n in counts.items() if pair[0] == symbol)
    return abs(lost - sum(n for pair, n in counts.items() if pair[1] == symbol))


def _bars(counts: Counter[_Pair], first: dict[_Pair, int]) -> Iterable[FormulaError]:
    """Fractions that are there, but cut elsewhere: what stands above is below."""
    sides = [[pair for pair in counts if pair[side] == "over" != pair[1 - side]] for side in (0, 1)]
    moved = min(sum(counts[pair] for pair in pairs) for pairs in sides)
    if moved > 0:
        yield FormulaError("structure", "over", "over", min(first[pair] for pair in sides[0]), moved)


def _extents(counts: Counter[_Pair], first: dict[_Pair, int]) -> Iterable[FormulaError]:
    """Groups that end elsewhere: what a root, a fraction or a script covers has changed.

    The end of a group that is lost or added with its beginning says nothing of its own.
    """
    moved = []
    for side in (0, 1):
        ends = sum(n for pair, n in counts.items() if pair[side] == CLOSE and pair[1 - side] != CLOSE)
        begins = sum(n for pair, n in counts.items() if _opens(pair[side]) and not _opens(pair[1 - side]))
        moved.append(ends - begins)
    if min(moved) > 0:
        place = min(first[pair] for pair in counts if CLOSE in pair)
        yield FormulaError("structure", CLOSE, CLOSE, place, min(moved))


def _opens(symbol: str | None) -> bool:
    """Whether a symbol begins a group."""
    return symbol is not None and len(symbol) > 1 and symbol.endswith("(")


def without_number(source: str) -> str:
    r"""A formula in LaTeX without the number of the equation at its end, which is set off by space.

    >>> without_number(r"x=1 \quad (3)"), without_number("y=f(3)"), without_number("y=2a (3.2)")
    ('x=1 \\quad ', 'y=f(3)', 'y=2a ')
    """
    inner = source.rstrip().removesuffix("$$").removesuffix("\\]").removesuffix("$").rstrip()
    begin = inner.rfind("(")
    if begin < 1 or not inner.endswith(")") or _EQUATION_NUMBER.fullmatch(inner, begin) is None:
        return source
    before = inner[:begin].rstrip()
    set_off = before.endswith(_SPACES) or (len(before) < begin and "." in inner[begin:])
    return source[:begin] + source[len(inner) :] if set_off else source


def _is_mark(symbols: Symbols, position: int) -> bool:
    """Whether a symbol is all that a script says: `v^*` is the name of something as `v^c` is."""
    inside = 0 < position < len(symbols) - 1
    return inside and symbols[position - 1] in _SCRIPTS and symbols[position + 1] == CLOSE


def _is_renamed(written: str | None, given: str | None, times: int, truth: Symbols) -> bool:
    """Whether a name is given everywhere by one that the formula does not use: it is still distinct."""
    if written is None or given is None or given in truth or truth.count(written) != times:
        return False
    return _names(written) and _names(given)


def _names(symbol: str) -> bool:
    """Whether a symbol stands for something that the formula says nothing else about."""
    return _category(symbol, mark=False) in (_Category.LETTER, _Category.SYMBOL)


def error_kind(written: str | None, given: str | None, *, mark: bool = False) -> str | None:
    """What kind of error a pair is, of which one may be nothing; None if it changes nothing but the layout.

    A `mark` is all that a script says.
    """
    shown = [s for s in (written, given) if s is not None and s not in _LAYOUT]
    if not shown or (len(shown) == 2 and not _ENDS.isdisjoint(shown) and _PUNCTUATION.issuperset(shown)):
        return None
    if len(shown) == 2 and _are_alike(shown[0], shown[1]):
        return "look_alike"
    categories = {_category(s, mark) for s in shown}
    if len(categories) > 1 or len(set(map(_is_negated, shown))) > 1:
        return "another_kind"
    if _Category.LETTER in categories:
        return "symbol" if len(shown) == 2 else "lost_or_added"
    if all(s in _PUNCTUATION for s in shown):
        return "look_alike"
    # A plus for a minus says something else, as nothing for a minus does; another sign is seen to be missing.
    changed = len(shown) == 2 and bool(categories & {_Category.OPERATOR, _Category.RELATION})
    changed = changed or shown == ["-"]
    return "symbol" if changed else _KIND_OF.get(categories.pop(), "sign")


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
    if (len(symbol) > 1 and symbol.endswith("(")) or symbol in _BREAKS:
        return _Category.STRUCTURE
    if symbol.isalpha() and symbol != GAP:
        return _Category.LETTER
    found = next((category for category, signs in _SIGNS.items() if symbol in signs), _Category.SYMBOL)
    return _Category.LETTER if mark and found not in (_Category.RELATION, _Category.BRACKET) else found


_KIND_OF = {_Category.NUMBER: "symbol", _Category.STRUCTURE: "structure"}
_SIGNS = {
    _Category.BRACKET: frozenset("()[]{}⟨⟩⌈⌉⌊⌋‖|"),
    _Category.RELATION: frozenset("=<>≤≥≠∼≈≡∈∉∋⊂⊆⊃⊇⊊⊄→↦←↔⇒⇐⇔⟶⟵⟹≅≃≐∝:∣∤⊥∥≪≫≺≻⊢⊨"),
    _Category.OPERATOR: frozenset("+-·×*/±∓∘⊗⊕∧∨∩∪÷!∖⋅•⊙⊖†"),
    _Category.PUNCTUATION: _PUNCTUATION | {"'"},
}


def _are_alike(one: str, other: str) -> bool:
    if frozenset((one, other)) in _ALIKE or (one in _MARKS and other in _MARKS):
        return True
    letters = len(one) == len(other) == 1 and one.isalpha() and other.isalpha()
    return letters and _base(one) == _base(other)


def _is_negated(symbol: str) -> bool:
    """Whether a relation says the opposite: ≠, ∉."""
    return "\u0338" in unicodedata.normalize("NFD", symbol)


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
    "&": "the end of a column",
    ";;": "the end of a row",
    NEW_LINE: "the end of a line",
    GAP: "a gap",
}


def _name(symbol: str | None) -> str:
    if symbol is None:
        return "nothing"
    if symbol in _NAMES:
        return _NAMES[symbol]
    return f"the mark “{symbol[:-1]}”" if len(symbol) > 1 and symbol.endswith("(") else f"“{symbol}”"
