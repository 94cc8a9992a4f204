"""What a paper says: sentences of a grammar over the words of its field, with citations and references.

Sentences hold marks, `⟦kind:value⟧`, for what is set later: citations (whose numbers are known when all text
is written), formulas, addresses. The words and the grammar are data: `words.json`.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

MARK = re.compile(r"⟦(\w+):([^⟧]*)⟧")
"""What is set later, in a text."""
_SLOT = re.compile(r"\{([\w:]+)\}")
_DEEPEST = 4

SYMBOLS = ("x", "y", "z", "u", "q", "r", "\\theta", "\\lambda", "\\mu", "\\phi", "\\rho", "\\tau", "\\kappa")


@lru_cache(maxsize=1)
def _words() -> dict[str, Any]:
    file = files("parsemark.corpora.latex.synthetic.papers") / "words.json"
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


def fields() -> list[str]:
    """The fields of which papers are written."""
    return sorted(_words()["fields"])


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
    is_book: bool
    doi: str | None

    @property
    def short(self) -> str:
        """As it is named in the text."""
        names = [family for _, family in self.authors]
        if len(names) == 1:
            return names[0]
        return f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} et al."


@dataclass
class Writer:
    """Writes one paper."""

    rng: random.Random
    field_name: str
    references: list[Reference] = field(default_factory=list)
    cited: list[int] = field(default_factory=list)
    """In the order of their first citation."""
    _bags: dict[str, list[str]] = field(default_factory=dict)

    @property
    def field_words(self) -> dict[str, Any]:
        """The words of the field."""
        words: dict[str, Any] = _words()["fields"][self.field_name]
        return words

    @property
    def people(self) -> dict[str, list[str]]:
        """Names of people and places."""
        people: dict[str, list[str]] = _words()["people"]
        return people

    def gather_references(self, count: int) -> None:
        """Draw the works that can be cited."""
        for _ in range(count):
            people = tuple(self.person() for _ in range(self.rng.choice([1, 1, 2, 2, 3, 3, 4, 5])))
            first = self.rng.randint(1, 1800)
            is_book = self.rng.random() < 0.12
            self.references.append(
                Reference(
                    people,
                    self.phrase("title"),
                    self.rng.choice(self.people["publisher"] if is_book else self.field_words["venues"]),
                    self.rng.randint(1988, 2023),
                    self.rng.randint(2, 140),
                    (first, first + self.rng.randint(4, 28)),
                    is_book,
                    f"10.{self.rng.randint(1001, 1190)}/{self.rng.choice('abcdjs')}.{self.rng.randint(10**5, 10**7)}"
                    if self.rng.random() < 0.4
                    else None,
                )
            )

    def person(self) -> tuple[str, str]:
        """A given name and a family name."""
        return self.rng.choice(self.people["given"]), self.rng.choice(self.people["family"])

    def phrase(self, rule: str) -> str:
        """An expansion of a rule of the grammar, with a capital letter."""
        text = self._expand(self._draw(rule), {}, 0)
        return text[0].upper() + text[1:]

    def sentence(self, role: str) -> str:
        """A sentence of a part of a paper: `intro`, `method`, `result` and so on."""
        text = self._draw(f"say_{role}")
        if self.rng.random() < 0.28 and "{clause}" not in text:
            text = f"{text}, {self._draw('clause')}"
        text = self._expand(text, {}, 0).replace(" ⟦drop:⟧", "")
        return f"{text[0].upper()}{text[1:]}."

    def paragraph(self, role: str, count: int) -> str:
        """Sentences of one role."""
        return " ".join(self.sentence(role) for _ in range(count))

    def _draw(self, rule: str) -> str:
        """The next alternative of a rule: all come before any comes again."""
        bag = self._bags.get(rule)
        if not bag:
            bag = list(_words()["grammar"].get(rule) or _words()["fields"][self.field_name][rule])
            self.rng.shuffle(bag)
            self._bags[rule] = bag
        return bag.pop()

    def _expand(self, text: str, chosen: dict[str, str], depth: int) -> str:
        return _SLOT.sub(lambda match: self._slot(match[1], chosen, depth), text)

    def _slot(self, name: str, chosen: dict[str, str], depth: int) -> str:
        kind, _, argument = name.partition(":")
        if kind == "math":
            return f"⟦math:{self._symbol(argument, chosen)}⟧"
        if kind in _DRAWN:
            return _DRAWN[kind](self)
        if kind.lower() in ("cite", "citet"):
            return self.cite(kind.lower())
        if kind == "a_adj":
            adjective = self._slot("adj", chosen, depth)
            return f"{'an' if adjective[0].lower() in 'aeiou' else 'a'} {adjective}"
        base = kind.rstrip("2")
        rule = base if base in _words()["grammar"] else base.lower()
        rule = "Scope2" if kind == "Scope2" else rule
        drawn = self._draw(rule)
        for _ in range(3):  # the same word twice in a sentence is a slip
            if drawn not in chosen.values():
                break
            drawn = self._draw(rule)
        chosen[kind] = drawn
        expanded = self._expand(drawn, chosen, depth + 1) if depth < _DEEPEST else drawn
        return expanded[0].upper() + expanded[1:] if kind[0].isupper() else expanded

    def cite(self, kind: str) -> str:
        """A mark for a citation (`cite`), or for one whose authors are named (`citet`)."""
        if not self.references:
            return "⟦drop:⟧"
        count = 1 if kind == "citet" else self.rng.choice([1, 1, 1, 2, 2, 3])
        chosen: list[int] = []
        for _ in range(count):
            fresh = [i for i in range(len(self.references)) if i not in self.cited]
            pick = (
                fresh[0] if fresh and self.rng.random() < 0.65 else self.rng.randrange(len(self.references))
            )
            if pick not in chosen:
                chosen.append(pick)
            if pick not in self.cited:
                self.cited.append(pick)
        return f"⟦{kind}:{','.join(map(str, chosen))}⟧"

    def _symbol(self, name: str, chosen: dict[str, str]) -> str:
        rng = self.rng
        letter = chosen.setdefault("symbol", rng.choice(SYMBOLS))
        index = rng.choice(["_i", "_t", "_{ij}", "_k", ""])
        return {
            "x": f"{letter}{index}",
            "y": rng.choice([f"\\hat{{{letter}}}{index}", f"\\bar{{{letter}}}", f"{letter}{index}^{{*}}"]),
            "i": rng.choice("ijk"),
            "n": rng.choice("nNmT"),
            "alpha": f"\\alpha = {rng.choice(['0.05', '0.1', '0.01', '0.5', '0.9'])}",
            "ineq": rng.choice(
                [
                    f"\\|{letter}\\|_2 \\leq C",
                    f"0 < {letter} < 1",
                    f"{letter}_{{i+1}} \\geq {letter}_i",
                    f"f({letter}) \\leq {rng.randint(2, 9)} n^2",
                ]
            ),
            "cost": rng.choice(["O(n \\log n)", "O(n^2)", "O(n^{-1/2})", "O(nm)"]),
            "p": f"p = {rng.uniform(0.001, 0.2):.3f}" if rng.random() < 0.6 else "p < 0.001",
            "pm": f"{rng.uniform(1, 90):.1f} \\pm {rng.uniform(0.1, 3):.1f}",
            "slope": f"{rng.uniform(0.1, 3):.2f}",
            "corr": f"r = -{rng.uniform(0.2, 0.9):.2f}",
        }[name]


_DRAWN: dict[str, Callable[[Writer], str]] = {
    "int": lambda w: (
        f"{w.rng.choice([w.rng.randint(12, 98), w.rng.randint(110, 990), w.rng.randint(1001, 48000)]):,}"
    ),
    "num": lambda w: f"{w.rng.uniform(0.1, 40):.{w.rng.choice([1, 2, 2])}f}",
    "pct": lambda w: (
        f"{w.rng.choice([w.rng.uniform(0.4, 9), w.rng.uniform(3, 70)]):.{w.rng.choice([0, 1])}f}%"
    ),
    "count": lambda w: w.rng.choice(["two", "three", "four", "five", "six", "seven", "eight", "ten"]),
    "count2": lambda w: w.rng.choice(["ten", "eleven", "twelve", "fifteen", "twenty"]),
    "year": lambda w: str(w.rng.randint(1998, 2012)),
    "year2": lambda w: str(w.rng.randint(2013, 2022)),
    "url": lambda w: (
        f"⟦url:https://{w.rng.choice(w.people['domain'])}/{w.rng.choice(['data', 'code', 'projects', 'supplement'])}/{w.rng.randint(10, 999)}⟧"
    ),
}


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
