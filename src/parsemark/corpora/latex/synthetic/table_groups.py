"""Tables as groups: caption, table and notes, set to fit where they go."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from parsemark.corpora.complexity import complexity
from parsemark.corpora.latex.pool import PoolEntry
from parsemark.corpora.latex.synthetic.content import Drawn, Harvested, TableContent
from parsemark.corpora.latex.synthetic.draft import Draft, Row, lay_out
from parsemark.corpora.latex.synthetic.draft import Group as Head
from parsemark.corpora.latex.synthetic.kinds import KINDS
from parsemark.corpora.latex.synthetic.language import vocabulary
from parsemark.corpora.latex.synthetic.pieces import EMPTY, plain, raised
from parsemark.corpora.latex.synthetic.prose import text_attributes
from parsemark.corpora.latex.synthetic.style import Style
from parsemark.corpora.latex.synthetic.tabular import OMNIDOCBENCH_LINE
from parsemark.corpora.latex.synthetic.units import Group, Shown, Unit, paragraph_box
from parsemark.model import AttributeValue, Category

FONT_SIZES = (r"\normalsize", r"\small", r"\footnotesize", r"\scriptsize")


@dataclass(frozen=True)
class TablePlan:
    """A table that is ready to be measured."""

    content: TableContent
    setting: str
    """Font size, column separation and row stretch, as LaTeX."""
    caption: str
    notes: tuple[str, ...]
    rotate: int = 0
    """0, 90 or 270 degrees counter-clockwise."""

    def attributes(
        self, style: Style, *, scaled: bool = False, long: bool = False
    ) -> dict[str, AttributeValue]:
        """OmniDocBench's attributes of tables, and ours."""
        content = self.content
        attributes: dict[str, AttributeValue] = {
            "table_layout": "vertical" if self.rotate else "horizontal",
            "with_span": content.table.has_spans,
            "line": OMNIDOCBENCH_LINE[content.line],
            "language": "table_en" if style.language == "english" else "table_fr",
            "include_equation": content.has_math,
            "include_background": False,
            "include_photo": False,
            "with_structured_text": content.has_text,
            "rotated": self.rotate,
            "long": long,
            "scaled": scaled,
            "complexity": complexity(content.table),
            "kind": content.kind,
            "header_rows": content.header_rows,
            "has_notes": bool(self.notes),
        }
        return attributes if content.origin is None else {**attributes, "origin": content.origin}


def plan_harvested(rng: random.Random, style: Style, entries: Sequence[PoolEntry]) -> TablePlan:
    """Draw a table from a pool; it keeps its own look but for the size of its font."""
    content = Harvested(rng.choice(entries))
    size = FONT_SIZES[min(3, max(0, (content.entry.n_cols - 3) // 3) + rng.choice([0, 0, 1]))]
    return TablePlan(content, size, rng.choice(vocabulary(style.language).table_captions), ())


def plan_table(
    rng: random.Random, style: Style, *, rows: int, cols: int, lines: dict[str, float], vary: bool = True
) -> TablePlan:
    """Draw a table of about the given size."""
    kind = rng.choice(sorted(KINDS))
    draft = KINDS[kind](rng, style.language, rows, cols)
    if vary:
        draft = _vary(rng, draft, style.language)
    draft = _with_text_widths(draft, style)
    words = vocabulary(style.language)
    notes = tuple(note.text for note in draft.notes)
    if rng.random() < 0.25:
        notes = (*notes, rng.choice(words.notes))
    size = FONT_SIZES[min(3, max(0, (draft.n_cols - 3) // 3) + rng.choice([0, 0, 1]))]
    separation = rng.choice([3.0, 4.0, 6.0]) if draft.n_cols < 9 else 3.0
    stretch = rng.choice([1.0, 1.0, 1.1, 1.25])
    setting = rf"{size}\setlength{{\tabcolsep}}{{{separation}pt}}\renewcommand{{\arraystretch}}{{{stretch}}}"
    names, weights = zip(*sorted(lines.items()), strict=True)
    line = rng.choices(names, weights)[0]
    return TablePlan(Drawn(lay_out(draft), line), setting, rng.choice(words.table_captions), notes)


def natural_unit(plan: TablePlan) -> Unit:
    """The table alone, for measuring."""
    return Unit(rf"\hbox{{{plan.setting}\pmblock{{@0@}}{{{plan.content.latex}}}}}", ())


def caption_unit(plan: TablePlan, style: Style, width: float) -> Unit:
    """The caption, `Table N: …`."""
    text = f"{vocabulary(style.language).words['table']} @N@: {plan.caption}."
    box = paragraph_box(width, plain(text).latex, r"\small\noindent\centering ")
    return Unit(box, (Shown(Category.TABLE_CAPTION, text, attributes=text_attributes(style), parent=0),))


def notes_unit(plan: TablePlan, style: Style, width: float) -> Unit | None:
    """The notes below the table, or None."""
    if not plan.notes:
        return None
    text = " ".join(plan.notes)
    box = paragraph_box(width, plain(text).latex, r"\footnotesize\noindent ")
    return Unit(box, (Shown(Category.TABLE_FOOTNOTE, text, attributes=text_attributes(style), parent=0),))


def table_unit(plan: TablePlan, style: Style, width: float, scale: float) -> Unit:
    """The table in its final form: scaled or rotated, in the middle of the column."""
    body = rf"\pmblock{{@0@}}{{{plan.content.latex}}}"
    if scale < 1:
        body = rf"\scalebox{{{scale:.4f}}}{{{body}}}"
    if plan.rotate:
        body = rf"\rotatebox{{{plan.rotate if plan.rotate == 90 else -90}}}{{{body}}}"
    shown = Shown(
        Category.TABLE,
        latex=plan.content.latex,
        content=plan.content,
        attributes=plan.attributes(style, scaled=scale < 1),
    )
    return Unit(rf"\hbox to {width:.3f}pt{{\hss{plan.setting}{body}\hss}}", (shown,))


def table_group(
    plan: TablePlan, style: Style, width: float, *, scale: float = 1.0, wide: bool = False
) -> Group:
    """Caption, table and notes in the order in which the style has them."""
    caption = caption_unit(plan, style, width)
    notes = notes_unit(plan, style, width)
    units = [table_unit(plan, style, width, scale)]
    if style.caption_below:
        units += [*([notes] if notes else []), caption]
    else:
        units = [caption, *units, *([notes] if notes else [])]
    return Group("table", tuple(units), wide=wide)


def _with_text_widths(draft: Draft, style: Style) -> Draft:
    """Columns of running text share the width of a text column."""
    count = sum(a.startswith("p") for a in draft.alignments)
    if not count:
        return draft
    width = max(80.0, (style.column_width - 100) / count * 0.9)
    return replace(
        draft,
        alignments=tuple(f"p{{{width:.0f}pt}}" if a.startswith("p") else a for a in draft.alignments),
    )


def _vary(rng: random.Random, draft: Draft, language: str) -> Draft:
    """Add what real tables have: groups of rows, sections, empty cells, marks of notes."""
    if draft.kind in ("results", "statistics", "chemistry", "geology"):
        if rng.random() < 0.25 and len(draft.rows) >= 4:
            draft = _with_row_groups(rng, draft, language)
        elif rng.random() < 0.25 and len(draft.rows) >= 4:
            draft = _with_sections(rng, draft, language)
    if len(draft.levels) == 1 and len(draft.levels[0]) >= 4 and rng.random() < 0.45:
        draft = _with_header_groups(rng, draft, language)
        if len(draft.levels[0]) >= 2 and rng.random() < 0.3:
            draft = _with_top_header(rng, draft, language)
    if rng.random() < 0.25:
        draft = _with_empty_cells(rng, draft)
    if rng.random() < 0.15:
        draft = _with_marked_note(rng, draft, language)
    return draft


def _with_header_groups(rng: random.Random, draft: Draft, language: str) -> Draft:
    """A header level above the columns: groups of two or three, and columns that stand alone."""
    names = rng.sample(vocabulary(language).lists[rng.choice(["groups", "regions", "seasons"])], k=4)
    top: list[Head] = []
    left = len(draft.levels[0])
    while left:
        span = min(left, rng.choice([1, 2, 2, 3]))
        top.append(Head(plain(names[len(top) % 4]) if span > 1 else EMPTY, span))
        left -= span
    return replace(draft, levels=(tuple(top), *draft.levels))


def _with_top_header(rng: random.Random, draft: Draft, language: str) -> Draft:
    """A third level over all columns."""
    title = plain(rng.choice(vocabulary(language).headings))
    span = sum(group.span for group in draft.levels[0])
    return replace(draft, levels=((Head(title, span),), *draft.levels))


def _with_row_groups(rng: random.Random, draft: Draft, language: str) -> Draft:
    counts = _split(rng, len(draft.rows))
    names = vocabulary(language).lists[rng.choice(["groups", "seasons", "regions", "sites"])]
    groups = tuple((plain(names[i % len(names)]), count) for i, count in enumerate(counts))
    rows = tuple(Row((EMPTY, *row.pieces), row.kind) for row in draft.rows)
    return replace(
        draft,
        stub=(EMPTY, *draft.stub),
        rows=rows,
        alignments=("l", *draft.alignments),
        row_groups=groups,
    )


def _with_sections(rng: random.Random, draft: Draft, language: str) -> Draft:
    names = vocabulary(language).lists[rng.choice(["groups", "regions", "sites"])]
    rows: list[Row] = []
    position = 0
    for index, count in enumerate(_split(rng, len(draft.rows))):
        rows.append(Row((plain(names[index % len(names)]).italic(),), "section"))
        rows += draft.rows[position : position + count]
        position += count
    return replace(draft, rows=tuple(rows))


def _with_empty_cells(rng: random.Random, draft: Draft) -> Draft:
    share, blank = rng.uniform(0.05, 0.25), rng.choice([EMPTY, EMPTY, plain("–")])
    stub = len(draft.stub)

    def thin(row: Row) -> Row:
        if row.kind != "data":
            return row
        kept = (p if i < stub or rng.random() > share else blank for i, p in enumerate(row.pieces))
        return Row(tuple(kept), row.kind)

    return replace(draft, rows=tuple(thin(row) for row in draft.rows))


def _with_marked_note(rng: random.Random, draft: Draft, language: str) -> Draft:
    levels = list(draft.levels)
    last = list(levels[-1])
    target = rng.randrange(len(last))
    last[target] = Head(last[target].piece + raised("a"), last[target].span)
    levels[-1] = tuple(last)
    note = plain("a " + rng.choice(vocabulary(language).notes))
    return replace(draft, levels=tuple(levels), notes=(*draft.notes, note))


def _split(rng: random.Random, count: int) -> Sequence[int]:
    """Two or three parts of at least two rows each."""
    parts = 3 if count >= 6 and rng.random() < 0.5 else 2
    cuts = [2] * parts
    for _ in range(count - 2 * parts):
        cuts[rng.randrange(parts)] += 1
    return cuts
