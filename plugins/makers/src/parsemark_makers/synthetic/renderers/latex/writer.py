"""Writes the blocks of a document as LaTeX boxes, each part in its own mark, and the look around them."""

from itertools import groupby
from pathlib import Path

from parsemark.model import Category
from parsemark.system.pdflatex import REPRODUCIBLE
from parsemark_makers.synthetic.document import (
    Block,
    DocumentDraft,
    FigureBlock,
    FormulaBlock,
    TableBlock,
    TextBlock,
)
from parsemark_makers.synthetic.looks import BOOKTABS, FULL, NONE, PARTIAL, Look, looks
from parsemark_makers.synthetic.pieces import plain
from parsemark_makers.synthetic.table_draft import Layout, Placed

GAP_INSIDE = 4.0  # between a table or figure and what stands beside it
FIGURE_WIDTH, FIGURE_SHAPE = 200.0, 0.5
_HEADINGS = {
    "bold": r"\bfseries\raggedright",
    "caps": r"\scshape\raggedright",
    "centred": r"\bfseries\centering",
}
_ABOVE = {
    (BOOKTABS, "section"): "\\midrule\n",
    (BOOKTABS, "total"): "\\midrule\n",
    (PARTIAL, "total"): "\\hline\n",
}
"""The rule above a row of the body, by the style of lines and the kind of the row; none above the first."""
_TEXT_COLUMN = r">{\raggedright\hyphenpenalty10000\exhyphenpenalty10000\arraybackslash}"


class LatexWriter:
    """Writes blocks; `keys` gets the key of each mark. Without it, for measuring, all marks are 0."""

    def __init__(self, draft: DocumentDraft, keys: dict[int, str] | None = None) -> None:
        self.look, self.keys = draft.look, keys

    def units(self, index: int, block: Block, width: float) -> list[str]:
        """Return the boxes of a block, one below the other; its footnote is not among them."""
        if isinstance(block, TextBlock):
            return [self._text(index, block, width)]
        if isinstance(block, FormulaBlock):
            return [self._formula(index, block, width)]
        if isinstance(block, FigureBlock):
            return [self._figure(index, block, width), *self.beside(index, block, width)]
        beside = self.beside(index, block, width)
        captions, notes = beside[: bool(block.caption.runs)], beside[bool(block.caption.runs) :]
        table = self._table(index, block, width)
        return [table, *notes, *captions] if block.caption_below else [*captions, table, *notes]

    def beside(self, index: int, block: FigureBlock | TableBlock, width: float) -> list[str]:
        """Return caption and notes, as far as there are any."""
        parts = [("caption", block.caption, r"\small\noindent\centering ")]
        if isinstance(block, TableBlock):
            parts.append(("notes", block.notes, r"\footnotesize\noindent "))
        return [self._broken(f"{index}.{key}", p.latex, width, before) for key, p, before in parts if p.runs]

    def in_column(self, block: Block) -> list[str]:
        """Return the parts that make up the height of a block in a column: its boxes, and its footnote."""
        units = self.units(0, block, self.look.column_width)
        if isinstance(block, TextBlock) and block.note.runs:
            units.append(self.footnote(0, block, self.look.column_width))
        return units

    def footnote(self, index: int, block: TextBlock, width: float) -> str:
        """Return a note at the foot of the page, under a short rule that is not part of it."""
        rule = r"\hbox{\vrule height0.4pt width60pt}\nointerlineskip\kern3pt"
        box = self._broken(f"{index}.note", block.note.latex, width, r"\footnotesize\noindent ")
        return rf"\vbox{{{rule}{box}}}"

    def natural(self, block: TableBlock) -> str:
        """Return a table alone, for measuring."""
        return rf"\hbox{{{setting(block)}\pmblock{{0}}{{{self.table_latex(block)}}}}}"

    def table_latex(self, block: TableBlock) -> str:
        """Return a tabular environment."""
        return tabular(block.layout, block.look.line, self.look.column_width)

    def block(self, key: str, body: str) -> str:
        """Return a body in its mark."""
        mark = 0
        if self.keys is not None:
            mark = len(self.keys) + 1
            self.keys[mark] = key
        return rf"\pmblock{{{mark}}}{{{body}}}"

    def _broken(self, key: str, content: str, width: float, before: str) -> str:
        """Return a box of the given width around text that is broken into lines."""
        return self.block(key, rf"\vbox{{\pmbody{{{width:.3f}bp}}{before}{content}\par}}")

    def _text(self, index: int, block: TextBlock, width: float) -> str:
        if block.category == Category.TITLE:
            size = r"\LARGE" if block.level == 0 else r"\large"
            before = rf"{size}{_HEADINGS[self.look.heading]}\noindent\hyphenpenalty10000 "
            return self._broken(str(index), block.lines[0].latex, width, before)
        if block.marks:
            begin = r"\noindent\hangindent18pt\hangafter1\hbox to18pt"
            pairs = zip(block.marks, block.lines, strict=True)
            items = (rf"{begin}{{{plain(mark).latex}\hfil}}{line.latex}\par" for mark, line in pairs)
            return self._broken(str(index), "".join(items), width, "")
        content = r"\par\noindent ".join(line.latex for line in block.lines)
        indented = self.look.indent and len(block.lines) == 1
        return self._broken(str(index), content, width, "" if indented else r"\noindent ")

    def _formula(self, index: int, block: FormulaBlock, width: float) -> str:
        body = self.block(str(index), rf"$\displaystyle {block.latex}$")
        tag = ""
        if block.caption.runs:
            tag = rf"\llap{{{self.block(f'{index}.caption', block.caption.latex)}}}"
        return rf"\hbox to {width:.3f}bp{{\hss {body}\hss {tag}}}"

    def _figure(self, index: int, block: FigureBlock, width: float) -> str:
        across = min(width * 0.9, FIGURE_WIDTH)
        high = across * FIGURE_SHAPE
        body = {"bars": _bars, "curve": _curve, "boxes": _boxes}[block.kind](block, across, high)
        frame = rf"\begin{{picture}}({across:.1f},{high:.1f}){body}\end{{picture}}"
        picture = rf"\setlength{{\unitlength}}{{1bp}}{frame}"
        return rf"\hbox to {width:.3f}bp{{\hss{self.block(str(index), picture)}\hss}}"

    def _table(self, index: int, block: TableBlock, width: float) -> str:
        """Return the table in its final form: scaled or rotated, in the middle of the column."""
        body = self.block(str(index), self.table_latex(block))
        if block.scale < 1:
            body = rf"\scalebox{{{block.scale:.4f}}}{{{body}}}"
        if block.rotate:
            body = rf"\rotatebox{{{block.rotate if block.rotate == 90 else -90}}}{{{body}}}"
        return rf"\hbox to {width:.3f}bp{{\hss{setting(block)}{body}\hss}}"


def setting(block: TableBlock) -> str:
    """Return font size, column separation and row stretch of a table."""
    look, stretch = block.look, 0.8 + block.look.pad_y / 10
    return (
        rf"\fontsize{{{look.size}}}{{{look.size * 1.2:.1f}}}\selectfont"
        rf"\setlength{{\tabcolsep}}{{{look.pad_x}pt}}\renewcommand{{\arraystretch}}{{{stretch:.2f}}}"
    )


def _bars(block: FigureBlock, across: float, high: float) -> str:
    step = across / len(block.labels)
    parts = [rf"\put(0,12){{\line(1,0){{{across:.1f}}}}}\put(0,12){{\line(0,1){{{high - 12:.1f}}}}}"]
    for index, (label, share) in enumerate(zip(block.labels, block.shares, strict=True)):
        x, tall = index * step, share * (high - 14)
        parts.append(rf"\put({x + step * 0.2:.1f},12){{\rule{{{step * 0.6:.1f}bp}}{{{tall:.1f}bp}}}}")
        parts.append(rf"\put({x + step / 2:.1f},2){{\makebox(0,0)[b]{{\tiny {plain(label).latex}}}}}")
    return "".join(parts)


def _curve(block: FigureBlock, across: float, high: float) -> str:
    step = across / (len(block.shares) - 1)
    points = [(index * step, high * share) for index, share in enumerate(block.shares)]
    line = "".join(f"({x:.1f},{y:.1f})" for x, y in points)
    dots = "".join(rf"\put({x:.1f},{y:.1f}){{\circle*{{3}}}}" for x, y in points)
    axes = rf"\put(0,0){{\line(1,0){{{across:.1f}}}}}\put(0,0){{\line(0,1){{{high:.1f}}}}}"
    return rf"{axes}\polyline{line}{dots}"


def _boxes(block: FigureBlock, across: float, high: float) -> str:
    wide, between = across * 0.26, across * 0.11
    parts = []
    for index, label in enumerate(block.labels):
        x = index * (wide + between)
        parts.append(
            rf"\put({x:.1f},{high * 0.3:.1f}){{\framebox({wide:.1f},{high * 0.4:.1f}){{"
            rf"\parbox{{{wide - 4:.1f}bp}}{{\centering\tiny {plain(label).latex}}}}}}}"
        )
        if index < len(block.labels) - 1:
            parts.append(rf"\put({x + wide:.1f},{high * 0.5:.1f}){{\vector(1,0){{{between:.1f}}}}}")
    return "".join(parts)


def tabular(layout: Layout, line: str, width: float) -> str:
    """Return a tabular environment; columns of running text share the `width` of a column of the page."""
    spec, head, body = _parts(layout, line, width)
    return f"\\begin{{tabular}}{{{spec}}}\n{head}{body}\\end{{tabular}}"


def longtable(layout: Layout, line: str, width: float) -> str:
    """Return a longtable environment with a head that repeats on each page."""
    spec, head, body = _parts(layout, line, width)
    foot = {FULL: "\\hline\n", BOOKTABS: "\\bottomrule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    body = body.removesuffix(foot)
    return f"\\begin{{longtable}}{{{spec}}}\n{head}\\endhead\n{foot}\\endfoot\n{body}\\end{{longtable}}"


def _column_spec(layout: Layout, line: str, width: float) -> str:
    texts = sum(a.startswith("p") for a in layout.draft.alignments)
    share = max(80.0, (width - 100) / max(texts, 1) * 0.9)
    text_column = f"{_TEXT_COLUMN}p{{{share:.0f}bp}}"
    columns = [text_column if a.startswith("p") else a for a in layout.draft.alignments]
    if line == FULL:
        return "|" + "|".join(columns) + "|"
    if line == BOOKTABS:
        return "@{}" + "".join(columns) + "@{}"
    if line == PARTIAL:
        columns.insert(len(layout.draft.stub), "|")
    return "".join(columns)


def _parts(layout: Layout, line: str, width: float) -> tuple[str, str, str]:
    """Return the argument of the environment, the header rows with their rules, and the body with its
    rules.
    """
    head = layout.draft.header_rows
    top = {FULL: "\\hline\n", BOOKTABS: "\\toprule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    bottom = {FULL: "", BOOKTABS: "\\bottomrule\n", PARTIAL: "\\hline\n", NONE: ""}[line]
    rows = []
    for row in range(layout.n_rows):
        kind = layout.draft.rows[row - head].kind if row > head else ""
        rows.append(_ABOVE.get((line, kind), "") + _row(layout, row, line) + _rule_below(layout, row, line))
    return _column_spec(layout, line, width), top + "".join(rows[:head]), "".join(rows[head:]) + bottom


def _row(layout: Layout, row: int, line: str) -> str:
    parts = []
    col = 0
    while col < layout.draft.n_cols:
        cell = layout.cells.get((row, col))
        content = "" if cell is None else _cell(layout, cell, line)
        # a bracket at the start of a row would be the argument of the end of the row before
        parts.append(f"{{}}{content}" if col == 0 and content.startswith("[") else content)
        col += 1 if cell is None else cell.colspan
    return " & ".join(parts) + " \\\\\n"


def _cell(layout: Layout, cell: Placed, line: str) -> str:
    content = cell.piece.latex
    if cell.rowspan > 1:
        content = rf"\multirow{{{cell.rowspan}}}{{*}}{{{content}}}"
    if cell.colspan > 1:
        whole = cell.colspan == layout.draft.n_cols
        align = "l" if whole else "c"
        if line == FULL:
            align = f"|{align}|" if cell.col == 0 else f"{align}|"
        elif line == BOOKTABS and (whole or cell.col + cell.colspan == layout.draft.n_cols):
            align = f"@{{}}{align}@{{}}" if whole else f"{align}@{{}}"
        content = rf"\multicolumn{{{cell.colspan}}}{{{align}}}{{{content}}}"
    return content


def _rule_below(layout: Layout, row: int, line: str) -> str:
    """Return the rule below a row of the head, or of the body but for its end."""
    head = layout.draft.header_rows
    if line == FULL:
        return _hline(layout, row)
    if row == head - 1:
        return {BOOKTABS: "\\midrule\n", PARTIAL: "\\hline\n"}.get(line, "")
    if line != BOOKTABS:
        return ""
    if row < head:
        groups = [c for (r, _), c in sorted(layout.cells.items()) if r == row and c.colspan > 1]
        rules = "".join(rf"\cmidrule(lr){{{c.col + 1}-{c.col + c.colspan}}}" for c in groups)
        return f"{rules}\n" if rules else ""
    following = layout.cells.get((row + 1, 0))
    ends_group = layout.draft.row_groups and following is not None and following.rowspan > 1
    return "\\addlinespace\n" if ends_group else ""


def _hline(layout: Layout, row: int) -> str:
    """Return a full line, or pieces of it that leave out the cells that go on in the next row."""
    going_on = [c for c in layout.cells.values() if c.row <= row < c.row + c.rowspan - 1]
    if not going_on:
        return "\\hline\n"
    open_cols = {col for c in going_on for col in range(c.col, c.col + c.colspan)}
    closed = (col for col in range(layout.draft.n_cols) if col not in open_cols)
    runs = (list(run) for _, run in groupby(enumerate(closed), key=lambda pair: pair[1] - pair[0]))
    return "".join(rf"\cline{{{run[0][1] + 1}-{run[-1][1] + 1}}}" for run in runs) + "\n"


TEX_POINT = 72 / 72.27  # of TeX, in points of PDF
MACROS = Path(__file__).with_name("macros.tex").read_text(encoding="utf-8")
TICK_BOXES = r"\pdfglyphtounicode{square}{2610}\pdfglyphtounicode{squaremultiply}{2612}"
"""Forms mean these by the signs of AMS, which are squares elsewhere."""
NO_HYPHENS = r"\makeatletter\language\l@nohyphenation\makeatother\emergencystretch60pt"
"""For languages whose hyphenation patterns may not be installed."""


def opening(look: Look) -> str:
    """Return the source that follows the precompiled preamble."""
    size = f"\\makeatletter\\input{{size{look.size}.clo}}\\makeatother"
    if look.document_class == "scrartcl":
        size = f"\\KOMAoptions{{fontsize={look.size}pt}}"
    width, height = look.page_size
    geometry = (
        f"\\geometry{{paperwidth={width}bp,paperheight={height}bp,hmargin={look.margin_x}bp,"
        f"vmargin={look.margin_y}bp,headsep=14pt,headheight=14pt,footskip=26pt,ignoreheadfoot}}"
    )
    spacing = (
        f"\\linespread{{{look.spread}}}\\setlength{{\\parindent}}{{{look.indent}pt}}"
        r"\setlength{\parskip}{0pt}\setlength{\LTpre}{6pt}\setlength{\LTpost}{6pt}\LTchunksize=500"
    )
    return "\n".join([REPRODUCIBLE, looks()["fonts"][look.font], size, geometry, spacing]) + "\n"


def gap(look: Look) -> float:
    """Return the space between blocks."""
    return 8.0 if look.indent else 11.0
