"""Tables in plain HTML, which most parsers write: the kernel reads them in one pass, without a tree.

`parsemark.kernels.plain_table` defines what is plain. Of such a table the readers of any HTML make the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from parsemark.formats.cell_text import clean
from parsemark.formats.found_table import FoundTable
from parsemark.formats.html.grid_builder import GridBuilder
from parsemark.formats.html.tree import script
from parsemark.formats.limits import MAX_CELL_CHARS, MAX_GRID
from parsemark.kernels import kernel
from parsemark.model import Table


@dataclass(frozen=True, slots=True)
class PlainTable:
    """The cells of a table that is written at `text[start:end]`, row by row."""

    start: int
    end: int
    row_lengths: Sequence[int]
    texts: list[str]
    """The text of each cell without its markup, white space as single spaces."""
    spans: Mapping[int, tuple[int, int]]
    """Rowspan and colspan of the cells that cover several positions."""
    headers: Sequence[bool] | None
    """Which cells are headers; None if the table does not say."""
    marked: Mapping[int, Sequence[str]]
    """Cells with markup: text, tag, text, tag, …, text."""

    def table(self) -> Table:
        """Return the table of the model, with the text of cells as `cell_text` writes it."""
        texts = list(self.texts)
        for index, pieces in self.marked.items():
            texts[index] = _text_of(pieces)
        ends = list(accumulate(self.row_lengths, initial=0))
        rows = pairwise(ends)
        headers = self.headers or ()
        n_headers = headers.index(False) if False in headers else len(headers)
        # Most tables have no spans, and headers in whole rows: their cells are made only if they are needed.
        if not self.spans and n_headers in ends and not any(headers[n_headers:]):
            header_rows = None if self.headers is None else ends.index(n_headers)
            return Table.from_rows([texts[begin:end] for begin, end in rows], header_rows)
        builder = GridBuilder()
        for begin, end in rows:
            builder.start_row()
            for index in range(begin, end):
                header = headers[index] if headers else None
                builder.add(texts[index], *self.spans.get(index, (1, 1)), header)
        return builder.build()

    def found_in(self, text: str) -> FoundTable:
        """Return the table with its place in the text it was read from."""
        return FoundTable(self.table(), "html", self.start, self.end, text[self.start : self.end])


def read_plain_table(text: str) -> PlainTable | None:
    """Read a text that is one plain table; None if it is anything else, or near a limit of what is read."""
    entries = kernel.read_plain_table(text) if len(text) <= MAX_CELL_CHARS else None
    if entries is None:
        return None
    plain = PlainTable(*entries)
    spans = plain.spans.values()
    most_rows = len(plain.row_lengths) + sum(down for down, _ in spans)
    most_columns = max(plain.row_lengths, default=0) + sum(across for _, across in spans)
    return plain if most_rows * most_columns <= MAX_GRID else None


def _text_of(pieces: Sequence[str]) -> str:
    """Return the clean text of a cell, as `cell_text` writes it."""
    written: list[str] = []
    script_starts: list[int] = []
    for k, piece in enumerate(pieces):
        if k % 2 == 0:
            written.append(piece.replace("\n", " "))
        elif piece == "br":
            written.append("\n")
        elif piece in ("sup", "sub"):
            script_starts.append(len(written))
        elif piece in ("/sup", "/sub"):
            start = script_starts.pop()
            written[start:] = [script(piece[1:], "".join(written[start:]))]
    return clean("".join(written))
