"""Makes one document: content, measuring, packing, a clean and a marked compile, truth."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parsemark.corpora.latex.marks import MARKS_FILE, MarkedPage, read_marks
from parsemark.corpora.latex.synthetic.content import OwnTable, usable_entries
from parsemark.corpora.latex.synthetic.figures import figure_group
from parsemark.corpora.latex.synthetic.options import SyntheticOptions
from parsemark.corpora.latex.synthetic.pack import Packer, natural_key, units_of
from parsemark.corpora.latex.synthetic.page_units import Shown, Size, Unit, UnitGroup
from parsemark.corpora.latex.synthetic.plan import DocumentPlan, PagePlan, simpler
from parsemark.corpora.latex.synthetic.prose import (
    formula_group,
    heading_group,
    list_group,
    paragraph_group,
    text_attributes,
)
from parsemark.corpora.latex.synthetic.style import choose_style
from parsemark.corpora.latex.synthetic.table_groups import (
    TablePlan,
    caption_unit,
    natural_unit,
    notes_unit,
    plan_harvested,
    plan_table,
)
from parsemark.corpora.latex.synthetic.truth import PageElements
from parsemark.corpora.latex.synthetic.typeset import (
    Flow,
    Ids,
    SheetPlan,
    flow_body,
    furniture_texts,
    measure,
    page_style,
    pages_body,
    running_head,
    typeset,
)
from parsemark.corpora.synthetic.randomness import stream
from parsemark.errors import LatexError
from parsemark.model import AttributeValue, Category, Page, Sample

ATTEMPTS = 8
"""Draws of a document as planned; a replacement has as many again, and as many of a simpler plan."""
POOL_SHARE = 0.5
"""Share of tables that are taken from the pool, where there is one."""
LONG_PASSES = 3
"""Head and body of a long table find common widths through the aux file."""
LONG_END = 0.45
"""How far down its last page a long table should end."""


@dataclass(frozen=True)
class Made:
    """A finished document."""

    samples: tuple[Sample, ...]
    pdf: Path
    replaced: str | None = None
    """Why this is not the document that was drawn first, where that one could not be made."""


def make_document(options: SyntheticOptions, plan: DocumentPlan, folder: Path) -> Made:
    """Make a document in `folder`; draws again what cannot be set, at last with fewer and upright tables."""
    reasons: Counter[str] = Counter()
    for attempt in range(3 * ATTEMPTS):
        simplified = attempt >= 2 * ATTEMPTS
        draw = Draw(options, simpler(plan) if simplified else plan, attempt)
        try:
            made = draw.make_long(folder) if draw.plan.long else draw.make(folder)
        except LatexError as error:
            reasons[str(error)] += 1
            continue
        if attempt < ATTEMPTS:
            return made
        how = "by a simpler document" if simplified else "by another of the same plan"
        return replace(made, replaced=f"replaced {how} after {attempt} draws: {_by_count(reasons)}")
    raise LatexError(
        f"Document {plan.name} could not be made in {3 * ATTEMPTS} draws ({_by_count(reasons)}). "
        "Try another seed, fewer pages per document, or another pool."
    )


def _by_count(reasons: Counter[str]) -> str:
    return "; ".join(f"{reason.rstrip('.')} ({count}×)" for reason, count in reasons.most_common(3))


class Draw:
    """One attempt at a document, with a stream of random numbers for each concern."""

    def __init__(self, options: SyntheticOptions, plan: DocumentPlan, attempt: int) -> None:
        self.options = options
        self.plan = plan
        self.identity = (options.name, options.seed, plan.name, attempt)
        rng = self.stream("style")
        style = choose_style(rng, columns=plan.columns, language=plan.language)
        self.style = replace(style, harvested=options.pool is not None and not plan.long)
        self.head = running_head(self.style, rng.random())
        self.first_number = rng.choice([1, 1, rng.randint(2, 300)])

    def stream(self, *concern: str | int) -> random.Random:
        """Random numbers for one concern."""
        return stream(*self.identity, *concern)

    def make(self, folder: Path) -> Made:
        """Pages that are packed from measured blocks."""
        texts = self._texts(len(self.plan.pages))
        tables = [self._tables(index, page) for index, page in enumerate(self.plan.pages)]
        sizes = self._measure(texts, [plan for plans in tables for plan in plans], folder)
        packer = Packer(self.style, sizes, texts, self.stream("pack"))
        sheets = []
        for page, plans in zip(self.plan.pages, tables, strict=True):
            sheet = packer.page(plans, page.tables)
            if sheet is None:
                raise LatexError("None of a page's tables fits.")
            sheets.append(sheet)
        pdf, marks, ids = self._compile(lambda ids: pages_body(self.style, sheets, ids), folder)
        if len(marks) != len(sheets):
            raise LatexError(f"{len(sheets)} pages became {len(marks)}.")
        return self._made(pdf, self._sheet_truths(sheets, marks, ids))

    def make_long(self, folder: Path) -> Made:
        """A table over all pages of the document, with text before and after it."""
        plan = self._long_plan()
        texts = [g for g in self._texts(2) if g.note is None]
        sizes = self._measure(texts, [plan], folder)
        packer = Packer(self.style, sizes, texts, self.stream("pack"))
        height = self.style.text_height
        room = height * self.stream("start").uniform(0.15, 0.5)
        before = packer.take(room)
        content = self._cut(plan, sizes, height - room)
        plan = replace(plan, content=content)
        after = packer.take(height * (1 - LONG_END) * 0.55)
        caption = caption_unit(plan, self.style, self.style.column_width).numbered(1)
        shown = Shown(
            Category.TABLE,
            latex=content.latex,
            content=content,
            attributes=plan.attributes(self.style, long=True),
        )
        flow = Flow(tuple(before), caption, plan.setting, content.long_latex, tuple(after))
        pdf, marks, ids = self._compile(lambda ids: flow_body(self.style, flow, ids), folder)
        if len(marks) != len(self.plan.pages):
            raise LatexError(f"A long table of {len(self.plan.pages)} pages took {len(marks)}.")
        return self._made(pdf, self._flow_truths(flow, shown, marks, ids))

    def _texts(self, pages: int) -> list[UnitGroup]:
        rng = self.stream("text")
        style, width = self.style, self.style.column_width
        groups: list[UnitGroup] = []
        count = pages * style.columns * 3
        for section in range(1, count + 1):
            groups.append(heading_group(rng, style, str(section), width))
            for _ in range(rng.randint(1, 3)):
                groups.append(paragraph_group(rng, style, width, rng.randint(2, 6)))
                extra = rng.random()
                if extra < 0.15:
                    groups.append(list_group(rng, style, width))
                elif extra < 0.3:
                    groups.append(formula_group(rng, width))
                elif extra < 0.4:
                    groups.append(figure_group(rng, style, width))
            groups.append(paragraph_group(rng, style, width, 1))
        return groups

    def _tables(self, index: int, page: PagePlan) -> list[TablePlan]:
        """The wanted tables of a page, then smaller ones in case those do not fit."""
        if not page.tables:
            return []
        rng = self.stream("tables", index)
        plans = []
        for _ in range(page.tables):
            rows, cols = self._table_size(rng, page)
            plan = self._plan_table(rng, rows, cols)
            if self.options.pool is not None and rng.random() < POOL_SHARE:
                plan = plan_harvested(rng, self.style, usable_entries(self.options.pool))
            plans.append(replace(plan, rotate=rng.choice([90, 270]) if page.rotated else 0))
        for limit in (8, 4):
            rows, cols = rng.randint(2, limit), rng.randint(2, 4)
            plan = self._plan_table(rng, rows, cols)
            plans.append(replace(plan, rotate=rng.choice([90, 270]) if page.rotated else 0))
        return plans

    def _table_size(self, rng: random.Random, page: PagePlan) -> tuple[int, int]:
        if page.rotated:
            return rng.randint(4, 25), rng.randint(5, 15)
        many = 60 if page.tables == 1 else 25 if page.tables == 2 else 14
        rows = rng.choice([rng.randint(2, 5), rng.randint(4, 14), rng.randint(4, many)])
        if self.style.columns == 2 and rng.random() < 0.7:
            return rows, rng.randint(2, 5)
        return rows, rng.choice([rng.randint(2, 5), rng.randint(3, 9), rng.randint(5, 15)])

    def _plan_table(self, rng: random.Random, rows: int, cols: int, *, vary: bool = True) -> TablePlan:
        lines, edition = self.options.lines, self.options.edition
        return plan_table(rng, self.style, rows=rows, cols=cols, lines=lines, edition=edition, vary=vary)

    def _long_plan(self) -> TablePlan:
        rng = self.stream("tables", 0)
        cols = rng.randint(3, 6)
        plan = self._plan_table(rng, 150, cols, vary=False)
        return replace(plan, notes=())

    def _cut(self, plan: TablePlan, sizes: dict[str, Size], first_room: float) -> OwnTable:
        """Keep as many rows as make the table end on the last page."""
        content, natural = plan.content, sizes[natural_key(plan)]
        assert isinstance(content, OwnTable)
        if natural.width > self.style.text_width:
            raise LatexError("The long table is too wide.")
        row_height = natural.height / content.table.n_rows
        room = first_room + self.style.text_height * (len(self.plan.pages) - 2 + LONG_END)
        keep = int(room / row_height) - content.header_rows * len(self.plan.pages)
        if not 0 < keep <= len(content.layout.draft.rows):
            raise LatexError("The long table has too few rows.")
        return content.with_rows(keep)

    def _measure(self, texts: list[UnitGroup], plans: Sequence[TablePlan], folder: Path) -> dict[str, Size]:
        named: dict[str, Unit] = {unit.latex: unit for unit in units_of(texts)}
        widths = {self.style.column_width, self.style.text_width}
        for plan in plans:
            named[natural_key(plan)] = natural_unit(plan)
            for width in widths:
                for unit in (caption_unit(plan, self.style, width), notes_unit(plan, self.style, width)):
                    if unit is not None:
                        named[unit.latex] = unit
        sizes = measure(self.style, list(named.values()), folder)
        return dict(zip(named, sizes, strict=True))

    def _compile(self, body: Callable[[Ids], str], folder: Path) -> tuple[Path, list[MarkedPage], Ids]:
        ids = Ids()
        begin = f"{page_style(self.style, self.head)}\\setcounter{{page}}{{{self.first_number}}}\n"
        source = begin + body(ids)
        shutil.copy(MARKS_FILE, folder / MARKS_FILE.name)
        passes = LONG_PASSES if self.plan.long else 1
        pdf = typeset(self.style, source, folder, self.plan.name, marked=False, passes=passes)
        marked = typeset(self.style, source, folder, "marked", marked=True, passes=passes)
        return pdf, read_marks(marked), ids

    def _sheet_truths(self, sheets: Sequence[SheetPlan], marks: Sequence[MarkedPage], ids: Ids) -> list[Page]:
        placed = iter(ids.units)
        pages = []
        for index, (sheet, mark) in enumerate(zip(sheets, marks, strict=True)):
            truth = PageElements(mark, self._page_attributes(sheet.groups()))
            for group in sheet.groups():
                truth.add_group([next(placed) for _ in group.units])
            pages.append(self._finish(truth, index))
        return pages

    def _flow_truths(self, flow: Flow, shown: Shown, marks: Sequence[MarkedPage], ids: Ids) -> list[Page]:
        tables = [t for mark in marks for t in mark.tables]
        long_id = tables[0].id
        first_row, pages = 0, []
        n_before = sum(len(g.units) for g in flow.before)
        for index, mark in enumerate(marks):
            truth = PageElements(mark, self._page_attributes([], long=True))
            caption: str | None = None
            for position, (unit, numbers) in enumerate(ids.units):
                if numbers and numbers[0] in mark.blocks and position <= n_before:
                    truth.add_group([(unit, numbers)])
                    caption = truth.elements[-1].id if position == n_before else None
            marked = next((t for t in mark.tables if t.id == long_id), None)
            if marked is None:
                raise LatexError("A page has no part of its long table.")
            first_row = truth.add_long_part(shown, marked, first_row, index + 1, caption)
            for unit, numbers in ids.units[n_before + 1 :]:
                if numbers and numbers[0] in mark.blocks:
                    truth.add_group([(unit, numbers)])
            pages.append(self._finish(truth, index))
        assert shown.content is not None and shown.content.header_rows is not None
        if first_row != shown.content.table.n_rows - shown.content.header_rows:
            raise LatexError("The parts of a long table do not add up.")
        return pages

    def _finish(self, truth: PageElements, index: int) -> Page:
        number = self.first_number + index
        truth.add_furniture(furniture_texts(self.style, self.head, number), text_attributes(self.style))
        return truth.page(f"{self.plan.name}-p{index + 1}")

    def _page_attributes(
        self, groups: Sequence[UnitGroup], *, long: bool = False
    ) -> dict[str, AttributeValue]:
        style = self.style
        tables = [s for g in groups for u in g.units for s in u.shown if s.category == Category.TABLE]
        return {
            "data_source": "synthetic",
            "maker": "latex",
            "language": style.language,
            "layout": "double_column" if style.columns == 2 else "single_column",
            "fuzzy_scan": False,
            "watermark": False,
            "colorful_background": False,
            "rotated": any(s.attributes.get("rotated") for s in tables),
            "long": long,
            "document_class": style.document_class,
            "font": style.font,
            "font_size": style.size,
            "paper": style.paper,
            "line_spacing": style.spread,
        }

    def _made(self, pdf: Path, pages: list[Page]) -> Made:
        samples = (Sample(page.id, self.plan.name, index + 1, page, pdf) for index, page in enumerate(pages))
        return Made(tuple(samples), pdf)
