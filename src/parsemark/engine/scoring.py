"""The scoring stage: stored outputs to predictions, matches, scores and the summary. Parses nothing.

Pages are scored in chunks by a pool of processes. Each chunk leaves part files, which are put together at
the end; a run that was killed while scoring goes on with the chunks that are missing. Several processes may
score one run: what is put together is checked, under a lock, to follow from the records as they are then, so
that no slow process writes an old state over a new one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from parsemark.engine.events import Events
from parsemark.engine.process_pool import Finished, Lost, ProcessPool
from parsemark.engine.score_chunk import Chunk, Output, PageTask, grouped, score_chunk
from parsemark.errors import PluginError, StoreError, UsageError
from parsemark.model import Status
from parsemark.protocols import DEFAULT_PROTOCOLS, PROTOCOLS, Summary, canonical_specs, get_protocol
from parsemark.protocols.broken import complete_summary
from parsemark.registry import parse_spec
from parsemark.store import Run
from parsemark.store.schemas import PROTOCOL_TABLES
from parsemark.system import remove_tree
from parsemark.system.locks import shared

CHUNK_OUTPUTS = 256
"""At most in one chunk. A small run has smaller ones, so that all processes have work."""
_MIN_CHUNK_OUTPUTS = 16
_CHUNKS_WANTED = 16
TIMEOUT_S = 120.0
"""For one chunk, and for one page of a chunk that took longer."""
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
) -> list[Summary]:
    """Score everything that a run has parsed and write the tables and the summary of each protocol.

    Args:
        run: The run. What it has of other protocols stays.
        protocols: Specs; by default those of the run.
        n_workers: Number of processes; by default one for each CPU.
        events: Told about progress.
        executor: `local`, or `ray` for a cluster. The result is the same.
        address: Of the Ray cluster; None starts one on this machine.

    Returns:
        The summaries, in the order of the protocols.
    """
    events = events or Events()
    specs = tuple(canonical_specs(protocols or run.manifest.protocols or DEFAULT_PROTOCOLS))
    run.update_manifest(lambda manifest: manifest.with_protocols(specs))
    make_pool = _pool_maker(executor, address, n_workers)
    with shared(run.path / ".parts.lock") as nobody_else_scores:
        for _ in range(_OPTIMISTIC_ROUNDS):
            chunks = _chunks(run, specs, events)
            final = _score_all(chunks, make_pool, events)
            with run.publishing():
                if _is_current(run, specs, chunks, final):
                    return _publish(run, specs, final, nobody_else_scores, events)
            events.note("The run has changed while it was scored: scoring what is new.")
        with run.publishing():  # it keeps changing: now nobody else may publish until we have
            final = _score_all(_chunks(run, specs, events), make_pool, events)
            return _publish(run, specs, final, nobody_else_scores, events)


def _is_current(run: Run, specs: tuple[str, ...], chunks: list[Chunk], final: list[Chunk]) -> bool:
    """Whether what was scored is what the run holds now, and the parts have not been removed."""
    now = _chunks(run, specs, Events())
    return [c.key for c in now] == [c.key for c in chunks] and all(chunk.is_done() for chunk in final)


def _publish(
    run: Run,
    specs: tuple[str, ...],
    final: list[Chunk],
    nobody_else_scores: Callable[[], bool],
    events: Events,
) -> list[Summary]:
    """Put the parts together and write what follows from them; a plug-in that fails costs its own summary."""
    run.join_parts("predictions", [chunk.part("predictions") for chunk in final])
    run.note_unreadable()
    summaries: list[Summary] = []
    failed: list[PluginError] = []
    for spec in specs:
        for table in PROTOCOL_TABLES:
            run.join_parts(table, [chunk.part(table, spec) for chunk in final], spec)
        try:
            summary = complete_summary(get_protocol(spec), run.run_tables(spec))
        except Exception as error:  # the engine's boundary: a plug-in's failure must not cost the others
            name = parse_spec(spec).name
            if not PROTOCOLS.is_plugin(name):
                raise
            events.note(str(PROTOCOLS.broken(name, error)))
            failed.append(PROTOCOLS.broken(name, error))
            continue
        run.write_summary(summary)
        summaries.append(summary)
    if failed and not summaries:
        raise failed[0]
    if nobody_else_scores():
        remove_tree(run.path / "parts")
    return summaries


def _chunks(run: Run, protocols: tuple[str, ...], events: Events) -> list[Chunk]:
    outputs: dict[str, dict[str, Output]] = {}
    for record in run.records():
        # What is stored of an output that could not be read decides again, not that it could not be read.
        is_output = record.blob is not None
        status, error = (Status.OK, None) if is_output else (record.status, record.error)
        output = Output(record.parser, status, record.blob, error)
        outputs.setdefault(record.sample, {})[record.parser] = output
    parsers = sorted({parser for found in outputs.values() for parser in found})
    if run.is_baseline:
        raise StoreError(
            f"{run.path} has none of the outputs that it speaks of, so it cannot be scored anew. If it is a "
            "baseline, score the run that it was made of and save it again: parsemark gate RUN --save "
            f"{run.path}. If not, bring back its folder raw/, or parse again."
        )
    if lost := sum(not run.blobs.holds(blob) for blob in run.recorded_blobs()):
        events.note(f"{lost} outputs are not in {run.path / 'raw'} any more; their pages count as failed.")
    if not parsers:
        raise StoreError(f"{run.path} has nothing to score. Parse first: parsemark parse --out {run.path}")
    samples = run.table("samples")
    texts = run.texts()
    pages = [
        _page(row, parsers, outputs.get(row["sample"], {}), texts.get(row["sample"]))
        for row in samples.iter_rows(named=True)
    ]
    _tell_what_is_missing(pages, outputs, events)
    n_outputs = min(CHUNK_OUTPUTS, max(_MIN_CHUNK_OUTPUTS, len(pages) * len(parsers) // _CHUNKS_WANTED))
    size = max(1, n_outputs // len(parsers))
    if any(get_protocol(spec).whole_documents for spec in protocols):
        return [Chunk(run.path, protocols, part) for part in _documents_together(pages, size)]
    return [Chunk(run.path, protocols, tuple(pages[i : i + size])) for i in range(0, len(pages), size)]


def _documents_together(pages: Sequence[PageTask], size: int) -> Iterator[tuple[PageTask, ...]]:
    """Pages in parts of about a size, none of which ends inside a document."""
    part: list[PageTask] = []
    for document in grouped(pages):
        if part and len(part) + len(document) > size:
            yield tuple(part)
            part = []
        part.extend(document)
    if part:
        yield tuple(part)


def _page(
    row: dict[str, Any], parsers: Sequence[str], outputs: dict[str, Output], text: str | None
) -> PageTask:
    return PageTask(
        row["sample"],
        row["pdf"],
        row["page_number"],
        row["truth"],
        tuple(outputs.get(parser) or _missing(parser) for parser in parsers),
        text,
        row["document"],
    )


def _missing(parser: str) -> Output:
    """A page that was never parsed counts as a page without an answer, so that all parsers have the same."""
    return Output(parser, Status.NO_PREDICTION, None, "This page was not parsed.")


def _tell_what_is_missing(
    pages: Sequence[PageTask], outputs: dict[str, dict[str, Output]], events: Events
) -> None:
    missing: dict[str, int] = {}
    for page in pages:
        for output in page.outputs:
            if output.parser not in outputs.get(page.sample, {}):
                missing[output.parser] = missing.get(output.parser, 0) + 1
    for parser, n in missing.items():
        events.note(f"{parser}: {n} of {len(pages)} pages are not parsed; they count as not answered.")


class Pool(Protocol):
    """Scores chunks: processes of this machine, or a cluster. A context manager."""

    def __enter__(self) -> Pool: ...

    def __exit__(self, *_: object) -> None: ...

    def submit(self, chunk: Chunk, /) -> None:
        """Add a chunk; also while results are being read."""

    def results(self) -> Iterator[Finished[Chunk] | Lost[Chunk]]:
        """What became of each chunk, as they end, until there are none left."""


def _pool_maker(executor: str, address: str | None, n_workers: int | None) -> Callable[[int], Pool]:
    """Makes the pool for so many chunks."""
    if executor == "local":
        most = n_workers or os.cpu_count() or 1
        return lambda n: ProcessPool(score_chunk, min(most, n), timeout_s=TIMEOUT_S, memory_mb=MEMORY_MB)
    if executor == "ray":
        from parsemark.engine.ray_scoring import RayScoring

        return lambda _: RayScoring(address, n_workers, timeout_s=TIMEOUT_S, memory_mb=MEMORY_MB)
    raise UsageError(f"No executor {executor!r}: choose 'local' or 'ray'.")


def _score_all(chunks: list[Chunk], make_pool: Callable[[int], Pool], events: Events) -> list[Chunk]:
    """Score all chunks; returns those that hold the result, in order."""
    events.scoring(n_pages=sum(chunk.n_outputs for chunk in chunks))
    pieces: dict[str, list[Chunk]] = {chunk.key: [chunk] for chunk in chunks}
    open_chunks = [chunk for chunk in chunks if not chunk.is_done()]
    events.scored(sum(chunk.n_outputs for chunk in chunks if chunk.is_done()))
    if not open_chunks:
        return chunks
    with make_pool(len(open_chunks)) as pool:
        origin = {chunk.key: chunk.key for chunk in chunks}
        for chunk in open_chunks:
            pool.submit(chunk)
        for result in pool.results():
            if not isinstance(result, Lost):
                events.scored(result.task.n_outputs)
                continue
            parent = origin[result.task.key]
            retries = _retries(result.task, result.reason)
            at = pieces[parent].index(result.task)
            pieces[parent][at : at + 1] = retries
            for retry in retries:
                origin[retry.key] = parent
                pool.submit(retry)
    return [piece for chunk in chunks for piece in pieces[chunk.key]]


def _retries(chunk: Chunk, reason: str) -> list[Chunk]:
    """In place of a lost chunk: its pages one by one; in place of a single page: the record of its loss."""
    if not chunk.is_smallest:
        return list(chunk.split())
    if chunk.pages[0].lost is not None:
        raise StoreError(f"Sample {chunk.pages[0].sample} cannot be scored: {reason}.")
    return [chunk.given_up(reason)]
