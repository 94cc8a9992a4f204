"""Sets the parts of a paper in the look of its publisher: LaTeX in which each word and box has its mark."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from parsemark.corpora.latex.synthetic.content import OwnTable
from parsemark.corpora.latex.synthetic.papers.exhibits import PaperTable
from parsemark.corpora.latex.synthetic.papers.looks import PaperLook, heading_number, roman, title_case
from parsemark.corpora.latex.synthetic.papers.reference_list import entry_tokens
from parsemark.corpora.latex.synthetic.papers.subject import common
from parsemark.corpora.latex.synthetic.papers.tokens import PaperToken, Register, Setter
from parsemark.corpora.latex.synthetic.papers.writing import MARK, Reference
from parsemark.corpora.synthetic.draft import lay_out
from parsemark.corpora.synthetic.pieces import Piece, to_latex
from parsemark.corpora.synthetic.story import OMNIDOCBENCH_LINE, table_attributes
from parsemark.model import AttributeValue, Category

CHARACTER = 4.9
"""Width of a character of a table in points at ten points, about."""
COLUMN_WIDTHS = {1: 390.0, 2: 245.0}
"""About how wide a column is, in points, by their number."""
PAGE_WIDTH = 500.0
"""The same of what goes over two columns."""
TURNED_WIDTH = 600.0
"""The same of what is turned: the height of the text."""
_KEYWORDS = frozenset(
    [
        "Require:",
        "Ensure:",
        "repeat",
        "for",
        "each",
        "do",
        "end",
        "until",
        "return",
        "if",
        "then",
        "else",
        "while",
    ]
)
"""Of algorithms."""


@dataclass
class Item:
    """A part of the body: what it is, and what it says, with marks."""

    kind: str
    text: str = ""
    path: tuple[int, ...] = ()
    tables: tuple[PaperTable, ...] = ()
    latex: str = ""
    """Of a figure."""
    lines: tuple[str, ...] = ()
    number: int = 0
    wide: bool = False
    turned: bool = False
    """On a page of its own, by a quarter turn."""
    note: str = ""
    """A footnote."""


def numbered(chapter: int, number: int, *, roman_numbers: bool = False) -> str:
    """The number of a float or formula, with that of its chapter."""
    if roman_numbers:
        return roman(number)
    return f"{chapter}.{number}" if chapter else str(number)


@dataclass
class Typesetter:
    """Turns items into LaTeX."""

    rng: random.Random
    look: PaperLook
    register: Register
    setter: Setter
    chapter: int = 0
    words: dict[str, Any] = field(default_factory=lambda: common("english"))
    """Of the language."""
    _notes: int = field(default=0, init=False)
    _theorems: int = field(default=0, init=False)
    _algorithms: int = field(default=0, init=False)

    def latex(self, item: Item) -> str:
        """An item."""
        made: str = getattr(self, f"_set_{item.kind}")(item)
        if item.wide:
            self.register.widen(made)
        if item.turned:
            self.register.turn(made)
        return made

    def _set_heading(self, item: Item) -> str:
        look = self.look
        path = item.path
        level = len(path) - (1 if self.chapter else 0) if path else 1
        is_english = self.register.language == "english"
        text = title_case(item.text) if look.title_case and is_english else item.text
        text = text.upper() if look.upper_headings and level == 1 else text
        number = heading_number(look, path) if path else ""
        tokens = self.setter(text)
        if number:
            gap = "" if look.numbering == "roman" else r"\hskip.6em\relax"
            tokens = [PaperToken(to_latex(number) + gap, number), *tokens]
        words = self.register.text(Category.TITLE, tokens)
        return f"\\{'sub' * (level - 1)}section*{{{words}}}"

    def _set_text(self, item: Item) -> str:
        text = item.text
        note = ""
        if item.note:
            self._notes += 1
            first, dot, rest = text.partition(". ")
            text = f"{first}.⟦note:{self._notes}⟧{' ' if dot else ''}{rest}"
            tokens = self.setter(item.note)
            mark = str(self._notes)
            tokens[0] = PaperToken(
                rf"\textsuperscript{{{mark}}}\,{tokens[0].latex}", f"^{{{mark}}} {tokens[0].text}"
            )
        latex = self.register.text(Category.TEXT_BLOCK, self.setter(text))
        if item.note:
            words = self.register.text(Category.PAGE_FOOTNOTE, tokens)
            note = rf"\footnotemark[{self._notes}]}}"
            latex = latex.replace(note, rf"{note}\footnotetext[{self._notes}]{{{words}}}", 1)
        return f"\n{latex}\n"

    def _set_more(self, item: Item) -> str:
        return rf"\noindent {self.register.text(Category.TEXT_BLOCK, self.setter(item.text))}" + "\n\n"

    def _set_lead(self, item: Item) -> str:
        tokens = [*self.setter(f"{item.lines[0]}.", look=r"\textbf{{}}"), *self.setter(item.text)]
        words = self.register.text(Category.TEXT_BLOCK, tokens)
        return f"\n\\noindent {words}\n"

    def _set_theorem(self, item: Item) -> str:
        self._theorems += 1
        label = self.setter(f"{self.words['labels'][item.kind]} {self._theorems}.", look=r"\textbf{{}}")
        words = self.register.text(
            Category.TEXT_BLOCK, [*label, *self.setter(item.text, look=r"\textit{{}}")]
        )
        return f"\\par\\vskip6pt plus2pt\\noindent {words}\\par\\vskip6pt plus2pt\n"

    _set_lemma = _set_theorem

    def _set_proof(self, item: Item) -> str:
        tokens = [
            *self.setter(f"{self.words['labels']['proof']}.", look=r"\textit{{}}"),
            *self.setter(item.text),
        ]
        return f"\\noindent {self.register.text(Category.TEXT_BLOCK, tokens)}\\hfill$\\square$\\par\\vskip6pt plus2pt\n"

    def _set_list(self, item: Item) -> str:
        mark = self.rng.choice(["•", "•", "–", "1", "(a)"])
        tokens: list[PaperToken] = []
        ends = []
        for index, line in enumerate(item.lines):
            label = {"1": f"{index + 1}.", "(a)": f"({'abcdef'[index]})"}.get(mark, mark)
            apart = "\xa0" if ";" in self.words["typesetting"]["apart"] else ""
            stop = "." if index == len(item.lines) - 1 else f"{apart};"
            latex = rf"\hbox to1.7em{{{to_latex(label)}\hfil}}"
            tokens.append(PaperToken(latex, label, "\n" if index else " "))
            words = self.setter(line + stop)
            tokens += words
            ends.append(len(tokens))
        first, _ = self.register.split(Category.LIST_GROUP, tokens)
        lines: list[str] = []
        position = 0
        for end in ends:
            words_latex = " ".join(
                rf"\pmw{{{first + i}}}{{{tokens[i].latex}}}" for i in range(position + 1, end)
            )
            lines.append(
                rf"\par\noindent\hangindent2.5em\hangafter1\hskip.8em\relax\pmw{{{first + position}}}{{{tokens[position].latex}}}{words_latex}"
            )
            position = end
        return rf"\par\vskip3pt plus1pt{''.join(lines)}\par\vskip4pt plus1pt" + "\n"

    def _set_formula(self, item: Item) -> str:
        attributes: dict[str, AttributeValue] = {"formula_type": "print", "equation_language": "equation_en"}
        body = self.register.box(
            Category.EQUATION_ISOLATED,
            rf"$\displaystyle {item.text}$",
            latex=item.text,
            attributes=attributes,
        )
        if not item.number:
            return rf"\[{body}\]"
        number = f"({numbered(self.chapter, item.number)})"
        tag = self.register.box(
            Category.EQUATION_CAPTION, number, tokens=[PaperToken(number, number)], parent=self.register.last
        )
        return rf"\begin{{equation}}{body}\tag*{{{tag}}}\end{{equation}}"

    def _set_algorithm(self, item: Item) -> str:
        self._algorithms += 1
        title = [
            *self.setter(f"{self.words['labels']['algorithm']} {self._algorithms}", look=r"\textbf{{}}"),
            *self.setter(item.text),
        ]
        tokens: list[PaperToken] = []
        ends, indents = [], []
        for index, line in enumerate(item.lines):
            indents.append(line.count("␣"))
            words = self.setter(line.replace("␣", ""))
            for word in words:
                latex = rf"\textbf{{{word.latex}}}" if word.text in _KEYWORDS else word.latex
                tokens.append(PaperToken(latex, word.text, "\n" if word is words[0] and index else " "))
            ends.append(len(tokens))
        algorithm = len(self.register.blocks)
        first, _ = self.register.split(Category.CODE_ALGORITHM, tokens)
        caption = self.register.text(Category.CODE_ALGORITHM_CAPTION, title, parent=algorithm)
        lines, position = [], 0
        for end, indent in zip(ends, indents, strict=True):
            words_latex = [rf"\pmw{{{first + i}}}{{{tokens[i].latex}}}" for i in range(position, end)]
            if position:  # the number of a line stands at the margin
                words_latex[0] = rf"\hbox to14pt{{\hfil {words_latex[0]}}}\hskip{4 + indent * 10}pt\relax"
            lines.append(rf"\noindent {words_latex[0]} {' '.join(words_latex[1:])}\par")
            position = end
        rule = r"\hrule height.6pt\vskip3pt "
        body = rf"{rule}\noindent {caption}\par\vskip3pt\hrule\vskip3pt\small {''.join(lines)}\vskip3pt\hrule"
        return rf"\begin{{figure}}[t]\begin{{minipage}}{{\linewidth}}{body}\end{{minipage}}\end{{figure}}"

    def _label(self, kind: str, number: int) -> str:
        """What stands before a caption: the class writes it, in the words of the language."""
        is_table, labels = kind == "table", self.words["labels"]
        label = self.look.table_label if is_table else self.look.figure_label
        shown = numbered(self.chapter, number, roman_numbers=self.look.roman_tables and is_table)
        if self.register.language != "english":
            label = label.replace(kind.capitalize(), labels[kind])
            label = label.replace(":", f" {self.words['typesetting']['separator']}")
        return label.format(shown)

    def _caption(self, category: Category, label: str, text: str, parent: int) -> str:
        tokens = [PaperToken("", label), *self.setter(text)]
        first, words = self.register.split(category, tokens, parent=parent, own_first=True)
        return rf"\def\pmcap{{{first}}}\caption[]{{{words}}}"

    def _set_figure(self, item: Item) -> str:
        body = self.register.box(
            Category.FIGURE,
            rf"\begin{{minipage}}{{\linewidth}}\centering {item.latex}\end{{minipage}}",
        )
        parent = self.register.last
        caption = self._caption(
            Category.FIGURE_CAPTION,
            self._label("figure", item.number),
            item.text,
            parent,
        )
        name = "figure*" if item.wide else "figure"
        return rf"\begin{{{name}}}[{self._place(item)}]\centering {body}{caption}\end{{{name}}}"

    def _place(self, item: Item) -> str:
        return "t" if item.wide else self.rng.choice(["t", "t", "tb", "htb", "!t", "ht"])

    def _set_table(self, item: Item) -> str:
        """A float with one table, or two beside each other with captions of their own."""
        if item.turned:
            return self._set_turned(item)
        name = "table*" if item.wide else "table"
        begin = rf"\begin{{{name}}}[{self._place(item)}]\centering "
        if len(item.tables) == 1:
            room = PAGE_WIDTH if item.wide else COLUMN_WIDTHS[self.look.columns]
            beside = (
                self.look.columns == 1 and item.tables[0].estimated_width < 42 and self.rng.random() < 0.15
            )
            room *= 0.64 if beside else 1.0
            made = self._with_caption(item.tables[0], item.number, room, beside=beside)
            return rf"{begin}{made}\end{{{name}}}"
        room = (PAGE_WIDTH if item.wide else COLUMN_WIDTHS[self.look.columns]) * 0.47
        cells = [
            rf"\begin{{minipage}}[t]{{.47\linewidth}}\centering {self._with_caption(table, item.number + i, room)}\end{{minipage}}"
            for i, table in enumerate(item.tables)
        ]
        return rf"{begin}{cells[0]}\hfill {cells[1]}\end{{{name}}}"

    def _set_turned(self, item: Item) -> str:
        """A page of its own, with the caption turned as well."""
        name = "table*" if self.look.columns == 2 else "table"
        made = self._with_caption(item.tables[0], item.number, TURNED_WIDTH)
        body = rf"\rotatebox{{90}}{{\begin{{minipage}}{{.96\textheight}}\centering {made}\end{{minipage}}}}"
        return rf"\begin{{{name}}}[p]\centering\def\pmroom{{.7\textwidth}}{body}\end{{{name}}}"

    def _set_long(self, item: Item) -> str:
        """A table over pages, under a caption."""
        table = item.tables[0]
        content = self._resolved(table.content)
        attributes = table_attributes(
            content.table, kind=content.kind, line=OMNIDOCBENCH_LINE[content.line], language=self.register.language,
            header_rows=content.header_rows, has_text=content.has_text, has_notes=False,
            has_math=content.has_math,
        )  # fmt: skip
        parent = self.register.long_table(content, attributes)
        label = self._label("table", item.number)
        caption = self._caption(Category.TABLE_CAPTION, label, table.caption, parent)
        captioned = r"\makeatletter\def\@captype{table}\makeatother "
        full = table.estimated_width * CHARACTER / COLUMN_WIDTHS[self.look.columns] * self.look.size / 10
        size = self.look.sizes[min(3, max(0, int((full - 0.6) * 5)))]
        separation = min(6.0, max(2.0, 6.0 - 8 * (full - 0.7)))
        return (
            rf"\par\vskip8pt{{\parindent0pt{captioned}{caption}\par\nobreak}}"
            rf"{{{size}\setlength{{\tabcolsep}}{{{separation:.1f}pt}}\setcounter{{LTchunksize}}{{1000}}"
            rf"\LTpre9pt\LTpost12pt {content.long_latex}}}" + "\n"
        )

    def _set_subtables(self, item: Item) -> str:
        """Two tables with letters under one caption."""
        name = "table*" if item.wide else "table"
        room = (PAGE_WIDTH if item.wide else COLUMN_WIDTHS[self.look.columns]) * 0.47
        cells, parent = [], -1
        for letter, table in zip("ab", item.tables, strict=True):
            body, index = self._body(table, room)
            parent = index if parent < 0 else parent
            words = self.register.text(
                Category.TABLE_CAPTION, self.setter(f"({letter}) {table.caption}"), parent=index
            )
            cells.append(
                rf"\begin{{minipage}}[t]{{.47\linewidth}}\centering {body}\vskip3pt{{\footnotesize {words}\par}}\end{{minipage}}"
            )
        label = self._label("table", item.number)
        caption = self._caption(Category.TABLE_CAPTION, label, item.text, parent)
        joined = rf"{cells[0]}\hfill {cells[1]}"
        parts = f"{joined}{caption}" if self.look.table_caption_below else f"{caption}{joined}"
        return rf"\begin{{{name}}}[{self._place(item)}]\centering {parts}\end{{{name}}}"

    def _set_beside(self, item: Item) -> str:
        """A table beside a paragraph."""
        words = self.register.text(Category.TEXT_BLOCK, self.setter(item.text))
        text = rf"\begin{{minipage}}[t]{{.5\linewidth}}\vskip0pt\parindent0pt {words}\end{{minipage}}"
        body = self._with_caption(item.tables[0], item.number, COLUMN_WIDTHS[1] * 0.44)
        captioned = r"\makeatletter\def\@captype{table}\makeatother "
        table = (
            rf"\begin{{minipage}}[t]{{.45\linewidth}}\vskip0pt{captioned}\centering {body}\end{{minipage}}"
        )
        return rf"\par\vskip6pt\noindent {text}\hfill {table}\par\vskip6pt" + "\n"

    def _with_caption(self, table: PaperTable, number: int, room: float, *, beside: bool = False) -> str:
        """The table with its notes and its caption: above, below, or beside it."""
        look = self.look
        body, parent = self._body(table, room)
        label = self._label("table", number)
        caption = self._caption(Category.TABLE_CAPTION, label, table.caption, parent)
        notes = ""
        if table.notes:
            words = self.register.text(
                Category.TABLE_FOOTNOTE, self.setter(" ".join(table.notes)), parent=parent
            )
            notes = rf"\vskip2pt{{\footnotesize {words}\par}}"
        if beside:
            side = rf"\begin{{minipage}}[c]{{.32\linewidth}}{caption}\end{{minipage}}"
            return (
                rf"{side}\hfill\begin{{minipage}}[c]{{.64\linewidth}}\centering {body}{notes}\end{{minipage}}"
            )
        return f"{body}{notes}{caption}" if look.table_caption_below else f"{caption}{body}{notes}"

    def _body(self, table: PaperTable, room: float) -> tuple[str, int]:
        """The table alone in a font that suits its width, and the index of its block."""
        turned = room == TURNED_WIDTH
        content = self._resolved(table.content)
        full = table.estimated_width * CHARACTER / room * self.look.size / 10
        size = self.look.sizes[min(3, max(0, int((full - 0.5) * 5)))]
        separation = self.rng.choice([3.0, 4.0, 6.0]) if full < 1 else 3.0
        if turned:  # set as large as the page allows
            size = r"\normalsize" if full < 0.8 else r"\small"
            free = TURNED_WIDTH * 0.8 - table.estimated_width * CHARACTER * self.look.size / 10
            separation = min(16.0, max(4.0, free / (2 * content.layout.draft.n_cols)))
        attributes = table_attributes(
            content.table, kind=content.kind, line=OMNIDOCBENCH_LINE[content.line], language=self.register.language,
            header_rows=content.header_rows, has_text=content.has_text, has_notes=bool(table.notes),
            has_math=content.has_math, background=bool(content.shade), rotated=90 if turned else 0,
        )  # fmt: skip
        body = self.register.box(
            Category.TABLE, content.latex, latex=content.latex, content=content, attributes=attributes
        )
        index = self.register.last
        number = self.register.blocks[index].first
        stretch = self.rng.choice([1.3, 1.4, 1.5] if turned else [1.0, 1.0, 1.1, 1.2])
        setting = rf"{size}\setlength{{\tabcolsep}}{{{separation:.1f}pt}}\renewcommand{{\arraystretch}}{{{stretch}}}"
        return rf"{{{setting}\pmfit{{{number}}}{{{body}}}\par}}", index

    def _set_code(self, item: Item) -> str:
        """Lines of a program between rules."""
        tokens = []
        for index, line in enumerate(item.lines):
            blank = len(line) - len(line.lstrip())
            latex = r"\ " * blank + to_latex(line.lstrip()).replace(" ", r"\ ")
            tokens.append(PaperToken(rf"\texttt{{{latex}}}", line, "\n" if index else " "))
        first, _ = self.register.split(Category.CODE_TXT, tokens)
        lines = "".join(rf"\noindent\pmw{{{first + i}}}{{{t.latex}}}\par " for i, t in enumerate(tokens))
        return rf"\begin{{figure}}[t]\hrule\vskip4pt{{\footnotesize {lines}}}\vskip4pt\hrule\end{{figure}}"

    def _resolved(self, content: OwnTable) -> OwnTable:
        """The table with its citations as the document writes them."""

        def fill(piece: Piece) -> Piece:
            return Piece(
                tuple(
                    replace(run, text=MARK.sub(lambda m: self.setter.mark(m[1], m[2])[1], run.text))
                    for run in piece.runs
                )
            )

        draft = content.layout.draft
        rows = tuple(replace(row, pieces=tuple(fill(p) for p in row.pieces)) for row in draft.rows)
        return replace(content, layout=lay_out(replace(draft, rows=rows)))

    def references(self, works: Sequence[Reference]) -> str:
        """The heading and the entries of the reference list."""
        look = self.look
        title = self.words["labels"]["references"]
        title = title.upper() if look.upper_headings or look.name == "acm" else title
        heading = f"\\section*{{{self.register.text(Category.TITLE, self.setter(title))}}}"
        labelled = look.cite != "author"
        size = r"\footnotesize" if look.columns == 2 or look.name in ("llncs", "ams") else r"\small"
        parts = []
        for index, work in enumerate(works):
            tokens = entry_tokens(work, look.entry, self.setter, self.words["labels"])
            if labelled:
                label = (
                    f"{index + 1}."
                    if look.entry in ("nature",) or look.name in ("llncs", "mdpi")
                    else f"[{index + 1}]"
                )
                tokens = [PaperToken(rf"\hbox to18pt{{{label}\hfil}}", label), *tokens]
            words = self.register.text(Category.REFERENCE, tokens)
            hang = 18 if labelled else 12
            # the label has its own width: no blank of a line follows it
            words = words.replace("\\hfil}} ", "\\hfil}}", 1) if labelled else words
            parts.append(
                rf"\noindent\hangindent{hang}pt\hangafter1 {words}\par\vskip{1 if labelled else 3}pt plus1pt "
            )
        return rf"{heading}{{{size}\parskip0pt {''.join(parts)}}}"
