"""Finds the texts of a source on the pages of its PDF, in their order.

Letters and digits alone are compared, so that hyphens, blanks, ligatures and accents make no difference.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise

from parsemark.corpora.carried.page_letters import (
    GAP,
    KEY,
    REFERENCE,
    SURE,
    LaidRun,
    PageLetters,
    cased_letters,
    letters_of,
    signs_of,
)
from parsemark.corpora.carried.sheets import NO_VALUE
from parsemark.model import Category, Element

_MAX_TRIES = 60
_FORMULA_LETTERS = 400
_LEADER = "...."
_UNREADABLE = frozenset({"Co", "Cn", "Cc"})
_LABEL = re.compile(r"[^\w\s]{1,3}|[(\[]?(?:[\dA-Za-z]{1,3}[.:)\]]?)(?:\d{1,3}[.:)]?)*|[ivxIVX]{1,5}[.)]")
"""What stands before an item or a heading, and which sources do not say."""
CAPTION_LABEL = re.compile(
    r"[^\W\d_]{1,14}\.?(?:\d{1,3}|[A-Z]|[IVXL]{1,6})(?:[.\-–]\w{1,3}){0,3}[.:|)–—]{0,2}"
)
"""The same of a caption: `Table 1:`, `Fig. 2.3.`, `TABLE IV`."""
_REFERENCE_LABEL = re.compile(r".{1,60}")  # the same of a text that begins with a reference
_NUMBERED = re.compile(r"(?:[a-z]{4,10})?(?:\d{1,6}|[a-z]\d{0,5}|[ivxlc]{1,6})")
"""Letters of what may stand before a heading in its line."""
CAPTIONS = frozenset({Category.TABLE_CAPTION, Category.FIGURE_CAPTION})
_ITEM_NUMBER = re.compile(r"\A\d+\. ")
_OTHER_NUMBER = re.compile(r"\d+\s*[):\]]")


@dataclass(slots=True)
class LaidPiece:
    """A text of a block: itself, an item or a cell."""

    text: str
    letters: str
    where: list[int]
    runs: list[LaidRun] = field(default_factory=list)
    label: str = ""  # what the page has before it
    labels: re.Pattern[str] = _LABEL  # what that may be
    in_cell: bool = False
    shown: str = ""  # what the page has of it

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
class LaidBlock:
    """An element of a source, as texts that are looked for."""

    element: Element
    pieces: list[LaidPiece]
    cells: list[tuple[int, int, int, int, bool | None, int | None]] = field(default_factory=list)
    """Row, column, spans, whether it is a header, and its piece, of each cell."""
    is_placed: bool = False
    unknown: int = 0  # cells of which nobody knows what they show

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


def block_of(element: Element) -> LaidBlock:
    """The texts of an element that are to be found."""
    texts = [element.text or ""] if element.table is None else [cell.text for cell in element.table.cells]
    if unknown := [text for text in texts if NO_VALUE in text]:
        known = [LaidPiece(text, "", []) for text in texts if text not in unknown]
        return LaidBlock(element, known, unknown=len(unknown))
    if element.table is not None:
        pieces: list[LaidPiece] = []
        cells = []
        for cell in element.table.cells:
            piece = LaidPiece(cell.text, *letters_of(cell.text), in_cell=True)
            is_formula = GAP in piece.letters and REFERENCE not in cell.text
            has_text = bool(piece.letters.strip(GAP) or (cell.text.strip() and not is_formula))
            place = (cell.row, cell.col, cell.rowspan, cell.colspan, cell.header)
            cells.append((*place, len(pieces) if has_text else None))
            pieces += [piece] * has_text
        return LaidBlock(element, pieces, cells)
    if element.category == Category.EQUATION_ISOLATED or element.text is None:
        return LaidBlock(element, [])
    text = element.text.replace("\xad", "")
    lines = text.split("\n") if element.category == Category.LIST_GROUP else [text]
    made = [LaidPiece(line, *letters_of(line)) for line in lines]
    for piece in made:
        if element.category in CAPTIONS:
            piece.labels = CAPTION_LABEL
        elif REFERENCE in re.split(r"\w", piece.text, maxsplit=1)[0]:
            piece.labels = _REFERENCE_LABEL
    return LaidBlock(element, [piece for piece in made if piece.letters.strip(GAP)])


def place_all(letters: PageLetters, blocks: Sequence[LaidBlock]) -> None:
    """First what follows what is before it, then what stands elsewhere."""
    texts = sorted({block.letters for block in blocks})
    for far in (False, True):
        low = 0
        for k, block in enumerate(blocks):
            if block.is_placed:
                low = block.stop
            elif block.pieces:
                later = (b.start for b in blocks[k + 1 :] if b.is_placed)
                high = next((start for start in later if start >= low), len(letters.text))
                if far and len(block.letters) >= KEY:
                    _place(letters, block, 0, len(letters.text), texts)
                elif not far and _place(letters, block, low, high, texts):
                    low = block.stop


def _place(letters: PageLetters, block: LaidBlock, low: int, high: int, texts: Sequence[str]) -> bool:
    """Lay a block down where its text begins between two places; numbers of items may be missing.

    Where a longer one of all texts, which are sorted, begins with the same letters, that one stands.
    """
    is_list = block.element.category == Category.LIST_GROUP
    for strip in (False, True) if is_list else (False,):
        pieces = block.pieces
        if strip:
            texts = [_ITEM_NUMBER.sub("", piece.text) for piece in pieces]
            pieces = [LaidPiece(text, *letters_of(text)) for text in texts]
        wanted = "".join(piece.letters for piece in pieces)
        bounds = list(accumulate(len(piece.letters) for piece in pieces)) if is_list else []
        key = next((p.letters for p in pieces if p.letters), "").strip(GAP).partition(GAP)[0]
        # Words of a first cell stand in a caption above it too: several cells together tell them apart.
        surest = wanted.strip(GAP).partition(GAP)[0][:SURE]
        tried = dict.fromkeys((surest, key[:SURE], key[:KEY])) if key else ()
        places: Iterator[int] = (at for begin in tried for at in letters.places(begin, low, high))
        if block.element.category == Category.TITLE and len(wanted) < SURE:
            places = _headings(letters, wanted, places)
        behind = bisect_right(texts, wanted)
        near = texts[behind : behind + _MAX_TRIES]
        longer = [text[: len(wanted) + KEY] for text in near if text.startswith(wanted)]
        for at in islice(places, _MAX_TRIES):
            if any(letters.text.startswith(other, at) for other in longer):
                continue
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


def _add_last_reference(letters: PageLetters, piece: LaidPiece) -> None:
    """Give a text the reference that it ends with, which only the page says, up to the end of its line."""
    if REFERENCE in re.split(r"\w", piece.text)[-1] and piece.runs and not piece.in_cell:
        stop = piece.runs[-1].stop
        if (end := letters.rest_of_line(stop)) > stop:
            piece.runs.append(LaidRun(len(piece.letters), stop, end, True))


def _share(pieces: Sequence[LaidPiece], runs: Sequence[LaidRun]) -> None:
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


def place_formulas(letters: PageLetters, blocks: Sequence[LaidBlock]) -> None:
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
            piece = LaidPiece("", letters.text[start:stop], [], [LaidRun(0, start, stop, True)])
            block.pieces, block.is_placed = [piece], True
            letters.own(piece.runs)


def pages_between(letters: PageLetters, blocks: Sequence[LaidBlock]) -> Iterator[int]:
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
