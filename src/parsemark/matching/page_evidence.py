"""The words of an output, compared with those that can be seen on its page."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from rapidfuzz.distance import LCSseq

from parsemark.formats.document import predicted_elements
from parsemark.formats.html.markup import unescape
from parsemark.formats.notation import fold_notation
from parsemark.matching.words import (
    CJK,
    OutputAtom,
    PageAtom,
    WordComparison,
    WordStatus,
    atoms,
    compare_words,
    is_number,
    spaced_atoms,
)
from parsemark.model import Box, Element, Prediction, Table
from parsemark.pdf import SeenPage, SeenWord

PAGE_STATUSES = ("kept", "joined", "split", "altered", "lost", "moved")
EXTRAS = ("doubled", "invented", "leaked")
FOUND = "found"  # metric of the rows of findings
NUMBERS = "numbers_"  # before the name of a count: the same for numbers alone
TABLES_ALONE = "tables_alone"  # 1 where an output says nothing but tables, or nothing at all
_PLACEHOLDER = re.compile(r"=+> ?picture[^\n]*?<=+|-{3,} ?(?:start|end) of picture text ?-{3,}", re.I)
"""What parsers write in place of a picture."""
_WITHIN = re.compile(
    r"(?<=[^\W\d_])[*~]+(?=[^\W\d_])"
    r"|(?<=\d)\*{1,2}(?=[.,]\*{1,2}\d)|(?:(?<=\d\*[.,])\*|(?<=\d\*\*[.,])\*\*)(?=\d)"
)
"""Marks of emphasis inside of a word or number, which do not tear it."""
_MARKUP = re.compile(r"[$\\]|[_^]\{|<su[bp]>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,9}(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BLANK = re.compile("&(?:nbsp|ensp|emsp|thinsp|#160|#xa0);", re.IGNORECASE)
_PIECE = re.compile(rf"<[^<>\s][^<>]*>|[{CJK}]|[^\s<>|{CJK}]+")
"""Parts of a line between blanks, tags and walls of cells; each sign of Chinese is one."""
_LATEX_TABLE = r"\begin{tabular}"
_BLANK_WIDTH = 0.12  # heights of a line: what is wider between two words is a blank that can be seen
_RAISED = 0.3  # heights of a line between a word and raised letters behind it, from top to bottom
_HYPHENS = ("-", "\xad", "\u2010", "\u2011")
_STRANGE = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
"""Characters without meaning: the word that contains them is unknown."""


@dataclass(frozen=True, slots=True)
class WordFinding:
    """Some words in a row with the same status."""

    kind: str
    text: str
    said: str = ""  # what the output has in their place
    box: Box | None = None  # where they stand on the page; words that are only in the output stand nowhere
    numbers: int = 0  # how many of them are numbers
    line: int | None = None
    """Line of the output, from 1, where they stand or, of what is lost, behind which they should."""
    span: tuple[int, int] | None = None
    """The same as characters of the output: the words, or the one behind which lost words should stand."""
    words: tuple[int, ...] = ()
    """Which words they are: of the page, or of the output where they are only there."""


class OutputTable(NamedTuple):
    """A table of an output, with the words of its cells."""

    table: Table
    starts: Sequence[int]
    """Of each cell, its first word among those of the output; then the end of the last cell."""


class OutputPlace(NamedTuple):
    """Where a word of an output stands in its text."""

    line: int  # from 1
    start: int
    end: int


@dataclass(frozen=True)
class PageEvidence:
    """What a page says about one output."""

    counts: Counter[str]
    """`words` of the page and `said` by the output, and how many of them have which status; numbers apart."""
    findings: tuple[WordFinding, ...]
    comparison: WordComparison
    places: Sequence[OutputPlace | None]
    """Of each word of the output; empty where nothing was found."""
    tables: Sequence[OutputTable] = ()

    def span_of(self, said: Sequence[int]) -> tuple[int, int] | None:
        """Return the characters of the output from the first to the last of some of its words."""
        return _span([self.places[j] for j in said])


def agreement(count: Callable[[str], Any]) -> tuple[Any, Any]:
    """Return twice the words kept in place, over the words of page and output together, from their counts.

    A word in another place is not kept here, so words that are heaped up in any order gain nothing.
    """
    in_both = sum(count(kind) for kind in PAGE_STATUSES[:4])
    in_one = sum(count(kind) for kind in ("lost", *EXTRAS))
    return 2 * (count("kept") - count("moved")), 2 * in_both + in_one


def compare(seen: SeenPage, prediction: Prediction, text: str | None = None) -> PageEvidence:
    """Compare what can be seen on a page with what a parser made of it.

    Of a parser that gives nothing but tables, only words inside of its tables are asked for. Findings are
    located in `text`, by default the output's own.
    """
    asked = None
    if prediction.elements and gives_tables_alone(prediction):
        asked = tuple(e.box for e in prediction.elements if e.box is not None)
    page = list(_page_atoms(seen, asked))
    hidden = [text for word in seen.words if not word.shown for text in atoms(word.text)]
    output, tables = _output_atoms(prediction, {atom.text for atom in page})
    statuses = compare_words(page, hidden, output, atoms(seen.beside))
    places = list(word_places(statuses.output, (prediction.text or "") if text is None else text))
    return PageEvidence(_counted(statuses), tuple(_findings(statuses, places)), statuses, places, tables)


def _page_atoms(seen: SeenPage, asked: Sequence[Box] | None) -> Iterator[PageAtom]:
    """Yield the visible words, without running heads, words outside of boxes, and what has no
    meaning.
    """
    shown = [word for word in seen.words if word.shown]
    heights: dict[int, float] = {}
    for word in shown:
        heights[word.line] = max(heights.get(word.line, 0.0), min(word.box.height, word.box.width * 3))
    before: SeenWord | None = None
    for word in shown:
        is_unasked = asked is not None and not any(box.holds_centre(word.box) for box in asked)
        is_edge = word.edge or is_unasked or _STRANGE.search(word.text) is not None
        is_parted = False
        if before is not None and not before.text.endswith(_HYPHENS):
            gap = max(word.box.x0 - before.box.x1, word.box.y0 - before.box.y1, before.box.y0 - word.box.y1)
            if word.line == before.line:
                is_parted = gap >= _BLANK_WIDTH * heights[word.line]
            else:
                height = max(heights[word.line], heights[before.line])
                is_parted = not _touches(before.box, word.box, height)
        for k, atom in enumerate(spaced_atoms(word.text)):
            yield PageAtom(atom.text, word.box, word.line, is_edge, is_parted and not k)
        before = word


def _touches(one: Box, other: Box, height: float) -> bool:
    """Return whether a word begins where one of another line ends, as raised and lowered letters do."""
    is_beside = one.centre[0] < other.x0 < one.x1 + _BLANK_WIDTH * height
    return is_beside and max(one.y0, other.y0) - min(one.y1, other.y1) < _RAISED * height


def output_words(prediction: Prediction, known: Set[str] = frozenset()) -> list[str]:
    """Return the words of an output as they are compared; `known` ones tell whether notation is to be
    folded.
    """
    return [atom.text for atom in _output_atoms(prediction, known)[0]]


def _output_atoms(
    prediction: Prediction, known: Set[str]
) -> tuple[Sequence[OutputAtom], Sequence[OutputTable]]:
    words: list[OutputAtom] = []
    tables: list[OutputTable] = []
    for element in predicted_elements(prediction):
        starts = [len(words)]
        for own in _said(element, known):
            words += own
            starts.append(len(words))
        if element.table is not None:
            tables.append(OutputTable(element.table, starts))
    text = prediction.text or ""
    if _LATEX_TABLE in text and "tabular" in known:  # perhaps the page shows this source
        plain = [atom for line in text.split("\n") for atom in _folded(line, known)]
        if _share_known(plain, known) > _share_known(words, known):
            return plain, ()
    return words, tables


def gives_tables_alone(prediction: Prediction) -> bool:
    """Return whether an output has no text beside tables; one of a page without tables is empty."""
    return prediction.text is None and all(e.table is not None for e in prediction.elements)


def _said(element: Element, known: Set[str]) -> Iterator[tuple[OutputAtom, ...]]:
    """Yield the words of each cell or line."""
    if element.table is not None:
        texts = [cell.text for cell in element.table.cells]
    elif element.text:
        texts = _PLACEHOLDER.sub(" ", element.text).split("\n")
    else:
        texts = [f"${element.latex}$"] if element.latex else []
    for text in texts:
        yield _folded(text, known)


def _folded(text: str, known: Set[str]) -> tuple[OutputAtom, ...]:
    """Return the words of a text as it stands, or of what its notation means, whichever the page knows
    better.
    """
    text = _WITHIN.sub("", text)
    readings = [text]
    if "<" in text:
        readings.append(_TAG.sub(" ", text))
    if _MARKUP.search(text):
        readings.append(fold_notation(text))
    if len(readings) == 1:
        return spaced_atoms(text)
    words = map(spaced_atoms, reversed(readings))
    return max(words, key=lambda own: _share_known(own, known))


def _share_known(words: Sequence[OutputAtom], known: Set[str]) -> float:
    return (sum(word.text in known for word in words) + 1) / (len(words) + 2)


def _counted(statuses: WordComparison) -> Counter[str]:
    found: Counter[str] = Counter()

    def add(name: str, is_a_number: bool, n: int) -> None:
        found[name] += n
        found[NUMBERS + name] += n * is_a_number

    moved = (i in statuses.moved for i in range(len(statuses.page)))
    numbers = (is_number(atom.text) for atom in statuses.page)
    for (status, number, has_moved), n in Counter(zip(statuses.of_page, numbers, moved, strict=True)).items():
        if status is not WordStatus.PASSED:
            for name in ("words", status.value, *["moved"] * has_moved):
                add(name, number, n)
    for (status, number), n in Counter(
        zip(statuses.of_output, map(is_number, statuses.output), strict=True)
    ).items():
        if status is not WordStatus.PASSED:
            for name in ("said", *[status.value] * (status in EXTRAS)):
                add(name, number, n)
    return found


def _findings(statuses: WordComparison, places: Sequence[OutputPlace | None]) -> Iterator[WordFinding]:
    """Yield neighbours of a line with the same status together; then the words that are only in the
    output.
    """
    kinds = ["moved" if i in statuses.moved else str(status) for i, status in enumerate(statuses.of_page)]
    for (kind, _), group in groupby(range(len(kinds)), lambda i: (kinds[i], statuses.page[i].line)):
        if kind in PAGE_STATUSES[1:]:
            run = list(group)
            own = [statuses.page[i] for i in run]
            said = " ".join(text for text, _ in groupby(statuses.said[i] for i in run if i in statuses.said))
            words = " ".join(atom.text for atom in own)
            numbers = sum(is_number(atom.text) for atom in own)
            before = next((at for i in range(run[0], -1, -1) if (at := statuses.at[i]) is not None), None)
            stand = [at for i in run if (at := statuses.at[i]) is not None]
            place = None if before is None else places[before]
            yield WordFinding(
                kind,
                words,
                said,
                Box.hull(atom.box for atom in own),
                numbers,
                None if place is None else place.line,
                _span([places[j] for j in stand] or [place]),
                tuple(run),
            )
    for status, same in groupby(range(len(statuses.output)), lambda j: statuses.of_output[j]):
        if status in EXTRAS:
            run = list(same)
            extra = [statuses.output[j] for j in run]
            numbers, first = sum(map(is_number, extra)), places[run[0]]
            line, span = None if first is None else first.line, _span([places[j] for j in run])
            yield WordFinding(
                str(status), " ".join(extra), numbers=numbers, line=line, span=span, words=tuple(run)
            )


def _span(places: Sequence[OutputPlace | None]) -> tuple[int, int] | None:
    known = [place for place in places if place is not None]
    return (min(p.start for p in known), max(p.end for p in known)) if known else None


def word_places(output: Sequence[str], text: str) -> Iterator[OutputPlace | None]:
    """Return where each word of an output stands in its text, by the longest common sequence; None if
    nowhere.
    """
    placed = list(placed_words(text))
    found: list[OutputPlace | None] = [None] * len(output)
    for block in LCSseq.opcodes(output, [word for word, _ in placed]).as_matching_blocks():
        for k in range(block.size):
            found[block.a + k] = placed[block.b + k][1]
    return iter(found)


def placed_words(text: str) -> Iterator[tuple[str, OutputPlace]]:
    """Yield the words of a text as they are compared, and where they stand in it."""
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        for piece in _PIECE.finditer(_BLANK.sub(lambda blank: " " * len(blank[0]), line)):
            if not _TAG.fullmatch(piece[0]):
                place = OutputPlace(number, offset + piece.start(), offset + piece.end())
                yield from ((word, place) for word in atoms(_WITHIN.sub("", unescape(piece[0]))))
        offset += len(line) + 1
