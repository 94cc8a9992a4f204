"""How the speed of a parser depends on the number of workers and on the length of a document."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from parsemark.corpora import Corpus
from parsemark.corpora.render import with_pdf
from parsemark.engine.events import Events
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.parsing.plan import select_keys
from parsemark.errors import StoreError, UsageError
from parsemark.model import Sample, Status
from parsemark.parsers import Parser
from parsemark.pdf import join_pages
from parsemark.plain_words import counted, first_problem
from parsemark.store import ParseRecord, Run
from parsemark.system import write_bytes
from parsemark.system.scratch import ScratchFolder

FILE = "scaling.json"
LENGTHS = (1, 10, 100)
"""Pages of the documents."""
LONGEST_S = 600.0
"""A measurement that is expected to take longer is left out."""
_GPU_EVERY_S = 0.5


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpeedTiming(_Stored):
    """One document parsed by one parser."""

    parser: str
    workers: int
    pages: int
    failed: int  # pages
    wall_s: float  # from the start of the first worker to the last page
    gpu_mb: float | None = None  # most memory of all GPUs above that before; None without a GPU

    @property
    def pages_per_s(self) -> float:
        """Pages per second of wall time."""
        return self.pages / self.wall_s


class Scaling(_Stored):
    """What was measured on one machine."""

    cores: int
    timings: list[SpeedTiming]

    def by_workers(self, parser: str) -> list[SpeedTiming]:
        """Return the timings of the longest document, for each number of workers."""
        own = [t for t in self.timings if t.parser == parser and t.failed < t.pages]
        longest = max((t.pages for t in own), default=0)
        return sorted((t for t in own if t.pages == longest), key=lambda t: t.workers)

    def by_length(self, parser: str) -> list[SpeedTiming]:
        """Return the timings of one worker, for each length of a document."""
        own = (t for t in self.timings if t.parser == parser and t.workers == 1 and t.failed < t.pages)
        return sorted(own, key=lambda t: t.pages)


def read_scaling(run: Run) -> Scaling | None:
    """Return what `bench --scaling` has stored in a run; None where it was not asked for."""
    path = run.path / FILE
    try:
        return Scaling.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        why = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise StoreError(
            f"{path} is damaged: {why}. Make it again with: parsemark bench --scaling"
        ) from error


def measure_scaling(
    run: Run,
    corpus: Corpus,
    parsers: Sequence[Parser],
    options: ParseOptions,
    events: Events | None = None,
    n_cores: int | None = None,
) -> Scaling:
    """Measure the parsers on documents made of the corpus's pages, and store the timings in the run.

    Each parser runs alone and without the cache: one worker on documents of 1, 10 and 100 pages, then 2, 4, …
    workers up to the number of cores on the longest one. The pages of the corpus are repeated in order.

    Raises:
        UsageError: The pages of the corpus are not PDFs.
    """
    events, cores = events or Events(), n_cores or options.n_workers or os.cpu_count() or 1
    fresh = replace(options, cache=None, pages=None, anew=False, repeats=1)
    timings: list[SpeedTiming] = []
    with ScratchFolder("parsemark-scaling-") as folder:
        documents = {n: _document(corpus, n, options.pages, folder) for n in LENGTHS}
        for parser in parsers:
            own: list[SpeedTiming] = []
            steps = [(1, n) for n in LENGTHS] + [(k, LENGTHS[-1]) for k in _doublings(cores)]
            for n_workers, n_pages in steps:
                if own and _expected_s(own[-1], n_pages) > LONGEST_S:
                    what = counted(n_pages, "page")
                    events.note(f"{parser.name}: {what} would take over {LONGEST_S:g} s; left out.")
                    break
                workers = counted(n_workers, "worker")
                events.note(f"Scaling: {parser.name}, {counted(n_pages, 'page')}, {workers}")
                place = folder / f"run-{len(timings)}-{len(own)}"
                chosen = replace(fresh, n_workers=n_workers)
                own.append(_timed(place, documents[n_pages], parser, chosen, n_workers))
            timings += own
    found = Scaling(cores=cores, timings=timings)
    write_bytes(run.path / FILE, (found.model_dump_json(indent=1) + "\n").encode())
    return found


def _doublings(cores: int) -> Iterator[int]:
    """Yield 2, 4, 8, … up to the number of cores."""
    n = 2
    while n <= cores:
        yield n
        n *= 2


def _expected_s(before: SpeedTiming, n_pages: int) -> float:
    return before.wall_s * n_pages / before.pages


def _document(corpus: Corpus, n_pages: int, pages: str | int | None, folder: Path) -> Corpus:
    """Return a corpus of one document, made of the first pages of another; these are repeated if need be."""
    keys = select_keys(corpus.keys, pages)[:n_pages]
    sources = [with_pdf(corpus.read(key)) for key in keys]
    files = [(s.pdf, s.page_number) for s in sources if s.pdf is not None and s.pdf.suffix.lower() == ".pdf"]
    if not files:
        raise UsageError(f"--scaling needs PDF pages, and {corpus.name} has none.")
    pdf = folder / f"{n_pages}.pdf"
    write_bytes(pdf, join_pages(tuple(files[k % len(files)] for k in range(n_pages))))
    samples = [Sample(f"p{k:03d}", pdf.stem, k, None, pdf) for k in range(1, n_pages + 1)]
    return Corpus.of("scaling", samples, root=folder, version="1", licence=corpus.licence)


class _Clock(Events):
    """Measures from the start of the workers to the last page."""

    def __init__(self) -> None:
        self.begin = self.end = time.perf_counter()
        self.failed = 0

    def planned(self, parser: str, *, n_pages: int, n_done: int) -> None:
        self.begin = self.end = time.perf_counter()

    def parsed(self, record: ParseRecord) -> None:
        self.end = time.perf_counter()
        self.failed += record.status is not Status.OK


def _timed(
    folder: Path, document: Corpus, parser: Parser, options: ParseOptions, n_workers: int
) -> SpeedTiming:
    clock = _Clock()
    with _gpu_memory() as used:
        parse_corpus(folder, document, [parser], options, clock)
    return SpeedTiming(
        parser=parser.name,
        workers=n_workers,
        pages=len(document),
        failed=clock.failed,
        wall_s=max(clock.end - clock.begin, 1e-6),
        gpu_mb=max(used) - used[0] if used else None,
    )


@contextmanager
def _gpu_memory() -> Iterator[list[float]]:
    """Collect the memory in use on all GPUs, in MB, while something runs; nothing without a GPU."""
    used = [first] if (first := _gpu_mb()) is not None else []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_GPU_EVERY_S):
            if (now := _gpu_mb()) is not None:
                used.append(now)

    watcher = threading.Thread(target=watch, daemon=True) if used else None
    if watcher is not None:
        watcher.start()
    try:
        yield used
    finally:
        done.set()
        if watcher is not None:
            watcher.join()


def _gpu_mb() -> float | None:
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    command = [program, "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
        return sum(map(float, said.split())) if said.strip() else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
