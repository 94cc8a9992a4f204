r"""One spelling for what outputs spell differently: line ends, tables, delimiters of formulas.

Two outputs that say the same and differ in whether one or two newlines part their blocks, in whether tables
are HTML or Markdown, or in `$…$` against `\(…\)`, have the same neutral form. What the spelling alone could
say is lost for all alike: which cells a table calls its header (the first row is, as Markdown has it), and
whether lines are one paragraph (they are where a line breaks off within a sentence).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from parsemark.errors import FormatError
from parsemark.formats.cell_text import without_mark
from parsemark.formats.document import output_format, read_document, write_document
from parsemark.formats.document.elements import caption_category
from parsemark.formats.document.html import is_html_source
from parsemark.formats.markdown.spans import protected_spans
from parsemark.formats.write import write_table
from parsemark.model import Category, Element, Prediction, Table

_LONG_LINE = 60
"""Characters from which on a line without a full stop is taken for one that goes on."""
_SENTENCE_END = (".", "!", "?", ":", "。", "！", "？", "：")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,9}[.)])\s+\S")
_LABEL = re.compile(r"<!--\s*(\w+)\s*-->")
_CATEGORIES = frozenset(Category)
_CODE = (Category.CODE_TXT, Category.CODE_ALGORITHM)


def neutral(prediction: Prediction) -> Prediction:
    """The prediction in the neutral spelling; one that cannot be read stays as it is."""
    elements = tuple(map(_neutral_element, prediction.elements))
    if prediction.text is None:
        return replace(prediction, elements=elements)
    try:
        blocks, tables = _read(prediction.text, prediction.format)
    except FormatError:
        return prediction
    if not any(e.box for e in elements) and all(e.category == Category.TABLE for e in elements):
        elements = tuple(
            Element(f"p{number}", Category.TABLE, order=number, table=table, html=write_table(table, "html"))
            for number, table in enumerate(tables, start=1)
        )
    return replace(prediction, elements=elements, text=_joined(blocks), format="markdown")


def _neutral_element(element: Element) -> Element:
    table = None if element.table is None else _neutral_table(element.table)
    if table is not None:
        return replace(element, table=table, html=write_table(table, "html"), latex=None)
    text = element.text
    if text is not None and element.category not in (*_CODE, Category.LIST_GROUP):
        text = one_line(text)
    latex = None if element.latex is None else _one_formula(element.latex)
    return replace(element, text=text, latex=latex)


def _neutral_table(table: Table) -> Table:
    cells = [replace(cell, text=_with_dollars(cell.text), header=cell.row == 0) for cell in table.cells]
    return Table(table.n_rows, table.n_cols, tuple(cells))


def one_line(text: str) -> str:
    """A text in one line, with its formulas between single dollars."""
    return _with_dollars(" ".join(text.split()))


def _with_dollars(text: str) -> str:
    out, at = [], 0
    for span in protected_spans(text):
        if span.kind == "math":
            inner = text[span.start : span.end].strip("$").removeprefix("\\(").removesuffix("\\)").strip()
            out += [text[at : span.start], f"${inner}$"]
            at = span.end
    return "".join([*out, text[at:]])


def _one_formula(latex: str) -> str:
    return latex.strip() if "%" in latex else " ".join(latex.split())


def _read(text: str, format: str) -> tuple[list[str], list[Table]]:
    """The blocks of an output, and its tables."""
    text = without_mark(text)
    format = output_format(text, format)
    blocks: list[str] = []
    tables: list[Table] = []
    paragraph: list[str] = []
    at = 0

    def close() -> None:
        blocks.extend(one_line(" ".join(own)) for own in _paragraphs(paragraph))
        paragraph.clear()

    for element in read_document(text, format).elements:
        start, end = int(element.attributes["start"] or 0), int(element.attributes["end"] or 0)
        label = next((m for m in _LABEL.findall(text[at:start]) if m in _CATEGORIES), None)
        at = max(at, end)
        source = text[start:end] if format == "markdown" else None
        lines = list(_lines(element, source))
        if lines and label is None:
            paragraph += lines
            continue
        close()
        if element.table is not None:
            tables.append(_neutral_table(element.table))
        written = " ".join(map(one_line, lines)) if lines else _block(element, source)
        blocks += [f"<!-- {label} -->"] * (label is not None) + [written]
    close()
    return [block for block in blocks if block], tables


def _lines(element: Element, source: str | None) -> Iterator[str]:
    """The lines of a running text; none of anything else."""
    if element.text is None or element.category in (Category.TITLE, *_CODE) or element.table is not None:
        return
    if source is not None and not is_html_source(source):
        yield from filter(None, (line.strip().removesuffix("\\").strip() for line in source.split("\n")))
        return
    marks = element.category == Category.LIST_GROUP
    for line in filter(None, map(str.strip, element.text.split("\n"))):
        yield f"- {line}" if marks and not _ITEM.match(line) else line


def _block(element: Element, source: str | None) -> str:
    if element.category == Category.FIGURE and source is not None:
        return one_line(source)
    if element.category == Category.TITLE and element.text is not None and source is not None:
        words = one_line(source.strip("#").strip()) if source.startswith("#") else element.text
        return f"{'#' * int(element.attributes.get('level') or 1)} {one_line(words)}"
    return write_document([_neutral_element(element)], literal=True).strip()


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines that belong together."""
    own: list[str] = []
    for line in lines:
        if own and not _goes_on(own[-1], line):
            yield own
            own = []
        own.append(line)
    if own:
        yield own


def _goes_on(before: str, line: str) -> bool:
    """Whether a line goes on with the sentence of the one before it."""
    if before.endswith(_SENTENCE_END) or _ITEM.match(line) or caption_category(line) is not None:
        return False
    return line[0].islower() or len(before) >= _LONG_LINE


def _joined(blocks: list[str]) -> str:
    """Blocks parted by blank lines, and the items of one list by line ends."""
    out: list[str] = []
    was_item = False
    for block in blocks:
        is_item = _ITEM.match(block) is not None
        out.append(("" if not out else "\n" if was_item and is_item else "\n\n") + block)
        was_item = is_item
    return "".join([*out, "\n"]) if out else ""
