"""What each page of a document must have, and how such a document is drawn: a stream of text, and tables."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from parsemark_makers.synthetic import blocks as draw
from parsemark_makers.synthetic.document import Block, DocumentDraft, SheetDraft, TableBlock
from parsemark_makers.synthetic.language import vocabulary
from parsemark_makers.synthetic.looks import draw_look, draw_table_look
from parsemark_makers.synthetic.pieces import EMPTY
from parsemark_makers.synthetic.table_draft import TableDraft

LONG_ROWS = 150  # drawn for a table over pages; as many are kept as end on its last page


def stream(*identity: str | int) -> random.Random:
    """Return a generator seeded by what it is for: the same identity gives the same numbers on every machine.

    One for each concern, so that a change in one place leaves the others as they were.
    """
    digest = hashlib.sha256(":".join(map(str, identity)).encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


@dataclass(frozen=True, slots=True)
class PagePlan:
    """What one page must have."""

    tables: int
    rotated: bool = False


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """What one document must have."""

    name: str
    pages: tuple[PagePlan, ...]
    columns: int
    language: str
    long: bool  # one table runs over all pages

    def simpler(self) -> DocumentPlan:
        """Return a plan with as many pages with and without tables, but nothing else that could keep them
        from being set.
        """
        pages = tuple(PagePlan(min(page.tables, 1)) for page in self.pages)
        return replace(self, pages=pages, columns=1, long=False)


class PlannedDrawer:
    """Draws one document of a plan, with a stream of random numbers for each concern."""

    def __init__(self, plan: DocumentPlan, lines: dict[str, float], *identity: str | int) -> None:
        self.plan, self.lines, self.stream = plan, lines, partial(stream, *identity)
        self.look = draw_look(self.stream("look"), "latex", plan.columns)

    def draw(self) -> DocumentDraft:
        """Return the document, with more text than its pages take."""
        rng = self.stream("head")
        pages = self.plan.pages
        if self.plan.long:
            sheets = (SheetDraft(1, (self._long_table(),)), *(SheetDraft() for _ in pages[1:]))
        else:
            sheets = tuple(SheetDraft(p.tables, tuple(self._tables(i, p))) for i, p in enumerate(pages))
        return DocumentDraft(
            self.plan.name,
            "report",
            self.plan.language,
            self.look,
            tuple(self._texts(2 if self.plan.long else len(pages))),
            rng.choice(vocabulary(self.plan.language).running_heads),
            first_page=rng.choice([1, 1, rng.randint(2, 300)]),
            sheets=sheets,
        )

    def _texts(self, pages: int) -> Iterator[Block]:
        rng, language = self.stream("text"), self.plan.language
        for section in range(1, pages * self.look.columns * 3 + 1):
            yield draw.section_heading(rng, language, section)
            for _ in range(rng.randint(1, 3)):
                yield draw.paragraph_block(rng, language, rich=True)
                extra = rng.random()
                if extra < 0.15:
                    yield draw.list_block(rng, language)
                elif extra < 0.3:
                    yield draw.formula_block(rng)
                elif extra < 0.4:
                    yield draw.figure_block(rng, language, self.look.figures)
            yield draw.paragraph_block(rng, language, 1, rich=True)

    def _tables(self, index: int, page: PagePlan) -> Iterator[TableBlock]:
        """Yield the wanted tables of a page, then smaller ones in case those do not fit."""
        if not page.tables:
            return
        rng = self.stream("tables", index)
        sizes = [self._table_size(rng, page) for _ in range(page.tables)]
        spare = max(1, page.tables // 2)
        sizes += [(rng.randint(2, limit), rng.randint(2, 4)) for limit in (8, 4) for _ in range(spare)]
        for rows, cols in sizes:
            block = self._block(rng, draw.table_draft(rng, self.plan.language, rows, cols))
            yield replace(block, rotate=rng.choice([90, 270]) if page.rotated else 0)

    def _table_size(self, rng: random.Random, page: PagePlan) -> tuple[int, int]:
        if page.rotated:
            return rng.randint(4, 25), rng.randint(5, 15)
        many = {1: 60, 2: 25, 3: 14}.get(page.tables, 6)
        rows = rng.choice([rng.randint(2, 5), rng.randint(4, min(14, many)), rng.randint(4, many)])
        if self.look.columns == 2 and (rng.random() < 0.7 or page.tables > 3):
            return rows, rng.randint(2, 5)
        return rows, rng.choice([rng.randint(2, 5), rng.randint(3, 9), rng.randint(5, 15)])

    def _block(self, rng: random.Random, draft: TableDraft) -> TableBlock:
        look = draw_table_look(rng, self.look, "latex", n_cols=draft.n_cols, lines=self.lines)
        return draw.captioned(rng, self.plan.language, draft, look, below=self.look.caption_below)

    def _long_table(self) -> TableBlock:
        rng = self.stream("tables", 0)
        draft = draw.table_draft(rng, self.plan.language, LONG_ROWS, rng.randint(3, 6), vary=False)
        block = self._block(rng, draft)
        caption = block.caption if block.caption.runs else draw.table_caption(rng, self.plan.language)
        return replace(block, caption=caption, caption_below=False, notes=EMPTY, long=True)
