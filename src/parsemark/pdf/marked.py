"""What is painted on a page by the numbers under which a structure tree knows it (marked content)."""

import ctypes
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

from parsemark.errors import PdfError
from parsemark.model import Box
from parsemark.pdf.child import in_child
from parsemark.pdf.document import Edges, open_page, to_page_edges
from parsemark.pdf.text import (
    LINE_END_HYPHEN,
    Glyph,
    PackedGlyphs,
    character_codes,
    is_right_to_left,
    pack_glyphs,
    unpack_glyphs,
)

UNMARKED = -1  # owner of what no element can name
ARTEFACT = -2  # owner of what is no content: running heads, rules, backgrounds
FORM = 1 << 40  # added to the number of content inside of a form that counts for itself
_MAX_OBJECTS = 500_000
_MAX_DEPTH = 12
_REACH = 30.0  # points around a table in which its own lines lie
_BESIDE = 12.0  # points between the words of a table and the rules above and below them
_THIN = 3.0  # points of what is a line and no fill
_SAME = 1.0  # points between two pieces of one line
_MAX_INNER = 500  # lines beside a table inside of another one that are looked at


@dataclass(frozen=True)
class OwnedPage:
    """The glyphs and the other painted objects of a page, each with the number of its marked content."""

    width: float
    height: float
    glyphs: tuple[Glyph, ...]  # with the blanks that the reader made up
    owners: tuple[int, ...]  # of each glyph; a blank that was made up has that of the glyph before it
    advances: tuple[Edges, ...]
    """Where the line goes on behind each glyph: its place with the room that its font gives it."""
    hyphens: frozenset[int]  # glyphs that divide a word at the end of a line
    shapes: tuple[tuple[int, bool, Box], ...]  # owner, whether it is a picture, and place of what is no text

    @cached_property
    def reads_from_right(self) -> bool:
        """Return whether any letter of it is of a script from right to left."""
        return any(is_right_to_left(glyph.text) for glyph in self.glyphs)

    def drawn_near(self, box: Box) -> list[Box]:
        """Return lines and fills around a place, pictures apart."""
        return [s for _, picture, s in self.shapes if not picture and box.expanded(_REACH).holds_centre(s)]

    def ruled_frame(self, words: Box) -> Box:
        """Return the place of a table with what is drawn around its words; of other words nothing is in it.

        What crosses the words belongs to them as far as it goes. A line beside them does if it is near and as
        long as they are wide, or high: the rules above and below a table without a grid.
        """
        inked = (glyph.box for glyph in self.glyphs if glyph.text.strip() and not glyph.generated)
        others = [box.centre for box in inked if not words.holds_centre(box)]
        wide = Box(0, words.y0, self.width, words.y1).expanded(_BESIDE)
        lines = self._lines_in(wide)
        found, before = words, None
        while found != before:
            before = found
            for shape in lines:
                crosses = found.intersection_area(_solid(shape)) > 0
                if not found.contains(shape) and (crosses or _runs_along(found, shape)):
                    grown = Box.hull((found, shape))
                    if not any(grown.x0 < x < grown.x1 and grown.y0 < y < grown.y1 for x, y in others):
                        found = grown
        return found

    def _lines_in(self, area: Box) -> list[Box]:
        """Return lines and fills that cross an area, pieces of a line as one."""
        drawn = (s for _, picture, s in self.shapes if not picture)
        return _merged([s for s in drawn if area.intersection_area(_solid(s)) > 0])

    def inner_frame(self, words: Box) -> Box:
        """Return the same of a table inside of another one, whose own lines are next to it.

        On each side, the first lines are taken and those that double them, as far as they are closed there.
        """
        groups: list[list[Box]] = []
        for line in map(_solid, self._lines_in(words.expanded(_BESIDE))[:_MAX_INNER]):
            touched = [own for own in groups if any(_touch(line, other) for other in own)]
            groups = [own for own in groups if own not in touched] + [[line, *chain(*touched)]]
        found = words
        for own in sorted(map(Box.hull, groups), key=attrgetter("area")):
            edges = zip(found.as_tuple(), words.as_tuple(), (-1, -1, 1, 1), strict=True)
            reach = Box(*(at + way * (_BESIDE if at == first else _THIN) for at, first, way in edges))
            found = Box.hull((found, own)) if reach.contains(own) else found
        return found


def _solid(shape: Box) -> Box:
    """Return a line, however thin, with an area."""
    return shape.expanded(0.05)


def _touch(one: Box, other: Box) -> bool:
    """Return whether lines or frames meet; one inside of the other does not."""
    is_inside = one.contains(other, -_SAME) or other.contains(one, -_SAME)
    return one.intersection_area(other) > 0 and not is_inside


def _runs_along(frame: Box, line: Box) -> bool:
    """Return whether a line stands beside a frame, no longer than it by much and no shorter."""
    for low, high, start, stop, begin, end in (
        (line.x0, line.x1, frame.x0, frame.x1, line.y0 - frame.y1, frame.y0 - line.y1),
        (line.y0, line.y1, frame.y0, frame.y1, line.x0 - frame.x1, frame.x0 - line.x1),
    ):
        shared = min(high, stop) - max(low, start)
        is_long = shared >= 0.9 * (stop - start) and high - low <= stop - start + 2 * _BESIDE
        if is_long and max(begin, end) <= _BESIDE:
            return True
    return False


def _merged(shapes: Sequence[Box]) -> list[Box]:
    """Return shapes with the pieces of a line as one: borders are drawn cell by cell."""
    found: list[Box] = []
    for at, start, stop, thickness in (("y0", "x0", "x1", "height"), ("x0", "y0", "y1", "width")):
        where, begin, end, thick = map(attrgetter, (at, start, stop, thickness))
        lines: list[list[Box]] = []
        for s in sorted((s for s in shapes if thick(s) < _THIN), key=where):
            if not lines or where(s) - where(lines[-1][0]) > _SAME:
                lines.append([])
            lines[-1].append(s)
        for line in lines:
            joined: list[Box] = []
            for s in sorted(line, key=begin):
                goes_on = joined and begin(s) - end(joined[-1]) < _THIN
                joined[-1:] = [Box.hull((joined[-1], s))] if goes_on else [*joined[-1:], s]
            found += joined
    return found + [s for s in shapes if min(s.width, s.height) >= _THIN]


def marked_page(pdf: Path, page_number: int) -> OwnedPage:
    """Read a page with its marks."""
    width, height, packed, owners, advances, hyphens, shapes = _marked(pdf, page_number)
    edges = iter(array("d", advances))
    rooms = tuple(zip(edges, edges, edges, edges, strict=True))
    glyphs = unpack_glyphs(packed), tuple(array("q", owners)), rooms, frozenset(hyphens)
    placed = tuple((owner, picture, Box(*place)) for owner, picture, place in shapes)
    return OwnedPage(width, height, *glyphs, placed)


Shape = tuple[int, bool, Edges]


@in_child(cpu_s=60)
def _marked(
    pdf: Path, page_number: int
) -> tuple[float, float, PackedGlyphs, bytes, bytes, list[int], list[Shape]]:
    from pypdfium2 import raw

    with open_page(pdf, page_number) as page:
        by_object: dict[int, int] = {}
        shapes: list[Shape] = []
        edges = [ctypes.c_float() for _ in range(4)]
        for item, kind, owner in _owned(page):
            if kind == raw.FPDF_PAGEOBJ_TEXT:
                by_object[address_of(item)] = owner
            elif raw.FPDFPageObj_GetBounds(item, *edges):
                left, bottom, right, top = (e.value for e in edges)
                place = to_page_edges(page, left, bottom, right, top)
                shapes.append((owner, kind == raw.FPDF_PAGEOBJ_IMAGE, place))
        text = page.get_textpage()
        owners, advances, hyphens = array("q"), array("d"), []
        room = raw.FS_RECTF()
        for index, code in character_codes(text):
            item = raw.FPDFText_GetTextObject(text, index)
            known = owners[-1] if owners else UNMARKED
            if code == LINE_END_HYPHEN:
                hyphens.append(len(owners))
            owners.append(by_object.get(address_of(item), UNMARKED) if item else known)
            raw.FPDFText_GetLooseCharBox(text, index, room)
            advances.extend(to_page_edges(page, room.left, room.bottom, room.right, room.top))
        text.close()
        width, height = page.get_size()
        return width, height, pack_glyphs(page), owners.tobytes(), advances.tobytes(), hyphens, shapes


def address_of(item: Any) -> int:
    """Return the address that identifies an object of pdfium."""
    return ctypes.cast(item, ctypes.c_void_p).value or 0


def _owned(page: Any) -> Iterator[tuple[Any, int, int]]:
    """Yield each object that is no form with its kind and its owner: the innermost number that holds it."""
    from pypdfium2 import raw

    whole = (raw.FPDFPage_GetObject(page, k) for k in range(raw.FPDFPage_CountObjects(page)))
    levels: list[tuple[Iterator[Any], int]] = [(whole, UNMARKED)]
    n = 0
    while levels:
        items, outer = levels[-1]
        item = next(items, None)
        if item is None:
            levels.pop()
            continue
        if (n := n + 1) > _MAX_OBJECTS:
            raise PdfError(f"A page has more than {_MAX_OBJECTS:,} objects; it is not read.")
        own = _mark(item)
        owner = outer if own == UNMARKED else own + FORM if own >= 0 and len(levels) > 1 else own
        kind = raw.FPDFPageObj_GetType(item)
        if kind != raw.FPDF_PAGEOBJ_FORM:
            yield item, kind, owner
        elif len(levels) <= _MAX_DEPTH:
            inside = [raw.FPDFFormObj_GetObject(item, k) for k in range(raw.FPDFFormObj_CountObjects(item))]
            levels.append((iter(inside), owner))


def _mark(item: Any) -> int:
    """Return the number of the innermost mark that has one, or says that this is an artefact."""
    from pypdfium2 import raw

    value, size = ctypes.c_int(), ctypes.c_ulong()
    name = ctypes.create_string_buffer(32)
    for index in range(raw.FPDFPageObj_CountMarks(item) - 1, -1, -1):
        mark = raw.FPDFPageObj_GetMark(item, index)
        if raw.FPDFPageObjMark_GetParamIntValue(mark, b"MCID", value):
            return value.value if value.value >= 0 else UNMARKED
        words = ctypes.cast(name, ctypes.POINTER(raw.FPDF_WCHAR))
        is_named = raw.FPDFPageObjMark_GetName(mark, words, len(name), size) and size.value <= len(name)
        if is_named and name.raw[: max(size.value - 2, 0)].decode("utf-16-le", "replace") == "Artifact":
            return ARTEFACT
    return UNMARKED
