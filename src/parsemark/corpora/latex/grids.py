"""TeX's own grid of LaTeX tables, from one marked batch compile."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from parsemark.corpora.latex.marks import MARKS_FILE, MarkedTable, read_marks
from parsemark.corpora.latex.synthetic.style import preamble
from parsemark.system.pdflatex import Limits, compile_latex, precompiled

BATCH = 100
_SHIP = r"""\long\def\pmship#1#2{\setbox0\hbox{\pmblock{#1}{#2}}%
  \pdfpagewidth\dimexpr\wd0+8pt\relax \pdfpageheight\dimexpr\ht0+\dp0+8pt\relax
  \pdfhorigin4pt \pdfvorigin4pt \hoffset0pt \voffset0pt \shipout\box0 }
"""


def tex_grids(sources: Sequence[str]) -> list[MarkedTable | None]:
    """The grid of each tabular; None for a source that does not compile by itself."""
    found: list[MarkedTable | None] = []
    for start in range(0, len(sources), BATCH):
        batch = sources[start : start + BATCH]
        tables = _compile(batch)
        missing = [i for i in range(len(batch)) if i not in tables]
        for index in missing if len(batch) > 1 else []:
            alone = _compile([batch[index]])
            if alone:
                tables[index] = alone[0]
        found += [tables.get(i) for i in range(len(batch))]
    return found


def _compile(sources: Sequence[str]) -> dict[int, MarkedTable]:
    format = precompiled(preamble("article", harvested=True))
    pages = "\n".join(rf"\pmship{{{i}}}{{{source}}}" for i, source in enumerate(sources))
    body = f"\\begin{{document}}\\input{{{MARKS_FILE.name}}}{_SHIP}{pages}\n\\end{{document}}\n"
    with tempfile.TemporaryDirectory(prefix="parsemark-") as name:
        folder = Path(name)
        shutil.copy(MARKS_FILE, folder / MARKS_FILE.name)
        result = compile_latex(body, folder, format=format, limits=Limits(cpu_s=120))
        if not result.ok or result.pdf is None:
            return {}
        marked = read_marks(result.pdf)
    return {
        block: page.tables[0]
        for page in marked
        for block in page.blocks
        if page.tables and block < len(sources)
    }
