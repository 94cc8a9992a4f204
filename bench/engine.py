"""What the engine costs: its overhead over the parsers' own CPU time, and scoring of stored predictions."""

import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import polars as pl

from parsemark.corpora import Corpus, load_corpus
from parsemark.engine.events import Events
from parsemark.engine.parsing.parse import ParseOptions, add_samples, open_run, parse_corpus
from parsemark.engine.scoring.chunk import score_chunk
from parsemark.engine.scoring.score import _chunks, score_run
from parsemark.model import Element, Sample, Status
from parsemark.parsers import DEFAULT_PARSERS, get_parser
from parsemark.store import ParseRecord, Run, RunFolder, schema_of
from parsemark.system.processes import (
    Confinement,
    run_program,
    tool_environment,
    tool_rights,
    why_not_confined,
)

N_TABLES = 10_000
N_PARSERS = 8
SCORING_AIM_S = 60.0
WITHOUT_READER = "tables(metrics=grits_con+teds+grits_top)"
TABLE_AIMS_MS = {WITHOUT_READER: 3.0, "tables": 6.0}
"""One predicted table: raw output read, three rules matched, pairs scored, rows written."""
OVERHEAD_AIM = 0.05
PAGE_AIM_S = 0.05
"""All that `bench` itself does for a page, its share of starting included, report and all."""
N_PAGES = 200
NOTHING = """# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.parsemark]
# about = "nothing"
# licence = "MIT"
# gives = ["markdown"]
# ///
from parsemark_worker import serve, text_output

serve(lambda pdf, page, options: text_output("markdown", "word"))
"""
CONFINED_AIM_MS = 30.0
N_STARTS = 50


def main(corpus: str = "demo") -> bool:
    loaded = load_corpus(corpus)
    with tempfile.TemporaryDirectory() as folder:
        met, cpu_s = measure_scoring(Path(folder) / "scoring", loaded)
        share = measure_overhead(Path(folder) / "parsing", loaded)
        met = measure_page(Path(folder) / "nothing", loaded) and met
    return measure_confinement() and met and cpu_s < SCORING_AIM_S and share < OVERHEAD_AIM


def measure_page(folder: Path, corpus: Corpus) -> bool:
    """Return whether `bench` with a parser that does nothing takes no more for a page than it may."""
    documents = folder / "documents"
    documents.mkdir(parents=True)
    files = sorted({sample.pdf for sample in corpus.samples() if sample.pdf})
    for k in range(N_PAGES):  # each page a document of its own: nothing is shared
        shutil.copy(files[k % len(files)], documents / f"d{k}.pdf")
    (folder / "nothing.py").write_text(NOTHING)
    places = [
        "--corpus",
        f"folder:{documents}",
        "--parser",
        str(folder / "nothing.py"),
        "--out",
        str(folder / "run"),
    ]
    command = [sys.executable, "-m", "parsemark", "bench", *places, "--protocol", "tables", "--no-cache"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    n = Run.open(folder / "run").table("samples").height
    spent = (sum(after[:2]) - sum(before[:2])) / n
    print(f"bench with a parser that does nothing: {spent:.3f} s CPU a page, {n} pages (aim <= {PAGE_AIM_S})")
    return spent <= PAGE_AIM_S


def measure_confinement() -> bool:
    """Return whether confining a program adds no more to its start than it may."""
    if (why := why_not_confined()) is not None:
        print(f"programs cannot be confined here: {why}")
        return True
    with tempfile.TemporaryDirectory() as folder:
        rights = tool_rights([], [folder], cpu_s=60, memory_mb=512, file_mb=10)
        free_ms, confined_ms = (start_cpu_ms(Path(folder), given) for given in (None, rights))
    added_ms = confined_ms - free_ms
    print(
        f"start of a program: {free_ms:.1f} ms CPU supervised, {confined_ms:.1f} ms confined as well: "
        f"confinement adds {added_ms:.1f} ms (aim <= {CONFINED_AIM_MS:.0f})"
    )
    return added_ms <= CONFINED_AIM_MS


def start_cpu_ms(folder: Path, rights: Confinement | None) -> float:
    """Return CPU time of a program that does nothing, with all that starts and ends it."""
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) + time.process_time()
    for _ in range(N_STARTS):
        run_program(["true"], rights, cwd=folder, env=tool_environment(folder), timeout_s=600)
    after = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) + time.process_time()
    return 1000 * (after - before) / N_STARTS


def measure_scoring(out: Path, corpus: Corpus) -> tuple[bool, float]:
    """Return whether a table costs what it may, and CPU seconds for 10,000 of them, summary included."""
    run, n_tables = store_predictions(out, corpus)
    score_page_once(run)
    met = True
    for spec, aim_ms in TABLE_AIMS_MS.items():
        before = time.process_time()
        for chunk in _chunks(run, (spec,), Events()):
            score_chunk(chunk)
        chunks_s = time.process_time() - before
        per_table = 1000 * chunks_s / n_tables
        met = met and per_table <= aim_ms
        print(f"{spec}: {per_table:.2f} ms CPU for a predicted table (aim <= {aim_ms:.0f})")
    before = time.process_time()
    score_run(run)  # all chunks are done: this puts the tables together and summarises
    total_s = chunks_s + time.process_time() - before
    print(
        f"scoring {n_tables} predicted tables: {total_s:.1f} s CPU, of which {total_s - chunks_s:.1f} s for "
        f"tables and summary (aim < {SCORING_AIM_S:.0f} s)"
    )
    return met, total_s


def score_page_once(run: Run) -> None:
    """Import what is imported on first use, and load the kernels."""
    chunk = next(_chunks(run, ("tables",), Events())[0].split())
    score_chunk(chunk)


def store_predictions(out: Path, corpus: Corpus) -> tuple[Run, int]:
    """Return a run in which pretended parsers answer with damaged truths, on as many copies of pages as
    needed.
    """
    rng = random.Random(0)
    once = list(corpus.samples())
    n_once = sum(len(sample.truth.tables) for sample in once if sample.truth)
    n_copies = -(-N_TABLES // (n_once * N_PARSERS))
    copies = [
        replace(sample, id=f"{sample.id}-{copy}", document=f"{sample.document}-{copy}")
        for copy in range(n_copies)
        for sample in once
    ]
    large = Corpus.of("copies", copies, root=corpus.root, version="1", licence=corpus.licence)
    run = open_run(out, large, ParseOptions())
    add_samples(run, large, None)
    n_tables = 0
    records = []
    for parser in range(N_PARSERS):
        for sample in copies:
            elements = [damaged(rng, e) for e in sample.truth.tables] if sample.truth else []
            n_tables += len(elements)
            records.append(record(run, sample, f"pretended-{parser}", elements).to_json())
    RunFolder.of(run).write_table("parses", pl.DataFrame(records, schema=schema_of("parses")))
    return run, n_tables


def record(run: Run, sample: Sample, parser: str, elements: list[dict]) -> ParseRecord:
    raw = json.dumps({"format": "elements", "elements": elements}).encode()
    return ParseRecord(sample.id, parser, Status.OK, parser, blob=RunFolder.of(run).blobs.put(raw), cpu_s=0.1)


def damaged(rng: random.Random, truth: Element) -> dict:
    """Return the table as a middling parser would give it: characters lost, cells missing, the box off by
    some.
    """
    cells = []
    for cell in truth.table.cells if truth.table else ():
        if rng.random() < 0.05:
            continue
        text = cell.text[: rng.randint(0, len(cell.text))] if rng.random() < 0.2 else cell.text
        place = {"row": cell.row, "col": cell.col, "rowspan": cell.rowspan, "colspan": cell.colspan}
        cells.append({**place, "text": text})
    box = [v + rng.uniform(-10, 10) for v in truth.box.as_tuple()] if truth.box else None
    return {"category": "table", "box": box and [box[0], box[1], box[2] + 20, box[3] + 20], "cells": cells}


def measure_overhead(out: Path, corpus: Corpus) -> float:
    """Return our own CPU time while parsers run, as a share of theirs."""
    parsers = [get_parser(spec) for spec in DEFAULT_PARSERS]
    for parser in parsers:
        parser.install()
    before = time.process_time()
    run = parse_corpus(out, corpus, parsers, ParseOptions())
    ours = time.process_time() - before
    theirs = float(run.table("parses")["cpu_s"].sum())
    n = run.table("parses").height
    print(
        f"engine: {ours:.2f} s CPU for {n} pages of {len(parsers)} parsers, which took {theirs:.1f} s "
        f"themselves: {ours / theirs:.1%} (aim < {OVERHEAD_AIM:.0%})"
    )
    return ours / theirs
