"""Parsers that are made of others' stored outputs: calibrated ones, estimated ones, and an ensemble.

They stand in the run as parsers of their own, so that all figures and pages of the report show them beside
the ones that they are made of. Nothing is parsed again.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parsemark.consensus.ensemble import elect, estimate_rates
from parsemark.consensus.table_votes import find_candidates
from parsemark.engine.derived.estimated import signals
from parsemark.engine.import_outputs import table_element
from parsemark.engine.scoring.chunk import read_record
from parsemark.errors import UsageError, require_known
from parsemark.model import Element, Prediction, Status
from parsemark.parsers import read_raw
from parsemark.specs import Spec, is_derived, parse_spec
from parsemark.stats.parser_confidence import Calibrator
from parsemark.store import ParseRecord, ParserEntry, Run, RunFolder, work_key

ENSEMBLE_MIN = 0.05  # an ensemble leaves out what is less probable; up to one half it is only ranked


@dataclass(frozen=True, slots=True)
class JudgedTables:
    """The predicted tables of a parser, and which of them are right."""

    confidence: tuple[float, ...]
    correct: tuple[bool, ...]
    documents: tuple[str, ...]
    n_truth: int


def judged_tables(run: Run, parser: str, rule: str = "bbox", at: float = 0.5) -> JudgedTables:
    """Return a parser's tables, right where they overlap a true one by over `at`; UsageError without
    confidences.
    """
    found, n_truth = _matched(run, parser, rule, at)
    sure = [table for table in found if table.confidence is not None]
    if not sure:
        raise UsageError(
            f"{parser} reports no confidences in this run; `parsemark score {run.path} "
            "--add estimated` estimates them."
        )
    return JudgedTables(
        tuple(t.confidence for t in sure if t.confidence is not None),
        tuple(t.correct for t in sure),
        tuple(t.document for t in sure),
        n_truth,
    )


@dataclass(frozen=True, slots=True)
class _Matched:
    """A predicted table in a scored run."""

    sample: str
    document: str
    ids: tuple[str, ...]
    confidence: float | None
    correct: bool


def _matched(run: Run, parser: str, rule: str, at: float) -> tuple[list[_Matched], int]:
    """Return the predicted tables of a parser, and the number of true ones."""
    _known(run, parser)
    documents = dict(run.table("samples").select("sample", "document").iter_rows())
    matches = run.table("matches").filter(parser=parser, rule=rule, category="table")
    found = [
        _Matched(
            *(row["sample"], documents[row["sample"]], tuple(row["pred"]), row["confidence"]),
            bool(row["truth"]) and (row["overlap"] or 0.0) > at,
        )
        for row in matches.filter(pl.col("pred").list.len() > 0).iter_rows(named=True)
    ]
    return found, sum(len(truth) for truth in matches["truth"].to_list())


def add_calibrated(
    run: Run, parser: str, calibrator: Calibrator, unseen: Mapping[str, Calibrator] | None = None
) -> str:
    """Add `calibrated(parser=…)` to a run: the same tables with calibrated confidences. Returns its name.
    `unseen`: in the run that the calibrator was fitted on, for each document one that has not seen it.
    """
    _known(run, parser)
    name = f"calibrated(method={calibrator.method}, parser={parser})"
    documents = dict(run.table("samples").select("sample", "document").iter_rows()) if unseen else {}

    def change(outputs: dict[str, ParseRecord]) -> bytes | None:
        record = outputs[parser]
        if record.blob is None:
            return None
        data = json.loads(run.raw(record.blob))
        fitting = (unseen or {}).get(documents.get(record.sample, ""), calibrator)
        for item in data.get("elements") or []:
            if isinstance(item, dict) and isinstance(item.get("confidence"), int | float):
                item["confidence"] = float(np.clip(fitting([item["confidence"]])[0], 0.0, 1.0))
        return json.dumps(data, ensure_ascii=False).encode()

    _add(run, name, [parser], change, {"calibrator": json.dumps(calibrator.to_json())})
    return name


def add_ensemble(run: Run, parsers: Sequence[str], min_confidence: float = ENSEMBLE_MIN) -> str:
    """Add an ensemble to a run: what the parsers see together, where it is at least so probable. Returns its
    name.

    One of all parsers of the run is called `ensemble`, of some of them `ensemble(parsers=…)`; the manifest
    says in both cases which they are.
    """
    for parser in parsers:
        _known(run, parser)
    if len(set(parsers)) < 2:
        raise UsageError("An ensemble needs at least two parsers.")
    everyone = {p.name for p in run.manifest.parsers if not is_derived(p.name)}
    options = {} if set(parsers) == everyone else {"parsers": "+".join(parsers)}
    if min_confidence != ENSEMBLE_MIN:
        options["min_confidence"] = f"{min_confidence:g}"
    listed = ",".join(f"{key}={value}" for key, value in sorted(options.items()))
    name = f"ensemble({listed})" if listed else "ensemble"
    by_sample = {sample: find_candidates(seen) for sample, seen in _predictions(run, parsers)}
    engine_rates = estimate_rates(
        [c for found in by_sample.values() for c in found], parsers, run.manifest.engines
    )

    def change(outputs: dict[str, ParseRecord]) -> bytes | None:
        sample = next(iter(outputs.values())).sample
        if sample not in by_sample:
            return None
        elements = [_raw_table(e) for e in elect(by_sample[sample], engine_rates, min_confidence)]
        return json.dumps({"format": "elements", "elements": elements}, ensure_ascii=False).encode()

    settings = {"min_confidence": min_confidence, "parsers": "+".join(parsers)}
    _add(run, name, list(parsers), change, settings)
    return name


def add_routed(run: Run, parser_of: Mapping[str, str]) -> str:
    """Add `routed` to a run: on each page the output of the parser that a rule names for it."""

    def change(outputs: dict[str, ParseRecord]) -> bytes | None:
        (record,) = outputs.values()
        return None if record.blob is None else run.raw(record.blob)

    sources = sorted(set(parser_of.values()))
    settings = {"parsers": "+".join(sources)}
    _add(run, "routed", sources, change, settings, only=parser_of)
    return "routed"


# --- Estimated confidences ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Signals:
    """The tables of parsers of a run, with what speaks for and against each."""

    parsers: tuple[str, ...]
    documents: tuple[str, ...]
    samples: tuple[str, ...]
    elements: tuple[str, ...]
    features: NDArray[np.float64]
    correct: tuple[bool | None, ...]  # None where nothing is known: no scores, or no truth of the page


def read_signals(run: Run, parsers: Sequence[str]) -> Signals:
    """Return `estimated.signals` of every table of some parsers, and whether the table is right.

    Right is a table that overlaps a true one by half; for a parser or a corpus without boxes, one that is
    matched by its content.
    """
    tools = [p.name for p in run.manifest.parsers if not is_derived(p.name)]
    for parser in parsers:
        _known(run, parser)
    verdicts = {parser: _verdicts(run, parser) for parser in parsers}
    rows = {row["sample"]: row for row in run.table("samples").iter_rows(named=True)}
    columns: list[tuple[str, str, str, str, NDArray[np.float64], bool | None]] = []
    for sample, predictions in _predictions(run, tools):
        row = rows[sample]
        has_pdf = row["pdf"] and Path(row["pdf"]).is_file()
        page = (Path(row["pdf"]), int(row["page_number"])) if has_pdf else None
        for parser in parsers:
            if parser in predictions:
                for element, features in signals(parser, predictions, run.manifest.engines, page):
                    right = verdicts[parser].get((sample, element.id))
                    columns.append((parser, row["document"], sample, element.id, features, right))
    if not columns:
        raise UsageError("This run has no tables to estimate confidences for.")
    names, documents, samples, elements, found, correct = zip(*columns, strict=True)
    return Signals(names, documents, samples, elements, np.stack(found), correct)


def _predictions(run: Run, parsers: Sequence[str]) -> Iterator[tuple[str, dict[str, Prediction]]]:
    by_sample: dict[str, dict[str, Prediction]] = {}
    wanted = set(parsers)
    for record in run.records():
        if record.parser in wanted and (read := read_record(run, record)).status is Status.OK:
            by_sample.setdefault(record.sample, {})[record.parser] = read
    yield from sorted(by_sample.items())


def _verdicts(run: Run, parser: str) -> dict[tuple[str, str], bool]:
    """Return which tables are right, by place where any of the parser's is matched by place, else by
    content.
    """
    for rule, at in (("bbox", 0.5), ("ngrams", 0.0)):
        found, _ = _matched(run, parser, rule, at)
        if any(table.correct for table in found):
            return {(table.sample, i): table.correct for table in found for i in table.ids}
    return {}


def add_estimated(run: Run, parser: str, confidence: Mapping[tuple[str, str], float], source: str) -> str:
    """Add `estimated(parser=…)` to a run: the same tables, each with a confidence of ours. Returns its name.
    `source` says where the confidences, by sample and element, come from.
    """
    _known(run, parser)
    name = f"estimated(parser={parser})"

    def change(outputs: dict[str, ParseRecord]) -> bytes | None:
        record = outputs[parser]
        if record.blob is None:
            return None
        raw = json.loads(run.raw(record.blob))
        if raw.get("format") == "elements":
            items = [
                {**item, "confidence": confidence.get((record.sample, f"p{number}"), item.get("confidence"))}
                if isinstance(item, dict) and item.get("category") == "table"
                else item
                for number, item in enumerate(raw.get("elements") or [], start=1)
            ]
            return json.dumps({**raw, "elements": items}, ensure_ascii=False).encode()
        read = read_raw(run.raw(record.blob), record.sample, parser)
        items = [{**_raw_table(e), "confidence": confidence.get((record.sample, e.id))} for e in read.tables]
        made = {"format": "elements", "elements": items, "content": read.text, "content_format": read.format}
        return json.dumps(made, ensure_ascii=False).encode()

    _add(run, name, [parser], change, {"confidence": "ours", "source": source})
    return name


# --- As parsers of a command ----------------------------------------------------------------------------


def split_specs(specs: str | Sequence[str]) -> tuple[list[str], list[Spec]]:
    """Return the parsers to run, with members of ensembles, and the ensembles to make (of all others by
    default).
    """
    run: list[str] = []
    made: list[Spec] = []
    for text in [specs] if isinstance(specs, str) else specs:
        if not is_derived(text):
            run.append(text)
            continue
        spec = parse_spec(text)
        if spec.name != "ensemble":
            raise UsageError(
                f"{spec.name}(…) is derived from a scored run: parsemark score RUN --add {text!r}"
            )
        for key in spec.as_dict():
            if key not in ("parsers", "min_confidence"):
                raise UsageError(f"Parser 'ensemble' has no option {key!r}; it has: min_confidence, parsers.")
        made.append(spec)
    members = [member for spec in made for member in _members(spec)]
    run += [member for member in dict.fromkeys(members) if member not in run]
    return run, made


def _members(spec: Spec) -> list[str]:
    return [m for m in str(spec.as_dict().get("parsers", "")).split("+") if m]


def add_made_of_others(run: Run, specs: Sequence[Spec], parsers: Sequence[str]) -> list[str]:
    """Add the ensembles of a command (`split_specs`) to its run; `parsers` are the names of what was run."""
    added = []
    for spec in specs:
        members = _members(spec) or list(parsers)
        least = spec.as_dict().get("min_confidence", ENSEMBLE_MIN)
        if not isinstance(least, int | float) or isinstance(least, bool) or not 0 <= least <= 1:
            raise UsageError(f"Option 'min_confidence' of 'ensemble' must be from 0 to 1, not {least!r}.")
        added.append(add_ensemble(run, members, float(least)))
    return added


def _known(run: Run, parser: str) -> None:
    require_known("parser", parser, run.manifest.parser_names)


def _add(
    run: Run,
    name: str,
    sources: Sequence[str],
    change: Callable[[dict[str, ParseRecord]], bytes | None],
    settings: dict[str, Any],
    only: Mapping[str, str] | None = None,
) -> None:
    by_sample: dict[str, dict[str, ParseRecord]] = {}
    for record in run.records():
        if record.parser in sources and (only is None or only.get(record.sample) == record.parser):
            by_sample.setdefault(record.sample, {})[record.parser] = record
    with RunFolder.of(run).parses.journal() as journal:
        for sample, outputs in sorted(by_sample.items()):
            journal.append(_record(run, sample, name, outputs, change(outputs)).to_json())
    RunFolder.of(run).parses.fold()
    prints = [entry.fingerprint for p in sources if (entry := run.manifest.parser(p)) is not None]
    entry = ParserEntry(
        name=name,
        fingerprint=f"made of {' '.join(prints)} {json.dumps(settings, sort_keys=True)}",
        settings=settings,
    )
    RunFolder.of(run).update_manifest(lambda manifest: manifest.with_parser(entry))


def _record(
    run: Run, sample: str, name: str, outputs: dict[str, ParseRecord], raw: bytes | None
) -> ParseRecord:
    """Return a record with the sum of the sources' times and costs."""
    wall = [r.wall_s for r in outputs.values() if r.wall_s is not None]
    cpu = [r.cpu_s for r in outputs.values() if r.cpu_s is not None]
    cost = [r.cost_usd for r in outputs.values() if r.cost_usd is not None]
    blob = None if raw is None else RunFolder.of(run).blobs.put(raw)
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
    box = None if element.box is None else list(element.box.as_tuple())
    return {**table_element(element.table), "box": box, "confidence": element.confidence}
