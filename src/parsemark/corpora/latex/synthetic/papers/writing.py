"""Writes a paper about its subject: draws names, numbers, works and exhibits once, and fills what is said with them.

Texts hold marks, `⟦kind:value⟧`, for what is set later: citations (whose numbers are known when all text
is written), formulas, addresses.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from parsemark.corpora.latex.synthetic.papers.axes import PLOT_LOOKS
from parsemark.corpora.latex.synthetic.papers.exhibits import Exhibit, number
from parsemark.corpora.latex.synthetic.papers.figures import FIGURES, Plot
from parsemark.corpora.latex.synthetic.papers.subject import Subject, common, homes, people
from parsemark.corpora.latex.synthetic.papers.tables import TABLES

MARK = re.compile(r"⟦(\w+):([^⟧]*)⟧")
"""What is set later, in a text."""
_SLOT = re.compile(r"\{([A-Za-z][\w-]*)(?::([^{}]*))?\}")
_VARIANTS = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_MATH = re.compile(r"\$([^$]+)\$")
_TOGETHER = 0.65
"""Share of authors that come from where the one before them does."""
_PROCEEDINGS = ("Conference", "Symposium", "Workshop", "Advances in", "Actes", "Journées", "Colloque")


@dataclass(frozen=True)
class Reference:
    """A work that is cited."""

    authors: tuple[tuple[str, str], ...]
    """Given and family names."""
    title: str
    venue: str
    year: int
    volume: int
    pages: tuple[int, int]
    kind: str = "article"
    """`article`, `talk` (in the proceedings of a conference), `book`, `thesis` or `preprint`."""
    issue: int = 0
    """Of the volume, where the list names them."""
    doi: str = ""
    """With what stands before it."""
    conjunction: str = "and"
    """Before the last author."""

    @property
    def sentence(self) -> str:
        """The title with its stop."""
        return self.title if self.title.endswith("?") else f"{self.title}."

    @property
    def short(self) -> str:
        """As it is named in the text."""
        names = [family for _, family in self.authors]
        if len(names) == 1:
            return names[0]
        return f"{names[0]} {self.conjunction} {names[1]}" if len(names) == 2 else f"{names[0]} et al."


@dataclass(frozen=True)
class _ListStyle:
    """What the reference list of a paper says of articles: their issues, and DOIs of a share of them."""

    issues: bool
    dois: float
    doi: str


class Writer:
    """Writes one paper."""

    def __init__(self, rng: random.Random, subject: Subject) -> None:
        self.rng, self.subject, self.language = rng, subject, subject.language
        self.words = common(subject.language)
        data = subject.data
        self.year = rng.randint(*data["year"])
        self.amounts: dict[str, float] = {}
        self._names: dict[str, str] = {"year": str(self.year)}
        self._draw_names(data)
        self.references: list[Reference] = []
        self.cited: list[int] = []
        """In the order of their first citation."""
        self._keys: dict[str, int] = {}
        self._list_style = _ListStyle(
            rng.random() < 0.4,
            rng.choice([0.0, 0.3, 0.5, 0.9]),
            rng.choice(["doi:", "doi:", "https://doi.org/"]),
        )
        for key, work in data["works"].items():
            self._add_work(key, work)
        self.plot_look = rng.choice(PLOT_LOOKS)
        """Of all plots of the paper."""
        self.cell_cite = "cite"
        """How works are cited in the cells of tables."""
        self.name_of: Callable[[str, str], str] = lambda kind, name: name
        """How an exhibit or formula is called in the text."""
        self.said: set[str] = set()
        self.methods = self._methods(data.get("methods", []))
        self.tables: dict[str, Exhibit] = {}
        self.figures: dict[str, Plot] = {}
        for name, spec in data["tables"].items():
            self.tables[name] = TABLES[spec["kind"]](self, name, spec)
        for name, spec in data["figures"].items():
            self.figures[name] = FIGURES[spec["kind"]](self, name, spec)
        self.cited.clear()  # what tables cite counts when they are shown

    def _draw_names(self, data: dict[str, Any]) -> None:
        for key, choices in data.get("choose", {}).items():
            chosen = self.rng.choice(choices)
            for name, value in chosen.items() if isinstance(chosen, dict) else [(key, chosen)]:
                self._names[name] = self.fill(str(value))
        for key, (low, high, *step) in data.get("numbers", {}).items():
            if isinstance(low, float):
                decimals = len(str(low).partition(".")[2])
                self.amounts[key] = round(self.rng.uniform(low, high), decimals)
                self._names[key] = number(self.amounts[key], decimals, self.language)
            else:
                self.amounts[key] = self.rng.randrange(low, high + 1, step[0] if step else 1)
                self._names[key] = number(self.amounts[key], 0, self.language)
        for key, parts in data.get("splits", {}).items():
            self._split(key, parts)

    def _split(self, key: str, parts: dict[str, float]) -> None:
        """Parts of a number that add up to it."""
        left, shares = int(self.amounts[key]), sum(parts.values())
        for name, share in parts.items():
            count = round(left * share / shares * (self.rng.uniform(0.985, 1.015) if share < shares else 1))
            self.amounts[name], self._names[name] = count, number(count, 0, self.language)
            left, shares = left - count, shares - share

    def _methods(self, specs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        methods = []
        for spec in specs:
            methods.append({**spec, "name": self.fill(spec["name"])})
        return methods

    def _add_work(self, key: str, work: str) -> None:
        """A work of the list: `title|year`, with `|book` behind it if it is one, and `|abroad` if it is in English."""
        title, year, *marks = work.split("|")
        rng = self.rng
        acting = re.compile(rf"citet:{key}\}}")  # what a work says, its authors say
        least = 2 if any(acting.search(part.text) for part in self.subject.parts) else 1
        kind, venue = self._appeared(marks, int(year), is_joint=least > 1)
        count = 1 if kind == "thesis" else max(least, rng.choice([1, 2, 2, 3, 3, 4, 5]))
        first = rng.randint(1, 1800)
        doi = f"10.{rng.randint(1001, 1190)}/{rng.choice('abcdjs')}.{rng.randint(10**5, 10**7)}"
        self._keys[key] = len(self.references)
        self.references.append(
            Reference(
                self.persons(count, 0.9 if "abroad" in marks else 0.2), self.fill(title), venue, int(year),
                rng.randint(2, 140), (first, first + rng.randint(4, 28)), kind,
                rng.randint(1, 6) if self._list_style.issues else 0,
                self._list_style.doi + doi if rng.random() < self._list_style.dois else "",
                self.words["labels"]["and"],
            )
        )  # fmt: skip

    def _appeared(self, marks: Sequence[str], year: int, *, is_joint: bool) -> tuple[str, str]:
        """As what a work appeared, and where: most in a journal or at a conference."""
        rng, data = self.rng, self.subject.data
        chance = rng.random()
        if "book" in marks:
            return "book", rng.choice(self.words.get("publisher") or people()["publisher"])
        if chance < 0.06 and not is_joint and "abroad" not in marks:
            return "thesis", rng.choice(homes(self.language))[0]
        if chance > 0.93 and year >= 2010 and "arxiv" in data:
            number = f"{year % 100:02d}{rng.randint(1, 12):02d}.{rng.randint(100, 9999):05d}"
            return "preprint", f"arXiv preprint arXiv:{number}"
        venue = rng.choice(data["venues_abroad" if "abroad" in marks else "venues"])
        return "talk" if any(word in venue for word in _PROCEEDINGS) else "article", venue

    def persons(self, count: int, foreign: float = 0.1) -> tuple[tuple[str, str], ...]:
        """Given and family names. Most authors of a work come from the same place; `foreign` is the share of works
        from elsewhere, where the language of the paper has an origin.
        """
        rng, origins = self.rng, people()["origins"]
        at_home = [origin for origin in origins if origin.get("language") == self.language]
        origin, found = None, dict[str, str]()
        while len(found) < count:
            if origin is None or rng.random() > _TOGETHER:
                among = at_home if at_home and rng.random() >= foreign else origins
                origin = rng.choices(among, [one["weight"] for one in among])[0]
            found.setdefault(rng.choice(origin["family"]), rng.choice(origin["given"]))
        return tuple((given, family) for family, given in found.items())

    def one_of(self, texts: Sequence[str]) -> str:
        """One of several texts, filled; each is said once as long as there are others."""
        text = self.rng.choice(self.unsaid(texts) or list(texts))
        self.said.add(text)
        return self.fill(text)

    def heading(self, text: str) -> str:
        """A heading, or another that can stand for it."""
        for group in self.words["headings"]:
            if text in group:
                return str(self.rng.choice(group))
        return self.fill(text)

    def unsaid(self, texts: Sequence[str]) -> list[str]:
        """Those that the paper has not said yet."""
        return [text for text in texts if text not in self.said]

    def fill(self, text: str, facts: Callable[[str], str] | None = None) -> str:
        """A text with its variants drawn and its slots filled; `facts` answers for `{it:…}`."""
        while True:
            drawn = _VARIANTS.sub(lambda m: self.rng.choice(m[1].split("|")), text)
            if drawn == text:
                break
            text = drawn
        groups = _groups(self.language)
        text = _phrases(self.language).sub(lambda m: self.rng.choice(groups[m[0]]), text)
        text = _fill_outside_formulas(text, lambda m: self._slot(m, facts))
        text = _MATH.sub(lambda m: f"⟦math:{m[1]}⟧", text)
        text = re.sub(r"  +", " ", text).strip()
        return _with_blanks(text, self.words["typesetting"]["apart"])

    def _slot(self, match: re.Match[str], facts: Callable[[str], str] | None) -> str:
        name, argument = match[1], match[2]
        if argument is None:
            if name in self._names:
                return self._names[name]
            lower = self._names[name[0].lower() + name[1:]]
            return lower[0].upper() + lower[1:]
        if name in ("cite", "citet"):
            return self.cite(name, argument.split(","))
        if name in ("table", "figure", "eq"):
            return self.name_of(name, argument)
        if name == "it" and facts is not None:
            return facts(argument)
        return (self.tables.get(name) or self.figures[name]).fact(argument)

    def cite(self, kind: str, keys: Sequence[str]) -> str:
        """A mark for a citation (`cite`), or for one whose authors are named (`citet`)."""
        chosen = [self._keys[key] for key in keys]
        self._count(chosen)
        return f"⟦{kind}:{','.join(map(str, chosen))}⟧"

    def recite(self, text: str) -> str:
        """The same text, whose citations count from now on."""
        for match in MARK.finditer(text):
            if match[1] in ("cite", "citet"):
                self._count([int(number) for number in match[2].split(",")])
        return text

    def _count(self, works: Sequence[int]) -> None:
        self.cited += [number for number in works if number not in self.cited]


def _with_blanks(text: str, apart: str) -> str:
    """Blanks at which no line ends, at the marks that a language sets apart; others have none before them."""
    return re.sub(rf"(?<=«) | (?=[{apart}])", "\xa0", text) if apart else text.replace(" %", "%")


@lru_cache(maxsize=4)
def _groups(language: str) -> dict[str, list[str]]:
    """Phrases, and those that can stand for them."""
    return {phrase: group for group in common(language)["rephrase"] for phrase in group}


@lru_cache(maxsize=4)
def _phrases(language: str) -> re.Pattern[str]:
    longest = sorted(_groups(language), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b")


def _fill_outside_formulas(text: str, fill: Callable[[re.Match[str]], str]) -> str:
    """Fill slots; braces of formulas are TeX's."""
    parts = text.split("$")
    for index in range(0, len(parts), 2):
        parts[index] = _SLOT.sub(fill, parts[index])
    return "$".join(parts)


def in_order(writer: Writer, *, alphabetical: bool) -> list[Reference]:
    """The works that were cited, in the order of their list."""
    works = [writer.references[i] for i in writer.cited]
    if alphabetical:
        works.sort(key=lambda r: (r.authors[0][1], r.year, r.title))
    return works


def cite_numbers(numbers: Sequence[int], style: str) -> str:
    """`[3], [7]` for `ieee`, `[3, 7]` otherwise; three and more in a row become a range."""
    ordered = sorted(numbers)
    runs: list[list[int]] = []
    for value in ordered:
        if runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    if style == "ieee":
        parts = []
        for run in runs:
            parts += [f"[{run[0]}]–[{run[-1]}]"] if len(run) > 2 else [f"[{v}]" for v in run]
        return ", ".join(parts)
    parts = []
    for run in runs:
        parts += [f"{run[0]}–{run[-1]}"] if len(run) > 2 else [str(v) for v in run]
    return ",".join(parts) if style == "raised" else f"[{', '.join(parts)}]"
