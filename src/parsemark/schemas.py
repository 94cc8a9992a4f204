"""Results as JSON, each in the format of a JSON Schema with a version.

A version is raised when a reader of the old one could fail: when a key goes, or its meaning or type changes.
New keys do not raise it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """A kind of result: the version of its format, what it is, and its type."""

    version: int
    title: str
    type: Callable[[], Any]  # imported late
    extra: Mapping[str, str] = field(default_factory=dict)  # keys that follow from others, with their types


def _summaries() -> Any:
    from parsemark.store.summary import Summary

    return _object(summaries=list[Summary])


def _comparisons() -> Any:
    from parsemark.verdicts.comparison import Comparison, RunComparison

    return Comparison | RunComparison


def _gate() -> Any:
    from parsemark.verdicts.gate import GateResult

    return GateResult


def _choice() -> Any:
    from parsemark.choosing import Choice

    return Choice


def _check() -> Any:
    from parsemark.corpora.check import CheckReport

    return CheckReport


def _audit() -> Any:
    from parsemark.choosing.audit import Audit

    return Audit


def _info() -> Any:
    from parsemark.corpora.describe import CorpusInfo

    return CorpusInfo


def _verification() -> Any:
    from parsemark.engine.bundle_checks import BundleCheck

    return _object(bundle=str, checks=list[BundleCheck], notes=list[str])


def _history() -> Any:
    from parsemark.verdicts.history import History

    return History


def _bisection() -> Any:
    from parsemark.verdicts.bisection import Bisection

    return Bisection


def _stability() -> Any:
    from parsemark.corpora.stable_variants import LeftOutVariant
    from parsemark.store.summary import Figure
    from parsemark.verdicts.stability import VariantOutput

    variant: Any = _object(moved=int, changed=int, pages=int)
    parser: Any = _object(
        moved=Figure,
        changed=Figure,
        failed=Figure,
        worst=VariantOutput | None,
        scores=list[float | None],
        spread=float | None,
        variants=dict[str, variant],
    )
    return _object(score=str, parsers=dict[str, parser], left_out=list[LeftOutVariant])


def _names() -> Any:
    from parsemark.specs import Available

    return _object(names=list[Available])


def _installed() -> Any:
    from parsemark.extras import Installed

    return _object(parts=list[Installed])


def _object(**keys: Any) -> Any:
    """Return the type of an object with these keys."""
    from pydantic import create_model

    fields: dict[str, Any] = {name: (hint, ...) for name, hint in keys.items()}
    return create_model("Result", **fields)


RESULTS: dict[str, ResultFormat] = {
    "summary": ResultFormat(1, "`bench --json`, `score --json`: scores and ranking by protocol.", _summaries),
    "compare": ResultFormat(1, "`compare --json`: two parsers of a run, or two runs.", _comparisons),
    "gate": ResultFormat(
        1, "`gate --json`: every check, and the pages that got worse.", _gate, {"passed": "boolean"}
    ),
    "choose": ResultFormat(1, "`choose --json`, and choice.json: the candidates and what to label.", _choice),
    "corpus-check": ResultFormat(
        1, "`corpus check --json`: problems of a corpus.", _check, {"is_faithful": "boolean"}
    ),
    "corpus-audit": ResultFormat(
        1,
        "`corpus check --run --json`: cells that parsers contradict, and scores without disputed elements.",
        _audit,
    ),
    "corpus-info": ResultFormat(
        1, "`corpus info --json`: documents, pages and attributes of a corpus.", _info
    ),
    "verify": ResultFormat(
        1, "`verify --json`: every check of a bundle.", _verification, {"passed": "boolean"}
    ),
    "history": ResultFormat(
        1, "`history --json`: scores and costs of releases, and pages that changed.", _history
    ),
    "bisect": ResultFormat(
        1,
        "`bisect --json`: the last good and the first bad version, and what was tried.",
        _bisection,
        {"is_one_step": "boolean"},
    ),
    "stable": ResultFormat(
        1, "stability.json, which `stable` writes: outputs that change with the file.", _stability
    ),
    "list": ResultFormat(
        1, "`list --json`, `parsers list --json`: names, with a summary and labelled details.", _names
    ),
    "doctor": ResultFormat(1, "`doctor --json`: optional libraries and programs.", _installed),
}
"""The formats of results, by kind."""
_LISTS = {"summary": "summaries", "list": "names", "doctor": "parts"}
"""Kinds whose result is a list, and the key of that list."""


def as_json(kind: str, result: Any) -> Json:
    """Return a result as JSON data that begins with the name and version of its format."""
    from pydantic import TypeAdapter

    form = RESULTS[kind]
    data: Any = result
    if kind in _LISTS:
        data = {_LISTS[kind]: list(result)}
    elif kind == "verify":
        data = {key: getattr(result, key) for key in ("bundle", "checks", "notes")}
    elif kind == "stable":
        data = result.figures()
    # NaN and infinities are null: JSON has no other word for them.
    adapter = TypeAdapter(form.type())
    made = adapter.validate_python(data) if isinstance(data, dict) else data
    plain = json.loads(adapter.dump_json(made))
    if kind in ("gate", "verify"):  # what follows from the others
        name = "question" if kind == "gate" else "passed"
        for row, check in zip(plain["checks"], result.checks, strict=True):
            row[name] = getattr(check, name)
    extra = {name: getattr(result, name) for name in form.extra}
    return {"schema": f"parsemark.{kind}", "schema_version": form.version, **extra, **plain}


def json_schemas() -> dict[str, Json]:
    """Return the JSON Schemas of results, outputs made elsewhere and corpora, by file name."""
    from importlib import resources

    from parsemark.corpora.schema import json_schemas as of_corpora

    results = {f"{kind}.schema.json": _schema_of(kind, form) for kind, form in RESULTS.items()}
    check = resources.files("parsemark.verdicts.check").joinpath("check.schema.json").read_text("utf-8")
    others = {"check.schema.json": json.loads(check), "predictions.schema.json": PREDICTIONS}
    return {**of_corpora(), **others, **results}


def _schema_of(kind: str, form: ResultFormat) -> Json:
    from pydantic import TypeAdapter

    made = TypeAdapter(form.type()).json_schema(mode="serialization")
    shared = made.pop("$defs", {})
    head = {"schema": {"const": f"parsemark.{kind}"}, "schema_version": {"const": form.version}}
    head |= {name: {"type": kind_of} for name, kind_of in form.extra.items()}
    return {
        "$schema": _DRAFT,
        "title": f"parsemark.{kind} {form.version}",
        "description": form.title,
        "type": "object",
        "required": list(head),
        "properties": head,
        "allOf": [{key: value for key, value in made.items() if key not in ("title", "description")}],
        "$defs": shared,
    }


_CELL: Json = {
    "type": "object",
    "required": ["row", "col"],
    "properties": {
        "row": {"type": "integer", "minimum": 0},
        "col": {"type": "integer", "minimum": 0},
        "rowspan": {"type": "integer", "minimum": 1},
        "colspan": {"type": "integer", "minimum": 1},
        "text": {"type": "string"},
        "header": {"type": ["boolean", "null"]},
        "box": {"$ref": "#/$defs/box"},
    },
}
_TEXTS: Json = {name: {"type": "string"} for name in ("text", "latex", "html", "markdown")}
PREDICTIONS: Json = {
    "$schema": _DRAFT,
    "title": "parsemark.predictions 1",
    "description": "Outputs made elsewhere, for `score`: PAGE.json or DOCUMENT.json.",
    "oneOf": [
        {
            "type": "object",
            "required": ["pages"],
            "properties": {"pages": {"type": "array", "items": {"$ref": "#/$defs/page"}}},
        },
        {"$ref": "#/$defs/page"},
    ],
    "$defs": {
        "page": {
            "oneOf": [
                {"type": "array", "items": {"$ref": "#/$defs/element"}},
                {
                    "type": "object",
                    "required": ["elements"],
                    "properties": {"elements": {"type": "array", "items": {"$ref": "#/$defs/element"}}},
                },
                {
                    "type": "object",
                    "not": {"anyOf": [{"required": ["elements"]}, {"required": ["pages"]}]},
                    "anyOf": [{"required": [name]} for name in _TEXTS],
                    "properties": _TEXTS,
                },
            ]
        },
        "element": {
            "type": "object",
            "required": ["category"],
            "properties": {
                "category": {"type": "string"},
                **_TEXTS,
                "cells": {"type": "array", "items": {"$ref": "#/$defs/cell"}},
                "table": {
                    "type": "object",
                    "required": ["n_rows", "n_cols", "cells"],
                    "properties": {
                        "n_rows": {"type": "integer", "minimum": 0},
                        "n_cols": {"type": "integer", "minimum": 0},
                        "cells": {"type": "array", "items": {"$ref": "#/$defs/cell"}},
                    },
                },
                "box": {"$ref": "#/$defs/box"},
                "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                "order": {"type": ["integer", "null"]},
            },
        },
        "cell": _CELL,
        "box": {
            "description": "x0, y0, x1, y1 in points from the top left of the page.",
            "type": ["array", "null"],
            "items": {"type": "number"},
            "minItems": 4,
            "maxItems": 4,
        },
    },
}
"""The JSON that outputs made elsewhere may have."""
