r"""LaTeX as a document, without TeX: sections, paragraphs, lists, formulas, floats with their captions."""

import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from parsemark.errors import FormatError
from parsemark.formats.cell_text import clean, without_controls
from parsemark.formats.document.elements import DISPLAY_ENVIRONMENTS, LABEL, UNWRAPPED, Block, table_block
from parsemark.formats.found_table import FoundTable
from parsemark.formats.hidden_text import seen
from parsemark.formats.latex.commands import COMMANDS, SIGNATURES, by_name
from parsemark.formats.latex.definitions import Definitions, read_definitions
from parsemark.formats.latex.environments import TABLE_ENVIRONMENTS, is_commented
from parsemark.formats.latex.scanner import ALONE, LatexSource, Range, TokenKind
from parsemark.formats.latex.special import latex_to_text
from parsemark.formats.latex.table import read_latex_table
from parsemark.formats.limits import MAX_LATEX_DEPTH, MAX_LATEX_RUN
from parsemark.model import Category

SECTIONS = {
    "title": 1, "part": 1, "chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4,
    "subparagraph": 5,
}  # fmt: skip
_FLOATS = {
    **dict.fromkeys(
        ("table", "sidewaystable", "longtable", "threeparttable", "wraptable"), Category.TABLE_CAPTION
    ),
    **dict.fromkeys(("figure", "wrapfigure", "subfigure", "sidewaysfigure"), Category.FIGURE_CAPTION),
    "algorithm": Category.CODE_ALGORITHM_CAPTION,
}
_CODE = {
    **dict.fromkeys(("verbatim", "lstlisting", "Verbatim", "minted", "alltt"), Category.CODE_TXT),
    "algorithmic": Category.CODE_ALGORITHM,
}
_LISTS = frozenset({"itemize", "enumerate", "description", "compactitem", "compactenum", "thebibliography"})
_ENVIRONMENT_ARGUMENTS = by_name(COMMANDS["document_environments"])
_HIDDEN = frozenset({"comment", "tikzpicture", "pgfpicture", "filecontents", "CCSXML"})
_SILENT = by_name(COMMANDS["silent"])  # commands that part paragraphs and print nothing, with their arguments
_PARTING = re.compile(
    r"\\(?:documentclass|begin\s?\{(?:document|abstract|itemize|enumerate|description)\}"
    r"|(?:part|chapter|(?:sub){0,2}section|(?:sub)?paragraph)\*?\s?[\[{])"
)
_FLOAT = re.compile(r"\\begin\s?\{(table|figure|sidewaystable|wraptable|wrapfigure|sidewaysfigure)(\*?)\}")


def has_parting_commands(text: str) -> bool:
    """Return whether a text has commands of LaTeX that part it into sections, lists and the like."""
    return _PARTING.search(text) is not None


def read_latex_blocks(text: str) -> list[Block]:
    """Return the blocks of a LaTeX document or of a piece of one."""
    source = without_controls(text)
    start = source.find("\\begin{document}")
    stop = source.rfind("\\end{document}", max(start, 0))  # an example in it may have one too
    definitions = read_definitions(source)
    begin = 0 if start < 0 else start + len("\\begin{document}")
    body = source[begin : len(source) if stop < 0 else stop]
    return _read(seen(body, "latex"), begin, definitions)


def read_floats(text: str) -> list[Block]:
    r"""Return the blocks of the floats (`\begin{table}`, `\begin{figure}`) of a text of another format."""
    found: list[Block] = []
    position = 0
    missing: set[str] = set()
    while (opening := _FLOAT.search(text, position)) is not None:
        position = opening.end()
        if is_commented(text, opening.start()):
            continue
        closing = f"\\end{{{opening[1]}{opening[2]}}}"
        end = -1 if closing in missing else text.find(closing, position)
        if end < 0:
            missing.add(closing)
            continue
        position = end + len(closing)
        inner = _read(text[opening.start() : position], opening.start(), {})
        # The place of what is first is widened to the whole float, so that nothing of it is read twice.
        if inner:
            inner[0] = replace(inner[0], start=opening.start(), end=position, is_certain=True)
        found += inner
    return found


def _read(text: str, offset: int, definitions: Definitions) -> list[Block]:
    reader = _LatexReader(LatexSource(text), offset, definitions)
    reader.read(reader.source.whole, Category.TEXT_BLOCK, 0)
    return sorted(reader.blocks, key=lambda block: block.start)


@dataclass
class _LatexReader:
    source: LatexSource
    offset: int
    definitions: Definitions
    blocks: list[Block] = field(default_factory=list)

    def read(self, span: Range, caption: str, depth: int) -> None:
        """Read all blocks of a range; `caption` is the category that a caption in it belongs to."""
        index, end = span
        mark = index
        tokens = self.source.tokens
        while index < end:
            token = tokens[index]
            parts = token.kind is TokenKind.SPACE and self.source.text.count("\n", token.start, token.end) > 1
            behind = index + 1 if parts else self._block_at(index, end, caption, depth)
            if behind is not None:
                self.paragraph((mark, index))
                index = mark = behind
                continue
            closes = self.source.partner[index]
            index = closes + 1 if closes != ALONE and closes < end else index + 1
        self.paragraph((mark, end))

    def _block_at(self, index: int, end: int, caption: str, depth: int) -> int | None:
        """Reads the block that begins at `index` and gives the index behind it; None if none begins there."""
        token = self.source.tokens[index]
        closes = self.source.partner[index]
        if token.kind is TokenKind.BEGIN and closes != ALONE and closes < end:
            self._environment(index, closes, caption, depth)
            return closes + 1
        if token.kind is TokenKind.BEGIN or token.kind is TokenKind.END:
            return index + 1
        if token.kind is TokenKind.MATH and token.text == "$$":
            outer = self.source.outer((index + 1, end))
            dollars = (i for i in outer if self.source.tokens[i][:2] == (TokenKind.MATH, "$$"))
            if (closing := next(dollars, None)) is not None:
                self._formula((index, closing + 1), (index + 1, closing))
                return closing + 1
        if token.kind is not TokenKind.COMMAND:
            return None
        if token.text == "[" and closes != ALONE and closes < end:
            self._formula((index, closes + 1), (index + 1, closes))
            return closes + 1
        return self._command(token.text, index, end, caption)

    def _command(self, name: str, index: int, end: int, caption: str) -> int | None:
        if name in SECTIONS or name == "caption":
            category = caption if name == "caption" else Category.TITLE
            return self._titled(category, index, end, SECTIONS.get(name))
        if name == "includegraphics":
            behind = self.source.skip_arguments(SIGNATURES[name], index + 1, end)
            self._add(Category.FIGURE, (index, behind), is_certain=True)
            return behind
        if name in _SILENT:
            return self.source.skip_arguments(_SILENT[name], index + 1, end)
        return None

    def _titled(self, category: str, index: int, end: int, level: int | None = None) -> int:
        """Return the argument of a heading or a caption as a block; gives the index behind it."""
        start = self.source.skip_arguments("*o", index + 1, end)
        argument, behind = self.source.argument(start, end)
        text = self._span_text(argument)
        if text:
            self._add(category, (index, behind), text=text, level=level, is_certain=True)
        return behind

    def _environment(self, index: int, closes: int, caption: str, depth: int) -> None:
        name = self.source.tokens[index].text
        plain = name.rstrip("*")
        whole, inner = (index, closes + 1), (index + 1, closes)
        if name in TABLE_ENVIRONMENTS and name != "array":
            self._table(whole, inner, name)
        elif plain in DISPLAY_ENVIRONMENTS:
            self._formula(whole, inner if plain in UNWRAPPED else whole)
        elif plain in _CODE:
            start = self.source.skip_arguments(_ENVIRONMENT_ARGUMENTS.get(plain, "o"), *inner)
            begin, stop = self.source.tokens[start - 1].end, self.source.tokens[closes].start
            shown = self.source.text[begin:stop].strip("\n")
            self._add(_CODE[plain], whole, text=shown, is_certain=True)
        elif plain in _LISTS and (items := self._items(inner)):
            self._list(whole, items, numbered=plain in ("enumerate", "compactenum"))
        elif plain not in _HIDDEN and depth < MAX_LATEX_DEPTH:
            start = self.source.skip_arguments(_ENVIRONMENT_ARGUMENTS.get(plain, "o"), *inner)
            self.read((start, closes), _FLOATS.get(plain, caption), depth + 1)

    def _table(self, whole: Range, inner: Range, name: str) -> None:
        start, end = self._place(whole)
        source = self.source.text[start:end]
        try:
            table = read_latex_table(source, definitions=self.definitions)
        except FormatError as error:
            position = self.offset + start + (error.position or 0)
            raise FormatError(error.message, position=position, where=error.where) from error
        self.blocks.append(table_block(FoundTable(table, "latex", start, end, source), self.offset))
        if name == "longtable":
            for caption in islice(self.source.commands(inner, "caption"), 1):
                self._titled(Category.TABLE_CAPTION, caption, inner[1])

    def _list(self, whole: Range, spans: list[Range], *, numbered: bool) -> None:
        items: list[str] = []
        for number, (begin, stop) in enumerate(spans, start=1):
            label, start = self.source.optional(begin, stop)
            mark = f"{self._span_text(label)} " if label else f"{number}. " * numbered
            items.append(mark + " ".join(self._span_text((start, stop)).split("\n")))
        text = "\n".join(item for item in items if item.strip())
        if text:
            self._add(Category.LIST_GROUP, whole, text=text, is_certain=True)

    def _items(self, inner: Range) -> list[Range]:
        starts = [index + 1 for index in self.source.commands(inner, "item", "bibitem")]
        return list(zip(starts, [*(s - 1 for s in starts[1:]), inner[1]], strict=False))

    def _formula(self, whole: Range, inner: Range) -> None:
        latex = LABEL.sub("", self.source.raw(inner)).strip()
        if latex:
            self._add(Category.EQUATION_ISOLATED, whole, latex=latex)

    def paragraph(self, span: Range) -> None:
        """Add the text of a range, if there is any."""
        span = self.source.strip(span)
        text = self._span_text(span)
        if text:
            places = ((latex, self._place((first, behind))) for latex, first, behind in self._inline(span))
            formulas = [(latex, self.offset + start, self.offset + end) for latex, (start, end) in places]
            self._add(Category.TEXT_BLOCK, span, text=text, formulas=tuple(formulas))

    def _span_text(self, span: Range) -> str:
        """Return the text of a range, with its inline formulas as `$…$`."""
        index, end = span
        pieces: list[str] = []
        for latex, first, behind in self._inline(span):
            pieces += [self._plain((index, first)), f"${latex}$"]
            index = behind
        pieces.append(self._plain((index, end)))
        return clean("".join(pieces).replace("\n", " "))

    def _plain(self, span: Range) -> str:
        raw = self.source.raw(span)
        if not raw.strip():
            return " " if raw else ""
        text = latex_to_text(raw) if span[1] - span[0] <= MAX_LATEX_RUN else " ".join(raw.split())
        return f"{' ' * raw[0].isspace()}{text}{' ' * raw[-1].isspace()}"

    def _inline(self, span: Range) -> list[tuple[str, int, int]]:
        """Return inline formulas at the outermost level: LaTeX, and first and last token index."""
        found: list[tuple[str, int, int]] = []
        index, end = span
        opened: int | None = None
        while index < end:
            token = self.source.tokens[index]
            closes = self.source.partner[index]
            is_closed = closes != ALONE and closes < end
            if token.kind is TokenKind.MATH and opened is None:
                opened = index
            elif token.kind is TokenKind.MATH and opened is not None:
                found.append((self.source.raw((opened + 1, index)).strip(), opened, index + 1))
                opened = None
            elif opened is None and token[:2] == (TokenKind.COMMAND, "(") and is_closed:
                found.append((self.source.raw((index + 1, closes)).strip(), index, closes + 1))
                index = closes
            index = self.source.after(index)
        return [formula for formula in found if formula[0]]

    def _place(self, span: Range) -> tuple[int, int]:
        tokens = self.source.tokens
        return tokens[span[0]].start, tokens[span[1] - 1].end

    def _add(self, category: str, span: Range, **rest: Any) -> None:
        start, end = self._place(span)
        self.blocks.append(Block(category, self.offset + start, self.offset + end, **rest))
