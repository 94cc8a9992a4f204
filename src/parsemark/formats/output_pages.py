"""Outputs of whole documents, page by page: texts with marks of pages, and the JSON that parsers write.

A JSON output is read whole or refused; nothing in it is run. Known are DoclingDocument (docling), content
lists and middle files (MinerU), lines of Dolma (olmOCR), predictions of parsemark, and lists of pages with
`markdown`, `md`, `html`, `text` or `elements` (Mistral, LlamaParse and others).
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parsemark.errors import FormatError
from parsemark.formats.limits import check_grid
from parsemark.formats.model_json import prediction_from_json
from parsemark.formats.tables import read_table
from parsemark.model import Category, Cell, Element, Prediction, Table
from parsemark.plain_words import counted, mended

_DEPTH = 40
"""Blocks of a JSON output inside each other."""
_TEXTS = {"markdown": "markdown", "md": "markdown", "html": "html", "latex": "latex", "text": "text"}
"""Keys of a page's text, with what it is written in; the first that is there counts."""
_NUMBERS = ("page", "page_number", "page_no")
_LAST_NUMBER = re.compile(r"(\d{1,6})\D*$")


@dataclass(frozen=True, slots=True)
class OutputPage:
    """The output of one page, or of a whole document where `number` is None."""

    prediction: Prediction
    number: int | None = None


def has_page_marks(text: str) -> bool:
    """Return whether a text says where its pages begin."""
    return "\f" in text.strip("\f\n") or any(
        pattern.search(text) for pattern in (_PAGE_COMMENT, _MARKER_PAGE, _PAGE_BREAK)
    )


def page_texts(text: str, n_pages: int, separator: str | None = None) -> list[str]:
    r"""Return the text of a document, page by page.

    Pages are told by `separator`, or else by the first of these that the text has: lines `<!-- page 3 -->`
    (before page 3, or behind it where all stand so), marker's `{2}------…` (before page 3), lines
    `<!-- page break -->`, form feeds.

    Raises:
        FormatError: The number of pages is another.

    >>> page_texts("one\fthree\f", 2)
    ['one', 'three']
    >>> page_texts("<!-- page 2 -->\nb", 2)
    ['', 'b']
    >>> page_texts("a\n<!-- page 2 -->\nb", 2)
    ['a', 'b']
    """
    if n_pages == 1 and separator is None:
        return [text]
    if separator is not None:
        return _of_length(text.split(separator), n_pages)
    for pattern, first in ((_PAGE_COMMENT, 1), (_MARKER_PAGE, 0)):
        if marks := list(pattern.finditer(text)):
            return _by_marks(text, marks, first, n_pages)
    if _PAGE_BREAK.search(text):
        return _of_length([part.strip() for part in _PAGE_BREAK.split(text)], n_pages)
    return _of_length(text.split("\f"), n_pages)


def _by_marks(text: str, marks: Sequence[re.Match[str]], first: int, n_pages: int) -> list[str]:
    """Return the pages of a text in which each mark names the page that begins there, or the one that
    ends.
    """
    numbers = [int(mark[1]) - first for mark in marks]
    for mark, number in zip(marks, numbers, strict=True):
        if not 0 <= number < n_pages:
            raise FormatError(
                f"The file has a page {mark[1]}, but the document has {counted(n_pages, 'page')}",
                position=mark.start(),
            )
    bounds = [0, *(edge for mark in marks for edge in mark.span()), len(text)]
    above, *parts = (text[a:b].strip() for a, b in zip(bounds[::2], bounds[1::2], strict=True))
    if above and numbers == list(range(len(marks))) and len(marks) + bool(parts[-1]) == n_pages:
        return [above, *parts][:n_pages]  # every page stands above its mark, the last one perhaps without one
    if above and numbers[0] > 1 and 0 not in numbers:
        first_mark = f"the first mark, of page {marks[0][1]}"
        raise FormatError(f"The text above {first_mark} has no page number", position=0)
    pages: list[list[str]] = [[] for _ in range(n_pages)]
    # What stands above the mark of page 2 is page 1; above page 1 it is what a tool writes over a document.
    pages[0 if numbers[0] == 1 and 0 not in numbers else numbers[0]].append(above)
    for number, part in zip(numbers, parts, strict=True):
        pages[number].append(part)
    return ["\n\n".join(filter(None, own)) for own in pages]


def _of_length(parts: list[str], n_pages: int) -> list[str]:
    if len(parts) == n_pages + 1 and not parts[-1].strip():
        return parts[:-1]
    if len(parts) != n_pages:
        raise FormatError(
            f"The file has {counted(len(parts), 'page')}, but the document has {n_pages}; give the text "
            "between pages with --page-separator, or one file per page"
        )
    return parts


_PAGE_COMMENT = re.compile(r"^[ \t]{0,8}<!--[ \t]{0,8}page[ :]{0,4}(\d{1,6})[ \t]{0,8}-->", re.I | re.M)
_MARKER_PAGE = re.compile(r"^\{(\d{1,6})\}-{20,200}[ \t]{0,8}$", re.M)
_PAGE_BREAK = re.compile(r"^[ \t]{0,8}<!--[ \t]{0,8}page[ _-]?break[ \t]{0,8}-->", re.I | re.M)


def read_output_json(text: str) -> list[OutputPage]:
    """Read the JSON or JSON Lines of a parser's output.

    Raises:
        FormatError: The text is not JSON, or of no known form.
    """
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise FormatError("The JSON is nested too deeply") from error
    except ValueError as error:
        try:
            data = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            raise FormatError(f"The output is not JSON: {error}") from error
    try:
        pages = list(_pages_of(mended(data)))
    except RecursionError as error:
        raise FormatError("The JSON is nested too deeply") from error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        what = f"{type(error).__name__}: {error}"
        raise FormatError(f"The JSON of the output cannot be read: {what}") from error
    return pages


def _pages_of(data: Any) -> Iterator[OutputPage]:
    if isinstance(data, list) and data:
        yield from _pages_of_list(data)
    elif not isinstance(data, dict):
        raise FormatError("The JSON of the output has an unknown form, or is empty")
    elif data.get("schema_name") == "DoclingDocument":
        yield from _as_pages(_docling(data))
    elif isinstance(data.get("pdf_info"), list):
        yield from _as_pages(_mineru_middle(data["pdf_info"]))
    elif isinstance(data.get("pages"), list):
        yield from _listed_pages(data["pages"])
    elif isinstance(data.get("text"), str) and isinstance(data.get("attributes"), dict):
        yield from _olmocr(data)
    else:
        yield OutputPage(_page_output(data))


def _pages_of_list(data: Sequence[Any]) -> Iterator[OutputPage]:
    keys = data[0].keys() if isinstance(data[0], dict) else ()
    if "page_idx" in keys:
        yield from _as_pages(_mineru_list(data))
    elif {"sample", "status", "elements"} <= set(keys):
        found = [prediction_from_json(item) for item in data]
        numbers = [int(number[1]) for one in found if (number := _LAST_NUMBER.search(one.sample))]
        is_numbered = len(set(numbers)) == len(found)
        yield from map(OutputPage, found, numbers if is_numbered else range(1, len(found) + 1))
    elif len(data) == 1 and keys:
        yield from _pages_of(data[0])
    elif {"text", "attributes"} <= set(keys):
        raise FormatError(f"The file has {counted(len(data), 'document')}; give one for each PDF")
    elif "category" in keys:
        yield OutputPage(_page_output({"elements": data}))
    else:
        yield from _listed_pages(data)


def _listed_pages(pages: Sequence[Any]) -> Iterator[OutputPage]:
    """Yield pages in order, or with numbers of their own (`index` counts from 0)."""
    for k, page in enumerate(pages):
        if isinstance(page, str):
            yield OutputPage(Prediction("", "", text=page), k + 1)
            continue
        number = next((page[key] for key in _NUMBERS if isinstance(page.get(key), int)), None)
        if number is None and isinstance(page.get("index"), int):
            number = page["index"] + 1
        yield OutputPage(_page_output(page), k + 1 if number is None else number)


def _page_output(data: Mapping[str, Any]) -> Prediction:
    """Return a page as `{"markdown": …}`, `{"format": …, "content": …}` or `{"elements": […]}`."""
    if data.keys() >= {"sample", "status", "elements"}:
        return prediction_from_json(data)
    if isinstance(data.get("content"), str) and data.get("format") in _TEXTS:
        return Prediction("", "", text=data["content"], format=_TEXTS[data["format"]])
    for key, written in _TEXTS.items():
        if isinstance(data.get(key), str):
            return Prediction("", "", text=data[key], format=written)
    if isinstance(data.get("elements"), list):
        return _of_blocks([_JsonBlock(_block_text(e), _block_table(e)) for e in data["elements"]])
    raise FormatError(
        "The JSON of the output has an unknown form; known forms are DoclingDocument, MinerU's content "
        "list and "
        "middle file, olmOCR's lines, and pages with markdown, html, text or elements"
    )


@dataclass(frozen=True, slots=True)
class _JsonBlock:
    """A piece of an output: a text, or a table as cells."""

    text: str = ""
    table: Table | None = None


def _of_blocks(blocks: Sequence[_JsonBlock]) -> Prediction:
    # The empty text says that the output is not of tables alone, of which less would be asked.
    elements = [Element("p0", Category.TEXT_BLOCK, text="")]
    for block in blocks:
        category = Category.TEXT_BLOCK if block.table is None else Category.TABLE
        text = block.text if block.table is None else None
        elements.append(Element(f"p{len(elements)}", category, text=text, table=block.table))
    return Prediction("", "", elements=tuple(elements))


def _as_pages(blocks: Iterator[tuple[int | None, _JsonBlock]]) -> Iterator[OutputPage]:
    """Yield blocks by page; a document of which no block has a page is one output."""
    pages: dict[int | None, list[_JsonBlock]] = {}
    for number, block in blocks:
        if block.text.strip() or block.table is not None:
            pages.setdefault(number, []).append(block)
    if set(pages) == {None}:
        yield OutputPage(_of_blocks(pages[None]))
        return
    nowhere = pages.pop(None, [])
    for k, number in enumerate(sorted(n for n in pages if n is not None)):
        yield OutputPage(_of_blocks([*pages[number], *(nowhere if not k else ())]), number)


def _block_text(data: Mapping[str, Any]) -> str:
    return str(data.get("text") or data.get("latex") or data.get("markdown") or "")


def _block_table(data: Mapping[str, Any]) -> Table | None:
    if isinstance(data.get("html"), str) and data.get("category") == Category.TABLE:
        return _table(data["html"])
    if not isinstance(data.get("cells"), list):
        return None
    return _from_cells(
        (c["row"], c["col"], c.get("rowspan", 1), c.get("colspan", 1), c.get("text", ""))
        for c in data["cells"]
    )


def _table(markup: str) -> Table | None:
    try:
        return read_table(markup)
    except FormatError:
        return None


def _from_cells(cells: Iterator[tuple[Any, ...]]) -> Table | None:
    own = [Cell(int(r), int(c), str(text), max(1, int(h)), max(1, int(w))) for r, c, h, w, text in cells]
    n_rows = max((c.row + c.rowspan for c in own), default=0)
    n_cols = max((c.col + c.colspan for c in own), default=0)
    check_grid(n_rows, n_cols)
    return Table(n_rows, n_cols, tuple(own)) if own else None


# --- docling ------------------------------------------------------------------------------------------------


def _docling(data: Mapping[str, Any]) -> Iterator[tuple[int | None, _JsonBlock]]:
    """Yield the blocks of a DoclingDocument in the order of its body, each with its page."""
    seen: set[str] = set()

    def walk(node: Mapping[str, Any], depth: int) -> Iterator[tuple[int | None, _JsonBlock]]:
        if depth > _DEPTH:
            raise FormatError("The DoclingDocument is nested too deeply")
        for child in node.get("children") or ():
            reference = str(child["$ref"] if "$ref" in child else child["cref"])  # as pydantic names it
            if reference in seen:
                continue
            seen.add(reference)
            _, kind, index = reference.split("/")
            item = data[kind][int(index)]
            yield from _docling_item(item)
            yield from walk(item, depth + 1)

    for root in ("body", "furniture"):
        yield from walk(data.get(root) or {}, 0)


def _docling_item(item: Mapping[str, Any]) -> Iterator[tuple[int | None, _JsonBlock]]:
    places = [(int(p["page_no"]), p.get("charspan")) for p in item.get("prov") or ()]
    first = places[0][0] if places else None
    if isinstance(item.get("data"), dict) and isinstance(item["data"].get("table_cells"), list):
        cells = (
            (
                c["start_row_offset_idx"],
                c["start_col_offset_idx"],
                c["end_row_offset_idx"] - c["start_row_offset_idx"],
                c["end_col_offset_idx"] - c["start_col_offset_idx"],
                c.get("text", ""),
            )
            for c in item["data"]["table_cells"]
        )
        yield first, _JsonBlock(table=_from_cells(cells))
        return
    text = item.get("text")
    if not isinstance(text, str):
        return
    marker = item.get("marker")
    if isinstance(marker, str) and marker.strip("-*\u2022 "):
        text = f"{marker} {text}"
    # A paragraph over a page break has a place, and a span of its characters, on each page.
    if len(places) > 1 and all(span for _, span in places):
        for page, (start, end) in places:
            yield page, _JsonBlock(text[int(start) : int(end)])
    else:
        yield first, _JsonBlock(text)


# --- MinerU, olmOCR -----------------------------------------------------------------------------------------


def _mineru_list(blocks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int | None, _JsonBlock]]:
    """Yield the blocks of `*_content_list.json`."""
    for block in blocks:
        page = int(block["page_idx"]) + 1
        for part in ("image", "img", "table", "chart", "code"):
            for text in _texts(block.get(f"{part}_caption")):
                yield page, _JsonBlock(text)
        if isinstance(block.get("table_body"), str):
            yield page, _markup(block["table_body"])
        for key in ("text", "code_body", "list_items", "content"):
            for text in _texts(block.get(key)):
                yield page, _JsonBlock(text)
        for part in ("image", "img", "table", "chart", "code"):
            for text in _texts(block.get(f"{part}_footnote")):
                yield page, _JsonBlock(text)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _markup(source: str) -> _JsonBlock:
    table = _table(source)
    return (
        _JsonBlock(table=table)
        if table is not None
        else _JsonBlock(html.unescape(re.sub(r"<[^<>]*>", " ", source)))
    )


def _mineru_middle(pages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int | None, _JsonBlock]]:
    """Yield the blocks of `*_middle.json`."""

    def walk(block: Mapping[str, Any], page: int, depth: int) -> Iterator[tuple[int | None, _JsonBlock]]:
        if depth > _DEPTH:
            raise FormatError("The output is nested too deeply")
        texts = []
        for line in block.get("lines") or ():
            for span in line.get("spans") or ():
                if isinstance(span.get("html"), str):
                    yield page, _markup(span["html"])
                elif isinstance(span.get("content"), str):
                    is_formula = "equation" in str(span.get("type"))
                    texts.append(f"${span['content']}$" if is_formula else span["content"])
            texts.append("\n")
        yield page, _JsonBlock(" ".join(texts))
        for inner in block.get("blocks") or ():
            yield from walk(inner, page, depth + 1)

    for k, page in enumerate(pages):
        for block in [*(page.get("para_blocks") or ()), *(page.get("discarded_blocks") or ())]:
            yield from walk(block, int(page.get("page_idx", k)) + 1, 0)


def _olmocr(data: Mapping[str, Any]) -> Iterator[OutputPage]:
    """Yield a line of olmOCR's: a text, and which of its characters are on which page."""
    text, places = data["text"], data["attributes"].get("pdf_page_numbers") or ()
    if not places:
        yield OutputPage(Prediction("", "", text=text))
    for start, end, page in places:
        yield OutputPage(Prediction("", "", text=text[int(start) : int(end)]), int(page))
