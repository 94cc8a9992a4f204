"""The scoring stage: stored outputs to predictions, matches, scores and the summary. Parses nothing.

Pages are scored in chunks by a pool of processes. Each chunk leaves part files, which are put together at
the end; a run that was killed while scoring goes on with the chunks that are missing. Several processes may
score one run: what is put together is checked, under a lock, to follow from the records as they are then, so
that no slow process writes an old state over a new one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from parsemark.engine.events import Events
from parsemark.engine.forking import Template
from parsemark.engine.process_pool import Lost, ProcessPool
from parsemark.engine.scoring.chunk import Chunk, PartFiles, score_chunk
from parsemark.engine.scoring.plan import ChunkPlan, plan_chunks
from parsemark.errors import PluginError, StoreError, UsageError
from parsemark.plain_words import counted
from parsemark.protocols import DEFAULT_PROTOCOLS, PROTOCOLS, Summary, canonical_specs, get_protocol
from parsemark.protocols.run_data.broken_pages import complete_summary
from parsemark.specs import parse_spec, plugins_loaded
from parsemark.store import Run, RunFolder
from parsemark.store.tables import PROTOCOL_TABLES
from parsemark.system import remove_tree
from parsemark.system.locks import shared

if TYPE_CHECKING:
    from parsemark.engine.scoring.ray import RayScoring

    Pool = ProcessPool[Chunk] | RayScoring  # processes of this machine, or a cluster

CHUNK_OUTPUTS = 256  # at most in one chunk; a small run has smaller ones, so that all processes have work
_MIN_CHUNK_OUTPUTS = 16
_CHUNKS_WANTED = 16
TIMEOUT_S = 120.0  # for one chunk, and for one page of a chunk that took longer
MEMORY_MB = 16_384
_OPTIMISTIC_ROUNDS = 2
"""How often scoring starts over because somebody has added to the run, before it keeps others out."""


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
    specs = tuple(canonical_specs(protocols or run.manifest.protocols or DEFAULT_PROTOCOLS))
    RunFolder.of(run).update_manifest(lambda manifest: manifest.with_protocols(specs))
    make_pool = _pool_maker(executor, address, n_workers, template)
    session = _session(specs)
    with shared(run.path / ".parts.lock") as nobody_else_scores:
        for _ in range(_OPTIMISTIC_ROUNDS):
            plan = _chunks(run, specs, events)
            final = _score_all(plan, session, make_pool, events)
            with RunFolder.of(run).publishing():
                # Whether what was scored is what the run holds now, and the parts have not been removed.
                if _plan(run, specs).keys == plan.keys and all(files.are_there() for files in final):
                    return _publish(run, specs, final, nobody_else_scores, events)
            events.note("The run has changed while it was scored: scoring what is new.")
        with RunFolder.of(run).publishing():  # it keeps changing: now nobody else may publish until we have
            final = _score_all(_chunks(run, specs, events), session, make_pool, events)
            return _publish(run, specs, final, nobody_else_scores, events)


def _session(specs: Iterable[str]) -> str:
    """What all processes share that score by asking; empty where nobody is asked."""
    if not any(get_protocol(spec).asks for spec in specs):
        return ""
    from parsemark.judges.ask import session_name

    return session_name()


def _publish(
    run: Run,
    specs: tuple[str, ...],
    final: Sequence[PartFiles],
    nobody_else_scores: Callable[[], bool],
    events: Events,
) -> list[Summary]:
    """Put the parts together and write what follows from them; a plug-in that fails costs its own summary."""
    RunFolder.of(run).join_parts("predictions", [files.part("predictions") for files in final])
    RunFolder.of(run).parses.note_unreadable()
    summaries: list[Summary] = []
    failed: list[PluginError] = []
    for spec in specs:
        for table in PROTOCOL_TABLES:
            RunFolder.of(run).join_parts(table, [files.part(table, spec) for files in final], spec)
        try:
            summary = complete_summary(get_protocol(spec), run.run_tables(spec))
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
    """What is to be scored; report what is missing."""
    RunFolder.of(run).parses.fold()  # so that records are read in parts, too
    plan = _plan(run, protocols)
    if plan.n_blobs and plan.n_lost == plan.n_blobs:
        raise StoreError(
            f"{run.path} has none of the outputs that it speaks of, so it cannot be scored anew. If it is a "
            "baseline, score the run that it was made of and save it again: parsemark gate RUN --save "
            f"{run.path}. If not, bring back its folder raw/, or parse again."
        )
    if plan.n_lost:
        events.note(
            f"{counted(plan.n_lost, 'output')} no longer in {run.path / 'raw'}: such pages count as failed."
        )
    if plan.n_empty:
        events.note(
            f"{counted(plan.n_empty, 'record')} of {run.path} called ok, but with no output: such pages "
            "count as failed. No parse leaves such a record: it was changed afterwards."
        )
    if not plan.parsers:
        raise StoreError(f"{run.path} has nothing to score. Parse first: parsemark parse --out {run.path}")
    for parser, n in plan.missing.items():
        events.note(f"{parser}: {n} of {counted(plan.n_pages, 'page')} not parsed; counted as not answered.")
    return plan


def ready_to_score(specs: Iterable[str]) -> Template | None:
    """A copy of this process that has imported what these protocols need; only where `forking.is_fresh`.

    None where code of other packages was loaded for them, which may have started threads.
    """
    for spec in specs:
        get_protocol(spec).preload()
    return None if plugins_loaded else Template()


def _pool_maker(
    executor: str, address: str | None, n_workers: int | None, template: Template | None
) -> Callable[[int], Pool]:
    """Makes the pool for so many chunks."""
    if executor == "local":
        most = n_workers or os.cpu_count() or 1
        return lambda n: ProcessPool(
            score_chunk, min(most, n), timeout_s=TIMEOUT_S, memory_mb=MEMORY_MB, template=template
        )
    if executor == "ray":
        from parsemark.engine.scoring.ray import RayScoring

        return lambda _: RayScoring(address, n_workers, timeout_s=TIMEOUT_S, memory_mb=MEMORY_MB)
    raise UsageError(f"No executor {executor!r}: choose 'local' or 'ray'.")


def _score_all(
    plan: ChunkPlan, session: str, make_pool: Callable[[int], Pool], events: Events
) -> list[PartFiles]:
    """Score all chunks; returns the files that hold the result, in order."""
    events.scoring(n_pages=plan.n_outputs)
    pieces = [[PartFiles(plan.run.path, plan.protocols, key)] for key in plan.keys]
    open_chunks = [i for i, (files,) in enumerate(pieces) if not files.are_there()]
    events.scored(plan.n_outputs - sum(plan.outputs_in(i) for i in open_chunks))
    if open_chunks:
        with make_pool(len(open_chunks)) as pool:
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
    """In place of a lost chunk: its pages one by one; in place of a single page: the record of its loss."""
    if not chunk.is_smallest:
        return list(chunk.split())
    if chunk.pages[0].lost is not None:
        raise StoreError(f"Sample {chunk.pages[0].sample} cannot be scored: {reason}.")
    return [chunk.given_up(reason)]
