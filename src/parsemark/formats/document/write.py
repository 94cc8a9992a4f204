r"""A page as Markdown that `read_document` reads back to the same elements.

Titles, texts, lists, formulas, tables (as HTML, which has spans) and code are written as Markdown has them;
what Markdown cannot say, such as that a text is a footnote, stands in a comment above the block
(`<!-- page_footnote -->`), which are invisible on a rendered page.
"""

import re
from collections.abc import Callable, Iterable

from parsemark.errors import UnknownNameError
from parsemark.formats.document.elements import OUTSIDE_READING_ORDER, caption_category
from parsemark.formats.markdown.inline import escape_inline
from parsemark.formats.write import write_table
from parsemark.model import Category, Element, Page, Prediction

_BLOCK_START = re.compile(r"\A(?:(?=[-+>#=])|\d{1,9}(?=[.)]))")
_NUMBERED = re.compile(r"(\d{1,9})([.)]) ")
_SECTION_NUMBER = re.compile(r"\d{1,2}((?:\.\d{1,2})*)\.?\s")
_EQUATION_NUMBER = re.compile(r"\(.{1,12}\)")
_SAID_BY_MARKDOWN = frozenset(
    {Category.TITLE, Category.TEXT_BLOCK, Category.LIST_GROUP, Category.FIGURE, Category.TABLE}
    | {Category.EQUATION_ISOLATED, Category.CODE_TXT}
)


def markdown_of(prediction: Prediction) -> str:
    """Return the output as a text file is read: all line ends are newlines. Elements are written out as
    Markdown.
    """
    text = prediction.text
    if text is None:
        text = write_document(prediction.elements, literal=True) if prediction.elements else ""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_document(page: Page | Iterable[Element], format: str = "markdown", *, literal: bool = False) -> str:
    """Return the elements of a page in reading order.

    Args:
        page: A page, or its elements. Running heads come first, feet and notes last, and elements that are
            to be ignored too.
        format: Only `markdown` so far.
        literal: Without escapes and comments, for readers that take every sign for text.
    """
    if format != "markdown":
        raise UnknownNameError("document format", format, ["markdown"])
    elements = page.elements if isinstance(page, Page) else tuple(page)
    blocks: list[str] = []
    before = ""
    for element in sorted(elements, key=_order):
        written = _written(element, literal=literal)
        if not written:
            continue
        # Two lists in a row would be one.
        is_second = element.category == before == Category.LIST_GROUP
        is_labelled = not literal and (is_second or _needs_label(element))
        label = f"<!-- {element.category} -->\n\n" if is_labelled else ""
        blocks.append(label + written)
        before = element.category
    return "\n\n".join(blocks) + "\n"


def _order(element: Element) -> tuple[int, int]:
    if element.order is not None:
        return 1, element.order
    return (0 if element.category == Category.HEADER else 2), 0


def _needs_label(element: Element) -> bool:
    """Return whether reading would take the block for something else."""
    if element.category not in _SAID_BY_MARKDOWN or element.category in OUTSIDE_READING_ORDER:
        return True
    text = element.text or ""
    is_number = _EQUATION_NUMBER.fullmatch(text) is not None
    return element.category == Category.TEXT_BLOCK and (is_number or caption_category(text) is not None)


def _written(element: Element, *, literal: bool) -> str:
    if element.table is not None:
        return write_table(element.table, "html")
    if element.category == Category.EQUATION_ISOLATED and element.latex:
        # Without blank lines, at which Markdown would end the formula.
        lines = _undelimited(element.latex).strip().split("\n")
        return "$$\n" + "\n".join(line for line in lines if line.strip()) + "\n$$"
    if element.category == Category.FIGURE:
        return "![]()"
    if not element.text or not element.text.strip():
        return ""
    return _written_text(element, element.text, str.strip if literal else _escaped)


def _written_text(element: Element, text: str, escaped: Callable[[str], str]) -> str:
    if element.category in (Category.CODE_TXT, Category.CODE_ALGORITHM):
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
        return f"{fence}code\n{text}\n{fence}"
    if element.category == Category.LIST_GROUP:
        lines = [line for line in text.split("\n") if line.strip()]
        marks = [number[0] if (number := _NUMBERED.match(line)) else "" for line in lines]
        pairs = zip(marks, lines, strict=True)
        return "\n".join(f"{mark or '- '}{escaped(line[len(mark) :])}" for mark, line in pairs)
    written = escaped(" ".join(text.split("\n")) if element.category == Category.TITLE else text)
    return f"{'#' * heading_level(element)} {written}" if element.category == Category.TITLE else written


def _undelimited(latex: str) -> str:
    """Return the formula itself: some corpora keep its delimiters."""
    text = latex.strip()
    for left, right in (("$$", "$$"), ("\\[", "\\]")):
        if len(text) >= 4 and text.startswith(left) and text.endswith(right):
            return text[2:-2].strip()
    return latex


def heading_level(element: Element) -> int:
    """Return the level of a title: as it says, else by its number (`2.1 Methods` is 2), else 1."""
    level = element.attributes.get("level")
    if isinstance(level, int) and not isinstance(level, bool):
        return max(1, min(6, level))
    numbered = _SECTION_NUMBER.match(element.text or "")
    return min(6, 1 + numbered[1].count(".")) if numbered else 1


def _escaped(text: str) -> str:
    """Return the text so that no line of it begins a block and nothing in it is markup."""
    written = escape_inline(text.strip(), brackets=False)
    if written.endswith("#"):  # the closing sequence of a heading
        written = f"{written[:-1]}\\#"
    return _BLOCK_START.sub(r"\g<0>\\", written)
