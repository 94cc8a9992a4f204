"""Axes of plots: frames, ticks that are round numbers, legends where they hide least, marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from parsemark.corpora.latex.synthetic.papers.subject import with_formulas
from parsemark.corpora.synthetic.pieces import to_latex

PALETTES = (
    ("blue!70!black", "red!75!black", "green!55!black", "orange!90!black", "violet"),
    ("black", "gray", "blue!60!black", "lightgray", "darkgray"),
    ("cyan!60!black", "orange!90!black", "teal!80!black", "magenta!70!black", "brown"),
    ("blue", "red", "green!60!black", "purple", "orange"),
)


class Axes:
    """Frame, ticks and labels; data are given in their own units."""

    def __init__(
        self,
        style: tuple[int, bool, bool, bool],
        size: tuple[float, float],
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        log: bool = False,
    ) -> None:
        self.width, self.height = size
        self.x, self.y, self.log = x, y, log
        palette, boxed, grid, sans = style
        self.colours, self.boxed, self.grid, self.sans = PALETTES[palette], boxed, grid, sans
        self.parts: list[str] = []
        self.points: list[tuple[float, float]] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """In points."""
        low, high = self.x
        share = math.log(x / low) / math.log(high / low) if self.log else (x - low) / (high - low)
        return share * self.width, (y - self.y[0]) / (self.y[1] - self.y[0]) * self.height

    def place(self, x: float, y: float) -> str:
        """As TikZ writes it; legends keep away from there."""
        px, py = self.at(x, y)
        self.points.append((px, py))
        return f"({px:.1f},{py:.1f})"

    def frame(
        self, x_ticks: Sequence[tuple[float, str]], x_title: str, y_title: str, *, mark_x: bool = True
    ) -> None:
        """Ticks and names; below the data."""
        for value, text in ticks(*self.y):
            _, py = self.at(self.x[0], value)
            if self.grid:
                self.parts.append(rf"\draw[black!12] (0,{py:.1f}) -- ({self.width:.1f},{py:.1f});")
            self.parts.append(rf"\draw (0,{py:.1f}) -- ++(-2.2,0) node[left,inner sep=1.5pt] {{{text}}};")
        for value, text in x_ticks:
            px, _ = self.at(value, self.y[0])
            tick = (
                r"-- ++(0,-2.2) node[below,inner sep=1.5pt]"
                if mark_x
                else r"++(0,-1) node[below,inner sep=1.5pt,align=center]"
            )
            self.parts.append(rf"\draw ({px:.1f},0) {tick} {{{text}}};")
        frame = rf"\draw (0,0) rectangle ({self.width:.1f},{self.height:.1f});"
        axes = rf"\draw (0,{self.height:.1f}) -- (0,0) -- ({self.width:.1f},0);"
        self.parts.append(frame if self.boxed else axes)
        if x_title:
            self.parts.append(rf"\node[below] at ({self.width / 2:.1f},-10) {{{tex(x_title)}}};")
        wide = max(len(text.replace("$", "")) for _, text in ticks(*self.y))
        self.parts.append(
            rf"\node[rotate=90] at ({-11 - 3.6 * wide:.1f},{self.height / 2:.1f}) {{{tex(y_title)}}};"
        )

    def legend(self, names: Sequence[str], swatch: Callable[[int], str]) -> None:
        """In the corner where it hides least."""
        step = 8.6
        wide, high = max(len(n) for n in names) * 3.7 + 24, step * len(names) + 2
        corners = [(x, y) for y in (self.height - high - 3, 3.0) for x in (self.width - wide - 3, 3.0)]
        hidden = [
            sum(x - 2 < px < x + wide + 2 and y - 2 < py < y + high + 2 for px, py in self.points)
            for x, y in corners
        ]
        x, y = corners[hidden.index(min(hidden))]
        if min(hidden) > 0.04 * len(self.points):  # no room inside: above the plot, in a row
            left = 0.0
            for i, name in enumerate(names):
                px = left
                self.parts.append(
                    rf"\begin{{scope}}[shift={{({px:.1f},{self.height + 7:.1f})}}]{swatch(i)}\end{{scope}}"
                )
                self.parts.append(
                    rf"\node[right,inner sep=0pt] at ({px + 17:.1f},{self.height + 7:.1f}) {{{tex(name)}}};"
                )
                left += 26 + 3.6 * len(name)
            return
        self.parts.append(
            rf"\filldraw[fill=white,fill opacity=.85,draw=black!35] ({x:.1f},{y:.1f}) rectangle ({x + wide:.1f},{y + high:.1f});"
        )
        for i, name in enumerate(names):
            py = y + high - step * (i + 0.5) - 1
            self.parts.append(rf"\begin{{scope}}[shift={{({x + 3:.1f},{py:.1f})}}]{swatch(i)}\end{{scope}}")
            self.parts.append(rf"\node[right,inner sep=0pt] at ({x + 20:.1f},{py:.1f}) {{{tex(name)}}};")

    def picture(self) -> str:
        """All that was drawn."""
        font = r"\fontsize{6.5}{7.5}\selectfont" + (r"\sffamily" if self.sans else "")
        return rf"\begin{{tikzpicture}}[x=1pt,y=1pt,font={font},line width=.4pt]{''.join(self.parts)}\end{{tikzpicture}}"


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


def mark(place: str, colour: str, kind: str) -> str:
    """A circle, square or triangle."""
    if kind == "square":
        return rf"\fill[{colour}] {place} ++(-1.4,-1.4) rectangle ++(2.8,2.8);"
    if kind == "triangle":
        return rf"\fill[{colour}] {place} ++(-1.7,-1.2) -- ++(3.4,0) -- ++(-1.7,2.9) -- cycle;"
    return rf"\fill[{colour}] {place} circle[radius=1.5];"
