"""Running heads and page numbers: lines at the edges of a page, which dropping is fine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from parsemark.errors import PdfError
from parsemark.pdf.document import Edges, open_page

_BAND, _DEEP, _APART = 0.12, 0.2, 0.8
"""Of the page's height, at its top and at its end: where running heads and page numbers stand; how far in
they may be if a gap of so many heights of the line parts them from the text."""
_OUTER_ROWS = 2  # rows of a page's top, or end, that may be parted so
_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|p\.?)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of|von)\s*\d{1,4})?\W*", re.I
)


def edge_of(y0: float, y1: float, height: float) -> Literal["head", "foot"] | None:
    """Return the edge of the page at which something stands from y0 to y1; None for content within."""
    return "head" if y1 < _BAND * height else "foot" if y0 > (1 - _BAND) * height else None


@lru_cache(maxsize=512)
def _bands(pdf: Path, page_number: int, _modified: int) -> frozenset[str]:
    """Return the lines at top and end of a page, as running heads are compared."""
    with open_page(pdf, page_number) as page:
        text, found = page.get_textpage(), set[str]()
        left, bottom, right, top = page.get_bbox()
        band = _DEEP * (top - bottom)
        for low, high in ((bottom, bottom + band), (top - band, top)):
            content = text.get_text_bounded(left, low, right, high)
            found.update(map(_line_key, content.splitlines()))
        text.close()
    return frozenset(found - {""})


def _line_key(line: str) -> str:
    return re.sub(r"\d+", "#", "".join(line.split())).casefold()


LayerWord = tuple[
    str, Edges, int, bool, str
]  # text, place, number of its line, whether it is shown, and font


def running_lines(pdf: Path, page_number: int, words: Sequence[LayerWord], height: float) -> set[int]:
    """Return page numbers, and lines at top or end that neighbouring pages have too."""
    lines: dict[int, list[LayerWord]] = {}
    for word in words:
        if word[3] and word[2] >= 0:
            lines.setdefault(word[2], []).append(word)
    edges, outermost = _edge_lines(
        {k: (min(w[1][1] for w in own), max(w[1][3] for w in own)) for k, own in lines.items()}, height
    )
    texts = {line: " ".join(word[0] for word in lines[line]) for line in edges}
    found = {line for line in edges & outermost if _PAGE_NUMBER.fullmatch(texts[line])}
    for number in (page_number - 1, page_number + 1, page_number - 2, page_number + 2):
        if number < 1 or found == edges:
            continue
        try:
            others = _bands(pdf, number, pdf.stat().st_mtime_ns)
        except PdfError:
            continue  # there is no such page
        found |= {line for line in edges if _line_key(texts[line]) in others}
    return found


def _edge_lines(heights: Mapping[int, tuple[float, float]], height: float) -> tuple[set[int], set[int]]:
    """Return lines in the bands at top and end, or separated from the text by a gap; and those of the
    outermost rows.

    Of each line top and end are given, and then the height of the page.
    """
    edges = {k for k, (y0, y1) in heights.items() if edge_of(y0, y1, height)}
    rows: list[tuple[float, float, set[int]]] = []
    for line, (y0, y1) in sorted(heights.items(), key=lambda item: item[1]):
        if y1 - y0 > _BAND * height:
            continue  # turned text, beside many rows
        if rows and y0 < (rows[-1][0] + rows[-1][1]) / 2:
            rows[-1] = rows[-1][0], max(rows[-1][1], y1), rows[-1][2] | {line}
        else:
            rows.append((y0, y1, {line}))
    from_end = [(height - y1, height - y0, own) for y0, y1, own in reversed(rows)]
    for ordered in (rows, from_end):
        for (y0, y1, own), (below, *_) in list(pairwise(ordered))[:_OUTER_ROWS]:
            if y1 > _DEEP * height or below - y1 < _APART * (y1 - y0):
                break
            edges |= own
    return edges, rows[0][2] | rows[-1][2] if rows else set()
