"""A synthetic run directory, for tests of what reads runs: plausible, deterministic, made in milliseconds."""

import json
import random
from pathlib import Path
from typing import Any

import polars as pl

from parsemark.formats.model_json import prediction_to_json
from parsemark.model import Box, Cell, Element, Page, Prediction, Sample, Status, Table
from parsemark.protocols.tables import TablesProtocol
from parsemark.store import (
    CorpusEntry,
    Manifest,
    ParseRecord,
    ParserEntry,
    Run,
    RunFolder,
    RunLimits,
    sample_to_row,
    schema_of,
    work_key,
)
from parsemark.system.files import file_sha256

METRICS = ("teds", "grits_top", "grits_con")
WORDS = ["alpha", "beta", "1.12", "−2.8", "42", "total", "mean", "€", "<b>bold</b>", "α", "x²"]


def fabricate_manifest(n_samples: int = 4, parsers: tuple[str, ...] = ()) -> Manifest:
    return Manifest(
        command=["parsemark", "bench"],
        created="2026-01-02T03:04:05+00:00",
        code_version="0.1.0",
        corpus=CorpusEntry(name="demo", version="1", hash="c0ffee", spec="demo", n_samples=n_samples),
        parsers=[
            ParserEntry(name=name, fingerprint=f"fp-{name}", versions={name: "1.0"}, licence="MIT")
            for name in parsers
        ],
        limits=RunLimits(timeout_s=60, memory_mb=4096),
        protocols=["tables"],
        machine={"platform": "Linux", "cpus": 2},
    )


def fabricate_run(
    path: Path,
    n_pages: int = 12,
    parsers: tuple[str, ...] = ("good", "fair", "poor"),
    *,
    seed: int = 0,
    pdf: Path | None = None,
) -> Run:
    """A scored run of `n_pages` × `parsers`: every fourth page has no table; the last parser fails at times.

    Args:
        path: The run directory to make.
        n_pages: Number of samples.
        parsers: Their names, from good to bad.
        seed: Equal seeds give equal runs.
        pdf: A PDF that all samples show, each in a file of its own (equal files would be one document).
    """
    rng = random.Random(seed)
    run = Run.create(path, fabricate_manifest(n_pages, parsers))
    pdfs = [_own_pdf(pdf, path.with_name(f"{path.name}-pdfs"), k) for k in range(n_pages)]
    samples = [_sample(rng, index, own) for index, own in enumerate(pdfs)]
    RunFolder.of(run).add_samples(
        sample_to_row(sample, file_sha256(own) if own else f"{k:064x}")
        for k, (sample, own) in enumerate(zip(samples, pdfs, strict=True))
    )
    predictions, matches, scores = [], [], []
    with RunFolder.of(run).parses.journal() as journal:
        for rank, parser in enumerate(parsers):
            for sample in samples:
                prediction = _prediction(rng, sample, parser, rank, len(parsers))
                journal.append(_record(rng, run, sample, prediction).to_json())
                predictions.append(prediction)
                for rule in ("bbox", "content"):
                    _score(rng, sample, prediction, rule, rank, matches, scores)
    RunFolder.of(run).parses.fold()
    rows = [
        {
            "sample": p.sample,
            "parser": p.parser,
            "status": str(p.status),
            "message": p.message,
            "prediction": json.dumps(prediction_to_json(p)),
        }
        for p in predictions
    ]
    RunFolder.of(run).write_table("predictions", pl.DataFrame(rows, schema=schema_of("predictions")))
    RunFolder.of(run).write_table("matches", pl.DataFrame(matches, schema=schema_of("matches")))
    RunFolder.of(run).write_table("scores", pl.DataFrame(scores, schema=schema_of("scores")))
    RunFolder.of(run).write_summary(TablesProtocol().summarise(run.run_tables("tables")))
    return run


def _own_pdf(pdf: Path | None, folder: Path, index: int) -> Path | None:
    if pdf is None:
        return None
    folder.mkdir(exist_ok=True)
    copy = folder / f"{index}.pdf"
    copy.write_bytes(pdf.read_bytes() + f"\n% {index}\n".encode())
    return copy


def _sample(rng: random.Random, index: int, pdf: Path | None) -> Sample:
    tables = 0 if index % 4 == 3 else 1 + index % 2
    elements = tuple(
        Element(
            id=f"t{n}",
            category="table",
            box=Box(72, 100 + 300 * n, 520, 350 + 300 * n),
            order=n,
            table=_table(rng),
            attributes={"lines": rng.choice(["full", "some", "none"])},
        )
        for n in range(tables)
    )
    attributes = {"columns": 1 + index % 2, "scan": index % 5 == 4, "language": "en"}
    page = Page(f"page-{index:03d}", 595, 842, elements, attributes=attributes)
    return Sample(page.id, f"doc-{index // 2:03d}", 1, page, pdf)


def _table(rng: random.Random) -> Table:
    n_rows, n_cols = rng.randint(3, 6), rng.randint(2, 5)
    cells = [Cell(0, 0, "Head over all", colspan=n_cols, header=True)]
    cells += [
        Cell(row, col, rng.choice(WORDS), header=row == 1)
        for row in range(1, n_rows)
        for col in range(n_cols)
    ]
    return Table(n_rows, n_cols, tuple(cells))


def _prediction(rng: random.Random, sample: Sample, parser: str, rank: int, n: int) -> Prediction:
    if rank == n - 1 and rng.random() < 0.2:
        status = rng.choice([Status.PARSER_FAILED, Status.PARSER_TIMEOUT])
        return Prediction(sample.id, parser, status, message="Worker ended with code 139 (SIGSEGV).")
    assert sample.truth is not None
    elements = []
    for index, truth in enumerate(sample.truth.tables):
        if rng.random() < 0.12 * rank:
            continue
        assert truth.table is not None and truth.box is not None
        cells = tuple(
            Cell(c.row, c.col, c.text if rng.random() > 0.1 * rank else c.text[::-1], c.rowspan, c.colspan)
            for c in truth.table.cells
        )
        confidence = round(rng.uniform(0.4, 1.0), 3) if rank == 1 else None
        table = Table(truth.table.n_rows, truth.table.n_cols, cells)
        box = truth.box.expanded(rng.uniform(0, 4 * rank))
        elements.append(Element(f"p{index}", "table", box, index, table=table, confidence=confidence))
    if rng.random() < 0.1 * rank:
        table = Table.from_rows([["not", "a table"]])
        elements.append(Element(f"p{len(elements)}x", "table", Box(10, 10, 90, 40), table=table))
    return Prediction(sample.id, parser, Status.OK, tuple(elements))


def _record(rng: random.Random, run: Run, sample: Sample, prediction: Prediction) -> ParseRecord:
    ok = prediction.status is Status.OK
    raw = json.dumps({"format": "elements", "elements": [e.id for e in prediction.elements]}).encode()
    return ParseRecord(
        sample.id,
        prediction.parser,
        prediction.status,
        work_key("0" * 64, 1, f"fp-{prediction.parser}"),
        blob=RunFolder.of(run).blobs.put(raw) if ok else None,
        n_bytes=len(raw) if ok else 0,
        wall_s=rng.uniform(0.05, 0.5),
        cpu_s=rng.uniform(0.05, 0.4),
        peak_memory_mb=rng.uniform(50, 400),
        attempts=1 if ok else 2,
        error=prediction.message,
        stderr_tail=None if ok else "Segmentation fault",
        finished=1.0,
    )


def _score(
    rng: random.Random,
    sample: Sample,
    prediction: Prediction,
    rule: str,
    rank: int,
    matches: list[dict[str, Any]],
    scores: list[dict[str, Any]],
) -> None:
    assert sample.truth is not None
    preds = {e.id: e for e in prediction.tables}
    pairs = [(t.id, f"p{n}" if f"p{n}" in preds else None) for n, t in enumerate(sample.truth.tables)]
    taken = {pred for _, pred in pairs}
    both: list[tuple[str | None, str | None]] = [*pairs, *((None, p) for p in preds if p not in taken)]
    base = {"sample": sample.id, "parser": prediction.parser, "rule": rule, "category": "table"}
    for truth, pred in both:
        kind = "miss" if pred is None else "extra" if truth is None else "pair"
        overlap = rng.uniform(0.6, 1.0) if kind == "pair" else None
        confidence = preds[pred].confidence if pred else None
        sides = {"truth": [truth] if truth else [], "pred": [pred] if pred else []}
        matches.append({**base, **sides, "kind": kind, "overlap": overlap, "confidence": confidence})
        failed = prediction.status is not Status.OK
        missing = prediction.status if failed else Status.NO_PREDICTION
        status = {"pair": Status.OK, "extra": Status.NO_TRUTH, "miss": missing}[kind]
        for metric in METRICS:
            value = max(0.0, min(1.0, rng.gauss(0.95 - 0.15 * rank, 0.08))) if kind == "pair" else None
            ids = {"element": truth or pred, "pred": pred or ""}
            row = {**base, **ids, "metric": metric, "value": value, "status": str(status), "message": None}
            scores.append(row)
