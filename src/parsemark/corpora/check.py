"""Verifies a corpus: its files, its boxes, and that its truth is what the PDFs show.

The scores do not trust the maker: they are measured on the published PDFs, by their text layer and their
painted objects. Other packages add checks as `parsemark.checks`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from parsemark.corpora.base import Corpus
from parsemark.corpora.files import hash_of_files, read_manifest
from parsemark.corpora.making import Progress, silent
from parsemark.corpora.tagged.text import readable
from parsemark.errors import CorpusError, ParsemarkError
from parsemark.formats import glyphs as signs
from parsemark.formats import says_the_same
from parsemark.formats.notation import fold_notation, without_accents
from parsemark.model import Box, Cell, Element, Sample
from parsemark.pdf import Glyph, PageInk, open_picture, page_ink
from parsemark.pdf.text import is_right_to_left
from parsemark.specs import Registry, own_plugins
from parsemark.system import file_sha256

CHECKS = Registry("check", "parsemark.checks", {})
"""Name to a subclass of `CorpusCheck`."""
T = TypeVar("T")
BOX_TOLERANCE = 0.05  # boxes are rounded to hundredths of a point
GLYPH_TOLERANCE = 0.25  # how far a glyph may stick out of its cell, in points: what marks may move it by
INK_TOLERANCE = 0.5

_MATH = re.compile(r"\$[^$]*\$")
_ACCENTS = frozenset("´`ˆ˜~¨¯˘˙˚˝ˇ¸˛ ")
_DOTTED = {"ı": "i", "ȷ": "j"}  # letters that have an accent in the place of their dot
_ONE_BRACKET = str.maketrans(")]}>»", "([{<«")
_PLAIN = str.maketrans({"~": "∼", **signs.ROOTS})
_RING = re.compile("˚(?=[AaUu])")
"""The accent of Å as a glyph of its own, which elsewhere is the sign of degrees."""
_SCRIPT_MARKS = re.compile(r"[\s^_{}\\]")


@dataclass
class PageFigures:
    """Counts of one page, or of many: how faithful the truth is."""

    problems: list[str] = field(default_factory=list)  # what contradicts the format
    disagreements: list[str] = field(default_factory=list)
    """Elements and cells whose truth is not what the PDF shows, each with its cause."""
    causes: Counter[str] = field(default_factory=Counter)
    elements: int = 0  # elements with text
    elements_found: int = 0
    tables: int = 0
    tables_at_ink: int = 0
    worst_ink_distance: float = 0.0
    cells: int = 0
    cells_equal: int = 0
    glyphs: int = 0
    glyphs_inside: int = 0
    without_box: int = 0
    """Elements with text or cells that have no place on their page, so that they cannot be compared."""
    image_only: int = 0  # pages without a text layer: only their boxes can be checked
    unseen: int = 0  # pages with neither PDF nor picture

    def disagree(self, cause: str, said: str) -> None:
        """Note that a truth is not what the PDF shows."""
        self.causes[cause] += 1
        self.disagreements.append(said)

    def add(self, other: PageFigures) -> None:
        """Add what was found on another page."""
        worst = max(self.worst_ink_distance, other.worst_ink_distance)
        for each in fields(other):
            value = getattr(self, each.name)
            value += getattr(other, each.name)
            setattr(self, each.name, value)
        self.worst_ink_distance = worst


@dataclass
class CheckReport(PageFigures):
    """What was found in all pages, and by checks of the whole corpus."""

    pages: int = 0
    harmless: set[str] = field(default_factory=set)  # causes of disagreement that are no fault of the truth
    measured: list[str] = field(default_factory=list)  # scores of added checks, a line each
    notes: list[str] = field(default_factory=list)  # why something was not checked
    disputes: list[str] = field(default_factory=list)  # truths that a reader of a report called wrong

    @property
    def ok(self) -> bool:
        """Return whether the corpus is whole and consistent."""
        return not self.problems

    @property
    def is_faithful(self) -> bool:
        """Return whether nothing was found but what is harmless."""
        return self.ok and not any(n for cause, n in self.causes.items() if cause not in self.harmless)

    def summary(self) -> list[str]:
        """Return the scores, one line each, with their denominators; nothing that the corpus lacks."""
        pictures = f", {self.image_only} of them pictures" if self.image_only else ""
        pictures += f", {self.unseen} of them with neither PDF nor picture" if self.unseen else ""
        counts = f"problems: {len(self.problems)}; disagreements: {len(self.disagreements)}"
        lines = [f"pages: {self.pages}{pictures}; {counts}", *self.measured]
        worst = f"; worst {self.worst_ink_distance:.3f} pt"
        for label, part, whole, rest in (
            ("table boxes within 0.5 pt of the ink", self.tables_at_ink, self.tables, worst),
            ("glyphs inside the box of their cell", self.glyphs_inside, self.glyphs, ""),
            ("cells whose text equals their glyphs", self.cells_equal, self.cells, ""),
            ("other elements whose text is in the text layer", self.elements_found, self.elements, ""),
        ):
            if whole:
                lines.append(f"{label}: {part} of {whole} ({100 * part / whole:.3f} %){rest}")
        if self.without_box:
            nothing = "" if self.elements or self.tables else ": nothing was measured"
            lines.append(f"elements without a box, not compared with their page: {self.without_box}{nothing}")
        return [*lines, *self.notes]


class CorpusCheck(ABC):
    """A check that another package adds: it sees every page, and then reports on the corpus."""

    @abstractmethod
    def add(self, sample: Sample) -> None:
        """Look at one page."""

    @abstractmethod
    def finish(self, report: CheckReport) -> None:
        """Add problems, disagreements, scores and notes."""


def check_corpus(corpus: Corpus, progress: Progress = silent) -> CheckReport:
    """Check all files and pages of a corpus.

    Args:
        corpus: The corpus.
        progress: Called with 1 for each page.
    """
    report = CheckReport()
    if (corpus.root / "corpus.json").is_file():
        report.problems += _check_files(corpus.root)
    added = {name: _added_check(name) for name in CHECKS}
    for key in corpus.keys:
        try:
            sample = corpus.read(key)
            report.add(check_page(sample))
        except CorpusError as error:
            report.problems.append(str(error))
        else:
            report.pages += 1
            for name, check in added.items():
                _run_added(name, check.add, sample)
        progress(1)
    for name, check in added.items():
        _run_added(name, check.finish, report)
    for distribution, groups in own_plugins().items():
        for name in groups.get(CHECKS.group, ()):
            if name not in CHECKS:
                how = f"it is part of {distribution} (pip install {distribution})"
                report.notes.append(f"The check {name} did not run: {how}.")
    return report


def _added_check(name: str) -> CorpusCheck:
    check = CHECKS.load(name)
    if not (isinstance(check, type) and issubclass(check, CorpusCheck)):
        raise CHECKS.broken(name, TypeError("it is not a subclass of parsemark.corpora.check.CorpusCheck"))
    return check()


def _run_added(name: str, method: Callable[[T], None], argument: T) -> None:
    """Call another package's code; what it raises is reported with its name."""
    try:
        method(argument)
    except ParsemarkError:
        raise
    except Exception as error:
        raise CHECKS.broken(name, error) from error


def _check_files(root: Path) -> list[str]:
    manifest = read_manifest(root)
    problems = []
    for name, digest in manifest.files.items():
        path = root / name
        if not path.is_file():
            problems.append(f"{name} is missing.")
        elif file_sha256(path) != digest:
            problems.append(f"{name} does not match its hash in corpus.json.")
    for folder in ("truth", "pdfs"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.relative_to(root).as_posix() not in manifest.files:
                problems.append(f"{path.relative_to(root)} is not listed in corpus.json.")
    if hash_of_files(manifest.files) != manifest.hash:
        problems.append("The hash of the corpus in corpus.json does not match the hashes of its files.")
    return problems


def check_page(sample: Sample, ink: PageInk | None = None) -> PageFigures:
    """Return all checks of one page; its ink is read unless it is given."""
    figures = PageFigures()
    if sample.truth is None:
        return figures
    _check_boxes(sample, figures)
    if sample.pdf is None:
        if sample.image is not None:
            open_picture(sample.image)  # raises if it is broken
        figures.image_only += sample.image is not None
        figures.unseen += sample.image is None
        return figures
    ink = page_ink(sample.pdf, sample.page_number) if ink is None else ink
    if abs(ink.width - sample.truth.width) > 1 or abs(ink.height - sample.truth.height) > 1:
        figures.problems.append(f"{sample.id}: the page is {ink.width:.0f} × {ink.height:.0f} points.")
    if not ink.glyphs:
        figures.image_only += 1
        return figures
    for element in sample.truth.elements:
        if element.ignore:
            continue
        if element.box is None:
            figures.without_box += bool(element.text) or element.table is not None
        elif element.table is not None:
            _check_table(sample, element, ink, figures)
        elif element.text:
            _check_text(sample, element, ink, figures)
    return figures


def _check_boxes(sample: Sample, figures: PageFigures) -> None:
    assert sample.truth is not None
    page = Box(0, 0, sample.truth.width, sample.truth.height)
    for element in sample.truth.elements:
        where = f"{sample.id}, element {element.id} ({element.category})"
        if element.box is not None and not page.contains(element.box, BOX_TOLERANCE):
            figures.problems.append(f"{where}: the box extends beyond the page.")
        for kind, source in (("LaTeX", element.latex), ("HTML", element.html)):
            if source and element.table is not None and not says_the_same(source, element.table):
                figures.problems.append(f"{where}: its {kind} differs from its cells.")
        for cell in element.table.cells if element.table is not None else ():
            if element.box and cell.box and not element.box.contains(cell.box, BOX_TOLERANCE):
                figures.problems.append(f"{where}: cell ({cell.row}, {cell.col}) extends beyond its table.")


def _check_text(sample: Sample, element: Element, ink: PageInk, figures: PageFigures) -> None:
    assert element.box is not None and element.text is not None
    figures.elements += 1
    x0, y0, x1, y1 = element.box.expanded(0.5).as_tuple()
    inside = (text for x, y, text in ink.centres if x0 <= x <= x1 and y0 <= y <= y1)
    shown = _text_key("".join(inside))
    position = 0
    if is_right_to_left(element.text):
        # The order of a text layer is that of a guess: only what is there can be compared.
        there, said = (Counter(_mirrored(_without_accents(k))) for k in (shown, _text_key(element.text)))
        if there >= said:
            figures.elements_found += 1
            return
        position = len(shown)
    for part in _MATH.split(element.text):
        wanted = _text_key(part)
        position = shown.find(wanted, position)
        if position < 0:
            where = f"{sample.id}, element {element.id} ({element.category})"
            figures.disagree(
                "text not in the text layer", f"{where}: {part.strip()[:60]!r} is not visible there."
            )
            return
        position += len(wanted)
    figures.elements_found += 1


def _check_table(sample: Sample, element: Element, ink: PageInk, figures: PageFigures) -> None:
    assert element.box is not None and element.table is not None
    where = f"{sample.id}, element {element.id}"
    figures.tables += 1
    distance = _ink_distance(element.box, ink)
    figures.worst_ink_distance = max(figures.worst_ink_distance, distance)
    if distance <= INK_TOLERANCE:
        figures.tables_at_ink += 1
    else:
        figures.disagree("table box differs from its ink", f"{where}: ink differs by {distance:.2f} pt.")
    cells = [c for c in element.table.cells if c.box is not None]
    if not cells:
        return
    frames = [c.box.as_tuple() for c in cells if c.box is not None]
    by_cell = [list[Glyph]() for _ in cells]
    left, top, right, bottom = element.box.as_tuple()
    outside: list[Glyph] = []
    for glyph, (x, y, _) in zip(ink.glyphs, ink.centres, strict=True):
        if not (left <= x <= right and top <= y <= bottom):
            continue
        figures.glyphs += 1
        around = (i for i, (x0, y0, x1, y1) in enumerate(frames) if x0 <= x <= x1 and y0 <= y <= y1)
        index = next(around, None)
        box = None if index is None else cells[index].box
        if index is not None:
            by_cell[index].append(glyph)
        if box is not None and box.contains(glyph.box, GLYPH_TOLERANCE):
            figures.glyphs_inside += 1
        else:
            outside.append(glyph)
    if outside:
        said = f"{''.join(g.text for g in outside)[:60]!r} is outside the box of its cell, or in no cell."
        figures.disagree("glyphs outside the box of their cell", f"{where}: {said}")
    # Readers turn whole lines of a table around where one of its cells is written from right to left.
    any_order = any(is_right_to_left(cell.text) for cell in cells)
    for cell, glyphs in zip(cells, by_cell, strict=True):
        figures.cells += 1
        found = _compare(cell, glyphs, any_order)
        if found is None:
            figures.cells_equal += 1
            continue
        cause, which = found
        said = f"truth {cell.text!r}, shown {''.join(g.text for g in glyphs)!r} ({cause}{which})."
        figures.disagree(cause, f"{where}, cell ({cell.row}, {cell.col}): {said}")


def _compare(cell: Cell, glyphs: Sequence[Glyph], any_order: bool) -> tuple[str, str] | None:
    """Return None if truth and glyphs agree, else why not, and the characters that make the difference."""
    wanted, shown = _key(cell.text), _key("".join(g.text for g in glyphs))
    divided = _key(_without_divisions(glyphs))
    if wanted in (shown, divided) or _without_accents(wanted) in map(_without_accents, (shown, divided)):
        return None
    if any_order:
        wanted, shown = _mirrored(_without_accents(wanted)), _mirrored(_without_accents(shown))
    if sorted(wanted) == sorted(shown):
        has_formula = any(mark in cell.text for mark in "^_√∛∜")  # which a file may have in any order
        return None if any_order or has_formula else ("cell: order of glyphs", "")
    said, seen = Counter(wanted), Counter(shown)
    missing, extra = signs.without_joined_signs(said - seen, seen - said)
    plain, given = (Counter(_without_accents("".join(c.elements()))) for c in (missing, extra))
    missing, extra = signs.without_extension_signs(plain - given, given - plain)
    unsaid = signs.without_written_signs(missing) if _is_stacked(cell, glyphs) else missing
    if not extra and not unsaid:
        return None
    labels = ("not shown", missing), ("more", extra)
    which = "".join(f"; {label} {_named(own)}" for label, own in labels if own)
    if "�" in extra:
        return "cell: glyph without Unicode", which
    if missing and extra:
        return "cell: other characters", which
    return ("cell: characters missing" if missing else "cell: extra characters"), which


def _named(characters: Counter[str]) -> str:
    """Return the characters, with the code of those that can be taken for others."""
    shown = sorted(characters.elements())
    return " ".join(c if c.isascii() and c.isprintable() else f"{c} (U+{ord(c):04X})" for c in shown)


def _is_stacked(cell: Cell, glyphs: Sequence[Glyph]) -> bool:
    r"""Return whether glyphs stand above others, as in fractions and halves of a `\diagbox`, or under a
    root.
    """
    highest = min((g.box.y1 for g in glyphs), default=0.0)
    lowest = max((g.box.y0 for g in glyphs), default=0.0)
    letters = [g.box for g in glyphs if g.text.isalnum()]
    middle = max(((box.y0 + box.y1) / 2 for box in letters), default=0.0)
    is_divided = " / " in cell.text and any(box.y1 <= middle for box in letters)
    return highest <= lowest or "√" in _key(cell.text) or is_divided


def _mirrored(key: str) -> str:
    """Return brackets of one form: which one a file has depends on the direction it was written in."""
    return key.translate(_ONE_BRACKET)


def _key(text: str) -> str:
    """Return folded, without what a text layer cannot say: blanks and script marks. A tilde is never a tie
    here.
    """
    plain = _RING.sub("", readable(text)).translate(_PLAIN)
    return _SCRIPT_MARKS.sub("", fold_notation(plain))


def _without_divisions(glyphs: Sequence[Glyph]) -> str:
    """Return the text without hyphens at the ends of lines, where the next one begins further to the left."""
    pairs = zip_longest(glyphs, glyphs[1:])
    return "".join(g.text for g, after in pairs if g.text != "-" or after is None or after.box.x0 > g.box.x0)


def _without_accents(key: str) -> str:
    """Return old fonts set an accent as a glyph of its own, beside its letter."""
    return "".join(_DOTTED.get(c, c) for c in without_accents(key) if c not in _ACCENTS)


def _text_key(text: str) -> str:
    """Return `_key` without case (small capitals), hyphens (divided words), stars (not Markdown here)."""
    return _key(text.replace("*", "")).replace("-", "").casefold()


def _ink_distance(box: Box, ink: PageInk) -> float:
    """Return the largest distance between an edge of the box and that of the ink in it."""
    inside = ink.inside(box, INK_TOLERANCE)
    if not inside:
        return float("inf")
    hull = Box.hull(inside)
    return max(abs(a - b) for a, b in zip(hull.as_tuple(), box.as_tuple(), strict=True))
