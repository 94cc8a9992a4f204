"""From units to LaTeX documents: the measuring run, and the pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parsemark.corpora.latex.marks import MARKS_FILE
from parsemark.corpora.latex.synthetic.page_units import Size, Unit, UnitGroup
from parsemark.corpora.latex.synthetic.style import Style
from parsemark.corpora.synthetic.language import vocabulary
from parsemark.corpora.synthetic.pieces import plain
from parsemark.errors import LatexError
from parsemark.system.pdflatex import Compiled, CompileLimits, compile_latex, precompiled

HEADER, FOOTER, PAGE_NUMBER = 1, 2, 3
FURNITURE = 100_000
"""Ids of heads, feet and page numbers: FURNITURE + 10 · page + one of the above."""

LIMITS = CompileLimits(cpu_s=120, wall_s=600)

MACROS = r"""
\newbox\pmtmp
\providecommand{\pmblock}[2]{\hbox{#2}}
\def\pmbody#1{\hsize#1\linewidth#1\columnwidth#1\relax}
\long\def\pmmeasure#1#2{\setbox\pmtmp\hbox{#2}%
  \typeout{@PM #1 \the\wd\pmtmp\space\the\ht\pmtmp\space\the\dp\pmtmp}}
\long\def\pmunit#1{\nointerlineskip\hbox{#1}}
\hbadness10000 \hfuzz\maxdimen \emergencystretch20pt
"""
NO_HYPHENS = r"\makeatletter\language\l@nohyphenation\makeatother\emergencystretch60pt"
"""For languages whose hyphenation patterns may not be installed."""
_MEASURED = re.compile(r"^@PM (\d+) (-?[\d.]+)pt (-?[\d.]+)pt (-?[\d.]+)pt", re.MULTILINE)
_OVERFULL = re.compile(r"^Overfull \\vbox \(([\d.]+)pt", re.MULTILINE)


@dataclass(frozen=True)
class SheetPlan:
    """What goes where on one page."""

    wide: tuple[UnitGroup, ...]
    """Over all columns, at the top."""
    columns: tuple[tuple[UnitGroup, ...], ...]
    footnotes: tuple[tuple[UnitGroup, ...], ...]
    """Per column."""

    def groups(self) -> list[UnitGroup]:
        """In reading order; footnotes follow their column."""
        found = list(self.wide)
        for column, notes in zip(self.columns, self.footnotes, strict=True):
            found += [*column, *notes]
        return found


@dataclass(frozen=True)
class Flow:
    """A document whose long table breaks over pages by itself."""

    before: tuple[UnitGroup, ...]
    caption: Unit
    setting: str
    table: str
    after: tuple[UnitGroup, ...]


@dataclass
class Ids:
    """Numbers what is shown."""

    units: list[tuple[Unit, list[int]]] = field(default_factory=list)
    _next: int = 1

    def take(self, unit: Unit) -> str:
        """The unit's LaTeX with fresh ids filled in."""
        ids = list(range(self._next, self._next + len(unit.shown)))
        self._next += len(ids)
        self.units.append((unit, ids))
        latex = unit.latex
        for index, number in enumerate(ids):
            latex = latex.replace(f"@{index}@", str(number))
        return latex


def measure(style: Style, units: Sequence[Unit], folder: Path) -> list[Size]:
    """Set each unit once, without making a PDF, and read its size from the log."""
    calls = "\n".join(rf"\pmmeasure{{{i}}}{{{_with_zeros(unit)}}}" for i, unit in enumerate(units))
    result = _compile(style, f"{calls}\n", folder, "measure", draft=True)
    sizes = {int(m[1]): Size(float(m[2]), float(m[3]) + float(m[4])) for m in _MEASURED.finditer(result.log)}
    if len(sizes) != len(units):
        raise LatexError(f"{len(units) - len(sizes)} blocks could not be measured: {result.reason}")
    return [sizes[i] for i in range(len(units))]


def typeset(style: Style, body: str, folder: Path, name: str, *, marked: bool, passes: int) -> Path:
    """Compile a document with or without marks; raises if it fails or if a page overflows."""
    begin = f"\\input{{{MARKS_FILE.name}}}\n" if marked else ""
    result = _compile(style, body, folder, name, begin=begin, passes=passes)
    overfull = [float(m[1]) for m in _OVERFULL.finditer(result.log)]
    if overfull and max(overfull) > 0.5:
        raise LatexError(f"A page overflows by {max(overfull):.1f} pt.")
    if "Table widths have changed" in result.log:
        raise LatexError("The columns of a long table have not settled.")
    if "PARSEMARK: cannot mark" in result.log:
        raise LatexError("This LaTeX installation has tables that the marks do not know.")
    if result.pdf is None:
        raise LatexError(f"No page was made: {result.reason}")
    return result.pdf


def pages_body(style: Style, sheets: Sequence[SheetPlan], ids: Ids) -> str:
    """The pages, each filled exactly."""
    return "".join(f"{_sheet(style, sheet, ids)}\n\\newpage\n" for sheet in sheets)


def flow_body(style: Style, flow: Flow, ids: Ids) -> str:
    """Blocks, the long table, blocks."""
    parts = [_stack(flow.before, style, ids)]
    caption = rf"\pmunit{{{ids.take(flow.caption)}}}"
    parts.append(rf"{caption}\nobreak\kern2pt{{{flow.setting}{flow.table}}}")
    parts.append(_stack(flow.after, style, ids))
    return "\n".join(parts) + "\n"


def furniture_texts(style: Style, head: str, number: int) -> dict[int, str]:
    """What the head and the foot of a page show, by kind."""
    shown = {PAGE_NUMBER: str(number)}
    if style.head in ("both", "head"):
        shown[HEADER] = head
    elif style.head == "foot":
        shown[FOOTER] = head
    return shown


def page_style(style: Style, head: str) -> str:
    """Heads and feet with their marks."""

    def block(kind: int, content: str) -> str:
        return rf"\pmblock{{\number\numexpr{FURNITURE}+\value{{page}}*10+{kind}\relax}}{{{content}}}"

    number, text = block(PAGE_NUMBER, r"\thepage"), rf"\small\itshape {plain(head).latex}"
    top = {
        "both": block(HEADER, text) + r"\hfil",
        "head": block(HEADER, text) + rf"\hfil{number}",
        "foot": "",
    }
    bottom = {"both": rf"\hfil{number}\hfil", "head": "", "foot": block(FOOTER, text) + rf"\hfil{number}"}
    return (
        rf"\makeatletter\def\ps@parsemark{{\def\@oddhead{{{top[style.head]}}}\let\@evenhead\@oddhead"
        rf"\def\@oddfoot{{{bottom[style.head]}}}\let\@evenfoot\@oddfoot}}\makeatother\pagestyle{{parsemark}}"
    )


def running_head(style: Style, choice: float) -> str:
    """The running head of a document, drawn by a number between 0 and 1."""
    heads = vocabulary(style.language).running_heads
    return heads[int(choice * len(heads))]


def _compile(
    style: Style, body: str, folder: Path, name: str, *, begin: str = "", draft: bool = False, passes: int = 1
) -> Compiled:
    language = "" if style.language == "english" else NO_HYPHENS
    source = f"{style.opening()}\\begin{{document}}{begin}{MACROS}{language}\n{body}\\end{{document}}\n"
    result = compile_latex(
        source,
        folder,
        name=name,
        format=precompiled(style.preamble()),
        draft=draft,
        passes=passes,
        limits=LIMITS,
    )
    if not result.ok:
        raise LatexError(f"A synthetic document does not compile: {result.reason}")
    return result


def _with_zeros(unit: Unit) -> str:
    return re.sub(r"@\d@", "0", unit.latex).replace("@N@", "8")


def _sheet(style: Style, sheet: SheetPlan, ids: Ids) -> str:
    wide = _stack(sheet.wide, style, ids)
    columns = []
    for column, notes in zip(sheet.columns, sheet.footnotes, strict=True):
        content = _stack(column, style, ids)
        feet = _stack(notes, style, ids)
        columns.append(rf"\vbox to\dimen0{{\hsize{style.column_width:.3f}pt {content}\vfil{feet}}}")
    joined = rf"\kern{style.column_gap}pt".join(columns)
    return (
        rf"\setbox1\vbox{{{wide}}}\dimen0\textheight\advance\dimen0-\ht1\advance\dimen0-\dp1"
        "\n"
        rf"\vbox to\textheight{{\box1\nointerlineskip\hbox{{{joined}}}\vss}}"
    )


def _stack(groups: Sequence[UnitGroup], style: Style, ids: Ids) -> str:
    parts = []
    for group in groups:
        units = [rf"\pmunit{{{ids.take(unit)}}}" for unit in group.units]
        parts.append(rf"\kern{group.gap_inside}pt".join(units) + rf"\kern{style.gap}pt" + "\n")
    return "".join(parts)
