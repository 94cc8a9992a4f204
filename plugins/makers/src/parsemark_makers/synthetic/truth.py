"""Joins a draft (content, order) with where a renderer says it stands: the truth of its pages.

Renderers give areas: of blocks, and the slot of each cell. The box of an element is the hull of the ink in
its area, read from the finished PDF; so all renderers mean the same by a box, and none is trusted further.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from parsemark.corpora.check import check_page
from parsemark.errors import MakingError
from parsemark.formats import write_table
from parsemark.model import AttributeValue, Box, Category, Element, Page, Relation, Sample, Table
from parsemark.pdf import PageInk, count_pages, page_ink
from parsemark_makers.synthetic.document import Block, DocumentDraft, FormulaBlock, TableBlock, TextBlock

WITHOUT_ORDER = frozenset({Category.PAGE_FOOTNOTE, Category.HEADER, Category.FOOTER, Category.PAGE_NUMBER})
REACH = 2.5  # how far ink may stick out of its area: descenders below a line's box, half of a rule. Points
BESIDE_TABLE = {"caption": Category.TABLE_CAPTION, "notes": Category.TABLE_FOOTNOTE}
TEXT_ATTRIBUTES = {"text_background": "white", "text_rotate": "normal"}
FORMULA_ATTRIBUTES = {"formula_type": "print", "equation_language": "equation_en"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a renderer put something.

    Keys: `0` is a block, `0.caption`, `0.notes` and `0.note` stand beside it, `0.2.1` is its cell in row 2,
    column 1, `head` and `number` are those of a page.
    """

    key: str
    page: int  # from 1
    box: Box


@dataclass(frozen=True)
class Rendered:
    """A document that was set."""

    draft: DocumentDraft  # as it was set: blocks in reading order
    pdf: Path
    places: tuple[Place, ...]
    source: bytes | None = None  # the document in the renderer's own format, where parsers read that too
    source_suffix: str = ""
    table_latex: Callable[[TableBlock], str] | None = None
    """Writes a table, or a part of one, as LaTeX, where that is what set it."""


def locate(rendered: Rendered, *, maker: str) -> tuple[Sample, ...]:
    """Return the pages of a document with their truth.

    MakingError if anything has no place or covers another, or `corpus check` would find a disagreement.
    """
    draft = rendered.draft
    places: dict[int, dict[str, Box]] = defaultdict(dict)
    for place in rendered.places:
        known = places[place.page].get(place.key)
        places[place.page][place.key] = place.box if known is None else Box.hull([known, place.box])
    keys = {place.key for place in rendered.places}
    if missing := next((key for key in _keys(draft) if key not in keys), None):
        raise MakingError(f"{draft.name}: {missing} was not set.")
    parts: Counter[int] = Counter()
    samples = []
    for number in range(1, count_pages(rendered.pdf) + 1):
        ink = page_ink(rendered.pdf, number)
        page = _PageTruth(rendered, ink, places[number], number, parts).page(maker)
        samples.append(Sample(page.id, draft.name, number, page, rendered.pdf))
        figures = check_page(samples[-1], ink)
        for problem in (*figures.problems, *figures.disagreements):
            raise MakingError(problem)
        if outside := figures.glyphs - figures.glyphs_inside:
            raise MakingError(f"{page.id}: {outside} glyphs stick out of their cells.")
    return tuple(samples)


def _keys(draft: DocumentDraft) -> Iterator[str]:
    """Yield the keys of everything that must have a place."""
    for index, block in enumerate(draft.blocks):
        if isinstance(block, TableBlock):
            yield from (f"{index}.{row}.{col}" for row, col in block.layout.cells)
            yield from (f"{index}.{part}" for part in block.parts if part != "table")
        else:
            yield str(index)


class _PageTruth:
    def __init__(
        self, rendered: Rendered, ink: PageInk, places: dict[str, Box], number: int, parts: Counter[int]
    ) -> None:
        self.rendered, self.draft = rendered, rendered.draft
        self.ink, self.places, self.number, self.parts = ink, places, number, parts
        self.where = f"{self.draft.name}, page {number}"
        self.elements: list[Element] = []
        self.relations: list[Relation] = []
        self.text_attributes = {**TEXT_ATTRIBUTES, "text_language": f"text_{self.draft.language}"}
        self._order = 0
        self._glyphs = _by_area([g.box for g in ink.glyphs], places)

    def page(self, maker: str) -> Page:
        for index, block in enumerate(self.draft.blocks):
            if isinstance(block, TableBlock):
                self._table_block(index, block)
            elif str(index) in self.places:
                self._block(index, block)
        if "head" in self.places:
            category = Category.FOOTER if self.draft.look.head == "foot" else Category.HEADER
            self._text("head", category, self.draft.running_head)
        if "number" in self.places:
            self._text("number", Category.PAGE_NUMBER, str(self.draft.first_page + self.number - 1))
        frame = Box(0, 0, self.ink.width, self.ink.height)
        for element in self.elements:
            if element.box is not None and not frame.contains(element.box):
                raise MakingError(f"{self.where}: a {element.category} leaves the page.")
        if (overlap := first_overlap(self.elements)) is not None:
            raise MakingError(f"{self.where}: {overlap}")
        size = (round(self.ink.width, 2), round(self.ink.height, 2))
        name = f"{self.draft.name}-p{self.number}"
        return Page(name, *size, tuple(self.elements), tuple(self.relations), self._attributes(maker))

    def _attributes(self, maker: str) -> dict[str, AttributeValue]:
        look, tables = self.draft.look, [e for e in self.elements if e.category == Category.TABLE]
        own: dict[str, AttributeValue] = {}
        if look.document_class:
            own = {"document_class": look.document_class, "font": look.font, "line_spacing": look.spread}
        return {
            "data_source": "synthetic",
            "maker": maker,
            "kind": self.draft.kind,
            "language": self.draft.language,
            "layout": "double_column" if look.columns == 2 else "single_column",
            "fuzzy_scan": False,
            "watermark": False,
            "colorful_background": False,
            "rotated": any(bool(e.attributes.get("rotated")) for e in tables),
            "long": any(bool(e.attributes.get("long")) for e in tables),
            "font_size": look.size,
            "paper": look.paper,
            **own,
        }

    def _block(self, index: int, block: Block) -> None:
        if isinstance(block, TextBlock):
            self._text(str(index), block.category, block.text)
            if block.note.runs:
                self._text(f"{index}.note", Category.PAGE_FOOTNOTE, block.note.text)
            return
        box = self._hull(self.places[str(index)])
        if isinstance(block, FormulaBlock):
            category, said = Category.EQUATION_CAPTION, {"latex": block.latex}
            head = self._append(Category.EQUATION_ISOLATED, box, attributes=FORMULA_ATTRIBUTES, **said)
        else:
            category, head = Category.FIGURE_CAPTION, self._append(Category.FIGURE, box)
        if block.caption.runs:
            caption = self._text(f"{index}.caption", category, block.caption.text)
            self.relations.append(Relation("parent_son", head.id, caption.id))

    def _table_block(self, index: int, block: TableBlock) -> None:
        keys = {at: f"{index}.{at[0]}.{at[1]}" for at in block.layout.cells}
        slots = {at: self.places[key] for at, key in keys.items() if key in self.places}
        if not slots:
            return
        made = dict[str, Element]()
        for part in block.parts:
            if part == "table":
                made[part] = self._table(index, block, slots)
            elif (key := f"{index}.{part}") in self.places:
                made[part] = self._text(key, BESIDE_TABLE[part], getattr(block, part).text)
        at = list(made).index("table")
        element, sons = made.pop("table"), list(made.values())
        for son in (*sons[at:], *sons[:at]):  # those below it first
            self.relations.append(Relation("parent_son", element.id, son.id))

    def _table(self, index: int, block: TableBlock, slots: dict[tuple[int, int], Box]) -> Element:
        """Return the table, or the part of it that stands on this page, which is a table of its own."""
        attributes = block.attributes(self.draft.language)
        rows = sorted({row for row, _ in slots})
        present, whole = set(rows), len(slots) == len(block.layout.cells)
        if any(c.row in present and c.row + c.rowspan - 1 not in present for c in block.table.cells):
            raise MakingError(f"{self.where}: a merged cell runs over pages.")
        if not whole or block.long:
            self.parts[index] += 1
            attributes = {**attributes, "long": True, "part": self.parts[index]}
        shown = block if whole else replace(block, layout=block.layout.part(rows))
        if len(slots) != len(shown.table.cells):
            raise MakingError(f"{self.where}: cells of a table were not set together.")
        box = self._hull(self.places.get(str(index)) or Box.hull(slots.values()))
        boxes = {(rows.index(row), col): slot.clipped(box).rounded() for (row, col), slot in slots.items()}
        cells = tuple(replace(c, box=boxes[c.row, c.col]) for c in shown.table.cells)
        return self._append(
            Category.TABLE,
            box,
            latex=None if self.rendered.table_latex is None else self.rendered.table_latex(shown),
            html=write_table(shown.table, "html"),
            table=Table(shown.table.n_rows, shown.table.n_cols, cells),
            attributes=attributes,
        )

    def _text(self, key: str, category: Category, text: str) -> Element:
        inside = self._glyphs[key] if key in self.places else []
        if not inside:
            raise MakingError(f"{self.where}: a {category} has no ink.")
        return self._append(category, Box.hull(inside), text=text, attributes=self.text_attributes)

    def _hull(self, area: Box) -> Box:
        inside = _by_area(self.ink.boxes, {"": area.expanded(REACH / 2)}, reach=1e-9)[""]
        if not inside:
            raise MakingError(f"{self.where}: a table, figure or formula has no ink.")
        return Box.hull(inside)

    def _append(self, category: Category, box: Box, **content: Any) -> Element:
        order = None
        if category not in WITHOUT_ORDER:
            order, self._order = self._order, self._order + 1
        element = Element(str(len(self.elements) + 1), category, box.rounded(), order, **content)
        self.elements.append(element)
        return element


def first_overlap(elements: Sequence[Element]) -> str | None:
    """Return a description of the first element that covers another by more than a twentieth, or None."""
    boxed = [(e.category, e.box) for e in elements if e.box is not None]
    for index, (one, box) in enumerate(boxed):
        for other, other_box in boxed[index + 1 :]:
            if box.intersection_area(other_box) > 0.05 * min(box.area, other_box.area):
                return f"A {one} and a {other} overlap."
    return None


def _by_area(boxes: Sequence[Box], areas: dict[str, Box], reach: float = REACH) -> dict[str, list[Box]]:
    """Group the boxes by the area that they stand in, or nearest to, if that is within reach."""
    found: dict[str, list[Box]] = {key: [] for key in areas}
    if not boxes or not areas:
        return found
    keys = list(areas)
    edges = np.array([areas[key].as_tuple() for key in keys])
    own = np.array([box.as_tuple() for box in boxes])
    x, y = (own[:, 0, None] + own[:, 2, None]) / 2, (own[:, 1, None] + own[:, 3, None]) / 2
    beside = np.maximum(edges[:, 0] - x, x - edges[:, 2])
    above = np.maximum(edges[:, 1] - y, y - edges[:, 3])
    distances = np.maximum(np.maximum(beside, above), 0.0)
    nearest = distances.argmin(axis=1)
    for box, area, distance in zip(boxes, nearest, distances.min(axis=1), strict=True):
        if distance < reach:
            found[keys[area]].append(box)
    return found
