"""What a person can do to a page: pure functions from a page and an edit to a page.

An edit is `{"do": NAME, "element": ID, …}`. One that cannot be done raises `EditError` and changes nothing.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from parsemark.consensus.starting_page import box_on_page, with_header
from parsemark.formats.limits import MAX_GRID
from parsemark.formats.model_json import table_from_json
from parsemark.model import AttributeValue, Box, Category, Cell, Element, Page, Relation, Table

MAX_TEXT = 100_000
MAX_ELEMENTS = 2000
MAX_ATTRIBUTES, MAX_ATTRIBUTE = 100, 200
AFFILIATION = "parent_son"  # OmniDocBench's name of the tie from a table, figure or formula to its caption
_ROUNDING = 0.01  # points by which a box may leave the page, because browsers and files round differently
Edit = Mapping[str, Any]


class EditError(Exception):
    """What is wrong with an edit, in words for the person."""


def apply(page: Page, edit: Edit) -> Page:
    """Return the page after an edit."""
    name = edit.get("do")
    if isinstance(name, str) and name in _ON_PAGE:
        return _ON_PAGE[name](page, edit)
    element = _find(page, edit.get("element"))
    if isinstance(name, str) and name in _ON_TABLE:
        if element.table is None:
            raise EditError("This is not a table.")
        changed = replace(element, table=_ON_TABLE[name](element.table, edit), html=None, latex=None)
    elif isinstance(name, str) and name in _ON_ELEMENT:
        changed = _ON_ELEMENT[name](element, edit)
    else:
        raise EditError(f"Unknown edit {name!r}.")
    return _with_element(page, changed)


def _with_element(page: Page, changed: Element) -> Page:
    """Return the page with an element in place of the one that had its id."""
    return replace(page, elements=tuple(changed if e.id == changed.id else e for e in page.elements))


def _find(page: Page, name: object) -> Element:
    for element in page.elements:
        if element.id == name:
            return element
    raise EditError("The element no longer exists.")


def _number(edit: Edit, key: str, low: int, high: int) -> int:
    value = edit.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise EditError(f"{key} must be from {low} to {high}.")
    return value


def _new_text(edit: Edit) -> str:
    text = edit.get("text")
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise EditError("Enter a text that is not longer than a page.")
    return _mended(text)


def _mended(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _cell(table: Table, edit: Edit) -> Cell:
    row, col = _number(edit, "row", 0, table.n_rows - 1), _number(edit, "col", 0, table.n_cols - 1)
    return table.cell_at(row, col) or Cell(row, col)


def _with(table: Table, *cells: Cell, without: tuple[Cell, ...] = ()) -> Table:
    gone = {(c.row, c.col) for c in (*cells, *without)}
    kept = [c for c in table.cells if (c.row, c.col) not in gone]
    return Table(table.n_rows, table.n_cols, (*kept, *cells))


def _set_text(table: Table, edit: Edit) -> Table:
    return _with(table, replace(_cell(table, edit), text=_new_text(edit)))


def _merge(table: Table, edit: Edit) -> Table:
    """Join all cells of a rectangle; their texts follow each other."""
    first, last = _cell(table, edit), _cell(table, {"row": edit.get("to_row"), "col": edit.get("to_col")})
    top, left = min(first.row, last.row), min(first.col, last.col)
    bottom = max(c.row + c.rowspan for c in (first, last))
    right = max(c.col + c.colspan for c in (first, last))
    inside = [c for c in table.cells if top <= c.row < bottom and left <= c.col < right]
    chosen = {(row, col) for row in range(top, bottom) for col in range(left, right)}
    if any(chosen & places != places for c in table.cells if chosen & (places := set(c.places))):
        raise EditError("A merged cell extends beyond the selection. Split it first.")
    text = " ".join(c.text for c in inside if c.text.strip())
    header = inside[0].header if inside else None
    merged = Cell(top, left, text, bottom - top, right - left, header)
    return _with(table, merged, without=tuple(inside))


def _split(table: Table, edit: Edit) -> Table:
    """Undo a merge; the text stays in the first cell."""
    cell = _cell(table, edit)
    parts = [Cell(*place, header=cell.header) for place in cell.places]
    return _with(table, replace(parts[0], text=cell.text), *parts[1:])


def _insert_row(table: Table, edit: Edit) -> Table:
    at = _number(edit, "at", 0, table.n_rows)
    if (table.n_rows + 1) * max(1, table.n_cols) > MAX_GRID:
        raise EditError("The table cannot have more cells.")
    moved = [_stretched_row(c, at) for c in table.cells]
    covered = {c.col + k for c in moved if c.row < at < c.row + c.rowspan for k in range(c.colspan)}
    # A new row is what the row above it is not: part of the body, unless it stands among headers.
    below = [c.header for c in table.cells if c.row == at]
    header = bool(below) and all(below)
    new = [Cell(at, col, header=header) for col in range(table.n_cols) if col not in covered]
    return Table(table.n_rows + 1, table.n_cols, (*moved, *new))


def _stretched_row(cell: Cell, at: int) -> Cell:
    if cell.row >= at:
        return replace(cell, row=cell.row + 1, box=None)
    return replace(cell, rowspan=cell.rowspan + 1, box=None) if cell.row + cell.rowspan > at else cell


def _delete_row(table: Table, edit: Edit) -> Table:
    at = _number(edit, "at", 0, table.n_rows - 1)
    if table.n_rows == 1:
        raise EditError("A table has at least one row. Remove the table instead.")
    cells = (replace(c, box=None) if c.row <= at < c.row + c.rowspan else c for c in table.cells)
    return Table(table.n_rows, table.n_cols, tuple(cells)).without(rows={at})


def _transposed(table: Table) -> Table:
    cells = tuple(replace(c, row=c.col, col=c.row, rowspan=c.colspan, colspan=c.rowspan) for c in table.cells)
    return Table(table.n_cols, table.n_rows, cells)


def _insert_col(table: Table, edit: Edit) -> Table:
    at = _number(edit, "at", 0, table.n_cols)
    grown = _transposed(_insert_row(_transposed(table), edit))
    # A new column belongs to the header where its row does.
    rows = {c.row: bool(c.header) for c in reversed(table.cells)}
    new = tuple(replace(c, header=rows.get(c.row)) if c.col == at and not c.text else c for c in grown.cells)
    return Table(grown.n_rows, grown.n_cols, new)


def _delete_col(table: Table, edit: Edit) -> Table:
    if table.n_cols == 1:
        raise EditError("A table has at least one column. Remove the table instead.")
    return _transposed(_delete_row(_transposed(table), edit))


def _header(table: Table, edit: Edit) -> Table:
    """Turn a cell into a header, or back."""
    cell = _cell(table, edit)
    return _with(table, replace(cell, header=not cell.header))


def _header_rows(table: Table, edit: Edit) -> Table:
    """Make all rows down to a count headers, and none below."""
    count = _number(edit, "count", 0, table.n_rows)
    return Table(table.n_rows, table.n_cols, tuple(replace(c, header=c.row < count) for c in table.cells))


def _transpose(table: Table, _: Edit) -> Table:
    """Make rows columns; as many rows are the header as were before, where there are more than those."""
    turned = _transposed(table)
    headers = {row for row in range(table.n_rows) if all(c.header for c in table.cells if c.row == row)}
    count = next(row for row in range(table.n_rows + 1) if row not in headers)
    count = min(max(count, int(any(c.header for c in table.cells))), max(1, turned.n_rows - 1))
    cells = tuple(replace(c, header=c.row < count, box=None) for c in turned.cells)
    return Table(turned.n_rows, turned.n_cols, cells)


def _paste(table: Table, edit: Edit) -> Table:
    """Write a block of texts, as copied from a spreadsheet; the table grows where it does not fit.

    A merged cell is split where a text falls on what it covers; empty ones leave it whole.
    """
    rows = edit.get("texts")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise EditError("The clipboard is empty.")
    row, col = _number(edit, "row", 0, table.n_rows - 1), _number(edit, "col", 0, table.n_cols - 1)
    n_rows, n_cols = max(table.n_rows, row + len(rows)), max(table.n_cols, col + max(map(len, rows)))
    if n_rows * n_cols > MAX_GRID or sum(map(len, rows)) > MAX_GRID:
        raise EditError("The table cannot have more cells.")
    texts = {(row + r, col + c): text for r, line in enumerate(rows) for c, text in enumerate(line)}
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in texts.values()):
        raise EditError("Only texts can be pasted.")
    for cell in table.cells:
        if any(texts.get(place) for place in cell.places if place != (cell.row, cell.col)):
            table = _split(table, {"row": cell.row, "col": cell.col})
    kept = {(c.row, c.col): c for c in table.cells}
    covered = {p for c in table.cells for p in c.places if p != (c.row, c.col)}
    for place, text in texts.items():
        if place not in covered:
            kept[place] = replace(kept.get(place, Cell(*place)), text=_mended(text))
    for place in ((r, c) for r in range(n_rows) for c in range(n_cols)):
        if place not in kept and place not in covered:
            kept[place] = Cell(*place)
    return Table(n_rows, n_cols, tuple(kept.values()))


def _clear_cells(table: Table, edit: Edit) -> Table:
    """Return empty all cells of a rectangle."""
    first, last = _cell(table, edit), _cell(table, {"row": edit.get("to_row"), "col": edit.get("to_col")})
    rows = range(min(first.row, last.row), max(first.row, last.row) + 1)
    cols = range(min(first.col, last.col), max(first.col, last.col) + 1)
    return _with(table, *(replace(c, text="") for c in table.cells if c.row in rows and c.col in cols))


def _take(page: Page, edit: Edit) -> Page:
    """Return a parser's table as it is, which the server adds, in the place of the chosen one or as a new
    one.
    """
    if not isinstance(edit.get("table"), dict):
        raise EditError("The parser does not have this table.")
    table = with_header(table_from_json(edit["table"]))
    chosen = next((e for e in page.elements if e.id == edit.get("element") and e.table is not None), None)
    if chosen is None:
        page = _add(page, {"category": str(Category.TABLE)})
        chosen = page.elements[-1]
    box = chosen.box
    if box is None and edit.get("table_box") is not None:
        box = box_on_page(Box(*edit["table_box"]), page)
    return _with_element(page, replace(chosen, table=table, box=box, html=None, latex=None))


def _box(page: Page, edit: Edit) -> Box:
    edges = edit.get("box")
    edges = edges if isinstance(edges, list) else []
    if len(edges) != 4 or not all(isinstance(e, int | float) and abs(e) < 1e6 for e in edges):
        raise EditError("A box needs four edges.")
    x0, y0, x1, y1 = map(float, edges)
    box = Box.of_points((x0, x1), (y0, y1))
    if not Box(0, 0, page.width, page.height).contains(box, _ROUNDING):
        raise EditError("The box extends beyond the page.")
    if not (box.width and box.height):
        raise EditError("A box needs a positive width and height.")
    return box_on_page(Box(*(round(edge, 2) for edge in box.as_tuple())), page) or box


def _set_box(page: Page, edit: Edit) -> Page:
    return _with_element(page, replace(_find(page, edit.get("element")), box=_box(page, edit)))


def _set_content(element: Element, edit: Edit) -> Element:
    if element.table is not None:
        raise EditError("A table is edited cell by cell.")
    if element.category == Category.EQUATION_ISOLATED:
        return replace(element, latex=_new_text(edit), text=None)
    return replace(element, text=_new_text(edit))


def _set_category(element: Element, edit: Edit) -> Element:
    value = edit.get("category")
    if not isinstance(value, str) or value not in {str(c) for c in Category}:
        raise EditError("Unknown category.")
    if (value == Category.TABLE) != (element.table is not None):
        raise EditError(
            "A table cannot change its category, and nothing else can become a table. Remove and add it."
        )
    said = element.latex or element.text or ""
    if value == Category.EQUATION_ISOLATED:
        return replace(element, category=value, latex=said, text=None)
    return replace(element, category=value, text=said if element.table is None else element.text, latex=None)


def _add(page: Page, edit: Edit) -> Page:
    """Return a new element; a table begins with two rows of two."""
    if len(page.elements) >= MAX_ELEMENTS:
        raise EditError("The page cannot have more elements.")
    category = edit.get("category", str(Category.TABLE))
    if not isinstance(category, str) or category not in {str(c) for c in Category}:
        raise EditError("Unknown category.")
    taken = {e.id for e in page.elements}
    prefix = "t" if category == Category.TABLE else "b"
    name = next(f"{prefix}{k}" for k in range(1, MAX_ELEMENTS + 2) if f"{prefix}{k}" not in taken)
    order = max((e.order or 0 for e in page.elements), default=0) + 1
    table = Table.from_rows([["", ""], ["", ""]], 1) if category == Category.TABLE else None
    element = Element(name, str(category), order=order, table=table, text=None if table else "")
    if category == Category.EQUATION_ISOLATED:
        element = replace(element, text=None, latex="")
    if edit.get("box") is not None:
        element = replace(element, box=_box(page, edit))
    return replace(page, elements=(*page.elements, element))


def _set_attributes(page: Page, edit: Edit) -> Page:
    """Return lines `name: value`, in place of all attributes of an element, or of the page where none is
    named.
    """
    found: dict[str, AttributeValue] = {}
    for line in filter(str.strip, _new_text(edit).splitlines()):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not name or len(name) > MAX_ATTRIBUTE or len(value) > MAX_ATTRIBUTE:
            raise EditError(f"An attribute must be a short line “name: value”, not: {line[:60]}")
        found[name] = _value(value)
    if len(found) > MAX_ATTRIBUTES:
        raise EditError(f"There are at most {MAX_ATTRIBUTES} attributes.")
    if edit.get("element") is None:
        return replace(page, attributes=found)
    return _with_element(page, replace(_find(page, edit["element"]), attributes=found))


def _value(text: str) -> AttributeValue:
    """Return true, false and numbers of JSON as such, and everything else as a text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return (int(text) if text.lstrip("-").isdecimal() else number) if math.isfinite(number) else text


def _belong(page: Page, edit: Edit) -> Page:
    """Assign a caption or note to a table, figure or formula; `to` null assigns it to none."""
    element, kept = _find(page, edit.get("element")), page.relations
    kept = tuple(r for r in kept if r.kind != AFFILIATION or r.target != element.id)
    if edit.get("to") is None:
        return replace(page, relations=kept)
    head = _find(page, edit["to"])
    if head is element:
        raise EditError("An element cannot belong to itself.")
    return replace(page, relations=(*kept, Relation(AFFILIATION, head.id, element.id)))


def _remove(page: Page, edit: Edit) -> Page:
    element = _find(page, edit.get("element"))
    kept = tuple(e for e in page.elements if e.id != element.id)
    ties = tuple(r for r in page.relations if element.id not in (r.source, r.target))
    return replace(page, elements=kept, relations=ties)


def _move(page: Page, edit: Edit) -> Page:
    """Change the place in reading order by one, up (-1) or down (1). What is outside of it stays outside."""
    element = _find(page, edit.get("element"))
    by = _number(edit, "by", -1, 1)
    inside = [e for e in page.elements if e.order is not None or e is element]
    ordered = sorted(inside, key=lambda e: (e.order is None, e.order or 0))
    here = ordered.index(element)
    there = min(len(ordered) - 1, max(0, here + by))
    ordered.insert(there, ordered.pop(here))
    places = {e.id: k for k, e in enumerate(ordered, 1)}
    return replace(page, elements=tuple(replace(e, order=places.get(e.id)) for e in page.elements))


def _clear(page: Page, _: Edit) -> Page:
    """Record that there is no table on the page."""
    return replace(page, elements=tuple(e for e in page.elements if e.category != Category.TABLE))


_ON_TABLE: dict[str, Callable[[Table, Edit], Table]] = {
    "text": _set_text,
    "merge": _merge,
    "split": _split,
    "insert_row": _insert_row,
    "delete_row": _delete_row,
    "insert_col": _insert_col,
    "delete_col": _delete_col,
    "header": _header,
    "header_rows": _header_rows,
    "transpose": _transpose,
    "paste": _paste,
    "clear": _clear_cells,
}
_ON_ELEMENT: dict[str, Callable[[Element, Edit], Element]] = {
    "content": _set_content,
    "category": _set_category,
}
_ON_PAGE: dict[str, Callable[[Page, Edit], Page]] = {
    "add": _add,
    "take": _take,
    "box": _set_box,
    "remove": _remove,
    "move": _move,
    "no_table": _clear,
    "attributes": _set_attributes,
    "belongs": _belong,
}
