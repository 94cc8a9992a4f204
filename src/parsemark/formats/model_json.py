"""The model as plain JSON data and back: how truths and predictions lie in a run directory.

Only what is known is written; a missing key reads back as None. Reading checks types, so that a damaged
file gives a FormatError and not a wrong page.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any

from parsemark.errors import FormatError
from parsemark.model import Box, Cell, Element, Fact, Page, Prediction, Relation, Status, Table

Json = dict[str, Any]


def table_to_json(table: Table) -> Json:
    """A table as `{n_rows, n_cols, cells: [...]}`."""
    return {"n_rows": table.n_rows, "n_cols": table.n_cols, "cells": [_cell_to_json(c) for c in table.cells]}


def table_from_json(data: Mapping[str, Any]) -> Table:
    """Inverse of `table_to_json`."""
    with _reading("table"):
        cells = tuple(_cell_from_json(c) for c in data["cells"])
        return Table(int(data["n_rows"]), int(data["n_cols"]), cells)


def element_to_json(element: Element) -> Json:
    """An element without the fields that are None or empty."""
    names = "order text latex html confidence box table ignore attributes derivation"
    return {"id": element.id, "category": element.category, **_changed(element, names)}


def element_from_json(data: Mapping[str, Any]) -> Element:
    """Inverse of `element_to_json`."""
    with _reading("element"):
        return Element(
            id=str(data["id"]),
            category=str(data["category"]),
            box=_box(data.get("box")),
            order=data.get("order"),
            text=data.get("text"),
            latex=data.get("latex"),
            html=data.get("html"),
            table=table_from_json(data["table"]) if data.get("table") is not None else None,
            confidence=data.get("confidence"),
            ignore=bool(data.get("ignore", False)),
            attributes=dict(data.get("attributes", {})),
            derivation=data.get("derivation"),
        )


def page_to_json(page: Page) -> Json:
    """A page with its elements, relations and attributes, and its annotation where it has one."""
    return {
        "id": page.id,
        "width": page.width,
        "height": page.height,
        "elements": [element_to_json(e) for e in page.elements],
        "relations": [[r.kind, r.source, r.target] for r in page.relations],
        "attributes": dict(page.attributes),
        **_changed(page, "annotation facts only_tables only_facts covered"),
    }


def page_from_json(data: Mapping[str, Any]) -> Page:
    """Inverse of `page_to_json`."""
    with _reading("page"):
        return Page(
            id=str(data["id"]),
            width=float(data["width"]),
            height=float(data["height"]),
            elements=tuple(element_from_json(e) for e in data["elements"]),
            relations=tuple(Relation(*r) for r in data.get("relations", [])),
            attributes=dict(data.get("attributes", {})),
            annotation=dict(data["annotation"]) if data.get("annotation") is not None else None,
            only_tables=bool(data.get("only_tables", False)),
            facts=tuple(fact_from_json(fact) for fact in data.get("facts", [])),
            only_facts=bool(data.get("only_facts", False)),
            covered=None if data.get("covered") is None else frozenset(map(str, data["covered"])),
        )


def fact_to_json(fact: Fact) -> Json:
    """A fact without the fields that are as they are by default."""
    data: Json = {"id": fact.id, "kind": fact.kind, "rules": fact.rules, "arguments": dict(fact.arguments)}
    return {**data, **_changed(fact, "page derivation group tags box")}


def fact_from_json(data: Mapping[str, Any]) -> Fact:
    """Inverse of `fact_to_json`."""
    with _reading("fact"):
        return Fact(
            id=str(data["id"]),
            kind=str(data["kind"]),
            rules=str(data["rules"]),
            arguments=dict(data.get("arguments", {})),
            page=int(data.get("page", 1)),
            derivation=str(data.get("derivation", "unknown")),
            group=str(data.get("group", "")),
            tags=tuple(str(tag) for tag in data.get("tags", [])),
            box=_box(data.get("box")),
        )


def prediction_to_json(prediction: Prediction) -> Json:
    """A prediction without the fields that are None or empty."""
    data: Json = {"sample": prediction.sample, "parser": prediction.parser, "status": str(prediction.status)}
    data["elements"] = [element_to_json(e) for e in prediction.elements]
    return {**data, **_changed(prediction, "text message format")}


def prediction_from_json(data: Mapping[str, Any]) -> Prediction:
    """Inverse of `prediction_to_json`."""
    with _reading("prediction"):
        return Prediction(
            sample=str(data["sample"]),
            parser=str(data["parser"]),
            status=Status(data["status"]),
            elements=tuple(element_from_json(e) for e in data["elements"]),
            text=data.get("text"),
            message=data.get("message"),
            format=str(data.get("format", "markdown")),
        )


def _cell_to_json(cell: Cell) -> Json:
    data: Json = {"row": cell.row, "col": cell.col, "text": cell.text}
    return {**data, **_changed(cell, "rowspan colspan header box")}


def _cell_from_json(data: Mapping[str, Any]) -> Cell:
    return Cell(
        row=int(data["row"]),
        col=int(data["col"]),
        text=str(data.get("text", "")),
        rowspan=int(data.get("rowspan", 1)),
        colspan=int(data.get("colspan", 1)),
        header=data.get("header"),
        box=_box(data.get("box")),
    )


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
    """Some fields of a part, those that are not as they are by default."""
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


class _reading:  # noqa: N801 - reads as a word at its place of use
    """Turns what broken data raises into a FormatError that says which part it was."""

    def __init__(self, part: str) -> None:
        self.part = part

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, KeyError):
            raise FormatError(f"The {self.part} has no field {error}") from error
        if isinstance(error, TypeError | ValueError | AttributeError | OverflowError):
            raise FormatError(f"The {self.part} is not valid: {error}") from error
