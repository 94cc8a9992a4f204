"""What a structure model sees in a table, and the numbers by which it is read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from parsemark.model import Box


class Kind(StrEnum):
    """The classes of Table Transformer's structure model, in the order of its outputs."""

    TABLE = "table"
    COLUMN = "table column"
    ROW = "table row"
    COLUMN_HEADER = "table column header"
    PROJECTED_ROW_HEADER = "table projected row header"
    SPANNING_CELL = "table spanning cell"


@dataclass(frozen=True, slots=True)
class Part:
    """One box that the model saw."""

    kind: Kind
    box: Box
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Rules:
    """How boxes are read. The defaults are those of Table Transformer's own post-processing.

    Two of its defects are not copied: header cells that are written outside of any row, and spans that are
    never tied to the header (here a span lies either in the header or in the body).
    """

    member_share: float = 0.5
    """A part belongs to the table if this share of its own area lies inside."""
    word_share: float = 0.5
    """A row or column holds a word if it covers this share of the word's area."""
    row_overlap: float = 0.5
    """Where no word tells: a row that overlaps a better one by this share of the smaller is dropped."""
    column_overlap: float = 0.25
    """The same for columns."""
    min_header_score: float = 0.5
    min_span_score: float = 0.5
    snap_share: float = 0.5
    """A span or header takes the rows and columns of which it covers this share."""
    fill_gaps: bool = True
    """Whether a line of words between two rows (or columns) that no box covers becomes a row (or column).

    Not part of Table Transformer's rules: a row that the network missed would otherwise be poured into its
    neighbours.
    """
    split_rows: bool = True
    """Whether a row that holds several lines of text in most of its columns, in a table whose rows hold one,
    is taken apart. Not part of Table Transformer's rules: the network sees two close rows as one.
    """


RULES = Rules()
