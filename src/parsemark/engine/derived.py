"""Parsers that are made of others' stored outputs: calibrated ones, and an ensemble.

They stand in the run as parsers of their own, so that all figures and pages of the report show them beside
the ones that they are made of. Nothing is parsed again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from parsemark.errors import UnknownNameError, UsageError
from parsemark.model import Element, Prediction, Status
from parsemark.parsers import read_raw
from parsemark.parsers.ensemble import vote
from parsemark.stats.confidence import Calibrator
from parsemark.store import ParseRecord, ParserEntry, Run, work_key


@dataclass(frozen=True, slots=True)
class Judged:
    """The predicted tables of a parser, and which of them are right."""

    confidence: tuple[float, ...]
    correct: tuple[bool, ...]
    documents: tuple[str, ...]
    n_truth: int


def judged_tables(run: Run, parser: str, rule: str = "bbox", at: float = 0.5) -> Judged:
    """The tables of one parser in a scored run: right where they overlap a true one by `at`.

    Raises:
        UnknownNameError: If the run has no such parser.
        UsageError: If it gives no confidences.
    """
    _known(run, parser)
    documents = dict(run.table("samples").select("sample", "document").iter_rows())
    matches = run.table("matches").filter(
        (pl.col("parser") == parser) & (pl.col("rule") == rule) & (pl.col("category") == "table")
    )
    confidence, correct, names = [], [], []
    for row in matches.filter(pl.col("pred").list.len() > 0).iter_rows(named=True):
        if row["confidence"] is not None:
            confidence.append(row["confidence"])
            correct.append(bool(row["truth"]) and (row["overlap"] or 0.0) >= at)
            names.append(documents[row["sample"]])
    if not confidence:
        raise UsageError(f"{parser} gives no confidences in this run; there is nothing to calibrate.")
    n_truth = sum(len(truth) for truth in matches["truth"].to_list())
    return Judged(tuple(confidence), tuple(correct), tuple(names), n_truth)


def add_calibrated(run: Run, parser: str, calibrator: Calibrator) -> str:
    """Add `calibrated(parser=…)` to a run: the same tables with calibrated confidences. Returns its name."""
    _known(run, parser)
    name = f"calibrated(method={calibrator.method}, parser={parser})"

    def change(outputs: dict[str, ParseRecord]) -> bytes | None:
        record = outputs[parser]
        if record.blob is None:
            return None
        data = json.loads(run.raw(record.blob))
        for item in data.get("elements") or []:
            if isinstance(item, dict) and isinstance(item.get("confidence"), int | float):
                item["confidence"] = float(np.clip(calibrator([item["confidence"]])[0], 0.0, 1.0))
        return json.dumps(data, ensure_ascii=False).encode()

    _add(run, name, [parser], change, {"calibrator": json.dumps(calibrator.to_json())})
    return name


def add_ensemble(run: Run, parsers: Sequence[str], min_share: float = 0.5) -> str:
    """Add `ensemble(parsers=…)` to a run: the tables that enough of the parsers see. Returns its name."""
    for parser in parsers:
        _known(run, parser)
    if len(set(parsers)) < 2:
        raise UsageError("An ensemble needs at least two parsers.")
    name = f"ensemble(parsers={'+'.join(parsers)})"

    def change(outputs: dict[str, ParseRecord]) -> bytes | None:
        read = [
            read_raw(run.raw(record.blob), record.sample, p)
            if (record := outputs.get(p)) is not None and record.blob is not None
            else Prediction("", p, Status.PARSER_FAILED)
            for p in parsers
        ]
        if not any(prediction.status is Status.OK for prediction in read):
            return None
        elements = [_raw_table(e) for e in vote(read, min_share)]
        return json.dumps({"format": "elements", "elements": elements}, ensure_ascii=False).encode()

    _add(run, name, list(parsers), change, {"min_share": min_share})
    return name


def _known(run: Run, parser: str) -> None:
    if run.manifest.parser(parser) is None:
        raise UnknownNameError("parser", parser, [p.name for p in run.manifest.parsers])


def _add(
    run: Run,
    name: str,
    sources: Sequence[str],
    change: Callable[[dict[str, ParseRecord]], bytes | None],
    settings: dict[str, Any],
) -> None:
    by_sample: dict[str, dict[str, ParseRecord]] = {}
    for record in run.records():
        if record.parser in sources:
            by_sample.setdefault(record.sample, {})[record.parser] = record
    with run.journal() as journal:
        for sample, outputs in sorted(by_sample.items()):
            journal.append(_record(run, sample, name, outputs, change(outputs)).to_json())
    run.fold_journals()
    prints = [entry.fingerprint for p in sources if (entry := run.manifest.parser(p)) is not None]
    entry = ParserEntry(
        name=name,
        fingerprint=f"made of {' '.join(prints)} {json.dumps(settings, sort_keys=True)}",
        settings=settings,
    )
    run.update_manifest(lambda manifest: manifest.with_parser(entry))


def _record(
    run: Run, sample: str, name: str, outputs: dict[str, ParseRecord], raw: bytes | None
) -> ParseRecord:
    """What all of the sources took together is what this one takes."""
    wall = [r.wall_s for r in outputs.values() if r.wall_s is not None]
    cpu = [r.cpu_s for r in outputs.values() if r.cpu_s is not None]
    cost = [r.cost_usd for r in outputs.values() if r.cost_usd is not None]
    blob = None if raw is None else run.blobs.put(raw)
    return ParseRecord(
        sample,
        name,
        Status.PARSER_FAILED if blob is None else Status.OK,
        "derived" if blob is None else work_key(blob, 1, name),
        blob=blob,
        n_bytes=len(raw or b""),
        wall_s=sum(wall) if wall else None,
        cpu_s=sum(cpu) if cpu else None,
        cost_usd=sum(cost) if cost else None,
        error="None of its parsers has an output for this page." if blob is None else None,
        finished=time.time(),
    )


def _raw_table(element: Element) -> dict[str, Any]:
    table = element.table
    cells = [
        {"row": c.row, "col": c.col, "rowspan": c.rowspan, "colspan": c.colspan, "text": c.text}
        for c in (table.cells if table is not None else ())
    ]
    box = None if element.box is None else list(element.box.as_tuple())
    return {"category": "table", "box": box, "confidence": element.confidence, "cells": cells}
