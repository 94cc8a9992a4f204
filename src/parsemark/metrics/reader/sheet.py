"""A table as a reader sees it: folded texts on a full grid, without empty rows and columns."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, compress, islice, takewhile
from typing import Any, TypeVar

from parsemark.formats.notation import fold_notation, is_placeholder
from parsemark.model import HOLE, Table

Entry = TypeVar("Entry")
Grid = list[list[Entry]]
Entries = tuple[Any, ...]  # what each grid of a sheet says of one cell, in the order of its fields

_SPACED_PAIR = re.compile(r"(?<=\d)(?:\s+,\s*|,(?:\s|\\[ ,;:]|~)+)(?=[-\d])")
_COMMA = re.compile(r"(?<=\d),(?=[-\d])")
_BRACKETED = re.compile(r"[(\[][^()\[\];]*[)\]]")
_RANGE = re.compile(r"(?<=\d)~(?=\d)")
"""From one number to another: TeX would take it for a space, which does not occur there."""
_PLAIN = re.compile(r"[0-9]++(?:\.[0-9]++)?|[A-Za-z]{5,}+(?: [A-Za-z]++)*+")
"""Numbers and words that are no placeholders: most cells, and nothing is folded in them."""
_NOT_PLAIN = re.compile(rf"^(?!(?:{_PLAIN.pattern})$).*$", re.MULTILINE)
_STEPS: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    # A small o or a zero raised before a unit of temperature or behind a number.
    ("^", re.compile(r"\^\{?°\}?|\^\{?[o0]\}?(?=[CF](?![^\W\d_]))|(?<=\d)\^\{?o\}?(?![^\W_])"), "°"),
    (",", _COMMA, ";"),
    # The sign of an amount behind its currency.
    ("-", re.compile(r"([$€£¥₹])\s?-(?=\d)"), r"-\1"),
    # A mark of emphasis that was left at a sign, where no script can stand: `1.3_×10^{-_2}`.
    ("_", re.compile(r"_\{([×=<>→])\}|_(?=[×=<>→])|(?<=[-+±×=<>→])_"), lambda found: found[1] or ""),
    # A sign in italics inside a word, where Markdown knows no italics: `2_×_10`.
    ("_", re.compile(r"_\{?([^\w\s{}]{1,2})\}?_"), r"\1"),
    # How far up and down a value may be off: above and below each other, or behind it in any order; or alone.
    (
        "+",
        re.compile(
            r"(?:(?<=[\d%])|^(?=[^\d.]*+[\d.]++[^\d.]++[\d.]++[^\d.]*+$))(?:(\()|(\[))?"
            r"(?:\^?\+([\d.]++)\s?[;,/]?\s?_?-([\d.]++)|_?-([\d.]++)\s?[;,/]?\s?\^?\+([\d.]++))"
            r"(?(1)\))(?(2)\])"
        ),
        lambda found: f"+{found[3] or found[6]}-{found[4] or found[5]}",
    ),
    # `3 × 10^{-4}` and `3E-04` as `3e-4`; a power of ten that is multiplied with nothing.
    (
        "",
        re.compile(
            r"(?<![\w.])(-?\d[\d.]*)"
            r"(?:[×x·*]10(?:\^\{([+-]?\d+)\}|\^([+-]\d+)|\^(\d{1,3}))|[eE]([+-]?\d{1,3}))(?![\w.])"
        ),
        lambda found: f"{found[1]}e{int(found[2] or found[3] or found[4] or found[5])}",
    ),
    ("10^", re.compile(r"(?<![\w.×·*/(])10\^(?:\{(?=[^{}]*\}))?\+?(-?\d{1,3})\}?(?![\w.^])"), r"1e\1"),
)
"""How cells are folded beyond notation: a sign that such a cell has, a pattern, and what is put for it."""
_LONGEST_KEPT = 200
_ORDINAL = str.maketrans({"º": "°"})
_DIGITS = str.maketrans(
    {c: str(unicodedata.digit(c)) for c in map(chr, range(0x0660, 0x1E960)) if c.isdecimal()}
    | {"٫": ".", "٬": ",", "٪": "%"}
)
"""The digits of all scripts."""


@dataclass(frozen=True)
class Sheet:
    """Grids with one list per row and one entry per column."""

    texts: Grid[str]  # folded texts; empty for placeholders. A spanning cell repeats its text
    shown: Grid[str]  # the texts as they were written
    starts: Grid[bool]  # whether a cell begins here: not so where a span repeats it
    present: Grid[bool]  # whether anything is written here, be it a placeholder
    holes: Grid[bool]  # whether the source has no cell here, not even an empty one
    header_rows: int | None  # how many leading rows the source says are headers; None where it does not say

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.texts)

    @property
    def n_cols(self) -> int:
        """Return the number of columns."""
        return len(self.texts[0]) if self.texts else 0

    @classmethod
    def from_table(cls, table: Table) -> Sheet:
        """Fold a table and drop its empty columns, and its rows in which nothing begins."""
        if table.plain_rows is not None:
            return cls.from_texts(*table.plain_rows)
        texts = [cell.text for cell in table.cells] + [""]  # what a hole says: it is -1, the last entry
        shown, folded = list(map(str.strip, texts)), _folded(texts)
        filled = list(map(bool, shown))
        rows = sorted({cell.row for cell, said in zip(table.cells, filled, strict=False) if said})
        cols = sorted({c for r in rows for c, i in enumerate(table.grid[r]) if filled[i]})
        grid = [[table.grid[r][c] for c in cols] for r in rows]
        firsts = dict.fromkeys(range(len(table.cells)), True)
        told = ([table.cells[i].header for i in table.grid[r] if filled[i]] for r in rows)
        flagged = sum(1 for _ in takewhile(lambda flags: flags and all(flags), told))
        return cls(
            texts=[[folded[i] for i in row] for row in grid],
            shown=[[shown[i] for i in row] for row in grid],
            starts=[[i == HOLE or firsts.pop(i, False) for i in row] for row in grid],
            present=[[filled[i] for i in row] for row in grid],
            holes=[[i == HOLE for i in row] for row in grid],
            header_rows=None if all(cell.header is None for cell in table.cells) else flagged,
        )

    @classmethod
    def from_texts(cls, rows: Sequence[Sequence[str]], header_rows: int | None = None) -> Sheet:
        """Return a table of nothing but rows of texts, without those rows and columns that are empty."""
        said = [list(map(bool, map(str.strip, row))) for row in rows]
        if not all(map(all, said)):
            kept = list(map(any, said))
            header_rows = None if header_rows is None else sum(kept[:header_rows])
            used = list(map(any, zip(*said, strict=True)))
            rows = [list(compress(row, used)) for row in compress(rows, kept)]
        return cls.from_rows(rows, header_rows)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[str]], header_rows: int | None = None) -> Sheet:
        """Return rows of equally many texts."""
        shown = [list(map(str.strip, row)) for row in rows]
        folded = iter(_folded(list(chain.from_iterable(rows))))
        return cls(
            texts=[list(islice(folded, len(row))) for row in rows],
            shown=shown,
            starts=[[True] * len(row) for row in rows],
            present=[list(map(bool, row)) for row in shown],
            holes=[[False] * len(row) for row in rows],
            header_rows=header_rows,
        )

    @cached_property
    def said(self) -> frozenset[str]:
        """Return every folded text once."""
        return frozenset(chain.from_iterable(self.texts))

    def full(self, row: int, col: int) -> str:
        """Return the folded text of a cell, placeholders too."""
        return self.texts[row][col] or fold_notation(self.shown[row][col])

    def goes_on(self, row: int, col: int) -> bool:
        """Return whether a cell that says something goes on here from the left."""
        texts = self.texts[row]
        return col > 0 and bool(texts[col]) and not self.starts[row][col] and texts[col] == texts[col - 1]

    def span_in_row(self, row: int, col: int) -> range:
        """Return the columns of the cell at a place."""
        return _span(self.starts[row], self.texts[row], col)

    def span_in_column(self, row: int, col: int) -> range:
        """Return the rows of the cell at a place."""
        return _span([line[col] for line in self.starts], [line[col] for line in self.texts], row)

    def transposed(self) -> Sheet:
        """Return the sheet with rows and columns exchanged."""
        return Sheet.from_grids(list(map(list, zip(*grid, strict=True))) for grid in self.grids)

    @cached_property
    def runs_to_the_left(self) -> bool:
        """Return whether most of its letters are those of a script that is written from right to left."""
        if all(map(str.isascii, self.said)):
            return False
        letters = [unicodedata.bidirectional(c) for text in self.said for c in text if c.isalpha()]
        return 2 * sum(kind in ("R", "AL") for kind in letters) > len(letters)

    @property
    def grids(self) -> tuple[Grid[Any], ...]:
        """Return the grids, in the order of the fields."""
        return self.texts, self.shown, self.starts, self.present, self.holes

    @classmethod
    def from_grids(cls, grids: Iterable[Grid[Any]], header_rows: int | None = None) -> Sheet:
        """Return a sheet of its grids, in the order of the fields."""
        texts, shown, starts, present, holes = grids
        return cls(texts, shown, starts, present, holes, header_rows)

    def cell(self, row: int, col: int) -> Entries:
        """Return the content of a cell in each of the grids."""
        return tuple([grid[row][col] for grid in self.grids])

    def text_in(self, cells: Sequence[tuple[int, int]]) -> str:
        """Return the joint text of neighbouring cells; text that spans them counts once."""
        texts: list[str] = []
        for row, col in cells:
            text = self.texts[row][col]
            if text and (self.starts[row][col] or text not in texts[-1:]):
                texts.append(text)
        return " ".join(texts)

    def as_one(self, cells: Sequence[tuple[int, int]]) -> Entries:
        """Return the content of neighbouring cells in each of the grids, as one cell."""
        every = [self.cell(row, col) for row, col in cells]
        if len(every) == 1:
            return every[0]
        begun = [entries[1] for entries in every if entries[2] or entries is every[0]]
        shown = " ".join(filter(None, begun))
        return self.text_in(cells), shown, every[0][2], bool(shown), all(entries[4] for entries in every)

    @classmethod
    def from_cells(cls, rows: Sequence[Sequence[Entries]], header_rows: int | None) -> Sheet:
        """Return a sheet of what each of the grids says of its cells."""
        return cls.from_grids(([[cell[k] for cell in row] for row in rows] for k in range(5)), header_rows)

    @classmethod
    def beside(cls, sheets: Sequence[Sheet], header_rows: int | None) -> Sheet:
        """Return sheets of equally many rows side by side."""
        grids = zip(*(sheet.grids for sheet in sheets), strict=True)
        joined = ([list(chain(*lines)) for lines in zip(*parts, strict=True)] for parts in grids)
        return cls.from_grids(joined, header_rows)

    @classmethod
    def stacked(cls, sheets: Sequence[Sheet]) -> Sheet:
        """Return sheets of one width below each other."""
        grids = zip(*(sheet.grids for sheet in sheets), strict=True)
        return cls.from_grids(list(chain.from_iterable(parts)) for parts in grids)

    def with_texts(self, texts: Grid[str], present: Grid[bool] | None = None) -> Sheet:
        """Return the sheet with other folded texts, and where it says something if that changes."""
        return dataclasses.replace(self, texts=texts, present=present or self.present)

    def rewritten(self, how: Callable[[str, str], str]) -> Sheet:
        """Return the sheet with folded texts put in another way, which depends on what is written there."""
        texts = [list(map(how, *lines)) for lines in zip(self.texts, self.shown, strict=True)]
        return self if texts == self.texts else self.with_texts(texts)

    def part(
        self, rows: Sequence[int], columns: Sequence[int | None], header_rows: int | None = None
    ) -> Sheet:
        """Return some rows, and some columns in another order; None stands for an empty column."""
        grids = zip(self.grids, ("", "", True, False, False), strict=True)
        chosen = ([[no if c is None else grid[r][c] for c in columns] for r in rows] for grid, no in grids)
        return Sheet.from_grids(chosen, header_rows)


def _folded(texts: Sequence[str]) -> list[str]:
    """Return the folded texts of cells; those that are not plain are looked for in all of them at once."""
    joined = "\n".join(texts)
    if joined.count("\n") >= max(len(texts), 1):  # a cell of several lines
        return list(map(fold_cell, texts))
    others = {text: fold_cell(text) for text in _NOT_PLAIN.findall(joined)}
    return [others.get(text, text) for text in texts] if others else list(texts)


def fold_cell(text: str) -> str:
    """Return `folded_cell`, kept for texts that come again."""
    if _PLAIN.fullmatch(text):
        return text
    return _folded_cell(text) if len(text) <= _LONGEST_KEPT else folded_cell(text)


def folded_cell(text: str) -> str:
    r"""Return the folded text of a cell, empty for a placeholder.

    A comma with white space behind it, or alone in brackets, separates two numbers; TeX's math mode drops the
    space.

    >>> folded_cell("(81, 501)") == fold_cell("(81,501)"), fold_cell("1,234 K"), fold_cell("[1,000, 2,000]")
    (True, '1234 K', '[1000;2000]')
    >>> fold_cell("$3 \\times 10^{-4}$"), fold_cell("3E-04"), fold_cell("10^3")
    ('3e-4', '3e-4', '1e3')
    >>> fold_cell("$1.4^{+0.2}_{-0.1}$"), fold_cell("1.4 (−0.1/+0.2)")
    ('1.4+0.2-0.1', '1.4+0.2-0.1')
    >>> fold_cell("$^{+0.2}_{-0.1}$"), fold_cell("(−0.1, +0.2)"), fold_cell("-5 +2 -1")
    ('+0.2-0.1', '+0.2-0.1', '-5+2-1')
    """
    written = text if text.isascii() else text.translate(_ORDINAL).translate(_DIGITS)
    if "," in written:
        spaced = _SPACED_PAIR.sub("; ", written)
        written = _BRACKETED.sub(lambda found: _COMMA.sub("; ", found[0]), spaced)
    folded = fold_notation(_RANGE.sub("∼", written))
    for sign, pattern, by in _STEPS:
        folded = pattern.sub(by, folded) if sign in folded else folded
    if not folded and len(text.strip()) == 1:
        return text.strip()  # a brace or a dollar alone is no markup
    return "" if is_placeholder(folded) else folded


_folded_cell = lru_cache(20_000)(folded_cell)


def _span(starts: Sequence[bool], texts: Sequence[str], at: int) -> range:
    """Return the neighbours that say the same as one of them, from where it begins to the next beginning."""
    begin, end = at, at + 1
    while begin and not starts[begin] and texts[begin - 1] == texts[at]:
        begin -= 1
    while end < len(texts) and not starts[end] and texts[end] == texts[at]:
        end += 1
    return range(begin, end)
