"""From a draft to a PDF and the places of all it shows: measuring, packing, a clean and a marked compile."""

import random
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from parsemark.errors import LatexError
from parsemark.model import Category, slot
from parsemark.system.pdflatex import Compiled, CompileLimits, compile_latex, precompiled
from parsemark_makers.latex.cell_boxes import MarkedTable
from parsemark_makers.latex.marks import MARKS_FILE, MarkedPage, read_marks
from parsemark_makers.synthetic import document
from parsemark_makers.synthetic.document import Block, DocumentDraft, SheetDraft, TableBlock, TextBlock
from parsemark_makers.synthetic.looks import looks
from parsemark_makers.synthetic.pieces import plain
from parsemark_makers.synthetic.plan import stream
from parsemark_makers.synthetic.renderers.latex import writer as latex
from parsemark_makers.synthetic.renderers.latex.writer import GAP_INSIDE, LatexWriter, gap
from parsemark_makers.synthetic.truth import Place, Rendered

HEAD, PAGE_NUMBER = 1, 2
PAGE_MARKS = 100_000  # marks of heads and page numbers: PAGE_MARKS + 10 · page + one of the above
LIMITS = CompileLimits(cpu_s=120, wall_s=600)
LONG_PASSES = 3  # head and body of a long table find common widths through the aux file
LONG_END = 0.45  # how far down its last page a long table should end
OVERFULL_PT = 0.5
SMALLEST_SCALE = 0.6
LOOK_AHEAD = 10  # how many blocks are tried for the rest of a column before it is left free
SPARE = 4.0  # height that is kept free, for what measuring cannot see
BELOW_HEADING = 60.0  # room that a heading must have below it
PACKAGES = r"""
\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{textcomp}
\usepackage{amsmath,amssymb,array,booktabs,multirow,longtable,graphicx,etoolbox,pict2e,geometry}
\input{glyphtounicode}\pdfgentounicode=1
"""
_MEASURED = re.compile(r"^@PM (\d+) (-?[\d.]+)pt (-?[\d.]+)pt (-?[\d.]+)pt", re.MULTILINE)
_OVERFULL = re.compile(r"^Overfull \\vbox \(([\d.]+)pt", re.MULTILINE)


class Size(NamedTuple):
    """Of a box, in points; `height` includes the depth."""

    width: float
    height: float


class SheetPlan(NamedTuple):
    """What goes where on one page."""

    wide: tuple[Block, ...]  # over all columns, at the top
    columns: tuple[tuple[Block, ...], ...]

    def blocks(self) -> list[Block]:
        """Return the blocks in reading order."""
        return [*self.wide, *(block for column in self.columns for block in column)]


class Packer:
    """Fills the pages of one document from its texts, in order."""

    def __init__(self, draft: DocumentDraft, sizes: Mapping[str, Size], rng: random.Random) -> None:
        self.look, self.sizes, self.rng = draft.look, sizes, rng
        self.texts = list(draft.blocks)
        self.writer = LatexWriter(draft)

    def fit_table(self, block: TableBlock, height: float) -> tuple[TableBlock, bool, float] | None:
        """Return a table scaled to fit into a height, whether it takes all columns, and its own height; or
        None.
        """
        natural = self.sizes[self.writer.natural(block)]
        width, tall = natural[::-1] if block.rotate else natural
        wide = self.look.columns > 1 and width > self.look.column_width
        room = self.look.text_width if wide else self.look.column_width
        beside = sum(self.sizes[unit].height + GAP_INSIDE for unit in self.writer.beside(0, block, room))
        free = height - beside - gap(self.look) - SPARE
        scale = min(1.0, room / width, free / tall)
        if free <= 0 or scale < SMALLEST_SCALE:
            return None
        scale = 1.0 if scale > 0.999 else scale * 0.995
        return replace(block, scale=scale), wide, beside + gap(self.look) + tall * scale

    def page(self, sheet: SheetDraft, *, all_tables: bool) -> SheetPlan:
        """Return a page with the wanted tables (at least one, if not all must be there), and text in the
        rest.
        """
        look = self.look
        free = [look.text_height] * look.columns
        wide: list[Block] = []
        placed: list[list[Block]] = [[] for _ in range(look.columns)]
        count = 0
        for block in sheet.tables:
            if count == sheet.wanted:
                break
            column = max(range(look.columns), key=lambda c: free[c])
            fitted = self.fit_table(block, min(free)) or self.fit_table(block, max(free))
            if fitted is None or (fitted[1] and fitted[2] > min(free)):
                continue
            table, across, height = fitted
            count += 1
            if across:
                wide.append(table)
                free = [room - height for room in free]
            else:
                placed[column].append(table)
                free[column] -= height
        if count < (sheet.wanted if all_tables else min(1, sheet.wanted)):
            raise LatexError(f"Only {count} of {sheet.wanted} tables fit on a page.")
        return SheetPlan(tuple(wide), tuple(map(self._column, free, placed)))

    def in_order(self) -> list[SheetPlan]:
        """Lay out pages of one column with all blocks in the order of the draft."""
        pages: list[list[Block]] = []
        room = 0.0
        for text in self.texts:
            block: Block = text
            if isinstance(text, TableBlock):
                fitted = self.fit_table(text, self.look.text_height)
                if fitted is None:
                    raise LatexError("A table is too large for a page.")
                block, _, height = fitted
            else:
                height = self.height(text)
            if not pages or height + _room_below(block) > room:
                pages.append([])
                room = self.look.text_height - SPARE
            pages[-1].append(block)
            room -= height
        return [SheetPlan((), (tuple(page),)) for page in pages]

    def height(self, block: Block) -> float:
        """Return the height of a block with the gap that follows it, and of its footnote."""
        units = self.writer.in_column(block)
        return sum(self.sizes[unit].height for unit in units) + GAP_INSIDE * (len(units) - 1) + gap(self.look)

    def take(self, room: float) -> list[Block]:
        """Return blocks from the front of the texts, as many as fit."""
        taken: list[Block] = []
        room -= SPARE
        index = 0
        while index < min(LOOK_AHEAD, len(self.texts)) and room > 12:
            block = self.texts[index]
            height = self.height(block)
            if height + _room_below(block) > room:
                index += 1
            else:
                taken.append(self.texts.pop(index))
                room -= height
        while taken and _is_heading(taken[-1]):
            taken.pop()
        return taken

    def _column(self, room: float, tables: Sequence[Block]) -> tuple[Block, ...]:
        """Return tables with as much text around them as the room takes; none right below a heading."""
        mixed = self.take(room)
        for table in tables:
            places = [i for i in range(len(mixed) + 1) if i == 0 or not _is_heading(mixed[i - 1])]
            mixed.insert(self.rng.choice(places), table)
        return tuple(mixed)


def _is_heading(block: Block) -> bool:
    return isinstance(block, TextBlock) and block.category == Category.TITLE


def _room_below(block: Block) -> float:
    return BELOW_HEADING if _is_heading(block) else 0.0


def boxes_to_measure(draft: DocumentDraft, tables: Iterable[TableBlock]) -> list[str]:
    """Return all boxes whose size must be known before a document can be packed."""
    writer, look = LatexWriter(draft), draft.look
    found: list[str] = []
    for block in (*draft.blocks, *tables):
        if isinstance(block, TableBlock):
            found.append(writer.natural(block))
            for width in (look.column_width, look.text_width):
                found += writer.beside(0, block, width)
        else:
            found += writer.in_column(block)
    return list(dict.fromkeys(found))


def precompile() -> None:
    """Make the formats that all documents share, before several processes would."""
    for document_class in looks()["pages"]["latex"]["document_class"]:
        precompiled(f"\\documentclass{{{document_class}}}{PACKAGES}")


def render(drafts: list[DocumentDraft], folder: Path) -> list[Rendered]:
    """Set documents, each as a PDF in `folder`; LatexError if one cannot be set as it was drawn."""
    return [_Setting(draft, folder).render() for draft in drafts]


class _Body(NamedTuple):
    """The LaTeX of all pages, what they show in reading order, and the key of each mark."""

    latex: str
    blocks: tuple[Block, ...]
    keys: dict[int, str]


class _Setting:
    def __init__(self, draft: DocumentDraft, folder: Path) -> None:
        self.draft, self.look, self.folder = draft, draft.look, folder
        self.tables = [block for sheet in draft.sheets for block in sheet.tables]
        self.long = any(block.long for block in self.tables)
        self.format = precompiled(f"\\documentclass{{{self.look.document_class}}}{PACKAGES}")

    def render(self) -> Rendered:
        sizes = self._measure(boxes_to_measure(self.draft, self.tables))
        rng = stream("pack", self.draft.name, self.draft.first_page, len(self.draft.blocks))
        packer = Packer(self.draft, sizes, rng)
        body = self._long_body(packer) if self.long else self._pages_body(packer)
        shutil.copy(MARKS_FILE, self.folder / MARKS_FILE.name)
        pdf, marked = self._typeset(body, marked=False), self._typeset(body, marked=True)
        draft = replace(self.draft, blocks=body.blocks, sheets=())
        places = tuple(_places(draft, read_marks(marked), body.keys))
        if self.draft.sheets and max(place.page for place in places) != len(self.draft.sheets):
            raise LatexError(f"{len(self.draft.sheets)} pages became {max(p.page for p in places)}.")
        return Rendered(draft, pdf, places, table_latex=LatexWriter(draft).table_latex)

    def _measure(self, boxes: Sequence[str]) -> dict[str, Size]:
        """Set each box once, without making a PDF, and read its size from the log."""
        texts = (box.replace(document.NUMBER, "8") for box in boxes)
        calls = "\n".join(rf"\pmmeasure{{{i}}}{{{text}}}" for i, text in enumerate(texts))
        result = self._compile(f"{calls}\n", "measure", draft=True)
        sizes = {
            int(m[1]): Size(float(m[2]) * latex.TEX_POINT, (float(m[3]) + float(m[4])) * latex.TEX_POINT)
            for m in _MEASURED.finditer(result.log)
        }
        if len(sizes) != len(boxes):
            raise LatexError(f"{len(boxes) - len(sizes)} blocks could not be measured: {result.reason}")
        return {box: sizes[index] for index, box in enumerate(boxes)}

    def _pages_body(self, packer: Packer) -> _Body:
        all_tables = any(sheet.wanted > 3 for sheet in self.draft.sheets)
        planned = [packer.page(sheet, all_tables=all_tables) for sheet in self.draft.sheets]
        sheets, keys = planned or packer.in_order(), dict[int, str]()
        blocks = document.with_numbers(block for sheet in sheets for block in sheet.blocks())
        writer, numbered = LatexWriter(self.draft, keys), iter(enumerate(blocks))
        pages = [f"{self._sheet(sheet, writer, numbered)}\n\\newpage\n" for sheet in sheets]
        return _Body("".join(pages), blocks, keys)

    def _sheet(self, sheet: SheetPlan, writer: LatexWriter, numbered: Iterator[tuple[int, Block]]) -> str:
        look = self.look
        wide = self._stack([next(numbered) for _ in sheet.wide], writer, look.text_width)
        columns = []
        for column in sheet.columns:
            own = [next(numbered) for _ in column]
            content, feet = self._stack(own, writer, look.column_width), ""
            for index, block in own:
                if isinstance(block, TextBlock) and block.note.runs:
                    note = writer.footnote(index, block, look.column_width)
                    feet += rf"\pmunit{{{note}}}\kern{GAP_INSIDE}bp" + "\n"
            columns.append(rf"\vbox to\dimen0{{\hsize{look.column_width:.3f}bp {content}\vfil{feet}}}")
        joined = rf"\kern{look.column_gap}bp".join(columns)
        return (
            rf"\setbox1\vbox{{{wide}}}\dimen0\textheight\advance\dimen0-\ht1\advance\dimen0-\dp1"
            "\n"
            rf"\vbox to\textheight{{\box1\nointerlineskip\hbox{{{joined}}}\vss}}"
        )

    def _stack(self, blocks: Sequence[tuple[int, Block]], writer: LatexWriter, width: float) -> str:
        parts = []
        for index, block in blocks:
            units = [rf"\pmunit{{{unit}}}" for unit in writer.units(index, block, width)]
            parts.append(rf"\kern{GAP_INSIDE}bp".join(units) + rf"\kern{gap(self.look)}bp" + "\n")
        return "".join(parts)

    def _long_body(self, packer: Packer) -> _Body:
        """Return a table over all pages of the document, with text before and after it."""
        height = self.look.text_height
        packer.texts = [b for b in packer.texts if not (isinstance(b, TextBlock) and b.note.runs)]
        room = height * packer.rng.uniform(0.15, 0.5)
        before = packer.take(room)
        table = self._cut(self.tables[0], packer, height - room)
        after = packer.take(height * (1 - LONG_END) * 0.55)
        blocks, keys = document.with_numbers([*before, table, *after]), dict[int, str]()
        writer, numbered = LatexWriter(self.draft, keys), list(enumerate(blocks))
        at, width = len(before), self.look.column_width
        own = blocks[at]
        assert isinstance(own, TableBlock)
        caption = rf"\pmunit{{{writer.beside(at, own, width)[0]}}}\nobreak\kern2pt"
        long = f"{{{latex.setting(table)}{latex.longtable(table.layout, table.look.line, width)}}}"
        above, below = (self._stack(part, writer, width) for part in (numbered[:at], numbered[at + 1 :]))
        return _Body(f"{above}\n{caption}{long}\n{below}\n", blocks, keys)

    def _cut(self, block: TableBlock, packer: Packer, first_room: float) -> TableBlock:
        """Keep as many rows as make the table end on the last page; a section heading is never the last."""
        natural, head = packer.sizes[packer.writer.natural(block)], block.layout.draft.header_rows
        if natural.width > self.look.text_width:
            raise LatexError("The long table is too wide.")
        pages = len(self.draft.sheets)
        room = first_room + self.look.text_height * (pages - 2 + LONG_END)
        keep = int(room / (natural.height / block.layout.n_rows)) - head * pages
        rows = block.layout.draft.rows
        if not 0 < keep <= len(rows):
            raise LatexError("The long table has too few rows.")
        while keep and rows[keep - 1].kind == "section":
            keep -= 1
        return replace(block, layout=block.layout.part(range(head + keep)))

    def _page_style(self) -> str:
        """Return heads and feet with their marks."""

        def block(kind: int, content: str) -> str:
            return rf"\pmblock{{\number\numexpr{PAGE_MARKS}+\value{{page}}*10+{kind}\relax}}{{{content}}}"

        draft, where = self.draft, self.look.head
        number = block(PAGE_NUMBER, r"\thepage") if draft.page_numbers else ""
        text = ""
        if draft.running_head:
            text = block(HEAD, rf"\small\itshape {plain(draft.running_head).latex}")
        top = {"both": rf"{text}\hfil", "head": rf"{text}\hfil{number}", "foot": ""}[where]
        bottom = {"both": rf"\hfil{number}\hfil", "head": "", "foot": rf"{text}\hfil{number}"}[where]
        return (
            rf"\makeatletter\def\ps@parsemark{{\def\@oddhead{{{top}}}\let\@evenhead\@oddhead"
            rf"\def\@oddfoot{{{bottom}}}\let\@evenfoot\@oddfoot}}\makeatother\pagestyle{{parsemark}}"
            rf"\setcounter{{page}}{{{draft.first_page}}}"
        )

    def _typeset(self, body: _Body, *, marked: bool) -> Path:
        """Compile the pages with or without marks; raises if they fail or if one overflows."""
        begin = f"\\input{{{MARKS_FILE.name}}}\n" if marked else ""
        passes = LONG_PASSES if self.long else 1
        source = f"{self._page_style()}\n{body.latex}"
        result = self._compile(source, "marked" if marked else self.draft.name, begin=begin, passes=passes)
        overfull = [float(m[1]) for m in _OVERFULL.finditer(result.log)]
        if overfull and max(overfull) > OVERFULL_PT:
            raise LatexError(f"A page overflows by {max(overfull):.1f} pt.")
        if "Table widths have changed" in result.log:
            raise LatexError("The columns of a long table have not settled.")
        if "PARSEMARK: cannot mark" in result.log:
            raise LatexError("This LaTeX installation has tables that the marks do not support.")
        if result.pdf is None:
            raise LatexError(f"No page was made: {result.reason}")
        return result.pdf

    def _compile(
        self, body: str, name: str, *, begin: str = "", draft: bool = False, passes: int = 1
    ) -> Compiled:
        start = f"{latex.opening(self.look)}\\begin{{document}}{begin}{latex.MACROS}"
        start += "" if self.draft.language == "english" else latex.NO_HYPHENS
        start += latex.TICK_BOXES if self.draft.kind == "form" else ""
        source = f"{start}\n{body}\\end{{document}}\n"
        result = compile_latex(
            source, self.folder, name=name, format=self.format, draft=draft, passes=passes, limits=LIMITS
        )
        if not result.ok:
            raise LatexError(f"A synthetic document does not compile: {result.reason}")
        return result


def _places(draft: DocumentDraft, pages: Sequence[MarkedPage], keys: dict[int, str]) -> Iterator[Place]:
    page_keys = {HEAD: "head", PAGE_NUMBER: "number"}
    long = next((i for i, b in enumerate(draft.blocks) if isinstance(b, TableBlock) and b.long), None)
    first = 0
    for page in pages:
        for mark, box in page.blocks.items():
            key = page_keys[mark % 10] if mark >= PAGE_MARKS else keys.get(mark)
            if key is None:
                continue
            yield Place(key, page.number, box)
            block = draft.blocks[int(key)] if key.isdigit() else None
            if isinstance(block, TableBlock):
                marked = max(page.tables, key=lambda t: t.box.intersection_area(box))
                yield from _cells(int(key), block, marked, page.number)
        if long is not None:
            block = draft.blocks[long]
            assert isinstance(block, TableBlock)
            head = block.layout.draft.header_rows
            if not page.tables:
                raise LatexError("A page has no part of its long table.")
            marked = max(page.tables, key=lambda t: t.box.area)
            rows = [*range(head), *range(head + first, first + marked.n_rows)]
            first += marked.n_rows - head
            yield Place(str(long), page.number, marked.box)
            yield from _cells(long, block, marked, page.number, rows)


def _cells(
    index: int, block: TableBlock, marked: MarkedTable, page: int, rows: Sequence[int] | None = None
) -> Iterator[Place]:
    """Yield the cells of a table, or of some rows of it; raises if TeX's grid is another one."""
    layout = block.layout if rows is None else block.layout.part(rows)
    wanted, found = set(map(slot, layout.cells.values())), marked.slots
    if (layout.n_rows, layout.draft.n_cols) != (marked.n_rows, marked.n_cols) or wanted != found:
        raise LatexError(f"The grid of a table differs from TeX's own at {sorted(wanted ^ found)[:3]}.")
    for cell in marked.cells:
        row = cell.row if rows is None else rows[cell.row]
        yield Place(f"{index}.{row}.{cell.col}", page, cell.box)
