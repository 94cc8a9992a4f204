"""Joins what the generator knows (content, order) with what the marks say (where it stands)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from parsemark.corpora.latex.marks import MarkedPage, MarkedTable
from parsemark.corpora.latex.synthetic.page_units import Shown, Unit
from parsemark.corpora.latex.synthetic.typeset import FOOTER, FURNITURE, HEADER, PAGE_NUMBER
from parsemark.corpora.synthetic.located import WITHOUT_ORDER, first_overlap, rounded, rows_of
from parsemark.errors import LatexError
from parsemark.formats.write import write_table
from parsemark.model import AttributeValue, Box, Category, Element, Page, Relation, Table

_FURNITURE = {HEADER: Category.HEADER, FOOTER: Category.FOOTER, PAGE_NUMBER: Category.PAGE_NUMBER}


class PageElements:
    """Collects the elements of one page."""

    def __init__(self, marks: MarkedPage, attributes: dict[str, AttributeValue]) -> None:
        self.marks = marks
        self.attributes = attributes
        self.elements: list[Element] = []
        self.relations: list[Relation] = []
        self._order = 0
        self._parents: list[tuple[int, str]] = []

    def add_group(self, units: Sequence[tuple[Unit, list[int]]]) -> None:
        """All elements of a group, tied to the table, figure or formula they belong to."""
        members: list[tuple[Shown, Element]] = []
        for unit, ids in units:
            for shown, number in zip(unit.shown, ids, strict=True):
                members.append((shown, self._add(shown, number)))
        heads = [element for shown, element in members if shown.parent is None]
        for shown, element in members:
            if shown.parent is not None and heads:
                self.relations.append(Relation("parent_son", heads[0].id, element.id))

    def add_long_part(
        self, shown: Shown, marked: MarkedTable, first: int, part: int, caption: str | None
    ) -> int:
        """A part of a long table; returns the first body row of the next part."""
        assert shown.content is not None and shown.content.header_rows is not None
        head = shown.content.header_rows
        rows = marked.n_rows - head
        table = rows_of(shown.content.table, [*range(head), *range(head + first, head + first + rows)])
        attributes = {**shown.attributes, "long": True, "part": part}
        element = self._table(replace(shown, attributes=attributes), table, marked, marked.box)
        if caption is not None:
            self.relations.append(Relation("parent_son", element.id, caption))
        return first + rows

    def add_furniture(self, texts: dict[int, str], text_attributes: dict[str, AttributeValue]) -> None:
        """Running head, foot and page number."""
        for kind, text in sorted(texts.items()):
            box = next((b for i, b in self.marks.blocks.items() if i >= FURNITURE and i % 10 == kind), None)
            if box is None:
                raise LatexError(f"The {_FURNITURE[kind]} of page {self.marks.number} was not set.")
            self._append(_FURNITURE[kind], box, text=text, attributes=text_attributes)

    def page(self, sample_id: str) -> Page:
        """The finished truth; raises if anything leaves the page or covers something else."""
        frame = Box(0, 0, self.marks.width, self.marks.height)
        for element in self.elements:
            if element.box is not None and not frame.contains(element.box):
                raise LatexError(f"A {element.category} leaves the page.")
        overlap = first_overlap(self.elements)
        if overlap is not None:
            raise LatexError(overlap)
        size = (round(self.marks.width, 2), round(self.marks.height, 2))
        return Page(sample_id, *size, tuple(self.elements), tuple(self.relations), self.attributes)

    def _add(self, shown: Shown, number: int) -> Element:
        box = self.marks.blocks.get(number)
        if box is None:
            raise LatexError(f"A {shown.category} of page {self.marks.number} has no ink.")
        if shown.content is not None:
            marked = max(self.marks.tables, key=lambda t: t.box.intersection_area(box))
            return self._table(shown, shown.content.table, marked, box)
        return self._append(
            shown.category, box, text=shown.text, latex=shown.latex, attributes=shown.attributes
        )

    def _table(self, shown: Shown, table: Table, marked: MarkedTable, box: Box) -> Element:
        placed = with_boxes(table, marked)
        return self._append(
            shown.category,
            box,
            latex=shown.latex,
            html=write_table(table, "html"),
            table=placed,
            attributes=shown.attributes,
        )

    def _append(
        self,
        category: Category,
        box: Box,
        *,
        attributes: dict[str, AttributeValue],
        text: str | None = None,
        latex: str | None = None,
        html: str | None = None,
        table: Table | None = None,
    ) -> Element:
        order = None
        if category not in WITHOUT_ORDER:
            order = self._order
            self._order += 1
        identifier = str(len(self.elements) + 1)
        element = Element(
            identifier, category, rounded(box), order, text, latex, html, table, attributes=attributes
        )
        self.elements.append(element)
        return element


def with_boxes(table: Table, marked: MarkedTable) -> Table:
    """The table with TeX's boxes; raises if TeX's grid is another one."""
    boxes = {(c.row, c.col, c.rowspan, c.colspan): c.box for c in marked.cells}
    wanted = {(c.row, c.col, c.rowspan, c.colspan) for c in table.cells}
    if (table.n_rows, table.n_cols) != (marked.n_rows, marked.n_cols) or wanted != set(boxes):
        odd = sorted(wanted ^ set(boxes))[:3]
        raise LatexError(f"The grid of a table differs from TeX's own at {odd}.")
    cells = tuple(replace(c, box=rounded(boxes[c.row, c.col, c.rowspan, c.colspan])) for c in table.cells)
    return Table(table.n_rows, table.n_cols, cells)
