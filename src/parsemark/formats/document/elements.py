"""The elements of a document as they are found: their place in the source, and what they are."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from parsemark.errors import FormatError
from parsemark.formats.found_table import FoundTable
from parsemark.model import AttributeValue, Category, Element

MAX_ELEMENTS = 50_000  # elements of one document
OUTSIDE_READING_ORDER = frozenset(
    {Category.HEADER, Category.FOOTER, Category.PAGE_NUMBER, Category.PAGE_FOOTNOTE}
)
"""What stands at the edges of a page; reading order passes over it."""
EQUATION_INLINE = "equation_inline"  # category of a formula inside of a text

_LABEL = (
    r"(?P<table>Tables?|Tab\.|Tableaux?|Tabellen?|Tabla|Tabela|Tabella|Таблица|表格?)"
    r"|(?P<figure>Figures?|Figs?\.|Fig|Abbildung(?:en)?|Abb\.|Figuras?|Figura|Рис\.|Рисунок|Schemes?|Charts?|圖|图)"
    r"|(?P<code>Algorithms?|Listings?|Algorithmus)"
)
_NUMBER = r"(?:[A-Z]{1,3}[.-]?)?\d{1,4}(?:[.-]\d{1,3}){0,3}[a-z]?|[IVXL]{1,7}|[A-Z]"
_CAPTION = re.compile(rf"(?:{_LABEL})\s?(?:{_NUMBER})(?:\s?[:.|：．。—–]|$| \| )")
_EMPHASISED_CAPTION = re.compile(rf"(?:\*\*|__|\*|_|<b>|<strong>)\s?(?:{_LABEL})\s?(?:{_NUMBER})\b")
_EQUATION_NUMBER = re.compile(r"\((?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?\)")
_CAPTIONS = {
    "table": Category.TABLE_CAPTION,
    "figure": Category.FIGURE_CAPTION,
    "code": Category.CODE_ALGORITHM_CAPTION,
}


@dataclass(frozen=True, slots=True)
class Document:
    """What a text says, in its order."""

    elements: tuple[Element, ...] = ()
    """Blocks in the order of the source. `attributes` has `start` and `end`, their place in the source,
    and for titles `level` from 1."""
    inline_formulas: tuple[Element, ...] = ()
    """Formulas inside of texts, of the category `equation_inline`; `attributes` has their place and as
    `within` the id of the element around them."""


@dataclass(frozen=True, slots=True)
class Block:
    """One element on its way into a document."""

    category: str
    start: int
    end: int
    text: str | None = None
    latex: str | None = None
    level: int | None = None
    found: FoundTable | None = None
    formulas: tuple[tuple[str, int, int], ...] = ()  # LaTeX and place of each inline formula
    is_certain: bool = False  # whether the source itself says what it is: no guess is made from its words
    is_caption_like: bool = field(default=False, kw_only=True)
    """Whether the source sets its first words off as a caption's."""


def table_block(found: FoundTable, offset: int = 0) -> Block:
    """Return the block of a table; `offset` is where the text begins in which it was found."""
    return Block(Category.TABLE, found.start + offset, found.end + offset, found=found)


def is_caption_source(source: str) -> bool:
    """Return whether emphasis sets off the label of a caption (`**Table 1** Results`)."""
    return _EMPHASISED_CAPTION.match(source) is not None


def caption_category(text: str, *, is_set_off: bool = False) -> Category | None:
    """Return the kind of caption that a text is by its first words, or None.

    >>> caption_category("Table 2: Results"), caption_category("Table 2 shows the results.")
    (<Category.TABLE_CAPTION: 'table_caption'>, None)
    """
    found = _CAPTION.match(text) or (re.match(_LABEL, text) if is_set_off else None)
    if found is None:
        return None
    return next(_CAPTIONS[kind] for kind, label in found.groupdict().items() if label)


def build_document(blocks: Iterable[Block]) -> Document:
    """Return the document of blocks in any order; names captions and numbers of equations."""
    ordered = sorted(blocks, key=lambda block: (block.start, block.end))
    if len(ordered) > MAX_ELEMENTS:
        has = f"The document has {len(ordered):,} elements; at most {MAX_ELEMENTS:,} are read"
        raise FormatError(f"{has}. Split it into pages", position=ordered[MAX_ELEMENTS].start)
    named = [_named(ordered, index) for index in range(len(ordered))]
    elements: list[Element] = []
    formulas: list[Element] = []
    order = 0
    for number, block in enumerate(named, start=1):
        is_ordered = block.category not in OUTSIDE_READING_ORDER
        elements.append(_element(block, f"e{number}", order if is_ordered else None))
        order += is_ordered
        for latex, start, end in block.formulas:
            place: dict[str, AttributeValue] = {"start": start, "end": end, "within": f"e{number}"}
            name = f"f{len(formulas) + 1}"
            formulas.append(Element(name, EQUATION_INLINE, latex=latex, attributes=place))
    return Document(tuple(elements), tuple(formulas))


def _named(blocks: list[Block], index: int) -> Block:
    """Return the block as a caption or as the number of an equation, where its words and neighbours say
    so.
    """
    block = blocks[index]
    if block.is_certain or block.category != Category.TEXT_BLOCK or not block.text:
        return block
    caption = caption_category(block.text, is_set_off=block.is_caption_like)
    if caption is not None:
        return replace(block, category=caption)
    neighbours = {b.category for b in blocks[max(0, index - 1) : index + 2]}
    if Category.EQUATION_ISOLATED in neighbours and _EQUATION_NUMBER.fullmatch(block.text):
        return replace(block, category=Category.EQUATION_CAPTION)
    return block


def _element(block: Block, name: str, order: int | None) -> Element:
    place: dict[str, AttributeValue] = {"start": block.start, "end": block.end}
    if block.level is not None:
        place["level"] = block.level
    said: dict[str, Any] = {"text": block.text, "latex": block.latex, "attributes": place}
    if block.found is not None:
        said["table"] = block.found.table
        said |= {block.found.format: block.found.source} if block.found.format in ("latex", "html") else {}
    return Element(name, block.category, order=order, **said)


_NAMES = "equation align alignat flalign gather multline eqnarray displaymath dmath xalignat IEEEeqnarray"
DISPLAY_ENVIRONMENTS = frozenset(_NAMES.split())
"""TeX's environments for display formulas; some have a star behind their names."""
UNWRAPPED = frozenset({"equation", "displaymath", "dmath"})  # these say nothing but that there is a formula
LABEL = re.compile(r"\\label\s?\{[^{}]*+\}")
_OPENING = re.compile(rf"\\\\|\\\$|\$\$|\\\[|\\begin\s?\{{(?P<name>(?:{'|'.join(_NAMES.split())})\*?)\}}")
_MATH_SIGN = re.compile(r"\\[A-Za-z,;!]|(?<!\\)[\^_={}+<>≤≥∈]")
_NOT_MATH = re.compile(r"[\s\d,;–-]*+")
MAX_FORMULA = 20_000  # characters of one display formula; what is longer is a lost delimiter


def display_formulas(text: str) -> list[Block]:
    """Return the display formulas of a text, each with its LaTeX without delimiters and labels."""
    blocks: list[Block] = []
    missing: set[str] = set()
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        mark, start, begin = opening[0], *opening.span()
        position = begin
        closing = {"$$": "$$", "\\[": "\\]"}.get(mark) or f"\\end{{{opening['name']}}}"
        if mark in ("\\\\", "\\$") or closing in missing:
            continue
        close = text.find(closing, begin)
        if close < 0:
            missing.add(closing)
            continue
        end = close + len(closing)
        inside = text[begin:close].strip()
        if close - begin > MAX_FORMULA or not inside or not _is_display(text, mark, start, end, inside):
            continue
        is_bare = opening["name"] is None or opening["name"].rstrip("*") in UNWRAPPED
        latex = inside if is_bare else text[start:end]
        blocks.append(Block(Category.EQUATION_ISOLATED, start, end, latex=LABEL.sub("", latex).strip()))
        position = end
    return blocks


def _is_display(text: str, mark: str, start: int, end: int, inside: str) -> bool:
    r"""Return whether it is a formula of its own: not in a row of a pipe table, and not Markdown's `\[1\]`
    for a bracket.
    """
    line_start = text.rfind("\n", max(0, start - 1_000), start) + 1
    before, after = text[line_start:start].strip(" >\t"), text[end : end + 1_000].partition("\n")[0]
    if mark == "$$" and "\n" not in inside and before.startswith("|") and "|" in after:
        return False
    if mark != "\\[":
        return "\n\n" not in inside or mark != "$$"
    if _NOT_MATH.fullmatch(inside):
        return False
    is_alone = not before and not after.strip(" .,;")
    return is_alone or _MATH_SIGN.search(inside) is not None
