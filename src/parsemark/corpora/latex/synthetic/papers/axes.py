"""Axes of plots: frames, ticks that are round numbers, legends where they hide least, marks."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parsemark.corpora.latex.synthetic.papers.subject import with_formulas
from parsemark.corpora.synthetic.pieces import to_latex

_LATEX = re.compile(r"[${}^\\]")


@dataclass(frozen=True)
class PlotLook:
    """How a program draws its plots."""

    palette: tuple[str, ...]
    """Five colours, as `xcolor` writes them in hexadecimal."""
    frame: str = "box"
    """`box`, `axes` (left and below), or `none`."""
    ticks: str = "out"
    """`out`, `in`, `mirrored` (inwards on all sides) or `none`."""
    ground: str = "FFFFFF"
    grid: str = ""
    """Colour and pattern of its lines, in TikZ's words; empty for none."""
    grid_both: bool = True
    """Also upright lines."""
    letters: str = r"\sffamily"
    size: float = 6.5
    key: str = "framed"
    """The legend: `framed`, `bare` (names before their signs, as gnuplot has it) or `beside`."""
    line: float = 0.8
    hollow: bool = False
    """Marks are drawn and not filled."""
    bars: str = "filled"
    """`filled`, `flat` (without outlines) or `pale`."""


_SERIF = ""
_MATPLOTLIB = ("1F77B4", "FF7F0E", "2CA02C", "D62728", "9467BD")
_SEABORN = ("4C72B0", "DD8452", "55A868", "C44E52", "8172B3")
_GGPLOT = ("F8766D", "00BA38", "619CFF", "B79F00", "F564E3")
_MATLAB = ("0072BD", "D95319", "EDB120", "7E2F8E", "77AC30")
_GNUPLOT = ("9400D3", "009E73", "56B4E9", "E69F00", "E51E10")
_OLD_GNUPLOT = ("FF0000", "00C000", "0000FF", "C000C0", "00A0A0")
_PGFPLOTS = ("0000FF", "FF0000", "996633", "000000", "008080")
_GREYS = ("000000", "7F7F7F", "4D4D4D", "B3B3B3", "262626")
_EXCEL = ("4472C4", "ED7D31", "A5A5A5", "FFC000", "5B9BD5")
_DARK = ("1B9E77", "D95F02", "7570B3", "E7298A", "66A61E")
_SOFT = ("66C2A5", "FC8D62", "8DA0CB", "E78AC3", "A6D854")
PLOT_LOOKS = (
    PlotLook(_MATPLOTLIB),
    PlotLook(_MATPLOTLIB, grid="black!18,line width=.35pt", bars="flat"),
    PlotLook(_MATPLOTLIB, letters=_SERIF, size=7.0, grid="black!25,densely dotted"),
    PlotLook(_MATPLOTLIB, frame="axes", key="bare", bars="flat"),
    PlotLook(_SEABORN, "none", "none", "EAEAF2", "white,line width=.6pt", bars="flat", line=1.0),
    PlotLook(_SEABORN, ticks="none", grid="black!15,line width=.4pt", line=1.0, bars="flat"),
    PlotLook(_DARK, "axes", "out", bars="flat", line=1.1, size=7.0),
    PlotLook(_GGPLOT, "none", "out", "EBEBEB", "white,line width=.5pt", key="beside", bars="flat", line=0.7),
    PlotLook(_DARK, "box", "out", "FFFFFF", "black!8,line width=.4pt", key="beside", bars="flat"),
    PlotLook(_GREYS, "axes", "out", key="beside", line=0.6, hollow=True, bars="pale"),
    PlotLook(_MATLAB, "box", "mirrored", line=0.7, size=6.0),
    PlotLook(_MATLAB, "box", "mirrored", grid="black!15,line width=.3pt", line=0.9, hollow=True),
    PlotLook(_GNUPLOT, "box", "mirrored", key="bare", line=0.6),
    PlotLook(_OLD_GNUPLOT, "box", "mirrored", letters=_SERIF, key="bare", line=0.5, hollow=True, bars="pale"),
    PlotLook(_GNUPLOT, "box", "mirrored", grid="black!35,dotted", letters=_SERIF, size=7.0, key="bare"),
    PlotLook(_PGFPLOTS, "box", "in", letters=_SERIF, size=7.0, line=0.6, bars="pale"),
    PlotLook(_PGFPLOTS, "axes", "out", grid="black!20,line width=.3pt", grid_both=False, letters=_SERIF),
    PlotLook(_GREYS, "box", "out", letters=_SERIF, hollow=True, line=0.6, bars="pale"),
    PlotLook(_GREYS, "box", "in", size=6.0, line=0.7),
    PlotLook(_EXCEL, "none", "none", grid="black!20,line width=.4pt", grid_both=False, bars="flat", line=1.4),
    PlotLook(_SOFT, "axes", "out", grid="black!12,line width=.4pt", grid_both=False, bars="flat", size=7.0),
)
"""Those of matplotlib, seaborn, ggplot2, R, MATLAB, gnuplot, pgfplots and office programs."""
_NAMES = ("pmone", "pmtwo", "pmthree", "pmfour", "pmfive")


class Axes:
    """Frame, ticks and labels; data are given in their own units."""

    def __init__(
        self,
        look: PlotLook,
        size: tuple[float, float],
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        log: bool = False,
        log_y: bool = False,
    ) -> None:
        self.look = look
        self.width, self.height = size
        self.x, self.y, self.log, self.log_y = x, y, log, log_y
        self.colours = _NAMES
        self.parts: list[str] = []
        self.points: list[tuple[float, float]] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """In points."""
        return (
            _share(x, *self.x, log=self.log) * self.width,
            _share(y, *self.y, log=self.log_y) * self.height,
        )

    def place(self, x: float, y: float) -> str:
        """As TikZ writes it; legends keep away from there."""
        px, py = self.at(x, y)
        self.points.append((px, py))
        return f"({px:.1f},{py:.1f})"

    def frame(
        self, x_ticks: Sequence[tuple[float, str]], x_title: str, y_title: str, *, mark_x: bool = True
    ) -> None:
        """Ticks and names; below the data."""
        look, parts = self.look, self.parts
        if look.ground != "FFFFFF":
            parts.append(rf"\fill[pmground] (0,0) rectangle ({self.width:.1f},{self.height:.1f});")
        y_ticks = decades(*self.y) if self.log_y else ticks(*self.y)
        ups = [self.at(self.x[0], value)[1] for value, _ in y_ticks]
        sides = [self.at(value, self.y[0])[0] for value, _ in x_ticks]
        if look.grid:
            parts += [rf"\draw[{look.grid}] (0,{py:.1f}) -- ({self.width:.1f},{py:.1f});" for py in ups]
            if look.grid_both and mark_x:
                parts += [
                    rf"\draw[{look.grid}] ({px:.1f},0) -- ({px:.1f},{self.height:.1f});" for px in sides
                ]
        out = {"out": -2.2, "none": 0.0}.get(look.ticks, 2.2)
        for py, (_, text) in zip(ups, y_ticks, strict=True):
            parts.append(rf"\draw (0,{py:.1f}) -- ++({out},0);")
            parts.append(rf"\node[left,inner sep=1.5pt] at ({min(out, 0) - 0.8:.1f},{py:.1f}) {{{text}}};")
            if look.ticks == "mirrored":
                parts.append(rf"\draw ({self.width:.1f},{py:.1f}) -- ++(-2.2,0);")
        for px, (_, text) in zip(sides, x_ticks, strict=True):
            if mark_x:
                parts.append(rf"\draw ({px:.1f},0) -- ++(0,{out});")
                if look.ticks == "mirrored":
                    parts.append(rf"\draw ({px:.1f},{self.height:.1f}) -- ++(0,-2.2);")
            down = min(out, 0) - 0.8
            parts.append(rf"\node[below,inner sep=1.5pt,align=center] at ({px:.1f},{down:.1f}) {{{text}}};")
        if look.frame == "box":
            parts.append(rf"\draw (0,0) rectangle ({self.width:.1f},{self.height:.1f});")
        elif look.frame == "axes":
            parts.append(rf"\draw (0,{self.height:.1f}) -- (0,0) -- ({self.width:.1f},0);")
        if x_title:
            parts.append(rf"\node[below] at ({self.width / 2:.1f},-10) {{{tex(x_title)}}};")
        wide = max(len(_LATEX.sub("", text)) for _, text in y_ticks)
        parts.append(
            rf"\node[rotate=90] at ({-11 - 3.6 * wide:.1f},{self.height / 2:.1f}) {{{tex(y_title)}}};"
        )

    def legend(self, names: Sequence[str], swatch: Callable[[int], str]) -> None:
        """In the corner where it hides least, or beside the plot where the look has it there."""
        step = 8.6
        wide, high = max(len(n) for n in names) * 3.7 + 24, step * len(names) + 2
        if self.look.key == "beside" and wide < 0.3 * self.width:
            self._key(names, swatch, self.width + 5, self.height / 2 + high / 2, step)
            return
        corners = [(x, y) for y in (self.height - high - 3, 3.0) for x in (self.width - wide - 3, 3.0)]
        hidden = [
            sum(x - 2 < px < x + wide + 2 and y - 2 < py < y + high + 2 for px, py in self.points)
            for x, y in corners
        ]
        x, y = corners[hidden.index(min(hidden))]
        if min(hidden) > 0.04 * len(self.points):  # no room inside: above the plot, in a row
            left = 0.0
            for i, name in enumerate(names):
                self._sign(swatch(i), left, self.height + 7, name)
                left += 26 + 3.6 * len(name)
            return
        if self.look.key == "framed":
            self.parts.append(
                rf"\filldraw[fill=white,fill opacity=.85,draw=black!35] ({x:.1f},{y:.1f}) rectangle ({x + wide:.1f},{y + high:.1f});"
            )
        self._key(names, swatch, x + 3, y + high, step, before=self.look.key == "bare", wide=wide - 6)

    def _key(
        self,
        names: Sequence[str],
        swatch: Callable[[int], str],
        x: float,
        top: float,
        step: float,
        *,
        before: bool = False,
        wide: float = 0.0,
    ) -> None:
        """Names below each other, behind their signs or before them."""
        for i, name in enumerate(names):
            y = top - step * (i + 0.5) - 1
            if before:
                sign = rf"\begin{{scope}}[shift={{({x + wide - 14:.1f},{y:.1f})}}]{swatch(i)}\end{{scope}}"
                self.parts.append(sign)
                self.parts.append(
                    rf"\node[left,inner sep=0pt] at ({x + wide - 17:.1f},{y:.1f}) {{{tex(name)}}};"
                )
            else:
                self._sign(swatch(i), x, y, name)

    def _sign(self, sign: str, x: float, y: float, name: str) -> None:
        self.parts.append(rf"\begin{{scope}}[shift={{({x:.1f},{y:.1f})}}]{sign}\end{{scope}}")
        self.parts.append(rf"\node[right,inner sep=0pt] at ({x + 17:.1f},{y:.1f}) {{{tex(name)}}};")

    def bar(self, index: int, low: str, high: str) -> str:
        """A bar from one corner to the other."""
        colour = self.colours[index % 5]
        looks = {
            "filled": rf"\filldraw[fill={colour}!75,draw=black!75]",
            "flat": rf"\fill[{colour}]",
            "pale": rf"\filldraw[fill={colour}!30,draw={colour}!85!black]",
        }
        return rf"{looks[self.look.bars]} {low} rectangle {high};"

    def mark(self, place: str, index: int, more: str = "") -> str:
        """The mark of a series: a circle, square or triangle, filled or not."""
        hollow = self.look.hollow
        return mark(
            place,
            f"{self.colours[index % 5]}{more}",
            ("circle", "square", "triangle")[index % 3],
            hollow=hollow,
        )

    def error(self, x: float, low: float, high: float) -> str:
        """A bar for an error, with ends."""
        bottom, top = self.place(x, low), self.place(x, high)
        return rf"\draw[line width=.45pt] {bottom} -- {top} ++(-1.5,0) -- ++(3,0) {bottom} ++(-1.5,0) -- ++(3,0);"

    def picture(self) -> str:
        """All that was drawn."""
        look = self.look
        names = zip((*self.colours, "pmground"), (*look.palette, look.ground), strict=True)
        colours = "".join(rf"\definecolor{{{name}}}{{HTML}}{{{value}}}" for name, value in names)
        font = rf"\fontsize{{{look.size}}}{{{look.size + 1}}}\selectfont{look.letters}"
        return rf"{{{colours}\begin{{tikzpicture}}[x=1pt,y=1pt,font={font},line width=.4pt]{''.join(self.parts)}\end{{tikzpicture}}}}"


def _share(value: float, low: float, high: float, *, log: bool) -> float:
    """How far along an axis."""
    return math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)


def tex(text: str) -> str:
    """Text with formulas in it."""
    return "".join(f"${part}$" if is_formula else to_latex(part) for part, is_formula in with_formulas(text))


def ticks(low: float, high: float, about: int = 5) -> list[tuple[float, str]]:
    """Round numbers between two values, as they are written."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    thirds = 3 if abs((high - low) / (3 * power) % 1) < 1e-9 else 2.5
    step = next(s * power for s in (1, 2, thirds, 5, 10) if s * power >= raw * 0.999)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) + (
        1 if abs(step / power - 2.5) < 1e-9 and step < 10 else 0
    )
    first = math.ceil(low / step - 1e-9)
    ticks = [(first + i) * step for i in range(int((high - first * step) / step + 1e-6) + 1)]
    return [(t, f"{'$-$' if t < -1e-12 else ''}{abs(t):.{decimals}f}") for t in ticks]


def decades(low: float, high: float) -> list[tuple[float, str]]:
    """Powers of ten between two values."""
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    plain = all(0 <= power <= 2 for power in powers)
    return [(10.0**power, str(10**power) if plain else f"$10^{{{power}}}$") for power in powers]


def span(values: Sequence[float], unit: str, *, from_zero: bool = False) -> tuple[float, float]:
    """Limits of an axis: round, no percentages over 100, nothing below zero that cannot be."""
    low, high = min(values), max(values)
    low = 0.0 if from_zero or (low >= 0 and low < 0.35 * high) else low
    room = (high - low) * 0.09 or 1.0
    bottom, top = (low - room if low != 0 else 0.0), high + room
    if min(values) >= 0:
        bottom = max(0.0, bottom)
    if unit == "%" and high <= 100:
        top = min(100.0, top)
    return bottom, top


def mark(place: str, colour: str, kind: str, *, hollow: bool = False) -> str:
    """A circle, square or triangle."""
    draw = rf"\draw[{colour},line width=.5pt]" if hollow else rf"\fill[{colour}]"
    if kind == "square":
        return rf"{draw} {place} ++(-1.4,-1.4) rectangle ++(2.8,2.8);"
    if kind == "triangle":
        return rf"{draw} {place} ++(-1.7,-1.2) -- ++(3.4,0) -- ++(-1.7,2.9) -- cycle;"
    return rf"{draw} {place} circle[radius=1.5];"
