"""The scoring stage: stored outputs to predictions, matches, scores and the summary. Parses nothing.

Pages are scored in chunks by a pool of processes. Each chunk leaves part files, which are put together at
the end; a run that was killed while scoring goes on with the chunks that are missing. Several processes may
score one run: what is put together is checked, under a lock, to follow from the records as they are then, so
that no slow process writes an old state over a new one.

The driver's memory does not grow with truths, outputs or records: of each chunk it knows where its pages
stand in `samples.parquet` and the identity of the work, and reads it when its turn comes.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parsemark.engine.cluster import RayPool, require_executor
from parsemark.engine.events import Events
from parsemark.engine.scoring.chunk import (
    Chunk,
    Output,
    PageTask,
    PartFiles,
    grouped,
    pack,
    read_record,
    score_chunk,
    score_packed,
    write_parts,
)
from parsemark.errors import PluginError, StoreError
from parsemark.model import Prediction, Status
from parsemark.plain_words import counted
from parsemark.protocols import DEFAULT_PROTOCOLS, PROTOCOLS, Summary, WholeRun, canonical_specs, get_protocol
from parsemark.protocols.run_data.broken_pages import complete_summary
from parsemark.specs import parse_spec, plugins_loaded
from parsemark.store import Run, RunFolder
from parsemark.store.tables import NOT_PARSED, PROTOCOL_TABLES
from parsemark.system import make_folder, remove_tree
from parsemark.system.files import shared
from parsemark.system.pool import Lost, ProcessPool, Template

Pool = ProcessPool[Chunk] | RayPool[Chunk]  # processes of this machine, or a cluster

CHUNK_OUTPUTS = 256  # at most in one chunk; a small run has smaller ones, so that all processes have work
_MIN_CHUNK_OUTPUTS = 16
_CHUNKS_WANTED = 16
TIMEOUT_S = 120.0  # for one chunk, and for one page of a chunk that took longer
MEMORY_MB = 16_384
_OPTIMISTIC_ROUNDS = 2
"""How often scoring starts over because somebody has added to the run, before it keeps others out."""
_READ_PAGES = 256  # how many pages are read together while the plan is made
_RECORD = ("sample", "parser", "status", "blob", "error")
_NO_OUTPUT = "The record says ok, but there is no output."
Rows = NDArray[np.int64]


def score_run(
    run: Run,
    *,
    protocols: Sequence[str] | None = None,
    n_workers: int | None = None,
    events: Events | None = None,
    executor: str = "local",
    address: str | None = None,
    template: Template | None = None,
) -> list[Summary]:
    """Score everything that a run has parsed, write the tables and the summary of each protocol, and return
    these.

    The protocols are by default those of the run; what it has of others stays. `executor` is `local`, or
    `ray` for a cluster (None as its address starts one here), with the same result. The template forks the
    processes, see `ready_to_score`.
    """
    events = events or Events()
    for repeat in run.repeats:  # whose scores those of the run are made of
        score_run(
            repeat,
            protocols=protocols or run.manifest.protocols,
            n_workers=n_workers,
            events=events,
            executor=executor,
            address=address,
            template=template,
        )
    specs = tuple(canonical_specs(protocols or run.manifest.protocols or DEFAULT_PROTOCOLS))
    RunFolder.of(run).update_manifest(lambda manifest: manifest.with_protocols(specs))
    make_pool = _pool_maker(executor, address, n_workers, template)
    session = ""  # what all processes share that score by asking
    if any(get_protocol(spec).asks for spec in specs):
        from parsemark.judges.ask import session_name

        session = session_name()
    by_spec = _prepared(run, specs, events)
    scoring = tuple(by_spec.values())
    with shared(run.path / ".parts.lock") as nobody_else_scores:
        for _ in range(_OPTIMISTIC_ROUNDS):
            plan = _chunks(run, scoring, events)
            final = _score_all(plan, session, make_pool, events)
            with RunFolder.of(run).publishing():
                # Whether what was scored is what the run holds now, and the parts have not been removed.
                if _plan(run, scoring).keys == plan.keys and all(files.are_there() for files in final):
                    return _publish(run, by_spec, final, nobody_else_scores, events)
            events.note("The run changed during scoring: scoring the new outputs.")
        with RunFolder.of(
            run
        ).publishing():  # it keeps changing: now no other process may publish until we have
            final = _score_all(_chunks(run, scoring, events), session, make_pool, events)
            return _publish(run, by_spec, final, nobody_else_scores, events)


def _prepared(run: Run, specs: tuple[str, ...], events: Events) -> dict[str, str]:
    """Return for each spec the one that scores single pages: another where a protocol needs the whole run."""
    found = {spec: get_protocol(spec) for spec in specs}
    if any(protocol.needs_whole_run for protocol in found.values()):
        records = {(record.sample, record.parser): record for record in run.records()}

        def prediction(sample: str, parser: str) -> Prediction:
            if (record := records.get((sample, parser))) is None:
                return Prediction(sample, parser, Status.NO_PREDICTION)
            try:
                return read_record(run, record)
            except StoreError as error:
                return Prediction(sample, parser, Status.PARSER_FAILED, message=str(error))

        rows = run.table("samples").select("sample", "document", "page_number").iter_rows()
        folder = make_folder(run.path, "prepared")
        names = tuple(run.manifest.parser_names)
        whole = WholeRun(folder, names, tuple(rows), run.truth, prediction, events.note)
        found = {spec: p.prepared(whole) if p.needs_whole_run else p for spec, p in found.items()}
    return {spec: str(protocol) for spec, protocol in found.items()}


def _publish(
    run: Run,
    by_spec: Mapping[str, str],
    final: Sequence[PartFiles],
    nobody_else_scores: Callable[[], bool],
    events: Events,
) -> list[Summary]:
    """Put the parts together and write what follows from them; a plug-in that fails costs its own summary."""
    RunFolder.of(run).join_parts("predictions", [files.part("predictions") for files in final])
    RunFolder.of(run).parses.note_unreadable()
    summaries: list[Summary] = []
    failed: list[PluginError] = []
    for spec, scoring in by_spec.items():
        for table in PROTOCOL_TABLES:
            RunFolder.of(run).join_parts(table, [files.part(table, scoring) for files in final], spec)
        try:
            summary = complete_summary(get_protocol(scoring), run.run_tables(spec))
            summary = summary.model_copy(update={"protocol": spec})
        except Exception as error:  # the engine's boundary: a plug-in's failure must not cost the others
            name = parse_spec(spec).name
            if not PROTOCOLS.is_plugin(name):
                raise
            events.note(str(PROTOCOLS.broken(name, error)))
            failed.append(PROTOCOLS.broken(name, error))
            continue
        RunFolder.of(run).write_summary(summary)
        summaries.append(summary)
    if failed and not summaries:
        raise failed[0]
    if nobody_else_scores():
        remove_tree(run.path / "parts")
    return summaries


def _plan(run: Run, protocols: tuple[str, ...]) -> ChunkPlan:
    return plan_chunks(run, protocols, CHUNK_OUTPUTS, _MIN_CHUNK_OUTPUTS, _CHUNKS_WANTED)


def _chunks(run: Run, protocols: tuple[str, ...], events: Events) -> ChunkPlan:
    """Return the work to score; report missing outputs."""
    RunFolder.of(run).parses.fold()  # so that records are read in parts, too
    plan = _plan(run, protocols)
    if plan.n_blobs and plan.n_lost == plan.n_blobs:
        raise StoreError(
            f"{run.path} has lost its stored outputs, so it cannot be scored again. If it is a "
            "baseline, score the original run and save it again: parsemark gate RUN --save "
            f"{run.path}. Otherwise restore its folder raw/, or parse again."
        )
    if plan.n_lost:
        lost = f"{counted(plan.n_lost, 'output')} no longer in {run.path / 'raw'}"
        events.note(f"{lost}: such pages count as failed.")
    if plan.n_empty:
        events.note(
            f"{counted(plan.n_empty, 'record')} of {run.path} with status ok but no output: such pages "
            "count as failed. No parse writes such a record, so it was changed afterwards."
        )
    if not plan.parsers:
        raise StoreError(
            f"{run.path} has nothing to score. Parse first: parsemark bench --no-score --out {run.path}"
        )
    for parser, n in plan.missing.items():
        events.note(
            f"{parser}: {n} of {counted(plan.n_pages, 'page')} not parsed; counted as pages without output."
        )
    return plan


def ready_to_score(specs: Iterable[str]) -> Template | None:
    """Return a copy of this process that has imported what these protocols need; only where `is_fresh`.

    None where code of other packages was loaded for them, which may have started threads.
    """
    for spec in specs:
        get_protocol(spec).preload()
    return None if plugins_loaded else Template()


def _pool_maker(
    executor: str, address: str | None, n_workers: int | None, template: Template | None
) -> Callable[[], Pool]:
    require_executor(executor)
    limits: dict[str, Any] = {"timeout_s": TIMEOUT_S, "memory_mb": MEMORY_MB}
    if executor == "ray":
        return lambda: RayPool(
            score_packed, n_workers, address=address, pack=pack, keep=write_parts, **limits
        )
    return lambda: ProcessPool(score_chunk, n_workers or os.cpu_count() or 1, template=template, **limits)


def _score_all(
    plan: ChunkPlan, session: str, make_pool: Callable[[], Pool], events: Events
) -> list[PartFiles]:
    """Score all chunks; returns the files that hold the result, in order."""
    events.scoring(n_pages=plan.n_outputs)
    pieces = [[PartFiles(plan.run.path, plan.protocols, key)] for key in plan.keys]
    open_chunks = [i for i, (files,) in enumerate(pieces) if not files.are_there()]
    events.scored(plan.n_outputs - sum(len(plan.rows[i]) for i in open_chunks) * len(plan.parsers))
    if open_chunks:
        with make_pool() as pool:
            wanted = ((number, replace(plan[number], session=session)) for number in open_chunks)
            _score(wanted, pieces, pool, events)
    return [files for own in pieces for files in own]


def _score(
    wanted: Iterator[tuple[int, Chunk]], pieces: list[list[PartFiles]], pool: Pool, events: Events
) -> None:
    """Score some numbered chunks of a plan, of which few are held at a time; what is lost is tried again in
    pieces. `pieces`: of each chunk the files that hold its rows; of one that was lost those of its pieces.
    """
    origin: dict[str, int] = {}

    def submit(chunk: Chunk, number: int) -> None:
        origin[chunk.key] = number
        pool.submit(chunk)

    for number, chunk in islice(wanted, pool.window):
        submit(chunk, number)
    for result in pool.results():
        number, chunk = origin.pop(result.task.key), result.task
        if isinstance(result, Lost):
            retries = _retries(chunk, result.reason)
            at = pieces[number].index(chunk.files)
            pieces[number][at : at + 1] = [retry.files for retry in retries]
            for retry in retries:
                submit(retry, number)
            continue
        events.scored(chunk.n_outputs)
        for number, following in islice(wanted, 1):
            submit(following, number)


def _retries(chunk: Chunk, reason: str) -> list[Chunk]:
    """In place of a lost chunk: its pages one by one; in place of a single page: the record of its loss, as
    the protocol counts it, and if that is lost too, without asking the protocol.
    """
    if len(pieces := list(chunk.split())) > 1:
        return pieces
    if chunk.pages[0].given_up:
        raise StoreError(f"The failure to score {chunk.pages[0].sample} cannot be recorded: {reason}.")
    again = chunk.pages[0].lost is not None
    return [replace(chunk, pages=tuple(replace(page, lost=reason, given_up=again) for page in chunk.pages))]


# --- The plan -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChunkPlan:
    """The chunks of a run in order; each is read when it is asked for."""

    run: Run
    protocols: tuple[str, ...]
    parsers: tuple[str, ...]
    rows: Sequence[Rows]  # of each chunk the rows of its pages in `samples.parquet`
    keys: Sequence[str]  # of each chunk the identity of its work
    n_pages: int
    missing: Mapping[str, int]  # parser to the number of pages that it was not run on
    n_blobs: int
    n_lost: int  # how many outputs are recorded, and how many of them are not there any more
    n_empty: int  # how many records are called ok and have no output at all; their pages count as failed

    @property
    def n_outputs(self) -> int:
        """Return how many outputs are scored in all."""
        return self.n_pages * len(self.parsers)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Chunk]:
        return (self[i] for i in range(len(self.rows)))

    def __getitem__(self, index: int) -> Chunk:
        with _TaskReader(self.run, self.parsers).opened() as reader:
            return Chunk(self.run.path, self.protocols, tuple(reader.pages(self.rows[index])))


def plan_chunks(
    run: Run, protocols: tuple[str, ...], max_outputs: int, min_outputs: int, n: int
) -> ChunkPlan:
    """Divide what a run has parsed into `n` chunks, each of `min_outputs` to `max_outputs` where possible."""
    with run.scanning("parses") as parses:
        parsers = tuple(sorted(parses.select(pl.col("parser").unique()).collect()["parser"]))
    with run.scanning("samples") as samples:
        n_pages = int(samples.select(pl.len()).collect().item())
    n_outputs = min(max_outputs, max(min_outputs, n_pages * len(parsers) // n))
    size = max(1, n_outputs // max(1, len(parsers)))
    if any(get_protocol(spec).whole_documents for spec in protocols):
        rows = list(_documents_together(run, size))
    else:
        rows = [np.arange(i, min(i + size, n_pages)) for i in range(0, n_pages, size)]
    with _TaskReader(run, parsers).opened() as reader:
        keys = [Chunk(run.path, protocols, tuple(reader.pages(part))).key for part in rows]
    return ChunkPlan(
        run, protocols, parsers, rows, keys, n_pages, reader.missing, reader.n_blobs, reader.n_lost,
        reader.n_empty,
    )  # fmt: skip


def _documents_together(run: Run, size: int) -> Iterator[Rows]:
    """Yield the rows of pages in parts of about a size, none of which ends inside a document."""
    with run.scanning("samples") as samples:
        listed = samples.select("sample", "document", "page_number").with_row_index("row").collect()
    pages = [
        PageTask(sample, None, number, None, (), str(row), document)
        for row, sample, document, number in listed.iter_rows()
    ]
    part: list[int] = []
    for document in grouped(pages):
        if part and len(part) + len(document) > size:
            yield np.array(part)
            part = []
        part.extend(int(page.text or 0) for page in document)
    if part:
        yield np.array(part)


class _TaskReader:
    """Reads pages with what parsers made of them, by their rows; neighbouring ones are read together."""

    def __init__(self, run: Run, parsers: Sequence[str]) -> None:
        self._run = run
        self._parsers = parsers
        self._first, self._last = 0, 0
        self._pages: list[PageTask] = []
        self.missing: Counter[str] = Counter()
        self.n_blobs = 0
        self.n_lost = 0
        self.n_empty = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[_TaskReader]:
        """Keep the pages readable inside this context."""
        with self._run.scanning("samples") as self._samples, self._run.scanning("parses") as self._parses:
            yield self

    def pages(self, rows: Rows) -> Iterator[PageTask]:
        """Yield the pages in some rows."""
        for row in rows:
            if not self._first <= row < self._last:
                within = rows[(rows >= row) & (rows < row + _READ_PAGES)]
                self._read(int(row), max(int(within.max()) + 1, int(row) + 1))
            page = self._pages[row - self._first]
            for output in page.outputs:
                if output.blob is not None:
                    self.n_blobs += 1
                    self.n_lost += not RunFolder.of(self._run).blobs.holds(output.blob)
                elif output == _missing(output.parser):
                    self.missing[output.parser] += 1
                elif output.error == _NO_OUTPUT:
                    self.n_empty += 1
            yield page

    def _read(self, first: int, last: int) -> None:
        self._first, self._last = first, last
        samples = self._samples.slice(first, last - first).collect()
        first_id, last_id = samples.select(first=pl.col("sample").min(), last=pl.col("sample").max()).row(0)
        own = pl.col("sample").is_between(pl.lit(first_id), pl.lit(last_id))
        found: dict[str, dict[str, Output]] = {}
        for row in self._parses.filter(own).select(_RECORD).collect().iter_rows(named=True):
            found.setdefault(row["sample"], {})[row["parser"]] = self._output(row)
        texts = RunFolder.of(self._run).files.texts(own)
        self._pages = []
        for row in samples.iter_rows(named=True):
            place = (row["sample"], row["pdf"], row["page_number"], row["truth"])
            given = found.get(row["sample"], {})
            outputs = tuple(given.get(parser) or _missing(parser) for parser in self._parsers)
            self._pages.append(PageTask(*place, outputs, texts.get(row["sample"]), row["document"]))

    def _output(self, row: dict[str, Any]) -> Output:
        blob = row["blob"]
        if blob is not None:
            # What is stored of an output that could not be read decides again, not that it could not be read.
            return Output(row["parser"], Status.OK, blob, None)
        try:
            status = Status(row["status"])
            if status is Status.OK:
                return Output(row["parser"], Status.PARSER_FAILED, None, _NO_OUTPUT)
            return Output(row["parser"], status, None, row["error"])
        except ValueError as error:
            where = RunFolder.of(self._run).files.path_of("parses")
            raise StoreError(
                f"The record of {row['sample']} by {row['parser']} in {where} is "
                f"not valid: {error}. Remove it; its page is parsed again."
            ) from error


def _missing(parser: str) -> Output:
    """Return a page that was never parsed counts as a page without an answer, so that all parsers have the
    same.
    """
    return Output(parser, Status.NO_PREDICTION, None, NOT_PARSED)
