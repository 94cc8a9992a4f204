r"""Fractions on the line: `a/b` says what `\frac{a}{b}` says.

How far a slash reaches is not written: `2a/3b` may be one fraction or three factors. So a formula is read in
each way, and who compares two formulas takes the one in which they agree best.
"""

from itertools import product

from parsemark.formats.latex.formula import CLOSE, Symbols

_OPENING, _CLOSING = frozenset("([{⟨"), frozenset(")]}⟩")
_BETWEEN = frozenset("=<>≤≥≠∼≈≡∈∉→←⇒⇔∝+-±∓,;.:|/‖∑∏∫") | {"&", ";;", "over", "¶", "gap"}
"""What no operand of a slash holds."""
_SCRIPTS = ("^(", "_(")
_MOST = 12  # slashes of a formula that are read as fractions


def readings(symbols: Symbols) -> list[Symbols]:
    """Return the symbols as they are, and with slashes as fractions that reach one factor or all of them.

    >>> [" ".join(found) for found in readings(("a", "/", "b"))[:2]]
    ['a / b', 'frac( a over b )]']
    """
    if not 0 < symbols.count("/") <= _MOST:
        return [symbols]
    return [symbols, *(_with_fractions(list(symbols), *far) for far in product((False, True), repeat=2))]


def _with_fractions(symbols: list[str], far_left: bool, far_right: bool) -> Symbols:
    at = 0
    while "/" in symbols[at:]:
        at = symbols.index("/", at)
        begin, end = _reach_back(symbols, at, far_left), _reach_on(symbols, at + 1, far_right)
        if begin == at or end == at + 1:
            at += 1
            continue
        above, below = _unbracketed(symbols[begin:at]), _unbracketed(symbols[at + 1 : end])
        symbols[begin:end] = ["frac(", *above, "over", *below, CLOSE]
        at = begin + len(above) + 2
    return tuple(symbols)


def _reach_on(symbols: list[str], begin: int, far: bool) -> int:
    """Return where the operand ends that begins here."""
    end = begin
    while end < len(symbols) and symbols[end] not in _BETWEEN and symbols[end] not in (*_CLOSING, CLOSE):
        number = symbols[end].isdigit()
        end = _other_end(symbols, end, 1) + 1
        while end < len(symbols) and (symbols[end] in _SCRIPTS or (number and symbols[end].isdigit())):
            end = _other_end(symbols, end, 1) + 1
        if not far:
            break
    return end


def _other_end(symbols: list[str], at: int, step: int) -> int:
    """Return the last place of the group or the symbol that begins at a place; with the step -1 the first
    one.
    """
    depth = 0
    for place in range(at, len(symbols) if step > 0 else -1, step):
        sign = symbols[place]
        depth += step * (_opens(sign) - (sign in _CLOSING or sign == CLOSE))
        if depth <= 0:
            return place
    return at


def _reach_back(symbols: list[str], end: int, far: bool) -> int:
    """Return where the operand begins that ends here."""
    begin = end
    while begin and symbols[begin - 1] not in _BETWEEN and not _opens(symbols[begin - 1]):
        number = symbols[begin - 1].isdigit()
        script = True
        while script and begin:
            begin = _other_end(symbols, begin - 1, -1)
            script = symbols[begin] in _SCRIPTS
        while number and begin and symbols[begin - 1].isdigit():
            begin -= 1
        if not far:
            break
    return begin


def _unbracketed(operand: list[str]) -> list[str]:
    """Return an operand without the brackets around all of it."""
    whole = operand[:1] == ["("] and operand[-1:] == [")"] and _other_end(operand, 0, 1) == len(operand) - 1
    return operand[1:-1] if whole else operand


def _opens(sign: str) -> bool:
    return sign in _OPENING or (len(sign) > 1 and sign.endswith("("))
