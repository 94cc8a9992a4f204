r"""mhchem: `\ce{SO4^2-}` prints SO_4^{2−}."""

from __future__ import annotations

import re

from parsemark.formats.latex.atoms import Atom, script
from parsemark.formats.latex.printer import Printed, Printer, Special

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
    r"""The text of a formula in mhchem's notation.

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
