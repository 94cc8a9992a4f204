"""Figures drawn in LaTeX: bars, curves, and boxes with arrows (which look a little like tables)."""

from __future__ import annotations

import random

from parsemark.corpora.latex.synthetic.page_units import Shown, Unit, UnitGroup, paragraph_box
from parsemark.corpora.latex.synthetic.prose import text_attributes
from parsemark.corpora.latex.synthetic.style import Style
from parsemark.corpora.synthetic.language import vocabulary
from parsemark.corpora.synthetic.pieces import plain
from parsemark.model import Category


def figure_group(rng: random.Random, style: Style, width: float) -> UnitGroup:
    """A figure with its caption below."""
    across = min(width, 300.0) * rng.uniform(0.6, 0.95)
    high = across * rng.uniform(0.4, 0.65)
    draw = rng.choice([_bars, _curve, _boxes])
    body = draw(rng, style, across, high)
    size = rf"({across:.1f},{high:.1f})"
    picture = rf"\setlength{{\unitlength}}{{1pt}}\begin{{picture}}{size}{body}\end{{picture}}"
    drawing = rf"\hbox to {width:.3f}pt{{\hss\pmblock{{@0@}}{{{picture}}}\hss}}"
    words = vocabulary(style.language)
    caption = f"{words.words['figure']} @N@: {rng.choice(words.figure_captions)}."
    box = paragraph_box(width, plain(caption).latex, r"\small\noindent\centering ")
    shown = Shown(Category.FIGURE_CAPTION, caption, attributes=text_attributes(style), parent=0)
    return UnitGroup("figure", (Unit(drawing, (Shown(Category.FIGURE),)), Unit(box, (shown,))), gap_inside=6)


def _bars(rng: random.Random, style: Style, across: float, high: float) -> str:
    labels = vocabulary(style.language).lists["regions"]
    step = across / len(labels)
    parts = [rf"\put(0,12){{\line(1,0){{{across:.1f}}}}}\put(0,12){{\line(0,1){{{high - 12:.1f}}}}}"]
    for index, label in enumerate(labels):
        tall = rng.uniform(0.15, 0.95) * (high - 14)
        x = index * step
        parts.append(rf"\put({x + step * 0.2:.1f},12){{\rule{{{step * 0.6:.1f}pt}}{{{tall:.1f}pt}}}}")
        parts.append(rf"\put({x + step / 2:.1f},2){{\makebox(0,0)[b]{{\tiny {plain(label).latex}}}}}")
    return "".join(parts)


def _curve(rng: random.Random, style: Style, across: float, high: float) -> str:
    points = [(across * i / 12, high * (0.15 + 0.7 * rng.random())) for i in range(13)]
    line = "".join(f"({x:.1f},{y:.1f})" for x, y in points)
    dots = "".join(rf"\put({x:.1f},{y:.1f}){{\circle*{{3}}}}" for x, y in points)
    axis = rf"\put(0,0){{\line(1,0){{{across:.1f}}}}}\put(0,0){{\line(0,1){{{high:.1f}}}}}"
    label = plain(rng.choice(vocabulary(style.language).lists["geology"])).latex
    return rf"{axis}\polyline{line}{dots}\put(4,{high - 8:.1f}){{\tiny {label}}}"


def _boxes(rng: random.Random, style: Style, across: float, high: float) -> str:
    labels = rng.sample(vocabulary(style.language).lists["terms"], k=3)
    wide, gap = across * 0.26, across * 0.11
    parts = []
    for index, label in enumerate(labels):
        x = index * (wide + gap)
        text = plain(label).latex
        parts.append(
            rf"\put({x:.1f},{high * 0.3:.1f}){{\framebox({wide:.1f},{high * 0.4:.1f}){{"
            rf"\parbox{{{wide - 4:.1f}pt}}{{\centering\tiny {text}}}}}}}"
        )
        if index < 2:
            parts.append(rf"\put({x + wide:.1f},{high * 0.5:.1f}){{\vector(1,0){{{gap:.1f}}}}}")
    return "".join(parts)
