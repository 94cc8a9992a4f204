"""Figures of a paper, drawn from the quantities of its subject: plots with axes that fit them, schemes, pictures."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsemark.corpora.latex.synthetic.papers.axes import Axes, decades, span, tex, ticks
from parsemark.corpora.latex.synthetic.papers.exhibits import number
from parsemark.corpora.latex.synthetic.papers.pictures import FIELDS, picture

if TYPE_CHECKING:
    from parsemark.corpora.latex.synthetic.papers.writing import Writer

_MAPS = (
    ("FFFFFF", "08306B"),
    ("FFFFFF", "67000D"),
    ("FFFFCC", "BD0026"),
    ("FFFFFF", "252525"),
    ("440154", "FDE725"),
    ("0D0887", "F0F921"),
    ("FFF5EB", "54278F"),
    ("F7FCF0", "084081"),
)
"""The lowest and the highest colour of heat maps."""
_DARK_LOW = ("440154", "0D0887")
_DASHES = ("", ",dashed", ",dash dot", ",dotted", ",densely dashed")


class Plot(ABC):
    """A figure: its data are drawn once; what it shows can be asked for."""

    def __init__(self, writer: Writer, name: str, spec: dict[str, Any]) -> None:
        self.writer, self.name, self.spec, self.rng = writer, name, spec, writer.rng
        self.style = writer.rng.random()
        self.facts: dict[str, str] = {}
        self.draw()

    @abstractmethod
    def draw(self) -> None:
        """Draw the data."""

    @abstractmethod
    def latex(self, width: float, height: float, folder: Path) -> str:
        """The figure, about so large, in points; pictures are written to the folder."""

    def fact(self, words: str) -> str:
        """What it shows, for a slot of the text."""
        return self.facts[words]

    def number(self, value: float, decimals: int) -> str:
        """A number as the language of the paper writes it."""
        return number(value, decimals, self.writer.language)

    def caption(self) -> str:
        """What it shows, in words."""
        return self.writer.fill(self.rng.choice(self.spec["caption"]), self.fact)

    def label(self, axis: Sequence[Any]) -> str:
        """Name and unit of an axis."""
        name = self.writer.fill(axis[0])
        return f"{name} ({axis[1]})" if axis[1] else name


_SHAPES: dict[str, Callable[[float, float], float]] = {
    "rise": lambda t, rate: (1 - math.exp(-rate * t)) / (1 - math.exp(-rate)),
    "linear": lambda t, rate: t,
    "power": lambda t, rate: t**rate,
    "sigmoid": lambda t, rate: 1 / (1 + math.exp(-rate * (t - 0.5) * 2)),
    "peak": lambda t, rate: math.exp(-(((t - 0.45) * rate) ** 2)),
    "valley": lambda t, rate: 1 - math.exp(-(((t - 0.45) * rate) ** 2)),
    "wave": lambda t, rate: 0.5 + 0.5 * math.sin(rate * t),
    "ringing": lambda t, rate: 1 - math.exp(-4 * t) * math.cos(rate * t),
    "survival": lambda t, rate: t**0.85,
}
"""Curves from 0 to 1 over 0 to 1."""


class Lines(Plot):
    """Curves with marks or bands and a legend."""

    def draw(self) -> None:
        """Draw the points of each curve."""
        rng, spec = self.rng, self.spec
        low, high = spec["x"][2:4]
        self.log = len(spec["x"]) > 4
        self.curves: list[tuple[str, list[tuple[float, float]], float]] = []
        shapes = {row[1] for row in spec["series"]}
        count = int(
            spec.get("points")
            or (60 if shapes & {"survival", "ringing", "wave"} else rng.choice([8, 11, 26, 41]))
        )
        self.stepped = "survival" in shapes
        noise = 0.0 if shapes & {"ringing"} else spec.get("noise", 0.012)
        for name, shape, *ends, rate in spec["series"]:
            first, last = (v * (1 + rng.uniform(-0.02, 0.02)) for v in ends)
            first = ends[0] if self.stepped else first
            points = []
            for k in range(count):
                t = k / (count - 1)
                x = low * (high / low) ** t if self.log else low + (high - low) * t
                wobble = rng.gauss(0, noise) if not self.stepped and t > 0 else 0.0
                y = first + (last - first) * (_SHAPES[shape](t, rate * rng.uniform(0.999, 1.001)) + wobble)
                y = max(y, 0.0) if min(ends) >= 0 else y
                points.append((x, min(y, 100.0) if spec["y"][1] == "%" else y))
            if self.stepped:
                drops = sorted(rng.sample(range(1, count), k=count * 2 // 5))
                points = [points[max([0, *(d for d in drops if d <= k)])] for k in range(count)]
                points = [(low + (high - low) * k / (count - 1), y) for k, (_, y) in enumerate(points)]
            self.curves.append((self.writer.fill(name), points, abs(last - first) * rng.uniform(0.03, 0.06)))
        self.facts = {"curves": str(len(self.curves))}
        for i, (name, points, _) in enumerate(self.curves, 1):
            decimals = spec.get("decimals", 1)
            self.facts |= {
                f"name {i}": name,
                f"first {i}": self.number(points[0][1], decimals),
                f"last {i}": self.number(points[-1][1], decimals),
            }

    def latex(self, width: float, height: float, folder: Path) -> str:
        """Curves."""
        unit = self.spec["y"][1]
        marked = len(self.curves[0][1]) < 13
        spreads = bool(self.spec.get("bands")) and self.style < 0.6 and not self.stepped
        bands, errors = spreads and not (marked and self.style < 0.3), spreads and marked and self.style < 0.3
        values = [
            y + s * spread * spreads for _, points, spread in self.curves for _, y in points for s in (-1, 1)
        ]
        low, high = self.spec["x"][2:4]
        log_y = bool(self.spec.get("log_y"))
        limits = (min(values) * 0.7, max(values) * 1.4) if log_y else span(values, unit)
        axes = Axes(self.writer.plot_look, (width, height), (low, high), limits, log=self.log, log_y=log_y)
        axes.frame(
            decades(low, high) if self.log else ticks(low, high),
            self.label(self.spec["x"]),
            self.label(self.spec["y"]),
        )
        for i, (_, points, spread) in enumerate(self.curves):
            colour, dash = axes.colours[i % 5], _DASHES[i] if self.style > 0.7 and not marked else ""
            if bands:
                top, bottom = axes.y[1], axes.y[0]
                upper = " -- ".join(axes.place(x, min(top, y + spread)) for x, y in points)
                lower = " -- ".join(axes.place(x, max(bottom, y - spread)) for x, y in reversed(points))
                axes.parts.append(rf"\fill[{colour},opacity=.18] {upper} -- {lower} -- cycle;")
            places = [axes.place(x, y) for x, y in points]
            path = " -| ".join(places) if self.stepped else " -- ".join(places)
            axes.parts.append(rf"\draw[{colour},line width={axes.look.line}pt,line join=round{dash}] {path};")
            if errors:
                top, bottom = axes.y[1], axes.y[0]
                axes.parts += [
                    axes.error(x, max(bottom, y - spread), min(top, y + spread)) for x, y in points
                ]
            if marked:
                axes.parts += [axes.mark(place, i) for place in places]
        names = [name for name, _, _ in self.curves]
        if len(names) > 1:
            axes.legend(
                names,
                lambda i: (
                    rf"\draw[{axes.colours[i % 5]},line width={axes.look.line}pt{_DASHES[i] if self.style > 0.7 and not marked else ''}] (0,0) -- (14,0);"
                    + (axes.mark("(7,0)", i) if marked else "")
                ),
            )
        return axes.picture()


class Bars(Plot):
    """Bars in groups; all of them have error bars, or none."""

    def draw(self) -> None:
        """Draw heights around those given."""
        self.groups = [self.writer.fill(g) for g in self.spec["groups"]]
        self.series = [
            (self.writer.fill(name), [v * self.rng.uniform(0.95, 1.05) for v in values])
            for name, *values in self.spec["series"]
        ]
        decimals = self.spec.get("decimals", 1)
        self.facts = {
            f"value {s} {g}": self.number(v, decimals)
            for s, (_, values) in enumerate(self.series, 1)
            for g, v in enumerate(values, 1)
        }

    def latex(self, width: float, height: float, folder: Path) -> str:
        """Bars."""
        with_errors = self.style < 0.6 and self.spec.get("errors", True)
        values = [v * (1.06 if with_errors else 1) for _, vs in self.series for v in vs]
        axes = Axes(
            self.writer.plot_look,
            (width, height),
            (0, len(self.groups)),
            span(values, self.spec["y"][1], from_zero=True),
        )
        ticks = [(i + 0.5, tex(g)) for i, g in enumerate(self.groups)]
        if sum(len(g) for g in self.groups) * 3.6 > width:
            ticks = [(x, rf"\shortstack{{{text.replace(' ', chr(92) * 2)}}}") for x, text in ticks]
        axes.frame(ticks, "", self.label(self.spec["y"]), mark_x=False)
        wide = 0.74 / len(self.series)
        for i, (_, heights) in enumerate(self.series):
            for g, value in enumerate(heights):
                x = g + 0.13 + i * wide
                low, high = axes.place(x, 0), axes.place(x + wide, value)
                for share in (0.2, 0.4, 0.6, 0.8, 1.0):  # a legend does not cover bars
                    axes.place(x + wide / 2, value * share)
                axes.parts.append(axes.bar(i, low, high))
                if with_errors:
                    error = value * (0.025 + 0.02 * ((g + 2 * i) % 3) / 2)
                    axes.parts.append(axes.error(x + wide / 2, value - error, value + error))
        if len(self.series) > 1:
            axes.legend(
                [n for n, _ in self.series],
                lambda i: axes.bar(i, "(3,-2.5)", "(12,2.5)"),
            )
        return axes.picture()


class Scatter(Plot):
    """Points that go along with each other as strongly as the subject says, with a line through them."""

    def draw(self) -> None:
        """Draw the points, and measure their correlation."""
        rng, spec = self.rng, self.spec
        (x0, x1), (y0, y1) = spec["x"][2:4], spec["y"][2:4]
        self.classes = [self.writer.fill(c) for c in spec.get("classes", [""])]
        r = spec["r"] * rng.uniform(0.95, 1.03)
        self.sets: list[list[tuple[float, float]]] = []
        count = int(self.writer.amounts[spec["n"]]) if isinstance(spec.get("n"), str) else spec.get("n", 60)
        for index in range(len(self.classes)):
            offset = (index - (len(self.classes) - 1) / 2) * 0.22
            points = []
            for _ in range(min(160, count) // len(self.classes)):
                u = rng.gauss(0, 1)
                v = r * u + math.sqrt(max(0.02, 1 - r * r)) * rng.gauss(0, 1)
                fx, fy = 0.5 + u * 0.19 + offset, 0.5 + v * 0.19 + offset * math.copysign(1, r)
                if 0 < fx < 1 and 0 < fy < 1:
                    points.append((x0 + fx * (x1 - x0), y0 + fy * (y1 - y0)))
            self.sets.append(points)
        every = [p for points in self.sets for p in points]
        mx, my = (sum(p[i] for p in every) / len(every) for i in (0, 1))
        sxy = sum((x - mx) * (y - my) for x, y in every)
        sxx, syy = sum((x - mx) ** 2 for x, _ in every), sum((y - my) ** 2 for _, y in every)
        self.slope, self.middle = sxy / sxx, (mx, my)
        found = sxy / math.sqrt(sxx * syy)
        self.facts = {
            "r": self.number(found, 2),
            "n": f"{len(every)}",
        }

    def latex(self, width: float, height: float, folder: Path) -> str:
        """Points and their line."""
        (x0, x1), (y0, y1) = self.spec["x"][2:4], self.spec["y"][2:4]
        axes = Axes(self.writer.plot_look, (width, height), (x0, x1), (y0, y1))
        axes.frame(ticks(x0, x1), self.label(self.spec["x"]), self.label(self.spec["y"]))
        for i, points in enumerate(self.sets):
            axes.parts += [axes.mark(axes.place(x, y), i, ",opacity=.65") for x, y in points]
        if self.spec.get("fit", True):
            mx, my = self.middle
            ends = [(x, my + self.slope * (x - mx)) for x in (x0 + 0.06 * (x1 - x0), x1 - 0.06 * (x1 - x0))]
            if all(y0 <= y <= y1 for _, y in ends):
                axes.parts.append(
                    rf"\draw[black,line width=.8pt{',dashed' if self.style < 0.5 else ''}] {axes.place(*ends[0])} -- {axes.place(*ends[1])};"
                )
        if len(self.classes) > 1:
            axes.legend(self.classes, lambda i: axes.mark("(7,0)", i))
        return axes.picture()


class Boxes(Plot):
    """Box plots by group."""

    def draw(self) -> None:
        """Draw quartiles, whiskers and a few outliers."""
        rng = self.rng
        self.groups = []
        for name, median, spread in self.spec["groups"]:
            middle = median * rng.uniform(0.96, 1.04)
            q1, q3 = middle - spread * rng.uniform(0.4, 0.6), middle + spread * rng.uniform(0.4, 0.6)
            low, high = q1 - spread * rng.uniform(0.6, 1.2), q3 + spread * rng.uniform(0.6, 1.3)
            floor = 0.0 if median > 0 else -math.inf
            top = 100.0 if self.spec["y"][1] == "%" else math.inf
            high = min(high, top)
            strays = [high + spread * rng.uniform(0.15, 0.7) for _ in range(rng.choice([0, 0, 1, 2, 3]))]
            strays = [stray for stray in strays if stray < top]
            self.groups.append(
                (self.writer.fill(name), max(floor, low), max(floor, q1), middle, q3, high, strays)
            )
        decimals = self.spec.get("decimals", 1)
        self.facts = {f"median {i}": self.number(g[3], decimals) for i, g in enumerate(self.groups, 1)}

    def latex(self, width: float, height: float, folder: Path) -> str:
        """Boxes."""
        values = [v for g in self.groups for v in (g[1], g[5], *g[6])]
        axes = Axes(
            self.writer.plot_look, (width, height), (0, len(self.groups)), span(values, self.spec["y"][1])
        )
        ticks = [(i + 0.5, tex(g[0])) for i, g in enumerate(self.groups)]
        if sum(len(g[0]) for g in self.groups) * 3.8 > width:
            ticks = [(x, rf"\shortstack{{{text.replace(' ', chr(92) * 2)}}}") for x, text in ticks]
        axes.frame(ticks, "", self.label(self.spec["y"]), mark_x=False)
        for i, (_, low, q1, middle, q3, high, strays) in enumerate(self.groups):
            colour = axes.colours[i % 5] if self.style < 0.5 else axes.colours[0]
            pale = {
                "pale": f"fill=white,draw={colour}!70!black",
                "flat": f"fill={colour}!70,draw=black!70",
            }.get(axes.look.bars, f"fill={colour}!30,draw={colour}!80!black")
            x = i + 0.5
            axes.parts.append(
                rf"\draw {axes.place(x, low)} -- {axes.place(x, q1)} {axes.place(x, q3)} -- {axes.place(x, high)};"
            )
            for end in (low, high):
                axes.parts.append(rf"\draw {axes.place(x - 0.13, end)} -- {axes.place(x + 0.13, end)};")
            axes.parts.append(
                rf"\filldraw[{pale}] {axes.place(x - 0.27, q1)} rectangle {axes.place(x + 0.27, q3)};"
            )
            axes.parts.append(
                rf"\draw[line width=.9pt] {axes.place(x - 0.27, middle)} -- {axes.place(x + 0.27, middle)};"
            )
            axes.parts += [rf"\draw {axes.place(x, min(s, axes.y[1]))} circle[radius=1.3];" for s in strays]
        return axes.picture()


class Histogram(Plot):
    """How often a quantity has which value."""

    def draw(self) -> None:
        """Draw as many values as there are, and count them."""
        rng, spec = self.rng, self.spec
        low, high = spec["x"][2:4]
        bins = rng.randint(14, 26)
        count = int(self.writer.amounts[spec["n"]]) if isinstance(spec["n"], str) else int(spec["n"])
        values = []
        for _ in range(min(count, 4000)):
            value = rng.gauss(spec["mean"], spec["sd"])
            if spec.get("skewed"):
                value = spec["mean"] * math.exp(rng.gauss(0, spec["sd"] / spec["mean"]))
            values.append(value)
        scale = count / max(1, min(count, 4000))
        self.edges = [low + (high - low) * i / bins for i in range(bins + 1)]
        self.counts = [
            round(scale * sum(a <= v < b for v in values))
            for a, b in zip(self.edges, self.edges[1:], strict=False)
        ]
        ordered = sorted(values)
        decimals = spec.get("decimals", 1)
        self.facts = {"median": self.number(ordered[len(ordered) // 2], decimals), "n": self.number(count, 0)}

    def latex(self, width: float, height: float, folder: Path) -> str:
        """Bars that touch."""
        low, high = self.spec["x"][2:4]
        axes = Axes(self.writer.plot_look, (width, height), (low, high), (0, max(self.counts) * 1.1))
        axes.frame(
            ticks(low, high),
            self.label(self.spec["x"]),
            str(self.spec.get("of", self.writer.words["labels"]["count"])),
        )
        for count, a, b in zip(self.counts, self.edges, self.edges[1:], strict=False):
            axes.parts.append(axes.bar(0, axes.place(a, 0), axes.place(b, count)))
        return axes.picture()


class Heat(Plot):
    """A matrix in colours, with a scale beside it."""

    def draw(self) -> None:
        """Draw the values: a smooth surface, correlations, or what is taken for what."""
        rng, spec = self.rng, self.spec
        self.rows = [self.writer.fill(r) for r in spec["rows"]]
        self.columns = [self.writer.fill(c) for c in spec.get("columns", spec["rows"])]
        low, high = spec["range"]
        tops = (rng.uniform(0.3, 0.8), rng.uniform(0.3, 0.8))
        self.values = []
        for r in range(len(self.rows)):
            cells = []
            for c in range(len(self.columns)):
                y, x = r / max(1, len(self.rows) - 1), c / max(1, len(self.columns) - 1)
                if spec["form"] == "smooth":
                    level = math.exp(-2.2 * ((y - tops[0]) ** 2 + (x - tops[1]) ** 2)) + rng.gauss(0, 0.03)
                elif spec["form"] == "diagonal":
                    level = rng.uniform(0.86, 0.97) if r == c else rng.random() ** 3 * 0.16
                else:
                    level = math.exp(-1.1 * abs(r - c)) + rng.uniform(-0.03, 0.03)
                cells.append(low + (high - low) * min(1.0, max(0.0, level)))
            self.values.append(cells)
        if spec["form"] == "decay":
            self.values = [
                [self.values[min(r, c)][max(r, c)] for c in range(len(self.columns))]
                for r in range(len(self.rows))
            ]
        flat = [v for row in self.values for v in row]
        decimals = spec.get("decimals", 2)
        best = flat.index(max(flat))
        self.facts = {
            "max": self.number(max(flat), decimals),
            "min": self.number(min(flat), decimals),
            "row": self.rows[best // len(self.columns)],
            "column": self.columns[best % len(self.columns)],
        }

    def latex(self, width: float, height: float, folder: Path) -> str:
        """Cells, names and the scale."""
        rows, cols = len(self.rows), len(self.columns)
        longest = max(len(r) for r in self.rows) * 3.6 if not self.spec.get("y") else 14
        width = min(width - 30 - max(0.0, longest - 20), height * 1.6 * cols / max(rows, 1))
        low, high = self.spec["range"]
        axes = Axes(self.writer.plot_look, (width, height), (0, cols), (0, rows))
        lowest, highest = _MAPS[int(self.style * 97) % len(_MAPS)]
        axes.parts.append(
            rf"\definecolor{{pmlow}}{{HTML}}{{{lowest}}}\definecolor{{pmhigh}}{{HTML}}{{{highest}}}"
        )
        with_numbers = self.style < 0.5 and width / cols > 17
        decimals = self.spec.get("decimals", 2)
        for r, cells in enumerate(self.values):
            for c, value in enumerate(cells):
                tone = round(100 * (value - low) / (high - low))
                axes.parts.append(
                    rf"\fill[pmhigh!{tone}!pmlow] {axes.place(c, rows - r)} rectangle {axes.place(c + 1, rows - r - 1)};"
                )
                if with_numbers:
                    ink = "white" if (tone > 55) != (lowest in _DARK_LOW) else "black"
                    axes.parts.append(
                        rf"\node[text={ink},inner sep=0pt] at {axes.place(c + 0.5, rows - r - 0.5)} {{{value:.{decimals}f}}};"
                    )
        for r, name in enumerate(self.rows):
            axes.parts.append(
                rf"\node[left,inner sep=2pt] at {axes.place(0, rows - r - 0.5)} {{{tex(name)}}};"
            )
        turned = max(len(c) for c in self.columns) * 3.4 > width / cols
        for c, name in enumerate(self.columns):
            setting = "rotate=45,anchor=north east,inner sep=1pt" if turned else "below,inner sep=2pt"
            axes.parts.append(rf"\node[{setting}] at {axes.place(c + 0.5, 0)} {{{tex(name)}}};")
        if self.spec.get("x"):
            axes.parts.append(
                rf"\node[below] at ({width / 2:.1f},-9) {{{tex(self.writer.fill(self.spec['x']))}}};"
            )
        if self.spec.get("y"):
            axes.parts.append(
                rf"\node[rotate=90] at (-24,{height / 2:.1f}) {{{tex(self.writer.fill(self.spec['y']))}}};"
            )
        left = width + 8
        axes.parts.append(
            rf"\shade[bottom color=pmlow,top color=pmhigh] ({left:.1f},0) rectangle ({left + 7:.1f},{height:.1f});\draw ({left:.1f},0) rectangle ({left + 7:.1f},{height:.1f});"
        )
        for value, text in ticks(low, high, 4):
            py = (value - low) / (high - low) * height
            axes.parts.append(
                rf"\draw ({left + 7:.1f},{py:.1f}) -- ++(2,0) node[right,inner sep=1pt] {{{text}}};"
            )
        axes.parts.append(rf"\draw (0,0) rectangle ({width:.1f},{height:.1f});")
        return axes.picture()


class Scheme(Plot):
    """Boxes and arrows: one row after the other, each from left to right."""

    def draw(self) -> None:
        """Fill the names of the boxes."""
        self.rows = [[self.writer.fill(n) for n in row] for row in self.spec["rows"]]

    def latex(self, width: float, height: float, folder: Path) -> str:
        """Boxes of equal width, arrows between neighbours, the end of a row with that of the next."""
        rng = self.rng
        width *= 1.22
        most = max(len(row) for row in self.rows)
        gap = 15.0
        wide = (width - gap * (most - 1)) / most
        corner = "rounded corners=3pt," if self.style < 0.6 else ""
        fills = rng.choice(
            [("white", "white"), ("blue!8", "orange!12"), ("gray!10", "white"), ("green!8", "blue!6")]
        )
        parts, tall = [], 30.0
        for r, row in enumerate(self.rows):
            start = (width - len(row) * (wide + gap) + gap) / 2
            for i, name in enumerate(row):
                x, y = start + i * (wide + gap) + wide / 2, -r * (tall + 20)
                parts.append(
                    rf"\node[draw,{corner}fill={fills[r % 2]},minimum height={tall:.0f}pt,text width={wide - 8:.1f}pt,align=center,inner sep=3pt] "
                    rf"(n{r}x{i}) at ({x:.1f},{y:.1f}) {{{tex(name)}}};"
                )
                if i:
                    parts.append(rf"\draw[-{{Stealth[length=4pt]}}] (n{r}x{i - 1}) -- (n{r}x{i});")
            if r:
                last = len(self.rows[r - 1]) - 1
                parts.append(
                    rf"\draw[-{{Stealth[length=4pt]}}] (n{r - 1}x{last}.south) -- ++(0,-10) -| (n{r}x0.north);"
                )
        if self.spec.get("loop") and len(self.rows) == 1:
            parts.append(
                rf"\draw[-{{Stealth[length=4pt]}},dashed] (n0x{len(self.rows[0]) - 1}.south) -- ++(0,-11) -| (n0x0.south);"
            )
        font = rng.choice([r"\fontsize{7}{8}\selectfont\sffamily", r"\fontsize{7.5}{8.5}\selectfont"])
        return rf"\begin{{tikzpicture}}[x=1pt,y=1pt,font={font}]{''.join(parts)}\end{{tikzpicture}}"


class Picture(Plot):
    """Micrographs, maps, skies and flows, side by side, with a bar for the scale where they have one."""

    def draw(self) -> None:
        """Nothing yet: pictures are drawn when they are set."""
        assert self.spec["field"] in FIELDS
        self.panels = [self.writer.fill(p) for p in self.spec["panels"]]

    def latex(self, width: float, height: float, folder: Path) -> str:
        """Panels with letters below them."""
        count = len(self.panels)
        width *= 1.28
        wide = width * 0.62 if count == 1 else width * 0.96 / count
        cells = []
        for index, panel in enumerate(self.panels):
            file = f"{self.name}-{index}.jpg"
            level = index / max(1, count - 1)
            (folder / file).write_bytes(picture(self.rng, self.spec["field"], level))
            drawn = rf"\includegraphics[width={wide:.1f}pt]{{{file}}}"
            scale = self.spec.get("scale", "")
            if scale:
                length = wide * 0.22
                drawn = (
                    rf"\begin{{tikzpicture}}[x=1pt,y=1pt,inner sep=0pt]\node[anchor=south west] at (0,0) {{{drawn}}};"
                    rf"\fill[white] (5,5) rectangle ({5 + length:.1f},7);"
                    rf"\node[white,anchor=south west,font=\fontsize{{6.5}}{{7}}\selectfont\sffamily] at (5,9) {{{tex(scale)}}};\end{{tikzpicture}}"
                )
            below = (
                rf"\par\vskip2pt{{\footnotesize {tex(f'({chr(97 + index)}) {panel}' if count > 1 else '')}}}"
                if count > 1
                else ""
            )
            cells.append(rf"\begin{{minipage}}[t]{{{wide:.1f}pt}}\centering {drawn}{below}\end{{minipage}}")
        return r"\hfil ".join(cells)


FIGURES: dict[str, type[Plot]] = {
    "lines": Lines,
    "bars": Bars,
    "scatter": Scatter,
    "boxes": Boxes,
    "histogram": Histogram,
    "heat": Heat,
    "scheme": Scheme,
    "picture": Picture,
}
