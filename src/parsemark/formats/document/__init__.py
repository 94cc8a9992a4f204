"""Whole documents: every element of a text, where it stands, and in which order it is read."""

from collections.abc import Callable, Sequence

from parsemark.errors import FormatError, UnknownNameError
from parsemark.formats.cell_text import without_mark
from parsemark.formats.document.elements import (
    EQUATION_INLINE,
    Block,
    Document,
    build_document,
    display_formulas,
)
from parsemark.formats.document.html import has_parting_tags, read_html_blocks
from parsemark.formats.document.latex import has_parting_commands, read_latex_blocks
from parsemark.formats.document.markdown import has_markdown_lines, read_markdown_blocks
from parsemark.formats.document.text import read_text_blocks
from parsemark.formats.document.write import markdown_of, write_document
from parsemark.formats.limits import check_size
from parsemark.model import Category, Element, Prediction

__all__ = [
    "DOCUMENT_FORMATS", "EQUATION_INLINE", "Document", "markdown_of", "output_format",
    "predicted_elements", "read_document", "read_output", "write_document",
]  # fmt: skip

_READERS: dict[str, Callable[[str], list[Block]]] = {
    "markdown": read_markdown_blocks, "html": read_html_blocks, "latex": read_latex_blocks,
    "text": read_text_blocks,
}  # fmt: skip
DOCUMENT_FORMATS = tuple(_READERS)  # the formats of `read_document`


def read_document(text: str, format: str = "markdown") -> Document:
    r"""Return every element of a text in reading order, with its place in the source.

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
    """Return the document of a text that its parser calls `format`; see `output_format`."""
    return read_document(text, output_format(text, format))


def output_format(text: str, format: str) -> str:
    """Return the format in which to read a text that its parser calls `format`.

    Parsers mix formats and misname files, so a name is believed only where the text does not gainsay it, and
    else it is read as Markdown, which may hold all of them. HTML must have tags that part texts, beside those
    of tables. Of LaTeX no line may be one that only Markdown has, unless LaTeX's own sections and lists part
    it: it may quote such lines. A plain text has no markup of blocks at all.
    """
    is_latex = has_parting_commands(text)
    if format == "html":
        is_named_rightly = has_parting_tags(text)
    elif format == "latex":
        is_named_rightly = is_latex or not has_markdown_lines(text)
    else:
        has_markup = is_latex or has_markdown_lines(text) or has_parting_tags(text) or display_formulas(text)
        is_named_rightly = format == "text" and not has_markup
    return format if is_named_rightly else "markdown"


def predicted_elements(prediction: Prediction) -> Sequence[Element]:
    """Return the elements of an output; those of a text are read from it."""
    if any(element.category != Category.TABLE for element in prediction.elements) or prediction.text is None:
        return prediction.elements
    return read_output(prediction.text, prediction.format).elements
