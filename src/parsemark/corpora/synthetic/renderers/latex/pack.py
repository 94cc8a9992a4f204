"""Packs measured blocks onto pages."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from parsemark.corpora.synthetic.document import Block, DocumentDraft, SheetDraft, TableBlock, TextBlock
from parsemark.corpora.synthetic.renderers.latex.writer import GAP_INSIDE, LatexWriter, gap
from parsemark.errors import LatexError
from parsemark.model import Category

SMALLEST_SCALE = 0.6
LOOK_AHEAD = 10  # how many blocks are tried for the rest of a column before it is left free
SPARE = 4.0  # height that is kept free, for what measuring cannot see
BELOW_HEADING = 60.0  # room that a heading must have below it


@dataclass(frozen=True, slots=True)
class Size:
    """Of a box, in points; `height` includes the depth."""

    width: float
    height: float


@dataclass(frozen=True)
class SheetPlan:
    """What goes where on one page."""

    wide: tuple[Block, ...]  # over all columns, at the top
    columns: tuple[tuple[Block, ...], ...]

    def blocks(self) -> list[Block]:
        """In reading order."""
        return [*self.wide, *(block for column in self.columns for block in column)]


class Packer:
    """Fills the pages of one document from its texts, in order."""

    def __init__(self, draft: DocumentDraft, sizes: Mapping[str, Size], rng: random.Random) -> None:
        self.look, self.sizes, self.rng = draft.look, sizes, rng
        self.texts = list(draft.blocks)
        self.writer = LatexWriter(draft)

    def fit_table(self, block: TableBlock, height: float) -> tuple[TableBlock, bool, float] | None:
        """A table scaled to fit into a height, whether it takes all columns, and its own height; or None."""
        natural = self.sizes[self.writer.natural(block)]
        width, tall = (natural.height, natural.width) if block.rotate else (natural.width, natural.height)
        wide = self.look.columns > 1 and width > self.look.column_width
        room = self.look.text_width if wide else self.look.column_width
        beside = sum(self.sizes[unit].height + GAP_INSIDE for unit in self.writer.beside(0, block, room))
        free = height - beside - gap(self.look) - SPARE
        scale = min(1.0, room / width, free / tall)
        if free <= 0 or scale < SMALLEST_SCALE:
            return None
        scale = 1.0 if scale > 0.999 else scale * 0.995
        return replace(block, scale=scale), wide, beside + gap(self.look) + tall * scale

    def page(self, sheet: SheetDraft, *, all_tables: bool) -> SheetPlan:
        """A page with the wanted tables (at least one, if not all must be there), and text in the rest."""
        look = self.look
        free = [look.text_height] * look.columns
        wide: list[Block] = []
        placed: list[list[Block]] = [[] for _ in range(look.columns)]
        count = 0
        for block in sheet.tables:
            if count == sheet.wanted:
                break
            column = max(range(look.columns), key=lambda c: free[c])
            fitted = self.fit_table(block, min(free)) or self.fit_table(block, max(free))
            if fitted is None or (fitted[1] and fitted[2] > min(free)):
                continue
            table, across, height = fitted
            count += 1
            if across:
                wide.append(table)
                free = [room - height for room in free]
            else:
                placed[column].append(table)
                free[column] -= height
        if count < (sheet.wanted if all_tables else min(1, sheet.wanted)):
            raise LatexError(f"Only {count} of {sheet.wanted} tables fit on a page.")
        columns = [self._mix(self.take(room), tables) for tables, room in zip(placed, free, strict=True)]
        return SheetPlan(tuple(wide), tuple(map(tuple, columns)))

    def in_order(self) -> list[SheetPlan]:
        """Pages of one column with all blocks in the order of the draft."""
        pages: list[list[Block]] = [[]]
        room = self.look.text_height - SPARE
        for text in self.texts:
            block: Block = text
            if isinstance(text, TableBlock):
                fitted = self.fit_table(text, self.look.text_height)
                if fitted is None:
                    raise LatexError("A table is too large for a page.")
                block, _, height = fitted
            else:
                height = self.height(text)
            if height + (BELOW_HEADING if _is_heading(block) else 0.0) > room and pages[-1]:
                pages.append([])
                room = self.look.text_height - SPARE
            pages[-1].append(block)
            room -= height
        return [SheetPlan((), (tuple(page),)) for page in pages]

    def height(self, block: Block) -> float:
        """Height of a block with the gap that follows it, and of its footnote."""
        units = self.writer.in_column(block)
        return sum(self.sizes[unit].height for unit in units) + GAP_INSIDE * (len(units) - 1) + gap(self.look)

    def take(self, room: float) -> list[Block]:
        """Blocks from the front of the texts, as many as fit."""
        taken: list[Block] = []
        room -= SPARE
        index = 0
        while index < min(LOOK_AHEAD, len(self.texts)) and room > 12:
            block = self.texts[index]
            height = self.height(block)
            if height + (BELOW_HEADING if _is_heading(block) else 0.0) > room:
                index += 1
                continue
            taken.append(self.texts.pop(index))
            room -= height
        while taken and _is_heading(taken[-1]):
            taken.pop()
        return taken

    def _mix(self, texts: list[Block], tables: Sequence[Block]) -> list[Block]:
        mixed = list(texts)
        for table in tables:
            places = [i for i in range(len(mixed) + 1) if i == 0 or not _is_heading(mixed[i - 1])]
            mixed.insert(self.rng.choice(places), table)
        return mixed


def _is_heading(block: Block) -> bool:
    return isinstance(block, TextBlock) and block.category == Category.TITLE


def boxes_to_measure(draft: DocumentDraft, tables: Iterable[TableBlock]) -> list[str]:
    """All boxes whose size must be known before a document can be packed."""
    writer, look = LatexWriter(draft), draft.look
    found: list[str] = []
    for block in (*draft.blocks, *tables):
        if isinstance(block, TableBlock):
            found.append(writer.natural(block))
            for width in (look.column_width, look.text_width):
                found += writer.beside(0, block, width)
        else:
            found += writer.in_column(block)
    return list(dict.fromkeys(found))
