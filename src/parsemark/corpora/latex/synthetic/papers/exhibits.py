"""What the tables of a paper have in common: quantities, facts that its text takes from them, captions.

An exhibit draws its values once, so that tables, captions and sentences agree. Better methods are better by and
large, what is left out costs something, totals are sums, intervals follow from sizes and spreads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from parsemark.corpora.latex.synthetic.content import OwnTable
from parsemark.corpora.latex.synthetic.papers.subject import with_formulas
from parsemark.corpora.synthetic.draft import Draft, lay_out
from parsemark.corpora.synthetic.language import vocabulary
from parsemark.corpora.synthetic.pieces import EMPTY, Piece, formula, plain

if TYPE_CHECKING:
    from parsemark.corpora.latex.synthetic.papers.writing import Writer


@dataclass(frozen=True)
class PaperTable:
    """A table that is ready to be set."""

    content: OwnTable
    caption: str
    notes: tuple[str, ...] = ()

    @property
    def estimated_width(self) -> float:
        """In characters: the widest cell of each column."""
        table, total = self.content.table, 0.0
        turned = {
            (c.row, c.col) for c in self.content.layout.cells.values() if any(r.turned for r in c.piece.runs)
        }
        for col in range(table.n_cols):
            texts = [
                c.text
                for c in table.cells
                if c.col == col and c.colspan == 1 and (c.row, c.col) not in turned
            ]
            total += max((len(t.replace("$", "").replace("\\", "")) for t in texts), default=1) + 2.2
        return total


@dataclass(frozen=True)
class Measure:
    """Something that is measured: its values for the weakest and the strongest row."""

    name: str
    unit: str
    better: str
    """`up`, `down`, or nothing for what is neither good nor bad."""
    low: float
    high: float
    decimals: int
    language: str = field(default="english", kw_only=True)

    @property
    def is_wide(self) -> bool:
        """Whether its values span orders of magnitude."""
        return min(self.low, self.high) > 0 and max(self.low, self.high) > 30 * min(self.low, self.high)

    def at(self, level: float) -> float:
        """The value at a level between 0 (weakest) and 1 (strongest), rounded as it is shown."""
        if self.is_wide:
            value = self.low * (self.high / self.low) ** level
        else:
            value = self.low + (self.high - self.low) * level
        least, most = min(self.low, self.high), max(self.low, self.high)
        if least >= 0:  # shares and counts stay what they are
            top = 99.7 if self.unit == "%" else 1 - 10.0**-self.decimals if most <= 1 else math.inf
            value = min(max(top, most), max(0.3 * least, value))
        return float(round(value, self.decimals))

    def shown(self, value: float) -> str:
        """As it is written."""
        return number(value, self.decimals, self.language)

    def head(self, gap: str = " ") -> str:
        """Name with unit."""
        gap = " " if "$" in self.name + self.unit or "⟦" in self.name else gap  # formulas are not stacked
        return f"{self.name}{gap}({self.unit})" if self.unit else self.name


def number(value: float, decimals: int, language: str, grouped_from: int = 10_000) -> str:
    """A number as a language writes it, with a true minus sign; large ones are grouped."""
    value = round(value, decimals)
    text = f"{abs(value):,.{decimals}f}" if abs(value) >= grouped_from else f"{abs(value):.{decimals}f}"
    words = vocabulary(language)
    text = text.translate({ord(","): words.group_mark, ord("."): words.decimal_mark})
    return f"−{text}" if value < 0 else text


class Exhibit(ABC):
    """A table of the paper: its values, the facts in them, and how it is laid out."""

    def __init__(self, writer: Writer, name: str, spec: dict[str, Any]) -> None:
        self.writer, self.name, self.spec, self.rng = writer, name, spec, writer.rng
        self.words = writer.words
        self.labels: dict[str, str] = self.words["labels"]
        self.draw()

    @abstractmethod
    def draw(self) -> None:
        """Draw the values."""

    @abstractmethod
    def draft(self) -> Draft:
        """Lay the values out."""

    @abstractmethod
    def fact(self, words: str) -> str:
        """What it shows, for a slot of the text."""

    def number(self, value: float, decimals: int) -> str:
        """A number as the language of the paper writes it."""
        return number(value, decimals, self.writer.language)

    def count(self, value: int) -> str:
        """How many there are, with the thousands apart."""
        return number(value, 0, self.writer.language, 1000)

    def notes(self) -> tuple[str, ...]:
        """Below the table."""
        note = self.spec.get("note")
        return (self.say(note),) if note else ()

    def say(self, text: str) -> str:
        """A text with the facts of this exhibit as `{it:…}`."""
        return self.writer.fill(text, self.fact)

    def caption(self) -> str:
        """What the table is, at times with a sentence on how to read it."""
        text = self.say(self.rng.choice(self.spec["caption"]))
        more = self.writer.unsaid(self.words["read"].get(self.spec["kind"], []))
        if more and self.rng.random() < 0.4:
            chosen = self.rng.choice(more)
            self.writer.said.add(chosen)
            text = f"{text} {self.say(chosen)}"
        return text

    @property
    def breadth(self) -> int:
        """About how many columns it has."""
        return max(len(self.spec.get(key, ())) for key in ("columns", "measures", "heads", "arms"))

    def stub(self) -> str:
        """The head of the first column."""
        return str(self.rng.choice(self.spec.get("stub") or self.words["stubs"].get(self.spec["kind"], [""])))

    def table(self, lines: dict[str, float]) -> PaperTable:
        """Ready to be set."""
        rng = self.rng
        names, weights = zip(*sorted(lines.items()), strict=True)
        draft = self.draft()
        if rng.random() < 0.3:
            levels = tuple(
                tuple(replace(group, piece=group.piece.bold()) for group in row) for row in draft.levels
            )
            draft = replace(draft, levels=levels, stub=tuple(piece.bold() for piece in draft.stub))
        content = OwnTable(lay_out(draft), rng.choices(names, weights)[0])
        if not content.layout.draft.row_groups and rng.random() < 0.16:
            shades = ["stripes", "stripes", "head", "total"]
            # what stands below a regression is set apart as totals are, but is none
            content = replace(content, shade=rng.choice(shades[:3] if draft.kind == "regression" else shades))
        return PaperTable(content, self.caption(), self.notes())

    def measures(self, specs: Sequence[str | list[Any]]) -> list[Measure]:
        """Measures by name or as they are given."""
        known = self.writer.subject.data.get("measures", {})
        given = [known[s] if isinstance(s, str) else s for s in specs]
        return [Measure(*measure[:6], language=self.writer.language) for measure in given]


def shown(text: str) -> Piece:
    """Text with formulas in it."""
    piece = EMPTY
    for part, is_formula in with_formulas(text):
        piece += formula(part) if is_formula else plain(part)
    return piece
