"""Where a table lies on its page, what a structure model sees in it, and by which numbers that is read."""

from dataclasses import dataclass
from enum import StrEnum

from parsemark.model import Box


@dataclass(frozen=True, slots=True)
class Frame:
    """Upright coordinates of a table: from its top left, after turning the picture clockwise by `angle`."""

    box: Box  # the table on the page, in points
    angle: int = 0  # 0, 90, 180 or 270: by how much the crop is turned clockwise until its text is upright

    def __post_init__(self) -> None:
        if self.angle not in (0, 90, 180, 270):
            raise ValueError(f"a table can be turned by 0, 90, 180 or 270 degrees, not {self.angle}")

    @property
    def _origin(self) -> tuple[float, float]:
        """Return the shift that moves the turned table's top left to 0."""
        width, height = self.box.width, self.box.height
        return {0: (0.0, 0.0), 90: (height, 0.0), 180: (width, height), 270: (0.0, width)}[self.angle]

    def from_page(self, box: Box) -> Box:
        """Return a box of the page in the table's own coordinates."""
        return box.moved(-self.box.x0, -self.box.y0).turned(self.angle).moved(*self._origin)

    def to_page(self, box: Box) -> Box:
        """Return a box of the table on the page."""
        right, down = self._origin
        return box.moved(-right, -down).turned(-self.angle % 360).moved(self.box.x0, self.box.y0)

    @property
    def upright(self) -> Box:
        """Return the table in its own coordinates."""
        return self.from_page(self.box)


class PartKind(StrEnum):
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

    kind: PartKind
    box: Box
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Rules:
    """How boxes are read. The defaults are those of Table Transformer's own post-processing.

    Two of its defects are not copied: header cells that are written outside of any row, and spans that are
    never tied to the header (here a span lies either in the header or in the body).
    """

    member_share: float = 0.5  # a part belongs to the table if this share of its own area lies inside
    word_share: float = 0.5  # a row or column holds a word if it covers this share of the word's area
    row_overlap: float = 0.5
    """Where no word tells: a row that overlaps a better one by this share of the smaller is dropped."""
    column_overlap: float = 0.25  # the same for columns
    min_header_score: float = 0.5
    min_span_score: float = 0.5
    snap_share: float = 0.5  # a span or header takes the rows and columns of which it covers this share
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
