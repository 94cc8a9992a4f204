"""Figures: plots with axes and legends, bars, scatters, heat maps, diagrams, and pictures made of noise."""

from __future__ import annotations

import io
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from parsemark.corpora.latex.synthetic.papers.writing import Writer
from parsemark.corpora.synthetic.pieces import to_latex

COLOURS = (
    ("blue!70!black", "red!75!black", "green!55!black", "orange!90!black", "violet"),
    ("black", "gray", "lightgray", "darkgray", "gray"),
    ("cyan!70!black", "magenta!80!black", "olive", "teal", "brown"),
    ("blue", "red", "green!60!black", "purple", "orange"),
)
_MARKS = ("circle", "square", "triangle", "none", "none")
PHOTO_PIXELS = 260


@dataclass(frozen=True)
class Figure:
    """A drawing: TikZ code or included pictures, of a width that was asked for."""

    latex: str
    kind: str


def draw_figure(writer: Writer, folder: Path, name: str, width: float) -> Figure:
    """A figure of about the given width in points; pictures are written to `folder`."""
    rng = writer.rng
    kind = rng.choices(
        ["lines", "bars", "scatter", "heat", "diagram", "histogram", "photos", "pair"],
        [4, 3, 2, 1.2, 2, 1, 2.2, 2.2],
    )[0]
    if kind == "photos":
        return _photos(rng, folder, name, width)
    if kind == "pair":
        one = _KINDS[rng.choice(["lines", "scatter", "bars"])](writer, width * 0.36, width * 0.3)
        two = _KINDS[rng.choice(["lines", "histogram", "bars"])](writer, width * 0.36, width * 0.3)
        labels = [rf"\par{{\footnotesize ({letter})}}" for letter in "ab"]
        cells = [
            rf"\begin{{minipage}}[b]{{.49\linewidth}}\centering {d}{t}\end{{minipage}}"
            for d, t in zip((one, two), labels, strict=True)
        ]
        return Figure(r"\hfill ".join(cells), kind)
    return Figure(_KINDS[kind](writer, width * 0.74, width * rng.uniform(0.4, 0.55)), kind)


# ---- plots


@dataclass
class _Axes:
    """Frame, ticks and labels of a plot; data are given in shares of its sides."""

    writer: Writer
    width: float
    height: float

    def __post_init__(self) -> None:
        rng = self.writer.rng
        self.rng = rng
        self.colours = rng.choice(COLOURS)
        self.parts: list[str] = []
        self.boxed = rng.random() < 0.65
        self.grid = rng.random() < 0.45
        self.sans = rng.random() < 0.6

    def point(self, x: float, y: float) -> str:
        return f"({x * self.width:.1f},{y * self.height:.1f})"

    def frame(self, x_labels: list[str], x_places: list[float], x_title: str, y_title: str) -> None:
        rng = self.rng
        top = rng.choice([1.0, 0.8, 100, 60, 40, 5, 2.5, 300])
        steps = rng.choice([4, 5])
        for i in range(steps + 1):
            share = i / steps
            value = top * share
            text = f"{value:g}" if abs(value - round(value, 2)) < 1e-9 else f"{value:.2f}"
            if self.grid:
                self.parts.append(rf"\draw[black!15] {self.point(0, share)} -- {self.point(1, share)};")
            self.parts.append(
                rf"\draw {self.point(0, share)} -- ++(-2,0) node[left,inner sep=1.5pt] {{{text}}};"
            )
        for label, place in zip(x_labels, x_places, strict=True):
            self.parts.append(
                rf"\draw {self.point(place, 0)} -- ++(0,-2) node[below,inner sep=1.5pt] {{{label}}};"
            )
        frame = rf"\draw {self.point(0, 0)} rectangle {self.point(1, 1)};"
        axes = rf"\draw {self.point(0, 1)} -- {self.point(0, 0)} -- {self.point(1, 0)};"
        self.parts.append(frame if self.boxed else axes)
        self.parts.append(rf"\node[below] at ({self.width / 2:.1f},-11) {{{to_latex(x_title)}}};")
        self.parts.append(rf"\node[rotate=90] at (-25,{self.height / 2:.1f}) {{{to_latex(y_title)}}};")

    def legend(self, names: list[str], swatch: Callable[[int], str]) -> None:
        left, step = 0.62, 8.5
        top = self.height - 7
        wide = max(len(n) for n in names) * 3.9 + 26
        x = max(4.0, min(left * self.width, self.width - wide - 3)) if self.rng.random() < 0.7 else 5.0
        self.parts.append(
            rf"\filldraw[fill=white,draw=black!40] ({x:.1f},{top + 4:.1f}) rectangle ({x + wide:.1f},{top - step * (len(names) - 1) - 5:.1f});"
        )
        for i, name in enumerate(names):
            y = top - i * step
            self.parts.append(rf"\begin{{scope}}[shift={{({x + 3:.1f},{y:.1f})}}]{swatch(i)}\end{{scope}}")
            self.parts.append(rf"\node[right,inner sep=0pt] at ({x + 20:.1f},{y:.1f}) {{{to_latex(name)}}};")

    def picture(self) -> str:
        font = r"\tiny\sffamily" if self.sans else r"\tiny"
        return rf"\begin{{tikzpicture}}[x=1pt,y=1pt,font={font},line width=.4pt]{''.join(self.parts)}\end{{tikzpicture}}"


def _short(writer: Writer, key: str) -> str:
    text: str = writer.rng.choice(writer.field_words[key]).removeprefix("the ")
    return text[0].upper() + text[1:]


def _numbers(rng: random.Random) -> tuple[list[str], list[float]]:
    top, steps = rng.choice([(10, 5), (100, 4), (1, 5), (50, 5), (2000, 4), (24, 6)])
    return [f"{top * i / steps:g}" for i in range(steps + 1)], [i / steps for i in range(steps + 1)]


def _lines(writer: Writer, width: float, height: float) -> str:
    rng, axes = writer.rng, _Axes(writer, width, height)
    axes.frame(*_numbers(rng), _short(writer, "factor"), _short(writer, "quantity"))
    names = rng.sample(writer.field_words["rows"], k=rng.randint(2, 4))
    marked = rng.random() < 0.5
    for i in range(len(names)):
        a, b, c, wobble = (
            rng.uniform(0.1, 0.5),
            rng.uniform(0.2, 0.45),
            rng.uniform(1, 6),
            rng.uniform(0.003, 0.03),
        )
        rising, count = rng.random() < 0.7, rng.choice([9, 14, 30, 45])
        points = []
        for k in range(count):
            x = k / (count - 1)
            y = a + b * (1 - math.exp(-c * x) if rising else math.exp(-c * x)) + rng.gauss(0, wobble)
            points.append((x, min(0.98, max(0.02, y))))
        colour, dash = axes.colours[i], rng.choice(["", "", ",dashed", ",dotted"]) if not marked else ""
        if rng.random() < 0.3:
            upper = " -- ".join(axes.point(x, min(0.99, y + 0.05)) for x, y in points)
            lower = " -- ".join(axes.point(x, max(0.01, y - 0.05)) for x, y in reversed(points))
            axes.parts.append(rf"\fill[{colour},opacity=.18] {upper} -- {lower} -- cycle;")
        axes.parts.append(
            rf"\draw[{colour},line width=.8pt{dash}] {' -- '.join(axes.point(x, y) for x, y in points)};"
        )
        if marked and count < 20:
            axes.parts += [_mark(axes.point(x, y), colour, _MARKS[i % 3]) for x, y in points]
    axes.legend(names, lambda i: rf"\draw[{axes.colours[i]},line width=.8pt] (0,0) -- (14,0);")
    return axes.picture()


def _mark(place: str, colour: str, kind: str) -> str:
    if kind == "square":
        return rf"\fill[{colour}] {place} ++(-1.4,-1.4) rectangle ++(2.8,2.8);"
    if kind == "triangle":
        return rf"\fill[{colour}] {place} ++(-1.7,-1.2) -- ++(3.4,0) -- ++(-1.7,2.9) -- cycle;"
    return rf"\fill[{colour}] {place} circle[radius=1.5];"


def _bars(writer: Writer, width: float, height: float) -> str:
    rng, axes = writer.rng, _Axes(writer, width, height)
    groups = rng.sample(writer.field_words["groups"], k=rng.randint(3, 5))
    names = rng.sample(writer.field_words["rows"], k=rng.choice([1, 2, 3]))
    places = [(i + 0.5) / len(groups) for i in range(len(groups))]
    labels = [to_latex(g if len(g) < 11 else g[:9] + ".") for g in groups]
    axes.frame(labels, places, "", _short(writer, "quantity"))
    wide = 0.75 / len(groups) / len(names)
    for g in range(len(groups)):
        for i in range(len(names)):
            x = places[g] + (i - len(names) / 2) * wide
            y = rng.uniform(0.15, 0.78)
            axes.parts.append(
                rf"\filldraw[fill={axes.colours[i]}!70,draw=black!70] {axes.point(x, 0)} rectangle {axes.point(x + wide, y)};"
            )
            if rng.random() < 0.5:
                axes.parts.append(
                    rf"\draw {axes.point(x + wide / 2, y - 0.03)} -- {axes.point(x + wide / 2, y + 0.03)};"
                )
    if len(names) > 1:
        axes.legend(names, lambda i: rf"\fill[{axes.colours[i]}!70] (3,-2.5) rectangle (12,2.5);")
    return axes.picture()


def _scatter(writer: Writer, width: float, height: float) -> str:
    rng, axes = writer.rng, _Axes(writer, width, height)
    axes.frame(*_numbers(rng), _short(writer, "quantity"), _short(writer, "quantity"))
    slope, clusters = rng.uniform(-0.6, 0.7), rng.choice([1, 2, 3])
    for i in range(clusters):
        base = rng.uniform(0.3, 0.6)
        for _ in range(rng.randint(25, 70)):
            x = min(0.98, max(0.02, rng.gauss(0.5 if clusters == 1 else rng.uniform(0.2, 0.8), 0.18)))
            y = min(0.97, max(0.03, base + slope * (x - 0.5) + rng.gauss(0, 0.07)))
            axes.parts.append(_mark(axes.point(x, y), f"{axes.colours[i]},opacity=.7", _MARKS[i]))
    if clusters == 1:
        axes.parts.append(
            rf"\draw[red,line width=.8pt] {axes.point(0.03, 0.5 - slope * 0.45)} -- {axes.point(0.97, 0.5 + slope * 0.45)};"
        )
    return axes.picture()


def _histogram(writer: Writer, width: float, height: float) -> str:
    rng, axes = writer.rng, _Axes(writer, width, height)
    axes.frame(*_numbers(rng), _short(writer, "quantity"), "Frequency")
    count, middle, spread = rng.randint(12, 28), rng.uniform(0.3, 0.6), rng.uniform(0.1, 0.25)
    for i in range(count):
        x = i / count
        y = 0.85 * math.exp(-(((x - middle) / spread) ** 2)) * rng.uniform(0.8, 1.1) + 0.01
        axes.parts.append(
            rf"\filldraw[fill={axes.colours[0]}!55,draw=white] {axes.point(x, 0)} rectangle {axes.point(x + 1 / count, min(0.97, y))};"
        )
    return axes.picture()


def _heat(writer: Writer, width: float, height: float) -> str:
    rng, axes = writer.rng, _Axes(writer, width, height)
    axes.grid, axes.boxed = False, True
    rows, cols = rng.randint(4, 8), rng.randint(5, 10)
    colour = rng.choice(["blue", "red", "teal", "violet"])
    for r in range(rows):
        for c in range(cols):
            tone = int(100 * rng.random() ** (0.6 if r == c else 1.8))
            axes.parts.append(
                rf"\fill[{colour}!{tone}!white] {axes.point(c / cols, r / rows)} rectangle {axes.point((c + 1) / cols, (r + 1) / rows)};"
            )
    axes.frame(*_numbers(rng), _short(writer, "factor"), _short(writer, "factor"))
    return axes.picture()


def _diagram(writer: Writer, width: float, height: float) -> str:
    rng = writer.rng
    steps = [
        _short(writer, key)
        for key in rng.sample(
            ["data", "method", "quantity", "systems", "factor", "problem"], k=rng.randint(3, 4)
        )
    ]
    wide = (width - 14 * (len(steps) - 1)) / len(steps)
    tall, rounded, fill = (
        min(height * 0.5, 42),
        rng.random() < 0.6,
        rng.choice(["white", "blue!8", "gray!12", "orange!12", "green!10"]),
    )
    parts = []
    for i, step in enumerate(steps):
        x = i * (wide + 14)
        drop = rng.choice([0, 0, tall * 0.4])
        corner = "rounded corners=3pt," if rounded else ""
        parts.append(
            rf"\node[draw,{corner}fill={fill},minimum height={tall:.1f}pt,text width={wide - 8:.1f}pt,align=center,inner sep=3pt] "
            rf"(n{i}) at ({x + wide / 2:.1f},{-drop:.1f}) {{{to_latex(step)}}};"
        )
        if i:
            parts.append(rf"\draw[-{{Stealth[length=4pt]}}] (n{i - 1}) -- (n{i});")
    if rng.random() < 0.4:
        parts.append(
            rf"\draw[-{{Stealth[length=4pt]}},dashed] (n{len(steps) - 1}.south) -- ++(0,-12) -| (n0.south);"
        )
    font = rng.choice([r"\scriptsize\sffamily", r"\scriptsize", r"\tiny\sffamily"])
    return rf"\begin{{tikzpicture}}[x=1pt,y=1pt,font={font}]{''.join(parts)}\end{{tikzpicture}}"


_KINDS: dict[str, Callable[[Writer, float, float], str]] = {
    "lines": _lines,
    "bars": _bars,
    "scatter": _scatter,
    "histogram": _histogram,
    "heat": _heat,
    "diagram": _diagram,
}


# ---- pictures


def _photos(rng: random.Random, folder: Path, name: str, width: float) -> Figure:
    count = rng.choice([1, 2, 2, 3])
    grey = rng.random() < 0.45
    parts = []
    for index in range(count):
        file = f"{name}-{index}.jpg"
        (folder / file).write_bytes(_photo(rng, grey=grey))
        wide = width * (0.6 if count == 1 else 0.94 / count)
        picture = rf"\includegraphics[width={wide:.1f}pt]{{{file}}}"
        if count > 1:
            picture = rf"\begin{{minipage}}[b]{{{wide:.1f}pt}}\centering {picture}\par{{\footnotesize ({'abc'[index]})}}\end{{minipage}}"
        parts.append(picture)
    return Figure(r"\hfill ".join(parts), "photos")


def _photo(rng: random.Random, *, grey: bool) -> bytes:
    """A picture of noise at several scales with some bodies in it: grains, cells, hills."""
    from PIL import Image

    noise = np.random.default_rng(rng.getrandbits(32))
    high, wide = int(PHOTO_PIXELS * rng.uniform(0.6, 0.9)), PHOTO_PIXELS
    field = np.zeros((high, wide))
    for scale in (4, 9, 20, 50):
        coarse = noise.normal(size=(scale + 1, scale + 1))
        ys, xs = np.linspace(0, scale, high), np.linspace(0, scale, wide)
        y0, x0 = np.minimum(ys.astype(int), scale - 1), np.minimum(xs.astype(int), scale - 1)
        fy, fx = (ys - y0)[:, None], (xs - x0)[None, :]
        smooth = (
            coarse[np.ix_(y0, x0)] * (1 - fy) * (1 - fx)
            + coarse[np.ix_(y0 + 1, x0)] * fy * (1 - fx)
            + coarse[np.ix_(y0, x0 + 1)] * (1 - fy) * fx
            + coarse[np.ix_(y0 + 1, x0 + 1)] * fy * fx
        )
        field += smooth / scale**0.6
    yy, xx = np.mgrid[0:high, 0:wide]
    for _ in range(rng.randint(0, 40)):
        cy, cx, radius = rng.uniform(0, high), rng.uniform(0, wide), rng.uniform(4, 26)
        distance = np.hypot((yy - cy) * rng.uniform(0.7, 1.4), xx - cx) / radius
        field += rng.choice([-1, 1, 1]) * np.clip(1 - distance**2, 0, 1) * rng.uniform(0.3, 1.2)
    field = (field - field.min()) / (np.ptp(field) or 1)
    field += noise.normal(scale=0.03, size=field.shape)
    if grey:
        pixels = np.clip(field * 255, 0, 255).astype(np.uint8)
    else:
        dark, light = (
            np.array([rng.uniform(0, 0.4) for _ in range(3)]),
            np.array([rng.uniform(0.6, 1) for _ in range(3)]),
        )
        pixels = np.clip((dark + field[..., None] * (light - dark)) * 255, 0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=78)
    return buffer.getvalue()
