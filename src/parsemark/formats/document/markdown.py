r"""Markdown as parsers write it, as a document.

What announces itself is taken first: fenced code, comments, HTML and LaTeX tables, display formulas, other
tables. Each leaves blank lines behind, so that offsets stay true and texts around it part. The block
structure of the rest is CommonMark's (markdown-it), without indented code, link definitions and HTML blocks,
which parsers do not mean.

A comment that is nothing but a category (`<!-- table_footnote -->`) names the block that follows; comments
that stand for a picture (`<!-- image -->`) are figures.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from parsemark.errors import FormatError
from parsemark.formats.cell_text import without_controls
from parsemark.formats.document.elements import Block, display_formulas, is_caption_source, table_block
from parsemark.formats.document.html import is_html_source, read_html_blocks, read_html_fragment
from parsemark.formats.document.latex import SECTIONS, read_floats
from parsemark.formats.hidden_text import begins_line, unseen
from parsemark.formats.html.markup import read_comments
from parsemark.formats.limits import MAX_MARKDOWN_DEPTH, check_lines
from parsemark.formats.markdown.fences import MARKUP_LANGUAGES, TEXT_LANGUAGES, blanked, read_fences
from parsemark.formats.markdown.inline import inline_text, protected_spans
from parsemark.formats.tables import find_marked_up_tables, find_text_tables, read_tables
from parsemark.model import Category

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_IMAGE = re.compile(r"!\[[^\[\]]*+\]\([^\n()]*+(?:\([^\n()]*+\)[^\n()]*+)*+\)\s*+")
_PAGE = re.compile(
    r"\s*+(?:(?:<\?[^>]*+>|<!--(?:(?!-->).)*+-->)\s*+)*+<(?:!doctype\s++html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_DECLARATION = re.compile(r"^[ \t]*+<[?!][A-Za-z][^>]*+>", re.MULTILINE)
_LATEX_HEADING = re.compile(
    r"\s*+\\(title|part|chapter|section|subsection|subsubsection|paragraph)\*?\s*+\{(.*)\}\s*+", re.DOTALL
)
_LINES = re.compile(
    r"^\ufeff?[ ]{0,3}+(?:\#{1,6}+[ \t]++\S|```|!\[|\*\*[^\s*][^*\n]*+\*\*"
    r"|\|[ \t]*+:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)*+\|?[ \t]*+$)",
    re.MULTILINE,
)
_HARD_BREAK = re.compile(r"(?:(?<! ) {2,}+|\\)\n")
_CATEGORIES = frozenset(Category)
_NOTHING = "\ufdd0"  # stands for what was taken out. Blank lines alone would not end a list


def has_markdown_lines(text: str) -> bool:
    """Return whether a text has lines that only Markdown has: headings, fences, rows below heads,
    pictures.
    """
    return _LINES.search(text) is not None


def read_markdown_blocks(text: str) -> list[Block]:
    """Return the blocks of a Markdown text."""
    source = without_controls(text).replace("\r\n", " \n").replace("\r", "\n")
    check_lines(source.count("\n"))
    if (page := _whole_page(source)) is not None:
        return read_html_blocks(page)
    blocks: list[Block] = []
    source = _take_fences(source, blocks)
    source, labels = _take_comments(source, blocks)
    source = _without(source, [(found.start(), found.end()) for found in _DECLARATION.finditer(source)])
    source = _without(source, unseen(source, "markdown"))
    source = _take(source, read_floats(source), blocks)
    source = _take(source, [table_block(f) for f in find_marked_up_tables(source, leave_out=True)], blocks)
    source = _take(source, display_formulas(source), blocks)
    source = _take(source, [table_block(f) for f in find_text_tables(source)], blocks)
    blocks += _text_blocks(source)
    return _labelled(blocks, labels, text)


def _take(source: str, found: list[Block], blocks: list[Block]) -> str:
    """Return the source with blank lines in place of what was found."""
    blocks += found
    return _parted(source, [(block.start, block.end) for block in found])


def _parted(source: str, spans: list[tuple[int, int]]) -> str:
    """Return the source with each span as a paragraph that says nothing, of equal length."""

    def nothing(part: str) -> str:
        return f"\n\n{_NOTHING}{' ' * (len(part) - 5)}\n\n" if len(part) >= 5 else "\n" * len(part)

    return blanked(source, spans, nothing)


def _take_fences(source: str, blocks: list[Block]) -> str:
    fences, stray = read_fences(source)
    lines, code = list(stray), list[Block]()
    for fence in fences:
        inner = source[fence.begin : fence.stop]
        is_open = fence.language in MARKUP_LANGUAGES or (
            fence.language in TEXT_LANGUAGES and _is_document(source, fence.start, fence.end, inner)
        )
        if is_open:
            lines += [(fence.start, fence.begin), (fence.stop, fence.end)]
        elif fence.language == "math":
            code.append(Block(Category.EQUATION_ISOLATED, fence.start, fence.end, latex=inner.strip()))
        else:
            shown = inner.removesuffix("\n")
            code.append(Block(Category.CODE_TXT, fence.start, fence.end, text=shown, is_certain=True))
    return _take(blanked(source, lines), code, blocks)


def _is_document(source: str, start: int, end: int, inner: str) -> bool:
    """Return whether a fence without a language is around the whole text, or around a table."""
    if not source[:start].strip() and not source[end:].strip():
        return True
    has_marks = "|" in inner or "<t" in inner or "\\begin" in inner
    return has_marks and bool(read_tables(inner))


def _take_comments(source: str, blocks: list[Block]) -> tuple[str, list[tuple[int, str]]]:
    """Return blanks the comments; gives the categories that they name, each with the place behind it."""
    comments = list(read_comments(source))
    labels = [(c.end, c.word) for c in comments if c.word in _CATEGORIES and c.word != Category.FIGURE]
    figures = [Block(Category.FIGURE, c.start, c.end, is_certain=True) for c in comments if c.is_figure]
    spans = [(c.start, c.end) for c in comments if not c.is_figure]
    return _take(_without(source, spans), figures, blocks), labels


def _without(source: str, spans: list[tuple[int, int]]) -> str:
    """Return the source without what is not seen; where it begins a line, it parts the texts around it."""
    inside: list[tuple[int, int]] = []
    parting: list[tuple[int, int]] = []
    for start, end in spans:
        (parting if begins_line(source, start) else inside).append((start, end))
    return _parted(blanked(source, inside), parting)


def _whole_page(source: str) -> str | None:
    """Return the source without the fences around it, if it is one page of HTML."""
    if source.lstrip().startswith(("```", "~~~")):
        fences, lines = read_fences(source)
        for fence in fences:
            is_around = not source[fence.end :].strip() and fence.language in TEXT_LANGUAGES
            if is_around or fence.language in MARKUP_LANGUAGES:
                lines += [(fence.start, fence.begin), (fence.stop, fence.end)]
        source = blanked(source, lines)
    return source if _PAGE.match(source) is not None else None


def _labelled(blocks: list[Block], labels: list[tuple[int, str]], text: str) -> list[Block]:
    """Return the blocks, each with the category that a comment right before it names."""
    blocks = sorted(blocks, key=lambda block: (block.start, block.end))
    starts = [block.start for block in blocks]
    for position, category in labels:
        index = bisect_left(starts, position)
        if index < len(blocks) and not text[position : starts[index]].strip():
            blocks[index] = replace(blocks[index], category=category, is_certain=True)
    return blocks


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # What is nested deeper than the parser's own limit it drops without a word, so ours is one less.
    options = {"maxNesting": MAX_MARKDOWN_DEPTH + 1}
    return MarkdownIt("commonmark", options).disable(["code", "html_block", "reference"])


def _text_blocks(source: str) -> Iterator[Block]:
    """Yield the blocks of the text by CommonMark's block structure."""
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(source, parser, {}, tokens)
    line_starts = [0, *(found.end() for found in re.finditer("\n", source)), len(source) + 1]
    for token in tokens:
        if token.nesting == 1 and token.level >= MAX_MARKDOWN_DEPTH:
            position = line_starts[token.map[0]] if token.map else None
            raise FormatError(f"Markdown nested deeper than {MAX_MARKDOWN_DEPTH} levels", position=position)
    index = 0
    while index < len(tokens):
        token = tokens[index]
        behind = index + 1  # what a quote holds is read as if it stood outside
        if token.type in ("bullet_list_open", "ordered_list_open"):
            while not (tokens[behind].nesting == -1 and tokens[behind].level == token.level):
                behind += 1
            yield from _list(source, tokens[index:behind], line_starts)
        elif token.type in ("heading_open", "paragraph_open"):
            place, content = _place(source, token, line_starts), tokens[behind].content
            if token.type == "heading_open":
                yield _block(Category.TITLE, source, *place, content, level=int(token.tag[1:]))
            else:
                yield from _paragraph(source, *place, content)
        elif token.type == "fence":
            place, shown = _place(source, token, line_starts), token.content.removesuffix("\n")
            yield Block(Category.CODE_TXT, *place, text=shown, is_certain=True)
        index = behind


def _place(source: str, token: Token, line_starts: list[int]) -> tuple[int, int]:
    assert token.map is not None, "markdown-it gives every block its lines"
    start, end = line_starts[token.map[0]], line_starts[token.map[1]] - 1
    inside = source[start:end]
    return start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())


def _list(source: str, tokens: list[Token], line_starts: list[int]) -> Iterator[Block]:
    """Yield a list as one block, with a line for each item; numbers stay, bullets are only Markdown's."""
    lines: list[str] = []
    marker = ""
    for token in tokens:
        if token.type == "list_item_open":
            marker = f"{token.info}{token.markup} " if token.info else ""
        elif token.type == "inline":
            lines.append(marker + read_inline(token.content))
            marker = ""
        elif token.type == "fence":
            lines.append(token.content.removesuffix("\n"))
    start, end = _place(source, tokens[0], line_starts)
    text = "\n".join(line for line in lines if line.strip())
    if text:
        yield Block(Category.LIST_GROUP, start, end, text=text, formulas=inline_formulas(source, start, end))


def _paragraph(source: str, start: int, end: int, content: str) -> Iterator[Block]:
    if content == _NOTHING:
        return
    while (image := _IMAGE.match(source, start, end)) is not None:
        yield Block(Category.FIGURE, start, start + len(image[0].rstrip()), is_certain=True)
        start = image.end()
        content = source[start:end]
    if not content.strip():
        return
    heading = _LATEX_HEADING.fullmatch(content) if content.lstrip().startswith("\\") else None
    if heading is not None and "}" not in heading[2].replace("\\}", "").strip("{}").split("{")[0]:
        level = SECTIONS[heading[1]]
        yield _block(Category.TITLE, source, start, end, heading[2], level=level)
    elif is_html_source(source[start:end]):
        yield from read_html_fragment(source[start:end], start)
    else:
        block = _block(Category.TEXT_BLOCK, source, start, end, content)
        if block.text:
            yield block


def _block(category: str, source: str, start: int, end: int, content: str, level: int | None = None) -> Block:
    said, formulas = read_inline(content), inline_formulas(source, start, end)
    is_caption = is_caption_source(content)
    return Block(category, start, end, said, level=level, formulas=formulas, is_caption_like=is_caption)


_CHUNK = 50_000


def read_inline(source: str) -> str:
    """Return the text of running Markdown: lines are joined, hard breaks stay."""
    joined = _HARD_BREAK.sub("<br>", source).replace("\n", " ")
    if len(joined) <= _CHUNK:
        return inline_text(joined)
    texts: list[str] = []
    start = 0
    while start < len(joined):
        end = joined.find(" ", start + _CHUNK, start + 2 * _CHUNK - 10)
        end = min(len(joined), start + 2 * _CHUNK - 10) if end < 0 else end
        texts.append(inline_text(joined[start:end]))
        start = end
    return " ".join(text for text in texts if text)


_MATH_MARKS = {"$$": 2, "\\(": 2}


def inline_formulas(source: str, start: int, end: int) -> tuple[tuple[str, int, int], ...]:
    """Return LaTeX and place of the formulas in a part of the source."""
    part = source[start:end].replace("\n", " ")
    found: list[tuple[str, int, int]] = []
    for begin, stop, kind in protected_spans(part):
        if kind == "math":
            cut = _MATH_MARKS.get(part[begin : begin + 2], 1)
            found.append((part[begin + cut : stop - cut].strip(), start + begin, start + stop))
    return tuple(found)
