"""What the elements of a structure tree say and where: their marked content, put together as it is read."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from statistics import median

from parsemark.formats.html.mathml import MathNode, read_mathml, write_latex
from parsemark.formats.html.tree import script
from parsemark.model import Box
from parsemark.pdf.document import Edges
from parsemark.pdf.marked import FORM, UNMARKED, OwnedPage, marked_page
from parsemark.pdf.tags import MATH, Content, StructureTag, TagTree
from parsemark.pdf.text import LONGEST_RAISED, is_raised, is_right_to_left

_GAPS = {"next": 0.4, "blank": 0.04, "apart": 0.12}
"""Shares of a line's height: glyphs that stand further apart are of two words. For those that follow each
other in the file, with a blank that its reader made up between them, and with other content between them."""
_BULLETS = dict(zip("\uf0b7\uf0a7\uf0d8\uf0fc\uf0e0\uf06f\uf076", "•▪➢✓→○❖", strict=True))
"""Signs of Symbol and Wingdings in the codes that Word gives them."""
INLINE = frozenset(
    {"Span", "Em", "Strong", "Quote", "Reference", "BibEntry", "Code", "Link", "Annot", "Ruby", "RB"}
    | {"RT", "RP", "Warichu", "WT", "WP", "Lbl", "Sub", "NonStruct", "Form"}
)
"""Roles that go on in the line of what is around them."""
_LABELLED = frozenset({"Note", "FENote", "LI"})
_JOINING = frozenset("+,-–−.()±/=*†‡§¶#")
"""Signs that are marked only beside letters or digits that are raised: alone nobody takes them for digits."""
_LONGEST_NUMBER = 40
_KEPT = 32  # pages that are held


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text on one page, as far as it is one run of marked content."""

    page: int
    text: str
    box: Box | None  # around its ink
    height: float  # of its highest glyph
    first: int
    last: int  # glyphs of the page
    breaks: bool = False  # whether it begins a paragraph


@dataclass
class DocumentContent:
    """The pages of a PDF, read when they are asked for."""

    pdf: Path
    tree: TagTree
    derivation: str = "structure tree"  # how what is read here was found
    owners: Mapping[int, Sequence[int]] | None = None
    """Those of glyphs, by page, where a source was laid onto the pages. Then artefacts are what stands at
    edges of pages, and nobody says so: heads of tables may, too."""
    _pages: dict[int, OwnedPage] = field(default_factory=dict)
    _places: dict[int, dict[int, list[int]]] = field(default_factory=dict)

    def page(self, number: int) -> OwnedPage:
        """Return a page with its marks."""
        if number not in self._pages:
            while len(self._pages) >= _KEPT:
                oldest = next(iter(self._pages))
                del self._pages[oldest], self._places[oldest]
            self._pages[number] = page = self.read_page(number)
            places: dict[int, list[int]] = {}
            for index, owner in enumerate(page.owners):
                places.setdefault(owner, []).append(index)
            self._places[number] = places
        return self._pages[number]

    def read_page(self, number: int) -> OwnedPage:
        """Read a page with its marks, or with what was laid onto it."""
        page = marked_page(self.pdf, number)
        if self.owners is None:
            return page
        shapes = tuple((UNMARKED, picture, box) for _, picture, box in page.shapes)
        owners = self.owners.get(number) or (UNMARKED,) * len(page.glyphs)
        return replace(page, owners=tuple(owners), shapes=shapes)

    @cached_property
    def parents(self) -> dict[int, int]:
        """Return the element that holds each one."""
        return {kid: k for k, tag in enumerate(self.tree.tags) for kid in tag.kids if isinstance(kid, int)}

    def walk(self, index: int, stop: Iterable[str] = ()) -> Iterator[tuple[int, StructureTag]]:
        """Yield an element and all below it in order; not below those of a role of `stop`, other than the
        first.
        """
        ends = frozenset(stop)
        work = [index]
        while work:
            here = work.pop()
            tag = self.tree.tags[here]
            yield here, tag
            if here == index or tag.role not in ends:
                work += [kid for kid in reversed(tag.kids) if isinstance(kid, int)]

    def contents(self, index: int) -> Iterator[Content]:
        """Yield all content below an element."""
        for _, tag in self.walk(index):
            yield from (kid for kid in tag.kids if isinstance(kid, Content))

    def glyphs_of(self, content: Content) -> list[int]:
        """Return the glyphs of a piece of content; in a form that does not say so, where the page has
        none.
        """
        self.page(content.page)
        places = self._places[content.page]
        return places.get(content.number) or places.get(content.number + FORM, [])

    def pieces(self, index: int, without: Sequence[str] = ()) -> list[TaggedText]:
        """Return the texts of an element in the order of the tree, without elements of the roles
        `without`.
        """
        found: list[TaggedText] = []
        run: list[Content] = []
        work: list[tuple[int | Content, bool]] = [(index, False)]
        breaks, in_math = True, self.tree.tags[index].role.startswith(MATH)

        def end_run(breaks_after: bool) -> None:
            nonlocal breaks
            own = self._run(run, breaks, in_math)
            found.extend(own)
            run.clear()
            breaks = breaks_after or (breaks and not own)

        while work:
            here, leaves = work.pop()
            if isinstance(here, Content):
                if run and run[-1].page != here.page:
                    end_run(False)
                run.append(here)
                continue
            tag = self.tree.tags[here]
            if leaves:
                end_run(True)
                continue
            if (here != index and tag.role in without) or tag.role == "Artifact":
                continue
            is_block = here != index and tag.role not in INLINE and not tag.role.startswith("math:")
            if tag.role == "Lbl" and self.tree.tags[self.parents.get(here, 0)].role in _LABELLED:
                is_block = True  # a note's mark, which stands close to its text
            if is_block:
                end_run(True)
                work.append((here, True))
            if tag.actual is not None:
                end_run(False)
                if (spoken := self._spoken(here, tag.actual, breaks)) is not None:
                    found.append(spoken)
                    breaks = False
                    continue
            work += [(kid, False) for kid in reversed(tag.kids)]
        end_run(False)
        return found

    def _run(self, run: Sequence[Content], breaks: bool, in_math: bool) -> list[TaggedText]:
        """Return contents of one page that follow each other; trees have those from right to left as they
        stand.
        """
        pieces = [piece for content in run if (piece := self._piece([content], in_math)) is not None]
        if len(pieces) > 1 and any(is_right_to_left(piece.text) for piece in pieces):
            pieces = [piece for piece in [self._piece(run, in_math)] if piece is not None]
        return [replace(piece, breaks=breaks and k == 0) for k, piece in enumerate(pieces)]

    def pieces_of(self, content: Content) -> list[TaggedText]:
        """Return the texts of content that shares its element with other content."""
        return self._run([content], False, False)

    def _piece(self, contents: Sequence[Content], in_math: bool) -> TaggedText | None:
        """Return the joint text of contents of a page, in the order of the page."""
        number = contents[0].page
        page = self.page(number)
        solid = sorted(k for c in contents for k in self.glyphs_of(c) if not page.glyphs[k].generated)
        if len(contents) > 1:  # of a script from right to left
            solid = _from_right(page, solid)
        return _made(number, page, self._text(page, solid, in_math), solid, False) if solid else None

    def _text(self, page: OwnedPage, solid: Sequence[int], in_math: bool) -> str:
        """Return the glyphs as text. Blanks that the reader made up count only where there is room for one.

        What is raised is marked as in cells of HTML; in formulas the tags say it.
        """
        text: list[str] = []
        raised: list[bool] = []
        for place, k in enumerate(solid):
            glyph = page.glyphs[k].text
            if place and needs_blank(page, solid[place - 1], k):
                text.append(" ")
                raised.append(False)
            after = page.glyphs[solid[place + 1]].text if place + 1 < len(solid) else ""
            divides = k in page.hyphens and after.islower() and "".join(text[-1:]).islower()
            text.append("" if divides else readable(glyph))
            raised.append(not in_math and _is_superscript(page, k))
        runs = groupby(zip(raised, text, strict=True), key=lambda part: part[0])
        joined = ((is_up, "".join(part for _, part in own)) for is_up, own in runs)
        return "".join(script("sup", said) if is_up else said for is_up, said in joined)

    def _spoken(self, index: int, text: str, breaks: bool) -> TaggedText | None:
        """Return the text that replaces an element's own glyphs."""
        own = [(c.page, k) for c in self.contents(index) for k in self.glyphs_of(c)]
        if not own:
            return None
        number = own[0][0]
        page = self.page(number)
        indices = [k for at, k in own if at == number]
        if not text.strip() and any(is_ink(page, k) for k in indices):
            text = " "  # a line break that is shown as a blank, and not glyphs that say nothing
        return _made(number, page, text, indices, breaks)

    def text(self, pieces: Sequence[TaggedText], between: str = " ") -> str:
        """Return pieces as one text, with `between` between paragraphs and single blanks elsewhere."""
        paragraphs: list[str] = []
        for k, piece in enumerate(pieces):
            if piece.breaks or not paragraphs:
                paragraphs.append(piece.text)
                continue
            before = pieces[k - 1]
            apart = before.page != piece.page or needs_blank(self.page(piece.page), before.last, piece.first)
            said = paragraphs[-1]
            if before.page == piece.page and before.last in self.page(piece.page).hyphens:
                divides = said[-2:-1].islower() and piece.text[:1].islower()
                said = said[:-1] if divides and said.endswith("-") else said
            paragraphs[-1] = said + (" " if apart else "") + piece.text
        trimmed = (" ".join(paragraph.split()) for paragraph in paragraphs)
        return between.join(paragraph for paragraph in trimmed if paragraph)

    def code(self, pieces: Sequence[TaggedText]) -> str:
        """Return pieces of code with their lines, each as far to the right as it stands."""
        if any("\n" in piece.text for piece in pieces):
            return "".join(piece.text for piece in pieces).strip("\n")
        lines: list[tuple[float, float, str]] = []
        widths: list[float] = []
        for piece in pieces:
            page = self.page(piece.page)
            for k in range(piece.first, piece.last + 1):
                if not is_ink(page, k):
                    lines[-1:] = [(*line[:2], line[2] + " ") for line in lines[-1:]]
                    continue
                left, top, right, bottom = page.advances[k]
                widths.append(right - left)
                if not lines or top > lines[-1][1]:
                    lines.append((left, (top + bottom) / 2, ""))
                lines[-1] = (*lines[-1][:2], lines[-1][2] + page.glyphs[k].text)
        first = min((left for left, _, _ in lines), default=0.0)
        width = median(widths) if widths and median(widths) > 0 else 1.0
        return "\n".join(
            " " * min(round((left - first) / width), 80) + " ".join(line.split()) for left, _, line in lines
        )

    def latex(self, index: int) -> str | None:
        """Return the LaTeX of a formula: of a file attached to it, or of its tags; None where none says
        it.
        """
        source = (self.tree.tags[index].source or "").strip()
        if source:
            return read_mathml(source) if source.startswith("<") else source
        math = next((k for k, tag in self.walk(index) if tag.role == f"{MATH}math"), None)
        return None if math is None else write_latex(self._math(math)) or None

    def _math(self, index: int) -> MathNode:
        tag = self.tree.tags[index]
        kids = [kid for kid in tag.kids if isinstance(kid, int)]
        own = "" if kids else self.text(self.pieces(index))
        return MathNode(tag.role.removeprefix(MATH), own, tuple(map(self._math, kids)))


def _made(number: int, page: OwnedPage, text: str, indices: Sequence[int], breaks: bool) -> TaggedText:
    boxes = [page.glyphs[k].box for k in indices if is_ink(page, k)]
    height = max((box.height for box in boxes), default=0.0)
    return TaggedText(number, text, hull(boxes), height, min(indices), max(indices), breaks)


def readable(glyphs: Iterable[str]) -> str:
    """Return glyphs as text, with the signs that symbols stand for."""
    return "".join(_BULLETS.get(glyph, glyph) for glyph in glyphs)


def is_ink(page: OwnedPage, index: int) -> bool:
    """Return whether a glyph is painted."""
    glyph = page.glyphs[index]
    return not glyph.generated and bool(glyph.text.strip())


def needs_blank(page: OwnedPage, left: int, right: int) -> bool:
    """Return whether a glyph begins another word than the one before it in its text."""
    if not page.glyphs[left].text.strip() or not page.glyphs[right].text.strip():
        return False  # there is one already
    if left in page.hyphens:
        return False  # what it divides goes on
    between = range(left + 1, right)
    made_up = left < right and all(page.glyphs[k].generated for k in between)
    kind = "apart" if not made_up else "blank" if between else "next"
    return _gap(page, left, right) > _GAPS[kind]


def _gap(page: OwnedPage, left: int, right: int) -> float:
    """Return how far a glyph is from the one before it in its text, in heights of their line."""
    (start, top, end, bottom), (begin, upper, stop, lower) = page.advances[left], page.advances[right]
    if page.reads_from_right:  # the digits of a number are beside their neighbours as a whole
        start, stop = _edge_of_number(page, left, -1), _edge_of_number(page, right, 1)
    if min(bottom, lower) <= max(top, upper):
        return math.inf  # the next line
    gap = max(begin - end, start - stop)  # whatever the direction of the script
    return gap / max(bottom - top, lower - upper)


def _edge_of_number(page: OwnedPage, index: int, way: int) -> float:
    """Return the far edge of what is read from left to right: up to a glyph (-1), or from it on (1)."""
    k, edge = index, page.advances[index]
    for _ in range(_LONGEST_NUMBER):
        k += way
        if not 0 <= k < len(page.glyphs) or not is_ink(page, k) or is_right_to_left(page.glyphs[k].text):
            break
        near = page.advances[k]
        if abs(near[0] - edge[2] if way > 0 else edge[0] - near[2]) > _GAPS["next"] * (edge[3] - edge[1]):
            break
        edge = near
    return edge[2] if way > 0 else edge[0]


def _from_right(page: OwnedPage, solid: Sequence[int]) -> list[int]:
    """Return glyphs in the order of their line where a reader takes a raised mark for a line of its own."""
    lines: list[list[int]] = []
    for k in solid:
        if not lines or any(page.glyphs[j].text in "\r\n" for j in range(lines[-1][-1] + 1, k)):
            lines.append([])
        lines[-1].append(k)
    for at in range(1, len(lines)):
        one, other = (Box.hull(Box(*page.advances[k]) for k in lines[j]) for j in (at - 1, at))
        shared = min(one.y1, other.y1) - max(one.y0, other.y0)
        if shared > min(one.height, other.height) / 2 and other.x0 >= one.x1 - _GAPS["apart"] * other.height:
            ends = max((n for n, k in enumerate(lines[at], start=1) if is_ink(page, k)), default=0)
            lines[at - 1 : at + 1] = [lines[at][:ends], lines[at - 1]]
    return [k for line in lines for k in line]


def _is_superscript(page: OwnedPage, index: int) -> bool:
    """Return whether a glyph is a superscript of the word before it; signs between others are if one of these
    is.
    """
    text = page.glyphs[index].text
    if text not in _JOINING:
        return (text.isdigit() or text.islower()) and _is_up(page, index)
    if not _is_up(page, index):
        return False
    for way in (1, -1):
        k, last = index, index + way * LONGEST_RAISED
        while k != last and 0 <= k < len(page.glyphs) and page.glyphs[k].text in _JOINING:
            k += way
        if 0 <= k < len(page.glyphs) and page.glyphs[k].text not in _JOINING and _is_superscript(page, k):
            return True
    return False


def _is_up(page: OwnedPage, index: int) -> bool:
    """Return whether a glyph is smaller and higher than those before it in its word, or than those behind it.

    A mark of a note may have a blank behind it.
    """

    def beside(way: int) -> Iterator[tuple[str, Edges, Edges]]:
        last = k = index
        may_skip = way > 0
        while 0 <= (k := k + way) < len(page.glyphs):
            if not is_ink(page, k):
                if page.glyphs[k].generated or may_skip:
                    continue
                return
            pair = min(last, k), max(last, k)
            if needs_blank(page, *pair):
                if not may_skip or _gap(page, *pair) > _GAPS["next"]:
                    return
                may_skip = False
            yield page.glyphs[k].text, page.glyphs[k].box.as_tuple(), page.advances[k]
            last = k

    glyph = page.glyphs[index]
    known = glyph.text, glyph.box.as_tuple(), page.advances[index]
    return is_raised(*known, beside(-1)) or is_raised(*known, beside(1))


def hull(boxes: Iterable[Box]) -> Box | None:
    """Return the box around all; None where there is none."""
    listed = list(boxes)
    return Box.hull(listed) if listed else None
