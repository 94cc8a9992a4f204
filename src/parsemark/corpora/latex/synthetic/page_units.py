"""Units: the smallest things that are measured and placed, each with the truth of what it shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from parsemark.model import AttributeValue, Category

if TYPE_CHECKING:
    from parsemark.corpora.latex.synthetic.content import TableContent


@dataclass(frozen=True)
class Shown:
    """The truth of one element, before it has a box."""

    category: Category
    text: str | None = None
    latex: str | None = None
    content: TableContent | None = None
    """For tables."""
    attributes: dict[str, AttributeValue] = field(default_factory=dict)
    parent: int | None = None
    """Position in the group of the unit that this one belongs to (a caption's table)."""


@dataclass(frozen=True)
class Unit:
    """LaTeX that makes one box. `@0@`, `@1@`, … stand for the ids of what it shows, `@N@` for a number."""

    latex: str
    shown: tuple[Shown, ...]

    def numbered(self, number: int) -> Unit:
        """With its number (of a table, figure or formula) filled in."""
        filled = tuple(
            replace(
                s,
                text=None if s.text is None else s.text.replace("@N@", str(number)),
            )
            for s in self.shown
        )
        return Unit(self.latex.replace("@N@", str(number)), filled)


@dataclass(frozen=True, slots=True)
class Size:
    """Of a box, in TeX's points; `height` includes the depth."""

    width: float
    height: float


@dataclass(frozen=True)
class UnitGroup:
    """Units that stay together, one below the other."""

    kind: str
    """`heading`, `text`, `list`, `formula`, `figure`, `table`, `footnote`."""
    units: tuple[Unit, ...]
    wide: bool = False
    """Over all columns."""
    gap_inside: float = 4.0
    note: UnitGroup | None = None
    """A footnote that stands at the bottom of the same column."""


def paragraph_box(width: float, content: str, before: str = "") -> str:
    """A box of the given width around text that is broken into lines."""
    return rf"\pmblock{{@0@}}{{\vbox{{\pmbody{{{width:.3f}pt}}{before}{content}\par}}}}"
