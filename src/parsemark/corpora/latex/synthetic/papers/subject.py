"""Reads the subjects of papers: what they measure, whom they compare with, and what they say about it.

A subject is a file in `subjects/`: data in TOML, a line `+++`, and the text. Blocks of the text are parted by empty
lines: `# heading`, `## heading below it`, `- items` of a list, `$$ name: formula` (with a name it has a number),
`theorem: …`, `proof: …`, `lead: Heading. Text`, `algorithm: title` with its lines, and paragraphs; `~ ` before a paragraph says
that the thread holds without it (`~(id) ` that it is also left out where that exhibit is), `^ ` that it is a footnote of the one
before it.

In any text `[one|another]` are variants of which one is drawn, `$…$` is a formula, and `{…}` a slot:

    {ours}                    a name or number that is drawn once for the paper (`choose`, `numbers`)
    {cite:key,key} {citet:key}  works of the list `works`
    {table:id} {figure:id} {eq:name}   the name of an exhibit or formula: "Table 2"
    {id:fact}                 what an exhibit shows: see `fact` in `tables.py` and `figures.py`

With `language = "french"` the subject is written in French, also its numbers (0,25); plain blanks will do before : ; ? ! %.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

_ROOM = "parsemark.corpora.latex.synthetic.papers"
_EXHIBIT = re.compile(r"\{(table|figure):([\w-]+)\}")
_LED = re.compile(r"(theorem|lemma|proof|lead|algorithm): ", re.ASCII)
_OPTIONAL = re.compile(r"~(?:\(([\w-]+)\))? ")
_FORMULA = re.compile(r"\$\$ (?:([a-z]+): )?(.+)", re.DOTALL)


@dataclass(frozen=True)
class SubjectPart:
    """A block of the text."""

    kind: str
    """`heading`, `text`, `more` (goes on below a formula), `list`, `formula`, `theorem`, `lemma`, `proof`, `lead`, `algorithm`."""
    text: str
    level: int = 1
    name: str = ""
    optional: bool = False
    lines: tuple[str, ...] = ()
    note: str = ""
    """A footnote of it."""
    needs: str = ""
    """An exhibit without which it would hang in the air, where it names none."""

    @property
    def exhibits(self) -> tuple[tuple[str, str], ...]:
        """Tables and figures that it speaks of."""
        return tuple(_EXHIBIT.findall(self.text))


@dataclass(frozen=True)
class Subject:
    """What a paper can be about."""

    name: str
    data: dict[str, Any]
    parts: tuple[SubjectPart, ...]

    @property
    def language(self) -> str:
        """In which it is written; `words/` has a file for each."""
        return str(self.data.get("language", "english"))

    @property
    def field(self) -> str:
        """The science."""
        return str(self.data["field"])

    @property
    def has_measurements(self) -> bool:
        """Whether it has a table whose single measurements can be listed."""
        return any(table["kind"] == "samples" for table in self.data["tables"].values())


def with_formulas(text: str) -> list[tuple[str, bool]]:
    """The parts of a text, and whether they are formulas: `$…$`, or marks of them."""
    plain = re.sub(r"⟦math:([^⟧]*)⟧", r"$\1$", text)
    return [(part, index % 2 == 1) for index, part in enumerate(plain.split("$")) if part]


@lru_cache(maxsize=4)
def subject_names(language: str | None = None) -> tuple[str, ...]:
    """The subjects of which papers are written, in one language or in all."""
    folder = files(_ROOM) / "subjects"
    names = sorted(f.name[:-4] for f in folder.iterdir() if f.name.endswith(".txt"))
    return tuple(name for name in names if language in (None, read_subject(name).language))


@lru_cache(maxsize=64)
def read_subject(name: str) -> Subject:
    """One of them."""
    text = (files(_ROOM) / "subjects" / f"{name}.txt").read_text(encoding="utf-8")
    head, _, body = text.partition("\n+++\n")
    blocks = [block.strip() for block in re.split(r"\n\s*\n", body) if block.strip()]
    parts: list[SubjectPart] = []
    for block in blocks:
        if block.startswith("^ "):
            parts[-1] = replace(parts[-1], note=" ".join(block[2:].split()))
            continue
        parts.append(_part(block, after_formula=bool(parts) and parts[-1].kind == "formula"))
    return Subject(name, tomllib.loads(head), tuple(parts))


@lru_cache(maxsize=4)
def common(language: str) -> dict[str, Any]:
    """What papers of all subjects share in a language: labels, thanks, phrases, sentences about exhibits of each kind."""
    return tomllib.loads((files(_ROOM) / "words" / f"{language}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def people() -> dict[str, Any]:
    """Names of authors by origin, universities with their towns, publishers."""
    return tomllib.loads((files(_ROOM) / "people.toml").read_text(encoding="utf-8"))


def homes(language: str) -> list[list[str]]:
    """Universities with their towns and what their addresses end with: those of the language, if it has its own."""
    return list(common(language).get("homes") or people()["homes"]["list"])


def _part(block: str, *, after_formula: bool) -> SubjectPart:
    if block.startswith("#"):
        marks, _, title = block.partition(" ")
        return SubjectPart("heading", title, len(marks))
    formula = _FORMULA.fullmatch(block)
    if formula:
        return SubjectPart("formula", " ".join(formula[2].split()), name=formula[1] or "")
    if block.startswith("- "):
        return SubjectPart("list", "", lines=tuple(line[2:] for line in block.splitlines()))
    led = _LED.match(block)
    if led:
        first, *rest = block[led.end() :].splitlines()
        return SubjectPart(
            led[1], first if led[1] == "algorithm" else " ".join([first, *rest]), lines=tuple(rest)
        )
    text = " ".join(block.split())
    optional = _OPTIONAL.match(text)
    if optional:
        return SubjectPart("text", text[optional.end() :], optional=True, needs=optional[1] or "")
    return SubjectPart("more" if after_formula else "text", text)
