"""Words with marks: each word of a flowing text has a number in the PDF, so that its place is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from parsemark.corpora.latex.synthetic.content import TableContent
from parsemark.corpora.latex.synthetic.papers.writing import MARK
from parsemark.corpora.synthetic.pieces import to_latex
from parsemark.corpora.synthetic.story import text_attributes
from parsemark.model import AttributeValue, Category

_NUMBERS = re.compile(r"\\pm(?:w|block)\{(\d+)\}")


@dataclass(frozen=True, slots=True)
class PaperToken:
    """What stands between two blanks: as it is set, and its truth."""

    latex: str
    text: str
    before: str = " "
    """What stands before it in the truth: a blank, a line end, or nothing."""


@dataclass
class PaperBlock:
    """The truth of one element before it has a place; flowing text is broken over columns and pages."""

    category: Category
    tokens: list[PaperToken] = field(default_factory=list)
    first: int = 0
    """Number of its first word; a box has this one alone."""
    latex: str | None = None
    content: TableContent | None = None
    attributes: dict[str, AttributeValue] = field(default_factory=dict)
    parent: int | None = None
    """Index of the block that it belongs to (a caption's table)."""
    is_wide: bool = False
    """Over all columns."""
    is_turned: bool = False
    """By a quarter turn to the left, with all that stands on its page."""
    is_long: bool = False
    """A table over pages; it has no mark of its own, but its cells have theirs."""

    @property
    def count(self) -> int:
        """How many numbers it has."""
        return max(1, len(self.tokens))


class Register:
    """Numbers all words and boxes of a document."""

    def __init__(self, language: str = "english") -> None:
        self.language = language
        self.blocks: list[PaperBlock] = []
        self._next = 1

    def text(
        self,
        category: Category,
        tokens: Iterable[PaperToken],
        *,
        parent: int | None = None,
    ) -> str:
        r"""LaTeX of a flowing text, each word in `\pmw`."""
        return self.split(category, tokens, parent=parent)[1]

    def split(
        self,
        category: Category,
        tokens: Iterable[PaperToken],
        *,
        parent: int | None = None,
        own_first: bool = False,
    ) -> tuple[int, str]:
        """The number of the first word, which TeX itself sets if `own_first`, and LaTeX of the others."""
        chosen = list(tokens)
        block = PaperBlock(
            category, chosen, self._next, attributes=text_attributes(self.language), parent=parent
        )
        self.blocks.append(block)
        self._next += block.count
        parts: list[str] = []
        for index, token in enumerate(chosen):
            if own_first and index == 0:
                continue
            gap = {" ": " ", "\n": "\n", "": ""}[token.before] if parts else ""
            parts.append(f"{gap}\\pmw{{{block.first + index}}}{{{token.latex}}}")
        return block.first, "".join(parts)

    def box(
        self,
        category: Category,
        body: str,
        *,
        tokens: Iterable[PaperToken] = (),
        latex: str | None = None,
        content: TableContent | None = None,
        parent: int | None = None,
        attributes: dict[str, AttributeValue] | None = None,
    ) -> str:
        """LaTeX of something that stands as a whole."""
        block = PaperBlock(category, [], self._next, latex, content, attributes or {}, parent)
        block.tokens = list(tokens)[:1]
        self.blocks.append(block)
        self._next += 1
        return f"\\pmblock{{{block.first}}}{{{body}}}"

    def long_table(self, content: TableContent, attributes: dict[str, AttributeValue]) -> int:
        """The index of the block of a table that runs over pages."""
        block = PaperBlock(Category.TABLE, [], self._next, content.latex, content, attributes, is_long=True)
        self.blocks.append(block)
        self._next += 1
        return self.last

    def widen(self, latex: str) -> None:
        """Remember that what is in this LaTeX goes over all columns."""
        for block in self._in(latex):
            block.is_wide = True

    def turn(self, latex: str) -> None:
        """Remember that what is in this LaTeX is turned, and goes over all columns."""
        for block in self._in(latex):
            block.is_wide = block.is_turned = True
            if "text_rotate" in block.attributes:
                block.attributes["text_rotate"] = "rotate90"

    def _in(self, latex: str) -> list[PaperBlock]:
        numbers = {int(n) for n in _NUMBERS.findall(latex)}
        return [b for b in self.blocks if not numbers.isdisjoint(range(b.first, b.first + b.count))]

    @property
    def last(self) -> int:
        """Index of the block that was added last."""
        return len(self.blocks) - 1


@dataclass(frozen=True)
class Setter:
    """Turns written text into tokens in the style of a document."""

    cite: Callable[[str, list[int]], tuple[str, str]]
    """Kind (`cite`, `citet`) and works: as it is set, and its truth."""

    def __call__(self, text: str, *, look: str = "{}") -> list[PaperToken]:
        r"""Tokens of a text with marks; `look` is put around each word (`\textbf{{{}}}`)."""
        tokens: list[PaperToken] = []
        glue = False
        for part, is_mark in _parts(text):
            if not is_mark:
                words = re.split(r"( +)", part)
                for word in words:
                    if not word:
                        continue
                    if word.isspace():
                        glue = False
                        continue
                    glue = _put(tokens, to_latex(word), word, glue, look)
                continue
            kind, value = is_mark
            latex, truth = self.mark(kind, value)
            if not truth:
                continue
            is_raised = truth.startswith("^{")
            pieces = [(latex, truth)]
            if kind in ("cite", "citet"):
                pieces = list(zip(latex.split(" "), truth.split(" "), strict=True))
            for position, (one, shown) in enumerate(pieces):
                glue = _put(tokens, one, shown, (glue or is_raised) if position == 0 else False, look)
        return tokens

    def mark(self, kind: str, value: str) -> tuple[str, str]:
        """A mark as it is set, and its truth."""
        if kind == "math":
            return f"${value}$", f"${value}$"
        if kind == "url":
            return rf"\texttt{{\small {to_latex(value).replace('/', '/' + chr(92) + 'allowbreak{}')}}}", value
        if kind == "note":
            return rf"\footnotemark[{value}]", f"^{{{value}}}"
        if kind == "drop":
            return "", ""
        return self.cite(kind, [int(v) for v in value.split(",")])


def _parts(text: str) -> Iterable[tuple[str, tuple[str, str] | None]]:
    position = 0
    for match in MARK.finditer(text):
        if match.start() > position:
            yield text[position : match.start()], None
        yield match[0], (match[1], match[2])
        position = match.end()
    if position < len(text):
        yield text[position:], None


def _put(tokens: list[PaperToken], latex: str, truth: str, glue: bool, look: str) -> bool:
    """Add a word, or join it to the one before it; what follows without a blank is joined as well."""
    latex = look.replace("{}", latex) if "$" not in truth else latex
    truth = truth.replace("\xa0", " ")
    if glue and tokens:
        last = tokens.pop()
        tokens.append(PaperToken(last.latex + latex, last.text + truth, last.before))
    else:
        tokens.append(PaperToken(latex, truth))
    return True
