"""The letters of all pages of a PDF, and where a text is found among them.

Letters and digits alone are compared, so that hyphens, blanks, ligatures and accents make no difference.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from parsemark.pdf import Glyph, page_shapes
from parsemark.pdf.marked import marked_page

GAP = "\0"  # stands for a formula, of which a page shows other signs than the source has
REFERENCE = "\ue0f1"
"""Stands in a source for a reference or citation, of which only the page has the number; of no letters."""
_FORMULA = re.compile(rf"(?<!\\)\$[^$]+\$|{REFERENCE}")
SURE = 20  # letters that name a place by themselves
KEY = 10  # letters by which the text is found again behind what is only on the page
_MIN_KEY = 3
_INSERTED = 15  # letters that only the page has: numbers of references, marks of notes, labels of items
_ITEM_NUMBER = 4  # letters of the number of an item
_MAX_INSERTED = 0.2  # the same as a share of a text
_FORMULA_REACH = 150
_REFERENCE_REACH = 60
_RUNNING = 600
"""Letters at the end of a page and at the begin of the next that part a text: notes, running heads."""
_LETTERS = str.maketrans("∆", "Δ")  # signs that fonts of TeX have for letters
_MARKUP = frozenset("^_{}\\\xad\x02")


@lru_cache(65_536)
def folded_letters(character: str) -> str:
    """Return the letters and digits of a character without accents, case and ligatures."""
    return "".join(
        c for c in unicodedata.normalize("NFKD", character.translate(_LETTERS)).casefold() if c.isalnum()
    )


def cased_letters(text: str) -> str:
    """The letters of a text as they are, without accents and ligatures."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.translate(_LETTERS)) if c.isalpha())


def letters_of(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text with their places in it, and one gap for each formula or reference."""
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
    """What of a text is no letter, other than blanks and what marks scripts."""
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
    """Whether a letter follows the small number of a note at once, and so begins a word."""
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
        """Whether a stretch begins and ends with words."""
        return bool(self.begins[start]) and (stop >= len(self.text) or bool(self.begins[stop]))

    def line_at(self, place: int) -> tuple[int, int]:
        """The begin and the end of the line of a letter."""
        n = bisect_right(self.lines, place)
        return self.lines[n - 1], self.lines[n] if n < len(self.lines) else len(self.text)

    def rest_of_line(self, stop: int) -> int:
        """The end of a text whose last words are a reference: that of its line, or of a short one below."""
        end = self.line_at(stop - 1)[1]
        if end == stop < self.ends[self.pages[stop - 1]]:
            end = self.line_at(stop)[1]
        free = self.owned.find(1, stop, end)
        end = end if free < 0 else free
        return end if end - stop <= _REFERENCE_REACH else stop

    def places(self, key: str, low: int, high: int) -> Iterator[int]:
        """Where words begin with a key."""
        at = self.text.find(key, low, high)
        while at >= 0:
            if self.begins[at]:
                yield at
            at = self.text.find(key, at + 1, high)

    def follow(self, wanted: str, at: int, bounds: Sequence[int] = ()) -> list[LaidRun] | None:
        """The runs of a text of these letters that begins at a place; None if it goes on otherwise there.

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
            key = part[: min([KEY, *(bound - i for bound in bounds if bound > i)])]
            reach = _FORMULA_REACH if after_gap else _INSERTED
            here = self.ends[self.pages[at - 1]]
            found = next(self.places(key, at, min(at + reach, here) + len(key)), -1)
            if found < 0 and here - at <= _RUNNING and len(key) > _MIN_KEY:
                found, joined = next(self.places(key, here, here + _RUNNING + len(key)), -1), False
            elif not after_gap and not (i in bounds and found - at <= _ITEM_NUMBER):
                inserted += found - at
            if found < 0 or inserted > max(_INSERTED, _MAX_INSERTED * len(wanted)):
                return None
            at, after_gap = found, False
        if any(any(self.owned[run.start : run.stop]) for run in runs):
            return None
        is_short = len(wanted) < SURE
        return None if is_short and not self.parts_words(runs[0].start, runs[-1].stop) else runs

    def _over_the_page(self, part: str, at: int) -> tuple[int, bool]:
        """Where a text goes on behind a page, and whether at once: heads of tables may begin alike."""
        later = self.places(part[:KEY], at + 1, at + _RUNNING + KEY) if len(part) > _MIN_KEY else ()
        best = max((at, *later), key=lambda place: self._common(part, place))
        return best, best == at

    def _common(self, part: str, at: int) -> int:
        """How many letters of a text are those of a page from a place on."""
        low, high = 0, min(len(part), self.ends[self.pages[at]] - at) if at < len(self.text) else 0
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.text.startswith(part[:middle], at) else (low, middle - 1)
        return low

    def own(self, runs: Sequence[LaidRun]) -> None:
        """Keep what a text has from others."""
        for run in runs:
            self.owned[run.start : run.stop] = b"\1" * (run.stop - run.start)
