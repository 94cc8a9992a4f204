"""Tables as groups: caption, table and notes, set to fit where they go."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from parsemark.corpora.latex.pool import PoolEntry
from parsemark.corpora.latex.synthetic.content import Harvested, OwnTable, TableContent
from parsemark.corpora.latex.synthetic.page_units import Shown, Unit, UnitGroup, paragraph_box
from parsemark.corpora.latex.synthetic.prose import text_attributes
from parsemark.corpora.latex.synthetic.style import Style
from parsemark.corpora.synthetic.draft import Draft, lay_out
from parsemark.corpora.synthetic.language import vocabulary
from parsemark.corpora.synthetic.pieces import plain
from parsemark.corpora.synthetic.story import OMNIDOCBENCH_LINE, table_attributes
from parsemark.corpora.synthetic.table_kinds import KINDS, daytime
from parsemark.corpora.synthetic.variations import varied
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
        attributes = table_attributes(
            content.table,
            kind=content.kind,
            line=OMNIDOCBENCH_LINE[content.line],
            language=style.language,
            header_rows=content.header_rows,
            has_text=content.has_text,
            has_notes=bool(self.notes),
            has_math=content.has_math,
            rotated=self.rotate,
            long=long,
            scaled=scaled,
        )
        return attributes if content.origin is None else {**attributes, "origin": content.origin}


def plan_harvested(rng: random.Random, style: Style, entries: Sequence[PoolEntry]) -> TablePlan:
    """Draw a table from a pool; it keeps its own look but for the size of its font."""
    content = Harvested(rng.choice(entries))
    size = FONT_SIZES[min(3, max(0, (content.entry.n_cols - 3) // 3) + rng.choice([0, 0, 1]))]
    return TablePlan(content, size, rng.choice(vocabulary(style.language).table_captions), ())


def plan_table(
    rng: random.Random,
    style: Style,
    *,
    rows: int,
    cols: int,
    lines: dict[str, float],
    edition: int,
    vary: bool = True,
) -> TablePlan:
    """Draw a table of about the given size."""
    kind = rng.choice(sorted(KINDS))
    draft = KINDS[kind](rng, style.language, rows, cols)
    draft = daytime(draft, style.language) if edition > 1 else draft
    if vary:
        draft = varied(rng, draft, style.language)
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
    return TablePlan(OwnTable(lay_out(draft), line), setting, rng.choice(words.table_captions), notes)


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
) -> UnitGroup:
    """Caption, table and notes in the order in which the style has them."""
    caption = caption_unit(plan, style, width)
    notes = notes_unit(plan, style, width)
    units = [table_unit(plan, style, width, scale)]
    if style.caption_below:
        units += [*([notes] if notes else []), caption]
    else:
        units = [caption, *units, *([notes] if notes else [])]
    return UnitGroup("table", tuple(units), wide=wide)


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
