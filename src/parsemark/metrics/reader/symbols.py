r"""What a prediction writes in another way than the truth: look-alikes, ways to say yes and no, citations.

A cross is a cross, whichever of Unicode's crosses it is. The classes are those of Unicode's confusables
(UTS #39) restricted to symbols and punctuation, joined with the weights and styles of one shape (★ and ☆,
✓ and √) that its data keep apart. Where the truth itself uses two of a class they mean different things, and
nothing is folded.

A mark and an empty cell say the same as a mark and a sign that says no. A table that ticks what there is
leaves the other cells empty. Who reads it may write a no into them, or leave empty what the table says no
to. Neither says anything that the other does not, as long as it is done alike throughout: so the prediction
is taken with the truth's way to say no.

Citations stand on the page, and the truth, made of its source, leaves them out: `BERT \cite{devlin}` is
printed as `BERT [12]`, `BERT [DCLT19]` or `BERT (Devlin et al., 2019)`.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product

from parsemark.metrics.reader.sheet import Sheet
from parsemark.metrics.reader.texts import SAYING_NO, SAYING_YES
from parsemark.metrics.reader.value_kinds import CHECKED, UNCHECKED

_IN_PAIRS = {"0": "1", "n": "y", "f": "t", "absent": "present", "○": "●", "□": "■"}
"""What says no beside what says yes, and something else elsewhere; case folded."""
_MARKS = frozenset("✓√×✗xX•●*★+■◆▲oO○∘")  # signs that alone in a cell may mark that something is there
_CASES: tuple[Callable[[str], str], ...] = (str, str.upper, str.capitalize)
_YES, _NO = (frozenset(case(w) for w in words for case in _CASES) for words in (SAYING_YES, SAYING_NO))
_NO_BESIDE = {case(no): case(yes) for no, yes in _IN_PAIRS.items() for case in _CASES}
_AFFIRMED = (_YES | _MARKS) - set("×✗○∘oO+■")  # marks that affirm, wherever they stand
_ANSWERS = _NO | _NO_BESIDE.keys() | _AFFIRMED  # without any of these a table does not say yes or no


def with_no_as_in(truth: Sheet, pred: Sheet) -> Sheet:
    """Return the prediction with empty cells for no where the truth has them, or the truth's no for empty
    cells.
    """
    if _ANSWERS.isdisjoint(truth.said) and _ANSWERS.isdisjoint(pred.said):
        return pred
    # All that is said below the first row and behind the first column.
    ours, theirs = (frozenset([t for row in sheet.texts[1:] for t in row[1:]]) for sheet in (truth, pred))
    no = _way_to_say_no(theirs, besides=ours)
    marks = [mark for mark in ours & (_MARKS | _YES) if _has_marks_alone(truth, mark)] if no else []
    if no and marks:
        # A box that is checked is the truth's mark.
        checked = {_NO_BESIDE[no]: "Yes"} if no in _NO_BESIDE else {CHECKED: marks[0]}
        return _replaced(pred, _ways_to_answer(no) & theirs, {no: ""} | checked)
    no = _way_to_say_no(ours, besides=theirs)
    if no and _is_said_without_gaps(truth, no, _ways_to_answer(no) & ours):
        # The truth's own yes without its no is no other way to write: the no is lost.
        # An empty box is no sign of its own.
        others = theirs & (_MARKS - ours | ({CHECKED} if no == UNCHECKED else set()))
        marks = [mark for mark in others if _has_marks_alone(pred, mark)]
        return _filled(pred, marks[0], no) if len(marks) == 1 else pred
    ours, theirs = ours & _AFFIRMED, theirs & _AFFIRMED
    if len(ours) == len(theirs) == 1 and ours != theirs:  # each with its own mark
        (mark,), (given,) = ours, theirs
        if _has_marks_alone(truth, mark) and _has_marks_alone(pred, given):
            return pred.rewritten(lambda text, _: mark if text == given else text)
    return pred


def answers(sheet: Sheet) -> Sheet | None:
    """Return a questionnaire as a list: for each question the header over its mark, if each has one."""
    if sheet.n_cols < 3 or sheet.n_rows < 3:  # two questions, two answers
        return None
    rows = [[sheet.shown[0][0], ""]]
    for shown, texts in zip(sheet.shown[1:], sheet.texts[1:], strict=True):
        marked = [c for c, text in enumerate(texts) if c and text in _AFFIRMED]
        others = {text for c, text in enumerate(texts) if c and c not in marked}
        if len(marked) != 1 or not others <= _NO | {""}:
            return None
        rows.append([shown[0], sheet.shown[0][marked[0]]])
    return Sheet.from_rows(rows)


def _way_to_say_no(said: frozenset[str], besides: frozenset[str]) -> str | None:
    """Return the only sign for no among some texts, if the others have none."""
    found = said & _NO or {no for no in said & _NO_BESIDE.keys() if _NO_BESIDE[no] in said}
    return next(iter(found)) if len(found) == 1 and found.isdisjoint(besides) and not besides & _NO else None


def _ways_to_answer(no: str) -> frozenset[str]:
    """Return a sign for no, and all that say yes beside it."""
    return frozenset({no, _NO_BESIDE[no]}) if no in _NO_BESIDE else _YES | _MARKS | {no}


_Lines = dict[int, Sequence[str]]


def _marked(sheet: Sheet, marks: frozenset[str]) -> tuple[_Lines, _Lines]:
    """Return rows and columns that say little but one of some marks: a name, and perhaps a sum."""

    def chosen(lines: Iterable[Sequence[str]]) -> _Lines:
        counted = ((k, line, sum(text in marks for text in line[1:])) for k, line in enumerate(lines))
        return {k: line for k, line, n in counted if 2 * n > sum(map(bool, line[1:]))}

    return chosen(sheet.texts), chosen(zip(*sheet.texts, strict=True))


def _has_marks_alone(sheet: Sheet, mark: str) -> bool:
    """Return whether there are rows or columns with a mark or nothing in their cells."""
    rows, columns = _marked(sheet, frozenset({mark}))
    lines = [*rows.values(), *columns.values()]
    return any("" in line[1:] for line in lines) and sum(line.count(mark) for line in lines) > 1


def _is_said_without_gaps(truth: Sheet, no: str, said: frozenset[str]) -> bool:
    """Return whether the truth says yes or no in each cell of the rows or columns in which it does."""
    rows, columns = _marked(truth, said)
    lines = [line for line in (*rows.values(), *columns.values()) if no in line]
    return bool(lines) and not any("" in line[1:] for line in lines)


def _filled(pred: Sheet, mark: str, no: str) -> Sheet:
    """Return the prediction with a no in the empty cells beside its marks."""
    marked = [(r, c) for r, row in enumerate(pred.texts) for c, text in enumerate(row) if text == mark]
    top, left = map(min, zip(*marked, strict=True))
    said = {"": no, mark: CHECKED if no == UNCHECKED else _NO_BESIDE.get(no, mark)}
    return _replaced(pred, frozenset({mark}), said, min(top, pred.header_rows or top), left)


def _replaced(pred: Sheet, marks: frozenset[str], said: dict[str, str], top: int = 0, left: int = 0) -> Sheet:
    """Return the prediction with other texts in lines of marks, from a row and a column on."""
    rows, columns = _marked(pred, marks)
    texts, present = [list(row) for row in pred.texts], [list(row) for row in pred.present]
    for r, c in product(range(top, pred.n_rows), range(left, pred.n_cols)):
        if texts[r][c] in said and (r in rows or c in columns):
            texts[r][c], present[r][c] = said[texts[r][c]], True
    return pred.with_texts(texts, present)


_SHAPES = """
    ×✗✘✕✖╳⨯⤫⤬☓᙮ ✓✔√☑ °○◯∘◦⚪⚬˚º •●⬤⚫·‧∙⋅⦁ *★☆∗⋆✱✳✶✦⭐⁎٭ Δ△▵∆ ▲▴🔺 ∇▽▿ ▼▾🔻 □☐▢◻⬜ ■▪◼⬛█∎
    ◇⋄♢◊ ◆♦⬥ ▷⊳▹ ◁⊲◃ ▶▸► ◀◂◄ →⟶➔➜➝ ←⟵ ↑⬆⇧ ↓⬇⇩ ⟨〈❬‹<≺ ⟩〉❭›>≻ ∅⌀Ø ε∈є ⊙☉⨀ ⊗⨂ ⊕⨁ ∑Σ ∏Π
    †✝ |‖∣∥¦ ~∼˜⁓ ∪⋃ ∩⋂ ∧⋀ ∨⋁
"""
_CLASSES = _SHAPES.split()
_ALONE = {"x": 0, "X": 0, "o": 2, "O": 2}  # letters that look like a symbol where a cell says nothing else
_CLASS_OF = {symbol: index for index, symbols in enumerate(_CLASSES) for symbol in symbols}
_SYMBOLS = frozenset(_CLASS_OF)
_ASCII_SYMBOLS = frozenset(filter(str.isascii, _SYMBOLS))
_CLASS_OF |= _ALONE


def with_symbols_of(truth: Sheet, pred: Sheet) -> Sheet:
    """Return the prediction with the truth's own symbols in place of their look-alikes."""
    ours, theirs = _used(truth), _used(pred)
    table: dict[int, str] = {}
    alone: dict[str, str] = {}
    for symbol in theirs - ours:
        same = [s for s in ours if _CLASS_OF[s] == _CLASS_OF[symbol]]
        if len(same) != 1:
            continue  # the truth has none, or tells them apart
        if symbol in _ALONE or same[0] in _ALONE:
            alone[symbol] = same[0]
        else:
            table[ord(symbol)] = same[0]
    if not table and not alone:
        return pred
    return pred.rewritten(lambda text, _: alone.get(text) or text.translate(table))


def _used(sheet: Sheet) -> set[str]:
    said = "".join(sheet.said)
    symbols = filter(said.__contains__, _ASCII_SYMBOLS) if said.isascii() else _SYMBOLS.intersection(said)
    return {*symbols, *(_ALONE.keys() & sheet.said)}


_NUMBERS = r"\d{1,3}(?:[;,-]\s?\d{1,3})*+"
_KEYS = r"[A-Z][A-Za-z+]{1,6}\d\d[a-z]?(?:[;,]\s?[A-Z][A-Za-z+]{1,6}\d\d[a-z]?)*+"
_YEARS = r"(?:1[89]|20)\d\d[a-z]?(?:[;,]\s?(?:1[89]|20)\d\d[a-z]?)*+"
_AUTHORS = rf"[^\W\d_][^\d()\[\]]*+{_YEARS}(?:;[^\d()\[\]]++{_YEARS})*+"
_CITATION = re.compile(
    rf"\s?(?:\^\{{?)?(?:\[(?:{_NUMBERS}|{_KEYS}|{_AUTHORS})\]|\({_AUTHORS}\))\}}?"
    rf"|(?<=[^\W\d_]{{3}})\^(?:\d{{1,3}}|\{{{_NUMBERS}\}})(?=$|[(\[])"
)
_CITING = frozenset("[(^")  # without any of these there is no citation


def without_citations(truth: Sheet, pred: Sheet) -> Sheet:
    """Return the prediction without citations in names and texts, if the truth has none at all."""
    if not any(map("".join(pred.said).__contains__, _CITING)):
        return pred
    found = {text: rest for text in pred.said if (rest := _uncited(text)) != text}
    if not found or any(_uncited(text) != text for text in truth.said):
        return pred
    said = {_letters_and_digits(text) for text in truth.said}
    # What stands in brackets alone may be a value, if the truth has such ones.
    bracketed = any(text.startswith(("[", "(")) for text in truth.said)
    left_out = {
        text: rest
        for text, rest in found.items()
        if _letters_and_digits(text) not in said and (any(map(str.isalpha, rest)) or not (rest or bracketed))
    }
    # A cell that held a citation alone is empty.
    shown = pred.rewritten(lambda text, written: "" if left_out.get(text) == "" else written).texts
    present = [list(map(bool, row)) for row in shown]
    without = pred.rewritten(lambda text, _: left_out.get(text, text))
    return dataclasses.replace(without, shown=shown, present=present)


def _letters_and_digits(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


@lru_cache(20_000)
def _uncited(text: str) -> str:
    """Return a text without its citations: `BERT` for `BERT[3;44]`, `BERT^17` and `BERT(Liu et al.,2019)`."""
    return text if _CITING.isdisjoint(text) else _CITATION.sub("", text).strip()
