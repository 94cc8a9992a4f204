"""Draws documents: reports in any language, and what offices print."""

import random
from collections.abc import Sequence
from dataclasses import replace

from parsemark_makers.synthetic import blocks as draw
from parsemark_makers.synthetic import table_kinds
from parsemark_makers.synthetic.document import Block, DocumentDraft, TableBlock, with_numbers
from parsemark_makers.synthetic.language import heading, vocabulary
from parsemark_makers.synthetic.looks import FULL, Look, TableLook, draw_look, draw_table_look
from parsemark_makers.synthetic.pieces import Piece, plain
from parsemark_makers.synthetic.table_draft import TableDraft, lay_out


class DocumentDrawer:
    """Draws one document in the looks of a family of renderers (`flow` or `latex`)."""

    def __init__(self, rng: random.Random, name: str, language: str, pages: float, family: str) -> None:
        self.rng, self.name, self.language, self.pages, self.family = rng, name, language, pages, family
        self.words = vocabulary(language)
        self.look = draw_look(rng, family)

    def report(self, long: bool = False) -> DocumentDraft:
        """Return a report: title, authors, sections of text with tables, lists and figures, a running
        head.
        """
        rng, language = self.rng, self.language
        blocks: list[Block] = [draw.heading_block(rng.choice(self.words.titles), 0)]
        if rng.random() < 0.7:
            names = self.words.list_mark.join(rng.sample(self.words.people, k=rng.randint(1, 3)))
            blocks.append(draw.text_block(plain(names)))
        for section in range(1, max(2, round(self.pages * 2.2)) + 1):
            blocks += [draw.section_heading(rng, language, section), draw.paragraph_block(rng, language)]
            extra = rng.random()
            if extra < 0.65:
                blocks.append(draw.paragraph_block(rng, language, see=True))
                rows, cols = rng.choice([3, 4, 5, 6, 8, 10, 12]), rng.choice([3, 4, 5, 6])
                blocks.append(self._captioned(draw.table_draft(rng, language, rows, cols)))
            elif extra < 0.8:
                blocks.append(draw.list_block(rng, language))
            elif extra < 0.92:
                blocks.append(draw.figure_block(rng, language, self.look.figures))
            blocks.append(draw.paragraph_block(rng, language))
        if long:
            inventory = table_kinds.inventory(rng, language, rng.randint(45, 70), rng.randint(4, 6))
            blocks.insert(-1, replace(self._captioned(inventory, below=False), long=True))
        head = rng.choice(self.words.running_heads) if rng.random() < 0.7 else ""
        return self._document("report", self.look, blocks, head)

    def invoice(self) -> DocumentDraft:
        """Return an invoice: sender, receiver, number and date, the positions, terms of payment."""
        rng, lists = self.rng, self.words.lists
        look = replace(self.look, serif=False, justified=False)
        values = (
            f"{rng.randint(2022, 2024)}-{rng.randint(100, 9999)}",
            self._date(),
            f"K{rng.randint(1000, 9999)}",
        )
        draft = table_kinds.invoice(rng, self.language, rng.randint(3, 10))
        blocks: list[Block] = [
            draw.text_block(plain(rng.choice(lists["suppliers"])).bold(), *self._address()),
            draw.text_block(plain(rng.choice(self.words.people)), *self._address()),
            draw.heading_block(self.words.words["invoice"], 0),
            draw.text_block(*_facts(lists["invoice_fields"], values)),
            TableBlock(lay_out(draft), replace(self._table_look(look, draft), full_width=True)),
            draw.text_block(plain(rng.choice(lists["terms_of_payment"]))),
        ]
        return self._document("invoice", look, blocks, "", page_numbers=rng.random() < 0.5)

    def form(self) -> DocumentDraft:
        """Return a form that was filled in: boxes with labels, and text between them."""
        rng, lists = self.rng, self.words.lists
        look = replace(self.look, serif=False)
        blocks: list[Block] = [
            draw.heading_block(rng.choice(lists["form_titles"]), 0),
            draw.paragraph_block(rng, self.language),
        ]
        for section in range(rng.randint(1, 3)):
            draft = table_kinds.form(rng, self.language, rng.randint(2, 6))
            table_look = replace(self._table_look(look, draft), full_width=True, line=FULL)
            blocks += [
                draw.heading_block(f"{'ABC'[section]}. {rng.choice(lists['form_parts'])}", 1),
                TableBlock(lay_out(draft), table_look),
                draw.paragraph_block(rng, self.language),
            ]
        return self._document("form", look, blocks, "")

    def statement(self) -> DocumentDraft:
        """Return a financial report: statements with totals, comments between them."""
        rng, language = self.rng, self.language
        blocks: list[Block] = [
            draw.heading_block(rng.choice(self.words.titles), 0),
            draw.paragraph_block(rng, language),
        ]
        for _ in range(max(1, round(self.pages * 1.4))):
            draft = table_kinds.finance(rng, language, rng.randint(6, 16), rng.randint(3, 6))
            blocks += [
                draw.heading_block(heading(rng, language), 1),
                draw.paragraph_block(rng, language),
                self._captioned(draft),
                draw.paragraph_block(rng, language),
            ]
        return self._document("statement", self.look, blocks, rng.choice(self.words.running_heads))

    def laboratory(self) -> DocumentDraft:
        """Return a laboratory's report on one sample: who, when, results with reference ranges."""
        rng, lists = self.rng, self.words.lists
        look = replace(self.look, serif=False)
        values = (rng.choice(self.words.people), self._date(), f"L{rng.randint(10_000, 99_999)}")
        draft = table_kinds.laboratory(rng, self.language, rng.randint(6, 16))
        table_look = replace(self._table_look(look, draft), full_width=rng.random() < 0.7)
        blocks: list[Block] = [
            draw.heading_block(self.words.words["laboratory"], 0),
            draw.text_block(*_facts(lists["laboratory_fields"], values)),
            TableBlock(lay_out(draft), table_look, notes=plain(lists["laboratory_notes"][0])),
            draw.paragraph_block(rng, self.language),
        ]
        return self._document("laboratory", look, blocks, rng.choice(self.words.running_heads))

    def _document(
        self, kind: str, look: Look, blocks: list[Block], head: str, *, page_numbers: bool = True
    ) -> DocumentDraft:
        return DocumentDraft(self.name, kind, self.language, look, with_numbers(blocks), head, page_numbers)

    def _table_look(self, look: Look, draft: TableDraft) -> TableLook:
        return draw_table_look(self.rng, look, self.family, n_cols=draft.n_cols)

    def _captioned(self, draft: TableDraft, below: bool | None = None) -> TableBlock:
        look = self._table_look(self.look, draft)
        return draw.captioned(self.rng, self.language, draft, look, below=below)

    def _address(self) -> tuple[Piece, ...]:
        rng, lists = self.rng, self.words.lists
        return (
            plain(f"{rng.choice(lists['streets'])} {rng.randint(1, 120)}"),
            plain(f"{rng.randint(10_000, 99_999)} {rng.choice(lists['towns'])}"),
        )

    def _date(self) -> str:
        return f"{self.rng.randint(1, 28):02d}.{self.rng.randint(1, 12):02d}.{self.rng.randint(2021, 2024)}"


def _facts(fields: Sequence[str], values: tuple[str, ...]) -> tuple[Piece, ...]:
    return tuple(plain(f"{field}: {value}") for field, value in zip(fields, values, strict=True))


_NEEDED_LIST = {
    DocumentDrawer.report: "methods",
    DocumentDrawer.invoice: "invoice",
    DocumentDrawer.form: "form",
    DocumentDrawer.statement: "finance",
    DocumentDrawer.laboratory: "laboratory",
}
DOCUMENT_KINDS = {draw_kind.__name__: draw_kind for draw_kind in _NEEDED_LIST}


def document_kinds(language: str) -> list[str]:
    """Return the kinds of documents for which a language has words."""
    lists = vocabulary(language).lists
    return [kind for kind, drawn in DOCUMENT_KINDS.items() if _NEEDED_LIST[drawn] in lists]
