"""Documents as items: walked, made of pages and outputs, and written as docling-core writes them."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from parsemark.errors import FormatError
from parsemark.formats import MAX_GRID
from parsemark.model import Element, Page
from parsemark_boards.labels import label_of

Item = Mapping[str, Any]
Doc = Mapping[str, Any]
Corners = tuple[float, float, float, float]
BODY = frozenset({"body"})
ALL_BUT_BACKGROUND = frozenset({"body", "furniture", "invisible", "notes"})
_WRITTEN = {
    "caption", "footnote", "formula", "list_item", "page_footer", "page_header", "picture",
    "section_header", "text", "title", "document_index", "code", "checkbox_selected",
    "checkbox_unselected", "form", "key_value_region", "paragraph", "reference",
}  # fmt: skip
_NO_TEXT = ("table", "document_index", "picture", "chart", "form", "key_value_region")
_MARKS = {"title": "# ", "checkbox_selected": "- [x] ", "checkbox_unselected": "- [ ] "}
_LINK_OR_UNDERSCORE = re.compile(r"!\[[^\]]*\]\([^)]*\)|(?<!\\)_")  # links of pictures stay as they are


def complete(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items as docling-core keeps them: captions by themselves, and each loose list item in a list."""
    for item in items:
        label, children = item["label"], list(complete(item.get("children", ())))
        if item.get("caption") is not None:
            yield {"label": "caption", "text": item["caption"]}
        if label == "group:ordered_list":
            label = "group:list"
        if label == "group:list":
            children = [child for c in children for child in (c["children"] if c.get("loose") else [c])]
        own = {**item, "label": label, "children": children}
        yield {"label": "group:list", "children": [own], "loose": True} if label == "list_item" else own


def walk(
    items: Iterable[Item], layers: frozenset[str] = BODY, *, into_pictures: bool = False
) -> Iterator[Item]:
    """Yield items before their children; groups are entered and not given out."""
    for item in items:
        if not item["label"].startswith("group:") and item.get("layer", "body") in layers:
            yield item
        if into_pictures or item["label"] not in ("picture", "chart"):
            yield from walk(item.get("children", ()), layers, into_pictures=into_pictures)


def items_of(doc: Doc) -> list[Item]:
    """Return all items that have a place, as both evaluators of layout walk through them."""
    return list(walk(complete(doc["items"]), ALL_BUT_BACKGROUND, into_pictures=True))


def top_left(place: Mapping[str, Any], height: float) -> Corners:
    """Return a box counted from the top."""
    left, top, right, bottom = map(float, place["box"])
    if place.get("origin", "TOPLEFT") == "BOTTOMLEFT":
        return left, height - top, right, height - bottom
    return left, top, right, bottom


# --- tables -------------------------------------------------------------------------------------------------


def _placed(table: Item) -> dict[tuple[int, int], Sequence[Any]]:
    n_slots = table["rows"] * table["cols"] + sum(cell[2] * cell[3] for cell in table["cells"])
    if n_slots > MAX_GRID:
        raise FormatError(f"A table has more than {MAX_GRID:,} positions")
    return {
        (row, col): cell
        for cell in table["cells"]
        for row in range(cell[0], cell[0] + cell[2])
        for col in range(cell[1], cell[1] + cell[3])
    }


def table_html(table: Item, caption: str | None = None) -> str:
    """Return a table as docling-core writes it; empty without rows."""
    if not table["rows"]:
        return ""
    grid, rows = _placed(table), []
    for row in range(table["rows"]):
        written = []
        for col in range(table["cols"]):
            cell = grid.get((row, col))
            if cell is None:
                written.append("<td></td>")
            elif (cell[0], cell[1]) == (row, col):
                spans = (f' {n}="{v}"' for n, v in (("rowspan", cell[2]), ("colspan", cell[3])) if v > 1)
                tag = "th" if set(cell[5] if len(cell) > 5 else "") & set("crs") else "td"
                text = html.escape(cell[4].strip())
                written.append(f"<{tag}{''.join(spans)}>{text}</{tag}>")
        rows.append(f"<tr>{''.join(written)}</tr>")
    title = html.escape(caption or "", quote=False)
    above = f'<caption><div class="caption">{title}</div></caption>' if title else ""
    return f"<table>{above}<tbody>{''.join(rows)}</tbody></table>"


def _pipe_table(table: Item) -> str:
    from tabulate import tabulate

    grid = _placed(table)
    rows = [
        [str(grid[r, c][4]).replace("\n", " ") if (r, c) in grid else "" for c in range(table["cols"])]
        for r in range(table["rows"])
    ]
    if len(rows) < 2 or not rows[0]:
        return ""
    try:
        return str(tabulate(rows[1:], headers=rows[0], tablefmt="github"))
    except ValueError:
        return str(tabulate(rows[1:], headers=rows[0], tablefmt="github", disable_numparse=True))


# --- Markdown -----------------------------------------------------------------------------------------------


def markdown(items: Iterable[Item]) -> str:
    """Return items as docling-core writes them for the evaluation of text."""
    return "\n\n".join(_blocks(complete(items)))


def _blocks(items: Iterable[Item], indent: int = 0) -> Iterator[str]:
    for item in items:
        label, children = item["label"], item.get("children", ())
        if label in ("group:list", "group:inline"):
            if parts := list(_blocks(children, indent)):
                yield ("\n" if label == "group:list" else " ").join(parts)
            continue
        if label == "list_item":
            yield from _list_item(item, indent)
            continue
        if label in _WRITTEN and item.get("layer", "body") in ("body", "furniture"):
            yield from filter(None, [_block(item)])
        if label != "picture":
            yield from _blocks(children, indent)


def _list_item(item: Item, indent: int) -> Iterator[str]:
    below = list(_blocks(item["children"], indent + 1))
    marker = str(item.get("marker") or "-") if item.get("enumerated") else "-"
    if marker != "-" and not re.fullmatch(r"\d+\.", marker):
        marker = f"- {marker}"
    is_written = item.get("text") and item.get("layer", "body") in ("body", "furniture")
    own = f"{'    ' * indent}{marker} {_escaped(item['text'])}" if is_written else ""
    if lines := [line for line in (own, *below) if line]:
        yield "\n".join(lines)


def _block(item: Item) -> str:
    label, text = item["label"], item.get("text") or ""
    if label == "document_index":
        return _pipe_table(item["table"]) if item.get("table") else ""
    if label in _NO_TEXT or not text:
        return ""
    if label == "formula":
        return f"$${text}$$"
    if label == "code":
        return f"```\n{text}\n```"
    if label == "section_header":
        return f"{'#' * (item.get('level', 1) + 1)} {_escaped(text)}"
    return _MARKS.get(label, "") + _escaped(text)


def _escaped(text: str) -> str:
    text = _LINK_OR_UNDERSCORE.sub(lambda found: r"\_" if found[0] == "_" else found[0], text)
    return html.escape(text, quote=False)


# --- pages and outputs --------------------------------------------------------------------------------------


def document_of(page: Page, elements: Iterable[Element]) -> Doc:
    """Return the elements of a page, of its truth or of an output, as a document of one page."""
    items = [_item(element) for element in elements if not element.ignore]
    return {"pages": {"1": [page.width, page.height]}, "items": items}


def _item(element: Element) -> dict[str, Any]:
    label = label_of(element, __package__)
    item: dict[str, Any] = {"label": label, "prov": []}
    item["text"] = (element.latex if label == "formula" else element.text) or element.text or ""
    level = element.attributes.get("level")
    if label == "section_header" and isinstance(level, int) and level > 0:
        item["level"] = level
    if label in ("page_header", "page_footer"):
        item["layer"] = "furniture"
    if element.box is not None:
        item["prov"] = [{"page": 1, "box": list(element.box.as_tuple())}]
    if label == "table" and element.table is not None:
        table = element.table
        cells = [[c.row, c.col, c.rowspan, c.colspan, c.text, "c" * bool(c.header)] for c in table.cells]
        item["table"] = {"rows": table.n_rows, "cols": table.n_cols, "cells": cells}
    elif label == "table":
        item["html"] = element.html
    return item
