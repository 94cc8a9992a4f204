"""The tables of a document's source, ready to be found again among those that TeX set."""

import contextlib
import re
from dataclasses import dataclass, field
from functools import cached_property

from parsemark.corpora.latex.documents.main_file import flattened
from parsemark.corpora.latex.documents.table_places import PLACE, with_places
from parsemark.corpora.latex.glyphs import glyph_text
from parsemark.corpora.latex.sources import SourceDocument
from parsemark.errors import FormatError
from parsemark.formats.latex.definitions import Definition, expand, read_definitions
from parsemark.formats.latex.environments import find_environments
from parsemark.formats.latex.grid import TexGrid, read_grid
from parsemark.formats.latex.table import print_cells

_COMMENT = re.compile(r"\\begin\{comment\}.*?\\end\{comment\}", re.DOTALL)
_NEW_IF = re.compile(r"\\newif\s*\\(if[A-Za-z@]+)")
_CONDITIONAL = re.compile(r"(?P<new>\\newif\s*)?\\(?P<name>if[A-Za-z@]*|else|fi)(?![A-Za-z@])\s?")
_TEX_IFS = """if ifcat ifx ifcase ifnum ifdim ifodd ifvmode ifhmode ifmmode ifinner ifvoid ifhbox ifvbox ifeof
iftrue iffalse ifdefined ifcsname iffontchar"""
_IFS = frozenset(_TEX_IFS.split())  # conditionals of TeX's own; those that a document declares come with them
MIN_ROW, MIN_ROWS = 6, 2  # glyphs of a row by which it can be found on a page, and rows by which a table can


@dataclass
class TabularCandidate:
    """A table of the source."""

    latex: str
    grid: TexGrid  # with all rows, also those that a longtable repeats
    row_glyphs: list[str]
    is_used: bool = False

    @cached_property
    def glyphs(self) -> str:
        """Of all rows."""
        return "".join(self.row_glyphs)

    def stands_on(self, page: str) -> bool:
        """Whether the glyphs of a page hold most rows of the table."""
        rows = [row for row in self.row_glyphs if len(row) >= MIN_ROW]
        return len(rows) >= MIN_ROWS and sum(row in page for row in rows) > 0.5 * len(rows)


@dataclass
class Candidates:
    """All tables of a document's source, in its order."""

    tables: list[TabularCandidate] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # tables that cannot be read, with the reason
    passed_over: int = 0  # tables that TeX does not read


def read_candidates(document: SourceDocument, main: str) -> Candidates:
    """The tables of the source; `array` is a formula here."""
    whole = flattened(document, main)
    text = without_unset(whole)
    n_passed_over = max(0, len(find_environments(whole)) - len(find_environments(text)))
    found = Candidates(passed_over=n_passed_over)
    definitions: dict[str, Definition] = {}
    for file in document.tex_files().values():
        with contextlib.suppress(FormatError):  # one that cannot be read adds none
            definitions.update(read_definitions(file))
    for environment in find_environments(text):
        if environment.name in ("array", "NiceArray"):
            continue
        latex = text[environment.start : environment.end]
        try:
            expanded = expand(latex, {**definitions, **read_definitions(latex)})
            grid = read_grid(with_places(expanded), all_rows=True)
            found.tables.append(TabularCandidate(latex, grid, row_glyphs(grid)))
        except FormatError as error:
            found.problems.append(f"a table cannot be read: {error}")
    return found


def without_unset(text: str) -> str:
    r"""The text without what TeX passes over for certain: `\iffalse … \fi`, the other branch of `\iftrue`,
    and `comment` environments.

    >>> without_unset(r"a \iffalse b\ifx\p\q c\fi d\else e \fi f \iftrue g \else h \fi i")
    'a e f g i'
    """
    text = _COMMENT.sub("", text)
    conditionals = _IFS | set(_NEW_IF.findall(text))
    kept: list[str] = []
    taken: list[bool | None] = []
    """Whether TeX takes the branch of each open conditional; None if only TeX can tell."""
    copied = 0
    for match in _CONDITIONAL.finditer(text):
        name, is_seen = match["name"], False not in taken
        if match["new"] or (name not in conditionals if name.startswith("if") else not taken):
            continue
        if is_seen:
            kept.append(text[copied : match.start()])
        own = {"iffalse": False, "iftrue": True}.get(name) if name.startswith("if") else taken.pop()
        if name != "fi":
            taken.append(not own if name == "else" and own is not None else own)
        if own is None and is_seen:
            kept.append(match[0])
        copied = match.end()
    if False in taken:  # its end is made by a macro
        return text
    return "".join([*kept, text[copied:]])


def row_glyphs(grid: TexGrid) -> list[str]:
    """The glyphs of each row."""
    rows = [""] * grid.n_rows
    for cell in print_cells(grid):
        rows[cell.row] += glyph_text(cell.text.replace(PLACE, ""))
    return rows
