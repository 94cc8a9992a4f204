"""Coloured formulas as pictures, many in one run of pdflatex, and the box of each sign (step 6)."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parsemark.errors import LatexError, MissingDependencyError, PdfError
from parsemark.formats.latex.symbols import ACCENTS, symbol
from parsemark.metrics.cdm import listed
from parsemark.metrics.cdm.colours import Coloured, colour_of
from parsemark.metrics.cdm.tokens import is_nested
from parsemark.system.pdflatex import APT_PACKAGES, Compiled, CompileLimits, compile_latex, precompiled
from parsemark.system.scratch import ScratchFolder

DPI = 200
_MARGIN = 8
_WHITE = 0xFFFFFF
_BATCH = 40
_CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_PREAMBLE = Path(__file__).with_name("preamble.tex").read_text(encoding="utf-8")
_MARK = re.compile(r"PMFORMULA (\d+) PAGE (\d+)")
_HARMLESS = ("! LaTeX Error: Unicode character", "! Undefined control sequence", "! Package inputenc Error")
"""Errors after which TeX goes on as if the sign had not been there: they spoil no other formula of a run."""
_COMMAND = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{\s*([^{}]*?)\s*\}")
_DRAWS_ONLY = listed("drawing")
"""Commands that draw, in groups of their own; with the symbols, all that formulas of one run may hold.
Another one may define, count or set something for good, in ways that no list of bad words names."""
_DRAWN_ENVIRONMENTS = frozenset({"array", "aligned", "gathered", "matrix", "split", "cases", "tabular"})
_SENTINEL = Coloured(
    "\\mathcolor[RGB]{0,0,15}{\\alpha} \\mathcolor[RGB]{0,0,30}{+} \\mathcolor[RGB]{0,0,45}{\\frac"
    " { \\mathcolor[RGB]{0,0,60}{x} } { \\mathbf { \\mathcolor[RGB]{0,0,75}{y} } }} \\begin{array} {cc}"
    " \\mathcolor[RGB]{0,0,90}{\\sum} & \\mathcolor[RGB]{0,0,105}{\\leq} \\\\ \\mathcolor[RGB]{0,0,120}{1} & "
    "\\mathcolor[RGB]{0,0,135}{\\sqrt { \\mathcolor[RGB]{0,0,150}{2} }} \\end{array}",
    ("\\alpha", "+", "\\frac", "x", "y", "\\sum", "\\leq", "1", "\\sqrt", "2"),
)
"""Drawn first and last in every run: if the two differ, something of one formula reached another."""
_LIMITS = CompileLimits(cpu_s=30, wall_s=120.0, memory_mb=1024, output_mb=64)
_SINGLE = CompileLimits(cpu_s=30, wall_s=60.0, memory_mb=1024, output_mb=16)


Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class DrawnFormula:
    """A formula as it was drawn: its signs that left ink, with their boxes."""

    tokens: tuple[str, ...]
    boxes: tuple[Box, ...]  # left, top, right, bottom in pixels
    width: int
    height: int
    outside: tuple[str, ...] = ()  # signs without ink where not even the largest paper was wide enough


@dataclass(frozen=True, slots=True)
class FormulaPicture:
    """What became of one formula: drawn, or why not."""

    drawn: DrawnFormula | None
    reason: str | None = None


def draw(formulas: Sequence[Coloured]) -> list[FormulaPicture]:
    """Draw formulas, each on a page of its own; nothing that one of them says reaches another.

    MissingDependencyError where no pdflatex can draw a plain formula.
    """
    pictures: list[FormulaPicture | None] = [None] * len(formulas)
    groups: dict[tuple[int, bool], list[int]] = {}
    for index, formula in enumerate(formulas):
        if draws_only(formula.latex):
            kind = _paper(len(formula.tokens)), _CJK.search(formula.latex) is not None
            groups.setdefault(kind, []).append(index)
    for (paper, cjk), members in sorted(groups.items()):
        for start in range(0, len(members), _BATCH):
            part = members[start : start + _BATCH]
            drawn = _draw_batch([formulas[i] for i in part], paper, cjk)
            for index, picture in zip(part, drawn, strict=True):
                pictures[index] = picture
    for index, picture in enumerate(pictures):
        if picture is None:
            pictures[index] = alone = _draw_alone(formulas[index])
            if alone.drawn is None:
                _require_drawing(_CJK.search(formulas[index].latex) is not None, shutil.which("pdflatex"))
    return [picture for picture in pictures if picture is not None]


def draws_only(latex: str) -> bool:
    r"""Return whether a formula leaves nothing behind: it may share a run of TeX with others.

    >>> draws_only(r"\frac{\alpha}{2}"), draws_only(r"\gdef\alpha{}"), draws_only(r"\^^67def\alpha{}")
    (True, False, False)
    """
    if "^^" in latex or not is_nested(latex):
        return False
    names = {name for name in _COMMAND.findall(latex) if name not in _DRAWS_ONLY and name not in ACCENTS}
    environments = {name.removesuffix("*") for name in _ENVIRONMENT.findall(latex)}
    return environments <= _DRAWN_ENVIRONMENTS and all(
        name == "\\" or symbol(name) is not None for name in names
    )


def _paper(n_tokens: int) -> int:
    return 5 if n_tokens <= 600 else 4 if n_tokens <= 1300 else 3


def _document(formulas: Sequence[Coloured], cjk: bool) -> str:
    pages = [
        f"\\typeout{{PMFORMULA {number} PAGE \\thepage}}\n"
        f"\\begin{{displaymath}}\n{formula.latex}\n\\end{{displaymath}}\n\\newpage\n"
        for number, formula in enumerate(formulas)
    ]
    body = "".join(pages) + f"\\typeout{{PMFORMULA {len(formulas)} PAGE \\thepage}}\n"
    if cjk:
        body = f"\\begin{{CJK}}{{UTF8}}{{gkai}}\n{body}\\end{{CJK}}\n"
    return f"\\begin{{document}}\n{body}\\end{{document}}\n"


@contextmanager
def _compiled(
    formulas: Sequence[Coloured], paper: int, cjk: bool, limits: CompileLimits
) -> Iterator[Compiled]:
    with ScratchFolder("parsemark-cdm-") as folder:
        try:
            preamble = precompiled(_PREAMBLE % (paper, "\\usepackage{CJK}\n" if cjk else ""))
            done = compile_latex(
                _document(formulas, cjk), folder, format=preamble, halt_on_error=False, limits=limits
            )
        except LatexError as error:
            raise _half_installed(cjk) from error
        yield done


def _draw_batch(formulas: Sequence[Coloured], paper: int, cjk: bool) -> list[FormulaPicture | None]:
    """Return the pictures of a run that went well; None for what has to be drawn alone."""
    guarded = [_SENTINEL, *formulas, _SENTINEL]
    with _compiled(guarded, paper, cjk, _LIMITS) as result:
        if result.pdf is None:
            return [None] * len(formulas)
        pages = _clean_pages(result.log, len(guarded))
        drawn = [
            None if page is None else _picture(result.pdf, [page], formula)
            for page, formula in zip(pages, guarded, strict=True)
        ]
        if drawn[0] is None or drawn[0] != drawn[-1] or drawn[0].drawn is None:
            return [None] * len(formulas)
        return drawn[1:-1]


def _clean_pages(log: str, n: int) -> list[int | None]:
    """Return the page of each formula that is on one page and had no error that could reach another one."""
    text = log.replace("\n ", " ")
    marks = [(int(m[1]), int(m[2]), m.start(), m.end()) for m in _MARK.finditer(text)]
    if [m[0] for m in marks] != list(range(n + 1)):
        return [None] * n
    pages: list[int | None] = []
    for (_, page, _, start), (_, following, end, _) in pairwise(marks):
        part = text[start:end]
        errors = (line for line in part.splitlines() if line.startswith("! "))
        has_harm = any(not line.startswith(_HARMLESS) for line in errors)
        pages.append(page if following == page + 1 and "Overfull" not in part and not has_harm else None)
    return pages


def _draw_alone(formula: Coloured, *, cjk: bool = False) -> FormulaPicture:
    """Return one formula in a run of its own, on larger paper where it needs that."""
    from parsemark.pdf import count_pages

    cjk = cjk or _CJK.search(formula.latex) is not None
    for paper in range(_paper(len(formula.tokens)), 0, -1):
        with _compiled([formula], paper, cjk, _SINGLE) as result:
            if result.pdf is None:
                return FormulaPicture(None, f"pdflatex made no page: {result.reason or 'no reason given'}")
            n_pages = count_pages(result.pdf)
            too_large = "Overfull" in result.log or "(2 pages" in result.log or n_pages > 1
            if too_large and paper > 1:
                continue
            picture = _picture(result.pdf, range(1, n_pages + 1), formula)
            if picture.drawn is None or "Overfull" not in result.log:
                return picture
            outside = Counter(formula.tokens) - Counter(picture.drawn.tokens)
            return replace(picture, drawn=replace(picture.drawn, outside=tuple(outside.elements())))
    return FormulaPicture(None, "The formula fits on no paper.")


@lru_cache(maxsize=2)
def _require_drawing(cjk: bool, _program: str | None) -> None:
    """Blame a formula that is not drawn only where TeX draws one that is known to be right."""
    if _draw_alone(_SENTINEL, cjk=cjk).drawn is None:
        raise _half_installed(cjk)


def _half_installed(cjk: bool) -> MissingDependencyError:
    packages = f"{APT_PACKAGES} texlive-lang-chinese" if cjk else APT_PACKAGES
    what = "a whole TeX (there is one here that fails on a plain formula)"
    return MissingDependencyError(what, "CDM", f"apt-get install --no-install-recommends {packages}")


def _picture(pdf: Path, pages: Sequence[int], formula: Coloured) -> FormulaPicture:
    try:
        return FormulaPicture(_boxes(_raster(pdf, pages), formula))
    except PdfError as error:
        return FormulaPicture(None, str(error))


def _raster(pdf: Path, pages: Sequence[int]) -> NDArray[np.uint32]:
    """Return pages as pixels 0xBBGGRR without any smoothing, one below the other."""
    from parsemark.pdf import sharp_pixels

    shots = [
        np.frombuffer(pixels, "<u4").reshape(height, width) & _WHITE
        for width, height, pixels in sharp_pixels(pdf, list(pages), DPI)
    ]
    widest = max(shot.shape[1] for shot in shots)
    filled = [np.pad(s, ((0, 0), (0, widest - s.shape[1])), constant_values=_WHITE) for s in shots]
    return np.concatenate(filled, axis=0)


def _boxes(pixels: NDArray[np.uint32], formula: Coloured) -> DrawnFormula:
    """Return the extent of each colour, with a pixel around it, in the picture cropped to its ink."""
    ink = pixels != _WHITE
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        return DrawnFormula((), (), 1, 1)
    top, left = max(0, int(rows[0]) - _MARGIN), max(0, int(columns[0]) - _MARGIN)
    bottom = min(pixels.shape[0], int(rows[-1]) + 1 + _MARGIN)
    right = min(pixels.shape[1], int(columns[-1]) + 1 + _MARGIN)
    extents = _extents(pixels[top:bottom, left:right])
    tokens: list[str] = []
    boxes: list[Box] = []
    for number, token in enumerate(formula.tokens, 1):
        red, green, blue = (c // 15 for c in colour_of(number))
        extent = extents.get(red * 324 + green * 18 + blue)
        if extent is not None:
            tokens.append(token)
            x0, y0, x1, y1 = extent
            boxes.append((x0 - 1, y0 - 1, x1 + 1, y1 + 1))
    return DrawnFormula(tuple(tokens), tuple(boxes), right - left, bottom - top)


def _extents(pixels: NDArray[np.uint32]) -> dict[int, Box]:
    """Return left, top, right and bottom of each colour that is one of ours; black is none."""
    from scipy.ndimage import find_objects

    ys, xs = np.nonzero(pixels != _WHITE)
    found = pixels[ys, xs]
    channels = np.stack([found & 0xFF, found >> 8 & 0xFF, found >> 16], axis=1).astype(np.int64)
    nearest = (channels + 7) // 15
    exact = (np.abs(channels - nearest * 15) <= 1).all(axis=1) & ~(channels >= 254).all(axis=1)
    codes = np.zeros(pixels.shape, dtype=np.int64)
    codes[ys[exact], xs[exact]] = nearest[exact] @ np.array([324, 18, 1])
    places = ((code, place) for code, place in enumerate(find_objects(codes), 1) if place is not None)
    return {code: (x.start, y.start, x.stop - 1, y.stop - 1) for code, (y, x) in places}
