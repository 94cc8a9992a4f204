"""Typesets a document twice: clean, to publish, and marked, to read where everything is."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parsemark.corpora.latex import marks
from parsemark.corpora.latex.documents.build import Build, build_clean, build_marked, plain_main, prologue
from parsemark.corpora.latex.marks import MarkedPage
from parsemark.corpora.latex.sources import SourceDocument
from parsemark.errors import LatexError
from parsemark.pdf import Glyph, count_pages, document_glyphs

MAX_MOVED = 0.5  # points by which the marks may move a glyph: as far as boxes may be from the ink
MIN_KEPT = 0.5  # the share of its pages that a document must keep


@dataclass(frozen=True, slots=True)
class Typeset:
    """A document as TeX set it."""

    build: Build  # without marks
    pages: list[MarkedPage]
    left_out: dict[int, str] = field(default_factory=dict)  # pages that cannot be used, each with the reason
    in_columns: frozenset[int] = frozenset()  # pages in two columns

    @property
    def pdf(self) -> Path:
        """The document to publish."""
        assert self.build.pdf is not None
        return self.build.pdf


def typeset(document: SourceDocument, main: str, folder: Path) -> Typeset:
    """Compile a document in a folder of its own.

    Raises:
        LatexError: It does not compile, it cannot be marked, or the marks change more than half of its pages.
    """
    root = (folder / "clean").resolve()
    place = document.write_to(root)
    text = document.tex_files()[main]
    main = plain_main(root, f"{place}/{main}" if place else main)
    clean = build_clean(root, main, text)
    assert clean.pdf is not None
    marked_root = (folder / "marked").resolve()
    shutil.copytree(root, marked_root, ignore=shutil.ignore_patterns("*.log", clean.pdf.name))
    shutil.copy(marks.MARKS_FILE, (marked_root / main).parent)
    begin = prologue(clean.engine)
    for command, note in ((b"\\halign", marks.NOTE_HALIGN), (b"\\Block", marks.NOTE_BLOCKS)):
        if any(command in data for data in document.files.values()):
            begin += note
    marked = build_marked(clean, marked_root, begin + marks.LOAD_MARKS)
    assert marked.pdf is not None
    if count_pages(clean.pdf) != count_pages(marked.pdf):  # a reference may have changed: once more
        marked = build_marked(clean, marked_root, begin + marks.LOAD_MARKS)
    assert marked.pdf is not None
    pages = marks.read_marks(marked.pdf)
    changed = _changed(clean.pdf, marked.pdf, len(pages))
    if changed:  # references that never stand: the marked document is one pass ahead
        clean.run(begin)
        assert clean.pdf is not None
        changed = _changed(clean.pdf, marked.pdf, len(pages))
    clean.cpu_s += marked.cpu_s
    left_out = {**changed, **_unmarked(pages)}
    if len(left_out) > (1 - MIN_KEPT) * len(pages):
        reason, count = Counter(left_out.values()).most_common(1)[0]
        raise LatexError(f"{len(left_out)} of its {len(pages)} pages cannot be used; on {count} {reason}")
    return Typeset(clean, pages, left_out, marked.in_columns)


def _changed(clean: Path, marked: Path, n_pages: int) -> dict[int, str]:
    """Pages on which the marks are worth nothing, for the two PDFs do not show the same."""
    one, other = document_glyphs(clean), document_glyphs(marked)
    if not len(one) == len(other) == n_pages:
        raise LatexError("the marks change the number of its pages")
    shown = zip(map(_visible_glyphs, one), map(_visible_glyphs, other), strict=True)
    reasons = enumerate((_difference(*pair) for pair in shown), start=1)
    return {number: reason for number, reason in reasons if reason is not None}


def _difference(one: Sequence[Glyph], other: Sequence[Glyph]) -> str | None:
    if Counter(g.text for g in one) != Counter(g.text for g in other):
        return "the marks change what it shows"
    moved = _farthest(one, other)
    return f"the marks move what it shows by {moved:.1f} pt" if moved > MAX_MOVED else None


def _farthest(one: Sequence[Glyph], other: Sequence[Glyph]) -> float:
    """How far apart the same glyphs stand at most, each with the nearest one left."""
    places: dict[tuple[str, int, int], list[Glyph]] = defaultdict(list)
    for glyph in other:
        places[glyph.text, round(glyph.box.x0), round(glyph.box.y0)].append(glyph)
    farthest = 0.0
    for glyph in one:
        x, y = round(glyph.box.x0), round(glyph.box.y0)
        around = ((glyph.text, x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1))
        near = [(_distance(glyph, found), key, found) for key in around for found in places.get(key, ())]
        if not near:
            return min(_distance(glyph, found) for found in other if found.text == glyph.text)
        distance, key, found = min(near, key=lambda candidate: candidate[0])
        places[key].remove(found)
        farthest = max(farthest, distance)
    return farthest


def _visible_glyphs(page: Sequence[Glyph]) -> list[Glyph]:
    return [glyph for glyph in page if glyph.text.strip() and not glyph.generated]


def _distance(one: Glyph, other: Glyph) -> float:
    return max(abs(one.box.x0 - other.box.x0), abs(one.box.y0 - other.box.y0))


def _unmarked(pages: Sequence[MarkedPage]) -> dict[int, str]:
    """Pages with a table that the marks do not see, from its beginning to its end."""
    found: dict[int, str] = {}
    is_open, name = False, ""
    for page in pages:
        if page.unmarked:
            name = page.unmarked[-1]
        if page.unmarked or is_open:
            found[page.number] = f"there is a table of {name}, whose cells cannot be marked"
        is_open ^= len(page.unmarked) % 2 == 1
    return found
