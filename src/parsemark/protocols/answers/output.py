"""An output as it is asked: its words in order, its headings, its tables by their headers, its formulas."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from parsemark.formats.document.write import heading_level
from parsemark.formats.notation import CACHE_SIZE, fold_notation
from parsemark.model import Category, Element, Fact, Page, Table

Words = tuple[str, ...]
SIDE = 3  # how many words on one side of an answer say where it stands
_CURRENCY = "$€£¥₹₩₽₺₴₫¢"
_WORD = re.compile(rf"[\ue010±<>≤≥{_CURRENCY}]*\d+(?:[.,:/]\d+)*[%{_CURRENCY}]?|[^\W\d_]+")
_MINUS = re.compile(r"(?<![\w)\]])[-\u2212](?=\d)")
"""The sign of a number, which stays apart from what folding draws to the word before it (as \ue010)."""
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3})++(?!\d)")
_UNSPACED = "\u3001-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60"
_BROKEN_LINE = re.compile(rf"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_NOT_BETWEEN_DIGITS = re.compile(r"(?<!\d)\s+|\s+(?!\d)")
_MARKDOWN_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,400})\]\(<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\))?)")
_HTML_LINK = re.compile(
    r"""<a\s[^<>]{0,400}?href=["']([^"'<>]{1,2000})["'][^<>]{0,400}>([^<>]{1,400})</a>""", re.I
)
_MAX_LEVELS = 4  # rows of headers, or columns of labels, that a reader looks through
_SPARE_SHARE, _SPARE_WORDS, _WORDS_OF_FIGURE = 0.1, 20, 100
"""Words beside those of the truth that an output may have: of all, of a page, and for each figure, which a
parser may describe."""
_IN_LAYER = 0.9  # share of the words of facts that a text layer has if it has all text of the page
_MAX_ASKED = 60_000  # places of a table that are asked; no page has more


@lru_cache(CACHE_SIZE)
def words_of(text: str) -> Words:
    """Return the words and numbers of a text, folded as all notation is."""
    return tuple(_WORD.findall(_folded(text)))


def said_words(text: str) -> Words:
    """Return the words of a text without case, which a page may set as it likes."""
    return tuple(word.casefold() for word in words_of(text))


def shown(words: Iterable[str]) -> str:
    """Return words as they are written for people."""
    return " ".join(words).replace("\ue010", "\u2212")


def _folded(text: str) -> str:
    """White space of every kind is the same, and none between two signs of a script without blanks, where a
    line was broken; thousands are written with a thin one, or with any.
    """
    signed = _MINUS.sub("\ue010", _BROKEN_LINE.sub("", " ".join(text.split())))
    return fold_notation(_THOUSANDS.sub(lambda m: "".join(m[0].split()), signed))


def name_of(texts: Iterable[str]) -> Words:
    """Return the words of a header path, however it is split into cells; case does not matter in a name."""
    said: list[str] = []
    for text in texts:
        folded = _folded(text).casefold()
        if folded and folded not in said[-1:]:
            said.append(folded)
    joined = " ".join(said)
    return tuple(_WORD.findall(joined)) or tuple(joined.split())


def value_of(text: str) -> str:
    """Return the text of a cell as it is compared: white space says nothing, unless it parts two numbers."""
    return _NOT_BETWEEN_DIGITS.sub("", _folded(text))


class AskedTable(NamedTuple):
    """A table by its headers."""

    values: frozenset[str]  # of its cells, for what it is about
    rows: tuple[dict[Words, set[int]], ...]  # by their first cells, and by their last ones
    columns: tuple[dict[Words, set[int]], ...]
    grid: list[list[str]]

    @classmethod
    def of(cls, table: Table) -> AskedTable:
        """Return the index a table; one that is too large is not asked."""
        if table.n_rows * table.n_cols > _MAX_ASKED:
            return cls(frozenset(), (), (), [])
        grid = table.text_rows()
        said = frozenset(value_of(cell.text) for cell in table.cells)
        turned = [list(column) for column in zip(*grid, strict=True)]
        rows, columns = ((_names(lines), _names([line[::-1] for line in lines])) for lines in (grid, turned))
        return cls(said, rows, columns, grid)

    def answers(self, row: Words, column: Words) -> set[str]:
        """Return the texts where both names meet, in either orientation, whichever side they stand on."""
        for across, down in ((row, column), (column, row)):
            rows, columns = self._lines(self.rows, across), self._lines(self.columns, down)
            found = {value for r in rows for c in columns if (value := value_of(self.grid[r][c]))}
            if found:
                return found
        return set()

    def _lines(self, sides: tuple[dict[Words, set[int]], ...], name: Words) -> set[int]:
        """Return lines of a name; it is looked for at their ends where none of either direction begins with
        it.
        """
        begins = any(name in heads for heads in (*self.rows[:1], *self.columns[:1]))
        return next((side[name] for side in (sides[:1] if begins else sides[1:]) if name in side), set())


def _names(lines: Sequence[Sequence[str]]) -> dict[Words, set[int]]:
    """Return lines by what their first cells say, one or several of them together.

    Where a notation has no spans, the name of a group stands in its first line alone.
    """
    names: dict[Words, set[int]] = defaultdict(set)
    groups = [""] * _MAX_LEVELS
    for k, line in enumerate(lines):
        head = [text.strip() for text in line[:_MAX_LEVELS]]
        for level, text in enumerate(head):
            if text:
                groups[level:] = [text, *[""] * (_MAX_LEVELS - level - 1)]
        for levels in range(1, len(head) + 1):
            for texts in (head[:levels], [*groups[: levels - 1], head[levels - 1]]):
                if name := name_of(texts):
                    names[name].add(k)
    return names


@dataclass(frozen=True)
class AskedOutput:
    """The elements of a page, of its truth or of an output, ready to be asked."""

    elements: tuple[Element, ...]
    blocks: tuple[Words, ...] = field(init=False)
    markup: str = ""  # the output as it was written, for what its elements do not have: links

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(said_words(e.text or "") for e in self.elements))

    @cached_property
    def words(self) -> Words:
        """Return all words in order, those in the cells of tables too: some set whole texts in them."""
        cells = (
            [said_words(cell.text) for cell in e.table.cells] if e.table is not None else [words]
            for e, words in zip(self.elements, self.blocks, strict=True)
        )
        return tuple(word for parts in cells for words in parts for word in words)

    @cached_property
    def links(self) -> list[tuple[Words, str]]:
        """Return the words of each link of the markup, and where it leads."""
        found = [(said_words(m[1]), m[2]) for m in _MARKDOWN_LINK.finditer(self.markup)]
        return found + [(said_words(m[2]), m[1]) for m in _HTML_LINK.finditer(self.markup)]

    @cached_property
    def places(self) -> dict[Words, list[int]]:
        """Return where each run of `SIDE` words begins."""
        found: dict[Words, list[int]] = defaultdict(list)
        for k in range(len(self.words) - SIDE + 1):
            found[self.words[k : k + SIDE]].append(k)
        return found

    @cached_property
    def tables(self) -> tuple[tuple[int, AskedTable], ...]:
        """Return the position among the elements, and the table."""
        return tuple((k, AskedTable.of(e.table)) for k, e in enumerate(self.elements) if e.table is not None)

    @cached_property
    def headings(self) -> list[tuple[Words, int]]:
        """Return the words and the level of those that are marked as such."""
        both = zip(self.elements, self.blocks, strict=True)
        return [(words, heading_level(e)) for e, words in both if e.category == Category.TITLE and words]

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """Return display formulas, each once."""
        return tuple(dict.fromkeys(e.latex for e in self.elements if e.latex and e.table is None))

    def starts(self, words: Words) -> list[int]:
        """Return where these words stand one after another."""
        near = self.places.get(words[:SIDE], ()) if len(words) >= SIDE else range(len(self.words))
        return [k for k in near if words and self.words[k : k + len(words)] == words]


def share_of_page(
    output: AskedOutput, truth: Page | None, facts: Sequence[Fact] = (), layer: str | None = None
) -> float:
    """Return the share of an output's words that the page can account for, 0 to 1.

    Text that is repeated or invented makes facts easier to hit, so each right answer counts this much. Where
    the truth does not have all text of the page, its text layer says how much there is, if it contains what
    the facts ask for; else the share is 1.
    """
    if truth is not None and truth.covers(Category.TEXT_BLOCK) and truth.covers(Category.TABLE):
        n_figures = sum(element.category == Category.FIGURE for element in truth.elements)
        n_true = len(AskedOutput(tuple(truth.elements)).words)
    elif layer is not None and _contains(words := said_words(layer), facts):
        n_figures, n_true = 1, len(words)  # nobody knows how many there are
    else:
        return 1.0
    allowed = (1 + _SPARE_SHARE) * n_true + _SPARE_WORDS + _WORDS_OF_FIGURE * n_figures
    return min(1.0, allowed / max(len(output.words), 1))


def _contains(layer: Words, facts: Sequence[Fact]) -> bool:
    """Return whether a text layer has nearly all words of the facts, as that of a scan does not."""
    texts = [
        text
        for fact in facts
        if fact.kind not in ("absent", "formula", "level")
        for name in ("answer", "before", "after", "text", "row", "column")
        for text in _texts(fact.arguments.get(name))
    ]
    asked, known = {word for text in texts for word in said_words(text)}, frozenset(layer)
    return bool(asked) and len(asked & known) >= _IN_LAYER * len(asked)


def _texts(value: Any) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
