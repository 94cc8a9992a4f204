"""How a document looks: class, fonts, paper, margins, columns, spacing, language."""

from __future__ import annotations

import random
from dataclasses import dataclass

from parsemark.corpora.latex.pool import POOL_PACKAGES
from parsemark.system.pdflatex import REPRODUCIBLE

CLASSES = ("article", "report", "scrartcl")
FONTS = {
    "latin modern": r"\usepackage{lmodern}",
    "times": r"\usepackage{mathptmx}",
    "palatino": r"\usepackage{mathpazo}",
    "charter": r"\usepackage{charter}",
    "helvetica": r"\usepackage[scaled=0.92]{helvet}\renewcommand{\familydefault}{\sfdefault}",
    "bookman": r"\usepackage{bookman}",
}
PAPERS = {"a4": (597.51, 845.05), "letter": (614.3, 794.97), "b5": (500.8, 711.3)}
"""Width and height in TeX's points."""
SIZES = (10, 11, 12)

PACKAGES = r"""
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{textcomp}
\usepackage{amsmath,amssymb,array,booktabs,multirow,longtable,graphicx,etoolbox,pict2e,geometry}
\input{glyphtounicode}\pdfgentounicode=1
"""


def preamble(document_class: str, *, harvested: bool) -> str:
    """Class and packages; tables that were harvested need more of them."""
    more = rf"\usepackage[table]{{xcolor}}\usepackage{{{','.join(POOL_PACKAGES)}}}" if harvested else ""
    return f"\\documentclass{{{document_class}}}{PACKAGES}{more}"


@dataclass(frozen=True)
class Style:
    """The look of one document. Lengths are in TeX's points."""

    document_class: str
    font: str
    size: int
    paper: str
    margin_x: float
    margin_y: float
    columns: int
    column_gap: float
    spread: float
    """Line spacing; 1 is the font's own."""
    indent: float
    """Indent of paragraphs; 0 sets them apart by a larger gap instead."""
    language: str
    heading: str
    """`bold`, `caps` or `centred`."""
    head: str
    """Where the running head and page number stand: `both`, `foot` or `head`."""
    caption_below: bool
    """Captions of tables below them."""
    harvested: bool = False
    """With the packages that tables of a pool may need."""

    @property
    def page_size(self) -> tuple[float, float]:
        """Width and height of the paper."""
        return PAPERS[self.paper]

    @property
    def text_width(self) -> float:
        """Width of the text."""
        return self.page_size[0] - 2 * self.margin_x

    @property
    def text_height(self) -> float:
        """Height of the text."""
        return self.page_size[1] - 2 * self.margin_y

    @property
    def column_width(self) -> float:
        """Width of one column."""
        return (self.text_width - (self.columns - 1) * self.column_gap) / self.columns

    @property
    def gap(self) -> float:
        """Space between blocks."""
        return 8.0 if self.indent else 11.0

    def preamble(self) -> str:
        """What is precompiled: depends on the class alone, so that few formats serve all documents."""
        return preamble(self.document_class, harvested=self.harvested)

    def opening(self) -> str:
        """What follows the precompiled preamble."""
        size = (
            f"\\KOMAoptions{{fontsize={self.size}pt}}"
            if self.document_class == "scrartcl"
            else f"\\makeatletter\\input{{size{self.size}.clo}}\\makeatother"
        )
        width, height = self.page_size
        geometry = (
            f"\\geometry{{paperwidth={width}pt,paperheight={height}pt,hmargin={self.margin_x}pt,"
            f"vmargin={self.margin_y}pt,headsep=14pt,headheight=14pt,footskip=26pt,ignoreheadfoot}}"
        )
        lines = [REPRODUCIBLE, FONTS[self.font], size, geometry]
        lines.append(f"\\linespread{{{self.spread}}}\\setlength{{\\parindent}}{{{self.indent}pt}}")
        lines.append(
            r"\setlength{\parskip}{0pt}\setlength{\LTpre}{6pt}\setlength{\LTpost}{6pt}\LTchunksize=500"
        )
        return "\n".join(lines) + "\n"


def choose_style(rng: random.Random, *, columns: int, language: str) -> Style:
    """Draw a style; columns and language are given, for they have shares of their own."""
    paper = (
        rng.choice(["a4", "a4", "letter", "letter", "b5"]) if columns == 1 else rng.choice(["a4", "letter"])
    )
    width, height = PAPERS[paper]
    wide = rng.uniform(0.09, 0.16) if columns == 1 else rng.uniform(0.07, 0.1)
    size = rng.choice(SIZES) if columns == 1 else 10
    return Style(
        document_class=rng.choice(CLASSES),
        font=rng.choice(sorted(FONTS)),
        size=size,
        paper=paper,
        margin_x=round(width * wide, 1),
        margin_y=round(height * rng.uniform(0.09, 0.13), 1),
        columns=columns,
        column_gap=round(rng.uniform(14, 24), 1),
        spread=rng.choice([1.0, 1.0, 1.05, 1.15]) if columns == 2 else rng.choice([1.0, 1.05, 1.15, 1.3]),
        indent=rng.choice([0.0, 12.0, 15.0]),
        language=language,
        heading=rng.choice(["bold", "caps", "centred"]),
        head=rng.choice(["both", "foot", "head"]),
        caption_below=rng.random() < 0.25,
    )
