"""What a page looks like, read from the page itself: columns, language, the lines of its tables."""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from parsemark.formats.glyphs import glyph_text
from parsemark.model import AttributeValue, Box, Element
from parsemark.pdf import Glyph, document_glyphs, page_shapes
from parsemark_makers.latex.cell_boxes import MarkedTable

GUTTER_PT = 8.0  # a gap in a line of text that is at least this wide can be the one between two columns
LINE_PT = 6.0  # glyphs whose middles are no further apart than this stand in one line
LONG = 20  # a line with more glyphs than this is one of flowing text
MIN_LINES = 8  # lines beside each other that make two columns
MIN_SIDE_LINES = 3
"""Long lines on each side of the middle without which those on the other side are no column."""
HALF_LINE = 0.25  # the share of a page's width that a long line of a column fills
NUMBER_PT = 25.0
"""What stands apart at an end of a line and is no wider is its number, or that of a page or formula."""
MIN_HALF_LINES = 4  # lines on one side that are a column, in a document that has two on most pages
MIN_WORDS = 25  # a page with fewer known words says nothing about its language

JOINT = 1.5  # pieces of a line across a table that are no further apart than this are one, in points

SINGLE = "single_column"
LineGaps = tuple[tuple[float, float], list[tuple[float, float]]]
"""From where to where a line reaches, and its gaps."""

_WORD = re.compile(r"[^\W\d_]+")
_LANGUAGES = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
_SCRIPTS: dict[str, tuple[str, str]] = _LANGUAGES["scripts"]
_LANGUAGE_OF: dict[str, set[str]] = defaultdict(set)
for _language, _words in _LANGUAGES["words"].items():
    for _one in _words.split():
        _LANGUAGE_OF[_one].add(_language)


class PageLook(NamedTuple):
    """What was read from a page as it is published."""

    attributes: dict[str, AttributeValue]
    glyphs: str  # its text, as `glyph_text` gives it


def page_looks(
    pdf: Path, tables: Mapping[int, Sequence[Box]], two_columns: Container[int] = ()
) -> dict[int, PageLook]:
    """Return columns, language and glyphs of each page; one with few words has the language of the document.

    The columns of `tables`, by page, are not those of the page; `two_columns` are pages that TeX sets so.
    """
    pages = document_glyphs(pdf)
    widths = [shape.width for shape in page_shapes(pdf)]
    texts = ["".join(g.text for g in glyphs) for glyphs in pages]
    languages = list(map(language_of, texts))
    usual = Counter(language for language in languages if language).most_common(1)
    prose = [_prose(glyphs, tables.get(number, ())) for number, glyphs in enumerate(pages, start=1)]
    layouts = list(map(column_layout, prose, widths))
    halves = list(map(_is_half, prose, widths))
    n_columns = sum(layout != SINGLE for layout in layouts)
    n_without = 0
    for layout, half, boxes in zip(layouts, halves, prose, strict=True):
        if layout == SINGLE and not half:
            n_without += sum(len(line) > LONG for line in _lines(boxes)) >= MIN_LINES
    has_columns = n_columns > 0 and n_columns >= n_without
    looks: dict[int, PageLook] = {}
    for index, (layout, text) in enumerate(zip(layouts, texts, strict=True)):
        language = languages[index] or (usual[0][0] if usual else language_of(" ".join(texts)))
        is_set_so = index + 1 in two_columns and keeps_to_columns(prose[index], widths[index])
        is_double = layout == SINGLE and (is_set_so or (has_columns and halves[index]))
        attributes: dict[str, AttributeValue] = {"layout": "double_column" if is_double else layout}
        if language is not None:
            attributes["language"] = language
        looks[index + 1] = PageLook(attributes, glyph_text(text))
    return looks


def _prose(glyphs: Iterable[Glyph], tables: Sequence[Box]) -> list[Box]:
    """Return the glyphs of a page that are in none of its tables, without the leaders of its lists."""
    shown = [g for g in glyphs if g.text.strip() and not g.generated]
    leaders: set[int] = set()
    for place, (one, other) in enumerate(pairwise(shown)):
        if one.text == other.text == "." and abs(one.box.y0 - other.box.y0) < 1.0:
            leaders |= {place, place + 1}
    kept = (glyph.box for place, glyph in enumerate(shown) if place not in leaders)
    return [glyph for glyph in kept if not any(box.contains(glyph, 1.0) for box in tables)]


def _is_half(glyphs: Iterable[Box], width: float) -> bool:
    """Return whether the lines of text of a page stand on one side of its middle, as on the last one of a
    paper.
    """
    ends = [own for own, _ in _gaps_of_lines(glyphs, LONG)]
    sides = sum(x1 < 0.52 * width or x0 > 0.48 * width for x0, x1 in ends)
    return len(ends) >= MIN_HALF_LINES and sides >= 0.8 * len(ends)


def keeps_to_columns(glyphs: Iterable[Box], width: float) -> bool:
    """Return whether most lines of a page stand on one side of its middle."""
    lines = _gaps_of_lines(glyphs, 3)
    return len(lines) > 3 * _n_crossing(lines, width / 2)


def _n_crossing(lines: Iterable[LineGaps], x: float) -> int:
    """Return how many lines run over a place, by more than a little on both sides."""
    over = (gaps for (x0, x1), gaps in lines if x0 < x - 20 and x1 > x + 20)
    return sum(not any(a <= x <= b for a, b in gaps) for gaps in over)


def in_reading_order(elements: Iterable[Element], width: float, *, in_columns: bool) -> list[Element]:
    """Sort elements from top to bottom, those beside each other from left to right; in columns, these one by
    one.

    What stands over both columns parts what is above it from what is below.
    """
    middle = width / 2
    ordered: list[Element] = []
    band: list[tuple[float, Element]] = []
    bottom = float("-inf")
    for element in sorted(elements, key=lambda e: e.box.y0 if e.box is not None else 0.0):
        box = element.box or Box(0, 0, 0, 0)
        is_wide = box.x0 < middle - 20 and box.x1 > middle + 20
        if is_wide if in_columns else box.centre[1] > bottom:
            ordered += _along(band)
            band = []
        if in_columns and is_wide:
            ordered.append(element)
        else:
            band.append((box.centre[0] > middle if in_columns else box.x0, element))
        bottom = box.y1
    return [*ordered, *_along(band)]


def _along(band: Sequence[tuple[float, Element]]) -> list[Element]:
    return [element for _, element in sorted(band, key=lambda placed: placed[0])]


def language_of(text: str) -> str | None:
    """Return the language of a text by its script and its function words; None if it says too little.

    >>> language_of("The words of this sentence are in English, and it is for the test that we have it. " * 3)
    'english'
    """
    letters = sum(c.isalpha() for c in text)
    for name, (first, last) in _SCRIPTS.items():
        if sum(first <= c <= last for c in text) > 0.3 * max(letters, 40):
            return name
    known = [word for word in _WORD.findall(text.lower()) if word in _LANGUAGE_OF]
    votes = Counter(language for word in known for language in _LANGUAGE_OF[word])
    return votes.most_common(1)[0][0] if len(known) >= MIN_WORDS else None


def column_layout(glyphs: Iterable[Box], width: float) -> str:
    """Return OmniDocBench's name for the columns of a page, by the lines of text that a gutter parts.

    Lines on one side count, too, where both sides have some: beside a table or a figure there is no text.
    """
    lines = _gaps_of_lines(glyphs, 3)
    long = [ends for ends, _ in lines if ends[1] - ends[0] > HALF_LINE * width]
    best, crossing = 0, 0
    for percent in range(40, 61):
        x = width * percent / 100
        parted = sum(any(a <= x <= b for a, b in gaps) for _, gaps in lines)
        sides = sum(x1 <= x for _, x1 in long), sum(x0 >= x for x0, _ in long)
        found = parted + (sum(sides) if min(sides) >= MIN_SIDE_LINES else 0)
        if found > best:
            best, crossing = found, _n_crossing(lines, x)
    if best < MIN_LINES or crossing > 2 * best:
        return SINGLE
    return "double_column" if crossing <= 0.3 * best else "1andmore_column"


def _lines(glyphs: Iterable[Box]) -> list[list[Box]]:
    """Return the glyphs that stand beside each other, over the whole width of the page."""
    lines: list[list[Box]] = []
    bottom = float("-inf")
    for box in sorted(glyphs, key=lambda b: b.centre[1]):
        if box.centre[1] > bottom:
            lines.append([])
            bottom = box.centre[1] + LINE_PT
        lines[-1].append(box)
    return lines


def _gaps_of_lines(glyphs: Iterable[Box], fewest: int) -> list[LineGaps]:
    """Return the lines that have more than so many glyphs."""
    return [_gaps(sorted(line, key=lambda b: b.x0)) for line in _lines(glyphs) if len(line) > fewest]


def _gaps(line: Sequence[Box]) -> LineGaps:
    """Return the extent of a line of text without numbers at its ends, and the wide gaps in it."""
    gaps = []
    start, end = line[0].x0, line[0].x1
    for box in line[1:]:
        if box.x0 - end >= GUTTER_PT:
            gaps.append((end, box.x0))
        end = max(end, box.x1)
    if gaps and gaps[0][0] - start <= NUMBER_PT:
        start = gaps.pop(0)[1]
    if gaps and end - gaps[-1][1] <= NUMBER_PT:
        end = gaps.pop()[0]
    return (start, end), gaps


def line_style(marked: MarkedTable) -> str:
    """Return OmniDocBench's name for the lines of a table: all, some, those of a head and a frame, or
    none.
    """
    frame = marked.box.turned(marked.angle)
    flat = [(r.centre[1], r.x0, r.x1) for r in marked.rules if r.width > max(r.height, 2.0)]
    steep = [(r.centre[0], r.y0, r.y1) for r in marked.rules if r.height > r.width]
    across = _long_lines(flat, frame.width, gap=JOINT)
    down = _long_lines(steep, frame.height, gap=frame.height)  # other lines part them
    if not across and not down:
        return "less_line" if flat or steep else "wireless_line"
    if down >= marked.n_cols - 1 and across >= marked.n_rows - 1:
        return "full_line"
    return "less_line" if down or across > max(4, marked.n_rows // 2) else "fewer_line"


def _long_lines(pieces: Iterable[tuple[float, float, float]], whole: float, *, gap: float) -> int:
    """Count the places, to 1.5 points, where a line covers more than half of the `whole` of a table.

    A piece has a place, and reaches from somewhere to somewhere; pieces of a line are at most a `gap` apart.
    """
    lines: list[list[tuple[float, float]]] = []
    last = float("-inf")
    for place, start, end in sorted(pieces):
        if place - last > 1.5:
            lines.append([])
        lines[-1].append((start, end))
        last = place
    return sum(_longest(line, gap) > 0.5 * whole for line in lines)


def _longest(spans: Iterable[tuple[float, float]], gap: float) -> float:
    """Return the length of the longest line that pieces make; where they overlap, they count once."""
    longest = length = 0.0
    reached = float("-inf")
    for start, end in sorted(spans):
        length = (length if start - reached <= gap else 0.0) + max(0.0, end - max(start, reached))
        longest, reached = max(longest, length), max(reached, end)
    return longest
