r"""Compiles many tables in one run, each alone on a page of its own.

Marks in the log say where each table begins and ends and how large it is, so an error belongs to its table
and sizes cost nothing. The marks carry a number that the sources cannot know. What fails is compiled once
more by itself: only then is it known to be its own fault.
"""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from parsemark.corpora.latex.marks import LOAD_MARKS, MARKS_FILE, MarkedPage, MarkedTable, read_marks
from parsemark.corpora.latex.pool import POOL_PACKAGES
from parsemark.errors import LatexError
from parsemark.system.pdflatex import CompileLimits, compile_latex, precompiled
from parsemark.system.scratch import ScratchFolder

BATCH = 50
"""Tables per run."""
MAX_SIZE_PT = 5_000.0
"""A table that is larger than this in any direction is no table."""
PREAMBLE = (
    r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{lmodern}"
    rf"\usepackage[table]{{xcolor}}\usepackage{{{','.join(POOL_PACKAGES)},etoolbox}}"
)
_CPU_S, _CPU_S_PER_TABLE = 3.0, 0.2
_BODY = r"""\makeatletter\newbox\pmtablebox
\def\pmopen#1{\typeout{NONCE begin #1}\begingroup\def\pmnumber{#1}\setbox\pmtablebox\hbox\bgroup\ignorespaces}
\def\pmclose{\unskip\egroup
  \typeout{NONCE size
  \pmnumber\space\strip@pt\wd\pmtablebox\space\strip@pt\dimexpr\ht\pmtablebox+\dp\pmtablebox\relax}%
  \pdfpagewidth\dimexpr\wd\pmtablebox+40pt\relax
  \pdfpageheight\dimexpr\ht\pmtablebox+\dp\pmtablebox+40pt\relax \pdfhorigin20pt \pdfvorigin20pt \hoffset0pt
  \voffset0pt \shipout\box\pmtablebox\endgroup} \makeatother
"""


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """What TeX made of a table."""

    width_pt: float
    height_pt: float
    marked: MarkedTable
    """Its grid, as TeX has it."""


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table with the declarations that it needs."""

    latex: str
    preamble: tuple[str, ...] = ()


def measure(tables: Sequence[TableSource]) -> list[MeasuredTable | LatexError]:
    """The size and the grid of each table, or why it does not compile."""
    results: dict[int, MeasuredTable | LatexError] = {}
    for start in range(0, len(tables), BATCH):
        waiting = list(range(start, min(start + BATCH, len(tables))))
        while waiting:
            run = _run(tables, waiting)
            results.update(run.measured)
            for number in run.suspects or waiting[:1]:
                if number not in results:
                    results[number] = _measure_alone(tables, number)
            waiting = [number for number in waiting if number not in results]
    return [results[number] for number in range(len(tables))]


@dataclass(frozen=True, slots=True)
class _TexRun:
    measured: dict[int, MeasuredTable | LatexError]
    suspects: list[int]
    """Tables that have an error, and the one at which TeX gave up."""
    reason: str | None


def _measure_alone(tables: Sequence[TableSource], number: int) -> MeasuredTable | LatexError:
    run = _run(tables, [number])
    if run.reason is None and number in run.measured:
        return run.measured[number]
    return LatexError(f"does not compile: {run.reason or 'it breaks its box'}")


def _run(tables: Sequence[TableSource], numbers: Sequence[int]) -> _TexRun:
    nonce = f"parsemark-{secrets.token_hex(8)}"
    limits = CompileLimits(cpu_s=round(_CPU_S + _CPU_S_PER_TABLE * len(numbers)), wall_s=300)
    with ScratchFolder("parsemark-") as folder:
        shutil.copy(MARKS_FILE, folder)
        result = compile_latex(
            _source(tables, numbers, nonce),
            folder,
            format=precompiled(PREAMBLE),
            halt_on_error=len(numbers) == 1,
            limits=limits,
        )
        pages = [] if result.pdf is None else _read_pages(result.pdf)
    begun = [int(n) for n in re.findall(rf"{nonce} begin (\d+)", result.log)]
    shipped = [int(n) for n in re.findall(rf"{nonce} size (\d+) ", result.log)]
    sizes = _clean_sizes(result.log, nonce)
    measured: dict[int, MeasuredTable | LatexError] = {}
    if len(pages) == len(shipped):
        measured = {n: _judge(sizes[n], p.tables) for n, p in zip(shipped, pages, strict=True) if n in sizes}
    suspects = [n for n in begun if n not in sizes]
    return _TexRun(measured, suspects, result.reason)


def _read_pages(pdf: Path) -> list[MarkedPage]:
    """The pages; none if TeX was ended while it wrote them."""
    try:
        return read_marks(pdf)
    except LatexError:
        return []


def _source(tables: Sequence[TableSource], numbers: Sequence[int], nonce: str) -> str:
    body = "".join(
        f"\\pmopen{{{n}}}%\n{''.join(tables[n].preamble)}%\n{tables[n].latex}%\n\\pmclose\n" for n in numbers
    )
    begin = LOAD_MARKS + _BODY.replace("NONCE", nonce)
    return f"{begin}\\begin{{document}}\n{body}\\end{{document}}\n"


def _clean_sizes(log: str, nonce: str) -> dict[int, tuple[float, float]]:
    """Sizes of the tables without an error between their begin and their end."""
    sizes: dict[int, tuple[float, float]] = {}
    for piece in log.split(f"{nonce} begin ")[1:]:
        inside, mark, rest = piece.partition(f"{nonce} size ")
        number = re.match(r"\d+", inside)
        size = re.match(r"(\d+) (-?[\d.]+) (-?[\d.]+)", rest)
        is_clean = not re.search(r"^! ", piece, re.MULTILINE)
        if mark and number and size and size[1] == number[0] and is_clean:
            sizes[int(size[1])] = float(size[2]), float(size[3])
    return sizes


def _judge(size: tuple[float, float], found: Sequence[MarkedTable]) -> MeasuredTable | LatexError:
    if len(found) != 1:
        return LatexError(f"is set as {len(found)} tables")
    if max(size) > MAX_SIZE_PT:
        return LatexError(f"is larger than {MAX_SIZE_PT:g} pt")
    return MeasuredTable(round(size[0], 2), round(size[1], 2), found[0])
