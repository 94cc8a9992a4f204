"""What LaTeX is told of a look: class, packages, fonts, paper, spacing."""

from __future__ import annotations

from parsemark.corpora.synthetic.looks import Look, looks
from parsemark.system.pdflatex import REPRODUCIBLE

TEX_POINT = 72 / 72.27
"""Of TeX, in points of PDF."""
MACROS = r"""
\newbox\pmtmp
\providecommand{\pmblock}[2]{\hbox{#2}}
\def\pmbody#1{\hsize#1\linewidth#1\columnwidth#1\relax}
\long\def\pmmeasure#1#2{\setbox\pmtmp\hbox{#2}%
  \typeout{@PM #1 \the\wd\pmtmp\space\the\ht\pmtmp\space\the\dp\pmtmp}}
\long\def\pmunit#1{\nointerlineskip\hbox{#1}}
\hbadness10000 \hfuzz\maxdimen \emergencystretch20pt
"""
TICK_BOXES = r"\pdfglyphtounicode{square}{2610}\pdfglyphtounicode{squaremultiply}{2612}"
"""Forms mean these by the signs of AMS, which are squares elsewhere."""
NO_HYPHENS = r"\makeatletter\language\l@nohyphenation\makeatother\emergencystretch60pt"
"""For languages whose hyphenation patterns may not be installed."""


def opening(look: Look) -> str:
    """What follows the precompiled preamble."""
    size = (
        f"\\KOMAoptions{{fontsize={look.size}pt}}"
        if look.document_class == "scrartcl"
        else f"\\makeatletter\\input{{size{look.size}.clo}}\\makeatother"
    )
    width, height = look.page_size
    geometry = (
        f"\\geometry{{paperwidth={width}bp,paperheight={height}bp,hmargin={look.margin_x}bp,"
        f"vmargin={look.margin_y}bp,headsep=14pt,headheight=14pt,footskip=26pt,ignoreheadfoot}}"
    )
    spacing = (
        f"\\linespread{{{look.spread}}}\\setlength{{\\parindent}}{{{look.indent}pt}}"
        r"\setlength{\parskip}{0pt}\setlength{\LTpre}{6pt}\setlength{\LTpost}{6pt}\LTchunksize=500"
    )
    return "\n".join([REPRODUCIBLE, looks()["fonts"][look.font], size, geometry, spacing]) + "\n"


def gap(look: Look) -> float:
    """Space between blocks."""
    return 8.0 if look.indent else 11.0
