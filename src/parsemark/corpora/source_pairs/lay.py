"""Lays the elements of a source onto the pages of its PDF by their text.

What is found there (`source_places`) becomes a structure tree, as if the PDF were tagged; so tables are
checked against their pages, and pages say what they cover, as they do for tags.
"""

from __future__ import annotations

import re
import resource
import unicodedata
from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from parsemark.corpora.source_pairs.places import (
    CAPTION_LABEL,
    CAPTIONS,
    REFERENCE,
    LaidBlock,
    LaidPiece,
    PageLetters,
    block_of,
    folded_letters,
    pages_between,
    place_all,
    place_formulas,
    signs_of,
)
from parsemark.corpora.source_pairs.read_source import IN_TABLE, SOURCES, read_source
from parsemark.corpora.tagged.read import TaggedDocument, read_content
from parsemark.corpora.tagged.text import DocumentContent, is_ink, readable
from parsemark.errors import CorpusError, FormatError, PdfError
from parsemark.extras import require
from parsemark.model import Category, Element
from parsemark.pdf import Glyph, in_child
from parsemark.pdf.marked import ARTEFACT, UNMARKED, OwnedPage, marked_page
from parsemark.pdf.running_heads import edge_of
from parsemark.pdf.tags import Content, StructureTag, TagTree, Value
from parsemark.plain_words import counted

SOURCE_CPU_S, SOURCE_MB = 10, 512  # what reading a source may take
_NAMED = 5  # Words by which what has no place is named
_WITH_TAIL = frozenset("QJДЦЩ")  # capitals that go below their line in some fonts
_SMALL_CAPITAL = 0.87  # of the height of others
_ABOVE = 230  # what Unicode calls an accent above its letter
_ROLES = {
    Category.LIST_GROUP: "L", Category.TABLE: "Table", Category.EQUATION_ISOLATED: "Formula",
    Category.PAGE_FOOTNOTE: "Note", **dict.fromkeys(CAPTIONS, "Caption"),
}  # fmt: skip


def read_pair(pdf: Path, source: Path) -> TaggedDocument:
    """Return the content of a source for the pages made from it; raise PdfError if one of both is
    unreadable.
    """
    needed = {"docx": "docx", "xlsx": "openpyxl"}.get(SOURCES[source.suffix.lower()], "pikepdf")
    require("embedded", f"Reading {source.name}", {needed})
    return lay_source(pdf, _elements_of(source), f"source {SOURCES[source.suffix.lower()]}")


@in_child(cpu_s=SOURCE_CPU_S)
def _elements_of(source: Path) -> list[Element]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError):  # other systems than Linux do not say what is used: the bound of all PDFs stays
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        bound = used + SOURCE_MB * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (bound if before[1] < 0 else min(bound, before[1]), before[1]))
    try:
        return read_source(source)
    except MemoryError:
        raise PdfError(f"Reading {source} needs more than {SOURCE_MB} MB of memory.") from None
    except RecursionError:
        raise PdfError(f"{source} is nested too deeply.") from None
    except (CorpusError, FormatError) as error:
        raise PdfError(str(error)) from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@in_child(cpu_s=900)
def lay_source(pdf: Path, elements: Sequence[Element], derivation: str) -> TaggedDocument:
    """Lay elements onto the pages of a PDF."""
    letters = PageLetters(pdf)
    blocks = [b for b in map(block_of, elements) if b.pieces or b.element.latex or b.unknown]
    place_all(letters, blocks)
    place_formulas(letters, blocks)
    tree = _LaidTree(pdf, letters).make([block for block in blocks if block.is_placed])
    content = DocumentContent(pdf, TagTree(tuple(tree.tags), {}), derivation, tree.owners)
    found = read_content(content, frozenset(pages_between(letters, blocks)))
    found.missing = tuple(_first_words(block) for block in blocks if not block.is_placed)
    return found


def _first_words(block: LaidBlock) -> str:
    said = " ".join(piece.text for piece in block.pieces).replace(REFERENCE, "")
    text = said or block.element.latex or ""
    why = f" with {counted(block.unknown, 'formula')} without a stored value" if block.unknown else ""
    return f"{block.element.category} {' '.join(text.split()[:_NAMED])!r}{why}"


class _LaidTree:
    """What was placed, as the structure tree of a tagged PDF."""

    def __init__(self, pdf: Path, letters: PageLetters) -> None:
        self.pdf, self.letters = pdf, letters
        self.tags: list[StructureTag] = [StructureTag("StructTreeRoot", "StructTreeRoot", ())]
        self.owners: dict[int, array[int]] = {}
        self.number = 0
        self.outer: dict[str, int] = {}
        """The cell that stands for each table that holds others."""

    def make(self, blocks: Sequence[LaidBlock]) -> _LaidTree:
        by_page: dict[int, list[tuple[int, LaidPiece]]] = {}
        for block in blocks:
            at = self.letters.pages[block.start]
            for piece in block.pieces:
                pages = {p for run in piece.runs for p in self.letters.pages[run.start : run.stop]} or {at}
                at = max(pages)
                for page in sorted(pages):
                    piece.numbers[page] = self.number
                    by_page.setdefault(page, []).append((self.number, piece))
                    self.number += 1
        for number, owned in by_page.items():
            self._own(number, owned)
        kids: list[int] = []
        for before, block in zip([None, *blocks], blocks, strict=False):
            own = self._tag(block)
            table = before is not None and before.element.table is not None
            if outer := str(block.element.attributes.get(IN_TABLE, "")):
                self._put_into(self._outer_cell(kids, outer), own)
            elif table and block.element.category == Category.TABLE_CAPTION:
                self._put_into(kids[-1], own)
            else:
                kids.append(own)
        self.tags[0] = replace(self.tags[0], kids=tuple(kids))
        return self

    def _outer_cell(self, kids: list[int], outer: str) -> int:
        """Return the cell of a table that stands for one which holds others, so that it is refused as
        such.
        """
        first = outer.split("/")[1]
        if first not in self.outer:
            self.outer[first] = cell = self._add("TD")
            kids.append(self._add("Table", [self._add("TR", [cell])]))
        return self.outer[first]

    def _put_into(self, holder: int, own: int) -> None:
        self.tags[holder] = replace(self.tags[holder], kids=(*self.tags[holder].kids, own))

    def _own(self, number: int, owned: Sequence[tuple[int, LaidPiece]]) -> None:
        """Assign the glyphs of a page to the texts placed on it."""
        page = marked_page(self.pdf, number)
        owners = array("q", [UNMARKED]) * len(page.glyphs)
        stream = self.letters
        for own, piece in owned:
            last = -1
            for run in piece.runs:
                here = [stream.glyphs[k] for k in range(run.start, run.stop) if stream.pages[k] == number]
                if here and run.joined and here[0] > last >= 0:
                    here = [*range(last + 1, here[0]), *here]
                for first, second in pairwise(here):
                    owners[first:second] = array("q", [own]) * max(second - first, 0)
                if here:
                    owners[here[-1]] = own
                    last = here[-1]
        before = -1
        for own, piece in owned:
            before = self._add_signs(page, owners, own, piece, before)
            mine = (k for k, owner in enumerate(owners) if owner == own and k not in page.hyphens)
            piece.shown += _with_small_capitals([page.glyphs[k] for k in mine])
        self._mark_running(page, owners)
        self.owners[number] = owners

    def _add_signs(self, page: OwnedPage, owners: array[int], own: int, piece: LaidPiece, before: int) -> int:
        """Add signs at the ends of a text, and the number or bullet before it; gives its last glyph."""
        indices = [k for k, owner in enumerate(owners) if owner == own]
        if not indices and REFERENCE in piece.text:
            return self._own_line(page, owners, own, before + 1)
        if not indices:
            return self._own_signs(page, owners, own, piece.text, before + 1)
        first, last = indices[0], indices[-1]
        # The mark of a note is written `^*`.
        behind = signs_of(re.sub(rf".*[\w{REFERENCE}]", "", piece.text, flags=re.DOTALL))
        last = self._own_signs(page, owners, own, behind, last + 1)
        last = self._own_beside(page, owners, own, last + 1, 1) - 1
        k = self._own_beside(page, owners, own, first - 1, -1)
        ahead = signs_of(piece.text[: piece.where[0]]) if piece.in_cell and k == first - 1 else ""
        while ahead and k >= 0 and owners[k] == UNMARKED and not is_ink(page, k):
            k -= 1  # a currency at the other end of its cell
        begin = k - len(ahead)
        if ahead and begin >= 0 and "".join(g.text for g in page.glyphs[begin + 1 : k + 1]) == ahead:
            owners[begin + 1 : k + 1] = array("q", [own]) * len(ahead)
            k = begin
        stop = k + 1
        while k >= 0 and owners[k] == UNMARKED and _is_beside(page, k, first):
            k -= 1
        label = readable(page.glyphs[j].text for j in range(k + 1, stop)).strip()
        begins_line = k < 0 or not _is_beside(page, k, first)
        if not label and begins_line and piece.labels is CAPTION_LABEL:
            k, stop = self._line_above(page, owners, first, k)
            label = readable(page.glyphs[j].text for j in range(k + 1, stop)).strip()
        is_first_page = bool(piece.runs) and self.letters.glyphs[piece.runs[0].start] >= first
        if label and begins_line and is_first_page and piece.labels.fullmatch(label.replace(" ", "")):
            owners[k + 1 : stop] = array("q", [own]) * (stop - k - 1)
            piece.label = label
        return last

    @staticmethod
    def _line_above(page: OwnedPage, owners: array[int], first: int, k: int) -> tuple[int, int]:
        """Return where the one or two words stand that are the line right above a text; nowhere if it is
        longer.
        """
        while k >= 0 and not is_ink(page, k):
            k -= 1
        stop = k + 1
        while k >= 0 and owners[k] == UNMARKED and page.glyphs[k].text not in "\r\n":
            k -= 1
        below, above = page.glyphs[first].box, page.glyphs[max(stop - 1, 0)].box
        is_near = 0 <= below.y0 - above.y1 <= 2 * below.height
        words = "".join(page.glyphs[j].text for j in range(k + 1, stop)).split()
        return (k, stop) if is_near and len(words) <= 2 else (k, k + 1)

    @staticmethod
    def _own_line(page: OwnedPage, owners: array[int], own: int, start: int) -> int:
        """Assign the unassigned glyphs of its line to a cell that is only a reference; return the last
        glyph.
        """
        k = start
        while k < len(owners) and not is_ink(page, k):
            k += 1
        while k < len(owners) and owners[k] == UNMARKED and page.glyphs[k].text not in "\r\n":
            owners[k] = own
            k += 1
        return k - 1

    @staticmethod
    def _own_beside(page: OwnedPage, owners: array[int], own: int, k: int, step: int) -> int:
        """Assign the signs that follow a text from a glyph on to it; return the first glyph beyond them."""
        while 0 <= k < len(owners) and owners[k] == UNMARKED and is_ink(page, k):
            if folded_letters(page.glyphs[k].text):
                break
            owners[k] = own
            k += step
        return k

    @staticmethod
    def _own_signs(page: OwnedPage, owners: array[int], own: int, text: str, start: int) -> int:
        """Assign to a text without letters the glyphs from one on that are exactly its signs; return the last
        one.
        """
        wanted, found, k = "".join(text.split()), list[int](), start
        while wanted and k < len(owners) and owners[k] == UNMARKED:
            if is_ink(page, k):
                if not wanted.startswith(page.glyphs[k].text):
                    break
                wanted = wanted.removeprefix(page.glyphs[k].text)
                found.append(k)
            k += 1
        if len(wanted) == 1 and not found and k < len(owners) and not folded_letters(text):
            after = next((j for j in range(k + 1, len(owners)) if is_ink(page, j)), k)
            is_alone = owners[k] == UNMARKED and not folded_letters(page.glyphs[k].text)
            if is_alone and (after == k or owners[after] != UNMARKED or not _is_beside(page, after, k)):
                found, wanted = [k], ""  # a tick that the font has under another code
        for k in found if not wanted else ():
            owners[k] = own
        return found[-1] if found and not wanted else start - 1

    def _mark_running(self, page: OwnedPage, owners: array[int]) -> None:
        """Mark everything above or below all placed content, at the edges of the page, as no content of
        it.
        """
        inside = [page.glyphs[k].box for k, owner in enumerate(owners) if owner >= 0 and is_ink(page, k)]
        top = min((box.y0 for box in inside), default=0.0)
        bottom = max((box.y1 for box in inside), default=page.height)
        for k, owner in enumerate(owners):
            y = page.glyphs[k].box.centre[1]
            if owner == UNMARKED and not top <= y <= bottom and edge_of(y, y, page.height):
                owners[k] = ARTEFACT

    def _tag(self, block: LaidBlock) -> int:
        element = block.element
        level = element.attributes.get("level")
        is_title = element.category == Category.TITLE
        role = f"H{min(int(level or 1), 6)}" if is_title else _ROLES.get(Category(element.category), "P")
        if element.table is not None:
            return self._add("Table", self._rows(block))
        if role == "L":
            return self._add("L", [self._add("LI", self._spans(p)) for p in block.pieces])
        spans = self._spans(block.pieces[0])
        if role == "Formula":
            return self._add("Formula", spans, source=element.latex)
        if element.category in (Category.CODE_TXT, Category.CODE_ALGORITHM):
            return self._add("P", [self._add("Code", spans)])
        own = self._add(role, spans)
        return self._add("Figure", [own]) if element.category == Category.FIGURE_CAPTION else own

    def _rows(self, block: LaidBlock) -> list[int]:
        assert block.element.table is not None
        rows: list[list[int]] = [[] for _ in range(block.element.table.n_rows)]
        for row, _, down, across, header, piece in block.cells:
            spans: dict[str, Value] = {"RowSpan": float(down), "ColSpan": float(across)}
            kids = [] if piece is None else self._spans(block.pieces[piece])
            rows[row].append(self._add("TH" if header else "TD", kids, attributes=spans))
        return [self._add("TR", row) for row in rows]

    def _spans(self, piece: LaidPiece) -> list[int]:
        """Return the part of a piece on each page, in the words of the source where the page has the same."""
        spans: list[int] = []
        pages = list(piece.numbers.items())
        ends = [self._end(piece, page) for page, _ in pages]
        for k, (page, number) in enumerate(pages):
            text: str | None = None
            if piece.where and piece.is_exact:
                begin = piece.where[ends[k - 1]] if k and ends[k - 1] < len(piece.where) else 0
                stop = piece.where[ends[k]] if k + 1 < len(pages) and ends[k] < len(piece.where) else None
                own = piece.text[begin:stop].strip()
                is_said = own.startswith(piece.label)  # some write out what others have their program number
                text = own if k or is_said else f"{piece.label} {own}"
            spans.append(self._add("Span", [Content(page, number)], actual=text))
        return spans

    def _end(self, piece: LaidPiece, page: int) -> int:
        """Return how many letters of a piece are on a page and those before it."""
        stream = self.letters
        last = [
            run.at + k + 1 - run.start
            for run in piece.runs
            for k in (run.start, run.stop - 1, min(run.stop, stream.ends[page]) - 1)
            if run.start <= k and stream.pages[k] <= page
        ]
        return max(last, default=0)

    def _add(self, role: str, kids: Sequence[int | Content] = (), **said: Any) -> int:
        self.tags.append(StructureTag(role, role, tuple(kids), **said))
        return len(self.tags) - 1


def _with_small_capitals(glyphs: Sequence[Glyph]) -> str:
    """Return glyphs as text, with capitals that are drawn small as the letters that they stand for.

    How high one is counts from the line that it stands on, so that tails do not, and accents are allowed for.
    """
    parts = {g.text: unicodedata.normalize("NFD", g.text) for g in glyphs if g.text.isupper()}
    plain = [g.box for g in glyphs if parts.get(g.text) == g.text and g.text not in _WITH_TAIL]
    small = _SMALL_CAPITAL * max((box.height for box in plain), default=0.0)
    lines = {round(box.y1): box.y1 for box in plain}.values()

    def is_small(glyph: Glyph) -> bool:
        line = min(lines, key=lambda y: abs(y - glyph.box.y1), default=0.0)
        accent = 1.3 if any(unicodedata.combining(c) == _ABOVE for c in parts[glyph.text]) else 1.0
        return line - glyph.box.y0 < small * accent

    return "".join(g.text.lower() if g.text in parts and is_small(g) else g.text for g in glyphs)


def _is_beside(page: OwnedPage, index: int, other: int) -> bool:
    """Return whether a glyph, or a blank that was made up, is in the line of another one."""
    if page.glyphs[index].text in "\r\n":
        return False
    if page.glyphs[index].generated:
        return True
    one, two = page.glyphs[index].box, page.glyphs[other].box
    return min(one.y1, two.y1) > max(one.y0, two.y0) and one.x0 < two.x0
