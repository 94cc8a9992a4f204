"""Look-alikes among symbols: a cross is a cross, whichever of Unicode's crosses it is.

The classes are those of Unicode's confusables (UTS #39) restricted to symbols and punctuation, joined with
the weights and styles of one shape (★ and ☆, ✓ and √) that its data keep apart. Where the truth itself uses
two of a class they mean different things, and nothing is folded.
"""

from __future__ import annotations

from parsemark.metrics.reader.sheet import Sheet

_SHAPES = """
    ×✗✘✕✖╳⨯⤫⤬☓᙮ ✓✔√☑ °○◯∘◦⚪⚬˚º •●⬤⚫·‧∙⋅⦁ *★☆∗⋆✱✳✶✦⭐⁎٭ Δ△▵∆ ▲▴🔺 ∇▽▿ ▼▾🔻 □☐▢◻⬜ ■▪◼⬛█∎
    ◇⋄♢◊ ◆♦⬥ ▷⊳▹ ◁⊲◃ ▶▸► ◀◂◄ →⟶➔➜➝ ←⟵ ↑⬆⇧ ↓⬇⇩ ⟨〈❬‹<≺ ⟩〉❭›>≻ ∅⌀Ø ε∈є ⊙☉⨀ ⊗⨂ ⊕⨁ ∑Σ ∏Π
    †✝ |‖∣∥¦ ~∼˜⁓ ∪⋃ ∩⋂ ∧⋀ ∨⋁
"""
_CLASSES = _SHAPES.split()
_ALONE = {"x": 0, "X": 0, "o": 2, "O": 2}
"""Letters that look like a symbol where they are all that a cell says."""
_CLASS_OF = {symbol: index for index, symbols in enumerate(_CLASSES) for symbol in symbols}
_SYMBOLS = frozenset(_CLASS_OF)
_ASCII_SYMBOLS = frozenset(filter(str.isascii, _SYMBOLS))


def with_symbols_of(truth: Sheet, pred: Sheet) -> Sheet:
    """The prediction with the truth's own symbols in place of their look-alikes."""
    ours, theirs = _used(truth), _used(pred)
    table: dict[int, str] = {}
    alone: dict[str, str] = {}
    for index in {_class(s) for s in theirs - ours}:
        same = [s for s in ours if _class(s) == index]
        if len(same) != 1:
            continue  # the truth has none, or tells them apart
        for symbol in (s for s in theirs if _class(s) == index and s != same[0]):
            if symbol in _ALONE or same[0] in _ALONE:
                alone[symbol] = same[0]
            else:
                table[ord(symbol)] = same[0]
    if not table and not alone:
        return pred
    texts = [[alone.get(text) or text.translate(table) for text in row] for row in pred.texts]
    return pred.with_texts(texts)


def _class(symbol: str) -> int:
    return _ALONE.get(symbol, -1) if symbol in _ALONE else _CLASS_OF[symbol]


def _used(sheet: Sheet) -> set[str]:
    texts = sheet.said
    joined = "".join(texts)
    if joined.isascii():
        return (_ALONE.keys() & texts) | {symbol for symbol in _ASCII_SYMBOLS if symbol in joined}
    return (_ALONE.keys() & texts) | _SYMBOLS.intersection(joined)
