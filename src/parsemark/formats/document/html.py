"""HTML as a document: one pass over its tags, which knows where everything stands."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from parsemark.formats.cell_text import clean, without_controls
from parsemark.formats.document.elements import Block, display_formulas, table_block
from parsemark.formats.hidden_text import UNSEEN_ELEMENTS, seen
from parsemark.formats.html.markup import Tag, read_comments, read_tags, replace_tags, unescape
from parsemark.formats.html.tables import find_html_tables
from parsemark.formats.html.tree import fragment_text
from parsemark.formats.markdown.fences import blanked
from parsemark.model import Category

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "dl", "menu"})
_ITEMS = frozenset({"li", "dt", "dd"})
_BLOCK_NAMES = """
p div section article header footer main aside nav blockquote center figure form address details summary
body html head hr fieldset table tr td th thead tbody tfoot
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split()) | UNSEEN_ELEMENTS
_CAPTIONS = {"caption": Category.TABLE_CAPTION, "figcaption": Category.FIGURE_CAPTION}
_VERBATIM = frozenset({"pre", "code", "textarea"})
_PARTING = re.compile(
    r"</?(?:h[1-6]|p|div|ul|ol|li|dl|dt|dd|figure|figcaption|center|section|article|header|footer|main|aside"
    r"|blockquote|pre|details|summary|caption|nav|address|body|html|head)(?=[\s/>])",
    re.IGNORECASE,
)
_BEGINNING = re.compile(
    r"</?(?:img|hr|math|title|meta|link|base)(?=[\s/>])|(?=</?[a-z])(?=.*?" + _PARTING.pattern + ")",
    re.IGNORECASE | re.DOTALL,
)
_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)


def is_html_source(text: str) -> bool:
    """Return whether a paragraph of Markdown is HTML: it begins with a tag, and has some that part texts."""
    return _BEGINNING.match(text) is not None


def has_parting_tags(text: str) -> bool:
    """Return whether a text has tags of HTML that part it into paragraphs, headings and the like."""
    return _PARTING.search(text) is not None


def read_html_blocks(text: str) -> list[Block]:
    """Return the blocks of an HTML text."""
    source = without_controls(text)
    pictures = (comment for comment in read_comments(source) if comment.is_figure)
    figures = [Block(Category.FIGURE, c.start, c.end, is_certain=True) for c in pictures]
    return read_html_fragment(seen(source, "html"), taken=figures)


def read_html_fragment(text: str, offset: int = 0, *, taken: Sequence[Block] = ()) -> list[Block]:
    """Return the blocks of HTML without comments, which begins at `offset` of a text.

    Those that were `taken` before are blank in it.
    """
    source = without_controls(text)
    tables = find_html_tables(source, leave_out=True)
    blocks = [*taken, *(table_block(found, offset) for found in tables)]
    for found in tables:
        blocks += _captions_of(source[found.start : found.end], found.start + offset)
    rest = blanked(source, [(found.start, found.end) for found in tables])
    formulas = _formulas(rest)
    blocks += [replace(f, start=f.start + offset, end=f.end + offset) for f in formulas]
    rest = blanked(rest, [(f.start, f.end) for f in formulas])
    boundaries = [b.start - offset for b in taken] + [t.start for t in tables] + [f.start for f in formulas]
    reader = _HtmlReader(rest, offset, sorted(boundaries))
    reader.read()
    return blocks + reader.blocks


def _formulas(source: str) -> list[Block]:
    """Return the display formulas that are written in LaTeX; none lies in code, or in two paragraphs."""
    if "$$" not in source and "\\[" not in source and "\\begin" not in source:
        return []
    parts, position = list[tuple[int, int]](), 0
    for tag in _PARTING.finditer(source):
        if tag.start() >= position:
            parts.append((position, tag.start()))
            position = source.find(">", tag.end()) + 1 or len(source)
    parts.append((position, len(source)))
    verbatim = _elements(source, _VERBATIM)
    return [
        replace(f, start=f.start + begin, end=f.end + begin, latex=unescape(_BREAK.sub(" ", f.latex or "")))
        for begin, end in parts
        for f in display_formulas(source[begin:end])
        if not _is_inside(f.start + begin, verbatim)
    ]


def _elements(source: str, names: frozenset[str]) -> list[tuple[int, int]]:
    """Return where elements of these names lie, the outermost of each; what is not closed is none."""
    spans: list[tuple[int, int]] = []
    opened: Tag | None = None
    last_end = {tag.name: tag.start for tag in read_tags(source) if tag.closes and tag.name in names}
    for tag in read_tags(source):
        if opened is None:
            if not tag.closes and last_end.get(tag.name, -1) > tag.start:
                opened = tag
        elif tag.closes and tag.name == opened.name:
            spans.append((opened.start, tag.end))
            opened = None
    return spans


def _is_inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    before = bisect_left(spans, (place, 0)) - 1
    return before >= 0 and place < spans[before][1]


def _captions_of(table: str, offset: int) -> list[Block]:
    """Return the caption of a table, which its grid does not have."""
    opened: Tag | None = None
    for tag in read_tags(table):
        if tag.name == "tr":
            break
        if tag.name == "caption" and not tag.closes:
            opened = tag
        elif opened is not None and (tag.closes or tag.name in ("thead", "tbody", "colgroup")):
            text = clean(fragment_text(table[opened.end : tag.start]))
            place = (offset + opened.start, offset + tag.end)
            return [Block(Category.TABLE_CAPTION, *place, text=text, is_certain=True)] if text else []
    return []


class _HtmlReader:
    """Collects blocks while it passes over the tags; `mark` is where the current text began."""

    def __init__(self, source: str, offset: int, boundaries: list[int]) -> None:
        self.source = source
        self.offset = offset
        self.boundaries = boundaries  # where tables and the like stood: they end a text as a tag does
        self.blocks: list[Block] = []
        self.mark = 0
        self.category: str = Category.TEXT_BLOCK
        self.level: int | None = None
        self.closing = ""  # name of the heading, caption or code that is open
        self.text_since = -1  # the mark behind which text was seen already
        self.list_start = 0
        self.items: list[str] = []
        self.numbers: list[int | None] = []
        """Of each list that is open the number of its next item; None where it has none."""

    def read(self) -> None:
        """Read all tags."""
        boundary = 0
        for tag in read_tags(self.source):
            while boundary < len(self.boundaries) and self.boundaries[boundary] < tag.start:
                self.flush(self.boundaries[boundary])
                boundary += 1
            self.see(tag)
        for place in self.boundaries[boundary:]:
            self.flush(place)
        self.flush(len(self.source))
        self.end_lists(len(self.source))

    def see(self, tag: Tag) -> None:
        """Handle one tag that may end a text."""
        if self.closing:
            if tag.closes and tag.name == self.closing:
                self.flush(tag.start, tag.end)
                self.category, self.level, self.closing = Category.TEXT_BLOCK, None, ""
            elif tag.name in _HEADINGS and not tag.closes:
                self.flush(tag.start)
                self.open_block(tag)
            return
        if tag.name in _HEADINGS or tag.name in _CAPTIONS or tag.name == "pre":
            self.flush(tag.start, tag.end)
            if not tag.closes:
                if tag.name in _HEADINGS:
                    self.end_lists(tag.start)
                self.open_block(tag)
        elif tag.name in _LISTS or tag.name in _ITEMS:
            self.see_list(tag)
        elif tag.name == "img":
            self.see_image(tag)
        elif tag.name == "math" and not tag.closes and tag.attributes().get("display") == "block":
            self.flush(tag.start)
            self.category, self.closing = Category.EQUATION_ISOLATED, "math"
            self.mark = tag.start
        elif tag.name in _BLOCKS:
            self.flush(tag.start, tag.end)

    def open_block(self, tag: Tag) -> None:
        self.closing, self.level = tag.name, _HEADINGS.get(tag.name)
        self.mark = tag.end
        self.category = _CAPTIONS.get(tag.name, Category.CODE_TXT if tag.name == "pre" else Category.TITLE)

    def see_list(self, tag: Tag) -> None:
        self.flush(tag.start, tag.end)
        if tag.name in _LISTS and not tag.closes:
            if not self.numbers:
                self.list_start = tag.start
            start = tag.attributes().get("start", "1")
            is_number = start.isascii() and start.isdigit() and len(start) < 7
            self.numbers.append((int(start) if is_number else 1) if tag.name == "ol" else None)
        elif tag.name in _LISTS and len(self.numbers) > 1:
            self.numbers.pop()
        elif tag.name in _LISTS:
            self.end_lists(tag.end)
        elif tag.name == "li" and not tag.closes and self.numbers:
            number = self.numbers[-1]
            self.items.append("" if number is None else f"{number}. ")
            if number is not None:
                self.numbers[-1] = number + 1

    def see_image(self, tag: Tag) -> None:
        """Add a picture that stands alone; one among text is part of the text."""
        if self.text_since == self.mark:
            return
        before = self.source[self.mark : tag.start]
        if before.strip() and clean(fragment_text(before)):
            self.text_since = self.mark
        else:
            place = self.offset + tag.start, self.offset + tag.end
            self.blocks.append(Block(Category.FIGURE, *place, is_certain=True))
            self.mark = tag.end

    def flush(self, end: int, behind: int | None = None) -> None:
        """End the current text."""
        part = self.source[self.mark : end]
        start, self.mark = self.mark, end if behind is None else behind
        if not part.strip():
            return
        if self.category == Category.CODE_TXT:
            bare = replace_tags(part, lambda tag: "\n" if tag.name == "br" else "")
            self.add(start, end, text=unescape(bare).strip("\n"), is_certain=True)
            return
        text = clean(fragment_text(part))
        if not text:
            return
        if self.category == Category.EQUATION_ISOLATED:
            self.add(start, end, latex=text.removeprefix("$").removesuffix("$"))
        elif self.numbers and self.category == Category.TEXT_BLOCK:
            if self.items and (not self.items[-1] or self.items[-1].endswith(". ")):
                self.items[-1] += text
            else:
                self.items.append(text)
        else:
            is_certain = self.category != Category.TEXT_BLOCK
            self.add(start, end, text=text, level=self.level, is_certain=is_certain)

    def add(self, start: int, end: int, **rest: Any) -> None:
        part = self.source[start:end]
        start += self.offset + len(part) - len(part.lstrip())
        self.blocks.append(Block(self.category, start, start + len(part.strip()), **rest))

    def end_lists(self, end: int) -> None:
        """End the list that is open, as one block with a line for each item."""
        text = "\n".join(item for item in self.items if item.strip())
        if self.numbers and text:
            place = self.offset + self.list_start, self.offset + end
            self.blocks.append(Block(Category.LIST_GROUP, *place, text=text))
        self.items, self.numbers = [], []
