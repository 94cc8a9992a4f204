"""What a document says and how it should look, before any program sets it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from parsemark.errors import MakingError
from parsemark.model import AttributeValue, Category, Table, complexity
from parsemark_makers.synthetic.language import Vocabulary, vocabulary
from parsemark_makers.synthetic.looks import BOOKTABS, FULL, NONE, PARTIAL, Look, TableLook
from parsemark_makers.synthetic.pieces import EMPTY, Piece, plain, plains
from parsemark_makers.synthetic.table_draft import Layout, Placed

OMNIDOCBENCH_LINE = {FULL: "full_line", BOOKTABS: "fewer_line", PARTIAL: "less_line", NONE: "wireless_line"}
NUMBER, NEXT_TABLE = "@N@", "@T@"
"""Stand for the number of a table, figure, formula or footnote, and for that of the table that follows."""


@dataclass(frozen=True)
class TextBlock:
    """A heading, a paragraph, or lines and list items that belong together."""

    category: Category
    lines: tuple[Piece, ...]
    level: int = 0  # of a heading: 0 is the title of the document
    marks: tuple[str, ...] = ()  # what stands before each item of a list
    note: Piece = EMPTY  # a footnote

    @property
    def text(self) -> str:
        """Return the truth."""
        marks = self.marks or ("",) * len(self.lines)
        return "\n".join(f"{mark} {line.text}".strip() for mark, line in zip(marks, self.lines, strict=True))


@dataclass(frozen=True)
class FormulaBlock:
    """A displayed formula, in LaTeX."""

    latex: str
    caption: Piece = EMPTY  # its number


@dataclass(frozen=True)
class FigureBlock:
    """A drawing of bars, a curve, or boxes with arrows (which look a little like tables)."""

    kind: str
    labels: tuple[str, ...]
    shares: tuple[float, ...]  # height of each bar or point, of the figure's
    caption: Piece


@dataclass(frozen=True)
class TableBlock:
    """A table with its caption and notes."""

    layout: Layout
    look: TableLook
    caption: Piece = EMPTY
    caption_below: bool = False
    notes: Piece = EMPTY
    long: bool = False  # may run over pages; its head is repeated
    rotate: int = 0  # 0, 90 or 270 degrees counter-clockwise
    scale: float = 1.0

    @cached_property
    def table(self) -> Table:
        """Return the truth."""
        return self.layout.table()

    @property
    def parts(self) -> list[str]:
        """Return `caption`, `table` and `notes` in the order in which they stand, as far as there are any."""
        order = ["table", "notes", "caption"] if self.caption_below else ["caption", "table", "notes"]
        return [part for part in order if part == "table" or getattr(self, part).runs]

    @property
    def has_text(self) -> bool:
        """Return whether a column has running text over several lines."""
        return any(a.startswith("p") for a in self.layout.draft.alignments)

    def fill(self, row: int) -> str | None:
        """Return the colour behind a row."""
        head = self.layout.draft.header_rows
        return self.look.head_fill if row < head else self.look.stripe if (row - head) % 2 else None

    def side(self, cell: Placed) -> str:
        """Return where the text of a cell stands: `l`, `c` or `r`; labels of several columns in their
        middle.
        """
        draft = self.layout.draft
        is_group = cell.row < draft.header_rows and cell.colspan > 1
        return "c" if is_group else draft.alignments[cell.col][0].replace("p", "l")

    def borders(self, cell: Placed) -> dict[str, bool]:
        """Return the sides of a cell that have a line, and whether it is a thick one."""
        draft, line, below = self.layout.draft, self.look.line, cell.row + cell.rowspan
        head, sides = draft.header_rows, dict[str, bool]()
        if line == FULL:
            return dict.fromkeys(("top", "left", "bottom", "right"), False)
        if line == NONE:
            return sides
        if cell.row == 0:
            sides["top"] = True
        elif line == BOOKTABS and cell.row > head and draft.rows[cell.row - head].kind == "total":
            sides["top"] = False
        if below == self.layout.n_rows:
            sides["bottom"] = True
        elif below == head or (line == BOOKTABS and below < head and cell.colspan > 1):
            sides["bottom"] = False
        if line == PARTIAL and draft.stub and cell.col + cell.colspan == len(draft.stub):
            sides["right"] = False
        return sides

    def attributes(self, language: str) -> dict[str, AttributeValue]:
        """Return OmniDocBench's names where it has them, and ours."""
        draft = self.layout.draft
        return {
            "table_layout": "vertical" if self.rotate else "horizontal",
            "with_span": self.table.has_spans,
            "line": OMNIDOCBENCH_LINE[self.look.line],
            # OmniDocBench's spelling where it has the language: `table_en`, `table_simplified_chinese`
            "language": f"table_{language if language.endswith('_chinese') else vocabulary(language).code}",
            "include_equation": any(c.piece.has_math for c in self.layout.cells.values()),
            "include_background": bool(self.look.head_fill or self.look.stripe),
            "include_photo": False,
            "with_structured_text": self.has_text,
            "rotated": self.rotate,
            "long": self.long,
            "scaled": self.scale < 1,
            "complexity": complexity(self.table),
            "kind": draft.kind,
            "header_rows": draft.header_rows,
            "has_notes": bool(self.notes.runs),
        }


FlowingBlock = TextBlock | FigureBlock | TableBlock  # what every renderer can set
Block = FlowingBlock | FormulaBlock


@dataclass(frozen=True)
class SheetDraft:
    """What one page must have: so many tables, of those that fit."""

    wanted: int = 0
    tables: tuple[TableBlock, ...] = ()
    """In the order in which they are tried; a long one runs over all pages of its document."""


@dataclass(frozen=True)
class DocumentDraft:
    """One document. Its blocks follow each other; or pages are planned, and blocks fill what tables leave."""

    name: str
    kind: str  # what it is: `report`, `invoice`, `form`, `statement`, `laboratory`
    language: str
    look: Look
    blocks: tuple[Block, ...]
    running_head: str = ""
    page_numbers: bool = True
    first_page: int = 1
    sheets: tuple[SheetDraft, ...] = ()

    @property
    def words(self) -> Vocabulary:
        """Return the vocabulary of its language."""
        return vocabulary(self.language)

    def characters(self) -> set[str]:
        """Return all that it shows, but for page numbers and formulas."""
        pieces = [plain(self.running_head)]
        for block in self.blocks:
            if isinstance(block, TextBlock):
                pieces += [*plains(*block.marks), *block.lines, block.note]
            elif isinstance(block, TableBlock):
                pieces += [block.caption, block.notes, *(c.piece for c in block.layout.cells.values())]
            elif isinstance(block, FigureBlock):
                pieces += [*plains(*block.labels), block.caption]
        return {character for piece in pieces for run in piece.runs for character in run.text}


def flowing_blocks(draft: DocumentDraft) -> Iterator[tuple[int, FlowingBlock]]:
    """Yield the blocks with their numbers; raise MakingError where there is one that LaTeX alone can set."""
    for index, block in enumerate(draft.blocks):
        if isinstance(block, FormulaBlock) or draft.sheets:
            raise MakingError(f"{draft.name}: only LaTeX can typeset formulas and planned pages.")
        yield index, block


def with_numbers(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return the number tables, figures, formulas and footnotes in the order in which they stand."""
    counts = {TableBlock: 0, FigureBlock: 0, FormulaBlock: 0, TextBlock: 0}
    numbered: list[Block] = []
    for block in blocks:
        kind = type(block)
        if isinstance(block, TextBlock):
            counts[kind] += bool(block.note.runs)
            lines = (line.filled(NEXT_TABLE, counts[TableBlock] + 1) for line in block.lines)
            own = tuple(line.filled(NUMBER, counts[kind]) for line in lines)
            numbered.append(replace(block, lines=own, note=block.note.filled(NUMBER, counts[kind])))
        else:
            counts[kind] += bool(block.caption.runs) or isinstance(block, FigureBlock)
            numbered.append(replace(block, caption=block.caption.filled(NUMBER, counts[kind])))
    return tuple(numbered)
