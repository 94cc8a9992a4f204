"""What a document says and how it should look, before any program sets it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from parsemark.corpora.synthetic.draft import Layout
from parsemark.corpora.synthetic.language import Vocabulary, vocabulary
from parsemark.corpora.synthetic.pieces import EMPTY, Piece
from parsemark.model import AttributeValue, Category, Table
from parsemark.model.table import complexity

FULL, BOOKTABS, PARTIAL, NONE = "full", "booktabs", "partial", "none"
LINE_STYLES = (FULL, BOOKTABS, PARTIAL, NONE)
OMNIDOCBENCH_LINE = {
    FULL: "full_line",
    BOOKTABS: "fewer_line",
    PARTIAL: "less_line",
    NONE: "wireless_line",
}
PAPERS = {"a4": (595.28, 841.89), "letter": (612.0, 792.0)}
"""Width and height in points."""


@dataclass(frozen=True)
class Look:
    """The look of a document; lengths in points, colours as `#rrggbb`."""

    paper: str
    margin_x: float
    margin_y: float
    serif: bool
    size: float
    accent: str
    """Of titles, rules and filled heads."""
    columns: int = 1
    centred_title: bool = False
    justified: bool = True

    @property
    def page_size(self) -> tuple[float, float]:
        """Width and height."""
        return PAPERS[self.paper]

    @property
    def text_width(self) -> float:
        """Between the margins."""
        return self.page_size[0] - 2 * self.margin_x


@dataclass(frozen=True)
class TextBlock:
    """A heading, a paragraph, or lines and list items that belong together."""

    category: Category
    lines: tuple[Piece, ...]
    level: int = 0
    """Of a heading: 0 is the title of the document."""
    marks: tuple[str, ...] = ()
    """What stands before each item of a list."""

    @property
    def text(self) -> str:
        """The truth."""
        marks = self.marks or ("",) * len(self.lines)
        return "\n".join(f"{mark} {line.text}".strip() for mark, line in zip(marks, self.lines, strict=True))


@dataclass(frozen=True)
class TableLook:
    """Lines, colours and spacing of a table."""

    line: str
    size: float
    pad_x: float
    pad_y: float
    head_fill: str | None = None
    head_white: bool = False
    """White letters on the filled head."""
    stripe: str | None = None
    full_width: bool = False


@dataclass(frozen=True)
class TableBlock:
    """A table with its caption and notes."""

    layout: Layout
    look: TableLook
    number: int
    caption: Piece = EMPTY
    caption_below: bool = False
    notes: Piece = EMPTY
    long: bool = False
    """May run over pages; its head is repeated."""

    @cached_property
    def table(self) -> Table:
        """The truth."""
        return self.layout.table()

    def attributes(self, language: str) -> dict[str, AttributeValue]:
        """OmniDocBench's attributes of tables, and ours."""
        return table_attributes(
            self.table,
            kind=self.layout.draft.kind,
            line=OMNIDOCBENCH_LINE[self.look.line],
            language=language,
            header_rows=self.layout.draft.header_rows,
            has_text=any(a.startswith("p") for a in self.layout.draft.alignments),
            has_notes=bool(self.notes.runs),
            background=bool(self.look.head_fill or self.look.stripe),
        )


@dataclass(frozen=True)
class BarFigure:
    """A figure: bars with labels."""

    labels: tuple[str, ...]
    shares: tuple[float, ...]
    """Height of each bar, of the figure's."""
    number: int
    caption: Piece


Block = TextBlock | TableBlock | BarFigure


@dataclass(frozen=True)
class Story:
    """One document."""

    name: str
    kind: str
    """What it is: `report`, `invoice`, `form`, `statement`, `laboratory`."""
    language: str
    look: Look
    blocks: tuple[Block, ...]
    running_head: str = ""
    page_numbers: bool = True

    @property
    def words(self) -> Vocabulary:
        """Of its language."""
        return vocabulary(self.language)

    def characters(self) -> set[str]:
        """All that it shows, but for page numbers."""
        return {c for text in self._texts() for c in text}

    def _texts(self) -> Iterator[str]:
        yield self.running_head
        for block in self.blocks:
            if isinstance(block, TextBlock):
                yield from block.marks
                yield from (run.text for line in block.lines for run in line.runs)
            elif isinstance(block, TableBlock):
                pieces = [block.caption, block.notes, *(c.piece for c in block.layout.cells.values())]
                yield from (run.text for piece in pieces for run in piece.runs)
            else:
                yield from (*block.labels, *(run.text for run in block.caption.runs))


def table_attributes(
    table: Table,
    *,
    kind: str,
    line: str,
    language: str,
    header_rows: int | None,
    has_text: bool,
    has_notes: bool,
    has_math: bool = False,
    background: bool = False,
    rotated: int = 0,
    long: bool = False,
    scaled: bool = False,
) -> dict[str, AttributeValue]:
    """What every maker says of a table: OmniDocBench's names where it has them, and ours."""
    return {
        "table_layout": "vertical" if rotated else "horizontal",
        "with_span": table.has_spans,
        "line": line,
        "language": table_language(language),
        "include_equation": has_math,
        "include_background": background,
        "include_photo": False,
        "with_structured_text": has_text,
        "rotated": rotated,
        "long": long,
        "scaled": scaled,
        "complexity": complexity(table),
        "kind": kind,
        "header_rows": header_rows,
        "has_notes": has_notes,
    }


def table_language(language: str) -> str:
    """OmniDocBench's spelling where it has the language: `table_en`, `table_simplified_chinese`."""
    return f"table_{language if language.endswith('_chinese') else vocabulary(language).code}"


def text_attributes(language: str) -> dict[str, AttributeValue]:
    """OmniDocBench's attributes of text."""
    return {"text_language": f"text_{language}", "text_background": "white", "text_rotate": "normal"}
