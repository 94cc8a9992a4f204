"""Compiles a document twice: clean, to publish, and marked, to read where everything is."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from parsemark.corpora.latex.marks import LOAD_MARKS, MARKS_FILE, MarkedPage, read_marks
from parsemark.corpora.latex.sources import SourceDocument
from parsemark.errors import LatexError
from parsemark.pdf import Glyph, count_pages, page_glyphs
from parsemark.system.pdflatex import REPRODUCIBLE, Limits, compile_latex

PASSES = 3
"""Runs of each kind: references and the widths of long tables need that many."""
LIMITS = Limits(cpu_s=120, wall_s=600)
MAX_MOVED = 0.5
"""Points by which the marks may move a glyph: as far as boxes may be from the ink."""
CLEAN, MARKED = "parsemark-clean", "parsemark-marked"
_CANNOT_MARK = "PARSEMARK: cannot mark "


@dataclass(frozen=True, slots=True)
class Typeset:
    """A document as TeX set it."""

    pdf: Path
    """Without marks."""
    pages: list[MarkedPage]


def typeset(document: SourceDocument, main: str, folder: Path) -> Typeset:
    """Compile a document in a folder of its own.

    Raises:
        LatexError: It does not compile, its tables cannot be marked, or the marks change its pages.
    """
    document.write_to(folder)
    work = (folder / main).parent
    shutil.copy(MARKS_FILE, work)
    load = f"\\input{{{PurePosixPath(main).name}}}\n"
    clean = _compile(work, main, CLEAN, REPRODUCIBLE + load)
    marked = _compile(work, main, MARKED, LOAD_MARKS + load)
    pages = read_marks(marked)
    _check_same_pages(clean, pages, marked)
    return Typeset(clean, pages)


def _compile(folder: Path, main: str, name: str, source: str) -> Path:
    for ending in ("bbl", "ind", "gls", "nls"):
        made = folder / f"{PurePosixPath(main).stem}.{ending}"
        if made.is_file():
            shutil.copy(made, folder / f"{name}.{ending}")
    result = compile_latex(source, folder, name=name, passes=PASSES, limits=LIMITS)
    if not result.ok or result.pdf is None:
        raise LatexError(f"does not compile: {result.reason or 'it makes no page'}")
    position = result.log.find(_CANNOT_MARK)
    if position >= 0:
        what = result.log[position + len(_CANNOT_MARK) :].partition("\n")[0]
        raise LatexError(f"its class or packages change {what} so that it cannot be marked")
    return result.pdf


def _check_same_pages(clean: Path, pages: list[MarkedPage], marked: Path) -> None:
    """The marks are only worth something if both PDFs show the same."""
    if count_pages(clean) != len(pages):
        raise LatexError("the marks change the number of its pages")
    for page in pages:
        one, other = _shown(clean, page.number), _shown(marked, page.number)
        if Counter(g.text for g in one) != Counter(g.text for g in other):
            raise LatexError(f"the marks change what page {page.number} shows")
        moved = max((_distance(a, b) for a, b in zip(one, other, strict=True) if a.text == b.text), default=0)
        if moved > MAX_MOVED:
            raise LatexError(f"the marks move what page {page.number} shows by {moved:.1f} pt")


def _shown(pdf: Path, number: int) -> list[Glyph]:
    return [glyph for glyph in page_glyphs(pdf, number) if glyph.text.strip()]


def _distance(one: Glyph, other: Glyph) -> float:
    return max(abs(one.box.x0 - other.box.x0), abs(one.box.y0 - other.box.y0))
