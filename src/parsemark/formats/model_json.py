"""The model as plain JSON data and back: how truths and predictions lie in a run directory.

Only what is known is written; a missing key reads back as None. Reading checks types, so that a damaged
file gives a FormatError and not a wrong page.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache, wraps
from typing import Any, TypeVar

from parsemark.errors import FormatError
from parsemark.model import Box, Cell, Element, Fact, Page, Prediction, Relation, Status, Table

Json = dict[str, Any]
PartT = TypeVar("PartT")
Reader = Callable[[Mapping[str, Any]], PartT]


def _reading(part: str) -> Callable[[Reader[PartT]], Reader[PartT]]:
    """Have a reader raise FormatError, which says what part it was, for broken data."""

    def mark(read: Reader[PartT]) -> Reader[PartT]:
        @wraps(read)
        def checked(data: Mapping[str, Any]) -> PartT:
            try:
                return read(data)
            except KeyError as error:
                raise FormatError(f"The {part} has no field {error}") from error
            except (TypeError, ValueError, AttributeError, OverflowError) as error:
                raise FormatError(f"The {part} is not valid: {error}") from error

        return checked

    return mark


def table_to_json(table: Table) -> Json:
    """Return a table as `{n_rows, n_cols, cells: [...]}`."""
    said = "rowspan colspan header box"
    cells = [{"row": c.row, "col": c.col, "text": c.text, **_changed(c, said)} for c in table.cells]
    return {"n_rows": table.n_rows, "n_cols": table.n_cols, "cells": cells}


@_reading("table")
def table_from_json(data: Mapping[str, Any]) -> Table:
    """Undo `table_to_json`."""
    cells = tuple(_cell_from_json(c) for c in data["cells"])
    return Table(int(data["n_rows"]), int(data["n_cols"]), cells)


def element_to_json(element: Element) -> Json:
    """Return an element without the fields that are None or empty."""
    names = "order text latex html confidence box table ignore attributes derivation"
    return {"id": element.id, "category": element.category, **_changed(element, names)}


@_reading("element")
def element_from_json(data: Mapping[str, Any]) -> Element:
    """Undo `element_to_json`."""
    plain = {key: data.get(key) for key in ("order", "text", "latex", "html", "confidence", "derivation")}
    return Element(
        str(data["id"]),
        str(data["category"]),
        _box(data.get("box")),
        table=table_from_json(data["table"]) if data.get("table") is not None else None,
        ignore=bool(data.get("ignore", False)),
        attributes=dict(data.get("attributes", {})),
        **plain,
    )


def page_to_json(page: Page) -> Json:
    """Return a page with its elements, relations and attributes, and its annotation where it has one."""
    return {
        "id": page.id,
        "width": page.width,
        "height": page.height,
        "elements": [element_to_json(e) for e in page.elements],
        "relations": [[r.kind, r.source, r.target] for r in page.relations],
        "attributes": dict(page.attributes),
        **_changed(page, "annotation facts only_tables only_facts covered"),
    }


@_reading("page")
def page_from_json(data: Mapping[str, Any]) -> Page:
    """Undo `page_to_json`."""
    return Page(
        str(data["id"]),
        float(data["width"]),
        float(data["height"]),
        tuple(map(element_from_json, data["elements"])),
        tuple(Relation(*r) for r in data.get("relations", [])),
        dict(data.get("attributes", {})),
        dict(data["annotation"]) if data.get("annotation") is not None else None,
        facts=tuple(map(fact_from_json, data.get("facts", []))),
        covered=None if data.get("covered") is None else frozenset(map(str, data["covered"])),
        **{key: bool(data.get(key, False)) for key in ("only_tables", "only_facts")},
    )


def fact_to_json(fact: Fact) -> Json:
    """Return a fact without the fields that are as they are by default."""
    data: Json = {"id": fact.id, "kind": fact.kind, "rules": fact.rules, "arguments": dict(fact.arguments)}
    return {**data, **_changed(fact, "page derivation group tags box")}


@_reading("fact")
def fact_from_json(data: Mapping[str, Any]) -> Fact:
    """Undo `fact_to_json`."""
    return Fact(
        str(data["id"]),
        str(data["kind"]),
        str(data["rules"]),
        arguments=dict(data.get("arguments", {})),
        page=int(data.get("page", 1)),
        derivation=str(data.get("derivation", "unknown")),
        group=str(data.get("group", "")),
        tags=tuple(map(str, data.get("tags", []))),
        box=_box(data.get("box")),
    )


def prediction_to_json(prediction: Prediction) -> Json:
    """Return a prediction without the fields that are None or empty."""
    data: Json = {"sample": prediction.sample, "parser": prediction.parser, "status": str(prediction.status)}
    data["elements"] = [element_to_json(e) for e in prediction.elements]
    return {**data, **_changed(prediction, "text message format")}


@_reading("prediction")
def prediction_from_json(data: Mapping[str, Any]) -> Prediction:
    """Undo `prediction_to_json`."""
    elements = tuple(map(element_from_json, data["elements"]))
    said = data.get("text"), data.get("message"), str(data.get("format", "markdown"))
    return Prediction(str(data["sample"]), str(data["parser"]), Status(data["status"]), elements, *said)


def _cell_from_json(data: Mapping[str, Any]) -> Cell:
    spans = int(data.get("rowspan", 1)), int(data.get("colspan", 1))
    rest = data.get("header"), _box(data.get("box"))
    return Cell(int(data["row"]), int(data["col"]), str(data.get("text", "")), *spans, *rest)


_AS_DATA: dict[str, Callable[[Any], Any]] = {
    "box": lambda box: list(box.as_tuple()),
    "table": table_to_json,
    "facts": lambda facts: [fact_to_json(fact) for fact in facts],
    "covered": sorted,
    "tags": list,
    **dict.fromkeys(("attributes", "annotation"), dict),
}
"""How fields are written that are no plain data."""


@cache
def _defaults(kind: Any, names: str) -> list[tuple[str, Any, Callable[[Any], Any] | None]]:
    known = {f.name: f.default if f.default_factory is MISSING else f.default_factory() for f in fields(kind)}
    return [(name, known[name], _AS_DATA.get(name)) for name in names.split()]


def _changed(part: Any, names: str) -> Json:
    """Return some fields of a part, those that are not as they are by default."""
    data: Json = {}
    for name, default, write in _defaults(part.__class__, names):
        value = getattr(part, name)
        if value != default:
            data[name] = write(value) if write else value
    return data


def _box(data: Any) -> Box | None:
    if data is None:
        return None
    x0, y0, x1, y1 = (float(v) for v in data)
    return Box(x0, y0, x1, y1)
