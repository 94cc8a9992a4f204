"""Draws stories: reports in any language, and what offices print."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from parsemark.corpora.synthetic import business
from parsemark.corpora.synthetic.draft import Draft, lay_out
from parsemark.corpora.synthetic.language import heading, paragraph, vocabulary
from parsemark.corpora.synthetic.pieces import EMPTY, Piece, plain
from parsemark.corpora.synthetic.story import (
    BOOKTABS,
    FULL,
    LINE_STYLES,
    BarFigure,
    Block,
    Look,
    Story,
    TableBlock,
    TableLook,
    TextBlock,
)
from parsemark.corpora.synthetic.table_kinds import KINDS, daytime, kinds_in
from parsemark.corpora.synthetic.variations import varied
from parsemark.model import Category

ACCENTS = ("#1f3a5f", "#7a1f2b", "#1e5945", "#333333", "#4b2e83", "#8a4b08")
TINTS = ("#e8edf4", "#f3ecec", "#eef4ee", "#efefef", "#f6f1e4")


def report(rng: random.Random, name: str, language: str, pages: float, *, long: bool = False) -> Story:
    """A report: title, authors, sections of text with tables, lists and figures, a running head."""
    words = vocabulary(language)
    look = _look(rng)
    blocks: list[Block] = [_heading(rng.choice(words.titles), 0)]
    if rng.random() < 0.7:
        names = words.list_mark.join(rng.sample(words.people, k=rng.randint(1, 3)))
        blocks.append(TextBlock(Category.TEXT_BLOCK, (plain(names),)))
    counter = _Counter()
    sections = max(2, round(pages * 2.2))
    for section in range(1, sections + 1):
        label = heading(rng, language)
        blocks.append(_heading(f"{section}. {label}" if rng.random() < 0.7 else label, 1))
        blocks.append(_paragraph(rng, language))
        extra = rng.random()
        if extra < 0.65:
            blocks.append(_paragraph(rng, language, see=f"{words.words['table']} {counter.tables + 1}"))
            blocks.append(_table(rng, language, look, counter))
        elif extra < 0.8:
            blocks.append(_list(rng, language))
        elif extra < 0.92:
            blocks.append(_bars(rng, language, counter))
        blocks.append(_paragraph(rng, language))
    if long:
        blocks.insert(-1, _long_table(rng, language, look, counter))
    head = rng.choice(words.running_heads) if rng.random() < 0.7 else ""
    return Story(name, "report", language, look, tuple(blocks), head)


def invoice(rng: random.Random, name: str, language: str, pages: float) -> Story:
    """An invoice: sender, receiver, number and date, the positions, terms of payment."""
    words = vocabulary(language)
    fields = words.lists["invoice_fields"]
    look = replace(_look(rng), serif=False, justified=False)
    sender = (plain(rng.choice(words.lists["suppliers"])).bold(), *_address(rng, language))
    receiver = (plain(rng.choice(words.people)), *_address(rng, language))
    values = (
        f"{rng.randint(2022, 2024)}-{rng.randint(100, 9999)}",
        _date(rng),
        f"K{rng.randint(1000, 9999)}",
    )
    facts = tuple(plain(f"{field}: {value}") for field, value in zip(fields, values, strict=True))
    draft = business.invoice(rng, language, rng.randint(3, 10))
    blocks: list[Block] = [
        TextBlock(Category.TEXT_BLOCK, sender),
        TextBlock(Category.TEXT_BLOCK, receiver),
        _heading(words.words["invoice"], 0),
        TextBlock(Category.TEXT_BLOCK, facts),
        TableBlock(lay_out(draft), _table_look(rng, look, full_width=True), 1),
        TextBlock(Category.TEXT_BLOCK, (plain(rng.choice(words.lists["terms_of_payment"])),)),
    ]
    return Story(name, "invoice", language, look, tuple(blocks), "", page_numbers=rng.random() < 0.5)


def form(rng: random.Random, name: str, language: str, pages: float) -> Story:
    """A form that was filled in: boxes with labels, and text between them."""
    words = vocabulary(language)
    look = replace(_look(rng), serif=False)
    blocks: list[Block] = [_heading(rng.choice(words.lists["form_titles"]), 0), _paragraph(rng, language)]
    for section in range(rng.randint(1, 3)):
        blocks.append(_heading(f"{'ABC'[section]}. {rng.choice(words.lists['form_parts'])}", 1))
        draft = business.form(rng, language, rng.randint(2, 6))
        table_look = replace(_table_look(rng, look, full_width=True), line=FULL)
        blocks.append(TableBlock(lay_out(draft), table_look, section + 1))
        blocks.append(_paragraph(rng, language))
    return Story(name, "form", language, look, tuple(blocks), "", page_numbers=True)


def statement(rng: random.Random, name: str, language: str, pages: float) -> Story:
    """A financial report: statements with totals, comments between them."""
    words = vocabulary(language)
    look = _look(rng)
    counter = _Counter()
    blocks: list[Block] = [_heading(rng.choice(words.titles), 0), _paragraph(rng, language)]
    for _ in range(max(1, round(pages * 1.4))):
        blocks.append(_heading(heading(rng, language), 1))
        blocks.append(_paragraph(rng, language))
        draft = KINDS["finance"](rng, language, rng.randint(6, 16), rng.randint(3, 6))
        blocks.append(_captioned(rng, language, draft, _table_look(rng, look), counter))
        blocks.append(_paragraph(rng, language))
    return Story(name, "statement", language, look, tuple(blocks), rng.choice(words.running_heads))


def laboratory(rng: random.Random, name: str, language: str, pages: float) -> Story:
    """A laboratory's report on one sample: who, when, results with reference ranges."""
    words = vocabulary(language)
    look = replace(_look(rng), serif=False)
    fields = words.lists["laboratory_fields"]
    values = (rng.choice(words.people), _date(rng), f"L{rng.randint(10_000, 99_999)}")
    facts = tuple(plain(f"{field}: {value}") for field, value in zip(fields, values, strict=True))
    draft = business.laboratory(rng, language, rng.randint(6, 16))
    blocks: list[Block] = [
        _heading(words.words["laboratory"], 0),
        TextBlock(Category.TEXT_BLOCK, facts),
        TableBlock(
            lay_out(draft),
            _table_look(rng, look, full_width=rng.random() < 0.7),
            1,
            notes=plain(words.lists["laboratory_notes"][0]),
        ),
        _paragraph(rng, language),
    ]
    return Story(name, "laboratory", language, look, tuple(blocks), rng.choice(words.running_heads))


Teller = Callable[[random.Random, str, str, float], Story]
TELLERS: dict[str, Teller] = {
    "report": report,
    "invoice": invoice,
    "form": form,
    "statement": statement,
    "laboratory": laboratory,
}
NEEDED = {
    "report": "methods",
    "invoice": "invoice",
    "form": "form",
    "statement": "finance",
    "laboratory": "laboratory",
}


def kinds_told_in(language: str) -> list[str]:
    """The kinds of stories for which a language has words."""
    return [kind for kind in TELLERS if NEEDED[kind] in vocabulary(language).lists]


class _Counter:
    def __init__(self) -> None:
        self.tables = self.figures = 0


def _look(rng: random.Random) -> Look:
    return Look(
        paper=rng.choice(["a4", "a4", "letter"]),
        margin_x=rng.choice([54.0, 62.0, 72.0, 80.0]),
        margin_y=rng.choice([60.0, 68.0, 76.0]),
        serif=rng.random() < 0.5,
        size=rng.choice([9.5, 10.0, 10.5, 11.0]),
        accent=rng.choice(ACCENTS),
        centred_title=rng.random() < 0.4,
        justified=rng.random() < 0.6,
    )


def _table_look(rng: random.Random, look: Look, *, full_width: bool | None = None) -> TableLook:
    filled = rng.random() < 0.45
    dark = filled and rng.random() < 0.4
    return TableLook(
        line=rng.choice(LINE_STYLES) if rng.random() < 0.7 else BOOKTABS,
        size=look.size - rng.choice([0.5, 1.0, 1.5]),
        pad_x=rng.choice([4.0, 5.0, 6.0]),
        pad_y=rng.choice([2.5, 3.0, 4.5]),
        head_fill=(look.accent if dark else rng.choice(TINTS)) if filled else None,
        head_white=dark,
        stripe=rng.choice(TINTS) if rng.random() < 0.25 else None,
        full_width=rng.random() < 0.3 if full_width is None else full_width,
    )


def _heading(text: str, level: int) -> TextBlock:
    return TextBlock(Category.TITLE, (plain(text),), level)


def _paragraph(rng: random.Random, language: str, see: str = "") -> TextBlock:
    text = paragraph(rng, language, rng.randint(2, 6))
    if see:
        joint = " " if vocabulary(language).spaced else ""
        text += f"{joint}({vocabulary(language).words['see']} {see})"
    return TextBlock(Category.TEXT_BLOCK, (plain(text),))


def _list(rng: random.Random, language: str) -> TextBlock:
    items = rng.sample(vocabulary(language).items, k=rng.randint(2, 5))
    numbered = rng.random() < 0.5
    marks = tuple(f"{index + 1}." if numbered else "•" for index in range(len(items)))
    return TextBlock(Category.LIST_GROUP, tuple(plain(item) for item in items), marks=marks)


def _bars(rng: random.Random, language: str, counter: _Counter) -> BarFigure:
    words = vocabulary(language)
    counter.figures += 1
    labels = tuple(words.lists["regions"])
    caption = f"{words.words['figure']} {counter.figures}: {rng.choice(words.figure_captions)}"
    shares = tuple(round(rng.uniform(0.15, 1), 3) for _ in labels)
    return BarFigure(labels, shares, counter.figures, plain(caption))


def _table(rng: random.Random, language: str, look: Look, counter: _Counter) -> TableBlock:
    kind = rng.choice(kinds_in(language))
    rows = rng.choice([3, 4, 5, 6, 8, 10, 12])
    cols = rng.choice([3, 4, 5, 6]) if kind != "glossary" else rng.choice([2, 3])
    draft = varied(rng, daytime(KINDS[kind](rng, language, rows, cols), language), language)
    return _captioned(rng, language, draft, _table_look(rng, look), counter)


def _long_table(rng: random.Random, language: str, look: Look, counter: _Counter) -> TableBlock:
    draft = KINDS["inventory"](rng, language, rng.randint(45, 70), rng.randint(4, 6))
    block = _captioned(rng, language, draft, _table_look(rng, look), counter)
    return replace(block, long=True, caption_below=False)


def _captioned(
    rng: random.Random, language: str, draft: Draft, look: TableLook, counter: _Counter
) -> TableBlock:
    words = vocabulary(language)
    counter.tables += 1
    caption = f"{words.words['table']} {counter.tables}: {rng.choice(words.table_captions)}"
    notes = [note.text for note in draft.notes]
    if rng.random() < 0.3:
        notes.append(rng.choice(words.notes))
    return TableBlock(
        lay_out(draft),
        look,
        counter.tables,
        caption=plain(caption) if rng.random() < 0.9 else EMPTY,
        caption_below=rng.random() < 0.25,
        notes=plain(" ".join(notes)),
    )


def _address(rng: random.Random, language: str) -> tuple[Piece, ...]:
    words = vocabulary(language).lists
    return (
        plain(f"{rng.choice(words['streets'])} {rng.randint(1, 120)}"),
        plain(f"{rng.randint(10_000, 99_999)} {rng.choice(words['towns'])}"),
    )


def _date(rng: random.Random) -> str:
    return f"{rng.randint(1, 28):02d}.{rng.randint(1, 12):02d}.{rng.randint(2021, 2024)}"
