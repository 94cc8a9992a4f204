"""Composes a paper: the parts of its subject's text that it has room for, its exhibits, numbered as they come."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from pathlib import Path

from parsemark.corpora.latex.synthetic.content import OwnTable
from parsemark.corpora.latex.synthetic.papers.comparisons import Results
from parsemark.corpora.latex.synthetic.papers.exhibits import PaperTable
from parsemark.corpora.latex.synthetic.papers.front import Front, Matter
from parsemark.corpora.latex.synthetic.papers.looks import PaperLook, heading_number, title_case
from parsemark.corpora.latex.synthetic.papers.reference_list import Citations
from parsemark.corpora.latex.synthetic.papers.setting import (
    CHARACTER,
    COLUMN_WIDTHS,
    PAGE_WIDTH,
    Item,
    Typesetter,
    numbered,
)
from parsemark.corpora.latex.synthetic.papers.subject import Subject, SubjectPart, common, homes
from parsemark.corpora.latex.synthetic.papers.tables import Samples
from parsemark.corpora.latex.synthetic.papers.tokens import Register, Setter
from parsemark.corpora.latex.synthetic.papers.writing import Writer, in_order
from parsemark.corpora.synthetic.draft import lay_out

_WORDS_OF_FLOAT = 0.22
"""Of a page, that a table or figure takes."""
_JOINED = (0.15, 0.4, 0.65, 0.85)
"""Shares of paragraphs that go on where the next would begin."""
_LONGEST = 210
"""Words of a paragraph that was joined."""


@dataclass
class Paper:
    """One paper, from its subject to its LaTeX."""

    rng: random.Random
    look: PaperLook
    subject: Subject
    lines: dict[str, float]
    folder: Path
    pages: int
    tables: int
    turned: int = 0
    """How many of the tables are turned."""
    listed: int = 0
    """Rows of a table over pages, in an appendix."""
    kept: int = 0
    """Those of them that are set."""
    register: Register = field(init=False)

    def __post_init__(self) -> None:
        self.register = Register(self.subject.language)
        self.words = common(self.subject.language)
        self.writer = Writer(self.rng, self.subject)
        self.writer.name_of = self._name_of
        self.writer.cell_cite = "citet" if self.look.cite == "raised" else "cite"
        self._named: dict[str, str] = self.words.get("named", self.words["labels"])
        """What exhibits are called within a sentence."""
        self.chapter = self.rng.randint(1, 6) if self.look.is_thesis else 0
        self._formulas: dict[str, int] = {}
        self._floats: dict[tuple[str, str], str] = {}
        """What exhibits are called, as far as they were named."""
        self._counts = {"table": 0, "figure": 0}
        self._pending: list[Item] = []

    def latex(self) -> str:
        """The body of the document."""
        matter = self.matter = self._matter()
        items = self._body()
        works = in_order(self.writer, alphabetical=self.look.alphabetical or self.look.cite == "author")
        order = {id(work): index for index, work in enumerate(works)}
        places = {i: order[id(self.writer.references[i])] for i in self.writer.cited}
        colour = self.rng.choice(["", "", "", "blue", "green!50!black", "blue!60!black"])
        setter = Setter(Citations(self.look.cite, works, places, colour))
        typesetter = Typesetter(self.rng, self.look, self.register, setter, self.chapter, self.words)
        parts = [rf"\setcounter{{chapter}}{{{self.chapter}}}"] if self.chapter else []
        parts.append(Front(self.look, matter, self.register, setter, self.words).latex())
        parts += [typesetter.latex(item) for item in items]
        if not self.look.is_thesis or self.rng.random() < 0.3:
            parts.append(typesetter.references(works))
        return "\n".join(parts)

    def _matter(self) -> Matter:
        writer, rng, data = self.writer, self.rng, self.subject.data
        count = rng.choice([1, 2, 3, 3, 4, 5])
        homes_count = rng.randint(1, min(3, count))
        places = rng.sample(homes(self.subject.language), k=homes_count)
        title = writer.one_of(data["chapter"] if self.look.is_thesis else data["title"])
        return Matter(
            title_case(title) if self.look.title_case and self.subject.language == "english" else title,
            writer.persons(count),
            tuple(
                sorted(
                    [*range(homes_count), *(rng.randrange(homes_count) for _ in range(count - homes_count))]
                )
            ),
            tuple((rng.choice(data["departments"]), university, town) for university, town, _ in places),
            tuple(domain for _, _, domain in places),
            writer.one_of(data["abstract"]),
            tuple(
                writer.fill(k)
                for k in rng.sample(data["keywords"], k=min(len(data["keywords"]), rng.randint(3, 5)))
            ),
            (rng.randint(1, 28), rng.randint(1, 12), writer.year),
            self.chapter,
        )

    # ---- what is said

    def _body(self) -> list[Item]:
        parts = self._chosen()
        named = [part.name for part in parts if part.kind == "formula" and part.name]
        self._formulas = {name: number for number, name in enumerate(named, 1)}
        items: list[Item] = []
        path = [0, 0]
        for part in parts:
            if part.kind == "heading":
                path = [path[0] + 1, 0] if part.level == 1 else [path[0], path[1] + 1]
                numbers = tuple(path[: part.level])
                text = self.writer.heading(part.text)
                items.append(Item("heading", text, (self.chapter, *numbers) if self.chapter else numbers))
            else:
                items += self._items(part)
        items = self._with_roadmap(self._joined(items))
        if self.listed:
            items += self._appendix()
        thanks = [*self.subject.data.get("thanks", []), *self.words["thanks"]]
        if not self.chapter and self.rng.random() < 0.5:
            name = self.rng.choice(self.words["thanks_headings"])
            said = " ".join(self.writer.one_of(thanks) for _ in range(2))
            items += [Item("heading", name), Item("text", said)]
        return items

    def _joined(self, items: list[Item]) -> list[Item]:
        """Some paragraphs with the next: authors differ in how long theirs are. Floats between them come after both."""
        rng, joined, last = self.rng, list[Item](), None
        share = rng.choice(_JOINED)
        for item in items:
            plain = item.kind in ("text", "more") and not item.note
            if plain and last is not None and item.kind == "text" and rng.random() < share:
                text = f"{last.text} {item.text}"
                if len(text.split()) <= _LONGEST:
                    last.text = text
                    continue
            if item.kind not in ("table", "figure", "subtables"):
                last = item if plain else None
            joined.append(item)
        return joined

    def _with_roadmap(self, items: list[Item]) -> list[Item]:
        """At times, what each section is about, at the end of the introduction."""
        rng, roadmap = self.rng, self.words["roadmap"]
        sections = [i for i, item in enumerate(items) if item.kind == "heading" and len(item.path) == 1]
        if self.chapter or self.look.numbering == "none" or len(sections) < 4 or rng.random() > 0.45:
            return items
        known = {heading: ways for headings, ways in roadmap["say"] for heading in headings}
        said = []
        for index in sections[1:]:
            heading = items[index].text
            ways = roadmap["last"] if index == sections[-1] else known.get(heading, roadmap["other"])
            it = heading if heading[1:2].isupper() else heading[:1].lower() + heading[1:]
            shown = heading_number(self.look, items[index].path).rstrip(".")
            said.append(f"{roadmap['section']}\xa0{shown} {rng.choice(ways).replace('{it}', it)}")
        pairs = [said[i : i + 2] for i in range(0, len(said), 2)]
        joint = f" {self.words['labels']['and']} "
        sentences = [f"{text[:1].upper()}{text[1:]}." for text in map(joint.join, pairs)]
        text = " ".join([self.writer.one_of(roadmap["start"]), *map(self.writer.fill, sentences)])
        return [*items[: sections[1]], Item("text", text), *items[sections[1] :]]

    def _appendix(self) -> list[Item]:
        """All measurements of a table, in one that runs over pages."""
        rng, writer = self.rng, self.writer
        able = [name for name, exhibit in writer.tables.items() if isinstance(exhibit, Samples)]
        exhibit = writer.tables[rng.choice(able)]
        assert isinstance(exhibit, Samples)
        number = self._counts["table"] = self._counts["table"] + 1
        names, weights = zip(*sorted(self.lines.items()), strict=True)
        every = OwnTable(lay_out(exhibit.listed(self.listed)), rng.choices(names, weights)[0])
        content = every.with_rows(self.kept)
        about = exhibit.say(rng.choice(exhibit.spec["caption"]))
        caption = f"{writer.one_of(self.words['listed'])} {about}"
        said = writer.one_of(self.words["appendix"]).replace("TABLE", self._called("table", number))
        heading = writer.fill(rng.choice(self.words["appendix_headings"]))
        table = PaperTable(content, caption)
        return [Item("heading", heading), Item("text", said), Item("long", tables=(table,), number=number)]

    def _chosen(self) -> list[SubjectPart]:
        """The parts that speak of exhibits that are shown, and as many of the others as there is room for."""
        rng, subject = self.rng, self.subject
        shown = self._shown()
        ids = {name for _, name in shown} | {""}
        able = [part for part in subject.parts if shown.issuperset(part.exhibits) and part.needs in ids]
        optional = [i for i, part in enumerate(able) if part.optional and not part.exhibits]
        rng.shuffle(optional)
        page = self.look.words_per_page
        room = page * (self.pages - _WORDS_OF_FLOAT * len(shown))
        room -= sum(len(part.text.split()) for part in able)
        room += sum(len(able[i].text.split()) for i in optional)
        kept = set(range(len(able))) - set(optional)
        for index in optional:
            room -= len(able[index].text.split())
            if room < 0:
                break
            kept.add(index)
        chosen = [able[i] for i in sorted(kept)]
        return [  # headings with nothing below them go
            part for part, following in zip(chosen, [*chosen[1:], SubjectPart("heading", "")], strict=True)
            if part.kind != "heading" or following.kind != "heading" or following.level > part.level
        ]  # fmt: skip

    def _shown(self) -> set[tuple[str, str]]:
        """The exhibits of this paper: the first table of the subject nearly always, and the widest if some are turned."""
        rng = self.rng
        tables, figures = list(self.writer.tables), list(self.writer.figures)
        widest = sorted(tables, key=lambda name: -self.writer.tables[name].breadth)
        self._sideways = frozenset(widest[: min(self.turned, self.tables)])
        first = [name for name in widest if name in self._sideways]
        if self.tables > len(first) and tables[0] not in first and rng.random() < 0.8:
            first.append(tables[0])
        rest = [name for name in tables if name not in first]
        chosen = first + rng.sample(rest, k=max(0, min(len(rest), self.tables - len(first))))
        drawn = rng.sample(figures, k=min(len(figures), max(1, round(self.pages * rng.uniform(0.3, 0.8)))))
        pairs = [
            pair
            for pair in self.subject.data.get("pairs", [])
            if set(pair) <= set(drawn) and rng.random() < 0.6
        ]
        self._partners = {one: pair for pair in pairs for one in pair}
        return {("table", name) for name in chosen} | {("figure", name) for name in drawn}

    def _items(self, part: SubjectPart) -> list[Item]:
        """A part with the floats that it names first."""
        text = self.writer.fill(part.text) if part.kind != "formula" else part.text
        lines = tuple(
            self.writer.fill(line) if part.kind != "algorithm" else self._code(line) for line in part.lines
        )
        note = self.writer.fill(part.note) if part.note else ""
        if part.kind == "formula":
            item = Item("formula", text, number=self._formulas.get(part.name, 0))
        elif part.kind == "lead":
            head, _, text = text.partition(". ")
            item = Item("lead", text, lines=(head,))
        elif part.kind == "algorithm":
            numbers = (f"{i}: {line}" if i else line for i, line in enumerate(lines))
            item = Item("algorithm", text, lines=tuple(numbers))
        else:
            item = Item(part.kind, text, lines=lines, note=note)
        floats, self._pending = self._pending, []
        narrow = COLUMN_WIDTHS[1] * 0.44 / CHARACTER * 1.2
        is_alone = len(floats) == 1 and floats[0].kind == "table" and self.look.columns == 1
        is_alone = is_alone and not floats[0].turned
        if is_alone and part.kind == "text" and not note and len(text) > 420 and self.rng.random() < 0.35:
            table = floats[0].tables[0]
            if table.estimated_width < narrow:
                return [Item("beside", text, tables=floats[0].tables, number=floats[0].number)]
        return [item, *floats]

    def _code(self, line: str) -> str:
        steps = (len(line) - len(line.lstrip())) // 2
        return "␣" * steps + self.writer.fill(line)

    # ---- floats

    def _name_of(self, kind: str, name: str) -> str:
        """What an exhibit or formula is called; an exhibit is set where it is named first."""
        if kind == "eq":
            number = f"({numbered(self.chapter, self._formulas[name])})"
            name = self._named["equation_short" if self.look.size < 12 else "equation"]
            return f"{name}\xa0{number}"
        if (kind, name) not in self._floats:
            self._counts[kind] += 1
            count = self._counts[kind]
            pair = self._partners.get(name, [name]) if kind == "figure" else [name]
            for letter, one in zip("ab", pair, strict=False):
                self._floats[kind, one] = self._called(kind, count) + (letter if len(pair) > 1 else "")
            self._pending.append(self._table(name, count) if kind == "table" else self._figure(pair, count))
        return self._floats[kind, name]

    def _called(self, kind: str, number: int) -> str:
        if kind == "table":
            shown = numbered(self.chapter, number, roman_numbers=self.look.roman_tables)
            return f"{self._named['table']}\xa0{shown}"
        short = "Fig." in self.look.figure_label or "FIG" in self.look.figure_label
        return f"{self._named['figure_short' if short else 'figure']}\xa0{numbered(self.chapter, number)}"

    def _table(self, name: str, number: int) -> Item:
        """A table as wide as it needs to be; at times one for each set of data under one caption."""
        exhibit, columns = self.writer.tables[name], self.look.columns
        table = exhibit.table(self.lines)
        narrow = COLUMN_WIDTHS[columns] / CHARACTER * 1.25
        if name in self._sideways:
            return Item("table", tables=(table,), number=number, turned=True)
        if isinstance(exhibit, Results) and len(exhibit.sets) > 1 and self.rng.random() < 0.2:
            pair = tuple(
                PaperTable(
                    replace(table.content, layout=lay_out(exhibit.draft_of([s]))), f"{exhibit.sets[s]}."
                )
                for s in range(2)
            )
            room = (PAGE_WIDTH if columns == 2 else COLUMN_WIDTHS[1]) * 0.47 / CHARACTER * 1.2
            if all(half.estimated_width < room and isinstance(half.content, OwnTable) for half in pair):
                return Item("subtables", table.caption, tables=pair, number=number, wide=columns == 2)
        is_wide = columns == 2 and table.estimated_width > narrow
        return Item("table", tables=(table,), number=number, wide=is_wide)

    def _figure(self, names: list[str], number: int) -> Item:
        """A figure, or two of them with letters under one caption."""
        rng, figures = self.rng, [self.writer.figures[name] for name in names]
        many = len(names) > 1
        wide = self.look.columns == 2 and rng.random() < (0.7 if many else 0.15)
        width = 480.0 if wide else min(COLUMN_WIDTHS[self.look.columns], 380)
        if not many:
            high = width * rng.uniform(0.42, 0.54) * (0.62 if wide else 1)
            latex = figures[0].latex(width * 0.74, high, self.folder)
            return Item("figure", figures[0].caption(), latex=latex, number=number, wide=wide)
        cells = []
        for letter, figure in zip("ab", figures, strict=True):
            drawn = figure.latex(width * 0.36, width * 0.27, self.folder)
            cells.append(
                rf"\begin{{minipage}}[b]{{.49\linewidth}}\centering {drawn}\par{{\footnotesize ({letter})}}\end{{minipage}}"
            )
        caption = " ".join(
            f"({letter}) {figure.caption()}" for letter, figure in zip("ab", figures, strict=True)
        )
        return Item("figure", caption, latex=r"\hfill ".join(cells), number=number, wide=wide)
