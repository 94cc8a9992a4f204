"""Joins a story (content, order) with where a renderer says it stands: the truth of its pages.

Renderers give areas: of blocks, and the slot of each cell. The box of an element is the hull of the ink in
its area, read from the finished PDF; so all makers mean the same by a box, and none is trusted further.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parsemark.corpora.synthetic.story import BarFigure, Story, TableBlock, TextBlock, text_attributes
from parsemark.errors import MakingError
from parsemark.formats.write import write_table
from parsemark.model import AttributeValue, Box, Category, Element, Page, Relation, Sample, Table
from parsemark.pdf import PageInk, page_ink
from parsemark.pdf.document import count_pages

WITHOUT_ORDER = frozenset({Category.PAGE_FOOTNOTE, Category.HEADER, Category.FOOTER, Category.PAGE_NUMBER})
REACH = 2.5
"""How far ink may stick out of its area: descenders below a line's box, half of a rule. Points."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a renderer put something.

    Keys: `0` is a block, `0.caption` and `0.notes` stand beside it, `0.2.1` is its cell in row 2, column 1,
    `head` and `number` are those of a page.
    """

    key: str
    page: int
    """From 1."""
    box: Box


@dataclass(frozen=True)
class Rendered:
    """A document that was set."""

    pdf: Path
    places: tuple[Place, ...]
    source: bytes | None = None
    """The document in the maker's own format, where parsers read that too."""
    source_suffix: str = ""


def locate(story: Story, rendered: Rendered, *, maker: str) -> tuple[Sample, ...]:
    """The pages of a story with their truth; MakingError if anything has no place or covers another."""
    places: dict[int, dict[str, Box]] = defaultdict(dict)
    for place in rendered.places:
        known = places[place.page].get(place.key)
        places[place.page][place.key] = place.box if known is None else Box.hull([known, place.box])
    missing = _missing(story, {place.key for place in rendered.places})
    if missing:
        raise MakingError(f"{story.name}: {missing[0]} was not set.")
    pages = []
    for number in range(1, count_pages(rendered.pdf) + 1):
        ink = page_ink(rendered.pdf, number)
        pages.append(_PageTruth(story, ink, places[number], number).page(maker))
    return tuple(
        Sample(page.id, story.name, index + 1, page, rendered.pdf) for index, page in enumerate(pages)
    )


def _missing(story: Story, keys: set[str]) -> list[str]:
    wanted = []
    for index, block in enumerate(story.blocks):
        if isinstance(block, TableBlock):
            wanted += [f"{index}.{row}.{col}" for row, col in block.layout.cells]
            wanted += [f"{index}.{part}" for part in ("caption", "notes") if getattr(block, part).runs]
        else:
            wanted.append(str(index))
    return [key for key in wanted if key not in keys]


class _PageTruth:
    def __init__(self, story: Story, ink: PageInk, places: dict[str, Box], number: int) -> None:
        self.story, self.ink, self.places, self.number = story, ink, places, number
        self.elements: list[Element] = []
        self.relations: list[Relation] = []
        self.text_attributes = text_attributes(story.language)
        self._order = 0
        self._glyphs = _by_area([g.box for g in ink.glyphs], places)

    def page(self, maker: str) -> Page:
        for index, block in enumerate(self.story.blocks):
            if isinstance(block, TextBlock) and str(index) in self.places:
                self._text(str(index), block.category, block.text)
            elif isinstance(block, TableBlock):
                self._table_block(index, block)
            elif isinstance(block, BarFigure) and str(index) in self.places:
                figure = self._append(Category.FIGURE, self._hull(self.places[str(index)]))
                caption = self._text(f"{index}.caption", Category.FIGURE_CAPTION, block.caption.text)
                self.relations.append(Relation("parent_son", figure.id, caption.id))
        if "head" in self.places:
            self._text("head", Category.HEADER, self.story.running_head)
        if "number" in self.places:
            self._text("number", Category.PAGE_NUMBER, str(self.number))
        overlap = first_overlap(self.elements)
        if overlap is not None:
            raise MakingError(f"{self.story.name}, page {self.number}: {overlap}")
        return Page(
            f"{self.story.name}-p{self.number}",
            round(self.ink.width, 2),
            round(self.ink.height, 2),
            tuple(self.elements),
            tuple(self.relations),
            self._attributes(maker),
        )

    def _attributes(self, maker: str) -> dict[str, AttributeValue]:
        look, tables = self.story.look, [e for e in self.elements if e.category == Category.TABLE]
        return {
            "data_source": "synthetic",
            "maker": maker,
            "kind": self.story.kind,
            "language": self.story.language,
            "layout": "double_column" if look.columns == 2 else "single_column",
            "fuzzy_scan": False,
            "watermark": False,
            "colorful_background": False,
            "rotated": False,
            "long": any(bool(e.attributes.get("long")) for e in tables),
            "font_size": look.size,
            "paper": look.paper,
        }

    def _table_block(self, index: int, block: TableBlock) -> None:
        slots = {
            (row, col): self.places[f"{index}.{row}.{col}"]
            for row, col in block.layout.cells
            if f"{index}.{row}.{col}" in self.places
        }
        if not slots:
            return
        attributes = block.attributes(self.story.language)
        whole = len(slots) == len(block.layout.cells)
        if not whole or block.long:
            attributes = {**attributes, "long": True}
        above = below = None
        if f"{index}.caption" in self.places and not block.caption_below:
            above = self._text(f"{index}.caption", Category.TABLE_CAPTION, block.caption.text)
        rows = sorted({row for row, _ in slots})
        present = set(rows)
        if any(c.row in present and c.row + c.rowspan - 1 not in present for c in block.table.cells):
            raise MakingError(f"{self.story.name}, page {self.number}: a merged cell runs over pages.")
        table = block.table if whole else rows_of(block.table, rows)
        rank = {row: position for position, row in enumerate(rows)}
        by_place = {(rank[row], col): box for (row, col), box in slots.items()}
        element = self._table(table, by_place, attributes)
        if f"{index}.notes" in self.places:
            below = self._text(f"{index}.notes", Category.TABLE_FOOTNOTE, block.notes.text)
            self.relations.append(Relation("parent_son", element.id, below.id))
        if f"{index}.caption" in self.places and block.caption_below:
            above = self._text(f"{index}.caption", Category.TABLE_CAPTION, block.caption.text)
        if above is not None:
            self.relations.append(Relation("parent_son", element.id, above.id))

    def _table(
        self, table: Table, slots: dict[tuple[int, int], Box], attributes: dict[str, AttributeValue]
    ) -> Element:
        if len(slots) != len(table.cells):
            raise MakingError(
                f"{self.story.name}, page {self.number}: cells of a table were not set together."
            )
        box = self._hull(Box.hull(slots.values()))
        cells = tuple(replace(c, box=rounded(_clipped(slots[c.row, c.col], box))) for c in table.cells)
        placed = Table(table.n_rows, table.n_cols, cells)
        return self._append(
            Category.TABLE, box, table=placed, html=write_table(table, "html"), attributes=attributes
        )

    def _text(self, key: str, category: Category, text: str) -> Element:
        inside = self._glyphs[key]
        if not inside:
            raise MakingError(f"{self.story.name}, page {self.number}: a {category} has no ink.")
        return self._append(category, Box.hull(inside), text=text, attributes=self.text_attributes)

    def _hull(self, area: Box) -> Box:
        inside = [b for b in self.ink.boxes if _centre_inside(b, area.expanded(REACH / 2))]
        if not inside:
            raise MakingError(f"{self.story.name}, page {self.number}: a table or figure has no ink.")
        return Box.hull(inside)

    def _append(
        self,
        category: Category,
        box: Box,
        *,
        text: str | None = None,
        html: str | None = None,
        table: Table | None = None,
        attributes: dict[str, AttributeValue] | None = None,
    ) -> Element:
        order = None
        if category not in WITHOUT_ORDER:
            order, self._order = self._order, self._order + 1
        name = str(len(self.elements) + 1)
        element = Element(
            name, category, rounded(box), order, text, None, html, table, attributes=attributes or {}
        )
        self.elements.append(element)
        return element


def rows_of(table: Table, rows: Sequence[int]) -> Table:
    """Some rows of a table, as a table of its own."""
    rank = {row: index for index, row in enumerate(rows)}
    cells = (replace(c, row=rank[c.row]) for c in table.cells if c.row in rank)
    return Table(len(rank), table.n_cols, tuple(cells))


def rounded(box: Box) -> Box:
    """To hundredths of a point, the precision of the truth."""
    return Box(*(round(v, 2) for v in box.as_tuple()))


def first_overlap(elements: Sequence[Element]) -> str | None:
    """What covers something else by more than a twentieth, or None."""
    boxed = [(e.category, e.box) for e in elements if e.box is not None]
    for index, (one, box) in enumerate(boxed):
        for other, other_box in boxed[index + 1 :]:
            if box.intersection_area(other_box) > 0.05 * min(box.area, other_box.area):
                return f"A {one} and a {other} overlap."
    return None


def _clipped(slot: Box, frame: Box) -> Box:
    """The slot without what lies outside of the table's ink."""
    x0, x1 = (min(max(x, frame.x0), frame.x1) for x in (slot.x0, slot.x1))
    y0, y1 = (min(max(y, frame.y0), frame.y1) for y in (slot.y0, slot.y1))
    return Box(x0, y0, x1, y1)


def _by_area(boxes: Iterable[Box], areas: dict[str, Box]) -> dict[str, list[Box]]:
    """Each box with the area that it stands in, or nearest to, if that is within reach."""
    found: dict[str, list[Box]] = {key: [] for key in areas}
    for box in boxes:
        x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        distances = ((_distance(x, y, area), key) for key, area in areas.items())
        distance, key = min(distances, default=(REACH, ""))
        if distance < REACH:
            found[key].append(box)
    return found


def _distance(x: float, y: float, area: Box) -> float:
    return max(area.x0 - x, x - area.x1, area.y0 - y, y - area.y1, 0.0)


def _centre_inside(box: Box, frame: Box) -> bool:
    return _distance((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, frame) == 0
