"""Finds the texts of a source on the pages of its PDF, in their order.

Letters and digits alone are compared, so that hyphens, blanks, ligatures and accents make no difference.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from pathlib import Path

from parsemark.corpora.source_pairs.sheets import NO_VALUE
from parsemark.model import Category, Element
from parsemark.pdf import Glyph, page_shapes
from parsemark.pdf.marked import marked_page

GAP = "\0"  # stands for a formula, of which a page shows other signs than the source has
REFERENCE = "\ue0f1"
"""Stands in a source for a reference or citation, of which only the page has the number; of no letters."""
_FORMULA = re.compile(rf"(?<!\\)\$[^$]+\$|{REFERENCE}")
_SURE = 20  # letters that name a place by themselves
_KEY = 10  # letters by which the text is found again behind what is only on the page
_MIN_KEY = 3
_INSERTED = 15  # letters that only the page has: numbers of references, marks of notes, labels of items
_NUMBER_LETTERS = 4  # letters of the number of an item
_MAX_INSERTED = 0.2  # the same as a share of a text
_FORMULA_REACH = 150
_REFERENCE_REACH = 60
_RUNNING = 600
"""Letters at the end of a page and at the begin of the next that part a text: notes, running heads."""
_LETTERS = str.maketrans("∆", "Δ")  # signs that fonts of TeX have for letters
_MARKUP = frozenset("^_{}\\\xad\x02")
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
_PAGE_NUMBER = re.compile(r"\d{1,4}|[ivxlc]{1,6}")
CAPTIONS = frozenset({Category.TABLE_CAPTION, Category.FIGURE_CAPTION})
_ITEM_NUMBER = re.compile(r"\A\d+\. ")
_OTHER_NUMBER = re.compile(r"\d+\s*[):\]]")


@lru_cache(65_536)
def folded_letters(character: str) -> str:
    """Return the letters and digits of a character without accents, case and ligatures."""
    return "".join(
        c for c in unicodedata.normalize("NFKD", character.translate(_LETTERS)).casefold() if c.isalnum()
    )


def cased_letters(text: str) -> str:
    """Return the letters of a text as they are, without accents and ligatures."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.translate(_LETTERS)) if c.isalpha())


def letters_of(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text with their places in it, and one gap for each formula or
    reference.
    """
    found: list[str] = []
    places: list[int] = []
    formulas = {m.start(): m.end() for m in _FORMULA.finditer(text)}
    at = 0
    while at < len(text):
        folded = GAP if at in formulas else folded_letters(text[at])
        found.append(folded)
        places += [at] * len(folded)
        at = formulas.get(at, at + 1)
    return "".join(found), places


def signs_of(text: str) -> str:
    """Return the characters of a text that are no letters, except blanks and marks of scripts."""
    return "".join(
        c for c in text.replace("∗", "*") if not folded_letters(c) and not c.isspace() and c not in _MARKUP
    )


@dataclass(frozen=True, slots=True)
class LaidRun:
    """A stretch of letters of a source that pages have."""

    at: int  # in the letters of the source
    start: int
    stop: int  # in those of the pages
    joined: bool  # whether what is between the run before and this one belongs to the text


def _follows_mark(glyph: Glyph, before: Glyph) -> bool:
    """Return whether a letter follows the small number of a note at once, and so begins a word."""
    is_small = before.box.height < 0.88 * glyph.box.height
    return is_small and glyph.text.isalpha() and before.text.isdigit()


class PageLetters:
    """The letters of all pages in the order of the file."""

    def __init__(self, pdf: Path) -> None:
        self.pages, self.glyphs, self.begins = array("l"), array("l"), bytearray()
        self.ends: dict[int, int] = {}
        self.lines: list[int] = []
        """Where lines begin."""
        texts: list[str] = []
        for number in range(1, len(page_shapes(pdf)) + 1):
            page = marked_page(pdf, number)
            inside, at_line = False, True
            for k, glyph in enumerate(page.glyphs):
                folded = "" if glyph.generated else folded_letters(glyph.text)
                for n, letter in enumerate(folded):
                    texts.append(letter)
                    self.pages.append(number)
                    self.glyphs.append(k)
                    self.begins.append(n == 0 and (not inside or _follows_mark(glyph, page.glyphs[k - 1])))
                if folded and at_line:
                    self.lines.append(len(texts) - len(folded))
                at_line = (at_line and not folded) or glyph.text in "\r\n"
                inside = bool(folded)
            self.ends[number] = len(self.pages)
        self.text = "".join(texts)
        self.owned = bytearray(len(self.text))

    def parts_words(self, start: int, stop: int) -> bool:
        """Return whether a stretch begins and ends with words."""
        return bool(self.begins[start]) and (stop >= len(self.text) or bool(self.begins[stop]))

    def line_at(self, place: int) -> tuple[int, int]:
        """Return the begin and the end of the line of a letter."""
        n = bisect_right(self.lines, place)
        return self.lines[n - 1], self.lines[n] if n < len(self.lines) else len(self.text)

    def rest_of_line(self, stop: int, *, goes_on: bool) -> int:
        """Return the end of a text whose last words are a reference: that of its line, or of a short one
        below.
        """
        end = self.line_at(stop - 1)[1]
        if goes_on and end == stop < self.ends[self.pages[stop - 1]]:
            end = self.line_at(stop)[1]
        free = self.owned.find(1, stop, end)
        end = end if free < 0 else free
        return end if end - stop <= _REFERENCE_REACH else stop

    def is_listed(self, stop: int) -> bool:
        """Return whether only a number stands in the line behind a text: it is an entry of a table of
        contents.
        """
        return _PAGE_NUMBER.fullmatch(self.text, stop, self.line_at(stop - 1)[1]) is not None

    def places(self, key: str, low: int, high: int) -> Iterator[int]:
        """Yield where words begin with a key."""
        at = self.text.find(key, low, high)
        while at >= 0:
            if self.begins[at]:
                yield at
            at = self.text.find(key, at + 1, high)

    def follow(self, wanted: str, at: int, bounds: Sequence[int] = ()) -> list[LaidRun] | None:
        """Return the runs of a text of these letters that begins at a place; None if it goes on otherwise
        there.

        At its `bounds` items begin, before which a page may have a number.
        """
        runs: list[LaidRun] = []
        i, inserted, after_gap, joined = 0, 0, False, True
        while i < len(wanted):
            if wanted[i] == GAP:
                i, after_gap = i + 1, True
                continue
            stop = wanted.find(GAP, i)
            part = wanted[i : stop if stop >= 0 else len(wanted)]
            if runs and not after_gap and at == self.ends[self.pages[at - 1]]:
                at, joined = self._over_the_page(part, at)
            if n := 0 if after_gap and runs else self._common(part, at):
                runs.append(LaidRun(i, at, at + n, joined))
                i, at, joined, after_gap = i + n, at + n, True, False
                continue
            if not runs:
                return None
            key = part[: min([_KEY, *(bound - i for bound in bounds if bound > i)])]
            reach = _FORMULA_REACH if after_gap else _INSERTED
            here = self.ends[self.pages[at - 1]]
            found = next(self.places(key, at, min(at + reach, here) + len(key)), -1)
            if found < 0 and here - at <= _RUNNING and len(key) > _MIN_KEY:
                found, joined = next(self.places(key, here, here + _RUNNING + len(key)), -1), False
            elif not after_gap and not (i in bounds and found - at <= _NUMBER_LETTERS):
                inserted += found - at
            if found < 0 or inserted > max(_INSERTED, _MAX_INSERTED * len(wanted)):
                return None
            at, after_gap = found, False
        if any(any(self.owned[run.start : run.stop]) for run in runs):
            return None
        is_short = len(wanted) < _SURE
        return None if is_short and not self.parts_words(runs[0].start, runs[-1].stop) else runs

    def _over_the_page(self, part: str, at: int) -> tuple[int, bool]:
        """Return where a text goes on behind a page, and whether at once: heads of tables may begin alike."""
        later = self.places(part[:_KEY], at + 1, at + _RUNNING + _KEY) if len(part) > _MIN_KEY else ()
        best = max((at, *later), key=lambda place: self._common(part, place))
        return best, best == at

    def _common(self, part: str, at: int) -> int:
        """Return how many letters of a text are those of a page from a place on."""
        low, high = 0, min(len(part), self.ends[self.pages[at]] - at) if at < len(self.text) else 0
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.text.startswith(part[:middle], at) else (low, middle - 1)
        return low

    def own(self, runs: Sequence[LaidRun]) -> None:
        """Keep what a text has from others."""
        for run in runs:
            self.owned[run.start : run.stop] = b"\1" * (run.stop - run.start)


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
    numbers: dict[int, int] = field(default_factory=dict)  # of the content that it is, by page

    @property
    def is_exact(self) -> bool:
        """Return whether the page says just what the source does, other than in formulas."""
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
        slashes = self.text.count("\\") - self.shown.count("\\")
        if self.in_cell and not formulas and (slashes or signs != signs_of(self.text)) and is_readable:
            return False  # a minus or a currency that only the page has, or `\\\\` for a backslash of it
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
    unknown: int = 0  # cells whose shown text is unknown

    @property
    def letters(self) -> str:
        """Return the letters of all pieces."""
        return "".join(piece.letters for piece in self.pieces)

    @property
    def start(self) -> int:
        """Return where it begins among the letters of the pages."""
        return next(piece.runs[0].start for piece in self.pieces if piece.runs)

    @property
    def stop(self) -> int:
        """Return where it ends."""
        return next(piece.runs[-1].stop for piece in reversed(self.pieces) if piece.runs)


def block_of(element: Element) -> LaidBlock:
    """Return the texts of an element that are to be found."""
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
                if far and len(block.letters) >= _KEY:
                    _place(letters, block, 0, len(letters.text), texts)
                elif not far and _place(letters, block, low, high, texts):
                    low = block.stop


def _place(letters: PageLetters, block: LaidBlock, low: int, high: int, texts: Sequence[str]) -> bool:
    """Lay a block down where its text begins between two places; numbers of items may be missing.

    Where a longer one of all texts, which are sorted, begins with the same letters, that one stands.
    """
    is_list, is_title = (block.element.category == c for c in (Category.LIST_GROUP, Category.TITLE))
    for strip in (False, True) if is_list else (False,):
        pieces = block.pieces
        if strip:
            texts = [_ITEM_NUMBER.sub("", piece.text) for piece in pieces]
            pieces = [LaidPiece(text, *letters_of(text)) for text in texts]
        wanted = "".join(piece.letters for piece in pieces)
        bounds = list(accumulate(len(piece.letters) for piece in pieces)) if is_list else []
        key = next((p.letters for p in pieces if p.letters), "").strip(GAP).partition(GAP)[0]
        # Words of a first cell stand in a caption above it too: several cells together tell them apart.
        surest = wanted.strip(GAP).partition(GAP)[0][:_SURE]
        tried = dict.fromkeys((surest, key[:_SURE], key[:_KEY])) if key else ()
        places: Iterator[int] = (at for begin in tried for at in letters.places(begin, low, high))
        if is_title:
            places = _headings(letters, wanted, places)
        behind = bisect_right(texts, wanted)
        near = texts[behind : behind + _MAX_TRIES]
        longer = [text[: len(wanted) + _KEY] for text in near if text.startswith(wanted)]
        for at in islice(places, _MAX_TRIES):
            if any(letters.text.startswith(other, at) for other in longer):
                continue
            runs = letters.follow(wanted, at, bounds)
            if runs is not None and not (is_title and letters.is_listed(runs[-1].stop)):
                _share(pieces, runs)
                block.pieces = pieces
                block.is_placed = all(piece.runs for piece in pieces if piece.letters.strip(GAP))
                if block.is_placed:
                    for piece in pieces:
                        letters.own(piece.runs)
                    for piece, after in zip(pieces, [*pieces[1:], None], strict=True):
                        if not piece.in_cell or after is None or after.runs:
                            _add_last_reference(letters, piece)
                    return True
    return False


def _headings(letters: PageLetters, wanted: str, places: Iterator[int]) -> Iterator[int]:
    """Yield the places where a heading may stand: first lines of nothing else, then begins of lines."""
    listed = [(at, *letters.line_at(at)) for at in islice(places, _MAX_TRIES)]
    at_begin = [
        (at, stop) for at, start, stop in listed
        if at == start or _NUMBERED.fullmatch(letters.text, start, at)
    ]  # fmt: skip
    return iter([at for at, _ in sorted(at_begin, key=lambda place: place[1] - place[0] != len(wanted))])


def _add_last_reference(letters: PageLetters, piece: LaidPiece) -> None:
    """Add to a text the reference at its end that only the page has, up to the end of its line.

    In a row of a table, the line ends where the next cell begins.
    """
    if REFERENCE in re.split(r"\w", piece.text)[-1] and piece.runs:
        stop = piece.runs[-1].stop
        if (end := letters.rest_of_line(stop, goes_on=not piece.in_cell)) > stop:
            piece.runs.append(LaidRun(len(piece.letters), stop, end, True))
            letters.own(piece.runs[-1:])


def _share(pieces: Sequence[LaidPiece], runs: Sequence[LaidRun]) -> None:
    """Give each piece its part of the runs of all."""
    begin = 0
    for piece in pieces:
        end = begin + len(piece.letters)
        piece.runs = []
        for run in runs:
            if run.at < end and run.at + run.stop - run.start > begin:
                at, joined = max(run.at, begin) - begin, run.joined or run.at < begin
                start, stop = run.start + max(begin - run.at, 0), min(run.stop, run.start + end - run.at)
                piece.runs.append(LaidRun(at, start, stop, joined))
        begin = end


def place_formulas(letters: PageLetters, blocks: Sequence[LaidBlock]) -> None:
    """Place formulas: one stands alone between two placed texts, if these letters fit."""
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
    """Yield the pages on which blocks without a place may stand: from what is before them to what is
    after.
    """
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
