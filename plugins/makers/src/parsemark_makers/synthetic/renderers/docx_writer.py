"""Writes drafts as Word documents, with python-docx."""

import io
from typing import Any

import docx
from docx.enum.table import WD_CELL_VERTICAL_ALIGNMENT, WD_TABLE_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from PIL import Image, ImageDraw

from parsemark.model import Category
from parsemark_makers.synthetic import document as drafts
from parsemark_makers.synthetic.document import FigureBlock, TableBlock, TextBlock
from parsemark_makers.synthetic.pieces import Piece, plain
from parsemark_makers.synthetic.renderers.fonts import families
from parsemark_makers.synthetic.table_draft import Placed

FIRST_COLOUR = 0x100000
"""Colours of marks count upwards from here, so that none of a draft's own is among them."""


class DocxWriter:
    """Writes a draft with python-docx; shaded, each of its parts has a colour of its own."""

    def __init__(self, draft: drafts.DocumentDraft, *, shaded: bool) -> None:
        self.draft, self.shaded = draft, shaded
        self.keys: dict[int, str] = {}
        self.document: Any = docx.Document()
        self._page()
        for index, block in drafts.flowing_blocks(draft):
            if isinstance(block, TextBlock):
                self._text(index, block)
            elif isinstance(block, TableBlock):
                self._table_block(index, block)
            else:
                self._bars(index, block)

    def bytes(self) -> bytes:
        """Return the file."""
        stream = io.BytesIO()
        self.document.save(stream)
        return stream.getvalue()

    def _page(self) -> None:
        look = self.draft.look
        section = self.document.sections[0]
        section.page_width, section.page_height = (Pt(v) for v in look.page_size)
        section.left_margin = section.right_margin = Pt(look.margin_x)
        section.top_margin = section.bottom_margin = Pt(look.margin_y)
        section.header_distance = section.footer_distance = Pt(look.margin_y / 2)
        if self.draft.running_head:
            paragraph = section.header.paragraphs[0]
            self._fill(paragraph, plain(self.draft.running_head), 8.0)
            self._mark(paragraph._p.get_or_add_pPr(), "head")
        if self.draft.page_numbers:
            paragraph = section.footer.paragraphs[0]
            paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
            self._field(paragraph, "PAGE")
            self._mark(paragraph._p.get_or_add_pPr(), "number")

    def _text(self, index: int, block: TextBlock) -> None:
        look = self.draft.look
        if block.category == Category.TITLE:
            paragraph = self._paragraph(12.0, 6.0, style="Title" if block.level == 0 else "Heading 1")
            size = look.size * (1.7 if block.level == 0 else 1.2)
            self._fill(paragraph, block.lines[0].bold(), size, RGBColor.from_string(look.accent[1:]))
            paragraph.paragraph_format.keep_with_next = True
            if look.centred_title and block.level == 0:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
            self._mark(paragraph._p.get_or_add_pPr(), str(index))
            return
        if block.marks:
            for mark, line in zip(block.marks, block.lines, strict=True):
                paragraph = self._paragraph(0.0, 3.0)
                form = paragraph.paragraph_format
                form.left_indent, form.first_line_indent = Pt(18), Pt(-18)
                self._fill(paragraph, plain(f"{mark}\t") + line, look.size)
                self._mark(paragraph._p.get_or_add_pPr(), str(index))
            return
        paragraph = self._paragraph(0.0, 8.0)
        if look.justified and len(block.lines) == 1:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.JUSTIFY
        for number, line in enumerate(block.lines):
            if number:
                paragraph.add_run().add_break()
            self._fill(paragraph, line, look.size)
        self._mark(paragraph._p.get_or_add_pPr(), str(index))

    def _paragraph(self, before: float, after: float, style: str | None = None) -> Any:
        paragraph = self.document.add_paragraph(style=style)
        form = paragraph.paragraph_format
        form.space_before, form.space_after, form.keep_together = Pt(before), Pt(after), True
        form.line_spacing = 1.1
        return paragraph

    def _fill(self, paragraph: Any, piece: Piece, size: float, colour: Any = None) -> None:
        names = families(self.draft)
        latin = "Noto Serif" if self.draft.look.serif else "Noto Sans"
        for run in piece.runs:
            made = paragraph.add_run(run.text)
            made.bold, made.italic = run.bold, run.italic
            made.font.superscript = run.raised or None
            made.font.size = Pt(size)
            made.font.name = latin
            made.font.color.rgb = colour if colour is not None else RGBColor(0, 0, 0)
            made._r.rPr.rFonts.set(qn("w:eastAsia"), names[0])

    def _field(self, paragraph: Any, code: str) -> None:
        self._fill(paragraph, plain(" "), 9.0)
        run = paragraph.runs[-1]._r
        for text in list(run.findall(qn("w:t"))):
            run.remove(text)
        said = _element("w:instrText")
        said.text = code
        begin, end = (_element("w:fldChar", fldCharType=kind) for kind in ("begin", "end"))
        run.extend((begin, said, end))

    def _bars(self, index: int, block: FigureBlock) -> None:
        paragraph = self._paragraph(6.0, 3.0)
        paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
        paragraph.paragraph_format.keep_with_next = True
        picture = io.BytesIO(_bar_picture(block, self.draft.look.accent))
        paragraph.add_run().add_picture(picture, width=Pt(240))
        self._mark(paragraph._p.get_or_add_pPr(), str(index))
        self._beside(index, "caption", block.caption, 0.9)

    def _beside(self, index: int, part: str, piece: Piece, scale: float, *, with_next: bool = False) -> None:
        paragraph = self._paragraph(3.0, 6.0)
        paragraph.paragraph_format.keep_with_next = with_next
        self._fill(paragraph, piece, self.draft.look.size * scale)
        self._mark(paragraph._p.get_or_add_pPr(), f"{index}.{part}")

    def _table_block(self, index: int, block: TableBlock) -> None:
        if block.caption.runs and not block.caption_below:
            self._beside(index, "caption", block.caption, 0.92, with_next=True)
        self._table(index, block)
        if block.notes.runs:
            self._beside(index, "notes", block.notes, 0.82)
        if block.caption.runs and block.caption_below:
            self._beside(index, "caption", block.caption, 0.92)
        if not block.notes.runs and not block.caption_below:
            self._paragraph(0.0, 4.0)

    def _table(self, index: int, block: TableBlock) -> None:
        layout, look = block.layout, block.look
        table = self.document.add_table(layout.n_rows, layout.draft.n_cols)
        table.alignment, table.autofit = WD_TABLE_ALIGNMENT.CENTER, False
        _margins(table, look.pad_x, look.pad_y)
        widths = column_widths(block, self.draft.look.text_width)
        for column, width in zip(table.columns, widths, strict=True):
            column.width = Pt(width)
        for number, row in enumerate(table.rows):
            properties = row._tr.get_or_add_trPr()
            properties.append(_element("w:cantSplit"))
            if number < layout.draft.header_rows:
                properties.append(_element("w:tblHeader"))
        for placed in layout.cells.values():
            last = (placed.row + placed.rowspan - 1, placed.col + placed.colspan - 1)
            cell = table.cell(placed.row, placed.col)
            if last != (placed.row, placed.col):
                cell = cell.merge(table.cell(*last))
            cell.width = Pt(sum(widths[placed.col : last[1] + 1]))
            self._cell(index, block, placed, cell)

    def _cell(self, index: int, block: TableBlock, placed: Placed, cell: Any) -> None:
        look, draft = block.look, block.layout.draft
        in_head = placed.row < draft.header_rows
        cell.vertical_alignment = WD_CELL_VERTICAL_ALIGNMENT.CENTER
        paragraph = cell.paragraphs[0]
        form = paragraph.paragraph_format
        form.space_before = form.space_after = Pt(0)
        form.keep_with_next = not block.long and placed.row + placed.rowspan < block.layout.n_rows
        sides = {"r": WD_ALIGN_PARAGRAPH.RIGHT, "c": WD_ALIGN_PARAGRAPH.CENTER}
        paragraph.alignment = sides.get(block.side(placed))
        piece = placed.piece.bold() if in_head else placed.piece
        white = RGBColor(255, 255, 255) if in_head and look.head_white else None
        self._fill(paragraph, piece if piece.runs else plain(" "), look.size, white)
        properties = cell._tc.get_or_add_tcPr()
        properties.append(_borders(block, placed))
        fill = block.fill(placed.row)
        if self.shaded:
            self._mark(properties, f"{index}.{placed.row}.{placed.col}")
        elif fill:
            properties.append(_shading(fill[1:]))

    def _mark(self, properties: Any, key: str) -> None:
        """Shade a paragraph or a cell in the colour of its key."""
        if not self.shaded:
            return
        colour = next((c for c, known in self.keys.items() if known == key), FIRST_COLOUR + len(self.keys))
        self.keys[colour] = key
        properties.append(_shading(f"{colour:06X}"))


def column_widths(block: TableBlock, available: float) -> list[float]:
    """Return widths in points, guessed from the longest line of each column; columns of text take what is
    left.
    """
    draft, look = block.layout.draft, block.look
    widest = [20.0] * draft.n_cols
    for cell in block.layout.cells.values():
        text = cell.piece.text
        wide = sum(1.05 if ord(c) > 0x2E80 else 0.62 for c in text) * look.size + 2 * look.pad_x + 4
        share = wide / cell.colspan
        for col in range(cell.col, cell.col + cell.colspan):
            if cell.colspan == 1 or cell.colspan < draft.n_cols:
                widest[col] = max(widest[col], share)
    texts = [i for i, a in enumerate(draft.alignments) if a.startswith("p")]
    fixed = sum(width for i, width in enumerate(widest) if i not in texts)
    for i in texts:
        widest[i] = max(90.0, (available - fixed) / len(texts))
    total = sum(widest)
    if total > available or look.full_width:
        widest = [width * available / total for width in widest]
    return widest


def _element(name: str, **attributes: str) -> Any:
    element = OxmlElement(name)
    for key, value in attributes.items():
        element.set(qn(f"w:{key}"), value)
    return element


def _shading(fill: str) -> Any:
    return _element("w:shd", val="clear", color="auto", fill=fill)


def _margins(table: Any, x: float, y: float) -> None:
    margins = _element("w:tblCellMar")
    for side, value in (("top", y), ("left", x), ("bottom", y), ("right", x)):
        margins.append(_element(f"w:{side}", w=str(round(value * 20)), type="dxa"))
    table._tbl.tblPr.append(margins)


def _borders(block: TableBlock, cell: Placed) -> Any:
    """Return the borders; sizes are eighths of a point."""
    sides, borders = block.borders(cell), _element("w:tcBorders")
    for side in ("top", "left", "bottom", "right"):
        if side in sides:
            size = "8" if sides[side] else "4"
            borders.append(_element(f"w:{side}", val="single", sz=size, space="0", color="000000"))
    return borders


def _bar_picture(block: FigureBlock, accent: str) -> bytes:
    width, height = 720, 300
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    step = width / len(block.shares)
    for index, share in enumerate(block.shares):
        left = index * step + step * 0.2
        draw.rectangle((left, height - 20 - share * 260, left + step * 0.6, height - 20), fill=accent)
    draw.line((0, height - 20, width, height - 20), fill="black", width=3)
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()
