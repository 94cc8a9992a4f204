"""Lays the elements of a source onto the pages of its PDF by their text.

Letters and digits alone are compared, so that hyphens, blanks, ligatures and accents make no difference.
What is laid down becomes a structure tree, as if the PDF were tagged; so tables are checked against their
pages, and pages say what they cover, as they do for tags.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, pairwise
from pathlib import Path

from parsemark.corpora.carried.content import DocumentContent, is_ink, readable
from parsemark.corpora.carried.page_letters import (
    GAP,
    KEY,
    REFERENCE,
    SURE,
    LaidRun,
    PageLetters,
    cased_letters,
    folded_letters,
    letters_of,
    signs_of,
)
from parsemark.corpora.carried.sheets import NO_VALUE
from parsemark.corpora.carried.sources import IN_TABLE, SOURCES, read_source
from parsemark.corpora.carried.tagged import TaggedDocument, read_content
from parsemark.errors import CorpusError, FormatError, PdfError
from parsemark.extras import require
from parsemark.model import Category, Element
from parsemark.pdf import Glyph, in_child
from parsemark.pdf.marked import ARTEFACT, UNMARKED, OwnedPage, marked_page
from parsemark.pdf.running_heads import edge_of
from parsemark.pdf.tags import Content, StructureTag, TagTree, Value
from parsemark.plain_words import counted

_MAX_TRIES = 60
_NAMED = 5
"""Words by which what has no place is named."""
_FORMULA_LETTERS = 400
_LEADER = "...."
_UNREADABLE = frozenset({"Co", "Cn", "Cc"})
_LABEL = re.compile(r"[^\w\s]{1,3}|[(\[]?(?:[\dA-Za-z]{1,3}[.:)\]]?)(?:\d{1,3}[.:)]?)*|[ivxIVX]{1,5}[.)]")
"""What stands before an item or a heading, and which sources do not say."""
_CAPTION_LABEL = re.compile(
    r"[^\W\d_]{1,14}\.?(?:\d{1,3}|[A-Z]|[IVXL]{1,6})(?:[.\-–]\w{1,3}){0,3}[.:|)–—]{0,2}"
)
"""The same of a caption: `Table 1:`, `Fig. 2.3.`, `TABLE IV`."""
_REFERENCE_LABEL = re.compile(r".{1,60}")
"""The same of a text that begins with a reference."""
_NUMBERED = re.compile(r"(?:[a-z]{4,10})?(?:\d{1,6}|[a-z]\d{0,5}|[ivxlc]{1,6})")
"""Letters of what may stand before a heading in its line."""
_CAPTIONS = frozenset({Category.TABLE_CAPTION, Category.FIGURE_CAPTION})
_ITEM_NUMBER, _OTHER_NUMBER = re.compile(r"(\d+)\. "), re.compile(r"\d+\s*[):\]]")
_ROLES = {
    Category.LIST_GROUP: "L",
    Category.TABLE: "Table",
    Category.EQUATION_ISOLATED: "Formula",
    Category.PAGE_FOOTNOTE: "Note",
    **dict.fromkeys(_CAPTIONS, "Caption"),
}


@dataclass(slots=True)
class _LaidPiece:
    """A text of a block: itself, an item or a cell."""

    text: str
    letters: str
    where: list[int]
    runs: list[LaidRun] = field(default_factory=list)
    label: str = ""
    """What the page has before it."""
    labels: re.Pattern[str] = _LABEL
    """What that may be."""
    in_cell: bool = False
    shown: str = ""
    """What the page has of it."""

    @property
    def is_exact(self) -> bool:
        """Whether the page says just what the source does, other than in formulas."""
        if REFERENCE in self.text:
            return False
        if _ITEM_NUMBER.match(self.text) and _OTHER_NUMBER.match(self.shown):
            return False  # readers of sources write `1.` for `1)`
        formulas = GAP in self.letters
        said, shown = (cased_letters(text) for text in (self.text, self.shown))
        if not formulas and said not in shown and said.casefold() in shown.casefold():
            return False  # capitals that a style sheet makes
        signs = signs_of(self.shown)
        is_readable = _LEADER not in signs and _UNREADABLE.isdisjoint(map(unicodedata.category, signs))
        if self.in_cell and not formulas and signs != signs_of(self.text) and is_readable:
            return False  # a minus or a currency that only the page has
        return all(
            a.stop == b.start or not b.joined or (formulas and b.at > a.at + a.stop - a.start)
            for a, b in pairwise(self.runs)
        )


@dataclass(slots=True)
class _LaidBlock:
    element: Element
    pieces: list[_LaidPiece]
    cells: list[tuple[int, int, int, int, bool | None, int | None]] = field(default_factory=list)
    """Row, column, spans, whether it is a header, and its piece, of each cell."""
    is_placed: bool = False
    unknown: int = 0
    """Cells of which nobody knows what they show."""

    @property
    def letters(self) -> str:
        """Of all pieces."""
        return "".join(piece.letters for piece in self.pieces)

    @property
    def start(self) -> int:
        """Where it begins among the letters of the pages."""
        return next(piece.runs[0].start for piece in self.pieces if piece.runs)

    @property
    def stop(self) -> int:
        """Where it ends."""
        return next(piece.runs[-1].stop for piece in reversed(self.pieces) if piece.runs)


class _LaidContent(DocumentContent):
    """Pages whose content is owned by what was laid onto them."""

    guesses_artefacts = True

    def __init__(self, pdf: Path, tree: TagTree, derivation: str, owners: dict[int, array[int]]) -> None:
        super().__init__(pdf, tree, derivation)
        self.owners = owners

    def read_page(self, number: int) -> OwnedPage:
        page = marked_page(self.pdf, number)
        known = self.owners.get(number)
        shapes = tuple((UNMARKED, picture, box) for _, picture, box in page.shapes)
        owners = (UNMARKED,) * len(page.glyphs) if known is None else tuple(known)
        return replace(page, owners=owners, shapes=shapes)


def read_pair(pdf: Path, source: Path) -> TaggedDocument:
    """What a source says of the pages that were made of it.

    Raises:
        PdfError: One of both cannot be read.
        MissingDependencyError: A library that reads such a source is not installed.
    """
    needed = {"docx": "docx", "xlsx": "openpyxl"}.get(SOURCES[source.suffix.lower()], "pikepdf")
    require("carried", f"Reading {source.name}", {needed})
    return _read_pair(pdf, source)


@in_child(cpu_s=900)
def _read_pair(pdf: Path, source: Path) -> TaggedDocument:
    try:
        elements = read_source(source)
    except (CorpusError, FormatError) as error:
        raise PdfError(str(error)) from error
    return lay_source(pdf, elements, f"source {SOURCES[source.suffix.lower()]}")


def lay_source(pdf: Path, elements: Sequence[Element], derivation: str) -> TaggedDocument:
    """Lay elements onto the pages of a PDF."""
    letters = PageLetters(pdf)
    blocks = [b for b in map(_block, elements) if b.pieces or b.element.latex or b.unknown]
    _place_all(letters, blocks)
    _place_formulas(letters, blocks)
    tree = _LaidTree(pdf, letters).make([block for block in blocks if block.is_placed])
    content = _LaidContent(pdf, TagTree(tuple(tree.tags), {}), derivation, tree.owners)
    found = read_content(content, frozenset(_between(letters, blocks)))
    found.missing = tuple(_first_words(block) for block in blocks if not block.is_placed)
    return found


def _first_words(block: _LaidBlock) -> str:
    said = " ".join(piece.text for piece in block.pieces).replace(REFERENCE, "")
    text = said or block.element.latex or ""
    why = f" with {counted(block.unknown, 'formula')} without a stored value" if block.unknown else ""
    return f"{block.element.category} {' '.join(text.split()[:_NAMED])!r}{why}"


def _block(element: Element) -> _LaidBlock:
    texts = [element.text or ""] if element.table is None else [cell.text for cell in element.table.cells]
    if unknown := [text for text in texts if NO_VALUE in text]:
        known = [_LaidPiece(text, "", []) for text in texts if text not in unknown]
        return _LaidBlock(element, known, unknown=len(unknown))
    if element.table is not None:
        pieces: list[_LaidPiece] = []
        cells = []
        for cell in element.table.cells:
            piece = _LaidPiece(cell.text, *letters_of(cell.text), in_cell=True)
            is_formula = GAP in piece.letters and REFERENCE not in cell.text
            has_text = bool(piece.letters.strip(GAP) or (cell.text.strip() and not is_formula))
            place = (cell.row, cell.col, cell.rowspan, cell.colspan, cell.header)
            cells.append((*place, len(pieces) if has_text else None))
            pieces += [piece] * has_text
        return _LaidBlock(element, pieces, cells)
    if element.category == Category.EQUATION_ISOLATED or element.text is None:
        return _LaidBlock(element, [])
    text = element.text.replace("\xad", "")
    lines = text.split("\n") if element.category == Category.LIST_GROUP else [text]
    made = [_LaidPiece(line, *letters_of(line)) for line in lines]
    for piece in made:
        if element.category in _CAPTIONS:
            piece.labels = _CAPTION_LABEL
        elif REFERENCE in re.split(r"\w", piece.text, maxsplit=1)[0]:
            piece.labels = _REFERENCE_LABEL
    return _LaidBlock(element, [piece for piece in made if piece.letters.strip(GAP)])


def _place_all(letters: PageLetters, blocks: Sequence[_LaidBlock]) -> None:
    """First what has one place only, then the rest between that, then what stands elsewhere."""
    keys = Counter(block.letters[:SURE] for block in blocks)
    for block in blocks:
        key = block.letters[:SURE]
        if len(key) == SURE and GAP not in key and keys[key] == 1:
            places = list(letters.places(key, 0, len(letters.text)))[:2]
            if len(places) == 1:
                _place(letters, block, places[0], places[0] + 1)
    for far in (False, True):
        low = 0
        for k, block in enumerate(blocks):
            if block.is_placed:
                low = block.stop
            elif block.pieces:
                later = (b.start for b in blocks[k + 1 :] if b.is_placed)
                high = next((start for start in later if start >= low), len(letters.text))
                if far and len(block.letters) >= KEY:
                    _place(letters, block, 0, len(letters.text))
                elif not far and _place(letters, block, low, high):
                    low = block.stop


def _place(letters: PageLetters, block: _LaidBlock, low: int, high: int) -> bool:
    """Lay a block down where its text begins between two places; numbers of items may be missing."""
    is_list = block.element.category == Category.LIST_GROUP
    for strip in (False, True) if is_list else (False,):
        pieces = [_without_number(piece) for piece in block.pieces] if strip else block.pieces
        wanted = "".join(piece.letters for piece in pieces)
        bounds = list(accumulate(len(piece.letters) for piece in pieces)) if is_list else []
        key = next((p.letters for p in pieces if p.letters), "").strip(GAP).partition(GAP)[0]
        tried = dict.fromkeys((key[:SURE], key[:KEY])) if key else ()
        places: Iterator[int] = (at for begin in tried for at in letters.places(begin, low, high))
        if block.element.category == Category.TITLE and len(wanted) < SURE:
            places = _headings(letters, wanted, places)
        for at in islice(places, _MAX_TRIES):
            runs = letters.follow(wanted, at, bounds)
            if runs is not None:
                _share(pieces, runs)
                block.pieces = pieces
                block.is_placed = all(piece.runs for piece in pieces if piece.letters.strip(GAP))
                if block.is_placed:
                    for piece in pieces:
                        _add_last_reference(letters, piece)
                        letters.own(piece.runs)
                    return True
    return False


def _headings(letters: PageLetters, wanted: str, places: Iterator[int]) -> Iterator[int]:
    """Those of some places where a heading may stand: first lines of nothing else, then begins of lines."""
    listed = [(at, *letters.line_at(at)) for at in islice(places, _MAX_TRIES)]
    at_begin = [
        (at, stop) for at, start, stop in listed
        if at == start or _NUMBERED.fullmatch(letters.text, start, at)
    ]  # fmt: skip
    return iter([at for at, _ in sorted(at_begin, key=lambda place: place[1] - place[0] != len(wanted))])


def _add_last_reference(letters: PageLetters, piece: _LaidPiece) -> None:
    """Give a text the reference that it ends with, which only the page says, up to the end of its line."""
    last = re.split(r"\w", piece.text)[-1]
    if REFERENCE in last and piece.runs and not piece.in_cell:
        stop = piece.runs[-1].stop
        if (end := letters.rest_of_line(stop)) > stop:
            piece.runs.append(LaidRun(len(piece.letters), stop, end, True))


def _without_number(piece: _LaidPiece) -> _LaidPiece:
    text = _ITEM_NUMBER.sub("", piece.text, count=1) if _ITEM_NUMBER.match(piece.text) else piece.text
    return _LaidPiece(text, *letters_of(text))


def _share(pieces: Sequence[_LaidPiece], runs: Sequence[LaidRun]) -> None:
    """Give each piece its part of the runs of all."""
    begin = 0
    for piece in pieces:
        end = begin + len(piece.letters)
        piece.runs = [
            LaidRun(
                max(run.at, begin) - begin,
                run.start + max(begin - run.at, 0),
                min(run.stop, run.start + end - run.at),
                run.joined or run.at < begin,
            )
            for run in runs
            if run.at < end and run.at + run.stop - run.start > begin
        ]
        begin = end


def _place_formulas(letters: PageLetters, blocks: Sequence[_LaidBlock]) -> None:
    """A formula is what stands alone between two texts that are placed, if it has the letters for it."""
    for before, block, after in zip(blocks, blocks[1:], blocks[2:], strict=False):
        latex = block.element.latex
        if block.pieces or not latex or not all(b.is_placed and b.pieces for b in (before, after)):
            continue
        start, stop = before.stop, after.start
        line = letters.line_at(stop)[0]
        if _NUMBERED.fullmatch(letters.text, line, stop):
            stop = max(line, start)  # the label of a caption or heading
        is_free = 0 < stop - start <= _FORMULA_LETTERS and not any(letters.owned[start:stop])
        if not is_free or letters.pages[start] != letters.pages[stop - 1]:
            continue
        said = Counter(letters.text[start:stop])
        meant = Counter(letters_of(re.sub(r"\\(?:[a-zA-Z]+|.)", " ", latex))[0])
        if meant and (said & meant).total() >= 0.8 * meant.total():
            piece = _LaidPiece("", letters.text[start:stop], [], [LaidRun(0, start, stop, True)])
            block.pieces, block.is_placed = [piece], True
            letters.own(piece.runs)


def _between(letters: PageLetters, blocks: Sequence[_LaidBlock]) -> Iterator[int]:
    """The pages on which blocks without a place may stand: from what is before them to what is after."""
    last, is_open = (letters.pages[0] if letters.pages else 1), False
    for block in blocks:
        if not block.is_placed:
            is_open = True
            continue
        first = letters.pages[block.start]
        if is_open:
            yield from range(min(last, first), max(last, first) + 1)
        last, is_open = letters.pages[block.stop - 1], False
    if is_open and letters.pages:
        yield from range(last, letters.pages[-1] + 1)


class _LaidTree:
    """What was placed, as the structure tree of a tagged PDF."""

    def __init__(self, pdf: Path, letters: PageLetters) -> None:
        self.pdf, self.letters = pdf, letters
        self.tags: list[StructureTag] = [StructureTag("StructTreeRoot", "StructTreeRoot", ())]
        self.owners: dict[int, array[int]] = {}
        self.number = 0
        self.outer: dict[str, int] = {}
        """The cell that stands for each table that holds others."""
        self.labels: dict[int, list[tuple[_LaidPiece, int]]] = {}

    def make(self, blocks: Sequence[_LaidBlock]) -> _LaidTree:
        by_page: dict[int, list[tuple[int, _LaidPiece]]] = {}
        numbers: dict[int, dict[int, int]] = {}
        for block in blocks:
            at = self.letters.pages[block.start]
            for piece in block.pieces:
                pages = {p for run in piece.runs for p in self.letters.pages[run.start : run.stop]} or {at}
                at = max(pages)
                for page in sorted(pages):
                    numbers.setdefault(id(piece), {})[page] = self.number
                    by_page.setdefault(page, []).append((self.number, piece))
                    self.number += 1
        for number, owned in by_page.items():
            self._own(number, owned)
        kids: list[int] = []
        for before, block in zip([None, *blocks], blocks, strict=False):
            own = list(self._tags(block, numbers))
            table = before is not None and before.element.table is not None
            outer = str(block.element.attributes.get(IN_TABLE, ""))
            if outer:
                self._add_inside(kids, own, outer)
            elif table and block.element.category == Category.TABLE_CAPTION:
                self.tags[kids[-1]] = replace(self.tags[kids[-1]], kids=(*self.tags[kids[-1]].kids, *own))
            else:
                kids += own
        self.tags[0] = replace(self.tags[0], kids=tuple(kids))
        return self

    def _add_inside(self, kids: list[int], own: Sequence[int], outer: str) -> None:
        """Put elements into a cell of the table that holds them, so that it is refused as such."""
        first = outer.split("/")[1]
        if first not in self.outer:
            cell = self._add("TD")
            kids.append(self._add("Table", [self._add("TR", [cell])]))
            self.outer[first] = cell
        cell = self.outer[first]
        self.tags[cell] = replace(self.tags[cell], kids=(*self.tags[cell].kids, *own))

    def _own(self, number: int, owned: Sequence[tuple[int, _LaidPiece]]) -> None:
        """Give the glyphs of a page to what is laid onto it."""
        page = marked_page(self.pdf, number)
        owners = array("q", [UNMARKED]) * len(page.glyphs)
        stream = self.letters
        for own, piece in owned:
            last: int | None = None
            for run in piece.runs:
                here = [stream.glyphs[k] for k in range(run.start, run.stop) if stream.pages[k] == number]
                if here and last is not None and run.joined and here[0] > last:
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

    def _add_signs(
        self, page: OwnedPage, owners: array[int], own: int, piece: _LaidPiece, before: int
    ) -> int:
        """Add signs at the ends of a text, and the number or bullet before it; gives its last glyph."""
        indices = [k for k, owner in enumerate(owners) if owner == own]
        if not indices and REFERENCE in piece.text:
            return self._own_line(page, owners, own, before + 1)
        if not indices:
            return self._own_signs(page, owners, own, piece.text, before + 1)
        first, last = indices[0], indices[-1]
        behind = signs_of(
            re.sub(rf".*[\w{REFERENCE}]", "", piece.text, flags=re.DOTALL)
        )  # the mark of a note is written `^*`
        last = self._own_signs(page, owners, own, behind, last + 1)
        last = self._own_beside(page, owners, own, last + 1, 1) - 1
        k = self._own_beside(page, owners, own, first - 1, -1)
        ahead = signs_of(piece.text[: piece.where[0]]) if piece.in_cell and k == first - 1 else ""
        while ahead and k >= 0 and owners[k] == UNMARKED and not is_ink(page, k):
            k -= 1  # a currency at the other end of its cell
        if (
            ahead
            and k >= len(ahead)
            and "".join(g.text for g in page.glyphs[k - len(ahead) + 1 : k + 1]) == ahead
        ):
            owners[k - len(ahead) + 1 : k + 1] = array("q", [own]) * len(ahead)
            k -= len(ahead)
        stop = k + 1
        while k >= 0 and owners[k] == UNMARKED and _is_beside(page, k, first):
            k -= 1
        label = readable(page.glyphs[j].text for j in range(k + 1, stop)).strip()
        begins_line = k < 0 or not _is_beside(page, k, first)
        if not label and begins_line and piece.labels is _CAPTION_LABEL:
            k, stop = self._line_above(page, owners, first, k)
            label = readable(page.glyphs[j].text for j in range(k + 1, stop)).strip()
        is_first_page = bool(piece.runs) and self.letters.glyphs[piece.runs[0].start] >= first
        if label and begins_line and is_first_page and piece.labels.fullmatch(label.replace(" ", "")):
            for j in range(k + 1, stop):
                owners[j] = own
            piece.label = label
        return last

    @staticmethod
    def _line_above(page: OwnedPage, owners: array[int], first: int, k: int) -> tuple[int, int]:
        """Where the one or two words stand that are the line right above a text; nowhere if it is longer."""
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
        """Give a cell that is only a reference what is nobody's in its line; gives the last glyph."""
        k = start
        while k < len(owners) and not is_ink(page, k):
            k += 1
        while k < len(owners) and owners[k] == UNMARKED and page.glyphs[k].text not in "\r\n":
            owners[k] = own
            k += 1
        return k - 1

    @staticmethod
    def _own_beside(page: OwnedPage, owners: array[int], own: int, k: int, step: int) -> int:
        """Give a text the signs that follow it from a glyph on; gives the first that is none of them."""
        while (
            0 <= k < len(owners)
            and owners[k] == UNMARKED
            and is_ink(page, k)
            and not folded_letters(page.glyphs[k].text)
        ):
            owners[k] = own
            k += step
        return k

    @staticmethod
    def _own_signs(page: OwnedPage, owners: array[int], own: int, text: str, start: int) -> int:
        """Give a text without letters the glyphs from one on that are just its signs; gives the last one."""
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
        """What is above or below all that was laid down, at the edges of the page, is no content of it."""
        inside = [page.glyphs[k].box for k, owner in enumerate(owners) if owner >= 0 and is_ink(page, k)]
        top = min((box.y0 for box in inside), default=0.0)
        bottom = max((box.y1 for box in inside), default=page.height)
        for k, owner in enumerate(owners):
            y = page.glyphs[k].box.centre[1]
            if owner == UNMARKED and not top <= y <= bottom and edge_of(y, y, page.height):
                owners[k] = ARTEFACT

    def _tags(self, block: _LaidBlock, numbers: dict[int, dict[int, int]]) -> Iterator[int]:
        element = block.element
        level = element.attributes.get("level")
        is_title = element.category == Category.TITLE
        role = f"H{min(int(level or 1), 6)}" if is_title else _ROLES.get(Category(element.category), "P")
        if element.table is not None:
            yield self._add("Table", self._rows(block, numbers))
        elif role == "L":
            yield self._add("L", [self._add("LI", self._spans(p, numbers)) for p in block.pieces])
        elif role == "Formula":
            yield self._add("Formula", self._spans(block.pieces[0], numbers), source=element.latex)
        elif element.category in (Category.CODE_TXT, Category.CODE_ALGORITHM):
            yield self._add("P", [self._add("Code", self._spans(block.pieces[0], numbers))])
        else:
            own = self._add(role, self._spans(block.pieces[0], numbers))
            yield self._add("Figure", [own]) if element.category == Category.FIGURE_CAPTION else own

    def _rows(self, block: _LaidBlock, numbers: dict[int, dict[int, int]]) -> list[int]:
        assert block.element.table is not None
        rows: list[list[int]] = [[] for _ in range(block.element.table.n_rows)]
        for row, _, down, across, header, piece in block.cells:
            spans: dict[str, Value] = {"RowSpan": float(down), "ColSpan": float(across)}
            kids = [] if piece is None else self._spans(block.pieces[piece], numbers)
            rows[row].append(self._add("TH" if header else "TD", kids, attributes=spans))
        return [self._add("TR", row) for row in rows]

    def _spans(self, piece: _LaidPiece, numbers: dict[int, dict[int, int]]) -> list[int]:
        """What a piece has on each page, in the words of the source where the page has the same."""
        spans: list[int] = []
        pages = list(numbers[id(piece)].items())
        ends = [self._end(piece, page) for page, _ in pages]
        for k, (page, number) in enumerate(pages):
            text: str | None = None
            if piece.where and piece.is_exact:
                begin = piece.where[ends[k - 1]] if k and ends[k - 1] < len(piece.where) else 0
                stop = piece.where[ends[k]] if k + 1 < len(pages) and ends[k] < len(piece.where) else None
                own = piece.text[begin:stop].strip()
                is_said = own.startswith(piece.label)  # some write out what others have their program number
                text = own if k or is_said else f"{piece.label} {own}"
            spans.append(self._add("Span", (), actual=text, contents=(Content(page, number),)))
        return spans

    def _end(self, piece: _LaidPiece, page: int) -> int:
        """How many letters of a piece are on a page and those before it."""
        stream = self.letters
        last = [
            run.at + k + 1 - run.start
            for run in piece.runs
            for k in (run.start, run.stop - 1, min(run.stop, stream.ends[page]) - 1)
            if run.start <= k and stream.pages[k] <= page
        ]
        return max(last, default=0)

    def _add(
        self,
        role: str,
        kids: Sequence[int] = (),
        *,
        contents: tuple[Content, ...] = (),
        actual: str | None = None,
        source: str | None = None,
        attributes: dict[str, Value] | None = None,
    ) -> int:
        self.tags.append(
            StructureTag(role, role, (*kids, *contents), attributes or {}, actual=actual, source=source)
        )
        return len(self.tags) - 1


def _with_small_capitals(glyphs: Sequence[Glyph]) -> str:
    """Glyphs as text, with capitals that are drawn small as the letters that they stand for."""
    heights = [glyph.box.height for glyph in glyphs if glyph.text.isupper() and glyph.text.isascii()]
    small = 0.87 * max(heights, default=0.0)
    return "".join(g.text.lower() if g.text.isupper() and g.box.height < small else g.text for g in glyphs)


def _is_beside(page: OwnedPage, index: int, other: int) -> bool:
    """Whether a glyph, or a blank that was made up, is in the line of another one."""
    if page.glyphs[index].text in "\r\n":
        return False
    if page.glyphs[index].generated:
        return True
    one, two = page.glyphs[index].box, page.glyphs[other].box
    return min(one.y1, two.y1) > max(one.y0, two.y0) and one.x0 < two.x0
