"""Whole documents: every element of a text, where it stands, and in which order it is read."""

from __future__ import annotations

from collections.abc import Callable

from parsemark.errors import FormatError, UnknownNameError
from parsemark.formats.cell_text import without_mark
from parsemark.formats.document.elements import EQUATION_INLINE, Block, Document, build_document
from parsemark.formats.document.html import has_parting_tags, read_html_blocks
from parsemark.formats.document.latex import read_latex_blocks
from parsemark.formats.document.markdown import read_markdown_blocks
from parsemark.formats.document.text import read_text_blocks
from parsemark.formats.document.write import write_document
from parsemark.formats.limits import check_size

__all__ = [
    "DOCUMENT_FORMATS",
    "EQUATION_INLINE",
    "Document",
    "read_document",
    "read_output",
    "write_document",
]

_READERS: dict[str, Callable[[str], list[Block]]] = {
    "markdown": read_markdown_blocks,
    "html": read_html_blocks,
    "latex": read_latex_blocks,
    "text": read_text_blocks,
}
DOCUMENT_FORMATS = tuple(_READERS)
"""The formats of `read_document`."""


def read_document(text: str, format: str = "markdown") -> Document:
    r"""Every element of a text in reading order, with its place in the source.

    Headings with levels, paragraphs, lists, display and inline formulas, tables of every format, figures,
    code and captions. Texts are clean: emphasis and links go, what they hold stays, inline formulas stay as
    written.

    Args:
        text: A page or a document as a parser gives it.
        format: `markdown` (which may hold HTML and LaTeX), `html`, `latex` or `text`.

    Raises:
        FormatError: The text is over a limit of `parsemark.formats.limits`.

    >>> document = read_document("# Results\n\nWe *see*\n$x^2$.\n\n$$a=b$$\n")
    >>> [(e.category.value, e.text or e.latex) for e in document.elements]
    [('title', 'Results'), ('text_block', 'We see $x^2$.'), ('equation_isolated', 'a=b')]
    """
    if not isinstance(text, str):
        raise FormatError(f"A document is read from a text, not from {type(text).__name__}")
    if format not in _READERS:
        raise UnknownNameError("document format", format, DOCUMENT_FORMATS)
    check_size(text)
    return build_document(_READERS[format](without_mark(text)))


def read_output(text: str, format: str) -> Document:
    """The document of a text that its parser calls `format`.

    All but HTML are read as Markdown, which may hold every other format, since parsers mix them. HTML is,
    too, where nothing but its tables is HTML: there lines and marks of Markdown are all that parts texts.
    """
    is_html = format == "html" and has_parting_tags(text)
    return read_document(text, "html" if is_html else "markdown")
