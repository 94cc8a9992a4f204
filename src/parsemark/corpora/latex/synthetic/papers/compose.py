"""Composes a paper: sections, paragraphs, floats, formulas, notes and references, numbered as they come."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from parsemark.corpora.latex.synthetic.content import Drawn
from parsemark.corpora.latex.synthetic.papers.figures import Figure, draw_figure
from parsemark.corpora.latex.synthetic.papers.formulas import display_formula
from parsemark.corpora.latex.synthetic.papers.front import Front, Matter
from parsemark.corpora.latex.synthetic.papers.looks import Look, heading_number, roman
from parsemark.corpora.latex.synthetic.papers.reference_list import Citations, entry_tokens
from parsemark.corpora.latex.synthetic.papers.tables import PaperTable, draw_table
from parsemark.corpora.latex.synthetic.papers.tokens import Register, Setter, Token
from parsemark.corpora.latex.synthetic.papers.writing import MARK, Reference, Writer, in_order
from parsemark.corpora.synthetic.draft import lay_out
from parsemark.corpora.synthetic.pieces import Piece, to_latex
from parsemark.corpora.synthetic.story import OMNIDOCBENCH_LINE, table_attributes
from parsemark.model import AttributeValue, Category

CHARACTER = 4.9
"""Width of a character of a table in points at ten points, about."""


@dataclass
class Item:
    """A part of the body: what it is, and what it says, with marks."""

    kind: str
    text: str = ""
    path: tuple[int, ...] = ()
    table: PaperTable | None = None
    figure: Figure | None = None
    lines: tuple[str, ...] = ()
    number: int = 0
    wide: bool = False
    note: str = ""


@dataclass
class Paper:
    """One paper, from its field to its LaTeX."""

    rng: random.Random
    look: Look
    field_name: str
    lines: dict[str, float]
    folder: Path
    pages: int
    tables: int
    with_front: bool = True
    register: Register = field(default_factory=Register)

    def __post_init__(self) -> None:
        self.writer = Writer(self.rng, self.field_name)
        self.writer.gather_references(self.rng.randint(14, 20 + 6 * self.pages))
        self.chapter = self.rng.randint(1, 6) if self.look.is_thesis else 0
        self._notes = self._formulas = 0
        self._floats = {"table": 0, "figure": 0}
        self._theorems = self._algorithms = 0

    # ---- widths, in points

    @property
    def column_width(self) -> float:
        """About how wide a column is."""
        return {1: 390.0, 2: 245.0}[self.look.columns]

    # ---- what it says

    def latex(self) -> str:
        """The body of the document."""
        matter = self.matter = self._matter()
        items = self._body()
        works = in_order(self.writer, alphabetical=self.look.alphabetical or self.look.cite == "author")
        order = {id(work): index for index, work in enumerate(works)}
        places = {i: order[id(self.writer.references[i])] for i in self.writer.cited}
        cites = Citations(self.look.cite, works, places)
        self.setter = Setter(cites)
        parts = [rf"\setcounter{{chapter}}{{{self.chapter}}}"] if self.chapter else []
        parts += [Front(self.look, matter, self.register, self.setter).latex()] if self.with_front else []
        parts += [self._set(item) for item in items]
        if not self.look.is_thesis or self.rng.random() < 0.3:
            parts.append(self._references(works))
        return "\n".join(parts)

    def _matter(self) -> Matter:
        writer, rng = self.writer, self.rng
        count = rng.choice([1, 2, 3, 3, 4, 5])
        homes = rng.randint(1, min(3, count))
        places = rng.sample(range(len(writer.people["university"])), k=homes)
        authors: dict[tuple[str, str], None] = {}
        while len(authors) < count:
            authors[writer.person()] = None
        abstract = " ".join(writer.sentence("abstract") for _ in range(rng.randint(4, 7)))
        words = [
            w.removeprefix("the ")
            for key in ("method", "quantity", "systems", "problem")
            for w in rng.sample(writer.field_words[key], k=1)
        ]
        return Matter(
            writer.phrase("title"),
            tuple(authors),
            tuple(sorted([*range(homes), *(rng.randrange(homes) for _ in range(count - homes))])),
            tuple(
                (
                    rng.choice(writer.field_words["department"]),
                    writer.people["university"][p],
                    writer.people["city"][p],
                )
                for p in places
            ),
            tuple(writer.people["domain"][p] for p in places),
            MARK.sub("", abstract).replace(" .", ".") if self.look.cite != "author" else abstract,
            tuple(words[: rng.randint(3, 4)]),
            (rng.randint(1, 25), rng.randint(1, 9), rng.randint(2012, 2023)),
            self.chapter,
        )

    def _body(self) -> list[Item]:
        rng = self.rng
        roles = [
            "intro",
            *(["related"] if rng.random() < 0.6 else []),
            "method",
            "result",
            *(["discussion"] if rng.random() < 0.6 else []),
            "conclusion",
        ]
        titles = {
            "intro": "Introduction",
            "related": rng.choice(["Related Work", "Background", "Previous work"]),
            "conclusion": rng.choice(["Conclusion", "Conclusions", "Summary and outlook"]),
            "discussion": "Discussion",
            "method": rng.choice(
                ["Methods", "Method", "Materials and methods", "Approach", "Data and methods"]
            ),
            "result": rng.choice(["Results", "Experiments", "Evaluation", "Findings"]),
        }
        weights = {
            "intro": 3.2,
            "related": 2.0,
            "method": 4.5,
            "result": 5.0,
            "discussion": 2.2,
            "conclusion": 1.2,
        }
        scale = (
            self.pages
            * {1: 3.1, 2: 5.6}[self.look.columns]
            / sum(weights[r] for r in roles)
            * (0.72 if self.look.size > 11 else 1.0)
        )
        items: list[Item] = []
        for index, role in enumerate(roles):
            path = (self.chapter, index + 1) if self.chapter else (index + 1,)
            items.append(Item("heading", titles[role], path))
            items += self._section(role, path, max(1, round(weights[role] * scale)))
        return self._with_floats(items)

    def _section(self, role: str, path: tuple[int, ...], paragraphs: int) -> list[Item]:
        rng, writer = self.rng, self.writer
        items: list[Item] = []
        sub = 0
        for index in range(paragraphs):
            if (
                role in ("method", "result")
                and paragraphs > 2
                and index % 3 == 0
                and (index or rng.random() < 0.7)
            ):
                sub += 1
                items.append(Item("heading", writer.phrase(f"head_{role}"), (*path, sub)))
            note = ""
            text = writer.paragraph(role, rng.randint(3, 7))
            if rng.random() < 0.07:
                note = f"{writer.phrase('note')}."
            lead = rng.random() < 0.06
            items.append(Item("lead" if lead else "text", text, note=note))
            extra = rng.random()
            if (role == "method" and extra < 0.34) or extra < 0.04:
                items.append(Item("formula", display_formula(rng)))
                items.append(
                    Item(
                        "more",
                        f"where ⟦math:{rng.choice(['x_i', 'w', 'h', 'k', 'N'])}⟧ denotes {writer.phrase('quantity').lower()}. {writer.paragraph(role, rng.randint(1, 3))}",
                    )
                )
            elif role == "method" and extra < 0.42:
                items.append(self._algorithm())
            elif (
                self.look.name in ("ams", "llncs", "icml", "neurips", "preprint")
                and role == "method"
                and extra < 0.6
            ):
                items.append(Item("theorem", f"{writer.phrase('theorem')}."))
                items.append(Item("proof", f"{writer.phrase('proof')}."))
            elif extra > 0.92 or (role == "intro" and index == paragraphs - 1 and rng.random() < 0.5):
                items.append(
                    Item("list", lines=tuple(writer.phrase("item") for _ in range(rng.randint(2, 4))))
                )
        return items

    def _algorithm(self) -> Item:
        writer, rng = self.writer, self.rng
        unit = rng.choice(writer.field_words["unit"])
        method = rng.choice(writer.field_words["method"])
        lines = (
            f"Require: {unit} ⟦math:x_1, \\dots, x_n⟧, tolerance ⟦math:\\varepsilon⟧",
            "1: ⟦math:t \\leftarrow 0⟧",
            "2: repeat",
            f"3: ␣for each of the {unit} do",
            f"4: ␣␣update ⟦math:\\theta_i⟧ by {method}",
            "5: ␣end for",
            "6: ␣⟦math:t \\leftarrow t + 1⟧",
            "7: until ⟦math:\\|\\theta_t - \\theta_{t-1}\\| < \\varepsilon⟧",
            "8: return ⟦math:\\theta_t⟧",
        )
        return Item("algorithm", f"{writer.phrase('method')} of {unit}", lines=lines)

    def _with_floats(self, items: list[Item]) -> list[Item]:
        """Tables and figures among the text that speaks of them, behind the introduction."""
        rng = self.rng
        texts = [i for i, item in enumerate(items) if item.kind == "text"]
        kinds = ["table"] * self.tables + ["figure"] * max(1, round(self.pages * rng.uniform(0.25, 0.75)))
        rng.shuffle(kinds)
        places = sorted(rng.choice(texts[min(1, len(texts) - 1) :]) for _ in kinds)
        made: list[tuple[int, Item]] = []
        for place, kind in zip(places, kinds, strict=True):
            self._floats[kind] += 1
            number = self._floats[kind]
            item = self._table(number) if kind == "table" else self._figure(number)
            name = self._name(kind, number)
            speaks = (
                item.table.speaks
                if item.table
                else rng.choice(
                    [
                        f"@T@ shows {self.writer.phrase('quantity').lower()}.",
                        "An example is given in @T@.",
                        "This is illustrated in @T@.",
                    ]
                )
            )
            said = speaks.replace("@T@", name)
            host = items[place]
            host.text = f"{host.text} {said}" if rng.random() < 0.6 else f"{said} {host.text}"
            made.append((place, item))
        for place, item in reversed(made):
            items.insert(place + 1, item)
        return items

    def _name(self, kind: str, number: int) -> str:
        short = "Fig." in self.look.figure_label or "FIG" in self.look.figure_label
        if kind == "table":
            return f"Table {self._number(number, roman_numbers=self.look.roman_tables)}".replace(" ", "\xa0")
        return f"{'Fig.' if short else 'Figure'} {self._number(number)}".replace(" ", "\xa0")

    def _number(self, number: int, *, roman_numbers: bool = False) -> str:
        if roman_numbers:
            return roman(number)
        return f"{self.chapter}.{number}" if self.chapter else str(number)

    def _table(self, number: int) -> Item:
        wide_room = 500 / CHARACTER if self.look.columns == 2 else self.column_width / CHARACTER
        narrow = self.column_width / CHARACTER * 1.25
        can_be_wide = self.look.columns == 2 and self.rng.random() < 0.4
        room = wide_room * 1.25 if can_be_wide else narrow * (1.0 if self.look.columns == 2 else 1.1)
        kind = "citet" if self.look.cite == "raised" else "cite"
        table = draw_table(self.writer, self.lines, lambda: self.writer.cite(kind), room)
        return Item(
            "table",
            table=table,
            number=number,
            wide=self.look.columns == 2 and table.estimated_width > narrow,
        )

    def _figure(self, number: int) -> Item:
        wide = self.look.columns == 2 and self.rng.random() < 0.22
        width = 480.0 if wide else min(self.column_width, 380)
        figure = draw_figure(self.writer, self.folder, f"figure{number}", width)
        caption = self.writer.phrase("photo_caption" if figure.is_photo else "fig_caption")
        return Item("figure", f"{caption}.", figure=figure, number=number, wide=wide)

    # ---- how it is set

    def _set(self, item: Item) -> str:
        made: str = getattr(self, f"_set_{item.kind}")(item)
        if item.wide:
            self.register.widen(made)
        return made

    def _text(self, category: Category, text: str, look: str = "{}") -> str:
        return self.register.text(category, self.setter(text, look=look))

    def _set_heading(self, item: Item) -> str:
        look = self.look
        path = item.path
        level = len(path) - (1 if self.chapter else 0)
        text = item.text.upper() if look.upper_headings and level == 1 else item.text
        number = heading_number(look, path)
        tokens = self.setter(text)
        if number:
            gap = "" if look.numbering == "roman" else r"\hskip.6em\relax"
            tokens = [Token(to_latex(number) + gap, number), *tokens]
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
            tokens[0] = Token(
                rf"\textsuperscript{{{mark}}}\,{tokens[0].latex}", f"^{{{mark}}} {tokens[0].text}"
            )
        latex = self._text(Category.TEXT_BLOCK, text)
        if item.note:
            words = self.register.text(Category.PAGE_FOOTNOTE, tokens)
            note = rf"\footnotemark[{self._notes}]}}"
            latex = latex.replace(note, rf"{note}\footnotetext[{self._notes}]{{{words}}}", 1)
        return f"\n{latex}\n"

    def _set_more(self, item: Item) -> str:
        return rf"\noindent {self._text(Category.TEXT_BLOCK, item.text)}" + "\n\n"

    def _set_lead(self, item: Item) -> str:
        lead = self.writer.phrase("head_method")
        tokens = [*self.setter(f"{lead}.", look=r"\textbf{{}}"), *self.setter(item.text)]
        words = self.register.text(Category.TEXT_BLOCK, tokens)
        return f"\n\\noindent {words}\n"

    def _set_theorem(self, item: Item) -> str:
        self._theorems += 1
        label = self.setter(f"Theorem {self._theorems}.", look=r"\textbf{{}}")
        words = self.register.text(
            Category.TEXT_BLOCK, [*label, *self.setter(item.text, look=r"\textit{{}}")]
        )
        return f"\\par\\vskip6pt plus2pt\\noindent {words}\\par\\vskip6pt plus2pt\n"

    def _set_proof(self, item: Item) -> str:
        tokens = [*self.setter("Proof.", look=r"\textit{{}}"), *self.setter(item.text)]
        return f"\\noindent {self.register.text(Category.TEXT_BLOCK, tokens)}\\hfill$\\square$\\par\\vskip6pt plus2pt\n"

    def _set_list(self, item: Item) -> str:
        mark = self.rng.choice(["•", "•", "–", "1", "(a)"])
        tokens: list[Token] = []
        ends = []
        for index, line in enumerate(item.lines):
            label = {"1": f"{index + 1}.", "(a)": f"({'abcdef'[index]})"}.get(mark, mark)
            stop = "." if index == len(item.lines) - 1 else ";"
            latex = rf"\hbox to16pt{{{to_latex(label)}\hfil}}"
            tokens.append(Token(latex, label, "\n" if index else " "))
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
                rf"\par\noindent\hangindent24pt\hangafter1\hskip8pt\pmw{{{first + position}}}{{{tokens[position].latex}}}{words_latex}"
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
        if self.rng.random() < 0.3:
            return rf"\[{body}\]"
        self._formulas += 1
        number = f"({self._number(self._formulas)})"
        tag = self.register.box(
            Category.EQUATION_CAPTION, number, tokens=[Token(number, number)], parent=self.register.last
        )
        return rf"\begin{{equation}}{body}\tag*{{{tag}}}\end{{equation}}"

    def _set_algorithm(self, item: Item) -> str:
        self._algorithms += 1
        title = [*self.setter(f"Algorithm {self._algorithms}", look=r"\textbf{{}}"), *self.setter(item.text)]
        tokens: list[Token] = []
        ends, indents = [], []
        for index, line in enumerate(item.lines):
            indents.append(line.count("␣"))
            words = self.setter(line.replace("␣", ""))
            for word in words:
                is_key = word.text in ("Require:", "repeat", "for", "each", "do", "end", "until", "return")
                latex = rf"\textbf{{{word.latex}}}" if is_key else word.latex
                tokens.append(Token(latex, word.text, "\n" if word is words[0] and index else " "))
            ends.append(len(tokens))
        algorithm = len(self.register.blocks)
        first, _ = self.register.split(Category.CODE_ALGORITHM, tokens)
        caption = self.register.text(Category.CODE_ALGORITHM_CAPTION, title, parent=algorithm)
        lines, position = [], 0
        for end, indent in zip(ends, indents, strict=True):
            words_latex = " ".join(rf"\pmw{{{first + i}}}{{{tokens[i].latex}}}" for i in range(position, end))
            lines.append(rf"\noindent\hskip{indent * 10}pt\relax {words_latex}\par")
            position = end
        rule = r"\hrule height.6pt\vskip3pt "
        body = rf"{rule}\noindent {caption}\par\vskip3pt\hrule\vskip3pt\small {''.join(lines)}\vskip3pt\hrule"
        return rf"\begin{{figure}}[t]\begin{{minipage}}{{\linewidth}}{body}\end{{minipage}}\end{{figure}}"

    def _caption(self, category: Category, label: str, text: str, parent: int) -> str:
        tokens = [Token("", label), *self.setter(text)]
        first, words = self.register.split(category, tokens, parent=parent, own_first=True)
        return rf"\def\pmcap{{{first}}}\caption[]{{{words}}}"

    def _set_figure(self, item: Item) -> str:
        assert item.figure is not None
        body = self.register.box(
            Category.FIGURE,
            rf"\begin{{minipage}}{{\linewidth}}\centering {item.figure.latex}\end{{minipage}}",
        )
        parent = self.register.last
        caption = self._caption(
            Category.FIGURE_CAPTION,
            self.look.figure_label.format(self._number(item.number)),
            item.text,
            parent,
        )
        name = "figure*" if item.wide else "figure"
        return rf"\begin{{{name}}}[{self._place(item)}]\centering {body}{caption}\end{{{name}}}"

    def _place(self, item: Item) -> str:
        return "t" if item.wide else self.rng.choice(["t", "t", "tb", "htb", "!t", "ht"])

    def _set_table(self, item: Item) -> str:
        assert item.table is not None
        look, table = self.look, item.table
        content = self._resolved(table.content)
        room = 500 if item.wide else self.column_width
        full = table.estimated_width * CHARACTER / room * look.size / 10
        size = look.sizes[min(3, max(0, int((full - 0.5) * 5)))]
        separation = self.rng.choice([3.0, 4.0, 6.0]) if full < 1 else 3.0
        attributes = table_attributes(
            content.table, kind=content.kind, line=OMNIDOCBENCH_LINE[content.line], language="english",
            header_rows=content.header_rows, has_text=content.has_text, has_notes=bool(table.notes),
            has_math=content.has_math, background=bool(content.shade),
        )  # fmt: skip
        body = self.register.box(
            Category.TABLE, content.latex, latex=content.latex, content=content, attributes=attributes
        )
        parent = self.register.last
        number = self.register.blocks[parent].first
        setting = rf"{size}\setlength{{\tabcolsep}}{{{separation}pt}}\renewcommand{{\arraystretch}}{{{self.rng.choice([1.0, 1.0, 1.1, 1.2])}}}"
        fitted = rf"{{{setting}\pmfit{{{number}}}{{{body}}}\par}}"
        label = look.table_label.format(self._number(item.number, roman_numbers=look.roman_tables))
        caption = self._caption(Category.TABLE_CAPTION, label, table.caption, parent)
        notes = ""
        if table.notes:
            words = self.register.text(
                Category.TABLE_FOOTNOTE, self.setter(" ".join(table.notes)), parent=parent
            )
            notes = rf"\vskip2pt{{\footnotesize {words}\par}}"
        parts = f"{fitted}{notes}{caption}" if look.table_caption_below else f"{caption}{fitted}{notes}"
        name = "table*" if item.wide else "table"
        return rf"\begin{{{name}}}[{self._place(item)}]\centering {parts}\end{{{name}}}"

    def _resolved(self, content: Drawn) -> Drawn:
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

    def _references(self, works: Sequence[Reference]) -> str:
        look = self.look
        title = {"ieee": "References", "nature": "References"}.get(look.entry, "References")
        title = title.upper() if look.upper_headings or look.name == "acm" else title
        heading = f"\\section*{{{self.register.text(Category.TITLE, self.setter(title))}}}"
        labelled = look.cite != "author"
        size = r"\footnotesize" if look.columns == 2 or look.name in ("llncs", "ams") else r"\small"
        parts = []
        for index, work in enumerate(works):
            tokens = entry_tokens(work, look.entry, self.setter)
            if labelled:
                label = (
                    f"{index + 1}."
                    if look.entry in ("nature",) or look.name in ("llncs", "mdpi")
                    else f"[{index + 1}]"
                )
                tokens = [Token(rf"\hbox to18pt{{{label}\hfil}}", label), *tokens]
            words = self.register.text(Category.REFERENCE, tokens)
            hang = 18 if labelled else 12
            # the label has its own width: no blank of a line follows it
            words = words.replace("\\hfil}} ", "\\hfil}}", 1) if labelled else words
            parts.append(
                rf"\noindent\hangindent{hang}pt\hangafter1 {words}\par\vskip{1 if labelled else 3}pt plus1pt "
            )
        return rf"{heading}{{{size}\parskip0pt {''.join(parts)}}}"
