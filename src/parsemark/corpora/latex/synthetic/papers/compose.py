"""Composes a paper: sections, paragraphs, floats, formulas, notes and references, numbered as they come."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from parsemark.corpora.latex.synthetic.papers.displays import algorithm, display_formula, program
from parsemark.corpora.latex.synthetic.papers.figures import draw_figure
from parsemark.corpora.latex.synthetic.papers.front import Front, Matter
from parsemark.corpora.latex.synthetic.papers.looks import Look, title_case
from parsemark.corpora.latex.synthetic.papers.reference_list import Citations
from parsemark.corpora.latex.synthetic.papers.setting import (
    CHARACTER,
    COLUMN_WIDTHS,
    PAGE_WIDTH,
    Item,
    Typesetter,
    numbered,
)
from parsemark.corpora.latex.synthetic.papers.tables import PaperTable, draw_table
from parsemark.corpora.latex.synthetic.papers.tokens import Register, Setter
from parsemark.corpora.latex.synthetic.papers.writing import MARK, Writer, in_order


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
        self.writer.gather_references(self.rng.randint(10, 14 + 5 * self.pages))
        self.chapter = self.rng.randint(1, 6) if self.look.is_thesis else 0
        self._formulas = 0
        self._floats = {"table": 0, "figure": 0}

    def latex(self) -> str:
        """The body of the document."""
        matter = self.matter = self._matter()
        items = self._body()
        works = in_order(self.writer, alphabetical=self.look.alphabetical or self.look.cite == "author")
        order = {id(work): index for index, work in enumerate(works)}
        places = {i: order[id(self.writer.references[i])] for i in self.writer.cited}
        colour = self.rng.choice(["", "", "", "blue", "green!50!black", "blue!60!black"])
        cites = Citations(self.look.cite, works, places, colour)
        setter = Setter(cites)
        typesetter = Typesetter(self.rng, self.look, self.register, setter, self.chapter)
        parts = [rf"\setcounter{{chapter}}{{{self.chapter}}}"] if self.chapter else []
        parts += [Front(self.look, matter, self.register, setter).latex()] if self.with_front else []
        parts += [typesetter.latex(item) for item in items]
        if not self.look.is_thesis or self.rng.random() < 0.3:
            parts.append(typesetter.references(works))
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
            title_case(writer.phrase("title")) if self.look.title_case else writer.phrase("title"),
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
        items = self._with_floats(items)
        if not self.chapter and rng.random() < 0.5:
            items.append(
                Item("heading", rng.choice(["Acknowledgements", "Acknowledgments", "Acknowledgment"]))
            )
            items.append(Item("text", f"{self.writer.phrase('thanks')}. {self.writer.phrase('thanks')}."))
        return items

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
            lead = (writer.phrase("head_method"),) if rng.random() < 0.06 else ()
            items.append(Item("lead" if lead else "text", text, lines=lead, note=note))
            extra = rng.random()
            if (role == "method" and extra < 0.34) or extra < 0.04:
                items += self._formula(role)
            elif role == "method" and extra < 0.42:
                items.append(self._algorithm())
            elif role == "method" and extra < 0.47 and self.field_name in ("machine learning", "engineering"):
                items.append(Item("code", lines=program(rng)))
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

    def _formula(self, role: str) -> list[Item]:
        """A formula, what its symbol means, and often a sentence that comes back to it."""
        rng, writer = self.rng, self.writer
        latex, symbol = display_formula(rng)
        text = f"where ⟦math:{symbol}⟧ denotes {writer.phrase('quantity').lower()}. {writer.paragraph(role, rng.randint(1, 3))}"
        if rng.random() < 0.3:
            return [Item("formula", latex), Item("more", text)]
        self._formulas += 1
        number = f"({numbered(self.chapter, self._formulas)})"
        if rng.random() < 0.5:
            said = writer.phrase("equation").replace("@E@", f"{rng.choice(['Eq.', 'Equation'])}\xa0{number}")
            text = f"{text} {said}."
        return [Item("formula", latex, number=self._formulas), Item("more", text)]

    def _algorithm(self) -> Item:
        writer, rng = self.writer, self.rng
        words = writer.field_words
        units, systems = rng.choice(words["unit"]), rng.choice(words["systems"])
        title = rng.choice(
            [
                f"{writer.phrase('method')} of {units}",
                f"Estimating {writer.phrase('quantity').lower()}",
                f"Selection of {systems}",
            ]
        )
        lines = algorithm(rng, units, rng.choice(words["method"]), rng.choice(words["quantity"]))
        return Item("algorithm", title, lines=lines)

    def _with_floats(self, items: list[Item]) -> list[Item]:
        """Tables and figures among the text that speaks of them, behind the introduction."""
        rng = self.rng
        texts = [i for i, item in enumerate(items) if item.kind == "text"]
        kinds = ["table"] * self.tables + ["figure"] * max(1, round(self.pages * rng.uniform(0.15, 0.55)))
        rng.shuffle(kinds)
        places = sorted(rng.choice(texts[min(1, len(texts) - 1) :]) for _ in kinds)
        made: list[tuple[int, Item]] = []
        for place, kind in zip(places, kinds, strict=True):
            host = items[place]
            if kind == "table" and self.look.columns == 1 and host.kind == "text" and rng.random() < 0.1:
                items[place] = self._beside(host)
                continue
            item = self._tables() if kind == "table" else self._figure()
            said = self._said(item)
            host.text = f"{host.text} {said}" if rng.random() < 0.6 else f"{said} {host.text}"
            made.append((place, item))
        for place, item in reversed(made):
            items.insert(place + 1, item)
        return items

    def _said(self, item: Item) -> str:
        """What the text says about a float."""
        if item.kind == "figure":
            name = self._name("figure", item.number)
            quantity = self.writer.phrase("quantity").lower()
            return self.rng.choice(
                [
                    f"{name} shows {quantity}.",
                    f"An example is given in {name}.",
                    f"This is illustrated in {name}.",
                ]
            )
        if item.kind == "subtables":
            return item.tables[0].speaks.replace("@T@", self._name("table", item.number))
        said = [
            t.speaks.replace("@T@", self._name("table", item.number + i)) for i, t in enumerate(item.tables)
        ]
        return " ".join(said)

    def _name(self, kind: str, number: int) -> str:
        short = "Fig." in self.look.figure_label or "FIG" in self.look.figure_label
        if kind == "table":
            return f"Table {numbered(self.chapter, number, roman_numbers=self.look.roman_tables)}".replace(
                " ", "\xa0"
            )
        return f"{'Fig.' if short else 'Figure'} {numbered(self.chapter, number)}".replace(" ", "\xa0")

    def _take(self, kind: str, count: int = 1) -> int:
        """The first of the next numbers of floats of a kind."""
        self._floats[kind] += count
        return self._floats[kind] - count + 1

    def _draw(self, room: float) -> PaperTable:
        kind = "citet" if self.look.cite == "raised" else "cite"
        return draw_table(self.writer, self.lines, lambda: self.writer.cite(kind), room)

    def _tables(self) -> Item:
        """A table, at times two of them, as wide as they need to be."""
        columns, rng = self.look.columns, self.rng
        narrow = COLUMN_WIDTHS[columns] / CHARACTER
        if rng.random() < 0.12:
            room = (PAGE_WIDTH if columns == 2 else COLUMN_WIDTHS[1]) * 0.47 / CHARACTER * 1.2
            pair = (self._draw(room), self._draw(room))
            if rng.random() < 0.4:
                text = f"{self.writer.phrase('head_result')} in two settings."
                return Item("subtables", text, tables=pair, number=self._take("table"), wide=columns == 2)
            return Item("table", tables=pair, number=self._take("table", 2), wide=columns == 2)
        can_be_wide = columns == 2 and rng.random() < 0.4
        table = self._draw(PAGE_WIDTH / CHARACTER * 1.25 if can_be_wide else narrow * 1.25)
        is_wide = columns == 2 and table.estimated_width > narrow * 1.25
        return Item("table", tables=(table,), number=self._take("table"), wide=is_wide)

    def _beside(self, host: Item) -> Item:
        table = self._draw(COLUMN_WIDTHS[1] * 0.44 / CHARACTER * 1.2)
        number = self._take("table")
        text = f"{table.speaks.replace('@T@', self._name('table', number))} {host.text}"
        return Item("beside", text, tables=(table,), number=number)

    def _figure(self) -> Item:
        number = self._take("figure")
        wide = self.look.columns == 2 and self.rng.random() < 0.22
        width = 480.0 if wide else min(COLUMN_WIDTHS[self.look.columns], 380)
        figure = draw_figure(self.writer, self.folder, f"figure{number}", width)
        caption = self.writer.phrase(f"caption_{figure.kind}")
        return Item("figure", f"{caption}.", figure=figure, number=number, wide=wide)
