"""`formula_reader`: does a formula still say what it said? Symbol by symbol, by how much each changes it."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rapidfuzz.distance import Levenshtein

from parsemark.formats.latex.formula import CLOSE, GAP, NEW_LINE, Symbols, read_formula
from parsemark.formats.latex.slashes import readings
from parsemark.metrics.base import MAX_CHARACTER_PAIRS, Metadata, Metric, check_pairs

_LOOK_ALIKE = "νvυ χx× θϑ αa ρpϱ ħh μu κk ωw γy τt ηn oO0°∘ l1I| εe∈ ∂δ ⟨(<[ ⟩)>] LΛ ø∅ ≡="
_ALIKE = frozenset(frozenset((a, b)) for group in _LOOK_ALIKE.split() for a in group for b in group if a != b)
_MARK_NAMES = "hat bar tilde vec dot ddot check breve acute grave ring"
_MARKS = frozenset(f"{name}(" for name in _MARK_NAMES.split())
_BREAKS = frozenset(["&", ";;"])  # where columns and rows of a matrix end
_LAYOUT = frozenset([CLOSE, "over"])  # where groups end and fractions are cut, which is compared as a whole
_CONSTANTS = frozenset("π∞")  # letters and signs with a value of their own, as digits have it
_PUNCTUATION = frozenset([",", ";", ".", NEW_LINE, GAP])
_ENDS = frozenset([NEW_LINE, GAP])  # where the layout parts what a comma may part as well
_EQUATION_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?'?\)")
_SPACES = ("\\quad", "\\qquad", "\\hfill", "\\;", "\\,", "\\:", "\\ ", "~", "\\eqno")
_Pair = tuple[str | None, str | None]
_SCRIPTS = ("^(", "_(")
_OF_NAMES = ("symbol", "another_kind", "sign")
"""What reading a name as another one is at first sight: ϖ as q, or ϖ as ∅."""
KINDS = ("look_alike", "renamed", "symbol", "another_kind", "sign", "structure", "lost_or_added")
FULL_SCORE = 10.0


@dataclass(frozen=True, slots=True)
class FormulaError:
    """Symbols that were read as others, `times` times in the formula; None is nothing."""

    kind: str
    written: str | None
    given: str | None
    position: int  # of the first one, in the truth's symbols
    times: int = 1

    @property
    def message(self) -> str:
        """Return the error in words."""
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


@dataclass(frozen=True, slots=True)
class FormulaParameters:
    """The fitted numbers (`python -m bench.formula_fit RATINGS.json`); the first seven weigh one error."""

    look_alike: float = 0.55
    """A symbol read as one that looks like it (ν as v), another case, another accent; a comma."""
    renamed: float = 0.79
    """A name given everywhere by one that the formula does not use: it still tells which one."""
    symbol: float = 2.06
    """A letter read as another one of the formula, or only in some places; a digit wrong, lost or added."""
    another_kind: float = 4.64
    """Something of another kind: a relation read as an operator, a letter as a bracket, π as a letter."""
    sign: float = 1.32  # an operator, relation or bracket read as another one, lost or added
    structure: float = 2.07  # a script, fraction, root, matrix or accent
    lost_or_added: float = 0.68
    again: float = 0.05  # share of the weight for each time that the same error comes again
    size: float = 0.46
    """Power of the formula's length by which errors are divided: 1 counts shares, 0 counts errors."""
    bend: float = 0.58  # power of the total: below 1, the first errors cost more than the next ones

    def weight(self, error: FormulaError) -> float:
        """Return the weight of an error with its repetitions."""
        weight: float = getattr(self, error.kind)
        return weight * (1 + self.again * (error.times - 1))

    def score(self, total: float, size: int) -> float:
        """Return the value for the weights of all errors of a formula of so many symbols."""
        return FULL_SCORE * math.exp(-((total / max(size, 1) ** self.size) ** self.bend))


FORMULA_PARAMETERS = FormulaParameters()


class FormulaReader(Metric[str]):
    r"""A formula as a person reads it, from 0 to 10, on the syntax of its LaTeX.

    Presentation is folded (`\left`, spacing, `\dfrac`, `\text`, operator names, brace style, fonts,
    alignment); what is left is a sequence of symbols and structure. An edit alignment finds the differences;
    each is weighted by how much it changes what the formula says, the same difference again counts less, and
    the total is set in relation to the formula's length and bent.

    `Score.details["errors"]` are the differences, strongest first: kind, where, message, cost.

    Empty cases: two empty formulas have 10; an empty formula against another has 0.

    Differences from the reference: there is none; it was fitted to people's ratings and checked against them
    (`docs/explanation/reader.md`).

    >>> metric = FormulaReader()
    >>> metric.score(r"\left(\dfrac{1}{2}\right)^n", r"$({1 \over 2})^{n}$").value
    10.0
    >>> metric.score(r"e^{-x^2/2\pi}", "e^{-x^{2}/2n}").details["errors"][0]["message"]
    '“π” is read as “n”.'
    """

    name = "formula_reader"
    metadata = Metadata(
        title="What a reader can take from a formula",
        kind="formula",
        range=(0.0, FULL_SCORE),
        citation="parsemark; rated formulas of Horn & Keuper (2025)",
        reference="human ratings of Horn & Keuper",
        both_empty=FULL_SCORE,
    )

    def compute(self, truth: str, pred: str) -> tuple[float, Mapping[str, Any]]:
        """Return value and the errors."""
        expected, given = read_formula(without_number(truth)), read_formula(without_number(pred))
        if not expected or not given:
            return (FULL_SCORE if expected == given else 0.0), {"errors": [], "n_errors": 0}
        check_pairs("symbols", len(expected), len(given), MAX_CHARACTER_PAIRS)
        errors, size = compare_formulas(expected, given, FORMULA_PARAMETERS.weight)
        total = sum(map(FORMULA_PARAMETERS.weight, errors))
        value = FORMULA_PARAMETERS.score(total, size)
        lost = FULL_SCORE - value
        told = [
            {
                "kind": error.kind,
                "where": {"symbol": error.position},
                "message": error.message,
                "cost": round(lost * FORMULA_PARAMETERS.weight(error) / total, 4),
            }
            for error in errors
        ]
        return value, {"errors": sorted(told, key=lambda e: -float(e["cost"])), "n_errors": len(told)}


# --- what differs between two formulas ---------------------------------------------------------------------


def compare_formulas(
    truth: Symbols, pred: Symbols, weight: Callable[[FormulaError], float]
) -> tuple[list[FormulaError], int]:
    """Return the differences of two formulas, and the symbols of the longer one; slashes may be fractions."""
    pairs = zip_longest(readings(truth), readings(pred))
    read = dict.fromkeys((expected or truth, given or pred) for expected, given in pairs)
    found = [(formula_errors(*pair), max(map(len, pair))) for pair in read]
    # Read so that they agree best.
    return min(found, key=lambda compared: sum(map(weight, compared[0])))


def formula_errors(truth: Symbols, pred: Symbols) -> list[FormulaError]:
    """Return the differences, equal ones taken together."""
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
                ends = (truth, edit.src_start + offset), (pred, edit.dest_start + offset)
                if not all(_is_mark(*end) for end in ends):
                    in_text.add(pair)
    found = [*_extents(counts, first), *_bars(counts, first)]
    lost, added = (sum(n for pair, n in counts.items() if pair[side] == "matrix(") for side in (0, 1))
    if lost != added:  # what is lost with it is no error of its own
        counts = Counter({pair: n for pair, n in counts.items() if _BREAKS.isdisjoint(pair)})
    for pair, times in counts.items():
        kind = error_kind(*pair, mark=pair not in in_text)
        if kind in _OF_NAMES and _is_renamed(pair[0], pair[1], times, truth):
            kind = "renamed"
        if kind is not None:
            found.append(FormulaError(kind, pair[0], pair[1], first[pair], times))
    return sorted(found, key=lambda error: error.position)


def _apart(written: str | None, given: str | None) -> list[_Pair]:
    """Return a symbol in the place of a break, or of where a group ends or is cut, is one lost and one
    added.
    """
    marks = _BREAKS | _LAYOUT
    if written is None or given is None or (written in marks) == (given in marks):
        return [(written, given)]
    return [(written, None), (None, given)]


def _bars(counts: Counter[_Pair], first: dict[_Pair, int]) -> Iterable[FormulaError]:
    """Yield fractions that are there, but cut elsewhere: what stands above is below."""
    sides = [[pair for pair in counts if pair[side] == "over" != pair[1 - side]] for side in (0, 1)]
    moved = min(sum(counts[pair] for pair in pairs) for pairs in sides)
    if moved > 0:
        yield FormulaError("structure", "over", "over", min(first[pair] for pair in sides[0]), moved)


def _extents(counts: Counter[_Pair], first: dict[_Pair, int]) -> Iterable[FormulaError]:
    """Yield groups that end elsewhere: what a root, a fraction or a script covers has changed.

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
    """Return whether a symbol begins a group."""
    return symbol is not None and len(symbol) > 1 and symbol.endswith("(")


def without_number(source: str) -> str:
    r"""Return a formula in LaTeX without the number of the equation at its end, which is set off by space.

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
    """Return whether a symbol is all that a script says: `v^*` is the name of something as `v^c` is."""
    inside = 0 < position < len(symbols) - 1
    return inside and symbols[position - 1] in _SCRIPTS and symbols[position + 1] == CLOSE


def _is_renamed(written: str | None, given: str | None, times: int, truth: Symbols) -> bool:
    """Return whether a name is given everywhere by one that the formula does not use: it is still
    distinct.
    """
    if written is None or given is None or given in truth or truth.count(written) != times:
        return False
    return {_category(s, mark=False) for s in (written, given)} <= {"letter", "symbol"}


def error_kind(written: str | None, given: str | None, *, mark: bool = False) -> str | None:
    """Return the error type of a pair, one side of which may be nothing; None if only the layout differs.

    A `mark` is all that a script says.
    """
    shown = [s for s in (written, given) if s is not None and s not in _LAYOUT]
    if not shown or (len(shown) == 2 and not _ENDS.isdisjoint(shown) and _PUNCTUATION.issuperset(shown)):
        return None
    if len(shown) == 2 and _are_alike(shown[0], shown[1]):
        return "look_alike"
    categories = {_category(s, mark) for s in shown}
    # With its stroke a relation says the opposite: ≠, ∉.
    if len(categories) > 1 or len({"\u0338" in unicodedata.normalize("NFD", s) for s in shown}) > 1:
        return "another_kind"
    if "letter" in categories:
        return "symbol" if len(shown) == 2 else "lost_or_added"
    if all(s in _PUNCTUATION for s in shown):
        return "look_alike"
    # A plus for a minus says something else, as nothing for a minus does; another sign is seen to be missing.
    changed = shown == ["-"] or (len(shown) == 2 and not categories.isdisjoint({"operator", "relation"}))
    return "symbol" if changed else _KIND_OF.get(categories.pop(), "sign")


def _category(symbol: str, mark: bool) -> str:
    """Return the role of a symbol in a formula: number, structure, letter, symbol, or as in `_SIGNS`."""
    if symbol.isdigit() or symbol in _CONSTANTS:
        return "number"
    if _opens(symbol) or symbol in _BREAKS:
        return "structure"
    if symbol.isalpha() and symbol != GAP:
        return "letter"
    found = next((category for category, signs in _SIGNS.items() if symbol in signs), "symbol")
    return "letter" if mark and found not in ("relation", "bracket") else found


_KIND_OF = {"number": "symbol", "structure": "structure"}
_SIGNS = {
    "bracket": frozenset("()[]{}⟨⟩⌈⌉⌊⌋‖|"),
    "relation": frozenset("=<>≤≥≠∼≈≡∈∉∋⊂⊆⊃⊇⊊⊄→↦←↔⇒⇐⇔⟶⟵⟹≅≃≐∝:∣∤⊥∥≪≫≺≻⊢⊨"),
    "operator": frozenset("+-·×*/±∓∘⊗⊕∧∨∩∪÷!∖⋅•⊙⊖†"),
    "punctuation": _PUNCTUATION | {"'"},
}


def _are_alike(one: str, other: str) -> bool:
    if frozenset((one, other)) in _ALIKE or (one in _MARKS and other in _MARKS):
        return True
    if not (len(one) == len(other) == 1 and one.isalpha() and other.isalpha()):
        return False
    base, given = (unicodedata.normalize("NFD", character)[0].casefold() for character in (one, other))
    return base == given


_NAMES = {
    None: "nothing", "^(": "a superscript", "_(": "a subscript", "frac(": "a fraction", "sqrt(": "a root",
    "matrix(": "a matrix", "over": "a fraction bar", CLOSE: "the end of a group", "&": "the end of a column",
    ";;": "the end of a row", NEW_LINE: "the end of a line", GAP: "a gap",
}  # fmt: skip


def _name(symbol: str | None) -> str:
    if symbol is None or symbol in _NAMES:
        return _NAMES[symbol]
    return f"the mark “{symbol[:-1]}”" if _opens(symbol) else f"“{symbol}”"
