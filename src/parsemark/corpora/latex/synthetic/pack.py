"""Packs measured groups onto pages."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from parsemark.corpora.latex.synthetic.page_units import Size, Unit, UnitGroup
from parsemark.corpora.latex.synthetic.style import Style
from parsemark.corpora.latex.synthetic.table_groups import TablePlan, table_group
from parsemark.corpora.latex.synthetic.typeset import SheetPlan

SMALLEST_SCALE = 0.6
LOOK_AHEAD = 10
"""How many groups are tried for the rest of a column before it is left free."""
SPARE = 4.0
"""Height that is kept free, for what measuring cannot see."""


@dataclass
class Counters:
    """Numbers of tables, figures, formulas and footnotes in a document."""

    table: int = 0
    figure: int = 0
    formula: int = 0
    footnote: int = 0

    def number(self, group: UnitGroup) -> UnitGroup:
        """The group with its number filled in; a paragraph carries the number of its footnote."""
        kind = "footnote" if group.kind == "text" and group.note else group.kind
        if kind not in ("table", "figure", "formula", "footnote"):
            return group
        value = getattr(self, kind) + 1
        setattr(self, kind, value)
        units = tuple(unit.numbered(value) for unit in group.units)
        note = None
        if group.note is not None:
            note = replace(group.note, units=tuple(u.numbered(value) for u in group.note.units))
        return replace(group, units=units, note=note)


class Packer:
    """Fills the pages of one document from a list of text groups, in order."""

    def __init__(
        self, style: Style, sizes: Mapping[str, Size], texts: list[UnitGroup], rng: random.Random
    ) -> None:
        self.style = style
        self.sizes = sizes
        self.texts = texts
        self.rng = rng
        self.counters = Counters()

    def fit_table(self, plan: TablePlan, height: float) -> tuple[UnitGroup, float] | None:
        """The group of a table that fits into a page with `height` left, and its height; or None."""
        natural = self.sizes[natural_key(plan)]
        width, tall = (natural.height, natural.width) if plan.rotate else (natural.width, natural.height)
        wide = self.style.columns > 1 and width > self.style.column_width
        room = self.style.text_width if wide else self.style.column_width
        bare = table_group(plan, self.style, room, wide=wide)
        beside = sum(self.sizes[u.latex].height for u in bare.units if u.latex in self.sizes)
        beside += bare.gap_inside * (len(bare.units) - 1) + self.style.gap
        free = height - beside - SPARE
        scale = min(1.0, room / width, free / tall)
        if free <= 0 or scale < SMALLEST_SCALE:
            return None
        scale = 1.0 if scale > 0.999 else scale * 0.995
        group = table_group(plan, self.style, room, scale=scale, wide=wide)
        return group, beside + tall * scale

    def page(self, plans: list[TablePlan], wanted: int) -> SheetPlan | None:
        """A page with up to `wanted` of the planned tables; None if it should have one and none fits."""
        style = self.style
        free = [style.text_height] * style.columns
        wide: list[UnitGroup] = []
        placed: list[list[UnitGroup]] = [[] for _ in range(style.columns)]
        count = 0
        for plan in plans:
            if count == wanted:
                break
            fitted = self.fit_table(plan, max(free) if style.columns == 1 else min(free))
            column = max(range(style.columns), key=lambda c: free[c])
            if fitted is None:
                continue
            group, height = fitted
            count += 1
            if group.wide:
                wide.append(group)
                free = [f - height for f in free]
            else:
                placed[column].append(group)
                free[column] -= height
        if wanted and not count:
            return None
        top = tuple(self.counters.number(group) for group in wide)
        columns = []
        for tables, room in zip(placed, free, strict=True):
            mixed = self._mix(self._fill(room), tables)
            columns.append(tuple(self.counters.number(group) for group in mixed))
        notes = tuple(tuple(g.note for g in column if g.note is not None) for column in columns)
        return SheetPlan(top, tuple(columns), notes)

    def height(self, group: UnitGroup) -> float:
        """Height of a group with the gap that follows it, and of its footnote."""
        inside = sum(self.sizes[unit.latex].height for unit in group.units)
        inside += group.gap_inside * (len(group.units) - 1) + self.style.gap
        return inside + (self.height(group.note) if group.note else 0.0)

    def take(self, room: float) -> list[UnitGroup]:
        """Groups from the front of the list, as many as fit, with their numbers."""
        return [self.counters.number(group) for group in self._fill(room)]

    def _fill(self, room: float) -> list[UnitGroup]:
        taken: list[UnitGroup] = []
        room -= SPARE
        index = 0
        while index < min(LOOK_AHEAD, len(self.texts)) and room > 12:
            group = self.texts[index]
            needed = self.height(group) + (60.0 if group.kind == "heading" else 0.0)
            if needed > room:
                index += 1
                continue
            self.texts.pop(index)
            taken.append(group)
            room -= self.height(group)
        while taken and taken[-1].kind == "heading":
            taken.pop()
        return taken

    def _mix(self, texts: list[UnitGroup], tables: list[UnitGroup]) -> list[UnitGroup]:
        mixed = list(texts)
        for table in tables:
            places = [i for i in range(len(mixed) + 1) if i == 0 or mixed[i - 1].kind != "heading"]
            mixed.insert(self.rng.choice(places), table)
        return mixed


def natural_key(plan: TablePlan) -> str:
    """Under which the natural size of a table is kept."""
    return f"table {id(plan)}"


def units_of(groups: list[UnitGroup]) -> list[Unit]:
    """All units, with those of footnotes."""
    found: list[Unit] = []
    for group in groups:
        found += group.units
        if group.note is not None:
            found += group.note.units
    return found
