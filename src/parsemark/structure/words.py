"""Words: made of the characters of a page, and set together again as the text of a cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from parsemark.model import Box

if TYPE_CHECKING:
    from parsemark.pdf.text import Glyph

_HYPHENS = "-\u00ad\u2010\ufffe\x02"
"""What may stand at the end of a line where a word is divided; the last two are pdfium's own marks."""
_SMALLEST_REACH = 4.0
_SAME_LINE = 0.4
_TALL = 1.5  # in widths: a word of several letters that is higher than this is set sideways
_SMALL = 0.8  # of the usual height in a cell: below it a word may be an exponent or an index


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its box."""

    text: str
    box: Box
    glued: bool = False
    """Whether the source has no space between this word and the next one (a word divided at a line's end)."""


def join_glyphs(glyphs: Iterable[Glyph]) -> Iterator[Word]:
    """Yield words from characters in the order of the file.

    A word ends at white space, and where the next character is far away: on another line, or in another
    cell of a table whose source has no space between them.
    """
    letters: list[Glyph] = []
    for glyph in glyphs:
        blank = glyph.generated or not glyph.text.strip()
        if letters and (blank or _far(letters, glyph.box)):
            yield _word(letters, glued=not blank)
            letters = []
        if not blank:
            letters.append(glyph)
    if letters:
        yield _word(letters, glued=False)


def _word(letters: Sequence[Glyph], *, glued: bool) -> Word:
    return Word("".join(g.text for g in letters), Box.hull(g.box for g in letters), glued)


def _far(letters: Sequence[Glyph], box: Box) -> bool:
    last = letters[-1].box
    reach = max(last.height, box.height, last.width, _SMALLEST_REACH) / 2
    across = max(box.x0 - last.x1, last.x0 - box.x1)
    down = max(box.y0 - last.y1, last.y0 - box.y1)
    return across > reach or down > reach


def as_tall_as_their_lines(words: Sequence[Word]) -> list[Word]:
    """Return the words, each with the top and bottom of the run of words that it stands in.

    The ink of "as" is lower than that of "fig", so a row whose box is a little off would take one and leave
    the other. Words that follow each other on a line belong to one row.
    """
    tall: list[Word] = []
    run: list[Word] = []
    for word in words:
        if run and not _continues(run[-1].box, word.box):
            tall += _levelled(run)
            run = []
        run.append(word)
    return tall + _levelled(run)


def _continues(before: Box, box: Box) -> bool:
    lower, height = sorted((before.height, box.height))
    level = min(before.y1, box.y1) - max(before.y0, box.y0)
    return level > _SAME_LINE * lower and -0.2 * height <= box.x0 - before.x1 <= height


def _levelled(run: Sequence[Word]) -> list[Word]:
    top, bottom = min((w.box.y0 for w in run), default=0.0), max((w.box.y1 for w in run), default=0.0)
    return [replace(w, box=replace(w.box, y0=top, y1=bottom)) for w in run]


def join_words(words: Sequence[Word]) -> str:
    """Return the text of a cell: its words line by line, a word that was divided at a line's end made
    whole.
    """
    text = ""
    divided = False
    for line in _lines(_upright(words)):
        for word in line:
            before = text.rstrip(_HYPHENS) if divided else f"{text} " if text else ""
            text, divided = before + word.text, False
        last = line[-1]
        divided = last.glued and last.text[-1:] in _HYPHENS and len(last.text) > 1
    return text.replace("\ufffe", "").replace("\x02", "")


def _upright(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words of a cell whose text runs up or down the page, turned; others as they are.

    Such words are higher than wide. Which way they run is told by those that follow each other on a line; a
    label in a column of labels nearly always runs up.
    """
    long = [w.box for w in words if len(w.text) > 1]
    if not long or 2 * sum(box.height > _TALL * box.width for box in long) <= len(long):
        return words
    beside = [(a, b) for a, b in pairwise(w.box for w in words) if min(a.x1, b.x1) > max(a.x0, b.x0)]
    runs_up = sum(1 if b.y0 < a.y0 else -1 for a, b in beside) >= 0
    return [replace(w, box=w.box.turned(90 if runs_up else 270)) for w in words]


def _lines(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words by line, from top to bottom and from left to right.

    A word is on the line that it overlaps vertically by a good part of the lower one's height. A small one
    (an exponent, an index, a footnote mark) that follows its base directly stays on the line of its base,
    even if it reaches into the line above or below.
    """
    lines: list[tuple[list[int], Box]] = []
    usual = median(w.box.height for w in words) if words else 0.0
    small = {i for i, w in enumerate(words) if w.box.height < _SMALL * usual}
    by_size = sorted(range(len(words)), key=lambda i: (-words[i].box.height, words[i].box.y0))
    line_of: dict[int, int] = {}
    for index in by_size:
        box = words[index].box
        best, share = -1, _SAME_LINE
        for number, (_, band) in enumerate(lines):
            overlap = min(box.y1, band.y1) - max(box.y0, band.y0)
            relative = overlap / max(1e-9, min(box.height, band.height))
            if relative >= share:
                best, share = number, relative
        if index in small and index - 1 in line_of:
            base = words[index - 1].box
            is_behind = -0.2 * base.height <= box.x0 - base.x1 <= base.height
            if is_behind and min(base.y1, box.y1) > max(base.y0, box.y0):
                best = line_of[index - 1]
        if best < 0:
            best = len(lines)
            lines.append(([], box))
        lines[best][0].append(index)
        line_of[index] = best
    lines.sort(key=lambda line: line[1].y0 + line[1].y1)
    return [[words[i] for i in sorted(line, key=lambda i: (words[i].box.x0, i))] for line, _ in lines]
