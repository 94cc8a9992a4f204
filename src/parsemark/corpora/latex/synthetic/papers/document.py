"""Makes one document in the look of a publisher: a marked run, the choice of its pages, a clean run."""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from parsemark.corpora.check_page import check_page
from parsemark.corpora.latex.marks import MARKS_FILE, MarkedPage, read_marks
from parsemark.corpora.latex.synthetic.options import SyntheticOptions
from parsemark.corpora.latex.synthetic.papers.compose import Paper
from parsemark.corpora.latex.synthetic.papers.furniture import Furniture, furnish
from parsemark.corpora.latex.synthetic.papers.looks import PaperLook, choose_look
from parsemark.corpora.latex.synthetic.papers.subject import Subject, common, read_subject, subject_names
from parsemark.corpora.latex.synthetic.papers.truth import PageParts, find_parts, page_truth
from parsemark.corpora.latex.synthetic.plan import DocumentPlan
from parsemark.corpora.synthetic.randomness import stream
from parsemark.errors import LatexError
from parsemark.model import AttributeValue, Category, Page, Sample
from parsemark.system.pdflatex import REPRODUCIBLE, Compiled, CompileLimits, compile_latex, precompiled

LIMITS = CompileLimits(cpu_s=120, wall_s=600)
MACROS = r"""
\makeatletter
\providecommand{\pmblock}[2]{\hbox{#2}}
\ifdefined\pmw\else\protected\long\def\pmw#1#2{\leavevmode#2}\fi
\let\pm@fnumtable\fnum@table \let\pm@fnumfigure\fnum@figure
\def\fnum@table{\pmw{\pmcap}{\pm@fnumtable}}\def\fnum@figure{\pmw{\pmcap}{\pm@fnumfigure}}
\ifdim\belowcaptionskip<4pt \setlength\belowcaptionskip{4pt}\fi
\def\pmcap{0}
\long\def\@makefntext#1{\parindent1em\noindent #1}
\newbox\pmfitbox \def\pmroom{.8\textheight}
\def\pmfit#1#2{\setbox\pmfitbox\hbox{#2}\leavevmode
  \ifdim\wd\pmfitbox>\linewidth\typeout{@PMS #1 \the\wd\pmfitbox\space\the\linewidth}\resizebox{\linewidth}{!}{\copy\pmfitbox}\else
  \ifdim\dimexpr\ht\pmfitbox+\dp\pmfitbox\relax>\pmroom\typeout{@PMS #1}\resizebox{!}{\pmroom}{\copy\pmfitbox}\else
  \box\pmfitbox\fi\fi}
\hbadness10000 \vbadness10000 \hfuzz\maxdimen \vfuzz\maxdimen \emergencystretch20pt
\brokenpenalty10000 \exhyphenpenalty10000 \clubpenalty8000 \widowpenalty8000 \raggedbottom
\makeatother
"""
DISCARD = r"""\newcount\pmsheet \AddToHook{shipout/before}{\global\advance\pmsheet1
  \ifcsname pmkeep\the\pmsheet\endcsname\else\DiscardShipoutBox\fi}
"""
"""Pages that are not kept; those kept are named before."""
_SCALED = re.compile(r"^@PMS (\d+)(?: ([\d.]+)pt ([\d.]+)pt)?", re.MULTILINE)
SMALLEST_SCALE = 0.65
"""Tables that would be set smaller are drawn again."""
LISTED = {2: 130, 3: 190}
"""Rows of a table over pages at first, by the number of its pages; as many as fill them are kept."""
LAST_PAGE = 0.5
"""How far down its last page a table over pages reaches."""
LIVELY = 0.85
"""How often pages that are mere lists of references are passed over where others are as planned."""


def look_of(options: SyntheticOptions, plan: DocumentPlan, attempt: int) -> PaperLook:
    """The look that an attempt at a document has."""
    rng = stream(options.name, options.seed, plan.name, "look", attempt)
    return choose_look(rng, plan.columns, options.looks, plan.language)


def _subject_of(options: SyntheticOptions, plan: DocumentPlan, attempt: int) -> str:
    """Subjects in turn, in an order that is drawn: each comes again after all others."""
    names = [
        name for name in subject_names(plan.language) if not plan.long or read_subject(name).has_measurements
    ]
    stream(options.name, options.seed, "subjects").shuffle(names)
    return names[(int(plan.name.rpartition("-")[2]) + attempt) % len(names)]


def make_paper(
    options: SyntheticOptions, plan: DocumentPlan, attempt: int, folder: Path
) -> tuple[tuple[Sample, ...], Path]:
    """Pages of a paper or thesis: as many with and without tables as are planned.

    Every page is held against its PDF as `corpus check` does; LatexError if anything disagrees.
    """
    identity = (options.name, options.seed, plan.name, "paper", attempt)
    rng = stream(*identity)
    look = look_of(options, plan, attempt)
    subject = read_subject(_subject_of(options, plan, attempt))
    with_tables = sum(page.tables > 0 for page in plan.pages)
    count = len(plan.pages) + rng.choice([1, 1, 2]) + attempt  # one that was too short is drawn longer
    few = [0, 1] if attempt == 0 else [0, 1, 2, 3]
    spare = rng.choice([1, 1, 2]) + attempt if with_tables == len(plan.pages) else rng.choice(few)
    tables = with_tables + spare if with_tables else 0
    turned = sum(page.rotated for page in plan.pages)
    listed = LISTED[len(plan.pages)] if plan.long else 0
    shutil.copy(MARKS_FILE, folder / MARKS_FILE.name)
    widths, own_widths = folder / "marked.aux", folder / f"{plan.name}.aux"
    for file in (widths, own_widths):  # of an attempt before this one
        file.unlink(missing_ok=True)

    def set_marked(kept: int) -> tuple[Paper, str, Furniture, Compiled, list[MarkedPage]]:
        own = stream(*identity, "content")
        paper = Paper(own, look, subject, options.lines, folder, count, tables, turned, listed, kept)
        body = paper.latex()
        furniture = furnish(stream(*identity, "furniture"), look, paper.matter, paper.writer)
        body = common(subject.language)["typesetting"]["latex"] + body
        marked = _compile(look, furniture, body, folder, "marked", begin=f"\\input{{{MARKS_FILE.name}}}\n")
        assert marked.pdf is not None
        return paper, body, furniture, marked, read_marks(marked.pdf)

    paper, body, furniture, marked, pages = set_marked(listed)
    if plan.long:  # as many rows as fill the planned pages, in columns that are as wide as all rows need
        shutil.copy(widths, own_widths)
        paper, body, furniture, marked, pages = set_marked(_rows_that_fill(pages, len(plan.pages), listed))
    parts = find_parts(paper.register.blocks, pages, look.columns)
    wanted = [
        "long" if plan.long else "turned" if page.rotated else "table" if page.tables else ""
        for page in plan.pages
    ]
    kinds = [_kind(p, paper) for p in parts]
    kept = _choose(rng, kinds, wanted, [_is_list(p, paper) for p in parts])
    scaled = _scaled(marked.log)
    attributes = _attributes(look, subject)
    truths: list[Page] = []
    for position, index in enumerate(kept):
        truths.append(
            page_truth(
                parts[index], paper.register.blocks, furniture, furniture.first_number + index,
                f"{plan.name}-p{position + 1}", {**attributes, "rotated": kinds[index] == "turned", "long": kinds[index] == "long"}, scaled,
            )
        )  # fmt: skip
    names = "".join(rf"\expandafter\let\csname pmkeep{index + 1}\endcsname\empty" for index in kept)
    clean = _compile(look, furniture, body, folder, plan.name, begin=names + DISCARD)
    assert clean.pdf is not None
    samples = tuple(
        Sample(page.id, plan.name, index + 1, page, clean.pdf) for index, page in enumerate(truths)
    )
    for sample in samples:
        _hold(sample)
    return samples, clean.pdf


def _rows_that_fill(pages: Sequence[MarkedPage], count: int, rows: int) -> int:
    """How many rows a table over pages needs to end in the middle of the last of `count` pages."""
    last = max(table.id for page in pages for table in page.tables)
    parts = [table.n_rows - 1 for page in pages for table in page.tables if table.id == last]
    if sum(parts) != rows or len(parts) < count or count < 2:
        raise LatexError("A long table has too few rows.")
    return sum(parts[: count - 1]) + max(3, int(LAST_PAGE * parts[count - 1]))


def _hold(sample: Sample) -> None:
    """Raise LatexError if the page does not show what its truth says."""
    figures = check_page(sample)
    for problem in (*figures.problems, *figures.disagreements):
        raise LatexError(problem)
    if figures.glyphs_inside != figures.glyphs:
        raise LatexError(
            f"{sample.id}: {figures.glyphs - figures.glyphs_inside} glyphs stick out of their cells."
        )


def _compile(
    look: PaperLook, furniture: Furniture, body: str, folder: Path, name: str, *, begin: str
) -> Compiled:
    source = f"{REPRODUCIBLE}\n{look.opening}\\begin{{document}}{begin}{MACROS}{furniture.latex()}{body}\n\\end{{document}}\n"
    result = compile_latex(source, folder, name=name, format=precompiled(look.preamble), limits=LIMITS)
    if not result.ok or result.pdf is None:
        raise LatexError(f"A paper in the look of {look.name} does not compile: {result.reason}")
    return result


def _scaled(log: str) -> frozenset[int]:
    """The tables that were made smaller; LatexError if one became too small to be believed."""
    found = _SCALED.findall(log)
    if any(wide and float(room) < SMALLEST_SCALE * float(wide) for _, wide, room in found):
        raise LatexError("A table is too wide for its place.")
    return frozenset(int(number) for number, _, _ in found)


def _kind(parts: PageParts, paper: Paper) -> str:
    """Whether a page has a `table`, one that is `turned` or a part of a `long` one, or none."""
    blocks = [paper.register.blocks[part.block] for part in parts.floats]
    if any(block.is_long for block in blocks):
        return "long"
    tables = [block for block in blocks if block.category == Category.TABLE]
    return ("turned" if any(block.is_turned for block in tables) else "table") if tables else ""


def _is_list(parts: PageParts, paper: Paper) -> bool:
    """Whether a page has references alone, which short papers would show too often."""
    kinds = {paper.register.blocks[part.block].category for part in parts.flow}
    return kinds == {Category.REFERENCE}


def _choose(
    rng: random.Random, kinds: Sequence[str], wanted: Sequence[str], dull: Sequence[bool]
) -> list[int]:
    """Pages of the paper, in order: neighbours if they are as planned, else some that are."""
    count, planned = len(wanted), Counter(wanted)
    runs = [s for s in range(len(kinds) - count + 1) if Counter(kinds[s : s + count]) == planned]
    lively = [start for start in runs if not any(dull[start : start + count])]
    runs = lively if lively and rng.random() < LIVELY else runs
    if runs:
        start = rng.choice(runs)
        return list(range(start, start + count))
    chosen: list[int] = []
    for kind, number in sorted(planned.items()):
        able = [index for index, own in enumerate(kinds) if own == kind]
        if len(able) < number:
            raise LatexError("A paper has too few pages with or without tables.")
        chosen += rng.sample(able, k=number)
    return sorted(chosen)


def _attributes(look: PaperLook, subject: Subject) -> dict[str, AttributeValue]:
    return {
        "data_source": "synthetic",
        "maker": "latex",
        "language": subject.language,
        "layout": "double_column" if look.columns == 2 else "single_column",
        "fuzzy_scan": False,
        "watermark": False,
        "colorful_background": False,
        "document_class": look.document_class,
        "look": look.name,
        "field": subject.field,
        "subject": subject.name,
        "font": look.font,
        "font_size": look.size,
        "paper": look.paper,
        "line_spacing": 1.0,
    }
