"""Samples of text layers that OCR compares with their picture, and the fonts that they confirm.

A text layer is wrong where the table of a font is: each of its characters means another one. So a font that
OCR has read as its layer says is not compared again on other pages of the document, unless its characters
have other shapes there.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rapidfuzz.distance import Indel

from parsemark.errors import PdfError
from parsemark.model import Box
from parsemark.pdf.ocr import OCR_DPI, ReadWord, read_picture, scripts
from parsemark.pdf.pictures import render_page

if TYPE_CHECKING:
    from PIL import Image

_SAMPLE_LINES, SAMPLE_LETTERS = 4, 40
"""How many lines of a layer are compared with their picture, and how many letters they must have at least."""
_MIN_WORD, _MIN_WORDS, _ALIKE = 3, 8, 0.6
"""Letters of a word, and words, for layer and OCR to be compared; how alike both readings of one must be."""
AGREES, LIES = 0.5, 0.2
"""Share of such words that agree from which on the layer is believed, and up to which OCR is."""
_ROW = 12.0  # points: words in neighbouring rows of this height are looked at together
_AROUND_WORDS = ".,;:!?()[]{}<>\"'«»„“”‘’*-–—/"
_TELLING, _MOST_READ = 0.02, 2
"""Share of the page that a picture must have to be read for what it says, and how many are."""
_SHEET_WORDS, _PER_PAGE, _SHEET_PAGES = 12, 6, 8
"""Words of each font that are read together with those of others, how many of one page, and of how many."""
_GIVE_UP = 40  # words of a font after which OCR is not asked again if it cannot read them
_OTHER_SHAPE, _OTHER_LETTERS = 0.06, 0.15
"""How much the shape of a letter may differ from that in a known font, and for which share of the letters."""
_MARGIN = 16  # pixels around what is cut out
_SCRIPT_NAMES = {"CJK": "Chinese characters", "HANGUL": "Korean"}
"""Of scripts whose letters have other names in Unicode."""
Source = Literal["layer", "ocr", "none"]


@dataclass(frozen=True, slots=True)
class SeenWord:
    """A word of a page, as its text layer or OCR says it."""

    text: str
    box: Box
    line: int  # number of its line, in the order of the file; below 0 for the values of fields
    shown: bool = True
    edge: bool = False  # whether it belongs to a running head or foot, or is a page number
    font: str = ""  # name of the font of its first character


@dataclass(frozen=True, slots=True)
class SeenPage:
    """What can be seen on a page."""

    width: float
    height: float
    words: tuple[SeenWord, ...]  # in the order of the file, also those that are not shown
    source: Source
    why: str = ""  # why the text layer was not believed, or not compared with its picture
    beside: str = ""
    """What belongs to the page without being its text: values of forms, notes, targets of links, and what
    OCR or a hidden layer says of pictures."""
    letters: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)
    """How wide each letter of each font is for its height."""
    unread: tuple[Box, ...] = ()
    """Its largest pictures, if OCR has still to read them (`with_picture_texts`)."""
    types: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Its page types by trait (`page_kinds.TRAITS`), of a page of `seen_document`."""

    @property
    def judged_by(self) -> str:
        """Return the source that decides which words are visible."""
        name = {"layer": "text layer", "ocr": "OCR", "none": "not judged"}[self.source]
        return f"{name}: {self.why}" if self.why else name


# --- fonts --------------------------------------------------------------------------------------------------


class FontSamples:
    """What OCR has read of the fonts of a document."""

    def __init__(self) -> None:
        self._sampled, self._read, self._alike = Counter[str](), Counter[str](), Counter[str]()
        self._letters: dict[str, dict[str, float]] = {}
        self._cut_from = set[int]()  # numbers of pages

    def sample_of(self, page: SeenPage) -> list[SeenWord]:
        """Return the lines with most to compare in fonts that are not known; none if that is too little."""
        doubtful = {word.font for word in page.words} - self._known(page)
        words = [word for word in page.words if word.font in doubtful and _is_level(word)]
        rank = {line: k for k, line in enumerate(sorted({word.line for word in words}))}
        samples: dict[int, list[SeenWord]] = {}
        for word in sorted(words, key=lambda word: word.line):
            samples.setdefault(rank[word.line] // _SAMPLE_LINES, []).append(word)
        if sum(map(_n_letters, words)) < SAMPLE_LETTERS:
            return []
        best = max(samples.values(), key=lambda own: sum(map(_n_letters, own)), default=[])
        return best if sum(map(_n_letters, best)) >= SAMPLE_LETTERS else []

    def may_lie(self, picture: Image.Image, page: SeenPage, sample: Sequence[SeenWord]) -> bool:
        """Return whether a sample of a page reads otherwise than it looks."""
        if not sample:
            return False
        compared = list(_compared(sample, read_part(picture, Box.hull(word.box for word in sample))))
        self._add(page, sample, compared)
        agree = _share_alike(compared)
        return agree is not None and agree < AGREES

    def read_sheet(self, pdf: Path, pages: Mapping[int, SeenPage]) -> None:
        """Read lines of the fonts of a document that are not known, by their pages, as one picture: to start
        OCR takes as long as to read a line.
        """
        from PIL import Image

        left = {number: page for number, page in pages.items() if number not in self._cut_from}
        cuts = [(pages[number], words, cut) for number, words, cut in self._cuts(pdf, left)]
        if not cuts:
            return
        size = max(cut.width for *_, cut in cuts), sum(cut.height for *_, cut in cuts)
        sheet, y = Image.new("L", size, 255), 0
        placed = []
        for page, words, cut in cuts:
            sheet.paste(cut, (0, y))
            hull = _around(words)
            down, right = y * 72 / OCR_DPI - hull.y0, -hull.x0
            placed.append((page, words, [replace(w, box=_moved(w.box, right, down)) for w in words]))
            y += cut.height
        read, _ = read_picture(sheet)
        for page, words, on_sheet in placed:
            self._add(page, words, list(_compared(on_sheet, read)))

    def _cuts(
        self, pdf: Path, pages: Mapping[int, SeenPage]
    ) -> Iterator[tuple[int, list[SeenWord], Image.Image]]:
        """Yield lines of fonts with their page and picture: first of the pages that have most of them."""
        by_page = {
            number: _by_font(word for word in page.words if _is_level(word) and _is_comparable(word.text))
            for number, page in pages.items()
        }
        letters = Counter[str]()
        for fonts in by_page.values():
            letters.update({font: sum(map(_n_letters, words)) for font, words in fonts.items()})
        missing = {
            font: _SHEET_WORDS
            for font, n in letters.items()
            if font and n >= SAMPLE_LETTERS and self._read[font] < _MIN_WORDS
        }

        def worth(number: int) -> int:
            return sum(
                min(len(words), missing.get(font, 0), _PER_PAGE) for font, words in by_page[number].items()
            )

        for _ in range(_SHEET_PAGES):
            number = max(by_page, key=worth, default=0)
            if not number or worth(number) < _MIN_WORDS // 2:
                return
            self._cut_from.add(number)
            parts = [
                part
                for font, words in by_page.pop(number).items()
                for part in _parts(words, min(missing.get(font, 0), _PER_PAGE))
            ]
            for words in parts:
                missing[words[0].font] -= len(words)
            try:
                picture = render_page(pdf, number, OCR_DPI).convert("L")
            except PdfError:
                continue
            for words in parts:
                yield number, words, picture.crop(_pixels(_around(words), picture))

    def _add(
        self, page: SeenPage, sample: Sequence[SeenWord], compared: Sequence[tuple[SeenWord, bool]]
    ) -> None:
        read = Counter(word.font for word, _ in compared)
        alike = Counter(word.font for word, is_alike in compared if is_alike)
        self._sampled.update(word.font for word in sample if _is_comparable(word.text))
        self._read += read
        self._alike += alike
        for font, n in alike.items():
            if n >= AGREES * read[font]:
                for letter, shape in page.letters.get(font, {}).items():
                    self._letters.setdefault(font, {}).setdefault(letter, shape)

    def _known(self, page: SeenPage) -> set[str]:
        """Return the fonts of a page whose characters mean what the layer says, or that OCR cannot read."""
        return {font for font in page.letters if font and self._is_known(font, page.letters[font])}

    def _is_known(self, font: str, letters: Mapping[str, float]) -> bool:
        n = self._read[font]
        if n < _MIN_WORDS:
            return self._sampled[font] >= _GIVE_UP
        known = self._letters.get(font, {})
        shared = letters.keys() & known.keys()
        others = sum(abs(letters[c] - known[c]) > _OTHER_SHAPE * known[c] for c in shared)
        is_same = 2 * len(shared) >= len(letters) and others <= _OTHER_LETTERS * len(shared)
        return self._alike[font] >= AGREES * n and is_same


def _parts(words: Sequence[SeenWord], wanted: int) -> Iterator[list[SeenWord]]:
    """Yield parts of lines with so many words together, of the longest lines first."""
    lines: dict[int, list[SeenWord]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    for line in sorted(lines.values(), key=len, reverse=True):
        if wanted <= 0:
            return
        yield (part := line[:wanted])
        wanted -= len(part)


def _by_font(words: Iterable[SeenWord]) -> dict[str, list[SeenWord]]:
    found: dict[str, list[SeenWord]] = {}
    for word in words:
        found.setdefault(word.font, []).append(word)
    return found


def _around(words: Sequence[SeenWord]) -> Box:
    hull, margin = Box.hull(word.box for word in words), _MARGIN * 72 / OCR_DPI
    return Box(max(hull.x0 - margin, 0.0), max(hull.y0 - margin, 0.0), hull.x1 + margin, hull.y1 + margin)


def _pixels(box: Box, picture: Image.Image) -> tuple[int, int, int, int]:
    left, top, right, bottom = (int(side * OCR_DPI / 72) for side in box.as_tuple())
    return left, top, min(right, picture.width), min(bottom, picture.height)


def _moved(box: Box, right: float, down: float) -> Box:
    return Box(box.x0 + right, box.y0 + down, box.x1 + right, box.y1 + down)


# --- what pictures say --------------------------------------------------------------------------------------


def unknown_script(words: Sequence[SeenWord]) -> str:
    """Return the script of most letters of a page, if OCR has no model for it; empty if it has."""
    letters = Counter(c for word in words for c in word.text if c.isalpha())
    if not letters:
        return ""
    by_script = Counter[str]()
    for letter, n in letters.items():
        by_script[unicodedata.name(letter, "?").split()[0]] += n
    n_known = sum(n for c, n in letters.items() if unicodedata.name(c, "?").startswith(tuple(scripts())))
    ((script, _),) = by_script.most_common(1)
    is_known = 2 * n_known >= letters.total()
    return "" if is_known else _SCRIPT_NAMES.get(script, script.capitalize())


def telling_pictures(page: SeenPage, within: Sequence[Box]) -> list[Box]:
    """Return the largest pictures of a page, which may have text of their own."""
    whole = page.width * page.height
    large = [box for box in within if box.width * box.height >= _TELLING * whole]
    return sorted(large, key=lambda box: -box.width * box.height)[:_MOST_READ]


def texts_of(picture: Image.Image, page: SeenPage, large: Sequence[Box]) -> Iterator[str]:
    """Yield the OCR texts of the largest pictures of a page."""
    for box in large:
        over = [word.box for word in page.words if word.shown and box.holds_centre(word.box)]
        yield from (text for text, own, _ in read_part(picture, box) if not is_in(own, over))


def read_part(picture: Image.Image, part: Box) -> list[ReadWord]:
    """Return the words of a part of a picture, at their places in the whole."""
    scale, margin = OCR_DPI / 72, _MARGIN
    left, top, right, bottom = (int(side * scale) for side in part.as_tuple())
    left, top = max(left - margin, 0), max(top - margin, 0)
    cut = picture.crop((left, top, min(right + margin, picture.width), min(bottom + margin, picture.height)))
    if min(cut.size) < margin:
        return []
    x, y = left / scale, top / scale
    return [
        (text, Box(box.x0 + x, box.y0 + y, box.x1 + x, box.y1 + y), line)
        for text, box, line in read_picture(cut)[0]
    ]


def is_in(box: Box, pictures: Sequence[Box]) -> bool:
    """Return whether the centre of a box lies in any of these."""
    return any(picture.holds_centre(box) for picture in pictures)


def agreement(words: Sequence[SeenWord], read: Sequence[ReadWord]) -> float | None:
    """Return the share of words of the layer that OCR reads alike at their place; None if too few can be
    compared.
    """
    return _share_alike(list(_compared(words, read)))


def _share_alike(compared: Sequence[tuple[SeenWord, bool]]) -> float | None:
    return sum(alike for _, alike in compared) / len(compared) if len(compared) >= _MIN_WORDS else None


def _compared(words: Sequence[SeenWord], read: Sequence[ReadWord]) -> Iterator[tuple[SeenWord, bool]]:
    """Yield the words of the layer at whose place OCR reads one, and whether both are alike.

    Words with digits or signs in them say nothing: OCR takes names of parts (`p16f84a`) for words.
    """
    by_row: dict[int, list[tuple[Box, str]]] = {}
    for text, box, _ in read:
        if _is_comparable(text):
            by_row.setdefault(int(box.centre[1] // _ROW), []).append((box, text))
    for word in words:
        if not word.shown or not _is_comparable(word.text):
            continue
        row = int(word.box.centre[1] // _ROW)
        near = (pair for k in (row - 1, row, row + 1) for pair in by_row.get(k, ()))
        there = [text for box, text in near if box.holds_centre(word.box) or word.box.holds_centre(box)]
        if there:
            yield word, max(_likeness(word.text, text) for text in there) >= _ALIKE


def _likeness(one: str, other: str) -> float:
    both = (unicodedata.normalize("NFKD", text).casefold() for text in (one, other))
    return Indel.normalized_similarity(*both)


def _is_level(word: SeenWord) -> bool:
    """Return whether a word is shown and not turned."""
    return word.shown and word.box.height < word.box.width * 3


@lru_cache(maxsize=20_000)
def _is_comparable(text: str) -> bool:
    """Return whether it is a word of a script that OCR knows, with nothing but signs around it."""
    own = text.strip(_AROUND_WORDS)
    known = tuple(scripts())
    return len(own) >= _MIN_WORD and own.isalpha() and unicodedata.name(own[0], "?").startswith(known)


def _n_letters(word: SeenWord) -> int:
    """Return how many letters a word has that can be compared."""
    return len(word.text) if _is_comparable(word.text) else 0
