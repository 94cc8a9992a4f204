"""Reads raw outputs of workers into predictions. A raw output is hostile input: whatever it holds, the
result is a Prediction, with status `parser_failed` and the reason where it cannot be read.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from parsemark.errors import FormatError
from parsemark.formats import read_tables
from parsemark.formats.limits import check_grid
from parsemark.model import Box, Category, Cell, Element, Prediction, Status, Table

MAX_RAW_BYTES = 64 * 1024 * 1024
MAX_ELEMENTS = 5_000
MAX_PARTS = 2_000  # boxes that a structure model may see in one table
MAX_WORDS = 20_000
TEXT_FORMATS = ("markdown", "html", "text", "latex")
_CATEGORIES = frozenset(Category)
_ELEMENT_KEYS = frozenset(
    ("category", "box", "confidence", "order", "html", "latex", "markdown", "cells", "text", "structure")
)
_CELL_KEYS = frozenset(("row", "col", "rowspan", "colspan", "text", "box"))


def read_raw(raw: bytes, sample: str, parser: str) -> Prediction:
    """Read a parser's raw output about one sample."""
    try:
        return _read(raw, sample, parser)
    except FormatError as error:
        return Prediction(sample, parser, Status.PARSER_FAILED, message=f"unreadable output: {error}")


def _read(raw: bytes, sample: str, parser: str) -> Prediction:
    if len(raw) > MAX_RAW_BYTES:
        raise FormatError(f"the output exceeds {MAX_RAW_BYTES} bytes")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the output is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise FormatError("the output is not a JSON object")
    kind = data.get("format")
    if kind == "elements":
        text = data.get("content")
        if text is not None and not isinstance(text, str):
            raise FormatError("the output's content is not text")
        written = "markdown" if data.get("content_format") is None else data["content_format"]
        if written not in TEXT_FORMATS:
            raise FormatError(f"the output has the unknown content_format {str(written)[:40]!r}")
        elements, message = _read_elements(data.get("elements"))
        return Prediction(sample, parser, elements=elements, text=text, message=message, format=written)
    if kind not in TEXT_FORMATS:
        raise FormatError(f"the output has the unknown format {str(kind)[:40]!r}")
    content = data.get("content")
    if not isinstance(content, str):
        raise FormatError("the output has no content")
    try:
        elements, message = _tables_of(content, kind)
    except FormatError as error:
        # The text is still there for those who need no tables of ours: the published profiles of `document`.
        why = f"unreadable output: {error}"
        return Prediction(sample, parser, Status.PARSER_FAILED, text=content, message=why, format=kind)
    return Prediction(sample, parser, elements=elements, text=content, message=message, format=kind)


def _tables_of(content: str, kind: str) -> tuple[tuple[Element, ...], str | None]:
    """Return the tables of a text; one over a limit is left out with a message."""
    hint = kind if kind in ("html", "latex") else None  # Markdown and text may hold anything
    try:
        tables, message = read_tables(content, hint), None
    except FormatError as error:
        if error.position is None:  # of the whole text, and no single table
            raise
        tables, message = read_tables(content, hint, leave_out=True), f"a table is left out: {error}"
    elements = (
        Element(
            id=f"p{number}",
            category=Category.TABLE,
            order=number,
            html=found.source if found.format == "html" else None,
            latex=found.source if found.format == "latex" else None,
            table=found.table,
        )
        for number, found in enumerate(tables, start=1)
    )
    return tuple(elements), message


def _read_elements(data: Any) -> tuple[tuple[Element, ...], str | None]:
    """Return the elements; a table whose markup is over a limit loses its cells, with a message."""
    if not isinstance(data, list):
        raise FormatError("the output has no list of elements")
    if len(data) > MAX_ELEMENTS:
        raise FormatError(f"the output has {len(data)} elements, over {MAX_ELEMENTS}")
    elements, message = [], None
    for number, item in enumerate(data, start=1):
        try:
            try:
                elements.append(_read_element(item, f"p{number}"))
            except FormatError as error:
                if item.get("cells") is not None:
                    raise
                message = f"a table is left out: {error}"
                bare = {**item, "html": None, "markdown": None, "latex": None}
                elements.append(_read_element(bare, f"p{number}"))
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
            raise FormatError(f"element {number} is not valid: {error}") from error
    return tuple(elements), message


def _read_element(data: Mapping[str, Any], element_id: str) -> Element:
    _refuse_unknown(data, _ELEMENT_KEYS, "an element")
    category = data["category"]
    if category not in _CATEGORIES:
        raise ValueError(f"unknown category {str(category)[:40]!r}")
    html, text = _given_text(data.get("html")), _given_text(data.get("text"))
    order = data.get("order")
    return Element(
        id=element_id,
        category=category,
        box=_box_or_none(data.get("box")),
        order=None if order is None else int(order),
        text=text,
        latex=_given_text(data.get("latex")),
        html=html,
        table=_read_table(data, html) if category == Category.TABLE else None,
        confidence=_read_confidence(data.get("confidence")),
    )


def _read_table(data: Mapping[str, Any], html: str | None) -> Table | None:
    if data.get("structure") is not None:
        return _read_structure(data["structure"], _box_or_none(data.get("box")))
    if data.get("cells") is not None:
        cells = [_read_cell(cell) for cell in data["cells"]]
        n_rows = max((c.row + c.rowspan for c in cells), default=0)
        n_cols = max((c.col + c.colspan for c in cells), default=0)
        check_grid(n_rows, n_cols)
        return Table(n_rows, n_cols, tuple(cells))
    markdown, latex = _given_text(data.get("markdown")), _given_text(data.get("latex"))
    given = ((html, "html"), (markdown, None), (latex, "latex"))
    source, kind = next(((text, kind) for text, kind in given if text is not None), (None, None))
    if source is None:
        return None
    found = read_tables(source, kind)
    return found[0].table if found else None


def _read_structure(data: Mapping[str, Any], place: Box | None) -> Table:
    """Return the table that boxes of rows, columns and spans and the words of the page make."""
    from parsemark.structure import Frame, Part, PartKind, Word, build_table

    if place is None:
        raise ValueError("a table with a structure needs a box")
    if len(data["parts"]) > MAX_PARTS or len(data["words"]) > MAX_WORDS:
        raise ValueError(f"a structure has more than {MAX_PARTS} parts or {MAX_WORDS} words")
    parts = [Part(PartKind(kind), _read_box(box), float(score)) for kind, score, *box in data["parts"]]
    words = [Word(str(text), _read_box(box), bool(glued)) for text, *box, glued in data["words"]]
    return build_table(parts, words, Frame(place, _whole(data.get("angle", 0))))


def _read_cell(data: Mapping[str, Any]) -> Cell:
    _refuse_unknown(data, _CELL_KEYS, "a cell")
    return Cell(
        _whole(data["row"]),
        _whole(data["col"]),
        " ".join((_given_text(data.get("text")) or "").split()),
        _whole(data.get("rowspan", 1)),
        _whole(data.get("colspan", 1)),
        box=_box_or_none(data.get("box")),
    )


def _refuse_unknown(data: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    """Refuse unknown keys: a misspelt key would be lost silently, and the parser would score too low."""
    if known.issuperset(data):
        return
    for key in data.keys() - known:
        raise ValueError(
            f"{what} has the unknown key {str(key)[:40]!r}; known keys: {', '.join(sorted(known))}"
        )


def _read_box(data: Any) -> Box:
    x0, y0, x1, y1 = (float(v) for v in data)
    return Box(x0, y0, x1, y1)


def _box_or_none(data: Any) -> Box | None:
    return None if data is None else _read_box(data)


def _read_confidence(data: Any) -> float | None:
    if data is None:
        return None
    value = float(data)
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise ValueError(f"confidence {value} is not between 0 and 1")
    return value


def _whole(data: Any) -> int:
    if type(data) is not int:
        raise TypeError(f"{str(data)[:40]} ({type(data).__name__}) is not a whole number")
    return data


def _given_text(data: Any) -> str | None:
    if data is not None and not isinstance(data, str):
        raise TypeError(f"{str(data)[:40]} ({type(data).__name__}) is not text")
    return data
