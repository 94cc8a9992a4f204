"""Content before it is set: runs of characters, which each renderer writes in its own notation."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import groupby

_SIGNS = files("parsemark_makers.synthetic").joinpath("latex_signs.toml")
_SPECIAL = str.maketrans(tomllib.loads(_SIGNS.read_text("utf-8")))
_RAISED, _LOWERED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "₀₁₂₃₄₅₆₇₈₉"
_SCRIPTS = dict(zip(_RAISED + _LOWERED, "0123456789-+0123456789", strict=True))


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters in one look. A formula is kept as its LaTeX."""

    text: str
    bold: bool = False
    italic: bool = False
    raised: bool = False
    formula: bool = False

    @property
    def latex(self) -> str:
        """Return its text as set in LaTeX."""
        if self.formula:
            latex = f"${self.text}$"
        elif self.raised:
            mark = self.text.replace("*", "{*}")
            latex = rf"$^{{\mathrm{{{mark}}}}}$" if self.text.isalpha() else rf"$^{{{mark}}}$"
        else:
            latex = to_latex(self.text)
        latex = rf"\textit{{{latex}}}" if self.italic else latex
        return rf"\textbf{{{latex}}}" if self.bold else latex

    @property
    def truth(self) -> str:
        """Return its text in the truth."""
        return f"${self.text}$" if self.formula else f"^{{{self.text}}}" if self.raised else self.text


@dataclass(frozen=True, slots=True)
class Piece:
    """A bit of content: what is set in any notation, and the text that is the truth."""

    runs: tuple[TextRun, ...] = ()

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.runs + other.runs)

    def bold(self) -> Piece:
        """Return the same in bold."""
        return Piece(tuple(replace(run, bold=True) for run in self.runs))

    def italic(self) -> Piece:
        """Return the same in italics."""
        return Piece(tuple(replace(run, italic=True) for run in self.runs))

    def filled(self, mark: str, number: int) -> Piece:
        """Return the same with a number in the place of a mark that stands for it."""
        if all(mark not in run.text for run in self.runs):
            return self
        return Piece(tuple(replace(run, text=run.text.replace(mark, str(number))) for run in self.runs))

    @property
    def latex(self) -> str:
        """Return its text as set in LaTeX."""
        return "".join(run.latex for run in self.runs)

    @property
    def text(self) -> str:
        """Return the truth."""
        return "".join(run.truth for run in self.runs)

    @property
    def has_math(self) -> bool:
        """Return whether LaTeX sets a part of it as a formula."""
        return "$" in self.latex.replace(r"\$", "")


EMPTY = Piece()


def plain(text: str) -> Piece:
    """Return text as it is; symbols and Unicode scripts (10⁻³, SiO₂) become LaTeX."""
    return Piece((TextRun(text),)) if text else EMPTY


def plains(*texts: str) -> tuple[Piece, ...]:
    """Return several texts as they are."""
    return tuple(map(plain, texts))


def raised(mark: str) -> Piece:
    """Return a mark set high: stars, daggers, letters of notes. It follows what it marks without a blank."""
    return Piece((TextRun(mark, raised=True),))


def formula(latex: str) -> Piece:
    """Return a formula inside text."""
    return Piece((TextRun(latex, formula=True),))


@lru_cache(maxsize=8192)
def to_latex(text: str) -> str:
    """Escape text for LaTeX."""
    out: list[str] = []
    for command, run in groupby(text, key=lambda c: "^" if c in _RAISED else "_" if c in _LOWERED else ""):
        if command:
            out.append(f"${command}{{{''.join(_SCRIPTS[c] for c in run)}}}$")
        else:
            out.append("".join(run).translate(_SPECIAL))
    return "".join(out)
