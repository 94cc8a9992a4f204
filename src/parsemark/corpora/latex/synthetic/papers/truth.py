"""From the marks of words and boxes to the truth of pages: parts of texts, reading order, relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from parsemark.corpora.latex.marks import MarkedPage
from parsemark.corpora.latex.synthetic.papers.furniture import FURNITURE, PAGE, Furniture
from parsemark.corpora.latex.synthetic.papers.tokens import PaperBlock
from parsemark.corpora.latex.synthetic.truth import with_boxes
from parsemark.corpora.synthetic.located import WITHOUT_ORDER, first_overlap, rounded, rows_of
from parsemark.corpora.synthetic.story import text_attributes
from parsemark.errors import LatexError
from parsemark.formats.write import write_table
from parsemark.model import AttributeValue, Box, Category, Element, Page, Relation

FLOATS = frozenset(
    {
        Category.TABLE,
        Category.TABLE_CAPTION,
        Category.TABLE_FOOTNOTE,
        Category.FIGURE,
        Category.FIGURE_CAPTION,
        Category.CODE_ALGORITHM,
        Category.CODE_TXT,
        Category.CODE_ALGORITHM_CAPTION,
    }
)
OVER = 8.0
"""Points by which a table over pages may be wider than the text."""
UNORDERED = WITHOUT_ORDER | {Category.ABANDON}


@dataclass
class BlockPart:
    """The part of a block that stands in one column of one page."""

    block: int
    box: Box
    text: str = ""
    index: int = 0
    """Which part of its block."""
    column: int = 0
    is_wide: bool = False
    rows: range | None = None
    """Of the body of a table that runs over pages."""


@dataclass
class PageParts:
    """What stands on one page."""

    marks: MarkedPage
    flow: list[BlockPart] = field(default_factory=list)
    floats: list[BlockPart] = field(default_factory=list)


def find_parts(blocks: Sequence[PaperBlock], pages: Sequence[MarkedPage], columns: int) -> list[PageParts]:
    """Where each block stands; LatexError if a word of it has no ink."""
    found = [PageParts(marks) for marks in pages]
    places: dict[int, list[tuple[int, Box]]] = {}
    for index, marks in enumerate(pages):
        for number, box in marks.blocks.items():
            places.setdefault(number, []).append((index, box))
    for index, block in enumerate(blocks):
        if block.is_long:
            _add_long_parts(index, block, found)
            continue
        for page, part in _parts(index, block, places, pages, columns):
            (found[page].floats if block.category in FLOATS else found[page].flow).append(part)
    return found


def _add_long_parts(index: int, block: PaperBlock, found: Sequence[PageParts]) -> None:
    """The parts of a table over pages, which is the last that TeX began."""
    assert block.content is not None and block.content.header_rows is not None
    last = max((table.id for page in found for table in page.marks.tables), default=0)
    first = parts = 0
    for page in found:
        for marked in (table for table in page.marks.tables if table.id == last):
            rows = range(first, first + marked.n_rows - block.content.header_rows)
            page.floats.append(BlockPart(index, marked.box, index=parts, rows=rows))
            first, parts = rows.stop, parts + 1
    widest = max(part.box.x1 for page in found for part in page.flow) if any(p.flow for p in found) else 0.0
    if any(part.box.x1 > widest + OVER for page in found for part in page.floats if part.rows is not None):
        raise LatexError("A long table is wider than the text.")
    if first != block.content.table.n_rows - block.content.header_rows:
        raise LatexError("The parts of a long table do not add up.")


def _parts(
    index: int,
    block: PaperBlock,
    places: dict[int, list[tuple[int, Box]]],
    pages: Sequence[MarkedPage],
    columns: int,
) -> list[tuple[int, BlockPart]]:
    made: list[tuple[int, BlockPart]] = []
    boxes: list[Box] = []
    texts: list[str] = []
    at: tuple[int, int] | None = None
    last: Box | None = None

    def close() -> None:
        if at is not None:
            made.append((at[0], BlockPart(index, Box.hull(boxes), "".join(texts), len(made), at[1])))

    for offset in range(block.count):
        seen = places.get(block.first + offset)
        if not seen:
            raise LatexError(f"A word of a {block.category} has no ink.")
        if len({page for page, _ in seen}) > 1:
            raise LatexError(f"A word of a {block.category} stands on two pages.")
        page, box = seen[0]
        side = 0 if columns == 1 or block.is_wide else int((box.x0 + box.x1) > pages[page].width)
        jumps = not block.is_turned and last is not None and box.y0 < last.y0 - 3 * (last.height + 4)
        if at is None or (page, side) != at or jumps:
            close()
            boxes, texts, at = [], [], (page, side)
        token = block.tokens[offset] if offset < len(block.tokens) else None
        if token is not None:
            texts.append((token.before if texts else "") + token.text)
        boxes.append(box)
        last = box
    close()
    for _, part in made:
        part.is_wide = block.is_wide
    return made


def page_truth(
    parts: PageParts, blocks: Sequence[PaperBlock], furniture: Furniture, number: int, sample_id: str,
    attributes: dict[str, AttributeValue], scaled: frozenset[int],
) -> Page:  # fmt: skip
    """The truth of one page; raises if anything leaves the page or covers something else."""
    marks = parts.marks
    elements: list[Element] = []
    relations: list[Relation] = []
    names: dict[tuple[int, int], str] = {}
    order = 0
    for part in _reading_order(parts, blocks):
        block = blocks[part.block]
        identifier = str(len(elements) + 1)
        has_order = block.category not in UNORDERED
        elements.append(_element(identifier, part, block, marks, order if has_order else None, scaled))
        order += has_order
        names[part.block, part.index] = identifier
    places = {e.id: e.order for e in elements}
    for (index, part_index), identifier in names.items():
        parent = blocks[index].parent
        if parent is not None and (parent, 0) in names:
            relations.append(Relation("parent_son", names[parent, 0], identifier))
        if (index, part_index + 1) in names:
            following = names[index, part_index + 1]
            before, after = places[identifier], places[following]
            is_next = before is None or after is None or after == before + 1
            # with a float between them, the parts are read apart
            relations.append(Relation("truncated" if is_next else "continued", identifier, following))
    text = text_attributes(str(attributes.get("language", "english")))
    for position, piece in enumerate(furniture.sheet(number).pieces()):
        box = marks.blocks.get(FURNITURE + number * 10 + position)
        if box is None:
            raise LatexError(f"The {piece.category} of page {number} was not set.")
        shown = piece.text.replace(PAGE, str(number))
        elements.append(
            Element(str(len(elements) + 1), piece.category, rounded(box), None, shown, attributes=text)
        )
    if furniture.stamp is not None and FURNITURE + 9 in marks.blocks:
        box = rounded(marks.blocks[FURNITURE + 9])
        turned: dict[str, AttributeValue] = {**text, "text_rotate": "rotate90"}
        elements.append(
            Element(str(len(elements) + 1), Category.ABANDON, box, None, furniture.stamp, attributes=turned)
        )
    _check(elements, marks)
    size = (round(marks.width, 2), round(marks.height, 2))
    return Page(sample_id, *size, tuple(elements), tuple(relations), attributes)


def _check(elements: Sequence[Element], marks: MarkedPage) -> None:
    frame = Box(0, 0, marks.width, marks.height)
    for element in elements:
        if element.box is not None and not frame.contains(element.box):
            raise LatexError(f"A {element.category} leaves the page.")
    overlap = first_overlap(elements)
    if overlap is not None:
        raise LatexError(overlap)


def _element(
    identifier: str,
    part: BlockPart,
    block: PaperBlock,
    marks: MarkedPage,
    order: int | None,
    scaled: frozenset[int],
) -> Element:
    attributes = dict(block.attributes)
    if block.content is None:
        text = part.text or None
        return Element(
            identifier, block.category, rounded(part.box), order, text, block.latex, attributes=attributes
        )
    marked = max(marks.tables, key=lambda t: t.box.intersection_area(part.box))
    table = block.content.table
    if part.rows is not None:
        head = block.content.header_rows or 0
        table = rows_of(table, [*range(head), *(head + row for row in part.rows)])
        attributes |= {"long": True, "part": part.index + 1}
    else:
        attributes["scaled"] = block.first in scaled
    return Element(
        identifier, block.category, rounded(part.box), order, None, block.latex,
        write_table(table, "html"), with_boxes(table, marked), attributes=attributes,
    )  # fmt: skip


def _reading_order(parts: PageParts, blocks: Sequence[PaperBlock]) -> list[BlockPart]:
    """Flowing text as it flows; each float before the first text of its column that stands below it."""
    ordered = list(parts.flow)
    for group in _float_groups(parts.floats, blocks):
        top = min(part.box.y0 for part in group)
        wide = any(part.is_wide for part in group)
        column = max(part.column for part in group)
        same = [
            i for i, part in enumerate(ordered)
            if (wide or part.is_wide or part.column == column) and blocks[part.block].category not in FLOATS
        ]  # fmt: skip
        below = [
            i for i in same if ordered[i].box.y0 >= top and blocks[ordered[i].block].category not in UNORDERED
        ]
        place = below[0] if below else (same[-1] + 1 if same else (0 if column == 0 else len(ordered)))
        turned = any(blocks[part.block].is_turned for part in group)  # these are read from the left
        ordered[place:place] = sorted(group, key=lambda part: (0.0 if turned else part.box.y0, part.box.x0))
    return ordered


def _float_groups(floats: Sequence[BlockPart], blocks: Sequence[PaperBlock]) -> list[list[BlockPart]]:
    """Captions and notes with what they belong to, from the top of the page to its end."""
    groups: dict[int, list[BlockPart]] = {}
    for part in floats:
        parent = blocks[part.block].parent
        groups.setdefault(part.block if parent is None else parent, []).append(part)
    return sorted(groups.values(), key=lambda group: min(part.box.y0 for part in group))
