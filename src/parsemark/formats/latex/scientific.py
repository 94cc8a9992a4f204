r"""Commands of the sciences.

siunitx: numbers (`\num`, `S` columns) and units (`\SI`, `\qty`, `\unit`). Numbers keep the digits of the
source; the thin spaces that siunitx puts between groups of digits are left out.
mhchem: `\ce{SO4^2-}` prints SO_4^{2−}.
"""

import re
from collections.abc import Callable

from parsemark.formats.latex.commands import COMMANDS
from parsemark.formats.latex.printer import Atom, Printed, Printer, Special, script
from parsemark.formats.latex.scanner import LatexSource, Range, TokenKind

_NUMBER = re.compile(
    r"(?P<sign>[<>≤≥~+\-−±]*)(?P<digits>[\d.,]+(?:\(\d+\))?)(?:(?:\+-|±)(?P<error>[\d.,]+))?"
    r"(?:[eEdD](?P<exponent>[+-]?\d+))?"
)
_UNITS, _PREFIXES = COMMANDS["units"], COMMANDS["prefixes"]
_POWERS = {"squared": "2", "cubed": "3"}
_POWERS_BEFORE = {"square": "2", "cubic": "3"}


def format_number(raw: str) -> str | None:
    r"""Return a number as siunitx prints it, or None if the text is not one.

    >>> format_number("-1.2e-3"), format_number("3.4 +- 0.1"), format_number("n/a")
    ('−1.2 × 10^{−3}', '3.4 ± 0.1', None)
    """
    compact = re.sub(r"\s+|\\,|~", "", raw).replace(r"\pm", "±")
    match = _NUMBER.fullmatch(compact)
    if match is None:
        return None
    text = match["sign"].replace("-", "−") + match["digits"].replace(",", ".")
    if match["error"]:
        text += f" ± {match['error']}"
    if match["exponent"]:
        text += " × 10" + script("^", match["exponent"].lstrip("+").replace("-", "−"))
    return text


def number_cell(printer: Printer, span: Range) -> str:
    """Return a cell of an `S` column: a number, or else text."""
    return format_number(printer.source.raw(span)) or printer.text(span)


def format_unit(source: LatexSource, span: Range) -> str:
    """Return the symbols of a unit, with negative powers for what stands behind `per`."""
    parts: list[str] = []
    index, end = span
    prefix, power, is_per = "", "", False
    while index < end:
        token = source.tokens[index]
        index += 1
        if token.kind is not TokenKind.COMMAND:
            for character in token.text:
                _append_literal(parts, character, token.kind)
        elif token.text == "per":
            is_per = True
        elif token.text in _POWERS_BEFORE:
            power = _POWERS_BEFORE[token.text]
        elif token.text in _PREFIXES:
            prefix = _PREFIXES[token.text]
        elif token.text in _POWERS or token.text == "tothe":
            power = _POWERS.get(token.text, "")
            if not power:
                argument, index = source.argument(index, end)
                power = source.raw(argument)
            if parts:
                parts[-1] = parts[-1].partition("^")[0] + script("^", parts[-1].count("^{−") * "−" + power)
            power = ""
        else:
            exponent = "−" * is_per + (power or "1" * is_per)
            parts.append(prefix + _UNITS.get(token.text, token.text) + script("^", exponent))
            prefix, power, is_per = "", "", False
    return " ".join("".join(part.split()) if part != " " else "" for part in parts if part).strip()


def _append_literal(parts: list[str], text: str, kind: TokenKind) -> None:
    """Append the letters of a unit that is written out (`kg.m/s`)."""
    if kind in (TokenKind.TIE, TokenKind.SPACE) or text == ".":
        parts.append(" ")
    elif kind in (TokenKind.OPEN, TokenKind.CLOSE):
        return
    elif parts and parts[-1] != " ":
        parts[-1] += text
    else:
        parts.append(text)


def _siunitx(kinds: str, joined: Callable[..., str]) -> Special:
    """Return a command by its arguments, with an option before each.

    `n` is a number, `u` a unit, `r` the source as it is; `b` and `o` are options alone: a unit, or nothing.
    """

    def printed(printer: Printer, index: int, end: int, math: bool) -> Printed:
        source = printer.source
        texts: list[str] = []
        for kind in kinds:
            option, index = source.optional(index, end)
            if kind in "bo":
                texts += [format_unit(source, option) if option else ""] if kind == "b" else []
                continue
            argument, index = source.argument(index, end)
            if kind == "n":
                texts.append(format_number(source.raw(argument)) or printer.print(argument, math))
            else:
                texts.append(format_unit(source, argument) if kind == "u" else source.raw(argument))
        return Atom(joined(*texts)), index

    return printed


def _quantity(*texts: str) -> str:
    *numbers, before, unit = texts
    gap = "" if unit in ("°", "%", "′", "″") else " "
    return before + " to ".join(numbers) + gap + unit


def _angle(raw: str) -> str:
    shown = zip(raw.split(";"), ("°", "′", "″"), strict=False)
    return "".join((format_number(part) or part) + sign for part, sign in shown if part.strip())


UNIT_COMMANDS: dict[str, Special] = {
    **dict.fromkeys(("num", "tablenum"), _siunitx("n", str)),
    **dict.fromkeys(("si", "unit"), _siunitx("u", str)),
    **dict.fromkeys(("SI", "qty"), _siunitx("onbu", _quantity)),
    **dict.fromkeys(("SIrange", "qtyrange"), _siunitx("onnbu", _quantity)),
    "numrange": _siunitx("nn", "{} to {}".format),
    "ang": _siunitx("r", _angle),
}


_PIECE = re.compile(
    r"""(?P<arrow><=>>?|<<=>|<->|->|<-)(?:\[(?P<above>[^\[\]]*)\])?
      | (?P<script>[_^])(?:\{(?P<group>[^{}]*)\}|(?P<bare>[\d+\-.]+|[A-Za-z*]))
      | (?P<charge>[+-])(?=[\s)\]]|$)
      | (?P<number>\d+(?:\.\d+)?)
      | (?P<dot>\s?[*.]\s?(?=\d{0,9}[A-Z(]))
      | (?P<other>\\[A-Za-z]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_ARROWS = {"<=>": "⇌", "<=>>": "⇌", "<<=>": "⇌", "<->": "↔", "->": "→", "<-": "←"}


def format_chemistry(raw: str) -> str:
    r"""Return the text of a formula in mhchem's notation.

    >>> format_chemistry("2H2 + O2 -> 2H2O"), format_chemistry("SO4^2-"), format_chemistry("Na+")
    ('2H_2 + O_2 → 2H_2O', 'SO_4^{2−}', 'Na^+')
    """
    pieces: list[str] = []
    for match in _PIECE.finditer(" ".join(raw.replace("$", "").split())):
        before = pieces[-1][-1:] if pieces else ""
        is_attached = before.isalpha() or before in tuple(")]}0123456789")
        if match["arrow"]:
            pieces.append(f" {_ARROWS[match['arrow']]}{script('^', match['above'] or '')} ")
        elif match["script"]:
            inner = match["group"] if match["group"] is not None else match["bare"]
            pieces.append(script(match["script"], inner.replace("-", "−")))
        elif match["charge"] and is_attached:
            pieces.append(script("^", match["charge"].replace("-", "−")))
        elif match["number"] and (before.isalpha() or before in (")", "]")):
            pieces.append(script("_", match["number"]))
        elif match["dot"] and is_attached:
            pieces.append("·")
        else:
            pieces.append(match[0])
    return " ".join("".join(pieces).split())


def _formula(printer: Printer, index: int, end: int, math: bool) -> Printed:
    argument, index = printer.source.argument(index, end)
    return Atom(format_chemistry(printer.source.raw(argument))), index


CHEMISTRY_COMMANDS: dict[str, Special] = dict.fromkeys(("ce", "chem", "cf"), _formula)
