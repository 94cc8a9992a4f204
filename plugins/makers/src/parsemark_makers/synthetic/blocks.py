"""Draws the blocks of documents: headings, paragraphs, lists, formulas, figures, tables with captions."""

import random
import tomllib
from functools import lru_cache
from importlib.resources import files

from parsemark.model import Category
from parsemark_makers.synthetic.document import (
    NEXT_TABLE,
    NUMBER,
    FigureBlock,
    FormulaBlock,
    TableBlock,
    TextBlock,
)
from parsemark_makers.synthetic.language import heading, number, sentence, sentences, vocabulary
from parsemark_makers.synthetic.looks import TableLook
from parsemark_makers.synthetic.pieces import EMPTY, Piece, formula, plain, raised
from parsemark_makers.synthetic.table_draft import TableDraft, lay_out, varied
from parsemark_makers.synthetic.table_kinds import KINDS, kinds_in

MARKS = ("•", "–", "1.", "(a)")


@lru_cache(maxsize=1)
def formulas() -> dict[str, list[str]]:
    """Return formulas in text (`inline`) and by themselves (`display`)."""
    return tomllib.loads((files("parsemark_makers.synthetic") / "formulas.toml").read_text(encoding="utf-8"))


def heading_block(text: str, level: int) -> TextBlock:
    """Return a heading; level 0 is the title of the document."""
    return TextBlock(Category.TITLE, (plain(text),), level)


def section_heading(rng: random.Random, language: str, section: int) -> TextBlock:
    """Return a heading that is numbered or not."""
    text = heading(rng, language)
    return heading_block(f"{section}. {text}" if rng.random() < 0.7 else text, 1)


def text_block(*lines: Piece) -> TextBlock:
    """Return lines that belong together."""
    return TextBlock(Category.TEXT_BLOCK, lines)


def paragraph_block(
    rng: random.Random, language: str, count: int | None = None, *, see: bool = False, rich: bool = False
) -> TextBlock:
    """Return some sentences, 2 to 6 where no `count` is given; with `see` they refer to the table that
    follows.

    Some sentences of `rich` paragraphs have a formula or a share, and some paragraphs a footnote.
    """
    words = vocabulary(language)
    joint = plain(" ") if words.spaced else EMPTY
    text = EMPTY
    for said in sentences(rng, language, count or rng.randint(2, 6)):
        before = text + joint if text.runs else EMPTY
        text = before + (_enriched(rng, language, said) if rich else plain(said))
    if see:
        text = text + joint + plain(f"({words.words['see']} {words.words['table']} {NEXT_TABLE})")
    if rich and rng.random() < 0.06:
        note = raised(NUMBER) + plain(f" {sentence(rng, language)}")
        return TextBlock(Category.TEXT_BLOCK, (text + raised(NUMBER),), note=note)
    return text_block(text)


def _enriched(rng: random.Random, language: str, text: str) -> Piece:
    if rng.random() < 0.2:
        see = vocabulary(language).words["see"]
        return plain(f"{text[:-1]} ({see} ") + formula(rng.choice(formulas()["inline"])) + plain(").")
    if rng.random() < 0.12:
        return plain(f"{text[:-1]} ({number(rng.uniform(2, 90), 1, language)} %).")
    return plain(text)


def list_block(rng: random.Random, language: str) -> TextBlock:
    """Return items with bullets, dashes, numbers or letters."""
    items = rng.sample(vocabulary(language).items, k=rng.randint(2, 5))
    mark = rng.choice(MARKS)
    marks = tuple({"1.": f"{i + 1}.", "(a)": f"({'abcdef'[i]})"}.get(mark, mark) for i in range(len(items)))
    return TextBlock(Category.LIST_GROUP, tuple(plain(item) for item in items), marks=marks)


def formula_block(rng: random.Random) -> FormulaBlock:
    """Return a displayed formula, half of them numbered."""
    source = rng.choice(formulas()["display"])
    return FormulaBlock(source, plain(f"({NUMBER})") if rng.random() < 0.5 else EMPTY)


def figure_block(rng: random.Random, language: str, kinds: tuple[str, ...]) -> FigureBlock:
    """Return a figure of one of the kinds, with its caption."""
    words = vocabulary(language)
    kind = rng.choice(kinds)
    labels = {
        "bars": words.lists["regions"],
        "curve": ("",) * 13,
        "boxes": rng.sample(words.lists["terms"], k=3) if "terms" in words.lists else (),
    }[kind]
    caption = f"{words.words['figure']} {NUMBER}: {rng.choice(words.figure_captions)}"
    shares = tuple(round(rng.uniform(0.15, 1), 3) for _ in labels)
    return FigureBlock(kind, tuple(labels), shares, plain(caption))


def table_draft(rng: random.Random, language: str, rows: int, cols: int, *, vary: bool = True) -> TableDraft:
    """Return a table of about the given size, of any kind for which the language has words."""
    kind = rng.choice(kinds_in(language))
    draft = KINDS[kind](rng, language, rows, cols)
    return varied(rng, draft, language) if vary else draft


def captioned(
    rng: random.Random, language: str, draft: TableDraft, look: TableLook, *, below: bool | None = None
) -> TableBlock:
    """Return a table with its caption and notes."""
    notes = [note.text for note in draft.notes]
    if rng.random() < 0.3:
        notes.append(rng.choice(vocabulary(language).notes))
    return TableBlock(
        lay_out(draft),
        look,
        caption=table_caption(rng, language) if rng.random() < 0.9 else EMPTY,
        caption_below=rng.random() < 0.25 if below is None else below,
        notes=plain(" ".join(notes)),
    )


def table_caption(rng: random.Random, language: str) -> Piece:
    """Return `Table N: …`."""
    words = vocabulary(language)
    return plain(f"{words.words['table']} {NUMBER}: {rng.choice(words.table_captions)}")
