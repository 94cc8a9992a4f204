"""Front matter: title, authors with affiliations and marks, abstract, keywords, dates, as publishers have it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from parsemark.corpora.latex.synthetic.papers.looks import PaperLook
from parsemark.corpora.latex.synthetic.papers.tokens import PaperToken, Register, Setter
from parsemark.corpora.synthetic.pieces import to_latex
from parsemark.model import Category


@dataclass(frozen=True)
class Matter:
    """What the first page says about a paper."""

    title: str
    authors: tuple[tuple[str, str], ...]
    homes: tuple[int, ...]
    """For each author the index of the affiliation."""
    affiliations: tuple[tuple[str, str, str], ...]
    """Department, university, city with country."""
    domains: tuple[str, ...]
    abstract: str
    keywords: tuple[str, ...]
    day: tuple[int, int, int]
    """Day, month and year."""
    chapter: int = 0
    """Of a thesis."""

    def names(self) -> list[str]:
        """The authors in full."""
        return [f"{given} {family}" for given, family in self.authors]

    def email(self, index: int) -> str:
        """Of an author."""
        given, family = (_ascii(name).lower() for name in self.authors[index])
        return f"{given[0]}.{family}@{self.domains[self.homes[index]]}"


def _ascii(name: str) -> str:
    """A name as addresses write it: without accents, blanks and apostrophes."""
    plain = unicodedata.normalize("NFKD", name.replace("ø", "o").replace("Ø", "O"))
    return "".join(character for character in plain if character.isascii() and character.isalpha())


def written_date(words: dict[str, Any], day: int, month: int, year: int) -> str:
    """A day as a language writes it."""
    return str(words["date"]).format(day=day, month=words["months"][month - 1], year=year)


class Front:
    """Sets the front matter of one document."""

    def __init__(
        self, look: PaperLook, matter: Matter, register: Register, setter: Setter, words: dict[str, Any]
    ) -> None:
        self.look, self.matter, self.register, self.setter = look, matter, register, setter
        self.words, self.labels = words, words["labels"]

    def latex(self) -> str:
        """The front matter, over all columns where the look has it so."""
        build: Callable[[], tuple[str, str]] = getattr(self, f"_{self.look.front}")
        above, below = build()
        if self.look.columns == 2:
            self.register.widen(above)
            return f"\\twocolumn[{{{above}}}]\n{below}\n"
        return f"{above}\n\n\\suppressfloats[t]{below}\n"  # nothing stands above the title

    # ---- parts

    def _title(self, setting: str, text: str | None = None) -> str:
        words = self.register.text(Category.TITLE, self.setter(text or self.matter.title))
        return f"{{{setting}{words}\\par}}"

    def _line(self, setting: str, text: str, look: str = "{}") -> str:
        words = self.register.text(Category.TEXT_BLOCK, self.setter(text, look=look))
        return f"{{{setting}{words}\\par}}"

    def _tokens(self, setting: str, tokens: Sequence[PaperToken]) -> str:
        return f"{{{setting}{self.register.text(Category.TEXT_BLOCK, tokens)}\\par}}"

    def _marked_names(
        self, separator: str = ",", *, letters: bool = False, bold: bool = False
    ) -> list[PaperToken]:
        tokens: list[PaperToken] = []
        count = len(self.matter.authors)
        for index, (given, family) in enumerate(self.matter.authors):
            home = self.matter.homes[index]
            mark = "abcdefgh"[home] if letters else str(home + 1)
            star = ",*" if index == 0 and not letters else ""
            before_last = count > 2 and self.labels["and"] == "and"  # other languages have no comma there
            tail = separator if index < count - 2 or (index < count - 1 and before_last) else ""
            raised = rf"\textsuperscript{{{mark}{star}}}"
            for word, truth, before in (
                (given, given, " "),
                (family, f"{family}^{{{mark}{star}}}{tail}", " "),
            ):
                latex = to_latex(word) + (raised + to_latex(tail) if truth != word else "")
                tokens.append(PaperToken(rf"\textbf{{{latex}}}" if bold else latex, truth, before))
            if index == count - 2:
                tokens.append(PaperToken(self.labels["and"], self.labels["and"]))
        return tokens

    def _homes(self, setting: str, *, letters: bool = False) -> str:
        lines = []
        for index, home in enumerate(self.matter.affiliations):
            mark = "abcdefgh"[index] if letters else str(index + 1)
            tokens = self.setter(", ".join(home))
            first = tokens[0]
            tokens[0] = PaperToken(rf"\textsuperscript{{{mark}}}{first.latex}", f"^{{{mark}}}{first.text}")
            lines.append(self._tokens(setting, tokens))
        return "".join(lines)

    def _lead(self, lead: str, text: str, lead_look: str, look: str = "{}") -> list[PaperToken]:
        """A paragraph that begins with a word of its own look (`Abstract—`)."""
        return [*self.setter(lead, look=lead_look), *self.setter(text, look=look)]

    def _heading(self, text: str, setting: str) -> str:
        return f"{{{setting}{self.register.text(Category.TITLE, self.setter(text))}\\par}}"

    # ---- publishers

    def _ieee(self) -> tuple[str, str]:
        matter = self.matter
        above = r"\begin{center}" + self._title(r"\fontsize{22}{26}\selectfont ") + r"\vskip12pt "
        if self.look.head == "none":
            cells = []
            for index in range(len(matter.affiliations)):
                people = [n for n, h in zip(matter.names(), matter.homes, strict=True) if h == index]
                if not people:
                    continue
                department, university, city = matter.affiliations[index]
                email = matter.email(matter.homes.index(index))
                lines = self._line(r"\centering\large ", ", ".join(people))
                lines += self._line(r"\centering\small ", department, r"\textit{{}}")
                lines += self._line(r"\centering\small ", f"{university}, {city}")
                lines += self._line(r"\centering\small ", email)
                cells.append(lines)
            width = 0.94 / max(1, len(cells))
            above += "".join(
                rf"\begin{{minipage}}[t]{{{width:.3f}\textwidth}}{c}\end{{minipage}}\hfil " for c in cells
            )
        else:
            above += self._line(r"\large ", ", ".join(matter.names()))
        above += r"\end{center}\vskip14pt "
        abstract = self._lead("Abstract—", matter.abstract, r"\textit{\textbf{{}}}", r"\textbf{{}}")
        joined = PaperToken(abstract[0].latex + abstract[1].latex, abstract[0].text + abstract[1].text)
        below = self._tokens(r"\small ", [joined, *abstract[2:]])
        terms = self._lead(
            "Index Terms—", ", ".join(matter.keywords) + ".", r"\textit{\textbf{{}}}", r"\textbf{{}}"
        )
        glued = PaperToken(terms[1].latex + terms[2].latex, terms[1].text + terms[2].text)
        return above, below + r"\vskip4pt " + self._tokens(
            r"\small ", [terms[0], glued, *terms[3:]]
        ) + r"\vskip4pt "

    def _acm(self) -> tuple[str, str]:
        matter = self.matter
        above = (
            r"\begin{center}"
            + self._title(r"\fontsize{17.3}{21}\selectfont\sffamily\bfseries ")
            + r"\vskip10pt "
        )
        cells = []
        for index, name in enumerate(matter.names()):
            _, university, city = matter.affiliations[matter.homes[index]]
            lines = self._line(r"\centering\large ", name) + self._line(
                r"\centering\small ", matter.email(index)
            )
            lines += self._line(r"\centering\small ", university) + self._line(r"\centering\small ", city)
            cells.append(rf"\begin{{minipage}}[t]{{.31\textwidth}}{lines}\end{{minipage}}")
        rows = [r"\hfil ".join(cells[i : i + 3]) for i in range(0, len(cells), 3)]
        above += r"\par\vskip8pt ".join(rows) + r"\end{center}\vskip10pt "
        below = self._heading("ABSTRACT", r"\noindent\Large\bfseries ") + r"\nobreak\vskip3pt "
        below += self._tokens(r"\noindent ", self.setter(matter.abstract)) + r"\vskip8pt "
        below += self._heading("KEYWORDS", r"\noindent\Large\bfseries ") + r"\nobreak\vskip3pt "
        return above, below + self._line(r"\noindent ", ", ".join(matter.keywords)) + r"\vskip6pt "

    def _llncs(self) -> tuple[str, str]:
        matter = self.matter
        above = r"\begin{center}" + self._title(r"\Large\bfseries\boldmath ") + r"\vskip16pt "
        above += self._tokens("", self._marked_names()) + r"\vskip10pt " + self._homes(r"\small ")
        above += self._line(r"\small ", matter.email(0), r"\texttt{{}}") + r"\end{center}\vskip14pt "
        abstract = self._lead(f"{self.labels['abstract']}.", matter.abstract, r"\textbf{{}}")
        words = self._lead(self.labels["keywords"], " · ".join(matter.keywords), r"\textbf{{}}")
        body = self._tokens(r"\noindent ", abstract) + r"\vskip8pt " + self._tokens(r"\noindent ", words)
        return (
            above
            + rf"\begin{{list}}{{}}{{\leftmargin1cm\rightmargin1cm}}\item[]\small {body}\end{{list}}\vskip4pt ",
            "",
        )

    def _icml(self) -> tuple[str, str]:
        matter = self.matter
        above = r"\hrule height1pt\vskip12pt\begin{center}" + self._title(r"\Large\bfseries ")
        above += r"\end{center}\vskip4pt\hrule height1pt\vskip14pt\begin{center}"
        above += self._tokens(r"\bfseries ", self._marked_names("")) + r"\end{center}\vskip10pt "
        below = self._heading(self.labels["abstract"], r"\centering\large\bfseries ")
        quote = r"\begin{list}{}{\leftmargin.2in\rightmargin.2in}\item[]"
        below += f"{quote}{self._tokens('', self.setter(matter.abstract))}\\end{{list}}"
        homes = [", ".join(home) for home in matter.affiliations]
        note = " ".join(f"⟦raise:{i + 1}⟧{home}." for i, home in enumerate(homes))
        text = f"{note} Correspondence to: {matter.names()[0]} <{matter.email(0)}>."
        tokens = _raised(self.setter, text)
        foot = self.register.text(Category.PAGE_FOOTNOTE, tokens)
        mark = r"{\renewcommand\thefootnote{}\makeatletter\def\@makefntext#1{\noindent#1}\makeatother\footnotetext{%s}}"
        return above, mark % foot + below

    def _neurips(self) -> tuple[str, str]:
        matter = self.matter
        above = r"\hrule height4pt\vskip.22in\begin{center}" + self._title(r"\LARGE\bfseries ")
        above += r"\end{center}\vskip.1in\hrule height1pt\vskip.25in "
        cells = []
        for index, name in enumerate(matter.names()[:4]):
            department, university, _ = matter.affiliations[matter.homes[index]]
            lines = self._line(r"\centering ", name, r"\textbf{{}}") + self._line(r"\centering ", department)
            lines += self._line(r"\centering ", university)
            lines += self._line(r"\centering ", matter.email(index), r"\texttt{{}}")
            cells.append(
                rf"\begin{{minipage}}[t]{{{0.96 / min(3, len(matter.authors)):.3f}\textwidth}}\small {lines}\end{{minipage}}"
            )
        rows = [r"\hfil ".join(cells[i : i + 3]) for i in range(0, len(cells), 3)]
        above += r"\noindent " + r"\par\vskip10pt\noindent ".join(rows) + r"\par\vskip.3in "
        above += self._heading(self.labels["abstract"], r"\centering\large\bfseries ")
        quote = r"\begin{list}{}{\leftmargin.5in\rightmargin.5in}\item[]"
        return f"{above}{quote}{self._tokens('', self.setter(matter.abstract))}\\end{{list}}", ""

    def _acl(self) -> tuple[str, str]:
        matter = self.matter
        above = r"\begin{center}" + self._title(r"\Large\bfseries ") + r"\vskip12pt "
        above += self._tokens(r"\large\bfseries ", self._marked_names("")) + self._homes(r"\large ")
        above += self._line(r"\large ", matter.email(0), r"\texttt{{}}") + r"\end{center}\vskip20pt "
        below = self._heading(self.labels["abstract"], r"\centering\large\bfseries ")
        quote = r"\begin{list}{}{\leftmargin.6cm\rightmargin.6cm}\item[]\small "
        return above, f"{below}{quote}{self._tokens('', self.setter(matter.abstract))}\\end{{list}}"

    def _elsevier(self) -> tuple[str, str]:
        matter = self.matter
        above = r"\begin{center}" + self._title(r"\LARGE ") + r"\vskip12pt "
        above += self._tokens(r"\large ", self._marked_names(letters=True)) + r"\vskip8pt "
        above += self._homes(r"\small\itshape ", letters=True) + r"\end{center}\vskip8pt\hrule\vskip8pt "
        above += self._heading(self.labels["abstract"], r"\noindent\bfseries ") + r"\vskip3pt "
        above += self._tokens(r"\noindent\small ", self.setter(matter.abstract)) + r"\vskip6pt "
        words = self._lead(self.labels["keywords"], ", ".join(matter.keywords), r"\textit{{}}")
        return above + self._tokens(r"\noindent\small ", words) + r"\vskip8pt\hrule\vskip16pt ", ""

    def _mdpi(self) -> tuple[str, str]:
        matter = self.matter
        day, month, year = matter.day
        above = (
            r"\hskip-3.8cm\begin{minipage}{\dimexpr\textwidth+3.8cm}\raggedright "
            + self._line("", "Article", r"\textit{{}}")
            + r"\vskip4pt "
        )
        above += self._title(r"\fontsize{18}{21}\selectfont\bfseries ") + r"\end{minipage}\par\vskip12pt "
        above += (
            self._tokens(r"\noindent ", self._marked_names(bold=True))
            + r"\vskip10pt "
            + self._homes(r"\noindent\small\raggedright ")
        )
        tokens = self.setter(f"Correspondence: {matter.email(0)}")
        tokens[0] = PaperToken(rf"\textsuperscript{{*}}{tokens[0].latex}", f"^{{*}}{tokens[0].text}")
        above += self._tokens(r"\noindent\small ", tokens)
        published = date(year, month, day)
        steps = {"Received": 70 + 3 * day, "Accepted": 2 + day % 9, "Published": 0}
        days = {name: published - timedelta(days=before) for name, before in steps.items()}
        months = self.words["months"]
        above += self._line(
            r"\noindent\small ",
            "; ".join(f"{name}: {d.day} {months[d.month - 1]} {d.year}" for name, d in days.items()),
        )
        above += r"\vskip12pt " + self._tokens(
            r"\noindent ", self._lead("Abstract:", matter.abstract, r"\textbf{{}}")
        )
        words = self._lead(self.labels["keywords"], "; ".join(matter.keywords), r"\textbf{{}}")
        return above + r"\vskip8pt " + self._tokens(r"\noindent ", words) + r"\vskip6pt\hrule\vskip10pt ", ""

    def _revtex(self) -> tuple[str, str]:
        matter = self.matter
        above = r"\begin{center}" + self._title(r"\large\bfseries ") + r"\vskip8pt "
        above += self._tokens("", self._marked_names()) + r"\vskip2pt " + self._homes(r"\small\itshape ")
        above += self._line(r"\small ", f"(Dated: {written_date(self.words, *matter.day)})") + r"\vskip6pt "
        abstract = self._tokens("", self.setter(matter.abstract))
        above += rf"\begin{{minipage}}{{.8\textwidth}}\small\parindent10pt {abstract}\end{{minipage}}"
        return above + r"\end{center}\vskip14pt ", ""

    def _ams(self) -> tuple[str, str]:
        matter = self.matter
        above = (
            r"\vspace*{18pt}\begin{center}"
            + self._title(r"\bfseries ", matter.title.upper())
            + r"\vskip14pt "
        )
        names = matter.names()
        joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {self.labels['and']} {names[-1]}"
        above += self._line(r"\footnotesize ", joined.upper()) + r"\end{center}\vskip12pt "
        body = self._tokens(
            r"\noindent ", self._lead(f"{self.labels['abstract']}.", matter.abstract, r"\textsc{{}}")
        )
        return (
            above
            + rf"\begin{{list}}{{}}{{\leftmargin3pc\rightmargin3pc}}\item[]\footnotesize {body}\end{{list}}",
            "",
        )

    def _article(self) -> tuple[str, str]:
        matter = self.matter
        above = r"\begin{center}" + self._title(r"\LARGE ") + r"\vskip14pt "
        above += (
            self._tokens(r"\large ", self._marked_names())
            + r"\vskip6pt "
            + self._homes(r"\small ")
            + r"\vskip8pt "
        )
        above += self._line(r"\large ", written_date(self.words, *matter.day)) + r"\end{center}\vskip10pt "
        abstract = self._heading(self.labels["abstract"], r"\centering\small\bfseries ")
        abstract += r"\begin{list}{}{\leftmargin1.5em\rightmargin1.5em}\item[]\small\parindent1.5em "
        abstract += self._tokens("", self.setter(matter.abstract)) + r"\end{list}"
        return (above, abstract) if self.look.columns == 2 else (above + abstract, "")

    def _chapter(self) -> tuple[str, str]:
        number, title = self.matter.chapter, self.matter.title
        if self.look.document_class == "report":
            label = self._heading(f"{self.labels['chapter']} {number}", r"\noindent\huge\bfseries ")
            return r"\vspace*{50pt}" + label + r"\vskip20pt " + self._title(
                r"\noindent\Huge\bfseries\raggedright "
            ) + r"\vskip40pt ", ""
        return r"\vspace*{40pt}" + self._title(
            r"\noindent\huge\sffamily\bfseries\raggedright ", f"{number} {title}"
        ) + r"\vskip24pt ", ""


def _raised(setter: Setter, text: str) -> list[PaperToken]:
    """Tokens of a text with marks `⟦raise:1⟧` before words."""
    tokens: list[PaperToken] = []
    for part in text.split("⟦raise:"):
        mark, found, rest = part.partition("⟧")
        words = setter(rest if found else part)
        if found and words:
            words[0] = PaperToken(
                rf"\textsuperscript{{{mark}}}{words[0].latex}", f"^{{{mark}}}{words[0].text}"
            )
        tokens += words
    return tokens
