"""Where tables come from: drawn by our own generator, or harvested into a pool."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

from parsemark.corpora.latex.pool import PoolEntry, read_pool
from parsemark.corpora.latex.synthetic.tabular import longtable, tabular
from parsemark.corpora.synthetic.draft import Layout, lay_out
from parsemark.corpora.synthetic.story import BOOKTABS, FULL, NONE, PARTIAL
from parsemark.errors import UsageError
from parsemark.formats.latex import read_latex_table
from parsemark.model import Table


class TableContent(Protocol):
    """What a table says, and how it is written in LaTeX."""

    @property
    def kind(self) -> str:
        """What it is about, or `harvested`."""

    @property
    def line(self) -> str:
        """Style of its lines."""

    @property
    def latex(self) -> str:
        """Its tabular environment."""

    @property
    def table(self) -> Table:
        """The truth."""

    @property
    def header_rows(self) -> int | None:
        """Number of header rows, where known."""

    @property
    def has_math(self) -> bool:
        """Whether it has formulas."""

    @property
    def has_text(self) -> bool:
        """Whether it has running text over several lines."""

    @property
    def origin(self) -> str | None:
        """Where it was harvested, with its licence."""


@dataclass(frozen=True)
class OwnTable:
    """A table of our own."""

    layout: Layout
    line: str
    origin: str | None = None

    @property
    def kind(self) -> str:
        """What it is about."""
        return self.layout.draft.kind

    @cached_property
    def latex(self) -> str:
        """Its tabular environment."""
        return tabular(self.layout, self.line)

    @property
    def long_latex(self) -> str:
        """Its longtable environment."""
        return longtable(self.layout, self.line)

    @cached_property
    def table(self) -> Table:
        """The truth."""
        return self.layout.table()

    @property
    def header_rows(self) -> int:
        """Number of header rows."""
        return self.layout.draft.header_rows

    @property
    def has_math(self) -> bool:
        """Whether it has formulas."""
        return any(c.piece.has_math for c in self.layout.cells.values())

    @property
    def has_text(self) -> bool:
        """Whether it has running text over several lines."""
        return any(a.startswith("p") for a in self.layout.draft.alignments)

    def with_rows(self, count: int) -> OwnTable:
        """Only the first rows of the body; a section heading is never the last one."""
        rows = self.layout.draft.rows[:count]
        while rows and rows[-1].kind == "section":
            rows = rows[:-1]
        return replace(self, layout=lay_out(replace(self.layout.draft, rows=rows)))


@dataclass(frozen=True)
class Harvested:
    """A table from a pool."""

    entry: PoolEntry
    kind: str = "harvested"
    header_rows: int | None = None

    @property
    def latex(self) -> str:
        """Its tabular environment."""
        return self.entry.latex

    @cached_property
    def table(self) -> Table:
        """The truth, by our reader; the marked compile confirms its grid."""
        return read_latex_table(self.entry.latex)

    @property
    def line(self) -> str:
        """Style of its lines, judged by its commands."""
        rules = len(re.findall(r"\\[hc]line\b", self.latex))
        specification = self.latex[: self.latex.find("\n")] if "\n" in self.latex else self.latex[:80]
        if re.search(r"\\(top|mid|bottom)rule\b", self.latex):
            return BOOKTABS
        if rules >= self.entry.n_rows and "|" in specification:
            return FULL
        return PARTIAL if rules or "|" in specification else NONE

    @property
    def has_math(self) -> bool:
        """Whether it has formulas."""
        return "$" in self.latex.replace(r"\$", "") or r"\(" in self.latex

    @property
    def has_text(self) -> bool:
        """Whether it has running text over several lines."""
        return re.search(r"[pmbX]\{", self.latex.partition("\n")[0]) is not None

    @property
    def origin(self) -> str:
        """Where it was harvested, with its licence."""
        return f"{self.entry.source} ({self.entry.licence})"


@lru_cache(maxsize=4)
def usable_entries(pool: Path) -> tuple[PoolEntry, ...]:
    """The tables of a pool that need no declarations of their own, so that they can stand on any page."""
    entries = tuple(e for e in read_pool(pool) if not e.preamble and "longtable" not in e.latex)
    if not entries:
        raise UsageError(f"The pool {pool} has no table that can stand by itself.")
    return entries
